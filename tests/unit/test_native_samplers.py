"""Samplers that reject candidates, in C beside Python: the same numbers, and the same numbers after them."""
import math

import pytest

import tinytorch as torch
from tinytorch import random

from .test_native import kernels, needs_library

EXTREMES = torch.tensor([math.inf, math.nan, -math.inf, -1.0, 0.0, 1e-300, 1e-45, 1e-30, 0.3, 0.7, 1.0, 0.9999999, 5.0,
                         1e5, 1e30, 3.4e38], dtype=torch.float64)
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
    "poisson of infinite and huge rates": lambda dtype, n: torch.poisson(EXTREMES.to(dtype).abs().nan_to_num(1.0)),
    "gamma of any number": lambda dtype, n: torch._standard_gamma(EXTREMES.to(dtype)),
    "dirichlet of any numbers": lambda dtype, n: torch._sample_dirichlet(EXTREMES.to(dtype)),
    "binomial of any numbers": lambda dtype, n: torch.binomial(*torch.cartesian_prod(EXTREMES, EXTREMES).to(dtype).T),
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
        torch.testing.assert_close(*found, rtol=0, atol=0, equal_nan=True)


@needs_library
def test_gradients_and_classes():
    with kernels(True):
        torch.manual_seed(0)
        concentration = torch.full((50,), 2.0, requires_grad=True)
        torch.distributions.Gamma(concentration, 1.0).rsample().sum().backward()
        assert bool((concentration.grad > 0).all())
        counts = torch.distributions.Poisson(torch.full((2000,), 4.0)).sample()
        assert abs(float(counts.mean()) - 4) < 0.2 and counts.dtype is torch.float32


@needs_library
def test_permutations_as_their_twin():
    for n in (1, 2, 3, 399, 400, 10_000):
        found = []
        for there in (True, False):
            with kernels(there):
                torch.manual_seed(n)
                found.append((torch.randperm(n), torch.rand(2)))
        assert all([torch.equal(a, b) for a, b in zip(*found)]), n


def test_counts_without_end():
    """An infinite count of trials gives an infinite count of successes, and an unknown one an unknown one."""
    count = torch.tensor([math.inf, math.inf, math.nan, 5.0, math.nan])
    prob = torch.tensor([0.3, 0.7, 0.3, math.nan, 0.0])
    assert str(torch.binomial(count, prob).tolist()) == "[inf, inf, nan, nan, 0.0]"
    assert torch.poisson(torch.tensor([math.inf, 1e30]))[1] > 9e29
