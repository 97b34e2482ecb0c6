"""Every dtype with every odd number, and with every other dtype: what is stored, what limits, what errors come first.

Each program runs under both modules: the same numbers, or the same type of error.
"""
import itertools

import numpy as np
import pytest

from .adapter import same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")
NAN, INF = float("nan"), float("inf")
FLOATS = ["float16", "bfloat16", "float32", "float64"]
DTYPES = ["uint8", "int8", "int32", "int64", "bool", *FLOATS, "complex64"]
NUMBERS = [0, -1, 2**7, -2**7 - 1, 300, 2**63, -2**63 - 1, 2**64 - 1, 2**64, 1e5, 1e39, 1.5, -.5, 255.5, 2.**63, True,
           1j, INF, NAN, np.float64(2), np.float32(1.5), np.float16(1), np.int8(-1), np.bool_(1), np.uint64(2**64 - 1)]
LIMITS = [None, 0, 1.5, -1, 300, 2**63, 2**64, 1e39, NAN, INF, True, 1j, 0j, np.int64(2), np.float32(1.5)]


def no_words(text):
    return ""


@pytest.mark.parametrize("dtype", [None, *DTYPES, "int16", "uint16", "uint32", "uint64", "complex128"])
def test_data(dtype):
    """Each number is converted, or refused, by itself and in order."""
    pairs = list(itertools.product(NUMBERS, NUMBERS))
    deep = [[[x], [y]] for x, y in pairs[::5]]
    for data in NUMBERS[:-1] + [[x] for x in NUMBERS] + [[x, y] for x, y in pairs] + deep:
        same_outcome(lambda t, data=data: t.tensor(data, dtype=dtype and getattr(t, dtype)), no_words)


@pytest.mark.parametrize("name", ["clamp", "clamp_", "clamp_min", "clamp_max", "clamp_min_", "clamp_max_"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_limits(dtype, name):
    both = itertools.product(LIMITS, LIMITS) if name in ("clamp", "clamp_") else [(x,) for x in LIMITS[1:]]
    for limits in both:
        def program(t, limits=limits):
            return getattr(t.tensor([0, 1, 1], dtype=getattr(t, dtype)), name)(*limits)
        same_outcome(program, no_words)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
@pytest.mark.parametrize("other", [*FLOATS, "complex64", "complex128", "int8", "int32", "bool"])
def test_ldexp(dtype, other):
    """Computed in the common dtype; the derivative takes the power in that of the exponent. (Beside a complex exponent
    torch has no derivative of a real number.)"""
    graph = other in FLOATS or dtype[0] == "c" and other[0] == "c"

    def program(t, value, sizes):
        x = t.full(sizes[0], .75, dtype=getattr(t, dtype), requires_grad=graph)
        y = t.ldexp(x, t.full(sizes[1], value, dtype=t.float64).to(getattr(t, other)))
        return y, t.autograd.grad((y.real if y.is_complex() else y).sum(), x) if graph else ()
    for value, sizes in itertools.product([8.8, -6.6], itertools.product([(), (1,)], repeat=2)):
        same_outcome(lambda t, value=value, sizes=sizes: program(t, value, sizes), no_words)


@pytest.mark.parametrize("line", """
    T.exp2(T.tensor([complex(INF, 0), complex(INF, 1), complex(-INF, 1), complex(1, INF)]))
    T.sgn(T.tensor([complex(-INF, 0), complex(0, INF), complex(NAN, 0), complex(3, 4), 0]))
    T.lcm(T.tensor([127, 2**31 - 1], dtype=T.int32), T.tensor([1 - 2**31, 2**31 - 2], dtype=T.int32))
    T.nan_to_num(T.zeros(2, dtype=T.complex64, requires_grad=True))
    T.mul(np.float64(2), np.int64(3))
    T.mul(np.int64(3), 2)
    T.floor_divide(np.int64(7), np.int64(2))
    T.exp(np.float32(1))
    T.maximum(np.float32(1), np.float32(2))
    T.autograd.grad((2. % T.ones(2, requires_grad=True)).sum(), [])
    x = T.full((2,), 3., requires_grad=True); T.autograd.grad((7. % x).sum(), x)
    x = T.full((2,), 3., requires_grad=True); T.autograd.grad(T.remainder(x, 2).sum(), x)
    T.remainder(2, T.ones(2), out=T.empty(0))
    T.bitwise_xor(2, T.ones(2).int(), out=T.empty(0).int())
    T.bitwise_left_shift(2, T.ones(2).int(), out=T.empty(0).int())
    T.le(T.ones(2).cfloat(), 1j, out=T.empty(0).int())
    T.hypot(T.ones(2).cfloat().requires_grad_(), T.ones(2).cfloat(), out=T.empty(0))
    T.gcd(T.ones(2).bfloat16(), T.ones(2).bfloat16(), out=T.empty(0).int())
    T.gcd(T.ones(2).bfloat16(), T.ones(2).bfloat16(), out=T.empty(0))
""".strip().split("\n"))
def test_line(line):
    *before, last = line.strip().split(";")

    def program(t):
        names = {"T": t, "np": np, "INF": INF, "NAN": NAN}
        exec(";".join(before), names)
        return eval(last.strip(), names)
    same_outcome(program, no_words)
