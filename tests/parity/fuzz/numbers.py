"""Numbers that do not fit, wrap around or come from NumPy: beside tensors, in factories, as limits and fillings."""
from .values import COMPLEX, DTYPES, FLOATS, INTS, number, shape, strided, tensor

EDGES = ["2**7", "2**8", "-2**7 - 1", "300", "-300", "2**15", "65504", "65505", "70000", "2**31", "-2**31 - 1", "2**62",
         "2**63 - 1", "2**63", "-2**63", "2**64 - 1", "1e5", "65519.", "1e6", "1e39", "-1e39", "1e300", "3.4e38", "1.5",
         "-0.5", "255.5", "-1.", "True", "1j", "1e39j", "float('inf')", "float('nan')"]
OPERATORS = "+ - * / // % < <= == != & | << >>".split()
UNSIGNED = ["uint16", "uint32", "uint64"]


def edge(rng):
    """A number as text: near the end of some dtype, or any, sometimes one of NumPy's."""
    if rng.random() < .15:
        kind = rng.choice(["float64", "float32", "float16", "int64", "int8", "uint8", "bool_"])
        return f"np.{kind}({rng.choice(['0', '1', '2', '3'])})"
    return rng.choice(EDGES) if rng.random() < .75 else number(rng, rng.choice(DTYPES))


def program(rng):
    dtype = rng.choice(DTYPES + ["uint8", "float16", "bfloat16"])
    sizes = shape(rng)
    lines = [f"a = {strided(rng, sizes, dtype)}"]
    for k in range(rng.randint(1, 3)):
        lines.append(f"{'bcd'[k]} = {_line(rng, dtype)}")
    return lines


def _line(rng, dtype):
    x, y, other = edge(rng), edge(rng), rng.choice(DTYPES)
    size = rng.choice(["()", "(1,)", "(2,)", "(0,)"])
    return rng.choice([
        lambda: f"a {rng.choice(OPERATORS)} {x}",
        lambda: f"a {rng.choice(OPERATORS)} {x}",
        lambda: f"{x} {rng.choice(OPERATORS)} a",
        lambda: f"a {rng.choice(OPERATORS)} {tensor(rng, (), rng.choice(INTS + FLOATS))}",
        lambda: f"a.{rng.choice('add sub mul div eq lt fill clamp_min clamp_max'.split())}_({x})",
        lambda: f"a.{rng.choice('add mul div pow fmod floor_divide copysign le fill'.split())}_("
                f"{tensor(rng, (), rng.choice(DTYPES))})",
        lambda: f"T.{rng.choice('add mul sub div eq lt pow clamp_min remainder bitwise_and'.split())}(a, {x}, "
                f"out=T.empty(0, dtype=T.{other}))",
        lambda: f"T.where(a != a, {x}, a)",
        lambda: f"T.where(a == a, {x}, {y})",
        lambda: f"a.clamp({x}, {y})",
        lambda: f"T.full({size}, {x}, dtype=T.{other})",
        lambda: f"T.full({size}, {x})",
        lambda: f"T.full_like(a, {x})",
        lambda: f"T.scalar_tensor({x}, dtype=T.{other})",
        lambda: f"T.tensor({x}, dtype=T.{rng.choice([*DTYPES, *UNSIGNED])})",
        lambda: f"T.tensor([{x}, {y}], dtype=T.{rng.choice([*DTYPES, *UNSIGNED])})",
        lambda: f"T.tensor([[{x}], [{y}]])",
        lambda: f"T.result_type(a, {x})",
        lambda: f"T.result_type({x}, {y})",
        lambda: f"T.add(a, {number(rng, rng.choice(FLOATS + INTS))}, alpha={x})",
        lambda: f"a.masked_fill(a == a, {x})",
        lambda: f"a.to(T.{other}) {rng.choice(OPERATORS)} {x}",
        lambda: f"T.promote_types(T.{rng.choice([*DTYPES, *UNSIGNED])}, T.{rng.choice([*COMPLEX, *UNSIGNED, *INTS])})",
    ])()
