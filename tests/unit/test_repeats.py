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


def records(repeats):
    """The number of records in the table of a function."""
    return int(np.count_nonzero(np.frombuffer(repeats.table, np.int64, 24)[2::3])) if repeats.table else 0


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


def kept_of(function):
    """The `Repeats` of a method."""
    return function.__closure__[function.__code__.co_freevars.index("repeats")].cell_contents


VIEWS = [("view", (-1,)), ("view", (2, 12)), ("unsqueeze", (1,)), ("t", ()), ("transpose", (0, 1)), ("permute", (1, 0)),
         ("expand", (2, -1, -1)), ("diagonal", (1,)), ("reshape", (2, 2, 6)), ("flatten", ()),
         ("unflatten", (1, (2, -1)))]


@needs_records
@pytest.mark.parametrize("name, args", VIEWS)
def test_views_are_made_as_the_function_makes_them(name, args, monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    method, whole = getattr(torch.Tensor, name), torch.randn(8, 6)
    times(lambda: method(torch.randn(4, 6), *args))
    times(lambda: method(whole[4:], *args))
    assert records(kept_of(method)) > 0
    plain = torch.randn(4, 6)
    for x in (plain, whole[4:]):
        with torch.no_grad():
            expected = method(x, *args)
        made = method(x, *args)
        assert made.data_ptr() == expected.data_ptr() and made.storage_offset() == expected.storage_offset()
        assert (made.shape, made.stride(), made.dtype) == (expected.shape, expected.stride(), expected.dtype)
        assert made._base is (x if x is plain else whole) and made.is_leaf and not made.requires_grad
        assert made.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        before = x._version
        with torch.no_grad():
            x.mul_(2)
        assert made._version == before + 1 and torch.equal(made, method(x.clone(), *args))
        if name != "expand":
            made.add_(1)
            assert x._version == before + 2 and torch.equal(method(x, *args), made)


@needs_records
def test_parts_refuse_writes_that_are_recorded(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x = torch.randn(4, 6)
    parts = times(lambda: x.chunk(2))
    assert records(kept_of(torch.Tensor.chunk)) > 0 and [part._base for part in parts] == [x, x]
    for part in (x.chunk(2)[1], x.chunk(2)[1].t(), *times(lambda: parts[0].chunk(2, 1))):
        with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
            part.mul_(torch.ones((), requires_grad=True))


@needs_records
def test_views_in_modes_go_the_long_way(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    x = torch.randn(5, 6)
    with torch.no_grad():
        inside = times(lambda: x.t())
    with pytest.raises(RuntimeError, match="was created in no_grad mode"):
        inside.mul_(torch.ones((), requires_grad=True))
    times(lambda: x.t())
    with torch.no_grad():
        inside = x.t()
    with pytest.raises(RuntimeError, match="was created in no_grad mode"):
        inside.mul_(torch.ones((), requires_grad=True))
    with torch.inference_mode():
        made = torch.randn(5, 6)
        assert x.t().is_inference() is False and made.t().is_inference()
    assert times(lambda: made.t()).is_inference() and not x.t().is_inference()
    y = torch.randn(5, 6, requires_grad=True)
    y.t().sum().backward()
    assert torch.equal(y.grad, torch.ones(5, 6)) and y.detach().t()._base is not None
    part = x.t()
    x.requires_grad_()
    (part * 2).sum()                           # made before its base required gradients
    (x.t() * 2).sum().backward()
    assert torch.equal(x.grad, torch.full((5, 6), 2.0))


@needs_records
def test_a_view_keeps_its_base_alive(monkeypatch):
    monkeypatch.setattr(seam, "up", False)
    import gc
    import weakref
    x = torch.randn(4, 6)
    made = times(lambda: x.t())
    died, array = weakref.ref(x), weakref.ref(x._array)
    x = None
    gc.collect()
    assert died() is made._base and array() is not None
    made = None
    gc.collect()
    assert died() is None and array() is None
    y, counts = torch.randn(4, 6), [sys.getrefcount(x) for x in (None, False)]
    for _ in range(1000):
        y.t()
    assert sys.getrefcount(y) == 2
    assert all([abs(sys.getrefcount(x) - n) < 100 for x, n in zip((None, False), counts)])


def test_doors_read_what_is_kept():
    """Each function that says `repeats` is asked about: its door reads what is kept."""
    for function, record in TABLE.items():
        if record.repeats is not None:
            assert "repeats" in function.__code__.co_freevars, function
