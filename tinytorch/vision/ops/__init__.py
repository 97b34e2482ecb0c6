"""torchvision.ops: boxes, and the layers that other libraries take from there."""
from ..._refused import refused_class as _refused_class
from ...missing import namespace as _namespace
from ...nn import Module as _Module
from .boxes import (
    batched_nms,
    box_area,
    box_convert,
    box_iou,
    clip_boxes_to_image,
    generalized_box_iou,
    masks_to_boxes,
    nms,
    remove_small_boxes,
)
from .misc import FrozenBatchNorm2d

__all__ = ["FrozenBatchNorm2d", "batched_nms", "box_area", "box_convert", "box_iou", "clip_boxes_to_image",
           "generalized_box_iou", "masks_to_boxes", "nms", "remove_small_boxes"]

DeformConv2d = _refused_class(__name__, "DeformConv2d", "deformable convolutions are not here", (_Module,))

__getattr__ = _namespace(__name__)
