"""Helpers of the functions on tensors, which are images (..., C, H, W)."""
from ... import int8, int16, int32, int64, uint8, uint16

#: The largest number of a dtype that images are in; 1 of all others.
_LARGEST = {uint8: 255, int8: 127, int16: 32767, uint16: 65535, int32: 2 ** 31 - 1,
            int64: 2 ** 63 - 1}
_ROUNDED = {dtype for dtype in _LARGEST if dtype != uint16}


def largest(dtype):
    return _LARGEST.get(dtype, 1)


def check_image(img):
    if img.ndim < 2:
        raise TypeError("Tensor is not a torch image.")


def get_dimensions(img):
    """[C, H, W]."""
    check_image(img)
    return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]


def check_channels(img, known=(1, 3), least=2):
    """Raises TypeError unless there are 1 or 3 channels, and at least `least` dimensions."""
    check_image(img)
    if img.ndim < least:
        raise TypeError(f"Input image tensor should have at least {least} dimensions, but found {img.ndim}")
    channels = get_dimensions(img)[0]
    if channels not in known:
        raise TypeError(f"Input image tensor permitted channel values are {[*known]}, but found {channels}")


def as_batch(img, known):
    """(the images as (N, C, H, W), in the first of these dtypes unless their own is among them; a function that
    converts back)."""
    dtype, single = img.dtype, img.ndim < 4
    cast = dtype not in known
    batch = img.unsqueeze(0) if single else img
    if cast:
        batch = batch.to(known[0])

    def back(batch):
        if single:
            batch = batch.squeeze(0)
        if not cast:
            return batch
        return (batch.round() if dtype in _ROUNDED else batch).to(dtype)
    return batch, back
