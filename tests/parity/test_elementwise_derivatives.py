"""Derivatives of elementwise functions and activations at their kinks, at NaN and infinity, of halves and in place:
each program runs under both modules."""
import pytest

from .adapter import same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")
NAN, INF = float("nan"), float("inf")
POINTS = (NAN, INF, -INF, 0., 1., -1., 3., -3., 6., 20., 20.0001, -20., .5, -.5, 89., 800., -800., 1e-30, .3, -2.7)
ACTIVATIONS = [("relu", {}), ("relu6", {}), ("leaky_relu", {}), ("leaky_relu", {"negative_slope": -.5}), ("elu", {}),
               ("elu", {"alpha": 2.}), ("selu", {}), ("celu", {"alpha": 2.}), ("silu", {}), ("mish", {}),
               ("softplus", {}), ("softplus", {"beta": 2, "threshold": 4}), ("softplus", {"threshold": 200}),
               ("softsign", {}), ("tanhshrink", {}), ("hardtanh", {}), ("hardsigmoid", {}), ("hardswish", {}),
               ("hardshrink", {}), ("softshrink", {}), ("logsigmoid", {}),
               ("threshold", {"threshold": .5, "value": 2.}), ("sigmoid", {}), ("tanh", {})]


def two_gradients(t, function, x, g=1.5):
    """Value, gradient without and with a graph, and second gradient of one number: where there are more, torch's NaN
    depends on their count."""
    y = function(x)
    weight = t.full_like(y, g)
    plain, = t.autograd.grad(y, x, weight, retain_graph=True)
    first, = t.autograd.grad(y, x, weight, create_graph=True)
    second = t.autograd.grad(first, x, t.ones_like(x), allow_unused=True)[0] if first.requires_grad else "constant"
    return y, plain, first, second


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("float64", 1e-12)])
@pytest.mark.parametrize("name, options", ACTIVATIONS)
def test_activations(name, options, dtype, tolerance):
    for point in POINTS:
        def program(t, point=point):
            x = t.tensor([point], dtype=getattr(t, dtype), requires_grad=True)
            return two_gradients(t, lambda x: getattr(t.nn.functional, name)(x, **options), x)
        same_outcome(program, tolerance=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [("float16", 1e-3), ("bfloat16", 8e-3)])
@pytest.mark.parametrize("name, options", [a for a in ACTIVATIONS if a[0] not in ("softplus", "logsigmoid")])
def test_activations_of_halves(name, options, dtype, tolerance):
    def program(t):
        x = t.linspace(-5, 5, 64).to(getattr(t, dtype)).requires_grad_()
        return two_gradients(t, lambda x: getattr(t.nn.functional, name)(x, **options), x)[:3]
    same_outcome(program, tolerance=tolerance)


@pytest.mark.parametrize("name, options", [
    ("elu", {"alpha": -1.}), ("elu", {}), ("celu", {"alpha": -1.}), ("celu", {"alpha": 2.}), ("selu", {}),
    ("leaky_relu", {"negative_slope": -.5}), ("leaky_relu", {}), ("rrelu", {"lower": -.5, "upper": -.25}),
    ("rrelu", {"lower": .25, "upper": .5})])
@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_in_place(name, options, written, dtype):
    """The in-place forms go by their output: no negative slopes, and no writes to it."""
    def program(t):
        x = t.tensor([1., -1., .5, -2.], dtype=getattr(t, dtype), requires_grad=True)
        y = getattr(t.nn.functional, name)(x * 1, inplace=True, **options)
        node = y.grad_fn.name()
        if written:
            y.mul_(2)
        y.sum().backward()
        return node, y, x.grad
    same_outcome(program, tolerance=1e-6 if dtype == "float32" else 8e-3)


@pytest.mark.parametrize("name", ["sign", "sgn", "floor", "ceil", "round", "trunc", "abs", "angle"])
def test_infinite_gradients_of_steps(name):
    same_outcome(lambda t: two_gradients(t, getattr(t, name), t.tensor([-1.5, 0., NAN], requires_grad=True), INF))


@pytest.mark.parametrize("rounding", ["floor", "trunc"])
def test_rounded_quotients(rounding):
    def program(t):
        x = t.tensor([7., -7.], requires_grad=True)
        y = t.tensor([2., 0.], requires_grad=True)
        z = t.div(x, y, rounding_mode=rounding)
        return t.autograd.grad(z, (x, y), t.tensor([INF, NAN]))
    same_outcome(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["true", "floor", "trunc", "fmod"])
def test_quotients_of_halves(name, dtype):
    """To the last bit."""
    def program(t):
        x = (t.arange(1., 301.) * 37 % 101 - 50).to(getattr(t, dtype))
        y = ((t.arange(1., 301.) * 13 % 17 - 8.5) / 7).to(getattr(t, dtype))
        return x.fmod(y) if name == "fmod" else t.div(x, y, rounding_mode=None if name == "true" else name)
    same_outcome(program, tolerance=0)


#: Function of (module, two tensors of numbers above 0.1 and below 0.9).
BFLOAT16 = {
    "div": lambda t, x, y: x / y, "addcdiv": lambda t, x, y: t.addcdiv(x.detach(), x, y),
    "addcmul": lambda t, x, y: t.addcmul(x.detach(), x, y), "pow": lambda t, x, y: x ** y,
    "hypot": lambda t, x, y: t.hypot(x, y), "atan2": lambda t, x, y: t.atan2(x, y),
    "xlogy": lambda t, x, y: t.xlogy(x, y), "logaddexp": lambda t, x, y: t.logaddexp(x, y),
    "copysign": lambda t, x, y: t.copysign(x, y), "atan": lambda t, x, y: x.atan() * y,
    "atanh": lambda t, x, y: x.atanh() * y, "tan": lambda t, x, y: x.tan() * y, "tanh": lambda t, x, y: x.tanh() * y,
    "sigmoid": lambda t, x, y: x.sigmoid() * y, "expm1": lambda t, x, y: x.expm1() * y,
    "lerp": lambda t, x, y: t.lerp(x, y.detach(), y),
    "digamma": lambda t, x, y: x.digamma() * y, "softsign": lambda t, x, y: t.nn.functional.softsign(x) * y}


@pytest.mark.parametrize("name", BFLOAT16)
def test_bfloat16_is_rounded_after_each_operation(name):
    """Gradients, without a graph and with one: to the last bit."""
    def program(t):
        x = (t.arange(50.) * 7 % 50 / 63 + .1).to(t.bfloat16).requires_grad_()
        y = (t.arange(50.) * 11 % 50 / 63 + .1).to(t.bfloat16).requires_grad_()
        z = BFLOAT16[name](t, x, y)
        weight = (t.arange(50.) / 40 - .5).to(t.bfloat16)
        return (t.autograd.grad(z, (x, y), weight, retain_graph=True),
                t.autograd.grad(z, (x, y), weight, create_graph=True))
    same_outcome(program, tolerance=0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["sinc", "logit", "tan", "erfinv", "log1p", "atanh"])
def test_half_functions(name, dtype):
    """Rounded where torch rounds."""
    for point in (.95, .3, -.69, .05):
        def program(t, point=point):
            x = t.tensor([point], dtype=getattr(t, dtype), requires_grad=True)
            return two_gradients(t, getattr(t, name), x)
        same_outcome(program, tolerance=1e-3 if dtype == "float16" else 8e-3)


@pytest.mark.parametrize("name", ["i0", "i1", "i0e", "i1e"])
def test_bessel(name):
    for point in (0., 1., -2., NAN, 1e-30):
        def program(t, point=point):
            x = t.tensor([point], requires_grad=True)
            return two_gradients(t, getattr(t.special, name), x)
        same_outcome(program, tolerance=1e-5)


@pytest.mark.parametrize("point", [0, 1, 2j, 1 - 1j, complex(0, INF)])
def test_exponents_of_zero(point):
    """A power of zero depends on an exponent that is not a real one of zero or more."""
    def program(t):
        x = t.tensor(point, dtype=t.complex64, requires_grad=True)
        y = t.zeros((), dtype=t.complex64) ** x
        return y, t.autograd.grad(y.real + y.imag, x)
    same_outcome(program)


@pytest.mark.parametrize("line", ["t.floor(x)", "t.sgn(x > 2)", "t.sign(x > 2)", "t.isclose(x, x.contiguous())",
                                  "t.isclose(x.contiguous(), x)", "t.rsub(x.contiguous(), x)", "x.half() * 1.5",
                                  "x.bfloat16() * 1.5", "x.pow(1)"])
def test_memory_order(line):
    def program(t):
        result = eval(line, {"t": t, "x": t.arange(6).reshape(2, 3).t()})
        return result, result.stride()
    same_outcome(program)
