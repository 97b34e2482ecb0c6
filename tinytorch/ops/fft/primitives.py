"""The three discrete Fourier transforms that all others are made of: _fft_c2c (complex to complex), _fft_r2c (real to
complex) and _fft_c2r (complex to real).

The transforms are linear, and the derivative of each is another of the three. C computes those of single precision
(kernels/fourier.py), NumPy all others. `normalization` scales the sums: NONE, ROOT (by 1 / sqrt(n)) or WHOLE (by
1 / n).
"""
from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...autograd.op import op
from ...errors import type_name
from ...kernels import fourier
from ...kernels.layout import dense_copy
from ...kinds.lazy import is_lazy
from ...tensor import Tensor
from ..layout.sizes import inverse
from ..nn.pad import _constant as padded
from ..reduction.reductions import like

NONE, ROOT, WHOLE = 0, 1, 2

#: NumPy's names of the normalizations, by (forward, normalization).
_NORMS = {(True, NONE): "backward", (True, ROOT): "ortho", (True, WHOLE): "forward",
          (False, NONE): "forward", (False, ROOT): "ortho", (False, WHOLE): "backward"}


# ------------------------------------------------------------------ memory order
def _by_stride(array, dims):
    """The dimensions sorted by stride, the largest first."""
    return sorted(dims, key=array.strides.__getitem__, reverse=True) if len(dims) > 1 else dims


@lru_cache(512)
def _order(strides, dim):
    """(the order of dimensions in which a transform along the last ones lies in memory, its inverse); None if that is
    the given order."""
    ndim = len(strides)
    order = (*sorted(_batch(ndim, dim), key=strides.__getitem__, reverse=True), *dim)
    return None if order == tuple(range(ndim)) else (order, inverse(order))


def _batch(ndim, dim):
    """The dimensions that are not transformed, in the order in which C++'s std::partition leaves them."""
    order, first, last = list(range(ndim)), 0, ndim - 1
    while True:
        while first <= last and order[first] not in dim:
            first += 1
        while first < last and order[last] in dim:
            last -= 1
        if first >= last:
            return order[:first]
        order[first], order[last] = order[last], order[first]
        first, last = first + 1, last - 1


def _transformed(array, dim, size, dtype, transform):
    """Calls transform(array, out) over the last dimensions and returns `out`, whose last dimension of `dim` has `size`
    elements. The result lies in memory as torch's does: first the dimensions that are not transformed, in the order of
    their strides in `array`, then those of `dim` in the given order."""
    if array.dtype not in _COMPLEX:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {type_name(array)}")
    if not array.size:
        raise RuntimeError("FFT error: Inconsistent configuration parameters: the tensor has no elements")
    if is_lazy(array):
        array = dense_copy(array)
    turned = _order(array.strides, tuple(dim))
    source = array if turned is None else array.transpose(turned[0])
    out = np.empty((*source.shape[:-1], size), dtype)
    transform(source, out)
    return out if turned is None else out.transpose(turned[1])


#: The dtype of a transform's result, by the dtype of its input.
_COMPLEX = {np.dtype(real): np.dtype(whole) for real, whole in (
    (np.float32, np.complex64), (np.float64, np.complex128), (np.complex64, np.complex64),
    (np.complex128, np.complex128))}
_REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}


# ------------------------------------------------------------------ the transforms
@op(name="_fft_c2c", batches="dims",
    input=lambda g, dim, normalization, forward: _fft_c2c(g, dim, normalization, not forward))
def _fft_c2c(input, dim, normalization, forward):
    """The transform of complex numbers along the dimensions `dim`."""
    if not dim:
        return input.copy("K")
    norm = _NORMS[forward, normalization]

    def compute(source, out):
        for axis in range(-1, -1 - len(dim), -1):
            fourier.along(source, axis, forward, norm, out)
            source = out
    dim = _by_stride(input, dim)
    return _transformed(input, dim, input.shape[dim[-1]], input.dtype, compute)


def _r2c_grad(g, input, dim, normalization, onesided):
    """The elements that a onesided transform leaves out have no gradient, and the input's gradient is the real part.
    torch saves the input for its size."""
    last, size = dim[-1], input.shape[dim[-1]]
    if onesided and g.shape[last] < size:
        g = padded(g, tuple([(0, size - n if d == last else 0) for d, n in enumerate(g.shape)]), 0)
    return _fft_c2c(g, dim, normalization, False).real


@op(name="_fft_r2c", batches="dims", input=_r2c_grad)
def _fft_r2c(input, dim, normalization, onesided):
    """The forward transform of real numbers along the dimensions `dim`. `onesided` leaves out the half of the last one
    that is the conjugate of the rest."""
    norm, n = _NORMS[True, normalization], input.shape[dim[-1]]

    def compute(source, out):
        fourier.of_real(source, onesided, norm, out)
        for axis in range(-2, -1 - len(dim), -1):
            fourier.along(out, axis, True, norm, out)
    order = (*_by_stride(input, dim[:-1]), dim[-1]) if len(dim) > 2 else dim
    return _transformed(input, order, n // 2 + 1 if onesided else n, _COMPLEX.get(input.dtype), compute)


def _c2r_grad(g, dim, normalization):
    """A number that also stands for its conjugate counts twice."""
    result, last = _fft_r2c(g, dim, normalization, True), dim[-1]
    n = result.shape[last]
    if g.shape[last] == n:                     # n is 1 or 2: no number stands for a conjugate
        return result
    shape = [1] * len(result.shape)
    shape[last] = n
    array = result._array if isinstance(result, Tensor) else result
    counts = np.ones(shape, _REAL[array.dtype])
    np.moveaxis(counts, last, 0)[1:1 + g.shape[last] - n] = 2
    return result * like(result, counts)


@op(name="_fft_c2r", batches="dims", input=_c2r_grad)
def _fft_c2r(input, dim, normalization, last_dim_size):
    """The backward transform of complex to real numbers. The last of the dimensions `dim` gets `last_dim_size`
    elements; numbers missing from the input are conjugates of the others."""
    if len(dim) > 1:
        input = _fft_c2c.op.forward(input, dim[:-1], normalization, False)
    norm = _NORMS[False, normalization]
    return _transformed(input, dim[-1:], last_dim_size, _REAL.get(input.dtype), lambda source, out: np.fft.irfft(
        source, last_dim_size, norm=norm, out=out))
