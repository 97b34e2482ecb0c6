"""What each operator of torch's op_db saves for backward: after a write to one of its arguments, or to its output,
backward is an error where torch's is one, and runs where torch's runs."""
import math

import pytest
import torch

import tinytorch

from .adapter import (
    OPS,
    Comparisons,
    Different,
    Untranslatable,
    convert,
    described,
    error_of,
    namesake,
    samples,
    tensors,
)
from .test_graph import both_agree
from .test_graph_api import attempt
from .test_op_db import FOR_GPUS, HERE, both

MODIFIED = "modified by an inplace operation"

#: Entries without an input that is differentiable.
NO_GRADIENTS = {**FOR_GPUS, "nn.functional.one_hot": "no input is differentiable"}
#: Entries that differ, with the reason: another error than torch's, or none.
DIFFERENT = {
    **dict.fromkeys(["native_layer_norm", "native_batch_norm", "_native_batch_norm_legit"],
                    "torch saves the statistics that it gives as results; those here are kept apart"),
    "linalg.det": "torch saves the result, which the derivative here does without",
    "triangular_solve": "torch saves the right-hand side, which its derivative asks for the sizes of",
    **dict.fromkeys(["_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_segment_reduce.lengths",
                     "_segment_reduce.offsets"], "masks, indices and lengths are taken as they are, and not watched"),
    "nn.functional.multi_head_attention_forward": "its weights are views of one, by `split`, and transposed: of such "
    "torch says that views of several cannot be written to, before it looks at versions"}


@pytest.mark.counted(nothing=NO_GRADIENTS)
@pytest.mark.filterwarnings("ignore:torch.qr is deprecated")       # which makes samples of linalg.pinv.singular
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.xfail(reason=DIFFERENT[name], strict=True)) if name in DIFFERENT
    else name for name in HERE if OPS[name].supports_autograd])
def test_saved(name):
    """For the gradients of all arguments, and of each alone."""
    op = OPS[name]
    dtype = torch.float64 if op.supports_dtype(torch.float64, "cpu") else torch.complex128
    for sample in samples(op, dtype, 3, requires_grad=True) if op.supports_dtype(dtype, "cpu") else ():
        arguments = tensors(sample[:3])
        wanting = [i for i, t in enumerate(arguments) if t.requires_grad and t.is_leaf]
        for wanted in [wanting, *([[i] for i in wanting] if len(wanting) > 1 else [])]:
            for i in wanting:
                arguments[i].requires_grad_(i in wanted)
            label = f"{name} {described(sample[:3])}, gradients of {wanted}"
            number = 0
            while _compare(op, sample, number, label):
                number += 1


def _compare(op, sample, number, label):
    """Run the sample, write to the tensor of that number among its arguments and results, and compare what becomes of
    backward; whether there is such a tensor."""
    try:
        answer = both(op, namesake(op.op, op.name), sample, label)
    except Untranslatable:
        return False
    if answer is None:
        return False
    ours, mine, theirs = answer
    inputs, results = (tensors(sample[:3]), tensors(theirs)), (tensors(ours), tensors(mine))
    if number >= len(inputs[0]) + len(inputs[1]):
        return False
    error = _after_writing(torch, *inputs, number)
    our_error = _after_writing(tinytorch, *results, number)
    Comparisons.values += 1
    if type(our_error) is not type(error) or (MODIFIED in str(our_error)) != (MODIFIED in str(error)):
        raise Different(f"{label}, tensor {number} written to: {our_error!r} for {error!r}") from our_error
    return True


def _after_writing(lib, arguments, results, number):
    """The error of backward, or None."""
    written = [*arguments, *results][number]
    roots = [t for t in results if t.requires_grad]

    def write_and_go_back():
        with lib.no_grad():
            written.copy_(written.clone())
        lib.autograd.grad(roots, [t for t in arguments if t.requires_grad], [lib.ones_like(t) for t in roots],
                          allow_unused=True)
    return error_of(write_and_go_back)[0]


def test_convolution_pool_relu():
    """A pool does not save what a relu in place writes to."""
    for lib in (torch, tinytorch):
        lib.manual_seed(0)
    found = []
    weight = torch.randn(4, 2, 3, 3)
    x = torch.randn(2, 2, 9, 9)
    for lib, w, data in ((torch, weight, x), (tinytorch, convert(weight), convert(x))):
        nn = lib.nn
        model = nn.Sequential(nn.Conv2d(2, 4, 3, bias=False), nn.MaxPool2d(2), nn.ReLU(inplace=True), nn.Flatten(),
                              nn.Softsign(), nn.ReLU(inplace=True))
        model[0].weight = nn.Parameter(w)
        model(data).sum().backward()
        found.append(model[0].weight.grad.numpy())
    assert abs(found[0]).sum() > 0
    assert abs(found[0] - found[1]).max() < 1e-5


# ------------------------------------------------------------------ programs
def scores_written_to(lib):
    """cross_entropy has no use for its input any more, not even for higher derivatives."""
    found = []
    for shape in ((3, 4), (2, 3, 2), (3,)):
        x = (lib.arange(12.).double()[:math.prod(shape)].reshape(shape) / 5).sin().mul(4).requires_grad_()
        y = x * 1
        target = lib.ones(shape[:1] + shape[2:] if len(shape) > 1 else (), dtype=lib.int64)
        loss = lib.nn.functional.cross_entropy(y, target, reduction="sum")
        with lib.no_grad():
            y.zero_()
        g, = lib.autograd.grad(loss.square(), x, create_graph=True)
        second, = lib.autograd.grad(g.square().sum(), x, create_graph=True)
        found += [g.detach(), second.detach(), *lib.autograd.grad(second.square().sum(), x)]
    return [lib.round(t, decimals=6) for t in found]


def biases_written_to(lib):
    """Nor have batch and group norm for their bias."""
    found = []
    for norm in (lambda x, w, b: lib.nn.functional.group_norm(x, 2, w, b),
                 lambda x, w, b: lib.nn.functional.batch_norm(x, None, None, w, b, True),
                 lambda x, w, b: lib.nn.functional.batch_norm(x, w.detach(), w.detach(), w, b)):
        x, w = lib.arange(24.).double().reshape(3, 4, 2).cos().requires_grad_(), lib.ones(4).double().requires_grad_()
        b = lib.ones(4).double().requires_grad_()
        y = norm(x, w, b)
        with lib.no_grad():
            b.zero_()
        grads = lib.autograd.grad(y.exp().sum(), (x, w, b), create_graph=True)
        found += grads
        found += lib.autograd.grad(sum(g.square().sum() for g in grads), (x, w, b))
    return [lib.round(t.detach(), decimals=6) for t in found]


def twice_in_training(lib):
    """The running statistics are saved, but to be moved by a further call is no write to them."""
    norm = lib.nn.BatchNorm1d(2)
    x = lib.arange(6.).reshape(3, 2).sin().requires_grad_()
    versions = [t._version for t in norm.buffers()]
    (norm(x) * norm(x * 2)).sum().backward()
    first, x.grad = x.grad, None
    moved = [b._version - a for a, b in zip(versions, norm.buffers())]
    y = norm(x).sum()
    norm.running_mean.zero_()
    return moved, lib.round(first, decimals=4), attempt(y.backward)


def padded_on_one_side(lib):
    """torch pads a copy of the input by what goes behind it alone."""
    found = []
    for kernel in ((1, 1, 2), (1, 1, 3)):
        x, w = lib.arange(5.).reshape(1, 1, 5).requires_grad_(), lib.ones(kernel).requires_grad_()
        y = lib.nn.functional.conv1d(x, w, padding="same")
        found += [y.detach(), type(y.grad_fn.next_functions[0][0]).__name__]
        with lib.no_grad():
            x.zero_()
        found.append(attempt(lambda: lib.autograd.grad(y.sum(), (x, w))))
    return found


def first_of_the_largest(lib):
    """Of equal elements of a bag the first has the gradient; NaN counts if it comes first."""
    found = []
    for first in (1., math.nan):
        table = lib.tensor([[first, 2.], [1., 2.], [math.nan, 3.]], requires_grad=True)
        y = lib.nn.functional.embedding_bag(lib.tensor([0, 1, 1, 0, 0, 1, 2]), table, lib.tensor([0, 2, 4, 4]),
                                            mode="max")
        found += [y.detach(), *lib.autograd.grad(y.sum(), table)]
    return found


def gradients_that_there_are_not(lib):
    def wants(*shape):
        return lib.ones(shape, requires_grad=True)
    F, x, t = lib.nn.functional, lib.ones(2, 3) / 2, lib.tensor([0, 1])
    return [attempt(f) for f in (
        lambda: F.binary_cross_entropy(x, x, wants(3)), lambda: F.binary_cross_entropy_with_logits(x, x, wants(3)),
        lambda: F.binary_cross_entropy_with_logits(x, x, pos_weight=wants(3)),
        lambda: F.multi_margin_loss(x, t, weight=wants(3)),
        lambda: F.batch_norm(x, wants(3), wants(3)), lambda: F.batch_norm(x, lib.ones(3), wants(3), training=True))]


def weights_of_another_dtype(lib):
    """The loss has the dtype of the input."""
    x, t = lib.tensor([[.5, -2.]], requires_grad=True), lib.tensor([[.25, 1.]])
    found = []
    for options in (dict(weight=lib.tensor([1.5, 2.]).double()), dict(pos_weight=lib.tensor([1.5, 2.]).double())):
        y = lib.nn.functional.binary_cross_entropy_with_logits(x, t, **options)
        found += [lib.round(v.detach(), decimals=5) for v in (y, *lib.autograd.grad(y, x))]
    return found


@pytest.mark.parametrize("program", [
    scores_written_to, biases_written_to, twice_in_training, padded_on_one_side, first_of_the_largest,
    gradients_that_there_are_not, weights_of_another_dtype], ids=lambda p: p.__name__)
def test_programs(program):
    both_agree(program)
