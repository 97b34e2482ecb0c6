"""Functions of matrices: norms, rank, condition, powers, exponential, pseudo-inverse, least squares."""
from __future__ import annotations

from math import factorial

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op
from ...autograd.promotion import EXACT, check_broadcast, write_out
from ...autograd.public import public
from ...errors import C_NAMES, type_name, warn_once
from ...tensor import Tensor, wrap
from ...types import Ints, Number, Tensors
from ..elementwise.limits import nan_to_num
from ..reduction.reductions import masked, raw
from .contractions import cross as cross_of
from .decompositions import LinAlgError, _check, _column, _rowwise, _scalars, inv
from .norms import matrix_norm, vector_norm
from .products import _matmul, matmul, mT, vdot
from .spectra import eigvalsh, svd_of, svdvals

__all__ = ["chain_matmul", "matrix_exp", "matrix_power", "nuclear_norm", "pinverse"]


_NEITHER = "This function doesn't handle types other than float and double"


# ------------------------------------------------------------------ norms, rank, condition
@public("linalg_norm", out="linalg.norm expected out tensor dtype {Want} but got: {Have}", apart=None)
def norm(input: Tensor, ord: Number | str | None = None, dim: int | Ints | None = None, keepdim: bool = False, *,
         out: Tensor | None = None, dtype: dt.dtype | None = None) -> Tensor:
    """A vector norm or a matrix norm, which depends on `ord` and on the number of dimensions in `dim`. (By default
    these are all dimensions of the flattened tensor, or of the tensor itself if `ord` is given.)

    >>> import tinytorch as torch
    >>> torch.linalg.norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and ord is not None:
        ndim = input._array.ndim
        if ndim not in (1, 2):
            raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                               f"{ndim}D.")
        dims = tuple(range(ndim))
    if ord is None or len(dims) == 1:
        if isinstance(ord, str):
            raise RuntimeError(f"linalg.norm: Order {ord} not supported.")
        if ord is None:
            ord, dims = 2, dim
        return vector_norm(input, ord, dims, keepdim, dtype=dtype)
    return matrix_norm(input, ord, dims, keepdim, dtype=dtype)


@public(apart=None)
def nuclear_norm(input: Tensor, dim: bool | int | Ints = (-2, -1), keepdim: bool = False, *,
                 out: Tensor | None = None) -> Tensor:
    """The sum of the singular values of matrices: torch.linalg.matrix_norm(ord="nuc").

    >>> import tinytorch as torch
    >>> torch.nuclear_norm(torch.eye(2))
    tensor(2.)
    """
    warn_once("at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be removed in a "
              "future PyTorch release. Please use `linalg.matrix_norm(A, 'nuc', dim, keepdim)` instead")
    if isinstance(dim, bool):                  # the form without `dim`: nuclear_norm(input, keepdim)
        dim, keepdim = (-2, -1), dim
    if isinstance(dim, int):
        dim = (dim, dim)
    return matrix_norm(input, "nuc", dim, keepdim)


@public("linalg_matrix_rank", out="", apart=None, autocast="up")
def matrix_rank(input: Tensor, tol: float | Tensor = None, hermitian: bool = False, *,
                atol: float | Tensor | None = None, rtol: float | Tensor | None = None,
                out: Tensor | None = None) -> Tensor:
    """The number of singular values above max(atol, rtol * the largest singular value).

    >>> import tinytorch as torch
    >>> torch.linalg.matrix_rank(torch.ones(2, 2))
    tensor(1)
    """
    if atol is not None and rtol is not None and isinstance(atol, Tensor) != isinstance(rtol, Tensor):
        atol, rtol = (t.item() if isinstance(t, Tensor) and not t._array.ndim else t for t in (atol, rtol))
        if isinstance(atol, Tensor) or isinstance(rtol, Tensor):
            raise TypeError(f"linalg_matrix_rank() received an invalid combination of arguments - got (Tensor, "
                            f"rtol={type(rtol).__name__}, atol={type(atol).__name__})")
    _check("linalg.matrix_rank", input, square=hermitian, refusal=_NEITHER)
    s = abs(eigvalsh(input)._array) if hermitian else svdvals(input.detach())._array
    if tol is not None:
        atol, rtol = tol, 0
    limit = _limit(input._array, s, atol, rtol)
    return wrap(np.asarray((s > limit).sum(-1, dtype=np.int64)))


def _limit(array, s, atol, rtol):
    """max(atol, rtol * largest of s). Smaller singular values count as zero."""
    atol, rtol = (t._array[..., None] if isinstance(t, Tensor) else t for t in (atol, rtol))
    for limit in (atol, rtol):
        if isinstance(limit, np.ndarray):
            check_broadcast(limit.shape[:-1], s.shape[:-1])
    if rtol is None:
        rtol = 0.0 if atol is not None and np.any(np.asarray(atol) > 0) else \
            float(np.finfo(array.dtype).eps) * max(array.shape[-2:])
    return np.maximum(0.0 if atol is None else atol, rtol * s.max(-1, keepdims=True, initial=0))


@public("linalg_cond", out="", apart=None, autocast="up")
def cond(input: Tensor, p: Number | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number in the norm p (2 if None): norm(A) * norm(inverse of A). It is inf for a singular matrix.

    >>> import tinytorch as torch
    >>> torch.linalg.cond(torch.tensor([[2., 0.], [0., 1.]]))
    tensor(2.)
    """
    two = p in (None, 2, -2)
    array = input._array
    if array.ndim > 1 and not array.size:      # torch accepts any dtype here
        return wrap(dt.cast(np.zeros(array.shape[:-2]), array.real.dtype if array.dtype.kind in dt.COMPLEX
                            else array.dtype))
    if not two and array.ndim > 1 and array.shape[-1] != array.shape[-2]:
        raise RuntimeError(f"linalg.cond(ord={p}): A must be batches of square matrices, but they are "
                           f"{array.shape[-2]} by {array.shape[-1]} matrices")
    if two:
        s = svdvals(input)
        one, other = s[..., :1], s[..., -1:]
        return (one / other if p != -2 else other / one).squeeze(-1)
    if p not in (1, -1, np.inf, -np.inf, "fro", "nuc"):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p == "nuc":
        _check("linalg.svd", input, kernel="linalg_svd_cpu")
    try:
        inverse = inv(input)
    except LinAlgError:
        inverse = wrap(_inverses_or_infinity(array))
    return nan_to_num(matrix_norm(input, p) * matrix_norm(inverse, p), np.inf, np.inf, -np.inf)


def _inverses_or_infinity(array):
    """The inverses of matrices. That of a singular matrix is infinite everywhere."""
    result = np.full_like(array, np.inf)
    for matrix, inverse in zip(array.reshape(-1, *array.shape[-2:]), result.reshape(-1, *array.shape[-2:])):
        try:
            inverse[...] = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            pass
    return result


# ------------------------------------------------------------------ powers and products
@public(out=EXACT, apart=None, method=True)
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The n-th power of square matrices. For a negative n, that of the inverses.

    >>> import tinytorch as torch
    >>> torch.matrix_power(torch.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    shape = input._array.shape
    if len(shape) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, "
                           f"but they are {shape[-2]} by {shape[-1]} matrices")
    if n == 0:
        one = wrap(dt.cast(np.broadcast_to(np.eye(shape[-1]), shape), input._array.dtype))
        return masked(input, False) + one      # it does not depend on the input, but has a node in torch
    if n < 0:
        input, n = inv(input), -n
        if n == 1:
            return input
    if n == 1:
        return input.clone()
    if n == 3:                                 # torch's order of the products
        return matmul(matmul(input, input), input)
    result = None
    while n:
        if n % 2:
            result = input if result is None else matmul(result, input)
        n //= 2
        if n:
            input = matmul(input, input)
    return result


@public(out=EXACT, apart=None)
def linalg_matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """`torch.matrix_power`."""
    return matrix_power(input, n)


@public("linalg_multi_dot", out="multi_dot(): expected out tensor to have dtype {want} but got {have}", apart=None,
        autocast="down")
def multi_dot(tensors: Tensors, *, out: Tensor | None = None) -> Tensor:
    """The product of two or more matrices (the first and the last may be vectors), in the cheapest order.

    >>> import tinytorch as torch
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
    tensor([12., 12.])
    """
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0]._array.ndim == 1, tensors[-1]._array.ndim == 1
    for i, x in enumerate(tensors):
        if x._array.ndim != 2 and not (x._array.ndim == 1 and i in (0, len(tensors) - 1)):
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {x._array.ndim}D")
        if x._array.dtype != tensors[0]._array.dtype:
            one, two = (C_NAMES[type_name(y)] for y in (tensors[0], x))
            raise RuntimeError(f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {one} and tensor "
                               f"{i} {two}")
    if first:
        tensors[0] = tensors[0].unsqueeze(0)
    if last:
        tensors[-1] = tensors[-1].unsqueeze(1)
    for i, (a, b) in enumerate(zip(tensors, tensors[1:])):
        if a._array.shape[1] != b._array.shape[0] and len(tensors) > 2:
            raise RuntimeError(f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a._array.shape)} and "
                               f"{list(b._array.shape)} cannot be multiplied")
    sizes = [x._array.shape[0] for x in tensors] + [tensors[-1]._array.shape[1]]
    split = _cheapest(sizes)
    if len(tensors) == 3:                      # for three matrices torch takes the other order if both cost the same
        a, b, c, d = sizes
        split[0, 2] = 0 if a * c * (b + d) > b * d * (a + c) else 1

    def product(i, j):
        return tensors[i] if i == j else matmul(product(i, split[i, j]), product(split[i, j] + 1, j))
    return product(0, len(tensors) - 1).view([sizes[0]] * (not first) + [sizes[-1]] * (not last))


def _cheapest(sizes):
    """Where to split each product of the matrices i..j, which have sizes[i] x sizes[i+1] ...: Cormen et al., 14.2."""
    n = len(sizes) - 1
    cost, split = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))
    return split


@public(python=True, autocast="down")
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of several matrices in the cheapest order: `torch.linalg.multi_dot`.

    >>> import tinytorch as torch
    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    warn_once("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
              "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple "
              "parameters.")
    for i, x in enumerate(matrices):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}")
        if x._array.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {x._array.ndim}, expected 2 instead.")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return write_out(out, matrices[0].clone()) if len(matrices) == 1 else multi_dot(matrices, out=out)


@op(name="linalg_matrix_exp", batches="leading", input=lambda g, input: _exp_grad(g, input))
def _matrix_exp(input):
    """Scaling and squaring of a Taylor series, in double precision. Its 16 terms are computed in groups of four, each a
    sum of the first powers. This takes 6 products of matrices (Paterson and Stockmeyer).

    For arrays (A E) twice as wide as high it is the upper half of the exponential of the block matrix (A E; 0 A)."""
    n, width = input.shape[-2:]
    times = np.matmul if n == width else _times_blocks
    x = input.astype(np.result_type(input.dtype, np.float64))
    sizes = np.abs(x).sum(-2)
    if n < width:
        sizes = sizes[..., :n] + sizes[..., n:]
    size = sizes.max(initial=0, where=np.isfinite(sizes))
    squarings = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0 else 0
    x = x / 2.0 ** squarings
    square = times(x, x)
    powers = np.broadcast_to(np.eye(n, width, dtype=x.dtype), x.shape), x, square, times(square, x)
    fourth, result = times(square, square), 0
    for k in range(12, -1, -4):                # |x| <= 1/2: the omitted terms are below 1e-18
        part = powers[3] / factorial(k + 3)
        for i in (2, 1, 0):
            part += powers[i] / factorial(k + i)
        result = times(result, fourth) + part if k < 12 else part
    for _ in range(squarings):
        result = times(result, result)
    return result.astype(input.dtype)


def _times_blocks(x, y):
    """The upper half of the product of two block matrices (A E; 0 A), of which the upper halves are given."""
    n = x.shape[-2]
    result = np.matmul(x[..., :n], y)
    result[..., n:] += np.matmul(x[..., n:], y[..., :n])
    return result


def _exp_grad(g, input):
    """The upper right corner of exp of the block matrix (A^H g; 0 A^H): Higham, Functions of Matrices, theorem 3.6."""
    n, A = input.shape[-1], mT(input)
    size = float(np.abs(raw(g)).max(initial=0)) or 1.0             # with a large g, exp(A) would lose digits
    if not isinstance(g, Tensor):
        return _matrix_exp.op.forward(np.concatenate([A, g * (1 / size)], -1))[..., n:] * size
    return _matrix_exp(_blocks(A, g * (1 / size)))[..., :n, n:] * size


@op(name="blocks", A=lambda g, A: g[..., :A.shape[-1], :A.shape[-1]] + g[..., A.shape[-1]:, A.shape[-1]:],
    corner=lambda g, A: g[..., :A.shape[-1], A.shape[-1]:])
def _blocks(A, corner):
    return np.concatenate([np.concatenate([A, corner], -1), np.concatenate([A * 0, A], -1)], -2)


@public(widen=True)
def linalg_matrix_exp(A: Tensor) -> Tensor:
    """The matrix exponential of (..., n, n) matrices.

    >>> import tinytorch as torch
    >>> torch.linalg.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check("linalg.matrix_exp", A, narrow=True)
    return _matrix_exp(A)


@public(method=True)
def matrix_exp(input: Tensor) -> Tensor:
    """`torch.linalg.matrix_exp`.

    >>> import tinytorch as torch
    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return linalg_matrix_exp(input)


# ------------------------------------------------------------------ diagonals
@public("linalg_diagonal", shares=True)
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices: `torch.diagonal` of the last two dimensions.

    >>> import tinytorch as torch
    >>> torch.linalg.diagonal(torch.tensor([[1., 2.], [3., 4.]]))
    tensor([1., 4.])
    """
    return A.diagonal(offset, dim1, dim2)


# ------------------------------------------------------------------ pseudo-inverse and least squares
def _pinv_grad(g, A, P):
    """Golub and Pereyra, "The differentiation of pseudo-inverses", 1973."""
    gh, Ph = mT(g), mT(P)
    left = _matmul(_matmul(gh, P), Ph)
    right = _matmul(Ph, _matmul(P, gh))
    return left - _matmul(A, _matmul(P, left)) + right - _matmul(right, _matmul(P, A)) - _matmul(Ph, _matmul(g, Ph))


@op(name="linalg_pinv", input=lambda g, ans, input: _pinv_grad(g, input, ans))
def _pinv(input, atol, rtol, hermitian):
    if hermitian:
        s, u = np.linalg.eigh(input)
        vh = mT(u)
    else:
        u, s, vh = svd_of(input, False)
    large = np.abs(s) > _limit(input, np.abs(s), atol, rtol)
    inverse = np.where(large, 1 / np.where(large, s, 1), 0).astype(s.dtype)
    return np.matmul(mT(vh) * inverse[..., None, :], mT(u))


@public("linalg_pinv", out="", apart=None)
def pinv(input: Tensor, rcond: float | Tensor = None, hermitian: bool = False, *, atol: float | Tensor | None = None,
         rtol: float | Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """The pseudo-inverse. Singular values up to max(atol, rtol * the largest) count as zero.

    >>> import tinytorch as torch
    >>> torch.linalg.pinv(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    _check("linalg.pinv", input, square=hermitian, refusal=(
        f"linalg.pinv({type_name(input)}{{{list(input._array.shape)}}}): expected a tensor with 2 or more dimensions "
        "of float, double, cfloat or cdouble types"))
    rtol = rcond if rtol is None else rtol
    atol, rtol = (t._array[..., None] if isinstance(t, Tensor) else t for t in (atol, rtol))
    return _pinv(input, atol, rtol, hermitian)


@public(method=True, autocast="up")
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """`torch.linalg.pinv` under its older name.

    >>> import tinytorch as torch
    >>> torch.pinverse(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return pinv(input, rtol=rcond)


def _lstsq_grad(g, wanted, vectors, input, b, squares, ans):
    """The gradients by the pseudo-inverse, plus those of the residuals."""
    of_solution, of_residuals = g
    X = ans[0]
    if vectors:
        b, X = _column(b), _column(X)
    of_input, of_b = None, None
    if of_solution is not None:
        G, inverse = _column(of_solution) if vectors else of_solution, _pinv(input, None, None, False)
        if wanted[0]:
            of_input = _pinv_grad(_matmul(G, mT(b)), input, inverse)
        if wanted[1]:
            of_b = _matmul(mT(inverse), G)
    if of_residuals is not None and squares:
        rest = (_matmul(input, X) - b) * (_scalars(of_residuals) if vectors else _rowwise(of_residuals)) * 2
        if wanted[0]:
            more = _matmul(rest, mT(X))
            of_input = more if of_input is None else of_input + more
        if wanted[1]:
            of_b = -rest if of_b is None else of_b - rest
    return of_input, of_b if of_b is None or not vectors else of_b[..., 0]


#: The `rcond` for which gelsy uses only the column with the largest norm.
_LONGEST = float("inf")


def _inverse_of_longest(array):
    """The pseudo-inverse of the matrix whose columns are projected onto the longest one of `array`."""
    norms = np.linalg.norm(array, axis=-2, keepdims=True)
    longest = np.take_along_axis(array, norms.argmax(-1)[..., None], -1)
    length = np.linalg.norm(longest, axis=-2, keepdims=True)
    q = np.divide(longest, length, out=np.zeros_like(longest), where=length > 0)
    row = mT(np.matmul(mT(q).conj(), array).conj())
    square = np.square(np.abs(row)).sum(-2, keepdims=True)
    return np.matmul(np.divide(row, square, out=np.zeros_like(row), where=square > 0), mT(q).conj())


def _as_lapack_reads(rcond, driver, array):
    """The `rcond` by which a LAPACK driver decides on the rank. Some drivers replace values outside their range."""
    eps = float(np.finfo(array.dtype).eps)
    if rcond is None or driver == "gels":      # gels takes the rank to be full
        return None
    if driver == "gelsd" and not 0 < rcond < 1 or driver == "gelss" and rcond < 0:
        return eps
    if rcond < 1:
        return rcond
    return 2.0 if driver == "gelss" else _LONGEST              # for 2, all singular values count as zero


@op(name="linalg_lstsq", first=1, multi=True, inputs=2, joint=_lstsq_grad, saved_outputs=(0,))
def _lstsq(vectors, input, b, rcond, squares):
    other = b[..., None] if vectors else b
    X = np.matmul(_inverse_of_longest(input) if rcond == _LONGEST else _pinv(input, None, rcond, False), other)
    residuals = np.empty(0, X.real.dtype)
    if squares:
        residuals = np.square(np.abs(np.matmul(input, X) - other)).sum(-2)
        residuals = residuals[..., 0] if vectors else residuals
    return X[..., 0] if vectors else X, residuals


@public("linalg_lstsq", autocast="up", looks=True)
def lstsq(input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None,
          out: Tensors | None = None) -> return_types.linalg_lstsq:
    """The X that minimises the norm of input @ X - b: the named tuple (solution, residuals, rank, singular_values).

    residuals: the squared norms (for the drivers gels, gelsd and gelss, full rank, and more rows than columns).
    singular_values: only for the drivers gelsd and gelss.
    """
    _check("torch.linalg.lstsq", input, square=False, argument="input", refusal=_NEITHER)
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if input._array.dtype != b._array.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                           f"{type_name(input)} and other's dtype {type_name(b)}")
    vectors = b._array.ndim == input._array.ndim - 1
    rows, columns = input._array.shape[-2:]
    _check_right_side(input._array.shape, b._array.shape, vectors)
    rcond = _as_lapack_reads(rcond, driver, input._array)
    s = svd_of(input._array, False)[1]
    if rcond == _LONGEST:
        rank = np.asarray((s > 0).any(-1), np.int64)
    else:
        rank = np.asarray((s > _limit(input._array, s, None, rcond)).sum(-1, dtype=np.int64))
    squares = driver not in (None, "gelsy") and rows > columns and (rank == columns).all()
    X, residuals = _lstsq(vectors, input, b, rcond, squares)
    if driver == "gels":
        rank = np.empty(0, np.int64)
    if driver not in ("gelsd", "gelss"):
        s = np.empty(0, s.dtype)
    result = return_types.linalg_lstsq(X, residuals, wrap(rank), wrap(s))
    if out is None:
        return result
    for name, made, given in zip(result._fields, result, out, strict=True):
        exact = name == "singular_values" and driver not in ("gelsd", "gelss")
        if made.dtype is not given.dtype and (exact or not dt.can_cast(made.dtype, given.dtype)):
            raise RuntimeError(f"torch.linalg.lstsq: Expected {name} to be safely castable from {type_name(made)} "
                               f"dtype, but got {name} with dtype {type_name(given)}")
    return return_types.linalg_lstsq(*[write_out(given, made) for made, given in zip(result, out)])


def _check_right_side(shape, other, vectors):
    """torch's RuntimeError if the shapes of right-hand sides and matrices do not fit."""
    if not other:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if not 0 <= len(shape) - len(other) <= 1:
        raise RuntimeError("torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - "
                           "other.dim()) <= 1")
    if vectors:
        if other[-1] != shape[-2]:
            raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-1)")
        check_broadcast(shape[:-2], other[:-1])
        return
    if other[-2] != shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    check_broadcast(shape[:-2], other[:-2])


@public("linalg_cross", out=EXACT, apart=True)
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The cross product along `dim`, by default the last dimension.

    >>> import tinytorch as torch
    >>> torch.linalg.cross(torch.tensor([1., 0., 0.]), torch.tensor([0., 1., 0.]))
    tensor([0., 0., 1.])
    """
    return cross_of(input, other, dim)


@public("linalg_vecdot", out="linalg.vecdot: Expected out of dtype{Want} but found {Have}", apart=None, autocast="down")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """The dot products along `dim`. The first vector is conjugated.

    >>> import tinytorch as torch
    >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    if x._array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {type_name(x)}")
    if x._array.dtype != y._array.dtype:
        raise RuntimeError("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                           f"{type_name(x)} and y of type {type_name(y)} instead")
    return vdot(x, y) if x._array.ndim == y._array.ndim == 1 else (x.conjugate() * y).sum(dim)
