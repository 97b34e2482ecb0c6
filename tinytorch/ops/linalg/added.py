"""The sum of a tensor and a product: addmm addmv addr baddbmm addbmm."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.promotion import EXACT, converted, promoted, scalar_of, stored_as, write_out
from ...autograd.public import public
from ...autograd.views import give, resized
from ...errors import type_name
from ...kernels.linalg import products
from ...tensor import Tensor, check_dim
from ...types import Number
from .products import (
    C_NAMES,
    HALF,
    _matmul,
    _mm,
    _mv,
    check_batches,
    check_expand,
    check_matrices,
    every_product,
    full_dot,
    mT,
    refuse_bools,
)

__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm"]

_FLOAT32 = np.dtype(np.float32)


# ------------------------------------------------------------------ primitives
def _scaled(x, factor):
    """x * factor. The factor is not rounded to half precision."""
    if factor == 1:
        return x
    if not isinstance(x, Tensor) and x.dtype.char == "e":
        return (x.astype(_FLOAT32) * _FLOAT32.type(factor)).astype(x.dtype)
    return x * factor


def _plus(input, product, beta, alpha):
    """beta * input + alpha * product, written over the product. With beta 0, `input` is ignored, even if it has NaN."""
    if alpha != 1:
        product *= alpha
    if beta != 0:
        product += input if beta == 1 else input * beta
    return product


def _plus_blas(input, product, beta, alpha):
    """`_plus` as BLAS computes it: products with the factor 0 are left out, so that they are 0 even for infinities."""
    if alpha == 0:
        product[...] = 0
    return _plus(input, product, beta, alpha)


def _wide(x):
    return dt.cast(x, _FLOAT32)


def _half(function, *args):
    """function(*args) for float16. bfloat16 raises TypeError, and the op then calls its `in_bfloat16`, which is the
    same function."""
    if args[-1].dtype.kind in dt.WIDENED:
        raise TypeError("bfloat16 is added up in float32")
    return function(*args)


def _of_input(g, beta):
    return _scaled(g, beta.conjugate())


def _half_addmm(beta, alpha, input, mat1, mat2):
    """The sum is computed in float32 and rounded once."""
    return dt.cast(_plus(_wide(input), np.matmul(_wide(mat1), _wide(mat2)), beta, alpha), mat1.dtype)


@op(name="addmm", kernel="addmm_impl_cpu_", first=2, steps=True, input=_of_input,
    mat1=lambda g, mat2, alpha: _scaled(_mm(g, mT(mat2)), alpha.conjugate()),
    mat2=lambda g, mat1, alpha: _scaled(_mm(mT(mat1), g), alpha.conjugate()), in_bfloat16=_half_addmm)
def _addmm(beta, alpha, input, mat1, mat2):
    if mat1.dtype.char in HALF:
        return _half(_half_addmm, beta, alpha, input, mat1, mat2)
    return _plus_blas(input, full_dot(mat1, mat2), beta, alpha)


@op(name="baddbmm", first=2, steps=True, input=_of_input,
    batch1=lambda g, batch2, alpha: _scaled(_matmul(g, mT(batch2)), alpha.conjugate()),
    batch2=lambda g, batch1, alpha: _scaled(_matmul(mT(batch1), g), alpha.conjugate()), in_bfloat16=_half_addmm)
def _baddbmm(beta, alpha, input, batch1, batch2):
    if batch1.dtype.char in HALF:
        return _half(_half_addmm, beta, alpha, input, batch1, batch2)
    blas = batch1.shape[1] * batch1.shape[2] * batch2.shape[2] >= 400  # torch has its own loops for fewer products
    return (_plus_blas if blas else _plus)(input, products.matmul(batch1, batch2), beta, alpha)


def _half_addbmm(beta, alpha, input, batch1, batch2):
    """The products are added one after the other. The sum is rounded each time."""
    result = np.broadcast_to(input, (batch1.shape[1], batch2.shape[2]))
    for a, b in zip(batch1, batch2):
        result, beta = _half_addmm(beta, alpha, result, a, b), 1
    return result if len(batch1) else np.ascontiguousarray(dt.cast(_wide(result) * beta, batch1.dtype))


@op(name="addbmm", kernel="addmm_impl_cpu_", first=2, steps=True, input=_of_input,
    batch1=lambda g, batch2, alpha: _scaled(_matmul(g, mT(batch2)), alpha.conjugate()),
    batch2=lambda g, batch1, alpha: _scaled(_matmul(mT(batch1), g), alpha.conjugate()), in_bfloat16=_half_addbmm)
def _addbmm(beta, alpha, input, batch1, batch2):
    count, n, k = batch1.shape
    if batch1.dtype.char in HALF:
        return _half(_half_addbmm, beta, alpha, input, batch1, batch2)
    one, two = batch1.transpose(1, 0, 2).reshape(n, count * k), batch2.reshape(count * k, batch2.shape[2])
    return _plus_blas(input, full_dot(one, two), beta, alpha)


def _addmv_of_vec(g, mat, alpha):
    rows, columns = mat.shape
    # If the matrix has no rows, the result has the shape of `input`, which may be that of a single element.
    if g.shape != (rows,):
        raise RuntimeError(f"size mismatch, got input ({columns}), mat ({columns}x{rows}), vec ({g.shape[0]})" if g.ndim
                           else "vector + matrix @ vector expected, got 1, 2, 0")
    return _scaled(_mv(mT(mat), g), alpha.conjugate())


def _half_addmv(beta, alpha, input, mat, vec):
    """Rounded in torch's steps. They differ for matrices in column order, and if alpha is 1."""
    beta, alpha = _rounded(mat.dtype, beta, alpha)
    if not mat.size:
        return dt.cast(_wide(input) * beta if beta != 0 else np.zeros(mat.shape[:1]), mat.dtype)
    product, own, columns = np.dot(_wide(mat), _wide(vec)), _wide(input), mat.strides[0] == mat.itemsize
    if columns:
        product = _wide(dt.cast(product * _FLOAT32.type(alpha), mat.dtype))
        alpha = 1
    if beta not in (0, 1) and (columns or alpha != 1 or mat.dtype == dt.BFLOAT16):
        own = _wide(dt.cast(own * _FLOAT32.type(beta), mat.dtype))
        beta = 1
    return dt.cast(_plus(own, product, beta, alpha), mat.dtype)


@op(name="addmv", kernel="addmv_impl_cpu", first=2, steps=True, input=_of_input,
    mat=lambda g, vec, alpha: _scaled(every_product(g, vec.conjugate()), alpha.conjugate()),
    vec=_addmv_of_vec, in_bfloat16=_half_addmv)
def _addmv(beta, alpha, input, mat, vec):
    if mat.dtype.char in HALF:
        return _half(_half_addmv, beta, alpha, input, mat, vec)
    if not mat.size:                           # nothing is added to `input`, which keeps its shape
        return input * beta if beta != 0 else np.zeros(mat.shape[:1], mat.dtype)
    return (_plus if mat.dtype.kind in dt.COMPLEX else _plus_blas)(input, full_dot(mat, vec), beta, alpha)


def _half_addr(beta, alpha, input, vec1, vec2):
    """Every operation is rounded."""
    beta, alpha = _rounded(vec1.dtype, beta, alpha)

    def rounded(x):
        return _wide(dt.cast(x, vec1.dtype))
    product = rounded(rounded(_wide(vec1) * alpha)[:, None] * _wide(vec2))
    return dt.cast(product if beta == 0 else rounded(_wide(input) * beta) + product, vec1.dtype)


@op(name="addr", kernel="addr_cpu", first=2, steps=True, input=_of_input,
    vec1=lambda g, vec2, alpha: _scaled(_mv(g, vec2.conjugate()), alpha.conjugate()),
    vec2=lambda g, vec1, alpha: _scaled(_mv(g.T, vec1.conjugate()), alpha.conjugate()), in_bfloat16=_half_addr)
def _addr(beta, alpha, input, vec1, vec2):
    if vec1.dtype.kind in dt.BOOL:
        return input & bool(beta) | vec1[:, None] & vec2 & bool(alpha)
    if vec1.dtype.char in HALF:
        return _half(_half_addr, beta, alpha, input, vec1, vec2)
    return _plus(input, (vec1 if alpha == 1 else vec1 * alpha)[:, None] * vec2, beta, 1)


# ------------------------------------------------------------------ factors
def _factor(value, dtype):
    """A factor as torch converts it for a dtype: truncated to an integer for integers, to float32 for half
    precision."""
    value = value.item() if isinstance(value, (Tensor, np.generic)) else value
    if dtype in dt.ONLY_STORED or dtype.kind in dt.COMPLEX and value.__class__ is not complex:
        return value
    if dtype.kind in dt.FLOATING and value.__class__ is not complex:
        return value if value.__class__ is int else scalar_of(value, dtype)
    return stored_as(value, _FLOAT32 if dtype.char in HALF else dtype).item()


def _stored(value, dtype):
    """A factor that torch converts to the dtype, also for half precision."""
    value = value.item() if isinstance(value, (Tensor, np.generic)) else value
    stored = stored_as(value, dtype)
    return value if dtype.char in HALF else stored.item()      # gradients are multiplied by the unrounded factor


def _rounded(dtype, *factors):
    return [_wide(stored_as(x, dtype)).item() for x in factors]


def _check_empty_sum(input, *factors):
    """RuntimeError for a sum without products. torch then multiplies `input` by beta, whose dtype may not fit."""
    kind = input._array.dtype.kind
    for beta in factors if kind in dt.INTEGRAL else ():
        if beta != 0 and not isinstance(beta, int if kind in dt.INTEGER else bool):
            raise RuntimeError(f"result type {dt.of_scalar(beta).type_name} can't be cast to the desired output type "
                               f"{type_name(input)}")


# ------------------------------------------------------------------ public functions
@public(method=True, inplace=True,
        older=("beta input mat1 mat2", "beta input alpha mat1 mat2"), autocast="down")
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1,
          out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2), where `input` is broadcast to (n, m).

    >>> import tinytorch as torch
    >>> torch.addmm(torch.ones(2), torch.ones(1, 3), torch.ones(3, 2), beta=2)
    tensor([[5., 5.]])
    """
    own, a, b = input._array, mat1._array, mat2._array
    for name, x in (("mat1", a), ("mat2", b)):
        if x.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {x.ndim}-D tensor")
    if not own.dtype == a.dtype == b.dtype:
        name, x = ("self", input) if own.dtype != b.dtype else ("mat1", mat1)
        raise RuntimeError(f"{name} and mat2 must have the same dtype, but got {type_name(x)} and {type_name(mat2)}")
    check_matrices(a, b)
    check_expand(own.shape, (a.shape[0], b.shape[1]))
    if a.size and b.size:
        refuse_bools(a)
    if not a.shape[1] and a.shape[0] and b.shape[1]:
        _check_empty_sum(input, beta)
    beta, alpha = _factor(beta, a.dtype), _factor(alpha, a.dtype)
    return write_out(out, _addmm(beta, alpha, input, mat1, mat2), input, exact=EXACT)


@public(out=EXACT, method=True, inplace=True,
        older=("beta input mat vec", "beta input alpha mat vec"))
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1,
          out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * (mat @ vec).

    >>> import tinytorch as torch
    >>> torch.addmv(torch.ones(2), torch.ones(2, 3), torch.ones(3))
    tensor([4., 4.])
    """
    own, a, b = input._array, mat._array, vec._array
    if own.ndim > 1 or a.ndim != 2 or b.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {own.ndim}, {a.ndim}, {b.ndim}")
    if a.shape[1] != b.shape[0] or own.size not in (1, a.shape[0]):
        if not own.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(f"size mismatch, got input ({own.size}), mat ({a.shape[0]}x{a.shape[1]}), "
                           f"vec ({b.shape[0]})")
    if not own.dtype == a.dtype == b.dtype:
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {type_name(input)}, "
                           f"{type_name(mat)}, and {type_name(vec)}")
    if a.size:
        refuse_bools(a, "addmv_impl_cpu")
    return _addmv(_stored(beta, a.dtype), _stored(alpha, a.dtype), input, mat, vec)


@public(out="", method=True, inplace=True,
        older=("beta input vec1 vec2", "beta input alpha vec1 vec2"))
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1,
         out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2).

    >>> import tinytorch as torch
    >>> torch.addr(torch.ones(2, 1), torch.ones(2), torch.ones(1))
    tensor([[2.],
            [2.]])
    """
    for name, x in (("vec1", vec1), ("vec2", vec2)):
        if x._array.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {x._array.ndim}-D")
    check_expand(input._array.shape, (vec1._array.size, vec2._array.size))
    if not input._array.ndim:
        input = input.unsqueeze(0)             # its dtype then counts as that of a matrix
    input, vec1, vec2 = promoted(input, vec1, vec2)
    dtype = input._array.dtype
    for name, value in (("beta", beta), ("alpha", alpha)):
        if value.__class__ is bool and dtype.kind not in dt.BOOL:
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if dtype.kind in dt.INTEGRAL and isinstance(value, (float, complex)):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    return _addr(_stored(beta, dtype), _stored(alpha, dtype), input, vec1, vec2)


def _dtype_of_batched_sum(input, batch1, batch2):
    """The dtype of a sum with products of batches. IndexError if a batch lacks the dimension whose size torch reads
    first."""
    check_dim(1, batch1._array.ndim)
    check_dim(2, batch2._array.ndim)
    return input._array.dtype


@public(out=EXACT, method=True, inplace=True,
        older=("beta input batch1 batch2", "beta input alpha batch1 batch2"), autocast="down")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1,
            out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * bmm(batch1, batch2).

    >>> import tinytorch as torch
    >>> torch.baddbmm(torch.ones(1), torch.ones(1, 1, 2), torch.ones(1, 2, 1))
    tensor([[[3.]]])
    """
    dtype = _dtype_of_batched_sum(input, batch1, batch2)
    if dtype != batch1._array.dtype or batch1._array.size and batch2._array.size and dtype != batch2._array.dtype:
        names = [C_NAMES[type_name(x)] for x in (input, batch1, batch2)]
        raise RuntimeError("Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(*names))
    check_expand(input._array.shape, batch1._array.shape[:2] + batch2._array.shape[2:])
    check_batches(batch1, batch2, "baddbmm")
    count, n, k = batch1._array.shape
    if not k and count and n and batch2._array.shape[2]:
        _check_empty_sum(input, beta)
    dtype = batch2._array.dtype                 # it can differ from the others only if there is no product
    return _baddbmm(_factor(beta, dtype), _factor(alpha, dtype), converted(input, dtype), converted(batch1, dtype),
                    batch2)


@public(method=True, inplace=True,
        older=("beta input batch1 batch2", "beta input alpha batch1 batch2"), autocast="down")
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1,
           out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * bmm(batch1, batch2).sum(0).

    >>> import tinytorch as torch
    >>> torch.addbmm(torch.ones(1), torch.ones(3, 1, 2), torch.ones(3, 2, 1))
    tensor([[7.]])
    """
    if out is not None and len(batch1._array):
        input = converted(input, out._array.dtype)             # torch copies the input to `out` and adds products there
    dtype = _dtype_of_batched_sum(input, batch1, batch2)
    shape = batch1._array.shape[1:2] + batch2._array.shape[2:]
    check_expand(input._array.shape, shape)
    if len(batch1._array) and dtype != batch2._array.dtype and batch1._array.shape[::2] == batch2._array.shape[:2]:
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {type_name(input)} and "
                           f"{type_name(batch2)}")
    if len(batch1._array) and batch1._array.dtype != batch2._array.dtype:
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {type_name(batch1)} and "
                           f"{type_name(batch2)}")
    check_batches(batch1, batch2, "addmm_impl_cpu_")
    count, n, k = batch1._array.shape
    if not count or not k and n and shape[1]:
        _check_empty_sum(input, beta, *[1] * (count > 1))
    batches = [converted(x, dtype) for x in (batch1, batch2)]
    result = _addbmm(_factor(beta, dtype), _factor(alpha, dtype), input, *batches)
    if out is not None and out._array.shape != shape:
        give(out, resized(out._array, result._array))              # torch gives no warning here
    if out is not None and not count:
        out.copy_(input.expand(shape))         # without products torch computes in the dtype of `out`
        return out.zero_() if beta == 0 else out.mul_(beta)
    return write_out(out, result,
                     exact="self and mat2 must have the same dtype, but got {Have} and {Want}")
