"""The functions of `functional` on images of Pillow."""
import functools
from numbers import Number

import numpy as np

from ..images import image_of, is_image, pillow

#: How Pillow calls the four sides' patterns that NumPy continues.
PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def _on_images(function):
    """TypeError if the first argument is no image."""
    @functools.wraps(function)
    def checked(img, *args, **kwargs):
        if not is_image(img):
            raise TypeError(f"img should be PIL Image. Got {type(img)}")
        return function(img, *args, **kwargs)
    return checked


def get_dimensions(img):
    if not is_image(img):
        raise TypeError(f"Unexpected type {type(img)}")
    return [len(img.getbands()), img.height, img.width]


# ------------------------------------------------------------------ geometry
@_on_images
def hflip(img):
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


@_on_images
def vflip(img):
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


@_on_images
def crop(img, top, left, height, width):
    return img.crop((left, top, left + width, top + height))


@_on_images
def resize(img, size, interpolation):
    return img.resize((size[1], size[0]), interpolation)


def check_padding(padding, fill, padding_mode, sequence=(tuple, list)):
    """The widths [left, top, right, bottom], of what says them once, for two axes, or for four sides."""
    if not isinstance(padding, (Number, *sequence)):
        raise TypeError("Got inappropriate padding arg")
    if not isinstance(fill, (Number, *sequence)):
        raise TypeError("Got inappropriate fill arg")
    if not isinstance(padding_mode, str):
        raise TypeError("Got inappropriate padding_mode arg")
    sides = [padding] if isinstance(padding, Number) else list(padding)
    if len(sides) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(sides)} element tuple")
    if padding_mode not in PADDING_MODES:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    return sides * (4 // len(sides))


@_on_images
def pad(img, padding, fill=0, padding_mode="constant"):
    left, top, right, bottom = check_padding(padding, 0 if fill is None else fill, padding_mode)
    palette = img.getpalette() if img.mode == "P" else None
    if padding_mode == "constant":
        img = pillow("ImageOps").expand(img, border=(left, top, right, bottom), **_filled(fill, img, "fill"))
    else:
        if min(left, top, right, bottom) < 0:
            img = img.crop((max(-left, 0), max(-top, 0), img.width - max(-right, 0), img.height - max(-bottom, 0)))
        pixels = np.asarray(img)
        widths = [(max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0)), (0, 0)]
        img = pillow().fromarray(np.pad(pixels, widths[:pixels.ndim], mode=padding_mode))
    if palette is not None:
        img.putpalette(palette)
    return img


def _filled(fill, img, name="fillcolor"):
    """{name: colour}, of a number or one for each channel, for an image of this mode."""
    channels = len(img.getbands())
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)) and channels > 1:
        fill = [fill] * channels
    whole = float if img.mode == "F" else int
    if not isinstance(fill, (list, tuple)):
        return {name: fill if img.mode == "F" else int(fill)}
    if len(fill) == 1:
        fill = [*fill] * channels
    elif len(fill) != channels:
        raise ValueError("The number of elements in 'fill' does not match the number of channels of the image "
                         f"({len(fill)} != {channels})")
    return {name: tuple(whole(x) for x in fill)}


@_on_images
def affine(img, matrix, interpolation=0, fill=None):
    return img.transform(img.size, pillow().Transform.AFFINE, matrix, interpolation, **_filled(fill, img))


@_on_images
def rotate(img, angle, interpolation=0, expand=False, center=None, fill=None):
    return img.rotate(angle, interpolation, expand, center, **_filled(fill, img))


@_on_images
def perspective(img, coefficients, interpolation=3, fill=None):
    return img.transform(img.size, pillow().Transform.PERSPECTIVE, coefficients, interpolation, **_filled(fill, img))


# ------------------------------------------------------------------ colours
def _enhanced(kind):
    @_on_images
    def enhance(img, factor):
        return getattr(pillow("ImageEnhance"), kind)(img).enhance(factor)
    return enhance


adjust_brightness = _enhanced("Brightness")
adjust_contrast = _enhanced("Contrast")
adjust_saturation = _enhanced("Color")
adjust_sharpness = _enhanced("Sharpness")


def adjust_hue(img, hue_factor):
    """Channel H of HSV, shifted round its circle of 256 steps."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    return _turned_hue(img, hue_factor)


@_on_images
def _turned_hue(img, hue_factor):
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = np.asarray(hue) + np.int32(hue_factor * 255).astype(np.uint8)
    return pillow().merge("HSV", (image_of(turned, "L"), saturation, value)).convert(img.mode)


@_on_images
def adjust_gamma(img, gamma, gain=1.0):
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    table = [int((255 + 1 - 1e-3) * gain * pow(x / 255.0, gamma)) for x in range(256)]
    return img.convert("RGB").point(table * 3).convert(img.mode)


@_on_images
def rgb_to_grayscale(img, num_output_channels=1):
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    grey = img.convert("L")
    return grey if num_output_channels == 1 else pillow().merge("RGB", (grey, grey, grey))


def _operation(name):
    @_on_images
    def operate(img, *args):
        return getattr(pillow("ImageOps"), name)(img, *args)
    return operate


invert, posterize, solarize, autocontrast, equalize = (
    _operation(name) for name in ("invert", "posterize", "solarize", "autocontrast", "equalize"))
