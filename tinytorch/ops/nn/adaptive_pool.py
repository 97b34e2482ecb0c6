"""Pooling to a given size (adaptive_max_pool, adaptive_avg_pool), lp_pool and max_unpool, of 1 to 3 axes."""
from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index as as_int
from typing import Any

import numpy as np

from ... import dtypes as dt
from ...arguments import check_sized, int_of, ints_of
from ...autograd.grad_mode import mode
from ...autograd.op import op, renamed
from ...autograd.promotion import refuse_complex_gradient
from ...autograd.public import public, refuse
from ...autograd.record_dtypes import in_float32
from ...errors import type_name
from ...kernels import pool as kernels
from ...kernels.layout import in_channels_last, operand_order
from ...seam import seam
from ...tensor import Tensor, wrap
from ...types import Extents, Ints
from ..plan import cached_by_shape
from ..reduction.reductions import masked, raw
from . import pool
from .pool import (
    _avg_pool,
    _avg_pool_grad,
    back,
    check_dtype,
    gather,
    images,
    in_c_order,
    is_last,
    of_one_axis,
    scatter,
    wide,
)

__all__ = ["adaptive_avg_pool1d"]

#: The sizes of one element for each image.
_WHOLE = {(1,), (1, 1), (1, 1, 1)}


# ------------------------------------------------------------------ primitives
def _along_axes(x, matrices):
    """`x`, whose last axes are multiplied by `matrices`, one for each axis."""
    for axis, matrix in enumerate(matrices, x.ndim - len(matrices)):
        x = np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), matrix.T), -1, axis)
    return np.ascontiguousarray(x)


def _all_finite(x):
    return np.isfinite(np.add.reduce(x, axis=None))


@op(name="adaptive_avg_pool2d", batches="examples", first=1, input=lambda g, out, input:
        _adaptive_avg_grad(len(out) < 3 and is_last(input, len(out)), input.shape[-len(out):], g))
def _adaptive_avg(out, input):
    x, n = wide(input), len(out)
    size = input.shape[-n:]
    result = _along_axes(x, [kernels.averaging(k, m, x.dtype) for k, m in zip(size, out)])
    if not _all_finite(result):                # 0 * inf is NaN: an element outside a window must not reach its mean
        result = kernels.uneven_sums(x, out) / kernels.uneven_counts(size, out).astype(x.dtype)
    return back(result.astype(input.dtype, copy=False), input, n if n < 3 else None)


@op(name="adaptive_avg_pool2d_backward", batches="examples", first=2,
    grad=lambda g, shape, size: _adaptive_avg(shape[-len(size):], g))
def _adaptive_avg_grad(last, size, grad):
    _check_gradient("avg", len(size), grad)
    g, out = wide(grad), grad.shape[-len(size):]
    result = _along_axes(g, [kernels.averaging(k, m, g.dtype).T for k, m in zip(size, out)])
    # Inputs and outputs change places here: each input receives a sum over the outputs whose windows hold it.
    if not _all_finite(result):
        result = kernels.uneven_sums(g / kernels.uneven_counts(size, out).astype(g.dtype), size)
    result = result.astype(grad.dtype, copy=False)
    return in_channels_last(result) if last else result


@op(name="mean.1", first=1, input=lambda g, shape, n:
        _avg_pool_grad(False, shape[-n:], shape[-n:], shape[-n:], (0,) * n, True, None, g))
def _mean(n, input):
    """Pooling to one element, which torch computes as a mean."""
    size = input.shape[-n:]
    if 0 in size:
        return np.full(input.shape[:-n] + (1,) * n, np.nan, input.dtype)
    result = _avg_pool.__wrapped__((1,) * n, size, size, (0,) * n, True, None, input)
    return back(result, input, n) if n == 3 else result


def _check_gradient(kind, n, grad):
    """RuntimeError for a gradient without elements, which torch's routines do not take."""
    shape = list(grad.shape[:-n] + (1,) * (n == 1) + grad.shape[-n:])
    for i in range(1, len(shape)):
        if shape[i] == 0:
            name = f"adaptive_{kind}_pool{max(n, 2)}d_backward"
            raise RuntimeError(f"{name}(): Expected grad_output to have non-zero size for non-batch dimensions, but "
                               f"grad_output has sizes {shape} with dimension {i} being empty")


@op(name="adaptive_max_pool2d", batches="examples", first=1, multi=True)
def _adaptive_max(out, input):
    n = len(out)
    x = images(input, n)
    found = kernels.whole_maxima(x, n) if out in _WHOLE else None
    if found is None:
        indices = kernels.adaptive_indices(x, out)
        found = kernels.gather(indices, x), indices
    last = n if n < 3 else None
    return back(found[0], input, last), back(found[1], input, last)


def _adaptive_max_grad(g, n, input, indices):
    _check_gradient("max", n, g)
    return scatter(n < 3 and is_last(input, n), input.shape[-n:], indices, g)


@op(name="adaptive_max_pool2d", first=2, input=_adaptive_max_grad)
def _adaptive_max_at(n, top, input, indices):
    return top.pop()                           # backward needs the indices alone


@op(name="adaptive_max_pool2d", batches="examples", first=1, aux=True,
    input=lambda g, out, input, aux: _adaptive_max_grad(g, len(out), input, aux))
def _adaptive_max_without_indices(out, input):
    n, found = len(out), None
    if out in _WHOLE and input.flags.c_contiguous and in_c_order(input, n):
        found = kernels.whole_maxima(input, n)
    return _adaptive_max.__wrapped__(out, input) if found is None else found


_adaptive_max_ats = {1: of_one_axis(_adaptive_max_at), 2: _adaptive_max_at,
                     3: renamed(_adaptive_max_at, "adaptive_max_pool3d")}
_adaptive_max_alone = {2: _adaptive_max_without_indices,
                       3: renamed(_adaptive_max_without_indices, "adaptive_max_pool3d")}


def _put_grad(g, size, indices):
    gradient = gather(False, len(size), indices, g)
    if not mode.computing_jvp:
        return gradient
    # Where several elements are put at one place, torch's tangent holds the last one alone.
    indices = raw(indices)
    number = np.arange(indices.size).reshape(indices.shape)
    left = gather(False, len(size), indices, _put(size, indices, number)) == number
    return masked(gradient, left)


@op(name="max_unpool2d", batches="examples", first=1, input=lambda g, size, indices: _put_grad(g, size, indices))
def _put(size, indices, input):
    n = len(size)
    return back(kernels.put(images(indices, n), images(input, n), size), input, n if n == 2 else None)


_puts = {1: of_one_axis(_put, edge=1), 2: _put, 3: renamed(_put, "max_unpool3d")}
#: The primitives by number of axes: pooling to one element, to a size that divides the input's, to any other size.
_means = {1: of_one_axis(_mean, "MeanBackward1"), 2: _mean, 3: _mean}
_evens = {1: of_one_axis(_avg_pool, "AdaptiveAvgPool2DBackward0"), 2: renamed(_avg_pool, "adaptive_avg_pool2d"),
          3: renamed(_avg_pool, "adaptive_avg_pool3d")}
_unevens = {1: of_one_axis(_adaptive_avg), 2: _adaptive_avg, 3: renamed(_adaptive_avg, "adaptive_avg_pool3d")}


# ------------------------------------------------------------------ pooling to a given size
def _sizes(output_size, shape):
    """`output_size` (one int or several), in which the sizes of the input take the place of None."""
    if isinstance(output_size, int):
        return output_size
    if len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return [m if v is None else v for v, m in zip(output_size, shape[-len(output_size):])]


def _target(function, n, input, output_size):
    """The output's spatial size, with None filled in. Raises torch's errors for a bad size or a bad input. The result
    depends on the input's shape and dtype alone, and is not computed again for the same."""
    if isinstance(input, Tensor) and type(array := input._array) is np.ndarray:
        return _target_of(function, n, array.shape, array.dtype, output_size)
    return _checked_target(function, n, input, output_size)


@cached_by_shape
def _target_of(function, n, shape, dtype, output_size):
    return _checked_target(function, n, wrap(np.broadcast_to(np.empty((), dtype), shape)), output_size)


def _checked_target(function, n, input, output_size):
    # The order is torch's: the type of `output_size`, the number of dimensions of the input, the values of
    # `output_size`. An average over all then needs a floating dtype alone, also of no elements. Every other pooling
    # needs sizes above 0, then a floating dtype, which adaptive_avg_pool2d checks unless input or output is empty.
    if n > 1:
        check_sized(input)
    shape = list(input._array.shape)
    if n == 1:
        several = isinstance(output_size, (tuple, list))
        if several and len(output_size) != 1:
            raise RuntimeError(f"{function}() argument 'output_size' should contain one int (got {len(output_size)})")
    else:
        output_size = _sizes(output_size, shape)
        several = isinstance(output_size, list)
    if several:
        out = ints_of(output_size, function, "output_size", 2, "avg" in function and n > 1)
    else:
        out = (int_of(output_size, function, "output_size", 2, True),) * n
    if len(shape) not in (n + 1, n + 2):
        if n == 1:
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
                               f"'self' (while checking arguments for {function})")
        colon = ":" if "max" in function else ""
        raise RuntimeError(f"{function}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {shape}")
    if len(out) != n:
        raise RuntimeError(f"{function}: output_size must be {n}")
    if min(out) < 0:
        raise RuntimeError(f"{function}: elements of output_size must be greater than or equal to 0 but received "
                           f"{{{', '.join(map(str, out))}}}")
    if "avg" in function and out == (1,) * n:  # torch computes a mean, also of no elements
        if input._array.dtype.kind in dt.INTEGRAL:
            raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                               f"complex dtype. Got: {type_name(input)}")
        return out
    if n == 1 and "avg" in function:           # torch pools images of one row
        function, shape = "adaptive_avg_pool2d", shape[:-1] + [1] + shape[-1:]
    for i in range(len(shape) - 2 if function == "adaptive_avg_pool2d" else 1, len(shape)):
        if shape[i] == 0:
            raise RuntimeError(f"{function}(): Expected input to have non-zero size for non-batch dimensions, but "
                               f"input has sizes {shape} with dimension {i} being empty")
    if function == "adaptive_avg_pool2d" and (0 in shape or 0 in out):         # torch checks no dtype here
        refuse_complex_gradient("_adaptive_avg_pool2d", input)
        return out
    check_dtype(f"adaptive_{function[9:12]}_pool{max(n, 2)}d" + "_cpu" * (n == 3), input, dt.FLOATING)
    return out


def _adaptive_average(function, n, input, output_size):
    out = _target(function, n, input, output_size)
    array = input._array
    if array.dtype.kind not in dt.FLOATING:
        return input.mean(tuple(range(-n, 0)), True) if out == (1,) * n else input.new_empty(array.shape[:-n] + out)
    primitive, settings = _primitive_of_average(array.shape[-n:], out)
    if array.dtype == dt.BFLOAT16:
        return in_float32(primitive, *settings, input)
    return primitive(*settings, input)


@cached_by_shape
def _primitive_of_average(size, out):
    n = len(out)
    if out == (1,) * n:
        return _means[n], (n,)
    if min(out) > 0 and not any([n % m for n, m in zip(size, out)]):
        kernel = tuple([n // m for n, m in zip(size, out)])
        return _evens[n], (out, kernel, kernel, (0,) * n, True, None)
    return _unevens[n], (out,)


@public()
def adaptive_avg_pool1d(input: Tensor, output_size: int | Ints) -> Tensor:
    """Mean of each of `output_size` windows into which the input is divided. input (N, C, L) or (C, L).

    >>> import tinytorch as torch
    >>> torch.adaptive_avg_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    return _adaptive_average("adaptive_avg_pool1d", 1, input, output_size)


@public(python=True, repeats=True)
def adaptive_avg_pool2d(input: Tensor, output_size: int | Extents) -> Tensor:
    """Mean of each of the windows into which the input is divided. `output_size`: an int or two; None keeps a size.

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(16.).view(1, 4, 4), (1, 2))
    tensor([[[6.5000, 8.5000]]])
    """
    return _adaptive_average("adaptive_avg_pool2d", 2, input, output_size)


@public(python=True, autocast="up")
def adaptive_avg_pool3d(input: Tensor, output_size: int | Extents) -> Tensor:
    """Mean of each of the windows into which the input is divided; see `adaptive_avg_pool2d`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_avg_pool3d(torch.arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return _adaptive_average("adaptive_avg_pool3d", 3, input, output_size)


def _adaptive_maximum(function, n, input, output_size, with_indices=True):
    out = _target(function, n, input, output_size)
    if not with_indices:
        pool = _adaptive_max_alone[n]
        return in_float32(pool, out, input) if input._array.dtype == dt.BFLOAT16 else pool(out, input)
    top, indices = in_float32(_adaptive_max, out, input) if input._array.dtype == dt.BFLOAT16 else \
        _adaptive_max(out, input)
    return _adaptive_max_ats[n](n, [top._array], input, indices), indices


@public(python=True)
def adaptive_max_pool1d(input: Tensor, output_size: int | Ints,
                        return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each of `output_size` windows into which the input is divided; with `return_indices` its
    position too. (`torch.adaptive_max_pool1d` returns both.)

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    result = adaptive_max_pool1d_with_indices(input, output_size)
    return result if return_indices else result[0]


@public(python=True, repeats=True)
def adaptive_max_pool2d(input: Tensor, output_size: int | Ints,
                        return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each of the windows into which the input is divided. `output_size`: an int or two.

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(16.).view(1, 4, 4), (1, 2))
    tensor([[[13., 15.]]])
    """
    if not return_indices and not seam.up:
        return _adaptive_maximum("adaptive_max_pool2d", 2, input, output_size, False)
    result = adaptive_max_pool2d_with_indices(input, output_size)
    return result if return_indices else result[0]


@public(python=True, autocast="up")
def adaptive_max_pool3d(input: Tensor, output_size: int | Ints,
                        return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each of the windows into which the input is divided.

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    if not return_indices and not seam.up:
        return _adaptive_maximum("adaptive_max_pool3d", 3, input, output_size, False)
    result = adaptive_max_pool3d_with_indices(input, output_size)
    return result if return_indices else result[0]


@public("adaptive_max_pool1d", in_python="nn.functional")
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: int | Ints,
                                     return_indices: Any = True) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool1d` and the positions of the maxima (int64)."""
    return _adaptive_maximum("adaptive_max_pool1d", 1, input, output_size)


@public(python=True)
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: int | Ints,
                                     return_indices: bool = True) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool2d` and the flat positions of the maxima (int64)."""
    return _adaptive_maximum("adaptive_max_pool2d", 2, input, output_size)


@public(python=True)
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: int | Ints,
                                     return_indices: bool = True) -> tuple[Tensor, Tensor]:
    """`adaptive_max_pool3d` and the flat positions of the maxima (int64)."""
    return _adaptive_maximum("adaptive_max_pool3d", 3, input, output_size)


# ------------------------------------------------------------------ power averages and unpooling
def _repeated(value, n):
    """The elements of `value` as a tuple, or `value` repeated `n` times if it is a single number."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


@op(name="relu", input=lambda g, ans: masked(g, ~(raw(ans) <= 0)))
def _let_through(input):
    """relu, whose gradient at 0 is 0 even if the gradient of the root that follows is infinite, as in torch."""
    return np.maximum(input, 0)


def _like(result, input):
    """`result` with the memory order of `input`, along sizes of 1 too, because their strides decide the memory
    format."""
    if result._array.strides != input._array.strides:
        result._array = operand_order(result._array, input._array)
    return result


def _power(average, largest, input, norm_type, kernel_size, kernel, stride, ceil_mode):
    if isinstance(norm_type, (int, float)) and math.isinf(norm_type):
        sign = 1 if norm_type > 0 else -1
        top = largest(_like(sign * input.abs(), input), kernel_size, stride, 0, 1, ceil_mode)
        return top if sign > 0 else -top
    mean = average(_like(input.pow(norm_type), input), kernel_size, stride, 0, ceil_mode)
    return (mean.sign() * _let_through(mean.abs())).mul(math.prod(kernel)).pow(1.0 / norm_type)


@public(python=True)
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int | Ints, stride: int | Ints | None = None,
              ceil_mode: bool = False) -> Tensor:
    """(sum of x ** norm_type) ** (1 / norm_type) over each window. input (N, C, L) or (C, L).

    >>> import tinytorch as torch
    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3., 4.]]), 2, 2)
    tensor([[5.]])
    """
    return _power(pool.avg_pool1d, pool.max_pool1d, input, norm_type, kernel_size, (kernel_size,), stride, ceil_mode)


@public(python=True)
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: int | Ints, stride: int | Ints | None = None,
              ceil_mode: bool = False) -> Tensor:
    """`lp_pool1d` over windows of (N, C, H, W) or (C, H, W).

    >>> import tinytorch as torch
    >>> torch.nn.functional.lp_pool2d(torch.ones(1, 2, 2), 2, 2)
    tensor([[[2.]]])
    """
    h, w = _repeated(kernel_size, 2)
    return _power(pool.avg_pool2d, pool.max_pool2d, input, norm_type, kernel_size, (h, w), stride, ceil_mode)


@public(python=True)
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: int | Ints, stride: int | Ints | None = None,
              ceil_mode: bool = False) -> Tensor:
    """`lp_pool1d` over windows of (N, C, D, H, W) or (C, D, H, W)."""
    d, h, w = _repeated(kernel_size, 3)
    return _power(pool.avg_pool3d, pool.max_pool3d, input, norm_type, kernel_size, (d, h, w), stride, ceil_mode)


def _unpool(function, n, input, indices, kernel_size, stride, padding, output_size):
    kernel, padding = _repeated(kernel_size, n), _repeated(padding, n)
    stride = kernel if stride is None else _repeated(stride, n)
    size = _unpool_size(input, kernel, stride, padding, output_size)
    if n > 2:                                  # torch passes these to its routine for three axes alone
        ints_of(stride, function.__name__, "stride", None)
        ints_of(padding, function.__name__, "padding", 5)
    try:
        _check_unpool(n, input, indices, size)
    except AttributeError:
        if n > 1:                              # for one axis torch reshapes the input before it checks anything
            refuse(function, input, indices)
        raise
    return _puts[n](size, indices, input)


def _check_unpool(n, input, indices, size):
    shape, flat = input._array.shape, n == 1
    if len(size) != n:
        names = ("depth", "height", "width")[-n:]
        raise RuntimeError(f"There should be exactly {('two', 'three')[n - 2]} elements ({', '.join(names)}) in "
                           f"output_size, but got {len(size)} elements.")
    if indices._array.dtype != np.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {type_name(indices)}")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"Input to max_unpooling{n + flat}d should be a {n + flat + 1}d or {n + flat + 2}d Tensor, "
                           f"but got a tensor with {len(shape) + flat} dimensions.")
    if indices._array.shape != shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got "
                           f"indices tensor with shape: {list(indices._array.shape)}")
    check_dtype(f"max_unpool{n + flat}d", input, dt.FLOATING)
    full = shape[:-1] + (shape[-1], 1) if flat else shape
    for i in range(len(full) - n - flat - (len(full) == n + flat + 1), len(full)):
        if full[i] == 0:
            raise RuntimeError(f"max_unpooling{n + flat}d_forward_out_cpu(): Expected input to have non-zero size for "
                               f"non-batch dimensions, but got {list(full)} with dimension {i} being empty.")
    if 0 in size:                              # the output has no elements
        return
    bad = (indices._array < 0) | (indices._array >= math.prod(size))
    if bad.any():
        volume = "x".join(map(str, size + (1,) * flat))
        raise RuntimeError(f"Found an invalid max index: {indices._array[bad][0]} (output volumes are of size "
                           f"{volume})")


def _unpool_size(input, kernel, stride, padding, wanted):
    """The output's spatial size: `wanted`, which must be less than a stride from the size that the windows cover."""
    shape, n = input._array.shape, len(kernel)
    size = [(shape[d - n] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(n)]
    if wanted is not None:
        if len(wanted) == n + 2:
            wanted = wanted[2:]
        if len(wanted) != n:
            raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
                             f"length of '{len(wanted)}'")
        for d, (m, default, s) in enumerate(zip(wanted, size, stride)):
            if not default - s < m < default + s:
                raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between {default - s} and '
                                 f"{default + s})")
        size = wanted
    size = tuple([as_int(m) for m in size])
    for d, m in enumerate(size):
        if m < 0:
            raise ValueError("max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                             f"output_size[{d}]={m}")
    return size


@public(python=True, autocast="up")
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None,
                 padding: int | Ints = 0, output_size: Ints | None = None) -> Tensor:
    """Zeros with the elements of `input` at the places that `max_pool1d(..., return_indices=True)` gave."""
    return _unpool(max_unpool1d, 1, input, indices, kernel_size, stride, padding, output_size)


@public(python=True, autocast="up")
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None,
                 padding: int | Ints = 0, output_size: Extents | None = None) -> Tensor:
    """Zeros with the elements of `input` at the places that `max_pool2d(..., return_indices=True)` gave.

    >>> import tinytorch as torch
    >>> torch.nn.functional.max_unpool2d(torch.tensor([[[5.]]]), torch.tensor([[[1]]]), 2)
    tensor([[[0., 5.],
             [0., 0.]]])
    """
    return _unpool(max_unpool2d, 2, input, indices, kernel_size, stride, padding, output_size)


@public(python=True, autocast="up")
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: int | Ints, stride: int | Ints | None = None,
                 padding: int | Ints = 0, output_size: Extents | None = None) -> Tensor:
    """Zeros with the elements of `input` at the places that `max_pool3d(..., return_indices=True)` gave."""
    return _unpool(max_unpool3d, 3, input, indices, kernel_size, stride, padding, output_size)
