"""Elements selected by a mask or by their place in the flat tensor: masked_fill nonzero take put ..."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ... import dtypes as dt
from ...autograd.in_place import in_place
from ...autograd.op import op, renamed, unwatched
from ...autograd.promotion import stored_as, write_out
from ...autograd.public import public, refuse
from ...autograd.views import warn_expanded
from ...errors import refuse_records, type_name
from ...kernels import masks, native
from ...kernels.layout import dense_copy
from ...kernels.scatter import add_at, any_outside, owned
from ...tensor import Tensor, check_dim, wrap
from ...types import Extent, Ints, Number
from .broadcast import common_shape, expand
from .index import _add_in_zeros, _index, pick
from .scatter import _gather, gather
from .shape import reshape

__all__ = ["argwhere", "masked_fill", "masked_scatter", "masked_select", "nonzero",
           "nonzero_static", "put", "take", "take_along_dim", "unravel_index"]


@op(name="masked_fill", batches="elements", input=lambda g, mask: _masked_fill(g, mask, 0),
    value=lambda g, mask: _masked_fill(g, ~mask, 0), stored=dt.ONLY_COMPLEX32)
def _masked_fill(input, mask, value):
    if input.size >= native.LEAST and mask.size and input.shape[-mask.ndim:] == mask.shape and (
            type(input) is np.ndarray and input.dtype == np.float32):
        result = native.made("masked_fill", input.shape, input.size, mask.size, float(value),
                             np.ascontiguousarray(input), mask)
        if result is not None:
            return result
    shape = input.shape if mask.shape == input.shape else np.broadcast_shapes(input.shape, mask.shape)
    result = np.array(input if shape == input.shape else np.broadcast_to(input, shape), order="C")
    np.copyto(result, value, where=mask)
    return result


_masked_fill_tensor = renamed(_masked_fill, "masked_fill.1")


@op(name="masked_select", input=lambda g, input, mask: _masked_select_backward(g, input, mask), converts=True)
def _masked_select(input, mask):
    if input.shape == mask.shape:
        return pick(input, (mask,))
    size = np.broadcast_shapes(input.shape, mask.shape)
    return pick(np.broadcast_to(input, size), (np.broadcast_to(mask, size),))


def _masked_select_backward(g, input, mask):
    mask = _array(mask)
    size = np.broadcast_shapes(input.shape, mask.shape)
    return _add_in_zeros(g, size, (np.broadcast_to(mask, size),))


def _array(x):
    return x._array if isinstance(x, Tensor) else x


def _take_backward(g, input, index):
    return _add_in_zeros(g, (int(np.prod(input.shape)),), (_array(index),)).reshape(input.shape)


@op(name="take", input=lambda g, input, index: _take_backward(g, input, index),
    converts=True)     # the rule itself adds in bfloat16, rounding after each addition
def _take(input, index):
    found = pick(input.reshape(-1), (np.asarray(index, order="C"),))
    return found if index.ndim else found.copy()       # NumPy makes a view of a single record


@op(name="masked_scatter", input=lambda g, mask: _masked_fill(g, mask, 0),
    source=lambda g, shape, mask: _masked_scatter_backward(g, mask, shape))
def _masked_scatter(input, mask, source):
    result = np.array(input, order="C")
    result[mask] = source.reshape(-1)[:np.count_nonzero(mask)]
    return result


@op(name="masked_scatter_backward", g=lambda g, mask: _masked_scatter(g * 0, mask, g))
def _masked_scatter_backward(g, mask, shape):
    result, chosen = np.zeros(shape, g.dtype), g[mask]
    result.reshape(-1)[:chosen.size] = chosen
    return result


def _taken(g, index):
    """The elements of `g` at the flat places `index`."""
    return _index(g.reshape((-1,)), (_array(index),))


@op(name="put", input=lambda g, index, accumulate: g if accumulate else _put(g, index, 0, False),
    source=lambda g, source, index: _taken(g, index).reshape(source.shape),
    converts=True)     # the rule itself adds in bfloat16, rounding after each addition
def _put(input, index, source, accumulate):
    result = dense_copy(input)
    flat, places = result.reshape(-1), index.reshape(-1)       # `flat` is a copy if `result` is not in C order
    if accumulate:
        add_at(flat, (places,), source.reshape(-1))
    else:
        flat[owned(places)] = source if np.ndim(source) == 0 else source.reshape(-1)
    if not result.flags.c_contiguous:
        result[...] = flat.reshape(result.shape)
    return result


def _fill_expanded(memory, values, mask, value):
    warn_expanded("masked_fill_", "tensor[mask] = scalar")
    np.copyto(memory, values, where=mask._array)


@public(hot=True, method=True, inplace=lambda function: in_place(function, _fill_expanded, number=1), elementwise=True,
        repeats=True)
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """A copy of `input` with `value` (a number or 0-dim tensor) where `mask` is true. `input` and `mask` broadcast.

    RuntimeError for a mask that is not bool.

    >>> import tinytorch as torch
    >>> torch.tensor([1, 2, 3]).masked_fill(torch.tensor([True, False, True]), 0)
    tensor([0, 2, 0])
    """
    boolean, dtype = mask._array.dtype == bool, input._array.dtype
    if not boolean:
        refuse(masked_fill, input, mask, value)
        names = {"int64": "long int", "int32": "int", "uint8": "unsigned char", "float32": "float", "float64": "double"}
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{names.get(mask.dtype.name, mask.dtype.name)}")
    if isinstance(value, Tensor):
        native.note_reading()
        if value._array.ndim:
            raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value._array.ndim} dimension(s).")
        if dtype.kind not in dt.BOOL and not dt.is_complex(dtype) and value.item().imag != 0:
            raise RuntimeError("value cannot be converted to type " + type_name(input).lower() + " without overflow")
        if value._array.dtype != dtype:
            stored_as(value.item(), dtype)     # raises if the dtype cannot hold it
            value = value.to(input.dtype)
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        value = stored_as(value, dtype)
    else:
        raise TypeError(f"masked_fill() received an invalid combination of arguments - got (Tensor, "
                        f"{type(value).__name__}), but expected one of:\n * (Tensor mask, Tensor value)\n * (Tensor "
                        "mask, Number value)\n")
    if mask._array.shape != input._array.shape:
        common_shape(mask._array.shape, input._array.shape)
    refuse_records("masked_fill", input, dt.FLOAT8_RECORDS)
    return (_masked_fill_tensor if isinstance(value, Tensor) else _masked_fill)(input, mask, value)


@public(out="masked_select(): self and result must have the same scalar type", apart=True, method=True, looks=True)
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of `input` where `mask` is true, as a vector. `input` and `mask` broadcast.

    >>> import tinytorch as torch
    >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
    tensor([1, 3])
    """
    if mask._array.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if input._array.shape != mask._array.shape:
        common_shape(input._array.shape, mask._array.shape)
    return _masked_select(input, mask)


@public(method=True, inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of `input` where the elements with a true `mask` are replaced by those of `source`, in order.

    >>> import tinytorch as torch
    >>> torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), torch.tensor([1., 2., 3.]))
    tensor([1., 0., 2.])
    """
    if mask._array.dtype != bool:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {type_name(mask)}")
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got{type_name(input)} "
                           f"and {type_name(source)}")
    size = common_shape(mask._array.shape, input._array.shape)
    mask = mask if mask._array.shape == size else expand(mask, size)
    if source._array.size < np.count_nonzero(mask._array):
        raise RuntimeError("Number of elements of source < number of ones in mask")
    refuse_records("masked_scatter", input)
    return _masked_scatter(input if input._array.shape == size else expand(input, size), mask, source)


@public(method=True, looks=True)
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The places of the non-zero elements: a row for each, or (`as_tuple`) a tensor for each dimension.

    >>> import tinytorch as torch
    >>> torch.nonzero(torch.tensor([0, 5, 6])), torch.tensor([0, 5]).nonzero(as_tuple=True)
    (tensor([[1],
            [2]]), (tensor([1]),))
    """
    refuse_records("nonzero_count_cpu", input, dt.FLOAT8_RECORDS)
    array = dt.numbers(input._array)
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return (input if array.ndim else reshape(input, 1)).nonzero().unbind(1)
    places = masks.true_places(array)
    if places is None:
        places = np.array(array.nonzero()) if array.ndim else np.empty((0, int(array != 0)), np.int64)
    result = places.T
    return write_out(out, wrap(result), input, apart=True,
                     exact="nonzero: Expected out tensor to have scalar type Long but got scalar type{Have}")


@public(method=True)
def nonzero_static(input: Tensor, *, size: Extent, fill_value: int = -1, out: Tensor | None = None) -> Tensor:
    """`nonzero` in `size` rows: further places are left out, and missing rows hold `fill_value`.

    >>> import tinytorch as torch
    >>> torch.nonzero_static(torch.tensor([0, 5, 6]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = nonzero(input)._array[:size]
    result = np.full((size, found.shape[1]), fill_value, np.int64)
    result[:len(found)] = found
    return write_out(out, wrap(result), input, apart=True, exact="nonzero_static: Expected out tensor to have "
                     "scalar type Long but got scalar type {Have}")


@public(python=True)
def unravel_index(indices: Tensor, shape: int | Ints) -> tuple[Tensor, ...]:
    """The places, one tensor per dimension, of the flat `indices` (integers) into a tensor of `shape`. TypeError for
    floating indices, ValueError for negative sizes.

    >>> import tinytorch as torch
    >>> torch.unravel_index(torch.tensor([4, 1]), (3, 2))
    (tensor([2, 0]), tensor([0, 1]))
    """
    if indices._array.dtype.kind not in dt.INTEGER:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
        if n < 0:
            raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    steps = [math.prod(shape[d + 1:]) for d in range(len(shape))]
    places = indices.unsqueeze(-1).floor_divide(wrap(np.array(steps, np.int64)))
    return (places % wrap(np.array(shape, np.int64))).unbind(-1)


@public(method=True, looks=True)
def argwhere(input: Tensor) -> Tensor:
    """`nonzero(input)`.

    >>> import tinytorch as torch
    >>> torch.argwhere(torch.tensor([0, 5]))
    tensor([[1]])
    """
    return nonzero(input)


def _check_places(input, index, nothing):
    count, array = input._array.size, index._array
    if not count and array.size:
        raise IndexError(nothing)
    if array.size and (array.min() < -count or array.max() >= count):
        wrong = array[(array < -count) | (array >= count)].reshape(-1)[0]
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {count} elements.")


@public(out="take(): self and out expected to have the same dtype, but got self.dtype = {Want} and out.dtype = {Have}",
        apart=True, method=True)
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of the flat `input` at the places `index`, in the shape of `index`.

    >>> import tinytorch as torch
    >>> torch.take(torch.tensor([[1, 2], [3, 4]]), torch.tensor([0, 3]))
    tensor([1, 4])
    """
    if index._array.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {type_name(index)}")
    refuse_records("take_cpu", input)
    _check_places(input, index, "take(): tried to take from an empty tensor")
    return _take(input, index)


@public(method=True, inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of `input` where the flat places `index` are set to the elements of `source` (with `accumulate`: these are
    added).

    >>> import tinytorch as torch
    >>> torch.zeros(2, 2).put(torch.tensor([3]), torch.tensor([1.]))
    tensor([[0., 0.],
            [0., 1.]])
    """
    if index._array.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {type_name(index)}")
    if source._array.dtype != input._array.dtype:
        raise RuntimeError(f"put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{type_name(input)} and source.dtype = {type_name(source)}")
    if source._array.size != index._array.size:
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got "
                         f"source.numel() = {source._array.size}, index.numel() = {index._array.size}")
    refuse_records("take_put_cpu", input)
    _check_places(input, index, "put_(): Tried to put elements into an empty tensor")
    return _put(input, index, source, accumulate)


@public(method=True, repeats=True)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """`gather` with broadcasting, made for the indices that argsort and argmax return. Without `dim` it reads from the
    flat tensors.

    With `dim`, indices of any size and sign count modulo its length. Without it they must be in range.

    >>> import tinytorch as torch
    >>> x = torch.tensor([[3, 1], [2, 4]])
    >>> torch.take_along_dim(x, torch.tensor([[1], [0]]), 1)
    tensor([[1],
            [2]])
    """
    if dim is None:
        return gather(reshape(input, -1), 0, reshape(indices, -1), out=out)
    if indices._array.dtype != np.int64:
        raise RuntimeError("torch.take_along_dim(): dtype of indices should be Long but got " + type_name(indices))
    ndim = input._array.ndim
    if ndim != indices._array.ndim:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but "
                           f"got {ndim} dimensions for input, and {indices._array.ndim} dimensions for indices")
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = check_dim(dim, ndim)
    if unwatched(input, True) and unwatched(indices, True) and out is None and input._array.size and (
            input._array.shape == indices._array.shape):
        if not any_outside(indices._array, input._array.shape[dim]):
            return _gather(input, dim, indices)
    shape, places = list(input._array.shape), list(indices._array.shape)
    common = list(common_shape(shape[:dim] + [1] + shape[dim + 1:], places[:dim] + [1] + places[dim + 1:]))
    shape, places = [common[:dim] + [n] + common[dim + 1:] for n in (shape[dim], places[dim])]
    if input._array.shape[dim]:                 # in torch an index beyond the end counts from the start again
        indices = wrap(indices._array % input._array.shape[dim])
    input, indices = expand(input, shape), expand(indices, places)
    return gather(input, dim, indices) if out is None else gather(input, dim, indices, out=out)
