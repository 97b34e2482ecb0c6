"""Copies and sums of large arrays in C, which are to be the same as NumPy's to the bit."""
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import tinytorch as torch
from tinytorch.kernels import arithmetic, copies, masks, native

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
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(arithmetic.many("add_each", wide, 2.0), wide + 2.0)          # by NumPy's own loop
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


#: Of more bytes than those that C writes past the caches.
FAR = (1 << 21) + 12345


@needs_library
def test_bytes_are_copied(any_size):
    """Arrays without gaps of any dtype, at any place in memory, on any number of threads."""
    for dtype in (np.float32, np.float64, np.int64, np.int16, np.uint8, bool, np.complex64, np.float16,
                  torch.bfloat16.numpy):
        memory = np.random.default_rng(0).integers(0, 2, FAR * np.dtype(dtype).itemsize // 2 * 2, np.uint8).view(dtype)
        for x in (memory, memory[1:], memory[3:1 << 20].reshape(-1, 1), memory[:3 << 18].reshape(3, -1, 64).T):
            for n in (1, 2, 4):
                torch.set_num_threads(n)
                found, other = copies.copied(x), np.zeros_like(x)
                copies.write(other, x)
                for y in (found, other):
                    assert y.strides == x.strides and y.dtype == x.dtype and not np.shares_memory(x, y)
                    assert y.tobytes() == x.tobytes()
    assert any_size.count("copy_bytes") > 50


@needs_library
def test_copies_of_tensors(any_size):
    x = torch.tensor(draws(0, 1100, 2001, special=True))
    for n in (1, 2, 4):
        torch.set_num_threads(n)
        for y in (x, x[3:], x[:, ::2], x.t(), x.half(), x.to(torch.bfloat16), x.long()):
            any_size.clear()
            clone, target = y.clone(), torch.zeros(y.shape, dtype=y.dtype)
            before = target._version
            assert target.copy_(y) is target and target._version == before + 1
            for z in (clone, target):
                assert (z.contiguous().view(torch.int16) == y.contiguous().view(torch.int16)).all()
        assert x.clone()._array.base is None and "copy_bytes" in any_size
    leaf = torch.ones(1100, 2001, requires_grad=True)
    (leaf.view(-1) * 1).backward(x.view(-1))
    assert torch.equal(leaf.grad.nan_to_num(), x.nan_to_num())


def test_repeated_tensors():
    before = torch.get_num_threads()
    try:
        for n in (1, 2, 4):
            torch.set_num_threads(n)
            for shape, counts in (
                    ((700, 900), (2, 1)), ((700, 900), (4, 1, 1)), ((3, 5), (700, 70)), ((40,), (20000,)),
                    ((70000,), (3, 11)), ((1, 1), (999, 999)), ((30, 1, 40), (1, 50, 7)), ((0, 4), (3, 2)),
                    ((600, 5), (0, 3)), ((64, 32), (1, 1)), ((2, 70000), (1, 1, 3)), ((800, 3), (1, 300))):
                for x in (draws(0, *shape, special=True), draws(0, *shape).astype(np.int64)):
                    found = torch.tensor(x).repeat(*counts)
                    np.testing.assert_array_equal(found.numpy(), np.tile(x, counts))
                    assert found.is_contiguous() and not np.shares_memory(found.numpy(), x)
    finally:
        torch.set_num_threads(before)


@needs_library
def test_results_past_the_caches():
    """An element does not depend on the number of elements, nor on the place of the result in memory."""
    before, functions = torch.get_num_threads(), torch.nn.functional
    x = torch.tensor(draws(0, FAR, special=True))
    y, slope = torch.tensor(draws(1, FAR)), torch.tensor([0.25])
    try:
        for name, function in (
                ("leaky_relu", lambda a, b: functions.leaky_relu(a)), ("prelu", lambda a, b: functions.prelu(a, slope)),
                ("gelu", lambda a, b: functions.gelu(a)), ("clamp", lambda a, b: a.clamp(-1, 1)),
                ("clamp_", lambda a, b: a.clone().clamp_(-1, 1)), ("add", lambda a, b: a + b),
                ("mul", lambda a, b: a * 3.0), ("silu", lambda a, b: functions.silu(a.double())),
                ("where", lambda a, b: torch.where(a > 0, a, b))):
            part, last = function(x[:5000].clone(), y[:5000].clone()), function(x[-999:].clone(), y[-999:].clone())
            for n in (1, 2, 4):
                torch.set_num_threads(n)
                found = function(x, y).numpy()
                np.testing.assert_array_equal(found[:5000], part.numpy(), name)
                np.testing.assert_array_equal(found[-999:], last.numpy(), name)
    finally:
        torch.set_num_threads(before)


def test_moves_past_the_caches():
    before = torch.get_num_threads()
    x, y = draws(0, 1501, 1403, special=True), draws(1, 1501, 1403)
    a, b = torch.tensor(x), torch.tensor(y)
    try:
        for n in (1, 2, 4):
            torch.set_num_threads(n)
            for found, wanted in (
                    (torch.cat([a, b]), np.concatenate([x, y])), (torch.cat([a, b], 1), np.concatenate([x, y], 1)),
                    (torch.stack([a, b]), np.stack([x, y])), (a.flip(0), x[::-1]), (a.flip(1), x[:, ::-1]),
                    (a.roll(700, 0), np.roll(x, 700, 0)), (a.roll(700, 1), np.roll(x, 700, 1)),
                    (a.rot90(), np.rot90(x)),
                    (torch.nn.functional.pad(a, (3, 4, 5, 6)), np.pad(x, ((5, 6), (3, 4)))),
                    (a[:, 1:].contiguous(), x[:, 1:]), (a.t().contiguous(), x.T), (a.bool(), x.astype(bool)),
                    (a.expand(2, -1, -1).contiguous(), np.stack([x, x])), (a[:, None].expand(-1, 2, -1).clone(),
                                                                           np.stack([x, x], 1))):
                np.testing.assert_array_equal(found.numpy(), wanted)
    finally:
        torch.set_num_threads(before)


def test_updates_of_tensors():
    """In place, on any number of threads."""
    before = torch.get_num_threads()
    x, y = draws(0, 1100, 2001, special=True), draws(1, 1100, 2001)
    try:
        with np.errstate(all="ignore"):
            for n in (1, 2, 4):
                torch.set_num_threads(n)
                for name, ufunc in OPERATORS.items():
                    for other in (y, 2.5, 3, y[:1, :1], y[0], y[:, :1], np.array(2, np.float32), x):
                        found = torch.tensor(x)
                        operand = other if type(other) is not np.ndarray else torch.tensor(other)
                        if other is x:
                            operand = found
                        version = found._version
                        assert getattr(found, name + "_")(operand) is found and found._version == version + 1
                        np.testing.assert_array_equal(found.numpy(), ufunc(x, other), name)
                    whole = torch.tensor(x)
                    getattr(whole[:, ::2], name + "_")(0.5)
                    np.testing.assert_array_equal(whole[:, ::2].numpy(), ufunc(x[:, ::2], np.float32(0.5)))
                    np.testing.assert_array_equal(whole[:, 1::2].numpy(), x[:, 1::2])
                with pytest.raises(RuntimeError, match="doesn't match the broadcast shape|must match"):
                    torch.tensor(x).add_(torch.ones(3))
    finally:
        torch.set_num_threads(before)


@needs_library
def test_elements_chosen_by_a_mask(any_size):
    x, y = draws(0, 70, 90, special=True), draws(1, 70, 90, special=True)
    mask = draws(2, 70, 90) > 0
    for n in (1, 2, 4):
        torch.set_num_threads(n)
        for a, b in ((x, y), (x, 0.5), (-0.0, y), (y, np.array(np.nan, np.float32))):
            found, wanted = masks.chosen(mask, a, b), np.where(mask, a, b).astype(np.float32)
            assert found.dtype == np.float32
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
    assert any_size == ["choose"] * 12
    for m, a, b in ((mask, x.astype(np.float64), y), (mask, x, y[0]), (mask.T, x.T, 0.0), (mask, 1.0, 2.0),
                    (mask, x, 1)):
        found, wanted = masks.chosen(m, a, b), np.where(m, a, b)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_copies_at_every_distance():
    """memcpy is slow where a copy begins a few bytes further in a page than its source: C has a loop of its own."""
    memory, room = draws(0, 1 << 16), np.zeros(1 << 17, np.float32)
    for n in (2047, 2048, 2049, 5000, 33333):
        for start in range(9):
            for place in (*range(9), 1020, 1024):
                x, target = memory[start:start + n], room[place:place + n]
                room[:] = 0
                copies.write(target, x)
                np.testing.assert_array_equal(target, x)
                assert not room[:place].any() and not room[place + n:].any()
        np.testing.assert_array_equal(copies.copied(memory[3:3 + n]), memory[3:3 + n])


def test_sums_of_few_long_rows():
    """A column's sum depends neither on the number of threads nor on the other columns."""
    before = torch.get_num_threads()
    try:
        for rows, width in ((2, 700001), (7, 131072), (31, 50000), (32, 8193), (3, 130), (500, 33)):
            x = draws(0, rows, width)
            wanted = x[0].copy()
            for row in x[1:32]:
                wanted += row
            for n in (1, 2, 4):
                torch.set_num_threads(n)
                found = torch.tensor(x).sum(0).numpy()
                if rows <= 32:
                    np.testing.assert_array_equal(found, wanted)
                part = torch.tensor(x[:, :128].copy()).sum(0).numpy()
                np.testing.assert_array_equal(found[:128][:width], part[:width])
                leaf = torch.ones(width, requires_grad=True)
                leaf.repeat(rows, 1).backward(torch.tensor(x))
                np.testing.assert_array_equal(leaf.grad.numpy(), found)
    finally:
        torch.set_num_threads(before)
