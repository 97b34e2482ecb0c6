"""Lazy conjugates and negatives: what shares memory, keeps the bits, reads, writes and differentiates, under both
modules."""
import copy
import io
import pickle

import pytest
import torch

import tinytorch

from .adapter import same, same_outcome


def names_for(t):
    """x complex and r real; c, n and cn conjugated, negated, both; rn the negative of r. The same of a tensor that
    requires gradients, computed from the leaf X: z, zc, zn."""
    x = t.tensor([[1j, 1 + 2j, 2 + 3j], [3 + 4j, 4 + 5j, 5 + 6j]])
    r = t.arange(6.).reshape(2, 3).clone()
    X = t.tensor([[1 + 2j, 3 - 1j], [2j, 1 + 0j]], requires_grad=True)
    z = X * 1
    return dict(t=t, F=t.nn.functional, x=x, r=r, c=x.conj(), n=t._neg_view(x), cn=t._neg_view(x.conj()),
                rn=t._neg_view(r), X=X, z=z, zc=z.conj(), zn=t._neg_view(z), copy=copy, io=io, pickle=pickle,
                saved=lambda y: _saved(t, y), i=t.tensor([0]), g=t.tensor([[1j, 2], [3 - 1j, 4]]))


def _saved(t, y):
    file = io.BytesIO()
    t.save(y, file)
    file.seek(0)
    return t.load(file)


def look(value, names):
    """All that can be seen of a value; of a tensor its bits, what it is a view of and whose memory it shares."""
    if isinstance(value, (list, tuple)):
        return [look(v, names) for v in value]
    if not isinstance(value, (torch.Tensor, tinytorch.Tensor)):
        return value
    shares = [k for k in "xrXzg" if value.numel()
              and names[k].untyped_storage().data_ptr() == value.untyped_storage().data_ptr()]
    bases = [k for k in "xrXzg" if value._base is names[k]]
    return [value, value._is_view(), bases, shares, list(value.stride()), value.storage_offset(), value.is_leaf,
            value.grad_fn and value.grad_fn.name()]


def outcome(text, kind):
    """The program that runs the statements `text`, the last of them an expression, and looks at its value; after writes
    at what was written to."""
    def program(t):
        names = names_for(t)
        *statements, last = text.split("; ")
        exec("\n".join(statements), names)
        value = eval(last, names)
        if kind == "gradients" and ".grad" in last:
            return value                       # how it came about, and what of it is shared, is left out
        if kind == "writes":
            return [look(value, names)] + [(look(names[k], names), names[k]._version) for k in ("x", "r", "c", "cn")]
        return [look(value, names)] + [look(names[k], names) for k in ("z" if kind == "gradients" else "")]
    return program


#: Views, and what keeps its tensor: the memory is shared and the bits are kept.
VIEWS = """c|c.conj()|n|cn|rn|t._neg_view(n)|r.conj() is r|t.conj(x)|x.mH|x.H|x.adjoint()|x.mH.mH|r.mH|t._conj(c)
c._conj()|x.unsqueeze(0).mH|c.imag|c.real|cn.imag|cn.real|n.imag|n.real|t.imag(c)|t.real(c)|t.real(rn)|rn.conj()
x.imag.conj()|c[0]|c[:, 1]|c[None]|c[...]|c[0, 0]|c[0, ..., None]|c[:]|c.t()|c.T|c.mT|c.view(6)|c.reshape(6)
c.flatten()|c.ravel()|c.reshape(2, 3)|c.view_as(x)|c.expand(2, 2, 3)|c.broadcast_to(2, 2, 3)|c.unsqueeze(0)
c.squeeze()|c.permute(1, 0)|c.diagonal()|c.unfold(1, 2, 1)|c.as_strided((2,), (1,))|c.as_strided((2,), (1,), 2)
c.split(1)|c.chunk(2)|c.unbind()|c.hsplit(3)|c.narrow(0, 1, 1)|c.select(0, 1)|c.movedim(0, 1)|c.unflatten(1, (1, 3))
t.atleast_3d(c)|c.detach()|c.data|t.broadcast_tensors(c, c[0])|c.contiguous()|c.contiguous() is c
c.to(t.complex64) is c|c.cfloat() is c|c.cpu() is c|c.type_as(x) is c|rn.float() is rn|t.positive(c)|+c|+rn
F.dropout(c, 0.)|t.as_tensor(c) is c|t.nn.Parameter(c)|t.view_as_real(n)|t.view_as_complex(t._neg_view(t.ones(3, 2)))
t.empty(0, dtype=t.complex64).conj().view(0, 2)|x.resolve_conj() is x|r.resolve_neg() is r|c.resolve_neg() is c
n.resolve_conj() is n|t.tensor(1j).conj()|t.is_conj(c)|t.is_conj(x)|t.is_neg(c)|t.is_neg(c.imag)|c.is_conj()
rn.is_neg()|c.requires_grad_()|c.data_ptr() == x.data_ptr()|c.is_set_to(x)|c.is_contiguous()|c.t().is_contiguous()
c.storage_offset()|c.imag.stride()|t.Tensor.is_conj(x)|t._neg_view(t.tensor([3, 4]))
t._neg_view(t.tensor([3, 4], dtype=t.uint8))|t.from_numpy(x.numpy())
t._neg_view(t.tensor([1.5, -2], dtype=t.bfloat16))|t._neg_view(t.tensor([1.5, -2], dtype=t.half)).is_neg()"""

#: What reads: copies with the numbers in memory.
READS = """c.resolve_conj()|c.imag.resolve_neg()|cn.resolve_conj()|cn.resolve_neg()|c.clone()|c.t().contiguous()
c + 1|c * 2|c.t().reshape(6)|c.to(t.complex128)|rn.double()|rn.half()|rn.int()|c.bool()|c.float()
rn.to(t.float32, copy=True)|-c|-rn|c.imag.neg()|rn.neg()|cn.neg()|c.conj_physical()|n.conj_physical()
t.conj_physical(r) is r|abs(rn)|c.abs()|c.sum()|t.empty_like(c).is_conj()|t.zeros_like(c)|t.ones_like(rn)
t.full_like(c, 2j)|c.new_zeros(2)|t.empty_like(c.t()).stride()|c == x|t.equal(c, x)|t.equal(c, c.clone())
t.stack([c, x])|t.cat([c, c])|c.repeat(1, 2)|t.where(c.real > 1, c, x)|c[i]|c[c.real > 1]|c[[0, 1]]
c.index_select(0, i)|c.gather(0, i[None])|c.masked_fill(c.real > 1, 0)|c.take(i)|c.flip(0)
c.masked_select(c.real > 2)|c.cumsum(0)|t.complex(rn, rn)|t.squeeze_copy(c)|t.view_as_real_copy(c)
t.tensor(rn.tolist())|c.unsafe_chunk(2)|c.unsafe_split(1)|t.narrow_copy(c, 0, 0, 1)|c.diag()|c.trace()|c.tril()
F.pad(c, (1, 1))|c.allclose(c)|t.vdot(c[0], x[0])|t.vdot(x[0], c[0])|t.vdot(c[0], c[0])|t.dot(c[0], x[0])
t.dot(c[0], c[1])|t.dot(x[0], c[0])|c @ x.t()|c.mH @ c|t.mm(x, x.mH)|t.mv(c, c[0])|t.inner(c[0], c[0])
t.tensordot(c, c, 2)|t.bmm(c[None], x.t()[None])|t.addmm(c[:, :2], c, x.t())|t.outer(c[0], rn[0])|F.linear(c, c)
rn @ rn.t()|t.dot(rn[0], rn[1])|rn.sort()|rn.max(0)|rn.argmax()|rn.unique()|rn.topk(2)|rn.cumprod(0)|rn.softmax(0)
rn.exp()|rn.nonzero()|rn.median()|c.tolist()|rn.tolist()|c[0, 0].item()|complex(c[0, 0])|float(rn[0, 1])
int(rn[0, 1])|bool(c[0, 0])|str(c)|repr(rn)|repr(cn)|list(c[0])|format(c[0, 0])|c.numpy(force=True).tolist()
c.storage().tolist()|c.untyped_storage().tolist()[:8]|t.tensor(c)|t.asarray(c, copy=True)|x.new_tensor(c)
copy.deepcopy(c)|copy.deepcopy(rn)|copy.deepcopy([x, c])|len(c)|pickle.loads(pickle.dumps(c))
pickle.loads(pickle.dumps(cn))|pickle.loads(pickle.dumps(rn))|saved(c)|saved(rn)|saved(cn)|saved([x, c])|copy.copy(c)
y = saved([x, c, c[1]]); y[0].data_ptr() == y[1].data_ptr()|saved(t._neg_view(t.ones(2).bfloat16()))
c.repeat_interleave(t.tensor([1, 2]), 0).is_conj()|(5 in c)|t.pixel_shuffle(c[None], 1)|t.polar(rn, r)|rn.mean()
c.var()|t.det(c[:, :2])|t.linalg.norm(c)|rn.norm()|rn.std()|rn.clamp(-2)"""

#: Writes, through a view or to what it is a view of.
WRITES = """c.copy_(x.clone())|c.copy_(x)|x.copy_(c)|c.copy_(c)|c.copy_(r)|rn.copy_(r)|rn.copy_(c.real)|c.add_(1j)
c.mul_(2j)|c.mul_(c)|c.add_(x)|x.add_(c)|c.sub_(c.t().t())|c.zero_()|c.fill_(2j)|c.fill_(t.tensor(2j))|rn.fill_(3)
rn.add_(3)|rn.mul_(rn)|rn.sqrt_()|rn.clamp_(-1)|rn.exp_()|rn.relu_()|rn.neg_()|c.neg_()|c.sigmoid_()|c.reciprocal_()
c.conj_physical_()|cn.add_(1)|x.conj_physical_()|n.conj_physical_()|cn.conj_physical_()|cn.copy_(x)|n.mul_(1j)
c[0].mul_(2)|c.t().add_(x.t())|c.imag.add_(1)|c.imag.copy_(r)|c.real.mul_(3)|cn.imag.fill_(2)|cn.real.fill_(2)
c.diagonal().zero_()|c.view(-1)[1:].fill_(1j)|c.masked_fill_(c.real > 1, 2j)|c.index_fill_(0, i, 2j)
c.index_add_(0, i, x[:1] * 1)|c.index_copy_(0, i, x[1:] * 1)|c.scatter_(0, i[None].expand(1, 3), 3j)
c.scatter_add_(0, i[None].expand(1, 3), x[1:] * 1)|c.put_(i, t.tensor([3j]))|c.index_put_((i,), t.tensor(2j))
c.index_put_((i, i), t.tensor(2j), accumulate=True)|c.masked_scatter_(c.real > 1, x * 1)|c.tril_()|rn.cumsum_(0)
c.lerp_(x.clone(), 0.5)|c.addmm_(c, t.eye(3) * 1j)|c.addcmul_(x, c)|c.pow_(2)|rn.sort()|rn.random_(1, 2)
rn.uniform_(1, 1)|rn.normal_(1, 0)|c.resize_(3)|c.resize_(2, 2)|c.t_()|c.unsqueeze_(0)|c.squeeze_()
c.transpose_(0, 1)|c.swapaxes_(0, 1)|c.set_(x)|x.set_(c)|t.mul(x.clone(), 2, out=c)|t.mul(c, 2, out=c)
t.add(x.clone(), 1j, out=c)|t.add(r, 1, out=rn)|t.sum(x.clone(), 0, out=c[0])
t.mm(x.clone(), x.t().clone(), out=c[:, :2])|t.exp(r, out=rn)|t.cat([x[:1].clone(), x[1:].clone()], out=c)
t.conj_physical(x.clone(), out=c)|t.neg(r.clone(), out=rn)|t.clamp(r, 1, 2, out=rn)
t.add(x.clone(), 1, out=t.empty(0, dtype=t.complex64).conj())
t.sort(r.clone(), out=(rn, t.empty(2, 3, dtype=t.long)))|c[0] = 5j; c|c[0, 0] = 5j; c|c[c.real > 2] = 5j; c
c[i] = 5j; c|c[:, 1] = x[:, 0].clone(); c|c[...] = x; c|c[[0, 1], [1, 2]] = c[0, :2]; c|rn[0] = 7; rn
rn[rn < -2] = 1; rn|c.real = 3; c|c.imag = 3; c|c.imag = r; c|x[0] = c[1]; x|x[i] = c[1:]; x|c += 1j; c|rn *= rn; rn
y = x.clone(); y.data = c; y|y = x.clone(); y.data = c; y.data = x; y|with_ = c.imag; with_ += 1; with_
x.imag = c.imag; x|c.as_strided((2,), (2,)).fill_(1j)|t._neg_view(t.tensor([1, 2], dtype=t.uint8)).add_(1)
t._neg_view(t.tensor([3, -4])).mul_(2)"""

#: Refused.
ERRORS = """c.numpy()|rn.numpy()|cn.numpy()|c.__array__()|c.view(t.float32)|c.view(t.complex64)|rn.view(t.int32)
n.view(t.float32)|t.view_as_real(c)|t.view_as_real(cn)|t.imag(rn)|t.is_conj(3)|t.is_neg(3)|t.conj(3)
t.resolve_conj(3)|c.copy_(t.ones(5))|c.expand(2)|c.clamp_(1)|c[9]|c.view(5)|rn.add_(1j)|t.add(x, 1, out=rn)
c.expand(2, 2, 3).add_(1)|X.conj().add_(1)|c.detach_()|w = zc * zc; z.add_(1); w.sum().abs().backward()
zn.mul_(zn); z.sum().abs().backward()|y = z.t(); w = y * y; z.add_(1); w.sum().abs().backward()
y = z[0]; w = y * y; y.add_(1); w.sum().abs().backward()"""

#: Differentiated: gradients of X, and what the views were given for a history.
GRADIENTS = """X.conj().backward(g); X.grad|zc.backward(g); X.grad|X.mH.backward(g); X.grad
X.conj().imag.sum().backward(); X.grad|X.imag.sum().backward(); X.grad|zc.conj().backward(g); X.grad
t._neg_view(X).backward(g); X.grad|zc.real.sum().backward(); X.grad|(zc * zc).sum().abs().backward(); X.grad
(X.mH @ X).abs().sum().backward(); X.grad|(zn * z).sum().abs().backward(); X.grad
zc.mul_(2j); (z * z).sum().abs().backward(); X.grad|z.mul_(2j); zc.sum().abs().backward(); X.grad|z.mul_(2j); zc
z.mul_(2j); zn|zc.copy_(g); z.real.sum().backward(); X.grad|y = z.mH; y.mul_(g); z.abs().sum().backward(); X.grad
y = zc[0]; y.mul_(g[0]); y|y = zc[0]; y.mul_(g[0]); (z * z).sum().abs().backward(); X.grad
y = zc.imag; y.mul_(2); (z * z).sum().abs().backward(); X.grad|y = zc.imag; y.mul_(2); y
zn.mul_(g); (z * z).sum().abs().backward(); X.grad|y = zn.conj(); y.mul_(g); z.abs().sum().backward(); X.grad
z.t().conj()[0].mul_(g[0]); zc.abs().sum().backward(); X.grad|zc[0] = g[0]; (zc * zn).sum().abs().backward(); X.grad
zc.real = 2.; (zc * zc).sum().abs().backward(); X.grad|t.autograd.grad(X.conj(), X, g)[0].is_conj()
t.autograd.grad(X.conj().imag.sum(), X)[0].is_conj()|X.conj().resolve_conj()|X.conj_physical()|X.mH|X.adjoint()|X.H
zc.clone()|zc.contiguous()|zc.unbind()|zc.imag.resolve_neg()|t.view_as_real(zn)
t.autograd.grad(X.conj(), X, g.requires_grad_(), create_graph=True)[0]
zc.retain_grad(); (zc * 2).backward(g); zc.grad|h = []; zc.register_hook(h.append); (zc * 2).backward(g); h
(X.conj() * 2).backward(g); (X.conj() * 2).backward(g); X.grad
y = x.clone().conj().requires_grad_(); (y * y).sum().abs().backward(); y.grad
y = x.clone().conj().requires_grad_(); y|X.grad = g.conj(); (X * X).sum().abs().backward(); X.grad
y = z.t().mH; y.mul_(g); z.abs().sum().backward(); X.grad
d = t.autograd.grad((X.conj() * X).sum().abs(), X, create_graph=True)[0]; t.autograd.grad(d.abs().sum(), X)[0]
d = t.autograd.grad((X.mH @ X).abs().sum(), X, create_graph=True)[0]; t.autograd.grad(d.imag.sum(), X)[0]
t.autograd.gradcheck(lambda a: a.conj().imag * a.mH.real, X.detach().cdouble().requires_grad_())
t.autograd.gradgradcheck(lambda a: a.conj() * a.mH.real, X.detach().cdouble().requires_grad_())
y = zc.as_strided((2,), (3,)); y.mul_(2j); (z * z).sum().abs().backward(); X.grad
y = z.diagonal().conj(); y.copy_(g[0]); z"""

CASES = [(kind, text) for kind, table in [("views", VIEWS), ("reads", READS), ("writes", WRITES),
                                          ("gradients", GRADIENTS)] for text in table.replace("\n", "|").split("|")]


@pytest.mark.counted
@pytest.mark.parametrize("kind, text", [pytest.param(*case, id="-".join(case)) for case in CASES])
def test_alike(kind, text):
    same_outcome(outcome(text, kind), tolerance=1e-5)


@pytest.mark.counted(of="errors")
@pytest.mark.parametrize("text", ERRORS.replace("\n", "|").split("|"))
def test_refused(text):
    same_outcome(outcome(text, "errors"))


# ------------------------------------------------------------------ transforms
TRANSFORMS = {
    "vmap": lambda t, x: t.func.vmap(lambda a: a.conj())(x),
    "vmap of a view": lambda t, x: t.func.vmap(lambda a, b: a * b)(x.conj(), x),
    "vmap of a view alone": lambda t, x: t.func.vmap(lambda a: a.sum())(x.conj()),
    "vmap twice": lambda t, x: t.func.vmap(lambda a: a.conj().conj())(x.conj()),
    "vmap of negatives": lambda t, x: t.func.vmap(lambda a: a * 2)(x.conj().imag),
    "grad": lambda t, x: t.func.grad(lambda a: (a.conj() * a.mH).abs().sum())(x),
    "vjp": lambda t, x: t.func.vjp(lambda a: a.conj() * 1, x)[1](x)[0],
    "jvp": lambda t, x: t.func.jvp(lambda a: a.conj() * 2, (x,), (x * 1j,)),
    "jvp of a part": lambda t, x: t.func.jvp(lambda a: a.conj().imag * 2, (x,), (x * 1j,)),
    "jvp of a view": lambda t, x: t.func.jvp(lambda a: a * a, (x.conj(),), (x.mH,)),
    "jacobian": lambda t, x: t.func.jacrev(lambda a: a.conj().imag * 1)(x),
}


@pytest.mark.parametrize("case", TRANSFORMS)
def test_transforms(case):
    def program(t):
        return TRANSFORMS[case](t, t.tensor([[1 + 2j, 3 - 1j], [2j, 1 + 0j]]))
    same_outcome(program, tolerance=1e-5, bits=False)


def _steps(t, make, changed):
    layer = t.nn.Linear(2, 2, dtype=t.complex64)
    with t.no_grad():
        for k, p in enumerate(layer.parameters()):
            p.copy_((t.arange(p.numel()) + k).reshape(p.shape) * (.5 + .25j))
    layer.weight.data = changed(t, layer.weight.data)
    optimizer = make(t.optim, layer.parameters())
    x = t.tensor([[1 + 2j, 3 - 1j]])
    for _ in range(3):
        optimizer.zero_grad()
        layer(x).abs().sum().backward()
        optimizer.step()
    return layer.weight, layer.weight.grad, layer.bias, layer.state_dict()


OPTIMIZERS = {
    "SGD": lambda optim, p: optim.SGD(p, .1), "Adam": lambda optim, p: optim.Adam(p, .1),
    "SGD with momentum": lambda optim, p: optim.SGD(p, .1, momentum=.9, weight_decay=.1, nesterov=True),
    "RMSprop": lambda optim, p: optim.RMSprop(p, .1), "Adagrad": lambda optim, p: optim.Adagrad(p, .1)}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("changed", [lambda t, w: w.conj(), lambda t, w: t._neg_view(w)], ids=["conj", "neg"])
def test_parameters(name, changed):
    same_outcome(lambda t: _steps(t, OPTIMIZERS[name], changed), tolerance=1e-4, bits=False)


def test_reads_do_not_write():
    x = tinytorch.tensor([1 + 2j, 3j])
    y = x.conj()
    for _ in range(2):
        y.sum(), y.tolist(), y.clone().mul_(3), y.contiguous(), repr(y), (y * y).abs()
    same(x.tolist(), [1 + 2j, 3j])
