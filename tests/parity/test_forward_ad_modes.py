"""Tangents pass where grad mode is off, gradients do not: in transforms, dual numbers and what nests of them."""
import importlib

import pytest
import torch

import tinytorch

#: What torch warns of itself when it imports its derivatives of forward mode.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")


def without(t, f, *args):
    with t.no_grad():
        return f(*args)


def switched(t, f, *args):
    before = t.is_grad_enabled()
    t.set_grad_enabled(False)
    try:
        return f(*args)
    finally:
        t.set_grad_enabled(before)


def part(x):
    x[0] = x[1] * 2
    return x


def view_written(x, y):
    x = x.clone()
    x.t().mul_(y)
    return x


def filled(x):
    x[0].fill_(0.7)
    return x


FUNCTIONS = {
    "product": lambda t, x: without(t, lambda: x * x),
    "decorated": lambda t, x: t.no_grad()(lambda x: x.sin() @ x)(x),
    "switched off": lambda t, x: switched(t, lambda: x * x.t()),
    "then on": lambda t, x: without(t, lambda: x * x) * x,
    "on inside": lambda t, x: without(t, lambda: t.enable_grad()(lambda: x * x)() * x),
    "written to": lambda t, x: without(t, lambda: x.clone().mul_(x).add_(x, alpha=2)),
    "a part": lambda t, x: without(t, lambda: part(x.clone())) + x,
    "by a view": lambda t, x: without(t, lambda: view_written(x, x)),
    "written to after": lambda t, x: without(t, lambda y: y.clamp_min_(1.0), x * x) * x,
    "filled": lambda t, x: without(t, filled, x * x) * x,
    "layer": lambda t, x: without(t, t.nn.functional.linear, x, t.ones(3, 2).double()),
    "view of a view": lambda t, x: without(t, lambda: x[0].expand(2, 2)) * x.t(),
    "cosine": lambda t, x: t.nn.functional.cosine_similarity(x, x * x + 1),
    "identity": lambda t, x: without(t, lambda: (x * x).clone()),
}
WAYS = {
    "jvp": lambda t, f, x, v: t.func.jvp(f, (x,), (v,)),
    "jacfwd": lambda t, f, x, v: (t.func.jacfwd(f)(x),),
    "jvp of grad": lambda t, f, x, v: t.func.jvp(t.func.grad(lambda x: f(x).sum()), (x,), (v,)),
    "grad of jvp": lambda t, f, x, v: (t.func.grad(lambda x: t.func.jvp(f, (x,), (v,))[1].sum() + (x * 0).sum())(x),),
    "jvp of jvp": lambda t, f, x, v: t.func.jvp(lambda x: t.func.jvp(f, (x,), (v,))[1], (x,), (v,)),
    "outside too": lambda t, f, x, v: without(t, lambda: t.func.jvp(f, (x,), (v,))),
    "dual": lambda t, f, x, v: dual(t, f, x, v),
}


def dual(t, f, x, v):
    forward_ad = importlib.import_module(t.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        return [y.detach() for y in forward_ad.unpack_dual(f(forward_ad.make_dual(x, v)))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_grad(name, way):
    found = []
    for t in (torch, tinytorch):
        x, v = t.tensor([[0.5, 0.25], [-0.4, 2.0]]).double(), t.tensor([[1.0, -2.0], [0.5, 0.25]]).double()
        results = WAYS[way](t, lambda x, t=t: FUNCTIONS[name](t, x.double()), x, v)
        found.append([(y.detach() + 0).flatten().tolist() for y in results])
    for ours, expected in zip(found[1], found[0]):
        assert ours == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_inference_mode_stops_tangents():
    for t in (torch, tinytorch):
        forward_ad = importlib.import_module(t.__name__ + ".autograd.forward_ad")
        with forward_ad.dual_level():
            x = forward_ad.make_dual(t.tensor([2.0]), t.tensor([1.0]))
            with t.inference_mode():
                assert forward_ad.unpack_dual(x * x).tangent is None
        with t.inference_mode(), forward_ad.dual_level():
            x = forward_ad.make_dual(t.tensor([2.0]), t.tensor([1.0]))
            assert forward_ad.unpack_dual(x * x).tangent is None


def test_a_level_leaves_gradients_off():
    for t in (torch, tinytorch):
        forward_ad = importlib.import_module(t.__name__ + ".autograd.forward_ad")
        x = t.tensor([2.0], requires_grad=True)
        with t.no_grad(), forward_ad.dual_level():
            d = forward_ad.make_dual(t.tensor([3.0]), t.tensor([1.0]))
            assert forward_ad.unpack_dual(d * d).tangent.tolist() == [6.0]
            with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
                (x * x).backward()


def test_what_gradients_see():
    """A result made without grad mode requires no gradient, and none passes through it; a parameter stays a leaf."""
    for t in (torch, tinytorch):
        forward_ad = importlib.import_module(t.__name__ + ".autograd.forward_ad")
        x, w = t.tensor([2.0], requires_grad=True), t.tensor([3.0], requires_grad=True)
        with forward_ad.dual_level():
            d = forward_ad.make_dual(x, t.tensor([1.0]))
            with t.no_grad():
                y = d * d
                w.mul_(d)
            assert not y.requires_grad and y.grad_fn is None and w.is_leaf and w.requires_grad
            with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
                y.backward()
            found = t.autograd.grad((y * w * d).sum(), [x, w])
            assert [g.detach().tolist() for g in found] == [[24.0], [8.0]]
        assert w.tolist() == [6.0]
