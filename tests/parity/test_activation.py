"""Activations and softmax against torch: values, gradients (at the kinks too), in-place forms, types and errors."""
import numpy as np
import pytest
import torch
import torch.nn.functional as TF

import tinytorch
import tinytorch.nn.functional as F

pytestmark = pytest.mark.filterwarnings("ignore")

# every kink, and the numbers next to it
POINTS = np.array([-7, -3.5, -3, -2.5, -1, -0.5, -0.25, -0.0, 0, 0.25, 0.5, 1, 2, 3, 5.5, 6, 6.5, 25, -120, 120,
                   np.inf, -np.inf])
CASES = [("relu", {}), ("relu6", {}), ("leaky_relu", {}), ("leaky_relu", {"negative_slope": -0.5}),
         ("leaky_relu", {"negative_slope": 2.0}), ("leaky_relu", {"negative_slope": 0.0}), ("elu", {}),
         ("elu", {"alpha": 0.5}), ("selu", {}), ("celu", {"alpha": 2.0}), ("gelu", {}),
         ("gelu", {"approximate": "tanh"}),
         ("silu", {}), ("mish", {}), ("softplus", {}), ("softplus", {"beta": 2, "threshold": 4}), ("softsign", {}),
         ("tanhshrink", {}), ("hardtanh", {}), ("hardtanh", {"min_val": -3, "max_val": 2}), ("hardsigmoid", {}),
         ("hardswish", {}), ("hardshrink", {}), ("softshrink", {}), ("softshrink", {"lambd": 1}), ("logsigmoid", {}),
         ("threshold", {"threshold": 0.5, "value": 2.0}), ("rrelu", {}), ("sigmoid", {}), ("tanh", {})]


def both(f, dtype, data=POINTS):
    """f(module, functional, x) for both, and the gradients of x."""
    found = []
    for m, functional in ((tinytorch, F), (torch, TF)):
        x = m.tensor(data, dtype=getattr(m, dtype), requires_grad=True)
        y = f(m, functional, x)
        y.backward(m.ones_like(y))
        found += [y.detach().numpy(), x.grad.numpy()]
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, options", CASES)
def test_value_and_gradient(name, options, dtype):
    data = POINTS[np.isfinite(POINTS)] if name in ("gelu", "mish", "silu", "softsign", "tanhshrink") else POINTS
    ours, grad, theirs, their_grad = both(lambda m, f, x: getattr(f, name)(x, **options), dtype, data)
    assert ours.dtype == theirs.dtype
    rtol, atol = (1e-5, 2e-6) if dtype == "float32" else (1e-12, 1e-14)
    np.testing.assert_allclose(ours, theirs, rtol, atol)
    if name == "hardsigmoid":
        rtol = 1e-7                            # torch's double 1/6 is that of single precision
    np.testing.assert_allclose(grad, their_grad, rtol, atol)


@pytest.mark.parametrize("name, options", [c for c in CASES if c[0] != "hardsigmoid"])     # torch has none for it
def test_second_derivative(name, options):
    data = np.array([-4.3, -1.7, -0.3, 0.2, 0.9, 1.6, 4.1])
    found = []
    for m, functional in ((tinytorch, F), (torch, TF)):
        x = m.tensor(data, dtype=m.float64, requires_grad=True)
        w = m.tensor(data[::-1].copy(), dtype=m.float64, requires_grad=True)
        g, = m.autograd.grad((getattr(functional, name)(x, **options) * w).sum(), x, create_graph=True)
        gx, gw = m.autograd.grad((g * g).sum() + x.sum(), (x, w), allow_unused=True)
        found.append((gx.numpy(), gw.numpy()))
    np.testing.assert_allclose(found[0], found[1], 1e-10, 1e-12)


@pytest.mark.parametrize("name", "relu relu6 leaky_relu elu selu celu silu mish hardtanh hardsigmoid hardswish".split())
def test_inplace(name):
    data = POINTS[np.isfinite(POINTS)]
    ours, grad, theirs, their_grad = both(lambda m, f, x: getattr(f, name)(x * 1, inplace=True), "float64", data)
    np.testing.assert_allclose(ours, theirs, 1e-12, 1e-14)
    np.testing.assert_allclose(grad, their_grad, 1e-7 if name == "hardsigmoid" else 1e-12, 1e-14)


@pytest.mark.parametrize("name, options", CASES)
@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_integers(name, options, dtype):
    results = []
    for m, functional in ((tinytorch, F), (torch, TF)):
        try:
            y = getattr(functional, name)(m.tensor([0, 1, 1]).to(getattr(m, dtype)), **options)
            results.append((str(y.dtype), y.tolist()))
        except Exception as error:
            results.append(type(error))
    if isinstance(results[1], tuple):
        assert results[0][0] == results[1][0]
        np.testing.assert_allclose(results[0][1], results[1][1], 1e-6)
    else:
        assert results[0] is results[1]


def test_rrelu_draws_the_same_slopes():
    data = np.linspace(-2, 2, 50)
    for m, keep in ((tinytorch, []), (torch, [])):
        m.manual_seed(3)
        keep.append(m.nn.functional.rrelu(m.tensor(data), training=True).numpy())
        if m is tinytorch:
            ours = keep
    np.testing.assert_allclose(ours[0], keep[0], 1e-12)


@pytest.mark.parametrize("shape", [(4,), (), (2, 3, 4), (5, 1)])
def test_prelu(shape):
    data = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
    for channels in {1, shape[1] if len(shape) > 1 else 1}:
        found = []
        for m, f in ((tinytorch, F), (torch, TF)):
            x = m.tensor(data, requires_grad=True)
            w = m.tensor(np.linspace(0.1, 0.9, channels), requires_grad=True)
            y = f.prelu(x, w)
            (y * y).sum().backward()
            found.append([y.detach().numpy(), x.grad.numpy(), w.grad.numpy()])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, 1e-12)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("shape, dim", [((3, 5), 1), ((3, 5), 0), ((2, 3, 4), -2), ((), 0), ((0, 3), 1), ((4,), None)])
def test_softmax(name, shape, dim):
    data = np.random.default_rng(0).normal(size=shape) * 3
    weight = np.random.default_rng(1).normal(size=shape)
    ours, grad, theirs, their_grad = both(lambda m, f, x: getattr(f, name)(x, dim) * m.tensor(weight), "float64", data)
    np.testing.assert_allclose(ours, theirs, 1e-12, 1e-14)
    np.testing.assert_allclose(grad, their_grad, 1e-12, 1e-14)


def test_softmax_of_infinities_and_dtype():
    data = [[1.0, float("-inf")], [float("-inf")] * 2, [float("inf"), 0.0], [1e4, -1e4]]
    for name in ("softmax", "log_softmax"):
        a = getattr(tinytorch, name)(tinytorch.tensor(data), 1).numpy()
        np.testing.assert_allclose(a, getattr(torch, name)(torch.tensor(data), 1).numpy(), 1e-6)
        b = getattr(tinytorch.tensor([1, 2]), name)(0, dtype=tinytorch.float64).numpy()
        np.testing.assert_allclose(b, getattr(torch.tensor([1, 2]), name)(0, dtype=torch.float64).numpy(), 1e-12)


@pytest.mark.parametrize("f", [
    lambda m: m.relu(m.tensor([True])),
    lambda m: m.softmax(m.tensor([1, 2]), 0),
    lambda m: m.log_softmax(m.ones(2, 2), 2),
    lambda m: m.nn.functional.glu(m.ones(2, 3), 1),
    lambda m: m.nn.functional.hardtanh(m.ones(2), 2, 1),
    lambda m: m.nn.functional.softshrink(m.ones(2), -1),
    lambda m: m.nn.functional.gelu(m.ones(2), approximate="foo"),
    lambda m: m.prelu(m.ones(2, 3), m.ones(2)),
    lambda m: m.celu(m.ones(2), 0),
    lambda m: m.nn.functional.silu(m.tensor([1])),
    lambda m: m.nn.functional.relu(m.ones(2, requires_grad=True), inplace=True),
    lambda m: m.nn.Softmax2d()(m.ones(2)),
    lambda m: m.nn.Hardtanh(1, 1)])
def test_errors(f):
    with pytest.raises(Exception) as theirs:
        f(torch)
    with pytest.raises(theirs.type) as ours:
        f(tinytorch)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


@pytest.mark.parametrize("size", [3, 20_000])
def test_relu_of_nan(size):
    """The gradient goes through NaN as it comes."""
    data = np.linspace(-1, 1, size, dtype=np.float32)
    data[size // 3] = np.nan
    ours, ours_gradient, theirs, gradient = both(lambda m, f, x: f.relu(x), "float32", data)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours_gradient, gradient)
