"""What is refused, and in which order things are looked at: each line gives the same under both modules, strides
too, or the same error."""
import pytest

from .adapter import same_outcome
from .test_layout import lines, outcome


@pytest.mark.parametrize("line", lines("""
    a = t.zeros(0); t.add(t.ones(2, 1), a, out=a)
    a = t.zeros(()); t.mul(a, t.ones(2, 4), out=a)
    a = t.zeros(4, dtype=c64); t.div(t.ones(3, 4), a, out=a)
    a = t.zeros(1, dtype=u8); t.bitwise_and(t.ones(3, 1, dtype=u8), a, out=a)
    a = t.zeros(3); t.pow(t.ones(2, 1), a, out=a)
    a = t.zeros(4); t.lt(a, t.ones(3, 4), out=a)
    a = t.zeros(3, 4); t.sum(a, 0, out=a[0])
    a = t.zeros(1, 4); a[i([0])] = a; a
    a = t.zeros(1, 4); a[[0]] = a; a
    a = t.zeros(1, 4); a[t.tensor([True])] = a; a
    a = t.ones(1, 4, requires_grad=True) * 2; a[i([0])] = a; a
    a = t.ones(2, 4, requires_grad=True) * 2; a[i([0])] = a[1:] * 3; a
    a = t.zeros(1, 4); a[0] = a; a
    a = t.zeros(1, 4); a[...] = a; a
    a = t.zeros(2, 4); a[i([0])] = a[1:].clone(); a
"""))
def test_writes(line):
    same_outcome(lambda t: outcome(t, line))


@pytest.mark.parametrize("limits", ["1j, 0", "0, 1j", "1j", "None, 1j", "0j, 1j", "1j, .5"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "bfloat16", "complex64"])
def test_complex_limits(dtype, limits):
    same_outcome(lambda t: outcome(t, f"t.zeros(2, dtype=t.{dtype}).clamp({limits})"))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "rsub", "pow",
                                  "eq", "maximum", "bitwise_and"])
@pytest.mark.parametrize("numbers", ["2, 3", "2, True", "True, 2.5", "2., 3.", "1j, 2", "2, -1.5"])
def test_two_numbers(name, numbers):
    same_outcome(lambda t: outcome(t, f"t.{name}({numbers})"), cut=lambda text: "")


@pytest.mark.parametrize("line", lines("""
    t.aminmax(t.zeros(0, 0, dtype=c64), dim=9)
    t.aminmax(t.zeros(2, 2, dtype=c64), dim=0)
    t.aminmax(t.zeros(0, 0, dtype=c64))
    t.searchsorted(t.zeros(0, dtype=t.bool), t.zeros(0, 1, dtype=t.bool))
    t.searchsorted(t.zeros(3, dtype=c64), t.zeros(0, dtype=c64))
    t.searchsorted(t.zeros(3, dtype=c64), t.zeros(1, dtype=c64))
"""))
def test_order_of_checks(line):
    same_outcome(lambda t: outcome(t, line))


@pytest.mark.parametrize("shape", [(2, 3, 4, 2), (3, 1, 4, 1), (2, 2, 1, 4), (3, 4, 4, 1), (2, 2, 2, 1, 3)])
@pytest.mark.parametrize("call", [
    "batch_norm(x, None, None, training=True)", "batch_norm(x, x[0].new_ones(c), x[0].new_ones(c))",
    "group_norm(x, 1)"])
def test_gradients_with_channels_last(call, shape):
    def program(t):
        x = t.linspace(-1, 2, t.zeros(shape).numel(), dtype=t.float64).reshape(shape)
        x = x.to(memory_format=t.channels_last if x.ndim == 4 else t.channels_last_3d).requires_grad_()
        y = eval("t.nn.functional." + call, dict(t=t, x=x, c=shape[1]))
        return [t.autograd.grad((y * y * y).sum(), x, create_graph=again, retain_graph=True)[0].stride()
                for again in (False, True)] + [t.autograd.grad(
                    sum((d * x).sum() for d in t.autograd.grad((y * y * y).sum(), x, create_graph=True)), x)]
    same_outcome(program)
