"""Normalisation and padding: statistics, twins, modes, refusals."""
import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F


def normal(*shape):
    return torch.tensor(np.random.default_rng(0).normal(2.0, 3.0, size=shape), requires_grad=True)


@pytest.mark.parametrize("f, dims", [
    (lambda x: F.batch_norm(x, None, None, training=True), (0, 2)), (lambda x: F.layer_norm(x, (4, 5)), (1, 2)),
    (lambda x: F.group_norm(x, 1), (1, 2)), (lambda x: F.instance_norm(x), (2,))])
def test_mean_zero_variance_one(f, dims):
    y = f(normal(6, 4, 5)).detach().numpy()
    np.testing.assert_allclose(y.mean(dims), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(dims), 1, 1e-4)


@pytest.mark.parametrize("f", [
    lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    lambda x, w, b: F.batch_norm(x, torch.ones(4).double(), torch.ones(4).double() * 2, w, b),
    lambda x, w, b: F.layer_norm(x, (4,), w, b), lambda x, w, b: F.group_norm(x, 2, w, b),
    lambda x, w, b: F.rms_norm(x, (4,), w) + b])
def test_twin_gives_the_same_gradients(f):
    inputs = normal(3, 4), normal(4), normal(4)
    y = f(*inputs)
    plain = torch.autograd.grad((y * y).sum(), inputs)
    y = f(*inputs)
    twin = torch.autograd.grad((y * y).sum(), inputs, create_graph=True)
    for a, b in zip(plain, twin):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), 1e-9, 1e-10)


def test_running_statistics():
    layer = torch.nn.BatchNorm1d(2, momentum=None)
    batches = [normal(5, 2).float(), normal(5, 2).float() * 2]
    for x in batches:
        layer(x)
    assert layer.num_batches_tracked.item() == 2
    expected = np.mean([x.detach().numpy().mean(0) for x in batches], 0)
    np.testing.assert_allclose(layer.running_mean.numpy(), expected, 1e-5)
    before = layer.running_mean.clone()
    layer.eval()(batches[0])
    assert torch.equal(before, layer.running_mean)
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0, 0] and layer.running_var.tolist() == [1, 1]


def test_evaluation_uses_running_statistics():
    x = torch.tensor([[3.0], [5.0]])
    y = F.batch_norm(x, torch.tensor([1.0]), torch.tensor([4.0]), eps=0.0)
    assert y.tolist() == [[1], [2]]


def test_refusals():
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        torch.nn.BatchNorm1d(3)(torch.ones(1, 3))
    with pytest.raises(ValueError, match=r"expected 4D input \(got 2D input\)"):
        torch.nn.BatchNorm2d(3)(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="Given normalized_shape"):
        F.layer_norm(torch.ones(2, 3), (2,))
    with pytest.raises(ValueError, match="must be divisible"):
        torch.nn.GroupNorm(3, 4)


def test_half_precision_keeps_its_dtype():
    x = torch.tensor([[1.0, 3.0]])
    for half in (torch.float16, torch.bfloat16):
        y = F.layer_norm(x.to(half), (2,))
        assert y.dtype is half and y.float().tolist() == [[-1, 1]]


def test_loads_a_state_without_batch_count():
    state = torch.nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    del state._metadata
    assert str(torch.nn.BatchNorm1d(2).load_state_dict(state)) == "<All keys matched successfully>"


@pytest.mark.parametrize("mode, expected", [("constant", [0, 0, 1, 2, 3, 0]), ("reflect", [3, 2, 1, 2, 3, 2]),
                                            ("replicate", [1, 1, 1, 2, 3, 3]), ("circular", [2, 3, 1, 2, 3, 1])])
def test_pad_modes(mode, expected):
    x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = F.pad(x, (2, 1), mode)
    assert y.tolist() == [expected]
    y.sum().backward()
    assert x.grad.tolist() == [[expected.count(v) for v in (1, 2, 3)]]


def test_pad_cuts_with_negative_widths():
    assert F.pad(torch.tensor([1, 2, 3]), (-1, 1), value=9).tolist() == [2, 3, 9]
    with pytest.raises(RuntimeError, match="narrow"):
        F.pad(torch.ones(3), (-4, 0))
