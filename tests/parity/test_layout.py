"""Indexing, scatter, views and their kin in every dtype: each line gives the same under both modules,
strides and offset too, or the same error."""
import numpy as np
import pytest

from .adapter import same_outcome


def lines(text):
    return [line.strip() for line in text.strip().split("\n")]


def outcome(t, line):
    """What the last expression of a line gives; the others are statements."""
    *statements, expression = line.split(";")
    names = dict(t=t, np=np, i=t.tensor, bf16=t.bfloat16, f16=t.float16, u8=t.uint8, i8=t.int8, c64=t.complex64,
                 none=t.zeros(0, dtype=t.int64), nan=float("nan"), grad=lambda y, *x: gradients(t, y, *x))
    exec(";".join(statements).strip(), names)
    return explained(t, eval(expression.strip(), names))


def gradients(t, y, *inputs):
    """(numbers of) the gradients of the sum of `y`; whether they are dense is not compared."""
    g = t.autograd.grad(y.sum(), inputs, allow_unused=True)
    return [d if d is None else (d.dtype, d.shape, d.double().numpy()) for d in g]


def explained(t, result):
    if isinstance(result, (tuple, list)):
        return [explained(t, x) for x in result]
    if isinstance(result, t.Tensor):
        return result, result.stride(), result.storage_offset(), result._is_view()
    return result


@pytest.mark.parametrize("line", lines("""
    t.tensor([1., 2.], dtype=bf16).index_fill(0, i([1]), 2.5)
    t.tensor([1., 2.], dtype=bf16).scatter(0, i([1]), 2.5)
    t.tensor([1., 2.], dtype=bf16).scatter_(0, i([1]), 2.5, reduce="add")
    t.tensor([1., 2.], dtype=bf16).scatter_(0, i([1]), 2.5, reduce="multiply")
    t.tensor([1., 2.], dtype=bf16).scatter(0, i([1]), t.tensor([3.], dtype=bf16), reduce="multiply")
    t.tensor(1., dtype=bf16).scatter_add(0, i(0), t.tensor(3., dtype=bf16))
    t.tensor(1., dtype=bf16).scatter_add(0, i([0]), t.tensor([3.], dtype=bf16))
    t.tensor([1, 2], dtype=bf16).index_reduce(0, i([1]), t.tensor([3], dtype=bf16), "prod")
    t.tensor([1, 2], dtype=bf16).index_reduce(0, i([1, 1]), t.tensor([3, 4], dtype=bf16), "mean")
    t.tensor([1, 2], dtype=bf16).index_reduce(0, i([1, 1]), t.tensor([3, 4], dtype=bf16), "amax")
    t.tensor([1, 2], dtype=bf16).index_reduce(0, i([1, 1]), t.tensor([3, 4], dtype=bf16), "amin", include_self=False)
    t.tensor([1, 2], dtype=bf16).scatter_reduce(0, i([1, 1]), t.tensor([3, 4], dtype=bf16), "amin", include_self=False)
    t.tensor([1, 2], dtype=bf16).scatter_reduce(0, i([1, 1]), t.tensor([3, 4], dtype=bf16), "mean")
    t.tensor([1, 2], dtype=f16).scatter_reduce(0, i([1, 1]), t.tensor([3, 5], dtype=f16), "mean", include_self=False)
    t.tensor([1, 2], dtype=u8).index_fill(0, i([1]), 300)
    t.tensor([1, 2], dtype=u8).index_fill(0, i([1]), -1)
    t.tensor([1, 2], dtype=u8).index_fill(0, i([1]), i(300))
    t.tensor([1, 2], dtype=u8).scatter(0, i([1]), -1)
    t.tensor([1, 2], dtype=u8).scatter(0, i([1]), 300)
    t.tensor([1, 2], dtype=u8).scatter(0, none, 300)
    t.tensor([1, 2]).scatter(0, i([1]), 2 ** 70)
    t.tensor([1, 2], dtype=u8).scatter(0, i([1]), 2j)
    t.tensor([1, 2], dtype=f16).scatter(0, i([1]), 1e6)
    t.tensor([1, 2], dtype=f16).index_fill(0, i([1]), 1e6)
    t.tensor([1, 2], dtype=t.int32).scatter(0, i([1]), nan)
    t.tensor([1, 2], dtype=u8).scatter(0, i([1]), 300, reduce="add")
    t.tensor([1, 2], dtype=i8).index_add(0, i([1]), t.tensor([3], dtype=i8), alpha=2.5)
    t.tensor([1, 2], dtype=i8).index_add(0, i([1]), t.tensor([3], dtype=i8), alpha=300)
    t.tensor([1, 2], dtype=f16).index_add(0, i([1]), t.tensor([3], dtype=f16), alpha=1e6)
    t.tensor([1, 2], dtype=bf16).index_add(0, i([1]), t.tensor([3], dtype=bf16), alpha=.1003)
    t.tensor([1, 2]).index_add(0, i([1]), i([3]), alpha=2j)
    t.tensor([[1, 2]]).index_add(0, i([0]), i([[3, 4]]), alpha=2.5)
    t.tensor(3).index_add(0, i([0]), i(3), alpha=2)
    t.tensor(3).index_copy(0, i([0]), i(5)), t.tensor(3).index_fill(0, i([0]), 5)
"""))
def test_numbers(line):
    same_outcome(lambda t: outcome(t, line))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("line", lines("""
    one.scatter_add(0, k, s)
    one.scatter(0, k, s, reduce="add"), one.scatter(0, k, .001, reduce="add")
    one.scatter(0, k, m, reduce="multiply"), one.scatter(0, k, 1.01, reduce="multiply")
    one.scatter_reduce(0, k, s, "sum"), one.scatter_reduce(0, k, m, "prod"), one.scatter_reduce(0, k, s, "mean")
    one.index_add(0, k, s), one.index_add(0, k, s, alpha=1.003)
    one[:, None].expand(1, 3).index_add(0, k, s[:, None].expand(16, 3))
    one[:, None].expand(1, 3).index_add(0, k.int(), s[:, None].expand(16, 3))
    one[:, None].expand(1, 3).index_add(0, k, s[:, None].expand(16, 3), alpha=1.003)
    one[:, None, None].expand(2, 1, 3).index_add(1, k, s[None, :, None].expand(2, 16, 3))
    one.index_reduce(0, k, m, "prod"), one.index_reduce(0, k, s, "mean")
    one.index_put((k,), s, accumulate=True), one.put(k, s, accumulate=True)
    backward(x[k]), backward(x.index_select(0, k)), backward(x.gather(0, k)), backward(x.take(k))
    backward(x.take_along_dim(k, 0)), backward(x.expand(16)), backward(x.repeat(16)), backward(x.tile(16))
    backward(x.repeat_interleave(16))
    backward(x[:, None][k][:, 0]), backward(x[:, None].index_select(0, k)[:, 0])
    backward(x[:, None].gather(0, k[:, None])[:, 0])
"""))
def test_rounding_of_sums(line, dtype):
    """Where torch adds in float32 and where it rounds after every element."""
    def program(t):
        d = getattr(t, dtype)
        x, s = t.ones(1, dtype=d, requires_grad=True), t.linspace(.001, .0013, 16).to(d)
        g = s.clone()
        g[0] = 1
        return eval(line, dict(one=t.ones(1, dtype=d), k=t.zeros(16, dtype=t.int64), s=s, m=1 + 3 * s, x=x, i=t.tensor,
                               backward=lambda y: t.autograd.grad(y, x, g)[0]))
    same_outcome(program, tolerance=0)


X3 = "x = t.zeros(3, requires_grad=True); "


@pytest.mark.parametrize("line", lines("""
    s = t.zeros(0, requires_grad=True); grad(x.scatter(0, none, s), x, s)
    s = t.zeros(2, requires_grad=True); grad(x.scatter(0, none, s), x, s)
    s = t.zeros(1, requires_grad=True); grad(x.scatter(0, none, s), x, s)
    grad(x.scatter(0, none, 1.), x)
    s = t.zeros(0, requires_grad=True); grad(x.scatter_add(0, none, s), x, s)
    s = t.zeros(2, requires_grad=True); grad(x.scatter_add(0, none, s), x, s)
    s = t.zeros(0, requires_grad=True); grad(x.scatter_reduce(0, none, s, "sum"), x, s)
    s = t.zeros(0, requires_grad=True); grad(x.scatter_reduce(0, none, s, "prod"), x, s)
    s = t.zeros(0, requires_grad=True); grad(x.index_reduce(0, none, s, "amax"), x, s)
    s = t.zeros(4, requires_grad=True); grad(x.scatter(0, i([1, 2]), s), x, s)
    s = t.zeros(4, requires_grad=True); grad(x.scatter_add(0, i([1, 2]), s), x, s)
    s = t.zeros(4, requires_grad=True); grad(x.scatter_reduce(0, i([1, 2]), s, "sum"), x, s)
    s = t.zeros(4, requires_grad=True); grad(x.scatter_reduce(0, i([1, 2]), s, "mean"), x, s)
    s = t.zeros(4, requires_grad=True); grad(x.scatter_reduce(0, i([1, 2]), s, "amax"), x, s)
    s = t.zeros(4, requires_grad=True); grad(x.scatter_reduce(0, i([1, 2]), s, "prod"), x, s)
    s = t.zeros(4); grad(x.scatter_add(0, i([1, 2]), s), x)
    s = t.zeros(1, requires_grad=True); grad(x.scatter(0, i(0), s), x, s)
    s = t.zeros((), requires_grad=True); grad(x.scatter(0, i([0]), s), x, s)
    s = t.zeros((), requires_grad=True); grad(x.scatter_add(0, i(0), s), x, s)
    s = t.zeros(1, requires_grad=True); y = x.scatter(0, i([0]), s, reduce="add"); y.requires_grad
    s = t.zeros(1, requires_grad=True); grad(x.scatter(0, i([0]), s, reduce="add"), x, s)
    grad(x.scatter(0, i([0]), 2., reduce="multiply"), x)
    grad(x.gather(0, none), x), grad(x.gather(0, i(1)), x)
    x.scatter(0, i([0]), 2., reduce="add").grad_fn.name(), x.index_fill(0, i([0]), 2.).grad_fn.name()
    t.tensor(1., requires_grad=True).index_copy(0, i([0]), t.tensor(2.)).grad_fn.name()
    s = t.zeros(2); s.set_(x); s, s.grad_fn.name()
    s = t.zeros(2); s.set_(x); s.sum().backward()
    s = x * 2; s.set_(t.ones(3)); s, s.grad_fn.name()
    s = x * 2; s.set_(t.ones(3)); s.sum().backward()
    v = t.ones(3)[1:]; v.set_(t.ones(3, requires_grad=True)); v
    v = t.ones(3)[1:]; v.set_(t.ones(3, requires_grad=True)); v.sum().backward()
    x.set_(t.ones(3))
"""))
def test_gradients(line):
    same_outcome(lambda t: outcome(t, X3 + line))


@pytest.mark.parametrize("line", lines("""
    t.ones(0, 3).index_fill(1, i([5]), 1.), t.ones(0, 3).index_copy(1, i([5]), t.ones(0, 1))
    t.ones(0).index_copy(0, i([0]), t.ones(1))
    t.ones(0).index_select(0, i([0]))
    t.ones(0, 3).index_select(0, i([0]))
    t.ones(3, 0).index_add(0, i([7]), t.ones(1, 0)), t.ones(0, 3).index_add(1, i([5]), t.ones(0, 1))
    t.ones(0).index_add(0, i([0]), t.ones(1))
    t.tensor(2.).index_reduce(0, i([0]), t.tensor([3.]), "prod")
    t.tensor(2.).index_reduce(0, i(0), t.tensor(3.), "prod")
    t.tensor(2.).index_reduce(0, i([0]), t.tensor(4.), "mean")
    t.tensor(2.).index_reduce(0, i([0, 0]), t.tensor(3.), "prod")
    t.tensor(2.).index_reduce(0, i([-1]), t.tensor(3.), "prod")
    t.ones(2, 2).index_reduce(0, i([5]), t.ones(1, 2), "prod", include_self=False)
    t.ones(2, 2).index_reduce(0, i([5]), t.ones(1, 2), "mean")
    t.ones(3).index_reduce(0, i([0, 1]), t.ones(1), "prod")
    t.ones(3, 3).index_reduce(0, i([0, 1]), t.ones(2, 2), "prod")
    t.ones(3).index_reduce(0, i([1]), i([3]), "prod")
    t.ones(2, dtype=t.bool).index_reduce(0, i([0]), t.tensor([True]), "amax")
    t.ones(2, dtype=t.bool).index_reduce(0, i([0]), t.tensor([True]), "amax", include_self=False)
    t.ones(2, 2, dtype=t.bool).index_reduce(0, i([0]), t.ones(1, 2, dtype=t.bool), "mean")
    t.ones(2, 2, dtype=t.bool).index_reduce(0, i([0]), t.ones(1, 2, dtype=t.bool), "amin")
    t.ones(2, dtype=c64).index_reduce(0, i([0]), t.ones(1, dtype=c64), "prod")
    t.ones(2, 2, dtype=c64).index_reduce(0, i([0]), t.ones(1, 2, dtype=c64), "mean")
    t.ones(2, 2, dtype=c64).index_reduce(0, i([0]), t.ones(1, 2, dtype=c64), "amax")
    t.ones(2, dtype=t.bool).scatter_reduce(0, i([0]), t.tensor([True]), "mean")
    t.ones(2, dtype=c64).scatter_reduce(0, i([0]), t.ones(1, dtype=c64), "amax")
    t.ones(2, dtype=c64).scatter_reduce(0, none, t.ones(0, dtype=c64), "amax")
    t.ones(2).index_add(0, i([[0]]), t.ones(1))
    t.ones(2).index_add(0, t.ones(1), t.ones(1))
    t.ones(2).index_add(0, i([0]), i([1]))
    t.ones(2, 2).index_add(1, i([0]), t.ones(1))
    t.ones(2).index_add(0, i([0, 1]), t.tensor(1.))
    t.ones(2, 2).index_copy(1, i([0]), t.ones(1))
    t.ones(2, 2).index_copy(1, i([0]), t.ones(3, 1))
    t.ones(2, 2).index_copy(1, i([0]), t.ones(2, 2))
    t.ones(2, 2).index_copy(1, i([0, 1]), t.tensor(1.))
    t.ones(2, 2).index_fill(3, i([[5]]), 1)
    t.ones(2, 2).index_fill(1, i([[5]]), 1)
    t.ones(2, 2).index_fill(1, i([5]), 2j)
    t.ones(2, 2).index_fill(1, i([5]), t.tensor(2j))
    t.ones(2, 2).scatter(0, t.zeros(0, 3, 5), 1.), t.ones(2, 2).scatter_reduce(0, t.zeros(0, 3), t.ones(3), "prod")
"""))
def test_checks(line):
    same_outcome(lambda t: outcome(t, line))


@pytest.mark.parametrize("line", lines("""
    t.ones(2, 3).t() + t.ones(3, 2), t.ones(3, 2) + t.ones(2, 3).t(), t.ones(2, 3).t() > t.ones(3, 2)
    t.ones(2, 3, 4).permute(2, 0, 1) * t.ones(4, 2, 3), t.ones(2, 3, 4).permute(1, 2, 0) - t.ones(4, 1)
    t.ones(2, 3).t() * t.ones(3, 2).double(), t.ones(2, 3).t().int() / 2, t.ones(2, 3).t() ** t.ones(3, 2)
    t.ones(1, 3).t() * 2, t.ones(1, 3).t() + t.ones(3, 1), t.ones(4, 4).t()[1:2] * 2, -t.ones(1, 3).t()
    t.ones(2, 3, 1).permute(2, 0, 1) + 1, t.ones(2, 3, 1).permute(2, 0, 1) ** 2, t.ones(3, 1, 2).exp()
    t.ones(2, 1).expand(2, 3).exp(), t.ones(2, 4)[:, ::2] * 2, t.ones(1, 4).expand(3, 4).double()
    t.where(t.ones(2, 3).t() > 0, t.ones(3, 2), t.ones(3, 2)), t.lerp(t.ones(2, 3).t(), t.ones(3, 2), .5)
    t.addcmul(t.ones(2, 3).t(), t.ones(3, 2), t.ones(3, 2)), t.clamp(t.ones(2, 3).t(), t.ones(3, 2))
    t.ones(2, 3).t().clone(), t.ones(2, 6)[:, ::2].t().clone(), t.ones(2, 3).as_strided((3, 1), (1, 7)).clone()
    t.zeros_like(t.ones(4, 1).t()), t.ones(2, 3).t().erf(), t.nn.functional.gelu(t.ones(2, 3).t())
    t.ones(2, 3).t().roll(1, 0), t.ones(2, 1).expand(2, 3).flip(0), t.ones(()).roll(1)
    t.cat([t.ones(2, 3, 4, 5).permute(0, 3, 1, 2)] * 2, 2), t.cat([t.ones(2, 3, 4, 5).permute(3, 2, 1, 0)] * 2, 2)
    t.stack([t.ones(2, 3, 4, 5).permute(0, 3, 1, 2)] * 2, 2), t.stack([t.ones(2, 2, 3).permute(0, 2, 1)] * 2, -1)
    t.ones(4, 3).t()[..., None], t.ones(4, 3).t().unsqueeze(1), t.ones(4, 3).t()[None]
    t.ones(2, 3).t().index_fill(0, i([0]), 1), t.ones(2, 3).t().take(t.zeros(2, 3, dtype=t.int64).t())
    t.ones(2, 3).t().put(t.zeros(2, dtype=t.int64), t.ones(2)), t.ones(2, 3).t().masked_scatter(i(True), t.ones(6))
    t.ones(2, 3).nonzero(as_tuple=True), t.where(t.ones(2, 3) > 0), t.tensor(3.).nonzero(as_tuple=True)
    t.ones(3)[3:], t.ones(3, 4)[3:], t.ones(3, 4)[1:1], t.ones(3, 4)[:, 2:2], t.ones(3, 4)[2:, 4:]
    t.ones(2, 3, 4).narrow(1, 3, 0), t.ones(5).split([2, 0, 3]), t.ones(5).tensor_split([3, 1])
    list(reversed(t.arange(6).reshape(3, 2))), reversed(t.tensor(3))
    x = t.arange(3); list(reversed(x))[0].add_(5); x
"""))
def test_strides(line):
    same_outcome(lambda t: outcome(t, line))


@pytest.mark.parametrize("line", lines("""
    x[np.array([1, 0], dtype=np.int16)], x[np.array([1, 0], dtype=np.int8)], x[np.array([1, 0], dtype=np.uint16)]
    x[np.array([1., 0.])], x[np.array([1, 0], dtype=np.int32)], x[np.int16(1)]
    x[np.array([1, 0], dtype=np.int16)] = 5; x
    x[np.bool_(True)]
    x[np.bool_(True)] = 3
    x[i([1, 0], dtype=u8)] = 5
    x.index_put((i([1, 0], dtype=u8),), i(5))
    x[i([1, 0], dtype=u8)] = i([4, 5, 6]); x
    x.index_put((i([True, False]),), t.tensor(5.), accumulate=True)
    x[t.ones(2, 3, dtype=t.bool)] = t.ones(2, 3, dtype=t.int64)
    x[t.ones(2, 3, dtype=t.bool)] = t.arange(6); x
    x.masked_fill(i([True, False]), 3)
    x.masked_scatter(i([True, False]), x)
    x.byte().masked_fill(i(True), i(300))
    x.half().masked_fill(i(True), t.tensor(1e6))
    t.cat([t.ones(2)], out=t.ones(2, dtype=t.bool))
    t.stack([t.ones(2)], out=t.ones(1, 2, dtype=t.int64))
    t.ones(0).put(i([0]), t.ones(1))
    i(3).repeat_interleave(2), i([3, 4]).repeat_interleave(i(2)), t.ones(2, 3, 4).repeat_interleave(2, -2)
    i(3).repeat_interleave(2, 0)
    i(3).repeat_interleave(i([2]), 0)
    t.repeat_interleave(i(3))
    t.repeat_interleave(t.tensor(3.))
    i([3, 4]).repeat_interleave(2, output_size=5)
"""))
def test_indices(line):
    same_outcome(lambda t: outcome(t, "x = t.arange(6).reshape(2, 3); " + (line if "] = " not in line or ";" in line
                                                                          else line + "; x")))


@pytest.mark.parametrize("line", lines("""
    y = t.block_diag(w, w * 2, w[0], w[0, 0]); y, y.grad_fn.name(), grad(y * y, w)
    y = w.put(i([1, 1]), w[0]); y, y.grad_fn.name(), grad(y * y, w)
    y = w.put(i([1, 1, -1]), w.t()[:3, 0], accumulate=True); y, y.grad_fn.name(), grad(y * y, w)
    y = w.t().put(i([[1, 2]]), w[:1, :2]); y, grad(y * y, w)
    y = w * 1; y.put_(i([1]), t.ones(1)); y, y.grad_fn.name(), grad(y * y, w)
    y = w.repeat_interleave(2, 1); y, y.grad_fn.name(), grad(y * y, w)
"""))
def test_one_node(line):
    same_outcome(lambda t: outcome(t, "w = t.arange(1., 13.).reshape(3, 4).requires_grad_(); " + line))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("line", lines("""
    t.complex(b, a)
    t.complex(a, b)
    t.complex(a, a)
    t.complex(a[:, :1], a)
    t.complex(t.ones((), dtype=a.dtype), a)
    t.polar(b.float(), a.float())
    t.polar(a.double(), a.double())
"""))
def test_order_of_parts(line, dtype):
    """Of results: the parts are no views, by which their order would be looked at once more."""
    same_outcome(lambda t: outcome(t, f"a = t.ones(2, 3, 2, dtype=t.{dtype}).transpose(0, 1) * 1; "
                                      f"b = t.ones(1, dtype=t.{dtype}); {line}"))
