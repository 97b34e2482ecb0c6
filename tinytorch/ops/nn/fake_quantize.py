"""Rounding as in quantisation, whose gradient is that of the identity."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.public import public
from ...kernels.errstate import ignored
from ...tensor import Tensor

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]


def _steps(input, scale, zero_point, whole):
    """The numbers in steps of `scale`, not clamped yet. They are rounded before the zero point is added if that is
    `whole`, and after it if it may be a fraction."""
    exact = input if input.dtype == np.float64 else np.asarray(dt.cast(input, np.dtype(np.float32)))
    with ignored():
        steps = exact * (np.float32(1) / scale)
        return np.rint(steps) + zero_point if whole else np.rint(steps + zero_point)


@op(name="fake_quantize_per_tensor_affine_cachemask",
    input=lambda g, input, scale, zero_point, whole, low, high: g * _inside(
        input, scale, zero_point, whole, low, high))
def _fake_quantized(input, scale, zero_point, whole, low, high):
    """`scale` and `zero_point` are float32 arrays that broadcast with `input`."""
    steps = np.nan_to_num(_steps(input, scale, zero_point, whole), nan=low, posinf=high, neginf=low)
    return dt.cast((np.clip(steps, low, high) - zero_point) * scale, input.dtype)


@op(name="fake_quantize_mask")
def _inside(input, scale, zero_point, whole, low, high):
    steps = _steps(input, scale, zero_point, whole)
    return dt.cast((low <= steps) & (steps <= high), input.dtype)


def _check(low, high, zero_points):
    if low > high:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")
    if not np.all((low <= zero_points) & (zero_points <= high)):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


@public(dtypes=dt.FLOATING, kernel="fake_quantize_tensor_cachemask_kernel_type_handling")
def fake_quantize_per_tensor_affine(input: Tensor, scale: float | Tensor, zero_point: int | Tensor, quant_min: int,
                                    quant_max: int) -> Tensor:
    """`input` rounded to k * `scale`, with whole k from quant_min - zero_point to quant_max - zero_point.
    The gradient is 1 within these limits, and 0 beyond.

    >>> import tinytorch as torch
    >>> torch.fake_quantize_per_tensor_affine(torch.tensor([-2., 0.24, 0.26, 9.]), 0.5, 1, 0, 3)
    tensor([-0.5000,  0.0000,  0.5000,  1.0000])
    """
    step, zero = [np.float32(x.item() if isinstance(x, Tensor) else x) for x in (scale, zero_point)]
    _check(quant_min, quant_max, zero)
    return _fake_quantized(input, step, zero, True, quant_min, quant_max)


@public(dtypes=dt.FLOATING, kernel="fake_quantize_channel_cachemask_cpu_type_handling")
def fake_quantize_per_channel_affine(input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int,
                                     quant_max: int) -> Tensor:
    """`fake_quantize_per_tensor_affine` with one scale and one zero point for each place along `axis`.

    >>> import tinytorch as torch
    >>> x = torch.tensor([[0.3, 0.6], [0.3, 0.6]])
    >>> zero = torch.zeros(2, dtype=torch.int32)
    >>> torch.fake_quantize_per_channel_affine(x, torch.tensor([0.5, 0.25]), zero, 0, -8, 7)
    tensor([[0.5000, 0.5000],
            [0.2500, 0.5000]])
    """
    if scale.dtype is not dt.float32:
        raise RuntimeError(f"Scale must be Float, found {scale.dtype.type_name}")
    if zero_point.dtype not in (dt.int32, dt.float32, dt.float16):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {zero_point.dtype.type_name}")
    shape, n = [1] * input._array.ndim, scale._array.size
    if not 0 <= axis < len(shape):
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    if scale._array.ndim != 1 or zero_point._array.shape != (n,) or input._array.shape[axis] != n:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    shape[axis] = n
    zeros = zero_point._array.astype(np.float32)
    whole = zero_point.dtype is dt.int32
    _check(quant_min, quant_max, zeros if whole else quant_min)
    return _fake_quantized(input, scale._array.reshape(shape), zeros.reshape(shape), whole, quant_min, quant_max)
