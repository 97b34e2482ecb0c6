"""Copies and sums of large arrays in C, which are to be the same as NumPy's to the bit."""
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tinytorch as torch
from tinytorch.kernels import arithmetic, copies, native

from .test_native import draws, needs_library

OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}


@pytest.fixture
def any_size(monkeypatch):
    """C does what it can, however few elements there are. Returns the kernels that ran."""
    for module, names in ((copies, ("_FEW", "_MANY")), (arithmetic, ("MANY", "_MORE"))):
        for name in names:
            monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(copies, "_SHORT", sys.maxsize)
    ran = []

    def noted(call):
        def run(name, *args):
            done = call(name, *args)
            if done is not False:              # `run` says nothing
                ran.append(name)
            return done
        return run
    for call in (native.run, native.done):
        monkeypatch.setattr(native, call.__name__, noted(call))
    monkeypatch.setattr(native, "made", native._made_fallback)           # which call `run`
    monkeypatch.setattr(native, "result", native._result_fallback)
    before = torch.get_num_threads()
    yield ran
    torch.set_num_threads(before)


def _views(x):
    """Whole, in every order, in parts and in steps, with rows repeated and turned around."""
    yield x
    for i in range(x.ndim):
        yield x.swapaxes(0, i)
        yield np.moveaxis(x, i, -1)
        yield x[(slice(None),) * i + (slice(1, None, 2),)]
    yield x[..., ::-1]
    yield x.T[1:]
    yield np.broadcast_to(x[None], (3, *x.shape))
    yield x[..., None, :].swapaxes(0, -1)


SHAPES = (5000,), (3, 5), (70, 90), (17, 16, 33), (2, 3, 4, 5), (6, 40, 1, 18), (5, 1, 7, 2, 9)


@needs_library
def test_copies(any_size):
    for shape in SHAPES:
        for x in _views(draws(0, *shape, special=True)):
            for n in (1, 2, 4):
                torch.set_num_threads(n)
                found = copies.in_rows(x)
                assert found.flags.c_contiguous and found.flags.owndata
                np.testing.assert_array_equal(found, x)
                np.testing.assert_array_equal(copies.reshaped(x, (-1,)), x.reshape(-1))
    assert any_size.count("copy") > 200


@needs_library
def test_side_by_side(any_size):
    torch.set_num_threads(2)
    for shape in SHAPES:
        for x in _views(draws(0, *shape)):
            for dim in range(x.ndim):
                some = x[(slice(None),) * dim + (slice(0, 1),)]
                for parts in ([x], [x, some, x], [x, np.ascontiguousarray(x)]):
                    np.testing.assert_array_equal(copies.side_by_side(parts, dim), np.concatenate(parts, dim))
    assert any_size.count("copy") > 200
    x = draws(0, 4, 5)
    for parts in ([x, x[:, 1:]], [x, x[0]], [x, x[None]]):
        with pytest.raises(ValueError):
            copies.side_by_side(parts, 0)
    mixed = copies.side_by_side([x, x.astype(np.float64)], 0)
    assert mixed.dtype == np.float64


@needs_library
def test_arithmetic(any_size):
    """With arrays of the same shape, of the last dimensions, of one element, and numbers; not with others."""
    x = draws(0, 6, 50, 70, special=True)
    others = [draws(1, 6, 50, 70), draws(1, 50, 70, special=True), draws(1, 70), draws(1, 1), np.array(3, np.float32),
              2.5, 3, x]
    with np.errstate(all="ignore"):
        for y in others:
            for name, ufunc in OPERATORS.items():
                for n in (1, 2, 4):
                    torch.set_num_threads(n)
                    found = arithmetic.many(f"{name}_each", x, y)
                    assert n == 1 and found is None or found.dtype == np.float32
                    if found is not None:
                        np.testing.assert_array_equal(found, ufunc(x, y))
                        np.testing.assert_array_equal(np.signbit(found), np.signbit(ufunc(x, y)))
    assert len(any_size) > 60
    for y in (draws(1, 50, 1), draws(1, 6, 1, 70), draws(1, 1, 6, 50, 70), draws(1, 70).astype(np.float64), np.int64(3),
              draws(1, 70, 50).T, draws(1, 140)[::2], True):
        assert arithmetic.many("add_each", x, y) is None
    assert arithmetic.many("add_each", x.reshape(-1, 1), np.empty(0, np.float32)) is None      # (n, 1) and (0): (n, 0)
    assert arithmetic.many("add_each", x.astype(np.float64), 2.0) is None
    assert arithmetic.many("add_each", x.T, draws(1, 6)) is None


@needs_library
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_the_door_refuses_what_does_not_fit(data):
    """Sizes, steps and places that are not those of the arrays: an error, or the right copy."""
    x = draws(0, 4, 6, 8)
    right = [0, 6, 8, 8, 1, 4, 192, 48, 0, 0]
    wrong = list(right)
    for i in data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)):
        wrong[i] = data.draw(st.integers(-3, 200))
    out = np.full(4 * 6 * 8, 7, np.float32)
    view = x[None]
    right[6], wrong[6] = view.strides[0] // 4, wrong[6] if wrong[6] != right[6] else view.strides[0] // 4
    try:
        native.run("copy", *wrong, view, out)
    except (TypeError, ValueError):
        assert (out == 7).all()
    else:
        assert wrong == right
        np.testing.assert_array_equal(out, x.reshape(-1))


@pytest.mark.parametrize("rows", [1, 20000, 200000])
def test_many_rows_and_no_columns(rows):
    x, y = torch.ones(rows, 1), torch.ones(0)
    for found in (x + y, x - y, x * y, x / y):
        assert found.shape == (rows, 0)


def test_large_operands_of_tensors():
    """The ops that ask C, at sizes where they do, beside double precision."""
    before = torch.get_num_threads()
    try:
        for n in (1, 2):
            torch.set_num_threads(n)
            x = torch.tensor(draws(0, 512, 600), requires_grad=True)
            w = x.detach().double().requires_grad_()
            results = []
            for t in (x, w):
                row = torch.tensor(draws(1, 600)).to(t.dtype)
                y = ((t + row) * 0.25 - t / (row.abs() + 1)).view(16, 32, 600).transpose(1, 2).reshape(-1, 32)
                y = torch.cat([y, y.tanh().contiguous(), torch.erf(y), (y.exp() + 1).log()], 1)
                y.sin().sum().backward()
                results.append((y.detach(), t.grad))
            for a, b in zip(*results):
                torch.testing.assert_close(a, b.float(), rtol=1e-5, atol=1e-5)
    finally:
        torch.set_num_threads(before)


@needs_library
def test_gradient_that_lies_across(any_size):
    """A leaf's gradient lies as the leaf does: what arrives transposed is copied in blocks."""
    x = torch.randn(70, 90, requires_grad=True)
    g = torch.randn(90, 70)
    turned = x.t().contiguous()
    any_size.clear()
    turned.backward(g)
    assert any_size == ["copy"] and x.grad.stride() == (90, 1) and torch.equal(x.grad, g.t())
