"""torchvision.transforms: images of Pillow and tensors (..., C, H, W) resized, cropped, turned, coloured, converted.

Random transforms draw from torch's generator, and `RandomChoice` and `RandomOrder` from Python's, as torchvision's do:
a seed gives the same images.

>>> import tinytorch as torch
>>> from tinytorch.vision import transforms
>>> transforms.CenterCrop(2)(torch.arange(16).reshape(1, 4, 4))
tensor([[[ 5,  6],
         [ 9, 10]]])
"""
from ...missing import namespace as _namespace
from .autoaugment import *
from .transforms import *

__getattr__ = _namespace(__name__)
