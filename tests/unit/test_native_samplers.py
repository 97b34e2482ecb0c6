"""Samplers that reject candidates, in C beside Python: the same numbers, and the same numbers after them."""
import pytest

import tinytorch as torch
from tinytorch import random

from .test_native import kernels, needs_library

SAMPLERS = {
    "poisson": lambda dtype, n: torch.poisson(torch.linspace(0, 40, n, dtype=dtype)),
    "poisson of large rates": lambda dtype, n: torch.poisson(torch.logspace(1, 6, n, dtype=dtype)),
    "gamma": lambda dtype, n: torch._standard_gamma(torch.linspace(0.001, 9, n, dtype=dtype)),
    "gamma after a normal number": lambda dtype, n: (torch.randn(1, dtype=torch.float64), torch._standard_gamma(
        torch.linspace(0.5, 3, n, dtype=dtype)))[1],
    "dirichlet": lambda dtype, n: torch._sample_dirichlet(torch.linspace(0.1, 5, n, dtype=dtype)),
    "binomial": lambda dtype, n: torch.binomial(torch.linspace(0, 100, n, dtype=dtype).round(),
                                                torch.linspace(0, 1, n, dtype=dtype)),
    "binomial of many": lambda dtype, n: torch.binomial(torch.full((n,), 1e6, dtype=dtype),
                                                        torch.linspace(0, 1, n, dtype=dtype)),
    "nothing drawn": lambda dtype, n: torch.poisson(torch.zeros(n, dtype=dtype)),
}


@needs_library
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", SAMPLERS)
def test_as_their_twins(name, dtype, monkeypatch):
    for n in (1, 3, 4, 700, 3000):
        found = []
        for least in (0, 1 << 60):
            monkeypatch.setattr(random, "_LEAST", least)
            torch.manual_seed(n)
            drawn = SAMPLERS[name](dtype, n)
            found.append((drawn, torch.get_rng_state(), torch.rand(3), torch.randn(1), torch.randn(1)))
        assert all(torch.equal(a, b) for a, b in zip(*found)), n


@needs_library
def test_gradients_and_classes():
    with kernels(True):
        torch.manual_seed(0)
        concentration = torch.full((50,), 2.0, requires_grad=True)
        torch.distributions.Gamma(concentration, 1.0).rsample().sum().backward()
        assert bool((concentration.grad > 0).all())
        counts = torch.distributions.Poisson(torch.full((2000,), 4.0)).sample()
        assert abs(float(counts.mean()) - 4) < 0.2 and counts.dtype is torch.float32
