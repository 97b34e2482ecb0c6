"""conv_tbc: a convolution over time, which is the first dimension."""
from __future__ import annotations

from ...autograd.public import public
from ...tensor import Tensor
from .conv import conv1d

__all__ = ["conv_tbc"]


@public()
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """A convolution of an input (time, batch, channels) with a weight (width, channels, channels out), with `pad` zeros
    at both ends: (time + 2 pad - width + 1, batch, channels out). RuntimeError for other shapes.

    >>> import tinytorch as torch
    >>> torch.conv_tbc(torch.ones(3, 1, 2), torch.ones(2, 2, 1), torch.zeros(1)).flatten()
    tensor([4., 4.])
    """
    shape, width = input._array.shape, weight._array.shape
    if len(shape) != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if len(width) != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias._array.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if shape[2] != width[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias._array.shape[0] != width[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    time = shape[0] + 2 * pad - width[0] + 1
    if time < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {time}: {[time, shape[1], width[2]]}")
    if input.dtype is not weight.dtype:
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {input.dtype.type_name} and "
                           f"{weight.dtype.type_name}")
    if pad < 0:
        input, pad = input[-pad:shape[0] + pad], 0
    if not time:
        return (input[:0].reshape(0, shape[2]) @ weight[0]).reshape(0, shape[1], width[2]) + bias
    result = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return result.permute(2, 0, 1).contiguous()
