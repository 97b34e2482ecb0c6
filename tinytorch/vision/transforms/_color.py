"""Colours of tensors (..., C, H, W), with 1 or 3 channels; and the sharpness of their edges."""
from ... import (
    amax,
    amin,
    bincount,
    cumsum,
    div,
    exp,
    float32,
    float64,
    fmod,
    int32,
    int64,
    isfinite,
    linspace,
    mm,
    ones,
    ones_like,
    stack,
    uint8,
    where,
    zeros_like,
)
from ...nn import functional as nnf
from ...tensor import Tensor
from ._tensors import as_batch, check_channels, check_image, get_dimensions, largest


def convert_image_dtype(image, dtype=float32):
    """From the range of one dtype to that of another: [0, 1] of floats, from 0 to the largest of integers."""
    if image.dtype == dtype:
        return image
    here, there = float(largest(image.dtype)), float(largest(dtype))
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        if image.dtype == float32 and dtype in (int32, int64) or image.dtype == float64 and dtype == int64:
            raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
        return image.mul(there + 1.0 - 1e-3).to(dtype)     # 1.0 becomes the largest, all integers' shares as wide
    if dtype.is_floating_point:
        return image.to(dtype) / here
    if here > there:
        return div(image, int((here + 1) // (there + 1)), rounding_mode="floor").to(dtype)
    return image.to(dtype) * int((there + 1) // (here + 1))


def _float_dtype(img):
    return img.dtype if img.is_floating_point() else float32


def _blend(img, other, ratio):
    """`ratio` parts of the image and the rest of the other, within the range of its dtype."""
    ratio = float(ratio)
    return (ratio * img + (1.0 - ratio) * other).clamp(0, largest(img.dtype)).to(img.dtype)


def _check_factor(img, factor, name):
    if factor < 0:
        raise ValueError(f"{name}_factor ({factor}) is not non-negative.")
    check_channels(img)


def rgb_to_grayscale(img, num_output_channels=1):
    check_channels(img, least=3)
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if img.shape[-3] == 3:
        red, green, blue = img.unbind(-3)
        grey = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    else:
        grey = img.clone()
    return grey.expand(img.shape) if num_output_channels == 3 else grey


def adjust_brightness(img, brightness_factor):
    _check_factor(img, brightness_factor, "brightness")
    return _blend(img, zeros_like(img), brightness_factor)


def adjust_contrast(img, contrast_factor):
    _check_factor(img, contrast_factor, "contrast")
    grey = rgb_to_grayscale(img) if get_dimensions(img)[0] == 3 else img
    return _blend(img, grey.to(_float_dtype(img)).mean((-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(img, saturation_factor):
    _check_factor(img, saturation_factor, "saturation")
    if get_dimensions(img)[0] == 1:
        return img
    return _blend(img, rgb_to_grayscale(img), saturation_factor)


# ------------------------------------------------------------------ hue
def adjust_hue(img, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    check_channels(img)
    if get_dimensions(img)[0] == 1:
        return img
    hue, saturation, value = _hsv(convert_image_dtype(img, float32))
    return convert_image_dtype(_rgb((hue + hue_factor) % 1.0, saturation, value), img.dtype)


def _hsv(img):
    """Hue in turns, saturation and value, of (..., 3, H, W)."""
    red, green, blue = img.unbind(-3)
    most, least = img.max(-3).values, img.min(-3).values
    grey = most == least
    span, one = most - least, ones_like(most)
    saturation = span / where(grey, one, most)
    span = where(grey, one, span)
    r, g, b = (most - red) / span, (most - green) / span, (most - blue) / span
    is_red, is_green = most == red, most == green
    sextants = (is_red * (b - g) + (is_green & ~is_red) * (2.0 + r - b) + (~is_green & ~is_red) * (4.0 + g - r))
    return fmod(sextants / 6.0 + 1.0, 1.0), saturation, most


def _rgb(hue, saturation, value):
    sextant = (hue * 6.0).floor()
    part = hue * 6.0 - sextant
    low = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    falling = (value * (1.0 - saturation * part)).clamp(0.0, 1.0)
    rising = (value * (1.0 - saturation * (1.0 - part))).clamp(0.0, 1.0)
    which = (sextant.to(int64) % 6).unsqueeze(-3)
    levels = ((value, falling, low, low, rising, value), (rising, value, value, falling, low, low),
              (low, low, rising, value, value, falling))
    return stack([stack(by_sextant, -3).gather(-3, which).squeeze(-3) for by_sextant in levels], -3)


def adjust_gamma(img, gamma, gain=1):
    if not isinstance(img, Tensor):
        raise TypeError("Input img should be a Tensor.")
    check_channels(img)
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    scaled = img if img.is_floating_point() else convert_image_dtype(img, float32)
    return convert_image_dtype((gain * scaled.pow(gamma)).clamp(0, 1), img.dtype)


# ------------------------------------------------------------------ levels
def invert(img):
    check_channels(img, least=3)
    return largest(img.dtype) - img


def posterize(img, bits):
    check_channels(img, least=3)
    _check_bytes(img)
    return img & -int(2 ** (8 - bits))


def _check_bytes(img):
    if img.dtype != uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")


def solarize(img, threshold):
    check_channels(img, least=3)
    if threshold > largest(img.dtype):
        raise TypeError("Threshold should be less than bound of img.")
    return where(img >= threshold, invert(img), img)


def autocontrast(img):
    check_channels(img, least=3)
    bound = largest(img.dtype)
    low, high = (f(img, (-2, -1), keepdim=True).to(_float_dtype(img)) for f in (amin, amax))
    scale = bound / (high - low)
    flat = ~isfinite(scale)
    low[flat], scale[flat] = 0, 1
    return ((img - low) * scale).clamp(0, bound).to(img.dtype)


def equalize(img):
    check_image(img)
    if img.ndim not in (3, 4):
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {img.ndim}")
    _check_bytes(img)
    check_channels(img)
    return stack([_equalized(plane) for plane in img.reshape(-1, *img.shape[-2:])]).reshape(img.shape)


def _equalized(plane):
    """Levels moved so that about as many pixels have each, by Pillow's table."""
    counts = bincount(plane.reshape(-1), minlength=256)
    step = div(counts[counts != 0][:-1].sum(), 255, rounding_mode="floor")
    if step == 0:
        return plane
    table = div(cumsum(counts, 0) + div(step, 2, rounding_mode="floor"), step, rounding_mode="floor")
    return nnf.pad(table, [1, 0])[:-1].clamp(0, 255)[plane.to(int64)].to(uint8)


# ------------------------------------------------------------------ edges
def adjust_sharpness(img, sharpness_factor):
    _check_factor(img, sharpness_factor, "sharpness")
    if img.size(-1) <= 2 or img.size(-2) <= 2:
        return img
    weights = ones(3, 3, dtype=_float_dtype(img))
    weights[1, 1] = 5.0
    weights /= weights.sum()
    smooth = img.clone()
    smooth[..., 1:-1, 1:-1] = _filtered(img, weights)
    return _blend(img, smooth, sharpness_factor)


def _filtered(img, weights, padding=None):
    """Each channel correlated with the weights (h, w)."""
    batch, back = as_batch(img, (weights.dtype,))
    if padding is not None:
        batch = nnf.pad(batch, padding, mode="reflect")
    channels = img.shape[-3]
    return back(nnf.conv2d(batch, weights.expand(channels, 1, *weights.shape), groups=channels))


def gaussian_blur(img, kernel_size, sigma):
    check_image(img)
    across, down = (_bell(size, s, _float_dtype(img)) for size, s in zip(kernel_size, sigma))
    half_width, half_height = kernel_size[0] // 2, kernel_size[1] // 2
    return _filtered(img, mm(down[:, None], across[None, :]), [half_width, half_width, half_height, half_height])


def _bell(size, sigma, dtype):
    x = linspace(-(size - 1) * 0.5, (size - 1) * 0.5, steps=size, dtype=dtype)
    density = exp(-0.5 * (x / sigma).pow(2))
    return density / density.sum()
