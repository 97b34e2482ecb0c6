"""torchvision.io.image: images in files and in memory as tensors (C, H, W) uint8."""
import io
from enum import Enum

import numpy as np

from ... import uint8
from ...missing import namespace as _namespace
from ...tensor import Tensor, wrap
from ..images import image_of, pillow

__all__ = ["ImageReadMode", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg", "encode_png", "read_file",
           "read_image", "write_file", "write_jpeg", "write_png"]


class ImageReadMode(Enum):
    """The wanted channels: those of the file, or one, two with alpha, three, or four with alpha."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_PILLOWS = {ImageReadMode.GRAY: "L", ImageReadMode.GRAY_ALPHA: "LA", ImageReadMode.RGB: "RGB",
            ImageReadMode.RGB_ALPHA: "RGBA"}


def read_file(path):
    """The bytes of a file, as a tensor uint8."""
    with open(path, "rb") as file:
        return wrap(np.frombuffer(bytearray(file.read()), np.uint8))


def write_file(filename, data):
    """Write a tensor (N,) uint8 to a file."""
    with open(filename, "wb") as file:
        file.write(data.numpy().tobytes())


def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """The image in a file, or in the bytes of one as a tensor (N,) uint8, as a tensor (C, H, W) uint8.

    mode                     an ImageReadMode, or its name
    apply_exif_orientation   whether to turn it as its EXIF data says
    RuntimeError for data that Pillow cannot read.
    """
    data = input if isinstance(input, Tensor) else read_file(input)
    mode = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    try:
        image = pillow().open(io.BytesIO(data.numpy().tobytes()))
        image.load()
    except (OSError, SyntaxError) as error:
        raise RuntimeError(f"no image that Pillow reads: {error}") from None
    if apply_exif_orientation:
        image = pillow("ImageOps").exif_transpose(image)
    if mode is not ImageReadMode.UNCHANGED:
        image = image.convert(_PILLOWS[mode])
    elif image.mode not in ("L", "LA", "RGB", "RGBA"):
        with_colours = "RGBA" if "transparency" in image.info else "RGB"
        image = image.convert({"1": "L", "I;16": "L"}.get(image.mode, with_colours))
    pixels = np.array(image)
    planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return wrap(np.ascontiguousarray(planes))


decode_png = decode_jpeg = decode_image


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """The image in a file, decoded by `decode_image`.

    >>> import tempfile, tinytorch as torch
    >>> from tinytorch.vision import io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     io.write_png(torch.arange(6, dtype=torch.uint8).reshape(1, 2, 3), f"{folder}/x.png")
    ...     io.read_image(f"{folder}/x.png")
    tensor([[[0, 1, 2],
             [3, 4, 5]]], dtype=torch.uint8)
    """
    return decode_image(read_file(path), mode, apply_exif_orientation)


def _encoded(image, format, **how):
    if image.dtype != uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, got {image.dtype}")
    if image.ndim != 3:
        raise RuntimeError("Input data should be a 3-dimensional tensor")
    if image.size(0) not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {image.size(0)}")
    file = io.BytesIO()
    pixels = image.permute(1, 2, 0).numpy()
    image_of(pixels[:, :, 0] if image.size(0) == 1 else pixels).save(file, format, **how)
    return wrap(np.frombuffer(bytearray(file.getvalue()), np.uint8))


def encode_png(input, compression_level=6):
    """The bytes (N,) uint8 of a PNG file, of an image (1 or 3, H, W) uint8, compressed from 0, not at all, to 9."""
    return _encoded(input, "png", compress_level=compression_level)


def encode_jpeg(input, quality=75):
    """The bytes (N,) uint8 of a JPEG file, of an image (1 or 3, H, W) uint8, in a quality from 1 to 100."""
    if not 1 <= quality <= 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    return _encoded(input, "jpeg", quality=quality)


def write_png(input, filename, compression_level=6):
    """Write an image (1 or 3, H, W) uint8 to a PNG file."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input, filename, quality=75):
    """Write an image (1 or 3, H, W) uint8 to a JPEG file."""
    write_file(filename, encode_jpeg(input, quality))


__getattr__ = _namespace(__name__)
