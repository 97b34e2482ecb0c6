"""PyTorch's CPU samplers on ndarrays, bit for bit: uniform, integers, permutations, bernoulli, transforms.

Each function fills its first argument from a Stream (tinytorch/random.py), whose lock the caller holds, in the order in
which PyTorch's kernels visit the elements (memory order), and returns it. bfloat16 arrays are drawn as float32 and
rounded.
"""
import functools
import math

import numpy as np

from ... import dtypes as dt
from ...kinds.lazy import StandIn
from .. import order
from ..errstate import ignored
from .exact import fma32, fma64, libm, near_tie

f32, f64, f16 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16)
_INT64_MAX = (1 << 63) - 1
_CHUNK = 16384                          # elements at a time: temporaries stay in the cache
DIGITS = {f64: 53, f32: 24, f16: 11, dt.BFLOAT16: 8}       # digits of the significand


def fills(natively=None):
    """Decorator of a sampler. A stand-in for an array fills itself by the sampler. For an ndarray
    natively(out, *arguments) tries a native kernel first, and returns whether it has filled the array. Otherwise the
    sampler runs, and NumPy's floating-point errors are ignored."""
    def decorate(function):
        @functools.wraps(function)
        def fill(out, *arguments):
            if type(out) is np.ndarray:
                if natively is not None and natively(out, *arguments):
                    return out
            elif isinstance(out, StandIn):
                return out.filled(fill, *arguments)
            with ignored():
                return function(out, *arguments)
        return fill
    return decorate


# ------------------------------------------------------------------ order of elements
def memory_order(array):
    """The dimensions of an array from slowest to fastest, in the order of PyTorch's elementwise kernels.

    It is PyTorch's insertion sort by strides: a stride of 0 equals any other, and of equal strides the smaller size
    comes first. (Another sort would order such ties differently.)
    """
    shape, strides = array.shape, array.strides

    def compare(i, j):
        a, b = strides[i], strides[j]
        if a == 0 or b == 0:
            return 0
        if a != b:
            return -1 if a < b else 1
        return 1 if shape[i] > shape[j] else 0

    order = list(range(array.ndim - 1, -1, -1))              # fastest first
    for i in range(1, array.ndim):
        j = i
        for k in range(i - 1, -1, -1):
            c = compare(order[k], order[j])
            if c > 0:
                order[k], order[j] = order[j], order[k]
                j = k
            elif c < 0:
                break
    return order[::-1]


def store(out, flat):
    """Writes values, which are in drawing order, to `out`."""
    if out.flags.c_contiguous:
        out.reshape(-1)[:] = flat
    else:
        target = out.transpose(memory_order(out))
        target[...] = flat.reshape(target.shape)
    return out


def empty_like(array, dtype=None):
    """A new dense array with the shape and the memory order of `array`."""
    if array.flags.c_contiguous:
        return np.empty(array.shape, dtype or array.dtype)
    dims = memory_order(array)
    dense = np.empty([array.shape[k] for k in dims], dtype or array.dtype)
    return dense.transpose(np.argsort(dims))


def parts_of(array):
    """A view of a complex array as its real and imaginary parts, along an additional last dimension."""
    pairs = np.lib.stride_tricks.as_strided(array, (*array.shape, 1), (*array.strides, array.itemsize))
    return pairs.view(dt.of(array).to_real().numpy)


def rounded(values, dtype):
    """float64 values in another dtype. For 16-bit types they are rounded to float32 first, as in C++."""
    if dtype == f64:
        return values
    if dtype == dt.BFLOAT16:
        return dt.to_bfloat16(values.astype(np.float32))
    if dtype == f16:
        return values.astype(np.float32).astype(np.float16)
    if dtype.kind in dt.INTEGER:
        return values.astype(np.int64).astype(dtype)
    return values.astype(dtype)


# ------------------------------------------------------------------ uniform
#: For each dtype its kernel and its largest number.
_UNIFORM = {f32: ("uniform", float(np.finfo(f32).max)), f64: ("uniform53_each", float(np.finfo(f64).max))}


def uniform_natively(out, low, high, stream):
    """Fills an array by a native kernel, if one takes it and its dtype holds the range. Returns whether it did."""
    if type(out) is not np.ndarray or (found := _UNIFORM.get(out.dtype)) is None:
        return False
    kernel, top = found
    return (-top <= low <= high <= top and high - low <= top and out.flags.carray
            and stream.natively(kernel, out.size, (low, high), out))


@fills(uniform_natively)
def uniform(out, low, high, stream):
    """Numbers in [low, high)."""
    n = out.size
    if n == 0:
        return out
    if out.dtype == f64:
        return store(out, _uniform64(n, float(low), float(high), stream))
    low32, high32 = np.float32(low), np.float32(high)
    x = stream.uniform32(n) if low == 0 and high == 1 else _uniform32(n, low32, high32, stream)
    if out.dtype == f32:
        return store(out, x)
    if out.dtype == dt.BFLOAT16:
        low32, high32 = dt.from_bfloat16(dt.to_bfloat16(np.array([low32, high32])))
        x = dt.from_bfloat16(dt.to_bfloat16(x))
        _exclude(x, high32, low32)
        return store(out, dt.to_bfloat16(x))
    x = x.astype(np.float16)
    _exclude(x, np.float16(high), np.float16(low))
    return store(out, x)


_TOP24 = 1 - 2.0 ** -24                 # the largest number that uniform32 gives


def _uniform32(n, low, high, stream):
    """fma(u, high - low, low) for n numbers u of 24 bits."""
    start, width = float(low), float(high - low)
    top = max(abs(start), abs(start + width))
    if top > 2.0 ** 53 * min(math.ulp(width) * 2.0 ** 5, math.ulp(start) * 2.0 ** 29):
        x = stream.uniform32(n)
        fma32(x, width, start, out=x)
    else:                                                    # nothing is rounded in float64, so the cast rounds once
        x = np.empty(n, np.float32)
        for i in range(0, n, _CHUNK):
            wide = stream.bits24(min(n - i, _CHUNK)).astype(np.float64)
            wide *= width * 2.0 ** -24
            wide += start
            x[i:i + _CHUNK] = wide
    if np.float32(_TOP24 * width + start) >= high:
        _exclude(x, high, low)
    return x


def _uniform64(n, low, high, stream):
    x = stream.uniform64(n)
    width = high - low
    if low == 0.0:
        if width != 1.0:
            x *= width
    elif math.frexp(width)[0] == 0.5:                        # a power of two: the product is exact
        x *= width
        x += low
    else:
        x = fma64(x, width, low)
    _exclude(x, high, low)
    return x


def _exclude(x, high, low):
    """Replaces numbers that rounding has moved to the upper bound, which is not in the range."""
    at_bound = x == high
    if at_bound.any():
        x[at_bound] = low


# ------------------------------------------------------------------ integers
#: For each dtype the kernels of integers: for a range below 2**28, and for a larger one, which float32 cannot hold.
_INTEGERS = {np.dtype(np.int64): ("integers", "long_integers"), f32: ("integers_in_float",),
             f64: ("integers_in_double", "long_integers_in_double")}


def _drawn_natively(out, low, width, stream):
    """Draws integers in [low, low + width) by a native kernel, if one takes the array. Returns whether it did. Each
    number takes one word for a width below 2**28, else two. A width of 64 bits is passed as a signed number with the
    same bits."""
    kernels = _INTEGERS.get(out.dtype)
    if kernels is None or not out.flags.carray:
        return False
    if width < 1 << 28:
        return stream.natively(kernels[0], out.size, (low, width), out)
    return stream.natively(kernels[1], out.size, (low, width if width < 1 << 63 else width - (1 << 64)), out)


_WHOLE_RANGE = {np.dtype(np.int64): 1 << 63, f64: (1 << 53) + 1, f32: (1 << 24) + 1}


def whole_range_natively(out, stream):
    """Fills an array by a native kernel, if one takes it. Returns whether it did."""
    return type(out) is np.ndarray and (width := _WHOLE_RANGE.get(out.dtype)) is not None and _drawn_natively(
        out, 0, width, stream)


@fills(whole_range_natively)
def whole_range(out, stream):
    """random_(): the values of an integer dtype from 0 on, or the integers that a floating dtype holds exactly."""
    n, dtype = out.size, out.dtype
    if n == 0:
        return out
    if dtype == np.int64:
        values = stream.double_words(n) & np.uint64(_INT64_MAX)
    elif dtype == f64:
        values = stream.double_words(n) % np.uint64((1 << 53) + 1)
    elif dtype in DIGITS:
        values = _modulo(stream, n, (1 << DIGITS[dtype]) + 1, 0)
    else:
        values = stream.words(n) & np.uint64(1 if dtype.kind == dt.BOOL else np.iinfo(dtype).max)
    return store(out, from_integers(values.view(np.int64), dtype))


def from_integers(values, dtype):
    """int64 values in another dtype, cast as in C++."""
    if dtype == dt.BFLOAT16:
        return dt.to_bfloat16(values.astype(np.float32))
    if dtype == f16:
        return values.astype(np.float32).astype(np.float16)
    return values.astype(dtype)


def integers_natively(out, low, high, stream):
    """Fills an array by a native kernel, if one takes it and its dtype holds all integers of the range. Returns whether
    it did."""
    if type(out) is not np.ndarray or high is None or low >= high:
        return False
    if (digits := DIGITS.get(out.dtype)) and max(-low, high) > 1 << digits:
        return False
    return _drawn_natively(out, low, high - low, stream)


@fills(integers_natively)
def integers(out, low, high, stream):
    """Integers from low to high - 1, or up to the largest one of the dtype if `high` is None."""
    n, dtype = out.size, out.dtype
    digits = DIGITS.get(dtype)
    if digits and (high is None or max(-low, high) > 1 << digits):       # keep the result in range after rounding
        low = _rounding_inwards(low + 1, 1, low, digits, dtype)
        if high is not None:
            high = _rounding_inwards(high - 1, -1, high, digits, dtype)
    if n == 0:
        return out
    if high is None:
        if low == -(1 << 63):
            return store(out, from_integers(stream.double_words(n).view(np.int64), dtype))
        high = _largest_integer(dtype) + 1
    return store(out, from_integers(_modulo(stream, n, high - low, low), dtype))


def _largest_integer(dtype):
    if dtype in DIGITS:
        return 1 << DIGITS[dtype]
    return 1 if dtype.kind == dt.BOOL else min(np.iinfo(dtype).max, _INT64_MAX)


def _rounding_inwards(value, direction, bound, digits, dtype):
    """`bound`, or the next number of `dtype` inside the range if `value`, next to `bound`, is rounded past it."""
    there = int(from_integers(np.array([value]), dtype).astype(np.float64)[0]) if dtype != dt.BFLOAT16 else \
        int(dt.from_bfloat16(from_integers(np.array([value]), dtype))[0])
    past = there < bound if direction > 0 else there >= bound
    if not past:
        return bound
    return there + direction * (1 << (abs(value).bit_length() - digits))


def _modulo(stream, n, width, low):
    """n integers in [low, low + width). Each takes one word for a width below 2**28, else two."""
    values = np.empty(n, np.int64)
    if _drawn_natively(values, low, width, stream):
        return values
    if width >= 1 << 28:
        values = stream.double_words(n)
        if width < 1 << 64:
            values %= np.uint64(width)
        values = values.view(np.int64)
    else:
        words = stream.words(n).astype(np.uint32)
        quotient = words // np.uint32(width)                 # NumPy vectorises this but not %
        quotient *= np.uint32(width)
        words -= quotient
        values = words.astype(np.int64)
    if low:
        values.view(np.uint64)[...] += np.uint64(low & 0xFFFFFFFFFFFFFFFF)
    return values


# ------------------------------------------------------------------ permutations
_ONE_WORD_STEPS = 214748364             # shorter permutations draw one word a step
_LOOP_STEPS = 400                       # shorter ones are faster in a Python loop


def permutation_natively(out, n, stream):
    """Writes 0 .. n-1 shuffled to an int64 array by a native kernel, if one takes it. Returns whether it did."""
    if type(out) is not np.ndarray or out.dtype != np.int64 or out.shape != (n,) or not out.flags.carray:
        return False
    if n == 1:
        out[0] = 0                             # no word is drawn
        return True
    return n < _ONE_WORD_STEPS and stream.natively("permutation", n, (), out)


def permutation(n, stream):
    """0 .. n-1 shuffled (int64)."""
    if n >= _ONE_WORD_STEPS:
        raise NotImplementedError(f"randperm of {n} elements: tinytorch permutes fewer than {_ONE_WORD_STEPS}")
    if n < 2:
        return np.arange(n)
    shuffled = np.empty(n, np.int64)
    if permutation_natively(shuffled, n, stream):
        return shuffled
    words = stream.words(n - 1)
    steps = np.arange(n - 1, dtype=np.uint32)
    targets = words.astype(np.uint32)
    targets %= np.uint32(n) - steps
    targets += steps
    if n >= _LOOP_STEPS:
        return _swapped(targets, n)
    swapped = list(range(n))
    for i, k in enumerate(targets.tolist()):
        swapped[i], swapped[k] = swapped[k], swapped[i]
    return np.array(swapped, np.int64)


@fills()
def permutations(array, n, stream):
    """Fill an array with a permutation, or each row of several with one."""
    for row in array.reshape(-1, n) if n else ():
        row[...] = from_integers(permutation(n, stream), array.dtype)
    return array


def _swapped(targets, n):
    """0 .. n-1 after the swaps (i, targets[i]) for i = 0 .. n-2, where targets[i] >= i.

    Let w[k] be the value at position k just before step k. It is w[k'] for the latest step k' < k with target k, or k
    if there is no such step. Step i leaves at i the w of the latest earlier step with the same target, or the target
    itself.
    """
    index = np.arange(n)
    keys = np.empty(n, np.int64)
    keys[:-1] = targets
    keys[-1] = n - 1
    keys <<= 32
    keys |= index
    keys.sort()
    target, step = keys >> 32, keys & 0xFFFFFFFF             # grouped by target, steps ascending
    w = index.copy()
    moved = step != target
    w[target[moved]] = step[moved]                           # the last write of a group wins
    active = np.flatnonzero(w != index)
    while active.size:                                       # follow the chains, doubling the stride
        here = w[active]
        there = w[here]
        changed = there != here
        active = active[changed]
        w[active] = there[changed]
    repeated = np.flatnonzero(target[1:] == target[:-1])
    target[repeated + 1] = w[step[repeated]]
    index[step] = target
    return index


# ------------------------------------------------------------------ bernoulli
@fills(lambda out, p, stream: (out.dtype.kind == dt.BOOL and out.flags.carray and stream.natively(
    "below", out.size, (math.ceil(p * 2.0 ** 53),), out)))
def bernoulli(out, p, stream):
    """1 with probability p (a number), else 0: the low 53 bits of two words, times 2**-53, are compared with p."""
    if out.size:
        drawn = stream.below(math.ceil(p * 2.0 ** 53), out.size)
        store(out, dt.to_bfloat16(drawn.astype(np.float32)) if out.dtype == dt.BFLOAT16 else drawn)
    return out


@fills(lambda out, p, stream: (
    type(p) is np.ndarray and p.dtype == out.dtype == f32 and p.shape == out.shape and out.flags.carray
    and p.flags.c_contiguous and p.flags.aligned and not np.may_share_memory(p, out)
    and stream.natively("bernoulli_each", out.size, (), p, out)))
def bernoulli_each(out, p, stream):
    """1 with the probability of each element in array p, which broadcasts to `out`, else 0."""
    if out.size == 0:
        return out
    draw = stream.uniform64 if p.dtype == f64 else stream.uniform32
    if p.dtype == dt.BFLOAT16:
        p = dt.from_bfloat16(p)
    if p.shape == out.shape and p.flags.c_contiguous and out.flags.c_contiguous and out.dtype != dt.BFLOAT16:
        out[...] = draw(out.size).reshape(out.shape) < p
        return out
    dims = memory_order(out)
    target = out.transpose(dims)
    p = np.broadcast_to(p, out.shape).transpose(dims)
    drawn = draw(out.size).reshape(target.shape) < p
    target[...] = dt.to_bfloat16(drawn.astype(np.float32)) if out.dtype == dt.BFLOAT16 else drawn
    return out


@fills()
def rrelu_slopes(out, array, lower, upper, stream):
    """1 for positive elements, and a number from [lower, upper) for each other element, in C order. For bfloat16 `out`
    is in float32."""
    if array.dtype == dt.BFLOAT16:
        array = dt.from_bfloat16(array)
    lower, upper = float(out.dtype.type(lower)), float(out.dtype.type(upper))
    drawn = array <= 0
    out.fill(1)
    out[drawn] = stream.uniform64(np.count_nonzero(drawn)) * (upper - lower) + lower
    return out


# ------------------------------------------------------------------ transforms of one uniform number
def _drawn(kernel, n, parameters, function, stream):
    """function(u) for n uniform numbers u, in float64. The native kernel computes it from the two `parameters`."""
    out = np.empty(n)
    return out if stream.natively(kernel + "53", n, parameters, out) else function(stream.uniform64(n))


def in_precisions(kernel):
    """The two kernels of a name, by the dtype of their results."""
    return {f32: kernel, f64: kernel + "53"}


def _natively(kernel, parameters):
    """A function for `fills` that calls a kernel with two parameters, which parameters(*arguments) returns."""
    kernels = in_precisions(kernel)

    def natively(out, *arguments):
        kernel = kernels.get(out.dtype)
        return kernel is not None and out.flags.carray and arguments[-1].natively(
            kernel, out.size, parameters(*arguments[:-1]), out)
    return natively


@fills(_natively("exponential", lambda rate: (-1.0 / rate, 0.0)))
def exponential(out, rate, stream):
    """Exponential numbers: -log(1 - u) / rate."""
    scale = -1.0 / rate
    if not out.size:
        return out
    if out.dtype == f64 or not libm.vectorised:
        values = _drawn("exponential", out.size, (scale, 0.0), lambda u: scale * libm.log1p(-u), stream)
    else:                                                    # near a tie NumPy's last bit would matter
        u = stream.uniform64(out.size)
        values = scale * np.log1p(-u)
        doubtful = near_tie(values)
        values[doubtful] = scale * libm.log1p(-u[doubtful])
    return store(out, rounded(values, out.dtype))


def _of_geometric(p):
    return math.log1p(-p), 0.0


@fills(_natively("geometric", _of_geometric))
def geometric(out, p, stream):
    """The number of trials of probability p up to the first success."""
    parameters = _of_geometric(p)
    if out.size:
        values = _drawn("geometric", out.size, parameters, lambda u: np.ceil(libm.log(u) / parameters[0]), stream)
        store(out, rounded(values, out.dtype))
    return out


@fills(_natively("cauchy", lambda median, sigma: (median, sigma)))
def cauchy(out, median, sigma, stream):
    """Cauchy numbers: median + sigma * tan(pi (u - 1/2))."""
    def function(u):
        t = libm.tan(math.pi * (u - 0.5))
        return t * sigma + 0.0 if median == 0 else fma64(t, sigma, median)
    if out.size:
        store(out, rounded(_drawn("cauchy", out.size, (median, sigma), function, stream), out.dtype))
    return out


# ------------------------------------------------------------------ multinomial
def categorical(p, count, replacement, stream, check):
    """`count` categories (int64) for each row of weights p (1-D or 2-D). check(p) raises an error for numbers that are
    no weights, before anything is drawn."""
    if p.dtype == dt.BFLOAT16:
        p = dt.from_bfloat16(p)
        narrow = lambda x: dt.from_bfloat16(dt.to_bfloat16(x))
    elif p.dtype == f16:
        p = p.astype(np.float32, order="K")
        narrow = lambda x: x.astype(np.float16).astype(np.float32)
    else:
        narrow = None
    width, raced = p.shape[-1], not replacement or count == 1
    plain = type(p) is np.ndarray and p.flags.c_contiguous and width < 1 << 31
    if plain and p.dtype == f32 and not (raced and narrow):
        out = np.empty(p.shape[:-1] + (count,), np.int64)
        try:
            if stream.natively("race" if raced else "categories", out.size // count, (width, count), p, out):
                return out
        except ValueError:                                   # some numbers are no weights, and nothing was drawn
            check(p)
            raise
    check(p)
    if raced:
        race = exponential(empty_like(p), 1.0, stream)
        race = p / race if narrow is None else narrow(p / narrow(race))
        if count == 1:
            return race.argmax(-1, keepdims=True)
        return order.first_of(race.reshape(-1, width), count, True, True).reshape(p.shape[:-1] + (count,))
    out = np.empty(p.shape[:-1] + (count,), np.int64)
    rows = p[None] if p.ndim == 1 else p
    u = stream.uniform64(out.size).reshape(len(rows), count)
    for row, drawn, result in zip(rows, u, out.reshape(len(rows), count)):
        sums = np.add.accumulate(row)
        sums /= sums[-1]
        sums[-1] = 1
        result[...] = np.searchsorted(sums.astype(np.float64), drawn, side="left")
    return out
