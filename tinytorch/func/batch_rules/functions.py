"""NumPy's functions of batches: what is done to the physical arrays, where a sample's dimension is one further on."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..batched import FUNCTIONS, Batched, NotBatchable, aligned, level_of, max_ndim, physical_of


def rule(*functions):
    """Decorator: what these functions do with batches."""
    def decorate(compute):
        for function in functions:
            FUNCTIONS[function] = compute
        return compute
    return decorate


def axis_of(axis, ndim):
    """The physical dimension that is a sample's dimension `axis`."""
    extent = max(ndim, 1)
    if not -extent <= axis < extent:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % extent + 1


def axes_of(axis, ndim):
    """The same of one or several; None for all."""
    if axis is None:
        return tuple(range(1, ndim + 1))
    if isinstance(axis, (tuple, list)):
        return tuple([axis_of(a, ndim) for a in axis])
    return axis_of(axis, ndim)


def batch(physical, level):
    """The physical arrays that a function gave, as batches."""
    if isinstance(physical, (tuple, list)):
        values = [batch(x, level) for x in physical]
        return type(physical)(*values) if hasattr(physical, "_fields") else type(physical)(values)
    return Batched(physical if isinstance(physical, np.ndarray) else np.asarray(physical), level)


def need(x, level):
    """`x`, which must be a batch of this level itself: where only other arguments differ, samples are gone through."""
    if type(x) is not Batched or x.level != level:
        raise NotBatchable("only other arguments are batches")
    return x


def spread(x, level, size):
    """All samples of `x`; of what is no batch of this level, `size` times the same."""
    if type(x) is Batched and x.level == level:
        return x.physical
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    return np.broadcast_to(x, (size, *x.shape))


def size_of(level, *values):
    """How many samples the batches of this level hold."""
    for x in values:
        if type(x) is Batched:
            if x.level == level:
                return x.physical.shape[0]
            continue
        if x.__class__ is list or x.__class__ is tuple:
            found = size_of(level, *x)
            if found is not None:
                return found
    return None


def _single(x, level, *others):
    """The one argument that may be a batch; NotBatchable if others are."""
    if level_of(*others):
        raise NotBatchable("other arguments are batches")
    return need(x, level).physical


# ------------------------------------------------------------------ along dimensions
@rule(np.sum, np.prod, np.any, np.all, np.max, np.min, np.amax, np.amin, np.mean, np.std, np.var, np.count_nonzero,
      np.median, np.nansum, np.nanmax, np.nanmin, np.nanmean, np.ptp)
def _reduction(level, function, x, axis=None, *args, out=None, **options):
    physical = _single(x, level, args)
    if out is not None:
        options["out"] = need(out, level).physical
    if isinstance(options.get("where"), np.ndarray):
        options["where"] = aligned(options["where"], level, x.ndim)
    if not x.ndim:
        axis = ()
    result = function(physical, axes_of(axis, x.ndim), *args, **options)
    return out if out is not None else batch(result, level)


@rule(np.argmax, np.argmin)
def _extreme(level, function, x, axis=None, out=None, **options):
    physical = need(x, level).physical
    if axis is None or not x.ndim:
        physical, axis = physical.reshape(len(physical), -1), 0
    return batch(function(physical, axis_of(axis, physical.ndim - 1), **options), level)


@rule(np.cumsum, np.cumprod)
def _cumulative(level, function, x, axis=None, *args, out=None, **options):
    physical = _single(x, level, args)
    if axis is None or not x.ndim:
        physical, axis = physical.reshape(len(physical), -1), 0
    if out is not None:
        options["out"] = need(out, level).physical
    result = function(physical, axis_of(axis, physical.ndim - 1), *args, **options)
    return out if out is not None else batch(result, level)


@rule(np.sort, np.argsort, np.flip)
def _ordered(level, function, x, axis=-1, **options):
    physical = need(x, level).physical
    if function is np.flip:
        return batch(np.flip(physical, axes_of(None if axis == -1 else axis, x.ndim)), level)
    return batch(function(physical, axis_of(axis, x.ndim), **options), level)


FUNCTIONS[np.flip] = lambda level, function, m, axis=None: batch(
    np.flip(need(m, level).physical, axes_of(axis, m.ndim)), level)


@rule(np.partition, np.argpartition)
def _parted(level, function, x, kth, axis=-1, **options):
    return batch(function(_single(x, level, kth), kth, axis_of(axis, x.ndim), **options), level)


@rule(np.diff)
def _diff(level, function, x, n=1, axis=-1):
    return batch(np.diff(need(x, level).physical, n, axis_of(axis, x.ndim)), level)


@rule(np.delete)
def _delete(level, function, x, places, axis=None):
    if axis is None:
        raise NotBatchable("as one row")
    return batch(np.delete(_single(x, level, places), places, axis_of(axis, x.ndim)), level)


@rule(np.roll)
def _roll(level, function, x, shift, axis=None):
    if axis is None:
        raise NotBatchable("rolled as one row")
    return batch(np.roll(_single(x, level, shift), shift, axes_of(axis, x.ndim)), level)


@rule(np.repeat)
def _repeat(level, function, x, repeats, axis=None):
    physical = _single(x, level, repeats)
    if axis is None:
        physical, axis = physical.reshape(len(physical), -1), 0
    return batch(np.repeat(physical, repeats, axis_of(axis, physical.ndim - 1)), level)


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
@rule(np.where)
def _where(level, function, *operands):
    if len(operands) != 3:
        raise NotBatchable("the places where")
    ndim = max_ndim(*operands)
    return batch(np.where(*[aligned(x, level, ndim) for x in operands]), level)


@rule(np.clip)
def _clip(level, function, *operands, out=None, **options):
    ndim = max_ndim(*operands, *[options[k] for k in options if k.endswith(("min", "max"))])
    options = {k: aligned(x, level, ndim) for k, x in options.items()}
    if out is not None:
        options["out"] = need(out, level).physical
    result = np.clip(*[aligned(x, level, ndim) for x in operands], **options)
    return out if out is not None else batch(result, level)


@rule(np.nan_to_num, np.real, np.imag, np.angle, np.round, np.around, np.isneginf, np.isposinf, np.sinc, np.conj,
      np.iscomplex, np.isreal, np.fix, np.i0, np.real_if_close, np.unwrap)
def _each(level, function, x, *args, **options):
    if options.get("out") is not None:
        raise NotBatchable("an output")
    return batch(function(_single(x, level, args), *args, **options), level)


@rule(np.isclose)
def _isclose(level, function, a, b, *args, **options):
    ndim = max_ndim(a, b)
    return batch(np.isclose(aligned(a, level, ndim), aligned(b, level, ndim), *args, **options), level)


@rule(np.allclose, np.array_equal)
def _all_agree(level, function, a, b, *args, **options):
    raise NotBatchable("whether all are equal")


@rule(np.isin)
def _isin(level, function, element, test_elements, **options):
    return batch(np.isin(_single(element, level, test_elements), test_elements, **options), level)


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
@rule(np.reshape)
def _reshape(level, function, x, shape, order="C", **options):
    return x.reshape(shape, order=order)


@rule(np.transpose)
def _transpose(level, function, x, axes=None):
    return x.transpose(axes)


@rule(np.ravel)
def _ravel(level, function, x, order="C"):
    return x.ravel(order)


@rule(np.copy)
def _copy(level, function, x, order="K", subok=False):
    return x.copy(order)


@rule(np.swapaxes)
def _swap(level, function, x, axis1, axis2):
    return x.swapaxes(axis1, axis2)


@rule(np.matrix_transpose)
def _matrix_transpose(level, function, x):
    return x.mT


@rule(np.squeeze)
def _squeeze(level, function, x, axis=None):
    return x.squeeze(axis)


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


@rule(sliding_window_view)
def _windows(level, function, x, window_shape, axis=None, **options):
    return batch(sliding_window_view(need(x, level).physical, window_shape, axes_of(axis, x.ndim), **options), level)


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


@rule(np.split, np.array_split)
def _split(level, function, x, sections, axis=0):
    return batch(function(_single(x, level, sections), sections, axis_of(axis, x.ndim)), level)


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
@rule(np.shape)
def _shape(level, function, x):
    return x.shape


@rule(np.ndim)
def _ndim(level, function, x):
    return x.ndim


@rule(np.size)
def _size(level, function, x, axis=None):
    return x.size if axis is None else x.shape[axis]


@rule(np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj)
def _of_dtypes(level, function, *args, **options):
    return function(*[np.empty((1,) * x.ndim, x.dtype) if type(x) is Batched else x for x in args], **options)


@rule(np.may_share_memory, np.shares_memory)
def _share(level, function, a, b, *args, **options):
    return function(*[x.memory if type(x) is Batched else x for x in (a, b)], *args, **options)


# ------------------------------------------------------------------ linear algebra and Fourier transforms
@rule(np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.svd, np.linalg.qr, np.linalg.cholesky, np.linalg.eig,
      np.linalg.eigh, np.linalg.eigvals, np.linalg.eigvalsh, np.linalg.pinv, np.linalg.matrix_rank,
      np.linalg.matrix_power)
def _of_matrices(level, function, a, *args, **options):
    return batch(function(_single(a, level, args, tuple(options.values())), *args, **options), level)


@rule(np.linalg.solve)
def _solve(level, function, a, b):
    column = b.ndim == 1
    b = b[:, None] if column else b
    ndim, size = max_ndim(a, b), size_of(level, a, b)
    a, b = aligned(a, level, ndim), aligned(b, level, ndim)
    del size
    result = np.linalg.solve(a, b)
    return batch(result[..., 0] if column else result, level)


@rule(np.linalg.norm)
def _norm(level, function, x, ord=None, axis=None, keepdims=False):
    if axis is None:
        raise NotBatchable("the norm of all")
    return batch(np.linalg.norm(need(x, level).physical, ord, axes_of(axis, x.ndim), keepdims), level)


@rule(np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)
def _fourier(level, function, x, n=None, axis=-1, norm=None, out=None):
    result = function(need(x, level).physical, n, axis_of(axis, x.ndim), norm,
                      None if out is None else need(out, level).physical)
    return batch(result, level) if out is None else out


@rule(np.fft.fftshift, np.fft.ifftshift)
def _fourier_shift(level, function, x, axes=None):
    return batch(function(need(x, level).physical, axes_of(axes, x.ndim)), level)
