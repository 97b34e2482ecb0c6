"""bfloat16 through the tape: each program runs under both modules, and the numbers are the same to the last bit."""
import pytest

from .adapter import same_outcome


def leaf(t, *values, shape=None):
    x = t.tensor(values, dtype=t.bfloat16)
    return (x if shape is None else x.reshape(shape)).requires_grad_()


def total(t):
    x = leaf(t, 1., 2.)
    x.sum().backward()
    x.sum().backward()
    return x.grad


def broadcast(t):
    x, b = leaf(t, *[1 / 3, 2., 3., 5., 7., -9.1], shape=(3, 2)), leaf(t, .1, .2)
    (x * b + b).backward(t.full((3, 2), .3, dtype=t.bfloat16))
    return x.grad, b.grad


def expanded(t):
    x = leaf(t, .1)
    x.expand(1000).backward(t.full((1000,), 1 / 3, dtype=t.bfloat16))
    return x.grad


def many_uses(t):
    x = leaf(t, .3, 1.7)
    (x + x * x + x[1] + x.exp() + x.view(2, 1).t()[0]).sum().backward()
    return x.grad


def outputs(t):
    x = leaf(t, *range(6), shape=(2, 3))
    first, second = x.unbind(0)
    one, two, three = x.split(1, 1)
    (first * second + first + (one * two * three).sum() + x.max(1)[0].sum()).sum().backward()
    return x.grad


def second_order(t):
    x, b = leaf(t, 1., 2., 3., 4., shape=(2, 2)), leaf(t, .5, .25)
    first = t.autograd.grad((x * b * x).sum(), [x, b], create_graph=True)
    return first, t.autograd.grad(sum((g * g).sum() for g in first), [x, b])


def one_node(t):
    x = leaf(t, .5, .25)
    y = (x * 3).tanh()
    return y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), y.grad_fn._saved_result


def written_to(t):
    x = leaf(t, 1., 2.)
    w = x.clone()
    y = w.exp() * w
    with t.no_grad():
        w.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)


def hooks(t):
    x, seen = leaf(t, 1., 2.), []
    y = x * 3
    y.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(inputs[:1] + outputs))
    x.register_hook(lambda g: seen.append(g.clone()))
    y.retain_grad()
    (y * y).sum().backward()
    return seen, y.grad, x.grad


def through_float32(t):
    x, w = leaf(t, 1 / 3, 2.), t.tensor([.1, .7], requires_grad=True)
    y = (x.float() * w).bfloat16() * x + x.double().exp().bfloat16()
    y.sum().backward()
    return x.grad, w.grad


def through_a_function(t):
    class Widen(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.float()

        @staticmethod
        def backward(ctx, g):
            return g.bfloat16() * 2

    x = leaf(t, 1 / 3, 2.)
    y = Widen.apply(x * x)
    (y * y).sum().backward()
    return x.grad


def given_gradient(t):
    x = leaf(t, 1., 2.)
    (x * 2).backward(t.tensor([.1, .2]))
    return x.grad


def leaf_of_float32(t):
    x = t.ones(2, requires_grad=True)
    x.bfloat16().square().sum().backward()
    x.bfloat16().cos().sum().backward()
    return x.grad


PROGRAMS = [total, broadcast, expanded, many_uses, outputs, second_order, one_node, written_to, hooks, through_float32,
            through_a_function, given_gradient, leaf_of_float32]


@pytest.mark.counted
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_tape(program):
    same_outcome(program, tolerance=0)
