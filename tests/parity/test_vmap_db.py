"""Every operator of torch's op_db under vmap: values, shapes, dtypes, gradients and refusals, beside torch's vmap."""
import re
import warnings

import pytest
import torch

import tinytorch

from .adapter import OPS, Different, Untranslatable, convert, described, namesake, refused, same, samples, tensors
from .test_op_db import GRADS, HERE, NO_VALUES

#: The start of torch's warning that it goes through the samples one by one.
SLOW = "There is a performance drop because we have not yet implemented the batching rule for"
_CHANNELS = "torch refuses channels_last, since its tensor has one dimension more than the samples"
LEFT_OUT = {
    "_chunk_cat": "torch refuses it",
    **dict.fromkeys("bfloat16 bool byte cdouble cfloat char double float half int long short to".split(), _CHANNELS),
    "index_fill": "torch fills one tensor with the value of the last sample",
    "linalg.pinv": "torch does not look at the tolerance for matrices without elements",
    "nn.functional.embedding": "torch writes the normed rows of each sample to one table",
    "resize_": "torch asserts that the samples are in the first dimension",
    "resize_as_": "torch takes no batch of sizes for a single tensor",
}
#: Entries whose gradients are not compared.
NO_GRADIENTS = {
    **LEFT_OUT,
    "nn.functional.binary_cross_entropy_with_logits": "torch has a gradient of `weight` under its transforms alone",
    "nn.functional.nll_loss": "torch refuses a gradient of `weight` that is always zero",
    "index_reduce.prod": "torch has data-dependent control flow in its gradient",
    "masked.prod": "torch does not divide by an element whose product is infinite under vmap alone",
    "scatter_reduce.prod": "torch has data-dependent control flow in its gradient",
}
WAYS = {"all": (lambda i: True, 0), "first": (lambda i: i == 0, -1), "others": (lambda i: i != 0, 0)}


def batched(tree, choose, dim, count=None):
    """(The tree with two samples in the place of each tensor that is chosen by its number: itself and three quarters
    of it; the dimensions to map over)."""
    count = [0] if count is None else count
    if isinstance(tree, torch.Tensor):
        count[0] += 1
        if not choose(count[0] - 1):
            return tree, None
        other = tree * 0.75 if tree.is_floating_point() or tree.is_complex() else tree
        return torch.stack([tree, other.to(tree.dtype)], 0 if dim == 0 else tree.ndim), dim
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        pairs = [batched(x, choose, dim, count) for x in tree]
        return type(tree)(p[0] for p in pairs), type(tree)(p[1] for p in pairs)
    if isinstance(tree, dict):
        pairs = {k: batched(x, choose, dim, count) for k, x in tree.items()}
        return {k: p[0] for k, p in pairs.items()}, {k: p[1] for k, p in pairs.items()}
    return tree, None


def plain(x):
    """`x`, of a sample, as a leaf that requires no gradient and has memory of its own."""
    if isinstance(x, torch.Tensor):
        return x.detach().clone()
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(map(plain, x))
    return {k: plain(v) for k, v in x.items()} if isinstance(x, dict) else x


def outcome(lib, function, tree, dims):
    """(error or None, result, whether it warned of going sample by sample)."""
    lib.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            error, result = None, lib.vmap(function, (dims,), randomness="different")(tree)
        except Exception as e:
            error, result = e, None
    return error, result, any(SLOW in str(w.message) for w in caught)


def called(function):
    """A function of a tree of arguments. Its named tuples become tuples: those of torch are no trees to it."""
    def call(tree):
        result = function(tree[0], *tree[1], **tree[2])
        return tuple(result) if isinstance(result, (tuple, list)) else result
    return call


def cases(name, dtype, count):
    """(label, the arguments of a sample with two samples in them, dimensions, the same arguments for tinytorch)."""
    for sample in samples(OPS[name], dtype, count):
        given = plain(sample[:3])
        for way, (choose, dim) in WAYS.items():
            tree, dims = batched(given, choose, dim)
            if way != "all" and not any(d is not None for d in torch.utils._pytree.tree_flatten(dims)[0]):
                continue
            try:
                yield f"{name} {described(given)} {way}", tree, dims, convert(tree)
            except Untranslatable:
                continue


def refuse_samples(found, label):
    """Different, if samples were gone through (whatever does so warns of it) where torch computes on the batch."""
    if found:
        raise Different(f"{label}: it warns of going sample by sample, which torch does not")


@pytest.mark.parametrize("name", [name for name in HERE if name not in LEFT_OUT])
def test_like_torch(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    dtype = next((d for d in (torch.float32, torch.int64, torch.complex64) if op.supports_dtype(d, "cpu")), None)
    for label, tree, dims, ours in cases(name, dtype, 2) if dtype else ():
        error, theirs, slow = outcome(torch, called(op.op), tree, dims)
        our_error, mine, our_slow = outcome(tinytorch, called(function), ours, dims)
        if refused(our_error, error, label):
            continue
        same(mine, theirs, label, values=not NO_VALUES.match(name), history=False, bits=False, scale=10.0)
        refuse_samples(our_slow and not slow, label)


def gradients_of(lib, function):
    """A function of a tree of arguments: the gradients of the sum of its outputs by all floating tensors in it."""
    def call(tree):
        leaves = [t for t in tensors(tree, lib.Tensor) if t.is_floating_point()]

        def total(given):
            result = function(*_exchanged(tree, iter(given), lib))
            return sum(y.sum() for y in tensors(result, lib.Tensor) if y.is_floating_point())
        return lib.func.grad(total)(leaves)
    return call


def _exchanged(tree, given, lib):
    """The arguments as f(x, *args, **kwargs) takes them, with other floating tensors in them."""
    if isinstance(tree, lib.Tensor):
        return next(given) if tree.is_floating_point() else tree
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)([_exchanged(x, given, lib) for x in tree])
    return {k: _exchanged(v, given, lib) for k, v in tree.items()} if isinstance(tree, dict) else tree


@pytest.mark.parametrize("name", [name for name in GRADS if name not in NO_GRADIENTS])
def test_gradients_like_torch(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    if not op.supports_dtype(torch.float32, "cpu"):
        return
    for label, tree, dims, ours in cases(name, torch.float32, 2):
        if re.search(" first$", label):
            continue
        error, theirs, slow = outcome(torch, gradients_of(torch, lambda x, a, k: op.op(x, *a, **k)), tree, dims)
        our_error, mine, our_slow = outcome(tinytorch, gradients_of(tinytorch, lambda x, a, k: function(x, *a, **k)),
                                            ours, dims)
        if refused(our_error, error, label):
            continue
        refuse_samples(our_slow and not slow, label)
        same(mine, theirs, label, history=False, bits=False, scale=10.0)
