"""Programs of views, in-place writes and reads: under both modules they must give the same values, gradients, versions,
strides and errors.

A program starts from one tensor; each statement makes a view of one of the tensors at hand, writes to one, or adds
something read from one to the total that is differentiated at the end.
"""
import re
import warnings

import numpy as np
from hypothesis import given, settings, strategies as st
import torch

import tinytorch

STARTS = ["x * 2", "x.t() * 2", "t.zeros(2, 3, dtype=t.float64)", "x.clone().t()", "x", "x.detach() + 1", "y * w", "y.permute(2, 0, 1).clone()",
          "(y * 2)[1]", "(x * 1).detach()", "x[0] * w", "w * 1"]
VIEWS = ["v[0]", "v[-1]", "v[..., 0]", "v[1:]", "v[..., ::2]", "v[:, 1]", "v[0, 1:]", "v[None]", "v[..., None]", "v[:1, ...]", "v[()]", "v[...]",
         "v.t()", "v.T", "v.mT", "v.unsqueeze(0)", "v.unsqueeze(-1)", "v.squeeze()", "v.squeeze(0)", "v.reshape(-1)", "v.view(-1)",
         "v.view(3, -1)", "v.reshape(3, 2)", "v.transpose(0, -1)", "v.swapaxes(0, 1)", "v.permute(1, 0)", "v.permute(2, 0, 1)",
         "v.movedim(0, -1)", "v.diagonal()", "v.diagonal(1, -1, -2)", "v.expand(2, *v.shape)", "v.expand_as(v)", "v.unbind(0)[0]",
         "v.unbind(-1)[1]", "v.split(2)[0]", "v.split([1, 1])[1]", "v.chunk(2, -1)[-1]", "v.tensor_split(2)[0]", "v.narrow(0, 0, 1)",
         "v.narrow(-1, 1, 2)", "v.select(0, 1)", "v.flatten()", "v.unflatten(-1, (1, -1))", "v.detach()", "v.unfold(0, 1, 1)",
         "v.unfold(-1, 2, 1)", "v.as_strided((2,), (1,))", "v.as_strided((2, 2), (2, 1), 1)", "v.contiguous()", "v.clone()",
         "v.view_as(v)", "v * 1", "v.adjoint()", "v.ravel()"]
WRITES = ["v.mul_(2)", "v.add_(w)", "v.mul_(w)", "v.zero_()", "v.copy_(w * 3)", "v[0] = 1.5", "v[..., -1] = w", "v.fill_(w)", "v.fill_(2)",
          "v[v > 2] = 0", "v.masked_fill_(v > 1, w)", "v.masked_fill_(v > 1, 0)", "v[[0]] = w", "v.tanh_()", "v.index_fill_(0, z, 2.)",
          "v.add_(v.clone())", "v.neg_()", "v.copy_(u)", "v.add_(u)", "v.mul_(u)", "v += u", "v *= 3", "v.index_put_((z,), w)",
          "v.index_add_(0, z, v[:1].clone())", "v.index_copy_(0, z, v[:1] * 2)", "v[1:] = u", "v[:] = v * 2", "v.div_(2)", "v.sub_(w)",
          "v.exp_()", "v.sigmoid_()", "v.clamp_(0, 2)", "v.pow_(2)", "v.scatter_(0, z.reshape((1,) * v.dim()), 1.)", "t.mul(v, w, out=v)",
          "t.mul(v, 2, out=v)", "v.addcmul_(w, w)", "v.lerp_(w, 0.5)", "v.abs_()", "v.addcmul_(u, w)"]
# These change what the tensor itself is
RESHAPES = ["v.unsqueeze_(0)", "v.t_()", "v.squeeze_()", "v.transpose_(0, -1)", "v.requires_grad_()"]
READS = ["total = total + (v * v).sum()", "total = total + v.sum()", "total = total + (v * w).sum()", "total = total + v.exp().sum()",
         "total = total + v.tanh().sum()"]


def addresses(v):
    """Where in memory each element of `v` lies."""
    places = np.full(tuple(v.shape), v.data_ptr() // v.element_size())
    for d, (n, s) in enumerate(zip(v.shape, v.stride())):
        places = places + (np.arange(n) * s).reshape((-1,) + (1,) * (v.dim() - 1 - d))
    return places


def dense(v):
    """Whether the elements of `v` fill a stretch of memory."""
    places = addresses(v)
    return not v.numel() or np.unique(places).size == v.numel() == places.max() - places.min() + 1


def look(v):
    """All that can be seen of a tensor but its values."""
    strides = [s for s, n in zip(v.stride(), v.shape) if n > 1 and v.numel()]
    return tuple(v.shape), strides, v.numel() and v.storage_offset(), v._version, v._is_view(), v.requires_grad, v.is_leaf


def rounded(v):
    """The values of `v` to 8 digits."""
    return [float(f"{n:.8g}") for n in np.round(v.numpy(), 8).ravel()]


def run(program, t):
    """What the statements of a program show in turn, and the gradients at the end."""
    start, statements = program
    x = t.tensor([[.5, 1, 1.5], [2, .25, 3]], dtype=t.float64, requires_grad=True)
    y = t.tensor(np.linspace(-1, 2, 12).reshape(2, 3, 2), requires_grad=True)
    w = t.tensor(1.25, dtype=t.float64, requires_grad=True)
    names = dict(x=x, y=y, w=w, t=t, z=t.tensor([0]), total=w * 0)
    tensors = [eval(start, names)]
    seen = []
    for k, (taped, which, other, text) in enumerate(statements):
        v, u = tensors[which % len(tensors)], tensors[other % len(tensors)]
        writes = text in WRITES
        if writes and np.unique(addresses(v)).size < v.numel():
            continue                           # what is written twice has no defined value, nor do all ops refuse
        if writes and re.search(r"\bu\b", text) and ("[" in text or not (dense(v) and dense(u))) and np.intersect1d(addresses(v), addresses(u)).size:
            continue                           # nor has what is read while it is written, which torch misses
        if "as_strided" in text and v._is_view():
            continue                           # it may reach past what it is a view of: torch's own gradient then varies
        if text == "v.requires_grad_()" and any(s[3] in RESHAPES for s in statements[:k]):
            continue                           # views of what was no leaf when they were made do not hear of it
        if text in RESHAPES:
            taped = True                       # outside grad mode torch leaves a history of the old shape
        names.update(v=v, u=u)
        try:
            if taped and any(s._is_view() and s.requires_grad and s.is_leaf for s in (v, u)):
                continue                       # a view made outside grad mode: torch records uses of it that lead nowhere
            v.grad_fn, u.grad_fn               # torch itself forgets to look for writes to the base before it refuses
            with t.set_grad_enabled(taped):
                if text in VIEWS:
                    tensors.append(eval(text, names))
                    seen.append(look(tensors[-1]))
                else:
                    exec(text, names)
                    seen.append(None if text in READS else look(v))
        except Exception as error:
            seen.append((type(error).__name__, str(error).partition("\nException raised")[0]))
            if writes and "[" in text:
                break                          # torch may have written before it noticed
    for v in tensors:
        seen.append(rounded(v.detach()))
        try:
            seen.append(look(v))
            if v.requires_grad:
                names["total"] = names["total"] + (v * v * v).sum()
        except RuntimeError as error:
            seen.append(str(error))
    try:
        names["total"].backward()
    except RuntimeError:
        return seen + ["RuntimeError"]         # which of several reasons comes first, and who made a tensor, may differ
    return seen + [None if leaf.grad is None else rounded(leaf.grad) for leaf in (x, y, w)]


def plain(seen):
    """What can be compared: 0 for -0, and the names of torch's view operations without the numbers of their overloads."""
    return re.sub(r"Output (\d) of \w+ is", r"Output \1 is", repr(seen)).replace("-0.0,", "0.0,").replace("-0.0]", "0.0]")


def outcome(program, t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(program, t)


STATEMENT = st.tuples(st.sampled_from([True, True, True, True, False]), st.integers(0, 5), st.integers(0, 5),
                      st.one_of(*map(st.sampled_from, [VIEWS, VIEWS, WRITES, READS, RESHAPES])))
PROGRAM = st.tuples(st.sampled_from(STARTS), st.lists(STATEMENT, min_size=1, max_size=8))


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(PROGRAM)
def test_views_and_writes(program):
    assert plain(outcome(program, tinytorch)) == plain(outcome(program, torch))
