"""autograd.Function and checkpoint: each program runs under both modules, and must end the same way."""
import contextlib
import importlib
import re
import threading
import warnings

import pytest
import torch

import tinytorch

from .adapter import same_outcome
from .test_graph import both_agree, leaf


def function(lib, forward, backward, **more):
    """A Function called Fn."""
    return type("Fn", (lib.autograd.Function,), dict(
        forward=staticmethod(forward), backward=staticmethod(backward), **more)).apply


def double(ctx, x):
    return x * 2


def run(forward, backward, *more, name="run"):
    """A program: backward through the first output."""
    def program(lib):
        x = leaf(lib)
        y = function(lib, lambda *a: forward(*a), lambda ctx, *g: backward(lib, ctx, *g))(x, *more)
        (y[0] if isinstance(y, tuple) else y).sum().backward()
        return y, x.grad
    program.__qualname__ = name
    return program


def saving(ctx, x):
    ctx.save_for_backward(x, None)
    return x * 2


def dirty(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def dirty_not_returned(ctx, x):
    ctx.mark_dirty(x)
    return x * 2


def on_intermediate(forward, then=lambda z, y: None):
    """A program: apply to a tensor that is no leaf, then do something to input and output."""
    def program(lib):
        x = leaf(lib)
        z = x * 1
        y = function(lib, forward, lambda ctx, g: g * 5)(z)
        then(z, y)
        first = y[0] if isinstance(y, tuple) else y
        seen = first is z, first.grad_fn.name(), z.grad_fn.name(), first._is_view(), first._base is z, first._version
        first.sum().backward()
        return seen, x.grad
    return program


def through_a_dirty_view(lib):
    x = leaf(lib)
    z = x * 1
    y = function(lib, dirty, lambda ctx, g: g * 5)(z[:2])
    (y.sum() + z.sum()).backward()
    return y._base is z, z.grad_fn.name(), x.grad


def several_outputs(materialize, mark=False, integer=False):
    def program(lib):
        log = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            first = x.argmax() if integer else x * 3
            if mark:
                ctx.mark_non_differentiable(first)
            return first, x * 2

        def backward(ctx, g, h):
            log.append((g, h))
            return h
        x = leaf(lib)
        y, z = function(lib, forward, backward)(x)
        return y.requires_grad, z.requires_grad, lib.autograd.grad(z.sum(), x), log
    return program


def needs_input_grad(lib):
    seen = []

    def forward(ctx, x, k, w):
        seen.append(ctx.needs_input_grad)
        return x * k + w

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g * 3, None, g
    return lib.autograd.grad(function(lib, forward, backward)(leaf(lib), 3, lib.ones(3)).sum(), leaf(lib),
                             allow_unused=True), seen


def setup_form(lib):
    def forward(x, k=2):
        return x * k

    def setup(ctx, inputs, output):
        ctx.k, ctx.shape = inputs[1], output.shape

    def backward(ctx, g):
        return g * ctx.k, None
    apply = function(lib, forward, backward, setup_context=staticmethod(setup), generate_vmap_rule=True)
    x = leaf(lib)
    return apply(x).grad_fn.k, apply(x, k=3), lib.autograd.grad(apply(x, 5).sum(), x)


def second_order(lib):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * x
    x = leaf(lib)
    g, = lib.autograd.grad((function(lib, forward, backward)(x * 2) ** 2).sum(), x, create_graph=True)
    return g.detach(), lib.autograd.grad(g.sum(), x)


def once(use):
    def program(lib):
        modes = []

        def backward(ctx, g):
            modes.append(lib.is_grad_enabled())
            return g * 2
        x = leaf(lib)
        y = function(lib, double, lib.autograd.function.once_differentiable(backward))(x)
        g, = lib.autograd.grad((y * y).sum(), x, create_graph=True)
        return modes, g.detach(), g.grad_fn.name(), use(lib, g, x)
    return program


def twice(read):
    def program(lib):
        x = leaf(lib)
        y = function(lib, saving, lambda ctx, g: g * len(ctx.saved_tensors) if read else g)(x)
        y.sum().backward()
        y.sum().backward()
        return x.grad
    return program


def changed_output(lib):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    y = function(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0])(leaf(lib))
    y.add_(1)
    y.sum().backward()


def changed_input(lib):
    z = leaf(lib).exp()
    y = function(lib, saving, lambda ctx, g: g * ctx.saved_tensors[0])(z)
    z.add_(1)
    y.sum().backward()


def node_attributes(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.note = "mine"
        return x * 2
    x = leaf(lib)
    y = function(lib, forward, lambda ctx, g: g)(x)
    node = y.grad_fn
    seen = node.name(), node.saved_tensors[0] is x, node.note, node.next_functions[0][0].name(), node.needs_input_grad
    y.sum().backward()
    try:
        node.saved_tensors
    except RuntimeError as error:
        return seen, node.note, str(error)


def legacy_call(lib):
    class Old(lib.autograd.Function):
        def forward(self, x):
            return x
    return Old()(leaf(lib))


# ------------------------------------------------------------------ under vmap
def with_vmap(vmap, use=None):
    """A Function whose vmap is the user's, under vmap as it is or within and around a gradient."""
    def program(lib):
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x, None
        apply = type("Fn", (lib.autograd.Function,), dict(
            forward=staticmethod(lambda x, y, k: x * y * k), backward=staticmethod(backward), vmap=staticmethod(vmap),
            setup_context=staticmethod(lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2])))).apply
        x = lib.arange(6.).reshape(2, 3)
        return (use or (lambda lib, f, x: lib.vmap(f)(x, x + 1)))(lib, lambda x, y: apply(x, y, 10), x)
    return program


def tells(info, in_dims, x, y, k):
    """Ten times what forward gives, to be seen in the results."""
    assert type(info).__name__ == "VmapInfo" and info.randomness == "error" and in_dims[0] == 0 and in_dims[2] is None
    return 10 * x * y.movedim(in_dims[1], 0) * k, 0


VMAPS = [
    with_vmap(tells), with_vmap(lambda info, in_dims, x, y, k: ((x * y).movedim(0, -1), -1)),
    with_vmap(lambda info, in_dims, x, y, k: [x * y, 0]), with_vmap(lambda info, in_dims, x, y, k: (x * y, 0, 0)),
    with_vmap(lambda info, in_dims, x, y, k: (x * y, (0, 0))),
    with_vmap(lambda info, in_dims, x, y, k: ((x * y, [y * k, x]), (0, [0, 0]))),
    with_vmap(lambda info, in_dims, x, y, k: (x * y * k, 0),
              lambda lib, f, x: lib.vmap(lib.func.grad(lambda a, b: f(a, b).sum()))(x, x + 1)),
    with_vmap(tells, lambda lib, f, x: lib.func.grad(lambda a: lib.vmap(f)(a, x + 1).sum())(x)),
    with_vmap(tells, lambda lib, f, x: lib.func.grad(lambda a: f(a, x + 1).sum())(x)),
    with_vmap(tells, lambda lib, f, x: lib.vmap(f, in_dims=(0, 1), out_dims=1)(x, x.t() + 1)),
]


def keyword_of_forward(lib):
    return function(lib, lambda ctx, x, k=3: x * k, lambda ctx, g: g)(leaf(lib), k=2)


def what_is_to_be_saved(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.seen = len(ctx.to_save), len(ctx.saved_tensors)
        return x * 2
    return function(lib, forward, lambda ctx, g: g)(leaf(lib)).grad_fn.seen


def dirty_of_no_input(lib):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = function(lib, forward, lambda ctx, g: g)(leaf(lib))
    return y, [str(w.message).partition(" (Triggered")[0] for w in caught]


PROGRAMS = [
    *VMAPS, keyword_of_forward, what_is_to_be_saved, dirty_of_no_input,
    run(double, lambda lib, ctx, g: g.to(lib.complex64), name="complex_for_real"),
    run(double, lambda lib, ctx, g: g.numpy(), name="no_tensor_but_an_array"),
    run(double, lambda lib, ctx, g: (g, g), name="too_many"),
    run(double, lambda lib, ctx, g: (g, None), name="extra_none"),
    run(lambda ctx, x, k: x * 2, lambda lib, ctx, g: g, 3, name="too_few"),
    run(lambda ctx, x, k: x * 2, lambda lib, ctx, g: (g, g), 3, name="gradient_of_a_number"),
    run(double, lambda lib, ctx, g: lib.ones(2), name="wrong_shape"),
    run(double, lambda lib, ctx, g: lib.ones(()), name="too_small"),
    run(double, lambda lib, ctx, g: lib.ones(2, 3), name="expanded"),
    run(double, lambda lib, ctx, g: 3, name="no_tensor"),
    run(double, lambda lib, ctx, g: None, name="none"), run(double, lambda lib, ctx, g: g.double(), name="other_dtype"),
    run(lambda ctx, x: (x * 2, 3, "s", None), lambda lib, ctx, g, *rest: g, name="mixed_outputs"),
    run(saving, lambda lib, ctx, g: g * len(ctx.saved_tensors), name="saved_none"),
    run(lambda ctx, x: (ctx.save_for_backward(3), x)[1], lambda lib, ctx, g: g, name="save_number"),
    run(dirty, lambda lib, ctx, g: g, name="dirty_leaf"),
    run(dirty_not_returned, lambda lib, ctx, g: g, name="not_returned"),
    on_intermediate(dirty), on_intermediate(dirty_not_returned), on_intermediate(lambda ctx, x: x.mul_(2)),
    on_intermediate(lambda ctx, x: x), on_intermediate(lambda ctx, x: x, lambda z, y: y.add_(1)),
    on_intermediate(lambda ctx, x: x[:2], lambda z, y: y.add_(1)),
    on_intermediate(lambda ctx, x: x[:2], lambda z, y: z.add_(1)),
    on_intermediate(lambda ctx, x: (x[:2], x[2:]), lambda z, y: y[0].add_(1)),
    through_a_dirty_view, several_outputs(True), several_outputs(False), several_outputs(True, mark=True),
    several_outputs(True, integer=True), needs_input_grad, setup_form, second_order, twice(True), twice(False),
    once(lambda lib, g, x: lib.autograd.grad(g.sum(), x)), once(lambda lib, g, x: g.sum().backward()),
    once(lambda lib, g, x: None), changed_output, changed_input, node_attributes, legacy_call,
    lambda lib: type("Nf", (lib.autograd.Function,), {}).apply(leaf(lib)),
    lambda lib: type("Nb", (lib.autograd.Function,),
                     {"forward": staticmethod(double)}).apply(leaf(lib)).sum().backward(),
    lambda lib: function(lib, double, double)(leaf(lib).detach()).requires_grad,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)


# ------------------------------------------------------------------ checkpoint
def checkpointed(reentrant, use=lambda lib, x, w, y: y.sum().backward()):
    def program(lib):
        checkpoint = importlib.import_module(lib.__name__ + ".utils.checkpoint").checkpoint
        x, w, calls = leaf(lib), leaf(lib, .1, .2, .3), []

        def piece(t):
            calls.append(lib.is_grad_enabled())
            return lib.nn.functional.dropout((t * w).exp().tanh(), 0.5)
        lib.manual_seed(0)
        y = checkpoint(piece, x * 2, use_reentrant=reentrant)
        return y.detach(), use(lib, x, w, y), x.grad, w.grad, calls[:2], lib.rand(1)
    return program


def second_derivative(lib, x, w, y):
    g, = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), lib.autograd.grad(g.sum(), [x, w])


def retained(lib, x, w, y):
    y.sum().backward(retain_graph=True)
    y.sum().backward()


def sequential(reentrant):
    def program(lib):
        module = importlib.import_module(lib.__name__ + ".utils.checkpoint")
        x = leaf(lib)
        layers = lib.nn.Sequential(*[lib.nn.Tanh() for _ in range(5)])
        module.checkpoint_sequential(layers, 2, x, use_reentrant=reentrant).sum().backward()
        return x.grad
    return program


def arguments(**kwargs):
    def program(lib):
        checkpoint = importlib.import_module(lib.__name__ + ".utils.checkpoint").checkpoint
        return checkpoint(lambda t, k=1: t * k, leaf(lib), **kwargs)
    return program


@pytest.mark.parametrize("program", [
    checkpointed(False), checkpointed(True), checkpointed(False, second_derivative), checkpointed(False, retained),
    checkpointed(True, lambda lib, x, w, y: lib.autograd.grad(y.sum(), x)), sequential(False), sequential(True),
    arguments(use_reentrant=False, k=3), arguments(use_reentrant=True, k=3),
    arguments(use_reentrant=True, context_fn=lambda: None)], ids=lambda p: p.__qualname__)
def test_checkpoint(program):
    both_agree(program)


def test_saved_variables_are_saved_tensors():
    def act(lib):
        class Square(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    x, = ctx.saved_variables
                said.extend([(w.category.__name__, str(w.message)) for w in caught])
                return 2 * x * g

        said, x = [], lib.tensor([3.], requires_grad=True)
        Square.apply(x).backward()
        return said, x.grad.tolist()
    both_agree(act)


def test_classes_of_nodes_have_torchs_names():
    def act(lib):
        class Twice(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        x = lib.ones(1, requires_grad=True)
        return [(re.sub("0x[0-9a-f]+", "", repr(node)), repr(type(node)), type(node).__module__, node.name())
                for node in (Twice.apply(x).grad_fn, (x * 2).grad_fn)], repr(Twice.apply(x))
    both_agree(act)


def grouped(lib, program):
    group, said = importlib.import_module(lib.__name__ + ".utils.checkpoint").GraphExecGroup, []
    try:
        program(group, said)
    except RuntimeError as error:
        said.append(str(error).partition(" object at")[0].replace(lib.__name__, "torch"))
    assert group._get_current_group() is None
    return said


def _nested(group, said):
    with group() as outer:
        said.append(group._get_current_group() is outer)
        with group():
            said.append("inside")


def _one_after_the_other(group, said):
    for _ in range(2):
        with contextlib.suppress(KeyError), group():
            raise KeyError
        said.append("outside")


def _in_another_thread(group, said):
    with group():
        thread = threading.Thread(target=lambda: said.append(grouped_alone(group)))
        thread.start()
        thread.join()


def grouped_alone(group):
    with group():
        return "alone"


@pytest.mark.parametrize("program", [_nested, _one_after_the_other, _in_another_thread])
def test_groups_of_checkpoints(program):
    ours, theirs = grouped(tinytorch, program), grouped(torch, program)
    assert ours == theirs and ours


@pytest.mark.parametrize("kind", ["backward", "vjp", "both", "neither", "freed", "nothing given"])
def test_apply_of_the_node(kind):
    def program(t):
        class Twice(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return 2 * x
        if kind != "neither":
            rule = staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])
            for name in ("backward", "vjp") if kind == "both" else ("vjp" if kind == "vjp" else "backward",):
                setattr(Twice, name, rule)
        y = Twice.apply(t.tensor([3., 4.], requires_grad=True))
        if kind == "freed":
            y.sum().backward()
        if kind == "nothing given":
            try:
                return y.grad_fn.apply()
            except TypeError:
                return t.tensor(1)
        return y.grad_fn.apply(t.ones(2, requires_grad=True)), y.grad_fn._forward_cls is Twice
    same_outcome(program)
