"""Elementwise functions of one, two and more tensors; comparisons; logic."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, Unwritable, entered, translation
from ..writer import Value


def common(*values):
    """The dtype to which torch promotes tensors and numbers."""
    dims, zeros, scalars = [None], [None], [None]
    for x in values:
        if isinstance(x, Value):
            group = dims if x.rank else zeros
            group[0] = x.dtype if group[0] is None else dt.promote_types(group[0], x.dtype)
        elif x is not None:
            made = dt.of_scalar(x)
            scalars[0] = made if scalars[0] is None else dt.promote_types(scalars[0], made)
    return dt.combine(dims[0], zeros[0], scalars[0])


# ------------------------------------------------------------------ of one tensor
def _plain(kind):
    return lambda g, x: g.apply(kind, x)


entered([(name, _plain(kind)) for name, kind in {
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin",
    "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "erf": "Erf", "special_erf": "Erf", "reciprocal": "Reciprocal", "sigmoid": "Sigmoid",
    "special_expit": "Sigmoid", "tanh": "Tanh", "neg": "Neg", "negative": "Neg", "arcsin": "Asin", "arccos": "Acos",
    "arctan": "Atan", "arcsinh": "Asinh", "arccosh": "Acosh", "arctanh": "Atanh"}.items()])


def _of_whole_numbers_too(kind):
    """An operator that ONNX's runtimes have for floating-point numbers, and that leaves integers as they are."""
    def write(g, x):
        return g.op(kind, x) if x.dtype.is_floating_point else g.op("Identity", x)
    return write


entered([(name, _of_whole_numbers_too(kind)) for name, kind in {"ceil": "Ceil", "floor": "Floor"}.items()])


@translation("abs", "absolute")
def absolute(g, x):
    return g.op("Abs", x)


@translation("sign", "sgn")
def sign(g, x):
    return g.op("Sign", x)


@translation("round")
def round_(g, x):
    return g.op("Round", x) if x.dtype.is_floating_point else g.op("Identity", x)


@translation("round.decimals")
def round_decimals(g, x, decimals):
    scale = g.number(10.0 ** decimals, x.dtype)
    return g.op("Div", g.op("Round", g.op("Mul", x, scale)), scale)


@translation("trunc", "fix")
def trunc(g, x):
    if not x.dtype.is_floating_point:
        return g.op("Identity", x)
    return g.op("Mul", g.op("Sign", x), g.op("Floor", g.op("Abs", x)))


@translation("frac")
def frac(g, x):
    return g.op("Sub", x, trunc(g, x))


@translation("rsqrt")
def rsqrt(g, x):
    return g.op("Reciprocal", g.apply("Sqrt", x))


@translation("square")
def square(g, x):
    return g.op("Mul", x, x)


@translation("expm1", "special_expm1")
def expm1(g, x):
    return g.op("Sub", g.apply("Exp", x), g.number(1.0, g.out.dtype))


@translation("log1p", "special_log1p")
def log1p(g, x):
    return g.op("Log", g.op("Add", g.cast(x, g.out.dtype), g.number(1.0, g.out.dtype)))


def _log(base):
    return lambda g, x: g.op("Div", g.apply("Log", x), g.number(math.log(base), g.out.dtype))


entered([("log2", _log(2)), ("log10", _log(10))])


@translation("exp2", "special_exp2")
def exp2(g, x):
    return g.op("Pow", g.number(2.0, g.out.dtype), g.cast(x, g.out.dtype))


@translation("erfc", "special_erfc")
def erfc(g, x):
    return g.op("Sub", g.number(1.0, g.out.dtype), g.apply("Erf", x))


@translation("deg2rad")
def deg2rad(g, x):
    return g.op("Mul", g.cast(x, g.out.dtype), g.number(math.pi / 180, g.out.dtype))


@translation("rad2deg")
def rad2deg(g, x):
    return g.op("Mul", g.cast(x, g.out.dtype), g.number(180 / math.pi, g.out.dtype))


@translation("logit", "special_logit")
def logit(g, x, eps):
    x, one = g.cast(x, g.out.dtype), g.number(1.0, g.out.dtype)
    if eps is not None:
        x = g.op("Clip", x, g.number(eps, g.out.dtype), g.number(1 - eps, g.out.dtype))
    return g.op("Log", g.op("Div", x, g.op("Sub", one, x)))


@translation("sinc", "special_sinc")
def sinc(g, x):
    zero, one = g.number(0.0, g.out.dtype), g.number(1.0, g.out.dtype)
    x = g.cast(x, g.out.dtype)
    at_zero = g.op("Equal", x, zero)
    scaled = g.op("Mul", g.where(at_zero, one, x), g.number(math.pi, g.out.dtype))
    return g.where(at_zero, one, g.op("Div", g.op("Sin", scaled), scaled))


@translation("isnan")
def isnan(g, x):
    return g.op("IsNaN", x) if x.dtype.is_floating_point else g.expand(g.number(False, dt.bool), g.sizes(x))


@translation("isinf")
def isinf(g, x):
    return g.op("IsInf", x) if x.dtype.is_floating_point else g.expand(g.number(False, dt.bool), g.sizes(x))


@translation("isposinf")
def isposinf(g, x):
    return g.op("IsInf", x, detect_negative=0)


@translation("isneginf")
def isneginf(g, x):
    return g.op("IsInf", x, detect_positive=0)


@translation("isfinite")
def isfinite(g, x):
    if not x.dtype.is_floating_point:
        return g.expand(g.number(True, dt.bool), g.sizes(x))
    return g.op("Not", g.op("Or", g.op("IsInf", x), g.op("IsNaN", x)))


@translation("signbit")
def signbit(g, x):
    if x.dtype is dt.bool:
        return g.expand(g.number(False, dt.bool), g.sizes(x))
    return g.op("Less", x, g.number(0, x.dtype))


@translation("nan_to_num")
def nan_to_num(g, x, nan, posinf, neginf):
    if not x.dtype.is_floating_point:
        return g.op("Identity", x)
    limits = np.finfo(x.dtype.numpy)
    x_ = g.where(g.op("IsNaN", x), g.number(0.0 if nan is None else nan, x.dtype), x)
    x_ = g.where(g.op("IsInf", x, detect_negative=0), g.number(limits.max if posinf is None else posinf, x.dtype), x_)
    return g.where(g.op("IsInf", x, detect_positive=0), g.number(limits.min if neginf is None else neginf, x.dtype), x_)


# ------------------------------------------------------------------ of two
def _scaled(g, x, alpha):
    """x times alpha in the dtype of the result."""
    if alpha == 1:
        return g.cast(x, g.out.dtype)
    if not isinstance(x, Value):
        return g.number(x * alpha, g.out.dtype)
    return g.op("Mul", g.cast(x, g.out.dtype), g.number(alpha, g.out.dtype))


@translation("add")
def add(g, a, b, alpha=1):
    if g.out.dtype is dt.bool:
        return g.op("Or", g.cast(a, dt.bool), g.cast(b, dt.bool))
    return g.op("Add", g.cast(a, g.out.dtype), _scaled(g, b, alpha))


@translation("sub", "subtract")
def sub(g, a, b, alpha=1):
    return g.op("Sub", g.cast(a, g.out.dtype), _scaled(g, b, alpha))


@translation("rsub")
def rsub(g, a, b, alpha=1):
    return g.op("Sub", g.cast(b, g.out.dtype), _scaled(g, a, alpha))


@translation("mul", "multiply")
def mul(g, a, b):
    return g.apply("And" if g.out.dtype is dt.bool else "Mul", a, b)


@translation("div", "divide", "true_divide")
def div(g, a, b, rounding_mode=None):
    if rounding_mode == "floor":
        return floor_divide(g, a, b)
    result = g.apply("Div", a, b)              # this truncates integers
    if rounding_mode == "trunc" and g.out.dtype.is_floating_point:
        return g.op("Mul", g.op("Sign", result), g.op("Floor", g.op("Abs", result)))
    return result


@translation("floor_divide")
def floor_divide(g, a, b):
    dtype = g.out.dtype
    a, b = g.cast(a, dtype), g.cast(b, dtype)
    if dtype.is_floating_point:
        return g.op("Floor", g.op("Div", a, b))
    # a - (a mod b), which has b's sign, is a multiple of b
    return g.op("Div", g.op("Sub", a, g.op("Mod", a, b)), b)


@translation("remainder")
def remainder(g, a, b):
    dtype = g.out.dtype
    a, b = g.cast(a, dtype), g.cast(b, dtype)
    if not dtype.is_floating_point:
        return g.op("Mod", a, b)
    return g.op("Sub", a, g.op("Mul", g.op("Floor", g.op("Div", a, b)), b))


@translation("fmod")
def fmod(g, a, b):
    return g.apply("Mod", a, b, fmod=1)


@translation("pow")
def power(g, a, b):
    if b == 2 and isinstance(b, int):
        x = g.cast(a, g.out.dtype)
        return g.op("Mul", x, x)
    if b == 0.5:
        return g.apply("Sqrt", a)
    if not g.out.dtype.is_floating_point and g.out.dtype not in (dt.int32, dt.int64):
        return g.op("Cast", g.op("Pow", g.cast(a, dt.int64), g.cast(b, dt.int64)), to=_number(g))
    return g.apply("Pow", a, b)


def _number(g):
    from ..writer import element_type
    return element_type(g.out.dtype)


@translation("float_power")
def float_power(g, a, b):
    return g.apply("Pow", a, b)


@translation("atan2", "arctan2")
def atan2(g, y, x):
    dtype = g.out.dtype
    y, x = g.cast(y, dtype), g.cast(x, dtype)
    zero, pi = g.number(0.0, dtype), g.number(math.pi, dtype)
    on_axis = g.op("Equal", x, zero)
    angle = g.op("Atan", g.op("Div", y, g.where(on_axis, g.number(1.0, dtype), x)))
    behind = g.where(g.op("Less", y, zero), g.op("Sub", angle, pi), g.op("Add", angle, pi))
    inner = g.where(g.op("Less", x, zero), behind, angle)
    return g.where(on_axis, g.op("Mul", g.op("Sign", y), g.number(math.pi / 2, dtype)), inner)


@translation("hypot")
def hypot(g, a, b):
    a, b = g.cast(a, g.out.dtype), g.cast(b, g.out.dtype)
    return g.op("Sqrt", g.op("Add", g.op("Mul", a, a), g.op("Mul", b, b)))


@translation("logaddexp")
def logaddexp(g, a, b):
    largest = g.op("Max", a, b)
    total = g.op("Add", g.op("Exp", g.op("Sub", a, largest)), g.op("Exp", g.op("Sub", b, largest)))
    return g.where(g.op("IsInf", largest), largest, g.op("Add", largest, g.op("Log", total)))


@translation("xlogy", "special_xlogy")
def xlogy(g, a, b):
    dtype = g.out.dtype
    a, b = g.cast(a, dtype), g.cast(b, dtype)
    zero = g.number(0.0, dtype)
    return g.where(g.op("And", g.op("Equal", a, zero), g.op("Not", g.op("IsNaN", b))), zero,
                   g.op("Mul", a, g.op("Log", b)))


@translation("copysign")
def copysign(g, a, b):
    a, b = g.op("Abs", g.cast(a, g.out.dtype)), g.cast(b, g.out.dtype)
    return g.where(g.op("Less", b, g.number(0.0, g.out.dtype)), g.op("Neg", a), a)


@translation("heaviside")
def heaviside(g, x, values):
    zero, one = g.number(0, x.dtype), g.number(1, x.dtype)
    return g.where(g.op("Equal", x, zero), values, g.where(g.op("Less", x, zero), zero, one))


def _chosen(kind):
    def write(g, a, b):
        if g.out.dtype is dt.bool:
            return g.apply("Or" if kind == "Max" else "And", a, b)
        return g.apply(kind, a, b)
    return write


entered([(name, _chosen(kind)) for name, kind in {
    "maximum": "Max", "max.other": "Max", "minimum": "Min", "min.other": "Min"}.items()])


def _without_nan(kind):
    def write(g, a, b):
        a, b = g.cast(a, g.out.dtype), g.cast(b, g.out.dtype)
        if not g.out.dtype.is_floating_point:
            return g.op(kind, a, b)
        return g.op(kind, g.where(g.op("IsNaN", a), b, a), g.where(g.op("IsNaN", b), a, b))
    return write


entered([("fmax", _without_nan("Max")), ("fmin", _without_nan("Min"))])


@translation("logaddexp2")
def logaddexp2(g, a, b):
    two = g.number(2.0, g.out.dtype)
    largest = g.op("Max", a, b)
    total = g.op("Add", g.op("Pow", two, g.op("Sub", a, largest)), g.op("Pow", two, g.op("Sub", b, largest)))
    found = g.op("Add", largest, g.op("Div", g.op("Log", total), g.number(math.log(2), g.out.dtype)))
    return g.where(g.op("IsInf", largest), largest, found)


@translation("special_xlog1py")
def xlog1py(g, a, b):
    dtype = g.out.dtype
    b = Value(g.op("Add", g.cast(b, dtype), g.number(1.0, dtype)), (), dtype)
    return xlogy(g, a, b)


@translation("ldexp")
def ldexp(g, a, b):
    return g.op("Mul", g.cast(a, g.out.dtype), g.op("Pow", g.number(2.0, g.out.dtype), g.cast(b, g.out.dtype)))


@translation("special_entr")
def entr(g, x):
    x, zero = g.cast(x, g.out.dtype), g.number(0.0, g.out.dtype)
    inner = g.where(g.op("Equal", x, zero), zero, g.op("Neg", g.op("Mul", x, g.op("Log", x))))
    return g.where(g.op("Less", x, zero), g.number(-math.inf, g.out.dtype), inner)


@translation("special_ndtr")
def ndtr(g, x):
    scaled = g.op("Mul", g.cast(x, g.out.dtype), g.number(math.sqrt(0.5), g.out.dtype))
    return g.op("Mul", g.op("Add", g.op("Erf", scaled), g.number(1.0, g.out.dtype)), g.number(0.5, g.out.dtype))


@translation("angle")
def angle(g, x):
    return g.where(g.op("Less", x, g.number(0, x.dtype)), g.number(math.pi, g.out.dtype), g.number(0.0, g.out.dtype))


@translation("isreal")
def isreal(g, x):
    return g.expand(g.number(True, dt.bool), g.sizes(x))


@translation("isin")
def isin(g, x, known, assume_unique=False, invert=False):
    dtype = common(x, known)
    wide = g.unsqueeze(g.cast(x, dtype), [x.rank]) if isinstance(x, Value) else g.cast(x, dtype)
    same = g.op("Equal", wide, g.reshape(g.cast(known, dtype), [-1]) if isinstance(known, Value) else g.reshape(
        g.cast(known, dtype), [1]))
    rank = x.rank if isinstance(x, Value) else 0
    found = g.cast(Value(g.reduce("ReduceMax", g.op("Cast", same, to=6), [rank]), (), dt.int32), dt.bool)
    return g.op("Not", found) if invert else found


# ------------------------------------------------------------------ comparisons and logic
def _compared(kind):
    """A comparison. Integers and truth values are compared in a type that all runtimes support."""
    def write(g, a, b):
        dtype = common(a, b)
        if dtype in (dt.bool, dt.uint8, dt.int8, dt.int16) and not (kind == "Equal" and dtype is dt.bool):
            dtype = dt.int32
        return g.op(kind, g.cast(a, dtype), g.cast(b, dtype))
    return write


_COMPARISONS = {"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
                "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater", "greater_equal": "GreaterOrEqual"}
entered([(name, _compared(kind)) for name, kind in _COMPARISONS.items()])


@translation("ne", "not_equal")
def ne(g, a, b):
    return g.op("Not", _compared("Equal")(g, a, b))


@translation("isclose")
def isclose(g, a, b, rtol, atol, equal_nan):
    if equal_nan:
        raise Refusal("equal_nan=True")
    room = g.op("Add", g.number(atol, a.dtype), g.op("Mul", g.number(rtol, a.dtype), g.op("Abs", b)))
    return g.op("Or", g.op("Equal", a, b), g.op("LessOrEqual", g.op("Abs", g.op("Sub", a, b)), room))


def _logical(kind):
    return lambda g, a, b: g.op(kind, g.cast(a, dt.bool), g.cast(b, dt.bool))


entered([(f"logical_{name}", _logical(name.capitalize())) for name in ("and", "or", "xor")])


@translation("logical_not")
def logical_not(g, x):
    return g.op("Not", g.cast(x, dt.bool))


def _bitwise(name):
    kind = name.capitalize()

    def write(g, a, b):
        dtype = common(a, b)
        if dtype is dt.bool:
            return g.op(kind, g.cast(a, dtype), g.cast(b, dtype))
        if g.opset < 18:
            raise Unwritable(18)
        return g.op(f"Bitwise{kind}", g.cast(a, dtype), g.cast(b, dtype))
    return write


entered([(f"{prefix}{name}{suffix}", _bitwise(name)) for prefix, suffix in (("bitwise_", ""), ("__", "__"))
         for name in ("and", "or", "xor")])


@translation("bitwise_not")
def bitwise_not(g, x):
    if x.dtype is dt.bool:
        return g.op("Not", x)
    if g.opset < 18:
        if not x.dtype.is_signed:
            raise Unwritable(18)
        return g.op("Sub", g.op("Neg", x), g.number(1, x.dtype))
    return g.op("BitwiseNot", x)


def _shifted(kind):
    """A shift of integers that may be negative: a product, or a quotient that is rounded down."""
    def write(g, a, b):
        scale = g.op("Pow", g.number(2, g.out.dtype), g.cast(b, g.out.dtype))
        scale = Value(scale, (), g.out.dtype)
        return g.apply("Mul", a, scale) if kind == "left" else floor_divide(g, a, scale)
    return write


entered([(f"{name}", _shifted(kind)) for name, kind in {
    "bitwise_left_shift": "left", "__lshift__": "left", "bitwise_right_shift": "right", "__rshift__": "right"}.items()])


# ------------------------------------------------------------------ of more
@translation("clamp", "clip")
def clamp(g, x, low=None, high=None):
    dtype = g.out.dtype
    x = g.cast(x, dtype)
    if isinstance(low, Value) or isinstance(high, Value):
        if low is not None:
            x = g.op("Max", x, g.cast(low, dtype))
        return x if high is None else g.op("Min", x, g.cast(high, dtype))
    low, high = [None if y is None else g.number(y, dtype) for y in (low, high)]
    if low is not None and high is not None and low.array > high.array:
        low = high                             # torch returns the upper limit in this case
    return g.op("Clip", x, low, high)


@translation("clamp_min")
def clamp_min(g, x, low):
    return clamp(g, x, low)


@translation("clamp_max")
def clamp_max(g, x, high):
    return clamp(g, x, None, high)


@translation("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(g, condition, a, b):
    return g.where(g.cast(condition, dt.bool), g.cast(a, g.out.dtype), g.cast(b, g.out.dtype))


@translation("masked_fill")
def masked_fill(g, x, mask, value):
    return g.where(g.cast(mask, dt.bool), g.cast(value, g.out.dtype), x)


@translation("lerp")
def lerp(g, start, end, weight):
    return g.op("Add", start, g.op("Mul", g.cast(weight, g.out.dtype), g.op("Sub", end, start)))


@translation("addcmul")
def addcmul(g, x, a, b, value=1):
    return g.op("Add", g.cast(x, g.out.dtype), _scaled(g, _product(g, "Mul", a, b), value))


@translation("addcdiv")
def addcdiv(g, x, a, b, value=1):
    return g.op("Add", g.cast(x, g.out.dtype), _scaled(g, _product(g, "Div", a, b), value))


def _product(g, kind, a, b):
    return Value(g.apply(kind, a, b), (), g.out.dtype)


@translation("alias", "detach", "clone", "contiguous", "lift_fresh_copy", "lift_fresh", "data", "resolve_conj",
             "resolve_neg", "positive", "conj", "conj_physical", "real", "cpu", put="same")
def same(g, x, *options):
    return g.op("Identity", x)


@translation("to", "_to_copy", "type_as", put="same")
def converted(g, x, *options):
    return g.cast(x, g.out.dtype) if x.dtype is not g.out.dtype else g.op("Identity", x)
