"""unfold and fold: the sliding blocks of images as columns, and columns added up into images."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import dtypes as dt
from ...arguments import extent, ints_of
from ...autograd.op import op
from ...autograd.public import public
from ...errors import not_implemented, refuse_records
from ...kernels.conv import columns as kernels
from ...tensor import Tensor, check_dim
from ..layout.shape import squeeze, unsqueeze
from ..plan import cached_by_shape


@op(name="im2col", batches="examples", first=4, input=lambda g, shape, kernel, stride, padding, dilation:
        _col2im(shape[2:], kernel, stride, padding, dilation, g))
def _im2col(kernel, stride, padding, dilation, input):
    return kernels.im2col(input, kernel, stride, padding, dilation)


@op(name="col2im", batches="examples", first=5, input=lambda g, kernel, stride, padding, dilation:
        _im2col(kernel, stride, padding, dilation, g))
def _col2im(size, kernel, stride, padding, dilation, input):
    return kernels.col2im(input, size, kernel, stride, padding, dilation)


# ------------------------------------------------------------------ checks
def whole(value: Any, name: str) -> int:
    """`value` as an int. TypeError for a bool or anything that is no int, ValueError if 64 bits do not hold it."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be int, not bool")
    return extent(value)


def _pair(value, function, name, position):
    """`value` (an int, or an iterable of two) as two ints. RuntimeError for another count."""
    value = tuple(value) if isinstance(value, Iterable) else (value, value)
    value = ints_of(value, function, name, position, function == "col2im" and position == 2)
    if len(value) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    return value


def _check_positive(words, name, sizes):
    if min(sizes) <= 0:
        raise RuntimeError(f"{words} should be greater than zero, but got {name}_height: {sizes[0]} "
                           f"{name}_width: {sizes[1]}")


def _sliding(function, *given):
    """The four settings of unfold and fold (`function`: im2col or col2im) as checked pairs."""
    kernel, dilation, padding, stride = [
        _pair(value, function, name, position) for position, (name, value) in enumerate(
            zip(("kernel_size", "dilation", "padding", "stride"), given), 2 + (function == "col2im"))]
    _check_positive("kernel size", "kernel", kernel)
    _check_positive("dilation", "dilation", dilation)
    _check_positive("stride", "stride", stride)
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")
    return kernel, dilation, padding, stride


def _check_floating(name, input):
    if input._array.dtype.kind in dt.INTEGER:   # torch takes bools here
        raise not_implemented(f"{name}_out_cpu", input)
    refuse_records(f"{name}_out_cpu", input)


@cached_by_shape
def _windows(shape, kernel_size, dilation, padding, stride):
    """(kernel, stride, padding, dilation) of `unfold`, checked."""
    kernel, dilation, padding, stride = _sliding("im2col", kernel_size, dilation, padding, stride)
    for dim in (1, 2):                         # torch reads both sizes first, which raises IndexError
        check_dim(dim, len(shape))
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                           f"dimensions for input, but got: {list(shape)}")
    pairs = tuple([(p, p) for p in padding])
    blocks = kernels.output_size(shape[-2:], kernel, stride, pairs, dilation)
    if min(blocks) < 1:
        raise RuntimeError(f"Given input with spatial size {shape[-2:]}, kernel_size={kernel}, dilation={dilation}, "
                           f"padding={padding}, calculated shape of the array of sliding blocks as {blocks}, but its "
                           "components must be at least one.")
    return kernel, stride, pairs, dilation


# ------------------------------------------------------------------ public
@public("im2col", in_python=True)
def unfold(input: Tensor, kernel_size: int | Iterable[int], dilation: int | Iterable[int] = 1,
           padding: int | Iterable[int] = 0, stride: int | Iterable[int] = 1) -> Tensor:
    """The sliding blocks of images as columns: (N, C, H, W) gives (N, C * kH * kW, number of blocks).

    An input (C, H, W) gives a result without N. RuntimeError if no block fits.

    >>> import tinytorch as torch
    >>> torch.nn.functional.unfold(torch.arange(9.).view(1, 1, 3, 3), 2)
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])
    """
    shape = input._array.shape
    settings = _windows(shape, kernel_size, dilation, padding, stride)
    _check_floating("im2col", input)
    if len(shape) == 3:
        return squeeze(_im2col(*settings, unsqueeze(input, 0)), 0)
    return _im2col(*settings, input)


@public("col2im", in_python=True)
def fold(input: Tensor, output_size: int | Iterable[int], kernel_size: int | Iterable[int],
         dilation: int | Iterable[int] = 1, padding: int | Iterable[int] = 0,
         stride: int | Iterable[int] = 1) -> Tensor:
    """Images of `output_size` (H, W) as the sums of their sliding blocks: the adjoint of `unfold`.

    input (N, C * kH * kW, number of blocks) or without N: output (N, C, H, W). RuntimeError if the images have
    another number of blocks.

    >>> import tinytorch as torch
    >>> torch.nn.functional.fold(torch.ones(1, 4, 4), (3, 3), 2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    size = _pair(output_size, "col2im", "output_size", 2)
    kernel, dilation, padding, stride = _sliding("col2im", kernel_size, dilation, padding, stride)
    shape = input._array.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                           f"dimensions for input, but got: {list(shape)}")
    if shape[-2] % (kernel[0] * kernel[1]):
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
                           f"got input.size(1)={shape[-2]} and kernel_size={kernel}.")
    pairs = tuple([(p, p) for p in padding])
    h, w = kernels.output_size(size, kernel, stride, pairs, dilation)
    if shape[-1] != h * w or h < 1 or w < 1:
        raise RuntimeError(f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
                           f"stride={stride}, expected size of input's dimension 2 to match the calculated number of "
                           f"sliding blocks {h} * {w} = {h * w}, but got input.size(2)={shape[-1]}.")
    _check_floating("col2im", input)
    if len(shape) == 2:
        return squeeze(_col2im(size, kernel, stride, pairs, dilation, unsqueeze(input, 0)), 0)
    return _col2im(size, kernel, stride, pairs, dilation, input)
