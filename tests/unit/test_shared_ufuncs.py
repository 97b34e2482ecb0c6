"""NumPy's functions of each element whose elements several threads share (kernels/ufuncs.py)."""
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import native
from tinytorch.kernels.ufuncs import shared

needs_library = pytest.mark.skipif(native.level() is None, reason="without the library NumPy computes alone")
LARGE = 1 << 18
UFUNCS = [np.add, np.remainder, np.subtract, np.multiply, np.true_divide, np.power, np.maximum, np.fmin, np.less,
          np.equal, np.logical_and, np.bitwise_xor, np.square, np.abs, np.sqrt, np.floor, np.arcsinh, np.negative,
          np.logical_not]


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def operands(dtype, count):
    random = np.random.RandomState(3)
    found = [(random.standard_normal(LARGE + 7) * 9).astype(dtype) for _ in range(count)]
    if np.dtype(dtype).kind in "fc":
        for x in found:
            x[:5] = np.nan, np.inf, -np.inf, 0.0, -0.0
    return found


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "c8", "i8", "u1", "?"])
@pytest.mark.parametrize("ufunc", UFUNCS)
@np.errstate(all="ignore")
def test_every_ufunc_gives_numpys_bits(ufunc, dtype, threads):
    given, compared = operands(dtype, ufunc.nin), 0
    for arrays in (given, [x[3:-2] for x in given], [x[::2] for x in given], [x[::-1] for x in given],
                   [x[: LARGE].reshape(-1, 512).T for x in given], [given[0], *[x[:1] for x in given[1:]]],
                   [x[: LARGE].reshape(-1, 4) for x in given]):
        try:
            expected = ufunc(*arrays)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                shared(ufunc, *arrays)
            continue
        result = shared(ufunc, *arrays)
        assert (result.dtype, result.shape, result.strides) == (expected.dtype, expected.shape, expected.strides)
        assert result.tobytes() == expected.tobytes()
        compared += 1
    assert compared == 7 or ufunc not in (np.add, np.multiply)


@pytest.mark.parametrize("number", [2, -1.5, 3.0])
def test_numbers_are_as_weak_as_numpys(number, threads):
    for dtype in ("f4", "f8", "f2"):
        x, = operands(dtype, 1)
        for ufunc in (np.add, np.power, np.multiply):
            for given in ((x, number), (number, x)):
                with np.errstate(all="ignore"):
                    result, expected = shared(ufunc, *given), ufunc(*given)
                assert result.dtype == expected.dtype == x.dtype and result.tobytes() == expected.tobytes()


def test_an_array_that_is_written_and_read(threads):
    x, y = operands("f4", 2)
    expected = x + y
    assert shared(np.add, x, y, x) is x and x.tobytes() == expected.tobytes()
    whole = np.arange(LARGE + 1.0)             # NumPy copies what a write would change before it is read
    shared(np.add, whole[1:], whole[:-1], whole[1:])
    assert np.array_equal(whole[1:], 2 * np.arange(LARGE) + 1.0)


@needs_library
def test_reductions_and_accumulations_stay_in_order(threads):
    x, = operands("f8", 1)
    made = native.divided(np.add, x, x)
    assert made is not np.add
    with np.errstate(all="ignore"):
        assert made.reduce(x[5:]) == pytest.approx(np.add.reduce(x[5:]))
        assert made.accumulate(x[5:]).tobytes() == np.add.accumulate(x[5:]).tobytes()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no list of the process's threads")
@needs_library
def test_another_thread_is_asked():
    """In a process of its own, because the threads stay."""
    text = ("import os, numpy as np, tinytorch as torch; from tinytorch.kernels.ufuncs import shared\n"
            "torch.set_num_threads(2); x = np.ones(1 << 18, np.float32)\n"
            "def threads(): return len(os.listdir('/proc/self/task'))\n"
            "before = threads(); shared(np.square, x[:4096]); few = threads(); shared(np.square, x)\n"
            "print(few - before, threads() - few)")
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True,
                          env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert said.stdout.split() == ["0", "1"]


def test_an_error_of_numpys_is_raised(threads):
    x = np.full(LARGE, 3)
    x[-1] = -1
    with pytest.raises(ValueError, match="negative integer powers"):
        shared(np.power, x, x)
