"""torch's op_db entries on lazy conjugates and negatives of their inputs: values, bits and memory of the outputs,
gradients, in-place forms."""
import warnings

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import OPS, Untranslatable, convert, described, error_of, namesake, refused, same, samples, tensors
from .test_op_db import ANY_OF_EQUALS, HERE, NO_VALUES, random_weights

#: How inputs are given: what a leaf of the same numbers is seen through.
KINDS = {
    "conj": (torch.complex128, lambda t, x: x.conj_physical(), lambda t, x: x.conj() if x.is_complex() else x),
    "neg": (torch.complex128, lambda t, x: -x, lambda t, x: t._neg_view(x)),
    "conj and neg": (torch.complex128, lambda t, x: -x.conj_physical(), lambda t, x: t._neg_view(x.conj())),
    "neg of reals": (torch.float64, lambda t, x: -x, lambda t, x: t._neg_view(x)),
    "neg of integers": (torch.int64, lambda t, x: -x, lambda t, x: t._neg_view(x)),
}
#: torch takes the memory of real negatives for the numbers here, or loses what it writes to them.
MISREAD = {"nn.functional.max_pool1d", "nn.functional.batch_norm", "native_batch_norm", "_native_batch_norm_legit",
           "tensor_split", "index_put"}
#: The kinds of the short run.
SHORT = {"conj", "neg of reals"}
#: torch's means of no elements depend on how these are computed.
MEANS = {"var_mean", "var_mean.unbiased", "std_mean", "std_mean.unbiased"}
CASES = [(kind, name) for kind, (dtype, _, _) in KINDS.items() for name in HERE
         if OPS[name].supports_dtype(dtype, "cpu") and not NO_VALUES.match(name)
         and name not in (MISREAD | ANY_OF_EQUALS if kind.startswith("neg of") else MEANS)]


def parameters(cases):
    return [pytest.param(*case, id="-".join(case), marks=[] if case[0] in SHORT else pytest.mark.sweep)
            for case in cases]


REFUSED = {f"{kind}-view_as_real": "torch refuses it" for kind in ("conj", "conj and neg")}
#: torch lets the result of these have another shape than the tensor written to, or refuses them.
NOT_IN_PLACE = {"abs", "addbmm"}


def seen(t, kind, tree, dtype, leaves):
    """`tree` with each tensor of the dtype as a view of a leaf that has the same numbers; appends those leaves."""
    _, stored, view = KINDS[kind]
    if isinstance(tree, t.Tensor):
        if tree.dtype != dtype:
            return tree
        leaf = stored(t, tree.detach()).requires_grad_(tree.requires_grad)
        leaves.append(leaf)
        return view(t, leaf)
    if isinstance(tree, (list, tuple)) and not hasattr(tree, "_fields"):
        return type(tree)(seen(t, kind, x, dtype, leaves) for x in tree)
    return {k: seen(t, kind, x, dtype, leaves) for k, x in tree.items()} if isinstance(tree, dict) else tree


def copied(x):
    return x.clone() if isinstance(x, torch.Tensor) else x


def both(name, kind, requires_grad, count, method=None):
    """(what is told of it, ((leaves, arguments, result) here, the same of torch)) of samples that torch accepts."""
    op, dtype = OPS[name], KINDS[kind][0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = samples(op, dtype, count, requires_grad)
    for *sample, process in drawn:
        try:
            ours = convert(sample)
        except Untranslatable:
            continue
        if method and error_of(lambda: getattr(copied(sample[0]), method)(*sample[1], **sample[2]))[0]:
            continue                           # what torch refuses, it may do to conjugates, and resize them
        function = (lambda x, *args, **kwargs: getattr(x, method)(*args, **kwargs)) if method else None
        outcomes = []
        for t, given, call in ((torch, sample, function or op.op),
                               (tinytorch, ours, function or namesake(op.op, op.name))):
            leaves = []
            arguments = seen(t, kind, given, getattr(t, str(dtype).removeprefix("torch.")), leaves)
            t.manual_seed(0)
            error, result = error_of(lambda: call(arguments[0], *arguments[1], **arguments[2]))
            outcomes.append((error, (leaves, arguments, process(result) if process and error is None else result)))
        label = f"{name} of {kind} {described(*sample)}"
        if not refused(outcomes[1][0], outcomes[0][0], label):
            yield label, outcomes[1][1], outcomes[0][1]


def shared(leaves, result):
    """For each tensor of a result, the first leaf whose memory it lies in."""
    places = [leaf.untyped_storage().data_ptr() for leaf in leaves]
    return [next((i for i, p in enumerate(places) if p == x.untyped_storage().data_ptr()), None) if x.numel() else None
            for x in tensors(result)]


@pytest.mark.counted(nothing=REFUSED)
@pytest.mark.parametrize("kind, name", parameters(CASES))
def test_values(kind, name):
    for label, (our_leaves, _, ours), (leaves, _, theirs) in both(name, kind, False, 4):
        same(ours, theirs, label)
        same(our_leaves, leaves, label)
        assert shared(our_leaves, ours) == shared(leaves, theirs), label


@pytest.mark.counted(nothing=REFUSED)
@pytest.mark.parametrize("kind, name", parameters([case for case in CASES if OPS[case[1]].supports_autograd
                                                   and "integers" not in case[0]]))
def test_gradients(kind, name):
    for label, (our_leaves, _, ours), (leaves, _, theirs) in both(name, kind, True, 2):
        theirs, ours = ([x for x in tensors(result) if x.requires_grad] for result in (theirs, ours))
        random = np.random.RandomState(0)
        weights = [random_weights(random, x) for x in theirs]
        leaves, our_leaves = ([x for x in given if x.requires_grad] for given in (leaves, our_leaves))
        if not theirs or not leaves:
            continue
        results = [error_of(lambda: t.autograd.grad(y, x, w, allow_unused=True, materialize_grads=True))
                   for t, y, x, w in ((torch, theirs, leaves, weights),
                                      (tinytorch, ours, our_leaves, convert(weights)))]
        if not refused(results[1][0], results[0][0], label):
            same(results[1][1], results[0][1], label, scale=10.0, bits=False)


@pytest.mark.counted
@pytest.mark.parametrize("kind, name", parameters([
    case for case in CASES if "integers" not in case[0] and case[1] not in NOT_IN_PLACE
    and hasattr(torch.Tensor, getattr(OPS[case[1]].inplace_variant, "__name__", ""))]))
def test_in_place(kind, name):
    """The tensor written to, and the leaf that lies behind it."""
    method = OPS[name].inplace_variant.__name__
    for label, (our_leaves, our_arguments, ours), (leaves, arguments, theirs) in both(name, kind, False, 3, method):
        same((ours, our_arguments[0], our_leaves), (theirs, arguments[0], leaves), label)
        assert [x._version for x in our_leaves] == [x._version for x in leaves], label
