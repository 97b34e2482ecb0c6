"""Reading and writing slices of a dimension by index: index_select index_add index_copy index_fill index_reduce."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, write_out
from ...autograd.public import public
from ...autograd.views import warn_expanded
from ...errors import type_name
from ...kernels.scatter import add_at
from ...tensor import Tensor, check_dim, wrap
from ...types import Number
from .broadcast import expand
from .index import _add_in_zeros
from .scatter import _any_outside, _check_bounds, _first_outside, _reduced, _scatter_reduce
from .shape import reshape
from .views import as_strided

__all__ = ["index_add", "index_copy", "index_fill", "index_reduce", "index_select"]

_ALL = slice(None)


# ------------------------------------------------------------------ primitives
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
_index_reduce = renamed(_scatter_reduce, "index_reduce")


# ------------------------------------------------------------------ functions
@public(out="index_select(): self and result must have the same scalar type", apart=True, method=True)
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
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
    return _index_select(input, dim, index) if shape else input.clone()


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


@public(method=True, inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1,
              out: Tensor | None = None) -> Tensor:
    """A copy of `input` with alpha * source[i] added to slice index[i] of dimension `dim`; repeats add up.

    IndexError out of range (RuntimeError along the first or last of several dimensions, where torch has scatter_add
    do it).

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_add(0, torch.tensor([0, 0]), torch.tensor([1., 2.]))
    tensor([3., 0., 0.])
    """
    check_dim(dim, input.array.ndim)
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
            return write_out(out, input.clone(), source, index, apart=True, exact=EXACT, level=4)
        if len(shape) > 1 and dim in (0, len(shape) - 1) and alpha == 1 and index.array.dtype == np.int64:
            _check_bounds(index, dim, shape[dim])
        raise IndexError("index out of range in self")
    added = source if alpha == 1 else source * alpha
    if not input.array.ndim:
        return write_out(out, _on_vector(_index_add, input, dim, index, added), exact=EXACT, level=4)
    return write_out(out, _index_add(input, dim, index, added), source, index, apart="resized", exact=EXACT, level=4)


@public(method=True, inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of `input` with slice index[i] of dimension `dim` replaced by source[i].

    >>> import tinytorch as torch
    >>> torch.zeros(3).index_copy(0, torch.tensor([2]), torch.tensor([1.]))
    tensor([0., 0., 1.])
    """
    check_dim(dim, input.array.ndim)
    if index.array.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {type_name(index)}")
    if source.array.dtype != input.array.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{type_name(input)} and (source) {type_name(source)}")
    dim = _slices(input, dim, index, source, "index_copy")
    _check_bounds(index, dim, input.array.shape[dim] if input.array.ndim else 1, IndexError, "index_copy_(): ")
    if not input.array.ndim:
        return write_out(out, _on_vector(_index_copy, input, dim, index, source), exact=EXACT, level=4)
    return write_out(out, _index_copy(input, dim, index, source), source, index, apart="resized", exact=EXACT, level=4)


def _fill_expanded(memory, values, dim, index, value):
    warn_expanded("index_fill_", "tensor[mask] = scalar")
    at = _at(dim % memory.ndim, index)
    memory[at] = values[at]


@public(method=True, inplace=lambda function: in_place(function, _fill_expanded))
def index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
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
    elif isinstance(value, complex) and input.array.dtype.kind not in dt.COMPLEX:
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


@public(method=True, inplace=True)
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True,
                 out: Tensor | None = None) -> Tensor:
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
        return write_out(out, reshape(vector, ()), exact=EXACT, level=4)
    shape = source.array.shape
    if _any_outside(index.array, input.array.shape[dim]):
        raise IndexError("index out of range in self")
    places = expand(reshape(index, (1,) * dim + (-1,) + (1,) * (len(shape) - 1 - dim)), shape)
    result = _reduced(_index_reduce, input, dim, places, source, reduce, include_self)
    return write_out(out, result, source, index, apart=True, exact=EXACT, level=4)
