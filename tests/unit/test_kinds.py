"""The table of kinds of arrays: a toy kind, an array that counts what is computed with it, is added here alone."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.kinds import table as kinds
from tinytorch.kinds.lazy import StandIn, is_lazy
from tinytorch.seam import UNSEEN
from tinytorch.tensor import Tensor, wrap


class Counting(StandIn):
    """An ndarray that counts NumPy's functions, and the operations that its kind runs."""

    computed, run = 0, []

    def __init__(self, raw):
        self.raw = np.asarray(raw)

    base, T = None, property(lambda self: Counting(self.raw.T))

    def __array__(self, *args, **kwargs):
        raise TypeError("a counting array is no ndarray")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        Counting.computed += 1
        return Counting(getattr(ufunc, method)(*map(plain, inputs), **options))

    def __array_function__(self, function, types, args, options):
        if function in (np.cumsum, np.sort):
            raise TypeError(f"no {function.__name__} of counting arrays")
        Counting.computed += 1
        return Counting(function(*map(plain, args), **options))

    def __getattr__(self, name):
        if name[0] == "_":
            raise AttributeError(name)
        raise TypeError(f"no {name} of counting arrays")

    def reshape(self, *shape):
        return Counting(self.raw.reshape(*shape))

    def conjugate(self):
        return self


def plain(x):
    """The ndarray of a counting array, in lists and tuples too."""
    if x.__class__ in (list, tuple):
        return x.__class__(map(plain, x))
    return x.raw if type(x) is Counting else x


class Count(kinds.Kind):
    def run(self, o, call, args, error):
        Counting.run.append(o.name)
        return wrap(Counting(call(*[wrap(x._array.raw) if isinstance(x, Tensor) else x for x in args])._array))


@pytest.fixture
def counting():
    kinds.enter(Counting, Count())
    Counting.computed, Counting.run = 0, []
    yield lambda x: wrap(Counting(x))
    del kinds.KINDS[Counting]


def test_what_numpy_reaches_by_its_protocols(counting):
    x = np.array([[-1., 2.], [3., -4.]], np.float32)
    y = (counting(x) * 2 + 1).exp()
    assert type(y._array) is Counting and Counting.computed == 3 and Counting.run == []
    assert np.array_equal(y._array.raw, (torch.tensor(x) * 2 + 1).exp().numpy())


def test_what_the_kind_runs(counting):
    """An operation whose forward does not take the array, of one tensor and of several, and in a list."""
    x = np.array([[-1., 2.], [3., -4.]], np.float32)
    for name, compute in {"cumsum": lambda t: t.cumsum(0), "gelu": torch.nn.functional.gelu, "erf": lambda t: t.erf(),
                          "cat": lambda t: torch.cat([t, t])}.items():
        y = compute(counting(x))
        assert type(y._array) is Counting, name
        assert np.array_equal(y._array.raw, compute(torch.tensor(x)).numpy()), name
    assert Counting.run


def test_gradients_are_of_the_kind(counting):
    x, w = counting(np.array([1., -2.], np.float32)), torch.tensor([3., 4.])
    x.requires_grad_()
    (x * w).exp().sum().backward()
    t = torch.tensor([1., -2.], requires_grad=True)
    (t * w).exp().sum().backward()
    assert np.array_equal(plain(x.grad._array), t.grad.numpy())


def test_without_an_entry_the_error_stands():
    with pytest.raises(TypeError, match="counting"):
        wrap(Counting(np.ones(2, np.float32))).cumsum(0)


def test_the_first_of_several_kinds_runs_the_operation():
    meta, sparse = torch.ones(2, 2, device="meta"), torch.eye(2).to_sparse()
    half = torch.ones(2, 2, dtype=torch.bfloat16)
    kind = kinds.kind_among((half, meta))
    assert kind is kinds.KINDS[type(meta._array)] is not kinds.kind_among((half,)) is not None
    assert kinds.kind_among(([half, sparse], 3)) is kinds.KINDS[type(sparse._array)]
    assert kinds.kind_among((torch.ones(2), 3, None)) is None


def test_numbers_seen_conjugated_need_no_entry():
    x = torch.tensor([1 + 2j]).conj()
    assert is_lazy(x._array) and kinds.kind_among((x,)) is None and (x * 1j).item() == 2 + 1j


def test_what_no_kind_answers_is_unseen():
    assert kinds.Kind().run_unary(None, None, (), None) is UNSEEN
    assert kinds.Kind().run_binary(None, None, (), None) is UNSEEN
