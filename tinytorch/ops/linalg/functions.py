"""Functions of matrices: norms, rank, condition, powers, exponential, pseudo-inverse, least squares."""
import numpy as np

from ... import return_types
from ...autograd.op import op
from ...autograd.promotion import EXACT, converted, write_out
from ...autograd.public import methods
from ...errors import type_name
from ...tensor import Tensor, wrap
from ..reduction.reductions import check_tensor, masked, raw, to_outs
from .contractions import cross as cross_of
from .decompositions import LinAlgError, _check, _eye, _gaps, _inv, _rowwise, eigvalsh, inv, solve, svdvals
from .norms import matrix_norm, vector_norm
from .products import _matmul, matmul, mT

__all__ = ["chain_matmul", "cholesky_inverse", "cholesky_solve", "matrix_exp", "matrix_power", "pinverse"]


# ------------------------------------------------------------------ norms, rank, condition
def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """Vector norm or matrix norm, by `ord` and how many dimensions `dim` names (by default: all, and
    those of the tensor if `ord` is given).

    >>> import tinytorch as torch
    >>> torch.linalg.norm(torch.tensor([[3., 0.], [0., 4.]]))
    tensor(5.)
    """
    check_tensor("linalg_norm", A)
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and ord is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and ord is not None:
        if A.array.ndim not in (1, 2):
            raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                               f"{A.array.ndim}D.")
        dims = tuple(range(A.array.ndim))
    if ord is None or len(dims) == 1:
        if isinstance(ord, str):
            raise RuntimeError(f"linalg.norm: Order {ord} not supported.")
        return vector_norm(A, 2 if ord is None else ord, dim if ord is None else dims, keepdim, dtype=dtype, out=out)
    return matrix_norm(A, ord, dims, keepdim, dtype=dtype, out=out)


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False, tol=None, out=None):
    """The number of singular values above max(atol, rtol * the largest one).

    >>> import tinytorch as torch
    >>> torch.linalg.matrix_rank(torch.ones(2, 2))
    tensor(1)
    """
    _check("linalg.matrix_rank", A, square=hermitian)
    s = abs(eigvalsh(A).array) if hermitian else svdvals(A.detach()).array
    limit = _limit(A.array, s, tol if tol is not None else atol, 0 if tol is not None else rtol)
    return write_out(out, wrap(np.asarray((s > limit).sum(-1, dtype=np.int64))))


def _limit(array, s, atol, rtol):
    """max(atol, rtol * largest of s): below it, a singular value counts as zero."""
    atol, rtol = (t.array[..., None] if isinstance(t, Tensor) else t for t in (atol, rtol))
    if rtol is None:
        rtol = 0.0 if atol is not None and np.any(np.asarray(atol) > 0) else \
            float(np.finfo(array.dtype).eps) * max(array.shape[-2:])
    return np.maximum(0.0 if atol is None else atol, rtol * s.max(-1, keepdims=True, initial=0))


def cond(A, p=None, *, out=None):
    """The condition number in the norm p (2 if None): norm(A) * norm(inverse of A); inf if singular.

    >>> import tinytorch as torch
    >>> torch.linalg.cond(torch.tensor([[2., 0.], [0., 1.]]))
    tensor(2.)
    """
    _check("linalg.cond" if p is None else f"linalg.cond(ord={p})", A, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        s = svdvals(A)
        return write_out(out, s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0])
    try:
        return write_out(out, matrix_norm(A, p) * matrix_norm(inv(A), p))
    except LinAlgError:
        singular = np.linalg.matrix_rank(A.array) < A.array.shape[-1]
        if singular.ndim:
            raise NotImplementedError("linalg.cond of a batch with singular matrices is not supported") from None
        return write_out(out, wrap(np.asarray(np.inf, A.array.real.dtype)))


# ------------------------------------------------------------------ powers and products
def matrix_power(input, n, *, out=None):
    """The n-th power of square matrices; the inverse's for negative n.

    >>> import tinytorch as torch
    >>> torch.matrix_power(torch.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    check_tensor("matrix_power", input)
    shape = input.array.shape
    if len(shape) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, "
                           f"but they are {shape[-2]} by {shape[-1]} matrices")
    if n == 0:
        one = wrap(np.broadcast_to(np.eye(shape[-1], dtype=input.array.dtype), shape).copy())
        return write_out(out, masked(input, False) + one)        # a constant, but on the tape as in torch
    if n < 0:
        input, n = inv(input), -n
    result = None
    while n:
        if n % 2:
            result = input if result is None else matmul(result, input)
        n //= 2
        if n:
            input = matmul(input, input)
    return write_out(out, result.clone() if result is input else result, exact=EXACT)


def multi_dot(tensors, *, out=None):
    """Product of two or more matrices (the first and the last may be vectors), in the cheapest order.

    >>> import tinytorch as torch
    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)])
    tensor([12., 12.])
    """
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0].array.ndim == 1, tensors[-1].array.ndim == 1
    for i, x in enumerate(tensors):
        if x.array.ndim != 2 and not (x.array.ndim == 1 and i in (0, len(tensors) - 1)):
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {x.array.ndim}D")
    if first:
        tensors[0] = tensors[0].unsqueeze(0)
    if last:
        tensors[-1] = tensors[-1].unsqueeze(1)
    sizes = [x.array.shape[0] for x in tensors] + [tensors[-1].array.shape[1]]
    split = _cheapest(sizes)

    def product(i, j):
        return tensors[i] if i == j else matmul(product(i, split[i, j]), product(split[i, j] + 1, j))
    result = product(0, len(tensors) - 1)
    result = result.squeeze(0) if first else result
    return write_out(out, result.squeeze(-1) if last else result,
                     exact="multi_dot(): expected out tensor to have dtype {want} but got {have}")


def _cheapest(sizes):
    """Where to split the product of matrices i..j, of sizes[i] x sizes[i+1] ...: Cormen et al., chapter 14.2."""
    n = len(sizes) - 1
    cost, split = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))
    return split


def chain_matmul(*matrices, out=None):
    """Product of several matrices, in the cheapest order: `torch.linalg.multi_dot`.

    >>> import tinytorch as torch
    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    return write_out(out, matrices[0].clone()) if len(matrices) == 1 else multi_dot(matrices, out=out)


@op(name="linalg_matrix_exp", input=lambda g, input: _exp_grad(g, input))
def _matrix_exp(input):
    """Scaling and squaring of a Taylor series, in double precision."""
    n = input.shape[-1]
    x = input.astype(np.result_type(input.dtype, np.float64))
    size = np.abs(x).sum(-2).max(initial=0)
    squarings = max(0, int(np.ceil(np.log2(size))) + 1) if size > 0 and np.isfinite(size) else 0
    x = x / 2.0 ** squarings
    term = np.broadcast_to(np.eye(n, dtype=x.dtype), x.shape)
    result = term.copy()
    for k in range(1, 19):                     # |x| <= 1/2: the rest is below 1e-22
        term = np.matmul(term, x) / k
        result += term
    for _ in range(squarings):
        result = np.matmul(result, result)
    return result.astype(input.dtype)


def _exp_grad(g, input):
    """The corner of exp of the block matrix (A^H g; 0 A^H): Higham, Functions of Matrices, theorem 3.6."""
    n, A = input.shape[-1], mT(input)
    size = float(np.abs(raw(g)).max(initial=0)) or 1.0             # a large g would cost A its digits
    return _matrix_exp(_blocks(A, g * (1 / size)))[..., :n, n:] * size


@op(name="blocks", A=lambda g, A: g[..., :A.shape[-1], :A.shape[-1]] + g[..., A.shape[-1]:, A.shape[-1]:],
    corner=lambda g, A: g[..., :A.shape[-1], A.shape[-1]:])
def _blocks(A, corner):
    return np.concatenate([np.concatenate([A, corner], -1), np.concatenate([A * 0, A], -1)], -2)


def matrix_exp(input):
    """The matrix exponential of (..., n, n) matrices.

    >>> import tinytorch as torch
    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    _check("linalg.matrix_exp", input)
    return _matrix_exp(input)


# ------------------------------------------------------------------ eigenvalues of any square matrix
def _eig_grad(g, wanted, ans):
    """Magnus, "On differentiating eigenvalues and eigenvectors", 1985, for eigenvectors of length 1."""
    (L, V), (gL, gV) = ans, g
    Vh, eye = mT(V), _eye(V, V.shape[-1])
    middle = 0 if gL is None else _rowwise(gL) * eye
    if gV is not None:
        P = _matmul(Vh, gV)
        real = (P + P.conjugate()) * eye * 0.5
        middle = middle + (P - _matmul(_matmul(Vh, V), real)) * _gaps(L, -1).conjugate()
    return _matmul(_matmul(_inv(Vh), middle), Vh),


@op(name="linalg_eig", multi=True, inputs=1, joint=_eig_grad)
def _eig(input, real):
    L, V = np.linalg.eig(input.real if real else input)
    return L.astype(input.dtype), V.astype(input.dtype)


def eig(A, *, out=None):
    """Eigenvalues and eigenvectors (the columns, of length 1) of square matrices, always complex.

    >>> import tinytorch as torch
    >>> torch.linalg.eig(torch.tensor([[0., 1.], [-1., 0.]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    _check("linalg.eig", A)
    real = A.array.dtype.kind == "f"
    complex_type = np.result_type(A.array.dtype, np.complex64)
    return to_outs(return_types.linalg_eig, _eig(converted(A, complex_type), real), out)


def eigvals(A, *, out=None):
    """The eigenvalues of `eig`.

    >>> import tinytorch as torch
    >>> torch.linalg.eigvals(torch.tensor([[2., 0.], [0., 1.]]))
    tensor([2.+0.j, 1.+0.j])
    """
    return write_out(out, eig(A)[0])


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices: `torch.diagonal` of the last two dimensions."""
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
        u, s, vh = np.linalg.svd(input, full_matrices=False)
    large = np.abs(s) > _limit(input, np.abs(s), atol, rtol)
    inverse = np.where(large, 1 / np.where(large, s, 1), 0).astype(s.dtype)
    return np.matmul(mT(vh) * inverse[..., None, :], mT(u))


def pinv(A, *, atol=None, rtol=None, hermitian=False, rcond=None, out=None):
    """The pseudo-inverse; singular values up to max(atol, rtol * the largest) count as zero.

    >>> import tinytorch as torch
    >>> torch.linalg.pinv(torch.tensor([[2.], [0.]]))
    tensor([[0.5000, 0.0000]])
    """
    _check("linalg.pinv", A, square=hermitian)
    atol, rtol = (t.array[..., None] if isinstance(t, Tensor) else t for t in (atol, rcond if rtol is None else rtol))
    return write_out(out, _pinv(A, atol, rtol, hermitian))


def pinverse(input, rcond=1e-15):
    """`torch.linalg.pinv` by its older name."""
    return pinv(input, rtol=rcond)


def lstsq(A, B, rcond=None, *, driver=None):
    """X that minimises the norm of A @ X - B: the named tuple (solution, residuals, rank, singular_values).

    residuals are the squared norms (for the drivers gels, gelsd and gelss; full rank; more rows than columns);
    singular_values are given for the drivers gelsd and gelss.
    """
    _check("torch.linalg.lstsq", A, square=False, argument="input")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A.array.dtype != B.array.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                           f"{type_name(A)} and other's dtype {type_name(B)}")
    vectors = B.array.ndim == A.array.ndim - 1
    rows, columns = A.array.shape[-2:]
    other = B.unsqueeze(-1) if vectors else B
    X = matmul(pinv(A, rtol=rcond), other)
    s = np.linalg.svd(A.array, compute_uv=False)
    rank = np.asarray((s > _limit(A.array, s, None, rcond)).sum(-1, dtype=np.int64))
    residuals = X.reshape(-1)[:0].abs()        # nothing, but on the tape as in torch
    if driver not in (None, "gelsy") and rows > columns and (rank == columns).all():
        residuals = (matmul(A, X) - other).abs().square().sum(-2)
        residuals = residuals.squeeze(-1) if vectors else residuals
    nothing = wrap(np.empty(0, s.dtype))
    return return_types.linalg_lstsq(
        X.squeeze(-1) if vectors else X, residuals, wrap(rank) if driver != "gels" else wrap(np.empty(0, np.int64)),
        wrap(s) if driver in ("gelsd", "gelss") else nothing)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X with A @ X = B (X @ A = B if not `left`) for triangular A, of which the other triangle is not read.

    >>> import tinytorch as torch
    >>> torch.linalg.solve_triangular(torch.tensor([[2., 9.], [0., 4.]]), torch.ones(2, 1), upper=False)
    tensor([[0.5000],
            [0.2500]])
    """
    _check("linalg.solve_triangular", A)
    triangle = (np.triu if upper else np.tril)(np.ones(A.array.shape[-2:]), (1 if upper else -1) * unitriangular)
    A = A * wrap(triangle.astype(A.array.real.dtype))
    if unitriangular:
        A = A + wrap(np.eye(A.array.shape[-1], dtype=A.array.dtype))
    if B.array.ndim < 2:
        raise RuntimeError("linalg.solve_triangular: The input tensor B must have at least 2 dimensions.")
    wide = np.broadcast_shapes(A.array.shape[:-2], B.array.shape[:-2])
    return write_out(out, solve(A, B.expand(wide + B.array.shape[-2:]), left=left),
                     exact="expected scalar type {Want} but found {Have}")


@op(name="gram", input=lambda g, input: _matmul(g + mT(g), input))
def _gram(input):
    L = np.tril(input)                         # the other triangle is not read, yet torch gives it a gradient
    return np.matmul(L, mT(L))


def cholesky_solve(B, L, upper=False, *, out=None):
    """X with (L @ L^H) @ X = B; with `upper`, L is the other factor, U in U^H @ U."""
    return write_out(out, solve(_gram(mT(L) if upper else L), B))


def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of L @ L^H (of U^H @ U with `upper`)."""
    return cholesky_solve(wrap(np.eye(L.array.shape[-1], dtype=L.array.dtype)), L, upper, out=out)


def cross(input, other, *, dim=-1, out=None):
    """Cross product along `dim`, the last by default."""
    return cross_of(input, other, dim, out=out)


def vecdot(x, y, *, dim=-1, out=None):
    """Dot products along `dim`, with the first vector conjugated.

    >>> import tinytorch as torch
    >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    return write_out(out, (x.conjugate() * y).sum(dim),
                     exact="linalg.vecdot: Expected out of dtype{Want} but found {Have}")


methods(matrix_power, matrix_exp, pinverse, cholesky_solve, cholesky_inverse)
