"""torchvision.transforms.transforms: the transforms without chance, and those that hold others."""
import random
from collections.abc import Sequence
from numbers import Number

from ... import mm, rand
from ...missing import namespace as _namespace
from ...nn import Module
from . import functional as F
from ._arguments import described, interpolation_of, size_of
from ._functional_pil import PADDING_MODES
from ._random_colour import (
    ColorJitter,
    GaussianBlur,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomErasing,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from ._random_place import (
    ElasticTransform,
    RandomAffine,
    RandomCrop,
    RandomHorizontalFlip,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
)
from .functional import InterpolationMode

__all__ = ["CenterCrop", "ColorJitter", "Compose", "ConvertImageDtype", "ElasticTransform", "FiveCrop", "GaussianBlur",
           "Grayscale", "InterpolationMode", "Lambda", "LinearTransformation", "Normalize", "PILToTensor", "Pad",
           "RandomAdjustSharpness", "RandomAffine", "RandomApply", "RandomAutocontrast", "RandomChoice", "RandomCrop",
           "RandomEqualize", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert", "RandomOrder",
           "RandomPerspective", "RandomPosterize", "RandomResizedCrop", "RandomRotation", "RandomSolarize",
           "RandomVerticalFlip", "Resize", "TenCrop", "ToPILImage", "ToTensor"]


def _listed(name, lines):
    return "\n".join([f"{name}(", *(f"    {line}" for line in lines), ")"])


# ------------------------------------------------------------------ of other transforms
class Compose:
    """Apply `transforms` one after the other.

    >>> from tinytorch.vision import transforms
    >>> transforms.Compose([transforms.Lambda(lambda x: x + 1), transforms.Lambda(lambda x: x * 2)])(1)
    4
    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return _listed(type(self).__name__, self.transforms)


class Lambda:
    """A function as a transform. TypeError if it is not callable."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return described(self)


class RandomTransforms:
    """The base class of transforms that apply some of `transforms`, a sequence."""

    def __init__(self, transforms):
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __call__(self, *args, **kwargs):
        raise NotImplementedError

    def __repr__(self):
        return _listed(type(self).__name__, self.transforms)


class RandomApply(Module):
    """All of `transforms`, with probability `p`.

    >>> from tinytorch.vision import transforms
    >>> transforms.RandomApply([transforms.Lambda(lambda x: x + 1)], p=1.0)(1)
    2
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, img):
        if self.p < rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return _listed(type(self).__name__, [f"p={self.p}", *self.transforms])


class RandomOrder(RandomTransforms):
    """All of `transforms`, in an order that Python's `random` shuffles."""

    def __call__(self, img):
        order = [*range(len(self.transforms))]
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(RandomTransforms):
    """One of `transforms`, which Python's `random` chooses, with probabilities proportional to `p` if that is given."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"


# ------------------------------------------------------------------ conversions
class ToTensor:
    """An image of Pillow or an array (H, W) or (H, W, C) as a tensor (C, H, W); bytes become floats in [0, 1].

    Arrays and images of other dtypes are converted without scaling. TypeError for anything else.

    >>> import numpy as np
    >>> from tinytorch.vision import transforms
    >>> transforms.ToTensor()(np.array([[0, 255]], np.uint8))
    tensor([[[0., 1.]]])
    """

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self):
        return described(self)


class PILToTensor:
    """An image of Pillow as a tensor (C, H, W) of its own dtype, without scaling. TypeError for anything else."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self):
        return described(self)


class ToPILImage:
    """A tensor (C, H, W) or an array (H, W, C) as an image of Pillow's of this mode: floats are in [0, 1].

    TypeError and ValueError for what no mode holds.
    """

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return described(self, *["mode"] * (self.mode is not None))


class ConvertImageDtype(Module):
    """A tensor in another dtype, scaled from the range of the one to that of the other.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.ConvertImageDtype(torch.uint8)(torch.tensor([[[0., 0.5, 1.]]]))
    tensor([[[  0, 127, 255]]], dtype=torch.uint8)
    """

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Module):
    """(image - mean) / std, channel by channel, of a float tensor (..., C, H, W).

    TypeError for integers, ValueError for a zero std.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.Normalize((0.5,), (0.5,))(torch.ones(1, 1, 2))
    tensor([[[1., 1.]]])
    """

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean, self.std, self.inplace = mean, std, inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self):
        return described(self, "mean", "std")


class LinearTransformation(Module):
    """(image - mean_vector) @ transformation_matrix, of the tensor's C * H * W numbers in a row: whitening, say.

    ValueError if the matrix is not square, or the sizes do not go together.
    """

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns:
            raise ValueError(f"transformation_matrix should be square. Got {rows, columns} rectangular matrix.")
        if mean_vector.size(0) != rows:
            raise ValueError(f"mean_vector should have the same length {mean_vector.size(0)} as any one of the "
                             f"dimensions of the transformation_matrix [{rows, columns}]")
        if transformation_matrix.dtype != mean_vector.dtype:
            raise ValueError(f"Input tensors should have the same dtype. Got {transformation_matrix.dtype} and "
                             f"{mean_vector.dtype}")
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def forward(self, tensor):
        c, h, w = tensor.shape[-3:]
        if c * h * w != len(self.transformation_matrix):
            raise ValueError(f"Input tensor and transformation matrix have incompatible shape.[{c} x {h} x {w}] != "
                             f"{len(self.transformation_matrix)}")
        rows = tensor.view(-1, c * h * w) - self.mean_vector
        return mm(rows, self.transformation_matrix.to(rows.dtype)).view(tensor.shape)

    def __repr__(self):
        return (f"{type(self).__name__}(transformation_matrix={self.transformation_matrix.tolist()}, "
                f"mean_vector={self.mean_vector.tolist()})")


# ------------------------------------------------------------------ sizes and edges
class Resize(Module):
    """The image at `size`: (H, W), or a number for the shorter side, with the longer at most `max_size`.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.Resize(2)(torch.ones(3, 8, 4)).shape
    torch.Size([3, 4, 2])
    """

    def __init__(self, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, Sequence)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, Sequence) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size, self.max_size, self.antialias = size, max_size, antialias
        self.interpolation = interpolation_of(interpolation)

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
                f"max_size={self.max_size}, antialias={self.antialias})")


class _Cut(Module):
    """A transform with a size (H, W). One number stands for both."""

    def __init__(self, size):
        super().__init__()
        self.size = size_of(size)

    def __repr__(self):
        return described(self, "size")


class CenterCrop(_Cut):
    """The middle (H, W) of the image, between zeros where it is smaller.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.CenterCrop((1, 2))(torch.arange(9).reshape(1, 3, 3))
    tensor([[[3, 4]]])
    """

    def forward(self, img):
        return F.center_crop(img, self.size)


class FiveCrop(_Cut):
    """A tuple of the corners top left, top right, bottom left and bottom right, and the middle."""

    def forward(self, img):
        return F.five_crop(img, self.size)


class TenCrop(_Cut):
    """`FiveCrop` of the image and of its mirror image."""

    def __init__(self, size, vertical_flip=False):
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def forward(self, img):
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self):
        return described(self, "size", "vertical_flip")


class Pad(Module):
    """The image with edges around it: `padding` of all four, of left and right and of top and bottom, or of left, top,
    right and bottom.

    padding_mode   constant: of the colour `fill`; edge: the outermost pixels; reflect and symmetric: the image
                   backwards, without and with them
    """

    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        if not isinstance(padding, (Number, tuple, list)):
            raise TypeError("Got inappropriate padding arg")
        if not isinstance(fill, (Number, tuple, list)):
            raise TypeError("Got inappropriate fill arg")
        if padding_mode not in PADDING_MODES:
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        if isinstance(padding, Sequence) and len(padding) not in (1, 2, 4):
            raise ValueError("Padding must be an int or a 1, 2, or 4 element tuple, not a "
                             f"{len(padding)} element tuple")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self):
        return described(self, "padding", "fill", "padding_mode")


class Grayscale(Module):
    """The image without colours, in 1 or 3 channels."""

    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self):
        return described(self, "num_output_channels")


__getattr__ = _namespace(__name__)
