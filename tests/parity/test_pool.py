"""Pooling beside torch: many settings, ties, NaN and infinities; gradients; errors."""
import random

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

BOTH = (torch, tinytorch)


def settings(seed):
    """A random pooling call: what(functional, tensor) -> tuple of tensors, and its input."""
    r, rng = random.Random(seed), np.random.default_rng(seed)
    n = r.choice([1, 2, 3])
    draw = lambda low, high: tuple(r.randint(low, high) for _ in range(n))
    kernel, stride, dilation = draw(1, 4), draw(1, 4), draw(1, 2)
    padding, ceil = tuple(r.randint(0, k // 2) for k in kernel), r.random() < 0.5
    x = rng.integers(-3, 4, size=(2, 2) + draw(5, 9)).astype("f")
    kind = r.choice(["max", "avg", "adaptive_avg", "adaptive_max"])
    if "max" in kind and seed % 3 == 0:
        x[rng.random(x.shape) < 0.1] = np.nan
    if "max" in kind and seed % 3 == 1:
        x[rng.random(x.shape) < 0.4] = -np.inf
    args = {"max": (kernel, stride, padding, dilation, ceil, True),
            "avg": (kernel, stride, padding, ceil, seed % 2 == 0),
            "adaptive_avg": (kernel,), "adaptive_max": (kernel, True)}[kind]
    return f"{kind}_pool{n}d", x, args


@pytest.mark.parametrize("seed", range(60))
def test_values_indices_and_gradient(seed):
    name, x, args = settings(seed)
    results = []
    for m in BOTH:
        t = m.tensor(x, requires_grad=True)
        try:
            y = getattr(m.nn.functional, name)(t, *args)
        except RuntimeError as error:
            results.append(str(error))
            continue
        y = y if isinstance(y, tuple) else (y,)
        g = m.tensor(np.random.default_rng(1).normal(size=tuple(y[0].shape)).astype("f"))
        results.append([a.detach().numpy() for a in y] + [m.autograd.grad(y[0], t, g)[0].numpy()])
    if isinstance(results[0], str):
        assert results[0] == results[1]
        return
    for theirs, ours in zip(*results, strict=True):
        assert theirs.dtype == ours.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


TWICE = [
    lambda F, x: F.max_pool2d(x, 2), lambda F, x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    lambda F, x: F.max_pool2d(x, 2, return_indices=True)[0], lambda F, x: F.avg_pool2d(x, 3, 2, 1),
    lambda F, x: F.avg_pool2d(x, 3, 2, 1, True, False), lambda F, x: F.adaptive_avg_pool2d(x, (2, 3)),
    lambda F, x: F.adaptive_max_pool2d(x, (2, 3)), lambda F, x: F.lp_pool2d(x, 2, 2),
    lambda F, x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=(5, 7)),
]


@pytest.mark.parametrize("f", TWICE, ids=range(len(TWICE)))
def test_second_gradients(f):
    results = []
    for m in BOTH:
        x = m.tensor(np.random.default_rng(0).normal(size=(1, 2, 5, 7)), requires_grad=True)
        y = f(m.nn.functional, x)
        g, = m.autograd.grad((y * y * y).sum(), x, create_graph=True)
        results.append((g.detach().numpy(), m.autograd.grad((g * g).sum(), x)[0].numpy()))
    for theirs, ours in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


BAD = [
    lambda m, F: F.max_pool2d(m.ones(1, 3, 5, 5), 7),
    lambda m, F: F.max_pool2d(m.ones(1, 3, 5, 5), 2, padding=2),
    lambda m, F: F.max_pool2d(m.ones(1, 3, 5, 5), 2, stride=0),
    lambda m, F: F.max_pool2d(m.ones(1, 3, 5, 5), 2, dilation=0),
    lambda m, F: F.max_pool2d(m.ones(1, 3, 5, 5), 2, (1, 1, 1)),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 5), 7),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 5), 2, padding=2),
    lambda m, F: F.max_pool1d(m.ones(5), 2),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 5), 7, return_indices=True),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 5), 2, padding=2, return_indices=True),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 5), 2, dilation=0, return_indices=True),
    lambda m, F: F.max_pool1d(m.ones(5), 2, return_indices=True),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 0), 2, return_indices=True),
    lambda m, F: F.max_pool1d(m.ones(1, 3, 5, dtype=m.bool), 2, return_indices=True),
    lambda m, F: F.max_pool3d(m.ones(3, 5, 5), 7),
    lambda m, F: F.avg_pool1d(m.ones(3, 5), 7),
    lambda m, F: F.avg_pool2d(m.ones(1, 3, 5, 5), 2, divisor_override=0),
    lambda m, F: F.avg_pool2d(m.ones(1, 3, 5, 5).int(), 2),
    lambda m, F: F.avg_pool3d(m.ones(1, 1, 3, 5, 5), 8),
    lambda m, F: F.adaptive_avg_pool1d(m.ones(5), 2),
    lambda m, F: F.adaptive_avg_pool2d(m.ones(5, 5), 2),
    lambda m, F: F.adaptive_avg_pool2d(m.ones(2, 5, 5), -1),
    lambda m, F: F.adaptive_max_pool2d(m.ones(2, 0, 5), 2),
    lambda m, F: F.max_unpool2d(m.ones(1, 2, 2), m.zeros(1, 2, 3).long(), 2),
    lambda m, F: F.max_unpool2d(m.ones(1, 2, 2), m.zeros(1, 2, 2), 2),
]


@pytest.mark.parametrize("call", BAD, ids=range(len(BAD)))
def test_errors_in_the_same_words(call):
    caught = []
    for m in BOTH:
        with pytest.raises(Exception) as info:
            call(m, m.nn.functional)
        caught.append((info.type, str(info.value)))
    assert caught[0] == caught[1]


def test_integers_of_a_row():
    same_outcome(lambda m: m.nn.functional.max_pool1d(m.arange(12).reshape(2, 6) % 5, 3, 2, 1, return_indices=True))


@pytest.mark.parametrize("name", ("MaxPool2d", "AvgPool2d", "AdaptiveMaxPool2d", "AdaptiveAvgPool2d"))
def test_no_images(name):
    found = []
    for m in BOTH:
        x = m.ones(0, 1, 5, 5, requires_grad=True)
        y = getattr(m.nn, name)(2)(x)
        found.append((tuple(y.shape), tuple(m.autograd.grad(y.sum(), x)[0].shape)))
    assert found[0] == found[1]
