"""What each operator of torch's op_db saves for backward: after a write to one of its arguments, or to its output, backward
is an error where torch's is, and runs where torch's runs."""
import pytest
import torch

import tinytorch

from .adapter import (
    OPS,
    Different,
    Untranslatable,
    described,
    error_of,
    samples,
    tensors,
)
from .test_op_db import FOR_GPUS, HERE, both

MODIFIED = "modified by an inplace operation"
#: dtype: how many samples
DTYPES = {torch.float64: 3}

#: Entries without an input that is differentiable.
NO_GRADIENTS = {**FOR_GPUS, "nn.functional.one_hot": "no input is differentiable"}
NAMES = [name for name in HERE if OPS[name].supports_autograd]


@pytest.mark.counted(nothing=NO_GRADIENTS)
@pytest.mark.parametrize("name", NAMES)
def test_saved(name):
    _compare_all(name)


def _compare_all(name):
    found = []
    op = OPS[name]
    for dtype, count in DTYPES.items():
        if not op.supports_dtype(dtype, "cpu"):
            continue
        for sample in samples(op, dtype, count, requires_grad=True):
            arguments = tensors(sample[:3])
            wanting = [i for i, t in enumerate(arguments) if t.requires_grad]
            subsets = [wanting] + [[i] for i in wanting if len(wanting) > 1]
            for subset in subsets:
                for t in arguments:
                    if t.is_leaf:
                        t.requires_grad_(False)
                for i in subset:
                    if arguments[i].is_leaf:
                        arguments[i].requires_grad_(True)
                k = 0
                while True:
                    more = _compare(name, op, sample, subset, k, found)
                    k += 1
                    if not more:
                        break
    if found:
        raise Different("\n".join(dict.fromkeys(found)))


def _compare(name, op, sample, subset, k, found):
    from .test_op_db import namesake
    function = namesake(op.op, op.name)
    label = f"{name} {described(sample[:3])} grad {subset} write {k}"
    try:
        answer = both(op, function, sample, label)
    except Untranslatable:
        return False
    except Exception as e:
        found.append(f"{label}: {e!r}")
        return False
    if answer is None:
        return False
    ours, mine, theirs = answer
    results = []
    for lib, args, out in ((torch, sample[:3], theirs), (tinytorch, ours, mine)):
        inputs = tensors(args)
        outs = tensors(out)
        everything = inputs + outs
        if k >= len(everything):
            return False
        error, result = error_of(lambda: _backward(lib, inputs, outs, everything[k]))
        results.append(error if error is None or MODIFIED not in str(error) else MODIFIED)
    inputs = tensors(sample[:3])
    what = f"argument {k}" if k < len(inputs) else f"output {k - len(inputs)}"
    from .adapter import Comparisons
    Comparisons.values += 1
    theirs, mine = results
    if type(theirs) is not type(mine):
        found.append(f"{name}: {what} grad {subset} {described(sample[:3])}: ours {mine!r} torch {theirs!r}")
    return True


def _backward(lib, inputs, outs, written):
    outs = [t for t in outs if t.requires_grad]
    with lib.no_grad():
        written.copy_(written.clone())
    return lib.autograd.grad(outs, [t for t in inputs if t.requires_grad], [lib.ones_like(t) for t in outs], allow_unused=True)
