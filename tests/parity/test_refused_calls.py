"""What is refused, and in which order things are looked at: each line gives the same under both modules, strides
too, or the same error."""
import numpy as np
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
    t.zeros(2).scatter_(0, i([0, 0]), t.tensor(1.))
    t.zeros(2).scatter(0, i([0, 1]), t.tensor(1.), reduce="add")
    t.zeros(()).scatter_add(0, i([0, 0]), t.tensor(1.))
    t.zeros(2).scatter_add(0, i([1]), t.tensor(1.))
    t.zeros(2).scatter_add_(0, i(1), t.tensor(1.))
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


INTS = ("True", "np.bool_(True)", "np.int64(1)", "np.uint8(1)", "np.array(1)", "np.array([1])", "np.array(1.5)",
        "np.float32(1)", "t.tensor(1)", "t.tensor(1.5)", "t.tensor([1, 0])", "2**63", "10**30", "-10**30", "1.0",
        "None", "'a'")
CALLS_WITH_INTS = (
    "t.flatten(t.ones(2, 2), {})", "t.ones(2, 2).flatten({})", "t.flatten(t.ones(2, 2), start_dim={})",
    "t.ones(2, 2).transpose({}, 0)", "t.amax(t.ones(2, 2, 2), [{}, 0])", "t.amax(t.ones(2, 2, 2), dim=(0, {}))",
    "t.ones(8).reshape([{}, 8])", "t.ones(8).view(8, {})",
    "t.nn.functional.avg_pool2d(t.ones(1, 1, 4, 4), 2, divisor_override={})", "t.sum(t.ones(2, 2), 0, {})",
    "t.sum(t.ones(2, 2), 0, keepdim={})", "t.cumsum(t.ones(2, 2), {})",
    "t.diagonal(t.ones(3, 3), {})", "t.ones(3, 3).chunk({})", "t.nn.functional.gelu(t.ones(2), approximate={})")


@pytest.mark.parametrize("call", CALLS_WITH_INTS)
@pytest.mark.parametrize("value", INTS)
def test_what_stands_for_an_int(call, value):
    """In each place where an int, a bool, a list of ints or a string is wanted."""
    same_outcome(lambda t: eval(call.format(value), {"t": t, "np": np}), cut=lambda text: "")


@pytest.mark.parametrize("name", ["exp", "tan", "floor", "sigmoid", "isinf", "neg", "add", "mul", "atan2", "pow"])
@pytest.mark.parametrize("array", ["np.ones(3)", "np.array(2.)", "np.ones(2, int)", "np.array('a')", "np.float64(2)"])
def test_an_array_is_no_tensor(name, array):
    both = name in ("add", "mul", "atan2", "pow")
    same_outcome(lambda t: eval(f"t.{name}({', '.join([array] * (1 + both))})", {"t": t, "np": np}),
                 cut=lambda text: "")


@pytest.mark.parametrize("number", ["2**63", "2**64 - 1", "2**64", "10**30", "-2**63", "-2**63 - 1", "-10**30"])
@pytest.mark.parametrize("line", ["x * {}", "{} - x", "x > {}", "x == {}", "x / {}", "x // {}", "x.add({})",
                                  "x.pow({})", "x + ({})", "x.mul_({})", "x.clamp(max={})"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_numbers_of_more_than_64_bits(line, number, dtype):
    same_outcome(lambda t: eval(line.format(number), {"t": t, "x": t.ones(2, dtype=getattr(t, dtype))}),
                 cut=lambda text: "")


@pytest.mark.parametrize("line", lines("""
    t.atan2(t.ones(3, 1, 5), t.arange(3))
    t.isclose(t.ones(2), t.ones(2), rtol=nan)
    t.linalg.lstsq(t.ones(3, 3), t.ones(()))
    t.linalg.lstsq(t.ones(3, 3), t.ones(4, 2))
    t.linalg.lstsq(t.ones(2, 3, 3), t.ones(5))
    t.linalg.solve(t.ones(3, 3), t.ones(()))
    t.linalg.ldl_factor(t.ones(3, 3, dtype=t.int64))
    t.diff(t.ones(4), prepend=t.tensor(1.))
    t.tensordot(t.ones(2, 2), t.ones(2, 2), dims=[1])
    t.tensordot(t.ones(2, 2), t.ones(2, 2), dims=[range(1), [0]])
    t.max(t.ones(2, 2), t.ones(2), True)
    t.zeros(4).log_normal_(-inf, 1)
    t.zeros(2, device=np.ones(3))
    t.Tensor.__rmatmul__(2, t.ones(2))
    t.Tensor.__rpow__([], t.ones(2))
    t.repeat_interleave(t.ones(2), t.tensor([2**40, 1]))
"""))
def test_one_argument_spoilt(line):
    names = {"np": np, "nan": float("nan"), "inf": float("inf")}
    same_outcome(lambda t: eval(line, {"t": t, **names}), cut=lambda text: "")


@pytest.mark.parametrize("widths", ["(0,)", "(0, 0, 0, 0)", "(1, 1)"])
@pytest.mark.parametrize("mode", ["np.uint8(0)", "'constant', 'a'", "'reflect', 1.", "'none'", "'none', 1.",
                                  "'constant', 2"])
def test_arguments_of_pad(widths, mode):
    same_outcome(lambda t: eval(f"t.nn.functional.pad(t.ones(3), {widths}, {mode})", {"t": t, "np": np}),
                 cut=lambda text: "")


@pytest.mark.parametrize("sizes", ["t.tensor(True)", "t.tensor([True])", "2, t.tensor(True)", "[2, t.tensor(False)]",
                                   "t.tensor(2)", "t.tensor([2])", "[True]", "t.tensor([2.])", "2, True"])
@pytest.mark.parametrize("call", ["zeros", "ones", "rand", "ones(4).view", "ones(4).reshape", "ones(4).repeat",
                                  "ones(4).new_zeros", "ones(4).resize_"])
def test_sizes_that_are_tensors(call, sizes):
    same_outcome(lambda t: tuple(eval(f"t.{call}({sizes})", {"t": t}).shape), cut=lambda text: "")


@pytest.mark.parametrize("limits", ["0, t.ones(1)", "t.ones(1), 0", "t.ones(1), t.tensor(2)", "t.tensor(0), 1",
                                    "np.float64(0), t.ones(1)", "0j, t.ones(1)", "t.tensor(0), 1j"])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "complex64"])
def test_a_number_and_a_tensor_as_limits(dtype, limits):
    same_outcome(lambda t: eval(f"t.zeros(2, dtype=t.{dtype}).clamp({limits})", {"t": t, "np": np}),
                 cut=lambda text: "")
