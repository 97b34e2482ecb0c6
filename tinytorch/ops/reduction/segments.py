"""segment_reduce: reductions of consecutive parts of an axis."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.public import public
from ...errors import not_implemented
from ...tensor import Tensor, check_dim
from ...types import Number

__all__ = ["_segment_reduce", "segment_reduce"]

#: The number that a reduction starts with.
_START = {"max": -math.inf, "min": math.inf, "mean": 0, "sum": 0, "prod": 1}
_NAMES = {"amax": "max", "amin": "min"}
_STEP = {"max": np.maximum, "min": np.minimum, "mean": np.add, "sum": np.add, "prod": np.multiply}
_SINGLE = np.dtype(np.float32)


def _rounding(dtype):
    """The function that rounds each step. Half precision is computed in single precision and rounded."""
    if dtype.itemsize != 2:
        return lambda x: x
    return lambda x: dt.cast(dt.cast(x, dtype), _SINGLE)


def _wide(x):
    return dt.cast(x, _SINGLE) if x.itemsize == 2 else x


def _rows(x, axis):
    """An array as (outer, `axis`, inner)."""
    return x.reshape((math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1:])))


def _segments(lengths):
    """Yields (outer index, number, slice, length) for each segment."""
    for outer, row in enumerate(lengths.reshape(-1, lengths.shape[-1])):
        start = 0
        for number, length in enumerate(row.tolist()):
            yield outer, number, slice(start, start + length), length
            start += length


def _reduced(x, reduce, length, initial, rounded):
    """The rows of one segment reduced to one."""
    start = _START[reduce] if initial is None else initial
    result = rounded(np.full(x.shape[1:], start, x.dtype))
    for row in x:
        result = rounded(_STEP[reduce](result, row))
        if reduce in ("max", "min"):           # torch goes on with the elements after a NaN
            result = result if not np.isnan(result).any() else _after_nans(x, reduce, start)
    if reduce == "mean":
        if not length and initial is None:
            return np.full(x.shape[1:], math.nan, x.dtype)
        if length:
            return rounded(result / np.asarray(length, x.dtype))
    return result


def _after_nans(x, reduce, start):
    result = np.full(x.shape[1:], start, x.dtype)
    better = np.greater if reduce == "max" else np.less
    for row in x:
        result = np.where(np.isnan(row) | better(row, result), row, result)
    return result


def _no_second_derivative(g):
    raise RuntimeError("derivative for aten::_segment_reduce_backward is not implemented")


def _segment_gradient(g, data, ans, reduce, lengths, initial):
    if mode.computing_jvp:
        raise NotImplementedError("Trying to use forward AD with segment_reduce that does not support it because it "
                                  "has not been implemented yet.")
    return _gradient(reduce, lengths, initial, g, data, ans)


@op(name="_segment_reduce_backward", first=3, grad=_no_second_derivative, data=_no_second_derivative, converts=True)
def _gradient(reduce, lengths, initial, grad, data, ans):
    axis, dtype = lengths.ndim - 1, data.dtype
    rounded = _rounding(dtype)
    x, g, y = (_rows(_wide(v), axis) for v in (data, grad, ans))
    result = np.zeros(x.shape, x.dtype)
    for outer, number, part, length in _segments(lengths):
        if length:
            result[outer, part] = rounded(_gradient_of_one(
                reduce, x[outer, part], g[outer, number], y[outer, number], length, initial, rounded))
    return dt.cast(result, dtype).reshape(data.shape)


def _gradient_of_one(reduce, x, g, y, length, initial, rounded):
    if reduce == "sum":
        return np.broadcast_to(g, x.shape)
    if reduce == "mean":
        return np.broadcast_to(g / np.asarray(length, x.dtype), x.shape)
    if reduce == "prod":
        result = rounded(g * y) / x
        for j, column in zip(*np.nonzero(np.isnan(x) | (x == 0))):
            others = np.asarray(1 if initial is None else initial, x.dtype)
            for k in range(length):
                if k != j:
                    others = rounded(others * x[k, column])
            result[j, column] = g[column] * others
        return result
    found = np.isnan(x) | (x == y)
    result, count = np.where(found, g, 0), found.sum(0)
    # As in torch, the gradient of an extreme is divided by the number of equal elements only where it is positive.
    return np.where((count > 1) & (result > 0), result / np.maximum(count, 1).astype(x.dtype), result)


@op(name="segment_reduce", data=_segment_gradient, converts=True)
def _reduce_segments(data, reduce, lengths, initial):
    axis, rounded = lengths.ndim - 1, _rounding(data.dtype)
    x = _rows(_wide(data), axis)
    result = np.empty((x.shape[0], lengths.shape[-1], x.shape[2]), x.dtype)
    for outer, number, part, length in _segments(lengths):
        result[outer, number] = _reduced(x[outer, part], reduce, length, initial, rounded)
    return dt.cast(result, data.dtype).reshape(data.shape[:axis] + lengths.shape[-1:] + data.shape[axis + 1:])


@public()
def segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None,
                   offsets: Tensor | None = None, axis: int = 0, unsafe: bool = False,
                   initial: Number | None = None) -> Tensor:
    """`reduce` ("sum", "mean", "max", "min", "prod", "amax" or "amin") of segments of `data` along `axis`, which must
    be the last axis of `lengths`, or of `offsets`: the starts of the segments, followed by the end.

    `initial` is the start value of each segment. `unsafe`: the lengths are not checked. Else RuntimeError if a length
    is negative or the lengths do not sum to the size of the axis. RuntimeError also for other reductions, and without
    lengths and offsets.

    >>> import tinytorch as torch
    >>> torch.segment_reduce(torch.arange(6.), "sum", lengths=torch.tensor([1, 2, 3]))
    tensor([ 0.,  3., 12.])
    """
    axis = check_dim(axis, data._array.ndim)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    given = lengths if offsets is None else offsets
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    reduce = _NAMES.get(reduce, reduce)
    if reduce not in _START:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    array = given._array
    if data._array.ndim < array.ndim or axis != array.ndim - 1:
        fewer = data._array.ndim < array.ndim
        condition = "data.dim() >= lengths_value.dim()" if fewer else "axis == lengths.dim() - 1"
        raise RuntimeError(f"Expected {condition} to be true, but got false.  (Could this error message be improved?  "
                           "If so, please report an enhancement request to PyTorch.)")
    if array.dtype.char not in "iql":
        raise not_implemented("_segment_reduce_lengths_cpu_kernel1", given)
    if data._array.dtype.kind not in dt.FLOATING:
        raise not_implemented("_segment_reduce_cpu", data)
    if offsets is not None:
        array = np.diff(array, axis=-1)
    elif not unsafe:
        if array.size and array.min() < 0:
            raise RuntimeError("lengths contains negative value!")
        if (array.sum(-1) != data._array.shape[axis]).any():
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                               "data.size(lengths.dim()-1) when !unsafe.")
    array = np.broadcast_to(array, data._array.shape[:axis] + array.shape[-1:])
    return _reduce_segments(data, reduce, array, initial)


_segment_reduce = segment_reduce
