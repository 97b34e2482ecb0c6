"""Elementwise operations: values, promotion, gradients at corners, operators, in-place forms, errors."""
import math

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.op import CALLS

INF, NAN = float("inf"), float("nan")


def gradient(f, *data):
    inputs = [torch.tensor(d, dtype=torch.float64, requires_grad=True) for d in data]
    return [g.tolist() for g in torch.autograd.grad(f(*inputs).sum(), inputs)]


def test_division_and_remainder():
    a = torch.tensor([7, -7])
    assert (a / 2).tolist() == [3.5, -3.5] and (a / 2).dtype is torch.float32
    assert (a // 2).tolist() == [3, -4]
    assert torch.div(a, 2, rounding_mode="trunc").tolist() == [3, -3]
    assert (a % 4).tolist() == [3, 1]
    assert torch.fmod(a, 4).tolist() == [3, -3]
    for f in (lambda: a // 0, lambda: a % 0, lambda: a.fmod(0), lambda: torch.div(a, 0, rounding_mode="trunc")):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            f()
    assert (torch.tensor([1.0, -1.0]) // 0).tolist() == [INF, -INF]


@pytest.mark.parametrize("operands, dtype", [
    ((torch.tensor([1]), 2.5), torch.float32),
    ((torch.tensor([1], dtype=torch.int32), 2), torch.int32),
    ((torch.tensor([1.0], dtype=torch.float64), torch.tensor([1.0])), torch.float64),
    ((torch.tensor([1.0]), torch.tensor(1.0, dtype=torch.float64)), torch.float32),
    ((torch.tensor([True]), 2), torch.int64),
    ((torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([1.0])), torch.float32),
    ((torch.tensor([1.0], dtype=torch.bfloat16), 2), torch.bfloat16),
    ((torch.tensor([1.0]), 1j), torch.complex64)])
def test_promotion(operands, dtype):
    a, b = operands
    assert (a * b).dtype is dtype and (b * a).dtype is dtype


def test_powers():
    x = torch.tensor([2.0, 3.0])
    assert (x ** 2).tolist() == [4, 9] and (x ** 3).tolist() == [8, 27] and (2 ** x).tolist() == [4, 8]
    assert (torch.tensor([2, -1, 1]) ** torch.tensor([-1, -3, -2])).tolist() == [0, -1, 1]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed."):
        torch.tensor([2]) ** -1
    assert gradient(lambda x: x ** 2, [0.0, 3.0]) == [[0, 6]]
    assert gradient(lambda x: x ** 0, [0.0, 3.0]) == [[0, 0]]
    assert gradient(torch.pow, [0.0, 2.0], [0.0, 3.0])[0] == [0, 12]
    assert gradient(lambda y: 0.0 ** y, [0.0, 2.0]) == [[0, 0]]
    assert torch.float_power(torch.tensor([4]), 0.5).dtype is torch.float64


def test_gradients_at_corners():
    assert gradient(torch.abs, [-2.0, 0.0, 2.0]) == [[-1, 0, 1]]
    assert gradient(torch.maximum, [1.0, 2.0, 5.0], [1.0, 3.0, 4.0]) == [[0.5, 0, 1], [0.5, 1, 0]]
    assert gradient(torch.minimum, [1.0, 2.0, 5.0], [1.0, 3.0, 4.0]) == [[0.5, 1, 0], [0.5, 0, 1]]
    assert gradient(lambda x: x.clamp(0, 1), [-1.0, 0.0, 0.5, 1.0, 2.0]) == [[0, 1, 1, 1, 0]]
    assert gradient(torch.clamp, [0.0, 5.0], [1.0, 1.0], [2.0, 2.0]) == [[0, 0], [1, 0], [0, 1]]
    assert gradient(lambda x: torch.where(x > 0, torch.log(x), 0.0), [2.0]) == [[0.5]]
    assert gradient(torch.floor, [1.5]) == [[0]]
    assert gradient(torch.atan2, [0.0], [0.0]) == [[0], [0]]


def test_nan():
    a, b = torch.tensor([1.0, NAN]), torch.tensor([NAN, 2.0])
    assert torch.isnan(torch.maximum(a, b)).all() and torch.isnan(torch.minimum(a, b)).all()
    assert torch.fmax(a, b).tolist() == [1, 2] and torch.fmin(a, b).tolist() == [1, 2]
    assert torch.isnan(a.clamp(0, 1)).tolist() == [False, True]
    assert torch.nan_to_num(a, nan=7.0).tolist() == [1, 7]
    assert torch.sign(a).tolist() == [1, 0]
    assert torch.xlogy(torch.tensor([0.0, 0.0]), torch.tensor([0.0, NAN])).isnan().tolist() == [False, True]


@pytest.mark.parametrize("f, reference, points", [
    (torch.erf, math.erf, [-5, -2, -0.7, -1e-8, 0, 0.3, 1, 3.9, 7]),
    (torch.erfc, math.erfc, [-3, -0.5, 0, 0.4, 0.6, 2, 5, 10, 26]),
    (torch.lgamma, math.lgamma, [-2.5, -0.3, 0.1, 0.7, 1, 2, 3.3, 9.9, 50, 1e5]),
    (torch.expm1, math.expm1, [-3, -1e-9, 0, 1e-9, 2]),
    (torch.asinh, math.asinh, [-3, 0, 1e-9, 2]),
    (torch.exp2, lambda v: 2.0 ** v, [-3, 0.5, 8])])
def test_against_math(f, reference, points):
    expected = [reference(p) for p in points]
    tiny = 5e-15 if f is torch.lgamma else 1e-300      # lgamma is zero at 1 and 2
    double = torch.tensor(points, dtype=torch.float64)
    np.testing.assert_allclose(f(double).numpy(), expected, rtol=2e-14, atol=tiny)
    single = torch.tensor(points, dtype=torch.float32)
    np.testing.assert_allclose(f(single).numpy(), [reference(p) for p in single.tolist()], rtol=1e-6, atol=1e-30)


def test_special_points():
    assert torch.erfinv(torch.tensor([-1.0, 0.0, 1.0])).tolist() == [-INF, 0, INF]
    assert torch.erfinv(torch.tensor([2.0])).isnan().all()
    x = torch.linspace(-3, 3, 31, dtype=torch.float64)
    assert torch.allclose(torch.erfinv(torch.erf(x)), x, rtol=1e-9)
    assert torch.lgamma(torch.tensor([0.0, -1.0, INF])).tolist() == [INF, INF, INF]
    assert torch.digamma(torch.tensor(1.0)).item() == pytest.approx(-0.5772156649)
    assert torch.polygamma(1, torch.tensor(1.0)).item() == pytest.approx(math.pi ** 2 / 6)
    assert torch.sigmoid(torch.tensor([-200.0, 0.0, 200.0])).tolist() == [0, 0.5, 1]
    assert torch.sinc(torch.tensor([0.0])).tolist() == [1]


@pytest.mark.parametrize("size", [0, 1, 16384, 40000])
def test_erf_in_pieces(size):
    x = torch.linspace(-4, 4, size) if size else torch.zeros(0)
    expected = [math.erf(v) for v in x.tolist()]
    np.testing.assert_allclose(torch.erf(x).numpy(), np.array(expected, "f"), rtol=5e-7, atol=1e-30)


def test_comparisons():
    x = torch.tensor([1.0, 2.0, NAN])
    assert (x < 2).tolist() == [True, False, False] and (x != x).tolist() == [False, False, True]
    assert (torch.tensor([1, 2]) == 1.5).tolist() == [False, False]
    assert (x == None) is False and (x != None) is True and (x == "a") is False   # noqa: E711
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Tensor' and 'NoneType'"):
        x < None
    assert (1 < x).tolist() == [False, True, False]
    assert torch.equal(torch.tensor([1]), torch.tensor([1.0])) and not torch.equal(x, x)
    assert torch.allclose(x, x, equal_nan=True) and not torch.allclose(x, x)


def test_logic_and_bits():
    a, b = torch.tensor([True, False]), torch.tensor([True, True])
    assert (a & b).tolist() == [True, False] and (a | b).tolist() == [True, True]
    assert (a ^ b).tolist() == [False, True] and (~a).tolist() == [False, True]
    assert (torch.tensor([6]) & 3).tolist() == [2] and (torch.tensor([1]) << 3).tolist() == [8]
    assert (torch.tensor([-8]) >> 70).tolist() == [-1]
    with pytest.raises(TypeError, match="operator.invert"):
        ~torch.tensor([1.0])
    with pytest.raises(NotImplementedError, match="\"bitwise_and_cpu\" not implemented for 'Float'"):
        torch.tensor([1.0]) & 1
    assert torch.logical_not(torch.tensor([0.0, 2.0])).tolist() == [True, False]


def test_augmented_assignment_is_in_place():
    x = torch.tensor([1.0, 2.0])
    alias, version = x, x._version
    x += 1
    x *= torch.tensor([2.0, 3.0])
    x -= 1
    x /= 2
    x **= 2
    assert x is alias and x._version == version + 5
    assert x.tolist() == [2.25, 16]
    row = torch.zeros(2, 3)
    row[0] += 5
    assert row.tolist() == [[5, 5, 5], [0, 0, 0]]


def test_in_place_refusals():
    leaf = torch.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf += 1
    with torch.no_grad():
        leaf += 1
    assert leaf.tolist() == [2]
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.tensor([1]).add_(1.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.tensor([1.0]).add_(torch.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.ones(1).expand(3).add_(1.0)


def test_in_place_on_the_tape():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y += x
    y.mul_(x)
    y.sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_out():
    out = torch.zeros(2)
    assert torch.add(torch.tensor([1.0, 2.0]), 1, out=out) is out and out.tolist() == [2, 3]
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.exp(torch.tensor([1.0]), out=torch.tensor([1]))


def test_where():
    c = torch.tensor([True, False])
    assert torch.where(c, 1, 2).dtype is torch.int64 and torch.where(c, 1.0, 2).tolist() == [1, 2]
    assert torch.where(c, torch.tensor([[1], [2]]), torch.zeros(2)).shape == (2, 2)
    rows, columns = torch.where(torch.tensor([[0, 1], [2, 0]]))
    assert rows.tolist() == [0, 1] and columns.tolist() == [1, 0]
    with pytest.raises(RuntimeError, match="expected condition to be a boolean tensor"):
        torch.where(torch.tensor([1]), 1, 2)
    with pytest.raises(RuntimeError, match="size of tensor a"):
        torch.where(c, torch.zeros(3), 1.0)


def test_complex():
    z = torch.tensor([3 + 4j], dtype=torch.complex64)
    assert z.abs().tolist() == [5] and z.real.tolist() == [3] and z.imag.tolist() == [4]
    assert z.conj().tolist() == [3 - 4j]
    z.imag.fill_(0.0)
    assert z.tolist() == [3]
    assert torch.view_as_real(z).tolist() == [[3, 0]]
    assert torch.view_as_complex(torch.tensor([[1.0, 2.0]])).tolist() == [1 + 2j]
    assert torch.polar(torch.tensor([2.0]), torch.tensor([0.0])).tolist() == [2]
    with pytest.raises(RuntimeError, match="imag is not implemented"):
        torch.imag(torch.tensor([1.0]))


@pytest.mark.parametrize("f, error, message", [
    (lambda: torch.tensor([True]) - torch.tensor([True]), RuntimeError, "with two bool tensors is not supported"),
    (lambda: 1 - torch.tensor([True]), RuntimeError, "with a bool tensor is not supported"),
    (lambda: -torch.tensor([True]), RuntimeError, "on a bool tensor is not supported"),
    (lambda: torch.ones(1) + "a", TypeError, r"unsupported operand type\(s\) for \+: 'Tensor' and 'str'"),
    (lambda: None * torch.ones(1), TypeError, "unsupported operand"),
    (lambda: torch.add(torch.ones(1), "a"), TypeError, "must be Tensor, not str"),
    (lambda: torch.ones(2) + torch.ones(3), RuntimeError, "The size of tensor a"),
    (lambda: torch.add(torch.tensor([1]), 1, alpha=0.5), RuntimeError, "alpha must not be a floating point number"),
    (lambda: torch.clamp(torch.ones(1)), RuntimeError, "At least one of 'min' or 'max'"),
    (lambda: torch.sin(1), TypeError, "must be Tensor, not int")])
def test_errors(f, error, message):
    with pytest.raises(error, match=message):
        f()


def test_operators_give_way():
    class Unit:
        def __radd__(self, other):
            return "unit"
    assert torch.ones(1) + Unit() == "unit"


def test_bfloat16():
    x = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    for y in (x + x, x / 2, x.exp(), x.abs(), x.clamp(0, 1), torch.lerp(x, x, 0.5), torch.where(x > 0, x, 0.0)):
        assert y.dtype is torch.bfloat16
    assert (x + x).tolist() == [3, -4] and torch.logical_and(x, x).tolist() == [True, True]


def test_second_derivatives():
    for f in (torch.sigmoid, torch.erf, torch.lgamma, torch.atan, lambda x: x ** 2.5, lambda x: torch.hypot(x, 2 * x)):
        x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
        first, = torch.autograd.grad(f(x), x, create_graph=True)
        second = torch.autograd.grad(first, x)[0].item() if first.requires_grad else 0.0
        h = 1e-5

        def slope(v):
            v = torch.tensor(v, dtype=torch.float64, requires_grad=True)
            return torch.autograd.grad(f(v), v)[0].item()
        assert second == pytest.approx((slope(0.7 + h) - slope(0.7 - h)) / (2 * h), abs=1e-7)


UFUNC_CALLS = sorted([call for call in CALLS if call.op.ufunc is not None and call.op.original is None],
                     key=lambda call: call.__name__)


@pytest.mark.parametrize("call", UFUNC_CALLS, ids=lambda call: call.__name__)
def test_the_ufunc_of_an_operation_is_its_forward(call):
    """NumPy's function stands for the forward with few elements: the same dtype and the same bits."""
    compared = 0
    for char in "?BbhilefdFD":
        values = np.array([0, 1, -2.5, 0.5, 100, -0.0, 3], complex if char in "FD" else float)
        if char in "efdFD":
            values[-1] = np.nan
            values = np.append(values, np.inf)
        operands = [values.astype(char), values[::-1].astype(char)][:len(call.op.params)]
        with np.errstate(all="ignore"):
            try:
                wanted = call.op.forward(*operands)
            except (TypeError, RuntimeError):
                continue
            given = call.op.ufunc(*operands)
        assert given.dtype == wanted.dtype and given.tobytes() == wanted.tobytes(), char
        compared += 1
    assert compared >= 3


def test_many_operations_have_a_ufunc():
    assert len({call.op.ufunc for call in UFUNC_CALLS}) >= 30


def test_a_refusal_of_the_forward_is_told_where_the_ufunc_fails():
    a = torch.tensor([True, False])
    for refused in (lambda: a - a, lambda: -a, lambda: torch.neg(a), lambda: a[:1] - a):
        with pytest.raises(RuntimeError, match="operator, (with two bool|on a bool)"):
            refused()


def test_few_numbers_are_looked_at_as_many_are():
    """NaN, both zeros, what is no whole array, and more elements than are looked at in another way."""
    from tinytorch.kernels import looks
    kinds = np.array([0.0, -0.0, 1.0, 2.0, np.nan, np.inf, -np.inf], np.float32)
    random = np.random.RandomState(0)
    for n in (1, 2, 5, 64, 65, 200):
        for _ in range(20):
            x = random.choice(kinds[:random.randint(1, 8)], n)
            for view in (x, x[::-1], x.reshape(1, n).T, x[:1].reshape(())):
                assert looks.all_between(view, -0.5, 1.5) == bool(((view > -0.5) & (view < 1.5)).all())
                assert looks.all_within(view, 0.0, 1.0) == bool(((view >= 0) & (view <= 1)).all())
                bools = view > 0.5
                assert looks.all_true(bools) == bool(bools.all()) and looks.any_true(bools) == bool(bools.any())
    assert looks.all_between(np.float32(0.5), 0.0, 1.0) and not looks.all_between(np.float32(np.nan), 0.0, 1.0)
