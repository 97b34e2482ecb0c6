"""Random programs: some of one seed, and a long run with a new one (`-m sweep`)."""
import os
import random
import time

import pytest

from . import families
from .program import Difference, difference, reduced, reproduction, run

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
