"""Samplers in C beside NumPy and Python: the same numbers, and the same numbers after them."""
import math

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import order

from .doubles import need_steady_doubles
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


def filled(name, *arguments):
    return lambda dtype, n: getattr(torch.zeros(n, dtype=dtype), name)(*arguments)


def in_columns(name, *arguments):
    return lambda dtype, n: getattr(torch.zeros(n, 3, dtype=dtype).t(), name)(*arguments)


SAMPLERS.update({
    f"{name}{arguments}{' in columns' if make is in_columns else ''}": make(name, *arguments)
    for make in (filled, in_columns) for name, several in {
        "uniform_": ((), (-0.3, 0.7), (0, 0.3), (-1e4, 1e-2), (3, 3), (1, 1 + 2 ** -20)),
        "normal_": ((), (1, 2), (0, 0.02), (0, 0), (1e30, 1e38)), "exponential_": ((), (1.3,), (1e-38,)),
        "geometric_": ((0.3,), (1e-9,), (1 - 1e-9,)), "cauchy_": ((), (1, 0.5)),
        "log_normal_": ((), (0, 0.5), (0, 100)),
        "random_": ((), (1,), (7,), (-5, 100), (-2 ** 20, 2 ** 24)), "bernoulli_": ((), (0,), (0.3,), (1,)),
    }.items() for arguments in several})
SAMPLERS["bernoulli of each"] = lambda dtype, n: torch.bernoulli(torch.arange(n).to(dtype) / n)


@needs_library
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", SAMPLERS)
def test_as_their_twins(name, dtype):
    if dtype is torch.float64:
        need_steady_doubles()
    for n in (1, 3, 4, 17, 700, 3000):
        found = []
        for there in (True, False):
            with kernels(there):
                torch.manual_seed(n)
                drawn = SAMPLERS[name](dtype, n)
                found.append((drawn, torch.get_rng_state(), torch.rand(3), torch.randn(1), torch.randn(1)))
        torch.testing.assert_close(*found, rtol=0, atol=0, equal_nan=True)


@needs_library
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("name, arguments", [("random_", (7,)), ("random_", ()), ("geometric_", (0.3,)),
                                             ("bernoulli_", (0.3,)), ("exponential_", ()), ("normal_", (1, 2))])
def test_other_dtypes_as_their_twins(name, arguments, dtype):
    if name in ("exponential_", "normal_") and not dtype.is_floating_point:
        dtype = torch.float16
    for n in (3, 17, 2000):
        found = []
        for there in (True, False):
            with kernels(there):
                torch.manual_seed(n)
                found.append((getattr(torch.zeros(n, dtype=dtype), name)(*arguments), torch.get_rng_state()))
        torch.testing.assert_close(*found, rtol=0, atol=0)


WEIGHTS = {
    "different": lambda *shape: torch.rand(*shape), "equal": lambda *shape: torch.ones(*shape),
    "mostly zero": lambda *shape: (torch.rand(*shape) < 0.1).float().index_fill(-1, torch.tensor([0]), 1),
    "far apart": lambda *shape: torch.rand(*shape) ** 30 * 1e30, "denormal": lambda *shape: torch.ones(*shape) * 1e-44,
    "without end together": lambda *shape: torch.full(shape, 3e38),
    "one above 0": lambda *shape: torch.eye(shape[-1])[0].repeat(*shape[:-1], 1),
    "transposed": lambda *shape: torch.rand(*shape[::-1]).T}


@needs_library
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize("name", WEIGHTS)
def test_categories_as_their_twins(name):
    for shape in ((1,), (2,), (10,), (333,), (7, 40), (3, 1500)):
        for count, replacement in ((1, False), (1, True), (2, True), (600, True), (shape[-1], False),
                                   (max(shape[-1] // 100, 1), False), ((shape[-1] + 1) // 2, False)):
            found = []
            for there in (True, False):
                with kernels(there):
                    torch.manual_seed(shape[-1])
                    weights = WEIGHTS[name](*shape)
                    found.append((torch.multinomial(weights, count, replacement), torch.get_rng_state(), torch.rand(3)))
            assert all([torch.equal(a, b) for a, b in zip(*found)]), (shape, count, replacement)


@needs_library
def test_what_are_no_weights():
    """The same errors, and nothing was drawn."""
    nan, inf = math.nan, math.inf
    for weights in ([0.0, 0.0], [1.0, -1.0], [nan, 1.0], [1.0, inf], [[1.0, 2.0], [0.0, 0.0]],
                    [[1.0, 1.0], [1.0, nan]]):
        for count, replacement in ((1, False), (2, False), (2, True)):
            found = []
            for there in (True, False):
                with kernels(there):
                    torch.manual_seed(1)
                    with pytest.raises(RuntimeError) as error:
                        torch.multinomial(torch.tensor(weights), count, replacement)
                    found.append((str(error.value), torch.get_rng_state().tolist()))
            assert found[0] == found[1], weights


def rows_to_select(n):
    """Rows with few different elements, rising, falling, with NaN, and such as the median of three parts badly."""
    draw = np.random.default_rng(n)
    x = draw.integers(0, 1 + n // 2, (6, n)).astype(np.float32)
    x[1].sort()
    x[2] = -np.sort(-x[2])
    x[3] = draw.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32), n)
    half = n // 2
    bad = [i + 1 if i % 2 == 0 else half + i + (half % 2 == 0) for i in range(half)]
    bad += [2 * (i + 1) for i in range(half)]
    x[4, :len(bad)] = bad
    x[5] = draw.standard_normal(n)
    return x


@needs_library
@pytest.mark.parametrize("n", [1, 2, 3, 4, 16, 17, 40, 127, 128, 129, 200, 700, 3000])
def test_the_first_of_rows_as_their_twin(n):
    x = rows_to_select(n)
    for k in {1, 2, n // 64, n // 3, n - 1, n} - {0}:
        if not 0 < k <= n:
            continue
        for largest in (False, True):
            for ordered in (False, True):
                with kernels(True):
                    ours = order.first_of(x, k, largest, ordered)
                with kernels(False):
                    theirs = order.first_of(x, k, largest, ordered)
                np.testing.assert_array_equal(ours, theirs, str((k, largest, ordered)))


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
@pytest.mark.parametrize("dtype, most", [(torch.int64, 63), (torch.float64, 53), (torch.float32, 24)])
def test_integers_of_any_range_as_their_twin(dtype, most):
    """Of one word and of two, at either side of the powers of 2, to the ends of what 64 bits hold."""
    for bits in (1, 20, 24, 27, 28, 31, 32, 33, 40, 52, 53, 62, 63, 64):
        for width in (2 ** bits - 1, 2 ** bits, 2 ** bits + 1, 3 * 2 ** bits // 4):
            for low in (0, -width // 2, 5 - 2 ** most):
                if low < -2 ** most or low + width > 2 ** most - (most == 63):
                    continue
                found = []
                for there in (True, False):
                    with kernels(there):
                        torch.manual_seed(bits)
                        found.append((torch.zeros(700, dtype=dtype).random_(low, low + width), torch.get_rng_state()))
                assert all([torch.equal(a, b) for a, b in zip(*found)]), (low, width)


@needs_library
def test_draws_leave_no_error_to_numpy():
    """What comes up in C is nobody's warning."""
    with np.errstate(all="raise"):
        for dtype in (torch.float32, torch.float64):
            for n in (3, 50):
                x = torch.zeros(n, dtype=dtype)
                for name, arguments in (("normal_", (1e38, 1e300)), ("log_normal_", (0, 1e9)), ("cauchy_", (0, 1e300)),
                                        ("exponential_", (1e-300,)), ("exponential_", (1e300,)),
                                        ("uniform_", (0, 1e-320)), ("geometric_", (1e-300,))):
                    getattr(x, name)(*arguments)


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
