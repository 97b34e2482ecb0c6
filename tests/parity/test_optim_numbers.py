"""Optimisers' numbers beside torch's: parameters and state to the last digits, which is where constants show that are
rounded at another place. torch rounds some products and sums at once, and MKL's roots are not the nearest numbers."""
import numpy as np
import pytest
import torch

import tinytorch

STEPS = [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01, "maximize": True}),
         ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}), ("Adam", {}), ("AdamW", {"amsgrad": True}),
         ("Adam", {"betas": (0.4, 0.9999), "weight_decay": 0.1}), ("Adamax", {"weight_decay": 0.1}), ("RMSprop", {}),
         ("RMSprop", {"momentum": 0.9, "centered": True, "alpha": 0.999}), ("Adagrad", {"lr_decay": 0.1}),
         ("Adadelta", {"rho": 0.99}), ("NAdam", {}), ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}),
         ("RAdam", {}), ("RAdam", {"weight_decay": 0.1}), ("ASGD", {"weight_decay": 0.1}), ("Rprop", {}),
         ("Adafactor", {"lr": 0.1})]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, options", STEPS)
def test_steps(name, options, dtype):
    rng = np.random.default_rng(0)
    for shape in ((64, 128), (3,), (1, 1)):
        start, *grads = rng.standard_normal((11, *shape)).astype(dtype)
        found = []
        for module in (torch, tinytorch):
            p = module.nn.Parameter(module.tensor(start))
            optimiser = getattr(module.optim, name)([p], **options)
            for g in grads:
                p.grad = module.tensor(g)
                optimiser.step()
            state = {k: x.numpy() for k, x in optimiser.state[p].items() if isinstance(x, module.Tensor)}
            found.append({"p": p.detach().numpy(), **state})
        assert found[0].keys() == found[1].keys()
        for key, expected in found[0].items():
            assert found[1][key].dtype == expected.dtype and found[1][key].shape == expected.shape
            close = 16 * np.finfo(dtype).eps * (np.abs(expected) + np.abs(expected).mean())
            assert (np.abs(found[1][key] - expected) <= close).all(), key


def test_second_moments_of_adam():
    sums = []
    for module in (torch, tinytorch):
        w = module.nn.Parameter(module.zeros(64, 128))
        module.manual_seed(0)
        optimiser = module.optim.Adam([w])
        for _ in range(3):
            w.grad = module.randn(64, 128)
            optimiser.step()
        sums.append(optimiser.state[w]["exp_avg_sq"].double().sum().item())
    assert sums[0] == pytest.approx(24.6542765, abs=1e-7) and sums[1] == pytest.approx(sums[0], rel=1e-7)


def test_adafactor_on_a_large_matrix():
    """Its steps are as long as a norm of all elements says, which in torch is off by what is lost in a long sum."""
    found = []
    for module in (torch, tinytorch):
        rng = np.random.default_rng(0)
        p = module.nn.Parameter(module.tensor(rng.standard_normal((2000, 300)).astype(np.float32)))
        optimiser = module.optim.Adafactor([p], lr=0.1)
        for _ in range(3):
            p.grad = module.tensor(rng.standard_normal((2000, 300)).astype(np.float32))
            optimiser.step()
        found.append(p.detach().numpy())
    np.testing.assert_allclose(*found, rtol=4e-7, atol=1e-6)
