"""torch.nn.init beside the real torch: the same numbers, warnings and errors."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch

SHAPES = [(3, 4), (10, 7), (64, 64), (8, 3, 3, 3), (5, 4, 3), (300, 100)]
CASES = [("uniform_", {}), ("uniform_", {"a": -2, "b": 0.5}), ("normal_", {"mean": 1, "std": 2}),
         ("constant_", {"val": 2.5}), ("ones_", {}), ("zeros_", {}),
         ("kaiming_uniform_", {}), ("kaiming_uniform_", {"a": 0.2}), ("kaiming_uniform_", {"a": 5 ** 0.5}),
         ("kaiming_uniform_", {"mode": "fan_out", "nonlinearity": "relu"}), ("kaiming_normal_", {}),
         ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "tanh"}), ("xavier_uniform_", {}),
         ("xavier_uniform_", {"gain": 1.7}), ("xavier_normal_", {"gain": 5 / 3}),
         ("trunc_normal_", {}), ("trunc_normal_", {"std": 0.02}), ("trunc_normal_", {"a": -1, "b": 0.5}),
         ("trunc_normal_", {"mean": 1, "std": 2, "a": 0.5, "b": 1.5}), ("trunc_normal_", {"a": 2, "b": 3}),
         ("trunc_normal_", {"a": -.1, "b": .1})]


def both(run, seed=7):
    """The result and the final state of `run(torch module)` on each side."""
    results = []
    for module in (tinytorch, torch):
        module.manual_seed(seed)
        value = run(module)
        value = value.float() if value.dtype == module.bfloat16 else value
        results.append((value.numpy(), module.get_rng_state().numpy()))
    return results


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name, kwargs", CASES, ids=[f"{n}-{k}" for n, k in CASES])
def test_bit_equal(name, kwargs, dtype):
    for shape in SHAPES if dtype[-2:] != "16" else SHAPES[:3]:
        def run(m):
            return getattr(m.nn.init, name)(m.empty(shape, dtype=getattr(m, dtype)), **kwargs)
        (ours, our_state), (theirs, their_state) = both(run)
        assert ours.tobytes() == theirs.tobytes(), shape
        assert (our_state == their_state).all(), shape


@pytest.mark.parametrize("run", [
    lambda m: m.nn.init.eye_(m.empty(3, 5)), lambda m: m.nn.init.dirac_(m.empty(4, 3, 5)),
    lambda m: m.nn.init.dirac_(m.empty(6, 2, 3, 4), 3), lambda m: m.nn.init.dirac_(m.empty(2, 3, 1, 2, 3)),
    lambda m: m.nn.init.sparse_(m.empty(10, 7), 0.3), lambda m: m.nn.init.sparse_(m.empty(3, 4), 0.5, std=1),
    lambda m: m.nn.init.sparse_(m.empty(10, 7), 0.3, generator=m.Generator().manual_seed(3)),
    lambda m: m.nn.init.xavier_uniform_(m.empty(10, 7), generator=m.Generator().manual_seed(3)),
    lambda m: m.nn.init.trunc_normal_(m.empty(100, 7), generator=m.Generator().manual_seed(3)),
    lambda m: m.nn.init.trunc_normal_(m.empty(20, 7).t(), std=3),
    lambda m: m.nn.init.normal_(m.empty(20, 7).t(), std=3)])
def test_others_bit_equal(run):
    (ours, our_state), (theirs, their_state) = both(run)
    assert ours.tobytes() == theirs.tobytes() and (our_state == their_state).all()


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("shape", SHAPES)
def test_orthogonal(shape, dtype, tolerance):
    def run(m):
        return m.nn.init.orthogonal_(m.empty(shape, dtype=getattr(m, dtype)), 1.5)
    (ours, our_state), (theirs, their_state) = both(run)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)
    assert (our_state == their_state).all()


@pytest.mark.parametrize("run", [
    lambda m: m.nn.init.kaiming_uniform_(m.empty(3)), lambda m: m.nn.init.xavier_normal_(m.empty(3)),
    lambda m: m.nn.init.kaiming_uniform_(m.empty(3, 2), mode="fan"), lambda m: m.nn.init.eye_(m.empty(3)),
    lambda m: m.nn.init.dirac_(m.empty(3, 3)), lambda m: m.nn.init.dirac_(m.empty(3, 3, 3), 2),
    lambda m: m.nn.init.orthogonal_(m.empty(3)), lambda m: m.nn.init.sparse_(m.empty(3), .1),
    lambda m: m.nn.init.orthogonal_(m.empty(3, 3, dtype=m.float16)),
    lambda m: m.nn.init.calculate_gain("foo"), lambda m: m.nn.init.calculate_gain("leaky_relu", True),
    lambda m: m.nn.init.trunc_normal_(m.empty(3), 0, 1, 2, 1), lambda m: m.nn.init.trunc_normal_(m.empty(3), 0, 0)])
def test_same_errors(run):
    seen = []
    for module in (tinytorch, torch):
        with pytest.raises(Exception) as caught:
            run(module)
        seen.append((type(caught.value), str(caught.value)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("run", [
    lambda m: m.nn.init.kaiming_normal_(m.empty(0, 3)), lambda m: m.nn.init.trunc_normal_(m.empty(3), 5),
    lambda m: m.nn.init.uniform(m.empty(3)), lambda m: m.nn.init.xavier_normal(m.empty(3, 2))])
def test_same_warnings(run):
    seen = []
    for module in (tinytorch, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(module)
        seen.append([(w.category, str(w.message)) for w in caught])
    assert seen[0] == seen[1] != []


def test_gains():
    for name in ("linear", "conv3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        assert tinytorch.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
