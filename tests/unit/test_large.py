"""Derivative rules of large arrays, which threads share: the bits of small arrays, on any number of threads."""
import struct

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.node import Op
from tinytorch.kernels import arithmetic, expressions, native
from tinytorch.kernels.expressions import in_one_pass

F = torch.nn.functional
SHAPE, PIECE = (600, 512), 60                  # a piece of the rows is small

RULES = {
    "mul": lambda x, y: x * y,
    "mul_column": lambda x, y: x * y[:, :1],
    "div": lambda x, y: x / y,
    "div_column": lambda x, y: x / y[:, :1],
    "div_number": lambda x, y: 2 / y + x,
    "sub": lambda x, y: x - y,
    "abs": lambda x, y: x.abs() + y,
    "twice": lambda x, y: x * x + x * y,
    "norm": lambda x, y: x.norm(dim=1, keepdim=True) + y,
    "normalize": lambda x, y: F.normalize(x * (x > -1)) + y,
    "cosine": lambda x, y: F.cosine_similarity(x, y)[:, None] + 0 * x,
    "mse": lambda x, y: F.mse_loss(x, y, reduction="none"),
    "masked": lambda x, y: x.masked_fill(y > 0.5, 2.0) * y,
    "softsign": lambda x, y: F.softsign(x) + y,
    "sine": lambda x, y: x.sin() + y.exp(),
    "logsumexp": lambda x, y: torch.logsumexp(x, 1, keepdim=True) + y,
    "acos": lambda x, y: (x / 9).acos() * (y / 9).asin(),
    "truncated": lambda x, y: torch.fmod(x, y),
    "product": lambda x, y: (x * x + 1)[:, :9].prod(1, keepdim=True) + y,
}


@pytest.fixture(autouse=True)
def _as_many_threads_as_before():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def inputs(dtype):
    random = np.random.default_rng(0)
    x, y, g = (random.standard_normal(SHAPE).astype(dtype) for _ in range(3))
    x[3] = 0
    return x, y, g


def gradients(rule, x, y, g, rows=slice(None)):
    """Of these rows, for an incoming gradient, or (None) for that of a sum, which is one number in all places."""
    x, y = (torch.tensor(array[rows]).requires_grad_() for array in (x, y))
    result = rule(x, y)
    if g is None:
        result.sum().backward()
    else:
        result.backward(torch.tensor(g[rows]))
    return x.grad.numpy(), y.grad.numpy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("name", RULES)
def test_large_and_small_arrays_have_the_same_gradients(name, dtype):
    x, y, g = inputs(dtype)
    for given in (g, None):
        parts = [gradients(RULES[name], x, y, given, slice(i, i + PIECE)) for i in range(0, SHAPE[0], PIECE)]
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            whole = gradients(RULES[name], x, y, given)
            for i, found in enumerate(whole):
                np.testing.assert_array_equal(found, np.concatenate([part[i] for part in parts]))


def test_large_results_are_those_of_small_ones():
    x, y, _ = map(torch.tensor, inputs(np.float32))
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        for function in (F.softsign, lambda x: F.l1_loss(x, y[:len(x)], reduction="none")):
            assert torch.equal(function(x)[:PIECE], function(x[:PIECE]))
        for loss, exact in ((F.l1_loss, (x - y).abs().double()), (F.mse_loss, ((x - y) * (x - y)).double())):
            assert abs(loss(x, y) - exact.mean()) < 1e-6 and abs(loss(x[:5], y[:5]) - exact[:5].mean()) < 1e-6
        for reduction in ("mean", "sum"):      # the differences are kept for a derivative alone
            recorded = F.mse_loss(x.clone().requires_grad_(), y, reduction=reduction)
            assert torch.equal(F.mse_loss(x, y, reduction=reduction), recorded.detach())
        with pytest.warns(UserWarning, match="target size"):
            assert abs(F.mse_loss(x, y[:1]) - (x - y[:1]).double().square().mean()) < 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_and_distances_do_not_depend_on_threads(dtype):
    x, y, _ = (torch.tensor(array).to(dtype) for array in inputs(np.float32))
    wide = x.double().numpy()[:, None] - y.double().numpy()[:40]
    distances = np.sqrt((wide * wide).sum(-1))
    found = []
    for count in (1, 2, 4):
        torch.set_num_threads(count)
        found.append((x.quantile(0.3, 1), x.logsumexp(1), torch.cdist(x, y)))
        assert torch.equal(found[-1][0][:PIECE], x[:PIECE].quantile(0.3, 1))
        assert torch.equal(found[-1][1][:PIECE], x[:PIECE].logsumexp(1))
        np.testing.assert_allclose(found[-1][2][:, :40], distances, 1e-5)
    np.testing.assert_allclose(found[0][0], np.quantile(x.numpy(), 0.3, 1), 1e-6)
    for others in found[1:]:
        assert all(map(torch.equal, found[0], others))


def test_gradients_that_are_not_copied():
    """They have the shape of the input from the start, so that they become the gradient of a leaf themselves."""
    x = torch.randn(3, 4, 16, 16, requires_grad=True)
    mean, variance = torch.randn(4), torch.rand(4) + 1
    for function in (lambda x: F.batch_norm(x, mean, variance), lambda x: F.adaptive_max_pool2d(x, 1),
                     lambda x: F.adaptive_max_pool2d(x, 2)):
        x.grad = None
        y = function(x)
        g = torch.randn(y.shape)
        y.backward(g)
        assert x.grad.numpy().base is None or x.grad.numpy().base.base is None
        if y.shape == x.shape:
            torch.testing.assert_close(x.grad, g / (variance + 1e-5).sqrt()[:, None, None])
        else:
            torch.testing.assert_close(x.grad.sum((2, 3)), g.sum((2, 3)))
            assert (x.grad != 0).sum() == g.numel()


def test_rules_of_large_arrays_are_differentiated_again():
    torch.set_num_threads(2)
    x, y, g = inputs(np.float64)
    for name in ("mul", "div", "norm", "softsign"):
        a, b = (torch.tensor(array + 3).requires_grad_() for array in (x, y))
        first = torch.autograd.grad(RULES[name](a, b), (a, b), torch.tensor(g), create_graph=True)
        assert all([np.array_equal(found.detach(), plain) for found, plain in
                    zip(first, gradients(RULES[name], x + 3, y + 3, g))])
        sum((found * found).sum() for found in first).backward()
        assert a.grad.isfinite().all()


def test_numbers_of_other_kinds_are_left_to_numpy():
    torch.set_num_threads(2)
    x = np.random.default_rng(0).standard_normal(SHAPE)
    for dtype in (np.float16, np.complex64, np.int64):
        array = x.astype(dtype)
        for function, plain in ((arithmetic.product, array * array), (arithmetic.subtracted, array - array),
                                (arithmetic.total, array + array)):
            found = function(array, array)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, plain)
        assert not arithmetic.is_large(array)
    single = x.astype(np.float32)
    assert arithmetic.is_large(single)
    assert not arithmetic.is_large(single[:9]) and not arithmetic.is_large(torch.tensor(single))
    for other in (x, 2, 0.1, np.float64(0.1), single[:, ::2].repeat(2, 1).T.copy().T):      # other dtypes and orders
        found, plain = arithmetic.product(single, other), single * other
        assert found.dtype == plain.dtype
        np.testing.assert_array_equal(found, plain)


def rules_in_one_pass():
    """(op, argument, rule, the numbers of arrays and of numbers) for the rules that run as one pass for large
    arrays."""
    for o in sorted(Op.registry, key=lambda o: o.name):
        for argument, rule in o.rules.items():
            count = rule.__code__.co_argcount
            if argument != "joint" and not hasattr(rule, "program_of") and o.original is None:
                for arrays in range(1, count + 1):
                    if expressions.traced_in_one_pass(rule, arrays, count - arrays) is not None:
                        yield o, argument, rule, arrays, count - arrays


@pytest.mark.skipif(native.level() is None, reason="without the library NumPy computes all rules")
def test_every_rule_in_one_pass_gives_numpys_bits():
    random, found = np.random.default_rng(0), 0
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-310, 0.5]
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)
    for o, argument, rule, arrays, numbers in rules_in_one_pass():
        for dtype in np.float32, np.float64:
            given = [random.standard_normal(1 << 15).astype(dtype) for _ in range(arrays)]
            for k, x in enumerate(given):
                x[:pairs.shape[1]] = pairs[k % 2]
                x[200:300] = np.roll(pairs[k % 2], k)
            for number in (0.3, -1, 3, 1e-40, np.inf) if numbers else (None,):
                with np.errstate(all="ignore"):
                    operands = *given, *[number] * numbers
                    try:
                        expected = rule(*operands)
                    except (TypeError, ValueError, struct.error):      # it takes no array there
                        continue
                    computed, found = in_one_pass(rule)(*operands), found + 1
                case = o.name, argument, arrays, number
                assert computed.dtype == expected.dtype and equal_bits(computed, expected), case
    assert found > 200


def equal_bits(x, y):
    """Whether arrays have the same elements, and the same signs of zeros."""
    return np.array_equal(x, y, equal_nan=True) and np.array_equal(np.signbit(x[x == 0]), np.signbit(y[y == 0]))


def test_borders_of_views():
    """The gradient of a basic index: what was given, among zeros."""
    random = np.random.default_rng(0)
    for shape, index in (((40000,), slice(3, 39000)), ((300, 200), (slice(1, None), slice(None, -1))),
                         ((300, 200), (slice(None), 7)), ((60, 40, 50), (slice(None), 3)),
                         ((60, 40, 50), (slice(2, 50), slice(None), slice(5, None))), ((600, 500), (slice(None), -1)),
                         ((60, 40, 50), (slice(None), slice(1, 39))), ((60, 40, 50), slice(0, 60, 2)),
                         ((1200, 300), (None, slice(1, 1100)))):
        for dtype in np.float32, np.float64:
            x = torch.tensor(random.standard_normal(shape).astype(dtype)).requires_grad_()
            expected = np.zeros(shape, dtype)
            g = random.standard_normal(expected[index].shape).astype(dtype)
            expected[index] = g
            x[index].backward(torch.tensor(g))
            assert np.array_equal(x.grad.numpy(), expected)
