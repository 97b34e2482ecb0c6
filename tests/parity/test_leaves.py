"""Leaves: requires_grad, detach, data, .grad and how it accumulates; each program runs under both modules."""
import copy
import pickle
import warnings

import pytest

from .test_graph import both_agree, leaf
from .test_graph_api import attempt


def flags(lib):
    x = lib.ones(3)
    seen = [x.requires_grad, x.is_leaf, x.requires_grad_() is x, x.requires_grad, x.requires_grad_(False).requires_grad]
    x.requires_grad = True
    y = x * 2
    seen += [attempt(lambda: setattr(y, "requires_grad", False)), attempt(lambda: y.requires_grad_(False)),
             y.requires_grad_().requires_grad, y.is_leaf,
             attempt(lambda: lib.ones(2, dtype=lib.int64).requires_grad_()),
             attempt(lambda: lib.tensor([True], requires_grad=True)), attempt(lambda: setattr(x, "is_leaf", True))[0]]
    return seen, attempt(lambda: setattr(x, "requires_grad", 0)), attempt(lambda: setattr(x, "requires_grad", "yes"))


def detached(lib):
    x = leaf(lib)
    y = x * 2
    d = y.detach()
    d.add_(1)
    same = (y.tolist(), y._version, d._version, d.requires_grad, d._is_view(), d._base is None,
            d.data_ptr() == y.data_ptr())
    z = y.exp()
    z.detach_()
    return (same, z.requires_grad, z.grad_fn, z.is_leaf, attempt(lambda: y[:2].detach_()),
            attempt(lambda: x.detach_().requires_grad))


def detach_of_a_read_tensor(lib):
    """A write through a detached tensor is noticed."""
    x = leaf(lib)
    y = x.exp()
    y.detach().zero_()
    y.sum().backward()


def data_is_not_noticed(lib):
    x = leaf(lib)
    y = x.exp()
    y.data.zero_()
    before = y._version
    y.sum().backward()
    return x.grad, before


def data_assigned(lib):
    x = leaf(lib)
    y = x * 2
    x.data = lib.zeros(2)
    return x, x.shape, y, x.requires_grad, attempt(lambda: setattr(x, "data", 3))


def grad_assigned(lib):
    x = leaf(lib)
    seen = [x.grad]
    x.grad = lib.ones(3)
    seen.append(x.grad.clone())
    (x * 2).sum().backward()
    seen.append(x.grad.clone())
    x.grad = None
    seen.append(x.grad)
    x.grad = lib.ones(3)
    del x.grad
    seen.append(x.grad)
    for value in (lib.ones(2), lib.ones(3, dtype=lib.float64), 3, x, "a", lib.ones(3, 1)):
        seen.append(attempt(lambda: setattr(x, "grad", value)))
    return seen


def pickled(lib):
    """What comes back is a leaf; a copy of what is none is refused."""
    x = leaf(lib)
    y = pickle.loads(pickle.dumps(x * 2))
    return y, y.is_leaf, pickle.loads(pickle.dumps(x)), copy.deepcopy(x), attempt(lambda: copy.deepcopy(x * 2))


def grad_of_a_non_leaf(lib):
    y = leaf(lib) * 2
    y.grad = lib.ones(3)
    return y.grad


def accumulated(lib):
    """The first gradient is kept, later ones are added in place; out of place under create_graph."""
    x = leaf(lib)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    seen = x.grad is first, first.tolist(), x.grad.requires_grad, first._version
    (x * x).sum().backward(create_graph=True)
    return seen, x.grad is first, x.grad.detach(), x.grad.requires_grad, first


def gradient_not_shared(lib):
    """The gradient that is given is not taken over by a leaf."""
    x, y = leaf(lib), leaf(lib)
    g = lib.ones(3)
    (x + y).backward(g)
    x.grad.mul_(2)
    return g, x.grad, y.grad, x.grad.data_ptr() == y.grad.data_ptr()


def strides_of_grad(lib):
    x = lib.arange(6.).reshape(2, 3).t().contiguous().t().requires_grad_()
    (x * 2).sum().backward()
    w = lib.ones(2, 3, requires_grad=True)
    w.t().sum().backward()
    return x.stride(), x.grad.stride(), w.grad.stride(), w.grad.is_contiguous()


def zero_dimensional(lib):
    x = lib.tensor(2., requires_grad=True)
    (x * x).backward()
    (x * x).backward()
    return x.grad, x.grad.shape


def dtypes(lib):
    """A gradient has the dtype of its leaf."""
    x = lib.ones(2, dtype=lib.float64, requires_grad=True)
    w = lib.ones(2, requires_grad=True)
    h = lib.ones(2, dtype=lib.float16, requires_grad=True)
    (x * w + h).sum().backward()
    return x.grad.dtype is lib.float64, w.grad.dtype is lib.float32, h.grad.dtype is lib.float16


def complex_leaf(lib):
    z = lib.tensor([1 + 2j, 3j], requires_grad=True)
    r = leaf(lib, 1., 2.)
    (z * r).abs().sum().backward()
    return z.grad, r.grad


def broadcast(lib):
    x, w = lib.ones(2, 1, requires_grad=True), leaf(lib)
    s = lib.tensor(2., requires_grad=True)
    (x * w * s).sum().backward()
    return x.grad, w.grad, s.grad


def many_uses(lib):
    x = leaf(lib)
    y = x
    for _ in range(5):
        y = y + x * y
    y.sum().backward()
    return x.grad


def no_gradient(lib):
    """Operations without a derivative end the graph."""
    x = leaf(lib)
    return [t.requires_grad for t in (x > 1, x.argmax(), x.long(), x.sign(), x.round(), x.detach(), x.isnan(), x == x)]


def dtype_of_gradients(lib):
    x = leaf(lib)
    seen = [x.grad_dtype, (x * 2).detach().grad_dtype]
    x.grad_dtype = lib.float64
    for _ in range(2):
        (x * 2).sum().backward()
        seen += [x.grad_dtype, x.grad.clone()]
    seen.append(attempt(lambda: setattr(x, "grad_dtype", lib.float16)))
    x.grad = None
    seen.append(attempt(lambda: setattr(x, "grad", lib.ones(3))))
    x.grad_dtype = None
    x.grad = lib.ones(3, dtype=lib.int32)
    seen += [x.grad, x.grad_dtype, attempt(lambda: setattr(x, "grad_dtype", 3))]
    y = x * 2
    seen += [attempt(lambda: y.grad_dtype), attempt(lambda: setattr(y, "grad_dtype", None)), y.detach().grad_dtype]
    return seen


def hooks_seen(lib):
    x = leaf(lib)
    y = x * 2
    seen = [x._backward_hooks, y._backward_hooks, x._post_accumulate_grad_hooks]
    handles = [x.register_hook(lambda g: None), y.register_hook(lambda g: None),
               x.register_post_accumulate_grad_hook(lambda t: None)]
    seen += [len(x._backward_hooks), len(y._backward_hooks), len(x._post_accumulate_grad_hooks)]
    for handle in handles:
        handle.remove()
    return seen, not x._backward_hooks, not x._post_accumulate_grad_hooks


def leaves_and_views(lib):
    x, n = leaf(lib), lib.ones(3)
    y = x * 2
    seen = [y.is_leaf, y.detach().is_leaf, x.view(3).is_leaf, n.view(3).is_leaf, x.data.is_leaf, y.retains_grad]
    with lib.no_grad():
        v = x[:2]
        seen += [(x * 2).is_leaf, v.is_leaf, v.requires_grad, v.grad_fn]
    with lib.inference_mode():
        seen += [x.view(3).is_leaf, (x * 2).is_leaf, x[0].requires_grad]
    w = n[:1]
    n.mul_(x)
    seen += [w.is_leaf, w.grad_fn is None, n.is_leaf, w.requires_grad]
    y.detach_()
    return seen, y.is_leaf, y.requires_grad, [t.output_nr for t in (x, *lib.stack([x, x]).unbind())]


def create_graph_and_strides(lib):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = lib.ones(2, 3).t().requires_grad_()
        (x * x).sum().backward(create_graph=True)
    return x.grad.stride(), x.grad.grad_fn.name(), x.grad._version, x.grad.requires_grad


def layouts_not_enforced(lib):
    switch, weights = lib.autograd.enforce_grad_layout_policy, lib.ones(3, 2)
    x = lib.ones(2, 3).t().requires_grad_()
    with switch(False):
        (x * weights).sum().backward()
    y = lib.ones(2, 3).t().requires_grad_()
    switch(False)
    switch(True)
    (y * weights).sum().backward()
    return x.grad.stride(), y.grad.stride(), x.grad


def post_hook_that_returns(lib):
    x = leaf(lib)
    x.register_post_accumulate_grad_hook(lambda t: 3)
    return attempt(lambda: x.sum().backward())


PROGRAMS = [
    dtype_of_gradients, hooks_seen, leaves_and_views, create_graph_and_strides, layouts_not_enforced,
    post_hook_that_returns,
    flags, detached, detach_of_a_read_tensor, data_is_not_noticed, data_assigned, grad_assigned, grad_of_a_non_leaf,
    accumulated, gradient_not_shared, strides_of_grad, zero_dimensional, dtypes, complex_leaf, broadcast, many_uses,
    no_gradient, pickled,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__qualname__.replace(".<locals>", ""))
def test_programs(program):
    both_agree(program)
