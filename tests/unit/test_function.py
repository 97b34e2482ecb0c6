"""autograd.Function: what the parity tests cannot show: memory, anomaly mode, subclasses."""
import gc
import weakref

import pytest

import tinytorch as torch
from tinytorch.autograd import Function
from tinytorch.autograd.node import Node


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        ctx.shape = x.shape
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        assert g.shape == ctx.shape
        return g * y


class Both(Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x.sin(), x.cos()
        ctx.save_for_backward(a, b)
        return a, b

    @staticmethod
    def backward(ctx, ga, gb):
        a, b = ctx.saved_tensors
        return ga * b - gb * a


def test_derivatives():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Exp.apply, x) and torch.autograd.gradgradcheck(Exp.apply, x)
    assert torch.autograd.gradcheck(Both.apply, x) and torch.autograd.gradgradcheck(Both.apply, x)


def test_broadcast_gradient_is_summed():
    x = torch.ones(1, 2, requires_grad=True)
    wide = type("Wide", (Function,), dict(forward=staticmethod(lambda ctx, x: x.expand(3, 2).clone()),
                                          backward=staticmethod(lambda ctx, g: g)))
    wide.apply(x).sum().backward()
    assert x.grad.tolist() == [[3, 3]]


def test_graphs_are_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        for backward in (False, True):
            y = Exp.apply(x * 2)
            a, b = Both.apply(y)
            total = (a * b).sum()
            nodes = weakref.ref(y.grad_fn), weakref.ref(a.grad_fn)
            if backward:
                total.backward()
            del y, a, b, total
            assert nodes[0]() is None and nodes[1]() is None
        assert not any(isinstance(o, Node) for o in gc.get_objects())
    finally:
        gc.enable()


def test_a_deep_chain():
    one = type("One", (Function,), dict(forward=staticmethod(lambda ctx, x: x + 1),
                                        backward=staticmethod(lambda ctx, g: g)))
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = one.apply(y)
    y.backward()
    assert x.grad == 1


def test_packed():
    log = []
    x = torch.ones(2, requires_grad=True)
    hooks = lambda t: log.append("pack") or t.clone(), lambda t: log.append("unpack") or t
    with torch.autograd.graph.saved_tensors_hooks(*hooks):
        y = Exp.apply(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    torch.autograd.grad(g.sum(), x)
    assert log[:4] == ["pack", "pack", "unpack", "unpack"]


class Bad(Exp):
    @staticmethod
    def backward(ctx, g):
        return g * float("nan")


def test_anomaly_names_the_function():
    with pytest.warns(UserWarning, match="(?s)Error detected in BadBackward.*test_function.py"), \
            torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match="'BadBackward' returned nan"):
        Bad.apply(torch.zeros(1, requires_grad=True)).backward()


def test_inplace_function_and_instances_warn():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        Exp()
    assert issubclass(torch.autograd.function.InplaceFunction, Function)


def test_classes_of_functions_are_not_kept():
    """A program may make a Function in each call: neither the class, nor its op, nor its nodes' class stays."""
    def make_and_use(i):
        made = type(f"Made{i}", (Exp,), {})
        y = made.apply(torch.ones(1, requires_grad=True))
        assert type(y.grad_fn).__name__ == f"Made{i}Backward"
        y.backward()
        return weakref.ref(made), weakref.ref(type(y.grad_fn)), weakref.ref(y.grad_fn.op)
    made = [make_and_use(i) for i in range(1000)]
    gc.collect()
    assert sum(reference() is not None for references in made for reference in references) == 0


def test_a_leaf_with_a_recorded_gradient():
    """As torch warns, it and its gradient hold each other; letting go of the gradient frees both, and so does the
    collector. autograd.grad makes no such circle."""
    def leaf(differentiate):
        x = torch.ones(3, requires_grad=True)
        differentiate(x)
        return weakref.ref(x)

    def through_grad(x):
        torch.autograd.grad((x * x * x).sum(), x, create_graph=True)[0].sum().backward()

    def through_backward(x):
        with pytest.warns(UserWarning, match="reset the .grad fields of your parameters to None"):
            (x * x * x).sum().backward(create_graph=True)

    def and_let_go(x):
        through_backward(x)
        x.grad = None
    gc.collect()
    gc.disable()
    try:
        assert leaf(through_grad)() is None
        assert leaf(and_let_go)() is None
        kept = leaf(through_backward)
        gc.collect()
        assert kept() is None
    finally:
        gc.enable()
