"""`out=` of every operator of torch's op_db that has it: what is written where, in which dtypes and layouts, and what
is refused."""
import pytest
import torch

import tinytorch

from .adapter import (
    OPS,
    TOLERANCE,
    Untranslatable,
    convert,
    described,
    error_of,
    namesake,
    refused,
    same,
    samples,
    tensors,
)
from .test_op_db import HERE, NO_VALUES

DTYPES = [torch.float32, torch.int64, torch.complex64, torch.bfloat16, torch.bool]
OUT = [name for name in HERE if OPS[name].supports_out]


def _empty(result):
    """Nothing yet: it is made as large as the result."""
    return torch.empty(0, dtype=result.dtype)


def _strided(result):
    """Of the result's shape, in another order, every second number of a larger memory."""
    memory = torch.full((*result.shape[::-1], 2), 7).to(result.dtype)
    return memory[..., 0].permute(tuple(range(result.ndim))[::-1])


def _wider(result):
    """A dtype that the result can be cast to, rounded as its own."""
    wide = {torch.float32: torch.float64, torch.int64: torch.float32, torch.bool: torch.uint8,
            torch.bfloat16: torch.float32, torch.complex64: torch.complex128}
    return torch.zeros(result.shape, dtype=wide.get(result.dtype, result.dtype))


def _narrower(result):
    """A dtype that torch casts no result to, if the result is not one of integers or bools."""
    return torch.zeros(result.shape, dtype=torch.bool if result.dtype == torch.int64 else torch.int32)


def _of_another_shape(result):
    """With numbers in it, which go: with a warning, but it is made to fit."""
    return torch.zeros((*result.shape, 2), dtype=result.dtype)


def _tracked(result):
    """A leaf that requires grad."""
    out = torch.zeros(result.shape, dtype=result.dtype)
    return out.requires_grad_() if result.dtype.is_floating_point or result.dtype.is_complex else out


#: Of an `out` with other strides than its own torch takes no notice here: it writes beyond its end.
TORCH_MISPLACES = {"tril", "triu", "narrow_copy"}


#: What differs, by the reason.
DIFFERENT = {
    "takes `out` in torch as its C++ function does, without saying so; a step of every model": "nn.functional.linear",
    "rounded to the dtype of the operands before `out`, where torch computes in that of `out`": """
        add logsumexp special.i0e sub""",
    "numbers are drawn in the order of the elements, not in that of their memory": "bernoulli normal",
    "an `out` that torch cannot resize, but need not": "normal.number_mean",
    "`out` that requires grad is recorded by torch as the result of another operation": "inner",
    "without elements, the memory order that LAPACK would have left": """
        linalg.eig linalg.eigvals geqrf ormqr triangular_solve""",
}
REASONS = {name: reason for reason, names in DIFFERENT.items() for name in names.split()}


@pytest.mark.counted(nothing={"equal": "its result is no tensor", "nonzero": "the samples are of `as_tuple=True`",
                              "histogramdd": "torch has no `out` of it"})
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.xfail(reason=REASONS[name], strict=True)) if name in REASONS else name
    for name in OUT])
def test_out(name):
    op = OPS[name]
    function = namesake(op.op, op.name)
    for i, dtype in enumerate([d for d in DTYPES if op.supports_dtype(d, "cpu")]):
        for sample in samples(op, dtype, 2)[-1:]:
            try:
                ours = convert(sample[:3])
            except Untranslatable:
                continue
            torch.manual_seed(0)
            error, result = error_of(lambda: op.op(sample[0], *sample[1], **sample[2]))
            if error is not None or not tensors(result):
                continue
            # What does not hang on the dtype is seen with one of them.
            for make in (_strided, _wider, *[_empty, _narrower, _of_another_shape, _tracked] * (i == 0)):
                if make is _strided and name in TORCH_MISPLACES:
                    continue
                # Two of each: torch would not resize one whose memory NumPy has seen.
                outs, twins = ([make(t) for t in tensors(result)] for _ in range(2))
                _compare(op, function, sample, ours, outs, convert(twins), isinstance(result, torch.Tensor),
                         f"{name} {dtype} {make.__name__} {described(sample[:3])}")


def _compare(op, function, sample, ours, outs, our_outs, single, label):
    before = [o.stride() for o in our_outs], [o.stride() for o in outs]
    torch.manual_seed(0)
    error, theirs = error_of(lambda: op.op(sample[0], *sample[1], **{**sample[2], "out": _form(outs, single)}))
    tinytorch.manual_seed(0)
    our_error, mine = error_of(lambda: function(ours[0], *ours[1], **{**ours[2], "out": _form(our_outs, single)}))
    if refused(our_error, error, label):
        return
    returned = (tensors(mine), tensors(theirs))
    assert all(r is o for r, o in zip(returned[0], our_outs)) == all(r is o for r, o in zip(returned[1], outs)), label
    same(our_outs, outs, label, values=not NO_VALUES.match(op.name), tolerance=TOLERANCE[torch.float32] if all(
        o.dtype != torch.bfloat16 for o in outs) else TOLERANCE[torch.bfloat16])
    kept = [o.stride() == b for o, b in zip(our_outs, before[0])], [o.stride() == b for o, b in zip(outs, before[1])]
    assert kept[0] == kept[1], f"{label}: laid out anew"


def _form(outs, single):
    return outs[0] if single else tuple(outs)
