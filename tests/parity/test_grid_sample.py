"""grid_sample and affine_grid beside torch: modes, paddings, places beyond the edges and on ties; errors."""
import itertools

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same_outcome

MODES = [(n, mode, padding) for n, mode, padding in itertools.product(
    (2, 3), ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")) if (n, mode) != (3, "bicubic")]
#: Of values and of gradients, relative to the largest. The rules add halves up in float32, torch in steps.
CLOSE = {"float32": (1e-6, 4e-6), "float64": (1e-14, 1e-13), "float16": (1e-3, 6e-3), "bfloat16": (0, 3e-2)}


def place(seed, n):
    """(image, grid, gradient): small sizes, some of 1, places up to 1.8 times as far as the edges."""
    rng = np.random.default_rng(seed)
    size, out = rng.integers(1, 7, n), rng.integers(1, 6, n)
    grid = rng.uniform(-1.8, 1.8, (2, *out, n))
    if seed % 3 == 0:                          # on corners and edges
        grid = np.round(grid * 4) / 4
    if seed % 5 == 4 and n == 2:
        grid.flat[::7] *= 1e4
    return rng.normal(size=(2, 3, *size)), grid, rng.normal(size=(2, 3, *out))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("n, mode, padding", MODES)
def test_values_and_gradients(n, mode, padding, align_corners, dtype):
    for seed in range(4):
        image, grid, weight = place(seed, n)
        results = []
        for m in (torch, tinytorch):
            d = getattr(m, dtype)
            x, g = (m.tensor(a).to(d).requires_grad_() for a in (image, grid))
            y = m.nn.functional.grid_sample(x, g, mode, padding, align_corners)
            results.append([a.detach().to(m.float64).numpy()
                            for a in (y, *m.autograd.grad(y, (x, g), m.tensor(weight).to(d)))])
        for ours, theirs, close in zip(*results[::-1], (CLOSE[dtype][0], CLOSE[dtype][1], CLOSE[dtype][1]),
                                       strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=close * max(1, np.abs(theirs).max()))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_second_gradients(mode, padding):
    image, grid, _ = place(1, 2)

    def program(t):
        x, g = t.tensor(image, requires_grad=True), t.tensor(grid, requires_grad=True)
        y = t.nn.functional.grid_sample(x, g, mode, padding, False)
        dx, dg = t.autograd.grad((y ** 2).sum(), (x, g), create_graph=True)
        found = t.autograd.grad((dx ** 2).sum() + (dg ** 3).sum(), (x,) if mode == "nearest" else (x, g))
        return y, dx, dg, found, y.grad_fn.name()
    same_outcome(program)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e30])
@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_places_that_are_no_places(value, padding):
    same_outcome(lambda t: t.nn.functional.grid_sample(
        t.arange(4.).reshape(1, 1, 2, 2), t.tensor([[[[value, 0.], [0.5, 0.5]]]]), "nearest", padding, False))


def ones(*shape, dtype="float32"):
    return lambda t: t.ones(shape, dtype=getattr(t, dtype))


@pytest.mark.parametrize("arguments", [
    (ones(1, 1, 2, 2), ones(1, 1, 1, 3)), (ones(1, 1, 2, 2), ones(2, 1, 1, 2)), (ones(1, 1, 2, 2), ones(1, 1, 2)),
    (ones(1, 1, 2), ones(1, 1, 2)), (ones(1, 1, 2), ones(1, 1, 1)), (ones(1, 1, 0, 2), ones(1, 1, 1, 2)),
    (ones(1, 0, 2, 2), ones(1, 1, 1, 2)), (ones(0, 1, 2, 2), ones(0, 1, 1, 2)), (ones(1, 1, 2, 2), ones(1, 0, 1, 2)),
    (ones(1, 1, 2, 2), ones(1, 1, 1, 2), "other"), (ones(1, 1, 2, 2), ones(1, 1, 1, 2), "nearest", "other"),
    ([1], 2), (ones(1, 1, 2, 2), ones(1, 1, 2, 2, 2)), (ones(1, 1, 2, 2, 2), ones(1, 1, 1, 1, 3), "bicubic"),
    (ones(1, 1, 2, 2), ones(1, 1, 1, 2, dtype="float64")), (ones(1, 1, 2, 2, dtype="float16"), ones(1, 1, 1, 2)),
    (ones(1, 1, 2, 2, dtype="int64"), ones(1, 1, 1, 2, dtype="int64")),
    (ones(1, 1, 2, 2, 2, dtype="complex64"), ones(1, 1, 1, 1, 3, dtype="complex64"))])
def test_errors(arguments):
    def program(t):
        y = t.nn.functional.grid_sample(*[a(t) if callable(a) else a for a in arguments], align_corners=False)
        return y.shape
    same_outcome(program)


@pytest.mark.parametrize("align_corners", [None, False, True])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 1, 3), (2, 1, 2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_affine_grid(size, align_corners, dtype):
    n = len(size) - 2
    theta = np.random.default_rng(0).normal(size=(2, n, n + 1))

    def program(t):
        x = t.tensor(theta).to(getattr(t, dtype)).requires_grad_()
        y = t.nn.functional.affine_grid(x, size, align_corners)
        dx, = t.autograd.grad((y ** 2).sum(), x, create_graph=True)
        return y, y.stride(), dx, t.autograd.grad(dx.sum(), x), y.grad_fn.name()
    same_outcome(program)


@pytest.mark.parametrize("shape, size", [
    ((1, 2, 3), (1, 1, 2)), ((1, 2, 2), (1, 1, 2, 2)), ((1, 2, 3), (1, 1, 0, 2)), ((2, 2, 3), (1, 1, 2, 2)),
    ((1, 2, 3), (1, 1, 2, 2, 2)), ((2, 3), (1, 1, 2, 2))])
def test_errors_of_affine_grid(shape, size):
    same_outcome(lambda t: t.nn.functional.affine_grid(t.ones(shape), size, False))
    same_outcome(lambda t: t.nn.functional.affine_grid(t.ones(shape, dtype=t.int64), size, False))
