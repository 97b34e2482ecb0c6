"""out_dtype: an operator whose result has another dtype than its arguments."""
from typing import Any

from .. import dtypes as dt
from .._ops import OpOverload
from ..tensor import Tensor
from ..utils import _pytree as pytree

__all__ = ["out_dtype"]

_ALLOWED = frozenset("""aten::linear aten::mm aten::conv2d aten::convolution aten::mul.Tensor aten::mul.Scalar
    aten::div.Tensor aten::div.Scalar""".split())


def out_dtype(op: OpOverload, output_dtype: dt.dtype, *args: Any) -> Tensor:
    """op(*args) computed in the dtype that its tensors and `output_dtype` promote to, as a tensor of `output_dtype`.
    ValueError for operators other than linear, mm, conv2d, convolution, mul and div.

    >>> import tinytorch as torch
    >>> from tinytorch._higher_order_ops.out_dtype import out_dtype
    >>> x = torch.full((1, 2), 100, dtype=torch.int8)
    >>> out_dtype(torch.ops.aten.mm.default, torch.int32, x, x.T)
    tensor([[20000]], dtype=torch.int32)
    """
    if not isinstance(op, OpOverload):
        raise ValueError("out_dtype's first argument must be an OpOverload")
    if op.name() not in _ALLOWED:
        raise ValueError(f"out_dtype only allows the following operators: {sorted(_ALLOWED)}.")
    computed = output_dtype
    for x in pytree.tree_leaves(args):
        if isinstance(x, Tensor):
            computed = dt.promote_types(computed, x.dtype)
    given = pytree.tree_map_only(Tensor, lambda x: x.to(computed), args)
    return op(*given).to(output_dtype)
