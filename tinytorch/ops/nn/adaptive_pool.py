"""Pooling to a given size (adaptive_max_pool, adaptive_avg_pool), lp_pool and max_unpool, of 1 to 3 axes."""
import math
import operator

import numpy as np

from ...autograd.grad_mode import mode
from ...autograd.op import op, renamed
from ...autograd.promotion import in_float32
from ...dtypes import BFLOAT16
from ...errors import type_name
from ...kernels import pool as kernels
from ..reduction.reductions import masked, raw
from .pool import _avg_pool, avg_pool1d, avg_pool2d, avg_pool3d, back, check_dtype, check_tensor, images, window

__all__ = ["adaptive_avg_pool1d"]


# ------------------------------------------------------------------ primitives
def _along_axes(x, matrices):
    """Every one of the last axes of `x` multiplied by its matrix."""
    for axis, matrix in enumerate(matrices, x.ndim - len(matrices)):
        x = np.moveaxis(np.matmul(np.moveaxis(x, axis, -1), matrix.T), -1, axis)
    return np.ascontiguousarray(x)


@op(name="adaptive_avg_pool2d", first=1, input=lambda g, shape, out: _adaptive_avg_grad(shape[-len(out):], g))
def _adaptive_avg(out, input):
    return _along_axes(input, [kernels.averaging(n, m, input.dtype) for n, m in zip(input.shape[-len(out):], out)])


@op(name="adaptive_avg_pool2d_backward", first=1, grad=lambda g, shape, size: _adaptive_avg(shape[-len(size):], g))
def _adaptive_avg_grad(size, grad):
    return _along_axes(grad, [kernels.averaging(n, m, grad.dtype).T for n, m in zip(size, grad.shape[-len(size):])])


@op(name="adaptive_max_pool2d", first=1, multi=True,
    input=lambda g, shape, out, ans: _scatter(shape[-len(out):], ans[1], g[0]))
def _adaptive_max(out, input):
    x = images(input, len(out))
    indices = kernels.adaptive_indices(x, out)
    return back(kernels.gather(indices, x), input), back(indices, input)


_adaptive_max_3d = renamed(_adaptive_max, "adaptive_max_pool3d")


@op(name="pool_scatter", first=1, grad=lambda g, size, indices: _gather(len(size), indices, g))
def _scatter(size, indices, grad):
    n = len(size)
    return back(kernels.scatter(images(indices, n), images(grad, n), size), grad)


@op(name="pool_gather", first=1, input=lambda g, shape, n, indices: _scatter(shape[-n:], indices, g))
def _gather(n, indices, input):
    return back(kernels.gather(images(indices, n), images(input, n)), input)


def _put_grad(g, size, indices):
    gradient = _gather(len(size), indices, g)
    if not mode.computing_jvp:
        return gradient
    indices = raw(indices)                     # torch's tangents: of several at one place, the last is left
    number = np.arange(indices.size).reshape(indices.shape)
    left = _gather(len(size), indices, _put(size, indices, number)) == number
    return masked(gradient, left)


@op(name="max_unpool2d", first=1, input=lambda g, size, indices: _put_grad(g, size, indices))
def _put(size, indices, input):
    n = len(size)
    return back(kernels.put(images(indices, n), images(input, n), size), input)


_put_3d = renamed(_put, "max_unpool3d")
_even_2d, _even_3d = renamed(_avg_pool, "adaptive_avg_pool2d"), renamed(_avg_pool, "adaptive_avg_pool3d")
_adaptive_avg_3d = renamed(_adaptive_avg, "adaptive_avg_pool3d")


# ------------------------------------------------------------------ pooling to a given size
def _target(function, n, input, output_size):
    """The output's spatial size, None filled in; errors for a bad one or a bad input."""
    check_tensor(function, input)
    shape = list(input.array.shape)
    several = isinstance(output_size, (tuple, list))
    if n == 1:
        if several and len(output_size) != 1:
            raise RuntimeError(f"{function}() argument 'output_size' should contain one int (got {len(output_size)})")
    elif several and len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if len(shape) not in (n + 1, n + 2):
        if n == 1:
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
                               f"'self' (while checking arguments for {function})")
        colon = ":" if "max" in function else ""
        raise RuntimeError(f"{function}(): Expected {n + 1}D or {n + 2}D tensor, but got{colon} {shape}")
    out = tuple(output_size) if several else (output_size,) * n
    if len(out) != n:
        raise RuntimeError(f"{function}: output_size must be {n}")
    out = tuple([size if m is None else operator.index(m) for m, size in zip(out, shape[-n:])])
    if min(out) < 0:
        raise RuntimeError(f"{function}: elements of output_size must be greater than or equal to 0 but received "
                           f"{{{', '.join(map(str, out))}}}")
    for i in range(len(shape) - n - ("max" in function and len(shape) == n + 1), len(shape)):
        if shape[i] == 0:
            raise RuntimeError(f"{function}(): Expected input to have non-zero size for non-batch dimensions, but "
                               f"input has sizes {shape} with dimension {i} being empty")
    check_dtype("adaptive_" + function[9:12] + f"_pool{max(n, 2)}d", input, "fV")
    return out


def _adaptive_average(function, n, input, output_size):
    out = _target(function, n, input, output_size)
    size = input.array.shape[-n:]
    if input.array.dtype == BFLOAT16:
        return in_float32(lambda x: _adaptive_average(function, n, x, out), input)
    if min(out) > 0 and not any([n % m for n, m in zip(size, out)]):
        kernel = tuple([n // m for n, m in zip(size, out)])
        return (_even_3d if n == 3 else _even_2d)(out, kernel, kernel, (0,) * n, True, None, input)
    return (_adaptive_avg_3d if n == 3 else _adaptive_avg)(out, input)


def adaptive_avg_pool1d(input, output_size):
    """Mean of each of `output_size` windows that divide the input. input (N, C, L) or (C, L).

    >>> import tinytorch as torch
    >>> torch.adaptive_avg_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[2., 1.]])
    """
    return _adaptive_average("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool2d(input, output_size):
    """Mean of each of the windows that divide the input into `output_size` (an int or two; None keeps a size).

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(16.).view(1, 4, 4), (1, 2))
    tensor([[[6.5000, 8.5000]]])
    """
    return _adaptive_average("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_avg_pool3d(input, output_size):
    """Mean of each of the windows that divide the input into `output_size`; see `adaptive_avg_pool2d`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_avg_pool3d(torch.arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return _adaptive_average("adaptive_avg_pool3d", 3, input, output_size)


def _adaptive_maximum(function, n, input, output_size, return_indices):
    out = _target(function, n, input, output_size)
    if input.array.dtype == BFLOAT16 and not return_indices:
        return in_float32(lambda x: _adaptive_max(out, x)[0], input)
    result, indices = (_adaptive_max_3d if n == 3 else _adaptive_max)(out, input)
    return (result, indices) if return_indices else result


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Largest element of each of `output_size` windows that divide the input; with `return_indices` its place too.
    (`torch.adaptive_max_pool1d` gives both.)

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[1., 3., 2., 0.]]), 2)
    tensor([[3., 2.]])
    """
    return _adaptive_maximum("adaptive_max_pool1d", 1, input, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Largest element of each of the windows that divide the input into `output_size` (an int or two).

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(16.).view(1, 4, 4), (1, 2))
    tensor([[[13., 15.]]])
    """
    return _adaptive_maximum("adaptive_max_pool2d", 2, input, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Largest element of each of the windows that divide the input into `output_size`.

    >>> import tinytorch as torch
    >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.).view(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    return _adaptive_maximum("adaptive_max_pool3d", 3, input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=True):
    """`adaptive_max_pool1d` and the positions of the maxima (int64)."""
    return _adaptive_maximum("adaptive_max_pool1d", 1, input, output_size, True)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=True):
    """`adaptive_max_pool2d` and the flat positions of the maxima (int64)."""
    return _adaptive_maximum("adaptive_max_pool2d", 2, input, output_size, True)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=True):
    """`adaptive_max_pool3d` and the flat positions of the maxima (int64)."""
    return _adaptive_maximum("adaptive_max_pool3d", 3, input, output_size, True)


# ------------------------------------------------------------------ power averages and unpooling
def _power(average, n, input, norm_type, kernel_size, stride, ceil_mode):
    kernel = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * n
    mean = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return ((mean.sign() * mean.abs()) * math.prod(kernel)).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x ** norm_type) ** (1 / norm_type) over each window. input (N, C, L) or (C, L).

    >>> import tinytorch as torch
    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3., 4.]]), 2, 2)
    tensor([[5.]])
    """
    return _power(avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """`lp_pool1d` over windows of (N, C, H, W) or (C, H, W).

    >>> import tinytorch as torch
    >>> torch.nn.functional.lp_pool2d(torch.ones(1, 2, 2), 2, 2)
    tensor([[[2.]]])
    """
    return _power(avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """`lp_pool1d` over windows of (N, C, D, H, W) or (C, D, H, W)."""
    return _power(avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _unpool(function, n, input, indices, kernel_size, stride, padding, output_size):
    kernel, stride, padding, _ = window(function, n, kernel_size, stride, padding, 1)
    shape = input.array.shape
    size = tuple([(m - 1) * s + k - 2 * p for m, s, k, p in zip(shape[-n:], stride, kernel, padding)])
    if output_size is not None:
        size = _unpool_size(size, tuple(output_size), stride, n)
    if indices.array.dtype != np.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {type_name(indices)}")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"Input to max_unpooling{max(n, 2)}d should be a {n + 1}d or {n + 2}d Tensor, but got a "
                           f"tensor with {len(shape)} dimensions.")
    if indices.array.shape != shape:
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got "
                           f"indices tensor with shape: {list(indices.array.shape)}")
    bad = (indices.array < 0) | (indices.array >= math.prod(size))
    if bad.any():
        volume = "x".join(map(str, (1,) * (n == 1) + size))
        raise RuntimeError(f"Found an invalid max index: {indices.array[bad][0]} (output volumes are of size {volume})")
    return (_put_3d if n == 3 else _put)(size, indices, input)


def _unpool_size(default, wanted, stride, n):
    if len(wanted) == n + 2:
        wanted = wanted[2:]
    if len(wanted) != n:
        raise ValueError(f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
                         f"'{len(wanted)}'")
    for d, (size, m, s) in enumerate(zip(wanted, default, stride)):
        if not m - s < size < m + s:
            raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between {m - s} and {m + s})')
    return wanted


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with the elements of `input` at the places that `max_pool1d(..., return_indices=True)` gave."""
    return _unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with the elements of `input` at the places that `max_pool2d(..., return_indices=True)` gave.

    >>> import tinytorch as torch
    >>> torch.nn.functional.max_unpool2d(torch.tensor([[[5.]]]), torch.tensor([[[1]]]), 2)
    tensor([[[0., 5.],
             [0., 0.]]])
    """
    return _unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Zeros with the elements of `input` at the places that `max_pool3d(..., return_indices=True)` gave."""
    return _unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)
