"""Parts of sparse tensors, and sparse tensors joined from others."""
from __future__ import annotations

import operator
from itertools import accumulate

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import mode
from ..errors import refuse_sparse
from ..memory_format import sparse_coo
from ..ops.layout.index import _put_in_zeros
from ..tensor import Tensor, check_dim, wrap
from .arithmetic import empty_array
from .array import SparseArray
from .tensor import is_sparse, of_primitive, of_sparse, refuse_out, sparse_op, wrap_sparse

_ALL = slice(None)


def _refuse_gradient(name, *tensors):
    """RuntimeError for tensors that require gradients: the function `name` has no derivative."""
    if mode.grad_now and any([x._requires_grad for x in tensors]):
        raise NotImplementedError(f"tinytorch has no derivative of {name} of sparse tensors")


def _coo(name, input):
    _refuse_gradient(name, input)
    return input._array.as_layout(sparse_coo)


def _refuse_compressed(input):
    if not input.is_sparse:
        raise RuntimeError("Sparse CSR tensors do not have strides")


# ------------------------------------------------------------------ parts
def _selected(array, dim, index):
    """The part of a sparse_coo array at `index` of dimension `dim`. It is an ndarray if no sparse dimension is left."""
    n, k = array.shape[dim], array.sparse_dim
    if not -n <= index < n:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(array.shape)} at dimension "
                         f"{dim}")
    index += n if index < 0 else 0
    shape = array.shape[:dim] + array.shape[dim + 1:]
    if dim >= k:
        return SparseArray(sparse_coo, array.plan, array.values.take(index, dim - k + 1), shape, array.nnz < 2)
    there = array.plan[dim] == index
    values = array.values[there]
    if k == 1:
        return wrap(values).sum(0).to(dt.of(values))._array
    return SparseArray(sparse_coo, np.delete(array.plan[:, there], dim, 0), values, shape, len(values) < 2)


def _select_backward(g, whole, dim, index):
    return _put_in_zeros(_check_dense_gradient("select_backward", g), whole, (_ALL,) * dim + (index,))


@sparse_op("select", input=_select_backward)
def _select(input, dim, index, whole):
    array = _selected(input.as_layout(sparse_coo), dim, index)
    if input.layout is not sparse_coo and isinstance(array, SparseArray):
        array.coalesced = True                 # a row of a csr or csc matrix
    return array


@of_sparse("select")
def select(input, dim, index):
    return _select(input, check_dim(dim, input._array.ndim), operator.index(index), input._array.shape)


@of_primitive("_unbind")
@of_sparse("unbind")
def unbind(input, dim=0):
    return tuple([select(input, dim, i) for i in range(input._array.shape[check_dim(dim, input._array.ndim)])])


@of_sparse("narrow_copy")
def narrow_copy(input, dim, start, length):
    _refuse_compressed(input)
    array = _coo("narrow_copy", input)
    if not 0 <= dim < array.ndim:
        raise RuntimeError(f"Dimension {dim} out of range. Expecting 0 <= dim < {array.ndim}.")
    end, k = start + length, array.sparse_dim
    if not 0 <= start <= end <= array.shape[dim]:
        raise RuntimeError("Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
                           f"{array.shape[dim]}).")
    shape = array.shape[:dim] + (length,) + array.shape[dim + 1:]
    if dim >= k:
        values = array.values[(slice(None),) * (dim - k + 1) + (slice(start, end),)].copy()
        return wrap_sparse(SparseArray(sparse_coo, array.plan, values, shape, array.coalesced))
    there = (array.plan[dim] >= start) & (array.plan[dim] < end)
    plan = array.plan[:, there]
    plan[dim] -= start
    return wrap_sparse(SparseArray(sparse_coo, plan, array.values[there], shape, array.coalesced))


@of_sparse("__getitem__")
def getitem(self, index):
    """Takes only integers and full slices, since torch has only these views of sparse tensors."""
    items = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis in [x for x in items if not isinstance(x, Tensor)]:
        at = [x is Ellipsis for x in items].index(True)
        items[at:at + 1] = [slice(None)] * (self._array.ndim - len(items) + 1)
    if len(items) > self._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._array.ndim}")
    result, dim = self, 0
    for at, x in enumerate(items):
        if isinstance(x, slice) and x == slice(None):
            dim += 1
        elif isinstance(x, (int, np.integer)) and not isinstance(x, bool):
            n = self._array.shape[at]
            if not -n <= x < n:
                raise IndexError(f"index {x} is out of bounds for dimension {dim} with size {n}")
            result = select(result, dim, x) if is_sparse(result) else result.select(dim, x)
        else:
            raise NotImplementedError("Could not run 'aten::as_strided' with arguments from the 'SparseCPU' backend: "
                                      "tinytorch has sparse tensors indexed by integers and ':' only")
    return result


@of_sparse("index_select")
def index_select(input, dim, index, *, out=None):
    refuse_out(out, "index_select of sparse tensors")
    if index.is_sparse:
        raise IndexError("index_select() argument index must be 1-D strided (non-sparse) long-tensor.")
    if not input.is_sparse:
        refuse_sparse("index_select", input)
    array, dim = _coo("index_select", input), check_dim(dim, input._array.ndim)
    picked, n = index._array.reshape(-1), array.shape[dim]
    if picked.size and (picked.min() < -n or picked.max() >= n):
        raise IndexError(f"index_select(): index contains values out of range for tensor of size {list(array.shape)} "
                         f"at dimension {dim}")
    picked = np.where(picked < 0, picked + n, picked)
    shape = array.shape[:dim] + (len(picked),) + array.shape[dim + 1:]
    if dim >= array.sparse_dim:
        values = array.values.take(picked, dim - array.sparse_dim + 1)
        return wrap_sparse(SparseArray(sparse_coo, array.plan, values, shape, array.nnz < 2))
    order = np.argsort(array.plan[dim], kind="stable")
    own = array.plan[dim][order]
    first, last = np.searchsorted(own, picked, "left"), np.searchsorted(own, picked, "right")
    counts = last - first
    new = np.repeat(np.arange(len(picked)), dt.as_intp(counts))
    at = order[np.arange(len(new)) - np.repeat(np.cumsum(counts) - counts, dt.as_intp(counts)) + first[new]]
    plan = array.plan[:, at]
    plan[dim] = new
    return wrap_sparse(SparseArray(sparse_coo, plan, array.values[at], shape, len(at) < 2))


# ------------------------------------------------------------------ joining
@of_primitive("_cat")
def _cat_of_op(dim, lengths, *tensors):
    return cat(tensors, dim)


def _check_dense_gradient(name, g):
    """`g` if it is dense. torch has no kernel for a sparse gradient here."""
    if is_sparse(g):
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend: the "
                                  "derivative is known only for a dense gradient, and this one is sparse")
    return g


def _cat_backward(g, wanted, dim, ends):
    g = _check_dense_gradient("as_strided", g)
    return [g[(_ALL,) * dim + (slice(start, end),)] if want else None
            for want, start, end in zip(wanted, (0, *ends), ends)]


@sparse_op("cat", first=2, joint=_cat_backward)
def _cat(dim, ends, *arrays):
    arrays = [x.as_layout(sparse_coo) for x in arrays]
    shape, plans = list(arrays[0].shape), []
    shape[dim] = ends[-1]
    for x, begin in zip(arrays, (0, *ends)):
        plans.append(x.plan.copy())
        plans[-1][dim] += begin
    return SparseArray(sparse_coo, np.concatenate(plans, 1), _joined([x.values for x in arrays]), shape)


def _check_all_sparse(tensors):
    if not is_sparse(tensors[0]):
        raise NotImplementedError("Could not run 'aten::_values' with arguments from the 'CPU' backend: the first "
                                  "tensor of cat is dense, another one sparse")
    for i, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {i}.")


@of_sparse("cat", "concat", "concatenate")
def cat(tensors, dim=0, *, axis=None, out=None):
    refuse_out(out, "cat of sparse tensors")
    _check_all_sparse(tensors)
    arrays = [x._array.as_layout(sparse_coo) for x in tensors]
    first = arrays[0]
    dim, k = check_dim(dim if axis is None else axis, first.ndim), first.sparse_dim
    for i, x in enumerate(arrays):
        if x.sparse_dim != k or len(x.shape) != len(first.shape):
            raise RuntimeError("All tensors must have the same number of sparse dimensions and dimensions")
        if x.shape[:dim] + x.shape[dim + 1:] != first.shape[:dim] + first.shape[dim + 1:]:
            raise RuntimeError(f"All tensors must have the same shape: {list(first.shape)} in all dimensions except "
                               f"{dim}, but tensor {i} is {list(x.shape)}")
    if dim >= k:
        raise NotImplementedError("tinytorch has no cat of sparse tensors along dense dimensions")
    return _cat(dim, tuple(accumulate([x.shape[dim] for x in arrays])), *tensors)


def _joined(arrays):
    dtype = dt.of(arrays[0])
    for x in arrays[1:]:
        dtype = dt.promote_types(dtype, dt.of(x))
    return np.concatenate([dt.cast(x, dtype.numpy) for x in arrays])


@sparse_op("unsqueeze", input=lambda g, dim: _check_dense_gradient("as_strided", g).squeeze(dim))
def _unsqueeze(input, dim):
    """A sparse_coo array with a new dimension of size one."""
    shape = input.shape[:dim] + (1,) + input.shape[dim:]
    if dim > input.sparse_dim:
        values = np.expand_dims(input.values, dim - input.sparse_dim + 1)
        return SparseArray(sparse_coo, input.plan, values, shape, input.nnz < 2)
    return SparseArray(sparse_coo, np.insert(input.plan, dim, 0, 0), input.values, shape, input.nnz < 2)


@of_sparse("unsqueeze", in_place=False)
def unsqueeze(input, dim):
    _refuse_compressed(input)
    return _unsqueeze(input, check_dim(dim, input._array.ndim + 1))


def _stack_backward(g, wanted, dim):
    places = range(len(wanted))
    if not is_sparse(g):
        parts = [g[(_ALL,) * dim + (i,)] for i in places]
    elif isinstance(g, Tensor):
        parts = [select(g, dim, i) for i in places]
    else:
        parts = [_selected(g, dim, i) for i in places]
    return [part if want else None for part, want in zip(parts, wanted)]


@sparse_op("stack", first=1, joint=_stack_backward)
def _stack(dim, *arrays):
    return _cat.__wrapped__(dim, range(1, len(arrays) + 1), *[_unsqueeze.__wrapped__(x, dim) for x in arrays])


@of_primitive("_stack")
def _stack_of_op(dim, *tensors):
    return stack(tensors, dim)


@of_sparse("stack")
def stack(tensors, dim=0):
    _check_all_sparse(tensors)
    array = tensors[0]._array
    if array.layout is not sparse_coo:
        raise RuntimeError("Sparse CSR tensors do not have is_contiguous")
    dim = check_dim(dim, array.ndim + 1)
    for i, x in enumerate(tensors):
        if x._array.shape != array.shape:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(array.shape)} at entry 0 "
                               f"and {list(x._array.shape)} at entry {i}")
        _refuse_compressed(x)
        if x._array.sparse_dim != array.sparse_dim:
            raise RuntimeError("All tensors must have the same number of sparse dimensions and dimensions")
    if dim > array.sparse_dim:
        raise NotImplementedError("tinytorch has no stack of sparse tensors along dense dimensions")
    return _stack(dim, *tensors)


@of_sparse("new_zeros", "new_empty")
def new_zeros(self, *size, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    numpy_dtype = self._array.dtype if dtype is None else dtype.numpy
    layout = self.layout if layout is None else layout
    if layout is not sparse_coo and len(shape) != 2:
        raise RuntimeError("torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got "
                           f"size {list(shape)}")
    return wrap_sparse(empty_array(layout, shape, numpy_dtype, len(shape))).requires_grad_(requires_grad)


@of_sparse("new_tensor")
def new_tensor(self, data, **options):
    """A dense tensor, as in torch."""
    if not self.is_sparse:
        raise RuntimeError("Cannot map DispatchKey SparseCsrCPU to a unique layout.")
    return Tensor.new_tensor(self, data, **options)
