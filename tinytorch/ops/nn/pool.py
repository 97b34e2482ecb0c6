"""Pooling over windows of one size: max_pool and avg_pool, of 1 to 3 axes.

As in convolution, the adjoint of each primitive is a primitive too, so that higher derivatives need no further
rules.
"""
from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ... import dtypes as dt
from ...arguments import int_of, ints_of, is_int, is_one_int
from ...autograd.grad_mode import mode
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, write_out
from ...autograd.public import public
from ...autograd.record_dtypes import in_float32
from ...errors import not_implemented
from ...kernels import pool as kernels
from ...kernels.layout import channels_last, in_channels_last, in_order
from ...tensor import Tensor, check_dim
from ...types import Ints
from ..plan import cached_by_shape
from ..reduction.reductions import raw

_FLOAT = np.dtype(np.float32)

__all__ = ["avg_pool1d", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool3d"]


# ------------------------------------------------------------------ primitives
def images(x, n):
    """An array (*, n axes) as (images, n axes), in C order, which the kernels expect."""
    return (x if x.flags.c_contiguous else np.ascontiguousarray(x)).reshape(_shape_of_images(x.shape, n))


@lru_cache(1024)
def _shape_of_images(shape, n):
    return math.prod(shape[:-n]), *shape[-n:]


def in_c_order(x, n):
    """Whether an array in C order cannot be taken for one of `n` spatial axes with channels last."""
    return x.strides[-n - 1] > x.strides[-1]


def back(x, like, n=None):
    """Images `x` with the leading axes of array `like`. If `like` has `n` spatial axes and channels last in memory, the
    result is a copy with channels last."""
    shape = like.shape[:like.ndim - x.ndim + 1] + x.shape[1:]
    x = x if x.shape == shape else x.reshape(shape)            # a new array can become the gradient of a leaf itself
    if n is None or like.strides[-n - 1] > like.strides[-1]:
        return x
    if n == 3 and x.ndim == 4 and not like.flags.c_contiguous and np.moveaxis(like, 0, -1).flags.c_contiguous:
        return in_order(x, (1, 2, 3, 0))       # also without a batch
    return in_channels_last(x) if is_last(like, n) else x


def is_last(x, n):
    """Whether an array or tensor of `n` spatial axes has its channels last in memory."""
    x = raw(x)
    return x.ndim == n + 2 and channels_last(x)


@op(name="max_pool2d_with_indices", batches="examples", first=5, aux=True,
    input=lambda g, kernel, stride, padding, dilation, input, aux:
        _max_pool_grad(aux, kernel, stride, padding, dilation, input, g))
def _max_pool(out, kernel, stride, padding, dilation, input):
    top = kernels.max_pool(images(input, len(out)), out, kernel, stride, padding, dilation)
    return back(top, input, len(out)), [top]


@op(name="max_pool2d_with_indices", batches="examples", first=5, multi=True)
def _max_and_indices(out, kernel, stride, padding, dilation, input):
    n = len(out)
    x = images(input, n)
    result = kernels.max_pool(x, out, kernel, stride, padding, dilation)
    return back(result, input, n), back(kernels.max_indices(x, result, kernel, stride, padding, dilation), input, n)


@op(name="max_pool2d_with_indices", first=2, input=lambda g, n, input, indices:
        scatter(is_last(input, n), input.shape[-n:], indices, g))
def _max_at(n, top, input, indices):
    return top.pop()                           # backward needs the indices alone


def _top(top, kernel, stride, padding, dilation, x, out):
    """The maxima of images `x` that the forward pass has saved. `top`: [maxima, version cell and version of the tensor
    that shares them]. If that tensor was written to since, they are computed again: torch saves the indices alone, so
    that such a write is no error."""
    if len(top) > 1 and top[1][0] != top[2]:
        return kernels.max_pool(x, out, kernel, stride, padding, dilation)
    return top[0]


@op(name="max_pool2d_with_indices_backward", batches="examples", first=5,
    grad=lambda g, top, kernel, stride, padding, dilation, input:
        _max_pool_pick(top, kernel, stride, padding, dilation, input, g))
def _max_pool_grad(top, kernel, stride, padding, dilation, input, grad):
    n = len(kernel)
    x = images(input, n)
    settings = kernel, stride, padding, dilation
    top = _top(top, *settings, x, grad.shape[-n:])
    like = grad if n == 3 and input.ndim == 4 else input       # torch's choice
    return back(kernels.max_pool_grad(x, top, images(grad, n), *settings), like, n)


@op(name="max_pool2d_with_indices_backward", batches="examples", first=5,
    values=lambda g, top, kernel, stride, padding, dilation, input:
        _max_pool_grad(top, kernel, stride, padding, dilation, input, g))
def _max_pool_pick(top, kernel, stride, padding, dilation, input, values):
    n = len(kernel)
    x = images(input, n)
    settings = kernel, stride, padding, dilation
    top = _top(top, *settings, x, top[0].shape[1:])
    return back(kernels.max_pool_pick(x, top, images(values, n), *settings), input, n)


@op(name="pool_scatter", batches="examples", first=2,
    grad=lambda g, last, size, indices: gather(last, len(size), indices, g))
def scatter(last, size, indices, grad):
    """`grad` added up at flat positions `indices` of images of `size`, with channels last in memory if `last`."""
    n = len(size)
    result = kernels.scatter(images(indices, n), images(grad, n), size, grad.shape[:-n])
    result = back(result, grad, n if grad.ndim == n + 1 else None)
    return in_channels_last(result) if last else result


@op(name="pool_gather", batches="examples", first=2,
    input=lambda g, shape, last, n, indices: scatter(last, shape[-n:], indices, g))
def gather(last, n, indices, input):
    """The elements of images `input` at flat positions `indices`; `last` goes to `scatter` for the gradient."""
    return back(kernels.gather(images(indices, n), images(input, n)), input)


def wide(x):
    """float16 in float32, in which torch adds up; anything else as it is."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _counts(*shapes):
    *shapes, include_pad = shapes
    return kernels.counts(*map(tuple, shapes), include_pad)


@op(name="avg_pool2d", batches="examples", first=6,
    input=lambda g, out, kernel, stride, padding, include_pad, divisor, input:
        _avg_pool_grad(len(out) < 3 and is_last(input, len(out)), input.shape[-len(out):], kernel, stride, padding,
                       include_pad, divisor, g))
def _avg_pool(out, kernel, stride, padding, include_pad, divisor, input):
    n, strides = len(out), input.strides
    if strides[-n - 1] > strides[-1]:          # `in_c_order`
        result = kernels.means(input, out, kernel, stride, padding, include_pad, divisor)
        if result is not None:
            return result
    x, size = wide(images(input, n)), input.shape[-n:]
    if x.size and x.dtype.kind in dt.NATIVE and kernels.is_even(out, kernel, stride, padding, size):
        result = kernels.even_sums(x, out, kernel)
    else:
        result = kernels.sum_pool(x, out, kernel, stride, padding)
    divisor = divisor or _counts(input.shape[-n:], out, kernel, stride, padding, include_pad)
    if result.dtype.kind in dt.NATIVE:
        result /= divisor
    else:
        result = np.trunc(result / divisor)
    return back(result.astype(input.dtype, copy=False), input, n if n < 3 else None)


@op(name="avg_pool2d_backward", batches="examples", first=7,
    grad=lambda g, shape, size, kernel, stride, padding, include_pad, divisor:
        _avg_pool(shape[-len(size):], kernel, stride, padding, include_pad, divisor, g))
def _avg_pool_grad(last, size, kernel, stride, padding, include_pad, divisor, grad):
    n = len(size)
    if not last and in_c_order(grad, n):
        result = kernels.shares_of_means(grad, size, kernel, stride, padding, include_pad, divisor)
        if result is not None:
            return result
    shares = wide(images(grad, n))
    divisor = divisor or _counts(size, grad.shape[-n:], kernel, stride, padding, include_pad)
    shares = (shares / divisor).astype(shares.dtype, copy=False)
    if tuple(kernel) == tuple(size) and not any(padding) and shares.shape[1:] == (1,) * n:
        result = np.broadcast_to(shares, (len(shares), *size)).copy()      # of the whole image
    elif tuple(kernel) == tuple(stride) and not any(padding) and kernels.divides(shares.shape[1:], kernel, size):
        result = shares + 0                    # a sum with nothing: -0. does not come of it
        for axis in range(n, 0, -1):
            result = np.repeat(result, kernel[axis - 1], axis)
    else:
        result = kernels.sum_pool_grad(shares, size, kernel, stride, padding)
    result = back(result.astype(grad.dtype, copy=False), grad)
    return in_channels_last(result) if last else result


def of_one_axis(pool, name=None, edge=0):
    """Pooling of one axis under the name of torch's node: torch pools images of one row and squeezes the result. The
    input is number `edge` of the arguments that may be tensors."""
    return renamed(pool, "squeeze.1", (name or pool.op.backward_name, ("UnsqueezeBackward0", edge)))


#: The primitives by number of axes.
_max_pools = {1: of_one_axis(_max_pool), 2: _max_pool, 3: renamed(_max_pool, "max_pool3d_with_indices")}
_max_ats = {1: of_one_axis(_max_at), 2: _max_at, 3: renamed(_max_at, "max_pool3d_with_indices")}
_avg_pools = {1: of_one_axis(_avg_pool), 2: _avg_pool, 3: renamed(_avg_pool, "avg_pool3d")}


# ------------------------------------------------------------------ checks
_HOW_MANY = {1: "one int", 2: "two ints", 3: "three ints"}
_AXES = ("T", "H", "W")


def _numbers(value, function, name, n, optional=""):
    """`value` (an int or several) as `n` ints; RuntimeError in torch's words for another count."""
    position = 2 + ("kernel_size", "stride", "padding", "dilation").index(name)
    listed = isinstance(value, (tuple, list))
    value = tuple(value) if listed else (value,)
    if len(value) not in (1, n):
        if n == 1:
            raise RuntimeError(f"{function}() {name} must be an int, list of ints or tuple of ints of size 1 but got "
                               f"size {len(value)}")
        raise RuntimeError(f"{function}: {name} must either be {optional}a single int, or a tuple of {_HOW_MANY[n]}")
    if listed or not is_int(value[0]) and not is_one_int(value[0]):       # one number may stand for all axes
        value = ints_of(value if listed else value[0], function, name, position)
    else:
        value = (int_of(value[0], function, name, position, True),)
    return value * n if len(value) == 1 else value


def window(function, n, kernel_size, stride, padding, dilation):
    kernel = _numbers(kernel_size, function, "kernel_size", n)
    stride = kernel if stride is None or isinstance(stride, (tuple, list)) and not stride else \
        _numbers(stride, function, "stride", n, "omitted, ")
    return (kernel, stride, _numbers(padding, function, "padding", n), _numbers(dilation, function, "dilation", n))


def _check_flag(function, name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{function}(): argument '{name}' must be bool, not {type(value).__name__}")


def _check_dims(function, n, shape):
    """Error unless an input of `shape` has `n` spatial axes, channels and perhaps a batch."""
    shape = list(shape)
    good = len(shape) in (n + 1, n + 2)
    if n == 1 and function.startswith("max"):
        if not good:
            raise RuntimeError("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
                               f"input, but got:{shape}")
    elif n == 1:
        if not good:
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
                               f"'self' (while checking arguments for {function})")
    elif not good and function == "avg_pool2d":
        check_dim(-3, len(shape))              # IndexError
        raise RuntimeError(f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                           f"{shape}")
    elif not good:
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    if 0 in shape[-n - 1:]:
        named = "max_pool1d: " if function == "max_pool1d" else ""
        raise RuntimeError(f"{named}Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size "
                           f"for input, but got:{shape}")


def _check_window_1d(kernel, stride, padding, dilation):
    for name, (value,) in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if padding[0] < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding[0]}")
    if padding[0] > kernel[0] // 2:
        raise RuntimeError("max_pool1d() padding should be at most half of kernel size, but got "
                           f"padding={padding[0]} and kernel_size={kernel[0]}")


def _check_window(kernel, stride, padding, dilation):
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    for words, name, values in (("kernel size", "k", kernel), ("stride", "d", stride),
                                ("dilation", "dilation", dilation)):
        if min(values) <= 0:
            got = " ".join([f"{name}{axis}: {v}" for axis, v in zip(_AXES[-len(values):], values)])
            raise RuntimeError(f"{words} should be greater than zero, but got {got}")
    for p, k, d in zip(padding, kernel, dilation):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError("pad should be at most half of effective kernel size, but got "
                               f"pad={p}, kernel_size={k} and dilation={d}")


def _output_size(size, kernel, stride, padding, dilation, ceil_mode):
    out = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation):
        m = (n + 2 * p - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (m - 1) * s >= n + p:         # the last window must start inside the input
            m -= 1
        out.append(m)
    return tuple(out)


def _check_output(function, n, shape, out, kernel, padding):
    shape = shape[-n - 1:]
    if function == "avg_pool3d" and any([m < k for m, k in zip(shape[1:], kernel)]):
        size = " ".join([f"{axis}: {m}" for axis, m in zip(_AXES, shape[1:])])
        windows = " ".join([f"k{axis}: {m}" for axis, m in zip(_AXES, kernel)])
        raise RuntimeError(f"input image ({size}) smaller than kernel size ({windows})")
    if function != "max_pool1d" and any([p > k // 2 for p, k in zip(padding, kernel)]):
        if n == 3:
            (kt, kh, kw), (pt, ph, pw) = kernel, padding
            got = f"kT: {kt} kW: {kw} kH: {kh} padT: {pt} padW: {pw} padH: {ph}"
        else:
            (kh, kw), (ph, pw) = kernel, padding
            got = f"padW = {pw}, padH = {ph}, kW = {kw}, kH = {kh}"
        raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {got}")
    if min(out) >= 1:
        return
    if function == "max_pool1d":
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {out[0]}")
    if n == 1:
        shape, out = (shape[0], 1, shape[1]), (1,) + out
    raise RuntimeError(f"Given input size: ({'x'.join(map(str, shape))}). Calculated output size: "
                       f"({'x'.join(map(str, (shape[0],) + out))}). Output size is too small")


def check_dtype(name, input, kinds):
    if input._array.dtype.kind not in dt.NATIVE and dt.kind(input._array.dtype) not in kinds:
        raise not_implemented(name, input)


# ------------------------------------------------------------------ max pooling
_MAX = {n: f"max_pool{n}d" for n in (1, 2, 3)}
_INTEGER_TOO = dt.FLOATING + dt.INTEGER


def _max(n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    in_a_row = n == 1 and not return_indices   # with indices torch pools images of one row
    find = _max_settings if in_a_row or n > 1 else _max_settings_of_row
    array = input._array
    settings = find(_MAX[n], n, array.shape, kernel_size, stride, padding, dilation, ceil_mode)
    if array.dtype is _FLOAT:
        pass
    elif in_a_row:
        check_dtype("max_pool2d" if input._requires_grad else "max_pool1d_impl", input, dt.FLOATING)
    else:
        check_dtype(_MAX[max(n, 2)], input, _INTEGER_TOO)
    if n == 3 and array.ndim == 4 and channels_last(array):
        raise RuntimeError("Unsupported memory format. Supports only ChannelsLast3d, Contiguous")
    narrow = array.dtype is not _FLOAT and array.dtype == dt.BFLOAT16
    if in_a_row and not array.flags.c_contiguous and not (input._requires_grad and mode.grad_now):
        input = input.contiguous()             # torch's routine without indices returns C order
    if return_indices:
        top, indices = in_float32(_max_and_indices, *settings, input) if narrow else _max_and_indices(*settings, input)
        return _max_ats[n](n, [top._array], input, indices), indices
    result = in_float32(_max_pools[n], *settings, input) if narrow else _max_pools[n](*settings, input)
    if result._node is not None:
        result._node.saved[-1] += result._version_counter, result._version_counter[0]
    return result


@cached_by_shape
def _max_settings(function, n, shape, kernel_size, stride, padding, dilation, ceil_mode):
    """(output size, kernel, stride, padding, dilation) for an input of `shape`."""
    settings = window(function, n, kernel_size, stride, padding, dilation)
    _check_flag(function, "ceil_mode", ceil_mode)
    _check_dims(function, n, shape)
    (_check_window_1d if n == 1 else _check_window)(*settings)
    out = _output_size(shape[-n:], *settings, ceil_mode)
    _check_output(function, n, shape, out, settings[0], settings[2])
    return out, *settings


@cached_by_shape
def _max_settings_of_row(function, n, shape, kernel_size, stride, padding, dilation, ceil_mode):
    """`_max_settings` for one axis, with the errors that torch raises for two axes."""
    if len(shape) not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
                           f"'self' (while checking arguments for {function})")
    numbers = window(function, n, kernel_size, stride, padding, dilation)
    pairs = [(row,) + value for row, value in zip((1, 1, 0, 1), numbers)]
    settings = _max_settings("max_pool2d", 2, shape[:-1] + (1,) + shape[-1:], *pairs, ceil_mode)
    return tuple([value[1:] for value in settings])


@public(hot=True, in_python="nn.functional")
def max_pool1d(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0,
               dilation: int | Ints = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each window. input (N, C, L) or (C, L); `stride` defaults to `kernel_size`.

    With `return_indices`, also its position in the input (int64). RuntimeError where the window does not fit.

    >>> import tinytorch as torch
    >>> torch.max_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    return _max(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@public(hot=True, in_python="nn.functional", repeats=True)
def max_pool2d(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0,
               dilation: int | Ints = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each window. input (N, C, H, W) or (C, H, W); see `max_pool1d`. The indices are flat
    positions in H * W.

    >>> import tinytorch as torch
    >>> torch.max_pool2d(torch.arange(16.).view(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    return _max(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@public(hot=True, in_python="nn.functional")
def max_pool3d(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0,
               dilation: int | Ints = 1, ceil_mode: bool = False,
               return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each window. input (N, C, D, H, W) or (C, D, H, W); see `max_pool1d`.

    >>> import tinytorch as torch
    >>> torch.max_pool3d(torch.arange(8.).view(1, 1, 2, 2, 2), 2)
    tensor([[[[[7.]]]]])
    """
    return _max(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@public(hot=True, in_python="nn.functional")
def max_pool1d_with_indices(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None,
                            padding: int | Ints = 0, dilation: int | Ints = 1, ceil_mode: bool = False,
                            return_indices: bool = True) -> tuple[Tensor, Tensor]:
    """`max_pool1d` and the positions of the maxima (int64).

    >>> import tinytorch as torch
    >>> torch.max_pool1d_with_indices(torch.tensor([[1., 3., 2., 0.]]), 2)[1]
    tensor([[1, 2]])
    """
    return _max(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


@public(hot=True, in_python="nn.functional")
def max_pool2d_with_indices(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None,
                            padding: int | Ints = 0, dilation: int | Ints = 1, ceil_mode: bool = False,
                            return_indices: bool = True) -> tuple[Tensor, Tensor]:
    """`max_pool2d` and the flat positions of the maxima (int64).

    >>> import tinytorch as torch
    >>> torch.nn.functional.max_pool2d_with_indices(torch.ones(1, 2, 2), 2)[1]
    tensor([[[0]]])
    """
    return _max(2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


@public(hot=True, in_python="nn.functional")
def max_pool3d_with_indices(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None,
                            padding: int | Ints = 0, dilation: int | Ints = 1, ceil_mode: bool = False,
                            return_indices: bool = True) -> tuple[Tensor, Tensor]:
    """`max_pool3d` and the flat positions of the maxima (int64).

    >>> import tinytorch as torch
    >>> torch.nn.functional.max_pool3d_with_indices(torch.ones(1, 2, 2, 2), 2)[1]
    tensor([[[[0]]]])
    """
    return _max(3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


# ------------------------------------------------------------------ average pooling
_AVERAGE = {n: f"avg_pool{n}d" for n in (1, 2, 3)}


def _average(n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    settings = _average_settings(_AVERAGE[n], n, input._array.shape, kernel_size, stride, padding, ceil_mode,
                                 count_include_pad, divisor_override)
    if input._array.dtype is _FLOAT:
        return _avg_pools[n](*settings, input)
    if input._array.dtype != np.int64:
        check_dtype("avg_pool3d_out_frame" if n == 3 else "avg_pool2d", input, dt.FLOATING)
        if n == 3 and input._array.itemsize == 2:
            raise not_implemented("avg_pool3d_out_frame", input)
    return in_float32(_avg_pools[n], *settings, input) if input._array.dtype == dt.BFLOAT16 else \
        _avg_pools[n](*settings, input)


@cached_by_shape
def _average_settings(function, n, shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    """(output size, kernel, stride, padding, count_include_pad, divisor) for an input of `shape`."""
    kernel, stride, padding, dilation = window(function, n, kernel_size, stride, padding, 1)
    _check_flag(function, "ceil_mode", ceil_mode)
    _check_flag(function, "count_include_pad", count_include_pad)
    if divisor_override is not None:
        divisor_override = int_of(divisor_override, function, "divisor_override", 7)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    _check_dims(function, n, shape)
    _check_window(kernel, stride, padding, dilation)
    out = _output_size(shape[-n:], kernel, stride, padding, dilation, ceil_mode)
    _check_output(function, n, shape, out, kernel, padding)
    return out, kernel, stride, padding, count_include_pad, divisor_override


@public(hot=True)
def avg_pool1d(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0,
               ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """Mean of each window. input (N, C, L) or (C, L); `stride` defaults to `kernel_size`. Padding counts as zeros
    unless `count_include_pad` is False. RuntimeError where the window does not fit.

    >>> import tinytorch as torch
    >>> torch.avg_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    return _average(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@public(hot=True, repeats=True)
def avg_pool2d(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0,
               ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *,
               out: Tensor | None = None) -> Tensor:
    """Mean of each window. input (N, C, H, W) or (C, H, W); see `avg_pool1d`. `divisor_override` is divided by
    instead of the window's size.

    >>> import tinytorch as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(16.).view(1, 4, 4), 2)
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """
    if input._array.dtype is _FLOAT and out is None:
        return _avg_pool(*_average_settings("avg_pool2d", 2, input._array.shape, kernel_size, stride, padding,
                                            ceil_mode, count_include_pad, divisor_override), input)
    result = _average(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                      divisor_override)
    return result if out is None else write_out(out, result, input, apart=True, exact=EXACT)


@public(hot=True, autocast="up")
def avg_pool3d(input: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None, padding: int | Ints = 0,
               ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *,
               out: Tensor | None = None) -> Tensor:
    """Mean of each window. input (N, C, D, H, W) or (C, D, H, W); see `avg_pool2d`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.avg_pool3d(torch.arange(8.).view(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    result = _average(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                      divisor_override)
    return result if out is None else write_out(out, result, input, apart=True, exact=EXACT)
