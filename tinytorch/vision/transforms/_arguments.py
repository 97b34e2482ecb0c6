"""The arguments of transforms: sizes, angles, colours."""
from collections.abc import Sequence
from numbers import Number

from ...tensor import Tensor
from . import functional as F


def size_of(size, error="Please provide only two dimensions (h, w) for size."):
    """(H, W) of a number, or of a sequence of one or two."""
    if isinstance(size, Number):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error)
    return size


def check_sequence(x, name, lengths=(2,)):
    known = " or ".join(map(str, lengths))
    if not isinstance(x, Sequence):
        raise TypeError(f"{name} should be a sequence of length {known}.")
    if len(x) not in lengths:
        raise ValueError(f"{name} should be a sequence of length {known}.")


def angles(x, name, lengths=(2,)):
    """[least, most], from both values, or [-x, x] from a number x."""
    if isinstance(x, Number):
        if x < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [float(-x), float(x)]
    check_sequence(x, name, lengths)
    return [float(angle) for angle in x]


def interpolation_of(interpolation):
    return F._interpolation_modes_from_int(interpolation) if isinstance(interpolation, int) else interpolation


def colour(fill):
    """The colour that a transform keeps. TypeError if it is neither a number nor a sequence."""
    if fill is None:
        return 0
    if not isinstance(fill, (Sequence, Number)):
        raise TypeError("Fill should be either a sequence or a number.")
    return fill


def colour_for(img, fill):
    """The colour that fills a tensor: a number for each channel."""
    if not isinstance(img, Tensor) or fill is None:
        return fill
    if isinstance(fill, (int, float)):
        return [float(fill)] * F.get_dimensions(img)[0]
    return [float(x) for x in fill]


def described(transform, *names):
    """The repr of a transform with these attributes."""
    return f"{type(transform).__name__}({', '.join(f'{name}={getattr(transform, name)}' for name in names)})"
