"""The graph API beside what tests/parity/test_graph.py compares."""
import gc
import threading
import warnings
import weakref

import pytest

import tinytorch as torch
from tinytorch.autograd.node import Node

graph = torch.autograd.graph


def leaf():
    return torch.tensor([1., 2., 3.], requires_grad=True)


def test_nodes():
    node = (leaf() * 2).grad_fn
    node.metadata["mine"] = 1
    assert isinstance(node, graph.Node) and node.metadata == {"mine": 1}
    assert isinstance(node.next_functions[0][0], graph.Node)
    with pytest.raises(AttributeError, match="no attribute '_saved_nothing'"):
        node._saved_nothing


def test_a_handle_removes_its_hook():
    x, log = leaf(), []
    y = x * 2
    handle = y.grad_fn.register_hook(lambda into, out: log.append(1))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    assert log == [1]


def test_hooks_make_no_cycles():
    gc.collect()
    gc.disable()
    try:
        x = leaf()
        y = x.exp()
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        y.grad_fn.register_prehook(lambda out: None)
        graph.register_multi_grad_hook((x, y), lambda grads: None)
        with graph.save_on_cpu():
            z = (y * y).tanh()
        z[0].mul_(2)
        z.sum().backward()
        node = weakref.ref(y.grad_fn)
        del y, z
        assert node() is None and not any(isinstance(o, Node) for o in gc.get_objects())
    finally:
        gc.enable()


def test_backward_from_an_edge_and_to_a_tensor_inside():
    x = leaf()
    y = x * 2
    torch.autograd.backward(graph.get_gradient_edge(y), torch.ones(3))
    assert x.grad.tolist() == [2, 2, 2]
    (y * y).sum().backward(inputs=[y])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert y.grad.tolist() == [4, 8, 12]


def test_increment_version():
    x = torch.ones(2)
    graph.increment_version([x, x])
    assert x._version == 2


def test_save_on_cpu_shields_from_writes():
    x = leaf()
    with graph.save_on_cpu(pin_memory=True):
        y = x.exp()
    y.zero_()
    x2 = leaf()
    with graph.save_on_cpu():
        y = x2 * 1
        z = y * y
    y.data.zero_()
    z.sum().backward()
    assert x2.grad.tolist() == [2, 4, 6]


@pytest.mark.parametrize("f", [
    lambda x: torch.nn.functional.conv2d(x[None, None], x[None, None, :2, :2]), lambda x: torch.softmax(x, 0),
    lambda x: torch.nn.functional.layer_norm(x, (3,)), lambda x: x.max(0)[0], lambda x: x.sort()[0], lambda x: x @ x,
    lambda x: torch.nn.functional.max_pool2d(x[None], 2), lambda x: torch.linalg.inv(x + 3 * torch.eye(3)), torch.prod,
    lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 2])), lambda x: x[[0, 2]], lambda x: x.std()])
def test_packing_changes_no_gradient(f):
    torch.manual_seed(0)
    x = torch.rand(3, 3, requires_grad=True)
    want, = torch.autograd.grad(f(x).sum(), x)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone().numpy(), torch.from_numpy):
        y = f(x)
    got, = torch.autograd.grad(y.sum(), x)
    assert torch.equal(got, want)


def test_hooks_belong_to_the_thread():
    seen = []
    with graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        thread = threading.Thread(target=lambda: leaf().exp())
        thread.start()
        thread.join()
        with torch.no_grad():
            leaf().exp()
            with torch.enable_grad():
                assert torch.is_grad_enabled() is True
                leaf().exp()
    assert len(seen) == 1


def test_modes_inside_inference_mode():
    x = leaf()
    with torch.inference_mode():
        with torch.enable_grad():
            assert not (x * 2).requires_grad
        with torch.inference_mode(False):
            assert (x * 2).requires_grad and not torch.ones(1).is_inference()
    assert not torch.ones(1).is_inference() and (x * 2).requires_grad
    seen = []
    with torch.inference_mode():
        thread = threading.Thread(target=lambda: seen.append(torch.ones(1).is_inference()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_anomaly_mode_names_forward_line_and_write():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.set_detect_anomaly(True):
            y = leaf().exp()
            z = y * y                          # the forward line
            y.add_(1)                          # the write
            with pytest.raises(RuntimeError, match=r"changed here:\n.*\n +y.add_\(1\) +# the write"):
                z.sum().backward()
    assert any("# the forward line" in str(w.message) for w in caught)
    assert not torch.is_anomaly_enabled()


def test_batched_gradients_keep_the_graph():
    x = leaf()
    g, = torch.autograd.grad(x ** 3, x, torch.eye(3), create_graph=True, is_grads_batched=True)
    g.sum().backward()
    assert x.grad.tolist() == [6, 12, 18]


def test_mutation_is_allowed_in_its_context_alone():
    x = torch.tensor([1., 2., 3.], requires_grad=True)
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        y.zero_()
        z.backward()
    assert x.grad.tolist() == [2, 4, 6]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y = x * 1
        z = (y * y).sum()
        y.zero_()
        z.backward()


def test_anomaly_mode_names_the_line_of_the_write():
    x = torch.tensor([1., 2., 3.], requires_grad=True)
    with pytest.raises(RuntimeError) as caught, pytest.warns(UserWarning, match=r"z = y \* y  # read") as warned:
        with torch.autograd.detect_anomaly():
            y = x * 1
            z = y * y  # read
            y.add_(1)  # written
            z.sum().backward()
    assert "y.add_(1)  # written" in str(caught.value)
    assert "Error detected in MulBackward0" in str(warned[-1].message)


def test_nodes_are_made_plain_and_shown_by_name():
    y = torch.ones(2, requires_grad=True) * 2
    assert type(y._node).__name__ == "Node"
    assert type(y.grad_fn).__name__ == "MulBackward0"
    assert y.grad_fn is y._node
