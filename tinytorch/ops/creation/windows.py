"""Windows that signals are multiplied by: hann_window hamming_window bartlett_window blackman_window kaiser_window.

All but kaiser_window are computed in their dtype, where every step and every constant is rounded. With `periodic` a
window of one number more is computed, and its last number is left out.
"""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import no_grad
from ...autograd.promotion import stored_as
from ...autograd.public import public
from ...errors import C_NAMES
from ...kernels.memory import LARGEST
from ...memory_format import layout as Layout
from ...tensor import Tensor, wrap
from ...types import Device
from ..elementwise.bessel import i0
from ..elementwise.math import cos, sqrt
from .options import as_dtype, finish
from .ranges import arange

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _window(name, compute, length, periodic, dtype, layout, *options):
    """compute(0, 1, ..., length - 1) as a tensor. A periodic window is computed for one more, which is left out."""
    dtype = as_dtype(dtype, name) or dt.get_default_dtype()
    if dtype.category < 2:
        default = " (default)" if layout is None else ""
        raise RuntimeError(f"{name} expects floating point dtypes, got: TensorOptions(dtype="
                           f"{C_NAMES[dtype.type_name]}, device=cpu, layout=Strided{default}, requires_grad=false "
                           "(default), pinned_memory=false, memory_format=(nullopt))")
    if length > LARGEST:
        raise ValueError("Overflow when unpacking long long")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if length < 2:
        return finish(np.ones(length, dtype.numpy) if dtype is not dt.bfloat16 else
                      dt.to_bfloat16(np.ones(length, np.float32)), *options)
    with no_grad():
        window = compute(arange(length + periodic, dtype=dtype))
    return finish(window._array[:length], *options)


@public()
def hann_window(window_length: int, periodic: bool = True, *, dtype: dt.dtype | type | None = None,
                layout: Layout | None = None, device: Device = None, pin_memory: bool | None = False,
                requires_grad: bool | None = False) -> Tensor:
    """The Hann window: 0.5 - 0.5 cos(2 pi k / (N - 1)), where N is window_length, or one more if `periodic`.

    RuntimeError for integer dtypes.

    >>> import tinytorch as torch
    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann_window", _raised_cosine(0.5, 0.5), window_length, periodic, dtype, layout, device,
                   requires_grad, pin_memory)


@public()
def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
                   dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
                   pin_memory: bool | None = False, requires_grad: bool | None = False) -> Tensor:
    """The Hamming window: alpha - beta cos(2 pi k / (N - 1)), where N is window_length, or one more if `periodic`.

    RuntimeError for integer dtypes.

    >>> import tinytorch as torch
    >>> torch.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window("hamming_window", _raised_cosine(alpha, beta), window_length, periodic, dtype, layout, device,
                   requires_grad, pin_memory)


def _scaled(x, factor):
    return x * wrap(stored_as(factor, x._array.dtype))


def _raised_cosine(alpha, beta):
    return lambda k: _scaled(cos(_scaled(k, math.pi * 2 / (k._array.size - 1))), -beta) + alpha


@public()
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: dt.dtype | type | None = None,
                    layout: Layout | None = None, device: Device = None, pin_memory: bool | None = False,
                    requires_grad: bool | None = False) -> Tensor:
    """The Bartlett window: a triangle from 0 to 1 and back over N numbers. N is window_length, or one more if
    `periodic`.

    RuntimeError for integer dtypes.

    >>> import tinytorch as torch
    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    def triangle(k):
        window, half = _scaled(k, 2.0 / (k._array.size - 1)), (k._array.size - 1) // 2 + 1
        window[half:] = window[half:] * -1 + 2
        return window
    return _window("bartlett_window", triangle, window_length, periodic, dtype, layout, device, requires_grad,
                   pin_memory)


@public()
def blackman_window(window_length: int, periodic: bool = True, *, dtype: dt.dtype | type | None = None,
                    layout: Layout | None = None, device: Device = None, pin_memory: bool | None = False,
                    requires_grad: bool | None = False) -> Tensor:
    """The Blackman window: 0.42 - 0.5 cos(2 pi k / (N - 1)) + 0.08 cos(4 pi k / (N - 1)), where N is window_length, or
    one more if `periodic`.

    RuntimeError for integer dtypes.

    >>> import tinytorch as torch
    >>> torch.blackman_window(3).numpy().round(2)
    array([-0.  ,  0.63,  0.63], dtype=float32)
    """
    def cosines(k):
        k = _scaled(k, math.pi / (k._array.size - 1))
        return _scaled(cos(k * 4), 0.08) - _scaled(cos(k * 2), 0.5) + 0.42
    return _window("blackman_window", cosines, window_length, periodic, dtype, layout, device, requires_grad,
                   pin_memory)


@public()
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *,
                  dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device = None,
                  pin_memory: bool | None = False, requires_grad: bool | None = False) -> Tensor:
    """The Kaiser window: i0(beta sqrt(1 - x^2)) / i0(beta), where x runs from -1 to 1 in N numbers. N is window_length,
    or one more if `periodic`.

    RuntimeError for integer dtypes.

    >>> import tinytorch as torch
    >>> torch.kaiser_window(3, periodic=False, beta=1.)
    tensor([0.7898, 1.0000, 0.7898])
    """
    def bessel(k):
        wide = dt.float32 if k._array.dtype.char in "eV" else k.dtype      # half precision is rounded only at the end
        middle, shape = (wrap(stored_as(x, k._array.dtype)).to(wide) for x in ((k._array.size - 1) / 2.0, float(beta)))
        way = (k.to(wide) - middle) / middle
        return (i0(shape * sqrt(1 - way ** 2)) / i0(shape)).to(k.dtype)
    return _window("kaiser_window", bessel, window_length, periodic, dtype, layout, device, requires_grad, pin_memory)
