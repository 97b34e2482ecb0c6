"""The graph API argument by argument: nodes, hooks, grad, backward, depth and memory; run under both modules."""
import gc
import weakref

import pytest

from .test_graph import both_agree, leaf


def attempt(action):
    """What an action returns, or its error."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__, str(error).partition(", but expected one of")[0]


# ------------------------------------------------------------------ nodes
def types(lib):
    """The class of a node bears its name."""
    x = leaf(lib)
    y = x * 1
    y[0] = 2.
    parts = x.split(1)
    function = type("Mine", (lib.autograd.Function,), dict(
        forward=staticmethod(lambda ctx, t: t * 2), backward=staticmethod(lambda ctx, g: g))).apply
    outputs = [x + 1, x.exp(), x.sum(), x.sum(0), x[0], y, parts[1], function(x), x @ x]
    nodes = [o.grad_fn for o in outputs] + [(x + 1).grad_fn.next_functions[0][0]]
    return [(type(n).__name__, type(n.next_functions[0][0]).__name__ if n.next_functions else None) for n in nodes]


def same_class(lib):
    x = leaf(lib)
    a, b, c = (x * 1).grad_fn, (x * 2).grad_fn, (x + 1).grad_fn
    return type(a) is type(b), type(a) is type(c), isinstance(a, lib.autograd.graph.Node), issubclass(
        type(a), lib.autograd.graph.Node)


def walk(lib):
    """The whole graph, node by node."""
    x, w = leaf(lib), leaf(lib)
    y = ((x @ w) * x.sum() + w.unbind()[1]).exp().reshape(1, 1)
    seen, stack = [], [(y.grad_fn, 0)]
    while stack:
        node, number = stack.pop()
        seen.append((node.name(), type(node).__name__, number, [n and (n.name(), k) for n, k in node.next_functions]))
        stack += [(n, k) for n, k in node.next_functions if n is not None]
    return seen


def identity(lib):
    x = leaf(lib)
    y = x.exp()
    z = y * y
    (left, _), (right, _) = z.grad_fn.next_functions
    end = y.grad_fn.next_functions[0][0]
    return (left is y.grad_fn, right is left, z.grad_fn is z.grad_fn, end.variable is x, end.next_functions,
            y.detach().grad_fn, x.grad_fn, lib.ones(2).grad_fn, end is (x * 2).grad_fn.next_functions[0][0],
            end._sequence_nr())


def hooks_after_a_write(lib):
    """A hook of a view belongs to the history that it has when the hook is registered."""
    x, log = leaf(lib), []
    y = x * 2
    v = y[:2]
    v.mul_(2)
    v.register_hook(lambda g: log.append(("view", g.tolist())))
    y.register_hook(lambda g: log.append(("base", g.tolist())))
    v.retain_grad()
    (y.sum() + v.sum()).backward()
    return log, v.grad, x.grad


def none_is_kept_by_node_hooks(lib):
    x = leaf(lib)
    y = x * 2
    y.grad_fn.register_hook(lambda into, out: (out[0], out[0]))
    return attempt(lambda: y.sum().backward())


def abstract_node(lib):
    return attempt(lib.autograd.graph.Node)[0], sorted(
        {"name", "next_functions", "metadata", "register_hook"} & lib.autograd.graph.Node.__abstractmethods__)


def versions_of_others(lib):
    count = lib.autograd.graph.increment_version
    x = lib.ones(3)
    count((x, x))
    with lib.inference_mode():
        y = lib.ones(2)
    return x._version, count(y), attempt(lambda: count(3))


def edges_without_gradient(lib):
    x = leaf(lib)
    made = [x * 2, x * lib.ones(3), lib.ones(3) * x, lib.cat([x, lib.ones(2), x]), lib.where(x > 1, x, lib.zeros(3)),
            2 / x]
    return [[n and n.name() for n, _ in y.grad_fn.next_functions] for y in made]


def output_numbers(lib):
    x = lib.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    a, b = x.unbind()
    values, indices = x.sort()
    return (a.output_nr, b.output_nr, values.output_nr, indices.requires_grad, x.output_nr, a.grad_fn is b.grad_fn,
            (b * 2).grad_fn.next_functions[0][1], [k for _, k in lib.stack([b, a]).grad_fn.next_functions])


def metadata(lib):
    y = leaf(lib) * 2
    y.grad_fn.metadata["key"] = 3
    return y.grad_fn.metadata, (y * 2).grad_fn.next_functions[0][0].metadata, y.grad_fn.next_functions[0][0].metadata


def sequence_numbers(lib):
    x = leaf(lib)
    a, b = x * 1, x * 2
    return a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr()


def no_attribute(lib):
    node = (leaf(lib) * 2).grad_fn
    return [attempt(lambda: getattr(node, name))[0] for name in ("nonsense", "_saved_nonsense")]


def called(lib):
    """A node is a function too, of the gradients of its outputs; no hook is run."""
    x, log = leaf(lib), []
    node, ones = (x * x).grad_fn, lib.ones(3)
    hooked = x * x
    hooked.register_hook(lambda g: log.append(1))
    hooked.grad_fn.register_hook(lambda a, b: log.append(2))
    used = x.exp()
    used.sum().backward()
    with lib.no_grad():
        plain = node(ones)
    function = type("Mine", (lib.autograd.Function,), dict(
        forward=staticmethod(lambda ctx, t: t * 2), backward=staticmethod(lambda ctx, g: g))).apply
    end = (x * 2).grad_fn.next_functions[0][0]
    return (node(ones), plain, node(None), (x + 1).grad_fn(ones), x.sum().grad_fn(lib.tensor(2.)), hooked.grad_fn(ones),
            log, (lib.ones(2, 3) * x).grad_fn(lib.ones(2, 3)),
            x.unbind()[0].grad_fn(lib.tensor(1.), None, lib.tensor(2.)),
            attempt(lambda: node()), attempt(lambda: node(3)), attempt(lambda: used.grad_fn(ones)),
            attempt(lambda: function(x).grad_fn(ones)), end(ones), x.grad)


def names_of_saved(lib):
    """What visualisers look for."""
    x = leaf(lib)
    return [[name for name in dir(y.grad_fn) if name.startswith("_saved")] for y in (x.exp(), x * x, x.sqrt())]


def removed_hooks(lib):
    x, log = leaf(lib), []
    y = x * 2
    handles = [y.grad_fn.register_hook(lambda a, b: log.append("post")),
               y.grad_fn.register_prehook(lambda a: log.append("pre")),
               y.register_hook(lambda g: log.append("tensor")), x.register_hook(lambda g: log.append("leaf")),
               x.register_post_accumulate_grad_hook(lambda t: log.append("written"))]
    y.sum().backward(retain_graph=True)
    for handle in handles:
        handle.remove()
        handle.remove()
    with y.register_hook(lambda g: log.append("with")):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    return log


def hooks_of_one_tensor(lib):
    """Each gets what the one before made of the gradient."""
    x, log = leaf(lib), []
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: log.append(g.tolist()))
    y.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: log.append(g.tolist()) or g * 0)
    y.sum().backward()
    return log, x.grad


def hook_that_removes_itself(lib):
    x, log = leaf(lib), []
    handle = []
    handle.append(x.register_hook(lambda g: (log.append(1), handle[0].remove())[1]))
    for _ in range(2):
        (x * 2).sum().backward()
    return log


def hooks_and_grad(lib):
    """autograd.grad runs hooks of the tensors it passes, and of its inputs, but writes nothing."""
    x, log = leaf(lib), []
    y = x * 2
    y.register_hook(lambda g: log.append("y") or g * 3)
    x.register_hook(lambda g: log.append("x") or g * 5)
    x.register_post_accumulate_grad_hook(lambda t: log.append("never"))
    return lib.autograd.grad(y.sum(), x, retain_graph=True), lib.autograd.grad(y.sum(), y), log, x.grad


def hook_under_create_graph(lib):
    x, log = leaf(lib), []
    y = x ** 2
    y.register_hook(lambda g: log.append((g.requires_grad, lib.is_grad_enabled())) or g * x)
    g, = lib.autograd.grad((y * y).sum(), x, create_graph=True)
    return g.detach(), lib.autograd.grad(g.sum(), x), log


def hook_errors(lib):
    x = leaf(lib)
    return [attempt(lambda: lib.ones(2).register_hook(print)),
            attempt(lambda: (x * 2).register_post_accumulate_grad_hook(print)),
            attempt(lambda: lib.ones(2).register_post_accumulate_grad_hook(print)),
            attempt(lambda: lib.ones(2).retain_grad()), attempt(lambda: x.retain_grad()), x.retains_grad]


def failing_hook(lib):
    def hook(g):
        raise KeyError("mine")
    y = leaf(lib) * 2
    y.register_hook(hook)
    y.sum().backward()


def post_accumulate_clears(lib):
    """As an optimizer inside backward does."""
    x = leaf(lib)

    def hook(t):
        with lib.no_grad():
            t.sub_(t.grad, alpha=0.1)
        t.grad = None
    x.register_post_accumulate_grad_hook(hook)
    (x * x).sum().backward()
    return x.detach(), x.grad


def retained(lib):
    x = leaf(lib)
    y = x * 2
    before = y.retains_grad
    y.retain_grad()
    y.retain_grad()
    (y * y).sum().backward(retain_graph=True)
    first = y.grad.clone()
    (y * y).sum().backward()
    return before, y.retains_grad, first, y.grad, x.retains_grad, y.is_leaf


def retained_in_grad(lib):
    x = leaf(lib)
    y = x * 2
    y.retain_grad()
    lib.autograd.grad(y.sum(), x)
    return y.grad


# ------------------------------------------------------------------ grad
def grad_arguments(**kwargs):
    """A program: grad of two outputs by two inputs, one of them unused."""
    def program(lib):
        x, w = leaf(lib), leaf(lib)
        y, z = x * 2, x.exp().sum()
        given = {k: v(lib) if callable(v) else v for k, v in kwargs.items()}
        found = lib.autograd.grad([y, z], [x, w], **given)
        return [g if g is None else (g.detach(), g.requires_grad) for g in found], x.grad
    return program


def given(lib):
    return [lib.tensor([1., 2., 3.]), None]


def of(make, **kwargs):
    """A program: grad by x of what make(lib, x) returns."""
    def program(lib):
        x = leaf(lib)
        found = lib.autograd.grad(make(lib, x), x, **{k: v(lib) if callable(v) else v for k, v in kwargs.items()})
        return [g if g is None else g.detach() for g in found]
    return program


def grad_twice(keep):
    def program(lib):
        x = leaf(lib)
        y = x.exp().sum()
        lib.autograd.grad(y, x, retain_graph=keep)
        return lib.autograd.grad(y, x)
    return program


def third_derivative(lib):
    x = leaf(lib)
    y = (x ** 4).sum()
    found = []
    for _ in range(4):
        y, = lib.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y.detach())
    return found


def of_an_intermediate(lib):
    x = leaf(lib)
    y = x / 10
    z = y.exp()
    return lib.autograd.grad(z.sum(), [x, y, z], retain_graph=True), lib.autograd.grad(z.sum(), y), x.grad


def dict_of_inputs(lib):
    x, w = leaf(lib), leaf(lib)
    return (lib.autograd.grad((x * 2).sum(), {"x": x, "w": w}, allow_unused=True),
            attempt(lambda: lib.autograd.grad(x.sum(), {})), attempt(lambda: lib.autograd.grad(x.sum(), [])))


def by_itself(lib):
    x = leaf(lib)
    y = x * 1
    return (lib.autograd.grad(x, x, lib.ones(3)), lib.autograd.grad(y, y, lib.ones(3)),
            lib.autograd.grad(y.sum(), [y, y, x]))


def batched(lib):
    x = leaf(lib)
    y = x * x
    return (lib.autograd.grad(y, x, lib.eye(3), is_grads_batched=True, retain_graph=True),
            lib.autograd.grad([y, x * 2], x, [lib.eye(3), lib.ones(3, 3)], is_grads_batched=True))


# ------------------------------------------------------------------ backward
def backward_of(make, *args, **kwargs):
    """A program: backward of what make(lib, x) returns, with arguments that are made from (lib, x) if they can be."""
    def program(lib):
        x = leaf(lib)
        values = [a(lib, x) if callable(a) else a for a in args]
        make(lib, x).backward(*values, **{k: v(lib, x) if callable(v) else v for k, v in kwargs.items()})
        return x.grad.detach() if x.grad is not None else None, x.grad is not None and x.grad.requires_grad
    return program


def inputs_of_backward(lib):
    x, w = leaf(lib), leaf(lib)
    y = x * w
    y.sum().backward(inputs=[x], retain_graph=True)
    first = x.grad, w.grad
    y.sum().backward(inputs=w)
    return first, w.grad


def non_leaf_input(lib):
    x = leaf(lib)
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    return x.grad, y.grad


def unused_input(lib):
    x, w = leaf(lib), leaf(lib)
    (x * 2).sum().backward(inputs=[w])
    return x.grad, w.grad


def several_roots(lib):
    x = leaf(lib)
    lib.autograd.backward([x * 2, (x * 3).sum()], [lib.ones(3), None])
    return x.grad


def backward_errors(lib):
    x = leaf(lib)
    y = (x * 2).sum()
    backward = lib.autograd.backward
    return [attempt(lambda: backward([y, y], [lib.ones(())])), attempt(lambda: backward(y, inputs=[])),
            attempt(lambda: backward(lib.ones(()))), attempt(lambda: y.backward(lib.ones(2))),
            attempt(lambda: (x * 2).backward()), attempt(lambda: y.backward(inputs=[lib.ones(2)])),
            attempt(lambda: y.backward(3.)), attempt(lambda: lib.autograd.grad(y, lib.ones(2))),
            attempt(lambda: lib.autograd.grad(lib.ones(()), x)), attempt(lambda: (x * 1j).sum().backward())]


def twice(make):
    """A program: two backward passes over one graph."""
    def program(lib):
        x = leaf(lib)
        y = make(x)
        y.backward()
        y.backward()
        return x.grad
    return program


def shared_part(lib):
    """A part that saved something is freed by the backward of another."""
    x = leaf(lib)
    y = x.exp()
    (y * 2).sum().backward()
    (y * 3).sum().backward()
    return x.grad


def failed_backward(lib):
    """What was freed before an error stays freed, and nothing has been accumulated."""
    x = leaf(lib)
    y = x.exp()
    z = y * y
    y.add_(1)
    first = attempt(lambda: z.sum().backward())[0]
    return first, x.grad, attempt(lambda: (y * 2).sum().backward())


PROGRAMS = [
    hooks_after_a_write, none_is_kept_by_node_hooks, abstract_node, versions_of_others,
    types, same_class, walk, identity, edges_without_gradient, output_numbers, metadata, sequence_numbers,
    no_attribute, called, names_of_saved, removed_hooks, hooks_of_one_tensor, hook_that_removes_itself, hooks_and_grad,
    hook_under_create_graph, hook_errors, failing_hook, post_accumulate_clears, retained, retained_in_grad,
    grad_arguments(), grad_arguments(allow_unused=True), grad_arguments(grad_outputs=given),
    grad_arguments(grad_outputs=given, allow_unused=True), grad_arguments(grad_outputs=given, materialize_grads=True),
    grad_arguments(grad_outputs=given, materialize_grads=True, allow_unused=False),
    grad_arguments(grad_outputs=given, allow_unused=False),
    grad_arguments(grad_outputs=given, allow_unused=True, create_graph=True),
    grad_arguments(grad_outputs=lambda lib: [lib.ones(3)]),
    grad_arguments(grad_outputs=lambda lib: [lib.ones(2), None]),
    grad_arguments(grad_outputs=lambda lib: [lib.ones(3, dtype=lib.int64), None], allow_unused=True),
    of(lambda lib, x: x.sum()), of(lambda lib, x: x * 2), of(lambda lib, x: x.sum().reshape(1, 1)),
    of(lambda lib, x: lib.ones(())), of(lambda lib, x: (x * 1j).sum()),
    of(lambda lib, x: x * 2, grad_outputs=lambda lib: lib.ones(3)),
    of(lambda lib, x: x * 2, grad_outputs=lambda lib: lib.ones(3).double()), of(lambda lib, x: x.detach().sum()),
    of(lambda lib, x: x.sum(), only_inputs=False), of(lambda lib, x: []), of(lambda lib, x: (x > 1).sum()),
    grad_twice(None), grad_twice(True), grad_twice(False), third_derivative, of_an_intermediate, dict_of_inputs,
    by_itself, batched,
    backward_of(lambda lib, x: x.sum()), backward_of(lambda lib, x: x * 2, lambda lib, x: lib.tensor([1.0, 2.0, 3.0])),
    backward_of(lambda lib, x: x * 2, gradient=lambda lib, x: lib.ones(3)), backward_of(lambda lib, x: x * 2),
    backward_of(lambda lib, x: (x * x).sum(), create_graph=True),
    backward_of(lambda lib, x: x.sum(), None, True, False), backward_of(lambda lib, x: x, lambda lib, x: lib.ones(3)),
    backward_of(lambda lib, x: x.sum(), lambda lib, x: lib.ones(1)),
    backward_of(lambda lib, x: x.sum(), lambda lib, x: lib.tensor(2)),
    backward_of(lambda lib, x: x * x, lambda lib, x: x),
    backward_of(lambda lib, x: x.sum(), inputs=lambda lib, x: [x]),
    backward_of(lambda lib, x: x.sum(), inputs=lambda lib, x: x), inputs_of_backward, non_leaf_input, unused_input,
    several_roots, backward_errors, twice(lambda x: x.sum()), twice(lambda x: x.exp().sum()),
    twice(lambda x: (x * x).sum()), twice(lambda x: x.max()), shared_part, failed_backward,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)


# ------------------------------------------------------------------ depth and memory
def test_deep_graphs():
    """No recursion anywhere: backward, a second derivative and the release of graphs of 100,000 nodes."""
    def program(lib):
        x = leaf(lib, 1.)
        y = x
        for _ in range(100_000):
            y = y + 1
        y.backward()
        z = x * x
        for _ in range(20_000):
            z = z * 1
        g, = lib.autograd.grad(z, x, create_graph=True)
        g.backward()
        del y, z, g
        return x.grad
    both_agree(program)


@pytest.mark.parametrize("make", [
    lambda lib, x: (x.exp() * x).sum(), lambda lib, x: (x.split(1)[0] * x[1:]).sum(),
    lambda lib, x: lib.cat([x, x]).view(2, 3).sum(), lambda lib, x: x.clone().mul_(2).exp_().sum(),
    lambda lib, x: x.sort()[0].cumsum(0).sum(), lambda lib, x: lib.nn.functional.layer_norm(x, (3,)).sum()])
@pytest.mark.parametrize("use", [lambda y: None, lambda y: y.backward(), lambda y: y.backward(retain_graph=True)])
def test_freed_at_once(make, use):
    """A graph that is let go of is gone, without the help of the garbage collector."""
    def program(lib):
        x = leaf(lib)
        middle = x * 2
        y = make(lib, middle)
        use(y)
        nodes = [weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])] if lib.__name__ != "torch" else []
        tensors = [weakref.ref(middle), weakref.ref(y)]
        gc.disable()
        try:
            del middle, y
            return [r() is None for r in tensors], [r() for r in nodes if r() is not None]
        finally:
            gc.enable()
    both_agree(program)
