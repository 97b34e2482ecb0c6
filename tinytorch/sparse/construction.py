"""Sparse tensors from their parts."""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from ..autograd.tensor_methods import check_can_require_grad
from ..errors import kind_of
from ..memory_format import LAYOUT_NAMES, sparse_bsc, sparse_bsr, sparse_coo as COO, sparse_csc, sparse_csr
from ..ops.creation.factories import tensor as new_tensor
from ..ops.creation.options import check_options
from ..tensor import Tensor
from .arithmetic import empty_array
from .conversion import compressed_of_values, coo_of_values
from .tensor import wrap_sparse


def _values(values, dtype):
    """The elements as a tensor. A tensor keeps its autograd history."""
    if not isinstance(values, Tensor):
        return new_tensor(values, dtype=dtype)
    return values if dtype is None else values.to(dtype)


def _indices(indices, whole=False):
    """Indices as an int64 array; int32 stays int32 unless `whole`."""
    array = indices._array if isinstance(indices, Tensor) else new_tensor(indices)._array
    return array if array.dtype == np.int32 and not whole else array.astype(np.int64, copy=False)


def _shape(size):
    return tuple([int(n) for n in (size if isinstance(size, (tuple, list)) else (size,))])


def _leaf(tensor, requires_grad):
    """The tensor as torch returns it: a leaf if `requires_grad`."""
    if not requires_grad or tensor._requires_grad:
        return tensor
    check_can_require_grad(tensor)
    tensor = wrap_sparse(tensor._array)
    tensor._requires_grad = True
    return tensor


def coo(*args, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None,
        is_coalesced=None, **parts):
    """`torch.sparse_coo_tensor`, of (indices, values, size) or of a size alone."""
    check_options("sparse_coo_tensor", None, device, requires_grad, pin_memory)
    names = ("size",) if len(args) == 1 and not parts else ("indices", "values", "size")
    given = {**dict(zip(names, args)), **parts}
    if len(args) > 3 or len(given) != len(args) + len(parts) or given.keys() not in _FORMS:
        raise TypeError("sparse_coo_tensor() received an invalid combination of arguments - got "
                        f"({', '.join([kind_of(x) for x in args] + [f'{k}={kind_of(x)}' for k, x in parts.items()])})")
    size = given.get("size")
    if size is not None and not isinstance(size, (tuple, list)):
        raise TypeError("sparse_coo_tensor(): argument 'size' must be tuple of ints, not " + kind_of(size))
    if "indices" not in given:
        shape = _shape(size)
        numpy_dtype = (dtype or dt.get_default_dtype()).numpy
        return _leaf(wrap_sparse(empty_array(COO, shape, numpy_dtype, len(shape))), requires_grad)
    indices, values = given["indices"], given["values"]
    values, places = _values(values, dtype), _indices(indices, True)
    if places.ndim == 1:
        places = places[:, None]
    elements = values._array
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    if not elements.ndim:
        elements = elements.reshape(1)
        values = values.reshape(1)
    shape = _inferred(places, elements) if size is None else _shape(size)
    check_coo(places, elements, shape)
    tensor = coo_of_values(values, places, shape, bool(is_coalesced) or len(elements) < 2)
    return _leaf(tensor, requires_grad)


_FORMS = ({"size"}, {"indices", "values"}, {"indices", "values", "size"})


def _inferred(places, elements):
    """The smallest shape that contains the places."""
    if not places.shape[1]:
        return (0,) * len(places) + elements.shape[1:]
    if places.min() < 0:
        raise RuntimeError("found negative index in indices")
    return tuple((places.max(1) + 1).tolist()) + elements.shape[1:]


def check_coo(places, elements, shape):
    """RuntimeError unless indices, values and shape fit together."""
    k, n = places.shape
    if len(shape) != k + elements.ndim - 1:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, "
                           f"sparse_dim = {k}, dense_dim = {elements.ndim - 1}")
    if n != len(elements):
        raise RuntimeError("indices and values must have same nnz, but got nnz from indices: "
                           f"{n}, nnz from values: {len(elements)}")
    if elements.shape[1:] != tuple(shape[k:]):
        raise RuntimeError(f"values has incorrect size, expected {[n, *shape[k:]]}, got {list(elements.shape)}")
    if min(shape, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    if n and k:
        low, high = places.min(1), places.max(1)
        for d in range(k):
            if low[d] < 0:
                raise RuntimeError(f"found negative index {low[d]} for dim {d}")
            if high[d] >= shape[d]:
                raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {shape[d]} but found "
                                   f"index {high[d]}")


def compressed(starts, inner, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False,
               requires_grad=False, check_invariants=None, function="sparse_compressed_tensor", expected=None):
    """`torch.sparse_compressed_tensor` of layout sparse_csr or sparse_csc."""
    check_options(function, None, device, requires_grad, pin_memory)
    if layout in (sparse_bsr, sparse_bsc):
        raise NotImplementedError(f"tinytorch has no sparse tensors of blocks: layout {layout}")
    if expected not in (None, layout):
        raise RuntimeError(f"{function}: layout must be {LAYOUT_NAMES[expected]} but got {LAYOUT_NAMES[layout]}")
    if layout not in (sparse_csr, sparse_csc):
        raise RuntimeError(f"{function} expected sparse compressed tensor layout but got "
                           f"{'none' if layout is None else LAYOUT_NAMES[layout]}")
    starts, inner, values = _indices(starts), _indices(inner), _values(values, dtype)
    if starts.ndim != 1 or values._array.ndim != 1:
        raise NotImplementedError(f"tinytorch has {layout} of single matrices only, without batches or dense "
                                  "dimensions")
    if size is None:
        shape = len(starts) - 1, int(inner.max()) + 1 if inner.size else 0
        shape = shape if layout is sparse_csr else shape[::-1]
    else:
        shape = _shape(size)
    check_compressed(layout, starts, inner, values._array, shape)
    return _leaf(compressed_of_values(values, layout, (starts, inner), shape), requires_grad)


def check_compressed(layout, starts, inner, elements, shape):
    """RuntimeError unless the parts make one matrix."""
    by_row = layout is sparse_csr
    outer_name, inner_name, outer, across = ("crow", "col", "nrows", "ncols") if by_row else (
        "ccol", "row", "ncols", "nrows")
    if len(shape) != 2:
        raise RuntimeError(f"tensor dimensionality must be sum of batch, base, and dense dimensionalites (=0 + 2 + 0) "
                           f"but got {len(shape)}")
    count, width = shape if by_row else shape[::-1]
    if inner.ndim != 1 or len(starts) != count + 1:
        raise RuntimeError(f"{outer_name}_indices.shape[-1] must be equal to the number of {outer[1:]} + 1 "
                           f"(={count + 1}), but got {len(starts)}")
    if len(inner) != len(elements):
        raise RuntimeError(f"number of {inner_name}_indices and values must be equal, but got {len(inner)} and "
                           f"{len(elements)}")
    if starts.dtype != inner.dtype:
        raise RuntimeError(f"{outer_name}_indices and {inner_name}_indices must have the same dtype, but got "
                           f"{dt.of(starts).type_name} and {dt.of(inner).type_name}")
    if starts[0]:
        raise RuntimeError(f"`{outer_name}_indices[..., 0] == 0` is not satisfied.")
    if starts[-1] != len(inner):
        raise RuntimeError(f"`{outer_name}_indices[..., -1] == nnz` is not satisfied.")
    steps = np.diff(starts)
    if steps.size and (steps.min() < 0 or steps.max() > width):
        raise RuntimeError(f"`0 <= {outer_name}_indices[..., 1:] - {outer_name}_indices[..., :-1] <= {across}` is not "
                           "satisfied.")
    if inner.size and inner.min() < 0:
        raise RuntimeError(f"`{inner_name}_indices.min() >= 0` is not satisfied.")
    if inner.size and inner.max() >= width:
        raise RuntimeError(f"`{inner_name}_indices < {across}` is not satisfied.")
