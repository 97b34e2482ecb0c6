"""Arrays whose numbers name places (indices, classes, rows of steps, plans): C checks what it uses, whoever else writes
to them."""
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kernels import native
from tinytorch.kernels.native.table import KERNELS, entries, parsed
from tinytorch.kernels.rnn.shared import spans

from .changing_indices import OPERATIONS

needs_library = pytest.mark.skipif(native.level() is None, reason="no library of native kernels was built")
FOLDER = Path(native.__file__).parent
ROOT = Path(__file__).parents[2]
OF_PLACES = {name: [argument for _, argument, _, _, _, below in parsed(declared) if below]
             for name, (_, declared) in KERNELS.items()}
OF_PLACES = {name: arguments for name, arguments in OF_PLACES.items() if arguments}
F32, I64 = np.float32, np.int64


def test_every_array_of_integers_that_c_reads_is_declared():
    for name, (_, declared) in KERNELS.items():
        for marks, argument, kind, _, dtype, below in parsed(declared):
            if kind and dtype in ("i8", "u4") and ">" not in marks:
                assert below, f"{name}: what is {argument} below?"
            if dtype == "twister":
                assert not below and ">" in marks


def test_c_gets_places_as_what_it_cannot_index_with():
    made = entries()
    for name, arguments in OF_PLACES.items():
        signature = re.search(rf"^\w+ {name}\((.*)\);$", made, re.M)[1]
        assert signature.count("const place *") == len(arguments)
        source = next(text for text in (path.read_text() for path in FOLDER.glob("*.c"))
                      if re.search(rf"^int64_t {name}\(", text, re.M))
        definition = re.search(rf"^int64_t {name}\((.*?)\)\n\{{", source, re.M | re.S)[1]
        assert definition.count("const place *") == len(arguments)
    common = (FOLDER / "common.h").read_text()
    others = "".join(path.read_text() for path in FOLDER.glob("*.c"))
    assert ".number" not in others and "->number" not in others, "places are read in common.h alone"
    assert "volatile int64_t *)&from->number" in common


def guarded(*shape, dtype=F32):
    """(array of sevens, the memory around it)"""
    size = int(np.prod(shape))
    memory = np.full(size + 4096, 7, dtype)
    return memory[2048:2048 + size].reshape(shape), memory


def untouched(memory, size):
    return (memory[:2048] == 7).all() and (memory[2048 + size:] == 7).all()


WRONG = (-1, 1 << 40, -(1 << 62), 10 ** 6)


def calls(wrong):
    """{kernel: (its arguments with one wrong place, what it writes to)}"""
    n, width, rows = 64, 32, 40
    x = np.ones((n, width), F32)
    index = np.zeros(n, I64)
    index[n // 2] = wrong
    made = {}

    def add(name, arguments, *shape, dtype=F32):
        out, memory = guarded(*shape, dtype=dtype)
        made[name] = [*arguments, out], memory, out.size
    add("take_rows", (n, width, n, x, index), n, width)
    add("add_rows", (1, n, width, n, n, x, index, None), n, width)
    add("gather", (1, n, n, 1, np.ones(n, F32), index), n)
    add("add_along", (1, n, n, 1, np.ones(n, F32), index, None), n)
    add("set_along", (1, n, n, 1, 0., index, np.ones(n, F32), None), n)
    for k, name in enumerate(("a row", "a column")):
        pair = [np.zeros(n, I64), index][::1 - 2 * k]
        add(f"take_pairs: {name}", (n, width, n, x, *pair), n)
        add(f"add_pairs: {name}", (n, width, n, np.ones(n, F32), *pair), n, width)
    made["gather of lines"] = made["gather"]
    columns = np.zeros((n, width), I64)
    columns[3, 5] = wrong
    add("gather of lines", (1, n, n, width, x, columns), n, width)
    add("add_along of lines", (1, n, n, width, x, columns, x), n, width)
    add("set_along of lines", (1, n, n, width, 5., columns, None, x), n, width)
    add("gather of one of each row", (n, width, 1, 1, x, index), n)
    made["in_range"] = [n, n, index], np.full(4096, 7, F32), 0
    add("cross_entropy_backward", (n, width, 1., x, index), n, width)
    losses = np.zeros(n + 1, F32)
    made["cross_entropy"] = [n, width, 1., x, index, np.zeros((n, width), F32), losses], np.full(4096, 7, F32), 0
    for k, name in enumerate(("where a line begins", "a term", "where a row begins")):
        plan = np.concatenate([np.arange(0, 64, 8), [0, 1, 8, 9], np.arange(0, 56, 8)], dtype=np.int64)
        plan[(0, 8, 12)[k]] = wrong
        image = 1, 8, 8, 64, 1, 4, 7, 7, 55
        add(f"convolve: {name}", (*image, 1, np.ones(64, F32), np.ones(4, F32), None, plan), 49)
        add(f"convolve_weights: {name}", (*image, 1, 1, np.ones(64, F32), np.ones(49, F32), plan), 4)
        add(f"convolve_pixels: {name}", (1, 8, 8, 65, 1, 1, 4, 7, 7, 55, 1, np.ones(64, F32), np.ones(4, F32), None,
                                         plan), 49)
    for k, name in enumerate(("where a line begins", "a term", "a weight", "where a place is", "where it goes")):
        plan = [np.arange(0, 64, 8), [0, 1, 8, 9], np.arange(4), np.arange(49), np.arange(49)]
        plan[k] = np.array(plan[k], I64)
        plan[k][-1] = wrong
        image = 1, 8, 8, 64, 1, 1
        add(f"convolve_windows: {name}", (*image, 1, 4, 4, 49, 49, 1, 4, 4, np.ones(64, F32), np.ones(4, F32), None,
                                          np.concatenate(plan).astype(I64)), 49)
        if k in (0, 1, 3):
            add(f"convolve_window_weights: {name}", (*image, 1, 4, 49, 1, np.ones(64, F32), np.ones(49, F32),
                                                     np.concatenate([plan[i] for i in (0, 1, 3)]).astype(I64)), 4)
    steps = np.array(spans([10, 10, 10, 10], False), I64).reshape(-1)
    for place in (0, 3, 7):
        order = steps.copy()
        order[place] = wrong
        h = 4
        weights = np.ones((h, 3), F32), np.ones((h, h), F32), None, None
        x, joined, state = np.ones((rows, 3), F32), np.ones((rows, 8), F32), np.ones((10, h), F32)
        out, memory = guarded(rows, h)
        made[f"recurrent: {place}"] = [
            0, 4, 10, rows, rows, 3, 0, 3, h, 1, 1, 8, 1, 0, rows, 1, 3, 0, order, x[None, None], *weights, joined,
            None, None, None, out, state, None], memory, out.size
        d, memory = guarded(rows, h)
        made[f"recurrent_backward: {place}"] = [
            0, 4, 10, rows, 3, h, 1, 1, 8, 1, 0, order, np.ones((rows, h), F32), weights[1], joined, None, None, None,
            state, state.copy(), None, d, None, None, None], memory, d.size
    for k, name in enumerate(("a row", "a column")):
        rows, columns = np.zeros(8, I64), np.zeros(10, I64)
        (rows, columns)[k][3] = wrong
        add(f"resize_backward: {name}", (1, 4, 5, 4, 5, 2, np.ones(20, F32), rows, columns, None, None), 4, 5)
        add(f"resize: {name}", (1, 4, 5, 4, 5, 2, np.ones(20, F32), rows, columns, None, None), 4, 5)
    add("occurrences", (n, width, index), width, dtype=I64)
    add("nll", (1, n, width, 1., np.ones((n, width), F32), index), 1)
    add("nll_backward", (n, width, 1., index), n, width)
    for k, name in enumerate(("a label", "a number of steps", "a number of labels")):
        places = np.ones((4, 3), I64), np.full(4, 9, I64), np.full(4, 3, I64)
        places[k].reshape(-1)[2] = wrong
        sizes, probabilities, alpha = (9, 4, 5, 3, 10, 4, 0), np.full((9, 4, 5), -1, F32), np.ones(4 * 9 * 9, F32)
        add(f"ctc: {name}", (*sizes, probabilities, *places, np.ones(56, F32), alpha), 4)
        add(f"ctc_backward: {name}", (*sizes, probabilities, np.ones(4, F32), np.ones(4, F32), alpha, *places,
                                      np.ones(4 * 36, F32)), 9, 4, 5)
    for name, dtype in (("walk4", F32), ("walk8", np.float64), ("walk2", np.uint16)):
        out, memory = guarded(n, dtype=dtype)
        plan = np.array([0, 0, wrong], np.int64)
        made[name] = [n, 3, n, 0, 0, 0, 0., 0., 0., 0., plan, np.ones(n, dtype), None, None, None, out], memory, n
    return made


@needs_library
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_out_of_range_is_refused_and_nothing_is_written_outside(wrong):
    made = calls(wrong)
    assert {re.split(r" of |:", name)[0] for name in made} == set(OF_PLACES)
    for name, (arguments, memory, size) in made.items():
        with pytest.raises((IndexError, ValueError), match="out of bounds|out of range|reaches out"):
            native.run(re.split(r" of |:", name)[0], *arguments)
        assert memory is None or untouched(memory, size), name


@needs_library
def test_a_twister_beyond_its_state_begins_anew():
    key = np.arange(625, dtype=np.uint32)
    out = {}
    for place in (624, 625, 2 ** 32 - 1):
        state, words = key.copy(), np.empty(10, np.uint64)
        state[624] = place
        native.run("words", 10, state, words)
        out[place] = words.tolist(), int(state[624])
    assert out[624] == out[625] == out[2 ** 32 - 1] and out[624][1] == 10


# ------------------------------------------------------------------ indices that change
def run_with_changing_index(name, seconds, how, dtype="float32", native_kernels="1"):
    environment = {**os.environ, "TINYTORCH_NATIVE": native_kernels, "OMP_NUM_THREADS": "2"}
    if native_kernels == "1" and native.level() is None:
        environment.pop("TINYTORCH_NATIVE")
    ended = subprocess.run([sys.executable, "-m", "tests.unit.changing_indices", name, str(seconds), how, dtype],
                           cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, f"{name}: {ended.returncode} {ended.stderr[-500:]}"
    assert ended.stdout.startswith(name)


#: Those in which a wrong place was read or written before it was looked at in the same pass.
SOME = ("scatter_add_", "index_copy_", "x[i, j] = v", "x[i] = v", "put_", "cross_entropy backward", "max_unpool1d",
        "multi_margin_loss")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
@pytest.mark.parametrize("name", SOME)
def test_indices_that_a_thread_changes(name):
    run_with_changing_index(name, .3, "thread")


@pytest.mark.sweep
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks")
@pytest.mark.parametrize("how", ("thread", "process"))
@pytest.mark.parametrize("name", OPERATIONS)
def test_indices_that_change(name, how):
    for dtype in ("float32", "float64"):
        for native_kernels in "10":
            run_with_changing_index(name, 1, how, dtype, native_kernels)


def test_nothing_is_written_for_a_wrong_index():
    """In place too: all numbers of an index are looked at before the first one is used."""
    index = torch.zeros(20_000, dtype=torch.int64)
    index[-1] = 20_000
    for call in (lambda x, s: x.scatter_add_(0, index, s), lambda x, s: x.scatter_(0, index, s),
                 lambda x, s: x.index_add_(0, index, s), lambda x, s: x.index_copy_(0, index, s),
                 lambda x, s: x.index_put_((index,), s), lambda x, s: x.index_put_((index,), s, accumulate=True),
                 lambda x, s: x.put_(index, s), lambda x, s: x.index_fill_(0, index, 2.),
                 lambda x, s: x.__setitem__(index, s)):
        for shape in ((20_000,), (20_000, 2)):
            x, source = torch.zeros(shape), torch.ones(shape)
            if len(shape) == 2 and call.__code__.co_names[0] in ("scatter_", "scatter_add_", "put_"):
                continue
            with pytest.raises((IndexError, RuntimeError)):
                call(x, source)
            assert not x.any()
