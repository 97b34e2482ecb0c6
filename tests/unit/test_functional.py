"""torch.autograd.functional: shapes, tuples, strict mode, graphs."""
import pytest

import tinytorch as torch
from tinytorch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X, Y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0, 5.0])


def two(x, y):
    return x[:, None] * y, x.sum() + y


def test_jacobian_in_tuples_by_output_and_input():
    blocks = jacobian(two, (X, Y))
    assert [[tuple(b.shape) for b in row] for row in blocks] == [[(2, 3, 2), (2, 3, 3)], [(3, 2), (3, 3)]]
    assert blocks[1][1].tolist() == torch.eye(3).tolist() and blocks[0][0][0, :, 0].tolist() == Y.tolist()


@pytest.mark.parametrize("options", [{"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}])
def test_all_ways_give_the_same_jacobian(options):
    for row, expected in zip(jacobian(two, (X, Y), **options), jacobian(two, (X, Y))):
        assert all(a.equal(b) for a, b in zip(row, expected))


def test_jacobian_of_empty_tensors():
    assert jacobian(lambda x: x * 2, torch.ones(0)).shape == (0, 0)
    assert jacobian(lambda x: x.sum(), torch.ones(0), vectorize=True, strategy="forward-mode").shape == (0,)


def test_hessian_in_tuples_by_inputs():
    (xx, xy), (yx, yy) = hessian(lambda x, y: (x ** 2).sum() * y.sum(), (X, Y))
    assert xx.tolist() == [[24.0, 0.0], [0.0, 24.0]] and xy.shape == (2, 3) and yx.equal(xy.t()) and not yy.any()
    forward = hessian(lambda x: (x ** 3).sum(), X, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert forward.tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_products_agree_with_the_matrices():
    u, v = torch.ones(2, 3), torch.tensor([1.0, -1.0])
    f = lambda x: two(x, Y)[0]
    j = jacobian(f, X)
    assert vjp(f, X, u)[1].equal((j * u[..., None]).sum((0, 1))) and jvp(f, X, v)[1].equal(j @ v)
    g = lambda x: (x ** 3).prod()
    h = hessian(g, X)
    assert vhp(g, X, v)[1].equal(v @ h) and hvp(g, X, v)[1].equal(h @ v)


def test_results_have_a_history_only_with_create_graph():
    x = X.clone().requires_grad_()
    for options, expected in (({}, False), ({"create_graph": True}, True)):
        assert jacobian(torch.sin, x, **options).requires_grad is expected
        for product in (vjp, jvp):
            assert all(r.requires_grad is expected for r in product(torch.sin, x, X, **options))
    jacobian(torch.square, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_captured_input_is_a_constant():
    x = X.clone().requires_grad_()
    assert jacobian(lambda y: y * x, x).tolist() == torch.diag(X).tolist()


@pytest.mark.parametrize("call, text", [
    (lambda: jacobian(lambda x: torch.ones(2), X, strict=True), "Output 0 .* does not require"),
    (lambda: jacobian(lambda x, y: x * 2, (X, Y), strict=True), "Output 0 .* independent of input 1"),
    (lambda: vjp(lambda x, y: x.sum(), (X, Y), strict=True), "independent of input 1"),
    (lambda: hessian(lambda x: x.sum(), X, strict=True), "jacobian of the user-provided function .* is independent"),
    (lambda: vjp(torch.sin, X), "v can only be None if the user-provided function returns a single Tensor"),
    (lambda: jvp(torch.sin, X), "v can only be None if the input"),
    (lambda: vjp(torch.sin, X, Y), "v has invalid size"),
    (lambda: hessian(torch.sin, X), "should contain a single element"),
    (lambda: hvp(lambda x: (x.sum(),), X, X), "should return a single Tensor"),
    (lambda: jacobian(torch.sin, X, vectorize=True, strict=True), "not supported together"),
])
def test_errors(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def test_other_errors():
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        jacobian(torch.sin, X, strategy="forward-mode")
    with pytest.raises(AssertionError, match="forward-mode"):
        jacobian(torch.sin, X, strategy="sideways")
    with pytest.raises(TypeError, match="inputs given to vjp must be either a Tensor or a tuple of Tensors"):
        vjp(torch.sin, [X])
