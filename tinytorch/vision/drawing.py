"""Functions of `utils` that draw boxes, labels and masks on images."""

from .. import bool as boolean, int64, tensor, uint8
from ..autograd.grad_mode import no_grad
from ..errors import warn
from ..tensor import Tensor
from .images import image_of, pillow
from .transforms.functional import convert_image_dtype, pil_to_tensor

__all__ = ["draw_bounding_boxes", "draw_segmentation_masks"]


def _check(image, error, channels, channel_error):
    if not isinstance(image, Tensor):
        raise TypeError(f"{error}, got {type(image)}")
    if image.dtype != uint8 and not image.is_floating_point():
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.ndim != 3:
        raise ValueError("Pass individual images, not batches")
    if image.size(0) not in channels:
        raise ValueError(channel_error)


def _colours(colours, n):
    """n colours (r, g, b) from 0 to 255: those of a list, one colour n times, or generated colours."""
    if colours is None:
        return [tuple(int(i * x % 255) for x in (2 ** 25 - 1, 2 ** 15 - 1, 2 ** 21 - 1)) for i in range(n)]
    if isinstance(colours, list):
        if len(colours) < n:
            raise ValueError("Number of colors must be equal or larger than the number of objects, but got "
                             f"{len(colours)} < {n}.")
    elif not isinstance(colours, (tuple, str)):
        raise ValueError(f"colors must be a tuple or a string, or a list thereof, but got {colours}.")
    elif isinstance(colours, tuple) and len(colours) != 3:
        raise ValueError(f"If passed as tuple, colors should be an RGB triplet, but got {colours}.")
    else:
        colours = [colours] * n
    return [pillow("ImageColor").getrgb(colour) if isinstance(colour, str) else colour for colour in colours]


@no_grad()
def draw_bounding_boxes(image, boxes, labels=None, colors=None, fill=False, width=1, font=None, font_size=None,
                        label_colors=None, label_background_colors=None, fill_labels=False):
    """A copy of an image (1 or 3, H, W), of uint8 or floats in [0, 1], with boxes (N, 4) of corners drawn on it.

    labels      texts in their corners, in `font` (a file) and `font_size`, on `label_background_colors` if fill_labels
    colors      one for all, or a list: names or (r, g, b)
    fill        whether the boxes are filled with a transparent colour
    NotImplementedError for turned boxes (N, 8).
    """
    _check(image, "Tensor expected", (1, 3), "Only grayscale and RGB images are supported")
    if boxes.shape[-1] == 8:
        raise NotImplementedError("draw_bounding_boxes of turned boxes is not supported")
    if (boxes[:, :2] > boxes[:, 2:]).any():
        raise ValueError("Boxes need to be in (xmin, ymin, xmax, ymax) format. Use torchvision.ops.box_convert to "
                         "convert them")
    n = len(boxes)
    if not n:
        warn("boxes doesn't contain any box. No box was drawn")
        return image
    if labels is not None and len(labels) != n:
        raise ValueError(f"Number of boxes ({n}) and labels ({len(labels)}) mismatch. Please specify labels for each "
                         "box.")
    outlines = _colours(colors, n)
    written = _colours(label_colors or "black", n) if label_colors or fill_labels else outlines
    behind = _colours(label_background_colors, n) if fill_labels and label_background_colors else outlines
    if font is None:
        if font_size is not None:
            warn("Argument 'font_size' will be ignored since 'font' is not set.")
        letters = pillow("ImageFont").load_default()
    else:
        letters = pillow("ImageFont").truetype(font=font, size=font_size or 10)
    pixels = convert_image_dtype(image, uint8).expand(3, *image.shape[1:])
    picture = image_of(pixels.permute(1, 2, 0).numpy()).copy()         # drawn on: not the argument
    pen = pillow("ImageDraw").ImageDraw(picture, "RGBA" if fill else None)
    for i, (box, colour) in enumerate(zip(boxes.to(int64).tolist(), outlines)):
        pen.rectangle(box, width=width, outline=colour, fill=(*colour, 100) if fill else None)
        if labels is None or labels[i] is None:
            continue
        corner = box[0] + width + 1, box[1] + width + 1
        if fill_labels:
            left, top, right, bottom = pen.textbbox(corner, labels[i], font=letters)
            pen.rectangle((left - 1, top - 1, right + 1, bottom + 1), fill=behind[i])
        pen.text(corner, labels[i], fill=written[i], font=letters)
    return convert_image_dtype(pil_to_tensor(picture), image.dtype)


@no_grad()
def draw_segmentation_masks(image, masks, alpha=0.8, colors=None):
    """An image (3, H, W), of uint8 or floats in [0, 1], with `alpha` parts of a colour where each of the masks
    (N, H, W) bool is true, and of black where several are."""
    _check(image, "The image must be a tensor", (3,), "Pass an RGB image. Other Image formats are not supported")
    masks = masks[None] if masks.ndim == 2 else masks
    if masks.ndim != 3:
        raise ValueError("masks must be of shape (H, W) or (batch_size, H, W)")
    if masks.dtype != boolean:
        raise ValueError(f"The masks must be of dtype bool. Got {masks.dtype}")
    if masks.shape[-2:] != image.shape[-2:]:
        raise ValueError("The image and the masks must have the same height and width")
    if not len(masks):
        warn("masks doesn't contain any mask. No mask was drawn")
        return image
    drawn = image.detach().clone()
    for mask, colour in zip(masks, _colours(colors, len(masks))):
        level = [x / 255 for x in colour] if image.is_floating_point() else colour
        drawn[:, mask] = tensor(level, dtype=image.dtype)[:, None]
    drawn[:, masks.sum(0) > 1] = 0
    return (image * (1 - alpha) + drawn * alpha).to(image.dtype)
