"""torchvision.utils: images side by side, saved, and drawn on."""
import math

from .. import cat, stack, uint8
from ..autograd.grad_mode import no_grad
from ..missing import namespace as _namespace
from ..tensor import Tensor
from .drawing import draw_bounding_boxes, draw_segmentation_masks
from .images import image_of

__all__ = ["draw_bounding_boxes", "draw_segmentation_masks", "make_grid", "save_image"]


@no_grad()
def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """Images (N, C, H, W), or a list of (C, H, W), as one image with `nrow` in a row and `padding` pixels of
    `pad_value` around each. One channel becomes three.

    normalize     scale to [0, 1], from `value_range` (least, most) or the range of the images, of each with
    `scale_each`

    >>> import tinytorch as torch
    >>> from tinytorch.vision import utils
    >>> utils.make_grid(torch.ones(5, 1, 4, 4), nrow=3).shape
    torch.Size([3, 14, 20])
    """
    images = tensor
    if isinstance(images, list):
        for image in images:
            if not isinstance(image, Tensor):
                raise TypeError(f"tensor or list of tensors expected, got a list containing {type(image)}")
        images = stack(images, 0)
    elif not isinstance(images, Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(images)}")
    if images.ndim == 2:
        images = images.unsqueeze(0)
    if images.ndim == 3:
        images = images.unsqueeze(0)
    if images.ndim == 4 and images.size(1) == 1:
        images = cat([images] * 3, 1)
    if normalize is True:
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
        images = images.clone()
        for part in images if scale_each is True else [images]:
            low, high = value_range or (float(part.min()), float(part.max()))
            part.clamp_(min=low, max=high).sub_(low).div_(max(high - low, 1e-5))
    if len(images) == 1:
        return images.squeeze(0)
    n, channels, h, w = images.shape
    columns = min(nrow, n)
    h, w = int(h + padding), int(w + padding)
    grid = images.new_full((channels, h * math.ceil(n / columns) + padding, w * columns + padding), pad_value)
    for k, image in enumerate(images):
        top, left = k // columns * h + padding, k % columns * w + padding
        grid[:, top:top + h - padding, left:left + w - padding] = image
    return grid


@no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    """Writes images in [0, 1], put side by side by `make_grid`, to a file in `format`, by default that of its
    suffix."""
    grid = make_grid(tensor, **kwargs)
    pixels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to(uint8).numpy()
    image_of(pixels).save(fp, format=format)


__getattr__ = _namespace(__name__)
