"""The functions of `functional` on tensors (..., C, H, W): shapes and sizes. `_color` and `_warp` have the others."""
import numpy as np

from ... import as_tensor, float32, float64, tensor, uint8
from ...nn import functional as nnf
from ...tensor import Tensor, wrap
from ._color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    adjust_sharpness,
    autocontrast,
    convert_image_dtype,
    equalize,
    gaussian_blur,
    invert,
    posterize,
    rgb_to_grayscale,
    solarize,
)
from ._functional_pil import check_padding
from ._tensors import as_batch, check_image, get_dimensions
from ._warp import affine, elastic_transform, perspective, rotate

__all__ = ["adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
           "adjust_sharpness", "affine", "autocontrast", "convert_image_dtype", "crop", "elastic_transform", "equalize",
           "erase", "gaussian_blur", "get_dimensions", "hflip", "invert", "normalize", "pad", "perspective",
           "posterize", "resize", "rgb_to_grayscale", "rotate", "solarize", "vflip"]


def hflip(img):
    check_image(img)
    return img.flip(-1)


def vflip(img):
    check_image(img)
    return img.flip(-2)


def crop(img, top, left, height, width):
    """What lies outside is 0."""
    _, h, w = get_dimensions(img)
    bottom, right = top + height, left + width
    inside = img[..., max(top, 0):bottom, max(left, 0):right]
    if left >= 0 and top >= 0 and right <= w and bottom <= h:
        return inside
    return pad(inside, [max(min(0, right) - left, 0), max(min(0, bottom) - top, 0), max(right - max(w, left), 0),
                        max(bottom - max(h, top), 0)])


def pad(img, padding, fill=0, padding_mode="constant"):
    check_image(img)
    fill = 0 if fill is None else fill
    if not isinstance(fill, (int, float)):
        raise TypeError("Got inappropriate fill arg")
    left, top, right, bottom = check_padding(padding, fill, padding_mode)
    if padding_mode == "symmetric":
        return _mirrored(img, left, top, right, bottom)
    dtype = img.dtype
    batch = img[None] if img.ndim < 4 else img
    if padding_mode == "constant":
        batch = nnf.pad(batch, [left, right, top, bottom], value=float(fill))
    else:
        wide = batch if dtype in (float32, float64) else batch.to(float32)
        batch = nnf.pad(wide, [left, right, top, bottom],
                        mode="replicate" if padding_mode == "edge" else padding_mode).to(dtype)
    return batch[0] if img.ndim < 4 else batch


def _mirrored(img, left, top, right, bottom):
    """With its rows and columns continued backwards, the outermost twice."""
    if min(left, top, right, bottom) < 0:
        img = img[..., max(-top, 0):img.shape[-2] - max(-bottom, 0), max(-left, 0):img.shape[-1] - max(-right, 0)]
        left, top, right, bottom = (max(x, 0) for x in (left, top, right, bottom))
    if img.ndim not in (3, 4):
        raise RuntimeError("Symmetric padding of N-D tensors are not supported yet")

    def order(before, n, after):
        return tensor([*range(before - 1, -1, -1), *range(n), *(-1 - i for i in range(after))])
    rows, columns = order(top, img.shape[-2], bottom), order(left, img.shape[-1], right)
    return img[..., rows[:, None], columns[None, :]]


def resize(img, size, interpolation="bilinear", antialias=True):
    check_image(img)
    smooth = interpolation in ("bilinear", "bicubic")
    batch, back = as_batch(img, (float32, float64))
    batch = nnf.interpolate(batch, size=list(size), mode=interpolation, align_corners=False if smooth else None,
                            antialias=bool(antialias and smooth))
    if interpolation == "bicubic" and img.dtype == uint8:
        batch = batch.clamp(min=0, max=255)
    return back(batch)


def normalize(image, mean, std, inplace=False):
    check_image(image)
    if not image.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
    if image.ndim < 3:
        raise ValueError("Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
                         f"{image.size()}")
    mean, std = _by_channel(mean, image), _by_channel(std, image)
    if not std._array.all():
        raise ValueError(f"std evaluated to zero after conversion to {image.dtype}, leading to division by zero.")
    return image.sub_(mean).div_(std) if inplace else (image - mean) / std


def _by_channel(numbers, image):
    """A number for each channel of an image as a tensor (C, 1, 1); one for all of them without dimensions."""
    if image._array.dtype.char not in "fd" or isinstance(numbers, Tensor):
        numbers = as_tensor(numbers, dtype=image.dtype)
        return numbers.reshape(-1, 1, 1) if numbers.ndim == 1 else numbers
    array = np.array(numbers, image._array.dtype)           # of what every image of a data set goes through
    return wrap(array.reshape(-1, 1, 1) if array.ndim == 1 else array)


def erase(img, i, j, h, w, v, inplace=False):
    check_image(img)
    img = img if inplace else img.clone()
    img[..., i:i + h, j:j + w] = v
    return img
