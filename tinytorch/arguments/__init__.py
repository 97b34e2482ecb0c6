"""Sizes and integers as arguments: checked, with torch's messages for invalid ones."""
from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_int

import numpy as np

from .. import dtypes as dt
from ..device import check_device, device as Device
from ..errors import kind_of
from ..kernels.memory import DIMENSIONS, LARGEST
from ..tensor import Tensor


def size_of(args: Sequence, name: str) -> tuple[int, ...]:
    """The sizes of zeros(2, 3) or zeros((2, 3)) as a tuple of ints."""
    listed = len(args) == 1 and isinstance(args[0], (tuple, list))
    if listed:
        args = args[0]
    for n in args:
        if n.__class__ is not int or n > LARGEST:
            size = _ints(args, name, "size", 1, listed)
            break
    else:
        size = tuple(args)
    if size and min(size) < 0:
        _ints(size, name, "size", 1, listed)
        if name == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        check_positive(size)
    if len(size) > DIMENSIONS:
        raise RuntimeError(f"only tensors with up to {DIMENSIONS} dims are supported")
    return size


def check_positive(size: Sequence[int]) -> None:
    for n in size:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")


def ints_of(given: object, name: str, argument: str, position: int | None, extents: bool = False) -> tuple[int, ...]:
    """An argument that is a tuple or list of ints, as a tuple of ints; TypeError with torch's message. Sizes and
    strides (`extents`) may not hold bool tensors, dimensions may."""
    if given.__class__ is tuple or given.__class__ is list:
        for n in given:
            if n.__class__ is not int or not -LARGEST - 1 <= n <= LARGEST:
                break
        else:
            return tuple(given)                # nearly always
    if not isinstance(given, (tuple, list)):
        raise TypeError(f"{name}(): argument '{argument}'{_at(position)} must be tuple of ints, not {kind_of(given)}")
    return _ints(given, name, argument, position, True, extents)


def int_of(given: object, name: str, argument: str, position: int | None, several: bool = False) -> int:
    """An argument that is an int: TypeError unless it is, ValueError if it does not fit in 64 bits. Where one int may
    stand for `several`, a tensor of one integer may too."""
    if given.__class__ is int and -LARGEST - 1 <= given <= LARGEST:
        return given
    if not is_int(given) and not (several and is_one_int(given)):
        raise TypeError(f"{name}(): argument '{argument}'{_at(position)} must be int, not {kind_of(given)}")
    return in_64_bits(as_int(given))


def extent_of(given: object, name: str, argument: str, position: int | None) -> int:
    """`int_of` for an argument that is a size or an index."""
    if not is_extent(given):
        raise TypeError(f"{name}(): argument '{argument}'{_at(position)} must be int, not {kind_of(given)}")
    return extent(given)


def check_sized(*tensors: object) -> None:
    """torch's error for the first object that is no tensor, in functions that call `size()`: TypeError for an array."""
    for x in tensors:
        if not isinstance(x, Tensor):
            x.size()


def is_int(x: object) -> bool:
    """Whether torch accepts `x` as an int: no bool and no array, but NumPy's integers, and integer tensors without
    dimensions and gradient."""
    if isinstance(x, Tensor):
        return not x._array.ndim and x._array.dtype.kind in dt.INTEGER and not x.requires_grad
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def is_one_int(x: object) -> bool:
    """Whether `x` is a tensor of one integer or bool, which torch accepts where one int may stand for several."""
    return isinstance(x, Tensor) and x._array.size == 1 and x._array.dtype.kind in dt.INTEGRAL


def is_extent(x: object) -> bool:
    """Whether torch accepts `x` as a size or an index: any object with `__index__` except a bool."""
    if isinstance(x, (bool, np.bool_)):
        return False
    try:
        as_int(x)
    except TypeError:
        return False
    return True


def extent(x: object) -> int:
    """A size or an index as an int: RuntimeError for a bool tensor, ValueError if it does not fit in 64 bits."""
    _check_no_truth(x)
    return in_64_bits(as_int(x))


def _check_no_truth(x):
    if isinstance(x, Tensor) and x._array.dtype.kind == dt.BOOL:
        raise RuntimeError("Expected scalar.isIntegral( false) to be true, but got false.  (Could this error message "
                           "be improved?  If so, please report an enhancement request to PyTorch.)")


def in_64_bits(n: int) -> int:
    """`n`; torch's ValueError if it does not fit in 64 bits."""
    if not -LARGEST - 1 <= n <= LARGEST:
        raise ValueError("Overflow when unpacking long long")
    return n


def _at(position):
    return "" if position is None else f" (position {position})"


def _ints(args, name, argument, position, listed, extents=True):
    for i, n in enumerate(args):
        if not _is_size(n, i):
            given = kind_of(n)
            if i:
                raise TypeError(f"{name}(): argument '{argument}' failed to unpack the object at pos {i + 1} with "
                                f"error \"type must be tuple of ints,but got {given}\"")
            found = f"but found element of type {given} at pos 0" if listed else f"not {given}"
            raise TypeError(f"{name}(): argument '{argument}'{_at(position)} must be tuple of ints, {found}")
        if not -LARGEST - 1 <= as_int(n) <= LARGEST:
            raise TypeError(f"{name}(): argument '{argument}' failed to unpack the object at pos {i + 1} with error "
                            "\"Overflow when unpacking long long\"")
        if extents:
            _check_no_truth(n)
    return tuple([as_int(n) for n in args])


def _is_size(n, place):
    """Whether `n` counts as an int among sizes. Integer arrays without dimensions do, integer and bool tensors of one
    element too, and True and False except in the first place."""
    try:
        as_int(n)
    except TypeError:
        return False
    return place > 0 or not isinstance(n, bool)


def parse_to(*args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None):
    """(device, dtype, non_blocking, memory_format) of the arguments of `to`: to(dtype), to(device, dtype), to(tensor).

    None for each that is not given; an error for a device that is not available.
    """
    for arg in args:
        if isinstance(arg, Tensor):
            device, dtype = arg.device, arg.dtype
        elif isinstance(arg, dt.dtype):
            dtype = arg
        elif isinstance(arg, bool):
            non_blocking = arg
        elif arg is not None:
            device = arg
    check_device(device)
    return None if device is None else Device(device), dtype, non_blocking, memory_format
