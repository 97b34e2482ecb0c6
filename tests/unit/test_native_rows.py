"""The native kernels that gather, add along an index, run along an axis and find extremes, beside their NumPy twins."""
import functools
import tracemalloc

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import dtypes as dt
from tinytorch.kernels import arithmetic, copies, layout, native, running as runnings, scatter
from tinytorch.kernels.conv import columns
from tinytorch.kernels.extremes import extreme_of, place_of
from tinytorch.kernels.looks import all_within, are_equal
from tinytorch.kernels.sums import add_up_halves, add_up_whole, norm_of_rows
from tinytorch.kinds.record_dtypes import to_bfloat16
from tinytorch.ops.elementwise import complex
from tinytorch.ops.layout import index as indexing, join, rearrange, scatter as along_an_index, slices
from tinytorch.ops.layout.index_values import pick
from tinytorch.ops.nn import pad, pixel_shuffle

from .test_native import WIDTHS, draws, kernels, needs_library

F = torch.nn.functional
#: (before, along, behind) of what is gathered from, run along or reduced.
SHAPES = ((300, 40, 1), (1, 700, 1), (3, 33, 17), (1, 200, 65), (5, 1, 300), (1, 9, 2500), (2, 3, 1), (40, 300, 1))


def along(width, shapes=SHAPES):
    """Arrays of three axes, or of two whose last is the middle one of three; as wide as that."""
    for outer, n, inner in (*shapes, (7, width, 3), (50, width, 1)):
        yield (outer, n, inner) if inner > 1 else (outer, n), 1


def extremes(width, seed, dtype):
    for special in (False, True):
        for shape, axis in along(width):
            x = draws(seed, *shape, special=special, dtype=dtype)
            x = np.round(x) if special else x      # many are equal
            for ufunc, function in ((np.maximum, np.argmax), (np.minimum, np.argmin)):
                yield place_of(function, x, axis, seed % 2 == 0)
                yield extreme_of(ufunc, x, (axis,), True)
                yield extreme_of(ufunc, x, (0, 1))
                yield np.asarray(extreme_of(ufunc, x, None))


def selections(width, seed, dtype):
    """What is found by its rank, the ends of ranges, and counts in bins."""
    for special in (False, True):
        for shape, dim in along(width):
            x = draws(seed, *shape, special=special, dtype=dtype)
            x = torch.tensor(np.round(x) if special or seed % 2 else x)            # many are equal
            for k in (1, (shape[dim] + 1) // 2, shape[dim]):
                yield from [found.numpy() for found in x.kthvalue(k, dim)]
            for keepdim in (False, True):
                yield from [found.numpy() for found in x.median(dim, keepdim)]
                yield from [found.numpy() for found in x.aminmax(dim=dim, keepdim=keepdim)]
            yield from [found.numpy() for found in x.aminmax()]
            yield from [found.numpy() for found in x.sort(dim)]
            ordered = x.reshape(-1).sort().values
            for right in (False, True):
                yield torch.searchsorted(ordered, x, right=right).numpy()
                yield torch.bucketize(x, ordered[::3].contiguous(), right=right).numpy()
            for low, high in ((-2, 3), (-0.1, 0.1)):
                yield x.histc(width, low, high).numpy()


def whole_sums(width, seed, dtype):
    """Also of sums beyond 64 bits; and whole numbers themselves."""
    yield torch.arange(seed - 5, seed - 5 + 9999 * width).numpy()
    x = np.random.default_rng(seed).integers(-2 ** 62, 2 ** 62, (20, 3, width))
    for array in (x, x > 0):
        for dims in ((0,), (1, 2), (2,), (0, 1, 2)):
            yield add_up_whole(array, dims, seed % 2 == 0, np.dtype(np.int64))


def rounded_sums(width, seed, dtype):
    """Of whole numbers, whose sums need not be rounded before they are rounded to 16 bits."""
    x = np.round(draws(seed, 20, 3, width))
    for array in (x.astype(np.float16), to_bfloat16(x)):
        for dims in ((1, 2), (2,), (0, 1, 2), (0,)):
            yield dt.numbers(add_up_halves(array, dims, seed % 2 == 0, True))
    yield dt.numbers(add_up_halves(to_bfloat16(np.round(draws(seed, width * 900))), (0,), False, True))


def gathered(width, seed, dtype):
    """With more places and with fewer than there are, of all and of some rows; added to in the order that they come."""
    for shape, dim in along(width):
        for m in (1, 3, 70):
            x = draws(seed, *shape, special=True, dtype=dtype)
            index = np.random.default_rng(seed).integers(0, shape[1], (shape[0], m, *shape[2:]))
            yield scatter.gather(x, dim, index)
            yield scatter.gather(x, dim, index[1:])
            values = draws(seed + 1, *index.shape, dtype=np.float32).astype(dtype)
            for places in (index, index[:1].repeat(len(index), 0)):
                result = draws(seed, *shape).astype(np.float32).astype(dtype)
                scatter.add_along(result, dim, places, values)
                yield result


def placed(width, seed, dtype):
    """Written and added to copies and to zeros: along an index, in slices, at rows and columns. Of several elements
    that are written to one place the last one stays."""
    for shape, dim in along(width, SHAPES[1:]):
        base = draws(seed, *shape, special=True, dtype=dtype)
        for m in (1, 3, 70):
            index = np.random.default_rng(seed).integers(0, shape[1], (shape[0], m, *shape[2:]))
            values = draws(seed + 1, *index.shape, dtype=np.float32).astype(dtype)
            for source in (values, np.array(2.5, dtype)):
                yield along_an_index._scatter(base, dim, index, source)
            yield along_an_index._scatter_add(base, dim, index, values)
            yield along_an_index._gather_backward(values, dim, index, base.shape)
        for dim in range(base.ndim):
            index = np.random.default_rng(seed).integers(0, shape[dim], 2 * shape[dim] + seed)
            values = draws(seed, *shape[:dim], index.size, *shape[dim + 1:]).astype(dtype)
            yield slices._index_add(base, dim, index, values, 1)
            yield slices._index_select_backward(values, base.shape, dim, index)
            index[0] -= shape[dim]             # from the end
            yield indexing._add_in_zeros(values, base.shape, (slice(None),) * dim + (index,))
    x = draws(seed, 40, width, special=True, dtype=dtype)
    for size in (1, 5, 700):
        for low in (0, 1):                     # with places from the end and without
            pair = tuple([np.random.default_rng(seed).integers(-n * low, n, size) for n in x.shape])
            yield pick(x, pair)
            yield indexing._add_in_zeros(draws(seed, size, dtype=np.float32).astype(dtype), x.shape, pair)


def moved(width, seed, dtype):
    """Copies: beside each other, repeated, reversed, in borders, of elements that a mask selects."""
    x, y = draws(seed, 3, 20, width, special=True, dtype=dtype), draws(seed + 1, 3, 20, width, dtype=dtype)
    for dim in range(3):
        yield copies.side_by_side((x, y[(slice(None),) * dim + (slice(0, 1 + seed % 3),)].copy()), dim)
        yield join._stack.op.forward(dim, x[0], y[0])
        yield rearrange._flip(x, (dim,))
        with np.errstate(all="ignore"):
            yield torch.repeat_interleave(torch.tensor(x), 1 + seed % 4, dim).numpy()
        size = [3, 20, width]
        size[dim] = 1
        for like in (x[:, :1, :1], x[:1, :1], x[:1, :, :1]):
            for expanded in (np.broadcast_to(like, x.shape), np.broadcast_to(y.reshape(-1)[:1], size)):
                yield copies.in_rows(expanded)
                yield layout.dense_copy(expanded)
    for widths in (((0, 0), (1, 2), (3, 0)), ((0, 0), (0, 0), (0, width)), ((0, 0), (5, 0), (-1, 1)), ((1, 0),) * 3):
        for value in (0, -2.5):
            yield pad._constant(x, widths, value)
    yield complex._complex(x, y)
    channels = draws(seed, 2, 18, 4, width, dtype=np.float32).astype(dtype)
    yield pixel_shuffle._shuffle(channels, 3)
    yield pixel_shuffle._unshuffle(pixel_shuffle._shuffle(channels, 3), 3)
    yield np.array(are_equal(y, y.copy()) and all_within(np.tanh(y), -1.0, 1.0))
    for mask in (x > 0, x > 9e9, x == x):
        yield pick(x, (mask,))
        for m in (mask, mask[0], mask[0, 0].copy()):
            yield torch.nonzero(torch.tensor(m)).numpy()
    for size, kernel, stride, padding, dilation in (
            ((5, width + 3), (2, 3), (1, 1), ((1, 1), (0, 0)), (1, 1)),
            ((9, 70), (3, 3), (2, 3), ((1, 1), (2, 2)), (2, 1)), ((4, 200), (1, 2), (1, 2), ((0, 0), (1, 1)), (1, 3))):
        blocks = int(np.prod(columns.output_size(size, kernel, stride, padding, dilation)))
        windows = draws(seed, 2, 3 * kernel[0] * kernel[1], blocks, dtype=np.float32).astype(dtype)
        yield columns.col2im(windows, size, kernel, stride, padding, dilation)
    for size in ((), (1,), (width, 3), (300, 300)):
        yield torch.full(size, 2.5, dtype=torch.tensor(x).dtype).numpy()


def running(width, seed, dtype):
    with np.errstate(all="ignore"):
        for special in (False, True):
            for shape, dim in along(width):
                x = draws(seed, *shape, special=special, dtype=dtype)
                for product in (False, True):
                    for backward in (False, True):
                        yield runnings.running(x, dim, product, backward, True)


def norms(width, seed, dtype):
    with np.errstate(all="ignore"):
        for special in (False, True):
            for rows in (3, 70):
                yield norm_of_rows(draws(seed, rows, width * 5 + seed, special=special, dtype=dtype))
                yield norm_of_rows(draws(seed, rows * 7, width, special=special, dtype=dtype))


def lines(width, seed, dtype):
    """Rows that lie apart in one operand or in both, rows with a number for each, and one row with several."""
    with np.errstate(all="ignore"):
        x = draws(seed, 3, 20, width + 9, special=True, dtype=dtype)
        apart, beside = x[..., 1:], np.ascontiguousarray(x[..., :-1])
        for name, ufunc in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide)):
            for a, b in ((apart, x[..., :-1]), (apart, beside), (beside, apart), (apart[0], beside[1]),
                         (beside, x[..., :1].copy()), (beside[0], x[1, :, :1].copy())):
                found = arithmetic.many(name + "_each", a, b)
                assert (found is None) != (native.many(name + "_each", 0) and dtype == np.float32)
                yield ufunc(a, b) if found is None else found
        yield arithmetic.outer(x[0, 0], x[:2].reshape(-1))
        yield arithmetic.outer(x[:, :10].reshape(-1), x[0, 0])


def pools(width, seed, dtype):
    """Windows beside each other, of a part of the image or of the whole image: means, maxima and their gradients."""
    for size, kernel in (((4, 4), 2), ((5, 2 * width), (2, 2)), ((7, 3 * width + 1), (3, 3)), ((4, width), (4, width)),
                         ((9, 8), (3, 4)), ((6, 5), (6, 1))):
        x = torch.tensor(draws(seed, 2, 3, *size, special=size[0] == 5, dtype=dtype), requires_grad=True)
        for pool in (lambda x: F.avg_pool2d(x, kernel), lambda x: F.avg_pool2d(x, kernel, divisor_override=7),
                     lambda x: F.avg_pool1d(x[:, 0], min(size[1], 3)), lambda x: F.max_pool2d(x, kernel),
                     lambda x: F.adaptive_avg_pool2d(x, 1), lambda x: F.adaptive_max_pool2d(x, 1),
                     lambda x: F.adaptive_max_pool2d(x, 1, True)[0]):
            y = pool(x)
            y.backward(torch.tensor(draws(seed + 1, *y.shape, dtype=dtype)))
            yield from (y.detach().numpy(), x.grad.numpy())
            x.grad = None


def folded(width, seed, dtype):
    """Blocks beside each other, with gaps and across the edges."""
    for size, kernel, settings in (((4, width), (2, 1), {}), ((5, width + 3), 3, {"padding": 1}),
                                   ((9, width + 8), (3, 4), {"stride": (2, 3), "dilation": (2, 1), "padding": (0, 2)})):
        x = torch.tensor(draws(seed, 2, 3, *size, dtype=dtype), requires_grad=True)
        y = F.unfold(x, kernel, **settings)
        yield y.detach().numpy()
        yield torch.autograd.grad(y, x, torch.tensor(draws(seed, *y.shape, dtype=dtype)))[0].numpy()


EXACT = (extremes, folded, gathered, lines, moved, norms, placed, pools, rounded_sums, running, selections,
         whole_sums)


@needs_library
@pytest.mark.parametrize("family", EXACT, ids=lambda f: f.__name__)
def test_the_same_bits(family):
    """Nothing is added up in another order, so the twins give the same numbers, on any number of threads."""
    before = torch.get_num_threads()
    try:
        for seed, width in enumerate(WIDTHS):
            with kernels(False):
                twins = list(family(width, seed, np.float32))
            for n in (1, 2, 4):
                torch.set_num_threads(n)
                with kernels(True):
                    ours = list(family(width, seed, np.float32))
                assert len(ours) == len(twins) > 2
                for i, (a, b) in enumerate(zip(ours, twins)):
                    assert dt.counted(a).dtype == dt.counted(b).dtype and a.shape == b.shape, (i, width)
                    np.testing.assert_array_equal(a, b, f"{i} at width {width}")
    finally:
        torch.set_num_threads(before)


@needs_library
def test_a_long_row_is_computed_in_parts():
    """Which threads share. Its result is that of the same row among others, and a NaN in any part is found."""
    before, random = torch.get_num_threads(), np.random.default_rng(0)
    n = 3 * 131072 + 5
    signs = random.choice([-1.0, 1.0], n).astype(np.float32)
    factors = torch.tensor(signs * np.float32(2) ** random.integers(-1, 2, n).astype(np.float32))
    x, whole = torch.tensor(draws(0, n)), torch.tensor(random.integers(-2 ** 62, 2 ** 62, n))
    factors[n // 2] = 1.2345
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            with kernels(True):
                assert x.aminmax() == (x.numpy().min(), x.numpy().max()) == (x.amin(), x.amax())
                assert factors.prod() == factors.double().prod().float()
                assert whole.sum().item() == int(np.add.reduce(whole.numpy()))
                for row, function in ((x, lambda x, *dim: x.aminmax(dim=dim[0] if dim else None)),
                                      (x, torch.amax), (x, torch.amin),
                                      (factors, torch.prod), (x / x.abs().mean(), torch.prod), (whole, torch.sum)):
                    alone, among = function(row), function(row.expand(3, n).contiguous(), 1)
                    for a, b in zip(alone, among) if isinstance(alone, tuple) else [(alone, among)]:
                        assert (a == b).all()
                for place in (0, 131071, 131072, n - 1):
                    with_nan = x.clone()
                    with_nan[place] = np.nan
                    assert all([found.isnan() for found in (*with_nan.aminmax(), with_nan.amax(), with_nan.amin())])
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("wanted", [True, False])
def test_equal_arrays(wanted):
    """NaN is equal to none, zeros of both signs are equal, and one element of many is found."""
    x = np.abs(draws(0, 300, 200)) + 1
    with kernels(wanted and native.level() is not None):
        for dtype in (np.float32, np.float64, np.int64, bool):
            for shape in ((), (3,), (300, 200)):
                a = np.resize(x, shape).astype(dtype)
                b = a.copy()
                assert are_equal(a, b) and torch.equal(torch.tensor(a), torch.tensor(b))
                b.reshape(-1)[-1] = 0
                assert not are_equal(a, b) and not torch.equal(torch.tensor(a), torch.tensor(b))
        x[7, 7] = np.nan
        assert not are_equal(x, x)
        assert are_equal(np.zeros(3, np.float32), -np.zeros(3, np.float32))
        for dtype in (np.float32, np.float64):
            for shape in ((1,), (3,), (300, 200)):
                a = np.resize([0, 1, 0.5], shape).astype(dtype)
                assert all_within(a, 0.0, 1.0)
                for outside in (-1e-6, 1.5, np.nan, np.inf):
                    a.reshape(-1)[-1] = outside
                    assert not all_within(a, 0.0, 1.0)


def test_running_sums_are_kept_in_the_next_precision():
    """And begin at 0, so that none is -0."""
    for kept, dtype in ((np.float64, np.float32), (np.float32, np.float16), (np.complex128, np.complex64)):
        for shape in ((5000,), (3, 40), (300, 40), (40, 3, 200)):
            x = (draws(0, *shape) / 3).astype(dtype)
            for dim in range(x.ndim):
                for wanted in (True, False):
                    with kernels(wanted and native.level() is not None):
                        for found, exact in ((torch.tensor(x).cumsum(dim), np.cumsum(x, dim, kept)),
                                             (torch.tensor(x).cumprod(dim), np.cumprod(x, dim, kept))):
                            np.testing.assert_array_equal(found.numpy(), exact.astype(dtype))
                        assert not np.signbit(torch.tensor(-np.abs(0 * x.real)).cumsum(dim).numpy()).any()
    x = torch.tensor(draws(0, 3, 4000)).bfloat16()
    assert torch.equal(x.cumsum(1), torch.tensor(np.add.accumulate(x.float().numpy(), 1)).bfloat16())


@pytest.mark.parametrize("wanted", [True, False])
def test_places_that_do_not_exist(wanted):
    """The same error with C and without, from small tensors and large ones."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for rows, n in ((3, 4), (1000, 100)):
            x, g = torch.tensor(draws(0, rows, n)), torch.ones(rows, n)
            index = torch.arange(n).repeat(rows, 1)
            for wrong in (n, -1, 2 ** 40, -2 ** 63):
                index[rows // 2, 1] = wrong
                kept = x.clone()
                said = f"index {wrong} is out of bounds for dimension 1 with size {n}"
                with kernels(wanted and native.level() is not None):
                    for call in (lambda: x.gather(1, index), lambda: x.scatter_add(1, index, g),
                                 lambda: x.scatter_add_(1, index, g), lambda: x.scatter(1, index, 1.)):
                        with pytest.raises(RuntimeError, match=said):
                            call()
                    with pytest.raises(IndexError, match="index out of range in self"):
                        x.index_select(0, index[rows // 2] + rows)
                assert torch.equal(x, kept)
    finally:
        torch.set_num_threads(before)


@needs_library
def test_kernels_refuse_places_that_do_not_exist():
    """Whatever their callers have looked at, and read or write nothing there."""
    x = draws(0, 60, 50)
    for outer, n, inner in ((60, 50, 1), (1, 60, 50), (3000, 1, 1), (12, 5, 50)):
        for wrong in (n, -1, 2 ** 40, -2 ** 63):
            index, out = np.zeros(3000, np.int64), np.zeros((60, 50), np.float32)
            index[1234] = wrong
            for kernel in ("gather", "add_along"):
                with pytest.raises(IndexError):
                    native.run(kernel, outer, n, n, inner, x, index, *[None] * (kernel == "add_along"), out)
        with pytest.raises(IndexError):
            native.run("in_range", 3000, n, index)
    with pytest.raises(IndexError):
        native.run("gather", 10, 0, 3, 1, x[:0].copy(), np.zeros(30, np.int64), np.empty(30, np.float32))
    for n, places in ((50, 59), (51, 60), (50, 61)):
        for name, dtype in (("extremes", np.float32), ("extreme_places", np.int64)):
            with pytest.raises(ValueError):
                native.run(name, 60, n, 1, 0, x, np.empty(places, dtype))
    with pytest.raises(TypeError):
        native.run("extreme_places", 60, 50, 1, 0, x, np.empty(60, np.float32))
    native.run("extremes", 60, 0, 1, 0, x[:0].copy(), np.empty(60, np.float32))


@pytest.mark.parametrize("name, args", [("relu_", ()), ("sigmoid_", ()), ("clamp_", (-0.5, 1)), ("clamp_", (None, 0.5)),
                                        ("clamp_min_", (0.25,)), ("clamp_max_", (0,)), ("clip_", (1, -1))])
def test_in_place_forms_write_where_they_read(name, args):
    """To the memory of the tensor itself: the bits of the result elsewhere, and versions count. Leaves that gradients
    are wanted of are refused, histories grow, and of views with gaps the rest stays."""
    _writes_where_it_reads(getattr(torch.Tensor, name.rstrip("_")), getattr(torch.Tensor, name), args)


@pytest.mark.parametrize("name, args", [
    ("relu6", ()), ("hardtanh", (-0.5, 1)), ("hardtanh", (0.1, 0.7)), ("hardsigmoid", ()), ("hardswish", ()),
    ("silu", ()), ("mish", ()), ("leaky_relu", (0.3,)), ("leaky_relu", (2,)), ("elu", (0.7,)), ("selu", ()),
    ("celu", (3,))])
def test_activations_in_place_write_where_they_read(name, args):
    function = getattr(F, name)
    in_place = functools.partial(function, inplace=True)
    # The gradient of elu in place is computed from the output, where 1 is added to -1 + exp(x).
    by_output = functools.partial(torch.allclose, rtol=1e-6, atol=1e-6)
    _writes_where_it_reads(function, in_place, args, by_output if name in ("elu", "selu", "celu") else torch.equal)
    x = torch.tensor(draws(4, 200, 200))
    tracemalloc.start()
    try:
        in_place(x, *args)
        assert tracemalloc.get_traced_memory()[1] < x.nbytes // 4 or native.level() is None
    finally:
        tracemalloc.stop()


def test_activations_in_place_leave_other_numbers_to_the_function_itself():
    x = torch.tensor([-2., 0.5, 3.])
    for wrong in ("0.5", None, 1j):
        for function in (F.leaky_relu, F.elu, F.celu):
            with pytest.raises((TypeError, RuntimeError)):
                function(x, wrong, inplace=True)
    with pytest.raises(RuntimeError, match="alpha cannot be 0"):
        F.celu(x, 0, inplace=True)
    with pytest.raises(RuntimeError, match="overflow"):
        F.leaky_relu(x, 1e300, inplace=True)
    assert x.tolist() == [-2., 0.5, 3.]
    assert F.leaky_relu(x, torch.tensor(0.5), inplace=True).tolist() == [-1., 0.5, 3.]
    assert F.hardtanh(torch.tensor([-2, 7]), 0, 6, inplace=True).tolist() == [0, 6]
    assert torch.equal(F.celu(x.clone(), -0.6, inplace=True), F.celu(x, -0.6))


def _writes_where_it_reads(function, in_place, args, alike=torch.equal):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for shape in ((), (3,), (40, 60), (300, 700)):
            x = torch.tensor(draws(1, *shape, special=True)).to(dtype)
            y, view = x.clone(), x.repeat_interleave(2, -1)[..., ::2] if shape else x.clone()
            memory, version = y._array, y._version
            assert in_place(y, *args) is y and y._array is memory and y._version == version + 1
            assert torch.equal(y.nan_to_num(7.), function(x, *args).nan_to_num(7.))
            in_place(view, *args)
            assert torch.equal(view.nan_to_num(7.), function(x, *args).nan_to_num(7.))
    x = torch.tensor(draws(2, 50, 90), requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        in_place(x, *args)
    y = x * 1
    in_place(y, *args).sum().backward()
    expected = torch.autograd.grad(function(x, *args).sum(), x)[0]
    assert alike(x.grad, expected) and y.grad_fn is not None
    with torch.no_grad():
        in_place(x, *args)
    assert torch.equal(x.detach(), y.detach())
    with pytest.raises(TypeError, match="argument"):
        in_place(x.detach(), *args, wrong=1)


def test_every_small_size_of_two_arrays_beside_each_other():
    for dim in range(3):
        for m in range(5):
            for n in range(5):
                for others in ((0, 2), (1, 1), (2, 3)):
                    shapes = [(*others[:dim], size, *others[dim:]) for size in (m, n)]
                    x, y = [torch.tensor(draws(3, *shape)) for shape in shapes]
                    expected = np.concatenate([x.numpy(), y.numpy()], dim)
                    assert np.array_equal(torch.cat([x, y], dim).numpy(), expected)
                    if m == n:
                        assert np.array_equal(torch.stack([x, y], dim).numpy(), np.stack([x.numpy(), y.numpy()], dim))
