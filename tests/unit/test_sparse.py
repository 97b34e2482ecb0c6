"""Sparse tensors: what computes with them, what refuses them, and the routines behind."""
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.public import TABLE
from tinytorch.sparse import kernels


def _graph(n, degree, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.integers(0, n, n * degree))
    return np.stack([rows, rng.integers(0, n, n * degree)]), rng.normal(size=n * degree).astype(dtype)


def _tensors(degree=3, n=20):
    places, values = _graph(n, degree)
    return torch.sparse_coo_tensor(torch.tensor(places), torch.tensor(values), (n, n))


# ------------------------------------------------------------------ routines
@pytest.mark.parametrize("n, degree, width", [(5, 2, 3), (60, 3, 1), (200, 3, 64), (100, 40, 64), (3, 400, 50)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64"])
def test_product(n, degree, width, dtype):
    places, values = _graph(n, degree)
    values = (values * 10).astype(dtype)
    dense = (np.random.default_rng(1).normal(size=(n, width)) * 10).astype(dtype)
    whole = np.zeros((n, n), np.promote_types(dtype, np.float64))
    np.add.at(whole, tuple(places), values)
    found = kernels.product(kernels.row_starts(places[0], n), places[1], values, dense)
    np.testing.assert_allclose(found, whole @ dense, 1e-4, 1e-3)
    assert found.dtype == dtype


def test_rows_of_very_different_lengths():
    n = 500
    rows = np.sort(np.concatenate([np.zeros(3000, int), np.full(40, 7), np.arange(n)]))
    columns = np.random.default_rng(0).integers(0, n, len(rows))
    values, dense = np.ones(len(rows)), np.random.default_rng(1).normal(size=(n, 16))
    whole = np.zeros((n, n))
    np.add.at(whole, (rows, columns), values)
    found = kernels.product(kernels.row_starts(rows, n), columns, values, dense)
    np.testing.assert_allclose(found, whole @ dense, 1e-9, 1e-9)


@pytest.mark.parametrize("n", [1, 300, 70_000, 1 << 40])
def test_stable_order(n):
    numbers = np.random.default_rng(0).integers(0, n, 1000)
    np.testing.assert_array_equal(kernels.stable_order(numbers, n), np.argsort(numbers, kind="stable"))


def test_merging():
    places, partner = kernels.merge_order([1, 5, 3], [5, 2, 3, 9])
    assert places.tolist() == [0, 1, 4, 2, 6] and partner.tolist() == [-1, 3, -1, 5, -1]


# ------------------------------------------------------------------ what others do with them
def test_every_function_computes_or_refuses():
    """A function that reads a sparse tensor as memory would give a plain tensor around it, or numbers of its own."""
    s, dense = _tensors(), torch.ones(20, 20)
    refused = computed = 0
    calls = [(s,), (s, 1), (s, s), (dense, s), (s, dense), (s, dense, dense), ([s, s],), (s, (20, 20))]
    for function in list(TABLE):
        for args in calls:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    result = function(*args)
            except Exception:
                refused += 1
                continue
            computed += 1
            for x in result if isinstance(result, (tuple, list)) else (result,):
                assert type(x) is not torch.Tensor or isinstance(x._array, np.ndarray), function
    assert refused > 3000 and computed > 50
    assert s._nnz() == 60 and dense.sum() == 400


def test_words_of_refusals():
    s = _tensors()
    for call in (lambda: torch.exp(s), lambda: s.exp(), lambda: torch.nn.functional.softmax(s, 1), lambda: s.view(-1),
                 lambda: torch.max(s), lambda: torch.sort(s), lambda: s.exp_(), lambda: s[:, 1:3], lambda: s == s,
                 lambda: torch.ones(20).exp().outer(s), lambda: s.numpy(force=True)):
        with pytest.raises((NotImplementedError, TypeError), match="tinytorch has no|tinytorch has|Sparse layout"):
            call()
    with pytest.raises(NotImplementedError, match="no derivative of sin"):
        torch.sin(_tensors().requires_grad_())
    assert (s == None) is False and s in [s]   # noqa: E711


def test_places_are_checked():
    for indices, size in (([[0, 5]], (3,)), ([[0, -1]], (3,))):
        with pytest.raises(RuntimeError, match="index"):
            torch.sparse_coo_tensor(indices, [1., 2.], size)
    for crow, col in (([0, 2, 4], [0, 1, 1]), ([0, 2, 3], [0, 1, 7]), ([0, 2, 3], [0, 1, -1]), ([1, 2, 3], [0, 1, 1]),
                      ([0, 3, 3], [0, 1, 1]), ([0, 2, 1], [0]), ([0, 3], [0, 1, 1])):
        with pytest.raises(RuntimeError, match="satisfied|equal"):
            torch.sparse_csr_tensor(crow, col, [1.] * len(col), (2, 2))


def test_the_package_is_loaded_with_the_first_one():
    program = ("import sys, tinytorch as t; before = 'tinytorch.sparse' in sys.modules\n"
               "e = t.nn.Embedding(3, 2, sparse=True); e(t.tensor([1])).sum().backward()\n"
               "assert not before and e.weight.grad.is_sparse\n"
               "assert t.sparse.sum(e.weight.grad, 1).to_dense().tolist() == [0., 2., 0.]")
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


# ------------------------------------------------------------------ the graph
def test_hooks_and_retained_gradients():
    v = torch.ones(60, requires_grad=True)
    s = torch.sparse_coo_tensor(_tensors()._indices(), v, (20, 20))
    s.retain_grad()
    seen = []
    s.register_hook(lambda g: seen.append(g.layout))
    torch.sparse.mm(s, torch.ones(20, 2)).sum().backward()
    assert seen == [torch.sparse_coo] and s.grad.is_sparse and v.grad.tolist() == [2.] * 60


def test_products_are_differentiable():
    places = torch.tensor(_graph(6, 2)[0])

    def function(values, x):
        return torch.sparse_coo_tensor(places, values, (6, 6)).coalesce() @ x
    values = torch.randn(12, dtype=torch.float64, requires_grad=True)
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(function, (values, x)) and torch.autograd.gradgradcheck(function, (values, x))


@pytest.mark.parametrize("function", [
    lambda s: torch.sparse.sum(s, 1).to_dense(), lambda s: torch.sparse.softmax(s, 1).to_dense(),
    lambda s: torch.sparse.log_softmax(s, 0).values(), lambda s: (s * s).to_dense(), lambda s: (-s / 3).values(),
    lambda s: torch.sparse.mm(s, s.t()).to_dense(), lambda s: s.to_sparse_csr().to_dense(),
    lambda s: (s + 2 * s).to_dense()])
def test_functions_are_differentiable(function):
    places = torch.tensor([[0, 0, 1, 2], [0, 2, 1, 0]])
    values = torch.tensor([1., 2., 3., 4.], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: function(torch.sparse_coo_tensor(places, v, (3, 3)).coalesce()), values)


def test_saved_tensors_are_watched():
    x = torch.ones(20, 2, requires_grad=True)
    s = _tensors()
    y = s @ x
    s.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
