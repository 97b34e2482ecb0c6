"""Calls that are answered from what is kept of earlier ones (autograd/repeats.py) give what the function gives."""
from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import Tensor
from tinytorch.autograd.public import TABLE
from tinytorch.kernels import native
from tinytorch.seam import seam

F = torch.nn.functional
needs_records = pytest.mark.skipif(
    native.level() is None or sys.implementation.name != "cpython"
    or not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="C reads no Python objects here")


def times(function, n=60):
    for _ in range(n):
        result = function()
    return result


def records(function):
    """The number of records in the table of a public function."""
    table = np.frombuffer(TABLE[function].repeats.table, np.int64)
    return int(np.count_nonzero(table[2:24:3])) if len(table) else 0


@pytest.fixture
def fresh(monkeypatch):
    """A public function whose door repeats calls, and an element for each of its calls."""
    monkeypatch.setattr(seam, "up", False)     # tensors of classes that other tests made may still live
    from tinytorch.autograd.public import public
    seen = []

    @public(repeats=True)
    def mean_of_rows(input: Tensor, other: Tensor | None = None, scale: float = 1.0) -> Tensor:
        """A softmax of rows that counts its calls."""
        seen.append(1)
        return torch.softmax(input, -1)
    yield mean_of_rows, seen
    del TABLE[mean_of_rows]


@needs_records
def test_the_function_is_left_out(fresh):
    function, seen = fresh
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    times(lambda: function(x))
    count = len(seen)
    assert torch.equal(function(y), torch.softmax(y, -1)) and torch.equal(function(x), torch.softmax(x, -1))
    assert len(seen) == count
    function(torch.randn(4, 4))                # another shape
    function(x.double())                       # another dtype
    function(x, None, 2.0)                     # other arguments
    function(x.requires_grad_())               # recorded
    assert len(seen) == count + 4


@needs_records
def test_views_subclasses_and_modes_are_told_apart(fresh):
    function, seen = fresh
    x = torch.randn(4, 4)
    times(lambda: function(x))
    count = len(seen)
    assert torch.equal(function(x.t()), torch.softmax(x.t().contiguous(), -1))         # other strides
    assert len(seen) == count + 1
    whole = torch.randn(8, 4)
    assert torch.equal(function(whole[4:]), torch.softmax(whole[4:].clone(), -1)) and len(seen) == count + 1
    learns = torch.randn(8, 4, requires_grad=True)
    assert function(learns[4:]).requires_grad and function(torch.nn.Parameter(x)).requires_grad
    with torch.inference_mode():
        assert function(x).is_inference()
    assert not function(x).is_inference()

    class Mine(torch.Tensor):
        pass
    assert type(function(x.as_subclass(Mine))) is Mine
    batches = torch.randn(3, 4, 4)
    assert torch.equal(torch.vmap(function)(batches), torch.softmax(batches, -1))


@needs_records
def test_unaligned_memory_goes_the_long_way(fresh):
    function, _ = fresh
    x = torch.randn(3, 4)
    times(lambda: function(x))
    raw = np.zeros(12 * 4 + 1, np.uint8)
    odd = raw[1:].view(np.float32).reshape(3, 4)
    odd[...] = x.numpy()
    assert torch.equal(function(torch.from_numpy(odd)), function(x))


@needs_records
def test_settings_drop_records(fresh):
    function, seen = fresh
    x = torch.randn(3, 4)
    times(lambda: function(x))
    count, threads = len(seen), torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        function(x)
        assert len(seen) == count + 1
    finally:
        torch.set_num_threads(threads)


@needs_records
def test_what_no_kernel_computes_is_not_kept(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    from tinytorch.autograd.public import public
    seen = []

    @public(repeats=True)
    def doubled(input: Tensor) -> Tensor:
        """Changes a kernel's result by NumPy."""
        seen.append(1)
        result = torch.softmax(input, -1)
        result._array += 1
        return result
    x = torch.randn(3, 4)
    times(lambda: doubled(x))
    count = len(seen)
    assert torch.equal(doubled(x), torch.softmax(x, -1) + 1) and len(seen) == count + 1
    del TABLE[doubled]


@needs_records
def test_errors_of_kernels_are_the_functions():
    weight, good, bad = torch.randn(3, 2), torch.tensor([0, 2]), torch.tensor([0, 3])
    times(lambda: torch.index_select(weight, 0, good))
    for _ in range(40):
        with pytest.raises(IndexError):
            torch.index_select(weight, 0, bad)
    assert torch.equal(torch.index_select(weight, 0, good), weight[[0, 2]])


@needs_records
def test_arguments_are_checked_while_a_call_is_listened_to(fresh):
    function, seen = fresh
    x = torch.randn(3, 4)
    times(lambda: function(x))
    for _ in range(40):
        with pytest.raises(TypeError, match=r"mean_of_rows\(\): argument 'input' \(position 1\) must be Tensor"):
            function(None)
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            function(x, 3)


@needs_records
def test_threads_at_once(fresh):
    function, _ = fresh
    inputs = [torch.randn(n, 4) for n in range(1, 9)]
    wanted = [torch.softmax(x, -1) for x in inputs]
    wrong = []

    def work():
        for _ in range(300):
            for x, y in zip(inputs, wanted):
                if not torch.equal(function(x), y):
                    wrong.append(x.shape)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_records
def test_records_hold_no_tensors(fresh):
    import gc
    import weakref
    function, _ = fresh

    def called():
        x = torch.randn(3, 4)
        times(lambda: function(x))
        return weakref.ref(x)
    died = called()
    gc.collect()
    assert died() is None


def test_doors_read_what_is_kept():
    """Each function that says `repeats` is asked about: its door reads what is kept."""
    for function, record in TABLE.items():
        if record.repeats is not None:
            assert "repeats" in function.__code__.co_freevars, function
