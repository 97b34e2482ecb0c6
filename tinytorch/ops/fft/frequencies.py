"""The frequencies of a transform, and moves of zero frequency to the middle: fftfreq rfftfreq fftshift ifftshift."""
from __future__ import annotations

import math

from ... import dtypes as dt
from ...arguments import check_positive
from ...autograd.grad_mode import no_grad
from ...autograd.promotion import refill, stored_as
from ...autograd.public import public
from ...memory_format import layout as Layout
from ...tensor import Tensor, wrap
from ...types import Device, Ints
from ..creation.options import dtype_for, finish
from ..creation.ranges import arange
from ..layout.join import cat
from ..layout.rearrange import roll
from .transforms import _dim

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _frequencies(name, n, d, parts, out, dtype, device, requires_grad, pin_memory):
    """The integers of the ranges `parts`, (from, to) each, times 1 / (n * d). Both steps are rounded."""
    dtype = dtype_for(out, dtype, name) or dt.get_default_dtype()
    check_positive([sum([end - start for start, end in parts])])
    if dtype.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    with no_grad():
        whole = cat([arange(start, end, dtype=dtype) for start, end in parts])
        factor = 1.0 / (n * d) if n * d else math.copysign(math.inf, n * d)
        scaled = whole * wrap(stored_as(factor, dtype.numpy))
    if out is not None:
        arange(scaled._array.size, out=out)     # resizes `out`
    return refill(out, finish(scaled._array, device, requires_grad, pin_memory), by_count=True)


@public("fft_fftfreq")
def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: dt.dtype | type | None = None,
            layout: Layout | None = None, device: Device = None, requires_grad: bool | None = False,
            pin_memory: bool | None = False) -> Tensor:
    """The frequencies of the elements of `fft` of n points at distance `d`: 0, 1, ..., -2, -1 divided by n * d.

    >>> import tinytorch as torch
    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies("fftfreq", n, d, ((0, n - n // 2), (-(n // 2), 0)) if n >= 0 else ((0, n),), out, dtype,
                        device, requires_grad, pin_memory)


@public("fft_rfftfreq")
def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: dt.dtype | type | None = None,
             layout: Layout | None = None, device: Device = None, requires_grad: bool | None = False,
             pin_memory: bool | None = False) -> Tensor:
    """The frequencies of the elements of `rfft` of n points at distance `d`: 0, 1, ..., n // 2 divided by n * d.

    >>> import tinytorch as torch
    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies("rfftfreq", n, d, ((0, int(n / 2) + 1),), out, dtype, device, requires_grad, pin_memory)


def _shifted(input, dim, shift):
    ndim = input._array.ndim
    if dim is None:
        dims = tuple(range(ndim))
    else:
        dims = tuple([_dim(d, ndim) for d in ((dim,) if isinstance(dim, int) else dim)])
    return roll(input, tuple([shift(input._array.shape[d]) for d in dims]), dims)


@public("fft_fftshift")
def fftshift(input: Tensor, dim: int | Ints | None = None) -> Tensor:
    """Exchanges the halves of the dimensions `dim` (default all), so that zero frequency is in the middle.

    >>> import tinytorch as torch
    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shifted(input, dim, lambda n: n // 2)


@public("fft_ifftshift")
def ifftshift(input: Tensor, dim: int | Ints | None = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> import tinytorch as torch
    >>> torch.fft.ifftshift(torch.tensor([-2, -1, 0, 1]))
    tensor([ 0,  1, -2, -1])
    """
    return _shifted(input, dim, lambda n: (n + 1) // 2)
