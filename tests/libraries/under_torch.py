"""python under_torch.py PROGRAM: runs it under torch, where torchvision's compiled part may be for another build.

The rest of torchvision, which many libraries import, then needs the two operators to be declared that it says the
shapes of.
"""
import importlib.util
import runpy
import sys
from pathlib import Path

import torch


def declare():
    """The operators of torchvision that its import asks for, unless its compiled part gives them."""
    found = importlib.util.find_spec("torchvision")
    if found is None:
        return None
    try:
        torch.ops.load_library(Path(found.origin).parent / "_C.so")
    except OSError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return library                             # which lives as long as its operators


if __name__ == "__main__":
    declared = declare()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
