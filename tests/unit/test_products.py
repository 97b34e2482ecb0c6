"""Small products of float32 matrices, which C computes by NumPy's own loop, have the bits of NumPy's products."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import halves
from tinytorch.kernels.linalg import products

needs_loop = pytest.mark.skipif(not products._LOOP, reason="C calls no loop of NumPy here")


def pairs(m, k, n):
    """Batches with one and two axes, and matrices, of rows and of columns, in parts and backwards."""
    rng = np.random.default_rng(m)
    for left in (False, True):
        for right in (False, True):
            a = rng.standard_normal((2, 3, *((k, m) if left else (m, k + 2)))).astype(np.float32)
            b = rng.standard_normal((2, 3, *((n, k) if right else (k, n)))).astype(np.float32)
            a, b = a.swapaxes(2, 3) if left else a[..., :-2], b.swapaxes(2, 3) if right else b
            yield from ((a, b), (a[1], b[0]), (a[0, 1], b[1, 1]), (a[::-1], b[:, ::-1]))
            yield a, np.broadcast_to(b[:, :1], b.shape)


@needs_loop
@pytest.mark.parametrize("m, k, n", [(2, 2, 2), (4, 8, 4), (3, 5, 7), (8, 8, 8), (33, 17, 20), (2, 300, 2)])
def test_bits_of_numpy(m, k, n):
    for a, b in pairs(m, k, n):
        found = products.by_loop(a, b)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found.view(np.int32), np.matmul(a, b).view(np.int32))
        if a.ndim == 2:
            np.testing.assert_array_equal(found.view(np.int32), a.dot(b).view(np.int32))


@needs_loop
def test_a_matrix_times_itself_is_symmetric_as_numpys():
    for shape in ((5, 9), (3, 5, 9)):
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        for a in (x, x.swapaxes(-1, -2)):
            np.testing.assert_array_equal(products.by_loop(a, a.swapaxes(-1, -2)), np.matmul(a, a.swapaxes(-1, -2)))


def test_what_is_left_to_numpy():
    """One row, one column or one term, other dtypes, steps that are no matrix's, and shapes that do not fit."""
    x = np.ones((2, 4, 4), np.float32)
    for a, b in ((x[:, :1], x), (x, x[..., :1]), (x[..., :1], x[:, :1]), (x.astype(np.float64), x.astype(np.float64)),
                 (x[..., ::-1], x), (x[:, ::2, ::2], x[:, ::2]), (x[:, :0], x), (x, x[:1])):
        assert products.by_loop(a, b) is None
        np.testing.assert_array_equal(products.matmul(a, b), np.matmul(a, b))
    assert products.by_loop(x, x[:, :3]) is None
    with pytest.raises(RuntimeError, match="Expected size for first two dimensions"):
        torch.bmm(torch.ones(2, 4, 4), torch.ones(2, 3, 4))


def test_small_products_of_bfloat16_are_those_of_float32():
    for m, k, n in ((4, 8, 4), (1, 8, 4), (4, 1, 4), (3, 5, 1)):
        a, b = torch.randn(m, k).bfloat16(), torch.randn(n, k).bfloat16()
        assert torch.equal(torch.mm(a, b.t()), torch.mm(a.float(), b.float().t()).bfloat16())
        wide = products.of_bfloat16(a._array, b._array.T)
        np.testing.assert_array_equal(wide, np.dot(halves.wide(a._array), halves.wide(b._array).T))


@needs_loop
def test_a_matrix_times_itself_again():
    """In the order of calls that makes a record, if there are records."""
    numbers = [np.random.default_rng(i).standard_normal((4, 8)).astype(np.float32) for i in range(30)]
    for array in numbers:
        x = torch.tensor(array)
        assert torch.equal(torch.mm(x, x.t()), torch.tensor(array.dot(array.T)))
