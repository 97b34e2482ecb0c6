"""Products of matrices in every dtype beside torch: values to the last bit in half precision, gradients, strides,
what is a view, errors."""
import numpy as np
import pytest
import torch

from .adapter import Different, same_outcome

#: Operands, by the shapes of their tensors.
CALLS = {
    "t.mm(a, b)": [(5, 7), (7, 6)], "t.mm(a.t(), b.t())": [(7, 5), (6, 7)], "t.bmm(a, b)": [(3, 5, 7), (3, 7, 6)],
    "t.mv(a, b)": [(5, 7), (7,)], "t.dot(a, b)": [(70,), (70,)], "t.vdot(a, b)": [(70,), (70,)],
    "t.outer(a, b)": [(7,), (5,)], "t.inner(a, b)": [(4, 7), (5, 7)], "t.kron(a, b)": [(2, 3), (3, 2)],
    "t.matmul(a, b)": [(3, 5, 7), (7,)], "a @ b": [(3, 5, 7), (7, 6)], "t.matmul(a, b) ": [(5, 7), (3, 7, 6)],
    "a.matmul(b)": [(7,), (3, 7, 6)], "t.matmul(a, b)  ": [(7,), (7, 6)], "b @ a": [(2, 5), (7, 2)],
    "t.tensordot(a, b, 2)": [(4, 5, 7), (5, 7, 3)], "t.chain_matmul(a, b, c)": [(5, 7), (7, 6), (6, 3)],
    "t.linalg.multi_dot([a, b, c])": [(7,), (7, 6), (6,)], "t.matrix_power(a, 3)": [(5, 5)],
    "t.einsum('ij,jk->ki', a, b)": [(5, 7), (7, 6)], "t.einsum('bij,bij->b', a, b)": [(3, 5, 7), (3, 5, 7)],
    "t.einsum('ij,k->i', a, b)": [(5, 7), (6,)], "t.einsum('ij,jk,kl->li', a, b, c)": [(5, 7), (7, 6), (6, 3)],
    "f.linear(a, b)": [(5, 7), (6, 7)], "f.linear(a, b, c)": [(5, 7), (6, 7), (6,)], "t.trace(a)": [(5, 5)],
    "f.linear(a, b, c) ": [(2, 5, 7), (6, 7), (6,)], "f.linear(a, b, c)  ": [(7,), (6, 7), (6,)],
    "t.addmm(c, a, b)": [(5, 7), (7, 6), (5, 6)], "t.baddbmm(c, a, b)": [(3, 5, 7), (3, 7, 6), (3, 5, 6)],
    "t.addbmm(c, a, b)": [(3, 5, 7), (3, 7, 6), (5, 6)], "t.addmv(c, a, b)": [(5, 7), (7,), (5,)],
    "t.addr(c, a, b)": [(5,), (7,), (5, 7)], "t.cross(a, b, dim=1)": [(5, 3), (5, 3)],
    "t.trapezoid(a, b)": [(4, 5), (5,)],
}
WITH_FACTORS = {call[:-1] + f", beta={beta}, alpha={alpha})": shapes for call, shapes in CALLS.items()
                if call.startswith(("t.add", "t.badd")) for beta, alpha in ((.7, 1.3), (0, 1.3), (.7, 1))}


def operands(t, shapes, dtype, seed):
    """Eighths: their products and sums are exact in float32, in whatever order they are added up."""
    random = np.random.default_rng(seed)
    return [t.tensor(random.integers(-20, 20, shape) / 8).to(getattr(t, dtype)) for shape in shapes]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("call", [*CALLS, *WITH_FACTORS])
def test_half_precision(call, dtype):
    shapes = CALLS.get(call) or WITH_FACTORS[call]
    for seed in range(5):
        same_outcome(lambda t: eval(call.strip(), dict(zip("abc", operands(t, shapes, dtype, seed)), t=t,
                                                       f=t.nn.functional)), tolerance=0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("call", [*CALLS, *WITH_FACTORS])
def test_gradients_in_half_precision(call, dtype):
    """Also those that a graph is made of, in which torch rounds after every step."""
    def program(t):
        inputs = [x.requires_grad_() for x in operands(t, CALLS.get(call) or WITH_FACTORS[call], dtype, 0)]
        result = eval(call.strip(), dict(zip("abc", inputs), t=t, f=t.nn.functional))
        weights, = operands(t, [tuple(result.shape)], dtype, 1)
        return [*t.autograd.grad(result, inputs, weights, retain_graph=True),
                *t.autograd.grad(result, inputs, weights, create_graph=True)]
    same_outcome(program, tolerance=0)


INTEGERS = {
    "t.mm(a, b)": [(5, 7), (7, 6)], "t.bmm(a, b)": [(3, 5, 7), (3, 7, 6)], "t.mv(a, b)": [(5, 7), (7,)],
    "t.dot(a, b)": [(70,), (70,)], "t.vdot(a, b)": [(70,), (70,)], "t.addmm(c, a, b, beta=2, alpha=3)": [
        (5, 7), (7, 6), (5, 6)], "t.addbmm(c, a, b, beta=1.5, alpha=2.5)": [(3, 5, 7), (3, 7, 6), (5, 6)],
    "t.addmv(c, a, b, beta=2)": [(5, 7), (7,), (5,)], "t.addr(c, a, b, alpha=2)": [(5,), (7,), (5, 7)],
    "t.matrix_power(a, 4)": [(3, 3)], "t.cross(a, b, 1)": [(5, 3), (5, 3)], "t.trace(a)": [(5, 5)],
    "t.einsum('ii,i->i', a, b)": [(3, 3), (3,)], "t.einsum('iij,j->ij', a, b)": [(3, 3, 2), (2,)],
    "t.einsum('ij,k->kj', a, b)": [(2, 3), (4,)], "t.einsum('ij,j->', a, b)": [(2, 3), (3,)],
    "t.einsum('ij,ij->', a, b)": [(2, 3), (2, 3)], "t.einsum('i,j->ij', a, b)": [(2,), (3,)],
    "t.tensordot(a, b, 1)": [(2, 1), (3,)], "t.kron(a, b)": [(2, 3), (3, 2)], "t.outer(a, b)": [(7,), (5,)],
    "t.trapezoid(a)": [(5,)], "t.trapezoid(a) ": [(0,)], "t.cumulative_trapezoid(a, b)": [(5,), (5,)],
}


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "bool", "complex64"])
@pytest.mark.parametrize("call", INTEGERS)
def test_other_dtypes(call, dtype):
    def program(t):
        inputs = [x.mul(8).abs().to(getattr(t, dtype)) for x in operands(t, INTEGERS[call], "float64", 0)]
        return eval(call.strip(), dict(zip("abc", inputs), t=t))
    same_outcome(program)


#: Equations and shapes: the strides of the result as well.
EQUATIONS = """
d,ac 2 34; d,ac->acd 2 34; ij,jk->ki 23 34; bij,bjk->ikb 523 534; ij,kl->kilj 23 43; ij,ij->ji 23 23
ab,bc,cd->da 23 34 45; a,b,c->cba 2 3 4; bi,bj->ijb 23 24; ijk->kj 234; ii->i 33; iij->ji 332; ij->ij 32; ij->ji 31
ab,cb,db->dac 23 43 53; ab,cb,db->cad 23 43 53; ...a,ab->b... 234 45; ...a,...a 234 234; ...a,ba-> 234 54
bhqd,bhkd->bqhk 2345 2365; bhqk,bkhd->bqhd 2345 2536; i,i-> 3 1; i,j-> 3 4; Ab,bC 23 34; ca,ba 23 43; ij,jk->ik 20 04
ij,jk->ik 23 44; i...j->j...i 234; iijj->ji 2233; ij,jk,ik->ki 23 34 24
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("line", EQUATIONS)
def test_einsum(line):
    equation, *shapes = line.split()

    def program(t):
        inputs = [x.requires_grad_() for x in operands(t, [tuple(map(int, shape)) for shape in shapes], "float64", 0)]
        result = t.einsum(equation, *inputs)
        return [result.detach(), result.stride(), *t.autograd.grad((result * result).sum(), inputs)]
    same_outcome(program)


@pytest.mark.parametrize("dtypes", ["float32 bfloat16 bfloat16", "complex64 float16 float16", "int64 float32 float32",
                                    "float64 float32 float64", "float32 float32 bfloat16", "bool int64 int64"])
def test_addbmm_has_the_dtype_of_out(dtypes):
    def program(t):
        first, second, last = [getattr(t, name) for name in dtypes.split()]
        x = t.tensor([2.5, -3.0]).to(first)
        a, b = [(t.arange(4.) - 1).reshape(shape).to(second) for shape in ((2, 1, 2), (2, 2, 1))]
        return t.addbmm(x, a, b.expand(2, 2, 2), beta=2, out=t.empty(0, dtype=last))
    same_outcome(program)


OTHERS = """
t.addmv(x, t.ones(2, 3), t.ones(3), beta=0); t.baddbmm(x, t.ones(1, 2, 2), t.ones(1, 2, 2), beta=0)
t.addbmm(x, t.ones(1, 2, 2), t.ones(1, 2, 2), beta=0); t.addr(x, t.ones(2), t.ones(2), beta=0)
t.addmm(x, t.ones(2, 2), t.ones(2, 2), beta=0)
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("expression", OTHERS)
def test_what_is_not_added_has_zeros_for_a_gradient(expression):
    def program(t):
        x = t.full((2,), float("nan"), requires_grad=True)
        result = eval(expression, dict(t=t, x=x))
        return result.detach(), result.grad_fn.name(), *t.autograd.grad(result.sum(), x)
    same_outcome(program)


VIEWS = """
t.kron(a, a); t.kron(v, v); t.linalg.multi_dot([a, a]); t.linalg.multi_dot([v, a, v]); t.chain_matmul(a, a, a)
t.matmul(v, a); t.matmul(a, v); t.matmul(b, a); t.matmul(b, v); t.matmul(v, b); t.bmm(b, b); t.inner(a, a)
t.outer(v, v); t.einsum('ij->ji', a); t.einsum('ij->ij', a); t.linalg.matrix_power(a, 1); t.linalg.matrix_power(a, 3)
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("expression", VIEWS)
def test_what_is_a_view(expression):
    def program(t):
        a, v, b = (t.ones(shape, requires_grad=True) for shape in ((2, 2), 2, (2, 2, 2)))
        result = eval(expression, dict(t=t, a=a, v=v, b=b))
        return result._is_view(), result.stride()
    same_outcome(program)


REFUSED = """
t.matmul(t.ones(2, 5, 7), t.ones(6)); t.matmul(t.ones(7).half(), t.ones(2, 6, 3).half()); t.matmul(i, t.ones(2, 2))
t.matmul(t.ones(2, 5, 7), t.ones(7).half()); t.bmm(t.ones(1, 2, 2), t.ones(1, 2, 2).half())
t.mv(t.ones(2, 3), t.ones(3).int()); t.mv(t.ones(2, 3).int(), t.ones(4)); t.vdot(t.ones(3), t.ones(4))
t.inner(t.ones(2), t.ones(2).half()); t.tensordot(t.ones(2, 2), t.ones(2).half(), 1)
f.linear(t.ones(1, 3), t.ones(3), t.ones(())); t.chain_matmul(t.ones(2, 2), i)
t.addmv(t.ones(3, 1), t.ones(2, 3), t.ones(3)); t.addmv(t.ones(3), t.ones(2, 0), t.ones(0))
t.addmv(i[0], i, t.ones(2)); t.addmv(t.ones(2), i, i[0]); t.addmm(i, t.ones(2, 2), t.ones(2, 2))
t.addmm(t.ones(2, 2), i, t.ones(2, 2)); t.addmm(i, i[:, :0], i[:0], beta=.5)
t.baddbmm(i[None], i[None, :, :0], i[None, :0], beta=.5); t.addbmm(i, i[:0, :, None], i[:0, None], beta=.5)
t.baddbmm(t.ones(1, 2, 2), i[None], i[None]); t.addbmm(i, t.ones(1, 2, 2), t.ones(1, 2, 2))
t.addmm(i, i, i, beta=3e9); t.addbmm(t.ones(2, 3), t.ones(1, 2, 2), t.ones(1, 2, 2))
t.addr(i, t.ones(2), t.ones(2), beta=.5); t.addr(i, i[0], i[0], beta=.5); t.addr(t.ones(2), t.ones(2, 2), t.ones(2))
t.addmm(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2), beta=1j); t.addmv(h[0], h, h[0], beta=1e6)
t.addmm(h, h, h, beta=1e6); t.addr(h, h[0], h[0], alpha=1e6); t.cross(t.ones(3).int(), t.ones(3), dim=0)
t.cross(t.ones(3), 1); t.addmv(t.ones(1), t.ones(0, 3), t.ones(3)); t.addmv(t.ones(()), t.ones(2, 0), t.ones(0))
t.addmv(t.ones(()), t.ones(2, 0), t.ones(0), beta=0); t.linalg.vecdot(t.ones(2, 1), t.ones(1, 3))
t.matrix_power(t.ones(2, 2).bfloat16(), 0); t.tensor(np.arange(4)[::-1])
""".strip().replace("\n", "; ").split("; ")


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression):
    same_outcome(lambda t: eval(expression, dict(t=t, np=np, f=t.nn.functional, i=t.ones(2, 2).int(),
                                                 h=t.ones(2, 2).half())))


def test_the_last_bit_counts():
    with pytest.raises(Different):
        same_outcome(lambda t: t.tensor(2. if t is torch else 2.015625).to(t.bfloat16), tolerance=0)


@pytest.mark.parametrize("line", """
    T.bmm(T.zeros(0, 2, 3).int(), T.zeros(0, 3, 2)); T.zeros(0, 2, 3).int() @ T.zeros(0, 3, 2)
    T.bmm(T.zeros(2, 1, 0).bool(), T.zeros(2, 0, 3).bool()); T.mv(T.zeros(0, 2).bool(), T.zeros(2).bool())
    T.zeros(2, 3).int() @ T.zeros(0, 3, 2); T.zeros(1, 2, 3).bool() @ T.zeros(1, 3, 2).byte()
    T.addr(T.tensor(0.), T.ones(2).half(), T.ones(3).half())
    T.addmv(T.tensor(0.), T.ones(3, 1), T.ones(0))
    T.linalg.multi_dot([T.ones(3, 3).bool(), T.ones(1, 4).bool(), T.ones(4, 2).bool()])
    T.linalg.solve(T.eye(2).half(), T.eye(2)); T.linalg.solve(T.eye(2).half(), T.eye(2).half())
    T.vander(T.full((1,), complex(0, float("inf")))); T.vander(T.tensor([2., 3.]), 1); T.vander(T.ones(2), 0)
    T.linspace(3, -1, 15, dtype=T.int32); T.linspace(float("inf"), 0, 20); T.logspace(127, 0, 1, 2, dtype=T.int16)
    T.arange(0, 1e30, .5, dtype=T.int64); T.randn(0, dtype=T.int64)
    T.addbmm(T.zeros(2, 5).half().t(), T.zeros(0, 5, 4).half(), T.zeros(0, 4, 2).half()).stride()
""".strip().replace("\n", ";").split(";"))
def test_nothing_to_multiply_and_the_order_of_errors(line):
    same_outcome(lambda t: eval(line.strip(), {"T": t}), lambda text: "")


@pytest.mark.parametrize("dtype, beta", [("bool", 1), ("bool", True), ("int32", 1.5), ("int32", 1), ("float16", .5)])
def test_sums_with_products_of_nothing(dtype, beta):
    def zeros(t, *size):
        return t.zeros(size, dtype=getattr(t, dtype))
    for n, k, m in [(0, 0, 0), (2, 0, 2), (0, 2, 2), (2, 0, 0)]:
        same_outcome(lambda t: t.addmm(zeros(t, 1), zeros(t, n, k), zeros(t, k, m), beta=beta))    # noqa: B023
        for count in (0, 1, 2):
            for name in ("addbmm", "baddbmm"):
                same_outcome(lambda t: getattr(t, name)(zeros(t, 1), zeros(t, count, n, k),        # noqa: B023
                                                        zeros(t, count, k, m), beta=beta))         # noqa: B023
