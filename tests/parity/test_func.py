"""torch.func and vmap under both libraries: values, structure, history, and the errors word for word."""
import functools
from collections import namedtuple

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

P = namedtuple("P", "a b")
W = [[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]]


def X(t, **options):
    return t.tensor([1.0, 2.0], **options)


def M(t):
    return t.arange(6.0).reshape(2, 3)


def linear(t):
    m = t.nn.Linear(3, 2)
    with t.no_grad():
        m.weight.copy_(t.tensor(W))
        m.bias.copy_(t.tensor([0.1, 0.2]))
    return m


def without_grad(t, x):
    with t.no_grad():
        c = x ** 2
    return (x - c).sum()


def outside_no_grad(t, call):
    with t.no_grad():
        return call()


def outside_inference(t, call):
    with t.inference_mode():
        return call()


def inner_gradient(t, x):
    return t.autograd.grad((x * x).sum(), x, create_graph=True)[0].sum()


def tied(t):
    class Tied(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = t.nn.Parameter(t.ones(3))
            self.register_buffer("c", t.zeros(3))

        def forward(self, x, s=1):
            self.c = self.c + 1
            return self.a * self.b * x * s + self.c
    return Tied()


def with_buffers(t):
    buffers = {"c": t.ones(3)}
    module = tied(t)
    return t.func.functional_call(module, buffers, M(t)), buffers, module.c


def ensemble(t):
    models = [linear(t) for _ in range(3)]
    params, buffers = t.func.stack_module_state(models)
    y = t.vmap(lambda p, b, x: t.func.functional_call(models[0], (p, b), (x,)), (0, 0, None))(params, buffers, M(t))
    return y, params, [(p.requires_grad, p.is_leaf) for p in params.values()], buffers


def same_draws(t):
    t.manual_seed(0)
    return t.vmap(lambda a: a + t.randn(3), randomness="same")(M(t)), t.rand(1)


def in_place(t):
    z = M(t)
    return z, t.vmap(lambda a: a.mul_(2))(z)


def pulled(t, cotangents, f=lambda x: x * x, *args):
    return t.func.vjp(f, *(args or (X(t),)))[1](cotangents)


def given_data(x, value):
    x.data = value
    return x


CASES = {
    # .data
    "data": lambda t: t.func.grad(lambda x: (x.data * x).sum())(X(t)),
    "data, vmap": lambda t: t.vmap(lambda x: x.data * 2)(M(t)),
    "data of all samples": lambda t: t.vmap(lambda x: X(t).data * x.sum())(M(t)),
    "data, vmap of grad": lambda t: t.vmap(t.func.grad(lambda x: (x.data * x).sum()))(M(t)),
    "data, grad of vmap": lambda t: t.func.grad(lambda x: t.vmap(lambda y: y.data * y)(x).sum())(M(t)),
    "data, vmap of vmap": lambda t: t.vmap(lambda x: t.vmap(lambda y: x.data * y)(x))(M(t)),
    "data of a sample in grad": lambda t: t.vmap(lambda x: t.func.grad(lambda y: (x.data * y).sum())(x))(M(t)),
    "data given": lambda t: t.func.grad(lambda x: (given_data(x * 1, X(t)) ** 2).sum())(X(t)),
    "data given, jvp": lambda t: t.func.jvp(lambda x: given_data(x * 1, x * 3), (X(t),), (X(t),)),
    "data given to another": lambda t: t.func.grad(lambda x: (given_data(t.ones(2), X(t)) * x).sum())(X(t)),
    "data given, vmap": lambda t: t.vmap(lambda x: given_data(x * 1, X(t)))(M(t)),
    "data of a sample given": lambda t: t.vmap(lambda x: given_data(X(t), x))(M(t)),
    "data of all samples given": lambda t: t.vmap(lambda x: given_data(X(t), X(t) * 3) * x.sum())(M(t)),
    # grad
    "grad": lambda t: t.func.grad(lambda x: (x ** 3).sum())(X(t)),
    "grad of grad": lambda t: t.func.grad(t.func.grad(lambda x: x ** 3))(t.tensor(2.0)),
    "grad inside": lambda t: t.func.grad(lambda x: t.func.grad(lambda y: x * y ** 2)(x) * x)(t.tensor(3.0)),
    "argnums": lambda t: t.func.grad(lambda x, y: (x * y * y).sum(), argnums=(1, 0))(X(t), X(t) + 1),
    "argnums -1": lambda t: t.func.grad(lambda x, y: (x * y * y).sum(), argnums=-1)(X(t), X(t) + 1),
    "argnums 5": lambda t: t.func.grad(lambda x: x.sum(), argnums=5)(X(t)),
    "argnums str": lambda t: t.func.grad(lambda x: x.sum(), argnums="a")(X(t)),
    "argnums empty": lambda t: t.func.grad(lambda x: x.sum(), argnums=())(X(t)),
    "argnums twice": lambda t: t.func.grad(lambda x: x.sum(), argnums=(0, 0))(X(t)),
    "tree": lambda t: t.func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": X(t), "b": [X(t) + 1]}),
    "not a tensor": lambda t: t.func.grad(lambda x: x)(3.0),
    "tree with a number": lambda t: t.func.grad(lambda d: d[0].sum())([X(t), 3.0]),
    "integers": lambda t: t.func.grad(lambda x: (x * 1.0).sum())(t.tensor([1])),
    "integer output": lambda t: t.func.grad(lambda x: x.argmax())(X(t)),
    "independent": lambda t: t.func.grad(lambda x: t.ones(()))(X(t)),
    "complex output": lambda t: t.func.grad(lambda x: (x * 1j).sum())(X(t)),
    "vector output": lambda t: t.func.grad(lambda x: x)(X(t)),
    "number output": lambda t: t.func.grad(lambda x: 3)(X(t)),
    "has_aux": lambda t: t.func.grad(lambda x: ((x ** 2).sum(), {"x": x}), has_aux=True)(X(t)),
    "aux of no tensor": lambda t: t.func.grad(lambda x: (x.sum(), {"k": 3}), has_aux=True)(X(t)),
    "integer tangent": lambda t: t.func.jvp(lambda x: x * 2, (X(t),), (t.ones(2, dtype=t.int64),)),
    "random jacfwd": lambda t: t.func.jacfwd(lambda x: x * t.rand(2))(X(t)),
    "random jacfwd allowed": lambda t: t.func.jacfwd(lambda x: x + t.rand(2), randomness="same")(X(t)),
    "retain_grad": lambda t: t.func.grad(lambda x: (x.retain_grad(), x.sum())[1])(X(t)),
    "requires_grad_ in vmap": lambda t: t.vmap(lambda x: x.requires_grad_())(M(t)),
    "has_aux missing": lambda t: t.func.grad(lambda x: x.sum(), has_aux=True)(X(t)),
    "grad_and_value": lambda t: t.func.grad_and_value(lambda x: (x ** 2).sum())(X(t)),
    "grad_and_value aux": lambda t: t.func.grad_and_value(lambda x: ((x ** 2).sum(), x), has_aux=True)(X(t)),
    "flags": lambda t: t.func.grad(lambda x: (x * (x.requires_grad + 2 * x.is_leaf)).sum())(X(t)),
    "in place on the input": lambda t: t.func.grad(lambda x: x.sin_().sum())(X(t)),
    "in place later": lambda t: t.func.grad(lambda x: x.sin().mul_(x).sum())(X(t)),
    "gradient inside": lambda t: t.func.grad(functools.partial(inner_gradient, t))(X(t)),
    # history outside, and grad modes
    "of a leaf": lambda t: t.func.grad(lambda x: (x ** 3).sum())(X(t, requires_grad=True)),
    "of a captured leaf": lambda t: t.func.grad(lambda x, w=X(t, requires_grad=True): (x * x * w).sum())(X(t)),
    "no history": lambda t: t.func.grad(lambda x, w=X(t, requires_grad=True): (x * x).sum())(X(t)),
    "backward outside": lambda t: t.autograd.grad(
        t.func.grad(lambda x: (x ** 3).sum())(w := X(t, requires_grad=True)).sum(), w),
    "no_grad outside": lambda t: outside_no_grad(
        t, lambda: t.func.grad(lambda x: (x ** 3).sum())(X(t, requires_grad=True))),
    "no_grad inside": lambda t: t.func.grad(functools.partial(without_grad, t))(X(t)),
    "inner no_grad": lambda t: t.func.grad(
        lambda x: (x * outside_no_grad(t, lambda: t.func.grad(lambda y: (y ** 3).sum())(x))).sum())(X(t)),
    "inference": lambda t: outside_inference(t, lambda: t.func.grad(lambda x: (x ** 3).sum())(X(t))),
    # vjp
    "vjp": lambda t: (pulled(t, X(t)), t.func.vjp(lambda x: x * x, X(t, requires_grad=True))[0]),
    "vjp tree": lambda t: pulled(t, {"a": X(t), "b": (X(t),)}, lambda x, y: {"a": x * y, "b": (y,)}, X(t), X(t)),
    "vjp wrong tree": lambda t: pulled(t, {"a": X(t), "b": X(t)}, lambda x: {"a": x, "b": (x,)}),
    "vjp wrong tuple": lambda t: pulled(t, (X(t), X(t))),
    "vjp wrong shape": lambda t: pulled(t, t.ones(3)),
    "vjp integers": lambda t: t.func.vjp(lambda x: x.argmax(), X(t)),
    "vjp aux": lambda t: t.func.vjp(lambda x: (x * x, [x]), X(t), has_aux=True)[::2],
    # jvp and linearize
    "jvp": lambda t: t.func.jvp(lambda x: x ** 3, (X(t),), (t.ones(2),)),
    "jvp tree": lambda t: t.func.jvp(lambda x, y: {"a": x * y, "b": [y]}, (X(t), X(t) + 1), (X(t), X(t))),
    "jvp of jvp": lambda t: t.func.jvp(lambda x: t.func.jvp(lambda y: y ** 4, (x,), (x,))[1], (X(t),), (t.ones(2),)),
    "jvp of grad": lambda t: t.func.jvp(t.func.grad(lambda x: (x ** 4).sum()), (X(t),), (X(t),)),
    "grad of jvp": lambda t: t.func.grad(lambda x: t.func.jvp(t.sin, (x,), (x * x,))[1].sum())(X(t)),
    "jvp in place": lambda t: t.func.jvp(lambda x: x.mul_(2).sin_(), (X(t),), (X(t),)),
    "jvp of a leaf": lambda t: t.func.jvp(lambda x: x ** 2, (X(t, requires_grad=True),), (X(t),)),
    "jvp no_grad": lambda t: outside_no_grad(t, lambda: t.func.jvp(lambda x: x ** 2, (X(t),), (X(t),))),
    "jvp aux": lambda t: t.func.jvp(lambda x: (x * x, x), (X(t),), (X(t),), has_aux=True),
    "jvp independent": lambda t: t.func.jvp(lambda x: t.ones(3), (X(t),), (X(t),)),
    "jvp strict": lambda t: t.func.jvp(lambda x: t.ones(3), (X(t),), (X(t),), strict=True),
    "jvp complex": lambda t: t.func.jvp(lambda x: x * x * 1j, (X(t),), (X(t),)),
    "jvp list": lambda t: t.func.jvp(lambda x: x, [X(t)], [X(t)]),
    "jvp shape": lambda t: t.func.jvp(lambda x: x, (X(t),), (t.ones(3),)),
    "jvp structure": lambda t: t.func.jvp(lambda x: x, (X(t),), (X(t), X(t))),
    "jvp integers": lambda t: t.func.jvp(lambda x: x, (t.tensor([1]),), (t.tensor([1]),)),
    "jvp number": lambda t: t.func.jvp(lambda x: 3.0, (X(t),), (X(t),)),
    "linearize": lambda t: (lambda y, f: (y, f(t.ones(2)), f(X(t))))(*t.func.linearize(lambda x: x ** 3, X(t))),
    "linearize besides tensors": lambda t: (lambda y, f: (y, f(t.ones(2))))(
        *t.func.linearize(lambda x: (True, {"a": x * x}, None, [2.5, x.sum()]), X(t))),
    "linearize a number": lambda t: (lambda y, f: (y, f(t.ones(2))))(*t.func.linearize(lambda x: 3, X(t))),
    "linearize shape": lambda t: t.func.linearize(lambda x: x ** 3, X(t))[1](t.ones(3)),
    "linearize dtype": lambda t: t.func.linearize(lambda x: x ** 3, X(t))[1](t.ones(2, dtype=t.float64)),
    "linearize structure": lambda t: t.func.linearize(lambda x: x ** 3, X(t))[1](X(t), X(t)),
    # Jacobians
    "hessian": lambda t: t.func.hessian(lambda x, y: (x ** 3 * y).sum(), argnums=(0, 1))(X(t), X(t)),
    "jacfwd of jacrev": lambda t: t.func.jacfwd(t.func.jacrev(t.sin))(M(t)),
    "jacrev of jacfwd": lambda t: t.func.jacrev(t.func.jacfwd(t.sin))(X(t)),
    "vmap of hessian": lambda t: t.vmap(t.func.hessian(lambda x: (x ** 3).sum()))(M(t)),
    "jacrev of vmap": lambda t: t.func.jacrev(t.vmap(t.sum))(M(t)),
    "jacrev chunk": lambda t: t.func.jacrev(t.sin, chunk_size=1)(X(t)),
    "jacrev chunk 0": lambda t: t.func.jacrev(t.sin, chunk_size=0)(X(t)),
    "jacfwd randomness": lambda t: t.func.jacfwd(t.sin, randomness="x")(X(t)),
    # vmap
    "vmap": lambda t: t.vmap(t.sum)(M(t)),
    "in_dims": lambda t: (t.vmap(t.sum, 1)(M(t)), t.vmap(t.sum, -1)(M(t))),
    "in_dims None": lambda t: t.vmap(lambda a, b: a * b, (0, None))(M(t), M(t)[0]),
    "out_dims": lambda t: (t.vmap(t.sin, out_dims=1)(M(t)), t.vmap(t.sin, out_dims=-1)(M(t))),
    "out_dims tuple": lambda t: t.vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(M(t)),
    "out_dims one": lambda t: t.vmap(t.sum, out_dims=(0,))(M(t)),
    "out_dims None": lambda t: t.vmap(lambda a, c=X(t): c, out_dims=None)(M(t)),
    "out_dims None number": lambda t: t.vmap(lambda a: 3.0, out_dims=None)(M(t)),
    "out_dims None batched": lambda t: t.vmap(lambda a: a, out_dims=None)(M(t)),
    "outputs": lambda t: t.vmap(lambda a: {"q": a * 2, "r": [a.sum(), P(a, a)]})(M(t)),
    "inputs": lambda t: t.vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": M(t), "b": M(t)[0]}),
    "named tuple": lambda t: t.vmap(lambda p: p.a * p.b)(P(M(t), M(t))),
    "nested": lambda t: t.vmap(t.vmap(lambda a, b: a * b, (None, 0)), (0, None))(X(t), X(t)),
    "keywords": lambda t: t.vmap(lambda a, b=None: a * b)(M(t), b=t.tensor(2.0)),
    "constant": lambda t: t.vmap(lambda a: t.ones(2))(M(t)),
    "no samples": lambda t: t.vmap(lambda a: (a * 2, a.sum()))(t.ones(0, 3)),
    "in place": in_place,
    "per sample": lambda t: t.vmap(t.func.grad(lambda w, a: ((a * w) ** 2).sum()), (None, 0))(t.ones(3), M(t)),
    "through vmap": lambda t: t.autograd.grad(t.vmap(lambda a: (a * w).sum())(M(t)).sum(), w) if (
        w := t.ones(3, requires_grad=True)) is not None else None,
    "module": lambda t: t.vmap(linear(t))(M(t)),
    "random": lambda t: t.vmap(lambda a: a + t.rand(3))(M(t)),
    "dropout": lambda t: t.vmap(t.nn.functional.dropout)(M(t)),
    "same draws": same_draws,
    "randomness": lambda t: t.vmap(t.sum, randomness="x")(M(t)),
    "chunk_size": lambda t: t.vmap(t.sum, chunk_size=1)(M(t)),
    "chunk_size 0": lambda t: t.vmap(t.sum, chunk_size=0)(M(t)),
    "a number": lambda t: t.vmap(lambda a, b: a * b)(M(t), 3.0),
    "sizes": lambda t: t.vmap(lambda a, b: a * b)(M(t), t.ones(3)),
    "nothing": lambda t: t.vmap(lambda: 1)(),
    "dimension": lambda t: t.vmap(lambda a: a, 3)(M(t)),
    "dimension of a scalar": lambda t: t.vmap(lambda a: a)(t.tensor(1.0)),
    "structure": lambda t: t.vmap(lambda a: a, (0, 0))(M(t)),
    "in_dims list": lambda t: t.vmap(lambda a: a, [0])(M(t)),
    "in_dims str": lambda t: t.vmap(lambda a: a, ("a",))(M(t)),
    "in_dims all None": lambda t: t.vmap(lambda a: a, (None,))(M(t)),
    "number out": lambda t: t.vmap(lambda a: 3.0)(M(t)),
    "nothing out": lambda t: t.vmap(lambda a: None)(M(t)),
    "out_dims str": lambda t: t.vmap(lambda a: a, out_dims="a")(M(t)),
    "out_dims structure": lambda t: t.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(M(t)),
    "partial": lambda t: t.vmap(functools.partial(lambda b, a: a * b, 2), 4)(M(t)),
    # modules
    "functional_call": lambda t: t.func.functional_call(linear(t), {"weight": t.ones(2, 3)}, M(t)),
    "two dicts": lambda t: t.func.functional_call(linear(t), ({"weight": t.ones(2, 3)}, {"bias": t.ones(2)}), (M(t),)),
    "one name twice": lambda t: t.func.functional_call(linear(t), ({"bias": t.ones(2)}, {"bias": t.ones(2)}), M(t)),
    "not a dict": lambda t: t.func.functional_call(linear(t), ({}, 3), M(t)),
    "not a sequence": lambda t: t.func.functional_call(linear(t), 3, M(t)),
    "strict": lambda t: t.func.functional_call(linear(t), {"weight": t.ones(2, 3), "x": t.ones(1)}, M(t), strict=True),
    "not a tensor given": lambda t: t.func.functional_call(linear(t), {"weight": 3}, M(t)),
    "gradient of parameters": lambda t: t.func.grad(lambda p: t.func.functional_call(linear(t), p, M(t)).sum())(
        {k: v.detach() for k, v in linear(t).named_parameters()}),
    "tied": lambda t: t.func.functional_call(tied(t), {"a": t.ones(3) * 2}, M(t), {"s": 3}),
    "tied apart": lambda t: t.func.functional_call(
        tied(t), {"a": t.ones(3) * 2, "b": t.ones(3)}, M(t), tie_weights=False),
    "tied twice": lambda t: t.func.functional_call(tied(t), {"a": t.ones(3) * 2, "b": t.ones(3)}, M(t)),
    "buffers": with_buffers,
    "ensemble": ensemble,
    "no models": lambda t: t.func.stack_module_state([]),
    "other models": lambda t: t.func.stack_module_state([linear(t), t.nn.ReLU()]),
    "other modes": lambda t: t.func.stack_module_state([t.nn.ReLU(), t.nn.ReLU().eval()]),
}
for _name in ("jacrev", "jacfwd"):
    CASES |= {f"{_name} {key}": functools.partial(lambda t, transform, f: f(t, getattr(t.func, transform)),
                                                  transform=_name, f=f) for key, f in {
        "vector": lambda t, jac: jac(lambda x: x.sin().outer(x))(X(t)),
        "trees": lambda t, jac: jac(lambda x, y: {"a": x * y, "b": (y.sum(),)}, argnums=(0, 1))(X(t), X(t)),
        "tree in": lambda t, jac: jac(lambda d: d["p"] * 2)({"p": X(t)}),
        "aux": lambda t, jac: jac(lambda x: (x * 2, {"q": x}), has_aux=True)(X(t)),
        "independent": lambda t, jac: jac(lambda x: t.ones(2))(X(t)),
        "leaf": lambda t, jac: jac(lambda x: x ** 3)(X(t, requires_grad=True)),
        "complex in": lambda t, jac: jac(lambda x: x * 2)(X(t) + 0j),
        "complex out": lambda t, jac: jac(lambda x: x * 2j)(X(t)),
        "argnums": lambda t, jac: jac(lambda x: x * 2, argnums=1)(X(t)),
    }.items()}


@pytest.mark.parametrize("name", CASES)
def test_same_as_torch(name):
    same_outcome(CASES[name])


def test_different_draws():
    for t in (torch, tinytorch):
        y = t.vmap(lambda a: a * 0 + t.rand(3), randomness="different")(M(t))
        assert (np.asarray(y[0]) != np.asarray(y[1])).any()


def test_the_vmap_that_came_before():
    from .test_graph import both_agree

    def act(lib):
        import importlib
        _vmap = importlib.import_module(f"{lib.__name__}._vmap_internals")._vmap
        x = lib.arange(3.).requires_grad_()
        y = x ** 3
        hessian = _vmap(lambda v: lib.autograd.grad(y, x, v, retain_graph=True)[0])(lib.eye(3))
        said = _vmap(lambda x: (None, x, x + 1), allow_none_pass_through=True)(lib.ones(2))
        return hessian.tolist(), said[0], [t.tolist() for t in said[1:]], _vmap(lib.sum)(lib.ones(2, 3)).tolist()
    both_agree(act)


def test_parts_of_torch_autograd_functional():
    from .test_graph import both_agree

    def act(lib):
        f = lib.autograd.functional
        a, b = lib.ones(2, requires_grad=True), lib.ones(1, 2)
        said = [len(f._as_tuple(a)), *[f._as_tuple(x, "a", "b")[0] for x in (a, (a, b))]]
        for wrong in (3, (a, 3), [a]):
            try:
                said.append(f._as_tuple(wrong, "inputs", "jacobian"))
            except TypeError as error:
                said.append(str(error).partition(" has type")[0])
        ways = [True, False, (True, True), (False, True), (True, False), (False, False)]
        kept = f._grad_postprocess(((a * 2,), (b,)), create_graph=False)
        return said, [[x.requires_grad for x in row] for row in kept], [
            f._tuple_postprocess(((1, 2), (3, 4)), x) for x in ways], [
            x.tolist() for x in f._construct_standard_basis_for((a, b), (2, 2))]
    both_agree(act)


def _dual(t, f):
    def call(x):
        with t.autograd.forward_ad.dual_level():
            return t.autograd.forward_ad.unpack_dual(f(t.autograd.forward_ad.make_dual(x, t.ones_like(x))))[0]
    return call


def _no_grad(t, x):
    with t.no_grad():
        return x.add_(1)


#: Transforms around a function that gives a tensor of the shape that it is given.
AROUND = {
    "grad": lambda t, f: t.func.grad(lambda x: f(x).sum()), "vjp": lambda t, f: lambda x: t.func.vjp(f, x)[0],
    "jvp": lambda t, f: lambda x: t.func.jvp(f, (x,), (t.ones_like(x),))[0], "dual": _dual,
    "jacrev": lambda t, f: t.func.jacrev(f), "hessian": lambda t, f: t.func.hessian(lambda x: f(x).sum()),
    "vmap": lambda t, f: t.func.vmap(f)}
WRITES = {
    "add_": lambda t, x: x.add_(1), "of a part": lambda t, x: (x[..., 0].add_(1), x)[1],
    "mT": lambda t, x: x.mT.mul_(2),
    "setitem": lambda t, x: (x.__setitem__(0, 2.), x)[1], "detached": lambda t, x: (x.detach().add_(1), x)[1],
    "unsqueeze_": lambda t, x: x.unsqueeze_(0), "copy_": lambda t, x: x.copy_(t.ones(2, 2)), "no_grad": _no_grad,
    "of a copy": lambda t, x: (x * 1).add_(1), "from it": lambda t, x: t.zeros_like(x).copy_(x)}
GIVEN = {
    "plain": lambda x: x, "a leaf": lambda x: x.requires_grad_(), "no leaf": lambda x: x.requires_grad_() * 1,
    "a view of a leaf": lambda x: x.requires_grad_().view_as(x), "a view": lambda x: (x.requires_grad_() * 1).mT}


@pytest.mark.parametrize("outer", [*AROUND, ""])
@pytest.mark.parametrize("inner", AROUND)
def test_writes_to_what_transforms_are_given(outer, inner):
    """What stands for a leaf within a transform, or a view of one, may not be written to, however deep it is in."""
    refused = count = 0
    for write, given in [(write, given) for write in WRITES for given in GIVEN]:
        found = []
        for t in torch, tinytorch:
            f = AROUND[inner](t, functools.partial(WRITES[write], t))
            f = AROUND[outer](t, f) if outer else f
            try:
                f(GIVEN[given](t.arange(16.).reshape(2, 2, 2, 2)))
                found.append("")
            except (RuntimeError, IndexError) as error:
                found.append(str(error) if "leaf" in str(error) else "another error")
        if "another error" not in found:
            count += 1
            refused += "leaf" in found[0]
            if "vmap" in (outer, inner):       # whose batches torch may write to through a view of its own
                found = [text.replace("a view of a leaf", "a leaf") for text in found]
            assert found[0] == found[1], (write, given)
    assert not count or 0 < refused < count


@pytest.mark.parametrize("name", ["gelu", "std_mean", "native_group_norm", "matrix_norm", "cond", "embedding"])
def test_second_derivatives(name):
    """Batches of gradients, of operations with several outputs and of those that save what they gave."""
    def act(t):
        x = (t.arange(16.).reshape(4, 4) % 5 - 2).double() + 3 * t.eye(4).double()
        f = {"gelu": lambda x: t.nn.functional.gelu(x).sum(), "std_mean": lambda x: sum(t.std_mean(x)),
             "native_group_norm": lambda x: sum([(y * y * x.exp().sum()).sum() for y in t.native_group_norm(
                 x.reshape(1, 4, 4), None, None, 1, 4, 4, 2, 1e-5)]),
             "matrix_norm": lambda x: t.linalg.matrix_norm(x, "nuc"), "cond": lambda x: t.linalg.cond(x),
             "embedding": lambda x: (t.nn.functional.embedding(t.tensor([0, 2, 2]), x, padding_idx=2) ** 3).sum()}[name]
        return [t.func.hessian(f)(x), t.func.jacrev(t.func.jacrev(f))(x), t.func.jacfwd(f)(x),
                t.func.jvp(f, (x,), (x + 1,))[1]]
    same_outcome(act)
