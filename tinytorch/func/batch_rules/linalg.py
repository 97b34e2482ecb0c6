"""Factors and solutions of matrices, and products of a batch with arrays that are the same for all samples."""
import numpy as np

from ...ops.linalg import added, distance, functions, householder, lu, products
from ..batched import Batched, aligned, max_ndim
from ..dispatch import backward_rule, forward_rule
from .functions import batch, size_of, spread
from .layout import family


@family(householder._product)
def _householder_product(compute, level, *args):
    size = size_of(level, args)
    return batch(compute(*[spread(x, level, size) for x in args]), level)


@family(functions._pinv)
def _pinv(compute, level, input, *options):
    """The tolerances, if they are arrays, are one for each matrix."""
    size, options = size_of(level, input, options), list(options)
    for i, x in enumerate(options):
        if isinstance(x, np.ndarray):
            x = aligned(x, level, input.ndim - 2)
            options[i] = x
    return batch(compute(spread(input, level, size), *options), level)


@family(lu._solve)
def _lu_solve(compute, level, left, adjoint, pivots, LU, B):
    size, ndim = size_of(level, pivots, LU, B), max_ndim(LU, B)
    matrices = [aligned(x, level, ndim) for x in (LU, B)]
    leading = np.broadcast_shapes((size,) + (1,) * (ndim - 2), *[x.shape[:-2] for x in matrices])
    pivots = aligned(pivots, level, ndim - 1)
    return batch(compute(left, adjoint, np.broadcast_to(pivots, (*leading, pivots.shape[-1])),
                         *[np.broadcast_to(x, (*leading, *x.shape[-2:])) for x in matrices]), level)


@family(distance._cdist, distance._cdist_backward)
def _cdist(compute, level, *args):
    ndim = max_ndim(*args)
    return batch(compute(*[aligned(x, level, ndim) for x in args]), level)


@backward_rule(lu._factor, lu._lu)
def _factor_gradient(level, run, g, saved, edges):
    size = size_of(level, g, saved)

    def of_all(x):
        if x.__class__ in (tuple, list):
            return tuple(map(of_all, x))
        return spread(x, level, size) if isinstance(x, np.ndarray) else x
    return batch(list(run(list(of_all(g)), of_all(saved), edges)), level)


@backward_rule(lu._solve)
def _lu_solve_gradient(level, run, g, saved, edges):
    left, adjoint, pivots, LU, *rest = saved
    size, ndim = size_of(level, g, saved), max_ndim(g, LU)
    arrays = [x if x is None else np.broadcast_to(aligned(x, level, n), (size, *(aligned(x, level, n).shape[-n:])))
              for x, n in ((pivots, ndim - 1), (LU, ndim), (g, ndim), (rest[1], ndim))]
    pivots, LU, g, ans = arrays
    return [None if d is None else batch(d, level) for d in run(g, (left, adjoint, pivots, LU, rest[0], ans, *rest[2:]),
                                                               edges)]


def _of_batches(call):
    """Runs the operation with all arrays as batches."""
    forward = call.op.forward

    @forward_rule(call)
    def rule(level, *args):
        size = size_of(level, args)
        return forward(*[Batched(np.array(spread(x, level, size)), level) if isinstance(x, np.ndarray) else x
                         for x in args])


for _call in (added._addr, added._addbmm, products._conjugated_inner):
    _of_batches(_call)
