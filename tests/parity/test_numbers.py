"""Numbers beside tensors: operands of other dtypes, with and without dimensions, Python's and NumPy's numbers, integers
that wrap around and numbers that do not fit.

Each line runs under both modules: the same to the last bit, or the same error.
"""
import numpy as np
import pytest

from .adapter import same_outcome

OPERANDS = """
    T.tensor([4, 1, -4], dtype=T.int8) / T.tensor(32766, dtype=T.int16)
    T.tensor([100], dtype=T.uint8) / T.tensor(1000)
    T.true_divide(T.tensor([100], dtype=T.uint8), T.tensor(1000))
    T.tensor([100], dtype=T.uint8) / 2**62
    T.xlogy(T.tensor([100], dtype=T.uint8), T.tensor(1000))
    T.xlogy(1000, T.tensor([100], dtype=T.uint8))
    T.copysign(T.tensor([100], dtype=T.uint8), T.tensor(-1000))
    T.tensor([100], dtype=T.uint8) + T.tensor(1000)
    T.tensor([2, 3], dtype=T.int32) > T.tensor(2**31)
    T.tensor([44], dtype=T.int8) == T.tensor(300)
    T.tensor([.1, 0.], dtype=T.float16) * T.tensor(100000)
    T.tensor([.1, 0.], dtype=T.float16) * T.tensor([100000])
    T.tensor([.1, 0.], dtype=T.float16) / T.tensor(100000.)
    T.tensor([.1, 0.], dtype=T.float16) + T.tensor(100000.)
    T.tensor(100000.) * T.tensor([.1, 0.], dtype=T.float16)
    T.tensor([.1, 0.], dtype=T.float16) * 100000
    T.tensor([.1, 0.], dtype=T.float16) * 2**62
    T.tensor([.1, 0.], dtype=T.float16) / 1e5
    T.tensor([5., 300.], dtype=T.float16) // 1.0001
    T.tensor([5., 300.], dtype=T.bfloat16) // 1.001
    T.div(T.tensor([3., .2], dtype=T.float16), 1.0001, rounding_mode="trunc")
    T.tensor([5.], dtype=T.bfloat16) % 1.001
    T.tensor([1., 3.], dtype=T.bfloat16) == 1.001
    T.tensor([.003], dtype=T.bfloat16) + 1.001
    1.001 / T.tensor([.1, 3.], dtype=T.bfloat16)
    x = T.tensor([.3, .2], dtype=T.float16); x *= 100000; x
    x = T.tensor([.3, .2], dtype=T.float16); x /= 100000; x
    x = T.tensor([.3, .2], dtype=T.bfloat16); x.mul_(1.003); x
    x = T.tensor([3., .2], dtype=T.float16); x //= 1.0001; x
"""
GRADIENTS = """
    x = half(3., .002); (x * 100000).sum().backward(); x.grad
    x = half(3., .002); (x / 100000).sum().backward(); x.grad
    x, y = half(.3, .002), T.tensor(100000., requires_grad=True); (x * y).sum().backward(); (x.grad, y.grad)
    x, y = half(.3, .002), T.tensor(1e5, dtype=T.float64, requires_grad=True); (x * y).sum().backward(); y.grad
    x, y = narrow(.3, .002), T.tensor(1.001, requires_grad=True); (x * y).sum().backward(); (x.grad, y.grad)
    x, y = narrow(.3, .002), T.tensor(1.001, requires_grad=True); (x / y).sum().backward(); (x.grad, y.grad)
    x, y = half(.3, .002), T.tensor(1.001, requires_grad=True); g = twice((x * x * y).sum(), x, y); g
    x, y = half(.3, .002), T.tensor(1.001, requires_grad=True); g = twice((x / y).sum(), x, y); g
    x = half(3., 2.); ((x * 2).grad_fn.name(), (x / 2).grad_fn.name(), (x ** 2).grad_fn.name())
    x = half(3., 2.); (x ** 2.5).sum().backward(); x.grad
"""
INTEGERS = """
    T.tensor([4, 255], dtype=T.uint8) < -1
    T.tensor([4, 255], dtype=T.uint8) == -1
    T.tensor([4, 255], dtype=T.uint8) != -1
    T.tensor([44], dtype=T.int8) == 300
    T.tensor([2, 3], dtype=T.int32) > 2**31
    T.tensor([2, 3]) > 2**63
    T.tensor([2, 3]) > 2**64
    T.tensor([True, False]) > 5
    T.tensor([1, 2], dtype=T.uint8) << 2**31
    T.tensor([1, 2], dtype=T.uint8) << -2**63
    T.tensor([1, -2], dtype=T.int8) << 8
    T.bitwise_right_shift(T.tensor([1, 200], dtype=T.uint8), 256)
    T.bitwise_right_shift(T.tensor([1, 200], dtype=T.uint8), 255)
    T.bitwise_right_shift(T.tensor([1, -2], dtype=T.int32), 2**40)
    T.tensor([1, -2]) >> 64
    T.tensor([4, 255], dtype=T.uint8) + 2**40
    300 - T.tensor([1, 2], dtype=T.uint8)
    T.tensor([True]) + 2**63
    T.tensor([3, 2], dtype=T.int8) ** 128
    T.tensor([3, 2], dtype=T.int32) ** 2**40
    T.tensor([3, 2], dtype=T.uint8) ** -1
    T.tensor([3, 2]) ** 2**63
    300 ** T.tensor([3, 1, 0], dtype=T.uint8)
    x = T.tensor([3, 4, 1, -1], dtype=T.int16); x **= T.tensor([2, -1, -3, -3], dtype=T.int16); x
    T.tensor([3, -1, 1, 0], dtype=T.int8) ** T.tensor([-2, -1, -3, -1], dtype=T.int8)
    T.gcd(T.tensor([-128] * 4, dtype=T.int8), T.tensor([0, 2, -128, 3], dtype=T.int8))
    T.lcm(T.tensor([-128] * 4, dtype=T.int8), T.tensor([1, 2, -128, 3], dtype=T.int8))
    T.lcm(T.tensor([-2**63] * 4), T.tensor([1, 2, -2**63, 3]))
"""
POWERS = """
    T.tensor([0j, 1]) ** T.tensor([0j, 0j])
    0 ** T.tensor([0j])
    T.tensor([0j]) ** 0j
    T.tensor([0j, 1j, 2 + 1j, 3]) ** T.tensor([-1.])
    T.tensor([0j, 1j, 2 + 1j, 3]) ** 2
    T.tensor([0j, 1j, 2 + 1j, 3]) ** 3
    T.tensor([0j, 1j, 2 + 1j, 3]) ** .5
    T.tensor([0j, 1j, 2 + 1j, 3]) ** 0
    T.tensor([True, False]) ** True
    T.tensor([True, False]) ** False
    T.tensor([True, False]) ** T.tensor(True)
    T.tensor([4., 9., -4.], dtype=T.bfloat16) ** 3.3
    T.tensor([4., 9., -4.], dtype=T.float16) ** -.5
    T.tensor([2., 3.], dtype=T.float16) ** 100000
    T.tensor([2., 3.], dtype=T.bfloat16) ** 1e39
"""
FITTING = """
    T.full((2,), 1e6, dtype=T.float16)
    T.full((1,), 1e6, dtype=T.float16)
    T.full((2,), 1e40, dtype=T.bfloat16)
    T.full((1,), 1e40, dtype=T.bfloat16)
    T.full((2,), 2**63)
    T.ones(2, dtype=T.float16).fill_(65505)
    T.ones(1, dtype=T.float16).fill_(1e6)
    x = T.ones(2, dtype=T.float16); x[0] = 1e6; x
    x = T.ones(2, dtype=T.float16); x[T.tensor([True, False])] = 1e6; x
    T.scalar_tensor(1e6, dtype=T.half)
    T.clamp_max(T.tensor([1], dtype=T.uint8), 300)
    T.clamp(T.tensor([1], dtype=T.int8), 0, 1000)
    T.clamp(T.tensor([1.], dtype=T.float16), 0, 1e6)
    T.clamp(T.tensor([1.], dtype=T.float16), 0, T.inf)
    T.clamp(T.tensor([1], dtype=T.int8), 0, 2**63)
    T.clamp(T.tensor([True]), False, True)
    T.where(T.tensor([True, False]), T.ones(2, dtype=T.uint8), 300)
    T.where(T.tensor([True, False]), T.ones(2), 1e300)
    T.where(T.tensor([True, False]), 2**63, 1)
    T.linspace(0, 300, 2, dtype=T.uint8)
    T.linspace(0, 1e6, 2, dtype=T.float16)
    T.tensor([2**64 - 1, 5], dtype=T.uint64)
    T.tensor(2**64 - 1, dtype=T.uint64)
    T.tensor([2**64], dtype=T.uint64)
    T.tensor([-1], dtype=T.uint64)
    T.tensor([1.5], dtype=T.uint64)
    T.tensor([[True, 5], [2**63, 0]], dtype=T.uint64)
    T.tensor([2**63], dtype=T.float32)
    T.tensor([2**63, -1])
    T.tensor([2**64, 1.5])
    T.tensor([2**63], dtype=T.bool)
    T.tensor([-1.], dtype=T.uint8)
    T.tensor([-256], dtype=T.uint8)
    T.tensor([-255], dtype=T.uint8)
    T.tensor([2**64 - 1], dtype=T.uint64) == 2**64 - 1
    T.tensor([2**64 - 1], dtype=T.uint64).tolist()
"""
UNSIGNED = """
    T.promote_types(T.uint16, T.int64)
    T.promote_types(T.uint16, T.bool)
    T.promote_types(T.uint16, T.float32)
    T.tensor([1, 2], dtype=T.uint16) + T.tensor([1, 2])
    T.tensor([1, 2], dtype=T.uint32) * T.tensor([1, 2], dtype=T.uint16)
    T.tensor([1, 2], dtype=T.uint16) + 1.5
    T.result_type(T.tensor(1, dtype=T.uint16), T.tensor([True]))
    T.result_type(T.tensor([1], dtype=T.uint16), 1)
    [repr(T.iinfo(d)) for d in (T.uint32, T.uint64, T.int64, T.int8)]
"""
NUMPY = """
    T.tensor([3]) + np.float64(1.5)
    T.tensor([3]) * np.bool_(True)
    T.ones(2) * np.complex64(1j)
    T.ones(2) * np.complex128(1j)
    np.float32(2) - T.ones(2)
    np.bool_(True) & T.tensor([True, False])
    T.lerp(T.ones(2), T.ones(2), np.float64(.3))
    T.clamp(T.ones(2), np.float64(2.))
    T.full((2,), np.bool_(True))
    T.result_type(T.ones(1, dtype=T.int8), np.float32(1))
    T.ones(2) * np.array(2.5)
    T.ones(2) - np.array([1., 2.])
    np.array([1., 2.]) * T.ones(2)
    np.array([1., 2.]) / T.ones(2)
    np.array([1, 2]) & T.tensor([1, 2])
    np.ones(2) @ T.ones(2)
    T.ones(2, dtype=T.float64) @ np.array([1., 2.])
    T.ones(2, requires_grad=True) + np.array([1., 2.])
    T.ones(2) < np.array([1., 2.])
    T.tensor([3]) == np.array([3.5])
    T.tensor([.1]) == np.array([.1])
    T.tensor([.1]) != np.array([.1])
    T.tensor([3]) == np.array(["a"])
    x = T.ones(2); x += np.array([1., 2.]); x
    x = T.ones(2); x **= np.array([1., 2.]); x
    x = T.tensor([1, 2]); x += np.float64(1.5); x
    x = T.ones(2); x += "a"; x
    x = T.tensor([3, 2]); x <<= None; x
    T.sub(T.ones(2), np.array([2.5]))
    T.mul(T.ones(2), np.array([2.5]))
    T.mul(np.array([2.5]), T.ones(2))
    T.maximum(T.ones(2), np.array([2.5]))
    T.maximum(T.ones(2), np.float64(2.5))
    T.logical_and(T.tensor([1]), np.array([1]))
    T.eq(T.ones(2), np.array([2.5]))
    T.pow(T.ones(2), np.array([2.5]))
    T.ones(2).eq_(np.array([1.]))
    T.ones(2).add_(np.array([1.]))
    T.dist(T.ones(2), 1)
    T.lerp(T.ones(2), .5, .3)
    np.add(T.ones(2), 1)
    np.sin(T.ones(2))
    np.isnan(T.ones(2))
    np.modf(T.tensor([1.5]))
    np.add.reduce(T.ones(2))
    np.transpose(T.ones(1, 2))
    np.add(T.ones(2, requires_grad=True), 1)
    T.tensor([1., 2.])[np.bool_(True)]
    T.tensor([1., 2.])[np.uint8(1)]
    x = T.tensor([1., 2.]); x[np.bool_(True)] = 5; x
"""
CALLS = """
    T.div(2, T.ones(2))
    T.true_divide(2, T.tensor([3, 4]))
    T.bitwise_or(T.ones(2, dtype=T.bfloat16), True)
    T.gcd(T.ones(2), T.tensor([1, 2]), out=T.empty(0, dtype=T.uint8))
    T.bitwise_and(T.ones(2), T.tensor([1, 2, 3]))
    T.where(T.tensor([True]), None)
    T.where(T.tensor([True]), None, None)
    T.where(T.tensor([True]), T.ones(1), None)
    T.where(T.tensor([True]))
    T.result_type(scalar=1, tensor=T.ones(1))
    T.result_type(scalar1=1, scalar2=2.)
    T.result_type(1, tensor=T.ones(1))
    T.result_type(1, other=1)
    T.result_type(T.ones(1), np.ones(1))
    T.result_type(2**63, 1)
    T.reshape(T.ones(7), 7)
    T.reshape(T.ones(7), (7, 1))
    T.reshape(T.ones(7), 7, 1)
    T.rand(2, layout=5)
    T.randn(2, layout="x")
    T.randint(0, 2, (2,), layout=5)
    T.range(0, 3, pin_memory=False)
    T.zeros(2, pin_memory=True)
    T.full((2,), 1, pin_memory=True)
    T.tensor([1], pin_memory=True)
    T.arange(3, pin_memory=True)
    T.linspace(0, 1, 3, pin_memory=True)
    T.rand(2, pin_memory=True)
    T.randperm(2, pin_memory=True)
    T.zeros_like(T.ones(1), pin_memory=True)
    T.ones(1).new_zeros(2, pin_memory=True)
    T.tril_indices(2, 2, pin_memory=True)
    T.eye(2, pin_memory=None)
    T.eye(2, pin_memory=1)
"""
LINES = [line.strip() for text in (OPERANDS, GRADIENTS, INTEGERS, POWERS, FITTING, UNSIGNED, NUMPY, CALLS)
         for line in text.strip().split("\n")]


def value_of(t, line):
    def leaf(dtype):
        return lambda *values: t.tensor(values, dtype=dtype, requires_grad=True)

    def twice(loss, *inputs):
        first = t.autograd.grad(loss, inputs, create_graph=True)
        return first, t.autograd.grad(sum(g.float().sum() for g in first), inputs)
    names = {"T": t, "np": np, "half": leaf(t.float16), "narrow": leaf(t.bfloat16), "twice": twice}
    *before, last = line.split(";")
    exec(";".join(before).strip(), names)
    return eval(last.strip(), names)


@pytest.mark.parametrize("line", LINES)
def test_line(line):
    def first_words(text):                     # torch goes on with the signatures that there are
        return "" if "invalid combination" in text or "argument '" in text else text.split("\n")[0]
    same_outcome(lambda t: value_of(t, line), first_words, tolerance=0)
