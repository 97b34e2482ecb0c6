"""Random programs: some of one seed, and a long run with a new one (`-m sweep`)."""
import os
import random
import time

import pytest
import torch

import tinytorch

from . import families, reruns
from .program import Difference, difference, names_for, reduced, reproduction, run

FAMILIES = families()


def differences(name, seed, count):
    """Reproductions of what differs in `count` programs of a family."""
    found = []
    for k in range(count):
        lines = FAMILIES[name](random.Random(f"{name} {seed} {k}"))
        different = difference(lines)
        if different is not None:
            found.append(f"# {name} {seed} {k}\n" + reproduction(*reduced(lines, different)))
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_some(name):
    found = differences(name, 0, 60)
    assert not found, "\n\n".join(found)


@pytest.mark.sweep
@pytest.mark.parametrize("name", FAMILIES)
def test_many(name):
    seed = int(os.environ.get("FUZZ_SEED", time.time()))
    count = int(os.environ.get("FUZZ_PROGRAMS", 60000)) // len(FAMILIES)
    found = differences(name, seed, count)
    print(f"{name}, seed {seed}: {len(found)} of {count} programs differ")
    assert not found, "\n\n".join(found[:50])


# ------------------------------------------------------------------ the fuzzer itself
@pytest.mark.parametrize("kind, lines", [
    ("error", ["x = 1 if T.__name__ == 'torch' else None.y"]),
    ("type", ["x = T.__name__"]),
    ("dtype", ["x = T.ones(2, dtype=T.float64 if T.__name__ == 'torch' else T.float32)"]),
    ("shape", ["x = T.ones(len(T.__name__))"]),
    ("stride", ["x = T.ones(2, 2)", "x = x.t() if T.__name__ == 'torch' else x.clone()"]),
    ("view", ["x = T.ones(2, 2)", "y = x if T.__name__ == 'torch' else x[:]"]),
    ("history", ["x = T.ones(2, requires_grad=T.__name__ == 'torch')"]),
    ("value", ["x = T.full((2, 2), float(len(T.__name__)))"]),
    ("memory", ["x = T.ones(2)", "y = x.detach() if T.__name__ == 'torch' else x.clone()"]),
])
def test_sees_differences(kind, lines):
    lines = ["a = T.zeros(3)", *lines, "b = a + 1"]
    with pytest.raises(Difference) as caught:
        run(lines)
    assert caught.value.kind == kind
    short, found = reduced(lines, caught.value)
    assert found.kind == kind and "b = a + 1" not in short and "a = T.zeros(3)" not in short


def test_reduces_numbers():
    lines, found = ["x = T.full((1,), 7.25 if T.__name__ == 'torch' else 3.5)"], None
    found = difference(lines)
    assert reduced(lines, found)[0] == ["x = T.full((1,), 0. if T.__name__ == 'torch' else 1.)"]


@pytest.mark.parametrize("lines", [
    # torch's forward derivative of minimum adds to 1e30 and subtracts it again
    ["a = T.tensor([2.])", "b = T.tensor([1e30])", "g = T.func.jvp(T.minimum, (a, b), (a + 1, b + 1))[1]"],
    # torch computes the square of what the leaf has been given
    ["a = T.tensor([2.], requires_grad=True)", "b = a ** 3", "a.data = a.detach() * 5",
     "g = T.autograd.grad(b, a)[0]"]])
def test_asks_torch_another_way(lines):
    with pytest.raises(Difference):
        run(lines)
    assert difference(lines) is None
    names = names_for(tinytorch)
    for line in lines:
        exec(line, names)
    for value, explained in ((names["g"], True), (names["g"] * 2, False)):
        assert reruns.explains(lines, len(lines) - 1, "g", value, names_for(torch), {torch.float32: 1e-5}) is explained
