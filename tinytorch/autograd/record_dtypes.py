"""Records: the arrays of bfloat16 and of the other dtypes that NumPy lacks, as a kind of arrays (kinds/table.py).

Their memory is an ndarray of a structured dtype, so views, copies and indexing are NumPy's own. Operations convert: for
bfloat16 each operation computes in float32 and is rounded; for the others there are the operations that torch has.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from .. import dtypes as dt
from ..errors import not_implemented
from ..kinds.table import Kind, enter
from ..seam import UNSEEN
from ..tensor import Tensor, wrap
from .node import Op
from .promotion import CONVERTED, check_broadcast, converted, like_tuple

_FLOAT32 = np.dtype(np.float32)


class Records(Kind):
    """An operation on bfloat16 is computed in float32. Other records have the operations that torch has for them."""

    def run(self, o: Op, call: Callable, args: Sequence[Any], error: Exception | None) -> Any:
        if not isinstance(error, TypeError):
            return UNSEEN
        records = [x._array.dtype for x in args if isinstance(x, Tensor) and x._array.dtype.kind == dt.WIDENED]
        converted_already = o.computes_in == dt.DIFFERENTIABLE
        if dt.BFLOAT16 not in records and not (converted_already and records[0] in o.stored):
            return of_records(o, call, *args)
        return UNSEEN if converted_already else in_float32(call, *args)

    def run_unary(self, o: Op, call: Callable, args: Sequence[Any], error: Exception | None) -> Any:
        if error is not None and not isinstance(error, TypeError):
            return UNSEEN
        if args[0]._array.dtype == dt.BFLOAT16:
            return in_float32(call, *args)
        return of_records(o, call, *args, kernel=f"{o.name}_cpu", elementwise=True)

    def run_binary(self, o: Op, call: Callable, args: Sequence[Any], error: Exception | None) -> Any:
        input, other = args
        a = input._array
        if isinstance(error, MemoryError) or a.dtype.kind != dt.WIDENED or o.computes_in == dt.DIFFERENTIABLE:
            return UNSEEN
        if a.dtype == dt.BFLOAT16:
            return in_float32(call, input, other, out=CONVERTED)
        if isinstance(other, Tensor) and not o.is_product:
            check_broadcast(a.shape, other._array.shape)
        return of_records(o, call, input, other, kernel=o.name.removesuffix("_cpu") + "_cpu",
                          elementwise=not o.is_product)


enter(ndarray, Records())


def in_float32(call: Any, *args: Any, **kwargs: Any) -> Any:
    """A call with bfloat16 arguments: computed in float32, and its float32 results rounded.

    A primitive is one operation on the tape all the same; any other function is recorded with the conversions.
    """
    if hasattr(call, "make"):
        if call.widened is None:
            make, flags = call.make
            call.widened = make(call.op.widened(), call.op.widened().forward, *flags)
            call.widened.plain = call
        return call.widened(*args, **kwargs)
    result = call(*map(_widened, args), **{name: _widened(x) for name, x in kwargs.items()})
    return like_tuple(result, map(rounded, result)) if isinstance(result, tuple) else rounded(result)


def _widened(x):
    return converted(x, _FLOAT32) if isinstance(x, Tensor) and x._array.dtype == dt.BFLOAT16 else x


def rounded(x: Any) -> Any:
    """A float32 tensor in bfloat16, recorded; anything else unchanged."""
    return converted(x, dt.BFLOAT16) if isinstance(x, Tensor) and x._array.dtype == _FLOAT32 else x


def of_records(o: Op, call: Any, *operands: Any, kernel: str = "", elementwise: bool = False) -> Any:
    """An operation on records other than bfloat16: computed as widened where torch has it, else NotImplementedError
    naming the kernel (that of the op). An op that is not `elementwise` accepts any records if there are no elements."""
    tensor = next(x for x in operands if isinstance(x, Tensor) and x._array.dtype.kind == dt.WIDENED)
    record, call = tensor._array.dtype, getattr(call, "plain", call)
    o = call.op
    if record not in o.stored and (elementwise or all([x._array.size for x in operands if isinstance(x, Tensor)])):
        raise not_implemented(o.kernel or kernel or o.name, tensor)
    if record not in call.stored:
        make, flags = call.make
        of_record = o.of_records(record)
        call.stored = {**call.stored, record: make(of_record, of_record.forward, *flags)}
    return of_source(call.stored[record](*operands), record)


def of_source(result: Any, source: np.dtype) -> Any:
    """Results computed from numbers of a dtype: makes backward check whether the node's gradients are records."""
    if source.kind == dt.WIDENED and isinstance(result, Tensor) and result._node is not None:
        result._node.extras()
    return result


def by_steps(forward: Callable) -> Callable:
    """A forward for bfloat16 arrays that runs `forward` on tensors, so that each operation in it is rounded."""
    def compute(*args):
        return dt.narrowed(forward(*[wrap(x) if isinstance(x, ndarray) else x for x in args])._array)
    return compute
