"""torch.signal.windows: windows of M numbers that signals are multiplied by.

Windows are symmetric. With sym=False a window is the first M numbers of the symmetric window of M + 1. All functions
have the keywords `dtype` (float32 or float64, by default the default dtype), `layout`, `device` and `requires_grad`,
and raise ValueError for other dtypes and for a negative M.
"""
from __future__ import annotations

import math
from collections.abc import Iterable

from .. import dtypes as dt
from ..autograd.public import public
from ..memory_format import layout as Layout, strided
from ..ops.creation.factories import empty, ones, tensor
from ..ops.creation.ranges import arange, linspace
from ..ops.elementwise.bessel import i0
from ..ops.elementwise.limits import minimum
from ..ops.elementwise.math import cos, exp, sin, sqrt
from ..ops.elementwise.rounding import abs
from ..tensor import Tensor
from ..types import Device

__all__ = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
           "hann", "kaiser", "nuttall"]


def _options(name, M, dtype, layout, device, requires_grad):
    """The keywords of the functions that make the numbers."""
    dtype = dt.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dt.float32, dt.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}


def _points(start, step, M, options):
    """The M numbers start, start + step, ..."""
    return linspace(start * step, (start + (M - 1)) * step, M, **options)


@public(python=True)
def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True,
                dtype: dt.dtype | None = None, layout: Layout = strided, device: Device = None,
                requires_grad: bool = False) -> Tensor:
    """exp(-|k - center| / tau). `center` is the middle by default; it can be set only with sym=False.

    >>> import tinytorch as torch
    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    options = _options("exponential", M, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return empty((0,), **options)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    return exp(-abs(_points(-center, 1 / tau, M, options)))


@public(python=True)
def cosine(M: int, *, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided, device: Device = None,
           requires_grad: bool = False) -> Tensor:
    """sin(pi (k + 0.5) / M).

    >>> import tinytorch as torch
    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    options = _options("cosine", M, dtype, layout, device, requires_grad)
    if M == 0:
        return empty((0,), **options)
    return sin(_points(0.5, math.pi / (M + 1 if not sym and M > 1 else M), M, options))


@public(python=True)
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
             device: Device = None, requires_grad: bool = False) -> Tensor:
    """exp(-(k - middle)^2 / (2 std^2)).

    >>> import tinytorch as torch
    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    options = _options("gaussian", M, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return empty((0,), **options)
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    return exp(-(_points(start, 1 / (std * math.sqrt(2)), M, options) ** 2))


@public(python=True)
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
           device: Device = None, requires_grad: bool = False) -> Tensor:
    """i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1.

    >>> import tinytorch as torch
    >>> torch.signal.windows.kaiser(3, beta=1.)
    tensor([0.7898, 1.0000, 0.7898])
    """
    options = _options("kaiser", M, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return ones((M,), **options)
    shape = tensor(beta, dtype=options["dtype"], device=device)
    step = 2.0 * shape / (M - 1 if sym else M)
    k = linspace(-shape, minimum(shape, -shape + (M - 1) * step), M, **options)
    return i0(sqrt(shape * shape - k ** 2)) / i0(shape)


@public(python=True)
def hamming(M: int, *, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
            device: Device = None, requires_grad: bool = False) -> Tensor:
    """0.54 - 0.46 cos(2 pi k / (M - 1)).

    >>> import tinytorch as torch
    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


@public(python=True)
def hann(M: int, *, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided, device: Device = None,
         requires_grad: bool = False) -> Tensor:
    """0.5 - 0.5 cos(2 pi k / (M - 1)).

    >>> import tinytorch as torch
    >>> torch.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)


@public(python=True)
def blackman(M: int, *, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
             device: Device = None, requires_grad: bool = False) -> Tensor:
    """0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1)).

    >>> import tinytorch as torch
    >>> torch.signal.windows.blackman(5).numpy().round(2) + 0
    array([0.  , 0.34, 1.  , 0.34, 0.  ], dtype=float32)
    """
    _options("blackman", M, dtype, layout, device, requires_grad)
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


@public(python=True)
def bartlett(M: int, *, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
             device: Device = None, requires_grad: bool = False) -> Tensor:
    """1 - |2 k / (M - 1) - 1|.

    >>> import tinytorch as torch
    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    options = _options("bartlett", M, dtype, layout, device, requires_grad)
    if M < 2:
        return ones((M,), **options)
    return 1 - abs(linspace(-1, -1 + (M - 1) * (2 / (M - 1 if sym else M)), M, **options))


@public(python=True)
def general_cosine(M: int, *, a: Iterable, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
                   device: Device = None, requires_grad: bool = False) -> Tensor:
    """a[0] - a[1] cos(2 pi k / (M - 1)) + a[2] cos(4 pi k / (M - 1)) - ...

    TypeError for `a` that is not a list, ValueError for an empty list.

    >>> import tinytorch as torch
    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    options = _options("general_cosine", M, dtype, layout, device, requires_grad)
    if M < 2:
        return ones((M,), **options)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    k = linspace(0, (M - 1) * (2 * math.pi / (M - 1 if sym else M)), M, **options)
    made = {"dtype": options["dtype"], "device": device, "requires_grad": requires_grad}
    weights = tensor([(-1) ** i * w for i, w in enumerate(a)], **made)
    i = arange(len(weights), **made)
    return (weights.unsqueeze(-1) * cos(i.unsqueeze(-1) * k)).sum(0)


@public(python=True)
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: dt.dtype | None = None,
                    layout: Layout = strided, device: Device = None, requires_grad: bool = False) -> Tensor:
    """alpha - (1 - alpha) cos(2 pi k / (M - 1)).

    >>> import tinytorch as torch
    >>> torch.signal.windows.general_hamming(3, alpha=0.75)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device,
                          requires_grad=requires_grad)


@public(python=True)
def nuttall(M: int, *, sym: bool = True, dtype: dt.dtype | None = None, layout: Layout = strided,
            device: Device = None, requires_grad: bool = False) -> Tensor:
    """Nuttall's window of four cosines (1981), the minimum Blackman-Harris window.

    >>> import tinytorch as torch
    >>> torch.signal.windows.nuttall(3)
    tensor([3.6280e-04, 1.0000e+00, 3.6280e-04])
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype, layout=layout,
                          device=device, requires_grad=requires_grad)
