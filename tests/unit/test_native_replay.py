"""Programs of native kernels (native/replay.c): each step beside its twin in NumPy, what is refused before it runs, and
the same bits whatever the number of threads."""
import ctypes
import struct

import numpy as np
import pytest

from tinytorch.capture.lowered.arrays import Place, Root
from tinytorch.capture.lowered.emit import Fused, Words, fused
from tinytorch.capture.lowered.tape import Call, Each
from tinytorch.kernels import native
from tinytorch.kernels.native.table import STEPS, numbered

pytestmark = pytest.mark.skipif(native.level() is None, reason="no library of native kernels was built")
OUTSIDE, OTHERWISE = 2, 3


def walk(words, calls, fixes=(), bases=(), threads=1, first=0):
    """What a program of these words returns."""
    program, fix = np.array(words, np.int64), np.array([*fixes, (0, 0, 0)], np.int64)
    base = np.array([*bases, 0], np.int64)
    enter = native._loaded[1].enter_replay
    enter.restype, enter.argtypes = ctypes.c_int64, (ctypes.c_char_p,)
    at = [x.ctypes.data for x in (program, fix, base)]
    return enter(struct.pack("6q3P", threads, calls, first, len(words), len(fixes), len(bases), *at))


def place(array, number=0):
    """Where an array is."""
    owner = array
    while owner.base is not None:
        owner = owner.base
    root = Root("kept", owner.reshape(-1).view(np.uint8), number, owner)
    return Place(root, array.ctypes.data - owner.ctypes.data, array.shape, array.strides, array.dtype)


def run(calls, threads=1):
    """Runs calls whose places are of arrays that there are. Their roots are told apart by the arrays."""
    roots = {root for call in calls for x in call.places() for root in (x.root,)}
    words = Words({root: root.real.ctypes.data for root in roots})
    for call in calls:
        words.add(call)
    return walk(words.words, words.calls, words.fixes, (), threads)


def call(name, *words):
    return Call(name, [place(x) if isinstance(x, np.ndarray) else x for x in words], set(), set())


def numbers(*shape, dtype="f4"):
    return np.random.RandomState(sum(shape)).randn(*shape).astype(dtype)


def test_zeros():
    x = numbers(37)
    assert run([call("zero", 4 * 30, x)]) == 0
    assert not x[:30].any() and x[30:].all()


@pytest.mark.parametrize("n", [1, 1000, 300_000])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_runs(n, threads):
    x, y = numbers(n), np.zeros(n, np.float32)
    assert run([call("run", 4 * n, x, y)], threads) == 0
    assert (x == y).all()


@pytest.mark.parametrize("dtype", ["?", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape, order", [((5, 70), (1, 0)), ((3, 17, 40), (2, 0, 1)), ((2, 3, 4, 90), (0, 2, 1, 3)),
                                          ((200, 300), (1, 0))])
@pytest.mark.parametrize("threads", [1, 3])
def test_moves(dtype, shape, order, threads):
    x = (numbers(*shape) > 0 if dtype == "?" else numbers(*shape)).astype(dtype).transpose(order)
    y = np.zeros(x.shape, dtype)
    dims = [z for n, s, t in zip(x.shape, x.strides, y.strides) for z in (n, s, t)]
    assert run([call("move", x.itemsize, x, y, x.ndim, *dims)], threads) == 0
    assert (x == y).all()


@pytest.mark.parametrize("m, n, k", [(1, 5, 7), (3, 1, 9), (8, 16, 4), (16, 33, 100), (64, 40, 3), (5, 70, 1)])
@pytest.mark.parametrize("ta", [0, 1])
@pytest.mark.parametrize("tb", [0, 1])
@pytest.mark.parametrize("threads", [1, 2])
def test_small_products(m, n, k, ta, tb, threads):
    a, b, bias = numbers(*((k, m) if ta else (m, k))), numbers(*((n, k) if tb else (k, n))), numbers(n)
    c, d = np.zeros((m, n), np.float32), np.zeros((m, n), np.float32)
    words = [ta, tb, m, n, k, a.shape[1], b.shape[1], 0, a, b]
    assert run([call("small", *words, bias, c), call("small", *words, None, d)], threads) == 0
    wanted = (a.T if ta else a).astype(float) @ (b.T if tb else b)
    assert np.abs(c - wanted - bias).max() < 1e-5 * k and np.abs(d - wanted).max() < 1e-5 * k


@pytest.mark.parametrize("n", [31, 32, 33, 100, 1014])
def test_products_of_one_term(n):
    """Rows begin at any place of a line of the cache, and nothing around them is written to."""
    for ahead in range(16):
        a, b, memory = numbers(7, 1), numbers(1, n), np.zeros(7 * n + 40, np.float32)
        start = -memory.ctypes.data // 4 % 16 + ahead
        c = memory[start:start + 7 * n].reshape(7, n)
        assert run([call("small", 0, 0, 7, n, 1, 1, n, 0, a, b, None, c)]) == 0
        assert np.array_equal(c, a * b) and not memory[:start].any() and not memory[start + 7 * n:].any()


@pytest.mark.parametrize("n, k", [(1, 1), (10, 784), (256, 300), (7, 128), (5, 143), (3, 1030),
                                  *[(20, k) for k in range(128, 256, 16)]])
def test_rows(n, k):
    """Whatever the threads, and wherever the matrix lies, the bits are the same."""
    a, b, bias, found = numbers(k), numbers(n, k), numbers(n), []
    wanted = b.astype(float) @ a + bias
    for threads, ahead in [(1, 0), (2, 0), (4, 0), *[(1, ahead) for ahead in range(1, 17)]]:
        memory = np.full(n * k + 40, np.inf, np.float32)       # what lies around the matrix is no part of the result
        start = -memory.ctypes.data // 4 % 16 + ahead
        moved = memory[start:start + n * k].reshape(n, k)
        moved[...] = b
        for relu in 0, 1:
            c = np.zeros(n, np.float32)
            assert run([call("row", n, k, k, relu, a, moved, bias, c)], threads) == 0
            assert np.abs(c - (wanted.clip(0) if relu else wanted)).max() < 1e-5 * k
            found.append((relu, c.tobytes()))
    assert len(set(found)) == 2


def test_rows_of_numbers_that_are_not_finite():
    for where in (0, 5, 400, 783):
        for value in (np.nan, np.inf, -np.inf):
            for row, column in ((where, 784), (784, where), (where, where)):
                a, b, c = np.ones(785, np.float32), np.ones((2, 785), np.float32), np.zeros(2, np.float32)
                a[row] *= -1
                b[1, column] = value
                assert run([call("row", 2, 784, 785, 0, a, b, None, c)]) == 0
                assert np.isfinite(c[0]) and np.array_equal(c[1:], b[1:, :784] @ a[:784], equal_nan=True)


def test_an_element_as_a_number():
    x, words = np.array([1.5], np.float32), np.zeros(2, np.float64)
    assert run([call("number", x, words)]) == 0
    assert words.tolist() == [1.5, 0]


def test_whole_numbers():
    x, y = np.array([1, -5, (1 << 63) - 1]), np.zeros(3, np.int64)
    with np.errstate(over="ignore"):
        assert run([call("count", 3, 2, x, y)]) == 0
        assert (y == x + 2).all()


def test_a_program_that_does_not_hold():
    x = numbers(100)
    assert run([call("no_nan", 100, x)]) == 0
    x[57] = np.nan
    y = numbers(100)
    assert run([call("zero", 4, y), call("no_nan", 100, x), call("zero", 400, y)]) == 4 + OTHERWISE
    assert y[1:].all()                         # what follows is not done


# ------------------------------------------------------------------ expressions
TWINS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
         "minimum": np.minimum, "neg": np.negative, "abs": np.abs, "lt": np.less, "ge": np.greater_equal,
         "where": np.where, "sqrt": np.sqrt, "floor": np.floor}


def expressions(seed, dtype):
    """Arrays, and a random program of operations on them: some broadcast, some written to twice, with bools between."""
    random = np.random.RandomState(seed)
    shape = tuple(random.randint(1, 40, random.randint(1, 4)))
    arrays = []
    for _ in range(4):
        cut = tuple([n if random.rand() < 0.7 else 1 for n in shape])
        arrays.append((random.rand(*cut) * 4 - 2).astype(dtype))
    arrays.append(np.asfortranarray((random.rand(*shape) + 0.5).astype(dtype)))
    steps = []
    floats, bools = list(range(5)), []
    for _ in range(random.randint(1, 20)):
        name = random.choice(sorted(TWINS))
        if name == "where" and not bools:
            continue
        count = {"neg": 1, "abs": 1, "sqrt": 1, "floor": 1, "where": 3}.get(name, 2)
        at = [random.choice(bools) if name == "where" and i == 0 else
              random.choice(floats) if random.rand() < 0.9 or count == 1 else float(random.randint(1, 4))
              for i in range(count)]
        if not any([x.__class__ is not float for x in at]):
            continue
        steps.append((name, at, len(arrays)))
        kind = bools if name in ("lt", "ge") else floats
        kind.append(len(arrays))
        arrays.append(np.zeros(shape, bool if name in ("lt", "ge") else dtype))
    return shape, arrays, steps


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("seed", range(40))
def test_expressions_beside_their_twins(seed, dtype):
    shape, arrays, steps = expressions(seed, dtype)
    wanted = [x.copy() for x in arrays]
    with np.errstate(all="ignore"):
        for name, at, to in steps:
            wanted[to][...] = TWINS[name](*[wanted[x] if x.__class__ is not float else wanted[0].dtype.type(x)
                                            for x in at])
    bits = set()
    for threads in (1, 2, 4):
        own = [x.copy("K") for x in arrays]
        roots = [place(x, i) for i, x in enumerate(own)]

        def spread(p):
            strides = [0 if n == 1 else s for n, s in zip(p.shape, p.strides)]
            return p._replace(shape=shape, strides=tuple(strides))
        eaches = [Each(name, [spread(roots[x]) if x.__class__ is not float else x for x in at], roots[to])
                  for name, at, to in steps]
        calls = fused(eaches, set())
        assert len(calls) <= len(eaches)
        assert run(calls, threads) == 0
        for x, y in zip(own, wanted):
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)
        bits.add(b"".join([x.tobytes() for x in own]))
    assert len(bits) == 1


def test_what_nobody_needs_has_no_memory():
    """A chain of operations is one call, and what lies between is never written."""
    x, y = numbers(50), np.zeros(50, np.float32)
    root = Root("made", np.zeros(200, np.uint8), 1)
    between = Place(root, 0, (50,), (4,), np.dtype("f4"))
    calls = fused([Each("mul", [place(x), 2.0], between), Each("add", [between, 1.0], place(y))], set())
    assert len(calls) == 1 and isinstance(calls[0], Fused) and calls[0].inside == {root}
    assert run(calls) == 0
    assert np.allclose(y, 2 * x + 1)


# ------------------------------------------------------------------ what is refused
def test_words_that_are_no_program_are_refused():
    """Each call names a kernel that there is, with as many words as it takes, within the program."""
    which = numbered()
    zero = [which["zero"], 3, 1, 0, 0]
    assert walk(zero, 1) == 0
    for words, calls in (([-1, 3, 1, 0, 0], 1), ([len(which), 3, 1, 0, 0], 1), ([which["zero"], 2, 1, 0], 1),
                         ([which["zero"], 4, 1, 0, 0, 0], 1), ([which["zero"], 3, 1, 0], 1), (zero, 2),
                         ([which["zero"], -3, 1, 0, 0], 1), ([which["zero"]], 1)):
        assert walk(words, calls) % 4 == OUTSIDE, words


def test_fixes_outside_are_refused():
    zero = [numbered()["zero"], 3, 1, 0, 0]
    for fix in ((5, 0, 0), (-1, 0, 0), (4, 1, 0), (4, -1, 0)):
        assert walk(zero, 1, [fix], [64]) == OUTSIDE


def test_plans_that_name_what_is_not_there_are_refused():
    which, x = numbered()["fused4"], np.zeros(16, np.float32)
    good = [16, 1, 1, 1, 0, 1, 16, 0, x.ctypes.data, 1, 0, x.ctypes.data]
    add = native.operations("4").index("add")
    to, source = 24, 12

    def packed(operation=add, to=to, a=source, b=source, c=source, e=source):
        return operation | to << 8 | a << 16 | b << 24 | c << 32 | e << 40

    def result(words):
        return walk([which, len(words) + 1, 1, *words], 1)
    assert result([*good, packed()]) == 0
    for bad in (packed(operation=200), packed(to=25), packed(to=12), packed(to=60), packed(a=13), packed(b=25),
                packed(c=36), packed(e=255)):
        assert result([*good, bad]) == OUTSIDE
    for at, value in ((1, 0), (1, 9), (2, 13), (2, -1), (3, 0), (3, 13), (4, 13), (5, 0), (5, 65)):
        words = [*good, packed()]
        words[at] = value
        assert result(words) == OUTSIDE


def test_each_step_has_a_twin_here():
    """A step that is new wants a test."""
    assert sorted(STEPS) == ["count", "fused4", "fused8", "move", "no_nan", "number", "row", "run", "small", "zero"]
