"""LU, LDL and Householder factors beside torch: the same pivots, gradients of wide and tall matrices, singular ones,
errors; what reports failures instead of raising."""
import numpy as np
import pytest

from .adapter import same_outcome

RNG = np.random.default_rng(0)
SHAPES = [(3, 3), (2, 3, 5), (2, 5, 3), (40, 70), (70, 40), (0, 3), (2, 0, 0), (1, 1)]


def matrix(t, shape, dtype="float64", seed=0):
    x = np.random.default_rng(seed).normal(size=(2, *shape))
    return t.tensor(x[0] + 1j * x[1] if dtype[0] == "c" else x[0]).to(getattr(t, dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_lu(shape, dtype):
    def program(t):
        A = matrix(t, shape, dtype).requires_grad_()
        LU, pivots = t.linalg.lu_factor(A)
        P, L, U = t.linalg.lu(A)
        unpacked = t.lu_unpack(LU, pivots)
        found = [LU, pivots, P, L, U, *unpacked, *t.lu(A.detach(), get_infos=True)]
        names = [x.grad_fn.name() for x in (LU, L, unpacked.L)]
        grads = [t.autograd.grad((x.abs() ** 3).sum(), A, retain_graph=True) for x in (LU, L, U, unpacked.U)]
        return found, [x.stride() for x in found if x.numel()], names, grads, P.requires_grad
    same_outcome(program)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_lu_solve(left, adjoint, dtype):
    def program(t):
        LU, pivots = t.linalg.lu_factor(matrix(t, (2, 4, 4), dtype))
        B = matrix(t, (2, 4, 3) if left else (2, 3, 4), dtype, 1).requires_grad_()
        X = t.linalg.lu_solve(LU.requires_grad_(), pivots, B, left=left, adjoint=adjoint)
        grads = t.autograd.grad((X.abs() ** 2).sum(), (LU, B), create_graph=True)
        second = t.autograd.grad((grads[0].abs() ** 2).sum(), (LU, B))
        return [x.resolve_conj() for x in (X, *grads, *second)], X.stride(), X.grad_fn.name()
    same_outcome(program)


@pytest.mark.parametrize("call", [
    lambda t, LU, p, B: t.linalg.lu_solve(LU, p.long(), B), lambda t, LU, p, B: t.linalg.lu_solve(LU, p, B.float()),
    lambda t, LU, p, B: t.linalg.lu_solve(LU, p, B[:, :2]), lambda t, LU, p, B: t.linalg.lu_solve(LU[:, :, :2], p, B),
    lambda t, LU, p, B: t.linalg.lu_solve(LU, p[:, :2], B), lambda t, LU, p, B: t.linalg.lu_solve(LU, p, B[0, 0]),
    lambda t, LU, p, B: t.lu_unpack(LU, p.long()), lambda t, LU, p, B: t.lu_unpack(LU, p * 9),
    lambda t, LU, p, B: t.lu_unpack(LU, p, False), lambda t, LU, p, B: t.lu_unpack(LU, p, True, False),
    lambda t, LU, p, B: t.lu_solve(B, LU, p), lambda t, LU, p, B: B.lu_solve(LU, p),
    lambda t, LU, p, B: t.linalg.lu_factor(t.ones(2, 2)), lambda t, LU, p, B: t.linalg.lu_factor(t.zeros(2, 2, 2)),
    lambda t, LU, p, B: t.linalg.lu_factor(t.ones(2, 2), pivot=False),
    lambda t, LU, p, B: t.linalg.lu_factor(t.ones(2)), lambda t, LU, p, B: t.linalg.lu(t.ones(2)),
    lambda t, LU, p, B: t.linalg.lu_factor_ex(t.ones(2, 2)), lambda t, LU, p, B: t.linalg.lu_factor_ex(
        t.ones(2, 2), check_errors=True),
    lambda t, LU, p, B: t.linalg.lu_factor(t.ones(2, 2).half()), lambda t, LU, p, B: t.linalg.lu(t.ones(2, 2).long())])
def test_calls_of_lu(call):
    same_outcome(lambda t: call(t, *t.linalg.lu_factor(matrix(t, (2, 3, 3))), matrix(t, (2, 3, 2), seed=1)))


@pytest.mark.parametrize("call", [
    lambda t, A: t.linalg.inv_ex(A), lambda t, A: t.linalg.inv_ex(t.ones(2, 2)), lambda t, A: t.linalg.inv_ex(
        t.tensor([[1., 2.], [2., 4.]])), lambda t, A: t.linalg.inv_ex(t.ones(2, 2), check_errors=True),
    lambda t, A: t.linalg.inv_ex(t.ones(2, 3)), lambda t, A: t.linalg.inv_ex(t.ones(2, 2).half()),
    lambda t, A: t.linalg.solve_ex(A, A[..., 0]), lambda t, A: t.linalg.solve_ex(A, A, left=False),
    lambda t, A: t.linalg.solve_ex(t.ones(2, 2), t.ones(2), check_errors=True),
    lambda t, A: t.linalg.solve_ex(t.ones(2, 2), t.ones(2)).info, lambda t, A: t.linalg.cholesky_ex(A @ A.mT),
    lambda t, A: t.linalg.cholesky_ex(-t.ones(2, 2)), lambda t, A: t.linalg.cholesky_ex(
        t.tensor([[4., 2., 1.], [2., -3., 5.], [1., 5., 6.]])),
    lambda t, A: t.linalg.cholesky_ex(t.tensor([[4., 2., 1.], [2., -3., 5.], [1., 5., 6.]]), upper=True),
    lambda t, A: t.linalg.cholesky_ex(-t.ones(2, 2), check_errors=True)])
def test_what_reports_failures(call):
    same_outcome(lambda t: tuple(call(t, matrix(t, (2, 3, 3)))))


def symmetric(t, n, dtype, hermitian, seed):
    A = matrix(t, (2, n, n), dtype, seed)
    if seed % 3 == 0:                          # with zeros, so that pivots are blocks
        A = A * (A.abs() < 0.8)
    return A + (A.mH if hermitian else A.mT)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_ldl(seed, hermitian, dtype):
    def program(t):
        A = symmetric(t, seed + 1, dtype, hermitian, seed)
        LD, pivots, info = t.linalg.ldl_factor_ex(A, hermitian=hermitian)
        B = matrix(t, (2, seed + 1, 3), dtype, 50)
        return LD, LD.stride(), pivots, t.linalg.ldl_solve(LD, pivots, B, hermitian=hermitian)
    same_outcome(program)


@pytest.mark.parametrize("call", [
    lambda t, LD, p, B: t.linalg.ldl_solve(LD, p, B.float()), lambda t, LD, p, B: t.linalg.ldl_solve(LD, p, B[:, :2]),
    lambda t, LD, p, B: t.linalg.ldl_solve(LD, p[:, :2], B), lambda t, LD, p, B: t.linalg.ldl_solve(LD, p, B[0, 0]),
    lambda t, LD, p, B: t.linalg.ldl_solve(LD, p.long(), B), lambda t, LD, p, B: t.linalg.ldl_factor_ex(t.zeros(2, 2)),
    lambda t, LD, p, B: t.linalg.ldl_factor(t.ones(2, 3)), lambda t, LD, p, B: t.linalg.ldl_factor(t.ones(2, 2).half()),
    lambda t, LD, p, B: t.autograd.grad(t.linalg.ldl_factor(LD.requires_grad_()).LD.sum(), LD)])
def test_calls_of_ldl(call):
    same_outcome(lambda t: call(t, *t.linalg.ldl_factor(symmetric(t, 3, "float64", False, 1)),
                                matrix(t, (2, 3, 2), seed=1)))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("left, transpose", [(True, False), (True, True), (False, False), (False, True)])
def test_householder(left, transpose, dtype):
    def program(t):
        a, tau = t.geqrf(matrix(t, (2, 5, 3), dtype))
        factors = a.abs().triu(), a.stride()
        a, tau = matrix(t, (2, 5, 3), dtype, 2).requires_grad_(), matrix(t, (2, 3), dtype, 3).requires_grad_()
        Q = t.linalg.householder_product(a, tau)
        C = matrix(t, (2, 5, 4) if left else (2, 4, 5), dtype, 4).requires_grad_()
        Y = t.ormqr(a, tau, C, left, transpose)
        return (factors, Q, Q.stride(), Y, Y.stride(), t.autograd.grad((Q.abs() ** 2).sum(), (a, tau)),
                t.autograd.grad((Y.abs() ** 3).sum(), (a, tau, C)), Q.grad_fn.name(), Y.grad_fn.name())
    same_outcome(program)


@pytest.mark.parametrize("call", [
    lambda t, a, tau, C: t.linalg.householder_product(a[:, :2], tau),
    lambda t, a, tau, C: t.linalg.householder_product(a, t.cat([tau, tau], 1)),
    lambda t, a, tau, C: t.linalg.householder_product(a, tau[:1]),
    lambda t, a, tau, C: t.linalg.householder_product(a, tau.float()),
    lambda t, a, tau, C: t.linalg.householder_product(a[0, 0], tau), lambda t, a, tau, C: t.orgqr(a, tau),
    lambda t, a, tau, C: t.ormqr(a, tau, C[:, :3]), lambda t, a, tau, C: t.ormqr(a, tau, C[0, 0]),
    lambda t, a, tau, C: t.ormqr(a, tau, C.float()), lambda t, a, tau, C: t.ormqr(a, tau[:1], C),
    lambda t, a, tau, C: t.ormqr(a[0, 0], tau, C), lambda t, a, tau, C: t.ormqr(a, tau[0], C),
    lambda t, a, tau, C: t.ormqr(a, tau, C[:1]), lambda t, a, tau, C: t.ormqr(a, tau.float(), C),
    lambda t, a, tau, C: t.geqrf(t.ones(2)), lambda t, a, tau, C: t.geqrf(t.ones(2, 2).half()),
    lambda t, a, tau, C: t.autograd.grad(t.geqrf(C.requires_grad_()).a.sum(), C)])
def test_calls_of_householder(call):
    same_outcome(lambda t: call(t, matrix(t, (2, 5, 3)), matrix(t, (2, 3), seed=1), matrix(t, (2, 5, 4), seed=2)))


@pytest.mark.parametrize("call", [
    lambda t: t.linalg.vander(t.tensor([1., 2., 3.])), lambda t: t.linalg.vander(t.tensor([[1, 2], [3, 4]]), N=4),
    lambda t: t.linalg.vander(t.ones(())), lambda t: t.linalg.vander(t.ones(2), N=1),
    lambda t: t.linalg.vander(t.tensor([True])), lambda t: t.linalg.vander(t.ones(2).half()),
    lambda t: t.linalg.tensorinv(t.eye(6).reshape(6, 2, 3) * 2, ind=1), lambda t: t.linalg.tensorinv(t.ones(2, 3), 0),
    lambda t: t.linalg.tensorinv(t.ones(2, 3), 1), lambda t: t.linalg.tensorinv(t.ones(2, 2), 1),
    lambda t: t.linalg.tensorinv(t.ones(2, 2), 3), lambda t: t.linalg.tensorsolve(t.ones(2, 3), t.ones(2)),
    lambda t: t.linalg.tensorsolve(t.eye(6).reshape(2, 3, 6), t.ones(2, 3)),
    lambda t: t.linalg.tensorsolve(t.eye(6).reshape(2, 6, 3), t.ones(2, 3), dims=(1,)),
    lambda t: t.linalg.tensorsolve(t.ones(2, 2), t.ones(2))])
def test_tensors_as_matrices(call):
    same_outcome(lambda t: (call(t), call(t).stride()))


@pytest.mark.parametrize("call", [
    lambda t, A: t.svd_lowrank(A, q=3), lambda t, A: t.svd_lowrank(A.mT, q=2, niter=3),
    lambda t, A: t.svd_lowrank(A, q=3, M=A.mean(-2, keepdim=True)), lambda t, A: t.pca_lowrank(A, q=3),
    lambda t, A: t.pca_lowrank(A, center=False), lambda t, A: t.pca_lowrank(A, q=9), lambda t, A: t.pca_lowrank(
        A, niter=-1)])
def test_low_rank(call):
    def program(t):
        t.manual_seed(0)
        U, S, V = call(t, matrix(t, (2, 7, 4)))
        return S, (U * S.unsqueeze(-2)) @ V.mT, t.rand(1)
    same_outcome(program)
