"""Tensors with a history that are given other elements outside grad mode: their gradients have the new shape, and go on
where that fits the old one."""
import pytest

from .adapter import same_outcome

GIVEN = {
    "set_": "a.set_(t.ones{})", "data": "a.data = t.ones{}", "out": "t.mul(t.ones{}, 1, out=a)",
    "filled": "t.ones{}.shape and t.full(t.ones{}.shape, 1., out=a)", "drawn": "t.rand(t.ones{}.shape, out=a).fill_(1)",
}


def _cut(text):
    """Without the name of the function that torch says the gradient came from."""
    return text[max(0, text.find("invalid gradient")):]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("size", [(1, 3), (3,), (1, 1), (2, 3), (2, 1, 3), (0,), (0, 3), (2,)])
@pytest.mark.parametrize("how", GIVEN)
@pytest.mark.parametrize("used", ["a.sum()", "(a * 2).sum()", "a.double().exp().sum()"])
def test_gradients(used, how, size):
    def program(t):
        x = t.full((1, 3), 2., requires_grad=True)
        names = {"t": t, "a": x * x}
        with t.no_grad():
            exec(GIVEN[how].replace("{}", str(size)), names)
        a = names["a"]
        told = [type(a.grad_fn).__name__, type(a.exp().grad_fn.next_functions[0][0]).__name__, a.shape]
        return told, t.autograd.grad(eval(used, names), x)[0]
    same_outcome(program, _cut)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("size", [(1, 3), (3,), (1,)])
@pytest.mark.parametrize("call", """
t.sort(t.ones(4), out=(a, i)); t.max(t.ones(4, 2), 1, out=(a, i)); t.frexp(t.ones(4), out=(a, i.int()))
t.cat([t.ones(2), t.ones(2)], out=a); t.mm(t.ones(2, 2), t.ones(2, 2), out=a); t.sum(t.ones(2, 2), 1, out=a)
t.cumsum(t.ones(4), 0, out=a); t.arange(4., out=a); t.eye(2, out=a); t.linalg.inv(t.eye(2), out=a)
t.linalg.eigh(t.eye(2), out=(a, t.empty(0, 0))); t.norm(t.ones(4), out=a); t.take(t.ones(4), i + 1, out=a)
t.softmax(t.ones(4), 0, out=a); t.histc(t.ones(4), 4, out=a); t.quantile(t.ones(4), .5, out=a)
a.set_(); a.set_(t.ones(8).untyped_storage(), 0, (4,), (1,)); a.squeeze_(); a.unsqueeze_(0); a.transpose_(0, -1)
a.as_strided_((2,), (1,)); a.resize_as_(t.ones(4))
""".strip().replace("\n", "; ").split("; "))
def test_whatever_gives_them(call, size):
    def program(t):
        x = t.full(size, 2., requires_grad=True)
        a = x * x
        with t.no_grad():
            exec(call, {"t": t, "a": a, "i": t.empty(0, dtype=t.int64)})
        return a.shape, t.autograd.grad(a.sum(), x)[0]
    same_outcome(program, _cut)


def test_is_told_its_old_shape_once_more():
    def program(t):
        x = t.ones(2, 3, requires_grad=True)
        a = x * x
        a.data = t.ones(4)
        a.data = t.ones(2, 3)
        return t.autograd.grad(a.sum(), x)[0]
    same_outcome(program)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_sums_of_products():
    def program(t):
        x = t.ones(1, 1, requires_grad=True)
        a = x * 1
        with t.no_grad():
            t.addbmm(t.ones(2, 3), t.ones(2, 2, 2), t.ones(2, 2, 3), out=a)
        return t.autograd.grad(a.sum(), x)[0]
    same_outcome(program)
