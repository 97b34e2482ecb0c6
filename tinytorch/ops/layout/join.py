"""Tensors joined: cat stack hstack vstack block_diag meshgrid ..., and atleast_1d and its like."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd import late_bound
from ...autograd.grad_mode import differentiates
from ...autograd.op import op
from ...autograd.promotion import converted, result_dtype, write_out
from ...autograd.public import public
from ...errors import type_name, warn_once
from ...kernels import native
from ...kernels.copies import beside, side_by_side
from ...kernels.layout import joined_order
from ...tensor import Tensor, check_dim, wrap
from ...types import Tensors
from .broadcast import _expand
from .masked import masked_select
from .shape import _view, flatten, reshape, unsqueeze
from .sizes import elements, unpacked

__all__ = ["_chunk_cat", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cartesian_prod", "cat",
           "column_stack", "combinations", "concat", "concatenate", "dstack", "hstack", "meshgrid", "row_stack",
           "stack", "vstack"]

_ALL = slice(None)


def _parts(g, wanted, dim, lengths):
    """The gradients of the tensors that were joined, as views of `g`."""
    before, start, result = (_ALL,) * dim, 0, []
    for want, n in zip(wanted, lengths):
        result.append(g[before + (slice(start, start + n),)] if want else None)
        start += n
    return result


@op(name="cat", first=2, joint=lambda g, wanted, dim, lengths: _parts(g, wanted, dim, lengths))
def _cat(dim, lengths, *tensors):
    if len(tensors) == 2 and tensors[0].ndim < 4 and (made := beside(*tensors, dim)) is not None:
        return made                            # in C order
    return joined_order(side_by_side(tensors, dim), tensors)


@op(name="stack", first=1, joint=lambda g, wanted, dim: [
    g[(_ALL,) * dim + (i,)] if want else None for i, want in enumerate(wanted)])
def _stack(dim, *tensors):
    if len(tensors) == 2 and tensors[0].ndim < 3 and (made := beside(*tensors, dim, True)) is not None:
        return made                            # in C order
    new = (_ALL,) * dim + (None,)
    return joined_order(np.concatenate([x[new] for x in tensors], dim), tensors, dim)


def _blocks(sizes):
    """The place of each matrix of the given sizes on the diagonal."""
    places, top, left = [], 0, 0
    for height, width in sizes:
        places.append((slice(top, top + height), slice(left, left + width)))
        top, left = top + height, left + width
    return places


@op(name="block_diag", first=2, joint=lambda g, wanted, sizes, shapes: [
    g[place].reshape(shape) if want else None for want, place, shape in zip(wanted, _blocks(sizes), shapes)])
def _block_diag(sizes, shapes, *blocks):
    result = np.zeros([sum(n) for n in zip(*sizes)], blocks[0].dtype)
    for place, size, block in zip(_blocks(sizes), sizes, blocks):
        result[place] = block.reshape(size)
    return result


def joined(dim, parts):
    """`cat` of Arrays or Tensors of one dtype along `dim`, for derivative rules."""
    return _cat(dim, tuple([part.shape[dim] for part in parts]), *parts)


def _common_shape(tensors):
    """The shape of tensors that have one shape and one dtype, in a list or a tuple; None for any other object."""
    if not tensors or tensors.__class__ is not list and tensors.__class__ is not tuple:
        return None
    try:
        first = tensors[0]._array
        shape, dtype = first.shape, first.dtype
        for tensor in tensors:
            array = tensor._array
            if array.shape != shape or array.dtype != dtype:
                return None
    except AttributeError:                     # no tensor
        return None
    return shape


def _same_dtype(tensors, name):
    """The tensors in their common dtype. TypeError for an argument that is not a sequence of tensors."""
    if isinstance(tensors, Tensor) or not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    try:
        first = tensors[0]._array.dtype
        for tensor in tensors:
            if tensor._array.dtype != first:
                break
        else:
            return tensors
    except AttributeError:
        elements(tensors)
        raise
    dtype = result_dtype(elements(tensors)).numpy
    return [converted(tensor, dtype) for tensor in tensors]


@public(hot=True, autocast="widest", repeats=True)
def cat(tensors: Tensors, dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Joins the tensors along `dim` (`concat` and `concatenate` are the same). Dtypes are promoted.

    All sizes but that of `dim` must agree (RuntimeError). Tensors of shape (0,) are skipped.

    >>> import tinytorch as torch
    >>> torch.cat([torch.tensor([1, 2]), torch.tensor([3.])])
    tensor([1., 2., 3.])
    """
    # The order of the steps is that of torch's errors: an empty list, dtypes, tensors without dimensions, `out`, the
    # dimension, sizes. Tensors of shape (0,) are left out of all checks but the first ones.
    if out is None and (first := _common_shape(tensors)) is not None and len(first) > 1:      # as nearly always
        if axis is not None or dim.__class__ is not int or not 0 <= dim < len(first):
            dim = check_dim(dim if axis is None else axis, len(first))
        return _cat(dim, (first[dim],) * len(tensors), *tensors)
    if isinstance(tensors, (tuple, list)) and not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    tensors = _same_dtype(tensors, "cat")
    for i, tensor in enumerate(tensors):
        if not tensor._array.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    if out is not None:
        _check_out(out, tensors)
    kept = tensors
    for tensor in tensors:
        if tensor._array.shape == (0,):
            if any([tensor._array.ndim != 1 for tensor in tensors]):
                kept = [tensor for tensor in tensors if tensor._array.shape != (0,)]
            break
    first = kept[0]._array.shape
    try:
        dim = check_dim(dim if axis is None else axis, len(first))
    except IndexError:
        if any([tensor._array.shape != (0,) for tensor in tensors]):
            raise
        dim = 0                                # torch skips all tensors, and does not check the dimension
    for tensor in kept:
        shape = tensor._array.shape
        if shape == first:
            continue
        if len(shape) != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        if shape[:dim] != first[:dim] or shape[dim + 1:] != first[dim + 1:]:
            raise _sizes_differ(tensors, tensor, first, dim)
    if len(kept) < len(tensors) and any([tensor.requires_grad for tensor in tensors]):
        nothing = (*first[:dim], 0, *first[dim + 1:])          # skipped tensors are inputs of the result's node too
        kept = [t.reshape(nothing) if t._array.shape == (0,) else t for t in tensors]
    result = _cat(dim, tuple([t._array.shape[dim] for t in kept]), *kept)
    return result if out is None else write_out(out, result, *tensors, apart="resized")


def _sizes_differ(tensors, tensor, first, dim):
    """The error for a tensor whose shape differs from `first` in another dimension than `dim`."""
    shape = tensor._array.shape
    wrong = next(i for i, n in enumerate(shape) if i != dim and n != first[i])
    number = next(i for i, t in enumerate(tensors) if t is tensor)
    return RuntimeError(f"Sizes of tensors must match except in dimension {dim}. Expected size {first[wrong]} "
                        f"but got size {shape[wrong]} for tensor number {number} in the list.")


def _check_out(out, tensors):
    """Raises torch's errors for `out` that come before the check of sizes."""
    tensor = tensors[0]
    if isinstance(out, Tensor) and differentiates() and any([x.requires_grad for x in (*tensors, out)]):
        raise RuntimeError("cat(): functions with out=... arguments don't support automatic differentiation, but one "
                           "of the arguments requires grad.")
    if isinstance(out, Tensor) and not dt.can_cast(dt.of(tensor._array), dt.of(out._array)):
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {type_name(out)}")


@public(autocast="widest")
def concat(tensors: Tensors, dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """`cat` under another name."""
    return cat(tensors, dim, out=out)


@public(autocast="widest")
def concatenate(tensors: Tensors, dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """`cat` under NumPy's name."""
    return cat(tensors, dim, out=out)


@public(hot=True, autocast="widest", repeats=True)
def stack(tensors: Tensors, dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape along a new dimension `dim`. RuntimeError if the shapes differ.

    >>> import tinytorch as torch
    >>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])], 1)
    tensor([[1, 3],
            [2, 4]])
    """
    if out is None and (first := _common_shape(tensors)) is not None:
        return _stack(check_dim(dim if axis is None else axis, len(first) + 1), *tensors)
    if isinstance(tensors, (tuple, list)) and not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    tensors = _same_dtype(tensors, "stack")
    first = tensors[0]._array.shape
    dim = check_dim(dim if axis is None else axis, len(first) + 1)
    for i, tensor in enumerate(tensors):
        if tensor._array.shape != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                               f"{list(tensor._array.shape)} at entry {i}")
    if out is not None:
        _check_out(out, tensors)
    return write_out(out, _stack(dim, *tensors), *tensors, apart="resized")


def _grown(tensors, grow):
    if len(tensors) == 1:
        tensors = tensors[0]
    return grow(tensors) if isinstance(tensors, Tensor) else tuple([grow(tensor) for tensor in elements(tensors)])


@public(python=True, shares=True)
def atleast_1d(*tensors: Tensor | Tensors) -> Tensor | Tensors:
    """The tensor (or each of several) with dimensions of size 1 added until it has at least 1.

    >>> import tinytorch as torch
    >>> torch.atleast_1d(torch.tensor(1.))
    tensor([1.])
    """
    return _grown(tensors, lambda x: x if x._array.ndim else reshape(x, 1))


@public(python=True, shares=True)
def atleast_2d(*tensors: Tensor | Tensors) -> Tensor | Tensors:
    """The tensor (or each of several) with dimensions of size 1 added until it has at least 2.

    >>> import tinytorch as torch
    >>> torch.atleast_2d(torch.tensor(1.))
    tensor([[1.]])
    """
    return _grown(tensors, lambda x: x if x._array.ndim >= 2 else unsqueeze(reshape(x, -1), 0))


@public(python=True, shares=True)
def atleast_3d(*tensors: Tensor | Tensors) -> Tensor | Tensors:
    """The tensor (or each of several) with dimensions of size 1 added until it has at least 3.

    >>> import tinytorch as torch
    >>> torch.atleast_3d(torch.tensor(1.))
    tensor([[[1.]]])
    """
    def grow(x):
        if x._array.ndim >= 3:
            return x
        return unsqueeze(x, -1) if x._array.ndim == 2 else unsqueeze(unsqueeze(reshape(x, -1), 0), -1)
    return _grown(tensors, grow)


def _nonempty(tensors, name):
    if not len(tensors):
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


@public()
def hstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """The tensors side by side: `cat` along dimension 1 (0 for vectors).

    >>> import tinytorch as torch
    >>> torch.hstack((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
    """
    tensors = atleast_1d(tuple(_nonempty(tensors, "hstack")))
    return cat(tensors, 0 if tensors[0]._array.ndim == 1 else 1, out=out)


@public()
def vstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """The tensors as rows below each other (`row_stack` is the same).

    >>> import tinytorch as torch
    >>> torch.vstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
    """
    return cat(atleast_2d(tuple(_nonempty(tensors, "vstack"))), 0, out=out)


@public()
def row_stack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """`vstack` under another name."""
    return vstack(tensors, out=out)


@public()
def dstack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """The tensors behind each other: `cat` along dimension 2.

    >>> import tinytorch as torch
    >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4]))).shape
    torch.Size([1, 2, 2])
    """
    return cat(atleast_3d(tuple(_nonempty(tensors, "dstack"))), 2, out=out)


@public()
def column_stack(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """`hstack` that takes vectors as columns.

    >>> import tinytorch as torch
    >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
    """
    return hstack([reshape(t, -1, 1) if t._array.ndim <= 1 else t for t in _nonempty(tensors, "column_stack")], out=out)


@public(python=True)
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices (vectors are rows) along its diagonal and zeros elsewhere.

    >>> import tinytorch as torch
    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    for i, tensor in enumerate(elements(tensors)):
        if tensor._array.ndim > 2:
            raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                               f"{tensor._array.ndim} dimensions")
    if not tensors:
        return wrap(np.empty((1, 0), np.float32))
    tensors = _same_dtype(tensors, "block_diag")
    shapes = [x._array.shape for x in tensors]
    return _block_diag([(1, 1, *shape)[-2:] for shape in shapes], shapes, *tensors)


@public(python=True, shares=True)
def cartesian_prod(*tensors: Tensor | Tensors) -> Tensor:
    """All combinations of one element of each vector, as rows. A single vector is returned unchanged.

    >>> import tinytorch as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    tensors = unpacked(tensors)
    for tensor in tensors:
        if tensor._array.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor._array.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid) for grid in meshgrid(*tensors, indexing="ij")], 1)


@public()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, as rows.

    >>> import tinytorch as torch
    >>> torch.combinations(torch.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if input._array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._array.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty(0, input._array.dtype))
    n, places = input._array.size, np.arange(input._array.size)
    rising = (np.less_equal if with_replacement else np.less)(places[:, None], places)
    mask = np.ones((n,) * r, bool)
    for d in range(r - 1):
        mask &= rising.reshape((n, n) + (1,) * (r - 2 - d))
    return stack([masked_select(grid, wrap(mask)) for grid in meshgrid(*[input] * r, indexing="ij")], 1)


@public(python=True, shares=True, repeats=True)
def meshgrid(*tensors: Tensor | Tensors, indexing: str | None = None) -> Tensors:
    """Each vector spread over the grid of all: the i-th varies along dimension i ("xy": dimensions 0 and 1 swapped).

    >>> import tinytorch as torch
    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4, 5]), indexing="ij")[0]
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    tensors = unpacked(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if any(tensor._array.dtype != tensors[0]._array.dtype for tensor in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    for tensor in tensors:
        if tensor._array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")
    if indexing is not None and not isinstance(indexing, str):
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {type(indexing).__name__}")
    if indexing not in ("ij", "xy", None):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if indexing is None:
        native.note_reading()                  # a record would not warn again when warnings are given every time
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    size = tuple([tensor._array.size for tensor in tensors])
    grids = [_expand(_view(tensor, (1,) * i + (n,) + (1,) * (len(size) - 1 - i)), size)
             for i, (tensor, n) in enumerate(zip(tensors, size))]
    if swap:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


late_bound.stack = stack


# ------------------------------------------------------------------ chunks
@public(apart=None)
def _chunk_cat(tensors: Tensors, dim: int, num_chunks: int, *, out: Tensor | None = None) -> Tensor:
    """Cuts each tensor into `num_chunks` parts along `dim`, with zeros after its last element, and joins the parts of
    equal number to rows. The result has the sizes before `dim`, `num_chunks`, and the length of a row. Not
    differentiable.

    >>> import tinytorch as torch
    >>> torch._chunk_cat([torch.ones(2, 2), torch.tensor([5, 6, 7.])], 0, 2)
    tensor([[1., 1., 5., 6.],
            [1., 1., 7., 0.]])
    """
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    arrays = [x._array for x in tensors]
    first = arrays[0]
    if any([x.dtype != first.dtype for x in arrays]):
        raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
    if not all([x.size for x in arrays]):
        raise RuntimeError("_chunk_cat expects non-empty tensor")
    if dim < 0 and any([x.ndim != first.ndim for x in arrays]):
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    dim = check_dim(dim, first.ndim)
    if any([x.ndim <= dim for x in arrays]):
        raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    lead = first.shape[:dim]
    if any([x.shape[:dim] != lead for x in arrays]):
        raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    _check_out(out, tensors)
    parts = []
    for x in arrays:
        length = -(-x.shape[dim] // num_chunks)
        padded = np.zeros(lead + (num_chunks * length,) + x.shape[dim + 1:], x.dtype)
        padded[(_ALL,) * dim + (slice(x.shape[dim]),)] = x
        parts.append(padded.reshape(lead + (num_chunks, -1)))
    return write_out(out, wrap(np.concatenate(parts, dim + 1)))
