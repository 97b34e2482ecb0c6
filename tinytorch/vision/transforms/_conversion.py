"""Images of Pillow, arrays and tensors made of one another."""
import numpy as np

from ... import float32, float64
from ...dtypes import get_default_dtype
from ...tensor import Tensor, wrap
from ..images import image_of, is_image
from . import _functional_tensor

__all__ = ["convert_image_dtype", "pil_to_tensor", "to_pil_image", "to_tensor"]


def to_tensor(pic):
    """An image, or an array (H, W) or (H, W, C), as a tensor (C, H, W): bytes become floats in [0, 1].

    Images and arrays of other dtypes are converted without scaling. TypeError for anything else.
    """
    if not isinstance(pic, np.ndarray):
        if not is_image(pic):
            raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
        pic = _pixels(pic)
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    planes = np.ascontiguousarray(pic[None] if pic.ndim == 2 else pic.transpose(2, 0, 1))
    if planes.dtype == np.uint8:
        dtype = get_default_dtype()
        if dtype is float32 or dtype is float64:
            return wrap(planes.astype(dtype.numpy) / 255)
        return wrap(planes).to(dtype).div(255)
    return wrap(planes)


#: Dtypes of the images whose pixels are no bytes.
_PIXELS = {"I": np.int32, "I;16": np.int16, "I;16B": np.int16, "F": np.float32}


def _pixels(image):
    pixels = np.array(image, _PIXELS.get(image.mode, np.uint8))
    return pixels * np.uint8(255) if image.mode == "1" else pixels


def pil_to_tensor(pic):
    """An image as a tensor (C, H, W) of its own dtype, without scaling. TypeError for anything else."""
    if not is_image(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    pixels = np.array(pic)
    return wrap(pixels.reshape(pic.height, pic.width, len(pic.getbands()))).permute(2, 0, 1)


def convert_image_dtype(image, dtype=float32):
    """A tensor in another dtype, scaled from the range of the one to that of the other.

    TypeError for images of Pillow, RuntimeError where the largest integers are no floats.
    """
    if not isinstance(image, Tensor):
        raise TypeError("Input img should be Tensor Image")
    return _functional_tensor.convert_image_dtype(image, dtype)


#: For each number of channels: what several are called in an error, and the modes that there are, the usual first.
_MODES = {2: ("2D", ["LA"]), 3: ("3D", ["RGB", "YCbCr", "HSV"]), 4: ("4D", ["RGBA", "CMYK", "RGBX"])}
_GREY = {"uint8": "L", "int16": "I;16", "int32": "I", "float32": "F"}


def to_pil_image(pic, mode=None):
    """A tensor (C, H, W) or (H, W), or an array (H, W, C) or (H, W), as an image of this mode.

    Floats are taken to be in [0, 1] except in mode F. TypeError and ValueError for what no mode holds.
    """
    if isinstance(pic, Tensor):
        pixels = (pic.permute(1, 2, 0) if pic.ndim == 3 else pic).numpy(force=True)
    elif isinstance(pic, np.ndarray):
        pixels = pic
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {pixels.ndim} dimensions.")
    channels = pixels.shape[-1]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if np.issubdtype(pixels.dtype, np.floating) and mode != "F":
        pixels = (pixels * 255).astype(np.uint8)
    if channels == 1:
        pixels, expected = pixels[:, :, 0], _GREY.get(pixels.dtype.name)
        if mode is not None and mode != expected:
            raise ValueError(f"Incorrect mode ({mode}) supplied for input type {np.dtype}. Should be {expected}")
        mode = expected
    elif channels:
        inputs, modes = _MODES[channels]
        if mode is not None and mode not in modes:
            raise ValueError(f"Only modes {modes} are supported for {inputs} inputs")
        if mode is None and pixels.dtype == np.uint8:
            mode = modes[0]
    if mode is None:
        raise TypeError(f"Input type {pixels.dtype} is not supported")
    return image_of(pixels, mode)
