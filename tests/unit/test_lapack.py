"""The factorisations of kernels/linalg/lapack.py beside np.linalg's."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels.linalg import lapack

WIDE = [(lambda x: lapack.qr(x, False), np.linalg.qr),
        (lambda x: lapack.qr(x, True), lambda x: np.linalg.qr(x, "complete")),
        (lambda x: lapack.svd(x, True), np.linalg.svd),
        (lambda x: lapack.svd(x, False), lambda x: np.linalg.svd(x, False))]
PAIRS = [(lapack.cholesky, np.linalg.cholesky), (lapack.inv, np.linalg.inv),
         (lambda x: lapack.eigh(x, "L"), np.linalg.eigh),
         (lambda x: lapack.eigh(x, "U"), lambda x: np.linalg.eigh(x, "U")), *WIDE]


def matrices(*shape, dtype):
    rng = np.random.default_rng(len(shape))
    x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    return (x if np.dtype(dtype).kind == "c" else x.real).astype(dtype)


def check(ours, theirs, x):
    found, wanted = ours(x.copy()), theirs(x)
    several = isinstance(found, tuple)
    for a, b in zip(found if several else [found], wanted if several else [wanted]):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(a, b)
        if a.ndim == x.ndim and type(x) is np.ndarray and a.size:
            assert a.swapaxes(-1, -2).flags.c_contiguous       # as LAPACK stores matrices


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_the_same_bits_as_numpy(dtype):
    for shape in ((1, 1), (4, 4), (2, 3, 5, 5), (20, 20, 20), (33, 33)):
        g = matrices(*shape, dtype=dtype)
        for ours, theirs in PAIRS:
            check(ours, theirs, g @ g.conj().swapaxes(-1, -2) + 9 * np.eye(shape[-1], dtype=dtype))
    for shape in ((4, 7), (7, 4), (3, 5, 2), (1, 3), (40, 20), (20, 40)):
        for ours, theirs in WIDE:
            check(ours, theirs, matrices(*shape, dtype=dtype))


@np.errstate(all="ignore")                     # in which operations run
def test_errors_are_numpys():
    """The first matrix can be factored, the second cannot. NaN are no errors of their own."""
    bad = np.stack([np.eye(3, dtype=np.float32), np.zeros((3, 3), np.float32)])
    for x in (bad, bad[1]):
        for function in (lapack.cholesky, lapack.inv):
            with pytest.raises(np.linalg.LinAlgError):
                function(x)
    for ours, theirs in PAIRS:
        try:
            wanted = theirs(bad * np.nan)
        except np.linalg.LinAlgError:
            with pytest.raises(np.linalg.LinAlgError):
                ours(bad * np.nan)
        else:
            np.testing.assert_array_equal(ours(bad * np.nan)[0], wanted[0])
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 1"):
        torch.linalg.cholesky(torch.tensor(bad))


def test_a_numpy_without_the_ufuncs(monkeypatch):
    monkeypatch.setattr(lapack, "_WIDE", {})
    g = matrices(4, 4, dtype=np.float32)
    for ours, theirs in PAIRS[1:]:
        found, wanted = ours(g), theirs(g)
        np.testing.assert_array_equal(found[0], wanted[0])
    x = torch.tensor(g, requires_grad=True)
    torch.linalg.qr(x)[0].sum().backward()
    assert torch.linalg.inv(x).mT.is_contiguous() and torch.isfinite(x.grad).all()


def test_a_factor_that_is_nan_is_refused():
    """Wherever in the matrix the number is that makes it NaN."""
    for n in (1, 2, 5):
        for i in range(n):
            for j in range(i + 1):
                for number in (float("nan"), float("inf")):
                    x = torch.eye(n, dtype=torch.float64) * 2
                    x[i, j] = x[j, i] = number
                    if number != number or i != j:
                        with pytest.raises(torch.linalg.LinAlgError, match="not positive-definite"):
                            torch.linalg.cholesky(x)
    assert torch.linalg.cholesky(torch.empty(0, 0)).shape == (0, 0)
