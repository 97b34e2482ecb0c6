"""Matrix products, the linear layer, einsum, torch.linalg: behaviour, errors and edge cases."""
import math

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.ops.linalg.products import linear

ones = torch.ones


@pytest.mark.parametrize("call, error, text", [
    (lambda: ones(2, 3) @ ones(4, 5), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    (lambda: ones(2, 3) @ ones(3, 2).double(), RuntimeError,
     "expected m1 and m2 to have the same dtype, but got: float != double"),
    (lambda: torch.mm(ones(2, 3), ones(3)), RuntimeError, "mat2 must be a matrix"),
    (lambda: torch.mm(ones(2, 2), 2), TypeError, r"mm\(\): argument 'mat2' \(position 2\) must be Tensor, not int"),
    (lambda: ones(2, 2) @ 2, TypeError, "unsupported operand"),
    (lambda: torch.tensor(1.0) @ ones(2), RuntimeError, "need to be at least 1D, but they are 0D and 1D"),
    (lambda: torch.bmm(ones(5, 2, 3), ones(4, 3, 2)), RuntimeError, r"to be: \[5, 3\] but got: \[4, 3\]"),
    (lambda: torch.mv(ones(2, 3), ones(4)), RuntimeError, r"size mismatch, got input \(2\), mat \(2x3\), vec \(4\)"),
    (lambda: torch.dot(ones(3), ones(4)), RuntimeError, "inconsistent tensor size"),
    (lambda: linear(ones(2, 2, 3), ones(4, 2)), RuntimeError, r"cannot be multiplied \(4x3 and 2x4\)"),
    (lambda: linear(ones(2, 3), ones(4, 3), ones(5)), RuntimeError, r"expanded size of the tensor \(4\) must match"),
    (lambda: torch.mm(ones(2, 2).bool(), ones(2, 2).bool()), NotImplementedError, "not implemented for 'Bool'"),
    (lambda: torch.einsum("ij,jk->ik", ones(2, 3), ones(2, 3)), RuntimeError, "subscript j has size 2 for operand 1"),
    (lambda: torch.einsum("ij->ik", ones(2, 3)), RuntimeError, "output subscript k does not appear"),
    (lambda: torch.einsum("ijk->i", ones(2, 3)), RuntimeError, r"subscripts in the equation \(3\) does not match"),
    (lambda: torch.linalg.inv(ones(2, 2)), torch.linalg.LinAlgError, "diagonal element 2 is zero"),
    (lambda: torch.linalg.inv(ones(2, 3)), RuntimeError, "they are 2 by 3 matrices"),
    (lambda: torch.linalg.cholesky(-torch.eye(2)), torch.linalg.LinAlgError, "leading minor of order 1"),
    (lambda: torch.linalg.solve(ones(2, 2), ones(2)), torch.linalg.LinAlgError, "the input matrix is singular"),
    (lambda: torch.linalg.multi_dot([ones(2, 2)]), RuntimeError, "expected at least 2 tensors but got 1"),
])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("a, b, shape", [
    ((3,), (3,), ()), ((2, 3), (3,), (2,)), ((3,), (3, 4), (4,)), ((5, 2, 3), (3, 4), (5, 2, 4)),
    ((5, 2, 3), (3,), (5, 2)), ((3,), (5, 3, 4), (5, 4)), ((6, 1, 2, 3), (5, 3, 4), (6, 5, 2, 4)),
    ((0, 3), (3, 2), (0, 2)),
])
def test_matmul_shapes_and_values(a, b, shape):
    a, b = np.random.rand(*a), np.random.rand(*b)
    result = torch.from_numpy(a) @ torch.from_numpy(b)
    assert result.shape == shape
    np.testing.assert_allclose(result.numpy(), a @ b)


def test_integer_matmul():
    x = torch.tensor([[1, 2], [3, 4]], dtype=torch.int32)
    assert (x @ x).tolist() == [[7, 10], [15, 22]] and (x @ x).dtype == torch.int32


def test_linear_is_one_step_and_has_every_gradient():
    x, w, b = ones(2, 3, requires_grad=True), ones(4, 3, requires_grad=True), ones(4, requires_grad=True)
    y = linear(x, w, b)
    assert all(edge is end for edge, end in zip(y.grad_fn.edges, (x, w, b), strict=True))
    names = [n.name().rpartition(":")[2] for n, _ in y.grad_fn.next_functions]
    assert y.grad_fn.name() == "AddmmBackward0" and names == ["AccumulateGrad", "AccumulateGrad", "TBackward0"]
    assert y.tolist() == [[4.0] * 4] * 2
    y.sum().backward()
    assert x.grad.tolist() == [[4.0] * 3] * 2 and w.grad.tolist() == [[2.0] * 3] * 4 and b.grad.tolist() == [2.0] * 4
    assert linear(ones(5, 2, 3), w, None).shape == (5, 2, 4) and linear(ones(3), w).shape == (4,)


def check_gradient(function, *inputs):
    """The derivative of `function` in a random direction against its central difference."""
    random = np.random.default_rng(1)
    inputs = [x.detach().requires_grad_() for x in inputs]
    directions = [torch.from_numpy(random.normal(size=x.shape)) for x in inputs]

    def outputs(step):
        found = function(*[x + step * d for x, d in zip(inputs, directions)])
        return list(found) if isinstance(found, (tuple, list)) else [found]
    at = outputs(0.0)
    weights = [torch.from_numpy(random.normal(size=y.shape)) for y in at]
    grads = torch.autograd.grad(sum((y * w).sum() for y, w in zip(at, weights)), inputs)
    slope = sum((g * d).sum().item() for g, d in zip(grads, directions))
    ahead, behind = (sum((y * w).sum().item() for y, w in zip(outputs(step), weights)) for step in (1e-6, -1e-6))
    assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-5, abs=1e-6)


def gradient_of(function):
    """x -> the gradient of sum(function(x)^3), to be differentiated again."""
    def gradient(*inputs):
        found = function(*inputs)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        return torch.autograd.grad(sum((y * y * y).sum() for y in found), inputs, create_graph=True)
    return gradient


def test_second_derivatives():
    inputs = [torch.tensor(np.random.rand(*s)) for s in ((2, 3), (4, 3), (4,))]
    check_gradient(gradient_of(linear), *inputs)
    check_gradient(gradient_of(lambda a, b: torch.einsum("ij,kj->ki", a, b)), *inputs[:2])
    check_gradient(gradient_of(lambda x: (x.prod(1), x.cumprod(0), x.logcumsumexp(1), x.std(), x.amax(0))), inputs[0])


def test_addmm():
    assert torch.addmm(ones(2), ones(1, 3), ones(3, 2), beta=2, alpha=0.5).tolist() == [[3.5, 3.5]]
    nan = torch.full((1, 2), math.nan)
    assert torch.addmm(nan, ones(1, 3), ones(3, 2), beta=0).tolist() == [[3, 3]]
    x = ones(2, 2)
    assert x.addmm_(x, x) is x and x.tolist() == [[3, 3], [3, 3]]


@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
    ("ij->", [(2, 3)]),
    ("ij->ji", [(2, 3)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("...ij,...jk->...ik", [(7, 2, 3), (3, 4)]),
    ("i,j->ij", [(2,), (3,)]), ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), ("i,ij,j->", [(2,), (2, 3), (3,)]),
    ("...,...->...", [(2, 3), (2, 3)]), ("ijk,k->ij", [(2, 3, 4), (4,)]), ("b i, b o -> o i", [(5, 2), (5, 3)]),
])
def test_einsum(equation, shapes):
    arrays = [np.random.rand(*s) for s in shapes]
    result = torch.einsum(equation, *map(torch.from_numpy, arrays))
    np.testing.assert_allclose(result.numpy(), np.einsum(equation, *arrays))


def test_einsum_sublists_and_broadcasting():
    a, b = ones(2, 3), ones(3, 4)
    assert torch.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == (a @ b).tolist()
    assert torch.einsum("ij,ij->ij", ones(2, 1), ones(2, 3)).shape == (2, 3)
    assert torch.einsum("ij,jk->ik", ones(2, 1), ones(3, 4)).tolist() == [[3.0] * 4] * 2


def test_products_of_any_shape():
    assert torch.tensordot(ones(2, 3, 4), ones(3, 4, 5)).shape == (2, 5)
    assert torch.kron(torch.tensor([[1, 2]]), torch.tensor([[1], [10]])).tolist() == [[1, 2], [10, 20]]
    number = torch.kron(torch.tensor(2.0), torch.tensor(3.0))
    assert type(number._array) is np.ndarray and number.add_(1).item() == 7
    assert torch.trace(torch.tensor([[1, 2], [3, 4]])).item() == 5
    assert torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0).tolist() == [0, 0, 1]
    assert torch.outer(ones(2), ones(3)).shape == (2, 3)


@pytest.mark.parametrize("function", [
    torch.linalg.inv, torch.linalg.det, torch.logdet, lambda A: torch.linalg.slogdet(A)[1], torch.matrix_exp,
    lambda A: torch.linalg.solve(A, A.mT), torch.linalg.pinv, lambda A: torch.linalg.norm(A, 2), torch.linalg.cond,
    lambda A: torch.linalg.norm(A, "nuc"), lambda A: torch.matrix_power(A, 3), torch.linalg.svdvals,
    lambda A: torch.linalg.eigvalsh(A + A.mT), lambda A: torch.linalg.cholesky(A @ A.mT), torch.linalg.qr,
    lambda A: torch.linalg.eigh(A + A.mT).eigenvectors.abs(), lambda A: [x.abs() for x in torch.linalg.svd(A)],
])
def test_linalg_gradients(function):
    A = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 3)))
    if torch.linalg.det(A).item() < 0:
        A = -A
    check_gradient(function, A)
    check_gradient(gradient_of(function), A)


def test_linalg_values():
    A = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    L, V = torch.linalg.eigh(A)
    assert torch.allclose(V @ torch.diag(L) @ V.T, A)
    U, S, Vh = torch.linalg.svd(A)
    assert torch.allclose(U * S @ Vh, A)
    Q, R = torch.linalg.qr(A)
    assert torch.allclose(Q @ R, A)
    assert torch.allclose(torch.linalg.cholesky(A, upper=True), torch.linalg.cholesky(A).T)
    assert torch.linalg.matrix_rank(ones(3, 3)).item() == 1
    assert torch.linalg.lstsq(A, ones(2, 1)).solution.shape == (2, 1)
    assert [t.shape for t in torch.svd(ones(4, 2))] == [(4, 2), (2,), (2, 2)]
    assert torch.det(torch.zeros(2, 2)).item() == 0


def test_least_squares_by_the_longest_column():
    """gelsy with an rcond of 1 and more: the matrix is read as if its columns were multiples of the longest."""
    A, b = torch.tensor([[1.0, 3.0, 0.0], [2.0, 4.0, 1.0]]), torch.tensor([[1.0], [2.0]])
    q = A[:, 1:2] / 5
    x, _, rank, _ = torch.linalg.lstsq(A, b, rcond=1.5)
    assert rank.item() == 1
    np.testing.assert_allclose((q.T @ A @ x).numpy(), (q.T @ b).numpy(), rtol=1e-6)
    np.testing.assert_allclose(x.numpy(), (torch.linalg.pinv(q @ q.T @ A) @ b).numpy(), rtol=1e-5)


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.5, 0.51, 2.0, 30.0])
def test_matrix_exp_of_a_rotation(angle):
    found = torch.matrix_exp(torch.tensor([[0.0, -angle], [angle, 0.0]], dtype=torch.float64))
    c, s = math.cos(angle), math.sin(angle)
    torch.testing.assert_close(found, torch.tensor([[c, -s], [s, c]], dtype=torch.float64), rtol=0,
                               atol=1e-15 * (1 + angle))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4)])
def test_the_gradient_of_matrix_exp(dtype, shape):
    """That of arrays, which reads half of a block matrix, is that of the whole one, which can be differentiated again,
    and the slope along any direction."""
    torch.manual_seed(0)
    for size in (0.1, 3.0):
        x = (torch.randn(shape, dtype=dtype) * size).requires_grad_()
        g, direction = torch.randn(shape, dtype=dtype), torch.randn(shape, dtype=dtype)
        found, = torch.autograd.grad(x.matrix_exp(), x, g)
        again, = torch.autograd.grad(x.matrix_exp(), x, g, create_graph=True)
        torch.testing.assert_close(found, again.detach(), rtol=1e-12, atol=1e-12)
        with torch.no_grad():
            step = 1e-6 * direction
            slope = ((x + step).matrix_exp() - (x - step).matrix_exp()) / 2e-6
            assert (g.conj() * slope).sum().real.item() == pytest.approx(
                (found.conj() * direction).sum().real.item(), rel=1e-5)
