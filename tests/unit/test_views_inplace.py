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
    with pytest.raises(RuntimeError,
                       match="Output 0 of Split is a view and its base or another view of its base has been"):
        part.grad_fn


def test_view_made_without_grad_mode_of_what_has_history():
    y = torch.ones(4, requires_grad=True) * 2
    with torch.no_grad():
        view = y[1:]
    assert view.requires_grad and view.is_leaf and view._is_view()
    total = view.sum()                         # requires a gradient, which leads nowhere
    assert total.requires_grad and total.grad_fn.next_functions == ((None, 0),)
    total.backward()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        view.backward(torch.ones(3))


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
                                   lambda x: x.__setitem__(slice(1, None), x[:-1]),
                                   lambda x: x[1:].addcmul_(x[:-1], x[:-1])])
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


def test_gradients_of_writes_go_by_place_in_memory():
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    row = (x * 1)[0]
    past = row.as_strided((2, 2), (2, 1), 1)   # reaches past the row
    assert torch.autograd.grad((past * past).sum(), x, retain_graph=True)[0].tolist() == [[0, 2, 4], [0, 0, 0]]
    row.mul_(1)                                # now it is a view of the whole
    assert torch.autograd.grad((past * past).sum(), x)[0].tolist() == [[0, 2, 4], [6, 8, 0]]
    assert past.grad_fn.name() == "AsStridedBackward0"


def test_a_view_that_reaches_past_its_base_cannot_be_differentiated():
    base, w = torch.arange(6.)[3:].detach(), torch.tensor(2., requires_grad=True)
    base.as_strided((2, 2), (2, 1), 1).mul_(w)
    with pytest.raises(RuntimeError, match="invalid storage offset -2"):
        base.sum().backward()


def test_the_gradient_kept_of_a_base_is_that_after_the_write():
    y = torch.ones(2, 2, requires_grad=True) * 1
    y.retain_grad()
    y[0].mul_(3)
    (y * y).sum().backward()
    assert y.grad.tolist() == [[6, 6], [2, 2]]


def test_writes_through_views_of_another_dtype():
    z, w = torch.zeros(2, dtype=torch.complex64), torch.tensor(3., requires_grad=True)
    z.imag[1] = w
    torch.view_as_real(z).mul_(2)
    (z.abs() ** 2).sum().backward()
    assert z.tolist() == [0, 6j] and w.grad == 24


def test_a_view_that_is_out_of_date_may_be_compared():
    y = torch.ones(4, requires_grad=True) * 2
    part, _ = y.split(2)
    y.mul_(3)
    assert (part > 5).all() and part.detach().tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified"):
        part * 2


def test_a_shape_changed_outside_grad_mode():
    x = torch.ones(2, 3, requires_grad=True)
    y, z = x * 2, x * 2
    with torch.no_grad():
        y.t_()
        z.unsqueeze_(0)
    z.sum().backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]
    with pytest.raises(RuntimeError, match=r"got \[3, 2\] but expected shape compatible with \[2, 3\]"):
        y.sum().backward()


def test_a_leaf_that_was_written_to_later():
    x = torch.ones(2, requires_grad=True)
    total = (x * 2).sum()
    x.requires_grad_(False).mul_(torch.tensor(2., requires_grad=True))
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        total.backward()


def test_overlap_is_seen_through_data_too():
    x = torch.arange(4.)
    for write in (lambda: x[1:].add_(x.data[:-1]), lambda: x.data[1:].copy_(x[:-1])):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            write()


@pytest.mark.parametrize("index", [0, 5, slice(0)])
def test_a_tensor_without_elements_is_not_written_to_itself_by_indices(index):
    x, at = torch.zeros(0, 2), torch.arange(6)[index].reshape(-1)
    for write in (lambda: x.__setitem__(at, x), lambda: x.index_put_((at,), x)):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            write()


def test_a_base_given_other_memory():
    x, w = torch.zeros(4), torch.tensor(2., requires_grad=True)
    part = x[1:3]
    x.data = torch.ones(4)
    x.mul_(w)
    (part * 3).sum().backward()                # by place, as if it still were a part
    assert w.grad == 6


def test_history_of_a_part_that_was_written_to_is_walked_once():
    for write in (lambda b: b[0].zero_(), lambda b: b[:, :0].add_(1)):
        b = torch.ones(2, 2, requires_grad=True) * 1
        write(b)
        b.sum().backward()
        with pytest.raises(RuntimeError, match="a second time"):
            b.sum().backward()


def test_inference_tensor_detached_outside_may_be_written_to():
    with torch.inference_mode():
        x = torch.ones(2)
    for y in (x.detach(), x.data):
        assert y.is_inference() and y._version == 0
        y.add_(1)
        assert y._version == 1 and not y[0]._is_view()
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            y[:1].mul_(2)
    assert x.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        x.add_(1)


def test_nodes_are_younger_than_those_that_their_edges_lead_to():
    """Also where a write through a view gives its node an edge to a history of the view that is made then."""
    x = torch.tensor([1., 2.], requires_grad=True)
    base = torch.zeros(3, 2)
    column = base.t()[0]
    base[0].copy_(x * x)
    column.copy_(column * 2 + x[0])
    stack, seen = [(base * base).sum().grad_fn], set()
    while stack:
        node = stack.pop()
        seen.add(node)
        for following, _ in node.next_functions:
            if following is not None and following.name() != "torch::autograd::AccumulateGrad":
                assert following._sequence_nr() < node._sequence_nr()
                stack.append(following)
    assert "torch::autograd::CopyBackwards" in {node.name() for node in seen}
