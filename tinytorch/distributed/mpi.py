"""The transport: MPI's datatypes and operations for arrays, by mpi4py. Imported when a group is first made."""
from __future__ import annotations

import numpy as np
from mpi4py import MPI

from .. import dtypes as dt
from ..errors import not_implemented
from ..tensor import Tensor, wrap
from . import messages
from .reductions import RedOpType, ReduceOp

IN_PLACE = MPI.IN_PLACE

__all__ = ["IN_PLACE", "MPI", "contiguous", "plan", "raw"]

#: MPI's datatypes for moving numbers, by the size of the element.
_BY_SIZE = {1: MPI.BYTE, 2: MPI.UINT16_T, 4: MPI.UINT32_T, 8: MPI.UINT64_T, 16: MPI.C_DOUBLE_COMPLEX}
#: MPI's datatypes for reducing numbers. Complex numbers are summed as pairs of reals.
_NUMBERS = {dt.bool: MPI.C_BOOL, dt.uint8: MPI.UINT8_T, dt.int8: MPI.INT8_T, dt.int16: MPI.INT16_T,
            dt.int32: MPI.INT32_T, dt.int64: MPI.INT64_T, dt.uint16: MPI.UINT16_T, dt.uint32: MPI.UINT32_T,
            dt.uint64: MPI.UINT64_T, dt.float32: MPI.FLOAT, dt.float64: MPI.DOUBLE, dt.complex64: MPI.FLOAT,
            dt.complex128: MPI.DOUBLE}
_OPS = {"SUM": MPI.SUM, "AVG": MPI.SUM, "PREMUL_SUM": MPI.SUM, "PRODUCT": MPI.PROD, "MIN": MPI.MIN, "MAX": MPI.MAX,
        "BAND": MPI.BAND, "BOR": MPI.BOR, "BXOR": MPI.BXOR}
_OF_BOOLS = {"SUM": MPI.LOR, "PRODUCT": MPI.LAND, "MIN": MPI.LAND, "MAX": MPI.LOR, "BAND": MPI.LAND, "BOR": MPI.LOR,
             "BXOR": MPI.LXOR}
_UFUNCS = {"SUM": np.add, "AVG": np.add, "PREMUL_SUM": np.add, "PRODUCT": np.multiply, "MIN": np.minimum,
           "MAX": np.maximum}
_long = {}                                     # (length, size of an element) -> MPI.Datatype
_made = {}                                     # (ufunc, dtype) -> MPI.Op: MPI allows only few of them


def _half_op(name, numpy_dtype):
    """MPI's operation on half-precision numbers that are sent as 16 bits. It rounds each step, as gloo does."""
    ufunc = _UFUNCS[name]
    if (ufunc, numpy_dtype) not in _made:
        def of_half(given, kept, datatype):
            given, kept = np.frombuffer(given, np.float16), np.frombuffer(kept, np.float16)
            ufunc(kept, given, out=kept)

        def of_bfloat16(given, kept, datatype):
            kept = np.frombuffer(kept, numpy_dtype)
            wide = [dt.from_bfloat16(x) for x in (kept, np.frombuffer(given, numpy_dtype))]
            kept[...] = dt.to_bfloat16(ufunc(*wide))
        function = of_half if numpy_dtype == np.float16 else of_bfloat16
        _made[ufunc, numpy_dtype] = MPI.Op.Create(function, commute=True)
    return _made[ufunc, numpy_dtype]


class Plan:
    """How numbers of one dtype are reduced: MPI's datatype and operation, and the functions to call before and after.

    view    the dtype as which MPI sees the numbers; None: their own
    before  a function that is called with the array for MPI, and may change it
    after   a function that is called with the result, and may change it
    """

    __slots__ = ("datatype", "op", "view", "before", "after")

    def __init__(self, datatype, op, view=None, before=None, after=None):
        self.datatype, self.op, self.view, self.before, self.after = datatype, op, view, before, after

    def shown(self, array):
        """The buffer that MPI gets for a contiguous array."""
        return [array if self.view is None else array.reshape(-1).view(self.view), self.datatype]


_REALS = {dt.complex64: np.float32, dt.complex128: np.float64, dt.complex32: np.float16}


def plan(op: RedOpType | ReduceOp, array: np.ndarray, size: int, name: str) -> Plan:
    """The Plan of `op` on such an array by `size` ranks. TypeError if `op` is no operation, RuntimeError in torch's
    words if numbers of this dtype cannot be reduced so."""
    kind = op.op if isinstance(op, ReduceOp) else op
    if not isinstance(kind, RedOpType):
        raise TypeError(f"{name}(): incompatible function arguments: op must be a torch.distributed.ReduceOp, not "
                        f"{op!r}")
    word, dtype = kind.name, dt.of(array)
    if dtype.is_complex and word not in ("SUM", "AVG", "PREMUL_SUM"):
        error = ValueError if name == "all_reduce" else RuntimeError
        raise error(f"{name} does not support {kind} on complex tensors")
    if dtype in dt.FLOAT8:
        raise RuntimeError("Invalid scalar type")
    if word in ("BAND", "BOR", "BXOR") and dtype.category > 1:
        raise RuntimeError(f"Cannot use ReduceOp.{word} with non-integral dtype")
    before = after = None
    if word == "AVG":
        if dtype.category < 2:
            raise RuntimeError(f"result type Float can't be cast to the desired output type {dtype.type_name}")
        if dtype is dt.complex32 and name != "all_reduce":
            raise not_implemented("div_cpu", wrap(array))
        after = _average(size, dtype, name != "all_reduce")
    elif word == "PREMUL_SUM":
        factor = getattr(op, "factor", None)
        if factor is None:
            raise RuntimeError("ReduceOp.PREMUL_SUM needs a factor: torch.distributed._make_nccl_premul_sum(factor)")
        before = lambda x: wrap(x).mul_(factor)
    if dtype in (dt.float16, dt.bfloat16, dt.complex32):
        numbers = np.dtype(np.float16) if dtype is not dt.bfloat16 else dtype.numpy
        return Plan(MPI.UINT16_T, _half_op(word, numbers), np.uint16, before, after)
    ops = _OF_BOOLS if dtype is dt.bool else _OPS
    if word not in ops:
        raise RuntimeError("Invalid scalar type")
    return Plan(_NUMBERS[dtype], ops[word], None, before, after)


def _average(size, dtype, whole):
    """A function that divides in place by the number of ranks. If that is a power of two, it multiplies, which is as
    exact. It divides complex numbers part by part, and `whole` ones as torch divides complex numbers."""
    if dtype is dt.bfloat16 or dtype.is_complex and whole:
        return lambda x: wrap(x).div_(size)
    real = _REALS.get(dtype)

    def after(x):
        x = x if real is None else x.reshape(-1).view(real)
        if size & size - 1:
            np.divide(x, size, out=x)
        else:
            np.multiply(x, 1 / size, out=x)
    return after


def raw(array: np.ndarray) -> list:
    """The buffer that MPI gets for a contiguous array whose bits are moved unchanged."""
    size = array.dtype.itemsize
    if array.nbytes > messages.LIMIT and array.size > 1:
        return [array.reshape(-1).view(np.uint8), 1, _of_length(array.size, size)]
    return [array.reshape(-1).view(f"u{size}") if array.dtype.kind == "V" else array, _BY_SIZE[size]]


def _of_length(length, size):
    """MPI's datatype of `length` elements. A message from rank to rank sends one of it if it has more elements than a
    call can count. In Open MPI, collectives of such datatypes are wrong or end the process. The datatype is kept,
    because there are few such lengths."""
    if (length, size) not in _long:
        step = max(1, messages.LIMIT // size)
        starts = range(0, length, step)
        made = _BY_SIZE[size].Create_hindexed([min(step, length - i) for i in starts], [i * size for i in starts])
        _long[length, size] = made.Commit()
    return _long[length, size]


def contiguous(tensor: Tensor) -> tuple[np.ndarray, bool]:
    """(the tensor's own array, or a copy of it if the array is not one piece of memory; whether it is the own
    array)."""
    array = tensor._array
    if type(array) is np.ndarray and array.flags.c_contiguous and array.flags.writeable:
        return array, True
    return np.array(array, order="C", copy=True), False
