"""Sparse tensors of another size, and sparse matrices of diagonals, as in torch."""
import numpy as np
import pytest
import torch

import tinytorch

BOTH = [torch, tinytorch]
pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")


def coo(t):
    return t.sparse_coo_tensor([[0, 1], [1, 0]], [3.0, 4.0], (2, 2))


def described(x):
    if not x.layout.__str__().endswith("coo"):
        return str(x.layout).split(".")[1], x.to_dense().tolist(), x.values().tolist()
    return (x._indices().tolist(), x._values().tolist(), tuple(x._values().shape), tuple(x.shape), x.sparse_dim(),
            x.dense_dim(), x.is_coalesced(), str(x.dtype).split(".")[1])


def changed(make, change):
    def call(t):
        x = make(t)
        version = x._version
        assert change(x, t) is x and x._version == version + 1
        return x
    return call


def diagonals(offsets, shape, layout=None, rows=3):
    def call(t):
        values = t.arange(3 * rows).reshape(rows, 3)
        return t.sparse.spdiags(values, t.tensor(offsets), shape, *([getattr(t, layout)] if layout else []))
    return call


CALLS = {
    "larger": changed(coo, lambda x, t: x.sparse_resize_((3, 4), 2, 0)),
    "by keyword": changed(coo, lambda x, t: x.sparse_resize_(size=t.Size((3, 4)), sparse_dim=2, dense_dim=0)),
    "larger of coalesced": changed(lambda t: coo(t).coalesce(), lambda x, t: x.sparse_resize_([3, 4], 2, 0)),
    "of none": changed(lambda t: t.sparse_coo_tensor(size=(2, 2)), lambda x, t: x.sparse_resize_((1, 2, 3), 1, 2)),
    "cleared": changed(coo, lambda x, t: x.sparse_resize_and_clear_((3, 4), 2, 0)),
    "cleared to dense": changed(coo, lambda x, t: x.sparse_resize_and_clear_((3, 4, 5), 1, 2)),
    "as": changed(coo, lambda x, t: x.resize_as_sparse_(t.eye(3).to_sparse())),
    "as by function": changed(coo, lambda x, t: t.resize_as_sparse_(x, t.eye(4).to_sparse())),
    "resize_as_": changed(coo, lambda x, t: x.resize_as_(t.eye(3).to_sparse())),
    "smaller": lambda t: coo(t).sparse_resize_((1, 2), 2, 0),
    "more dense": lambda t: coo(t).sparse_resize_((2, 2, 3), 2, 1),
    "more sparse": lambda t: coo(t).sparse_resize_((2, 2, 3), 3, 0),
    "smaller dense": lambda t: t.sparse_coo_tensor([[0, 1]], t.ones(2, 3), (2, 3)).sparse_resize_((4, 2), 1, 1),
    "sum": lambda t: coo(t).sparse_resize_((2, 2), 2, 1),
    "sum cleared": lambda t: coo(t).sparse_resize_and_clear_((2, 2), 1, 0),
    "leaf": lambda t: coo(t).requires_grad_().sparse_resize_((3, 3), 2, 0),
    "int": lambda t: coo(t).sparse_resize_(2, 2, 0),
    "as a dense one": lambda t: coo(t).resize_as_sparse_(t.eye(3)),
    "diagonals": diagonals([0, -1, 2], (3, 3)), "wide": diagonals([0, -1, 2], (2, 5)),
    "tall": diagonals([0, 1, -2], (5, 4)), "empty one": diagonals([0, 1, 3], (3, 3)),
    "csr": diagonals([0, -1, 2], (3, 3), "sparse_csr"), "csc": diagonals([0, -1, 2], (3, 3), "sparse_csc"),
    "coo": diagonals([0, -1, 2], (3, 3), "sparse_coo"), "strided": diagonals([0, -1, 2], (3, 3), "strided"),
    "one": lambda t: t.sparse.spdiags(t.arange(3.0), t.tensor(1), (4, 4)),
    "none": lambda t: t.sparse.spdiags(t.ones(0, 3), t.ones(0, dtype=t.int64), (3, 3)),
    "no columns": lambda t: t.sparse.spdiags(t.ones(1, 0), t.zeros(1, dtype=t.int64), (3, 3)),
    "no rows": lambda t: t.sparse.spdiags(t.ones(1, 2), t.zeros(1, dtype=t.int64), (0, 3)),
    **{f"of {name}": lambda t, name=name: t.sparse.spdiags(t.ones(1, 3).to(getattr(t, name)), t.tensor([1]), (3, 3))
       for name in ("bool", "int8", "float16", "complex64")},
    "twice": diagonals([0, 0, 2], (3, 3)), "floats": diagonals([0.0, 1.0, 2.0], (3, 3)),
    "another count": diagonals([0, 1], (3, 3)), "a line": diagonals([0, 1, 2], (3,)),
    "2-dim offsets": diagonals([[0, 1, 2]], (3, 3)),
    "3-dim": lambda t: t.sparse.spdiags(t.ones(2, 2, 2), t.tensor([0, 1]), (3, 3)),
    "a list": lambda t: t.sparse.spdiags(t.ones(1, 3), [0], (3, 3)),
}


def told(t, call):
    try:
        return described(call(t))
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", CALLS)
def test_as_torch(name):
    assert told(tinytorch, CALLS[name]) == told(torch, CALLS[name])


def test_dense_tensors_and_compressed_ones_are_refused():
    for make in (lambda t: t.ones(2), lambda t: t.eye(2).to_sparse_csr()):
        for change in (lambda x: x.sparse_resize_((3,), 1, 0), lambda x: x.sparse_resize_and_clear_((3,), 1, 0)):
            for t in BOTH:
                with pytest.raises(NotImplementedError, match="Could not run 'aten::sparse_resize_"):
                    change(make(t))


def test_values_of_larger_dense_dimensions_are_those_of_the_memory():
    """torch leaves what follows them undefined."""
    for t in BOTH:
        x = t.sparse_coo_tensor([[0, 1]], t.arange(6.0).reshape(2, 3), (2, 3)).sparse_resize_((4, 5), 1, 1)
        assert x._values().reshape(-1)[:6].tolist() == [0, 1, 2, 3, 4, 5] and x._values().shape == (2, 5)


def test_diagonals_of_matrices_and_of_what_lies_outside():
    """Columns that the matrix has not are left out (torch makes a tensor whose indices lie outside), and a diagonal
    beyond it is refused. Gradients are there, which torch has not."""
    x = tinytorch.arange(9.0).reshape(3, 3).requires_grad_()
    got = tinytorch.sparse.spdiags(x, tinytorch.tensor([0, -1, 2]), (5, 2)).to_dense()
    assert got.tolist() == [[0, 0], [3, 1], [0, 4], [0, 0], [0, 0]]
    (got * tinytorch.arange(10.0).reshape(5, 2)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[0, 3, 0], [2, 5, 0], [0, 0, 0]])
    with pytest.raises(RuntimeError, match="outside of a matrix"):
        tinytorch.sparse.spdiags(x.detach(), tinytorch.tensor([0, 1, 4]), (3, 3))
