"""x[...], x[...] = v, gather and scatter."""
import numpy as np
import pytest

import tinytorch as torch


def test_basic_indexing_is_a_view_and_advanced_a_copy():
    x = torch.zeros(3, 4)
    x[1:, 0].fill_(1)
    x[torch.tensor([0, 1])].fill_(5)
    assert x.sum() == 2 and x[0]._base is x


@pytest.mark.parametrize("index, error, text", [
    (5, IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    ((0, -5), IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"),
    (torch.tensor([7]), IndexError, "index 7 is out of bounds for dimension 0 with size 3"),
    (torch.ones(2, dtype=torch.bool), IndexError, "The shape of the mask"),
    (1.5, IndexError, "only integers, slices")])
def test_errors(index, error, text):
    with pytest.raises(error, match=text):
        torch.zeros(3, 4)[index]


def test_numbers_are_taken_before_arrays():
    x = torch.zeros(2, 3, 4)
    assert x[0, :, torch.tensor([0, 1])].shape == (3, 2)
    assert x[torch.tensor([0, 1]), :, torch.tensor([0, 1])].shape == (2, 3)


def test_repeated_places_add_up_in_backward():
    x = torch.zeros(3, 2, requires_grad=True)
    x[torch.tensor([0, 0, 2])].sum().backward()
    assert x.grad.tolist() == [[2, 2], [0, 0], [1, 1]]


def test_backward_refuses_writes_to_the_index():
    x, i = torch.zeros(3, requires_grad=True), torch.tensor([0, 1])
    y = x[i]
    i.fill_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_backward_survives_writes_to_an_array_for_index():
    x, i = torch.zeros(3, requires_grad=True), np.array([0, 1])
    y = x[i]
    i[:] = 2
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 0]


def test_setitem_history():
    x = torch.ones(3, requires_grad=True)
    w = torch.tensor(2., requires_grad=True)
    y = x * 1
    y[0] = w
    y[torch.tensor([1])] = 5.
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 0, 2] and w.grad == 4 and y._version == 2


def test_leaf_is_refused():
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        torch.ones(3, requires_grad=True)[0] = 1


@pytest.mark.parametrize("value", [[1., 2], np.zeros(2), None, "a"])
def test_setitem_takes_numbers_and_tensors(value):
    with pytest.raises(TypeError, match="can't assign a"):
        torch.zeros(2)[0] = value


def test_write_through_a_view_of_a_base_in_another_layout():
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    y = (x * 2).t().clone()                    # laid out column by column
    y.t().view(6)[2:4].mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [[2, 2, 6], [6, 2, 2]]


@pytest.mark.parametrize("reduce, expected", [("sum", [4, 1]), ("prod", [3, 1]), ("mean", [4 / 3, 1]), ("amax", [3, 1]),
                                              ("amin", [0, 1])])
def test_scatter_reduce(reduce, expected):
    start = torch.tensor([1., 1]) if reduce == "prod" else torch.tensor([0., 1])
    result = start.scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([1., 3]), reduce)
    assert torch.allclose(result, torch.tensor(expected, dtype=torch.float32))


def test_gather_scatter_are_adjoint():
    x, i = torch.arange(6.).reshape(2, 3).requires_grad_(), torch.tensor([[0, 0], [2, 1]])
    w = torch.tensor([[1., 2], [3, 4]])
    (x.gather(1, i) * w).sum().backward()
    assert x.grad.tolist() == torch.zeros(2, 3).scatter_add(1, i, w).tolist() == [[3, 0, 0], [0, 4, 3]]


def test_scatter_in_place():
    x = torch.zeros(2, 3)
    assert x.scatter_(1, torch.tensor([[0], [2]]), 1.) is x
    assert x.tolist() == [[1, 0, 0], [0, 0, 1]]
    x.index_add_(0, torch.tensor([1, 1]), torch.ones(2, 3)).index_fill_(1, torch.tensor([1]), 7)
    assert x.tolist() == [[1, 7, 0], [2, 7, 3]]


def test_masks():
    x = torch.arange(4.).requires_grad_()
    y = x.masked_fill(x > 2, 0).masked_scatter(x < 1, x * 10 + 3)
    y.sum().backward()
    assert y.tolist() == [3, 1, 2, 0] and x.grad.tolist() == [10, 1, 1, 0]
    assert x[x > 1].tolist() == x.masked_select(x > 1).tolist() == [2, 3]


def test_gradient_at_pairs_of_places():
    """Of rows and columns that repeat, count from the end and are broadcast against each other."""
    rows, columns = torch.tensor([[0], [-1], [2]]), torch.tensor([1, -2, 1, 0])
    x = torch.zeros(3, 4, requires_grad=True)
    g = torch.arange(1.0, 13.0).reshape(3, 4)
    x[rows, columns].backward(g)
    expected = torch.zeros(3, 4)
    for i in range(3):
        for j in range(4):
            expected[int(rows[i, 0]), int(columns[j])] += g[i, j]
    assert torch.equal(x.grad, expected)
