"""Image transforms with torchvision's names and arithmetic."""
import numpy as np

from ..dtypes import get_default_dtype
from ..ops.creation.factories import as_tensor
from ..tensor import Tensor, wrap

__all__ = ["Compose", "Lambda", "Normalize", "ToTensor"]


class Compose:
    """Apply `transforms` one after the other.

    >>> from tinytorch.vision import transforms
    >>> transforms.Compose([transforms.Lambda(lambda x: x + 1), transforms.Lambda(lambda x: x * 2)])(1)
    4
    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image

    def __repr__(self):
        return "\n".join(["Compose(", *(f"    {t}" for t in self.transforms), ")"])


class ToTensor:
    """A PIL image or uint8 array (H, W) or (H, W, C) as a float tensor (C, H, W) in [0, 1].

    Arrays and images of other dtypes are converted without scaling. TypeError for anything else.

    >>> import numpy as np
    >>> from tinytorch.vision import transforms
    >>> transforms.ToTensor()(np.array([[0, 255]], np.uint8))
    tensor([[[0., 1.]]])
    """

    def __call__(self, image):
        if not isinstance(image, np.ndarray):
            if not hasattr(image, "getbands"):           # what a PIL image has and arrays have not
                raise TypeError(f"pic should be PIL Image or ndarray. Got {type(image)}")
            image = np.array(image)
        if image.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {image.ndim} dimensions.")
        planes = image[None] if image.ndim == 2 else image.transpose(2, 0, 1)
        if planes.dtype == np.uint8:
            return wrap(np.ascontiguousarray(planes).astype(get_default_dtype().numpy) / 255)
        return wrap(np.ascontiguousarray(planes))

    def __repr__(self):
        return "ToTensor()"


class Normalize:
    """(image - mean) / std, channel by channel, of a float tensor (..., C, H, W).

    TypeError for integers, ValueError for a zero std.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.Normalize((0.5,), (0.5,))(torch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    def __init__(self, mean, std, inplace=False):
        self.mean, self.std, self.inplace = mean, std, inplace

    def __call__(self, image):
        if not isinstance(image, Tensor):
            raise TypeError(f"img should be Tensor Image. Got {type(image)}")
        if not image.is_floating_point():
            raise TypeError(f"Input tensor should be a float tensor. Got {image.dtype}.")
        if image.ndim < 3:
            raise ValueError("Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = "
                             f"{image.size()}")
        mean = as_tensor(self.mean, dtype=image.dtype).reshape(-1, 1, 1)
        std = as_tensor(self.std, dtype=image.dtype).reshape(-1, 1, 1)
        if not std.array.all():
            raise ValueError(f"std evaluated to zero after conversion to {image.dtype}, leading to division by zero.")
        if self.inplace:
            return image.sub_(mean).div_(std)
        return (image - mean) / std

    def __repr__(self):
        return f"Normalize(mean={self.mean}, std={self.std})"


class Lambda:
    """A function as a transform. TypeError if it is not callable."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, image):
        return self.lambd(image)

    def __repr__(self):
        return "Lambda()"
