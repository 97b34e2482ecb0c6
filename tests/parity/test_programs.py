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
c = T.pow(1, T.zeros(1, dtype=T.bfloat16), out=T.empty(0, dtype=T.bfloat16))
c = T.tensor([True]) - 2**64
a = T.ones(2, requires_grad=True); b = [T.no_grad().__enter__(), a.numpy().sum(), T.set_grad_enabled(True)]; a.numpy()
a = T.tensor([float('nan'), 2.5, 1.6]); c = [T.nansum(a, dtype=d) for d in (T.int32, T.int64, T.uint8, T.bool)]
import copy; a = T.zeros(1, 4).expand(2, 4); c = copy.deepcopy(a.data); d = copy.deepcopy(T.ones(4)[::2].data)
v = T.zeros((), dtype=T.bfloat16).expand(2); c = T.take(v, T.tensor(0)); c += 1; v
v = T.ones(3, 1, dtype=T.bfloat16).expand(3, 2); v.index_put_((T.tensor([0, 0, 2]),), T.ones(1, dtype=T.bfloat16), True)
v = T.ones(2, 1).expand(2, 2); v.index_put_((T.tensor([], dtype=T.int64),), T.tensor(0.), accumulate=True)
v = T.ones(3, 1).expand(3, 2); v.index_put_((T.tensor([0, 0, 2]), T.tensor([0, 1, 1])), T.tensor([1., 2, 4]), True)
a = T.zeros(1, 2, requires_grad=True); c = F.hardshrink(a); d = T.zeros(()) % c; T.autograd.grad(d.sum() + c.sum(), a)
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
a = T.tensor([[0, 0, 1]]); x = T.full((1, 1), 1e30).requires_grad_(); g = T.autograd.grad(loss(T.ldexp(a, x)), [x])
a = T.zeros(1, 3).bfloat16().expand(2, 3); b = T.zeros(2, 3).bfloat16(); b.data = a; e = T.rsqrt(b); s = e.stride()
c = T._neg_view(T.zeros(1, 3).expand(2, 3)); d = c.copy_(c); s = d is c
a = T.ones(2).bfloat16().requires_grad_(); d = a * 0; e = d.expand(3, 2); d.neg_(); d.data = e; loss(e).backward()
d = T.angle(T.zeros(2, 3).cfloat().t()); s = d.stride(); e = T.angle(T.zeros(2, 3).t()); r = T.angle(T.tensor(1j))
v = T.zeros(2).bool().masked_fill_(T.ones(2).bool(), T.tensor(2j)); i = v.int().masked_fill(v, T.tensor(2 + 0j))
a = T.zeros(3).half().requires_grad_(); v = a * 0; v[()] = 1e30; w = a * 0; w[1:] = 1e30; s = repr(v)
c = T.lerp(T.ones(2), T.zeros(2), 1j)
c = T.lerp(T.ones(2), T.zeros(2), T.tensor(1j)); d = T.lerp(T.ones(()), T.zeros(()), T.tensor(.5).double())
c = T.ones(2).lerp_(T.zeros(2), T.tensor(1j))
c = T.gcd(T.tensor([[-128], [6]]).char(), T.tensor([-6, 4, 0, -128, -127]).char()); d = T.gcd(c[0], c[1])
c = T.lcm(T.tensor([-9, 100], dtype=T.int8), T.tensor([-100, 99], dtype=T.int8)); d = T.lcm(c, c)
v = T.zeros(1, 4, 4, 4); v[0:, T.tensor([[0], [0]]), 0, 0] = T.ones(4, 1, 4)
x = T.zeros(1).half().requires_grad_(); g = T.autograd.grad(loss(T.cumsum(x, 0)), x); c = g[0][1::7]
a = T.zeros(3).cdouble().expand(2, 3).conj().imag; b = copy.deepcopy(a)
c = T.lerp(T.ones(2), T.zeros(2), .5 + 0j); d = T.lerp(T.ones(2).double(), T.zeros(2).double(), 1j)
a = T.zeros((), dtype=T.bfloat16); c = T.nn.functional.pad(a, ()); s = c.data_ptr() == a.data_ptr()
c = T.linalg.svdvals(T.tensor([[1., 2., 3.], [4., -float('inf'), 6.]]))
c = T.linalg.svdvals(T.tensor([[float('nan'), 1.]]))
c = T.renorm(T.zeros(0, 0), float('inf'), 0, 0.)
c = T.renorm(T.zeros(0, 3), float('inf'), 0, 0.); d = T.renorm(T.zeros(3, 0), 2, 0, 0.)
c = T.polygamma(1, T.tensor([float('inf'), float('nan'), 1e30, 0., -0.]))
x = T.ones(2, 3).bfloat16().requires_grad_(); c = T.cdist(T.zeros(0, 3), x); g = T.autograd.grad(c.sum(), x)
x = T.ones(0, 3).bfloat16().requires_grad_(); c = T.cdist(x, T.ones(2, 3)); g = T.autograd.grad(c.sum(), x)
x = T.tensor([[T.nan, 2.], [1., 1.]]).requires_grad_(); g = T.autograd.grad(T.cdist(x, T.ones(2, 2), 1).sum(), x)
x = T.tensor([[T.nan, 2.], [1., 1.]]).requires_grad_(); g = T.autograd.grad(T.pdist(x, 1).sum(), x)
x = T.zeros(0, requires_grad=True); y = T.cat([x, T.ones(2, 1)], 1); g = T.autograd.grad(y.sum(), x)
x = T.zeros(0).requires_grad_(); w = T.ones(2, 1).requires_grad_(); g = T.autograd.grad(loss(T.cat([w, x])), [x, w])
x = T.zeros(0); w = T.ones(2, 1, requires_grad=True); g = T.autograd.grad(T.cat([x, w, x, w], 1).sum(), [w])
with T.no_grad(): y = T.cat([T.zeros(0, requires_grad=True), T.ones(2, 1)])
x = T.zeros(4); y = x[['0']]
x = T.zeros(4); y = x[[['a']]]
x = T.zeros(4); y = x[[b'0']]
x = T.zeros(4); x[[1j]] = 1.
x = T.zeros(4); x[T.tensor([True, True])] = x
x = T.zeros(4); x[T.tensor([True, True])] = x[:2]
x = T.zeros(4); x[T.tensor([True, True])] = x[:1]
x = T.zeros(4); x[T.tensor([True, True])] = T.zeros(4)
x = T.zeros(4); x[T.tensor([True, True]), ...] = x
x = T.zeros(4); x[T.tensor([True, True]), 0] = x
x = T.zeros(4); x.index_put_((T.tensor([True, True]),), x)
x = T.zeros(4); x.index_put_((T.tensor([True, True]),), x[:1], True)
x = T.zeros(4); x.index_put_((T.tensor([True, True]),), x[:1])
x = T.zeros(4, requires_grad=True); y = x * 1; y[T.tensor([True, True])] = y
x = T.zeros(4, requires_grad=True); y = x * 1; y.index_put_((T.tensor([True, True]),), y.detach())
v = T.zeros(2, 4, 1, 0); v[0, T.tensor([[False], [False], [True], [True]])] = T.zeros(4, 1, 0)
v = T.zeros(2, 4, 1, 0); v[0, T.tensor([[False], [False], [True], [True]])] = T.zeros(1, 2, 0)
a = T.full((2, 3), float('inf')); b = T.ones(3, 2); c = T.addmm(b[:2], a, b, alpha=0)
a = T.full((2, 3), float('inf')); b = T.ones(3, 2); c = T.addmv(b[0], a, b[:, 0], alpha=0)
a = T.full((1, 2, 3), float('inf')); b = T.ones(1, 3, 2); c = T.addbmm(b[0, :2], a, b, alpha=0, beta=0)
a = T.full((1, 20, 20), float('inf')); b = T.ones(1, 20, 20); c = T.baddbmm(b, a, b, alpha=0)
a = T.zeros((0, 2, 2)).short(); c = T.addbmm(T.full((2, 2), 1.5), a, a, beta=2, out=T.empty(0).short())
a = T.tensor([complex(-float('inf'), float('nan')), 0j]); c = T.pairwise_distance(a, a * 0); d = T.linalg.vector_norm(a)
s = T.zeros((1, 0)).requires_grad_(); c = T.zeros(2, 0).index_add(0, T.tensor([2]), s); g = T.autograd.grad(c.sum(), s)
c = T.index_select(T.zeros(2, 3, 0), 0, T.tensor([2]))
b = T.ones(1, 2).cfloat(); c = T.ones(1, 2).cfloat().H; d = T.add(b, c, out=c)
c = T.zeros(0).half() ** 1j
a = T.full((3,), -.05); c = T.pow(a, -2 ** 31 - 1); d = T.pow(a, 2 ** 24 + 1); e = T.pow(a, 2 ** 31)
a = T.ones(2).requires_grad_(); b = T.ones(2).cdouble().requires_grad_(); g = T.autograd.grad(loss((a * 1).eq_(b)), b)
x = T.tensor(complex(-.4, -0.)).cdouble().requires_grad_(); y = T.acosh(x); g = T.autograd.grad(loss(y), [x])
a = T.ones(1, 1).cfloat().conj(); c = T.inner(a, a); s = c.is_conj(), T.inner(a[0], a[0]).is_conj()
x = T.tensor([[0., float("inf")]]).requires_grad_(); T.nn.CrossEntropyLoss(ignore_index=0)(x, T.tensor([0])).backward()
a = T.zeros(2).requires_grad_(); b = T.zeros(2).int(); g = T.autograd.grad(loss(T.atan2(a, b)) + loss(T.atan2(b, a)), a)
a = T.tensor([-float('inf'), -0., 0., 4.]); c = a ** -.5; d = T.pow(a.double(), -.5)
a = T.zeros(0, 1).cfloat().requires_grad_(); c = T.amax(a, 1)
c = T.amin(T.zeros(2, 0), -1)
a = T.zeros(1).requires_grad_(); g = T.autograd.grad(a.prod(), a, create_graph=True); s = g[0].requires_grad
a = T.zeros(1, 0, 2, 0); c = a[..., [0, 0]]
a = T.zeros(0, 3); c = a[[[]],]; d = T.zeros(0, 0)[[], [0]]
b = T.ones(3, 4).requires_grad_() * 0; c = b.expand(2, 3, 4); c[...] = b; s = c._version
b = T.ones(3, 4); c = b.expand(2, 3, 4); d = c.copy_(b.expand(2, 3, 4))
c = T.index_select(T.zeros(0), 0, T.tensor([0]))
b = T.zeros(()); c = b.expand(2); c[...] = b
b = T.ones(2, 3); c = b[0, 0].expand(2, 2); c[:] = b[0, 0]
d = T.zeros(4, 3, dtype=T.int64).t() * 1; f = d.mT; d = T.neg(T.tensor([[1], [2], [3]]), out=d); e = f * 2
d = T.zeros(2, 3, 4).permute(1, 2, 0).clone(); f = d[1:]; e = T.add(T.ones(2, 5), 1, out=f); e = d * 2
c = T.pow(1, T.zeros(3, 2, dtype=T.float64), out=T.empty(0, dtype=T.bool)); d = T.pow(1., c * 1j, out=c[:, :1])
c = T.pow(True, T.zeros(2), out=T.empty(0, dtype=T.int64))
c = T.pow(2, T.zeros(2), out=T.empty(0, dtype=T.int64))
a = T.tensor([-0., 0., 1., float('nan')]).bfloat16().requires_grad_(); g = T.autograd.grad(T.relu(a).sum(), a)
a = T.eye(3)[:2].bfloat16(); g = T.func.jacrev(lambda a: a * 2)(a); gf = T.func.jacfwd(lambda a: a @ a.mT)(a)
a = T.ones(2).bfloat16(); g = T.autograd.functional.jacobian(lambda a: a * 2, a, vectorize=True)
a = T.ones(2).bfloat16(); g = T.autograd.functional.hessian(lambda a: (a * a).sum(), a)
a = T.eye(3).bfloat16(); g = T.func.jacrev(T.func.vmap(lambda a: F.huber_loss(a, a * 2)))(a)
a = T.tensor([.5, 1.]).bfloat16(); g = T.func.hessian(lambda a: T.logsumexp(a, 0) * 2)(a)
a = T.ones(3, 2); f = lambda x: T.sort(x * x)[0]; g = T.func.vmap(lambda a: T.func.jvp(f, (a,), (a + 1,)))(a)
a = T.eye(3) + 1; f = lambda x: (T.topk(x, 2)[0] ** 3).sum(); g = T.func.vmap(T.func.hessian(f))(a)
a = T.eye(3) + 1; f = lambda x: (T.cummax(x, 0)[0] ** 3).sum(); g = T.func.vmap(T.func.jacrev(T.func.grad(f)))(a)
a = T.ones(2, 2); g = T.func.vmap(lambda a: T.func.jvp(lambda x: x.expand(2, 2).ravel(), (a,), (a * 2,)))(a)
a = T.ones(2, 3); g = T.func.vmap(lambda a: a.expand(2, 3).contiguous())(a)
a = T.ones(3, 2).half() * 2; g = T.func.vmap(T.prod)(a); g2 = T.func.vmap(lambda a: T.prod(a, 0, True))(a * 3)
a = T.ones(3, 2, 2).bfloat16() * 3; g = T.func.vmap(T.prod)(a); g2 = T.func.vmap(T.func.vmap(T.prod))(a.half())
a = T.ones(3); g = T.func.vmap(lambda a: a, chunk_size=3)(a)
a = T.tensor([-.7, 0., 2.]); g = T.func.jvp(lambda x: T.xlogy(x, a), (a,), (a + 1,))
a = T.tensor([-.7, 0., 2.]); g = T.func.jvp(lambda x: T.special.xlog1py(x, a - 1), (a,), (a + 1,))
a = T.tensor([0., 1., 2.]); g = T.func.jvp(T.sinc, (a,), (a + 1,)); g2 = T.func.jvp(lambda a: a ** a, (a,), (a + 1,))
a = T.zeros(3); g = T.func.jvp(T.std, (a,), (a + 1,)); g2 = T.func.jvp(lambda a: T.logit(a, 1e-3), (a,), (a + 1,))
a = T.tensor([-1., .5, 2.]); g = T.func.jvp(T.logit, (a,), (a,))
a = T.tensor([-1., .5, 2.]); g = T.func.jvp(T.func.grad(lambda a: T.logit(a).sum()), (a,), (a + 1,))
a = T.zeros(3); g = T.func.jvp(lambda a: T.linalg.vector_norm(a, 3), (a,), (a + 1,))
a = T.tensor([-float('inf'), 1.]); g = T.func.jvp(lambda a: F.threshold(a, 0., 0.), (a,), (a * 2,))
a = T.ones(2); g = T.func.jvp(lambda a: a // 2, (a,), (a * 2,))
a = T.ones(2); g = T.func.jvp(lambda a: T.heaviside(a, a), (a,), (a * 2,))
a = T.arange(12.).view(3, 2, 2); g = T.func.vmap(lambda a: T.roll(a, 1))(a); g2 = T.func.jacrev(lambda a: a.roll(3))(a)
a = T.arange(12.).reshape(3, 2, 2); g = T.func.vmap(lambda a: T.roll(a, 1), 1, 2)(a)
a = T.arange(8.).reshape(2, 2, 2); g = T.func.vmap(T.func.vmap(lambda a: a.roll(1, 0)))(a)
b = T.tensor(True); c = T.tensor([b, 0.], dtype=T.int8); d = T.tensor([b, np.float64(2)], dtype=T.uint8)
b = T.tensor([1, 2]); c = T.tensor([b, b])
b = T.tensor([1., 2.]); c = T.tensor([b, 3], dtype=T.int8)
b = T.tensor([1., 2.]); c = T.tensor([b, 3])
b = T.tensor([1, 2]); c = T.tensor([b, 3], dtype=T.float32)
a = T.ones(2, 2).requires_grad_(); b = a.exp(); c = b[0]; d = b.t(); b.detach_(); g = T.autograd.grad(loss(c, d), a)
a = T.ones(2, 2).requires_grad_(); b = a * 2; c = b[0]; b.detach_(); b.mul_(2); s = c.requires_grad
a = T.ones(2, 2).requires_grad_(); b = a * 2; c = b[0]; d = c[:1]; b.detach_(); c.mul_(3); g = T.autograd.grad(d, a)
a = T.arange(12.).view(2, 2, 3); f = lambda x: (F.group_norm(x, 1) ** 3).sum(); g = T.func.vmap(T.func.hessian(f))(a)
p = [T.ones(2).bfloat16().requires_grad_()]; o = T.optim.NAdam(p); STEP; LOAD; STEP; r = p[0].detach()
p = [T.ones(2).bfloat16().requires_grad_()]; o = T.optim.ASGD(p); STEP; LOAD; STEP; s = o.state_dict()['state']
p = [T.ones(n).requires_grad_() for n in (2, 3)]; o = T.optim.Adam(p); STEP; STEP; o.state.clear(); STEP; r = p[1] * 1
p = [T.ones(2).requires_grad_()] * 2; o = T.optim.SGD(p); s = o.state_dict()['param_groups'][0]['params']
p = [T.ones(2).requires_grad_()]; z = T.optim.lr_scheduler.LambdaLR(T.optim.SGD(p), lambda k: 1.); s = [*z.state_dict()]
a = T.tensor(1.); b = T.ones(3).bfloat16(); c = F.mse_loss(a, b, reduction='none'); d = F.l1_loss(b, a)
a = T.tensor(1.).double().requires_grad_(); b = T.ones(3).half(); c = F.smooth_l1_loss(a, b); g = T.autograd.grad(c, a)
a = T.tensor(.7).half().requires_grad_(); c = F.gelu(a); g = T.autograd.grad(c, a); s = type(c.grad_fn).__name__
a = T.tensor(.7).requires_grad_(); c = F.gelu(a, approximate='tanh'); g = T.autograd.grad(c, a)
a = T.arange(-300, 300).half() / 128; c = a.round(decimals=1); d = T.tensor([1.35, 2.45]).half().round(decimals=1)
a = T.ones(2).half().requires_grad_(); b = (a * 2).sum(); b.backward(); b.backward()
a = T.ones(2).bfloat16().requires_grad_(); b = (a / 2).sum(); b.backward(); b.backward()
a = T.ones(2).half().requires_grad_(); b = (a + 2).sum(); b.backward(); b.backward(); g = a.grad
"""


#: What stands for a longer text in them.
_SHORT = {"gradient(c, b)": "T.autograd.grad(c, b, None, 1, 1)[0]", "LOAD": "v = o.load_state_dict(o.state_dict())",
          "STEP": "v = [loss(e * e + e).backward() for e in p]; v = o.step()"}


@pytest.mark.parametrize("program", PROGRAMS.strip().splitlines())
def test_program(program):
    for short, long in _SHORT.items():
        program = program.replace(short, long)
    run([line.strip() for line in program.split(";")])
