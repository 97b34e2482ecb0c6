"""Hooks on saved tensors, writes to saved tensors, and checkpoint: each program runs under both modules, and must end
the same way."""
import importlib

import pytest

from .test_graph import both_agree, leaf
from .test_graph_api import attempt


# ------------------------------------------------------------------ what is saved
def nested_hooks(lib):
    log, x = [], leaf(lib)
    hooks = lib.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: (log.append("outer"), t)[1], lambda t: t):
        y = x.exp()
        with hooks(lambda t: (log.append("inner"), t)[1], lambda t: t * 10):
            z = y.sqrt()
        z = z.sin()
    z.sum().backward()
    return log, x.grad


def hooks_and_no_grad(lib):
    log = []
    with lib.autograd.graph.saved_tensors_hooks(lambda t: log.append(t.shape) or t, lambda t: t):
        with lib.no_grad():
            leaf(lib).exp()
        lib.ones(3).exp()
    return log


def failing_pack(lib):
    def pack(t):
        raise KeyError("no")
    with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        leaf(lib).exp()


def failing_unpack(lib):
    def unpack(t):
        raise KeyError("no")
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = leaf(lib).exp()
    y.sum().backward()


def looked_at_packed(lib):
    x = leaf(lib)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t * 2):
        y = x * x
    return y.grad_fn._saved_self.tolist(), y.grad_fn._saved_other.tolist()


def unpacked_twice(lib):
    count, x = [], leaf(lib)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (count.append(1), t)[1]):
        y = x.exp()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return len(count), x.grad


def hooks_of_a_function(lib):
    log = []

    def forward(ctx, x, y):
        ctx.save_for_backward(x, y, x * y)
        return x * y

    def backward(ctx, g):
        x, y, z = ctx.saved_tensors
        return g * y, g * x
    apply = type("Fn", (lib.autograd.Function,), dict(
        forward=staticmethod(forward), backward=staticmethod(backward))).apply
    x, y = leaf(lib), leaf(lib)
    with lib.autograd.graph.saved_tensors_hooks(lambda t: (log.append(t.tolist()), t.tolist())[1], lib.tensor):
        z = apply(x, y)
    z.sum().backward()
    return log, x.grad, y.grad


def saved_on_cpu(lib):
    x = leaf(lib)
    with lib.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    with lib.autograd.graph.save_on_cpu(pin_memory=False):
        z = y.sin()
    g, = lib.autograd.grad(z.sum(), x, create_graph=True)
    g.sum().backward()
    return x.grad, g.detach()


def disabled_inside(lib):
    graph = lib.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        leaf(lib).exp().sum().backward()
        with graph.disable_saved_tensors_hooks("nor here"):
            try:
                with graph.save_on_cpu():
                    pass
            except RuntimeError as error:
                seen = str(error)
    with graph.save_on_cpu():
        pass
    return seen


def disabled_around(lib):
    with lib.autograd.graph.save_on_cpu():
        with lib.autograd.graph.disable_saved_tensors_hooks("not now"):
            pass


def mutated(change, result=lambda y: y ** 2):
    """A program: what was saved is changed before backward, which is allowed."""
    def program(lib):
        x = leaf(lib)
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            z = result(y)
            change(lib, y, z)
            (z.sum() + y.sum()).backward()
        return x.grad, y.detach(), z.detach()
    return program


def mutated_twice_differentiated(lib):
    x = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y ** 3).sum()
        y.sin_()
        g, = lib.autograd.grad(z, x, create_graph=True)
        return g.detach(), lib.autograd.grad(g.sum(), x)


def mutation_in_a_function(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    apply = type("Fn", (lib.autograd.Function,), dict(
        forward=staticmethod(forward), backward=staticmethod(lambda ctx, g: 2 * g * ctx.saved_tensors[0]))).apply
    x = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = apply(y)
        y.zero_()
        z.sum().backward()
    return x.grad


def mutation_then_outside(lib):
    x = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x.clone() ** 2).sum()
    y.backward()


def mutation_then_another(lib):
    x = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x.clone() ** 2).sum()
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y.backward()


def mutation_nested(lib):
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            pass


def mutation_of_a_leaf(lib):
    x = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        x.sin_()


def mutation_of_other_leaves(lib):
    x, w = leaf(lib), lib.ones(3)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * w
        w.mul_(3)
        z = x * w
        w[0] = 7
        (y + z).sum().backward()
    return x.grad


def mutation_under_no_grad(lib):
    """As an optimizer writes between two backwards."""
    x = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x * x).sum()
        with lib.no_grad():
            x.sub_(0.5)
        y.backward()
    return x.grad, x.detach()


# ------------------------------------------------------------------ checkpoint
def checkpoints(use, **options):
    def program(lib):
        module = importlib.import_module(lib.__name__ + ".utils.checkpoint")
        return use(lib, lambda *args, **kwargs: module.checkpoint(*args, **{**options, **kwargs}))
    return program


def keyword_and_tree(lib, checkpoint):
    x = leaf(lib)
    out = checkpoint(lambda a, b=1: {"y": a.exp() * b, "z": [a * 2]}, x, b=3)
    (out["y"].sum() + out["z"][0].sum()).backward()
    return x.grad


def without_grad(lib, checkpoint):
    with lib.no_grad():
        y = checkpoint(lambda a: a.exp(), leaf(lib))
    return y.requires_grad, checkpoint(lambda a: a.exp(), lib.ones(2)).requires_grad


def nested_checkpoints(lib, checkpoint):
    x, calls = leaf(lib), []

    def inner(a):
        calls.append("inner")
        return a.exp().sin()

    def outer(a):
        calls.append("outer")
        return checkpoint(inner, a * 2).tanh()
    checkpoint(outer, x / 10).sum().backward()
    return x.grad, calls


def two_outputs(lib, checkpoint):
    x = leaf(lib)
    a, b = checkpoint(lambda t: (t.exp(), t.detach()), x)
    a.sum().backward()
    return x.grad, b.requires_grad


def other_count(lib, checkpoint):
    calls = []

    def function(t):
        calls.append(1)
        return t.exp().sin() if len(calls) == 1 else t * 2
    try:
        checkpoint(function, leaf(lib)).sum().backward()
    except RuntimeError as error:
        return type(error).__name__, str(error).partition("\n\nTip")[0].strip()


def early(lib, checkpoint):
    calls, x = [], leaf(lib)

    def function(t):
        y = t.sin().exp()
        calls.append("end")
        return y
    checkpoint(function, x).sum().backward()
    return calls, x.grad


def with_contexts(lib, checkpoint):
    log = []

    class Context:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            log.append(self.name)

        def __exit__(self, *exc_info):
            log.append("end of " + self.name)
    y = checkpoint(lambda t: t.exp(), leaf(lib), context_fn=lambda: (Context("first"), Context("second")))
    y.sum().backward()
    return log


# ------------------------------------------------------------------ one saved tensor
def hooks_of_one(lib):
    """Of one of two saved tensors, in a sum with another that is written to."""
    x, log = leaf(lib), []
    y = x * 2
    z = y * x
    raw = z.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: (log.append(t.tolist()), t * 1)[1], lambda t: (log.append("back"), t)[1])
    found = [type(raw).__name__, attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))]
    found.append(z.grad_fn._saved_self)
    z.sum().backward()
    return found, log, x.grad, attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))


def the_other_is_watched(write):
    def program(lib):
        x = leaf(lib)
        a, b = x * 2, x * 3
        z = a * b
        z.grad_fn._raw_saved_self.register_hooks(lambda t: t.clone(), lambda t: t)
        write(a, b)
        return attempt(lambda: z.sum().backward()), x.grad
    return program


def writing_pack(lib):
    x = leaf(lib)
    y = x.exp() * x                            # what is saved goes with its node
    return attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: t))


def hooks_of_what_a_function_saved(lib):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, None, y * 2)
        return x * y

    def backward(ctx, g):
        x, _, y = ctx.saved_tensors
        return g * x, g * y
    fn = type("Fn", (lib.autograd.Function,), dict(forward=staticmethod(forward), backward=staticmethod(backward)))
    x, log = leaf(lib), []
    z = fn.apply(x, x * 5)
    first, none, last = z.grad_fn._raw_saved_tensors
    first.register_hooks(lambda t: (log.append("pack"), t * 2)[1], lambda t: (log.append("unpack"), t)[1])
    found = attempt(lambda: none.register_hooks(lambda t: t, lambda t: t)), attempt(
        lambda: first.register_hooks(lambda t: t, lambda t: t)), type(last).__name__
    z.sum().backward()
    return found, log, x.grad, attempt(lambda: z.grad_fn._raw_saved_tensors)


def disabled_function(lib):
    @lib.autograd.graph.disable_saved_tensors_hooks("none here")
    def function():
        with lib.autograd.graph.save_on_cpu():
            return 1
    return function()


def stopped_early(stop):
    def program(lib):
        module, log = importlib.import_module(lib.__name__ + ".utils.checkpoint"), []

        def piece(t):
            y = t.sin()
            log.append("first")
            z = y.exp()
            log.append("second")
            return z
        x = leaf(lib)
        with module.set_checkpoint_early_stop(stop):
            y = module.checkpoint(piece, x, use_reentrant=False)
        y.sum().backward()
        return log, x.grad
    return program


PROGRAMS = [
    hooks_of_one, the_other_is_watched(lambda a, b: None), the_other_is_watched(lambda a, b: b.add_(1)),
    the_other_is_watched(lambda a, b: a.add_(1)), writing_pack, hooks_of_what_a_function_saved, disabled_function,
    stopped_early(True), stopped_early(False),
    nested_hooks, hooks_and_no_grad, failing_pack, failing_unpack, looked_at_packed, unpacked_twice,
    hooks_of_a_function, saved_on_cpu, disabled_inside, disabled_around,
    mutated(lambda lib, y, z: y.sin_()), mutated(lambda lib, y, z: y[0].zero_()), mutated(lambda lib, y, z: y.mul_(y)),
    mutated(lambda lib, y, z: (y.sin_(), y.cos_())), mutated(lambda lib, y, z: y.__setitem__(slice(1), 0)),
    mutated(lambda lib, y, z: z.mul_(2), lambda y: y.exp()), mutated(lambda lib, y, z: y.view(-1).fill_(3)),
    mutated(lambda lib, y, z: y.copy_(lib.zeros(3)), lambda y: y * y.detach()),
    mutated_twice_differentiated, mutation_in_a_function, mutation_then_outside, mutation_then_another, mutation_nested,
    mutation_of_a_leaf, mutation_of_other_leaves, mutation_under_no_grad,
    checkpoints(keyword_and_tree, use_reentrant=False), checkpoints(without_grad, use_reentrant=False),
    checkpoints(without_grad, use_reentrant=True), checkpoints(nested_checkpoints, use_reentrant=False),
    checkpoints(nested_checkpoints, use_reentrant=True), checkpoints(two_outputs, use_reentrant=False),
    checkpoints(two_outputs, use_reentrant=True), checkpoints(other_count, use_reentrant=False, early_stop=False),
    checkpoints(early, use_reentrant=False), checkpoints(early, use_reentrant=False, early_stop=False),
    checkpoints(with_contexts, use_reentrant=False),
    checkpoints(lambda lib, f: f(lambda t: t, leaf(lib), determinism_check="a"), use_reentrant=False),
    checkpoints(lambda lib, f: (x := leaf(lib), f(lambda t: t * 2, x).sum().backward(), x.grad)),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)


# ------------------------------------------------------------------ a second backward
@pytest.mark.parametrize("expression", [
    "x * 2", "2 * x", "x / 2", "x * True", "x * y", "x + 2", "2 - x", "-x", "x ** 2", "2 ** x", "x % 2", "x.fmod(2)",
    "x // 2", "x.exp()", "x.abs()", "x.clamp(0, 1)", "x.lerp(y, 0.5)", "x.atan2(y)", "x.cumsum(0)", "x.relu()",
    "lib.sub(x, y, alpha=3)", "(x * 2).mean()"])
def test_a_second_backward_is_refused_where_something_was_saved(expression):
    def twice(lib):
        x, y = lib.tensor([1.5, 2.5], requires_grad=True), lib.tensor([.5, 1.])
        total = eval(expression, dict(lib=lib, x=x, y=y)).sum()
        first = attempt(total.backward)
        return first, attempt(total.backward), x.grad
    both_agree(twice)
