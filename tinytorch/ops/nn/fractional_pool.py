"""fractional_max_pool of images of 2 and 3 axes."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import dtypes as dt
from ...arguments import check_positive, int_of, ints_of, is_int, is_one_int
from ...autograd.op import op, renamed
from ...autograd.public import public
from ...errors import not_a_tensor, not_implemented
from ...kernels import pool as kernels
from ...tensor import Tensor
from ...types import Ints
from ..random.factories import rand
from .pool import back, images, is_last, scatter


# ------------------------------------------------------------------ primitives
@op(name="fractional_max_pool2d", first=2, multi=True)
def _fractional_max(kernel, out, input, samples):
    x = images(input, len(out))
    draws = images(samples, 1)[:len(x)]
    if len(out) == 2:
        draws = draws[:, ::-1]                 # for images the first draw belongs to the width
    if x.itemsize == 2:
        single, dtype = np.dtype(np.float32), x.dtype
        starts = kernels.fractional_starts(dt.cast(draws, single), x.shape[1:], out, kernel,
                                           lambda y: dt.cast(dt.cast(y, dtype), single))
        top, indices = kernels.windows_from(dt.cast(x, single), starts, kernel)
        top = dt.cast(top, dtype)
    else:
        top, indices = kernels.windows_from(
            x, kernels.fractional_starts(draws, x.shape[1:], out, kernel, lambda y: y), kernel)
    return back(top, input), back(indices, input)


@op(name="fractional_max_pool2d", first=2, input=lambda g, n, input, indices:
        scatter(is_last(input, n), input.shape[-n:], indices, g))
def _fractional_max_at(n, top, input, indices):
    return top.pop()                           # backward needs the indices alone


_fractional_max_ats = {2: _fractional_max_at, 3: renamed(_fractional_max_at, "fractional_max_pool3d")}


# ------------------------------------------------------------------ checks
_AXES = ("time", "height", "width")


def _numbers(value, name, argument, position, n):
    if is_int(value) or is_one_int(value):
        return (int_of(value, name, argument, position, True),) * n
    return ints_of(value, name, argument, position)


def _check_input(n, shape, kernel, out):
    where = "fractional_max_pool2d" if n == 2 else "fractional_max_pool3d_out"
    for name, value in (("kernel_size", kernel), ("output_size", out)):
        if len(value) != n:
            raise RuntimeError(f"fractional_max_pool{n}d: {name} must either be a single Int or tuple of "
                               f"{'three ' * (n == 3)}Ints")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{where}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(shape)}")
    for i in range(1, len(shape)):
        if shape[i] == 0:
            raise RuntimeError(f"{where}(): Expected input to have non-zero size for non-batch dimensions, but got"
                               f"{list(shape)} with dimension {i} being empty.")
    for axis in (0, 1) if n == 2 else (0, 2, 1):
        if out[axis] + kernel[axis] - (n == 2) > shape[axis - n]:
            name = _AXES[axis - n]
            raise RuntimeError(f"{where}(): pool {name} {kernel[axis]} too large relative to input {name} "
                               f"{shape[axis - n]}")
    check_positive(shape[:-n] + out)


def _check_samples(n, input, samples):
    x, drawn = input._array, samples._array
    if drawn.dtype != x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if drawn.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {drawn.ndim}")
    batch, channels = (1, *x.shape)[-n - 2:-n]
    if drawn.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if drawn.shape[1] != channels:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if drawn.shape[2] != n:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {drawn.shape[2]}.")
    if x.dtype.kind not in dt.FLOATING:
        raise not_implemented(f"fractional_max_pool{n}d_out_frame", input)


# ------------------------------------------------------------------ the functions
def _pooled(n, input, kernel_size, output_size, output_ratio, samples):
    name = f"fractional_max_pool{n}d"
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if n == 2 and len(output_ratio) > 2:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        ratios = output_ratio if isinstance(output_ratio, Sequence) else (output_ratio,) * n
        output_size = [int(input.size(i - n) * ratios[i]) for i in range(n)]
    if samples is None:
        samples = rand(1 if input.dim() == n + 1 else input.size(0), input.size(-n - 1), n, dtype=input.dtype)
    for argument, position, value in (("input", 1, input), ("random_samples", 4, samples)):
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, argument, position, value)
    kernel = _numbers(kernel_size, name, "kernel_size", 2, n)
    out = _numbers(output_size, name, "output_size", 3, n)
    _check_input(n, input._array.shape, kernel, out)
    _check_samples(n, input, samples)
    top, indices = _fractional_max(kernel, out, input, samples)
    return _fractional_max_ats[n](n, [top._array], input, indices), indices


@public(python=True, autocast="up", draws=True)
def fractional_max_pool2d_with_indices(
        input: Tensor, kernel_size: int | Ints, output_size: int | Ints | None = None,
        output_ratio: Sequence[float] | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool2d` and the flat positions of the maxima (int64)."""
    return _pooled(2, input, kernel_size, output_size, output_ratio, _random_samples)


@public(python=True, autocast="up", draws=True)
def fractional_max_pool3d_with_indices(
        input: Tensor, kernel_size: int | Ints, output_size: int | Ints | None = None,
        output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool3d` and the flat positions of the maxima (int64)."""
    return _pooled(3, input, kernel_size, output_size, output_ratio, _random_samples)


@public(python=True, autocast="up", draws=True)
def fractional_max_pool2d(
        input: Tensor, kernel_size: int | Ints, output_size: int | Ints | None = None,
        output_ratio: Sequence[float] | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """Largest element of each of `output_size` windows of `kernel_size` at random places (Graham 2014); with
    `return_indices` the flat positions of the elements too.

    input (N, C, H, W) or (C, H, W). `output_ratio`: the output's size divided by the input's. `_random_samples`
    (N, C, 2) in [0, 1) shift the windows along W and H of each channel, and are drawn if they are not given.
    ValueError without a size or a ratio, RuntimeError where windows do not fit into the input.

    >>> import tinytorch as torch
    >>> torch.nn.functional.fractional_max_pool2d(torch.arange(16.).view(1, 4, 4), 2, 1)
    tensor([[[15.]]])
    """
    result = fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, return_indices,
                                                _random_samples)
    return result if return_indices else result[0]


@public(python=True, autocast="up", draws=True)
def fractional_max_pool3d(
        input: Tensor, kernel_size: int | Ints, output_size: int | Ints | None = None,
        output_ratio: float | Sequence[float] | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
    """`fractional_max_pool2d` of three axes: input (N, C, D, H, W) or (C, D, H, W), samples (N, C, 3) for D, H and W.

    >>> import tinytorch as torch
    >>> torch.nn.functional.fractional_max_pool3d(torch.arange(27.).view(1, 3, 3, 3), 2, 1)
    tensor([[[[26.]]]])
    """
    result = fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, return_indices,
                                                _random_samples)
    return result if return_indices else result[0]
