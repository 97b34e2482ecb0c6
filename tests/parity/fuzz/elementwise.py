"""Operators and functions of one and two operands: dtypes, numbers, operands without dimensions, strides, gradients,
in-place forms and `out=`."""
from .values import COMPLEX, DTYPES, FLOATS, broadcastable, number, shape, strided, tensor

UNARY = """abs neg exp log sin cos tanh sigmoid sqrt rsqrt reciprocal square floor ceil round trunc frac sign sgn exp2
expm1 log1p log2 log10 erf erfc erfinv lgamma digamma sinh cosh tan asin acos atan asinh acosh atanh isnan isinf
isfinite logical_not bitwise_not positive angle conj_physical sinc logit deg2rad rad2deg i0 signbit
nan_to_num isneginf isposinf isreal relu selu celu hardshrink fix special.entr special.i0e special.i1 special.i1e
""".split()
BINARY = """add sub mul div true_divide floor_divide remainder fmod pow maximum minimum fmax fmin atan2 hypot eq ne
lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift
copysign nextafter ldexp xlogy logaddexp logaddexp2 gcd lcm heaviside float_power rsub isclose
clamp_min clamp_max polar complex special.xlogy""".split()
TERNARY = "addcmul addcdiv lerp where".split()
OPERATORS = "+ - * / // % ** < <= > >= == != & | ^ << >>".split()
INPLACE = """add sub mul div floor_divide remainder fmod pow copysign atan2 eq lt ne logical_and bitwise_or clamp_min
clamp_max xlogy ldexp hypot heaviside nextafter gcd fill copy masked_fill""".split()
INPLACE_UNARY = """exp sqrt sin neg abs round sign square reciprocal logical_not bitwise_not floor sigmoid tanh
zero""".split()


def program(rng):
    sizes = shape(rng)
    dtype = rng.choice(DTYPES)
    other = dtype if rng.random() < .4 else rng.choice(DTYPES)
    grad = rng.random() < .5
    lines = [f"a = {strided(rng, sizes, dtype)}"]
    if grad and dtype in FLOATS + COMPLEX:
        lines.append("a.requires_grad_()")
    way = rng.random()
    if way < .35:
        operand = tensor(rng, (), other)
    elif way < .55:
        operand = number(rng, rng.choice(["float64", "int64", "bool", "complex128"]), special=.3)
        operand = rng.choice([operand, operand, f"np.{rng.choice(['float64', 'float32', 'int64', 'int8'])}(2)"])
    else:
        operand = strided(rng, broadcastable(rng, sizes), other)
    lines.append(f"b = {operand}")
    if grad and other in FLOATS + COMPLEX and operand.startswith("T."):
        lines.append("b.requires_grad_()")
    names = ["a", "b"]
    for k in range(rng.randint(1, 3)):
        x, y = rng.choice(names), rng.choice(names)
        way = rng.random()
        if way < .35:
            line = f"{x} {rng.choice(OPERATORS)} {y}"
        elif way < .65:
            line = f"T.{rng.choice(BINARY)}({x}, {y})"
        elif way < .9:
            line = f"T.{rng.choice(UNARY)}({x})"
        elif way < .93:
            line = f"{x}.{rng.choice(INPLACE)}_({y})"
        elif way < .94:
            line = f"{x}.{rng.choice(INPLACE_UNARY)}_()"
        elif way < .97:
            line = f"T.{rng.choice(TERNARY)}({x}, {y}, {rng.choice(names)})"
        else:
            line = f"T.{rng.choice(BINARY)}({x}, {y}, out=T.empty(0, dtype=T.{rng.choice(DTYPES)}))"
        names.append("cde"[k])
        lines.append(f"{names[-1]} = {line}")
    if grad:
        roots = [n for n in "ab" if f"{n}.requires_grad_()" in lines]
        if roots:
            wrt = ", ".join(roots)
            lines.append(f"g = T.autograd.grad(loss({', '.join(names[2:])}), [{wrt}], create_graph=True, "
                         "allow_unused=True)")
            lines.append(f"gg = T.autograd.grad(loss(*[x for x in g if x is not None]), [{wrt}], allow_unused=True)")
    return lines
