"""What each operator of torch's op_db saves for backward: after a write to one of its arguments, or to its output,
backward is an error where torch's is one, and runs where torch's runs."""
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
from .test_op_db import FOR_GPUS, HERE, both

MODIFIED = "modified by an inplace operation"

#: Entries without an input that is differentiable.
NO_GRADIENTS = {**FOR_GPUS, "nn.functional.one_hot": "no input is differentiable"}

#: What still differs, by the file.
DIFFERENT = {
    "layout/masked.py, index.py, scatter.py: the index, or the input for its shape, is not saved": """
        combinations gather index_add index_copy index_fill index_put index_select masked_select put take
        take_along_dim tensordot""",
    "layout/strided.py: torch refuses to write to views of views without grad": "as_strided.partial_views",
    "reduction/cumulative.py, statistics.py: the input or the indices": "cummax cummin std_mean std_mean.unbiased",
    "nn/norm.py, embedding.py: statistics, and operands of which torch keeps parts": """
        nn.functional.batch_norm nn.functional.embedding_bag nn.functional.group_norm nn.functional.rms_norm""",
    "linalg: other formulas": """
        cholesky_solve kron linalg.cond linalg.eig linalg.lstsq linalg.lstsq.grad_oriented linalg.multi_dot linalg.pinv
        linalg.qr linalg.slogdet linalg.svd linalg.svdvals norm.nuc qr svd""",
}
REASONS = {name: reason for reason, names in DIFFERENT.items() for name in names.split()}


@pytest.mark.counted(nothing=NO_GRADIENTS)
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.xfail(raises=Different, strict=True, reason=REASONS[name]))
    if name in REASONS else name
    for name in HERE if OPS[name].supports_autograd])
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
