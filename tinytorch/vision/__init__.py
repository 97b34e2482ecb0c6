"""The names of torchvision that scripts for small models need, for machines without torchvision.

>>> from tinytorch.vision import transforms
>>> transforms.Compose([transforms.Resize(32), transforms.ToTensor()])
Compose(
    Resize(size=32, interpolation=bilinear, max_size=None, antialias=True)
    ToTensor()
)
"""
from ..missing import namespace as _namespace

__all__ = ["datasets", "get_image_backend", "io", "models", "ops", "set_image_backend", "transforms", "utils"]

__version__ = "0.28.0+tinytorch"


def get_image_backend():
    """The name of the package that reads images, which is always Pillow."""
    return "PIL"


def set_image_backend(backend):
    """Checks the name. ValueError for a name that torchvision does not know, RuntimeError for accimage, which is not
    supported."""
    if backend not in ("PIL", "accimage"):
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL' and 'accimage'")
    if backend == "accimage":
        raise RuntimeError("tinytorch.vision reads images with Pillow alone, not with accimage")


def disable_beta_transforms_warning():
    """Does nothing. It exists for old scripts."""


__getattr__ = _namespace(__name__, ("datasets", "io", "models", "ops", "transforms", "utils"))
