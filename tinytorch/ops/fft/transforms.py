"""The functions of torch.fft: one-, two- and n-dimensional transforms, of real, Hermitian and complex signals."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.promotion import FOUND, converted, write_out
from ...autograd.public import public
from ...errors import type_name
from ...tensor import Tensor, check_dim, wrap
from ...types import Extent, Extents, Ints
from ..elementwise.complex import conj, conj_physical
from ..nn.pad import _constant as padded
from .primitives import NONE, ROOT, WHOLE, _fft_c2c, _fft_c2r, _fft_r2c

__all__ = ["fft", "fft2", "fftn", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ihfft", "ihfft2", "ihfftn",
           "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn"]


# ------------------------------------------------------------------ arguments
def _is_complex(tensor):
    return tensor._array.dtype.kind == dt.COMPLEX


def _promoted(input, to_complex=False):
    """`input` in a dtype that can be transformed. RuntimeError for half precision."""
    if input._array.dtype.kind == dt.COMPLEX or not to_complex and input._array.dtype.char in "fd":
        return input
    d = dt.get_default_dtype() if input._array.dtype.kind in dt.INTEGRAL else dt.of(input._array)
    if d not in (dt.float32, dt.float64):
        raise RuntimeError(f"Unsupported dtype {d.type_name}")
    return converted(input, np.result_type(d.numpy, np.complex64) if to_complex else d.numpy)


def _dim(dim, ndim):
    """A dimension counted from the front. The tensor has at least one dimension."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return check_dim(dim, ndim)


def _scale(norm, forward):
    if norm is None or norm == "backward":
        return NONE if forward else WHOLE
    if norm == "forward":
        return WHOLE if forward else NONE
    if norm == "ortho":
        return ROOT
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _check_points(n):
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _resized(input, dim, size):
    """`input` with its dimensions cut off or filled up with zeros at the end, to these sizes."""
    shape, widths = input._array.shape, [(0, 0)] * input._array.ndim
    for d, n in zip(dim, size):
        if n > shape[d]:
            widths[d] = (0, n - shape[d])
        elif n < shape[d]:
            input = input[(slice(None),) * d + (slice(0, n),)]
    return padded(input, tuple(widths), 0) if any([w != (0, 0) for w in widths]) else input


def _shape_and_dim(input, s, dim):
    """The sizes and the dimensions of an n-dimensional transform."""
    shape, ndim = input._array.shape, input._array.ndim
    if dim is not None:
        dim = tuple([_dim(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim)])
        if len(set(dim)) < len(dim):
            raise RuntimeError("FFT dims must be unique")
    if s is not None:
        s = (s,) if isinstance(s, int) else s
        if dim is not None and len(dim) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(s) > ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        dim = tuple(range(ndim - len(s), ndim)) if dim is None else dim
        sizes = [shape[d] if n == -1 else n for d, n in zip(dim, s)]
    else:
        dim = tuple(range(ndim)) if dim is None else dim
        sizes = [shape[d] for d in dim]
    for n in sizes:
        _check_points(n)
    return sizes, dim


def _check_dims(name, dim):
    if not dim:
        raise RuntimeError(f"{name} must transform at least one axis")


def _check_out(name, out, to_complex=True):
    if out is None or not isinstance(out, Tensor):
        return
    if to_complex != _is_complex(out) or out._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"{name} expects a {'complex' if to_complex else 'floating point'} output tensor, but got "
                           f"{type_name(out)}")


def _written(out, result, exact=None):
    """`result`, or `out` after the result is written to it. An `out` that is resized becomes contiguous."""
    if isinstance(out, Tensor) and out._array.shape != result._array.shape and not result._requires_grad:
        result = wrap(np.ascontiguousarray(result._array))
    return write_out(out, result, exact=exact)


# ------------------------------------------------------------------ one dimension
def _prepared(input, n, dim, to_complex):
    """The input of a transform of `n` points along one dimension, and that dimension."""
    input = _promoted(input, to_complex)
    dim = _dim(dim, input._array.ndim)
    size = input._array.shape[dim]
    if n is None or n == size:
        _check_points(size)
        return input, (dim,)
    _check_points(n)
    return _resized(input, (dim,), (n,)), (dim,)


def _of_real(name, input, n, dim, norm, out, forward, onesided=False):
    if _is_complex(input):
        raise RuntimeError(f"{name} expects a real input tensor, but got {type_name(input)}")
    _check_out(name, out)
    input, dim = _prepared(input, n, dim, False)
    result = _fft_r2c(input, dim, _scale(norm, forward), onesided)
    if forward:
        return _written(out, result)
    return conj(result) if out is None else _written(out, conj_physical(result), FOUND)


def _of_complex(name, input, n, dim, norm, out, forward):
    input, dim = _prepared(input, n, dim, True)
    scale = _scale(norm, forward)
    _check_out(name, out)
    return _written(out, _fft_c2c(input, dim, scale, forward))


def _to_real(name, input, n, dim, norm, out, forward):
    _check_out(name, out, False)
    input = _promoted(input, True)
    dim = _dim(dim, input._array.ndim)
    size = 2 * (input._array.shape[dim] - 1) if n is None else n
    _check_points(size)
    input = input if n is None else _resized(input, (dim,), (n // 2 + 1,))
    scale = _scale(norm, forward)
    return _written(out, _fft_c2r(conj(input) if forward else input, (dim,), scale, size))


@public("fft_fft", autocast="up", repeats=True)
def fft(input: Tensor, n: Extent | None = None, dim: int = -1, norm: str | None = None, *,
        out: Tensor | None = None) -> Tensor:
    """The discrete Fourier transform along a dimension: sum over k of input[k] exp(-2 pi i j k / n), for each j.

    `n`: the input is cut off or filled up with zeros to n points. `norm`: "backward" (no scale), "forward" (1 / n) or
    "ortho" (1 / sqrt(n)). The result is complex and as long as the input. RuntimeError for half precision.

    >>> import tinytorch as torch
    >>> torch.fft.fft(torch.tensor([1., 2., 3., 4.]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    transform = _of_complex if _is_complex(input) else _of_real
    return transform("fft", input, n, dim, norm, out, True)


@public("fft_ifft", autocast="up")
def ifft(input: Tensor, n: Extent | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The inverse of `fft`; the scales of `norm` are "backward" (1 / n), "forward" (none) and "ortho".

    >>> import tinytorch as torch
    >>> torch.fft.ifft(torch.tensor([10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]))
    tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """
    transform = _of_complex if _is_complex(input) else _of_real
    return transform("ifft", input, n, dim, norm, out, False)


@public("fft_rfft", autocast="up", repeats=True)
def rfft(input: Tensor, n: Extent | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """The first n // 2 + 1 elements of `fft` of a real tensor. The others are conjugates of these.

    >>> import tinytorch as torch
    >>> torch.fft.rfft(torch.tensor([1., 2., 3., 4.]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return _of_real("rfft", input, n, dim, norm, out, True, True)


@public("fft_irfft", autocast="up")
def irfft(input: Tensor, n: Extent | None = None, dim: int = -1, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, by default 2 * (size - 1).

    >>> import tinytorch as torch
    >>> torch.fft.irfft(torch.tensor([10 + 0j, -2 + 2j, -2 + 0j]))
    tensor([1., 2., 3., 4.])
    """
    return _to_real("irfft", input, n, dim, norm, out, False)


@public("fft_hfft", autocast="up")
def hfft(input: Tensor, n: Extent | None = None, dim: int = -1, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """`fft` of a Hermitian signal whose first half is `input`: `n` real numbers, by default 2 * (size - 1).

    >>> import tinytorch as torch
    >>> torch.fft.hfft(torch.tensor([2.5 + 0j, -0.5 - 0.5j, -0.5 + 0j]))
    tensor([1., 2., 3., 4.])
    """
    return _to_real("hfft", input, n, dim, norm, out, True)


@public("fft_ihfft", autocast="up")
def ihfft(input: Tensor, n: Extent | None = None, dim: int = -1, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `hfft`: the first n // 2 + 1 elements of `ifft` of a real tensor.

    >>> import tinytorch as torch
    >>> torch.fft.ihfft(torch.tensor([1., 2., 3., 4.]))
    tensor([ 2.5000-0.0000j, -0.5000-0.5000j, -0.5000-0.0000j])
    """
    return _of_real("ihfft", input, n, dim, norm, out, False, True)


# ------------------------------------------------------------------ several dimensions
def _any_nd(input, s, dim, norm, out, forward):
    sizes, dim = _shape_and_dim(input, s, dim)
    input = _resized(_promoted(input, True), dim, sizes)
    scale = _scale(norm, forward)
    _check_out("fftn", out)
    return _written(out, _fft_c2c(input, dim, scale, forward))


def _real_nd(input, s, dim, norm, out):
    if _is_complex(input):
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {type_name(input)}")
    sizes, dim = _shape_and_dim(input, s, dim)
    _check_dims("rfftn", dim)
    input = _resized(_promoted(input), dim, sizes)
    scale = _scale(norm, True)
    _check_out("rfftn", out)
    return _written(out, _fft_r2c(input, dim, scale, True))


def _half_prepared(name, input, s, dim):
    """The input of a transform to real numbers, its dimensions, and the size of the last one of the result."""
    sizes, dim = _shape_and_dim(input, s, dim)
    _check_dims(name, dim)
    last = 2 * (input._array.shape[dim[-1]] - 1) if s is None or not isinstance(s, int) and s[-1] == -1 else sizes[-1]
    _check_points(last)
    return _resized(_promoted(input, True), dim, [*sizes[:-1], last // 2 + 1]), dim, last


def _to_real_nd(input, s, dim, norm, out):
    input, dim, last = _half_prepared("irfftn", input, s, dim)
    scale = _scale(norm, False)
    _check_out("irfftn", out, False)
    return _written(out, _fft_c2r(input, dim, scale, last))


def _hermitian_nd(input, s, dim, norm, out):
    input, dim, last = _half_prepared("hfftn", input, s, dim)
    scale = _scale(norm, True)
    if len(dim) > 1:
        input = _fft_c2c(input, dim[:-1], scale, True)
    _check_out("hfftn", out, False)
    return _written(out, _fft_c2r(conj(input), dim[-1:], scale, last))


def _to_hermitian_nd(input, s, dim, norm, out):
    sizes, dim = _shape_and_dim(input, s, dim)
    _check_dims("ihfftn", dim)
    if _is_complex(input):
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {type_name(input)}")
    input = _resized(_promoted(input), dim, sizes)
    scale = _scale(norm, False)
    result = _fft_r2c(input, dim[-1:], scale, True)
    if len(dim) == 1:
        return conj(result) if out is None else _written(out, conj_physical(result), FOUND)
    result = conj_physical(result)
    _check_out("ihfftn", out)
    return _written(out, _fft_c2c(result, dim[:-1], scale, False))


@public("fft_fft2", autocast="up")
def fft2(input: Tensor, s: int | Extents | None = None, dim: int | Ints = (-2, -1), norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """`fftn` along the dimensions `dim`, by default the last two.

    >>> import tinytorch as torch
    >>> torch.fft.fft2(torch.eye(2))
    tensor([[2.+0.j, 0.+0.j],
            [0.+0.j, 2.+0.j]])
    """
    return _any_nd(input, s, dim, norm, out, True)


@public("fft_ifft2", autocast="up")
def ifft2(input: Tensor, s: int | Extents | None = None, dim: int | Ints = (-2, -1), norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `fft2`.

    >>> import tinytorch as torch
    >>> torch.fft.ifft2(2 * torch.eye(2))
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 1.+0.j]])
    """
    return _any_nd(input, s, dim, norm, out, False)


@public("fft_rfft2", autocast="up")
def rfft2(input: Tensor, s: int | Extents | None = None, dim: int | Ints = (-2, -1), norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`rfftn` along the dimensions `dim`, by default the last two.

    >>> import tinytorch as torch
    >>> torch.fft.rfft2(torch.eye(2))
    tensor([[2.+0.j, 0.+0.j],
            [0.+0.j, 2.+0.j]])
    """
    return _real_nd(input, s, dim, norm, out)


@public("fft_irfft2", autocast="up")
def irfft2(input: Tensor, s: int | Extents | None = None, dim: int | Ints = (-2, -1), norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of `rfft2`.

    >>> import tinytorch as torch
    >>> torch.fft.irfft2(2 * torch.eye(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _to_real_nd(input, s, dim, norm, out)


@public("fft_hfft2", autocast="up")
def hfft2(input: Tensor, s: int | Extents | None = None, dim: int | Ints = (-2, -1), norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`hfftn` along the dimensions `dim`, by default the last two.

    >>> import tinytorch as torch
    >>> torch.fft.hfft2(torch.eye(2))
    tensor([[2., 0.],
            [0., 2.]])
    """
    return _hermitian_nd(input, s, dim, norm, out)


@public("fft_ihfft2", autocast="up")
def ihfft2(input: Tensor, s: int | Extents | None = None, dim: int | Ints = (-2, -1), norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of `hfft2`.

    >>> import tinytorch as torch
    >>> torch.fft.ihfft2(2 * torch.eye(2)).real
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _to_hermitian_nd(input, s, dim, norm, out)


@public("fft_fftn", autocast="up")
def fftn(input: Tensor, s: int | Extents | None = None, dim: int | Ints | None = None, norm: str | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """`fft` along several dimensions, one after the other: all of them, or the last ones if their sizes `s` are given.

    A size of -1 leaves a dimension as it is. In the scales of `norm`, n is the number of points of all dimensions.

    >>> import tinytorch as torch
    >>> torch.fft.fftn(torch.ones(2, 2))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return _any_nd(input, s, dim, norm, out, True)


@public("fft_ifftn", autocast="up")
def ifftn(input: Tensor, s: int | Extents | None = None, dim: int | Ints | None = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """The inverse of `fftn`.

    >>> import tinytorch as torch
    >>> torch.fft.ifftn(torch.ones(2, 2))
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    return _any_nd(input, s, dim, norm, out, False)


@public("fft_rfftn", autocast="up")
def rfftn(input: Tensor, s: int | Extents | None = None, dim: int | Ints | None = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`fftn` of a real tensor. The last dimension has only the first n // 2 + 1 elements.

    >>> import tinytorch as torch
    >>> torch.fft.rfftn(torch.ones(2, 3)).shape
    torch.Size([2, 2])
    """
    return _real_nd(input, s, dim, norm, out)


@public("fft_irfftn", autocast="up")
def irfftn(input: Tensor, s: int | Extents | None = None, dim: int | Ints | None = None, norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of `rfftn`: real numbers. The last dimension has by default 2 * (size - 1) elements.

    >>> import tinytorch as torch
    >>> torch.fft.irfftn(torch.ones(2, 2))
    tensor([[1., 0.],
            [0., 0.]])
    """
    return _to_real_nd(input, s, dim, norm, out)


@public("fft_hfftn", autocast="up")
def hfftn(input: Tensor, s: int | Extents | None = None, dim: int | Ints | None = None, norm: str | None = None, *,
          out: Tensor | None = None) -> Tensor:
    """`fftn` of a signal that is Hermitian in its last dimension, whose first half is `input`: real numbers.

    >>> import tinytorch as torch
    >>> torch.fft.hfftn(torch.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _hermitian_nd(input, s, dim, norm, out)


@public("fft_ihfftn", autocast="up")
def ihfftn(input: Tensor, s: int | Extents | None = None, dim: int | Ints | None = None, norm: str | None = None, *,
           out: Tensor | None = None) -> Tensor:
    """The inverse of `hfftn`: `ifftn` of a real tensor. The last dimension has only the first n // 2 + 1 elements.

    >>> import tinytorch as torch
    >>> torch.fft.ihfftn(torch.ones(2, 3)).shape
    torch.Size([2, 2])
    """
    return _to_hermitian_nd(input, s, dim, norm, out)
