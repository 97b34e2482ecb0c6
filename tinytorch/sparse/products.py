"""Products of matrices, one or both of them sparse."""
from __future__ import annotations

import numpy as np

from .. import dtypes as dt
from ..errors import not_implemented, refuse_sparse, type_name
from ..memory_format import LAYOUT_NAMES, sparse_coo, sparse_csc, sparse_csr
from ..ops.elementwise.arithmetic import REFUSED, refused
from ..tensor import Tensor, wrap
from . import kernels
from .arithmetic import conjugate, plain_times, plus, scaled, transposed
from .array import SparseArray
from .conversion import coalesced, detached, masked_by
from .tensor import array_of, is_sparse, of_primitive, of_sparse, refuse_out, sparse_op


def adjoint(x):
    """The conjugate transpose of a matrix, dense or sparse."""
    x = conjugate(x)
    return transposed(x, (1, 0)) if is_sparse(x) else x.T


def _product(a, b):
    """The product of two arrays. It is sparse if both are."""
    if not isinstance(a, SparseArray):         # (b^T a^T)^T
        return _by_rows(b.transposed((1, 0)), np.ascontiguousarray(a.T)).T
    return _sparse_product(a, b) if isinstance(b, SparseArray) else _by_rows(a, b)


def _rows_of(a):
    """(starts of the rows, columns, values) of a matrix."""
    if a.layout is sparse_csr:
        return *a.plan, a.values
    rows, columns = a.indices
    values = a.values
    if a.layout is sparse_csc or not a.coalesced and (rows[1:] < rows[:-1]).any():
        order = kernels.stable_order(rows, a.shape[0])
        rows, columns, values = rows[order], columns[order], values[order]
    return kernels.row_starts(rows, a.shape[0]), columns, values


def _by_rows(a, dense):
    if dense.ndim == 1:
        return kernels.product(*_rows_of(a), dense[:, None])[:, 0]
    return kernels.product(*_rows_of(a), dense)


def _sparse_product(a, b):
    """The product of two sparse matrices: each element of a row of `a` times the row of `b` that it picks."""
    starts, inner, values = _rows_of(b.as_coalesced())
    c = a.as_coalesced()
    rows, columns = c.indices
    counts = np.diff(starts)[columns]
    element = np.repeat(np.arange(c.nnz), dt.as_intp(counts))
    at = np.arange(len(element)) - np.repeat(np.cumsum(counts) - counts, dt.as_intp(counts)) + starts[columns][element]
    terms = dt.narrowed(dt.widened(c.values[element]) * dt.widened(values[at])) if c.dtype.kind == dt.WIDENED \
        else c.values[element] * values[at]
    found = SparseArray(sparse_coo, np.stack([rows[element], inner[at]]), terms, (a.shape[0], b.shape[1]))
    return found.as_coalesced().as_layout(sparse_coo if a.layout is sparse_coo else sparse_csr)


def _matrix_product(a, b):
    """a @ b of tensors (recorded) or of arrays; either may be sparse."""
    if is_sparse(a) or is_sparse(b):
        return product(a, b)
    return (wrap(a) @ wrap(b))._array if isinstance(a, np.ndarray) else a @ b


@sparse_op("mm", input=lambda g, mat2: _matrix_product(g, adjoint(mat2)),
           mat2=lambda g, input: _matrix_product(adjoint(input), g))
def product(input, mat2):
    return _product(input, mat2)


def _outer(g, vec):
    return (wrap(g[:, None]) * wrap(vec))._array if isinstance(g, np.ndarray) else g[:, None] * vec


@sparse_op("mv", input=lambda g, vec: _outer(g, conjugate(vec)), vec=lambda g, input: vector_product(adjoint(input), g))
def vector_product(input, vec):
    return _product(input, vec)


def _in_pattern(x, like):
    """A sparse matrix with zeros where `like` has no elements."""
    return _zeroed(x, array_of(like).as_coalesced())


@sparse_op("sparse_mask", input=lambda g, like: _zeroed(g, like))
def _zeroed(input, like):
    c = input.as_coalesced()
    there = like.at(c.keys())[1]
    return c.with_values(np.where(there, c.values, np.zeros((), c.dtype)))


@sparse_op("sparse_sparse_matmul", input=lambda g, input, other: _in_pattern(product(g, adjoint(other)), input),
           other=lambda g, input, other: _in_pattern(product(adjoint(input), g), other))
def _product_of_sparse(input, other):
    return _product(input, other)


def _addmm(input, mat1, mat2, beta, alpha):
    result = _product(mat1, mat2)
    if alpha != 1:
        result = plain_times(result, alpha)
    if beta == 0:
        return result
    return plus(input if beta == 1 else plain_times(input, beta), result)


def _of_mat1(g, mat2, alpha):
    return scaled(_matrix_product(g, adjoint(mat2)), alpha)


def _of_sparse_mat1(g, mat1, mat2, alpha):
    found = _matrix_product(g, adjoint(mat2))
    return scaled(masked_by(found, coalesced(detached(mat1))) if is_sparse(mat1) else found, alpha)


def _of_mat2(g, mat1, alpha):
    return scaled(_matrix_product(adjoint(mat1), g), alpha)


_sparse_addmm, _plain_addmm = [
    sparse_op(name, input=lambda g, beta: scaled(g, beta), mat1=of_mat1, mat2=_of_mat2)(_addmm)
    for name, of_mat1 in (("sparse_addmm", _of_sparse_mat1), ("addmm", _of_mat1))]


@sparse_op("sparse_sampled_addmm", input=lambda g, beta: scaled(g, beta), mat1=_of_mat1, mat2=_of_mat2)
def _sampled_addmm(input, mat1, mat2, beta, alpha):
    rows, columns = input.indices
    values = (wrap(mat1[rows]) * wrap(mat2.T[columns])).sum(1) * alpha
    return input.with_values((values + wrap(input.values) * beta)._array)


def _rows_of_product(mat1, mat2):
    """The numbers of the rows in which `mat1` has elements, and these rows of the product."""
    rows = np.unique(mat1.plan[0])
    return rows, _by_rows(mat1, mat2)[rows]


@sparse_op("sspaddmm", **dict.fromkeys(("input", "mat1", "mat2"), refused("sspaddmm")))
def _sspaddmm(input, mat1, mat2, beta, alpha):
    if mat1.dtype.kind in dt.INTEGRAL:
        alpha, beta = int(alpha), int(beta)
    rows, values = _rows_of_product(mat1, mat2)
    width, shape = mat2.shape[1], (mat1.shape[0], mat2.shape[1])
    places = np.stack([np.repeat(rows, width), np.tile(np.arange(width), len(rows))])
    values = plain_times(values.reshape(-1), alpha)
    if input is not None:
        places = np.concatenate([input.plan, places], 1)
        values = np.concatenate([plain_times(input.values, beta), values])
    return SparseArray(sparse_coo, places, values, shape, len(values) < 2)


@sparse_op("hspmm", **dict.fromkeys(("mat1", "mat2"), refused("hspmm")))
def _hspmm(mat1, mat2):
    rows, values = _rows_of_product(mat1, mat2)
    return SparseArray(sparse_coo, rows[None], values, (mat1.shape[0], mat2.shape[1]), len(rows) < 2)


_sspaddmm.op.backward_name = _hspmm.op.backward_name = REFUSED


# ------------------------------------------------------------------ the functions
def _check(a, b):
    for name, x in (("self", a), ("mat2", b)):
        if x._array.ndim != 2:
            raise RuntimeError(f"mm: expected {name} to be a matrix, but got a tensor of {x._array.ndim} dimensions")
        if is_sparse(x) and x._array.dense_dim:
            raise NotImplementedError("tinytorch has no product of sparse matrices with dense dimensions")
    (n, k), (m, p) = a._array.shape, b._array.shape
    if k != m:
        want, got = (k, m) if a.is_sparse else (m, k)      # torch transposes a dense matrix times a sparse one
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {want}, got {got}"
                           if a.is_sparse or b.is_sparse else
                           f"mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {m}x{p})")
    if a._array.dtype != b._array.dtype:
        raise RuntimeError(f"expected scalar type {type_name(a)} but found {type_name(b)}")
    if a._array.dtype.kind in dt.BOOL:
        raise not_implemented("addmm_sparse_dense", a)


@of_sparse("mm", "spmm")
def mm(input, mat2, *, out=None):
    refuse_out(out, "products of sparse matrices")
    _check(input, mat2)
    return product(input, mat2)


@of_sparse("mv")
def mv(input, vec, *, out=None):
    refuse_out(out, "products of sparse matrices")
    if not is_sparse(input) or is_sparse(vec):
        raise NotImplementedError("tinytorch has products of sparse matrices and dense vectors only")
    if input._array.ndim != 2 or vec._array.ndim != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {input._array.ndim}Tensor "
                           f"Dim: {vec._array.ndim}")
    if input._array.shape[1] != vec._array.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    if input._array.dtype != vec._array.dtype:
        raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(vec)}")
    return vector_product(input, vec)


@of_sparse("matmul", "__matmul__")
def matmul(input, other, *, out=None):
    if not isinstance(other, Tensor):
        return NotImplemented
    if input._array.ndim == 1 and other._array.ndim == 2:
        return product(input.unsqueeze(0), other).reshape(-1) if not is_sparse(input) else mv(other.t(), input)
    if other._array.ndim == 1:
        return mv(input, other, out=out)
    return mm(input, other, out=out)


@of_sparse("__rmatmul__")
def rmatmul(input, other):
    return matmul(other, input) if isinstance(other, Tensor) else NotImplemented


@of_primitive("_linear")
def _linear_of_op(input, weight, bias):
    if is_sparse(input) and not is_sparse(weight):
        return mm(input, weight.t()) if bias is None else addmm(bias, input, weight.t())
    if bias is not None:
        raise _not_by_dense()
    result = mm(input.reshape(-1, input._array.shape[-1]), transposed(weight, (1, 0)))
    return result.reshape(*input._array.shape[:-1], weight._array.shape[0])


@of_primitive("_addmm")
def _addmm_of_op(beta, alpha, input, mat1, mat2):
    return addmm(input, mat1, mat2, beta=beta, alpha=alpha)


@of_sparse("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    return _added(_plain_addmm, input, mat1, mat2, beta, alpha, out)


def _not_by_dense():
    return RuntimeError("addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided "
                        "layout, got 'mat1' with layout Strided and 'mat2' with layout Sparse")


def _added(primitive, input, mat1, mat2, beta, alpha, out=None):
    refuse_out(out, "products of sparse matrices")
    _check(mat1, mat2)
    if not is_sparse(mat1):
        raise _not_by_dense()
    if is_sparse(input) or is_sparse(mat2):
        raise NotImplementedError("tinytorch has addmm of a dense tensor and a product with one sparse matrix only")
    return primitive(input.expand(mat1._array.shape[0], mat2._array.shape[1]), mat1, mat2, beta, alpha)


def sparse_mm(mat1, mat2):
    if not is_sparse(mat1) and not is_sparse(mat2):
        return mat1 @ mat2
    _check(mat1, mat2)
    if not is_sparse(mat1):
        return _sparse_addmm(None, mat2.t(), mat1.t(), 0, 1).transpose(0, 1)
    if is_sparse(mat1) and is_sparse(mat2):
        return _product_of_sparse(mat1, mat2)
    return _sparse_addmm(None, mat1, mat2, 0, 1)


def sparse_addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    if not is_sparse(mat1) and not is_sparse(mat2):
        return mat.addmm(mat1, mat2, beta=beta, alpha=alpha)
    return _added(_sparse_addmm, mat, mat1, mat2, beta, alpha)


def _check_sparse_by_dense(name, mat1, mat2):
    """Checks the arguments of `smm` and its like in torch's order."""
    for x in (mat1, mat2):
        if is_sparse(x) and not x.is_sparse:
            refuse_sparse(name, x)
    a, b = mat1._array, mat2._array
    if is_sparse(mat1) and (a.sparse_dim != 2 or a.dense_dim):
        raise RuntimeError(f"{name}: Argument #2: " + (
            f"matrices expected, got {a.sparse_dim}D tensor" if a.sparse_dim != 2 else
            f"scalar values expected, got {a.dense_dim}D values"))
    if b.ndim != 2:
        raise RuntimeError(f"{name}: Argument #3: matrices expected, got {b.ndim}D tensor")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"{name}: Argument #3: Expected dim 0 size {a.shape[1]}, got {b.shape[0]}")
    if a.dtype != b.dtype:
        raise RuntimeError(f"expected scalar type {type_name(mat1)} but found {type_name(mat2)}")


@of_sparse("smm")
def sparse_result(input, mat2):
    return sparse_sum(None, input, mat2, beta=0)


@of_sparse("sspaddmm")
def sparse_sum(input, mat1, mat2, *, beta=1, alpha=1):
    first = mat1 if input is None else input
    if is_sparse(first) and not first.is_sparse:
        raise RuntimeError("torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got "
                           "size [0]")
    if not is_sparse(mat1) and not is_sparse(mat2) and not is_sparse(input):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    if not is_sparse(mat1):
        raise RuntimeError("sspaddmm: expected 'mat1' to have sparse layout, got 'mat1' with layout Strided")
    if mat2.is_sparse:
        raise RuntimeError("sspaddmm: expected 'mat2' to have strided layout, got 'mat2' with layout Sparse")
    _check_sparse_by_dense("sspaddmm", mat1, mat2)
    if mat1.dtype in (dt.bool, dt.float16, dt.bfloat16):
        raise not_implemented("sspmm", mat1)
    if input is not None:
        _check_added(input, mat1, mat2)
    return _sspaddmm(input, mat1, mat2, beta, alpha)


def _check_added(input, mat1, mat2):
    if not is_sparse(input):
        raise RuntimeError("sspaddmm: expected 'input' to have sparse layout, got 'input' with layout Strided")
    for dim, (n, want) in enumerate(zip(input._array.shape, (mat1._array.shape[0], mat2._array.shape[1]))):
        if n != want:
            raise RuntimeError(f"sspaddmm: Argument #1: Expected dim {dim} size {want}, got {n}")
    if input._array.dtype != mat1._array.dtype:
        raise RuntimeError(f"dtype of values ({type_name(mat1)}) must match dtype of sparse tensor "
                           f"({type_name(input)})")


def hybrid_result(mat1, mat2):
    if not is_sparse(mat1):
        raise not_implemented("hspmm", mat1) if not is_sparse(mat2) else RuntimeError(
            "hspmm: Argument #2: matrices expected, got 0D tensor")
    _check_sparse_by_dense("hspmm", mat1, mat2)
    if is_sparse(mat2):
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout "
                           f"{LAYOUT_NAMES[mat2.layout]}")
    if mat1._array.dtype.kind in dt.BOOL:
        raise not_implemented("addmm_sparse_dense", mat1)
    return _hspmm(mat1, mat2)


def sampled_addmm(input, mat1, mat2, beta, alpha):
    if input.layout is not sparse_csr or is_sparse(mat1) or is_sparse(mat2):
        raise NotImplementedError("tinytorch has sampled_addmm of a sparse_csr matrix and two dense ones only")
    one, two = mat1._array.shape, mat2._array.shape
    if input._array.shape != (one[0], two[1]) or one[1] != two[0]:
        raise RuntimeError("sampled_addmm: the sizes of the matrices do not fit: "
                           f"{', '.join([str(list(x._array.shape)) for x in (input, mat1, mat2)])}")
    if not input._array.dtype == mat1._array.dtype == mat2._array.dtype:
        raise RuntimeError("sampled_addmm: Expected mat1 and mat2 to have the same dtype as input")
    return _sampled_addmm(input, mat1, mat2, beta, alpha)
