"""tinytorch.viz over torch's tables: for every operator of op_db the bytes that the tape tells are those that stay
alive; and the backwards of a few networks are those of torch's graphs."""
import tracemalloc

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch import viz
from tinytorch.kinds.lazy import raw, root_of
from tinytorch.viz.tape import ACTIVATION, Tape

from .adapter import OPS, Untranslatable, convert, described, error_of, namesake, samples, tensors
from .test_op_db import FOR_GPUS, HERE

DOMAIN = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
WITH_GRADIENTS = [name for name in HERE if OPS[name].supports_autograd]
#: Entries of whose samples none has an argument that is differentiable.
NO_HISTORY = {**FOR_GPUS, "nn.functional.one_hot": "no input is differentiable"}


def nodes_of(function, arguments):
    """The nodes of the results; the results themselves are gone."""
    result = function(arguments[0], *arguments[1], **arguments[2])
    found = [t._node for t in tensors(result) if t.requires_grad]
    return [node for node in found if node is not None]


def kept_and_alive(function, arguments):
    """Bytes of activations that the tape tells of, and that NumPy counts, for the nodes of one call."""
    before = {id(root_of(raw(t._array))): root_of(raw(t._array)) for t in tensors(arguments)}
    tracemalloc.start()
    try:
        nodes = nodes_of(function, arguments)
        alive = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([DOMAIN]).traces)
    finally:
        tracemalloc.stop()
    tape = Tape(nodes, before=lambda memory: id(memory) in before)
    empty = sum(storage.nbytes == 0 for storage in tape.storages)      # NumPy gives an empty array some bytes
    return tape, tape.kept_bytes(ACTIVATION), alive, empty


@pytest.mark.filterwarnings("ignore")          # of torch's samples
@pytest.mark.usefixtures("no_new_records")
@pytest.mark.parametrize("name", WITH_GRADIENTS)
def test_bytes(name):
    function, compared = namesake(OPS[name].op, OPS[name].name), 0
    for sample in samples(OPS[name], torch.float32, 3):
        try:
            arguments = convert(sample[:3])
        except Untranslatable:
            continue
        floating = [t for t in tensors(arguments) if t.is_floating_point()]
        for t in floating:
            t.requires_grad_()
        if error_of(lambda: nodes_of(function, arguments))[0] is not None:     # else what is made once is made now
            for t in floating[1:]:             # not all arguments may want gradients
                t.requires_grad_(False)
            if error_of(lambda: nodes_of(function, arguments))[0] is not None:
                continue
        nodes_of(function, arguments)          # an operation has its quick way from the second call on
        tape, kept, alive, empty = kept_and_alive(function, arguments)
        assert 0 <= alive - kept <= 16 * empty, (described(sample[:3]), tape.steps, [step.kept for step in tape.steps])
        compared += 1
    assert compared or name in NO_HISTORY or not OPS[name].supports_dtype(torch.float32, "cpu")


# ------------------------------------------------------------------ networks
def perceptron(lib):
    nn = lib.nn
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), (3, 4)


def images(lib):
    nn = lib.nn
    return nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(36, 2, bias=False), nn.LogSoftmax(1)), (2, 1, 8, 8)


def normalised(lib):
    nn = lib.nn
    return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 2), nn.Softmax(1)), (3, 4)


def backwards(node, found):
    """The names of the nodes that are reached from one, but for the ends, and for the transposing of weights, which a
    linear layer does by itself here."""
    if node is not None and node not in found and "AccumulateGrad" not in node.name():
        found[node] = node.name()
        for into, _ in node.next_functions:
            backwards(into, found)
    return sorted([name for name in found.values() if name != "TBackward0"])


@pytest.mark.parametrize("make", [perceptron, images, normalised])
def test_backwards_are_those_of_torch(make):
    model, shape = make(torch)
    expected = backwards(model(torch.ones(shape)).grad_fn, {})
    model, shape = make(tinytorch)
    steps = viz.graph(model, tinytorch.ones(shape)).tape.steps
    assert sorted([step.backward_name for step in steps]) == expected
