"""Reading and writing slices of a dimension by index: index_select index_add index_copy index_fill index_reduce."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, stored_as, write_out
from ...autograd.public import public
from ...autograd.views import warn_expanded
from ...errors import not_implemented, refuse_records, type_name, warn_once
from ...kernels import native
from ...kernels.layout import dense_copy
from ...kernels.scatter import add_at, owned, slices_added, take_rows
from ...tensor import Tensor, check_dim, wrap
from ...types import Number
from .broadcast import expand
from .scatter import _any_outside, _check_bounds, _first_outside, reducing
from .shape import reshape
from .views import as_strided

__all__ = ["index_add", "index_copy", "index_fill", "index_reduce", "index_select"]

_ALL = slice(None)


# ------------------------------------------------------------------ primitives
def _slice_index(dim, index):
    """NumPy's index for the slices `index` of dimension `dim`."""
    index = index._array if isinstance(index, Tensor) else index
    return (_ALL,) * dim + (owned(index.reshape(-1)),)


@op(name="index_select", input=lambda g, shape, dim, index: _index_select_backward(g, shape, dim, index),
    converts=True)     # the rule itself adds in bfloat16, rounding after each addition
def _index_select(input, dim, index):
    if input.ndim > 1 and index.size and not input.shape[dim]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    try:
        if not dim and input.size >= native.LEAST and (found := take_rows(input, index.reshape(-1))) is not None:
            return found
        return (input.take(index.reshape(-1), dim) if input.ndim
                else input.reshape(1).take(index.reshape(-1)).reshape(()))
    except IndexError:                         # also in the gradient of index_add to a tensor without elements
        raise _out_of_range(index, input.shape, dim) from None


def _out_of_range(index, shape, dim):
    if dim == 1 or len(shape) > 1 and 0 in shape:              # torch has a routine of its own for this case
        return RuntimeError(f"INDICES element is out of DATA bounds, id={_first_outside(index, shape[dim])} "
                            f"axis_dim={shape[dim]}")
    return IndexError("index out of range in self")


@op(name="index_select_backward", g=lambda g, dim, index: _index_select(g, dim, index))
def _index_select_backward(g, shape, dim, index):
    found = slices_added(None, shape, dim, index, g)
    return _index_add(np.zeros(shape, g.dtype), dim, index, g, 1) if found is None else found


@op(name="index_add", input=lambda g: g,
    source=lambda g, source, dim, index, alpha: _times(_index_select(g, dim, index), alpha))
def _index_add(input, dim, index, source, alpha):
    source = _times(source, alpha)
    found = slices_added(input, input.shape, dim, index, source)
    if found is not None:
        return found
    result = np.array(input, order="C")
    if result.size:                            # else torch does not check the index
        wide = _by_scatter_add(input.shape, dim, index, alpha)               # scatter_add adds in float32
        add_at(_rows(result), _slice_index(dim, index), _rows(source), wide)
    return result


def _by_scatter_add(shape, dim, index, alpha):
    return len(shape) > 1 and dim in (0, len(shape) - 1) and alpha.__class__ is int and index.dtype == np.int64


def _rows(array):
    """An array without dimensions as an array of one dimension. Other arrays are returned unchanged."""
    return array if array.ndim else array.reshape(1)


def _times(x, alpha):
    """x * alpha. `alpha` is the int 1, or a number in the dtype of `x`."""
    if alpha.__class__ is int:
        return x
    if isinstance(x, Tensor):
        return x * (alpha if isinstance(alpha, Tensor) else wrap(alpha))
    product = dt.numbers(x) * dt.numbers(alpha)
    return dt.stored(product, x.dtype) if x.dtype.kind in dt.WIDENED else product


@op(name="index_copy", input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    source=lambda g, source, dim, index: _index_select(g, dim, index))
def _index_copy(input, dim, index, source):
    result = np.array(input, order="C")
    if result.size:                            # else torch does not check the index
        _rows(result)[_slice_index(dim, index)] = _rows(source)
    return result


@op(name="index_fill", input=lambda g, dim, index: _index_fill(g, dim, index, 0),
    value=lambda g, dim, index: g - _index_fill(g, dim, index, 0))
def _index_fill(input, dim, index, value):
    result = dense_copy(input)
    if result.size:
        _rows(result)[_slice_index(dim, index)] = value
    return result


_index_fill_tensor = renamed(_index_fill, "index_fill.1")


def _vector(dim, places):
    """The index of the slices, from the places of all their elements."""
    if isinstance(places, Tensor):
        return wrap(_vector(dim, places._array))
    if not places.size:
        return np.zeros(places.shape[dim], np.int64)
    return places[(0,) * dim + (_ALL,) + (0,) * (places.ndim - dim - 1)] if places.ndim else places


_index_reduce = reducing(
    "index_reduce", False, lambda x, dim, places: _index_select(x, dim, _vector(dim, places)),
    lambda x, dim, places, source: _index_add(x, dim, _vector(dim, places), source, 1))


# ------------------------------------------------------------------ functions
@public(out="index_select(): self and result must have the same scalar type", apart=True, method=True)
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the slices `index` (a vector) of dimension `dim`. IndexError out of range (for dim 1 RuntimeError).

    >>> import tinytorch as torch
    >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([1]))
    tensor([[2],
            [4]])
    """
    if index._array.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index._array.dtype not in (np.int64, np.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    shape = input._array.shape
    dim = check_dim(dim, len(shape))
    array = index._array
    if (len(shape) < 2 or shape[dim]) and _any_outside(array, shape[dim] if shape else 1):
        raise _out_of_range(array, shape, dim)
    if not shape and array.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {array.size} value(s)")
    return _index_select(input, dim, index)


def _are_samples(*tensors):
    return any([hasattr(x._array, "level") for x in tensors])


def _slices(input, dim, index, source, name):
    """The dimension counted from the front, after the checks of index_add and index_reduce."""
    shape, there, places = input._array.shape, source._array.shape, index._array.shape
    dim = check_dim(dim, len(shape))
    if len(places) > 1:
        raise IndexError(f"{name}_(): Index is supposed to be a vector, but got dim: {len(places)} with type: "
                         f"{type_name(index)} and size: {list(places)}")
    if index._array.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {type_name(index)}")
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(f"{name}_(): self ({type_name(input)}) and source ({type_name(source)}) must have the same "
                           "scalar type")
    if dim and dim >= len(there):
        raise RuntimeError(f"{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {len(there)}")
    if index._array.size != (there[dim] if there else 1):
        if not there:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise RuntimeError(f"{name}_(): Number of indices ({index._array.size}) should be equal to source.size(dim): "
                           f"({there[dim]}), for dim: {dim}")
    if name == "index_add" and len(there) + len(shape) == 1 and _are_samples(input, source):
        return dim                             # under vmap torch accepts a source without dimensions for size 1
    if len(there) != len(shape) or there[:dim] != shape[:dim] or there[dim + 1:] != shape[dim + 1:]:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                           f"self.shape = {list(shape)} source.shape = {list(there)}")
    return dim


@public(method=True, inplace=True, repeats=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1,
              out: Tensor | None = None) -> Tensor:
    """A copy of `input` with alpha * source[i] added to slice index[i] of dimension `dim`. Repeated indices add up.

    IndexError out of range. (RuntimeError along the first or last of several dimensions, where torch calls
    scatter_add.)

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_add(0, torch.tensor([0, 0]), torch.tensor([1., 2.]))
    tensor([3., 0., 0.])
    """
    dim = _slices(input, dim, index, source, "index_add")
    by_scatter_add = _by_scatter_add(input._array.shape, dim, index._array, 1)
    refuse_records("scatter_gather_tensor_cpu" if by_scatter_add else "index_add_", input, dt.FLOAT8_RECORDS)
    alpha = 1 if alpha == 1 else stored_as(alpha, input._array.dtype)
    shape = input._array.shape
    if _any_outside(index._array, shape[dim] if shape else 1) and (len(shape) < 2 or input._array.size):
        if _by_scatter_add(shape, dim, index._array, alpha):
            _check_bounds(index, dim, shape[dim])
        raise IndexError("index out of range in self")
    return write_out(out, _index_add(input, dim, index, source, alpha), source, index, apart="resized", exact=EXACT)


@public(method=True, inplace=True, autocast="widest")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input` with slice index[i] of dimension `dim` replaced by source[i].

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_copy(0, torch.tensor([2]), torch.tensor([1.]))
    tensor([0., 0., 1.])
    """
    shape, there, count = input._array.shape, source._array.shape, index._array.size
    dim = check_dim(dim, len(shape))
    if index._array.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index._array.ndim})")
    if not there and count != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if shape and there and len(shape) != len(there):
        raise IndexError("index_copy_(): When source and destination are not scalars, their dimensionality must match. "
                         f"Source dimensionality ({len(there)}), destination dimensionality ({len(shape)})")
    if index._array.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {type_name(index)}")
    if source._array.dtype != input._array.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{type_name(input)} and (source) {type_name(source)}")
    slices = [[*sizes[:dim], *sizes[dim + 1:]] for sizes in (shape, there)]
    if slices[0] != slices[1]:
        here, its = [" ".join(map(str, sizes)) for sizes in slices]
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice "
                           f"shape: {here} at dimension {dim} and source slice shape: {its} at dimension 0.")
    if there and count != there[dim]:
        raise IndexError(f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) "
                         f"({there[dim]})")
    refuse_records("index_copy_cpu", input, dt.FLOAT8_RECORDS)
    n = _check_room(input, dim, index)
    if input._array.size:                       # else torch does not check the index
        _check_bounds(index, dim, n, IndexError, "index_copy_(): ")
    return write_out(out, _index_copy(input, dim, index, source), source, index, apart="resized", exact=EXACT)


def _check_room(input, dim, index):
    """The length of dimension `dim`. RuntimeError if it is 0 and `index` has values: torch views the slices to fill as
    a tensor before it checks the index, and there is no memory for them."""
    n = input._array.shape[dim] if input._array.ndim else 1
    if not n and index._array.size:
        size, stride = list(input._array.shape), list(input.stride())
        size[dim], stride[dim] = index._array.size, 0
        as_strided(input, size, stride)
    return n


def _fill_expanded(memory, values, dim, index, value):
    warn_expanded("index_fill_", "tensor[mask] = scalar")
    at = _slice_index(dim % memory.ndim, index)
    memory[at] = values[at]


@public(method=True, inplace=lambda function: in_place(function, _fill_expanded, number=2))
def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """A copy of `input` with the slices `index` of dimension `dim` filled with a number or 0-dim tensor.

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_fill(0, torch.tensor([0, 2]), 1)
    tensor([1., 0., 1.])
    """
    number = value
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value._array.ndim} dimension(s).")
        number = value.item()
    if index._array.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    dim = check_dim(dim, input._array.ndim)
    if index._array.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(number, complex) and not dt.is_complex(input._array.dtype):
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    n = _check_room(input, dim, index)
    refuse_records("index_fill_cpu", input, dt.FLOAT8_RECORDS)
    number = stored_as(number, input._array.dtype)
    places = index._array
    if input._array.size and places.size and (places.min() < -n or places.max() >= n):
        wrong = places.reshape(-1)[((places < -n) | (places >= n)).reshape(-1)][0]
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {n}")
    if isinstance(value, Tensor):
        return _index_fill_tensor(input, dim, index, value.to(input.dtype))
    return _index_fill(input, dim, index, number)


@public(method=True, inplace=True)
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True,
                 out: Tensor | None = None) -> Tensor:
    """`index_add` with another way to combine: "prod", "mean", "amax" or "amin".

    >>> import tinytorch as torch
    >>> torch.ones(2).index_reduce(0, torch.tensor([1, 1]), torch.tensor([2., 4.]), "prod")
    tensor([1., 8.])
    """
    warn_once("index_reduce() is in beta and the API may change at any time.")
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim = _slices(input, dim, index, source, "index_reduce")
    shape, kind = input._array.shape, dt.kind(input._array.dtype)
    refuse_records("index_func_", input, dt.FLOAT8_RECORDS)
    if len(shape) > 1 and index._array.size and not shape[dim]:
        raise IndexError(f"select(): index 0 out of range for tensor of size {list(shape)} at dimension {dim}")
    if kind in dt.BOOL + dt.COMPLEX and (index._array.size or len(shape) < 2 or not include_self):
        _check_computable(input, reduce, include_self)
    if _any_outside(index._array, shape[dim] if shape else 1):
        if not include_self:
            _check_bounds(index, dim, shape[dim] if shape else 1, IndexError)
        raise IndexError("index out of range in self")
    there = source._array.shape
    places = expand(reshape(index, (1,) * dim + (-1,) + (1,) * (len(there) - 1 - dim)), there) if there else index
    result = _index_reduce(input, dim, places, source, reduce, include_self)
    return write_out(out, result, source, index, apart="resized", exact=EXACT)


def _check_computable(input, reduce, include_self):
    """NotImplementedError for bools and complex numbers, for the kernels that torch lacks."""
    kernel = ""
    if not include_self:
        kernel = "index_reduce_func_exclude_input_init"
    elif input._array.ndim < 2:
        kernel = "index_func_"
    elif input._array.dtype.kind in dt.BOOL:
        kernel = "div_floor_cpu" if reduce == "mean" else ""
    elif reduce in ("amax", "amin"):
        kernel = "maximum_cpu" if reduce == "amax" else "minimum_cpu"
    if kernel:
        raise not_implemented(kernel, input)
