"""while_loop: repeats a function as long as a condition holds."""
from collections.abc import Callable
from typing import Any

from .. import dtypes as dt
from ..tensor import Tensor
from ..utils import _pytree as pytree
from .utils import check_like

__all__ = ["while_loop"]


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: tuple | list) -> Any:
    """Computes values = body_fn(*values) as long as cond_fn(*values) holds, beginning with `carried_inputs`, whose
    leaves are tensors and ints. RuntimeError if a step returns other dtypes or shapes, or if cond_fn returns neither a
    bool nor a bool tensor with one element.

    >>> import tinytorch as torch
    >>> torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2),
    ...                                    (torch.tensor(0), torch.ones(2)))
    (tensor(3), tensor([8., 8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    leaves = pytree.tree_leaves(carried_inputs)
    if not all([isinstance(x, (Tensor, int)) for x in leaves]):
        raise AssertionError(f"{leaves} can only be of {(Tensor, int)} but got {tuple(map(type, leaves))}")
    values = carried_inputs
    while _goes_on(cond_fn(*values)):
        new = body_fn(*values)
        check_like(new, values, "body_fn_output", "carried_inputs")
        values = pytree.tree_unflatten(pytree.tree_leaves(new), pytree.tree_structure(values))
    return values


def _goes_on(said):
    if isinstance(said, bool) or isinstance(said, Tensor) and said.dtype is dt.bool and said.numel() == 1:
        return bool(said)
    raise RuntimeError("cond_fn must return a boolean scalar tensor or a boolean, but got "
                       f"{said if not isinstance(said, Tensor) else (said.dtype, said.shape)}")
