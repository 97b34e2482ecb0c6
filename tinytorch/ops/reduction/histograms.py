"""Histograms over several dimensions, weighted or as densities: histogram histogramdd."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import dtypes as dt, return_types
from ...arguments import ints_of
from ...autograd.op import op
from ...autograd.public import public
from ...errors import C_NAMES, kind_of, not_implemented, type_name
from ...kinds.one_step import one_step
from ...tensor import Tensor, wrap
from ...types import Ints, Tensors
from ..creation.ranges import linspace
from ..elementwise.arithmetic import REFUSED, refused

__all__ = ["histogram", "histogramdd"]


@public(method=True, out="torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
        "{want} and hist {have}")
def histogram(input: Tensor, bins: int | Tensor = 100, *, range: Any = None, weight: Tensor | None = None,
              density: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """(hist, bin_edges) of all elements. The last bin includes its upper edge.

    bins      the number of bins, or their edges in ascending order
    range     (low, high): the outer edges for a number of bins; None: the least and largest element
    weight    the weight of each element, in the shape of `input`
    density   divide the counts by their sum and by the widths of the bins

    >>> import tinytorch as torch
    >>> torch.histogram(torch.tensor([0., 1., 1., 2.]), bins=2, range=(0., 2.))
    torch.return_types.histogram(
    hist=tensor([1., 3.]),
    bin_edges=tensor([0., 1., 2.]))
    """
    if isinstance(bins, Tensor) and range is not None:
        raise TypeError("histogram() received an invalid combination of arguments - got (Tensor, Tensor, range=tuple)")
    shape, points = input._array.shape, input.reshape(-1, 1)
    edges = _edges(points, [bins], range, weight, shape)
    flat = None if weight is None else weight.reshape(-1)
    return return_types.histogram(*_counted_with_edges(edges, not isinstance(bins, Tensor), density, points, flat))


@public(shares=True)
def histogramdd(input: Tensor, bins: int | Ints | Tensors, range: Any = None, weight: Tensor | None = None,
                density: bool = False) -> tuple[Tensor, tuple[Tensor, ...]]:
    """(hist, bin_edges) of points (..., N) in N dimensions: hist (bins of dimension 0, bins of dimension 1, ...).

    bins      a number for all dimensions, or a list of numbers, or a list of edges
    range     2 N numbers: the outer edges in each dimension; None: the least and largest coordinates
    weight    (...): the weight of each point
    density   divide the counts by their sum and by the volumes of the bins

    >>> import tinytorch as torch
    >>> torch.histogramdd(torch.tensor([[0., 1.], [1., 1.], [2., 0.]]), bins=[2, 1]).hist
    tensor([[1.],
            [2.]])
    """
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    n, even = input.size(-1), isinstance(bins, int) or not bins or not all([isinstance(b, Tensor) for b in bins])
    if even and not isinstance(bins, int):
        bins = ints_of(bins, "histogramdd", "bins", 2)
    bins = [bins] * n if isinstance(bins, int) else list(bins)
    if bins and isinstance(bins[0], Tensor):
        for i, edges in enumerate(bins):
            if not isinstance(edges, Tensor):
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {kind_of(edges)}")
    if even and len(bins) != n:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    edges = _edges(input, bins, range, weight, input._array.shape[:-1])
    count = _counted_from_numbers if even else _counted_from_edges
    counts = count(edges, even, density, input.reshape(-1, n), None if weight is None else weight.reshape(-1))
    return return_types.histogramdd(counts, tuple([wrap(edge) for edge in edges] if even else bins))


def _edges(points, bins, range, weight, shape):
    """The edges of the bins. RuntimeError for arguments that do not fit."""
    array, dtype, n = points._array, points._array.dtype, points._array.shape[-1]
    if len(bins) != n:
        raise RuntimeError(f"torch.histogramdd: expected {n} sequences of bin edges for a {n}-dimensional histogram "
                           f"but got {len(bins)}")
    for d, given in enumerate(bins):
        if isinstance(given, Tensor):
            _check_edges(points, given, d)
        elif given <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {given} for dimension {d}")
    if weight is not None:
        name, other = (C_NAMES[type_name(x)] for x in (points, weight))
        if name != other:
            raise RuntimeError("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should "
                               f"have the same dtype, but got input({name}), and weight"
                               f"({other})")
        if weight._array.shape != shape:
            raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the "
                               f"input tensor excluding its innermost dimension, but got input with shape "
                               f"{list(array.shape)} and weight with shape {list(weight._array.shape)}")
    if dtype not in (np.float32, np.float64):
        raise not_implemented("histogramdd", points)
    if isinstance(bins[0], Tensor):
        return [given._array.copy() for given in bins]
    return _even_edges(array.reshape(-1, n), bins, range, n)


@one_step
def _even_edges(rows, bins, range, n):
    return [linspace(low, high, number + 1, dtype=dt.of(rows))._array
            for (low, high), number in zip(_ends(rows, range, n), bins)]


def _check_edges(points, edges, d):
    if edges.dim() != 1:
        raise RuntimeError("torch.histogramdd: bins tensor should have one dimension, but got "
                           f"{edges.dim()} dimensions in the bins tensor for dimension {d}")
    if not edges.numel():
        raise RuntimeError("torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the "
                           f"bins tensor for dimension {d}")
    name, other = (C_NAMES[type_name(x)] for x in (points, edges))
    if name != other:
        raise RuntimeError("torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input "
                           f"with dtype {name} and bins for dimension {d} with dtype "
                           f"{other}")
    if edges.numel() == 1:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got 0 for dimension {d}")


def _ends(rows, range, n):
    """The (lowest, highest) edge in each dimension."""
    if range is not None:
        if len(range) != 2 * n:
            raise RuntimeError(f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} "
                               f"elements, but got {len(range)}")
        ends = list(zip(range[::2], range[1::2]))
    elif rows.size:
        ends = list(zip(rows.min(0).tolist(), rows.max(0).tolist()))
    else:
        ends = [(0., 1.)] * n
    for d, (low, high) in enumerate(ends):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
                               f"dimension {d}")
    return [(low - .5, high + .5) if low == high else (low, high) for low, high in ends]


def _counts(rows, edges, even, weight):
    """The number of rows in each bin, or the sum of their weights, in float64. `even`: the bins have equal widths."""
    places, inside = [], np.ones(len(rows), bool)
    for x, edge in zip(rows.T, edges):
        number = len(edge) - 1
        inside &= (edge[0] <= x) & (x <= edge[-1])
        if even:                               # the bin found by division is wrong by one at most
            place = np.nan_to_num((x - edge[0]) * number / (edge[-1] - edge[0]))
            place = np.clip(place, 0, number - 1).astype(np.int64)
            place = np.clip(place + (x >= edge[place + 1]) - (x < edge[place]), 0, number - 1)
        else:
            place = np.minimum(np.searchsorted(edge, x, "right") - 1, number - 1)
        places.append(place)
    shape = [edge.size - 1 for edge in edges]
    flat = np.ravel_multi_index([place[inside] for place in places], shape) if inside.any() else np.zeros(0, np.int64)
    counts = np.bincount(dt.as_intp(flat), None if weight is None else weight[inside], math.prod(shape))
    return counts.reshape(shape)


def _counting(name, with_edges=False):
    """An operation without a derivative. `name` is its name in errors."""
    rule = refused(name)

    @op(name="histogram", backward_name=REFUSED, first=3, multi=with_edges, points=rule, weight=rule)
    def count(edges, even, density, points, weight):
        counts = _counts(points, edges, even, weight).astype(points.dtype, copy=False)
        if density:
            total = counts.sum()
            for d, edge in enumerate(edges):
                shape = [1] * len(edges)
                shape[d] = -1
                counts = counts / np.diff(edge).reshape(shape)
            counts = counts / total
        return (counts, edges[0]) if with_edges else counts
    return count


_counted_with_edges = _counting("histogram", with_edges=True)
_counted_from_numbers = _counting("_histogramdd_from_bin_cts")
_counted_from_edges = _counting("_histogramdd_from_bin_tensors")
