"""torchvision beside tinytorch.vision: the same images for both, and comparisons of what comes back."""
import random
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same

Image = pytest.importorskip("PIL.Image", reason="images need Pillow")


def _torchvision():
    """torchvision. Where its compiled part does not load (it is built for GPUs, beside a torch for CPUs), its Python
    part does as soon as the two operators that it describes are declared."""
    try:
        import torchvision
    except ImportError as error:
        pytest.skip(f"torchvision is not installed: {error}", allow_module_level=True)
    except RuntimeError:
        for name in ("nms", "qnms"):
            _DECLARED.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision
    return torchvision


_DECLARED = torch.library.Library("torchvision", "FRAGMENT")
torchvision = _torchvision()
MODULES = (tinytorch, tinytorch.vision), (torch, torchvision)


def image(mode="RGB", h=13, w=17, seed=0):
    """Random pixels over a gradient, as an image of Pillow."""
    pixels = np.random.RandomState(seed).randint(0, 200, (h, w, 4)) + np.arange(w)[:, None] * 3
    pixels = Image.fromarray(pixels.astype(np.uint8))
    return pixels if mode == "RGBA" else pixels.convert("RGB").convert(mode)


def pixels(dtype="uint8", shape=(3, 13, 17), seed=0):
    """Random pixels as an array (C, H, W)."""
    state = np.random.RandomState(seed)
    return state.rand(*shape).astype(dtype) if dtype.startswith("float") else state.randint(0, 120, shape).astype(dtype)


def both(program, *arrays, seed=0, **how):
    """`program(torch, torchvision, *inputs)` under both, with the arrays as tensors: the results, and what the
    generators draw next, are the same."""
    found = []
    for library, vision in MODULES:
        library.manual_seed(seed)
        random.seed(seed)
        inputs = [library.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x.copy() for x in arrays]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                result = program(library, vision, *inputs)
            except Exception as error:
                result = error
        found.append((result, library.rand(1).item(), random.random(), [str(w.message) for w in said]))
    (ours, *ours_next), (theirs, *theirs_next) = found
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs) and str(ours) == str(theirs), (ours, theirs)
    elif isinstance(ours, Exception):
        raise ours
    else:
        same_images(ours, theirs, **how)
    assert ours_next == theirs_next


def same_images(ours, theirs, halves=False):
    """`halves`: of integers that are rounded floats, one in fifty may be the next, where the float was about a half."""
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same_images(a, b, halves)
    elif isinstance(theirs, Image.Image):
        assert (ours.mode, ours.size, ours.getpalette()) == (theirs.mode, theirs.size, theirs.getpalette())
        assert ours.tobytes() == theirs.tobytes()
    elif isinstance(theirs, torch.Tensor):
        if halves and not theirs.is_floating_point():
            assert (str(ours.dtype), ours.shape) == (str(theirs.dtype), theirs.shape)
            off = np.abs(ours.numpy().astype(int) - theirs.numpy().astype(int))
            assert off.max() <= 1 and off.mean() < 0.02
        else:
            same(ours, theirs)
    else:
        assert ours == theirs
