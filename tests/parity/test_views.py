"""Views: what each operation that makes one returns is compared under both modules: values, strides, offset, memory,
base, node, gradient, version after a write through it, or the error."""
import re

import pytest

from .test_graph import both_agree

#: What the views are made of, `x` being 2 * 3 * 4 and `m` 4 * 4
SOURCES = {
    "leaf": lambda t: (t.arange(24.).reshape(2, 3, 4).clone().requires_grad_(),
                       t.arange(16.).reshape(4, 4).clone().requires_grad_()),
    "computed": lambda t: tuple(s * 1 for s in SOURCES["leaf"](t)),
    "plain": lambda t: tuple(s.detach() for s in SOURCES["leaf"](t)),
    "transposed": lambda t: ((t.arange(24.).reshape(4, 3, 2).requires_grad_() * 1).permute(2, 1, 0),
                             (t.arange(16.).reshape(4, 4).requires_grad_() * 1).t()),
    "gaps": lambda t: ((t.arange(96.).reshape(4, 3, 8).requires_grad_() * 1)[1:3, :, ::2],
                       (t.arange(64.).reshape(8, 8).requires_grad_() * 1)[::2, 3:7]),
}

VIEWS = """
x.view(6,4) x.view(-1) x.view(2,-1,2) x.view(5,5) x.view(2,12) x.view((24,)) x.view(-1,-1) x.view(-1,5)
x.view(2,3,2,2) x.view(2,3,4) x.view(size=(6,4)) x.reshape(6,4) x.reshape(-1) x.reshape(2,3,2,2) x.reshape((3,8))
x.reshape(7,-1) x.reshape(2,3,4) x.reshape(1,24) x.narrow(0,1,1) x.narrow(2,1,2) x.narrow(-1,-2,2) x.narrow(0,1,2)
x.narrow(3,0,1) x.narrow(0,-3,1) x.narrow(1,0,0) x.narrow(0,0,-1) x.narrow(1,t.tensor(1),2) x.select(0,1)
x.select(-1,-1) x.select(0,2) x.select(3,0) x.select(1,-4) t.select(x,1,0) x.transpose(0,1) x.transpose(0,0)
x.transpose(-1,0) x.transpose(0,3) x.t() m.t() m[0].t() x.permute(2,0,1) x.permute((0,-1,1)) x.permute(0,1)
x.permute(0,0,1) x.permute(0,1,3) x.permute(0,1,2) x.expand(5,2,3,4) x.expand(2,3,4) x[:,:1].expand(2,3,4)
x[:,:1].expand(-1,7,-1) x.expand(3,3,4) x.expand(-1,2,3,4) x.expand(3,4) x[:1].expand(0,3,4) x[0,0,0].expand(3)
x[0,0,0].expand(2,3) x.expand((1,2,3,4)) x.expand(-2,3,4) m[:1].expand_as(m) m.expand_as(x)
x[:,:1].broadcast_to((2,3,4)) t.broadcast_to(m,(2,4,4)) x[:,0,:1].expand(2,5) x.squeeze() x[:1].squeeze()
x[:1].squeeze(0) x[:1].squeeze(1) x[:1,:,:1].squeeze((0,2)) x[:1,:,:1].squeeze((0,1)) x.squeeze(3)
x[:1,:1].squeeze((0,0)) x[:1].squeeze(-3) x.unsqueeze(0) x.unsqueeze(-1) x.unsqueeze(3) x.unsqueeze(1) x.unsqueeze(4)
x.unsqueeze(-5) x.unfold(2,2,1) x.unfold(0,1,1) x.unfold(-1,3,2) x.unfold(1,2,2) x.unfold(0,3,1) x.unfold(0,1,0)
x.unfold(3,1,1) x.unfold(0,-1,1) x.unfold(1,0,1) x[0,0,0].unfold(0,1,1) m.diagonal() m.diagonal(1) m.diagonal(-2)
x.diagonal(0,0,2) x.diagonal(1,1,2) x.diagonal(5) x.diagonal(-5) x.diagonal(0,1,1) x.diagonal(0,0,3)
x.diagonal(offset=1,dim1=-1,dim2=0) m.diag() t.diagonal(m,1) t.linalg.diagonal(x) x.split(2,1)[1] x.split([1,2],1)[0]
x.split(1)[1] x.split([1,1],1) x.split(0) x.split(-1) x.split(5)[0] x.split((1,3),2)[1] x.split(1,3)
t.split(x,2,-1)[1] x.chunk(2,1)[0] x.chunk(3,-1)[2] x.chunk(0) x.chunk(5)[1] x.chunk(1,3) x.tensor_split(2,1)[1]
x.tensor_split((1,),2)[1] x.tensor_split(0) x.tensor_split(5,2)[4] x.hsplit(3)[2] x.vsplit(2)[1] x.dsplit(2)[1]
x.hsplit(2) x.dsplit([1,3])[1] x.unsafe_split(1)[0] x.unsafe_chunk(2)[1] x.split_with_sizes([1,1])[1] x.unbind()[1]
x.unbind(2)[3] x.unbind(-2)[0] x.unbind(3) x[0,0,0].unbind() t.unbind(m,1)[2] m.T m[0].T x.T x.mT m.mT m[0].mT x.H m.H
m[0].H x.mH m.mH m.adjoint() m[0].adjoint() x.real x.imag m.conj() m.resolve_conj() m.resolve_neg() x.view_as(x)
x.view_as(m) m.view_as(x) x.reshape_as(x) m.reshape_as(x[:,:2]) x.view(t.int32) x.view(t.int16) x.view(t.float64)
x.view(t.int64) x.view(t.uint8) x.view(t.complex64) x.view(t.float32) x.view(dtype=t.int32) m[:,:3].view(t.float64)
m[0,0].view(t.float64) m[0,0].view(t.int16) m.detach().view(t.float64) m.detach().view(t.int8) x.as_strided((2,),(1,))
x.as_strided((2,2),(1,2),1) x.as_strided((2,),(0,)) x.as_strided((2,),(1,2)) x.as_strided((2,),(-1,))
x.as_strided((2,2),(200,1)) x.as_strided((-1,),(1,)) x.as_strided((3,),(4,),-1) x.as_strided((),())
x.as_strided((2,3),(3,1),5) x.movedim(0,2) x.movedim((0,1),(2,0)) x.movedim(0,3) x.movedim((0,0),(1,2))
x.movedim((0,1),(1,)) x.movedim(-1,0) x.moveaxis(0,1) x.swapaxes(0,2) x.swapdims(0,-1) x.swapaxes(0,3)
x.unflatten(2,(2,2)) x.unflatten(2,(2,-1)) x.unflatten(2,(3,2)) x.unflatten(1,(-1,)) x.unflatten(3,(1,))
x.unflatten(-1,(4,1)) x.unflatten(0,(-1,-1)) x.unflatten(0,()) x.flatten() x.flatten(1) x.flatten(0,1) x.flatten(2,1)
x.flatten(0,0) x.flatten(3) x[0,0,0].flatten() x.ravel() m.ravel() x.detach() x.data x.contiguous() m.contiguous()
x.clone() x.contiguous(memory_format=t.contiguous_format) x[None].contiguous(memory_format=t.channels_last)
x.contiguous(memory_format=t.channels_last) x.contiguous(memory_format=t.preserve_format)
x[None].to(memory_format=t.channels_last) x[None].clone(memory_format=t.channels_last)
x.clone(memory_format=t.contiguous_format) x.clone(memory_format=t.preserve_format) x.float() x.to(t.float32)
x.to(x.dtype,copy=True) x.double() x.type_as(x) x.cpu() x.positive() +x x.rot90() x.flip(0) x.t_() x.view()
t.view_as_real(x) t.view_as_complex(x) x.tile(1) x.repeat(1,1,1) x.swapaxes(axis0=0,axis1=1) x.type(t.float32)
x.requires_grad_() t.atleast_3d(m) t.atleast_1d(x) t.atleast_2d(m[0]) t.squeeze(x[:1]) t.unsqueeze(x,0)
t.narrow(x,0,0,1) t.permute(x,(1,0,2)) t.transpose(x,0,1) t.t(m) t.movedim(x,0,1) t.swapaxes(x,0,1)
t.unflatten(x,2,(2,2)) t.flatten(x) t.ravel(x) t.reshape(x,(4,6)) t.as_strided(x,(2,),(1,)) t.chunk(x,2)[0]
t.meshgrid(m[0],m[1],indexing='ij')[0] t.broadcast_tensors(m,m[:1])[1] x.T.mT x.mT.mT m.t().t() m.t().view(-1)
"""

INDEXES = """
x[0] x[-1] x[2] x[-3] x[0,1] x[0,1,2] x[0,1,2,3] x[()] x[...] x[:] x[None] x[...,None] x[:,None] x[None,...,None]
x[1:] x[:,1:] x[:,:,::2] x[::2,::2,::2] x[...,1] x[...,-1:] x[0,...] x[0,...,1] x[...,0,1] x[:,1,:] x[5:] x[1:1]
x[-5:] x[:-1] x[:,-2:] x[::-1] x[0,::-1] x[::0] x[1:0] x[2:1:1] x[True] x[False] x[True,0] x[None,True] x[...,...]
x[0][0] x[0][0][0] x[:,0][:,1] x[1:][0] x[:,1:].t() x[0,None,1] x[t.tensor(1)] x[t.tensor(1):] x[t.tensor([0,1])]
x[[0]] x[[0],[1]] x[x>3] x[0,[1]] x[[True,False]] x['a'] x[0.5] x[1.:] x[:,[0,1],None] x[t.tensor(True)]
x[t.tensor(0),1] x[None][0] x[0:2:1,0:3:2] x[slice(None)] x[slice(0,1)] x[(0,1)] x[[0,1]] x[t.tensor([True,False])]
x[t.tensor([True])] x[...,t.tensor(0)] x[t.tensor(2)] x[t.tensor(0.5)] x[t.tensor([0,5])]
"""


def look(t, v, *sources):
    """All that can be seen of a view `v` of one of `sources`."""
    if not isinstance(v, t.Tensor):
        return [look(t, each, *sources) for each in v]
    strides = [s for s, n in zip(v.stride(), v.shape) if n > 1 and v.numel()]      # of one element it says nothing
    same = [v.untyped_storage().data_ptr() == s.untyped_storage().data_ptr() for s in sources]
    where = [v.data_ptr() - s.data_ptr() for s, yes in zip(sources, same) if yes and v.numel()]
    name = v.grad_fn and re.sub(r"0x\w+", "", str(v.grad_fn.name()))
    return (tuple(v.shape), strides, v.storage_offset() if any(same) and v.numel() else 0, v.is_contiguous(), v.dtype,
            same, where, v._base is not None, [v._base is s or v._base is s._base for s in sources], v._is_view(),
            v.requires_grad, v.is_leaf, name, v._version, v.tolist())


def gradient(t, v, leaf):
    """The gradient that comes back through a view."""
    if not v.requires_grad or not leaf.requires_grad:
        return None
    found = t.autograd.grad((v * t.arange(1., v.numel() + 1).reshape(v.shape)).sum(), leaf, allow_unused=True)[0]
    return found is not None and (found.tolist(), found.shape)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("text", VIEWS.split() + INDEXES.split())
def test_views(text, source):
    def program(t):
        x, m = SOURCES[source](t)
        v = eval(text, dict(t=t, x=x, m=m))
        seen = look(t, v, x, m), x.shape, x.grad_fn and x.grad_fn.name()
        one = v if isinstance(v, t.Tensor) else v[0]
        return seen, gradient(t, one, x), gradient(t, one, m)
    both_agree(program)


#: Views of numbers' bits, and one with places that are written to twice.
NOT_WRITTEN_TO = """x.view(t.int32) x.view(t.int16) x.view(t.float64) x.view(t.int64) x.view(t.uint8)
    x.view(t.complex64) x.view(dtype=t.int32) m[0,0].view(t.float64) m[0,0].view(t.int16) m.detach().view(t.float64)
    m.detach().view(t.int8) x.double() x.unfold(2,2,1)""".split()


@pytest.mark.parametrize("text", [text for text in VIEWS.split() + INDEXES.split() if text not in NOT_WRITTEN_TO])
def test_writes_through_views(text):
    """A write through a view is seen by its source, raises its version, and goes into its history."""
    def program(t):
        x, m = SOURCES["computed"](t)
        v = eval(text, dict(t=t, x=x, m=m))
        v = v if isinstance(v, t.Tensor) else v[0]
        assert v.dtype == t.float32
        v.mul_(2)
        names = [s.grad_fn and s.grad_fn.name() for s in (x, m, v)]
        return names, [s._version for s in (x, m, v)], x.tolist(), m.tolist(), gradient(t, x, x), gradient(t, v, x)
    both_agree(program)


@pytest.mark.parametrize("text", """
t.alias_copy(x) t.as_strided_copy(x,(2,),(1,)) t.diagonal_copy(x) t.diagonal_copy(x,1,1,2) t.expand_copy(x,(2,2,3,4))
t.permute_copy(x,(1,0,2)) t.select_copy(x,0,1) t.slice_copy(x,1,0,2) t.slice_copy(x) t.slice_copy(x,0,0,2,-1)
t.split_copy(x,1) t.split_with_sizes_copy(x,[1,1]) t.squeeze_copy(x) t.squeeze_copy(x,0) t.t_copy(x[0])
t.transpose_copy(x,0,2) t.unbind_copy(x,1) t.unfold_copy(x,2,2,1) t.unsqueeze_copy(x,1) t.view_copy(x,(6,4))
t.view_copy(x,(5,5)) t.view_as_real_copy(t.complex(x,x)) t.detach_copy(x)
t.view_as_complex_copy(x.detach()[...,:2].contiguous())
t.detach(x) t.narrow_copy(x,0,0,1) x.sum_to_size(1,3,1) x.sum_to_size((3,4)) x.sum_to_size(()) x.sum_to_size(5)
t.view_copy(x.detach(),(6,4),out=o)
""".split())
@pytest.mark.parametrize("source", ["leaf", "transposed", "gaps"])
def test_copies_of_views(text, source):
    def program(t):
        x, m = SOURCES[source](t)
        v = eval(text, dict(t=t, x=x, m=m, o=t.empty(0)))
        copies = v if isinstance(v, tuple) else (v,)
        return [(look(t, c, x), "detach_copy" in text or gradient(t, c, x)) for c in copies]
    both_agree(program)


@pytest.mark.parametrize("text", """
x[None] x[:,None] x[None,0] x[0,None] x[None,:1] x.expand(1,2,3,4) x.expand(1,1,2,3,4) x.expand(x.shape)
x.unsqueeze(0) x.unsqueeze(1) x[:1].expand(2,3,4) x[:,k] x[k] x[:,:,k] x[k,:,k] x[0,k] x[:,k,0] x[x>3] x[:,j] x[j]
x[:,j.t()] t.cat([x,x]) t.stack([x,x]) x.sum(0) x.mean(1) x.amax(2) x.prod(0) x.var(1) x.max(0)[0] x.cumsum(0)
x.softmax(1) x.log_softmax(0) x.masked_fill(x>3,0.) x.tril() x.nonzero() t.broadcast_tensors(x,x)[0]
""".split())
@pytest.mark.parametrize("source", SOURCES)
def test_memory_order(text, source):
    """The strides of views and of results, those of dimensions of size 1 included."""
    def program(t):
        x, _ = SOURCES[source](t)
        x = x.detach()
        v = eval(text, dict(t=t, x=x, k=t.tensor([1, 0]), j=t.tensor([[0, 1, 0], [1, 0, 1]])))
        return v.shape, v.stride(), v.is_contiguous(), v is x
    both_agree(program)


def test_gradient_retained_by_a_view():
    """A view that retains its gradient does so for what later writes make of it; older hooks are for what it was."""
    def program(t):
        x, log = t.tensor([1., 2., 3.], requires_grad=True), []
        for write in (lambda y, v: y.mul_(5), lambda y, v: v.mul_(5), lambda y, v: v.add_(x[:2])):
            y = x * 2
            v = y[:2]
            v.register_hook(lambda g: log.append(g.tolist()))
            v.retain_grad()
            write(y, v)
            (v * v).sum().backward()
            log.append(v.grad)
        return log, x.grad
    both_agree(program)


def test_writes_through_one_view_after_the_other():
    """The first write gives a view of a tensor without history one, which the second write goes on from."""
    def program(t):
        factor = t.tensor([1., 3.], requires_grad=True)
        base = t.tensor([1., 2., 3.])
        view = base[1:]
        view.mul_(factor).clamp_(0, 8).mul_(2.)
        (base ** 2).sum().backward()
        return factor.grad, base.detach(), view.is_leaf, type(view.grad_fn).__name__, type(base.grad_fn).__name__
    both_agree(program)
