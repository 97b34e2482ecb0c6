"""The comparison that the other tests rest on: what it must tell apart, and that a test cannot pass without it."""
from collections import OrderedDict, namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import tinytorch
from .adapter import Comparisons, Different, convert, same, same_error, same_outcome
from .conftest import pytest_pyfunc_call

Pair = namedtuple("Pair", "a b")
Other = namedtuple("Other", "a b")
NAN = float("nan")


def one(t, *values, **options):
    return t.tensor(values or [1.0], **options)


def packed(t, *values):
    return t.nn.utils.rnn.PackedSequence(one(t, *values), t.tensor([1]))


ALIKE = [
    lambda t: one(t), lambda t: one(t, NAN), lambda t: t.nn.Parameter(one(t)), lambda t: None, lambda t: True,
    lambda t: 1, lambda t: 1.5, lambda t: 2j, lambda t: "a", lambda t: b"a", lambda t: ..., lambda t: range(3),
    lambda t: {1, 2}, lambda t: slice(1, None, 2), lambda t: [one(t), (1,)], lambda t: Pair(1, one(t)),
    lambda t: {"a": one(t)}, lambda t: OrderedDict(a=1), lambda t: t.Size([1]), lambda t: t.float32,
    lambda t: t.device("cpu"), lambda t: t.strided, lambda t: t.channels_last, lambda t: one(t).max(0),
    lambda t: one(t).sort(), packed, lambda t: t.nn.Flatten(), lambda t: t.nn.Linear, lambda t: np.ones(2),
    lambda t: np.float32(2), lambda t: t.Generator().manual_seed(3), lambda t: t.finfo(t.float16),
    lambda t: (one(t, requires_grad=True) * 2).grad_fn]


@pytest.mark.parametrize("make", ALIKE)
def test_alike(make):
    before = Comparisons.values
    same(make(tinytorch), make(torch))
    assert Comparisons.values > before


@pytest.mark.parametrize("ours, theirs", [
    (None, one(torch)), (one(tinytorch), None), (one(tinytorch), 1.0), (1.0, one(torch)),
    ([one(tinytorch)], one(torch)),
    (one(tinytorch), one(torch, 2.0)), (one(tinytorch), one(torch, NAN)), (one(tinytorch), one(torch, 1)),
    (one(tinytorch), one(torch, 1.0, dtype=torch.float64)), (one(tinytorch), one(torch, 1.0)[None]),
    (one(tinytorch), one(torch, 1.0, requires_grad=True)), (one(tinytorch), torch.nn.Parameter(one(torch))),
    (one(tinytorch, 2, 3), one(torch, 2, 4)), (one(tinytorch, True), one(torch, False)), (one(torch), one(torch)),
    ((1,), [1]), ([1], (1,)), ([1], [1, 2]), ((1,), torch.Size([1])), (Pair(1, 2), (1, 2)), ((1, 2), Pair(1, 2)),
    (Pair(1, 2), Other(1, 2)), (tuple(one(tinytorch).max(0)), one(torch).max(0)),
    (one(tinytorch).max(0), one(torch).sort()), ((one(tinytorch), tinytorch.tensor([1]), None, None), packed(torch)),
    (packed(tinytorch), packed(torch, 2.0)), ({"a": 1}, OrderedDict(a=1)), ({"a": 1}, {"b": 1}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"a": 1}, {"a": 2}), ([], None), (None, []), ({}, []), (1, True), (True, 1),
    (1, 1.0), (1.0, 1), (1.0, 1 + 0j), (1.0, 1.1), ("1", 1), ("a", "b"), (None, False), (np.float64(1), 1.0),
    (np.ones(2), np.ones(2, "f")), (np.ones(2), np.ones(3)), (np.ones(2), np.zeros(2)), ({1}, {2}),
    (slice(1), slice(2)),
    (tinytorch.float32, torch.float64), (torch.float32, torch.float32), (tinytorch.float32, "torch.float32"),
    (tinytorch.nn.Flatten(0), torch.nn.Flatten()), (tinytorch.nn.Flatten(), torch.nn.Identity()),
    (tinytorch.nn.Conv1d, torch.nn.Conv2d), (object(), object()), (print, len)])
def test_different(ours, theirs):
    with pytest.raises(Different):
        same(ours, theirs)


def test_to_the_last_bit():
    for values in ((1.0, 1.0 + 2 ** -20), (0.0, -0.0), (1j, complex(-0.0, 1))):
        ours, theirs = one(tinytorch, values[0]), one(torch, values[1])
        same(ours, theirs)
        with pytest.raises(Different):
            same(ours, theirs, tolerance=0)
    same(one(tinytorch, NAN, -0.0), one(torch, NAN, -0.0), tolerance=0)


def test_errors_are_of_the_same_type():
    same_error(RuntimeError("a"), RuntimeError("b"))
    for ours in (None, NotImplementedError("a"), ValueError("a")):
        with pytest.raises(Different):
            same_error(ours, RuntimeError("a"))
    with pytest.raises(Different):
        same_error(RuntimeError("a"), RuntimeError("b"), words=True)
    same_outcome(lambda t: 1 / 0)
    with pytest.raises(Different):
        same_outcome(lambda t: 1 / (t is tinytorch))
    with pytest.raises(ZeroDivisionError):
        same_outcome(lambda t: 1 / (t is torch))


def ended(act, **mark):
    """How a test marked `counted` ends that does `act`."""
    item = SimpleNamespace(get_closest_marker=lambda name: pytest.mark.counted(**mark).mark,
                           callspec=SimpleNamespace(id="case"))
    run = pytest_pyfunc_call(item)
    next(run)
    act()
    try:
        run.send(True)
    except StopIteration:
        return "passed"
    except (pytest.fail.Exception, pytest.skip.Exception) as error:
        return type(error).__name__


def test_a_test_that_compares_nothing_fails():
    compare, idle = lambda: same(1, 1), lambda: None
    assert ended(compare) == "passed" and ended(idle) == "Failed"
    assert ended(idle, nothing={"case": "why"}) == "Skipped" and ended(compare, nothing={"case": "why"}) == "Failed"
    assert ended(idle, nothing={"another": "why"}) == "Failed"
    assert ended(compare, of="errors") == "Failed"
    assert ended(lambda: same_error(ValueError(), ValueError()), of="errors") == "passed"


def test_converted_tensors_are_the_same():
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    for tree in ([x, (x, 2)], {"a": x.detach()[1:]}, torch.Size([2]), torch.float16, slice(1, 2)):
        same(convert(tree), tree, tolerance=0)
