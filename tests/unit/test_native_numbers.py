"""Kernels beside NumPy, bit for bit: sizes of complex numbers, counts of whole numbers, floats and doubles."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import native


def test_sizes_of_complex_numbers():
    """Squares over- and underflow in float32. In any layout, and of one number alone."""
    rng = np.random.default_rng(0)
    parts = (rng.standard_normal((2, 40, 63)) * 10.0 ** rng.integers(-44, 38, (2, 40, 63))).astype(np.float32)
    parts[0, 0, :5], parts[1, 0, :5] = [np.inf, -np.inf, np.nan, 0, -0.0], [np.nan, 3, np.inf, -0.0, 1e-45]
    x = np.empty((40, 63), np.complex64)
    x.real, x.imag = parts
    for given in (x, x.T, x[::2, ::3], x[:0], x[:1, 4].reshape(()), x.reshape(2, 20, 63).transpose(1, 0, 2)):
        with np.errstate(all="ignore"):
            wanted = np.hypot(given.real, given.imag, dtype=np.float64).astype(np.float32)
        found = torch.from_numpy(given).abs().numpy()
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == np.float32 and (min(given.shape, default=0) < 2 or found.strides == wanted.strides)


@pytest.mark.parametrize("count", [0, 1, 100, 5000, 70_001])
def test_counts_of_whole_numbers(count):
    x = np.random.default_rng(count).integers(0, 40, count)
    for least in (0, 30, 100, 50_000):
        np.testing.assert_array_equal(torch.bincount(torch.tensor(x), minlength=least).numpy(),
                                      np.bincount(x, minlength=least))
    if count < 2:
        return
    for last in (39, 1000, 100_000):           # larger than what the first numbers let expect
        x[-1] = last
        np.testing.assert_array_equal(torch.bincount(torch.tensor(x)).numpy(), np.bincount(x))
    for place in (-1, 0):
        x[place] = -2
        with pytest.raises(RuntimeError, match="non-negative"):
            torch.bincount(torch.tensor(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_mse_and_huber_losses_of_many(dtype):
    """The mean of the squares is as near as float32 comes; the Huber loss has NumPy's bits."""
    rng = np.random.default_rng(0)
    x, y = [torch.tensor(rng.standard_normal(70_001) * 2).to(dtype) for _ in range(2)]
    difference = (x.numpy() - y.numpy()).astype(np.float64)
    for given in (slice(None), slice(0, 8191), slice(8193), slice(0, 30_000, 2)):
        for reduction, take in (("mean", np.mean), ("sum", np.sum)):
            found = torch.nn.functional.mse_loss(x[given], y[given], reduction=reduction)
            assert found.dtype == dtype and found.item() == pytest.approx(take(difference[given] ** 2), rel=2e-7)
    x[:6] = torch.tensor([np.inf, -np.inf, np.nan, -0.0, 1e30, 3.0])
    y[:6] = torch.tensor([0, -np.inf, 1, 0, -1e30, np.nan])
    for delta in (0.25, 1.0, 3.0):
        with np.errstate(all="ignore"):
            size, limit = np.abs(x.numpy() - y.numpy()), x.numpy().dtype.type(delta)
            wanted = np.where(size <= limit, size * size / 2, limit * (size - limit / 2))
        found = torch.nn.functional.huber_loss(x, y, reduction="none", delta=delta)
        np.testing.assert_array_equal(found.numpy(), wanted)


def test_floats_and_doubles():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(9001) * 10.0 ** rng.integers(-50, 45, 9001)
    x[:6] = [np.nan, np.inf, -np.inf, -0.0, 3.4028235677973366e38, 1 + 2.0 ** -24]
    with np.errstate(all="ignore"):
        single = x.astype(np.float32)
        np.testing.assert_array_equal(torch.tensor(x).float().numpy().view(np.int32), single.view(np.int32))
    wide = torch.tensor(single).double().numpy()
    np.testing.assert_array_equal(wide.view(np.int64), single.astype(np.float64).view(np.int64))
    assert native.level() is None or native.LEAST_OF["float_to_double"] < 9001


@pytest.mark.parametrize("count", [1, 511, 513, 5000])
@pytest.mark.parametrize("bits", [8, 32, 33, 64])
def test_floor_quotients(bits, count):
    """Runs of integers of 32 bits are computed in double precision, others as integers."""
    rng, least = np.random.default_rng(bits), -1 << bits - 1
    x, y = [rng.integers(least, -least - 1, count, endpoint=True) for _ in range(2)]
    y[::2] = rng.integers(-3, 3, len(y[::2]))
    y[y == 0] = 1
    x[:1], y[:1] = least, -1
    ends = np.array([least, least + 1, -2, -1, 0, 1, 2, -least - 2, -least - 1])
    half = -(-count // 2)
    x[-half:], y[-half:] = np.resize(np.repeat(ends, 8), half), np.resize(ends[ends != 0], half)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(torch.floor_divide(torch.tensor(x), torch.tensor(y)).numpy(), x // y)
        for divisor in (least, -7, -1, 1, 10, -least - 1):
            np.testing.assert_array_equal(torch.floor_divide(torch.tensor(x), divisor).numpy(), x // divisor)
    y[count // 2] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.floor_divide(torch.tensor(x), torch.tensor(y))
