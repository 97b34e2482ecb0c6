"""Resizing of images: interpolate, upsample. The adjoint of each primitive is a primitive too."""
from __future__ import annotations

import operator

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of, is_extent
from ...autograd.op import op, renamed
from ...autograd.public import public
from ...autograd.record_dtypes import in_float32
from ...errors import kind_of, not_implemented, warn
from ...kernels import arrange, interpolate as kernels
from ...kernels.layout import channels_last, in_channels_last
from ...kernels.memory import LARGEST
from ...tensor import Tensor, wrap
from ...types import Ints, Number
from ..plan import cached_by_shape
from .adaptive_pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .pool import in_c_order, is_last

_FLOAT = np.dtype(np.float32)
#: torch's name for each mode and number of axes; True stands for `antialias`.
_NAMES = {("nearest", 1): "upsample_nearest1d", ("nearest", 2): "upsample_nearest2d",
          ("nearest", 3): "upsample_nearest3d", ("nearest-exact", 1): "_upsample_nearest_exact1d",
          ("nearest-exact", 2): "_upsample_nearest_exact2d", ("nearest-exact", 3): "_upsample_nearest_exact3d",
          ("linear", 1): "upsample_linear1d", ("bilinear", 2): "upsample_bilinear2d",
          ("trilinear", 3): "upsample_trilinear3d", ("bicubic", 2): "upsample_bicubic2d",
          ("bilinear", 2, True): "_upsample_bilinear2d_aa", ("bicubic", 2, True): "_upsample_bicubic2d_aa",
          ("lanczos", 2, True): "_upsample_lanczos2d_aa"}
_ALONG = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
#: Operations whose input's gradient has its channels last in memory if the output's gradient has.
_KEEPS_LAST = {"upsample_nearest2d", "_upsample_nearest_exact2d", "upsample_bilinear2d", "_upsample_bilinear2d_aa",
               "upsample_trilinear3d"}


# ------------------------------------------------------------------ primitives
@cached_by_shape
def _taps(name, size, output_size, align_corners, scales, dtype, rounding=None, vectorised=False):
    """(the taps of each axis, those of two axes as kernels in C take them or None)."""
    mode, _, smoothed = _MODES[name]
    wide = dtype == np.float64 or dtype == np.uint8 and "nearest" not in mode
    axes = [kernels.taps(mode, n, m, align_corners, scale, smoothed, np.float64 if wide else np.float32, rounding,
                         vectorised)
            for n, m, scale in zip(size, output_size, scales or (None,) * len(size))]
    return axes, arrange.taps_of_two_axes(*axes) if len(axes) == 2 else None


def _rounding(dtype):
    """A function that rounds weights to a half precision."""
    if dtype == np.float16:
        return lambda x: x.astype(np.float16).astype(np.float32)
    return lambda x: dt.widened(dt.narrowed(x))


_TO_HALF = {dtype: _rounding(dtype) for dtype in (np.dtype(np.float16), dt.BFLOAT16)}


@op(batches="examples", first=6, input=lambda g, name, output_size, align_corners, scales, half, shape: _GRADS[name](
    name, shape[2:], align_corners, scales, half, g))
def _resize(name, output_size, align_corners, scales, half, vectorised, input):
    if half is None and input.dtype is _FLOAT and in_c_order(input, len(output_size)):
        taps = _taps(name, input.shape[2:], output_size, align_corners, scales, _FLOAT, None, vectorised)[1]
        result = None if taps is None else arrange.resized(input, output_size, taps)
        if result is not None:
            return result
    x = np.ascontiguousarray(input)
    nearest = "nearest" in name
    wide = not nearest and x.dtype == np.float16
    rounding = None if vectorised or half is None or nearest else _TO_HALF[half]
    axes, _ = _taps(name, x.shape[2:], output_size, align_corners, scales, x.dtype if half is None else _FLOAT,
                    rounding, vectorised)
    if x.dtype == np.uint8 and not nearest:
        result = kernels.resized_bytes(x, axes, output_size)
    else:
        result = kernels.resized(x.astype(np.float32) if wide else x, axes).astype(x.dtype, copy=False)
    return in_channels_last(result) if is_last(input, len(output_size)) else np.ascontiguousarray(result)


@op(batches="examples", first=5, grad=lambda g, name, align_corners, scales, half, shape: _resizes[name](
    name, shape[2:], align_corners, scales, half, False, g))
def _resize_grad(name, size, align_corners, scales, half, grad):
    g = np.ascontiguousarray(grad)
    axes, taps = _taps(name, size, g.shape[2:], align_corners, scales, g.dtype, None, True)     # always so in backward
    if g.dtype == np.float16:
        g = g.astype(np.float32)
    result = None if taps is None else arrange.resized_back(g, size, taps)
    result = kernels.resized_grad(g, axes, size) if result is None else result
    result = result.astype(grad.dtype, copy=False)
    return in_channels_last(result) if name in _KEEPS_LAST and is_last(grad, len(size)) else result


_MODES = {name: (_ALONG.get(key[0], key[0]), key[1], len(key) > 2) for key, name in _NAMES.items()}
_resizes = {name: renamed(_resize, name.lstrip("_")) for name in _MODES}
_GRADS = {name: renamed(_resize_grad, name.lstrip("_") + "_backward") for name in _MODES}


# ------------------------------------------------------------------ checks
_SCALES = {1: "float scales = None", 2: "float scales_h = None, float scales_w = None",
           3: "float scales_d = None, float scales_h = None, float scales_w = None"}


def _shown(value):
    """A value as torch's message shows it in a list of arguments."""
    if isinstance(value, list):
        return f"list of [{', '.join(map(kind_of, value))}]"
    if isinstance(value, tuple):
        return f"tuple of ({', '.join(map(kind_of, value))}{',' * (len(value) == 1)})"
    return kind_of(value)


def _numbers(name, n, output_size, scales, align_corners):
    """Sizes as ints and scales as floats. TypeError in torch's words for anything else."""
    real = int, float, np.number, np.bool_
    flag = align_corners is None or isinstance(align_corners, bool)
    whole = output_size is None or is_extent(output_size[0]) and all(map(_is_whole, output_size))
    scaled = scales is None or all([isinstance(v, real) for v in scales])
    if flag and whole and scaled:
        if output_size is not None:
            output_size = ints_of(output_size, name, "output_size", 2, True)
        return output_size, None if scales is None else tuple(map(float, scales))
    corners = "" if align_corners is None else "bool align_corners, "
    given, fine = [output_size, scales], [whole and output_size is not None, scaled and scales is not None]
    if align_corners is not None:
        given.insert(1, align_corners)
        fine.insert(1, flag)
    listed = ", ".join([_shown(v) if good else f"!{_shown(v)}!" for v, good in zip(given, fine)])
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got (Tensor, {', '.join(map(kind_of, given))}), but "
        f"expected one of:\n * (Tensor input, tuple of ints output_size, {corners}tuple of floats scale_factors)\n"
        f"      didn't match because some of the arguments have invalid types: (Tensor, {listed})\n"
        f" * (Tensor input, tuple of ints output_size, {corners}{_SCALES[n]}, *, Tensor out = None)\n")


def _check(name, n, input, output_size):
    shape, size = input._array.shape, input._array.shape[2:]
    if min(size) <= 0 or min(output_size) <= 0:
        given, wanted = (", ".join([f"{axis}: {m}" for axis, m in zip("DHW"[-n:], sizes)])
                         for sizes in (size, output_size))
        joint = " and" if n == 1 else ""
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({given}){joint} output "
                           f"({wanted})")
    if not shape[1]:
        raise RuntimeError(f"Non-empty {n + 2}D data tensor expected but got a tensor with sizes {list(shape)}")


def _check_dtype(name, input, vectorised):
    array, (mode, _, smoothed) = input._array, _MODES[name]
    kinds = dt.NATIVE if smoothed else dt.FLOATING
    good = array.dtype.kind in kinds and not (smoothed and array.itemsize == 2)
    if good or array.dtype == np.uint8 and (name in _BYTES or "nearest" in name):
        return
    if smoothed:
        raise not_implemented("compute_index_ranges_weights", input)
    if vectorised:
        raise not_implemented(f"{name.removeprefix('_').replace('_exact', '')}_channels_last", input)
    raise not_implemented(f"compute_indices_weights_{mode.removesuffix('-exact')}", input)


_BYTES = {"upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
          "_upsample_lanczos2d_aa"}


def _upsampling(name, input, output_size, scales, align_corners=None):
    """(the primitive, its settings)."""
    n = _MODES[name][1]
    output_size, scales = _numbers(name, n, output_size, scales, align_corners)
    if output_size is None:
        output_size = tuple([_scaled_size(m, scale) for m, scale in zip(input._array.shape[2:], scales)])
    _check(name, n, input, output_size)
    array = input._array
    # torch has a routine for channels last in memory, which it uses for small images too.
    last = n > 1 and array.ndim == n + 2 and channels_last(array) and array.shape[1] > 3
    vectorised = name not in _UNVECTORISED and (last or n == 2 and sum(output_size) <= 128)
    _check_dtype(name, input, vectorised)
    half = array.dtype if array.dtype.itemsize == 2 else None
    return _resizes[name], (name, output_size, bool(align_corners), scales, half, vectorised)


_UNVECTORISED = {"upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"}


# ------------------------------------------------------------------ functions
def _scaled_size(size, scale):
    """size * scale, rounded down. RuntimeError if 64 bits do not hold it."""
    scaled = size * scale
    if not abs(scaled) < 1 << 63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(scaled)


def _spatial(shape, size, scale_factor):
    """(sizes, scale factors) per axis; one of the two is None. ValueError in torch's words."""
    n, axes = len(shape) - 2, list(shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (list, tuple)):
            return [size] * n, None
        if len(size) != n:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {axes} and output size of {size}. Please provide input tensor in (N, C, d1, d2, "
                "...,dK) format and output size in (o1, o2, ...,oK) format.")
        if not all([_is_whole(m) and not isinstance(m, np.ndarray) for m in size]):
            raise TypeError("expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], "
                            f"but got size with types {[type(m) for m in size]}")
        if max(size) > LARGEST:                # other faults are reported later, in other words
            ints_of(size, "interpolate", "output_size", 2)
        return size, None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, (list, tuple)):
        return None, [scale_factor] * n
    if len(scale_factor) != n:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {axes} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, "
            "d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.")
    return None, scale_factor


def _is_whole(m):
    try:
        operator.index(m)
    except TypeError:
        return False
    return True


_NEEDED = {"linear": 3, "bilinear": 4, "trilinear": 5}
_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


@public(python=True, repeats=True)
def interpolate(input: Tensor, size: int | Ints | None = None, scale_factor: float | list[float] | None = None,
                mode: str = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Tensor:
    """Images (N, C, L), (N, C, H, W) or (N, C, D, H, W) resized to `size`, or by `scale_factor` (sizes rounded down).

    mode: nearest, nearest-exact, area (any number of axes), linear (1 axis), bilinear, bicubic (2), lanczos (2, with
    `antialias` only), trilinear (3). With `align_corners` the centres of the corner pixels stay where they are, without
    it the corners of these pixels. `antialias` widens the filter where the result is smaller (bilinear, bicubic,
    lanczos). `recompute_scale_factor`: positions follow from the resulting size, not from the given factor.
    Floating-point dtypes; nearest, nearest-exact, bilinear, bicubic and lanczos take uint8 too. ValueError unless one
    of `size` and `scale_factor` is given, with a number for each axis; NotImplementedError for another mode or number
    of axes.

    >>> import tinytorch as torch
    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 3.]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 3.]]]), size=4, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    array = input._array
    if type(array) is np.ndarray and mode != "area":
        call, settings = _settings_of(array.shape, array.strides, array.dtype, size, scale_factor, mode, align_corners,
                                      recompute_scale_factor, antialias)
    else:
        call, settings = _settings(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    if array.dtype == dt.BFLOAT16 and hasattr(call, "op"):
        return in_float32(call, *settings, input)
    return call(*settings, input)


@cached_by_shape
def _settings_of(shape, strides, dtype, *arguments):
    return _settings(wrap(np.lib.stride_tricks.as_strided(np.empty((), dtype), shape, strides)), *arguments)


def _settings(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias):
    """(the function that `interpolate` calls, its arguments before the input), which depend on the shape, the dtype and
    the memory order of the input alone."""
    n = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | "
                             "bicubic | trilinear")
    elif align_corners is None:
        align_corners = False
    output_size, scales = _spatial(input.shape, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or mode == "area" and output_size is None:
        output_size, scales = [int(m * scale) for m, scale in zip(input.shape[2:], scales)], None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and n == 2):
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
                         "tensor as input")
    if mode == "area" and n in _AREA:
        return lambda output_size, input: _AREA[n](input, output_size), (output_size,)
    return _upsampling(_name_of(mode, n, align_corners, antialias), input, output_size, scales, align_corners)


def _name_of(mode, n, align_corners, antialias):
    """torch's name of the operation. ValueError for settings that lanczos does not take, NotImplementedError for a mode
    that is unknown or does not exist for `n` axes."""
    if mode == "lanczos" and n == 2:
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    name = _NAMES.get((mode, n, True) if antialias else (mode, n))
    if name is not None:
        return name
    if mode in _NEEDED and n in (1, 2, 3):
        raise NotImplementedError(f"Got {n + 2}D input, but {mode} mode needs {_NEEDED[mode]}D input")
    raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {n + 2}D) for the modes: "
                              "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact "
                              f"(got {mode})")


def _deprecated(name):
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@public(python=True)
def upsample(input: Tensor, size: int | Ints | None = None, scale_factor: float | list[float] | None = None,
             mode: str = "nearest", align_corners: bool | None = None) -> Tensor:
    """`interpolate` by its older name, which warns."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public(python=True)
def upsample_nearest(input: Tensor, size: int | Ints | None = None, scale_factor: Number | None = None) -> Tensor:
    """`interpolate` in mode nearest by its older name, which warns."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@public(python=True)
def upsample_bilinear(input: Tensor, size: int | Ints | None = None,
                      scale_factor: float | list[float] | None = None) -> Tensor:
    """`interpolate` in mode bilinear with align_corners by its older name, which warns."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
