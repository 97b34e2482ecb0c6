"""The graph as users see it: names of nodes, hooks, edges, modes and messages, run under both modules."""
import re

import pytest
import torch

import tinytorch

from .adapter import same_outcome

MODULES = [torch, tinytorch]


def both_agree(program):
    """What it returns is the same, and the words of its error, but for C++ frames, addresses, and what anomaly mode
    says here besides."""
    ends = "\nException raised|\nIt |\n  its gradient"
    same_outcome(program, lambda text: re.sub("0x[0-9a-f]+", "0x", re.split(ends, text)[0]))


# ------------------------------------------------------------------ names of nodes
NAMES = """
x+y x-y x*y x/y 2-x 2/x -x x**2 x@y x.exp() x.log() x.sqrt() x.sin() x.tanh() x.sigmoid() x.relu() x.abs()
x.clamp(0,1) x.clamp(min=0) x.pow(3) x.reciprocal() x.rsqrt() x.sum() x.mean() x.prod() x.max(0)[0] x.min(1)[0]
x.sort()[0] x.topk(2)[0] x.cumsum(0) x.cumprod(0) x.var() x.std() x.norm() x.view(9) x.reshape(9) x.t() x.T
x.transpose(0,1) x.permute(1,0) x.unsqueeze(0) x.squeeze() x.expand(2,3,3) x[0] x[:,1:] x[[0,1]] x[x>0] x.flatten()
x.clone() x.contiguous() x.t().contiguous() x.double() x.narrow(0,0,2) x.select(0,1) x.split(2)[0] x.chunk(2)[0]
x.unbind()[0] x.repeat(2,1) x.flip(0) x.roll(1) x.tril() x.triu() x.diagonal() x.gather(0,i) x.index_select(0,i[0])
x.masked_fill(x>0,1) x.scatter(0,i,y) x.index_add(0,i[0],y) torch.cat([x,y]) torch.stack([x,y]) torch.where(x>0,x,y)
torch.maximum(x,y) torch.minimum(x,y) torch.atan2(x,y) torch.mm(x,y) torch.matmul(x,y) torch.bmm(x[None],y[None])
torch.addmm(x,x,y) torch.mv(x,y[0]) torch.dot(x[0],y[0]) torch.lerp(x,y,0.5) torch.addcmul(x,x,y) torch.logsumexp(x,0)
torch.softmax(x,0) torch.log_softmax(x,0) torch.erf(x) torch.floor(x) torch.round(x) torch.sign(x) torch.square(x)
torch.log1p(x) torch.expm1(x) torch.cos(x) torch.atan(x) torch.logaddexp(x,y) torch.fmod(x,2) torch.remainder(x,2)
torch.trace(x) torch.cross(x,y,dim=1) torch.linalg.norm(x) torch.linalg.det(x) torch.linalg.solve(x,y) F.relu(x)
F.leaky_relu(x) F.elu(x) F.gelu(x) F.silu(x) F.softplus(x) F.hardtanh(x) F.selu(x) F.logsigmoid(x) F.softmax(x,1)
F.log_softmax(x,1) F.mse_loss(x,y) F.l1_loss(x,y) F.nll_loss(x,i[0]) F.kl_div(x,y) F.embedding(i[0],x)
F.dropout(x,0.5) F.layer_norm(x,(3,)) F.batch_norm(x,None,None,training=True) F.conv1d(x[None],y[:,:,None])
F.conv2d(x[None,None],y[None,None]) F.max_pool2d(x[None],2) F.avg_pool2d(x[None],2) F.pad(x,(1,1))
F.adaptive_avg_pool2d(x[None],2) F.normalize(x) x.real x.type(torch.float64) x.half() x.detach().requires_grad_()*1
x.index_fill(0,i[0],1) x.movedim(0,1) x.unfold(0,2,1) x.as_strided((2,),(1,)) x.logcumsumexp(0) x.amax(0) x.median()
x.kthvalue(1,0)[0] torch.outer(x[0],y[0]) F.linear(x,y) F.linear(x,y,x[0]) F.cross_entropy(x,i[0])
F.cross_entropy(x.expand(2,3,3),i[:2]) F.cross_entropy(x[0],i[0,0])
"""


@pytest.mark.parametrize("text", NAMES.split())
def test_names(text):
    def program(lib):
        lib.manual_seed(0)
        x = (lib.rand(3, 3) + lib.eye(3)).requires_grad_()
        y = (lib.rand(3, 3) + lib.eye(3)).requires_grad_()
        i = lib.tensor([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
        return eval(text, {"torch": lib, "F": lib.nn.functional, "x": x, "y": y, "i": i}).grad_fn.name()
    both_agree(program)


# ------------------------------------------------------------------ hooks, edges, messages
def leaf(lib, *values):
    return lib.tensor(values or [1., 2., 3.], requires_grad=True)


def order_of_hooks(lib):
    x, log = leaf(lib), []
    y = x * 2
    z = y.exp()
    y.register_hook(lambda g: log.append("first"))
    y.retain_grad()
    y.register_hook(lambda g: (log.append("second"), g * 10)[1])
    y.grad_fn.register_prehook(lambda out: log.append(("pre", len(out), out[0].tolist())))
    y.grad_fn.register_hook(lambda into, out: log.append(("post", into[0].tolist(), into[1:], out[0].tolist())))
    end = y.grad_fn.next_functions[0][0]
    end.register_prehook(lambda out: log.append(("pre leaf", out[0].tolist())))
    end.register_hook(lambda into, out: log.append(("post leaf", into, out[0].tolist())))
    x.register_hook(lambda g: log.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("written"))
    (z * lib.zeros(3) + y).sum().backward()
    return log, y.grad, x.grad


def hook_of_a_node_with_many_outputs(lib):
    log = []
    a = leaf(lib).split(2)[0]
    a.grad_fn.register_prehook(lambda out: log.append([None if g is None else g.tolist() for g in out]))
    a.grad_fn.register_hook(lambda into, out: log.append([into[0].tolist()] + [g is None for g in out]))
    a.sum().backward()
    return log


def with_node_hook(hook, pre=False):
    def program(lib):
        x = leaf(lib)
        y = x * 2
        (y.grad_fn.register_prehook if pre else y.grad_fn.register_hook)(hook)
        y.sum().backward()
        return x.grad
    return program


def with_tensor_hook(make):
    def program(lib):
        x = leaf(lib)
        y = x * 2

        def hook(g):
            return make(lib)
        y.register_hook(hook)
        y.sum().backward()
        return x.grad
    return program


def edges(lib):
    x = leaf(lib)
    y = x.exp()
    at = lib.autograd.graph.get_gradient_edge
    z = (y * y).sum()
    sorted_x = x.sort()[0]
    return (at(y)._fields, lib.autograd.grad(z, [at(y), at(x)], retain_graph=True), at(y).output_nr,
            lib.autograd.grad(at(y), x, lib.ones(3)), lib.autograd.grad((sorted_x ** 2).sum(), at(sorted_x)))


def several_gradients(lib):
    a, b, c = leaf(lib, 1.), leaf(lib, 2.), leaf(lib, 3.)
    log = []
    register = lib.autograd.graph.register_multi_grad_hook
    handle = register((a, b, c), lambda grads: log.append([g if g is None else g.tolist() for g in grads]))
    register((a, b, c), lambda g: log.append(g.tolist()), mode="any")
    (a * b).sum().backward()
    (a * b * c).sum().backward()
    handle.remove()
    (a * b).sum().backward()
    return log


def captured_node_is_not_run(lib):
    x = leaf(lib)
    w = (x * x).exp()
    lib.autograd.grad(w.sum(), w)
    return lib.autograd.grad(w.sum(), x)


def retained_through_a_write(lib):
    y = leaf(lib) * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad, y.retains_grad


def hooks_before_and_after_a_write(lib):
    log, y = [], leaf(lib) * 2
    y.register_hook(lambda g: log.append(g.tolist()))
    y.mul_(3)
    y.register_hook(lambda g: log.append(g.tolist()))
    y.sum().backward()
    return log


def modified(change):
    def program(lib):
        x = leaf(lib)
        change(lib, x, x.exp())
    return program


def changed(tensor, result):
    tensor.add_(1)
    result.sum().backward()


def changed_in_part(y, result):
    y[0].zero_()
    result.sum().backward()


def look_at_saved(lib):
    x = leaf(lib)
    y = x.exp()
    product = x * x
    seen = (y.grad_fn._saved_result.grad_fn is y.grad_fn, y.grad_fn._saved_result, product.grad_fn._saved_self is x,
            product.grad_fn._saved_other)
    y.sum().backward()
    try:
        y.grad_fn._saved_result
    except RuntimeError as error:
        return seen, str(error)


def packing(lib):
    log, x = [], leaf(lib)

    def pack(t):
        log.append(("pack", tuple(t.shape), t is x))
        return t.detach().clone()

    def unpack(t):
        log.append(("unpack", tuple(t.shape)))
        return t
    with lib.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    g, = lib.autograd.grad(y.sum(), x, create_graph=True)
    return log, g.detach(), lib.autograd.grad(g.sum(), x)


def bad_unpack(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = leaf(lib).exp()
    y.sum().backward()


def pack_that_writes(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        leaf(lib).exp()


def disabled(lib):
    with lib.autograd.graph.disable_saved_tensors_hooks("not here"):
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass


def packed_in_place(lib):
    x = leaf(lib)
    w = leaf(lib)
    with lib.autograd.graph.save_on_cpu():
        y = x * 1
        y.mul_(w)
        y.exp_()
    y.sum().backward()
    return x.grad, w.grad


def nan_gradient(lib):
    a = leaf(lib, 0., 1.)
    with lib.autograd.detect_anomaly():
        y = (a * 0) / a
        y.sum().backward()


def is_inference(lib):
    x = leaf(lib)
    with lib.inference_mode():
        a, b, v = lib.ones(3), x * 2, x[:2]
        a.add_(1)
    tensors = a, b, v, a[:2], a.detach(), a.clone(), a + 1, x
    return [t.is_inference() for t in tensors], b.requires_grad, (a + x).detach()


def with_inference_tensor(use):
    def program(lib):
        with lib.inference_mode():
            a = lib.ones(3)
        return use(lib, a, leaf(lib))
    return program


def under_no_grad(lib, a, x):
    with lib.no_grad():
        a.add_(1)


PROGRAMS = [
    order_of_hooks, hook_of_a_node_with_many_outputs, edges, several_gradients, captured_node_is_not_run,
    retained_through_a_write, hooks_before_and_after_a_write, look_at_saved, packing, bad_unpack, pack_that_writes,
    disabled, packed_in_place, nan_gradient, is_inference,
    with_node_hook(lambda into, out: (into[0] * 100, None)), with_node_hook(lambda into, out: (into[0],)),
    with_node_hook(lambda into, out: into[0]), with_node_hook(lambda out: (out[0] * 100,), True),
    with_node_hook(lambda out: out[0], True),
    with_tensor_hook(lambda lib: 3), with_tensor_hook(lambda lib: lib.ones(2)),
    with_tensor_hook(lambda lib: lib.ones(3).double()), with_tensor_hook(lambda lib: lib.ones(3)),
    modified(lambda lib, x, y: changed(y, y * y)), modified(lambda lib, x, y: changed(x.detach(), x * x)),
    modified(lambda lib, x, y: changed(y.detach(), y)), modified(lambda lib, x, y: changed_in_part(y, y * y)),
    modified(lambda lib, x, y: (lambda w: changed(w, x * w))(lib.ones(3))),
    with_inference_tensor(lambda lib, a, x: a * x), with_inference_tensor(lambda lib, a, x: a.add_(1)),
    with_inference_tensor(lambda lib, a, x: a._version), with_inference_tensor(lambda lib, a, x: a.requires_grad_()),
    with_inference_tensor(lambda lib, a, x: a[:2].mul_(2)), with_inference_tensor(under_no_grad),
    with_inference_tensor(lambda lib, a, x: (a.clone() * x).detach()),
    lambda lib: (lambda x: lib.autograd.grad(x.exp(), x, lib.eye(3), is_grads_batched=True))(leaf(lib)),
    lambda lib: (lambda x: lib.autograd.grad(x.exp(), x, lib.ones(2, 2), is_grads_batched=True))(leaf(lib)),
    lambda lib: lib.autograd.graph.get_gradient_edge(lib.ones(3)),
    lambda lib: lib.autograd.graph.register_multi_grad_hook((leaf(lib),), lambda g: 0, mode="z"),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)
