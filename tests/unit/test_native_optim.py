"""Steps of optimisers: which kernel does them does not show."""
from copy import deepcopy

import numpy as np
import pytest

import tinytorch as torch

from .test_native import WIDTHS, kernels, needs_library, optimisers

STEPS = [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
         ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}), ("Adam", {}),
         ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {}), ("Adamax", {"weight_decay": 0.1}),
         ("RMSprop", {}), ("RMSprop", {"momentum": 0.9, "centered": True}), ("Adagrad", {}), ("Adadelta", {}),
         ("NAdam", {}), ("RAdam", {}), ("ASGD", {}), ("Rprop", {}), ("Adafactor", {})]
every_step = pytest.mark.parametrize("name, options", STEPS)


@needs_library
@pytest.mark.parametrize("width", WIDTHS)
def test_as_their_twins(width):
    """Bit for bit: a constant that C rounds otherwise, or a product and a sum rounded at once, would show."""
    found = []
    for wanted in (True, False):
        with kernels(wanted):
            found.append(list(optimisers(width, width, np.float32)))
    assert len(found[0]) == len(found[1]) > 50
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


def trained(name, options, shapes, steps, dtype=torch.float32):
    """Parameters of these shapes after random steps, and their states."""
    torch.manual_seed(0)
    params = [torch.nn.Parameter(torch.randn(shape, dtype=dtype)) for shape in shapes]
    optimiser = getattr(torch.optim, name)(params, **options)
    for step in range(steps):
        for i, p in enumerate(params):
            p.grad = torch.randn(p.shape, dtype=dtype, generator=torch.Generator().manual_seed(100 * step + i))
        optimiser.step()
    return [(p.detach(), {k: x for k, x in optimiser.state[p].items() if isinstance(x, torch.Tensor)}) for p in params]


@needs_library
@every_step
def test_trainings_as_their_twins(name, options):
    shapes = (3,), (5, 4), (70, 70), (300, 300)
    found = []
    for wanted in (True, False):
        with kernels(wanted):
            found.append(trained(name, options, shapes, 4))
    for (p, state), (q, other) in zip(*found):
        assert torch.equal(p, q) and state.keys() == other.keys()
        assert all(torch.equal(x, other[key]) for key, x in state.items())


@every_step
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_does_not_depend_on_neighbours(name, options, dtype):
    """An element alone, beside others in its tensor, and in a tensor beside others: one number."""
    if name == "Adafactor":
        pytest.skip("Adafactor's rate depends on the norm of the whole parameter")
    torch.manual_seed(0)
    values, grads = torch.randn(9000, dtype=dtype), torch.randn(3, 9000, dtype=dtype)

    def after(first, last, others):
        params = [torch.nn.Parameter(values[first:last].clone()), *[torch.nn.Parameter(values[:n]) for n in others]]
        optimiser = getattr(torch.optim, name)(params, **options)
        for g in grads:
            params[0].grad = g[first:last].clone()
            for p in params[1:]:
                p.grad = g[:p.numel()].clone()
            optimiser.step()
        return params[0].detach()
    whole = after(0, 9000, [])
    for first, last, others in ((0, 1, []), (5, 12, [3, 7]), (100, 5100, [1, 2]), (8999, 9000, [40])):
        assert torch.equal(after(first, last, others), whole[first:last])


@every_step
def test_a_resumed_training_is_the_uncut_one(name, options):
    def made():
        model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
        return model, getattr(torch.optim, name)(model.parameters(), **options)

    def train(model, optimiser, seed, steps):
        torch.manual_seed(seed)
        for _ in range(steps):
            optimiser.zero_grad()
            model(torch.randn(4, 5)).square().sum().backward()
            optimiser.step()
    torch.manual_seed(1)
    model, optimiser = made()
    train(model, optimiser, 2, 3)
    copy, resumed = made()
    copy.load_state_dict(model.state_dict())
    resumed.load_state_dict(deepcopy(optimiser.state_dict()))
    train(model, optimiser, 3, 20)
    train(copy, resumed, 3, 20)
    for a, b in zip(model.parameters(), copy.parameters()):
        assert torch.equal(a, b)
