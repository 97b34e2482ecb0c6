"""Dual numbers under both libraries: tangents, their histories, and the errors word for word."""
import importlib

import pytest
import torch

import tinytorch

from .adapter import same_outcome


def X(t, **options):
    return t.tensor([[1.0, 2.0], [3.0, 0.5]], **options)


def T(t, **options):
    return t.tensor([[0.5, -1.0], [2.0, 1.0]], **options)


def fw(t):
    return importlib.import_module(t.__name__ + ".autograd.forward_ad")


def dual(t, f, x=None, tangent=None):
    """The value and tangent of f at a dual number."""
    x, tangent = X(t) if x is None else x, T(t) if tangent is None else tangent
    with fw(t).dual_level():
        return tuple(fw(t).unpack_dual(f(fw(t).make_dual(x, tangent))))


def in_level(t, f):
    with fw(t).dual_level():
        return f(fw(t))


def nested(t):
    with fw(t).dual_level():
        with fw(t).dual_level():
            pass


def after(t):
    with fw(t).dual_level():
        y = fw(t).make_dual(X(t), T(t)) * 2
    return tuple(fw(t).unpack_dual(y))


def written(t, x):
    y = t.zeros(3, 2)
    y[1:] = x
    y[0].add_(x[0])
    return y


def reverse_over_forward(t):
    x, v = X(t, requires_grad=True), T(t, requires_grad=True)
    value, tangent = dual(t, lambda d: (d ** 3).sin(), x, v)
    return t.autograd.grad((tangent * tangent).sum(), (x, v), retain_graph=True), t.autograd.grad(value.sum(), x)


def forward_over_reverse(t):
    def gradient(d):
        return t.autograd.grad((d ** 3).sum(), d)[0]
    return dual(t, gradient, X(t, requires_grad=True))


def module(t):
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.Tanh(), t.nn.Linear(3, 1))
    with t.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(t.arange(float(p.numel())).reshape(p.shape) / 10 - 0.1 * i)
    with fw(t).dual_level():
        parameters = {k: fw(t).make_dual(p.detach(), t.ones_like(p)) for k, p in model.named_parameters()}
        return tuple(fw(t).unpack_dual(t.func.functional_call(model, parameters, X(t))))


def two_inputs(t):
    with fw(t).dual_level():
        a, b = fw(t).make_dual(X(t), T(t)), fw(t).make_dual(T(t), X(t))
        return [tuple(fw(t).unpack_dual(y)) for y in (a * b, a @ b, a + 1, b.exp().sum(), X(t) * 2)]


def outside_no_grad(t):
    with t.no_grad():
        return dual(t, t.sin, X(t, requires_grad=True))


def switched_off(t):
    with fw(t).dual_level():
        x = fw(t).make_dual(X(t), T(t))
        with fw(t)._set_fwd_grad_enabled(False):
            y = x.sin()
        return fw(t).unpack_dual(y).tangent, fw(t).unpack_dual(x.sin()).tangent, fw(t)._is_fwd_grad_enabled()


def slopes_of_zero(t):
    """What is made of a dual has a tangent, be it zero; what is not has none."""
    functions = [t.floor, t.sign, t.bernoulli, lambda x: x.norm(0), lambda x: (x * 1).zero_(),
                 lambda x: t.linalg.slogdet(x)[0], lambda x: x * 0, lambda x: t.zeros_like(x), lambda x: x.detach(),
                 lambda x: x > 1, lambda x: x.round(), lambda x: t.heaviside(x.detach(), x.detach())]
    return [dual(t, f, X(t) / 4)[1] for f in functions]


CASES = {
    "sin": lambda t: dual(t, t.sin),
    "itself": lambda t: dual(t, lambda x: x),
    "matmul": lambda t: dual(t, lambda x: x @ x.t()),
    "reductions": lambda t: dual(t, lambda x: x.sum(0) * x.max() + x.var(1) + x.norm()),
    "views": lambda t: dual(t, lambda x: x.t()[0:1].expand(3, 2).reshape(-1)),
    "sort": lambda t: dual(t, lambda x: x.sort(1)[0].cumsum(0)),
    "in place": lambda t: dual(t, lambda x: (x * 1).mul_(x).add_(1), tangent=T(t)),
    "in place on the dual": lambda t: dual(t, lambda x: x.mul_(2).t()),
    "written": lambda t: dual(t, lambda x: written(t, x)),
    "conv": lambda t: dual(t, lambda x: t.nn.functional.conv1d(x[None], t.ones(1, 2, 2))),
    "softmax": lambda t: dual(t, lambda x: t.nn.functional.cross_entropy(x, t.tensor([0, 1]))),
    "linalg": lambda t: dual(t, lambda x: t.linalg.inv(x) * t.linalg.det(x)),
    "complex": lambda t: dual(t, lambda x: t.complex(x, x * x).abs()),
    "double": lambda t: dual(t, lambda x: x.double()),
    "integers": lambda t: dual(t, lambda x: x.argmax()),
    "slope of zero": slopes_of_zero,
    "detached": lambda t: dual(t, lambda x: x.detach() * 2),
    "independent": lambda t: dual(t, lambda x: t.ones(2)),
    "two inputs": two_inputs,
    "module": module,
    "grad": lambda t: dual(t, lambda x: t.func.grad(lambda y: (y ** 3).sum())(x)),
    "of a leaf": lambda t: dual(t, t.sin, X(t, requires_grad=True)),
    "tangent with history": lambda t: dual(t, t.sin, tangent=T(t, requires_grad=True))[1],
    "reverse over forward": reverse_over_forward,
    "forward over reverse": lambda t: tuple(x.detach() for x in forward_over_reverse(t)),
    "no_grad outside": outside_no_grad,
    "switched off": switched_off,
    "after": after,
    "plain": lambda t: tuple(fw(t).unpack_dual(X(t))),
    "level": lambda t: in_level(t, lambda f: 0),
    "nested": nested,
    "no level": lambda t: fw(t).make_dual(X(t), T(t)),
    "no level to leave": lambda t: fw(t).exit_dual_level(),
    "other level to leave": lambda t: in_level(t, lambda f: f.exit_dual_level(level=3)),
    "other level": lambda t: in_level(t, lambda f: f.unpack_dual(f.make_dual(X(t), T(t)), level=3)),
    "dual of other level": lambda t: in_level(t, lambda f: f.make_dual(X(t), T(t), level=3)),
    "integer primal": lambda t: in_level(t, lambda f: f.make_dual(t.tensor([1]), t.ones(1))),
    "integer tangent": lambda t: in_level(t, lambda f: f.make_dual(t.ones(1), t.tensor([1]))),
    "shapes": lambda t: in_level(t, lambda f: f.make_dual(X(t), t.ones(2))),
    "dual of dual": lambda t: in_level(t, lambda f: f.make_dual(f.make_dual(X(t), T(t)), T(t))),
    "tangent is dual": lambda t: in_level(t, lambda f: f.make_dual(X(t), f.make_dual(X(t), T(t)))),
}


def texts(t):
    """What is printed of dual numbers: the tangent where torch has it, and the node of those with a history outside."""
    x = t.ones(2, requires_grad=True)
    with fw(t).dual_level():
        d, e = fw(t).make_dual(t.ones(2), t.tensor([1., 2.])), fw(t).make_dual(x, t.ones(2))
        long = fw(t).make_dual(t.ones(3, 30), t.zeros(3, 30)).sum(0)
        with t.no_grad():
            quiet = e * 2
        found = [d, d * 2, d > 0, d.detach(), d.round(), t.stack([d, t.ones(2)]), d.sum(), long, e, quiet, x, x * 2,
                 d.double(), t.arange(3), t.nn.Parameter(t.ones(2))]
        return [str(y) for y in found] + [f"{d} {d.sum()}", str([d]), str(fw(t).unpack_dual(d))]


CASES["texts"] = texts


def of_one_operand(t):
    """Whether a result of one dual operand has a tangent: none where the other operands alone have a derivative."""
    def has(f, x, *others):
        return fw(t).unpack_dual(f(*others, fw(t).make_dual(x, t.ones_like(x)))).tangent is not None
    a, b, classes = t.tensor([[1., -2.]]), t.tensor([[-3., 4.]]), t.tensor([1])
    nll = t.nn.functional.nll_loss
    with fw(t).dual_level():
        return [has(t.copysign, a, b), has(t.copysign, a, a > 0), has(lambda y, x: t.copysign(x, y), a, b),
                has(t.nextafter, a, b), has(lambda y, x: t.nextafter(x, y), a, b), has(t.round, a),
                has(t.normal, a.abs(), b), has(lambda y, x: t.normal(x, y), a, b.abs()),
                has(lambda y, c, w: nll(y, c, w), a[0], b, classes), has(lambda c, x: nll(x, c), b, classes),
                has(lambda y, x: t.copysign(y, x) + x.trunc(), a, b)]


CASES["of one operand"] = of_one_operand


def without_jvp(t, carries):
    """A Function that has none refuses tangents when it is called, and nothing else."""
    mine = type("Mine", (t.autograd.Function,), dict(
        forward=staticmethod(lambda ctx, x: x * 2), backward=staticmethod(lambda ctx, g: g * 2)))
    with fw(t).dual_level():
        dual = fw(t).make_dual(X(t), T(t))
        return mine.apply(dual if carries else X(t, requires_grad=True)).detach()


CASES["a Function without jvp"] = lambda t: without_jvp(t, True)
CASES["a Function without jvp, no tangent"] = lambda t: without_jvp(t, False)


@pytest.mark.parametrize("name", CASES)
def test_same_as_torch(name):
    same_outcome(CASES[name])


def test_decorator_and_functions():
    for t in (torch, tinytorch):
        @fw(t).dual_level()
        def tangent(x):
            return fw(t).unpack_dual(fw(t).make_dual(x, t.ones_like(x)) ** 2).tangent
        assert tangent(t.tensor([3.0])).tolist() == [6.0]
        assert fw(t).enter_dual_level() == 0
        fw(t).exit_dual_level(level=0)
