"""Programs that random ones (tests/parity/fuzz) were reduced to when they ended differently: views, indices, writes,
reductions, run line by line under both libraries."""
import pytest

from .fuzz.program import run

#: One program each, its lines separated by semicolons.
PROGRAMS = """
a = T.zeros(2, 4).t().requires_grad_(); v = a * 0; v[0] = 1.; g = T.autograd.grad(loss(v), [a])
a = T.zeros(2, 4).t().requires_grad_(); v = a * 0; v[0] = 1.; g = T.autograd.grad(loss(v), [a], create_graph=True)
v = T.zeros((1, 4), dtype=T.float16).expand(2, 4) * 2
v = T.zeros((3, 1, 4), dtype=T.bfloat16).expand(3, 2, 4) ** 2
a = T.zeros((2, 2), dtype=T.float16).requires_grad_(); c = T.mean(a, 0).sum(); g = T.autograd.grad(c, a, None, 1, 1)
s = T.ones(3, 2).requires_grad_(); c = T.zeros(3, 0).index_add(1, T.tensor([0, 0]), s); T.autograd.grad(loss(c), s)
c = T.zeros(0, 1)[:0, T.tensor([[0], [1]])]
c = T.zeros(3, 3)[3:, T.tensor([0, 0, 7])]
a = T.zeros(2, 3); a[T.tensor([0, 2])] = T.ones(5)
a = T.zeros(1, 2, 3); a[T.ones(1, 2, dtype=T.bool), 0] = T.ones(1, 2)
a = T.zeros(1, 2, 3).index_put((T.ones(1, 2, dtype=T.bool), T.tensor(0)), T.ones(()))
a = T.zeros(0, 0); a[T.tensor([0])] = a
a = T.zeros(2); a[T.tensor([5])] = 1j
c = T.zeros(4, 0, dtype=T.bool).index_reduce(1, T.tensor([0]), T.zeros((4, 1), dtype=T.bool), 'mean')
c = T.zeros(2, 1, dtype=T.bool).index_reduce(0, T.tensor([], dtype=T.int64), T.zeros((0, 1), dtype=T.bool), 'mean')
c = T.zeros(2, dtype=T.complex64).scatter_reduce(0, T.tensor([5]), T.ones(1, dtype=T.complex64), 'amax')
a = T.zeros(0).requires_grad_(); c = T.cat([T.zeros(3), a])
c = T.rot90(T.zeros((4, 3), dtype=T.int16).t().expand(2, 3, 4))
a = T.zeros(2, 2, 1, 4).expand(2, 2, 2, 4); b = T.zeros(2, 1, 2, 4).expand(2, 2, 2, 4); b.tril_()
a = T._neg_view(T.zeros(1, 2).expand(2, 2)); a.masked_fill_(a == 0, 1.)
a = T.zeros(1, 2).expand(2, 2); a.real = 0.
a = T.zeros(2, dtype=T.complex64).requires_grad_(); c = T.cat([a, a.real], out=T.empty(0))
c = T.isclose(T.zeros(3, 4), T.zeros(0))
c = T.logaddexp(T.zeros(3, dtype=T.int64), T.zeros(4, dtype=T.int64))
c = T.mv(T.tensor(0j), T.tensor(0j))
c = T.nanmedian(T.zeros((0, 1), dtype=T.bool), 0)
c = T.median(T.zeros((0, 1), dtype=T.bool))
c = T.amax(T.zeros((0, 1), dtype=T.complex64), 0)
c = T.amax(T.zeros((3, 0), dtype=T.complex64), 0)
c = T.min(T.zeros((0, 1), dtype=T.complex64))
c = list(T.aminmax(T.tensor(0j), dim=0))
c = T.logcumsumexp(T.zeros(3, dtype=T.int8), 1)
c = T.logcumsumexp(T.zeros((2, 4), dtype=T.float16).t(), 0)
c = T.cumsum(T.zeros(0), 0, dtype=T.bool)
c = T.trapezoid(T.tensor(True))
c = T.trapezoid(T.zeros(2, 3), T.tensor(1.))
c = T.cumulative_trapezoid(T.zeros(2, 3), T.zeros(2))
c = T.histc(T.zeros(0, dtype=T.uint8), 1)
c = T.histc(T.tensor([0, 1, 2], dtype=T.uint8), 4, -1, 4)
c = T.histc(T.tensor(1e30, dtype=T.float64), 3)
c = T.histc(T.tensor([2. ** 24]), 8)
c = T.kthvalue(T.tensor(True), 1)
c = T.kthvalue(T.zeros(3, 4), 1, 0)
c = T.msort(T.zeros((3, 2), dtype=T.int16))
c = T.prod(T.ones((4, 3), dtype=T.float16), 1); d = T.prod(T.ones((1, 2), dtype=T.bfloat16), 1, keepdim=True)
a = T.zeros(()).requires_grad_(); c = T.sum(a, 1, dtype=T.bool)
a = T.zeros(()).requires_grad_(); c = T.prod(a, 1, dtype=T.bool)
c = T.nansum(T.zeros(3, 0), 1, dtype=T.complex64)
a = T.tensor([[float('nan'), 1.]]).requires_grad_(); g = T.autograd.grad(T.nanmean(a, 0).sum(), [a])
a = T.zeros(0, dtype=T.complex64).requires_grad_(); c = T.cummin(a, 0)
a = T.zeros(0, dtype=T.complex64).requires_grad_(); c = T.softmax(a, 0)
a = T.zeros((), dtype=T.complex64).requires_grad_(); c = T.mode(a)
a = T.zeros((), dtype=T.complex64).requires_grad_(); c = T.kthvalue(a, 1)
c = T.log_softmax(T.zeros((0, 2), dtype=T.bool), 0)
c = T.dist(T.zeros(3), T.zeros(3, dtype=T.bool), 0)
c = T.cdist(T.zeros(2, dtype=T.int64), T.zeros(2, 2))
c = T.cdist(T.zeros(2, 0), T.zeros(2, 0, dtype=T.float64))
c = T.cdist(T.zeros(2, 3, 2).transpose(0, 1), T.zeros(3, 2, 2), float('inf'))
c = T.cdist(T.tensor([[1e30]]), T.zeros(1, 1), 2)
c = T.linalg.vector_norm(T.tensor([1e30])); d = T.linalg.vector_norm(T.tensor([1e30, 0.]))
a = T.tensor([3.34 + 3.75j]).requires_grad_(); c = T.linalg.vector_norm(a, float('inf')); g = T.autograd.grad(c, a)
a = T.tensor([complex(1., float('inf'))]).requires_grad_(); g = T.autograd.grad(T.linalg.vector_norm(a, 1), a)
a = T.zeros((0, 0)).requires_grad_(); c = T.linalg.matrix_norm(a, 1)
c = T.std_mean(T.tensor([0j, complex(float('inf'), 0)]))
c = T.sgn(T.tensor([complex(float('inf'), 0), 0j, 3 + 4j]))
a = T.zeros(2, 3).t().requires_grad_(); g = T.autograd.grad(T.max(a), [a])
a = T.zeros(3, 4, dtype=T.complex64).t().requires_grad_(); c = T.var(a, 0).sum(); g = T.autograd.grad(c, a, None, 1, 1)
a = T.ones(3, 4).requires_grad_(); c = F.cosine_similarity(a, T.ones(4, 3).mT, 0); g = T.autograd.grad(c, a, c, 1, 1)
x = T.ones(2).requires_grad_(); y = x * 1; y.copysign_(T.tensor([-1., 2.]).double()); g = T.autograd.grad(loss(y), x)
x = T.ones(2).requires_grad_(); y = x * 1; w = T.ones(2).double().requires_grad_(); y.mul_(w); loss(y).backward()
a = T.tensor([float('inf'), 1., -2., 0., 3.3895e38, float('nan')]).bfloat16(); c = T.nextafter(a[:, None], a)
a = T.tensor([0., -0., 1., 9.1835e-41, -9.1835e-41]).bfloat16(); c = T.nextafter(a[:, None], a); d = T.signbit(c)
b = T.tensor(1.).requires_grad_(); c = T.copysign(b, T.ones(2).bfloat16()).sum(); d = gradient(c, b) * b; d.backward()
a = T.ones(1, 3).expand(2, 3); a[...] = a
a = T.zeros(0, 2).requires_grad_(); v = a * 0; v[0:0, T.tensor([2])] *= 0.; g = T.autograd.grad(loss(v), a)
a = T.zeros(4, 3, 5, dtype=T.float16).transpose(0, 1); b = a.sum(-1); c = a.mean(-1); d = T.trapezoid(a); e = a.sum()
c = T.logcumsumexp(T.tensor([3j, -3j]), 0); d = T.logcumsumexp(T.log(T.zeros(3)) + T.tensor([1j, 2j, 3j]), 0)
a = T.zeros(0, 4, 2).requires_grad_(); c = T.baddbmm(T.tensor(False), T.zeros(0, 3, 4).bool(), a); c.sum().backward()
a = T.zeros(()).requires_grad_(); c = T.baddbmm(a, T.zeros(0, 3, 4), T.zeros(0, 4, 2).double()); c.sum().backward()
a = T.zeros(0, 4).requires_grad_(); T.addmv(T.zeros(()), a, T.zeros(4)).backward()
a = T.zeros(4).requires_grad_(); T.addmv(T.zeros(()), T.zeros(0, 4), a).backward()
a = T.zeros(4).requires_grad_(); T.addmv(T.zeros(1), T.zeros(0, 4), a).backward()
a = T.zeros(2, 3, 1).expand(2, 3, 4).permute(1, 2, 0); c = a.index_put((T.tensor([0]),), T.tensor(1.))
a = T.zeros(1, 3).expand(2, 3); c = a.index_put((T.tensor([0, 0]),), T.tensor(1.), accumulate=True)
c = T.cat([T.zeros(0), T.zeros(0, dtype=T.int64)], 5); d = T.cat([T.zeros(0), T.zeros(2, 2)], 1)
c = T.cat([T.zeros(0), T.zeros(2)], 1)
c = T.matmul(T.ones(4, 2).bool(), T.ones(3, 2, 4))
c = T.matmul(T.ones(4, 2, dtype=T.int64), T.ones(3, 2, 4))
c = T.matmul(T.ones(4, 2).requires_grad_(), T.ones(3, 2, 4).double())
b = T.tensor([1., -1.98, .41]).bfloat16().requires_grad_(); c = loss(T.softmax(b, 0)); loss(gradient(c, b)).backward()
a = T.zeros(1, 4).expand(2, 4).unsqueeze(0); a[0] = a; s = a._version
c = T.neg(T.ones(2, 2), out=T._neg_view(T.zeros(1, 2).expand(3, 2, 2)))
a = T.zeros((1, 2, 0, 3)).expand(1, 2, 0, 3); a[T.tensor([0])] = a; b = a[0]; b[T.tensor([0, 1])] = b
a = T.ones(2, 2).t().cfloat(); v = T.zeros(4).cfloat().conj(); c = T.mul(a, 2, out=v)
x = T.ones(2, 3).t().requires_grad_(); c = 2 ** x; d = T.float_power(1j, x); s = [c.grad_fn.name(), d.grad_fn.name()]
x = T.ones(2, 3).t(); c = T.float_power(x, T.ones(3, 2)); d = T.ldexp(T.ones(1, 2).expand(3, 2), x); e = True ** x
a = T.ones(2, 4).bfloat16(); b = T.ones(4, 2, dtype=T.uint8).t(); c = b // a; d = T.fmod(b, a)
a = T.tensor([complex(float('nan'), 1), 2 + 1j]); c = 1 ** a; d = True ** a; e = T.float_power(True, a)
a = T.tensor([complex(-float('inf'), float('nan'))]); c = a ** T.tensor([-9, 3, 0, 1]); d = a ** (1 + 2j)
x = T.tensor([0., 2.]).requires_grad_(); c = (x ** False).sum(); g = T.autograd.grad(c, x)
c = T.pow(np.int64(2), np.int64(3), out=T.empty(0))
c = T.tensor([True]) - 2**64
a = T.tensor([0], dtype=T.int8); c = T.isclose(a, a - 128); b = a.long() + 2**24; d = T.isclose(b, b + 1, 0., .5)
x = T.ones(1, 2).requires_grad_(); y = x * 1; y.t_(); s = [y.grad_fn.name()]; y.unsqueeze_(0); s += [y.grad_fn.name()]
x = T.ones(1, 2).requires_grad_(); y = x * 1; y.squeeze_(); s = [y.grad_fn.name()]; y.conj_physical_(); s += [repr(y)]
x = T.ones(2).requires_grad_(); y = x * 1; y[0].conj_physical_(); s = repr(y); loss(y).backward(); g = x.grad
x = T.ones(2).requires_grad_(); y = (x * 1).ne_(x); s = repr(y); g = T.autograd.grad(loss(1 / y), x, create_graph=True)
x = T.ones(2).requires_grad_(); y = (x * 1).lt_(2); s = repr(y); g = T.autograd.grad(loss(1 / y), x, create_graph=True)
x = T.ones(2).requires_grad_(); b = T.tensor([-100, 7], dtype=T.int8); g = T.autograd.grad(loss(T.atan2(b, x)), x)
x = T.ones(2).requires_grad_(); b = T.tensor([200, 7], dtype=T.uint8); g = T.autograd.grad(loss(T.atan2(x, b)), x)
x = T.ones(2).requires_grad_(); b = T.tensor([99, 7], dtype=T.uint8); c = T.atan2(b, x); g = T.autograd.grad(loss(c), x)
x = T.ones(2).requires_grad_(); b = T.tensor([-2, 7], dtype=T.int8); g = T.autograd.grad(loss(T.ldexp(x, b)), x)
a = T.tensor([[1, 5]], dtype=T.int8); c = T.lerp(a, a + 2, T.tensor(.5)); d = T.lerp(a, a + 2, T.tensor(.5).double())
a = T.tensor([[1, 5]], dtype=T.int8); c = T.lerp(a, a, T.tensor(2))
c = T.special.xlogy(2., T.ones(2)); d = T.special.xlogy(2j, T.ones(2))
a = T.tensor([True, False]); c = T.clamp(a, a); d = T.clamp(a, a, a)
c = T.ones(2).copy_(np.int8(3)); d = T.ones(2).copy_(np.float64(.5))
x = T.ones(2, 3).t(); c = T.polar(x, T.ones(3, 2)); d = T.polar(T.ones(2), x)
a = T.tensor([1., 2.]); c = T.clamp(a, 1, T.tensor(1.5)); d = T.clamp(a.int(), T.tensor(1.5), 3)
c = T.clamp(T.tensor([1., 2.]), 1, T.tensor(1.5, requires_grad=True))
c = T.renorm(T.ones(2, 2, dtype=T.int32), 2, 5, 1.)
c = T.full((), 1j, dtype=T.bool); d = T.zeros(2, dtype=T.bool).fill_(2j); e = T.scalar_tensor(1j, dtype=T.bool)
x = T.tensor([0., 0., 3.]).requires_grad_(); g = T.autograd.grad(loss(*T.autograd.grad(x.prod(), x, None, 1, 1)), x)
c = T.renorm(T.ones(2, 2, dtype=T.int32), 2, 1, 1.)
v = T.zeros(()); v[None] = T.tensor(1.); w = T.zeros(2)[0]; w[..., None] = T.tensor([2.])
a = T.zeros((1, 2), dtype=T.int64).expand(3, 2); a[0:] = T.zeros((1, 2), dtype=T.int64)
a = T.zeros((1, 2)).expand(3, 2); a[0:] = a; s = a._version
x = T.ones(3).cdouble().requires_grad_(); y = T.ldexp(x, T.tensor([-1, 3, 70])); g = T.autograd.grad(loss(y), [x])
a = T.zeros(3).half().requires_grad_(); v = a * 0; v[()] = 1e30; w = a * 0; w[1:] = 1e30; s = repr(v)
c = T.lerp(T.ones(2), T.zeros(2), 1j)
c = T.lerp(T.ones(2), T.zeros(2), T.tensor(1j)); d = T.lerp(T.ones(()), T.zeros(()), T.tensor(.5).double())
c = T.ones(2).lerp_(T.zeros(2), T.tensor(1j))
c = T.lcm(T.tensor([-9, 100], dtype=T.int8), T.tensor([-100, 99], dtype=T.int8)); d = T.lcm(c, c)
v = T.zeros(1, 4, 4, 4); v[0:, T.tensor([[0], [0]]), 0, 0] = T.ones(4, 1, 4)
x = T.zeros(1).half().requires_grad_(); g = T.autograd.grad(loss(T.cumsum(x, 0)), x); c = g[0][1::7]
a = T.zeros(3).cdouble().expand(2, 3).conj().imag; b = copy.deepcopy(a)
c = T.lerp(T.ones(2), T.zeros(2), .5 + 0j); d = T.lerp(T.ones(2).double(), T.zeros(2).double(), 1j)
c = T.polygamma(1, T.tensor([float('inf'), float('nan'), 1e30, 0., -0.]))
x = T.ones(2, 3).bfloat16().requires_grad_(); c = T.cdist(T.zeros(0, 3), x); g = T.autograd.grad(c.sum(), x)
x = T.ones(0, 3).bfloat16().requires_grad_(); c = T.cdist(x, T.ones(2, 3)); g = T.autograd.grad(c.sum(), x)
"""


@pytest.mark.parametrize("program", PROGRAMS.strip().splitlines())
def test_program(program):
    run([line.strip().replace("gradient(c, b)", "T.autograd.grad(c, b, None, 1, 1)[0]") for line in program.split(";")])
