"""Every operator of torch's op_db under vmap: values, shapes, dtypes and refusals, beside torch's vmap."""
import warnings

import pytest
import torch

import tinytorch

from .adapter import OPS, Different, Untranslatable, convert, described, namesake, refused, same, samples
from .test_op_db import HERE, NO_VALUES

#: The start of torch's warning that it goes through the samples one by one.
SLOW = "There is a performance drop because we have not yet implemented the batching rule for"
#: Entries of random numbers, whose samples torch draws without a seed of their own.
DTYPE = {False: torch.float32, True: torch.int64}


def batched(tree, choose, dim, count=None):
    """(The tree with two samples in the place of each tensor that is chosen by its number: itself and three quarters
    of it, the dimensions to map over)."""
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
            result, error = lib.vmap(lambda t: _flat(function(t[0], *t[1], **t[2])), (dims,), randomness="different")(
                tree), None
        except Exception as e:
            result, error = None, e
    return error, result, any(SLOW in str(w.message) for w in caught)


def _flat(result):
    """Named tuples of torch's are no trees to it."""
    return tuple(result) if isinstance(result, (tuple, list)) else result


WAYS = {"all": (lambda i: True, 0), "first": (lambda i: i == 0, -1), "others": (lambda i: i != 0, 0)}


def compare(name, count):
    op = OPS[name]
    function = namesake(op.op, op.name)
    dtype = next((d for d in (torch.float32, torch.int64, torch.complex64) if op.supports_dtype(d, "cpu")), None)
    if dtype is None:
        return
    for sample in samples(op, dtype, count):
        given = plain(sample[:3])
        for way, (choose, dim) in WAYS.items():
            tree, dims = batched(given, choose, dim)
            if not any(d is not None for d in torch.utils._pytree.tree_flatten(dims)[0]):
                continue
            label = f"{name} {described(given)} {way}"
            try:
                ours = convert(tree)
            except Untranslatable:
                continue
            error, theirs, slow = outcome(torch, op.op, tree, dims)
            our_error, mine, our_slow = outcome(tinytorch, function, ours, dims)
            if refused(our_error, error, label):
                continue
            same(mine, theirs, label, values=not NO_VALUES.match(name), history=False, bits=False, scale=10.0)
            if slow != our_slow:
                raise Different(f"{label}: the warning is {our_slow}, in torch {slow}")


@pytest.mark.parametrize("name", HERE)
def test_like_torch(name):
    compare(name, 2)
