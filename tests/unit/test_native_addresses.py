"""Arrays at addresses that are no multiple of their elements, as arguments of every native kernel and of OpenBLAS."""
import re
import struct
import sys
from collections import Counter

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import random
from tinytorch.kernels import arithmetic, copies, halves, masks, native
from tinytorch.kernels.expressions import EXPRESSIONS
from tinytorch.kernels.linalg import lapack, products
from tinytorch.kernels.native import objects
from tinytorch.kernels.native.table import KERNELS, by_element, parsed

from .test_native import FAMILIES, draws, kernels, needs_library
from .test_native_rows import EXACT


def copied(x, byte=0):
    """A copy of an array with its strides, that many bytes further on in memory than it need be."""
    reach = [(n - 1) * step for n, step in zip(x.shape, x.strides) if x.size]
    below = -sum(n for n in reach if n < 0)
    memory = np.empty(below + sum(n for n in reach if n > 0) + x.itemsize + byte, np.uint8)
    copy = np.ndarray(x.shape, x.dtype, memory, below + byte, x.strides)
    copy[...] = x
    return copy


def others(width, seed, dtype):
    """What no family runs: random numbers, copies from one layout to another, arithmetic of arrays and rows."""
    torch.manual_seed(seed)
    yield torch.rand(700).numpy()
    yield torch.rand(700, dtype=torch.float64).numpy()
    yield torch.randn(700).numpy()
    yield torch.randn(700, dtype=torch.float64).numpy()
    yield torch.randn(70, dtype=torch.float16).numpy()
    for whole in (torch.int64, torch.float32, torch.float64):
        yield torch.randint(5, (700,), dtype=whole).numpy()
        yield torch.zeros(700, dtype=whole).random_().numpy()
    yield torch.zeros(700, dtype=torch.int64).random_(-2 ** 63, None).numpy()
    yield torch.zeros(700, dtype=torch.int32).random_().numpy()
    yield torch.zeros(700, dtype=torch.uint8).random_().numpy()
    yield torch.rand(700).bernoulli_().numpy()
    yield torch.rand(700).bernoulli(0.3).numpy()
    yield torch.poisson(torch.arange(30.0)).numpy()
    yield torch._standard_gamma(torch.arange(30.0) / 10).numpy()
    yield torch.binomial(torch.arange(30.0), torch.arange(30.0) / 30).numpy()
    x, y = draws(seed, 30, width + 1, 5), draws(seed, width + 1, 5)
    yield copies.in_rows(x.swapaxes(1, 2))
    for name in ("add_each", "sub_each", "mul_each", "div_each"):
        yield arithmetic.many(name, x, y)
    yield halves.softmax(x.astype(np.float16)).astype(np.float32)
    yield halves.gelu(x.astype(np.float16), False).astype(np.float32)
    half = torch.tensor(draws(seed, 130, 130)).bfloat16()
    yield (half @ half).float().numpy()
    yield torch.tensor(draws(seed, 9000)).double().float().numpy()
    yield torch.tensor(draws(seed, 9000) * 99).long().float().numpy()
    yield torch.tensor(draws(seed, 9000)).bool().numpy()
    yield masks.chosen(x > 0, x, -x)
    whole = torch.arange(1, 701)
    yield torch.floor_divide(whole, whole.flip(0)).numpy()
    yield whole.max().numpy()
    yield torch.complex(torch.tensor(draws(seed, width)), torch.tensor(draws(seed + 1, width))).abs().numpy()
    yield torch.bincount(torch.arange(9000) % 9).numpy()
    yield torch.nn.functional.mse_loss(torch.tensor(draws(seed, 9000)), torch.zeros(9000)).numpy()
    torch.randperm(100)
    for dtype in (torch.float32, torch.float64):
        z = torch.zeros(700, dtype=dtype)
        for drawn in (z.exponential_, z.cauchy_, z.log_normal_, z.normal_, lambda: z.geometric_(0.3)):
            yield drawn().numpy()
    z = torch.rand(5, width)
    for drawn in (z.multinomial(1), z.multinomial(3), z.multinomial(9, True), *z.topk(3)):
        yield drawn.numpy()
    torch.zeros(2).index_select(0, torch.zeros(1 << 17, dtype=torch.int64))
    x = torch.tensor(draws(seed, 20_000), requires_grad=True)
    for function in (torch.Tensor.exp, torch.Tensor.tanh, lambda x: x.abs().log()):        # of few, NumPy's at once
        yield function(x.detach()).numpy()
    yield from torch.autograd.grad(x.relu(), x, torch.tensor(draws(seed, 20_000)))
    x = torch.tensor(draws(seed, 9, 60), requires_grad=True)
    yield from torch.autograd.grad(torch.nn.LSTM(60, 60, proj_size=30)(x)[0].sum(), x)
    yield from torch.autograd.grad(torch.nn.GRUCell(60, 60)(x).sum(), x)
    x = draws(seed, 3, 5, 5)
    yield from (products.by_loop(x, x), *lapack.qr(x, False))
    yield torch.rand(700).bernoulli().numpy()
    native.listen(True)
    try:
        yield from lapack.svd(x, False)
    finally:
        native.listen(False)


def elements(width, seed, dtype):
    """Kernels of single elements, which NumPy calls where there are few."""
    for name in filter(by_element, KERNELS):
        out = np.empty(width, dtype)
        native.run(name, width, *[draws(seed + i, width) for i in range(by_element(name))], out)
        yield out
    for expression in EXPRESSIONS:
        for kind in (np.float32, np.float64):
            program = expression.program_of(np.dtype(kind))
            if program is not None:
                yield program.run([draws(seed + i, width).astype(kind) for i in range(expression.arrays)], (0.5,) * 4)


@pytest.fixture
def replayed(monkeypatch):
    """How often each argument of a kernel was unaligned, counted by (kernel, argument), while each of its first calls
    is made once more for each of its arrays, which is copied to an odd address, and for all of them."""
    counted, run = Counter(), native.run

    def replay(name, *args):
        declared = list(parsed(KERNELS[name][1]))
        arrays = [i for i, x in enumerate(args) if isinstance(x, np.ndarray) and x.size]
        if all(counted[name, declared[i][1]] > 9 for i in arrays):
            return run(name, *args)
        before = {i: copied(args[i]) for i in arrays}
        run(name, *args)
        for wanted in [*[[i] for i in arrays], arrays]:
            given = list(args)
            for i in arrays:
                given[i] = copied(before[i], i in wanted)
            run(name, *given)
            for i in arrays:
                marks, parameter, *_ = declared[i]
                if ">" in marks:
                    np.testing.assert_array_equal(given[i], args[i], f"{parameter} of {name}, unaligned: {wanted}")
                counted[name, parameter] += i in wanted
    monkeypatch.setattr(native, "run", replay)
    monkeypatch.setattr(native, "done", native._looked_at)             # which calls `run`
    monkeypatch.setattr(native, "made", native._made_fallback)
    monkeypatch.setattr(native, "result", native._result_fallback)
    for name in ("_converter", "_maker_of"):
        monkeypatch.setattr(halves, name, lambda *names: lambda *args: -1)
    monkeypatch.setattr(random, "_ONE_PIECE", 0)                       # draws of many call it too
    monkeypatch.setattr(copies, "_FEW", 0)
    monkeypatch.setattr(copies, "_SHORT", sys.maxsize)
    for name in ("MANY", "_MORE"):
        monkeypatch.setattr(arithmetic, name, 0)
    return counted


@needs_library
def test_every_array_of_every_kernel(replayed):
    """The same bits as of aligned arrays."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with kernels(True), np.errstate(all="ignore"):
            for family in (*FAMILIES, *EXACT, elements, others):
                for seed, width in enumerate((7, 33, 100)):
                    for _ in family(width, seed, np.float32):
                        pass
    finally:
        torch.set_num_threads(threads)
    missing = [(name, parameter) for name, (_, declared) in KERNELS.items()
               for _, parameter, kind, *_ in parsed(declared) if kind and not replayed[name, parameter]]
    assert not missing, str(missing)


def odd(x):
    """A tensor like `x` at an odd address."""
    memory = torch.frombuffer(bytearray(x.nbytes + 1), dtype=x.dtype, offset=1).reshape(x.shape).copy_(x)
    assert memory.data_ptr() % x.itemsize
    return memory


@pytest.mark.parametrize("name, options", [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "weight_decay": 0.1}), ("Adam", {}), ("AdamW", {"amsgrad": True}),
    ("Adamax", {}), ("RMSprop", {"momentum": 0.9, "centered": True}), ("Adagrad", {}), ("Adadelta", {}), ("NAdam", {}),
    ("RAdam", {}), ("ASGD", {}), ("Rprop", {})])
def test_optimisers(name, options):
    """Of parameters, gradients and state: of one piece and of several, the last of which is short."""
    for dtype in (torch.float32, torch.float64):
        for n in (7, 9000, 262_150):
            values, grad = torch.tensor(draws(0, n)).to(dtype), torch.tensor(draws(1, n)).to(dtype)
            found = []
            for place_p, place_g, place_state in ((torch.clone,) * 3, (odd, torch.clone, torch.clone),
                                                  (torch.clone, odd, torch.clone), (odd, odd, odd)):
                p = torch.nn.Parameter(place_p(values))
                p.grad = place_g(grad)
                optimiser = getattr(torch.optim, name)([p], **options)
                for _ in range(2):
                    optimiser.step()
                    for key, value in optimiser.state[p].items():
                        if isinstance(value, torch.Tensor) and value.shape == p.shape:
                            optimiser.state[p][key] = place_state(value)
                found.append([p.detach(), *[x for x in optimiser.state[p].values() if isinstance(x, torch.Tensor)]])
            for others in found[1:]:
                assert len(others) == len(found[0])
                assert all(torch.equal(a, b) for a, b in zip(found[0], others))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
                                   torch.complex128])
def test_sums(dtype):
    """NumPy's buffers do not show."""
    for shape in ((100_000,), (100, 1000), (4, 25_000), (25_000, 4), (20, 100, 50)):
        x = torch.tensor(draws(0, *shape)).to(dtype)
        y = odd(x)
        for f in (torch.sum, torch.mean, torch.std, lambda x: x.sum(0), lambda x: x.sum(-1), lambda x: x.norm()):
            assert torch.equal(f(x), f(y))


@needs_library
def test_addresses_are_found_with_and_without_ctypes(monkeypatch):
    """Of what is contiguous and may be written to, by the library's function and by that which stands in for it."""
    library, fixed = native._loaded[1], np.arange(6.0)
    fixed.flags.writeable = False
    whole = draws(0, 4, 6)
    built_in = objects.Doors(library)
    monkeypatch.setattr(objects, "_agrees", lambda doors: False)
    by_ctypes = objects.Doors(library)
    declared = list(parsed(KERNELS["row_norms"][1]))
    for doors, status in ((built_in, 0), (by_ctypes, -1)):
        for array in (whole, whole[1:], whole[0], whole.astype(np.int8), np.zeros(())):
            assert doors.place_of(array) == array.ctypes.data
        for other in (whole[:, 1:], whole.T, fixed, None, 3, "text", torch.zeros(3)):
            with pytest.raises((TypeError, ValueError)):
                doors.place_of(other)
        out, again = np.zeros((2, 4), np.float32)
        doors.entering("enter_row_norms")(struct.pack("5q", 1, 4, 6, whole.ctypes.data, out.ctypes.data))
        np.testing.assert_allclose(out, np.linalg.norm(whole, axis=1), rtol=1e-6)
        assert doors.checking("enter_row_norms", declared)(1, 4, 6, whole, again) == status
        made = doors.checking("enter_row_norms", declared, True)(1, (2, 2), 4, 6, whole)
        np.testing.assert_array_equal(again, np.zeros(4) if status else out)
        np.testing.assert_array_equal(made, status if status else out.reshape(2, 2))
        assert doors.naming("of", {"sum": lambda *x: sum(x)})("sum", 1, 2, 3) == 6
    with pytest.raises(TypeError):
        built_in.entering("enter_row_norms")(3)
    with pytest.raises(TypeError):
        native.run("no such kernel")
    assert type(native._place_of) is type(len) or sys.implementation.name != "cpython"
    assert by_ctypes.place_of is objects._place_of


@needs_library
def test_conversions_of_what_lies_anywhere():
    """Odd addresses, gaps, what may not be written to, and nothing at all."""
    single, half = np.dtype(np.float32), np.dtype(np.float16)
    whole = draws(0, 6, 8)
    fixed = whole.copy()
    fixed.flags.writeable = False
    for x in (whole, copied(whole, 1), whole[:, ::2], whole.T, fixed, whole[:0], whole[0, 0]):
        x = np.asarray(x)
        narrow = halves.convert(x, half)
        narrow = x.astype(half) if narrow is None else narrow
        np.testing.assert_array_equal(narrow, x.astype(half))
        for again in (narrow, copied(narrow, 1)):
            wide = halves.convert(again, single)
            if wide is not None:
                np.testing.assert_array_equal(wide, narrow.astype(single))
    convert = native.maker("float_to_half", single, half)
    for x, fits in ((whole, True), (fixed, True), (copied(whole, 1), False), (whole[:5], False), (whole.T, False),
                    (whole.astype(np.float64), False), (whole.view(np.uint32), False)):
        assert isinstance(convert(1, whole.shape, whole.size, x), np.ndarray) == fits


def fitting(name):
    """Arguments that fit the declaration of a kernel."""
    declared = list(parsed(KERNELS[name][1]))
    numbers = {x: 5 + i % 3 for i, (_, x, kind, *_) in enumerate(declared) if not kind}
    numbers.update(dict.fromkeys({"turned", "ta", "tb"} & {*numbers}, 1))
    numbers.update({x: 40 for x in numbers if x[:2] == "ld" or x == "distance" or x[:5] == "apart"})
    for marks, x, kind, inside, dtype, _ in declared:
        sizes = eval(f"({inside},)", {}, numbers) if kind else ()
        if not kind:
            yield numbers[x] + 0.5 if marks else numbers[x]
        elif kind == "[":
            yield np.zeros(sizes, "u4" if dtype == "twister" else dtype or np.float32)
        else:
            turned, rows, columns, apart, *several = sizes
            shape, steps = (columns, rows) if turned else (rows, columns), (apart, 1)
            yield np.lib.stride_tricks.as_strided(
                np.zeros(9999, np.float32), (*several[:2], *shape), [4 * n for n in (*several[2:], *steps)])


@needs_library
@pytest.mark.parametrize("name", KERNELS)
def test_the_library_takes_no_argument_that_python_would_refuse(name):
    """An array of another dtype, size or layout, at an odd address, or that may not be written to; no array; a number
    that is none, or of which the size of an array does not follow."""
    declared, args = list(parsed(KERNELS[name][1])), list(fitting(name))
    takes = native._checking("enter_nothing", declared)
    assert takes(1, *args) == 0 and takes(*args) == takes(1, *args, 1) == takes() == -1
    makes, (*read, out) = native._checking("enter_nothing", declared, True), args
    made = makes(1, out.shape, *read)
    assert (made.shape, made.dtype, made.flags.carray) == (out.shape, out.dtype, True)
    for shape in ([*out.shape], None, (*out.shape, 2), (-out.size, -1), ("5",), (1,) * 33 + out.shape):
        assert makes(1, shape, *read) == -1
    sizes = " ".join([inside for *_, inside, _, _ in declared])
    for i, ((marks, x, kind, *_), given) in enumerate(zip(declared, args)):
        others = []
        if kind:
            fixed = given.view()
            fixed.flags.writeable = False
            assert takes(1, *args[:i], fixed, *args[i + 1:]) == -(">" in marks)
            assert takes(1, *args[:i], None, *args[i + 1:]) == ("?" in marks) - 1
            others = [given[..., :-1], np.repeat(given, 2, -1)[..., ::2], given.astype(np.int16), torch.tensor(0), 3,
                      given.view(type("Other", (np.ndarray,), {}))] + [copied(given, 1)] * (given.itemsize > 1)
        else:
            others = ["5", None, np.zeros(2)] + [0.5, 1 << 70] * (not marks)
            if given != 1 and "max" not in sizes and re.search(rf"\b{x}\b", sizes):
                others += [given + 1, -given]
        for other in others:
            assert takes(1, *args[:i], other, *args[i + 1:]) == -1, (x, other)


@needs_library
def test_the_machine_takes_arrays_of_one_shape_or_one_element():
    """Of its dtype, contiguous, aligned and not empty; everything else goes to Python, as do numbers that are none."""
    dtype = np.dtype(np.float32)
    expression = next(x for x in EXPRESSIONS if x.arrays == 2 and x.program_of(dtype))
    count = expression.text.__code__.co_argcount - 2
    walk = native._doors.walking("enter_walk4", dtype, expression.program_of(dtype).plan, 2, count)
    x, y, numbers = draws(0, 3, 5), draws(1, 3, 5), (0.5,) * count
    for others in (y, y[0, 0], y[:1, :1], y[0, :1]):
        others = np.asarray(others)
        result, wanted = walk(1, x, others, *numbers), expression(x, others, *numbers)
        assert (result.shape, result.dtype, result.strides) == ((3, 5), dtype, (20, 4))
        np.testing.assert_array_equal(result, wanted)
    for a, b in ((x, y[0]), (x, y.reshape(5, 3)), (x, y.T), (x.T, y.T), (x[:, ::2], y[:, ::2]), (x[:0], y[:0]),
                 (x, 2.0), (x, y.astype(np.float64)), (x.astype(np.float64), y), (x, y.view(np.int32)),
                 (copied(x, 1), y), (x, copied(y, 2)), (x[0, :1], y[:1, :1]), (x, torch.tensor(y)), (x, y[0, 0]),
                 (None, y)):
        assert walk(1, a, b, *numbers) == -1
    assert walk(1, x) == walk() == walk(1, x, y, *numbers, 1) == walk("1", x, y, *numbers) == -1
    one = next(x for x in EXPRESSIONS if x.arrays == 1 and x.text.__code__.co_argcount == 2 and x.program_of(dtype))
    walk = native._doors.walking("enter_walk4", dtype, one.program_of(dtype).plan, 1, 1)
    assert walk(1, x, "5") == walk(1, x, None) == walk(1, x, x) == -1
    np.testing.assert_array_equal(walk(1, x, 2), one(x, 2.0))
