"""Reading and writing along a dimension by index: gather scatter scatter_add scatter_reduce, index_add and its like."""
import numpy as np

from ...autograd.in_place import in_place
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, check_out_dtype, write_out
from ...autograd.public import methods
from ...autograd.views import warn_expanded
from ...errors import not_a_tensor, type_name
from ...kernels.scatter import add_at, add_flat, along
from ...tensor import Tensor, check_dim, wrap
from ..creation.conversion import _to_copy
from .broadcast import expand
from .index import _add_in_zeros
from .shape import reshape
from .views import as_strided

__all__ = ["gather", "index_add", "index_copy", "index_fill", "index_reduce", "index_select", "scatter", "scatter_add",
           "scatter_reduce"]

_ALL = slice(None)


# ------------------------------------------------------------------ primitives: one index per element
@op(name="gather", input=lambda g, shape, dim, index: _gather_backward(g, dim, index, shape))
def _gather(input, dim, index):
    if not input.ndim:
        return np.broadcast_to(input, index.shape).copy()
    return input.reshape(-1).take(along(input.shape, dim, index))


@op(name="gather_backward", g=lambda g, dim, index: _gather(g, dim, index))
def _gather_backward(g, dim, index, shape):
    result = np.zeros(shape, g.dtype)
    if index.ndim and index.shape[dim] == 1:   # no place is read twice
        result.reshape(-1)[along(shape, dim, index)] = g
    else:
        add_flat(result, along(shape, dim, index) if shape else np.zeros(index.shape, np.intp), g)
    return result


@op(name="scatter", input=lambda g, dim, index: _scatter(g, dim, index, 0),
    src=lambda g, dim, index: _gather(g, dim, index))
def _scatter(input, dim, index, src):
    result = np.array(input, order="C")
    result.reshape(-1)[_places(result, dim, index)] = src
    return result


_scatter_number = renamed(_scatter, "scatter.1")


@op(name="scatter_add", input=lambda g: g, src=lambda g, dim, index: _gather(g, dim, index))
def _scatter_add(input, dim, index, src):
    result = np.array(input, order="C")
    add_flat(result, _places(result, dim, index), src)
    return result


def _places(array, dim, index):
    return along(array.shape, dim, index) if array.ndim else np.zeros(index.shape, np.intp)


def _reduce_grad_input(g, ans, input, dim, index, src, reduce, include_self):
    if reduce == "prod":
        grad = _product_of_others(g, ans, input, dim, index, src, include_self)[0]
    elif reduce == "mean":
        grad = g / _counts(g, dim, index, include_self)
    elif reduce in ("amax", "amin"):
        grad = _share_of_extremes(g, ans, input, dim, index, src, include_self)[0]
    else:
        grad = g
    return grad if include_self else _scatter(grad, dim, index, 0)


def _reduce_grad_src(g, ans, input, dim, index, src, reduce, include_self):
    if reduce == "prod":
        return _product_of_others(g, ans, input, dim, index, src, include_self)[1]
    if reduce == "mean":
        return _gather(g / _counts(g, dim, index, include_self), dim, index)
    if reduce in ("amax", "amin"):
        return _share_of_extremes(g, ans, input, dim, index, src, include_self)[1]
    return _gather(g, dim, index)


def _counts(g, dim, index, include_self):
    """How many numbers each mean is over (1 where nothing was written)."""
    ones = _ones(g, tuple(g.shape))
    counts = _scatter_add(ones, dim, index, _ones(g, tuple(index.shape)))
    return counts if include_self else _scatter_add(counts, dim, index, -_first_writes(g, dim, index))


def _first_writes(g, dim, index):
    """For every element of `index`, 1 / how often its place is written: summed over a place, 1."""
    written = _scatter_add(_ones(g, tuple(g.shape)) * 0, dim, index, _ones(g, tuple(index.shape)))
    return 1 / _gather(written, dim, index)


def _ones(like, shape):
    return like.new_ones(shape) if isinstance(like, Tensor) else np.ones(shape, like.dtype)


def _as_numbers(mask, like):
    """A boolean mask in the dtype of `like`."""
    target = like.array.dtype if isinstance(like, Tensor) else like.dtype
    return _to_copy(mask, target, np.dtype(bool))


def _share_of_extremes(g, ans, input, dim, index, src, include_self):
    """The gradient of a maximum or minimum shared equally by the elements that reach it."""
    in_self = _as_numbers(input == ans, g)
    if not include_self:
        in_self = _scatter(in_self, dim, index, 0)
    in_src = _as_numbers(src == _gather(ans, dim, index), g)
    number = _scatter_add(in_self, dim, index, in_src)
    share = g / (number + _as_numbers(number == 0, g))
    return share * in_self, _gather(share, dim, index) * in_src


def _product_of_others(g, ans, input, dim, index, src, include_self):
    """The gradients of a product: g times the product of the other factors. ans / factor where that is not zero;
    for a zero, the product with a 1 in its place."""
    zero_self, zero_src = _as_numbers(input == 0, g), _as_numbers(src == 0, g)
    one_self, one_src = input * (1 - zero_self) + zero_self, src * (1 - zero_src) + zero_src
    without = _scatter_reduce(one_self, dim, index, src, "prod", include_self)
    of_self = without * zero_self + ans / one_self * (1 - zero_self)
    zeros = _gather(_scatter_add(zero_self * 0, dim, index, zero_src), dim, index)
    lone = zero_src * _as_numbers(zeros == 1, g)
    without = _gather(_scatter_reduce(input, dim, index, one_src, "prod", include_self), dim, index)
    of_src = without * lone + _gather(ans, dim, index) / one_src * (1 - lone)
    return g * of_self, _gather(g, dim, index) * of_src


_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@op(name="scatter_reduce", input=_reduce_grad_input, src=_reduce_grad_src)
def _scatter_reduce(input, dim, index, src, reduce, include_self):
    result = np.array(input, order="C")
    flat, places = result.reshape(-1), _places(result, dim, index).reshape(-1)
    values = np.broadcast_to(src, index.shape).reshape(-1)
    if not include_self:
        flat[places] = _neutral(reduce, result.dtype)
    if reduce in ("sum", "mean"):
        add_flat(flat, places, values)
    else:
        _UFUNCS[reduce].at(flat, places, values)
    if reduce == "mean":
        counts = np.bincount(places, minlength=flat.size)
        counts = np.maximum(counts + 1 if include_self else counts, 1)
        if result.dtype.kind in "fc":
            flat /= counts.astype(result.real.dtype)
        else:
            flat //= counts.astype(result.dtype)
    return result


_index_reduce = renamed(_scatter_reduce, "index_reduce")


def _neutral(reduce, dtype):
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    if dtype.kind == "b":
        return reduce == "amin"
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


# ------------------------------------------------------------------ primitives: one index per slice
def _at(dim, index):
    """NumPy's index of the slices `index` of dimension `dim`."""
    index = index.array if isinstance(index, Tensor) else index
    return (_ALL,) * dim + (index.reshape(-1),)


@op(name="index_select", input=lambda g, shape, dim, index: _add_in_zeros(g, shape, _at(dim, index)))
def _index_select(input, dim, index):
    return input.take(index.reshape(-1), dim) if input.ndim else input.reshape(1).take(index.reshape(-1)).reshape(())


@op(name="index_add", input=lambda g: g, source=lambda g, shape, dim, index: _index_select(g, dim, index))
def _index_add(input, dim, index, source):
    result = np.array(input, order="C")
    add_at(result, _at(dim, index), source)
    return result


@op(name="index_copy", input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    source=lambda g, dim, index: _index_select(g, dim, index))
def _index_copy(input, dim, index, source):
    result = np.array(input, order="C")
    result[_at(dim, index)] = source
    return result


@op(name="index_fill", input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    value=lambda g, dim, index: g - _index_fill(g, dim, index, 0))
def _index_fill(input, dim, index, value):
    result = np.array(input, order="C")
    result[_at(dim, index)] = value
    return result


_index_fill_tensor = renamed(_index_fill, "index_fill.1")


# ------------------------------------------------------------------ checks
def _any_outside(array, n):
    """Whether any of the integers is not in 0 .. n-1 (read as unsigned, a negative one is huge)."""
    return array.size > 0 and array.view(np.uint64 if array.itemsize == 8 else np.uint32).max() >= n


def _check_bounds(index, dim, n, error=RuntimeError, prefix=""):
    array = index.array
    if _any_outside(array, n):
        raise error(f"{prefix}index {_first_outside(array, n)} is out of bounds for dimension {dim} with size {n}")


def _first_outside(array, n):
    return array[(array < 0) | (array >= n)].reshape(-1)[0]


def _check_ranks(input, index, dim, name):
    """The dimension from the front, after the checks of gather and scatter."""
    if not isinstance(index, Tensor):
        raise not_a_tensor(name, "index", None, index)
    if index.array.size and index.array.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    shape, places = input.array.shape, index.array.shape
    dim = check_dim(dim, len(shape))
    if index.array.size and max(len(shape), 1) != max(len(places), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor"
                           if name == "gather" else "Index tensor must have the same number of dimensions as self "
                                                    "tensor")
    return dim


def gather(input, dim, index, *, sparse_grad=False, out=None):
    """result[i][j] = input[index[i][j]][j] for dim 0, and so on: as many elements as `index`.

    RuntimeError if the ranks differ, an index is out of range, or `index` is not integer.

    >>> import tinytorch as torch
    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
    """
    dim = _check_ranks(input, index, dim, "gather")
    check_out_dtype(out, input)
    shape, places = input.array.shape, index.array.shape
    if not index.array.size:
        return write_out(out, _gather(reshape(input, -1)[:0], 0, reshape(index, -1).long()).reshape(places))
    for d, (n, m) in enumerate(zip(places, shape)):
        if d != dim and n > m:
            raise RuntimeError(f"Size does not match at dimension {d} expected index {list(places)} to be no larger "
                               f"than self {list(shape)} apart from dimension {dim}")
    _check_bounds(index, dim, shape[dim] if shape else 1)
    if len(places) != len(shape):
        result = gather(reshape(input, -1), 0, reshape(index, -1)).reshape(places)
        return write_out(out, result, input, index, apart="resized")
    return write_out(out, _gather(input, dim, index), input, index, apart="resized")


def _scatter_arguments(input, dim, index, src, name):
    """(dimension, index, src cut to the size of index) after torch's checks; index None if it is empty."""
    dim = _check_ranks(input, index, dim, name)
    shape, places = input.array.shape, index.array.shape
    if isinstance(src, Tensor) and src.array.dtype != input.array.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if not index.array.size:
        return dim, None, src
    if isinstance(src, Tensor):
        there = src.array.shape
        if max(len(there), 1) != max(len(places), 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        if any(n > m for d, (n, m) in enumerate(zip(places, shape)) if d != dim) or any(
                n > m for n, m in zip(places, there)):
            raise RuntimeError(f"Expected index {list(places)} to be no larger than self {list(shape)} apart from "
                               f"dimension {dim} and to be no larger size than src {list(there)}")
        if there != places:
            src = src[tuple([slice(n) for n in places])] if len(there) == len(places) else reshape(src, places)
    elif any(n > m for d, (n, m) in enumerate(zip(places, shape)) if d != dim):
        raise RuntimeError(f"Expected index {list(places)} to be no larger than self {list(shape)} apart from "
                           f"dimension {dim}")
    _check_bounds(index, dim, shape[dim] if shape else 1)
    return dim, index, src


def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """A copy of `input` with result[index[i][j]][j] = src[i][j] for dim 0, and so on. `src` may be a number.

    `reduce` "add" or "multiply" combines with what is there. Errors as `gather`.

    >>> import tinytorch as torch
    >>> torch.zeros(2, 3).scatter(1, torch.tensor([[2], [0]]), 1.)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    src = value if src is None else src
    check_out_dtype(out, input)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        if not isinstance(src, Tensor):
            src = expand(wrap(np.array(src, input.array.dtype)), index.array.shape)
    dim, index, src = _scatter_arguments(input, dim, index, src, "scatter")
    if index is None:
        return write_out(out, input.clone())
    if reduce == "multiply":
        return write_out(out, _scatter_reduce(input, dim, index, src, "prod", True), src, index, apart="resized")
    put = _scatter_add if reduce == "add" else _scatter if isinstance(src, Tensor) else _scatter_number
    return write_out(out, put(input, dim, index, src), src, index, apart="resized")


def scatter_add(input, dim, index, src, *, out=None):
    """A copy of `input` with result[index[i][j]][j] += src[i][j] for dim 0, and so on; repeats add up.

    >>> import tinytorch as torch
    >>> torch.zeros(3).scatter_add(0, torch.tensor([1, 1]), torch.tensor([2., 3.]))
    tensor([0., 5., 0.])
    """
    if not isinstance(src, Tensor):
        raise not_a_tensor("scatter_add", "src", 3, src)
    dim, index, src = _scatter_arguments(input, dim, index, src, "scatter")
    result = input.clone() if index is None else _scatter_add(input, dim, index, src)
    return write_out(out, result, src, index, apart="resized", exact=EXACT)


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None):
    """`scatter` that combines all that goes to one place: "sum", "prod", "mean", "amax" or "amin".

    Without `include_self` what was at a place that is written to does not count.

    >>> import tinytorch as torch
    >>> torch.zeros(2).scatter_reduce(0, torch.tensor([1, 1]), torch.tensor([2., 4.]), "mean", include_self=False)
    tensor([0., 3.])
    """
    return _reduced(_scatter_reduce, input, dim, index, src, reduce, include_self, out)


def _reduced(primitive, input, dim, index, src, reduce, include_self=True, out=None):
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    dim, index, src = _scatter_arguments(input, dim, index, src, "scatter")
    result = input.clone() if index is None else primitive(input, dim, index, src, reduce, include_self)
    return write_out(out, result, src, index, apart="resized", exact=EXACT)


def index_select(input, dim, index, *, out=None):
    """The slices `index` (a vector) of dimension `dim`, copied. IndexError out of range (for dim 1 RuntimeError).

    >>> import tinytorch as torch
    >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1]))
    tensor([[2],
            [4]])
    """
    if index.array.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.array.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    shape = input.array.shape
    dim = check_dim(dim, len(shape))
    array = index.array
    if shape and array.size and not shape[dim]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if _any_outside(array, shape[dim] if shape else 1):
        if dim == 1:                           # torch has a routine for that, with words of its own
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={_first_outside(array, shape[dim])} "
                               f"axis_dim={shape[dim]}")
        raise IndexError("index out of range in self")
    if not shape:
        return write_out(out, input.clone())
    if out is not None and out.array.dtype != input.array.dtype:
        raise RuntimeError("index_select(): self and result must have the same scalar type")
    return write_out(out, _index_select(input, dim, index), input, index, apart=True)


def _check_kind(index, name):
    if index.array.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {type_name(index)}")


def _slices(input, dim, index, source, name):
    """The dimension, after the checks of index_add and index_copy."""
    if index.array.ndim > 1:
        raise IndexError(f"{name}_(): Index should have dimension 1 or 0 (got {index.array.ndim})")
    dim = check_dim(dim, input.array.ndim)
    count = source.array.shape[dim] if source.array.ndim else 1
    if index.array.size != count:
        if name == "index_copy":
            raise IndexError(f"index_copy_(): Number of indices ({index.array.size}) should be equal to "
                             f"source.size(dim) ({count})")
        raise RuntimeError(f"{name}_(): Number of indices ({index.array.size}) should be equal to source.size(dim): "
                           f"({count}), for dim: {dim}")
    return dim


def _on_vector(function, input, dim, index, source, *rest):
    """Run a function of slices on a 0-dim tensor as on a vector of one."""
    source = reshape(source, 1) if isinstance(source, Tensor) and source.array.ndim == 0 else source
    return reshape(function(reshape(input, 1), dim, index, source, *rest), ())


def index_add(input, dim, index, source, *, alpha=1, out=None):
    """A copy of `input` with alpha * source[i] added to slice index[i] of dimension `dim`; repeats add up.

    IndexError out of range (RuntimeError along the first or last of several dimensions, where torch has scatter_add
    do it).

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_add(0, torch.tensor([0, 0]), torch.tensor([1., 2.]))
    tensor([3., 0., 0.])
    """
    _check_kind(index, "index_add")
    if source.array.dtype != input.array.dtype:
        raise RuntimeError("index_add_(): self and source must have the same scalar type")
    shape, there = input.array.shape, source.array.shape
    if shape and not there:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = _slices(input, dim, index, source, "index_add")
    if there and (len(there) != len(shape) or there[:dim] != shape[:dim] or there[dim + 1:] != shape[dim + 1:]):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                           f"self.shape = {list(shape)} source.shape = {list(there)}")
    if _any_outside(index.array, shape[dim] if shape else 1):
        if len(shape) > 1 and not input.array.size:            # nothing to add to: torch does not look at the index
            return write_out(out, input.clone(), source, index, apart=True, exact=EXACT)
        if len(shape) > 1 and dim in (0, len(shape) - 1) and alpha == 1 and index.array.dtype == np.int64:
            _check_bounds(index, dim, shape[dim])
        raise IndexError("index out of range in self")
    source = source if alpha == 1 else source * alpha
    if not input.array.ndim:
        return write_out(out, _on_vector(_index_add, input, dim, index, source), exact=EXACT)
    return write_out(out, _index_add(input, dim, index, source), source, index, apart="resized", exact=EXACT)


def index_copy(input, dim, index, source, *, out=None):
    """A copy of `input` with slice index[i] of dimension `dim` replaced by source[i].

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_copy(0, torch.tensor([2]), torch.tensor([1.]))
    tensor([0., 0., 1.])
    """
    if index.array.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {type_name(index)}")
    if source.array.dtype != input.array.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{type_name(input)} and (source) {type_name(source)}")
    dim = _slices(input, dim, index, source, "index_copy")
    _check_bounds(index, dim, input.array.shape[dim] if input.array.ndim else 1, IndexError, "index_copy_(): ")
    if not input.array.ndim:
        return write_out(out, _on_vector(_index_copy, input, dim, index, source), exact=EXACT)
    return write_out(out, _index_copy(input, dim, index, source), source, index, apart="resized", exact=EXACT)


def index_fill(input, dim, index, value):
    """A copy of `input` with the slices `index` of dimension `dim` filled with a number or 0-dim tensor.

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_fill(0, torch.tensor([0, 2]), 1)
    tensor([1., 0., 1.])
    """
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value.array.ndim} dimension(s).")
        value = value.to(input.dtype)
    elif isinstance(value, complex) and input.array.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if index.array.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.array.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    dim = check_dim(dim, input.array.ndim)
    n = input.array.shape[dim] if input.array.ndim else 1
    if not n and index.array.size:             # torch finds no memory for what it is to fill, before it looks at that
        size, stride = list(input.array.shape), list(input.stride())
        size[dim], stride[dim] = index.array.size, 0
        as_strided(input, size, stride)
    wrapped = np.where(index.array < 0, index.array + n, index.array)
    if wrapped.size and (wrapped.min() < 0 or wrapped.max() >= n):
        wrong = index.array.reshape(-1)[((wrapped < 0) | (wrapped >= n)).reshape(-1)][0]
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {n}")
    primitive = _index_fill_tensor if isinstance(value, Tensor) else _index_fill
    if not input.array.ndim:
        return _on_vector(primitive, input, dim, wrap(wrapped), value)
    return primitive(input, dim, wrap(wrapped), value)


def index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None):
    """`index_add` with another way to combine: "prod", "mean", "amax" or "amin".

    >>> import tinytorch as torch
    >>> torch.ones(2).index_reduce(0, torch.tensor([1, 1]), torch.tensor([2., 4.]), "prod")
    tensor([1., 8.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    _check_kind(index, "index_reduce")
    dim = _slices(input, dim, index, source, "index_reduce")
    if not input.array.ndim:
        vector = _reduced(_index_reduce, reshape(input.clone(), 1), 0, reshape(index, 1), reshape(source, 1), reduce,
                          include_self)
        return write_out(out, reshape(vector, ()), exact=EXACT)
    shape = source.array.shape
    if _any_outside(index.array, input.array.shape[dim]):
        raise IndexError("index out of range in self")
    places = expand(reshape(index, (1,) * dim + (-1,) + (1,) * (len(shape) - 1 - dim)), shape)
    result = _reduced(_index_reduce, input, dim, places, source, reduce, include_self)
    return write_out(out, result, source, index, apart=True, exact=EXACT)


def _fill_expanded(memory, values, dim, index, value):
    warn_expanded("index_fill_", "tensor[mask] = scalar")
    at = _at(dim % memory.ndim, index)
    memory[at] = values[at]


methods(gather, index_fill, index_select,
        inplace=(index_add, index_copy, index_reduce, scatter, scatter_add, scatter_reduce))
Tensor.index_fill_ = in_place(index_fill, _fill_expanded)
