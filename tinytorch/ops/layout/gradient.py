"""torch.gradient: derivatives of sampled functions by finite differences."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arguments import ints_of
from ...autograd.promotion import NUMBERS
from ...autograd.public import public
from ...errors import kind_of
from ...tensor import Tensor, check_dim
from .join import cat

__all__ = ["gradient"]


@public()
def gradient(input: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
             ) -> tuple[Tensor, ...]:
    """Estimates of the partial derivatives of a function that was sampled on a grid: one tensor of the shape of `input`
    for each of `dim` (None: all dimensions). Inside they are central differences of second order, at the ends one-sided
    differences of order `edge_order`, 1 or 2.

    spacing   a number: the distance of neighbours; a list of numbers: the distance in each dimension; a list of
              tensors of one dimension: the coordinates in each dimension

    RuntimeError for a dimension with fewer than edge_order + 1 samples.

    >>> import tinytorch as torch
    >>> torch.gradient(torch.tensor([1., 4., 9., 16.]))
    (tensor([3., 4., 6., 7.]),)
    """
    spacings, dims = _spacings(input, spacing, dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if input.size(d) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple([(_on_coordinates if isinstance(s, Tensor) else _on_grid)(input, s, check_dim(d, input.dim()),
                                                                          edge_order) for s, d in zip(spacings, dims)])


def _spacings(input, spacing, dim):
    """(spacing of each dimension, dimensions), from arguments that may be numbers or lists."""
    if input._array.dtype.name == "uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, Tensor) and not spacing.dim():
        spacing = spacing.item()
    if dim is None:
        dims = range(input.dim())
    else:
        dims = [dim] if isinstance(dim, int) else ints_of(dim, "gradient", "dim", None)
    spacings = [spacing] * len(dims) if isinstance(spacing, NUMBERS) else list(spacing)
    if any([isinstance(s, np.ndarray) for s in spacings]):
        raise TypeError(f"expected Tensor as element 0 in argument 1, but got {kind_of(spacings[0])}")
    if len(spacings) != len(dims):
        wanted = (f"'self.dim() = {len(dims)}', since dim argument was not given" if dim is None else
                  f"'dim' argument's length {len(dims)}")
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                           f"{wanted}, but got a list of length {len(spacings)}")
    for s in spacings:
        if isinstance(s, Tensor) and s.dim() != 1:
            raise RuntimeError("torch.gradient expected each element of spacing to have one dimension, but got an "
                               f"element with {s.dim()} dimensions!")
    seen = [check_dim(d, input.dim()) for d in dims]
    if len(set(seen)) != len(seen):
        raise RuntimeError(f"dim {next(d for d in seen if seen.count(d) > 1)} appears multiple times in the list of "
                           "dims")
    return spacings, dims


def _cut(input, dim, start, end=None):
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end)
    return input[tuple(index)]


def _on_grid(input, h, dim, edge_order):
    def at(start, end=None):
        return _cut(input, dim, start, end)

    center = (at(2) - at(0, -2)) / h / 2
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / h, (at(-1) - at(-2, -1)) / h
    else:
        first = (-1.5 * at(0, 1) + 2 * at(1, 2) - .5 * at(2, 3)) / h
        last = (.5 * at(-3, -2) - 2 * at(-2, -1) + 1.5 * at(-1)) / h
    return cat((first, center, last), dim)


def _on_coordinates(input, coordinates, dim, edge_order):
    def at(start, end=None):
        return _cut(input, dim, start, end)

    shape = [1] * input.dim()
    shape[dim] = -1
    h = coordinates.diff()
    before, after = h[:-1], h[1:]
    center = ((-after / (before * (before + after))).reshape(shape) * at(0, -2)
              + ((after - before) / (before * after)).reshape(shape) * at(1, -1)
              + (before / (after * (before + after))).reshape(shape) * at(2))
    if edge_order == 1:
        first, last = (at(1, 2) - at(0, 1)) / h[0], (at(-1) - at(-2, -1)) / h[-1]
    else:
        one, two = h[0], h[1]
        first = (-(2. * one + two) / (one * (one + two)) * at(0, 1) + (one + two) / (one * two) * at(1, 2)
                 + -one / (two * (one + two)) * at(2, 3))
        one, two = h[-1], h[-2]
        last = (one / (two * (one + two)) * at(-3, -2) + -(one + two) / (one * two) * at(-2, -1)
                + (2 * one + two) / (one * (one + two)) * at(-1))
    return cat((first, center, last), dim)
