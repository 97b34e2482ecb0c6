"""Conversions of numbers of 16 bits, and expressions of them."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import expressions, halves
from tinytorch.kernels.expressions import expression, where
from tinytorch.kinds import record_dtypes as stored

from .test_native import draws, kernels, needs_library

FLOAT, HALF, BFLOAT16 = np.dtype(np.float32), np.dtype(np.float16), stored.BFLOAT16
EVERY = np.arange(1 << 16, dtype=np.uint16)


def bits(x):
    return np.ascontiguousarray(x).view(f"u{x.itemsize}")


def floats():
    """All exponents and signs, halfway between two halves or two bfloat16, and beside that."""
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (upper[:, None] | lower).reshape(-1).view(np.float32)


def by_numpy(array, dtype):
    with kernels(False), np.errstate(all="ignore"):
        if dtype == BFLOAT16:
            return stored.to_bfloat16(array)
        return stored.from_bfloat16(array) if array.dtype == BFLOAT16 else array.astype(dtype)


@needs_library
@pytest.mark.parametrize("array, dtype", [
    (EVERY.view(HALF), FLOAT), (EVERY.view(BFLOAT16), FLOAT), (floats(), HALF), (floats(), BFLOAT16)], ids=str)
def test_every_number(array, dtype):
    got, wanted = halves.convert(array, dtype), by_numpy(array, dtype)
    nan = np.isnan(by_numpy(wanted, FLOAT) if dtype == BFLOAT16 else wanted)
    assert got.dtype == dtype and (bits(got) == bits(wanted))[~nan].all()
    again = halves.convert(got, FLOAT) if dtype.itemsize == 2 else got
    assert np.isnan(again[nan]).all() and nan.sum() > 100


@needs_library
def test_nan():
    """Each NaN keeps its sign and the upper bits of its payload, and becomes quiet; by the same rule at each level,
    and wherever it is among others."""
    half, single = EVERY.astype(np.uint32), bits(floats())
    of_half = (half & 0x8000) << 16 | 0x7FC00000 | (half & 0x3FF) << 13
    to_half = (single >> 16 & 0x8000) | 0x7E00 | (single >> 13 & 0x3FF)
    for array, dtype, wanted in ((EVERY.view(HALF), FLOAT, of_half), (floats(), HALF, to_half)):
        nan = np.isnan(array)
        array, wanted = array[nan], wanted[nan]
        for first in range(17):
            assert (bits(halves.convert(array[first:first + 1025], dtype)) == wanted[first:first + 1025]).all()


@needs_library
def test_layouts():
    """Of any order of dimensions, of steps, and of none."""
    for shape in ((0,), (), (1,), (3, 5), (70_000,)):
        x = np.asarray(draws(1, *shape) if shape else np.float32(1.5))
        for dtype in (HALF, BFLOAT16):
            made = halves.convert(x, dtype)
            assert made is None and not x.size or made.shape == shape
    x = draws(1, 4, 5, 6).transpose(2, 0, 1)
    made = halves.convert(x, HALF)
    assert made.strides == (2, 60, 12) and (bits(made) == bits(x.astype(HALF))).all()
    assert halves.convert(x[::2], BFLOAT16) is None and halves.convert(x.astype(np.float64), HALF) is None
    t = torch.tensor(draws(1, 4, 6))
    for dtype in (torch.float16, torch.bfloat16):
        for y in (t, t.T, t[::2], t[:, 1], t.expand(2, 4, 6)):
            assert y.to(dtype).float().sub(y).abs().max() < 0.03 and y.to(dtype).shape == y.shape


@needs_library
@pytest.mark.parametrize("dtype", [HALF, BFLOAT16])
def test_expressions(dtype):
    """The bits of single precision, rounded; of any length, and beside single numbers."""
    def halved(x):
        return stored.to_bfloat16(x) if dtype == BFLOAT16 else x.astype(dtype)

    def wide(x):
        return stored.from_bfloat16(x) if dtype == BFLOAT16 else x.astype(FLOAT)
    f = expression(lambda x, y, limit: where(x > limit, x * y, y - expressions.exp(x)), 2)
    x, y = halved(draws(1, 40_007)), halved(draws(2, 40_007))
    with np.errstate(all="ignore"):
        whole = halved(f(wide(x), wide(y), 0.5))
        for n in (0, 1, 15, 16, 17, 511, 512, 513, 40_007):
            assert (bits(f(x[:n], y[:n], 0.5)) == bits(whole[:n])).all()
        assert (bits(f(x[::3], y[::3], 0.5)) == bits(whole[::3])).all()
        for left, right in ((x[:60].reshape(20, 3), y[:3]), (x[:20].reshape(20, 1), y[:3]), (x[:9], y[:1]),
                            (x[:1], y[:9])):
            got = f(left, right, 0.5)
            assert (bits(got) == bits(halved(f(wide(left), wide(right), 0.5)))).all()
        with kernels(False):
            twins = wide(f(x, y, 0.5))
        np.testing.assert_allclose(wide(f(x, y, 0.5)), twins, 1e-2)
    odd = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(dtype)
    assert (bits(f(odd, y, 0.5)) == bits(f(x, y, 0.5))).all()


@needs_library
def test_softmax_is_rounded_once():
    for dtype in (torch.float16, torch.bfloat16):
        for shape in ((5, 7), (3, 4, 100), (2, 4096), (1, 4097), (6,)):
            x = torch.tensor(draws(1, *shape, special=len(shape) == 3)).to(dtype)
            expected = x.float().softmax(-1).to(dtype)
            np.testing.assert_array_equal(x.softmax(-1).float().numpy(), expected.float().numpy())
            with kernels(False):
                np.testing.assert_allclose(x.softmax(-1).float().numpy(), expected.float().numpy(), 1e-2)


@needs_library
def test_arithmetic_in_bfloat16_is_recorded():
    """As an operation of its own name, whose result has the memory order of its operands."""
    for function in (torch.add, torch.sub, torch.mul, torch.div):
        x, y = (torch.tensor(draws(i, 6, 5)).bfloat16().requires_grad_() for i in (1, 2))
        z = function(x.T, y.T)
        assert z.stride() == (1, 5) and z.grad_fn.name()[:3].lower() == function.__name__
        z.backward(torch.ones_like(z))
        a, b = x.detach().float().requires_grad_(), y.detach().float().requires_grad_()
        function(a, b).sum().backward()
        for ours, wide in ((x, a), (y, b)):
            assert ours.grad.dtype is torch.bfloat16
            np.testing.assert_allclose(ours.grad.float().numpy(), wide.grad.numpy(), 2e-2)


@needs_library
def test_arithmetic_rounds_once():
    for dtype in (torch.float16, torch.bfloat16):
        x, y = torch.tensor(draws(1, 900)).to(dtype), torch.tensor(draws(2, 900)).to(dtype)
        for function in (torch.add, torch.sub, torch.mul, torch.div):
            assert torch.equal(function(x, y), function(x.float(), y.float()).to(dtype))
            assert torch.equal(function(x, y)[:5], function(x[:5], y[:5]))
