"""NumPy's functions of batches. They work on the physical arrays, in which the dimensions of a sample are one further
on."""
import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..batched import (
    FUNCTIONS,
    Batched,
    NotBatchable,
    aligned,
    axes_of,
    axis_of,
    level_of,
    max_ndim,
    physical_of,
)
from ..dispatch import size_of


def rule(*functions):
    """Decorator of a rule that computes these functions for batches."""
    def decorate(compute):
        for function in functions:
            FUNCTIONS[function] = compute
        return compute
    return decorate


def batch(physical, level):
    """The physical arrays that a function returned, as batches. Other values are returned as they are."""
    if isinstance(physical, (tuple, list)):
        values = [batch(x, level) for x in physical]
        return type(physical)(*values) if hasattr(physical, "_fields") else type(physical)(values)
    if isinstance(physical, np.generic):
        physical = np.asarray(physical)
    return Batched(physical, level) if isinstance(physical, np.ndarray) else physical


def need(x, level):
    """`x`, if it is a batch of this level. If only other arguments are batches, it raises, and the operation is
    computed sample by sample."""
    if type(x) is not Batched or x.level != level:
        raise NotBatchable("only other arguments are batches")
    return x


def spread(x, level, size):
    """All samples of `x`. A value that is no batch of this level is repeated `size` times."""
    if type(x) is Batched and x.level == level:
        return x.physical
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    return np.broadcast_to(x, (size, *x.shape))


def some_of(level, *values):
    """The number of samples of the batches of this level. NotBatchable if there are none."""
    size = size_of(level, *values)
    if not size:
        raise NotBatchable("no samples")
    return size


def side_by_side(x, level, size, axis=0):
    """All samples of `x` (None: of nothing), next to each other in a sample's dimension `axis`."""
    if x is None:
        return None
    x = spread(x, level, size)
    x = np.moveaxis(x, 0, axis) if axis else x
    return x.reshape(*x.shape[:axis], size * x.shape[axis + 1], *x.shape[axis + 2:])


def apart(result, level, size, axis=0):
    """The results for samples that were side by side, as batches. It also takes tuples and lists of results."""
    if result is None:
        return None
    if isinstance(result, (tuple, list)):
        return result.__class__([apart(x, level, size, axis) for x in result])
    shape = result.shape
    result = result.reshape(*shape[:axis], size, shape[axis] // max(size, 1), *shape[axis + 1:])
    return batch(np.moveaxis(result, axis, 0) if axis else result, level)


def _single(x, level, *others):
    """The one argument that may be a batch. NotBatchable if others are batches."""
    if level_of(*others):
        raise NotBatchable("other arguments are batches")
    return need(x, level).physical


# ------------------------------------------------------------------ along dimensions
#: What None for a dimension stands for: all, or all as one; else (None) for what is done to no batch.
_ALL, _ONE = "all", "one"


def _along(at, *functions, none=None, axis=None):
    """Functions of one array along the dimensions that their argument number `at` names (`axis`: by default)."""
    name = "axes" if functions[0] is np.fft.fftshift else "axis"

    @rule(*functions)
    def along(level, function, x, *args, out=None, **options):
        physical, ndim, args = _single(x, level, args), x.ndim, list(args)
        dim = args[at - 1] if len(args) >= at else options.get(name, axis)
        if dim is None and none is None:
            raise NotBatchable("of all elements as one row")
        if none is _ONE and (dim is None or not ndim):
            physical, ndim, dim = physical.reshape(len(physical), math.prod(physical.shape[1:])), 1, 0
        dim = () if none is _ALL and not ndim else axes_of(dim, ndim)
        if len(args) >= at:
            args[at - 1] = dim
        else:
            options[name] = dim
        if out is not None:
            options["out"] = need(out, level).physical
        if isinstance(options.get("where"), np.ndarray):
            options["where"] = aligned(options["where"], level, ndim)
        result = function(physical, *args, **options)
        return out if out is not None else batch(result, level)


_along(1, np.sum, np.prod, np.any, np.all, np.max, np.min, np.amax, np.amin, np.mean, np.std, np.var, np.count_nonzero,
       np.median, np.nansum, np.nanmax, np.nanmin, np.nanmean, np.ptp, none=_ALL)
_along(1, np.argmax, np.argmin, np.cumsum, np.cumprod, none=_ONE)
_along(1, np.sort, np.argsort, axis=-1)
_along(1, np.flip, none=_ALL)
_along(1, np.fft.fftshift, np.fft.ifftshift, none=_ALL)
_along(2, np.partition, np.argpartition, np.diff, axis=-1)
_along(2, np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft, axis=-1)
_along(2, np.split, np.array_split, axis=0)
_along(2, np.repeat, none=_ONE)
_along(2, sliding_window_view, none=_ALL)
_along(2, np.delete, np.roll, np.linalg.norm)


@rule(np.tile)
def _tile(level, function, x, reps):
    physical = need(x, level).physical
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    reps = (1,) * (x.ndim - len(reps)) + reps
    return batch(np.tile(aligned(x, level, len(reps)), (1, *reps)), level) if len(physical) else batch(
        np.empty((0, *[a * b for a, b in zip((1,) * (len(reps) - x.ndim) + x.shape, reps)]), x.dtype), level)


@rule(np.take)
def _take(level, function, x, indices, axis=None, out=None, mode="raise"):
    if mode != "raise" or out is not None:
        raise NotBatchable("taken in another way")
    if axis is None:
        x, axis = x.reshape(-1), 0
    if level_of(indices):
        axis = axis % max(x.ndim, 1)
        return x[(slice(None),) * axis + (indices,)]
    return batch(np.take(x.physical, indices, axis_of(axis, x.ndim)), level)


@rule(np.take_along_axis)
def _take_along(level, function, x, indices, axis=-1):
    size = size_of(level, x, indices)
    if axis is None:
        raise NotBatchable("taken as from one row")
    return batch(np.take_along_axis(spread(x, level, size), spread(indices, level, size),
                                    axis_of(axis, max_ndim(x, indices))), level)


@rule(np.put_along_axis)
def _put_along(level, function, x, indices, values, axis):
    need(x, level)
    size = size_of(level, x)
    if isinstance(values, np.ndarray):
        values = aligned(values, level, x.ndim)
    np.put_along_axis(x.physical, spread(indices, level, size), values, axis_of(axis, x.ndim))


@rule(np.trace, np.diagonal)
def _diagonal(level, function, x, offset=0, axis1=0, axis2=1, **options):
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    physical = need(x, level).physical
    result = function(physical, offset, axis_of(axis1, x.ndim), axis_of(axis2, x.ndim), **options)
    if function is np.diagonal and type(physical) is np.ndarray and physical.flags.writeable:
        result.flags.writeable = True
    return batch(result, level)


@rule(np.tril, np.triu)
def _triangle(level, function, x, k=0):
    if x.ndim < 2:
        raise NotBatchable("a row")
    return batch(function(need(x, level).physical, k), level)


@rule(np.cross)
def _cross(level, function, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is None or axis >= 0:
        if (axisa, axisb, axisc) != (-1, -1, -1) or axis is not None:
            raise NotBatchable("a dimension counted from the front")
        axis = -1
    ndim = max_ndim(a, b)
    return batch(np.cross(aligned(a, level, ndim), aligned(b, level, ndim), axis=axis), level)


# ------------------------------------------------------------------ element by element
@rule(np.where, np.isclose)
def _broadcast(level, function, *operands, **options):
    if function is np.where and len(operands) != 3:
        raise NotBatchable("the places where")
    ndim = max_ndim(*operands)
    return batch(function(*[aligned(x, level, ndim) for x in operands], **options), level)


@rule(np.clip)
def _clip(level, function, *operands, out=None, **options):
    ndim = max_ndim(*operands, *[options[k] for k in options if k.endswith(("min", "max"))])
    options = {k: aligned(x, level, ndim) for k, x in options.items()}
    if out is not None:
        options["out"] = need(out, level).physical
    result = np.clip(*[aligned(x, level, ndim) for x in operands], **options)
    return out if out is not None else batch(result, level)


@rule(np.nan_to_num, np.real, np.imag, np.angle, np.round, np.around, np.isneginf, np.isposinf, np.sinc, np.conj,
      np.iscomplex, np.isreal, np.fix, np.i0, np.real_if_close, np.unwrap, np.isin, np.linalg.inv, np.linalg.det,
      np.linalg.slogdet, np.linalg.svd, np.linalg.qr, np.linalg.cholesky, np.linalg.eig, np.linalg.eigh,
      np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.pinv, np.linalg.matrix_rank, np.linalg.matrix_power)
def _each(level, function, x, *args, **options):
    """Rule for functions of elements, or of matrices in the last two dimensions."""
    if options.get("out") is not None:
        raise NotBatchable("an output")
    return batch(function(_single(x, level, args, tuple(options.values())), *args, **options), level)


@rule(np.copyto)
def _copyto(level, function, dst, src, casting="same_kind", where=True):
    need(dst, level)
    if where is not True:
        where = aligned(where, level, dst.ndim)
    np.copyto(dst.physical, aligned(src, level, dst.ndim), casting, where)


@rule(np.empty_like, np.zeros_like, np.ones_like, np.full_like)
def _like(level, function, x, *args, dtype=None, order="K", shape=None, **options):
    physical = need(x, level).physical
    if function is np.full_like:
        value, args = args[0] if args else options.pop("fill_value"), args[1:]
        value = aligned(value, level, x.ndim if shape is None else len(np.empty(shape).shape))
        options["fill_value"] = value
    dtype = args[0] if args else dtype
    if shape is not None:
        options["shape"] = (len(physical), *(shape if isinstance(shape, (tuple, list)) else (shape,)))
    return batch(function(physical, dtype=dtype, order=order, **options), level)


# ------------------------------------------------------------------ shapes
@rule(np.reshape, np.transpose, np.ravel, np.swapaxes, np.squeeze)
def _by_method(level, function, x, *args, **options):
    return getattr(x, function.__name__)(*args, **options)


@rule(np.copy)
def _copy(level, function, x, order="K", subok=False):
    return x.copy(order)


@rule(np.shape, np.ndim, np.matrix_transpose)
def _attribute(level, function, x):
    return getattr(x, "mT" if function is np.matrix_transpose else function.__name__)


@rule(np.moveaxis)
def _moveaxis(level, function, x, source, destination):
    return batch(np.moveaxis(need(x, level).physical, axes_of(source, x.ndim), axes_of(destination, x.ndim)), level)


@rule(np.expand_dims)
def _expand_dims(level, function, x, axis):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return batch(np.expand_dims(need(x, level).physical, tuple([axis_of(a, x.ndim + len(axes)) for a in axes])), level)


@rule(np.broadcast_to)
def _broadcast_to(level, function, x, shape, **options):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(shape) < x.ndim:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    return batch(np.broadcast_to(aligned(x, level, len(shape)), (len(x.physical), *shape)), level)


@rule(np.broadcast_arrays)
def _broadcast_arrays(level, function, *arrays, **options):
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([np.broadcast_to(x, shape) for x in arrays])


@rule(np.atleast_1d, np.atleast_2d)
def _at_least(level, function, *arrays):
    ndim = 1 if function is np.atleast_1d else 2
    found = [x if x.ndim >= ndim else x.reshape((1,) * (ndim - x.ndim) + x.shape) for x in arrays]
    return found[0] if len(found) == 1 else tuple(found)


@rule(np.pad)
def _pad(level, function, x, pad_width, mode="constant", **options):
    if mode not in ("constant", "edge", "reflect", "wrap", "symmetric"):
        raise NotBatchable("padding in another way")
    pairs = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    return batch(np.pad(need(x, level).physical, [(0, 0), *pairs.tolist()], mode, **options), level)


# ------------------------------------------------------------------ several arrays
@rule(np.concatenate)
def _concatenate(level, function, arrays, axis=0, out=None, **options):
    arrays = list(arrays)
    size = size_of(level, arrays)
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    if out is not None:
        options["out"] = need(out, level).physical
    result = np.concatenate([spread(x, level, size) for x in arrays], axis_of(axis, arrays[0].ndim), **options)
    return out if out is not None else batch(result, level)


@rule(np.stack)
def _stack(level, function, arrays, axis=0, **options):
    arrays = list(arrays)
    size = size_of(level, arrays)
    return batch(np.stack([spread(x, level, size) for x in arrays], axis_of(axis, arrays[0].ndim + 1), **options),
                 level)


@rule(np.dot)
def _dot(level, function, a, b, out=None):
    if out is not None or max_ndim(a, b) > 2:
        raise NotBatchable("a product over other dimensions")
    return np.matmul(a, b) if a.ndim and b.ndim else a * b


@rule(np.outer)
def _outer(level, function, a, b, out=None):
    return a.reshape(-1)[:, None] * b.reshape(-1)


@rule(np.einsum)
def _einsum(level, function, equation, *operands, **options):
    if not isinstance(equation, str) or "..." in equation:
        raise NotBatchable("an equation in another form")
    terms, arrow, result = equation.replace(" ", "").partition("->")
    letter = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in equation)
    if not arrow:
        letters = terms.replace(",", "")
        result = "".join(sorted({c for c in letters if letters.count(c) == 1}))
    terms = [letter + term if type(x) is Batched and x.level == level else term
             for term, x in zip(terms.split(","), operands)]
    return batch(np.einsum(f"{','.join(terms)}->{letter}{result}", *[physical_of(x, level) for x in operands],
                           **options), level)


# ------------------------------------------------------------------ about arrays
@rule(np.size)
def _size(level, function, x, axis=None):
    return x.size if axis is None else x.shape[axis]


@rule(np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj)
def _of_dtypes(level, function, *args, **options):
    return function(*[np.empty((1,) * x.ndim, x.dtype) if type(x) is Batched else x for x in args], **options)


@rule(np.may_share_memory, np.shares_memory)
def _share(level, function, a, b, *args, **options):
    return function(*[x.memory if type(x) is Batched else x for x in (a, b)], *args, **options)


# ------------------------------------------------------------------ linear algebra
@rule(np.linalg.solve)
def _solve(level, function, a, b):
    column = b.ndim == 1
    b = b[:, None] if column else b
    ndim = max_ndim(a, b)
    result = np.linalg.solve(aligned(a, level, ndim), aligned(b, level, ndim))
    return batch(result[..., 0] if column else result, level)
