"""torchvision.transforms.functional: the transforms as functions of an image of Pillow or a tensor.

Tensors are (..., C, H, W), of floats in [0, 1] or integers from 0 to the largest of their dtype. The code for
images is in `_functional_pil`, and that for tensors is in `_functional_tensor`.

>>> import tinytorch as torch
>>> from tinytorch.vision.transforms import functional as F
>>> F.resize(torch.arange(4.).reshape(1, 2, 2), [2, 4])
tensor([[[0.0000, 0.2500, 0.7500, 1.0000],
         [2.0000, 2.2500, 2.7500, 3.0000]]])
"""
import math
from enum import Enum
from numbers import Number

from ... import float32, float64, tensor, zeros
from ...errors import warn
from ...linalg import lstsq
from ...missing import namespace as _namespace
from ...tensor import Tensor
from ..images import is_image
from . import _functional_pil, _functional_tensor
from ._conversion import convert_image_dtype, pil_to_tensor, to_pil_image, to_tensor  # noqa: F401


class InterpolationMode(Enum):
    """The ways to compute pixels between pixels. Tensors support the first four; `box` and the later ones are
    Pillow's."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


#: Pillow's numbers for the modes.
pil_modes_mapping = {InterpolationMode.NEAREST: 0, InterpolationMode.NEAREST_EXACT: 0, InterpolationMode.LANCZOS: 1,
                     InterpolationMode.BILINEAR: 2, InterpolationMode.BICUBIC: 3, InterpolationMode.BOX: 4,
                     InterpolationMode.HAMMING: 5}
_BY_NUMBER = {number: mode for mode, number in pil_modes_mapping.items() if mode is not InterpolationMode.NEAREST_EXACT}


def _interpolation_modes_from_int(i):
    return _BY_NUMBER[i]


def _mode(interpolation):
    if isinstance(interpolation, int):
        return _interpolation_modes_from_int(interpolation)
    if not isinstance(interpolation, InterpolationMode):
        raise TypeError("Argument interpolation should be a InterpolationMode or a corresponding Pillow integer "
                        "constant")
    return interpolation


def _at(img):
    """The functions for this image."""
    return _functional_tensor if isinstance(img, Tensor) else _functional_pil


def _value(img, mode):
    """The value of an interpolation mode for these functions."""
    return mode.value if isinstance(img, Tensor) else pil_modes_mapping[mode]


# ------------------------------------------------------------------ sizes
def get_dimensions(img):
    """[C, H, W]. TypeError if `img` is neither a tensor nor an image."""
    return _at(img).get_dimensions(img)


def get_image_size(img):
    """[W, H]."""
    return get_dimensions(img)[:0:-1]


def get_image_num_channels(img):
    return get_dimensions(img)[0]


# ------------------------------------------------------------------ sizes and edges
def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std, channel by channel, of a float tensor (..., C, H, W).

    TypeError for integers, ValueError for a zero std.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    return _functional_tensor.normalize(tensor, mean, std, inplace)


def _resized(h, w, size, max_size):
    """[H, W] after resizing: `size` itself, or where it is one number that of the shorter side."""
    if len(size) == 2:
        return [*size]
    short, long = sorted((h, w))
    new_short, new_long = size[0], int(size[0] * long / short)
    if max_size is not None:
        if max_size <= new_short:
            raise ValueError(f"max_size = {max_size} must be strictly greater than the requested size for the smaller "
                             f"edge size = {size}")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return [new_long, new_short] if w <= h else [new_short, new_long]


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    """The image at `size`: (H, W), or a number for the shorter side, with the longer at most `max_size`.

    With `antialias` a bilinear or bicubic image is averaged when it shrinks. Images of Pillow always are.
    """
    mode = _mode(interpolation)
    if isinstance(size, (list, tuple)):
        if len(size) not in (1, 2):
            raise ValueError(f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element "
                             "tuple/list")
        if max_size is not None and len(size) != 1:
            raise ValueError("max_size should only be passed if size specifies the length of the smaller edge, i.e. "
                             "size should be an int or a sequence of length 1 in torchscript mode.")
    _, h, w = get_dimensions(img)
    size = _resized(h, w, [size] if isinstance(size, int) else size, max_size)
    if size == [h, w]:
        return img
    if isinstance(img, Tensor):
        return _functional_tensor.resize(img, size, mode.value, antialias)
    if antialias is False:
        warn("Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.")
    return _functional_pil.resize(img, size, pil_modes_mapping[mode])


def pad(img, padding, fill=0, padding_mode="constant"):
    """The image with edges around it: `padding` of all four, of left and right and of top and bottom, or of left, top,
    right and bottom; filled with a colour, the outermost pixels (`edge`), or the image backwards (`reflect`,
    `symmetric`)."""
    return _at(img).pad(img, padding, fill, padding_mode)


def crop(img, top, left, height, width):
    """A part of the image; what lies outside of it is 0."""
    return _at(img).crop(img, top, left, height, width)


def _both(size):
    """(H, W) of one number, or of one or two."""
    if isinstance(size, Number):
        return int(size), int(size)
    return (size[0], size[0]) if isinstance(size, (tuple, list)) and len(size) == 1 else size


def center_crop(img, output_size):
    """The middle (H, W) of the image, between zeros where it is smaller."""
    height, width = _both(output_size)
    _, h, w = get_dimensions(img)
    if height > h or width > w:
        down, across = max(height - h, 0), max(width - w, 0)
        img = pad(img, [across // 2, down // 2, (across + 1) // 2, (down + 1) // 2], fill=0)
        _, h, w = get_dimensions(img)
        if (height, width) == (h, w):
            return img
    return crop(img, round((h - height) / 2.0), round((w - width) / 2.0), height, width)


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    """`crop`, then `resize`."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def five_crop(img, size):
    """The corners top left, top right, bottom left and bottom right, and the middle."""
    size = _both(size)
    if len(size) != 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    height, width = size
    _, h, w = get_dimensions(img)
    if width > w or height > h:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(h, w)}")
    corners = (crop(img, top, left, height, width) for top in (0, h - height) for left in (0, w - width))
    return (*corners, center_crop(img, [height, width]))


def ten_crop(img, size, vertical_flip=False):
    """`five_crop` of the image and of its mirror image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


def hflip(img):
    """Left and right exchanged."""
    return _at(img).hflip(img)


def vflip(img):
    """Top and bottom exchanged."""
    return _at(img).vflip(img)


def erase(img, i, j, h, w, v, inplace=False):
    """A tensor with `v` in the h by w pixels from row i and column j on. TypeError for images of Pillow."""
    if not isinstance(img, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    return _functional_tensor.erase(img, i, j, h, w, v, inplace)


# ------------------------------------------------------------------ warps
def _get_perspective_coeffs(startpoints, endpoints):
    """The 8 coefficients of the perspective that takes `endpoints` to `startpoints`: four corners (x, y) each."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(f"Please provide exactly four corners, got {len(startpoints)} startpoints and "
                         f"{len(endpoints)} endpoints.")
    rows = zeros(8, 8, dtype=float64)
    for i, ((x, y), (u, v)) in enumerate(zip(endpoints, startpoints)):
        rows[2 * i] = tensor([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows[2 * i + 1] = tensor([0, 0, 0, x, y, 1, -v * x, -v * y])
    return lstsq(rows, tensor(startpoints, dtype=float64).view(8), driver="gels").solution.to(float32).tolist()


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """The image seen in perspective: its points `startpoints` end at `endpoints`, four corners (x, y) from the top left
    clockwise."""
    coefficients = _get_perspective_coeffs(startpoints, endpoints)
    return _at(img).perspective(img, coefficients, _value(img, _mode(interpolation)), fill)


def _get_inverse_affine_matrix(center, angle, translate, scale, shear, inverted=True):
    """[a, b, c, d, e, f], by which (a x + b y + c, d x + e y + f) is where the pixel at (x, y) comes from, or with
    inverted=False where it goes: about `center` sheared, turned, scaled, and shifted. Angles are in degrees."""
    turn, (shear_x, shear_y) = math.radians(angle), (math.radians(s) for s in shear)
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    if inverted:
        a, b, c, d = (x / scale for x in (d, -b, -c, a))
        x, y = -cx - tx, -cy - ty
        return [a, b, a * x + b * y + cx, c, d, c * x + d * y + cy]
    a, b, c, d = (x * scale for x in (a, b, c, d))
    return [a, b, a * -cx + b * -cy + (cx + tx), c, d, c * -cx + d * -cy + (cy + ty)]


def _check_turn(interpolation, angle, center):
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")


def _from_middle(img, center):
    """A point, counted from the middle of a tensor."""
    if center is None:
        return [0.0, 0.0]
    _, h, w = get_dimensions(img)
    return [1.0 * (c - n * 0.5) for c, n in zip(center, [w, h])]


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """The image turned by `angle` degrees against the clock about `center` (x, y), by default its middle; with `expand`
    in an image large enough for all of it."""
    value = _value(img, _mode(interpolation))
    _check_turn(interpolation, angle, center)
    if not isinstance(img, Tensor):
        return _functional_pil.rotate(img, angle, value, expand, center, fill)
    matrix = _get_inverse_affine_matrix(_from_middle(img, center), -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    return _functional_tensor.rotate(img, matrix, value, expand, fill)


def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """The image sheared, turned clockwise by `angle` degrees, scaled and shifted by `translate` (x, y) pixels, about
    `center` (x, y), by default its middle."""
    value = _value(img, _mode(interpolation))
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (Number, list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, Number) else [*shear]
    shear = shear * 2 if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    _check_turn(interpolation, angle, center)
    if isinstance(img, Tensor):
        center = _from_middle(img, center)
    elif center is None:
        _, h, w = get_dimensions(img)
        center = [w * 0.5, h * 0.5]
    return _at(img).affine(img, _get_inverse_affine_matrix(center, angle, translate, scale, shear), value, fill)


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """The image with each pixel taken from `displacement` (1, H, W, 2) away, in units of half of its width and height.
    """
    if isinstance(interpolation, int):
        warn("Argument interpolation should be of type InterpolationMode instead of int. Please, use "
             "InterpolationMode enum.")
        interpolation = _interpolation_modes_from_int(interpolation)
    if not isinstance(displacement, Tensor):
        raise TypeError("Argument displacement should be a Tensor")

    def bent(pixels):
        shape = (1, *pixels.shape[-2:], 2)
        if shape != displacement.shape:
            raise ValueError(f"Argument displacement shape should be {shape}, but given {displacement.shape}")
        return _functional_tensor.elastic_transform(pixels, displacement, interpolation.value, fill)
    return _as_tensor(img, bent)


def _as_tensor(img, function):
    """The result of a function of tensors for an image, as an image."""
    if isinstance(img, Tensor):
        return function(img)
    if not is_image(img):
        raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")
    return to_pil_image(function(pil_to_tensor(img)), mode=img.mode)


def gaussian_blur(img, kernel_size, sigma=None):
    """The image blurred by a bell of `sigma` pixels (x, y), cut off at the odd `kernel_size` (x, y)."""
    if not isinstance(kernel_size, (int, list, tuple)):
        raise TypeError(f"kernel_size should be int or a sequence of integers. Got {type(kernel_size)}")
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else kernel_size
    if len(sizes) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(sizes)}")
    if any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in sizes]
    if not isinstance(sigma, (int, float, list, tuple)):
        raise TypeError(f"sigma should be either float or sequence of floats. Got {type(sigma)}")
    sigma = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else sigma
    sigma = [*sigma] * 2 if len(sigma) == 1 else sigma
    if len(sigma) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(sigma)}")
    if any(s <= 0.0 for s in sigma):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return _as_tensor(img, lambda pixels: _functional_tensor.gaussian_blur(pixels, sizes, sigma))


# ------------------------------------------------------------------ colours
def adjust_brightness(img, brightness_factor):
    """0 is black, 1 the image itself, 2 twice as bright."""
    return _at(img).adjust_brightness(img, brightness_factor)


def adjust_contrast(img, contrast_factor):
    """0 is the grey of its mean, 1 the image itself."""
    return _at(img).adjust_contrast(img, contrast_factor)


def adjust_saturation(img, saturation_factor):
    """0 is without colours, 1 the image itself."""
    return _at(img).adjust_saturation(img, saturation_factor)


def adjust_hue(img, hue_factor):
    """All hues shifted by this part of their circle, from -0.5 to 0.5."""
    return _at(img).adjust_hue(img, hue_factor)


def adjust_gamma(img, gamma, gain=1):
    """gain * img ** gamma, of an image in [0, 1]."""
    return _at(img).adjust_gamma(img, gamma, gain)


def adjust_sharpness(img, sharpness_factor):
    """0 is blurred, 1 the image itself, 2 twice as sharp."""
    return _at(img).adjust_sharpness(img, sharpness_factor)


def rgb_to_grayscale(img, num_output_channels=1):
    """The image without colours, in 1 or 3 channels."""
    return _at(img).rgb_to_grayscale(img, num_output_channels)


def to_grayscale(img, num_output_channels=1):
    """`rgb_to_grayscale` of images of Pillow. TypeError for tensors."""
    if not is_image(img):
        raise TypeError("Input should be PIL Image")
    return rgb_to_grayscale(img, num_output_channels)


def invert(img):
    """The negative."""
    return _at(img).invert(img)


def posterize(img, bits):
    """The highest `bits` bits of each byte."""
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    return _at(img).posterize(img, bits)


def solarize(img, threshold):
    """The negative of all pixels of `threshold` or more."""
    return _at(img).solarize(img, threshold)


def autocontrast(img):
    """Each channel stretched from black to white."""
    return _at(img).autocontrast(img)


def equalize(img):
    """Each channel with its levels about as frequent as one another."""
    return _at(img).equalize(img)


__getattr__ = _namespace(__name__)
