"""Matrix products: matmul mm bmm mv dot outer ... and the linear layer."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import binary, op, renamed, single
from ...autograd.promotion import EXACT, check_broadcast, converted, write_out
from ...autograd.public import method, public, refuse
from ...errors import C_NAMES, not_a_tensor, not_implemented, type_name
from ...kernels import halves, native
from ...kernels.arithmetic import outer as all_products
from ...kernels.copies import reshaped
from ...kernels.linalg import products
from ...kernels.linalg.products import HEAVY
from ...kinds.lazy import toggled
from ...tensor import Tensor

__all__ = ["bmm", "dot", "ger", "matmul", "mm", "mv", "outer", "vdot"]

_DOT_DTYPE = "result dtype {Have} does not match input dtype {Want}"
_REFUSED = "?HILQ"                             # bool, and unsigned integers above uint8
_UNUSUAL = dt.BOOL + dt.WIDENED                # BLAS has no routines for these
HALF = "eV"                                    # dtypes whose products are summed in float32


# ------------------------------------------------------------------ primitives
def mT(x):
    """The last two axes of an array or a Tensor swapped, and conjugated if it is complex."""
    return x.swapaxes(-1, -2).conjugate() if not isinstance(x, Tensor) else x.transpose(-1, -2).conjugate()


def rows(x):
    """An array or Tensor as a matrix with the same last axis."""
    return x if x.ndim == 2 else reshaped(x, (count_of(x.shape[:-1]), x.shape[-1]))


def count_of(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def _half(function, a, b):
    """function(a, b) of float16 arrays, computed in float32."""
    if a.dtype.kind in dt.WIDENED:
        raise TypeError("bfloat16 is multiplied in float32")   # `binary` catches it and converts
    return function(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)


def _plus_bias(bias):
    """A product of float32 arrays that adds the bias before the result is rounded."""
    return np.dot if bias is None else lambda a, b: np.dot(a, b) + bias


#: The float8 dtypes for which torch has matrix products. They are summed in float32, then rounded.
_MULTIPLIED = frozenset(dt.FLOAT8_RECORDS) - {dt.FLOAT8_E8M0FNU}


def _dot(a, b):
    return _half(np.dot, a, b) if a.dtype.char in HALF else full_dot(a, b)


def full_dot(a, b):
    # For matrices and vectors ndarray.dot calls BLAS with a third of np.matmul's overhead.
    heavy = a.ndim == b.ndim == 2 and a.size * b.shape[1] >= products.HEAVY
    return products.dot(a, b) if heavy else a.dot(b)


def _same_dtype(a, b, kernel="addmm_impl_cpu_"):
    if a._array.dtype != b._array.dtype:
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: "
                           f"{C_NAMES[type_name(a)]} != {C_NAMES[type_name(b)]}")
    refuse_bools(a._array, kernel)


def refuse_bools(array, kernel="addmm_impl_cpu_"):
    """NotImplementedError for the dtypes without matrix products in torch."""
    if array.dtype.char in _REFUSED:
        raise not_implemented(kernel, dt.of(array))


@binary(name="mm", kernel="addmm_impl_cpu_", is_product=True, batches=None, method=False, inplace=False,
        mixed=_same_dtype,
        input=lambda g, mat2: _mm(g, mat2.T.conjugate()),
        mat2=lambda g, input: _mm(rows(input).T.conjugate(), rows(g)), stored=_MULTIPLIED)
def _mm(input, mat2):
    char = input.dtype.char
    try:
        if char in "fd" and input.ndim == 2:
            if input.size * mat2.size < HEAVY:     # quicker than the number of multiplications, and never smaller
                return products.light(input, mat2) if native.listening else input.dot(mat2)
            return products.dot(input, mat2)
        if char == "V" and input.dtype is dt.BFLOAT16 and mat2.dtype is dt.BFLOAT16:
            if input.ndim == 2:
                return halves.to_bfloat16(products.of_bfloat16(input, mat2))
            return halves.to_bfloat16(_mm.op.forward(halves.wide(input), halves.wide(mat2)))
        if char in _REFUSED:
            check_matrices(rows(input), mat2)
            if input.size and mat2.size:
                refuse_bools(input)
        return _dot(rows(input), mat2).reshape(input.shape[:-1] + mat2.shape[1:])
    except ValueError:
        check_matrices(rows(input), mat2)
        raise


@binary(name="bmm", kernel="bmm", is_product=True, batches=None, method=False, inplace=False,
        input=lambda g, other: _matmul(g, mT(other)), other=lambda g, input: _matmul(mT(input), g),
        called={"other": "mat2"})
def _matmul(input, other):
    return products.matmul(input, other) if input.dtype.char not in HALF else _half(np.matmul, input, other)


# The nodes of products that torch computes after a change of shape.
_mm_of_rows = renamed(_mm, "_unsafe_view", ("MmBackward0", ("ViewBackward0", 0), 1))
_matmul_of_batches = renamed(_matmul, "_unsafe_view")


@single(name="_unsafe_view", input=lambda g, shape: g.reshape(shape))
def unsafe_view(input, size):
    """A tensor in another shape that shares memory but is no view. For new results, and where versions are not
    shared."""
    return input.reshape(size)


squeezed = renamed(unsafe_view, "squeeze.4")


@binary(name="mv", kernel="addmv_impl_cpu", batches=None, method=False, inplace=False,
        input=lambda g, vec: every_product(g, vec.conjugate()), vec=lambda g, input: _mv(mT(input), g))
def _mv(input, vec):
    return _dot(input, vec)


@op(name="mul", input=lambda g, vec2: _mv(g, vec2.conjugate()), vec2=lambda g, input: _mv(g.T, input.conjugate()),
    called={"vec2": "other"})
def _outer(input, vec2):
    return all_products(input, vec2)


def every_product(input, vec2):
    """The products of all elements of two vectors. In half precision their gradients are sums of rounded products, not
    products of matrices."""
    if not input.ndim:
        raise RuntimeError("outer: Expected 1-D argument self, but got 0-D")
    if not isinstance(input, Tensor):
        return input[:, None] * vec2
    return input.unsqueeze(1) * vec2 if input._array.dtype.char in HALF else _outer(input, vec2)


@binary(name="dot", kernel="dot", batches=None, method=False, inplace=False,
    input=lambda g, tensor: g * tensor.conjugate(),
        tensor=lambda g, input: g * input.conjugate())
def _inner(input, tensor):
    return _dot(input, tensor)


@binary(name="vdot", kernel="vdot", batches=None, method=False, inplace=False,
    input=lambda g, other: g.conjugate() * other,
        other=lambda g, input: g * input)
def _conjugated_inner(input, other):
    return _dot(toggled(input, conj=True), other)


def _is_small_product(a, b):
    """Whether the product of two float matrices takes less time than the call of a faster routine."""
    return type(a) is type(b) is np.ndarray and a.ndim == 2 and a.dtype.char in "fd" and a.size * b.size < HEAVY


def _linear_input(g, weight):
    if _is_small_product(g, weight):
        return g.dot(weight)
    return _mm(rows(g), weight.conjugate()).reshape(g.shape[:-1] + weight.shape[1:])


def _linear_weight(g, input):
    if _is_small_product(g, input):
        return g.T.dot(input)
    return _mm(rows(g).T, rows(input).conjugate())


def _linear_of_bfloat16(input, weight, bias):
    result = products.of_bfloat16(input, weight.T)
    return halves.to_bfloat16(result if bias is None else result + halves.wide(bias))


@op(name="linear", kernel="addmm_impl_cpu_", input=_linear_input, weight=_linear_weight, bias=lambda g: g,
    stored=_MULTIPLIED)
def _linear(input, weight, bias):
    x = input if input.ndim == 2 else rows(input)
    if x.dtype.char in HALF:
        alike = all([a is None or a.dtype is dt.BFLOAT16 for a in (x, weight, bias)]) and weight.ndim == 2
        result = _linear_of_bfloat16(x, weight, bias) if alike else _half(_plus_bias(bias), x, weight.T)
    elif weight.ndim == 2 and x.size * weight.shape[0] >= HEAVY:
        result = products.dot(x, weight.T, bias)
    else:
        result = x.dot(weight.T)
        if bias is not None:
            result += bias
    return result if input.ndim == 2 else result.reshape(input.shape[:-1] + weight.shape[:1])


# The nodes that torch makes, by the number of dimensions.
_rows, _transposed = ("ViewBackward0", 0), ("TBackward0", 1)                # for the input and for the weight
_linear_addmm = renamed(_linear, "addmm", 2, 0, _transposed)
_linear_mm = renamed(_linear, "mm", 0, _transposed)
_linear_view = renamed(_linear, "view", ("AddmmBackward0", 2, _rows, _transposed))
_linear_unsafe_view = renamed(_linear, "_unsafe_view", ("MmBackward0", _rows, _transposed))
_linear_squeeze = renamed(_linear, "squeeze.4", ("MmBackward0", ("UnsqueezeBackward0", 0), _transposed))


# ------------------------------------------------------------------ checks
def check_matrices(a, b):
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
                           f"{b.shape[0]}x{b.shape[1]})")


def _check_vectors(a, b):
    if a._array.ndim != 1 or b._array.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a._array.ndim}D and {b._array.ndim}D tensors")
    if a._array.dtype != b._array.dtype:
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{type_name(a)} and {type_name(b)}")
    if a._array.size != b._array.size:
        n, m = a._array.size, b._array.size
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of "
                           f"elements, but got {n} and {m} elements respectively")


def check_batches(a, b, kernel="bmm"):
    x, y = a._array, b._array
    if x.ndim != 3 or y.ndim != 3:
        raise RuntimeError(f"batch{1 if x.ndim != 3 else 2} must be a 3D tensor")
    n, _, k = x.shape
    m, rows, _ = y.shape
    if m != n or rows != k:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {k}] but got: "
                           f"[{m}, {rows}].")
    if x.size and y.size:                      # else torch does not check the dtypes
        refuse_bools(x, kernel)
        if x.dtype != y.dtype:
            raise RuntimeError(f"expected scalar type {type_name(a)} but found {type_name(b)}")


# ------------------------------------------------------------------ products
@public(hot=True, method=True, autocast="down", repeats=True)
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product by torch's rules: vectors, matrices, and batches of matrices with broadcasting.

    RuntimeError if the sizes do not fit or the dtypes differ.

    >>> import tinytorch as torch
    >>> torch.matmul(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    # The paths, in the order in which they are asked: two matrices, the frequent case; different dtypes; a batch times
    # a matrix; a vector on the left (times a vector, or as a matrix of one row); a vector on the right; batches.
    a, b = input._array, other._array
    if a.ndim == 2 == b.ndim:
        return _mm(input, other) if out is None else write_out(out, _mm(input, other), input, other, exact=EXACT)
    if a.dtype is not b.dtype and b.ndim > 1:
        if b.ndim > 2 and a.size and b.size and (a.ndim > 2 or a.ndim == 2 and not input.requires_grad):
            check_broadcast(a.shape[:-2], b.shape[:-2])        # torch takes it as a product of batches
            refuse_bools(a, "bmm")
            raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(other)}")
        if b.ndim == 2 or a.size and b.size:
            _same_dtype(input, other)
        input = converted(input, b.dtype)
        a = input._array
    if b.ndim == 2 and a.ndim > 2:
        return write_out(out, _mm_of_rows(input, other), exact=EXACT)
    if not a.ndim or not b.ndim:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{a.ndim}D and {b.ndim}D")
    if a.ndim == 1:
        if b.ndim == 1:
            return write_out(out, dot(input, other), exact=_DOT_DTYPE)
        folded = b.ndim > 2 and a.dtype.char in HALF and a.shape[0] == b.shape[-2]
        result = _folded(input, other) if folded else matmul(input.unsqueeze(0), other)
        return write_out(out, squeezed(result, b.shape[:-2] + b.shape[-1:]), exact=EXACT)
    if b.ndim == 1:
        if a.ndim == 2:
            return mv(input, other) if out is None else mv(input, other, out=out)
        return write_out(out, unsafe_view(mv(input.reshape(count_of(a.shape[:-1]), a.shape[-1]), other), a.shape[:-1]),
                         exact=EXACT)
    check_broadcast(a.shape[:-2], b.shape[:-2])
    if a.shape[-1] != b.shape[-2]:
        n = max(count_of(a.shape[:-2]), count_of(b.shape[:-2]))
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {a.shape[-1]}] "
                           f"but got: [{n}, {b.shape[-2]}].")
    if a.size and b.size:
        refuse_bools(a, "bmm")
    if a.ndim == 2 and a.dtype.char in HALF:
        return write_out(out, _folded(input, other), exact=EXACT)
    return write_out(out, _matmul_of_batches(input, other), exact=EXACT)


def _folded(input, other):
    """A vector or matrix times batches of matrices, as one product with all their columns. Its gradient in half
    precision is then one sum, as in torch.
    """
    columns = other.transpose(-1, -2)
    if input.ndim == 2:
        return _mm(columns, input.t()).transpose(-1, -2).contiguous()
    return mv(columns.reshape(count_of(columns.shape[:-1]), columns.shape[-1]), input)


@public(hot=True, method=True, autocast="down", repeats=True)
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices, (n, k) and (k, m).

    >>> import tinytorch as torch
    >>> torch.mm(torch.ones(2, 3), torch.ones(3, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """
    a, b = input._array, mat2._array
    if a.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if b.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    return _mm(input, mat2) if out is None else write_out(out, _mm(input, mat2), input, mat2, exact=EXACT)


@public(hot=True, method=True, autocast="down", repeats=True)
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of n pairs of matrices, (n, i, k) and (n, k, j), without broadcasting.

    >>> import tinytorch as torch
    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
    """
    a, b = input._array, mat2._array
    if a.dtype is not b.dtype or a.dtype.char not in "fd" or not a.ndim == 3 == b.ndim or a.shape[::2] != b.shape[:2]:
        check_batches(input, mat2)
        input = converted(input, b.dtype)
    return _matmul(input, mat2) if out is None else write_out(out, _matmul(input, mat2), exact=EXACT)


@public(out="addmv input tensors must have the same dtype, but got {Have}, {Want}, and {Want}", apart=None, method=True)
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix (n, k) and a vector (k).

    >>> import tinytorch as torch
    >>> torch.mv(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    a, b = input._array, vec._array
    if not a.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if a.ndim != 2 or b.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({a.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), "
                           f"vec ({b.shape[0]})")
    if a.dtype != b.dtype:
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {type_name(vec)}, "
                           f"{type_name(input)}, and {type_name(vec)}")
    if a.size:
        refuse_bools(a, "addmv_impl_cpu")
    return _mv(input, vec)


@public(hot=True, method=True)
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of the elements of two vectors.

    >>> import tinytorch as torch
    >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    _check_vectors(input, tensor)
    refuse_bools(input._array, "dot")
    return write_out(out, _inner(input, tensor), exact=_DOT_DTYPE)


@public(out=_DOT_DTYPE, apart=None, method=True)
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`dot` with the first vector conjugated.

    >>> import tinytorch as torch
    >>> torch.vdot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    _check_vectors(input, other)
    refuse_bools(input._array, "dot")
    return _conjugated_inner(input, other)


@public(out="", apart="resized", method=True, repeats=True)
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of an element of `input` (n) and an element of `vec2` (m): (n, m).

    >>> import tinytorch as torch
    >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    for name, x in (("self", input), ("vec2", vec2)):
        if x._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x._array.ndim}-D")
    return every_product(input, vec2) if input._array.dtype == vec2._array.dtype else input.unsqueeze(1) * vec2


@public(out="", apart="resized", method=True)
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`outer` under its older name."""
    return outer(input, vec2)


@public(hot=True, autocast="down")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, as one node on the tape. `input` may have any leading dimensions.

    weight: (out, in), or (in) for a single output; bias: (out).

    >>> import tinytorch as torch
    >>> torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.ones(3))
    tensor([[3., 3., 3.]])
    """
    x, w = input._array, weight._array
    if not x.ndim:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are 0D and {w.ndim}D")
    if w.ndim != 2:
        refuse(linear, input, weight, bias)
        if bias is not None and (x.ndim == 2 or w.ndim == bias._array.ndim == 1):
            raise RuntimeError(f"mat2 must be a matrix, got {w.ndim}-D tensor")
        result = matmul(input, weight.t())
        return result if bias is None else result + bias
    if x.dtype is not w.dtype or x.dtype.kind in _UNUSUAL:
        if bias is not None:
            _check_bias(bias, x, w)
            if x.dtype != w.dtype:
                raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {type_name(input)} and "
                                   f"{type_name(weight)}")
        _same_dtype(input, weight)
    if x.shape[-1] != w.shape[1]:
        check_matrices(rows(x), w.T)
    if bias is not None and (not isinstance(bias, Tensor) or bias._array.dtype is not w.dtype
                             or bias._array.shape != w.shape[:1]):
        _check_bias(bias, x, w)
    if x.ndim == 2:
        return _linear_mm(input, weight, bias) if bias is None else _linear_addmm(input, weight, bias)
    if bias is not None:
        return _linear_view(input, weight, bias)
    return (_linear_unsafe_view if x.ndim > 2 else _linear_squeeze)(input, weight, None)


def _check_bias(bias, x, w):
    if not isinstance(bias, Tensor):
        raise not_a_tensor("linear", "bias", 3, bias)
    b = bias._array
    if b.dtype is not w.dtype and b.dtype != w.dtype:
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {type_name(bias)} and "
                           f"{dt.of(w).type_name}")
    if b.shape != w.shape[:1]:
        check_expand(b.shape, (count_of(x.shape[:-1]), w.shape[0]))


def check_expand(shape, target):
    """RuntimeError unless `shape` broadcasts to `target`."""
    for i in range(1, len(shape) + 1):
        if i > len(target) or shape[-i] not in (1, target[-i]):
            wanted = target[-i] if i <= len(target) else shape[-i]
            raise RuntimeError(f"The expanded size of the tensor ({wanted}) must match the existing size ({shape[-i]}) "
                               f"at non-singleton dimension {len(target) - i}.  Target sizes: {list(target)}.  "
                               f"Tensor sizes: {list(shape)}")


@method(shown="matmul")
def __matmul__(self, other):
    if not isinstance(other, Tensor):
        return NotImplemented
    return _mm(self, other) if self._array.ndim == 2 == other._array.ndim else matmul(self, other)


@method(shown=True, in_python=True)
def __rmatmul__(self, other):
    return matmul(other, self) if isinstance(other, Tensor) and isinstance(self, Tensor) else NotImplemented
