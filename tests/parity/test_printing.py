"""repr of tensors against torch's, character by character."""
import numpy as np
import pytest
import torch

import tinytorch
from tinytorch.printing import tensor_text

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "complex128"]


def both(array, dtype):
    """The same tensor in torch and in tinytorch."""
    return tuple(m.from_numpy(array.copy()).to(getattr(m, dtype)) for m in (torch, tinytorch))


def random_array(rng, shape, kind):
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7)
    if kind == "whole":
        x = np.round(x)
    elif kind == "spread":
        x = x * 10.0 ** rng.integers(-5, 5, size=shape)
    elif kind == "holes":
        x = np.where(rng.random(shape) < 0.3, rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan], size=shape), x)
    return np.asarray(x)


@pytest.fixture
def restore_options():
    yield
    for m in (torch, tinytorch):
        m.set_printoptions(profile="default")


def check(array, dtype):
    t, ours = both(array, dtype)
    assert tensor_text(ours) == repr(t)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["plain", "whole", "spread", "holes"])
def test_random(dtype, kind):
    rng = np.random.default_rng([DTYPES.index(dtype), len(kind)])
    if dtype in ("int64", "int32", "uint8") and kind == "holes":
        kind = "plain"
    for _ in range(25):
        shape = tuple(rng.integers(0, 5, size=rng.integers(0, 5)))
        array = random_array(rng, shape, kind)
        if dtype == "uint8":
            array = np.clip(np.abs(array), 0, 255)
        if dtype.startswith("int"):
            array = np.clip(array, -1e9, 1e9)
        if dtype.startswith("complex"):
            with np.errstate(invalid="ignore"):            # 0 * inf
                array = array + 1j * random_array(rng, shape, kind)
        check(np.asarray(array), dtype)


@pytest.mark.parametrize("shape", [(1001,), (7, 150), (40, 5, 6), (3, 4, 5, 30), (1200, 1), (2, 600), (1000,), (90,)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_long(shape, dtype):
    rng = np.random.default_rng(0)
    array = rng.normal(size=shape) * 100
    check(array + 1j if dtype == "complex64" else array, dtype)


@pytest.mark.parametrize("options", [
    dict(precision=2), dict(precision=0), dict(threshold=10), dict(threshold=5, edgeitems=1), dict(linewidth=30),
    dict(profile="short"), dict(profile="full"), dict(sci_mode=True), dict(sci_mode=False),
    dict(threshold=0, edgeitems=0), dict(profile="short", precision=6, linewidth=120)])
@pytest.mark.parametrize("shape", [(), (12,), (3, 8), (9, 2, 3)])
def test_options(options, shape, restore_options):
    for m in (torch, tinytorch):
        m.set_printoptions(**options)
    from torch._tensor_str import get_printoptions
    assert tinytorch.get_printoptions() == get_printoptions()
    rng = np.random.default_rng(1)
    for array in (rng.normal(size=shape), rng.normal(size=shape) * 1e5, rng.integers(0, 3, size=shape) * 1.0):
        for dtype in ("float32", "float64", "int32", "complex64"):
            check(np.asarray(array), dtype)


def test_suffixes():
    def texts(m):
        x = m.tensor([[1.5, 2.0]], requires_grad=True)
        wide = m.ones(1, 8, dtype=m.float64, requires_grad=True)
        return [repr(t) for t in (
            x, x * 2, x + 1, (x * 2).sum(), x.detach(), m.exp(x), wide, wide / 3, wide * 1e9,
            m.zeros(0), m.zeros(0, 3), m.zeros(0, dtype=m.int64), m.zeros(0, dtype=m.bool), m.tensor(3),
            m.tensor(2.5, dtype=m.float64), m.zeros(2, 0, dtype=m.float16), m.nn.Parameter(m.tensor([1.0])))]
    assert texts(tinytorch) == texts(torch)


def test_default_dtype():
    for m in (torch, tinytorch):
        m.set_default_dtype(m.float64)
    try:
        for dtype in DTYPES:
            check(np.ones(3), dtype)
    finally:
        for m in (torch, tinytorch):
            m.set_default_dtype(m.float32)
