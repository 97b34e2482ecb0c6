"""Containers, layers, nn.utils and the runtime's questions against torch, as programs that note what they see."""
from collections import OrderedDict

import pytest

from .test_module import same_notes


# ------------------------------------------------------------------ containers
def tag(t, n):
    return t.nn.Flatten(n)


def sequential(t, note):
    S = t.nn.Sequential
    s = S(*[tag(t, i) for i in range(4)])
    note(s), note(s[1]), note(s[-1]), note(s[1:3]), note(s[::2]), note(len(s)), note(S())
    note(lambda: s[4]), note(lambda: s[-5]), note(lambda: s["0"]), note(lambda: s[1.0])
    s[1] = tag(t, 11)
    del s[0]
    note(s)
    del s[1:]
    note(s)
    note(s.append(tag(t, 5)).extend([tag(t, 6), tag(t, 7)]).insert(1, tag(t, 8)).insert(-1, tag(t, 9)))
    note(lambda: s.insert(9, tag(t, 9))), note(lambda: s.insert(0, 3)), note(lambda: s.append(3))
    note(s.pop(1)), note(s.pop(-1)), note(s)
    note(s + S(tag(t, 1))), note(s * 2), note(2 * s)
    for wrong in (lambda: s + [1], lambda: s * 0, lambda: s * 1.5, lambda: S(3), lambda: S(a=3)):
        note(wrong)
    s += S(tag(t, 3))
    s *= 2
    note(s), note([str(m) for m in s])
    named = S(OrderedDict([("x", tag(t, 1)), ("y", tag(t, 2))]))
    note(named), note(named[0]), note(named[:1]), note(named.x)
    del named[0]
    note(named)
    note([n for n in dir(s) if n.isdigit()])


def module_list(t, note):
    L = t.nn.ModuleList
    s = L([tag(t, 1), tag(t, 1), tag(t, 2), t.nn.Sequential(tag(t, 3)), t.nn.Sequential(tag(t, 3))])
    note(s), note(s[1:]), note(s[-1]), note(len(s)), note(L())
    note(lambda: s[5]), note(lambda: s(1)), note(lambda: L(3)), note(lambda: L([3])), note(lambda: s.extend(3))
    s.insert(1, tag(t, 9))
    s.append(tag(t, 4)).extend(tag(t, i) for i in range(2))
    s += [tag(t, 5)]
    note(s), note(s + [tag(t, 6)]), note(s.pop(0)), note(s)
    s[0] = tag(t, 0)
    del s[1], s[2:4]
    note(s), note([n for n, _ in s.named_modules()])


def module_dict(t, note):
    D = t.nn.ModuleDict
    d = D({"b": tag(t, 1), "a": tag(t, 2)})
    note(d), note(list(d)), note("a" in d), note(d["a"]), note(len(d)), note(D([("x", tag(t, 1))]))
    d["c"] = tag(t, 3)
    d.update(D({"z": tag(t, 1)}))
    note(d.pop("b")), note(list(d.keys())), note([str(v) for v in d.values()]), note([k for k, _ in d.items()])
    del d["a"]
    for wrong in (lambda: d["q"], lambda: d.pop("q"), lambda: D(3), lambda: D([3]), lambda: D([(1, 2, 3)]),
                  lambda: D({"a": 3}), lambda: D({"keys": tag(t, 1)}), lambda: d(3), lambda: D({"a.b": tag(t, 1)})):
        note(wrong)
    d.clear()
    note(d)


def parameter_list(t, note):
    L = t.nn.ParameterList
    s = L([t.ones(2, 3), t.nn.Parameter(t.zeros(1)), "text", 3])
    note(s), note(s[0]), note(s[-1]), note(s[1:3]), note(len(s)), note([n for n, _ in s.named_parameters()])
    s.append(t.ones(1)).extend([t.tensor(1.)])
    s += [t.zeros(0)]
    s[0] = t.ones(2)
    note(s), note(list(s)), note(list(s.state_dict()))
    for wrong in (lambda: s[9], lambda: s.extend(3), lambda: s.extend(t.ones(2)), lambda: s(1), lambda: L(3)):
        note(wrong)


def parameter_dict(t, note):
    D = t.nn.ParameterDict
    d = D({"b": t.ones(2, 3), "a": t.nn.Parameter(t.zeros(1)), "t": "text"})
    note(d), note(list(d)), note(d["a"]), note("a" in d), note(len(d)), note(list(d.state_dict()))
    d["c"] = t.tensor(1.)
    note(d.setdefault("e", t.ones(1))), note(d.get("q", 3)), note(d.get("a")), note(d.pop("a")), note(list(d.items()))
    note(d.popitem()), note(list(reversed(d))), note(d.copy()), note(d.fromkeys(["x", "y"], t.ones(1)))
    note(d | D({"n": t.ones(1)})), note(list(d.keys())), note(list(d.values()))
    d |= D({"m": t.ones(1)})
    d.update([("k", t.ones(1))])
    for wrong in (lambda: d["q"], lambda: d[3], lambda: d.pop("q"), lambda: D(3), lambda: D([3]),
                  lambda: D([(1, 2, 3)]), lambda: d(3)):
        note(wrong)
    del d["b"]
    note(d)
    d.clear()
    note(d)


# ------------------------------------------------------------------ layers
def linear(t, note):
    nn = t.nn
    for args, kwargs in [((3, 4), {}), ((3, 4, False), {}), ((3, 4), {"dtype": t.float64}), ((0, 2), {})]:
        m = nn.Linear(*args, **kwargs)
        note(m), note(m.state_dict())
        x = t.arange(2. * args[0], dtype=m.weight.dtype).reshape(2, args[0]).requires_grad_()
        y = m(x)
        y.pow(2).sum().backward()
        note(y), note(x.grad), note([p.grad for p in m.parameters()])
    note(lambda: nn.Linear(3, 4)(t.ones(2, 5)))
    m = nn.Bilinear(2, 3, 4)
    note(m), note(m.state_dict())
    a, b = t.arange(10.).reshape(5, 2).requires_grad_(), t.arange(15.).reshape(5, 3).requires_grad_()
    m(a, b).pow(2).sum().backward()
    note([m(a, b), a.grad / 100, b.grad / 100, m.weight.grad / 1000, m.bias.grad / 100])
    note(m(a[0], b[0])), note(m(a.reshape(1, 5, 2), b.reshape(1, 5, 3)))
    note(nn.Bilinear(2, 3, 4, bias=False)), note(lambda: nn.Bilinear(0, 3, 4))
    o = t.ones
    for args in [(o(3, 2), o(4, 5), o(6, 2, 5)), (o(3, 2), o(3, 5), o(6, 2, 4)), (o(3, 2), o(3, 5), o(6, 3, 5)),
                 (o(3, 2), o(1, 3, 5), o(6, 2, 5)), (o(3, 2), o(3, 5), o(6, 2, 5), o(5)),
                 (o(0, 2), o(0, 5), o(6, 2, 5)),
                 (o(3, 2), o(3, 5).double(), o(6, 2, 5)), (t.tensor(1.), t.tensor(1.), o(6, 2, 5))]:
        note(lambda: nn.functional.bilinear(*args))
    note(nn.Identity(3, a=4)), note(nn.Identity()(a))


def flatten(t, note):
    nn, x = t.nn, t.arange(24.).reshape(2, 3, 4)
    for m in (nn.Flatten(), nn.Flatten(0), nn.Flatten(0, 1), nn.Unflatten(2, (2, 2)), nn.Unflatten(-1, [2, -1])):
        note(m), note(m(x))
    for wrong in (lambda: nn.Unflatten(1, 3), lambda: nn.Unflatten(1, (2., 2)), lambda: nn.Unflatten(1, (2, 2))(x)):
        note(wrong)


# ------------------------------------------------------------------ nn.utils
def _in_one_line(function):
    """Its error, without the lines that name the gradients here."""
    try:
        return function()
    except RuntimeError as error:
        raise RuntimeError(str(error).splitlines()[0]) from None


def clip(t, note):
    u = t.nn.utils

    def grads():
        ps = [t.zeros(2, requires_grad=True), t.zeros(2, 2, requires_grad=True), t.zeros(1, requires_grad=True)]
        ps[0].grad, ps[1].grad = t.tensor([3., -4.]), t.tensor([[1., 2.], [-7., 0.]])
        return ps
    for kind in (2, 1, float("inf"), 0.5, "inf"):
        for limit in (1, 100.):
            ps = grads()
            note(u.clip_grad_norm_(ps, limit, kind)), note([p.grad for p in ps])
    ps = grads()
    note(u.get_total_norm([p.grad for p in ps[:2]])), note(u.get_total_norm([]))
    note(u.clip_grads_with_norm_(ps, 2., t.tensor(8.))), note([p.grad for p in ps])
    note(u.clip_grad_norm_(ps[0], 0.5)), note(ps[0].grad)
    note(u.clip_grad_value_(iter(ps), 0.25)), note([p.grad for p in ps])
    ps[0].grad[0] = float("nan")
    note(lambda: _in_one_line(lambda: u.clip_grad_norm_(ps, 1, error_if_nonfinite=True)))
    note(lambda: u.clip_grad_norm_((p for p in []), 1)), note(lambda: u.clip_grad_norm(ps[1:], 1))


def clip_dtypes(t, note):
    u = t.nn.utils
    for dtype in (t.float64, t.float16, t.bfloat16, t.complex64):
        p = t.ones(3, dtype=dtype, requires_grad=True)
        p.grad = t.tensor([3., -4., 1.], dtype=dtype)
        note(str(u.clip_grad_norm_(p, 2.)).split(",")[0][:9])
        note([str(x)[:7] for x in p.grad.tolist()])
        note(lambda: u.clip_grad_value_(p, 0.5))
        note([str(x)[:7] for x in p.grad.tolist()])
    p = t.ones(2, requires_grad=True)
    p.grad = t.tensor([float("nan"), 1.])
    note(u.clip_grad_norm_(p, 1.).isnan().item()), note([str(x) for x in p.grad.tolist()])


def vectors(t, note):
    u, m = t.nn.utils, t.nn.Linear(2, 3)
    v = u.parameters_to_vector(m.parameters())
    note(v)
    new = t.arange(9.)
    u.vector_to_parameters(new, m.parameters())
    note(m.state_dict())
    new[0] = 50
    note(m.weight), note([p.is_leaf for p in m.parameters()])
    note(lambda: u.vector_to_parameters([1.], m.parameters()))
    note(lambda: u.vector_to_parameters(t.ones(3), m.parameters()))


# ------------------------------------------------------------------ the runtime
def runtime(t, note):
    for ask in [lambda: t.cuda.is_available(), lambda: t.cuda.device_count(), lambda: t.cuda.manual_seed_all(1),
                lambda: t.cuda.empty_cache(), lambda: t.cuda.synchronize(), lambda: t.cuda.current_device(),
                lambda: t.cuda.memory_allocated(), lambda: t.cuda.get_device_name(0), lambda: t.cuda.is_initialized(),
                lambda: t.backends.mps.is_available(), lambda: t.backends.cudnn.deterministic,
                lambda: t.mps.is_available(),
                lambda: t.backends.cudnn.is_available(), lambda: t.backends.cuda.matmul.allow_tf32,
                lambda: t.accelerator.is_available(), lambda: t.accelerator.current_accelerator(),
                lambda: t.accelerator.synchronize(), lambda: t.xpu.is_available(), lambda: t.xpu.synchronize(),
                lambda: t.set_num_threads(0), lambda: t.set_num_threads("a"), lambda: t.use_deterministic_algorithms(1),
                lambda: t.set_deterministic_debug_mode("x"), lambda: t.get_float32_matmul_precision(),
                lambda: t.version.cuda, lambda: t.get_default_device(), lambda: t.compiler.is_compiling(),
                lambda: t.are_deterministic_algorithms_enabled(), lambda: t.use_deterministic_algorithms(True),
                lambda: t.are_deterministic_algorithms_enabled(), lambda: t.use_deterministic_algorithms(False),
                lambda: [t.inf, t.pi, t.e, t.newaxis], lambda: t.set_warn_always(3), lambda: t.mps.synchronize()]:
        note(ask)
    for x in (3, int, len, [1], None, t.ones(1), t.tensor(1), t.nn.Identity(), t.nn.Linear, t.nn.Parameter(t.ones(1))):
        note(t.typename(x))
    with t.backends.cudnn.flags(deterministic=True):
        note(t.backends.cudnn.deterministic)
    note(t.backends.cudnn.deterministic)
    note(t.__version__.split("+")[0])


PROGRAMS = [sequential, module_list, module_dict, parameter_list, parameter_dict, linear, flatten, clip, clip_dtypes,
            vectors, runtime]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same(program):
    same_notes(program)
