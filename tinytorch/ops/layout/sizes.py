"""Checks of the arguments of functions that change shapes: sizes, dimensions and lists of tensors."""
import math

from ...arguments import ints_of
from ...kernels.memory import LARGEST
from ...tensor import Tensor, check_dim


def sizes(args, name="", argument="size", extents=True):
    """The sizes of f(2, 3), f((2, 3)) or f(torch.Size) as a tuple of ints; dimensions if not `extents`. TypeError for
    f() without any."""
    if len(args) == 1:
        if isinstance(args[0], (tuple, list)):
            args = args[0]
    elif not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{argument}"')
    for n in args:
        if n.__class__ is not int or n > LARGEST:
            return ints_of(tuple(args), name, argument, 1, extents)
    return tuple(args)


def elements(tensors):
    """`tensors`, checked to be Tensors. TypeError for anything else."""
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(tensor).__name__}")
    return tensors


def unpacked(tensors):
    """The tensors of f(a, b) or f([a, b]). TypeError for anything else."""
    return elements(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors)


def inverse(dims):
    """The permutation that undoes `dims`."""
    result = [0] * len(dims)
    for i, d in enumerate(dims):
        result[d] = i
    return tuple(result)


def distinct_dims(dims, ndim):
    """Dimensions (an int or several) counted from the front. RuntimeError if one appears twice."""
    found = tuple([check_dim(d, ndim) for d in ((dims,) if isinstance(dims, int) else dims)])
    if len(found) > 1 and len(set(found)) != len(found):
        raise RuntimeError(f"dim {next(d for d in found if found.count(d) > 1)} appears multiple times in the list of "
                           "dims")
    return found


def resolve_size(size, count):
    """`size` with its -1 replaced for `count` elements. RuntimeError if the size does not fit."""
    known = math.prod(size)
    if known == -1 and len(size) == 1:
        return (count,)
    if known == count and known >= 0 and (not size or min(size) >= 0):
        return size
    for i, n in enumerate(size):
        if n < -1:
            ints_of(size, "reshape", "shape", 1)
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(size)}")
    if -1 in size:
        if size.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        known = -known
        if known == 0 and count == 0:
            raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified "
                               "dimension size -1 can be any value and is ambiguous")
        if known and count % known == 0:
            return tuple([count // known if n == -1 else n for n in size])
    ints_of(size, "reshape", "shape", 1)       # raises if 64 bits cannot hold a size
    raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
