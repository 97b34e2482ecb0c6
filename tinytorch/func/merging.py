"""Batches of batches as one batch: the samples of nested vmaps in one dimension, for rules that take only one level."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds.lazy import Lazy, resolved
from .batched import Batched, NotBatchable

__all__ = ["all_merged"]


def _sizes(values: Sequence[Any], found: dict[int, int]) -> dict[int, int]:
    """Adds to `found` the number of samples of each level in values, and in lists and tuples of values."""
    for x in values:
        if x.__class__ is list or x.__class__ is tuple:
            _sizes(x, found)
        while type(x) is Batched:
            size, level, x = x.physical.shape[0], x.level, x.physical
            found[level] = size
    return found


def all_merged(function: Callable, level: int, args: Sequence[Any]) -> Any:
    """function(*args) with arrays that are batches of only this level, the largest of their levels. NotBatchable if the
    arrays have no other levels."""
    sizes = dict(sorted(_sizes(args, {}).items()))
    if len(sizes) < 2:
        raise NotBatchable("batches of one level")
    return _apart(function(*[_merged(x, level, sizes) for x in args]), level, sizes)


def _merged(x, level, sizes):
    if type(x) is Lazy:
        x = resolved(x)
    if x.__class__ is list or x.__class__ is tuple:
        return x.__class__([_merged(y, level, sizes) for y in x])
    if type(x) is not Batched:
        return x
    shape, own = x.shape, set()
    while type(x) is Batched:
        own.add(x.level)
        x = x.physical
    x = x.reshape(*[n if k in own else 1 for k, n in sizes.items()], *shape)       # the smallest level first
    x = np.broadcast_to(x, (*sizes.values(), *shape))
    return Batched(x.reshape(math.prod(sizes.values()), *shape), level)


def _apart(result, level, sizes):
    if result.__class__ is list or result.__class__ is tuple:
        return result.__class__([_apart(y, level, sizes) for y in result])
    if type(result) is not Batched:
        return result
    x = result.physical.reshape(*sizes.values(), *result.shape)
    for k in sizes:
        x = Batched(x, k)
    return x
