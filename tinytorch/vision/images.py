"""Helpers for images of Pillow. Pillow is imported only when there is an image."""
import importlib
import sys

import numpy as np

__all__ = ["image_of", "is_image", "pillow"]


def pillow(module="Image"):
    """A module of Pillow's. ImportError that says what to install, if there is no Pillow."""
    try:
        return importlib.import_module(f"PIL.{module}")
    except ImportError:
        raise ImportError("tinytorch.vision reads and makes images with Pillow: pip install pillow") from None


def is_image(x):
    """Whether `x` is an image of Pillow's. Before Pillow is imported there is none."""
    loaded = sys.modules.get("PIL.Image")
    return loaded is not None and isinstance(x, loaded.Image)


def image_of(array, mode=None):
    """An image of this mode, by default the one for uint8: L of (H, W), RGB of (H, W, 3)."""
    array = np.ascontiguousarray(array)
    mode = mode or ("L" if array.ndim == 2 else "RGB")
    return pillow().frombuffer(mode, array.shape[1::-1], array, "raw", mode, 0, 1)
