"""Sums and softmax of sparse tensors."""
from __future__ import annotations

import math

import numpy as np

from .. import dtypes as dt
from ..errors import layout_expected, refuse_sparse, type_name
from ..memory_format import LAYOUT_NAMES, sparse_coo
from ..tensor import Tensor, check_dim, wrap
from . import kernels
from .array import SparseArray
from .conversion import coalesced, detached, in_places, values_at, values_of
from .tensor import is_sparse, of_primitive, of_sparse, refuse_out, sparse_op


# ------------------------------------------------------------------ sums
def _expanded(g, shape):
    return g.expand(shape) if isinstance(g, Tensor) else np.broadcast_to(g, shape)


@sparse_op("sum", input=_expanded)
def _total(input):
    return wrap(input.values).sum()._array


def _split(array, dims):
    """(sparse, dense): the summed dimensions; dense ones are numbered as dimensions of the values."""
    k = array.sparse_dim
    return [d for d in dims if d < k], tuple([d - k + 1 for d in dims if d >= k])


def _summed(input, dims):
    array = input.as_coalesced()
    sparse, dense = _split(array, dims)
    values = wrap(array.values)
    if dense:
        values = values.sum(dense)
    if len(sparse) == array.sparse_dim:
        return values.sum(0)._array
    kept = [d for d in range(array.sparse_dim) if d not in sparse]
    shape = [n for d, n in enumerate(array.shape) if d not in dims]
    found = SparseArray(sparse_coo, array.plan[kept], values._array, shape, not sparse and array.coalesced)
    return found.as_coalesced()


def _spread(g, input, dims):
    """The gradient of `input` from the gradient `g` of its sums: each element gets the gradient of its sum."""
    return in_places(_spread_values(g, input, dims), coalesced(detached(input)))


@sparse_op("sparse_sum_backward", g=lambda d, input, dims: _summed_op(in_places(d, coalesced(detached(input))), dims))
def _spread_values(g, input, dims):
    array = input.as_coalesced()
    sparse, dense = _split(array, dims)
    kept = [d for d in range(array.sparse_dim) if d not in sparse]
    if not kept:
        values = np.broadcast_to(g, (array.nnz,) + g.shape)
    else:
        shape = [array.shape[d] for d in kept]
        if isinstance(g, SparseArray):
            values = g.at(kernels.flat_places(array.plan[kept], shape))[0]
        else:
            values = g[tuple(array.plan[kept])]
    for d in sorted(dense):
        values = np.expand_dims(values, d)
    return np.broadcast_to(values, array.values.shape).copy()


_summed_op = sparse_op("sparse_sum", input=_spread)(_summed)
_summed_dims = sparse_op("sum.1", input=_spread)(_summed)


def _dims(input, dim):
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple([check_dim(d, input._array.ndim) for d in dims])


def _in_sum_dtype(input, dtype):
    if dtype is not None:
        return input.to(dtype)
    return input.to(dt.int64) if input._array.dtype.kind in dt.INTEGRAL else input


@of_primitive("_sum")
def _sum_of_op(input, dim, keepdim, dtype=None):
    return total(input, None if len(dim) == input._array.ndim and not keepdim else dim, keepdim)


@of_sparse("sum")
def total(input, dim=None, keepdim=False, *, dtype=None, out=None):
    refuse_out(out, "sum of sparse tensors")
    input = _in_sum_dtype(input, dtype)
    if dim is None or dim == () or dim == []:
        return _total(input)
    if input.layout is not sparse_coo:
        if not keepdim:
            raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
        return total(input.to_sparse_coo(), dim, True).to_sparse_csr()
    dims = _dims(input, dim)
    result = _summed_dims(input, dims)
    for d in sorted(dims) if keepdim else ():
        result = result.unsqueeze(d)
    return result


@of_sparse("any")
def any_element(input, dim=None, keepdim=False):
    if dim is not None or not input.is_sparse:
        refuse_sparse("any", input)
    return wrap(input._array.values).any()


@of_sparse("norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    if not input.is_sparse or p == "nuc":
        refuse_sparse("norm", input)
    if dim is not None and len(_dims(input, dim)) != input._array.ndim:
        raise RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
                           "contain all dimensions of the input")
    if keepdim or dtype is not None:
        raise RuntimeError("norm_sparse currently does not support "
                           + ("keepdim=True" if keepdim else "'dtype' argument"))
    if input._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {type_name(input)} "
                           "instead.")
    return _values(input).norm(2 if p == "fro" or p is None else p)


@of_sparse("dist")
def dist(input, other, p=2):
    return norm(input - other, p)


def sparse_sum(input, dim=None, dtype=None):
    if input.layout is not sparse_coo:
        raise layout_expected("coalesce", "sparse coordinate ", input)
    if dtype is not None:
        input = input.to(dtype)
    if dim is None:
        return _values(input).sum()
    if not isinstance(dim, int) and not dim:
        return coalesced(input)
    dims = _dims(input, dim)
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"dim {dims[-1]} appears multiple times in the list of dims")
    return _summed_op(input, dims)


def _values(input):
    return values_of(coalesced(input))


# ------------------------------------------------------------------ softmax
def _groups(array, dim):
    """For a softmax along a sparse dimension: the number of each element's group, and the number of groups."""
    others = [d for d in range(array.sparse_dim) if d != dim]
    keys = kernels.flat_places(array.plan[others], [array.shape[d] for d in others])
    names, groups = np.unique(keys, return_inverse=True)
    return groups, len(names)


def _sums(values, groups, count):
    result = np.zeros((count,) + values.shape[1:], values.dtype)
    kernels.add_places(result, groups, values)
    return result[groups]


def _softmax(array, dim, logarithm):
    array = array.as_coalesced()
    x = array.values
    if dim >= array.sparse_dim:
        values = wrap(x).log_softmax(dim - array.sparse_dim + 1) if logarithm else wrap(x).softmax(
            dim - array.sparse_dim + 1)
        return array.with_values(values._array)
    groups, count = _groups(array, dim)
    largest = np.full((count,) + x.shape[1:], -math.inf, x.dtype)
    np.maximum.at(largest, groups, x)
    x = x - largest[groups]
    e = np.exp(x)
    sums = _sums(e, groups, count)
    return array.with_values(x - np.log(sums) if logarithm else e / sums)


def _group_sums(values, ans, dim):
    """For each of `values` (at the places of `ans`), the sum over its softmax group along `dim`."""
    if dim >= ans.sparse_dim:
        return values.sum(dim - ans.sparse_dim + 1, keepdims=True)
    return _sums(values, *_groups(ans, dim))


def softmax_of(name, logarithm):
    @sparse_op(f"sparse_{name}_backward")
    def backward(g, ans, dim):
        d = values_at(g, ans)
        if logarithm:
            return ans.with_values(d - np.exp(ans.values) * _group_sums(d, ans, dim))
        return ans.with_values(ans.values * (d - _group_sums(ans.values * d, ans, dim)))

    @sparse_op(f"sparse_{name}", input=lambda g, ans, dim: backward(g, ans, dim))
    def primitive(input, dim):
        return _softmax(input, dim, logarithm)

    def function(input, dim, dtype):
        if not is_sparse(input) or input.layout is not sparse_coo:
            raise NotImplementedError(f"tinytorch has sparse.{name} of sparse_coo tensors only, not of "
                                      f"{LAYOUT_NAMES[input.layout]} ones")
        if dtype is not None:
            input = input.to(dtype)
        if input._array.dtype.char not in "fd":
            raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.type_name}'")
        return primitive(input, check_dim(dim, input._array.ndim))
    return function


sparse_softmax, sparse_log_softmax = softmax_of("softmax", False), softmax_of("log_softmax", True)
