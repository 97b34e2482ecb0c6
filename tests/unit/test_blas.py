"""Scaled sums in one pass agree with NumPy's."""
import numpy as np
import pytest

from tinytorch.kernels.linalg import blas

SIZES = [0, 1, 100, blas.SHORT, 100_003]


@pytest.fixture(params=["as found", "without OpenBLAS"])
def library(request, monkeypatch):
    if request.param == "without OpenBLAS":
        monkeypatch.setattr(blas, "_sums", dict)


def vectors(n, dtype):
    random = np.random.RandomState(n)
    return random.randn(n).astype(dtype), random.randn(n).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_sums(library, n, dtype):
    y, x = vectors(n, dtype)
    before, close = x.copy(), dict(rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)
    expected = y + np.asarray(0.3, dtype) * x
    blas.add_scaled(y, x, 0.3)
    np.testing.assert_allclose(y, expected, **close)
    expected = np.asarray(0.9, dtype) * y + np.asarray(0.1, dtype) * x
    blas.blend(y, 0.9, x, 0.1, np.empty_like(y))
    np.testing.assert_allclose(y, expected, **close)
    assert (x == before).all()


def test_other_layouts(library):
    y, x = (v.reshape(200, 100) for v in vectors(20_000, "float64"))
    for left, right in ((y.T, x.T), (y[:, ::2], x[:, 1::2]), (y, np.broadcast_to(x[0], y.shape))):
        expected = left + 0.5 * right
        blas.add_scaled(left, right, 0.5)
        np.testing.assert_allclose(left, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("other", ["float16", "float64"])
def test_other_dtype(library, other):
    y, x = np.ones(20_000, "float32"), np.full(20_000, 0.5, other)
    blas.add_scaled(y, x, -0.5)
    assert y.dtype == np.float32 and (y == 0.75).all()
    blas.blend(y, 2., x, 1., np.empty_like(y))
    assert (y == 2).all()


def test_nan_times_nothing_is_nan(library):
    for change in (lambda y, x: blas.add_scaled(y, x, 0.), lambda y, x: blas.blend(y, 1., x, 0.)):
        y, x = np.zeros(20_000), np.full(20_000, np.nan)
        change(y, x)
        assert np.isnan(y).all()


def test_read_only(library):
    y, x = vectors(20_000, "float32")
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        blas.add_scaled(y, x, 2.)
    y, x = x.copy(), y
    blas.add_scaled(y, x, 2.)


def overlapping():
    memory = np.arange(30_000, dtype="float32")
    return memory[:20_000], memory[10_000:]


@pytest.mark.parametrize("y, x", [
    (np.ones(20_000, "float32"), np.ones(9_000, "float32")),
    (np.ones(20_000, "float32"), np.ones(0, "float32")),
    (np.ones((200, 100), "float32"), np.ones((100, 200), "float32")),
    (np.ones((2, 10_000), "float64"), np.ones((3, 10_000), "float64"))], ids=lambda a: str(a.shape))
def test_other_sizes_are_refused(library, y, x):
    """NumPy's error, and nothing written."""
    for change in (lambda: blas.add_scaled(y, x, 2.), lambda: blas.blend(y, 1., x, 2.)):
        with pytest.raises(ValueError, match="broadcast"):
            change()
        assert (y == 1).all()


def test_one_number_for_all(library):
    y, x = np.ones(20_000, "float32"), np.ones(1, "float32")
    blas.add_scaled(y, x, 2.)
    assert (y == 3).all()


def test_other_byte_order(library):
    for y_order, x_order in (">>", "<>", "><"):
        y, x = np.ones(20_000, y_order + "f4"), np.full(20_000, 3, x_order + "f4")
        blas.add_scaled(y, x, 2.)
        assert (y == 7).all()
        blas.blend(y, 2., x, 1.)
        assert (y == 17).all()


def test_memory_in_common(library):
    y, x = overlapping()
    expected = y + 2 * x
    blas.add_scaled(y, x, 2.)
    assert (y == expected).all()
    y, x = overlapping()
    expected = 2 * y + x
    blas.blend(y, 2., x, 1.)
    assert (y == expected).all()
    blas.add_scaled(y, y, 1.)
    assert (y == 2 * expected).all()


def test_misaligned(library):
    y, x = (np.zeros(80_001, "uint8")[1:].view("float32") for _ in range(2))
    y[...], x[...] = 1, 3
    blas.add_scaled(y, x, 2.)
    assert (y == 7).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", [0, 5, 20_001])
def test_sums_of_parts(library, n, dtype):
    (y, x), work = vectors(n, dtype), np.empty(7_000, dtype)
    expected = np.asarray(0.5, dtype) * (y + np.asarray(0.25, dtype) * x) + x
    sums = blas.Sums([y, x], [work])
    for first in range(0, n, 7_000):
        views = [y[first:first + 7_000], x[first:first + 7_000]]
        views.append(work[:views[0].size])
        sums.see(views, first)
        sums.add_scaled(views[0], views[1], 0.25, views[2])
        np.multiply(views[1], 2, views[2])
        sums.blend(views[0], 0.5, views[2], 0.5)
    np.testing.assert_allclose(y, expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


def test_sums_of_parts_that_overlap_or_may_not_be_written_to(library):
    y, x = overlapping()
    expected = y + np.float32(2) * x
    sums = blas.Sums([y, x])
    sums.see([y, x])
    sums.add_scaled(y, x, 2., np.empty_like(y))
    assert (y == expected).all()
    y, x = vectors(20_000, "float32")
    y.flags.writeable = False
    sums = blas.Sums([y, x])
    sums.see([y, x])
    with pytest.raises(ValueError, match="read-only"):
        sums.add_scaled(y, x, 2.)


def test_sums_of_each(library):
    pairs = [vectors(n, dtype) for n, dtype in ((20_000, "float32"), (3, "float64"), (9_000, "float16"),
                                                (30_000, "float32"))]
    pairs.append((pairs[0][0], np.ones(7, "float32")))
    pairs.append((np.ones((), "float32"), np.ones((), "float32")))
    expected = [y + y.dtype.type(-0.5) * x if i in (0, 1, 5) else y.copy() for i, (y, x) in enumerate(pairs)]
    expected[4] = expected[0]
    assert blas.add_scaled_each(pairs, -0.5, 25_000) == [2, 3, 4]
    for (y, _), wanted in zip(pairs, expected, strict=True):
        np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=1e-6)
