"""Writes through views, and what is refused."""
import pytest

import tinytorch as torch


def test_writes_reach_base_and_other_views():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    row, column = y[0], y[:, 0]
    row.mul_(3)
    column.add_(1)
    (y * torch.tensor([1., 10, 100])).sum().backward()
    assert row.tolist() == [4, 3, 3] and x.grad.tolist() == [[3, 30, 300], [1, 10, 100]]
    assert y._version == row._version == column._version == 2


def test_a_view_made_before_its_base_was_tracked():
    base, w = torch.zeros(3), torch.tensor(2., requires_grad=True)
    view = base[:2]
    base[0] = w
    assert view.requires_grad
    (view * view).sum().backward()
    assert w.grad == 4


def test_saved_values_are_watched():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y * y
    y[0] = 5
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_second_derivative_through_a_write():
    x = torch.tensor([1., 2, 3], requires_grad=True)
    y = x * x
    y[1:].mul_(2)
    g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [4, 128, 432] and h.tolist() == [12, 192, 432]


def test_view_made_without_grad_mode():
    y, w = torch.zeros(2), torch.ones((), requires_grad=True)
    with torch.no_grad():
        view = y[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view.add_(w)


def test_write_to_expanded_memory_is_refused():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.zeros(1).expand(3).add_(1)


def test_detached_writes_count():
    y = torch.ones(2, requires_grad=True) * 1
    y.detach().zero_()
    assert y._version == 1 and y.tolist() == [0, 0]


def test_write_under_no_grad_keeps_the_history():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with torch.no_grad():
        y[0] = 7
    y.sum().backward()
    assert x.grad.tolist() == [2, 2] and y.tolist() == [7, 2]
