"""Activations: what they compute, what they keep, what they refuse."""
import math

import numpy as np
import pytest

import tinytorch as torch
import tinytorch.nn.functional as F


def leaf(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("name", ["relu", "sigmoid", "softmax"])
def test_saves_its_output_alone(name):
    x = leaf([1.0, -2.0])
    y = getattr(torch, name)(x * 1, *((0,) if name == "softmax" else ()))
    arrays = [s for s in y.grad_fn.saved if isinstance(s, np.ndarray)] if hasattr(y.grad_fn, "saved") else [y._array]
    assert len(arrays) == 1 and arrays[0] is y._array


def test_derivatives_at_the_kinks():
    for f, at, slope in [(torch.relu, 0.0, 0.0), (F.relu6, 6.0, 0.0), (F.hardtanh, -1.0, 0.0),
                         (F.leaky_relu, 0.0, 0.01),
                         (F.elu, 0.0, 1.0), (F.hardsigmoid, 3.0, 0.0),
                         (F.hardswish, 3.0, 1.0), (F.softshrink, 0.5, 0.0),
                         (F.hardswish, -3.0, 0.0)]:
        x = leaf([at])
        f(x).sum().backward()
        assert x.grad.item() == slope, f.__name__


def test_gelu_against_its_definition():
    x = np.linspace(-6, 6, 101)
    expected = [0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x]
    np.testing.assert_allclose(F.gelu(torch.tensor(x)).numpy(), expected, 1e-12, 1e-15)
    np.testing.assert_allclose(F.gelu(torch.tensor(x).float()).numpy(), expected, 1e-5, 1e-6)
    assert F.gelu(torch.tensor(1.0)).shape == ()


def test_large_inputs_do_not_overflow():
    x = torch.tensor([-1000.0, 1000.0])
    assert torch.sigmoid(x).tolist() == [0, 1]
    assert F.softplus(x).tolist() == [0, 1000]
    assert F.logsigmoid(x).tolist() == [-1000, 0]
    assert F.silu(x).tolist() == [0, 1000]
    assert torch.softmax(x, 0).tolist() == [0, 1]
    assert torch.log_softmax(x, 0).tolist() == [-2000, 0]


def test_inplace_writes_and_differentiates():
    for f in (F.relu, F.leaky_relu, F.elu, F.silu, F.mish, F.hardswish, F.celu, F.selu, F.hardsigmoid, F.relu6):
        x, y = leaf([-0.7, 0.4, 2.0]), leaf([-0.7, 0.4, 2.0])
        inner = x * 1
        assert f(inner, inplace=True) is inner
        inner.sum().backward()
        f(y).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), 1e-12)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        F.relu(x, inplace=True)


def test_softmax_rows_sum_to_one_and_gradient_sums_to_zero():
    x = leaf(np.random.default_rng(0).normal(size=(3, 4)))
    y = x.softmax(1)
    np.testing.assert_allclose(y.sum(1).detach().numpy(), np.ones(3), 1e-12)
    y[:, 0].sum().backward()
    np.testing.assert_allclose(x.grad.sum(1).numpy(), np.zeros(3), atol=1e-15)


def test_softmax_dim_and_types():
    with pytest.raises(IndexError):
        torch.softmax(torch.ones(2), 1)
    with pytest.raises(NotImplementedError, match="softmax_lastdim_kernel_impl"):
        torch.softmax(torch.tensor([1, 2]), 0)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        F.softmax(torch.ones(2, 2))


def test_bfloat16_computes_in_float32():
    x = torch.tensor([-1.0, 2.0]).bfloat16()
    for f in (torch.relu, F.gelu, F.silu, F.elu, F.relu6, lambda t: torch.softmax(t, 0)):
        assert f(x).dtype is torch.bfloat16


def test_module_texts():
    nn = torch.nn
    assert repr(nn.ReLU(inplace=True)) == "ReLU(inplace=True)"
    assert repr(nn.Threshold(1, 2)) == "Threshold(threshold=1, value=2)"
    assert repr(nn.Hardtanh()) == "Hardtanh(min_val=-1.0, max_val=1.0)"
    assert repr(nn.Softmax(1)) == "Softmax(dim=1)"
    assert list(nn.PReLU(3).state_dict()) == ["weight"]
