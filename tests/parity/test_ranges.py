"""Numbers in a row, and numbers that a dtype does not hold, beside torch: every bit, dtypes, errors."""
import random

import pytest

from .adapter import same_outcome

NUMBERS = """
t.linspace(0, 300, 3, dtype=t.uint8); t.linspace(-1, 3, 3, dtype=t.uint8); t.linspace(-1.5, 3, 3, dtype=t.uint8)
t.linspace(0, 300.5, 3, dtype=t.uint8); t.linspace(0, 1e40, 3); t.linspace(0, 1e6, 3, dtype=t.half)
t.linspace(0, 1e6, 3, dtype=t.int16); t.linspace(0, 2j, 3, dtype=t.float32); t.linspace(0, 2j, 3, dtype=t.int32)
t.linspace(0, nan, 3, dtype=t.int32); t.linspace(300, 1, 1, dtype=t.uint8); t.linspace(300, 1, 0, dtype=t.uint8)
t.linspace(inf, 1, 4); t.linspace(3, -7, 11, dtype=t.int32); t.linspace(-2**63, 2**63 - 1, 5, dtype=t.int64)
t.linspace(0, 3, 4, dtype=t.uint16); t.logspace(0, 3, 4, dtype=t.uint16); t.arange(3, dtype=t.uint16)
t.eye(3, dtype=t.uint32); t.eye(3, dtype=t.bool); t.logspace(0, 300, 3, dtype=t.uint8)
t.logspace(0, 1e6, 3, dtype=t.half); t.logspace(300, 1, 0, dtype=t.uint8); t.logspace(2.5, 1, 1, dtype=t.int32)
t.logspace(2.5, 1, 1, dtype=t.bfloat16); t.logspace(2.5j, 1, 1); t.logspace(0, 500, 3, dtype=t.float64)
t.logspace(0, 50, 3); t.logspace(0, 5, 4, -2); t.logspace(-1, 1, 4, 0); t.logspace(nan, 1, 4); t.logspace(inf, 1, 4)
t.logspace(0, 3, 17, dtype=t.complex64); t.full((2,), 1e40, dtype=t.bfloat16); t.full((2,), 3.39e38, dtype=t.bfloat16)
t.full((2,), inf, dtype=t.bfloat16); t.full((2,), 65510., dtype=t.half); t.full((2,), 65504., dtype=t.half)
t.full((2,), 3.40282351e38); t.full((2,), 1e40 + 0j); t.full((2,), t.tensor(2.7, dtype=t.bfloat16))
t.full((2,), t.tensor(2, dtype=t.uint8)); t.full((2,), t.tensor(1e-300).double())
t.ones(2, dtype=t.bfloat16).fill_(1e40); t.scalar_tensor(1e6, dtype=t.half); t.scalar_tensor(1e40, dtype=t.bfloat16)
t.scalar_tensor(1e40); t.scalar_tensor(3j); t.scalar_tensor(3j, dtype=t.half); t.scalar_tensor(300, dtype=t.uint8)
put(t.ones(2, dtype=t.half), 1e6); put(t.ones(2, dtype=t.bfloat16), 1e40); put(t.ones(2), 1e40); put(t.ones(2), 2j)
t.zeros(2, pin_memory=True); t.ones_like(t.ones(2), pin_memory=True); t.rand(2, pin_memory=True)
t.eye(2, pin_memory=True); t.normal(t.zeros(3).half(), t.ones(3).bfloat16())
t.normal(t.zeros(3), t.ones(3).bfloat16()); t.multinomial(t.ones(2, 1), 1).stride()
t.multinomial(t.ones(2, 3), 2).stride(); str(t.iinfo(t.uint32)); str(t.iinfo(t.int64)); str(t.iinfo(t.int8))
str(t.iinfo(t.int16))
""".strip().replace("\n", "; ").split("; ")


def put(x, value):
    x[0] = value
    return x


@pytest.mark.parametrize("expression", NUMBERS)
def test_numbers(expression):
    def program(t):
        t.manual_seed(0)
        return eval(expression, dict(t=t, put=put, nan=float("nan"), inf=float("inf")))
    same_outcome(program, tolerance=0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "uint8",
                                   "int32"])
def test_every_bit_of_ranges(dtype):
    """Ends, counts and bases at random."""
    numbers = random.Random(dtype)

    def end():
        if dtype[0] in "ui":
            return numbers.uniform(0, 2.2)
        return complex(numbers.uniform(-2, 2), numbers.uniform(-2, 2)) if dtype[0] == "c" else numbers.uniform(-4, 4)
    for _ in range(60):
        start, stop, count, base = end(), end(), numbers.randrange(1, 40), numbers.choice([10.0, 2.0, 1.7])
        for name, more in (("linspace", ()), ("logspace", (base,))):
            same_outcome(lambda t: getattr(t, name)(start, stop, count, *more, dtype=getattr(t, dtype)), tolerance=0)
