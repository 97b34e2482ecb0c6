"""Parametrizations and the older norms against torch: what each program notes must be the same."""
import copy
import pickle
import warnings

import pytest

from .test_module import same_notes


def trained(t, note, m, x, steps=2):
    """Notes outputs, gradients and parameters of some steps of SGD."""
    optimizer = t.optim.SGD(m.parameters(), 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        y = m(x)
        (y * y).mean().backward()
        note(y), note([p.grad for p in m.parameters()])
        optimizer.step()
    note(dict(m.state_dict()))


def layers(t):
    return [(t.nn.Linear(4, 3), t.randn(2, 4)), (t.nn.Conv1d(3, 4, 3), t.randn(2, 3, 5)),
            (t.nn.ConvTranspose1d(2, 3, 2), t.randn(1, 2, 4)), (t.nn.Linear(3, 5), t.randn(2, 3))]


# ------------------------------------------------------------------ ready-made ones
def new_weight_norm(t, note):
    for dim in (0, 1, None, -1):
        for m, x in layers(t):
            norm = t.nn.utils.parametrizations.weight_norm
            note(lambda: norm(m, dim=dim)), note(dict(m.state_dict())), trained(t, note, m, x)
            m.weight = t.ones_like(m.weight)
            note(dict(m.state_dict()))
            note(t.nn.utils.parametrize.remove_parametrizations(m, "weight"))
            note(dict(m.state_dict())), note(type(m).__name__)


def new_spectral_norm(t, note):
    norm = t.nn.utils.parametrizations.spectral_norm
    for options in ({}, {"n_power_iterations": 3}, {"dim": 1}, {"eps": 0.5}):
        for m, x in layers(t):
            note(norm(m, **options)), note(dict(m.state_dict())), trained(t, note, m, x)
            m.eval()
            note(m(x)), note(m(x)), note(dict(m.state_dict()))
            m.weight = t.ones_like(m.weight)
            note(m.weight)
    m = t.nn.Linear(2, 3)
    note(norm(m, "bias")), note(m.bias)
    for options in ({"n_power_iterations": 0}, {"dim": 2}, {"name": "nothing"}):
        note(lambda: norm(m, **options))


def orthogonal(t, note):
    make = t.nn.utils.parametrizations.orthogonal
    for shape in ((3, 3), (3, 5), (5, 3)):
        for kind in (None, "matrix_exp", "cayley", "householder"):
            for base in (True, False):
                m = t.nn.Linear(*shape).double()
                note(lambda: make(m, orthogonal_map=kind, use_trivialization=base))
                note(m.weight), trained(t, note, m, t.randn(2, shape[0], dtype=t.float64))
                note(lambda: setattr(m, "weight", t.eye(shape[1], shape[0], dtype=t.float64))), note(m.weight)
                note(lambda: setattr(m, "weight", t.ones(2, 2, dtype=t.float64)))
                note(lambda: t.nn.utils.parametrize.remove_parametrizations(m, "weight")), note(dict(m.state_dict()))
    m = t.nn.Bilinear(3, 4, 2)
    note(make(m)), note(m.weight)
    note(lambda: make(m, "bias")), note(lambda: make(m, "nothing"))
    note(lambda: make(t.nn.Linear(2, 2), orthogonal_map="q"))


# ------------------------------------------------------------------ registering
def modules(t):
    class Symmetric(t.nn.Module):
        def forward(self, X):
            return X.triu() + X.triu(1).transpose(-1, -2)

    class Skew(t.nn.Module):
        def forward(self, X):
            A = X.triu(1)
            return A - A.T

        def right_inverse(self, A):
            return A.triu(1)

    class Twice(t.nn.Module):
        def forward(self, X):
            return X * 2

        def right_inverse(self, X):
            return X / 2

    class Rank(t.nn.Module):
        def forward(self, u, v):
            return u.unsqueeze(-1) * v

        def right_inverse(self, X):
            return X[:, 0].clone(), X[0].clone()
    return Symmetric(), Skew(), Twice(), Rank()


def chains(t, note):
    P = t.nn.utils.parametrize
    symmetric, skew, twice, rank = modules(t)
    m = t.nn.Linear(3, 3)
    parameter = m.weight
    note([P.is_parametrized(m), P.is_parametrized(m, "weight"), P.type_before_parametrizations(m).__name__])
    note(P.register_parametrization(m, "weight", skew)), note(P.register_parametrization(m, "weight", twice))
    note(P.register_parametrization(m, "bias", copy.deepcopy(twice)))
    note(m.parametrizations.weight.original is parameter), note(m.weight), note(m.bias), note(dict(m.state_dict()))
    note([P.is_parametrized(m), P.is_parametrized(m, "weight"), P.is_parametrized(m, "x"), type(m).__name__,
          P.type_before_parametrizations(m).__name__, [n for n, _ in m.named_modules()],
          [n for n, _ in m.named_parameters()]])
    trained(t, note, m, t.randn(2, 3))
    m.weight = t.arange(9.).reshape(3, 3)
    note(m.weight), note(m.parametrizations.weight.original)
    other = copy.deepcopy(m)
    note(other), note(other(t.ones(1, 3))), note(lambda: pickle.dumps(m))
    note(lambda: setattr(m, "weight", t.nn.Parameter(t.ones(3, 3))))
    note(P.remove_parametrizations(m, "weight")), note(dict(m.state_dict()))
    note(m.weight is parameter), note(type(m).__name__)
    note(P.remove_parametrizations(m, "bias", leave_parametrized=False)), note(m.bias)
    note(type(m).__name__), note(hasattr(m, "parametrizations"))
    note(lambda: P.remove_parametrizations(m, "bias"))
    m = P.register_parametrization(t.nn.Linear(3, 3), "weight", symmetric)
    note(m.weight), note(lambda: setattr(m, "weight", t.ones(3, 3)))
    m.eval(), note(m.parametrizations.weight[0].training)
    note(len(m.parametrizations.weight)), note(m.parametrizations.weight.is_tensor)


def several(t, note):
    P, rank = t.nn.utils.parametrize, modules(t)[3]
    m = t.nn.Linear(3, 2)
    note(P.register_parametrization(m, "weight", rank)), trained(t, note, m, t.randn(2, 3))
    note(lambda: P.remove_parametrizations(m, "weight", leave_parametrized=False))
    to = t.nn.Linear(3, 2)
    note(P.transfer_parametrizations_and_params(m, to)), note(dict(to.state_dict()))
    note(P.transfer_parametrizations_and_params(t.nn.Linear(3, 2), t.nn.Linear(1, 1)))
    note(P.remove_parametrizations(m, "weight")), note(dict(m.state_dict())), note(m.weight.is_leaf)


def buffers(t, note):
    P, twice = t.nn.utils.parametrize, modules(t)[2]
    m = t.nn.BatchNorm1d(2)
    note(P.register_parametrization(m, "running_mean", twice)), note(list(m.state_dict()))
    note(m(t.randn(4, 2))), note(m.running_mean), note(dict(m.named_buffers()))
    note(P.remove_parametrizations(m, "running_mean")), note(list(m.state_dict()))


def caching(t, note):
    P = t.nn.utils.parametrize
    calls = []

    class Counted(t.nn.Module):
        def forward(self, X):
            calls.append(1)
            return X * 1
    m = P.register_parametrization(t.nn.Linear(2, 2), "weight", Counted())
    del calls[:]
    m(t.ones(1, 2)), m(t.ones(1, 2)), note(len(calls))
    with P.cached():
        m(t.ones(1, 2)), note(m.weight is m.weight)
        with P.cached():
            m(t.ones(1, 2))
        m(t.ones(1, 2)), note(len(calls))
    m(t.ones(1, 2)), note(len(calls))


def refusals(t, note):
    P = t.nn.utils.parametrize

    def of(forward, right_inverse=None):
        members = {"forward": lambda self, *X: forward(*X)}
        if right_inverse:
            members["right_inverse"] = lambda self, X: right_inverse(X)
        return type("Mine", (t.nn.Module,), members)()

    def refuse(X):
        raise NotImplementedError

    for make in [lambda: of(lambda X: X.double()), lambda: of(lambda X: X[0]), lambda: of(lambda X: 3),
                 lambda: of(lambda X: X, lambda X: 3),
                 lambda: of(lambda X: X, lambda X: X.double()), lambda: of(lambda X: X, lambda X: (X, 3)),
                 lambda: of(lambda X: X, lambda X: X[0]), lambda: of(lambda X: X, refuse),
                 lambda: of(lambda X: X, lambda X: None)]:
        for unsafe in (False, True):
            m = t.nn.Linear(2, 2)
            note(lambda: P.register_parametrization(m, "weight", make(), unsafe=unsafe))
            m = P.register_parametrization(t.nn.Linear(2, 2), "weight", of(lambda X: X + 1, lambda X: X - 1))
            note(lambda: P.register_parametrization(m, "weight", make(), unsafe=unsafe))
            note(lambda: setattr(m, "weight", t.ones(2, 2)))
    note(lambda: P.register_parametrization(t.nn.Linear(2, 2), "nothing", of(lambda X: X)))
    note(lambda: P.ParametrizationList([], t.ones(1)))


# ------------------------------------------------------------------ the older ones
def old_weight_norm(t, note):
    U = t.nn.utils
    for dim in (0, 1, None):
        for m, x in layers(t):
            note(lambda: U.weight_norm(m, dim=dim)), note(dict(m.state_dict())), note(m.weight), trained(t, note, m, x)
            note(lambda: U.weight_norm(m)), note([n for n, _ in m.named_parameters()])
            note(m.weight.is_leaf), note(U.remove_weight_norm(m))
            note(dict(m.state_dict())), note(lambda: U.remove_weight_norm(m))
    old, new = t.nn.Linear(2, 2), U.parametrizations.weight_norm(t.nn.Linear(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        U.weight_norm(old)
        U.weight_norm(m := t.nn.LSTM(2, 3), "weight_hh_l0")
    note(new.load_state_dict(old.state_dict())), note(new.weight)
    note(sorted(dict(m.named_parameters()))), note(m(t.ones(2, 1, 2))[0])


def old_spectral_norm(t, note):
    U = t.nn.utils
    for options in ({}, {"n_power_iterations": 3}, {"dim": 1}):
        for m, x in layers(t):
            note(U.spectral_norm(m, **options)), note(dict(m.state_dict())), note(m.weight), trained(t, note, m, x)
            m.eval()
            note(m(x)), note(m(x)), note(m.state_dict()._metadata)
            other = copy.deepcopy(m.state_dict())
            note(m.load_state_dict(other))
            note(lambda: U.spectral_norm(m)), note(U.remove_spectral_norm(m))
            note(dict(m.state_dict())), note(lambda: U.remove_spectral_norm(m))
            note([len(m._forward_pre_hooks), len(m._state_dict_hooks)])       # torch forgets to take out the third
    m = U.spectral_norm(t.nn.Linear(2, 3))
    m(t.ones(1, 2))
    ancient = {k: v.clone() for k, v in m.state_dict().items() if k != "weight_v"}
    ancient["weight"] = m.weight.detach().clone()
    ancient["weight_u"] = t.nn.functional.normalize(t.mv(m.weight_orig.detach(), m.weight_v), dim=0)
    note(m.load_state_dict(ancient)), note(dict(m.state_dict()))
    note(lambda: m.load_state_dict({"bias": m.bias}))
    note(lambda: U.spectral_norm(t.nn.Linear(2, 2), n_power_iterations=0))
    note(lambda: U.spectral_norm(t.nn.Linear(2, 2, bias=False), "bias"))


PROGRAMS = [new_weight_norm, new_spectral_norm, orthogonal, chains, several, buffers, caching, refusals,
            old_weight_norm, old_spectral_norm]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    same_notes(program)
