"""autograd.Function in forward mode and under torch.func: each program runs under both modules, and must end the same
way."""
import importlib

import pytest

from .test_graph import both_agree


def point(lib):
    return lib.tensor([1., 2., 3.])


def direction(lib):
    return lib.tensor([1., -1., .5])


def make(lib, **methods):
    """A Function called Fn."""
    return type("Fn", (lib.autograd.Function,), {
        name: staticmethod(m) if callable(m) else m for name, m in methods.items() if m is not None})


def square(ctx, x, *rest):
    ctx.save_for_forward(x)
    ctx.save_for_backward(x)
    return x * x


def times_ten(ctx, t):
    return t * ctx.saved_tensors[0] * 10


def dual(*more, start=lambda x: x, look=lambda lib, y: y, **methods):
    """A program: the values and tangents of a Function's outputs at a dual number."""
    def program(lib):
        fw = importlib.import_module(lib.__name__ + ".autograd.forward_ad")
        rest = [lib.tensor(m) if isinstance(m, list) else m for m in more]
        with fw.dual_level():
            y = make(lib, **methods).apply(start(fw.make_dual(point(lib), direction(lib))), *rest)
            return [o if not isinstance(o, lib.Tensor) else tuple(fw.unpack_dual(look(lib, o)))
                    for o in (y if isinstance(y, tuple) else (y,))]
    return program


def what_jvp_is_given(materialize):
    def program(lib):
        log = []

        def forward(ctx, x, *rest):
            ctx.set_materialize_grads(materialize)
            return x * x

        def jvp(ctx, *tangents):
            log.append(tangents)
            return tangents[0]
        return dual(3, [1., 2., 3.], [1], None, forward=forward, jvp=jvp)(lib), log
    return program


def modify(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def several(ctx, x):
    return x * 2, x.argmax(), x * 3, 5


def half_differentiable(ctx, x):
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y, x * 3


def reverse_over_forward(lib):
    fw = importlib.import_module(lib.__name__ + ".autograd.forward_ad")
    x = point(lib).requires_grad_()
    apply = make(lib, forward=square, backward=lambda ctx, g: g * 7,
                 jvp=lambda ctx, t: t * ctx.saved_tensors[0] ** 2).apply
    with fw.dual_level():
        value, tangent = fw.unpack_dual(apply(fw.make_dual(x, direction(lib))))
        tangent_gradient, = lib.autograd.grad(tangent.sum(), x)
        gradient, = lib.autograd.grad(value.sum(), x)
    return tangent.requires_grad, tangent.detach(), tangent_gradient.detach(), gradient.detach()


def attributes(lib):
    """What setup_context leaves on ctx is there in jvp."""
    def setup(ctx, inputs, output):
        ctx.k = inputs[1]
        ctx.save_for_forward(output)
    return dual(3, forward=lambda x, k: x ** k, setup_context=setup,
                jvp=lambda ctx, t, k: t * ctx.saved_for_forward[0] * ctx.k)(lib)


def chained(lib):
    """Ordinary operations before and after."""
    return dual(forward=square, jvp=times_ten, start=lambda x: (x * 2).exp(),
                look=lambda lib, y: y.log().cumsum(0))(lib)


def under(use, **methods):
    """A program: use(lib, apply) of a Function with a separate setup_context."""
    def setup(ctx, inputs, output):
        ctx.save_for_forward(inputs[0])
        ctx.save_for_backward(inputs[0])
    methods = {"forward": lambda x: x * x, "setup_context": setup, **methods}

    def program(lib):
        return use(lib, make(lib, **methods).apply)
    return program


def jvp_of(lib, apply):
    return lib.func.jvp(apply, (point(lib),), (direction(lib),))


def grad_of_jvp(lib, apply):
    return lib.func.grad(lambda x: lib.func.jvp(apply, (x,), (direction(lib),))[1].sum())(point(lib))


def jvp_of_grad(lib, apply):
    return lib.func.jvp(lambda x: lib.func.grad(lambda z: apply(z).sum())(x), (point(lib),), (direction(lib),))


def vmapped(lib, apply):
    return lib.vmap(apply)(point(lib))


BACK = dict(backward=lambda ctx, g: g * 3 * ctx.saved_tensors[0])
ONE_FORM = dict(forward=square, setup_context=None, backward=lambda ctx, g: g)

PROGRAMS = [
    dual(forward=square, jvp=times_ten), dual(forward=square, jvp=lambda ctx, t: t * ctx.saved_for_forward[0]),
    dual(forward=square), dual(forward=square, jvp=lambda ctx, t: 3), dual(forward=square, jvp=lambda ctx, t: (t, t)),
    dual(forward=square, jvp=lambda ctx, t: (t,)), dual(forward=square, jvp=lambda ctx, t: t[:2]),
    dual(forward=square, jvp=lambda ctx, t: t.double()), what_jvp_is_given(True), what_jvp_is_given(False),
    dual(forward=lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], jvp=lambda ctx, t: t * len(ctx.saved_tensors)),
    dual(forward=lambda ctx, x: x[:2], jvp=lambda ctx, t: t[:2]),
    dual(forward=lambda ctx, x: x[:2], jvp=lambda ctx, t: t[:2] * 1),
    dual(forward=lambda ctx, x: x, jvp=lambda ctx, t: t),
    dual(forward=lambda ctx, x: x, jvp=lambda ctx, t: t.view_as(t)),
    dual(forward=lambda ctx, x: x * 2, jvp=lambda ctx, t: t),
    dual(forward=modify, jvp=lambda ctx, t: t * 2, start=lambda x: x * 1),
    dual(forward=modify, jvp=lambda ctx, t: t.mul_(2), start=lambda x: x * 1),
    dual(forward=several, jvp=lambda ctx, t: (t, None, t, None)), dual(forward=several, jvp=lambda ctx, t: (t, t, t)),
    dual(forward=several, jvp=lambda ctx, t: t), dual(forward=several, jvp=lambda ctx, t: (t, t, t, None)),
    dual(forward=half_differentiable, jvp=lambda ctx, t: (t, t)),
    dual(forward=half_differentiable, jvp=lambda ctx, t: (None, t)), reverse_over_forward, attributes, chained,
    under(jvp_of, jvp=times_ten), under(jvp_of), under(jvp_of, jvp=times_ten, **BACK),
    under(jvp_of, jvp=times_ten, **ONE_FORM),
    under(grad_of_jvp, jvp=times_ten, **BACK), under(jvp_of_grad, jvp=times_ten, **BACK),
    under(lambda lib, apply: lib.func.vjp(apply, point(lib))[1](direction(lib)), **BACK),
    under(lambda lib, apply: lib.func.jacfwd(apply)(point(lib)), jvp=times_ten, generate_vmap_rule=True),
    under(lambda lib, apply: lib.func.jacrev(apply)(point(lib)), generate_vmap_rule=True, **BACK),
    under(lambda lib, apply: lib.func.hessian(lambda x: apply(x).sum())(point(lib)), jvp=times_ten,
        generate_vmap_rule=True,
          **BACK),
    under(lambda lib, apply: lib.func.linearize(apply, point(lib))[1](direction(lib)), jvp=times_ten,
        generate_vmap_rule=True),
    under(lambda lib, apply: lib.autograd.functional.jvp(apply, point(lib), direction(lib)), jvp=times_ten, **BACK),
    under(lambda lib, apply: lib.autograd.functional.jacobian(apply, point(lib), strategy="forward-mode",
        vectorize=True),
          jvp=times_ten, generate_vmap_rule=True, **BACK),
    under(lambda lib, apply: lib.autograd.gradcheck(apply, (point(lib).double().requires_grad_(),),
        check_forward_ad=True),
          jvp=lambda ctx, t: t * 2 * ctx.saved_tensors[0], backward=lambda ctx, g: g * 2 * ctx.saved_tensors[0]),
    under(lambda lib, apply: lib.func.grad(lambda x: apply(x).sum())(point(lib)), **BACK),
    under(lambda lib, apply: lib.func.grad(lambda x: apply(x).sum())(point(lib)), **ONE_FORM),
    under(vmapped), under(vmapped, generate_vmap_rule=True), under(vmapped, **ONE_FORM),
    under(vmapped, generate_vmap_rule=True, vmap=lambda info, dims, x: (x * x, 0)),
    under(vmapped, vmap=lambda info, dims, x: (x * x, 0)),
    under(lambda lib, apply: lib.vmap(lambda x: x + apply(lib.ones(1)).sum())(point(lib))),
    under(lambda lib, apply: lib.vmap(lib.func.grad(apply))(point(lib)), generate_vmap_rule=True, **BACK),
    under(lambda lib, apply: lib.func.grad(lambda x: lib.vmap(apply)(x).sum())(point(lib)), generate_vmap_rule=True,
        **BACK),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)
