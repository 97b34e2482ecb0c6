"""What hooks return and where they run, tensors taken out of the graph, and what Functions hand on, against torch."""
import pytest
import torch

import tinytorch


def told(f, t):
    try:
        return str(f(t)).replace("tinytorch", "torch")
    except Exception as error:
        return type(error).__name__, str(error).replace("tinytorch", "torch")


def same(f):
    ours = told(f, tinytorch)
    assert ours == told(f, torch)
    return ours


def detached(t, make, leaf=False):
    x = t.ones(3, requires_grad=True)
    a = x if leaf else x.exp()
    y = make(t, a)
    version = a._version
    a.detach_()
    assert a._version == version
    y.sum().backward()
    return x.grad, a.requires_grad


@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("make", [lambda t, a: a * a, lambda t, a: a + 1, lambda t, a: a * 3, lambda t, a: a.tanh(),
                                  lambda t, a: t.cat([a, a]), lambda t, a: a.pow(3), lambda t, a: a @ a])
def test_detached_after_use(make, leaf):
    same(lambda t: detached(t, make, leaf))


def test_what_was_detached_is_a_tensor_like_others():
    def again(t):
        x = t.ones(2, requires_grad=True)
        a = x * 2
        a.detach_()
        a.requires_grad_()
        (a * a).sum().backward()
        a.detach_().add_(1)
        return a.grad, a._version, x.grad
    same(again)


@pytest.mark.parametrize("labels", [[0, 1], [25, 26], [26, 27], [27, 51], [25, 51], [51, 52], [0, -1]], ids=str)
def test_labels_of_einsum(labels):
    i, j = labels
    same(lambda t: t.einsum(t.arange(6.0).view(2, 3), labels))
    same(lambda t: t.einsum(t.arange(6.0).view(2, 3), labels, [j, i]))
    same(lambda t: t.einsum(t.ones(2, 3), labels, t.ones(3, 4), [j, 3]).shape)


@pytest.mark.parametrize("hook", [lambda p: p.grad * 2, lambda p: 1, lambda p: (), lambda p: None])
def test_hooks_after_accumulation(hook):
    def run(t):
        x, calls = t.ones(2, requires_grad=True), []
        x.register_post_accumulate_grad_hook(hook)
        x.register_post_accumulate_grad_hook(lambda p: calls.append(1))
        try:
            x.sum().backward()
        except (RuntimeError, TypeError) as error:
            return str(error), x.grad, calls
        return x.grad, calls
    same(run)


@pytest.mark.parametrize("replace", [False, True])
def test_hooks_of_a_node_whose_gradient_is_asked_for(replace):
    def run(t, asked):
        x, calls = t.ones(2, requires_grad=True), []
        y = x * 2
        y.grad_fn.register_prehook(lambda g: (calls.append("before"), (g[0] * 10,) if replace else None)[1])
        y.grad_fn.register_hook(lambda new, old: calls.append("after"))
        if asked == "inputs":
            y.sum().backward(inputs=[y])
            return calls, y.grad
        return t.autograd.grad(y.sum(), [y]), calls
    for asked in ("inputs", "grad"):
        same(lambda t, asked=asked: run(t, asked))


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("retained", [False, True])
@pytest.mark.parametrize("named", [1, 2])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_backward_into_a_tensor_that_is_no_leaf(named, retained, hooked, create_graph):
    def run(t):
        x = t.ones(2, requires_grad=True)
        y = x * 2
        z = y.sin()
        if retained:
            y.retain_grad()
        if hooked:
            y.register_hook(lambda g: g * 10)
        z.sum().backward(inputs=[y] * named, retain_graph=True, create_graph=create_graph)
        first = y.grad.clone(), y.retains_grad, x.grad
        z.sum().backward()
        return first, y.grad, x.grad
    same(run)


MODULE_HOOKS = {
    "a tensor": lambda g: g[0] * 2, "a list": lambda g: [g[0] * 2], "a row": lambda g: (g[0][0],),
    "another dtype": lambda g: (g[0].double(),), "a word": lambda g: ("a",), "a tuple": lambda g: (g[0] * 3,)}


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("name", MODULE_HOOKS)
def test_what_hooks_of_modules_return(name, rows):
    def run(t, before):
        t.manual_seed(0)
        module, x = t.nn.Linear(2, 2), t.ones(rows, 2, requires_grad=True)
        hook = MODULE_HOOKS[name]
        if before:
            module.register_full_backward_pre_hook(lambda m, g: hook(g))
        else:
            module.register_full_backward_hook(lambda m, g, out: hook(g))
        module(x).sum().backward()
        return x.grad
    same(lambda t: run(t, False))
    if name not in ("another dtype", "a word"):                # torch tells of them in another place
        same(lambda t: run(t, True))


def as_it_is(ctx, x):
    return x


FORWARDS = {"as it is": as_it_is, "a view": lambda ctx, x: x[:], "its view_as": lambda ctx, x: x.view_as(x),
            "a part": lambda ctx, x: x[0], "anew": lambda ctx, x: x * 1}


@pytest.mark.parametrize("name", FORWARDS)
def test_what_functions_hand_on(name):
    def run(t, leaf, recording):
        class Handed(t.autograd.Function):
            forward = staticmethod(FORWARDS[name])
            backward = staticmethod(lambda ctx, g: g.expand(2))
        x = t.ones(2, requires_grad=True)
        x = x if leaf else x * 2
        with t.set_grad_enabled(recording):
            y = Handed.apply(x)
        return y.requires_grad, y.is_leaf, type(y.grad_fn).__name__, y._is_view(), y is x
    for leaf in (True, False):
        for recording in (True, False):
            same(lambda t, leaf=leaf, recording=recording: run(t, leaf, recording))


def test_functions_hand_on_the_class_of_a_tensor():
    def run(t, requires_grad):
        class Special(t.Tensor):
            pass

        class Handed(t.autograd.Function):
            forward = staticmethod(as_it_is)
            backward = staticmethod(lambda ctx, g: g)
        x = t.ones(2, requires_grad=requires_grad).as_subclass(Special)
        parameter = t.nn.Parameter(t.ones(2))
        return type(Handed.apply(x)).__name__, type(Handed.apply(parameter)).__name__
    same(lambda t: run(t, True))
    same(lambda t: run(t, False))
