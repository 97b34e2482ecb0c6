"""torchvision's names for what small scripts need of it: datasets and transforms."""
from . import datasets, transforms

__all__ = ["datasets", "transforms"]
