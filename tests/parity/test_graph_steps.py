"""What is one node here and several in torch shows torch's nodes in `next_functions`; run under both modules."""
import pytest

import tinytorch

from .test_graph import both_agree


def tree(node):
    """A node and all that it leads to, as nested tuples of names."""
    return node and (node.name(), type(node).__name__, node._sequence_nr() >= 0,
                     *[(tree(n), k) for n, k in node.next_functions])


def made(lib, *shape, grad=True):
    return lib.ones(*shape, requires_grad=grad)


def linear_layers(lib):
    """With and without a bias, for every number of dimensions and what requires gradients."""
    found = []
    for shape in (3,), (2, 3), (0, 3), (1, 2, 3), (5, 4, 2, 3):
        for bias in made(lib, 2), made(lib, 2, grad=False), None:
            for x, w in (True, True), (True, False), (False, True):
                x, w = made(lib, *shape, grad=x), made(lib, 2, 3, grad=w)
                found.append((shape, tree(lib.nn.functional.linear(x, w, bias).grad_fn)))
    return found


def losses(lib):
    F, found = lib.nn.functional, []
    for shape in (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 5, 6):
        target = lib.zeros(2, *shape[2:], dtype=lib.long)
        found += [tree(F.cross_entropy(made(lib, *shape), target, reduction=how).grad_fn) for how in ("sum", "mean")]
    return found


def pools_of_one_axis(lib):
    F, found = lib.nn.functional, []
    for shape in (2, 3, 8), (3, 8):
        x = made(lib, *shape)
        values, indices = F.max_pool1d(x, 2, return_indices=True)
        found += [tree(y.grad_fn) for y in (
            values, F.max_pool1d(x, 2), F.avg_pool1d(x, 2), F.adaptive_max_pool1d(x, 2), F.adaptive_avg_pool1d(x, 3),
            F.adaptive_avg_pool1d(x, 1), F.adaptive_avg_pool1d(x, 2), F.max_unpool1d(values, indices, 2))]
    return found


def a_matrix_after_a_batch(lib):
    return tree((made(lib, 5, 2, 3) @ made(lib, 3, 4)).grad_fn)


def whole_models(lib):
    nn = lib.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    images = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3))
    return (tree(nn.MSELoss()(model(lib.ones(5, 3)), lib.ones(5, 2)).grad_fn),
            tree(nn.CrossEntropyLoss()(images(lib.ones(2, 1, 4, 4)), lib.zeros(2, dtype=lib.long)).grad_fn))


def chain_of_the_tutorial(lib):
    model = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.ReLU(), lib.nn.Linear(4, 2))
    node = lib.nn.MSELoss()(model(lib.ones(5, 3)), lib.ones(5, 2)).grad_fn
    layer = node.next_functions[0][0]
    (bias, _), (before, _), (transposed, _) = layer.next_functions
    end = transposed.next_functions[0][0]
    return (layer.name(), bias.variable is model[2].bias, before.name(), transposed.name(),
            end.variable is model[2].weight, layer.next_functions[2][0] is transposed,
            isinstance(transposed, lib.autograd.graph.Node), transposed.metadata, str(transposed).split(" object")[0])


@pytest.mark.parametrize("program", [linear_layers, losses, pools_of_one_axis, a_matrix_after_a_batch, whole_models,
                                     chain_of_the_tutorial])
def test_both_agree(program):
    both_agree(program)


def test_a_step_takes_no_hooks():
    """It is there to be looked at: what asks for a gradient there is refused, and told where one can be had."""
    w = tinytorch.ones(2, 3, requires_grad=True)
    node = tinytorch.nn.functional.linear(tinytorch.ones(1, 3), w).grad_fn
    step = node.next_functions[1][0]
    for register in step.register_hook, step.register_prehook:
        with pytest.raises(RuntimeError, match="TBackward0 is a step inside of MmBackward0"):
            register(lambda *grads: None)
    with pytest.raises(RuntimeError, match="TBackward0 is a step inside of MmBackward0"):
        tinytorch.autograd.grad(tinytorch.ones(()).requires_grad_(), tinytorch.autograd.graph.GradientEdge(step, 0))
