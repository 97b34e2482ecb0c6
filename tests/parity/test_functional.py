"""torch.autograd.functional under both libraries: values, structure, history, and the errors word for word."""
import itertools

import pytest
import torch

import tinytorch

from .adapter import same, same_outcome


def X(t, **options):
    return t.tensor([[1.0, 2.0], [3.0, 4.0]], **options)


def V(t):
    return t.tensor([0.5, -1.0])


FUNCTIONS = {
    "square": (lambda t, x: x * x, 1),
    "two in": (lambda t, x, y: x * y.sum(), 2),
    "two out": (lambda t, x: (x.exp(), x.sum(0)), 1),
    "two in two out": (lambda t, x, y: (x @ y, (x * x).sum()), 2),
    "scalar": (lambda t, x: (x ** 3).sum(), 1),
    "scalar of two": (lambda t, x, y: (x ** 3).sum() * y.prod(), 2),
    "unused": (lambda t, x, y: (x ** 3).sum(), 2),
    "linear": (lambda t, x: (2 * x).sum(), 1),
    "constant": (lambda t, x: t.ones(1), 1),
    "one of two constant": (lambda t, x: (x * x, t.ones(2)), 1),
    "one element": (lambda t, x: (x * x).sum().reshape(1, 1), 1),
    "detached": (lambda t, x: x.detach(), 1),
    "number": (lambda t, x: 3.0, 1),
    "list": (lambda t, x: [x], 1),
    "tuple with a number": (lambda t, x: (x, 3.0), 1),
}
CALLS = {
    "vjp": [{}, {"v": "out"}, {"v": "wrong"}, {"v": "number"}],
    "jvp": [{}, {"v": "in"}, {"v": "wrong"}],
    "vhp": [{}, {"v": "in"}, {"v": "wrong"}],
    "hvp": [{}, {"v": "in"}, {"v": "wrong"}],
    "jacobian": [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}, {"strategy": "forward-mode"},
                 {"strategy": "sideways"}],
    "hessian": [{}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
                {"outer_jacobian_strategy": "sideways"}],
}
FLAGS = [{}, {"create_graph": True}, {"strict": True}, {"create_graph": True, "strict": True}]


def call(t, name, function, options, requires_grad):
    f, count = FUNCTIONS[function]
    inputs = (X(t, requires_grad=requires_grad), V(t))[:count]
    options = dict(options)
    if "v" in options:
        outputs = f(t, *inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        options["v"] = {"in": lambda: tuple(x.detach() + 1 for x in inputs), "wrong": lambda: (t.ones(3),) * count,
                        "number": lambda: 3.0, "out": lambda: tuple(y.detach() + 1 for y in outputs)}[options["v"]]()
        if isinstance(options["v"], tuple) and len(options["v"]) == 1:
            options["v"] = options["v"][0]
    return getattr(t.autograd.functional, name)(lambda *x: f(t, *x), inputs if count > 1 else inputs[0], **options)


def compare(name, function, options, requires_grad):
    # With these options torch keeps some histories that lead nowhere.
    history = not (options.get("create_graph") and not requires_grad or "vectorize" in options)
    same_outcome(lambda t: call(t, name, function, options, requires_grad), history=history)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", CALLS)
def test_same_as_torch(name, function):
    for options, flags in itertools.product(CALLS[name], FLAGS):
        for requires_grad in (False, True):
            compare(name, function, options | flags, requires_grad)


def through(t, name, *args):
    x = X(t, requires_grad=True)
    y = getattr(t.autograd.functional, name)(lambda x: (x ** 4).sum(), x, *args, create_graph=True)
    y = y[1] if isinstance(y, tuple) else y
    return t.autograd.grad((y * y).sum(), x)


@pytest.mark.parametrize("name", CALLS)
def test_create_graph(name):
    def args(t):
        return {"vjp": (t.ones(()),), "jvp": (X(t),), "vhp": (X(t),), "hvp": (X(t),)}.get(name, ())
    same(through(tinytorch, name, *args(tinytorch)), through(torch, name, *args(torch)))


@pytest.mark.parametrize("name", ["vjp", "hessian"])
def test_inputs_that_are_no_tensors(name):
    for inputs in (3.0, (3.0,)):
        messages = []
        for t in (torch, tinytorch):
            with pytest.raises(TypeError) as error:
                getattr(t.autograd.functional, name)(lambda x: x, inputs)
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_no_grad_outside():
    for name in ("vjp", "jvp", "vhp", "jacobian", "hessian"):
        results = []
        for t in (torch, tinytorch):
            with t.no_grad():
                v = {"jvp": (X(t),), "vhp": (X(t),)}.get(name, ())
                results.append(getattr(t.autograd.functional, name)(lambda x: (x ** 3).sum(), X(t), *v))
        same(results[1], results[0])
