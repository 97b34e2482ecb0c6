"""The tape: backward, accumulation, freeing, in-place writes through views, hooks, modes."""
import gc
import threading
import weakref

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.node import Node


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_gradients_accumulate_in_place():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    first = x.grad
    (x * 2).sum().backward()
    assert x.grad is first and first.tolist() == [5.0, 5.0]


def test_gradients_of_leaves_share_no_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    g = torch.ones(2)
    (x + y).backward(g)
    assert not np.shares_memory(x.grad.numpy(), y.grad.numpy())
    assert not np.shares_memory(x.grad.numpy(), g.numpy())


def test_gradient_of_an_input_given_as_its_own_gradient_is_a_copy():
    x = leaf(1.0)
    g = torch.ones(1)
    x.backward(g)
    g.fill_(7)
    assert x.grad.tolist() == [1.0]


def test_broadcast_gradient_has_the_shape_of_the_input():
    x, row = torch.ones(3, 4, requires_grad=True), torch.ones(1, 4, requires_grad=True)
    scalar = torch.tensor(2.0, requires_grad=True)
    (x * row * scalar).sum().backward()
    assert row.grad.tolist() == [[6.0] * 4] and scalar.grad.item() == 12.0


def test_gradient_keeps_the_dtype_of_the_input():
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype == torch.float32 and y.grad.dtype == torch.float64


def test_only_wanted_gradients_are_computed():
    calls = []
    x, y = leaf(1.0), leaf(2.0)
    h = x * 2
    h.register_hook(lambda g: calls.append("h"))
    torch.autograd.grad((h + y * 3).sum(), y)
    assert calls == []


def test_grad_of_a_tensor_inside_the_graph():
    x = leaf(3.0)
    y = x * x
    z = y * 2
    assert torch.autograd.grad(z, [y, x], torch.ones(1))[0].tolist() == [2.0]


def test_backward_with_inputs_leaves_the_others_alone():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).backward(inputs=[x])
    assert x.grad.tolist() == [2.0] and y.grad is None


def test_retain_graph():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_nothing_saved_nothing_to_free():
    y = (leaf(1.0) + 1).sum()
    y.backward()
    y.backward()


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_higher_derivatives(order):
    x = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    y = torch.exp(2 * x)
    for _ in range(order):
        y, = torch.autograd.grad(y, x, create_graph=True)
    assert y.item() == pytest.approx(2 ** order * np.exp(1.0))


def test_create_graph_records_the_gradient_in_grad():
    x = leaf(3.0)
    (x ** 3).sum().backward(create_graph=True)
    assert x.grad.requires_grad
    g, = torch.autograd.grad(x.grad.sum(), x)
    assert g.tolist() == [18.0]


def test_a_dropped_graph_is_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        y = (torch.exp(x) * x).tanh().sum()
        view = (x * 2)[1:]
        view.mul_(3)
        node, array, through_view = weakref.ref(y.grad_fn), weakref.ref(y), weakref.ref(view._base.grad_fn)
        loss = y + view.sum()
        loss.backward()
        del loss, y, view
        assert node() is None and array() is None and through_view() is None
        assert not any(isinstance(o, Node) for o in gc.get_objects())
    finally:
        gc.enable()


def test_a_very_deep_graph():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1.0]


# ------------------------------------------------------------------ views and in-place writes
def test_writing_through_a_view_changes_the_history_of_its_base():
    w = leaf(5.0)
    base = torch.zeros(3)
    view = base[1:2]
    other = base[:2]
    view.add_(w)
    assert base.grad_fn.name() == "torch::autograd::CopySlices" and other.requires_grad
    (base * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert w.grad.tolist() == [10.0] and base.tolist() == [0.0, 5.0, 0.0]


def test_views_of_views_and_several_writes():
    x = torch.arange(6.0).requires_grad_()
    base = x * 1
    rows = base.view(2, 3)
    rows[0].mul_(2)
    rows.t()[2].mul_(3)
    base.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 6.0, 1.0, 1.0, 3.0]


def test_views_share_the_version():
    x = torch.zeros(4)
    view = x[1:].view(3, 1)
    view.add_(1)
    x.detach().mul_(2)
    assert x._version == view._version == 2 and x.data._version == 0


def test_setitem_records():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y[1] = 7.0
    y[[0]] = y[2] * 5
    y.sum().backward()
    assert y.tolist() == [30.0, 7.0, 6.0] and x.grad.tolist() == [0.0, 0.0, 12.0]


def test_no_grad_writes_to_leaves():
    x = leaf(1.0)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0] and x.is_leaf and x.requires_grad


def test_second_order_through_a_write_to_a_view():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x * x
    y[0].mul_(x[1])
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x)
    # y.sum() = x0^2 x1 + x1^2
    assert g.tolist() == [4.0, 5.0] and h.tolist() == [6.0, 4.0]


# ------------------------------------------------------------------ hooks and modes
def test_tensor_hooks():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 10)
    (x * 2).backward(torch.ones(1))
    handle.remove()
    (x * 2).backward(torch.ones(1))
    assert x.grad.tolist() == [22.0]


def test_retain_grad():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0] and y.retains_grad


def test_post_accumulate_hook():
    seen = []
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 2).backward(torch.ones(1))
    assert seen == [[2.0]]


def test_grad_mode_belongs_to_the_thread():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_modes_as_decorators():
    @torch.no_grad()
    def plain():
        return torch.is_grad_enabled()

    @torch.no_grad
    def bare():
        return torch.is_grad_enabled()

    @torch.no_grad()
    def generator():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()
    inside = generator()
    assert not plain() and not bare() and next(inside) is False and torch.is_grad_enabled() and next(inside) is False
    torch.set_grad_enabled(False)
    try:
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


def test_next_functions():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert repr(y.grad_fn).startswith("<ExpBackward0 object at")
    mul = y.grad_fn.next_functions[0][0]
    assert mul.name() == "MulBackward0" and mul.next_functions[0][0].variable is x


def test_many_output_op_shows_one_node():
    a, b = torch.ones(4, requires_grad=True).split(2)
    assert a.grad_fn is b.grad_fn and b.output_nr == 1
    (b * 3).sum().backward()


def test_saving_only_what_a_rule_names():
    """mul keeps an operand only for the gradient of the other one."""
    x, c = leaf(1.0, 2.0), torch.ones(2)
    node = (x * c).grad_fn
    assert node.saved[0] is None and node.saved[1] is c._array
    assert (x + c).grad_fn.saved == ()
    y = torch.tanh(x)
    assert y.grad_fn.saved[0] is None and y.grad_fn.saved[1] is y._array
