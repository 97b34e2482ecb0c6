"""Dual numbers: tangents of everything that has a derivative, levels, and what goes with them."""
import gc
import weakref

import pytest

import tinytorch as torch
import tinytorch.autograd.forward_ad as fwAD


def tangent(f, *pairs):
    """The tangent of f at dual numbers (primal, tangent)."""
    with fwAD.dual_level():
        return fwAD.unpack_dual(f(*(fwAD.make_dual(x, t) for x, t in pairs))).tangent


X, T = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0])


def test_products_follow_the_chain_rule():
    assert tangent(lambda x: x * x, (X, T)).tolist() == [2.0, -4.0]
    assert tangent(lambda x, y: (x * y).sum(), (X, T), (T, X)).item() == 7.0


def test_what_does_not_depend_on_a_dual_has_no_tangent():
    assert tangent(lambda x: torch.ones(2), (X, T)) is None
    assert tangent(lambda x: x.detach(), (X, T)) is None
    assert tangent(lambda x: x.argmax(), (X, T)) is None
    assert fwAD.unpack_dual(X) == (X, None)


def test_tangents_go_through_writes_and_views():
    def f(x):
        y = torch.zeros(3)
        y[1:] = x
        y[:2].mul_(3)
        return y
    assert tangent(f, (X, T)).tolist() == [0.0, 3.0, -1.0]


def test_a_dual_shares_memory_and_can_be_written_to():
    x = X.clone()
    with fwAD.dual_level():
        d = fwAD.make_dual(x, T)
        d.mul_(2)
        assert fwAD.unpack_dual(d).tangent.tolist() == [2.0, -2.0]
    assert x.tolist() == [2.0, 4.0] and not x.requires_grad


def test_the_level_ends():
    with fwAD.dual_level():
        y = fwAD.make_dual(X, T) * 2
    primal, t = fwAD.unpack_dual(y)
    assert t is None and not primal.requires_grad
    with fwAD.dual_level():
        assert fwAD.unpack_dual(y).tangent is None


def test_results_have_a_history_only_if_their_primals_or_tangents_do():
    assert not tangent(torch.sin, (X, T)).requires_grad
    x, t = X.clone().requires_grad_(), T.clone().requires_grad_()
    y = tangent(lambda x: x ** 3, (x, t))
    gx, gt = torch.autograd.grad(y.sum(), (x, t))
    assert gx.tolist() == [6.0, -12.0] and gt.tolist() == [3.0, 12.0]


def test_a_gradient_inside_the_level_carries_a_tangent():
    x = X.clone().requires_grad_()
    assert tangent(lambda d: torch.autograd.grad((d ** 3).sum(), d)[0], (x, T)).tolist() == [6.0, -12.0]


def test_no_grad_outside_is_ignored():
    with torch.no_grad():
        assert tangent(torch.square, (X, T)).tolist() == [2.0, -4.0]
        assert not torch.is_grad_enabled()


def test_switching_tangents_off():
    with fwAD.dual_level():
        d = fwAD.make_dual(X, T)
        with fwAD._set_fwd_grad_enabled(False):
            y = d * 2
        assert fwAD.unpack_dual(y).tangent is None and fwAD.unpack_dual(d * 2).tangent is not None


@pytest.mark.parametrize("make, error, text", [
    (lambda: fwAD.make_dual(X, T), RuntimeError, "no level exists"),
    (lambda: fwAD.exit_dual_level(), RuntimeError, "Dual level must be a positive number"),
    (lambda: fwAD.exit_dual_level(level=2), RuntimeError, "not the last one"),
    (lambda: tangent(lambda x: fwAD.make_dual(x, T), (X, T)), RuntimeError, "already has a forward gradient"),
    (lambda: tangent(lambda x: fwAD.make_dual(X, x), (X, T)), RuntimeError, "that itself has a forward gradient"),
    (lambda: tangent(lambda x: x, (X, torch.ones(3))), RuntimeError, "different size"),
    (lambda: tangent(lambda x: x, (torch.tensor([1]), T)), ValueError, "Expected primal to be floating point"),
    (lambda: tangent(lambda x: x, (X, torch.tensor([1]))), ValueError, "Expected tangent to be floating point"),
    (lambda: tangent(lambda x: fwAD.enter_dual_level(), (X, T)), RuntimeError, "Nested forward mode AD"),
])
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()
    with pytest.raises(RuntimeError, match="Dual level must be"):
        fwAD.exit_dual_level()                 # none was left open


def test_nothing_is_left_for_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        x = X.clone().requires_grad_()
        y = tangent(lambda d: (d ** 3).sin(), (x, T))
        node = weakref.ref(y.grad_fn)
        torch.func.hessian(lambda x: (x ** 3).sum())(X)
        del y
        assert node() is None and gc.collect() == 0
    finally:
        gc.enable()
