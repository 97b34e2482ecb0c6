"""Channels to pixels and back, and reordered channels: pixel_shuffle, pixel_unshuffle, channel_shuffle."""
from __future__ import annotations

import numpy as np

from ...autograd.op import single
from ...autograd.public import public
from ...errors import refuse_records
from ...kernels import arrange
from ...kernels.layout import channels_last, in_channels_last
from ...seam import twin
from ...tensor import Tensor
from ...types import Extent
from ..plan import cached_by_shape
from .pool import is_last

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


@single(name="pixel_shuffle", batches="examples", input=lambda g, factor: _unshuffle(g, factor))
def _shuffle(input, factor):
    blocks, order, pixels = _plan(input.shape, factor)
    if input.ndim != 4 or input.strides[1] > input.strides[3]:
        made = arrange.pixels_shuffled(input, factor, False, pixels)
        if made is not None:
            return made
    return _laid_out(input.reshape(blocks).transpose(order).copy("C").reshape(pixels), input)


@cached_by_shape
def _plan(shape, factor):
    """(the shape of images as blocks of channels, the order that makes them blocks of pixels, the shape of these). None
    for shapes that are refused."""
    if len(shape) < 3 or factor <= 0 or shape[-3] % factor ** 2:
        return None
    *batch, c, h, w = shape
    n = len(batch)
    return ((*batch, c // factor ** 2, factor, factor, h, w), (*range(n + 1), n + 3, n + 1, n + 4, n + 2),
            (*batch, c // factor ** 2, h * factor, w * factor))


@single(name="pixel_unshuffle", batches="examples", input=lambda g, factor: _shuffle(g, factor))
def _unshuffle(input, factor):
    *batch, c, h, w = input.shape
    blocks = input.reshape(*batch, c, h // factor, factor, w // factor, factor)
    n = len(batch)
    size = (*batch, c * factor ** 2, h // factor, w // factor)
    if input.ndim != 4 or input.strides[1] > input.strides[3]:
        made = arrange.pixels_shuffled(input, factor, True, size)
        if made is not None:
            return made
    order = *range(n + 1), n + 2, n + 4, n + 1, n + 3
    blocks = np.array(blocks.transpose(order), order="C")
    return _laid_out(blocks.reshape(size), input)


def _laid_out(result, like):
    """`result`, or a copy with channels last in memory if the array of images `like` has them last."""
    if like.ndim != 4 or like.strides[1] > like.strides[-1] or not channels_last(like):
        return result
    return in_channels_last(result)


def _check(name, input, argument, factor):
    if input._array.ndim < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with "
                           f"{input._array.ndim} dimension(s)")
    refuse_records(name, input)
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {argument}, but got {factor}")


@public(repeats=True)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C r^2, H, W) as (..., C, H r, W r), for the upscale factor r (Shi et al. 2016).

    RuntimeError unless r^2 divides the number of channels.

    >>> import tinytorch as torch
    >>> torch.pixel_shuffle(torch.arange(4.).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    if _plan(input._array.shape, upscale_factor) is None:
        _check("pixel_shuffle", input, "upscale_factor", upscale_factor)
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={input._array.shape[-3]} is not divisible by "
                           f"{upscale_factor ** 2}")
    refuse_records("pixel_shuffle", input)
    return _shuffle(input, upscale_factor)


@public()
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(..., C, H r, W r) as (..., C r^2, H, W): undoes `pixel_shuffle`. RuntimeError unless r divides height and width.

    >>> import tinytorch as torch
    >>> torch.pixel_unshuffle(torch.arange(4.).reshape(1, 2, 2), 2).shape
    torch.Size([4, 1, 1])
    """
    _check("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for dim, side in ((-2, "height"), (-1, "width")):
        if input._array.shape[dim] % downscale_factor:
            raise RuntimeError(f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
                               f"input.size({dim})={input._array.shape[dim]} is not divisible by {downscale_factor}")
    return _unshuffle(input, downscale_factor)


@single(name="channel_shuffle", batches="examples", input=lambda g, groups: _shuffle_channels(g, g.shape[1] // groups))
def _shuffle_channels(input, groups):
    if groups <= 0:                            # also in backward, for an input without channels
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    n, c, *size = input.shape
    result = input.reshape(n, groups, c // groups, *size).swapaxes(1, 2).reshape(input.shape)
    if is_last(input, input.ndim - 2):
        return in_channels_last(result)
    return np.ascontiguousarray(result)


@public()
def channel_shuffle(input: Tensor, groups: Extent) -> Tensor:
    """(N, C, ...) with the channels of `groups` groups interleaved: the first of each group, then the second ...

    Zhang et al. 2018, ShuffleNet. RuntimeError unless `groups` divides the number of channels.

    >>> import tinytorch as torch
    >>> torch.channel_shuffle(torch.arange(4.).reshape(1, 4, 1), 2).flatten()
    tensor([0., 2., 1., 3.])
    """
    shape = input._array.shape
    if len(shape) <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups > 0 and shape[1] % groups:
        raise RuntimeError("Number of channels must be divisible by groups. "
                           f"Got {shape[1]} channels and {groups} groups.")
    return _shuffle_channels(input, groups)


native_channel_shuffle = twin(channel_shuffle, "native_channel_shuffle")
native_channel_shuffle.__qualname__ = "native_channel_shuffle"
