"""Module and Parameter against torch: each program runs under both, and everything it notes (values, texts,
exceptions) must be the same."""
import copy
import pickle
import warnings
from collections import OrderedDict

import pytest
import torch

import tinytorch

from .adapter import same


def snapshot(x):
    """`x` with the numbers that its tensors hold now."""
    if type(x) in (torch.Tensor, tinytorch.Tensor):
        return x.detach().clone().requires_grad_(x.requires_grad)
    if type(x) in (torch.nn.Parameter, tinytorch.nn.Parameter):
        return type(x)(x.detach().clone(), x.requires_grad)
    if isinstance(x, (torch.nn.Module, tinytorch.nn.Module)):
        return repr(x)
    if isinstance(x, dict):
        return type(x)((k, snapshot(v)) for k, v in x.items())
    return type(x)(map(snapshot, x)) if type(x) in (list, tuple) else x


def words(text):
    return str(text).replace("tinytorch.", "torch.")


def notes(program, library):
    """What `program` notes: values, or type and text of exceptions, and warnings."""
    found = []

    def note(value):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            if callable(value) and not isinstance(value, (torch.nn.Module, tinytorch.nn.Module)):
                try:
                    value = value()
                except Exception as error:
                    value = type(error).__name__, words(error)
        found.append([snapshot(value), told(seen)])

    def told(seen):
        return [(w.category, words(w.message)) for w in seen]
    library.manual_seed(3)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        program(library, note)
    return found, told(seen)


def same_notes(program):
    """`program` notes the same under both libraries."""
    same(notes(program, tinytorch), notes(program, torch), program.__name__)


def model(t):
    """A small nested module with every kind of member."""
    nn = t.nn

    class Leaf(nn.Module):
        def __init__(self, n=2):
            super().__init__()
            self.w = nn.Parameter(t.arange(1., n + 1))
            self.register_buffer("b", t.zeros(n))
            self.register_buffer("count", t.tensor(0))
            self.register_buffer("hidden", t.zeros(1), persistent=False)
            self.register_parameter("none", None)

        def forward(self, x, scale=1):
            return self.w * x * scale

        def extra_repr(self):
            return f"n={len(self.w)}"

    class Tree(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.c, self.empty = Leaf(), Leaf(), None
            self.add_module("gone", None)
            self.shared = self.a
            self.seq = nn.Sequential(nn.Identity(), nn.Linear(2, 3))

        def forward(self, x):
            return self.seq(self.c(self.a(x)))
    return Tree()


# ------------------------------------------------------------------ registration
def assign(t, note):
    m = model(t)
    note(m)
    note(repr(m.a)), note(repr(m.a.w))
    for name, value in [("w", t.ones(1)), ("w", 3), ("w", None), ("b", "x"), ("b", None), ("b", t.ones(3)),
                        ("none", t.nn.Parameter(t.ones(1))), ("new", t.ones(2)), ("buf", t.nn.Buffer(t.ones(2))),
                        ("tmp", t.nn.Buffer(t.ones(2), persistent=False)), ("b", t.nn.Parameter(t.ones(4)))]:
        note(lambda: setattr(m.a, name, value))
        note([sorted(m.a._parameters), sorted(m.a._buffers), list(m.a.state_dict())])
    for name, value in [("a", 3), ("a", None), ("c", t.nn.Parameter(t.ones(1))), ("seq", t.nn.Identity())]:
        note(lambda: setattr(m, name, value))
        note([list(m._modules), list(m._parameters)])
    for name in ["c", "seq", "a", "zzz"]:
        note(lambda: delattr(m, name))
    note(lambda: m.zzz)
    note([n for n in dir(m) if n[0].islower()][:3])


def register_errors(t, note):
    m = model(t)
    p, b, c = t.nn.Parameter(t.ones(1)), t.ones(1), t.nn.Identity()
    for name in ["a.b", "", 3, "a", "forward"]:
        note(lambda: m.register_parameter(name, p))
        note(lambda: m.register_buffer(name, b))
        note(lambda: m.add_module(name, c))
    note(lambda: m.register_parameter("p", b))
    note(lambda: m.register_parameter("p", p * 2))
    note(lambda: m.register_buffer("p", 3))
    note(lambda: m.register_module("p", 3))
    note(lambda: m.add_module("p", t.nn.Linear))

    class Late(t.nn.Module):
        def __init__(self, kind):
            if kind == 0:
                self.p = p
            elif kind == 1:
                self.m = c
            elif kind == 2:
                self.register_buffer("b", b)
            else:
                self.register_parameter("b", p)
    for kind in range(4):
        note(lambda: Late(kind))
    note(lambda: t.nn.Module(3))
    note(lambda: t.nn.Module(a=3))
    note(lambda: t.nn.Module()(t.ones(1)))


def call_super_init(t, note):
    seen = []

    class Other:
        def __init__(self, *args, **kwargs):
            seen.append([args, kwargs])

    class Both(t.nn.Module, Other):
        call_super_init = True
    Both(1, a=2)
    note(seen)


def find(t, note):
    m = model(t)
    for target in ["", "a", "seq.1", "seq.7", "x", "a.w", "gone"]:
        note(lambda: type(m.get_submodule(target)).__name__)
    for target in ["a.w", "seq.1.bias", "a.b", "a.x", "x.w"]:
        note(lambda: m.get_parameter(target))
        note(lambda: m.get_buffer(target))
    note(lambda: m.set_submodule("seq.0", t.nn.Flatten()))
    note(lambda: m.set_submodule("seq.new", t.nn.Flatten()))
    note(lambda: m.set_submodule("seq.newer", t.nn.Flatten(), strict=True))
    note(lambda: m.set_submodule("", t.nn.Flatten()))
    note(lambda: m.set_submodule("a.w", t.nn.Flatten()))
    note(lambda: m.set_submodule("x.w", t.nn.Flatten()))
    note(lambda: m.set_submodule("a", 3))
    note(m)


def iterate(t, note):
    m = model(t)
    for unique in (True, False):
        note([n for n, _ in m.named_modules(remove_duplicate=unique)])
        note([n for n, _ in m.named_parameters(remove_duplicate=unique)])
        note([n for n, _ in m.named_buffers(prefix="p", remove_duplicate=unique)])
        note(len(list(m.modules(remove_duplicate=unique))))
    note([n for n, _ in m.named_parameters(prefix="p", recurse=False)])
    note([n for n, _ in m.named_children()])
    note([type(c).__name__ for c in m.children()])
    note(list(m.parameters())), note(list(m.buffers(recurse=False)))
    order = []
    m.apply(lambda child: order.append(type(child).__name__))
    note(order)


def modes(t, note):
    m = model(t)
    note([m.eval().training, m.seq.training, m.train().a.training])
    note(lambda: m.train("yes"))
    m.requires_grad_(False)
    note([p.requires_grad for p in m.parameters()])
    m.requires_grad_()
    m(t.ones(2)).sum().backward()
    note([p.grad for p in m.parameters()])
    m.zero_grad(set_to_none=False)
    note([p.grad for p in m.parameters()])
    m.zero_grad()
    note([p.grad for p in m.parameters()])


def convert(t, note):
    m = model(t)
    m(t.ones(2)).sum().backward()
    w = m.a.w
    for change in [lambda: m.double(), lambda: m.to(t.float32), lambda: m.to("cpu", t.float64), lambda: m.half(),
                   lambda: m.to(t.ones(1)), lambda: m.bfloat16(), lambda: m.float(), lambda: m.to(dtype=t.float64),
                   lambda: m.to(t.device("cpu")), lambda: m.cpu(), lambda: m.type(t.float32), lambda: m.to(t.int64),
                   lambda: m.to(t.complex64), lambda: m.cuda(), lambda: m.to("cuda")]:
        note(lambda: type(change()).__name__)
        note([str(x.dtype) for x in [*m.parameters(), *m.buffers(), m.a.w.grad]])
    note(w is m.a.w)


# ------------------------------------------------------------------ state
def state(t, note):
    m = model(t)
    s = m.state_dict()
    note(s), note(s._metadata), note(type(s).__name__)
    note(m.state_dict(prefix="x.", keep_vars=True))
    d = OrderedDict()
    note(m.state_dict(destination=d) is d)
    note(hasattr(d, "_metadata"))
    note(lambda: list(m.state_dict(OrderedDict(), "q.")))
    s["a.w"].zero_()
    note(m.a.w)


def load(t, note):
    m, other = model(t), model(t)
    note(lambda: m.load_state_dict(other.state_dict()))
    note(m.seq[1].weight)
    note(lambda: m.load_state_dict({}, strict=False))
    note(lambda: m.load_state_dict({"a.w": t.ones(2), "zz": t.ones(1), "a.q.r": t.ones(1)}))
    note(lambda: m.load_state_dict({"a.w": t.ones(2), "zz": t.ones(1)}, strict=False))
    note(lambda: m.load_state_dict({"a.w": t.ones(3), "a.b": 4, "a.count": t.ones(1)}, strict=False))
    note([m.a.w, m.a.count])
    note(lambda: m.load_state_dict([1]))
    note(lambda: m.load_state_dict({"a.w": t.ones(2).double(), "a.count": t.tensor(2.7)}, strict=False))
    note([m.a.w, m.a.count])
    wide = {k: v.double() for k, v in other.state_dict().items()}
    note(lambda: m.load_state_dict(wide, assign=True))
    note(list(m.parameters()))
    note(m.a.w.data_ptr() == wide["shared.w"].data_ptr())


def state_hooks(t, note):
    m, seen = model(t), []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: seen.append(["pre", prefix, keep]))
    post = m.a.register_state_dict_post_hook(lambda mod, s, prefix, meta: s.__delitem__(prefix + "b"))
    note(list(m.state_dict()))
    post.remove()
    note(list(m.state_dict()))
    m.c.register_state_dict_post_hook(lambda mod, s, prefix, meta: s)
    note(lambda: m.state_dict())
    m = model(t)
    m.a.register_load_state_dict_pre_hook(
        lambda mod, s, prefix, meta, strict, *lists: seen.append([type(mod).__name__, prefix, meta, strict, len(s)]))
    m.register_load_state_dict_post_hook(lambda mod, keys: keys.missing_keys.clear())
    note(lambda: m.load_state_dict({}))
    m.register_load_state_dict_post_hook(lambda mod, keys: 3)
    note(lambda: m.load_state_dict({}))
    note(seen)


def extra_state(t, note):
    class Extra(t.nn.Module):
        state = 1

        def get_extra_state(self):
            return {"state": self.state}

        def set_extra_state(self, state):
            self.state = state["state"] + 10
    m = t.nn.Sequential(Extra())
    note(m.state_dict())
    note(lambda: m.load_state_dict(m.state_dict()))
    note(m[0].state)
    note(lambda: m.load_state_dict({}))
    note(lambda: t.nn.Identity().load_state_dict({"_extra_state": 1}))
    note(lambda: t.nn.Identity().get_extra_state())


# ------------------------------------------------------------------ hooks
def forward_hooks(t, note):
    m, seen = model(t), []
    x = t.tensor([1., 2.])
    handles = [m.a.register_forward_pre_hook(lambda mod, args: seen.append(["pre", args])),
               m.a.register_forward_pre_hook(lambda mod, args: args[0] * 2),
               m.a.register_forward_pre_hook(lambda mod, args, kwargs: (args, {"scale": 3}), with_kwargs=True,
                                             prepend=True),
               m.a.register_forward_hook(lambda mod, args, out: seen.append(["post", args, out])),
               m.a.register_forward_hook(lambda mod, args, kwargs, out: out + kwargs["scale"], with_kwargs=True),
               m.a.register_forward_hook(lambda mod, args, out: seen.append("first"), prepend=True)]
    note(m.a(x)), note(seen)
    for handle in handles:
        handle.remove()
    note(m.a(x))
    note([len(m.a._forward_hooks), len(m.a._forward_hooks_with_kwargs), len(m.a._forward_pre_hooks_with_kwargs)])
    with m.a.register_forward_hook(lambda mod, args, out: out * 0):
        note(m.a(x))
    note(m.a(x))
    m.a.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
    note(lambda: m.a(x))


def always_call(t, note):
    class Broken(t.nn.Module):
        def forward(self, x):
            raise ValueError("broken")
    m, seen = Broken(), []
    m.register_forward_hook(lambda mod, args, out: seen.append("never"))
    m.register_forward_hook(lambda mod, args, out: seen.append(["always", out]), always_call=True)
    m.register_forward_hook(lambda mod, args, out: 1 / 0, always_call=True)
    note(lambda: m(t.ones(1)))
    note(seen)


def global_hooks(t, note):
    module, m, seen = t.nn.modules.module, model(t), []
    handles = [
        module.register_module_forward_pre_hook(lambda mod, args: seen.append(["pre", type(mod).__name__])),
        module.register_module_forward_hook(lambda mod, args, out: seen.append(["post", type(mod).__name__])),
        module.register_module_forward_hook(lambda mod, args, kw, out: seen.append(kw), with_kwargs=True),
        module.register_module_full_backward_pre_hook(lambda mod, g: seen.append(["bpre", type(mod).__name__])),
        module.register_module_full_backward_hook(lambda mod, gi, go: seen.append(["b", type(mod).__name__, gi, go])),
        module.register_module_parameter_registration_hook(lambda mod, name, p: seen.append(name)),
        module.register_module_buffer_registration_hook(lambda mod, name, p: seen.append(name)),
        module.register_module_module_registration_hook(lambda mod, name, p: seen.append(name))]
    m(t.ones(2, requires_grad=True)).sum().backward()
    m.p, m.m = t.nn.Parameter(t.ones(1)), t.nn.Identity()
    m.register_buffer("buf", t.ones(1))
    for handle in handles:
        handle.remove()
    count = len(seen)
    m(t.ones(2)).sum().backward()
    note(seen), note(count == len(seen))


def backward_hooks(t, note):
    for wants in (True, False):
        m, seen = model(t), []
        x = t.tensor([1., 2.], requires_grad=wants)
        m.a.register_full_backward_hook(lambda mod, gi, go: seen.append([gi, go]))
        m.c.register_full_backward_hook(lambda mod, gi, go: (gi[0] * 2,))
        m.c.register_full_backward_pre_hook(lambda mod, go: (go[0] * 10,))
        m.c.register_full_backward_pre_hook(lambda mod, go: seen.append(go), prepend=True)
        y = m(x)
        y.sum().backward()
        note(seen), note([p.grad for p in m.parameters()]), note(x.grad)
    m.a.register_full_backward_hook(lambda mod, gi, go: (gi[0], gi[0]))
    note(lambda: m(x.requires_grad_()).sum().backward())
    m.c.register_full_backward_pre_hook(lambda mod, go: (go[0], go[0]))
    note(lambda: m(x).sum().backward())
    with t.no_grad():
        note(m(x))


def backward_hooks_many(t, note):
    class Two(t.nn.Module):
        def forward(self, x, n, y):
            return x * y, n, x + y, x.detach()
    m, seen = Two(), []
    m.register_full_backward_hook(lambda mod, gi, go: seen.append([gi, go]))
    x, y = t.tensor(2., requires_grad=True), t.tensor(5.)
    a, n, b, c = m(x, 3, y)
    (a * 2).backward(retain_graph=True)
    (a + b).backward()
    note(seen), note(x.grad)
    x.grad = None
    a, *_ = m(x, 3, y)
    g, = t.autograd.grad(a * a, x, create_graph=True)
    g.backward()
    note(x.grad)

    class Ignores(t.nn.Module):
        def forward(self, x, y, n):
            return y * 1
    m = Ignores()
    m.register_full_backward_hook(lambda mod, gi, go: seen.append([gi, go]))
    u, v = t.ones(3, requires_grad=True), t.ones(2, requires_grad=True)
    m(u, v, t.tensor([1])).sum().backward()
    note(seen[-1]), note([u.grad, v.grad])

    class Odd(t.nn.Module):
        def forward(self, x):
            return {"x": x * 2}
    m = Odd()
    m.register_full_backward_hook(lambda mod, gi, go: seen.append("odd"))
    note(m(x)["x"])


# ------------------------------------------------------------------ copies
def copies(t, note):
    m = model(t)
    m(t.ones(2)).sum().backward()
    m.a.register_forward_hook(print)
    twin = copy.deepcopy(m)
    note(twin), note(twin.state_dict()), note(twin.a.w.grad)
    note([twin.a is twin.shared, twin.a.w is not m.a.w, len(twin.a._forward_hooks)])
    layer = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Identity())
    back = pickle.loads(pickle.dumps(layer))
    note(back), note(back(t.ones(2))), note([type(p).__name__ for p in back.parameters()])
    p = t.nn.Parameter(t.ones(2), requires_grad=False)
    p.tag = "x"
    q = pickle.loads(pickle.dumps(p))
    note([p, q, q.tag, copy.deepcopy(p), repr(q)])


def parameter(t, note):
    P = t.nn.Parameter
    x = t.tensor([1., 2.])
    p = P(x)
    note([p, p.is_leaf, isinstance(p, t.Tensor), isinstance(x, P), isinstance(p, P), p.data, type(p.data).__name__])
    note([type(p * 2).__name__, type(p.detach()).__name__, type(p[0]).__name__, p.data_ptr() == x.data_ptr()])
    with t.no_grad():
        note(P(x)), note(P(p, requires_grad=False))
    note(P())
    for bad in ([1.], 3, t.tensor([1])):
        note(lambda: P(bad))
    note(P(t.tensor([1]), False)), note(P(requires_grad=False))
    b = t.nn.Buffer(x)
    note([b, isinstance(b, t.nn.Buffer), isinstance(x, t.nn.Buffer), type(b).__name__, b.persistent])
    y = (x * 2).requires_grad_() * 3
    note(P(y).is_leaf)
    with t.no_grad():
        p += 1
    note([p, type(p).__name__, x])
    note(lambda: p.add_(1))


def lazy(t, note):
    m = t.nn.Sequential(t.nn.LazyLinear(3), t.nn.LazyLinear(2, bias=False))
    note(m), note(repr(m[0].weight)), note(m[0].has_uninitialized_params())
    note(lambda: m[0].weight.shape)
    note(list(m.state_dict()))
    note(lambda: t.nn.parameter.is_lazy(m[0].weight))
    twin = copy.deepcopy(m)
    m.double()
    note(m(t.ones(4, 5).double())), note(m), note(type(m[0].weight).__name__)
    note(lambda: twin.load_state_dict(m.state_dict()))
    note(twin), note(twin(t.ones(4, 5))), note(twin)
    note([len(twin[0]._forward_pre_hooks), "_load_hook" in twin[0].__dict__])


PROGRAMS = [assign, register_errors, call_super_init, find, iterate, modes, convert, state, load, state_hooks,
            extra_state, forward_hooks, always_call, global_hooks, backward_hooks, backward_hooks_many, copies,
            parameter, lazy]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same(program):
    same_notes(program)
