"""Hooks of modules against torch: values, order of calls, warnings and errors of each program must be the same."""
import copy
import pickle

import pytest

from .test_module import same_notes


def model(t):
    class Scale(t.nn.Module):
        def __init__(self, w):
            super().__init__()
            self.w = t.nn.Parameter(t.tensor(float(w)))

        def forward(self, x, *, plus=0):
            return x * self.w + plus
    return t.nn.Sequential(Scale(2), Scale(3))


class Log(list):
    """Makes hooks that note the name they are given and what they are called with."""

    def __call__(self, name, result=None):
        def hook(module, *args):
            self.append([name, type(module).__name__, *args])
            return result(module, *args) if result else None
        return hook


def order(t, note):
    m, log, g = model(t), Log(), t.nn.modules.module
    handles = [m.register_forward_hook(log("post 1")), m.register_forward_hook(log("post 2"), prepend=True),
               m.register_forward_pre_hook(log("pre 1")), m.register_forward_pre_hook(log("pre 2"), prepend=True),
               m[0].register_forward_pre_hook(log("inner pre")), m[1].register_forward_hook(log("inner post")),
               m.register_full_backward_hook(log("back 1")), m.register_full_backward_hook(log("back 2"), prepend=True),
               m.register_full_backward_pre_hook(log("back pre 1")),
               m.register_full_backward_pre_hook(log("back pre 2"), prepend=True),
               m[0].register_full_backward_hook(log("inner back")),
               m[1].register_full_backward_pre_hook(log("inner back pre")),
               g.register_module_forward_pre_hook(log("all pre")), g.register_module_forward_hook(log("all post")),
               g.register_module_full_backward_pre_hook(log("all back pre")),
               g.register_module_full_backward_hook(log("all back"))]
    try:
        x = t.tensor([1., 2.], requires_grad=True)
        note(lambda: m(x).sum().backward()), note(log), note(x.grad)
    finally:
        for handle in handles:
            handle.remove()
    note([len(m._forward_hooks), len(m._backward_hooks), len(m._forward_pre_hooks), len(m._backward_pre_hooks)])
    del log[:]
    m(x).sum().backward()
    note(log)


def replacing(t, note):
    m = model(t)
    x = t.tensor([1., 2.], requires_grad=True)
    with (m.register_forward_pre_hook(lambda mod, args: args[0] + 1),
          m.register_forward_hook(lambda mod, args, out: (out, args))):
        note(m(x))
    for result in [lambda a: (a[0] + 1,), lambda a: [a[0] + 1], lambda a: (), lambda a: (a[0], a[0]), lambda a: 3,
                   lambda a: None]:
        with m[0].register_forward_pre_hook(lambda mod, args: result(args)):
            note(lambda: m(x))
    for result in [lambda a, k: (a, {"plus": 5}), lambda a, k: a, lambda a, k: None, lambda a, k: [a, k],
                   lambda a, k: (a, k, 1), lambda a, k: 0]:
        with m[0].register_forward_pre_hook(lambda mod, args, kwargs: result(args, kwargs), with_kwargs=True):
            note(lambda: m[0](x, plus=2))
    with m[0].register_forward_hook(lambda mod, args, kwargs, out: out + kwargs["plus"], with_kwargs=True):
        note(lambda: m[0](x, plus=2)), note(lambda: m[0](x))


def always(t, note):
    class Broken(t.nn.Module):
        def forward(self, x):
            raise ValueError("broken")
    m, log = Broken(), Log()
    m.register_forward_hook(log("no"))
    m.register_forward_hook(log("yes"), always_call=True)
    m.register_forward_hook(log("kwargs"), always_call=True, with_kwargs=True)
    m.register_forward_hook(lambda mod, args, out: 1 / 0, always_call=True)
    m.register_forward_hook(log("after"), always_call=True)
    note(lambda: m(t.ones(1))), note(log)
    m, log = model(t)[0], Log()
    m.register_forward_hook(log("once"), always_call=True)
    m.register_forward_hook(lambda mod, args, out: 1 / 0)
    m.register_forward_hook(log("later"), always_call=True)
    note(lambda: m(t.ones(1))), note(log)
    with t.nn.modules.module.register_module_forward_hook(log("all"), always_call=True):
        note(lambda: Broken()(t.ones(1))), note(log[2:])


def backward_replacing(t, note):
    x = t.tensor([1., 2.], requires_grad=True)
    for result in [lambda g: (g[0] * 2,), lambda g: g[0], lambda g: (g[0], g[0]), lambda g: [g[0] * 3], lambda g: ()]:
        for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
            m = model(t)
            getattr(m[1], register)(lambda mod, *grads: result(grads[0]))
            x.grad = None
            note(lambda: (m(x).sum().backward(), x.grad, [p.grad for p in m.parameters()]))


def backward_kinds(t, note):
    class Any(t.nn.Module):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def forward(self, *args, **kwargs):
            return self.f(*args, **kwargs)
    x, y, c = t.tensor([1., 2.], requires_grad=True), t.tensor([3., 4.], requires_grad=True), t.tensor([5., 6.])

    def first(out):
        if isinstance(out, t.Tensor):
            return out
        return first(list(out.values())[0] if isinstance(out, dict) else out[0])
    for f, args in [(lambda a: a * 2, (x,)), (lambda a, b: (a * b, a + b), (x, y)), (lambda a, b: (a * b, b), (x, c)),
                    (lambda a, n: a * n, (x, 3)), (lambda a: [a * 2], (x,)), (lambda a: {"out": a * 2}, (x,)),
                    (lambda a: 3 * x, (c,)), (lambda: x * 2, ()), (lambda a: a, (x,)), (lambda a: (a, 3), (x,)),
                    (lambda a: a.detach(), (x,)), (lambda a, b: a * 2, (x, y)),
                    (lambda a, b: (a * 2, b.detach() * 2), (x, y)), (lambda a: a * x, (c,)),
                    (lambda a: (a * 2, None), (x,)), (lambda a: (a[0] * 2,), ((x, y),)),
                    (lambda a: a.clone().mul_(2), (x,)), (lambda a: a.int(), (x,)),
                    (lambda a, b: a * 2, (x.detach(), 3))]:
        for pre in (False, True):
            m, log = Any(f), Log()
            m.register_full_backward_hook(log("back"))
            if pre:
                m.register_full_backward_pre_hook(log("pre"))
            x.grad = y.grad = None
            note(lambda: first(m(*args)).sum().backward()), note(log), note([x.grad, y.grad])
    m, log = Any(lambda a, b=None: a * 2 if b is None else a * b), Log()
    m.register_full_backward_hook(log("back"))
    note(lambda: m(x, b=y).sum().backward()), note(log)
    del log[:]
    m.register_full_backward_hook(lambda mod, gi, go: (c,))
    note(lambda: (lambda z: t.autograd.grad(z.sum(), [z]))(m(x))), note(log)
    note(lambda: m(c).sum()), note(lambda: (m(c) * x).sum().backward())
    with t.no_grad():
        note(m(x))


def no_inputs_need_grad(t, note):
    for result in (None, (None,), (t.ones(2),), 3):
        m, log = model(t), Log()
        m[0].register_full_backward_hook(log("back", lambda *args: result))
        note(lambda: (m(t.tensor([1., 2.])).sum().backward(), [p.grad for p in m.parameters()])), note(log)


def in_place(t, note):
    x = t.tensor([1., 2.], requires_grad=True)
    for at in (0, 1):
        m = model(t)
        m[at].register_full_backward_hook(lambda mod, gi, go: None)
        note(lambda: m(x).add_(1).sum().backward())
        note(lambda: m(x.clone()).sum().backward())
        m = t.nn.Sequential(t.nn.ReLU(inplace=True))
        m[0].register_full_backward_hook(lambda mod, gi, go: None)
        note(lambda: m(x * 1).sum().backward())


def old_backward(t, note):
    x = t.tensor([1., 2.], requires_grad=True)
    m, log = t.nn.Tanh(), Log()
    handle = m.register_backward_hook(log("old"))
    note(lambda: m(x).sum().backward()), note(log), note(x.grad)
    note(lambda: m.register_full_backward_hook(log("full")))
    handle.remove()
    note(lambda: m.register_full_backward_hook(log("full")))
    m = t.nn.Tanh()
    m.register_full_backward_hook(log("full"))
    note(lambda: m.register_backward_hook(log("old")))
    m, x = t.nn.Tanh(), t.tensor([1., 2.], requires_grad=True)
    m.register_backward_hook(lambda mod, gi, go: (gi[0] * 10,))
    note(lambda: m(x).sum().backward()), note(x.grad)

    class Nested(t.nn.Module):
        def forward(self, a):
            return {"a": [t.tanh(a), 3]}
    m, log = Nested(), Log()
    m.register_backward_hook(log("old"))
    note(lambda: m(x)["a"][0].sum().backward()), note(log)
    m, log = model(t), Log()
    m.register_backward_hook(log("old"))
    note(lambda: m(t.tensor([1., 2.], requires_grad=True)).sum().backward())
    note(lambda: m(t.tensor([1., 2.])).detach())


def direct_writes(t, note):
    m, log = t.nn.Tanh(), Log()
    m._forward_hooks[0] = log("written")
    note(m(t.ones(1))), note(log)
    del m._forward_hooks[0]
    m._forward_pre_hooks["x"] = log("pre")
    note(m(t.ones(1))), note(log)


def copies(t, note):
    m = model(t)
    handle = m[0].register_forward_hook(lambda mod, args, out: out + 1)
    other = copy.deepcopy(m)
    note(other(t.ones(1))), note(len(other[0]._forward_hooks))
    handle.remove()
    note(other(t.ones(1))), note(m(t.ones(1)))
    again = pickle.loads(pickle.dumps(t.nn.Tanh()))
    again.register_forward_hook(lambda mod, args, out: out + 1)
    note(again(t.ones(1)))
    again = copy.copy(other)
    note(again(t.ones(1)))


def registration(t, note):
    g, log = t.nn.modules.module, []

    def hook(module, name, value):
        log.append([type(module).__name__, name, value])

    handles = [g.register_module_parameter_registration_hook(hook), g.register_module_buffer_registration_hook(hook),
               g.register_module_module_registration_hook(hook)]
    try:
        m = t.nn.BatchNorm1d(1)
        m.extra = t.nn.Parameter(t.ones(1))
        m.register_buffer("more", None)
        m.child = t.nn.Linear(1, 1, bias=False)
        m.weight = None
        m.running_mean = t.ones(1)
    finally:
        for handle in handles:
            handle.remove()
    log = [entry for entry in log if not entry[1] == "weight" or entry[0] == "BatchNorm1d"]    # which is random
    note(log)
    with g.register_module_parameter_registration_hook(lambda mod, name, p: t.nn.Parameter(p * 0)):
        note(t.nn.Linear(2, 1).weight)
    with g.register_module_module_registration_hook(lambda mod, name, child: t.nn.Tanh()):
        note(t.nn.Sequential(t.nn.ReLU()))


def state(t, note):
    m, log = model(t), Log()
    m.register_state_dict_pre_hook(log("pre")), m[0].register_state_dict_post_hook(log("post"))
    m[0]._register_state_dict_hook(lambda mod, sd, prefix, meta: log.append(["private", prefix, meta]))
    m.register_load_state_dict_pre_hook(log("load pre")), m.register_load_state_dict_post_hook(log("load post"))
    m[1].register_load_state_dict_post_hook(log("inner load post"))
    note(lambda: m.load_state_dict(m.state_dict(prefix=""))), note(log)
    note(lambda: m.load_state_dict({"0.w": t.ones(()), "x": t.ones(())}, strict=False))
    m.register_load_state_dict_post_hook(
        lambda mod, keys: (keys.missing_keys.clear(), keys.unexpected_keys.clear(), None)[-1])
    note(lambda: m.load_state_dict({"0.w": t.ones(()), "x": t.ones(())}))
    m[0].register_state_dict_post_hook(lambda mod, *args: 3)
    note(m.state_dict)
    m = model(t)
    m._register_state_dict_hook(lambda mod, sd, prefix, meta: {"only": 1})
    note(m.state_dict)
    f = log("same")
    m.register_state_dict_post_hook(f)
    note(lambda: m._register_state_dict_hook(f))


PROGRAMS = [order, replacing, always, backward_replacing, backward_kinds, no_inputs_need_grad, in_place, old_backward,
            direct_writes, copies, registration, state]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    same_notes(program)
