"""torchvision.ops.boxes: boxes (..., 4), as corners (x1, y1, x2, y2) unless another format is named."""
import numpy as np

from ... import argmax, empty, float32, int64, maximum, minimum, stack, tensor, where, zeros
from ...kernels.errstate import ignored
from ...missing import namespace as _namespace
from ...tensor import wrap

__all__ = ["batched_nms", "box_area", "box_convert", "box_iou", "clip_boxes_to_image", "generalized_box_iou",
           "masks_to_boxes", "nms", "remove_small_boxes"]

_FORMATS = ("xyxy", "xywh", "cxcywh")
_TURNED = ("xywhr", "cxcywhr", "xyxyxyxy")


def _upcast(x):
    """The boxes in a dtype that can hold products of sizes."""
    if x.is_floating_point():
        return x if x.dtype.itemsize >= 4 else x.float()
    return x if x.dtype.itemsize >= 4 else x.int()


# ------------------------------------------------------------------ formats
def _corners(boxes, fmt):
    if fmt == "xyxy":
        return boxes[..., :2], boxes[..., 2:]
    first, size = boxes[..., :2], boxes[..., 2:]
    return (first, first + size) if fmt == "xywh" else (first - 0.5 * size, first + 0.5 * size)


def box_convert(boxes, in_fmt, out_fmt):
    """Boxes in another format: xyxy, corners; xywh, a corner and the size; cxcywh, the middle and the size.

    ValueError for other formats, NotImplementedError for those of turned boxes.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import ops
    >>> ops.box_convert(torch.tensor([[1., 2., 4., 8.]]), "xyxy", "cxcywh")
    tensor([[2.5000, 5.0000, 3.0000, 6.0000]])
    """
    if not {in_fmt, out_fmt} <= {*_FORMATS, *_TURNED}:
        raise ValueError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}")
    if in_fmt == out_fmt:
        return boxes.clone()
    if {in_fmt, out_fmt} & {*_TURNED}:
        raise NotImplementedError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt "
                                  f"{out_fmt}")
    low, high = _corners(boxes, in_fmt)
    parts = {"xyxy": (low, high), "xywh": (low, high - low), "cxcywh": ((low + high) / 2, high - low)}[out_fmt]
    return stack([part[..., i] for part in parts for i in range(2)], -1)


# ------------------------------------------------------------------ areas
def box_area(boxes, fmt="xyxy"):
    """The area of each box. ValueError for unknown formats."""
    if fmt not in _FORMATS:
        raise ValueError(f"Unsupported Bounding Box area for given format {fmt}")
    boxes = _upcast(boxes)
    sides = boxes[..., 2:] - boxes[..., :2] if fmt == "xyxy" else boxes[..., 2:]
    return sides[..., 0] * sides[..., 1]


def _common(boxes1, boxes2, fmt):
    """(Area of the intersection, area of the union) of every box of the one (N) with every box of the other (M)."""
    areas = box_area(boxes1, fmt)[..., None] + box_area(boxes2, fmt)[..., None, :]
    (low1, high1), (low2, high2) = _corners(boxes1, fmt), _corners(boxes2, fmt)
    sides = _upcast(minimum(high1[..., None, :], high2[..., None, :, :])
                    - maximum(low1[..., None, :], low2[..., None, :, :])).clamp(min=0)
    inside = sides[..., 0] * sides[..., 1]
    return inside, areas - inside


def box_iou(boxes1, boxes2, fmt="xyxy"):
    """Intersection over union (N, M) of every box of the one (N, 4) with every box of the other (M, 4).

    ValueError for unknown formats, NotImplementedError for those of turned boxes.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import ops
    >>> ops.box_iou(torch.tensor([[0., 0., 2., 2.]]), torch.tensor([[1., 0., 3., 2.], [5., 5., 6., 6.]]))
    tensor([[0.3333, 0.0000]])
    """
    if fmt in _TURNED:
        raise NotImplementedError("box_iou of turned boxes is not supported")
    if fmt not in _FORMATS:
        raise ValueError(f"Unsupported format '{fmt}'. Supported axis-aligned formats: {_FORMATS}. Supported rotated "
                         f"formats: {('cxcywhr', 'xywhr', 'xyxyxyxy')}.")
    inside, union = _common(boxes1, boxes2, fmt)
    return inside / union


def generalized_box_iou(boxes1, boxes2):
    """`box_iou`, minus the share of the smallest box around both that neither box fills (Rezatofighi et al. 2019)."""
    inside, union = _common(boxes1, boxes2, "xyxy")
    sides = _upcast(maximum(boxes1[..., None, 2:], boxes2[..., None, :, 2:])
                    - minimum(boxes1[..., None, :2], boxes2[..., None, :, :2])).clamp(min=0)
    around = sides[..., 0] * sides[..., 1]
    return inside / union - (around - union) / around


# ------------------------------------------------------------------ choices
def nms(boxes, scores, iou_threshold):
    """Indices int64 of the boxes (N, 4) that stay, by falling score. Each box removes boxes of lower scores whose
    intersection over union with it is above the threshold. RuntimeError for other shapes.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import ops
    >>> ops.nms(torch.tensor([[0., 0., 2., 2.], [0., 0., 2., 3.], [4., 4., 5., 5.]]), torch.tensor([.5, .9, .1]), .5)
    tensor([1, 2])
    """
    if boxes.ndim != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {boxes.ndim}D")
    if boxes.size(1) != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {boxes.size(1)}")
    if scores.ndim != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.ndim}D")
    if len(boxes) != len(scores):
        raise RuntimeError("boxes and scores should have same number of elements in dimension 0, got "
                           f"{len(boxes)} and {len(scores)}")
    order = scores.detach().sort(descending=True, stable=True).indices.numpy()
    x1, y1, x2, y2 = boxes.detach().numpy()[order].T
    areas, kept, left = (x2 - x1) * (y2 - y1), [], np.arange(len(order))
    while left.size:
        best, left = left[0], left[1:]
        kept.append(order[best])
        width = np.maximum(np.minimum(x2[best], x2[left]) - np.maximum(x1[best], x1[left]), 0)
        height = np.maximum(np.minimum(y2[best], y2[left]) - np.maximum(y1[best], y1[left]), 0)
        inside = width * height
        with ignored():
            left = left[~(inside / (areas[best] + areas[left] - inside) > iou_threshold)]
    return wrap(np.array(kept, np.int64))


def batched_nms(boxes, scores, idxs, iou_threshold):
    """`nms` for the boxes of each class `idxs` separately. The boxes of a class are moved far from those of the
    others."""
    if not boxes.numel():
        return empty((0,), dtype=int64)
    return nms(boxes + (idxs.to(boxes) * (boxes.max() + tensor(1).to(boxes)))[:, None], scores, iou_threshold)


def remove_small_boxes(boxes, min_size):
    """Indices of the boxes whose sides are both at least `min_size`."""
    sides = boxes[..., 2:] - boxes[..., :2]
    return where((sides >= min_size).all(-1))[0]


def clip_boxes_to_image(boxes, size):
    """The parts of the boxes in an image of (H, W)."""
    height, width = size
    clipped = [boxes[..., 0::2].clamp(min=0, max=width), boxes[..., 1::2].clamp(min=0, max=height)]
    return stack(clipped, boxes.ndim).reshape(boxes.shape)


def masks_to_boxes(masks):
    """The smallest boxes (N, 4) around the nonzero elements of masks (N, H, W), and zeros for empty masks."""
    if not masks.numel():
        return zeros((0, 4), dtype=float32)
    found, (_, h, w) = masks.bool(), masks.shape
    columns, rows = found.any(1).float(), found.any(2).float()
    corners = [argmax(columns, 1), argmax(rows, 1), w - 1 - argmax(columns.flip(1), 1), h - 1 - argmax(rows.flip(1), 1)]
    return stack(corners, 1).float() * found.any(2).any(1)[:, None]


__getattr__ = _namespace(__name__)
