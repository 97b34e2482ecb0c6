"""Boxes and frozen layers beside torchvision's; `nms`, whose compiled part may not load, beside its definition."""
import numpy as np
import pytest

import tinytorch
from tinytorch.vision import ops

from .vision import both

STATE = np.random.RandomState(0)


def boxes(n, dtype="float32"):
    corners = STATE.randint(0, 30, (n, 2))
    return np.concatenate([corners, corners + STATE.randint(1, 12, (n, 2))], 1).astype(dtype)


CALLS = """box_area(a); box_area(a, 'cxcywh'); box_area(a, 'x'); box_iou(a, b); box_iou(a, b, 'xywh')
box_iou(a, b, 'x'); box_iou(a, b, fmt='cxcywh'); generalized_box_iou(a, b); clip_boxes_to_image(a, (20, 10))
remove_small_boxes(a, 5)
box_convert(a, 'xyxy', 'xywh'); box_convert(a, 'xyxy', 'cxcywh'); box_convert(a, 'xywh', 'xyxy')
box_convert(a, 'xywh', 'cxcywh'); box_convert(a, 'cxcywh', 'xyxy'); box_convert(a, 'cxcywh', 'xywh')
box_convert(a, 'xywh', 'xywh'); box_convert(a, 'xy', 'xywh'); masks_to_boxes(m); masks_to_boxes(m[:0])
box_area(a.int()); box_iou(a.to(torch.int64), b.to(torch.int64)); box_area(a.half()); masks_to_boxes(m * 0)
misc.FrozenBatchNorm2d(3); misc.FrozenBatchNorm2d(3, 0.1)(m[None, :3]); boxes.box_area(a)"""


@pytest.mark.parametrize("call", CALLS.replace("\n", "; ").split("; "))
def test_boxes(call):
    def program(torch, vision, a, b, m):
        result = eval(call, {**vars(vision.ops), "a": a, "b": b, "m": m, "torch": torch})
        return repr(result) if isinstance(result, torch.nn.Module) else result
    both(program, boxes(6), boxes(4), (STATE.rand(5, 9, 8) > 0.8).astype("float32"))


def test_frozen_layer_loads_what_was_trained():
    def program(torch, vision):
        trained, frozen = torch.nn.BatchNorm2d(2), vision.ops.FrozenBatchNorm2d(2)
        trained.train()(torch.arange(16.).reshape(2, 2, 2, 2))
        return [str(frozen.load_state_dict(trained.state_dict())), frozen(torch.ones(1, 2, 1, 1)),
                len(list(frozen.parameters()))]
    both(program)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.9])
def test_nms(threshold):
    a = tinytorch.from_numpy(np.tile(boxes(20), (2, 1)))
    scores = tinytorch.from_numpy(STATE.randint(0, 9, 40).astype("float32"))
    iou, kept = ops.box_iou(a, a), []
    for i in sorted(range(40), key=lambda i: -scores[i].item()):
        if all(iou[i, k] <= threshold for k in kept):
            kept.append(i)
    assert ops.nms(a, scores, threshold).tolist() == kept and len(kept) < 40
    classes = tinytorch.from_numpy(STATE.randint(0, 3, 40))
    of_each = [i for c in range(3) for i in (classes == c).nonzero()[:, 0][
        ops.nms(a[classes == c], scores[classes == c], threshold)].tolist()]
    assert sorted(ops.batched_nms(a, scores, classes, threshold).tolist()) == sorted(of_each)


@pytest.mark.parametrize("wrong", [lambda a, s: (a[0], s), lambda a, s: (a[:, :3], s), lambda a, s: (a, s[:, None]),
                                   lambda a, s: (a, s[1:])])
def test_nms_refuses(wrong):
    with pytest.raises(RuntimeError, match="should"):
        ops.nms(*wrong(tinytorch.ones(3, 4), tinytorch.ones(3)), 0.5)
