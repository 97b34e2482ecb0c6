"""Rules for public functions that are no primitives. They run on tensors of all samples, whose dimensions are one
further on."""
import inspect

from ...autograd.promotion import like_tuple
from ...ops.layout.join import stack
from ...ops.reduction.sorting import searchsorted
from ...tensor import Tensor, check_dim
from ..batched import NotBatchable
from ..dispatch import AT_ONCE

_SIGNATURES = {}


def _bound(function, args, kwargs):
    """The arguments by name, with the defaults."""
    if function not in _SIGNATURES:
        _SIGNATURES[function] = inspect.signature(function)
    bound = _SIGNATURES[function].bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def at_once(*names):
    """Decorator of arrange(function, *args, **kwargs) for the public functions of these names, which are those in
    torch's messages. arrange gets tensors that hold all samples in the first dimension."""
    def decorate(arrange):
        for name in names:
            AT_ONCE[name] = arrange
        return arrange
    return decorate


# ------------------------------------------------------------------ as they are
@at_once("frexp", "linalg_inv_ex", "linalg_matrix_rank", "lu_unpack", "one_hot")
def _as_they_are(function, *args, **kwargs):
    return function(*args, **kwargs)


@at_once("linalg_solve_ex", "linalg_lstsq")
def _solutions(function, A, B, *args, **kwargs):
    if A.dim() != B.dim() and A.shape[:-1] != B.shape:
        raise NotBatchable("stacks of different dimensions")
    found = function(A, B, *args, **kwargs)
    return like_tuple(found, [y.expand(len(A), 0) if y.shape == (0,) else y for y in found])     # residuals of nothing


# ------------------------------------------------------------------ along a dimension
@at_once("cummax", "cummin", "kthvalue", "mode", "median", "nanmedian", "sort", "topk")
def _along(function, *args, **kwargs):
    given = _bound(function, args, kwargs)
    input, dim = given.pop("input"), given.pop("dim")
    ndim = input.dim() - 1
    if dim is None:
        return function(input.flatten(1) if ndim else input.unsqueeze(1), dim=1)[0]
    dim = check_dim(dim, ndim) + 1
    if ndim:
        return function(input, dim=dim, **given)
    found = function(input.unsqueeze(1), dim=1, **given)
    return like_tuple(found, [y.reshape(len(input)) for y in found])


# ------------------------------------------------------------------ parts that are written to
@at_once("select_scatter", "slice_scatter", "diagonal_scatter")
def _scattered(function, *args, **kwargs):
    given = _bound(function, args, kwargs)
    ndim = given["input"].dim() - 1
    for name in ("dim", "dim1", "dim2"):
        if name in given:
            given[name] = check_dim(given[name], ndim) + 1
    return function(**given)


# ------------------------------------------------------------------ ranges between numbers
@at_once("linspace", "logspace")
def _between(function, start, end, *args, **kwargs):
    """Computes range by range. The numbers of each sample make one range."""
    count = len(start if isinstance(start, Tensor) else end)
    found = [function(*[x[i] if isinstance(x, Tensor) else x for x in (start, end)], *args, **kwargs)
             for i in range(count)]
    return stack(found) if count else function(0, 1, *args, **kwargs).expand(0, -1)


# ------------------------------------------------------------------ places in sorted rows
@at_once("searchsorted")
def _searchsorted(function, *args, **kwargs):
    given = _bound(function, args, kwargs)
    sorted_sequence, input, sorter = given.pop("sorted_sequence"), given.pop("input"), given.pop("sorter")
    given.pop("out", None)
    return _searched(function, sorted_sequence, input, sorter=sorter, **given)


@at_once("bucketize")
def _bucketize(function, *args, **kwargs):
    given = _bound(function, args, kwargs)
    given.pop("out", None)
    boundaries, input = given.pop("boundaries"), given.pop("input")
    return _searched(searchsorted, boundaries, input, **given)


def _searched(function, rows, input, **options):
    count = len(rows)
    if not isinstance(input, Tensor):
        return function(rows, rows.new_full((count, *rows.shape[1:-1], 1), input), **options).squeeze(-1)
    if rows.dim() == 2 or input.dim() == 1:    # one row for each sample
        return function(rows, input.reshape(count, input.numel() // count if count else 1), **options).reshape(
            input.shape)
    return function(rows, input, **options)
