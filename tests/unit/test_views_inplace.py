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


def test_a_write_outside_grad_mode_is_seen_by_views():
    y = torch.ones(4, requires_grad=True) * 2
    part, _ = y.split(2)
    with torch.no_grad():
        y.mul_(3)
    with pytest.raises(RuntimeError, match="Output 0 of Split is a view and its base or another view of its base has been"):
        part.grad_fn


def test_view_made_without_grad_mode_of_what_has_history():
    y = torch.ones(4, requires_grad=True) * 2
    with torch.no_grad():
        view = y[1:]
    assert view.requires_grad and view.is_leaf and view._is_view()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        view.sum().backward()


def test_views_of_a_view_made_without_grad_mode_are_refused_too():
    y, w = torch.zeros(4), torch.ones((), requires_grad=True)
    with torch.no_grad():
        view = y[1:]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        view[1:].add_(w)


def test_a_base_that_gets_tracked_later():
    base = torch.zeros(3)
    view = base[:2]
    base.requires_grad_()
    assert view.requires_grad
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        view.add_(1)


@pytest.mark.parametrize("write", [lambda x: x[1:].add_(x[:-1]), lambda x: x[1:].copy_(x[:-1]), lambda x: x.mul_(x[:1]),
                                   lambda x: x.__setitem__(slice(1, None), x[:-1]), lambda x: x[1:].addcmul_(x[:-1], x[:-1])])
def test_reading_what_is_being_written_is_refused(write):
    x = torch.arange(4.)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        write(x)
    assert x.tolist() == [0, 1, 2, 3] and x.mul_(x).tolist() == [0, 1, 4, 9] and x.copy_(x).tolist() == [0, 1, 4, 9]


def test_a_factor_that_is_overwritten_by_its_own_product():
    x = torch.ones(2, requires_grad=True) * 3
    x.mul_(x)                                  # the first factor is copied, the second is not
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.sum().backward()


def test_mask_of_a_number():
    w = torch.tensor(2., requires_grad=True)
    x = w * 1
    x[x > 5] = 0
    (x * x).backward()
    assert w.grad == 4


def test_integers_have_no_history():
    x = torch.ones(2, requires_grad=True)
    for y in (x.int(), x.long(), x.bool(), x.to(torch.int8)):
        assert not y.requires_grad and y.grad_fn is None


def test_a_leaf_taken_out_of_the_graph_gets_no_gradient():
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
