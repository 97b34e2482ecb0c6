"""PyTorch's CPU samplers that reject candidates: Poisson, gamma, Dirichlet, binomial, bit for bit.

The number of random numbers that a value takes depends on these numbers, so that the values are made one by one: in C,
or in Python, in about a microsecond each. `r` rounds to the dtype of the parameters, in which PyTorch does part of the
arithmetic. The other part is in float64, which is Python's arithmetic.
"""
import math

import numpy as np

from .normal import normal_pair


class OneByOne:
    """Uniform and normal float64 numbers, one at a time. On exit the numbers that were drawn ahead are put back."""

    _BLOCK = 1024

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        self.mark = self.stream.mark()
        self.block, self.position, self.used = [], 0, 0
        return self

    def uniform(self):
        if self.position == len(self.block):
            self.block, self.position = self.stream.uniform64(self._BLOCK).tolist(), 0
        self.position += 1
        self.used += 1
        return self.block[self.position - 1]

    def normal(self):
        z = self.stream.cached_normal
        if z is not None:
            self.stream.cached_normal = None
            return z
        z, self.stream.cached_normal = normal_pair(self.uniform(), self.uniform())
        return z

    def __exit__(self, *exc_info):
        self.stream.rewind(self.mark, 2 * self.used)


def _rounding(dtype):
    return float if dtype == np.float64 else lambda v: float(np.float32(v))


def _drawn(kernel, one, stream, single, *arrays):
    """A float64 array in the shape of `arrays`, drawn by the native kernel, or by one(element, ..., numbers) for each
    element. `single` are arguments of the kernel before the arrays."""
    arrays = [np.array(array, np.float64, order="C") for array in arrays]
    out = np.empty(arrays[0].shape)
    if not stream.rejected(kernel, out.size, single, *arrays, out):
        with OneByOne(stream) as numbers:
            found = [one(*elements, numbers) for elements in zip(*[array.ravel().tolist() for array in arrays])]
        out[...] = np.array(found, np.float64).reshape(out.shape)
    return out


def _or_infinite(function, *numbers):
    try:
        return function(*numbers)
    except OverflowError:                # Python raises this for infinity
        return math.inf


# ------------------------------------------------------------------ Poisson
def poisson(rate, stream):
    """Poisson counts for the rates in an array, in its dtype and in C order."""
    return _drawn("poisson", _poisson, stream, (), rate).astype(rate.dtype)


def _poisson(rate, numbers):
    if rate == 0 or rate == math.inf:
        return rate
    if rate < 10:                                            # the number of uniforms whose product exceeds exp(-rate)
        limit, count, product = math.exp(-rate), 0, 1.0
        while True:
            product *= numbers.uniform()
            if product <= limit:
                return count
            count += 1
    # W. Hoermann, The transformed rejection method for generating Poisson random variables (1993): PTRS.
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    quick = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = numbers.uniform() - 0.5
        v = numbers.uniform()
        us = 0.5 - abs(u)
        count = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= quick:
            return count
        if count < 0 or (us < 0.013 and v > us):
            continue
        if (math.log(v) + log_inverse_alpha - math.log(a / (us * us) + b)
                <= -rate + count * log_rate - _or_infinite(math.lgamma, count + 1.0)):
            return count


# ------------------------------------------------------------------ gamma, Dirichlet
def standard_gamma(shape, stream):
    """Gamma numbers of rate 1 for the shape parameters in array `shape`, in its dtype."""
    r = _rounding(shape.dtype)
    values = _drawn("standard_gamma", lambda a, numbers: _gamma(a, numbers, r), stream, (int(r is not float),), shape)
    return np.fmax(values.astype(shape.dtype), np.finfo(shape.dtype).tiny)     # NaN becomes tiny, as in PyTorch


def dirichlet(concentration, stream):
    """Non-negative numbers that sum to 1 along the last dimension, that of the categories."""
    smallest = np.finfo(np.float64).tiny
    values = _drawn("standard_gamma", lambda a, numbers: _gamma(a, numbers, float), stream, (0,), concentration)
    values = np.fmax(values, smallest)
    values = (values / values.sum(-1, keepdims=True)).astype(concentration.dtype)
    one = values.dtype.type(1)
    return np.fmin(np.fmax(values, np.finfo(values.dtype).tiny), np.nextafter(one, one - one))


_THIRD = float(np.float32(1) / np.float32(3))
_SQUEEZE = float(np.float32(0.0331))


def _gamma(shape, numbers, r):
    # G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables (2000).
    scale = 1.0
    if shape < 1.0:
        if shape == 0.0:
            return 0.0
        scale = _or_infinite(math.pow, 1 - numbers.uniform(), r(1.0 / shape))
        shape = r(shape + 1.0)
    d = r(shape - _THIRD)
    c = 1.0 / math.sqrt(9.0 * d) if d > 0 else math.nan
    while True:
        y = 0.0
        while y <= 0:
            x = numbers.normal()
            y = 1.0 + c * x
        v = y * y * y
        u = 1 - numbers.uniform()
        square = x * x
        if (u < 1.0 - _SQUEEZE * square * square
                or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v))):
            return scale * d * v


# ------------------------------------------------------------------ binomial
def binomial(count, prob, stream):
    """Successes among `count` trials of probability `prob` (arrays of one shape and dtype)."""
    r = _rounding(count.dtype)
    return _drawn("binomial", lambda n, p, numbers: _binomial(n, p, numbers, r), stream, (int(r is not float),), count,
                  prob).astype(count.dtype)


def _binomial(n, p, numbers, r):
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if not n * p < math.inf:                                 # n or p is infinite or NaN
        return n * p
    rare = p if p <= 0.5 else r(1.0 - p)
    hits = _binomial_rejection(n, rare, numbers, r) if r(n * rare) >= 10.0 else _binomial_waits(n, rare, numbers, r)
    return hits if p <= 0.5 else n - hits


def _binomial_waits(n, p, numbers, r):
    """Counts geometric waiting times until their sum passes n."""
    denominator, total, hits = r(math.log1p(-p)), 0.0, 0
    while True:
        u = numbers.uniform()
        wait = math.log(u) / denominator if u > 0 else math.inf
        total += math.ceil(wait) if wait < math.inf else wait
        if total > n:
            return hits
        hits += 1


_TAILS = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
          0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


def _stirling_tail(k):
    """log k! minus Stirling's approximation of it."""
    if k < 10:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _binomial_rejection(n, p, numbers, r):
    # W. Hoermann, The generation of binomial random variates (1993): BTRS.
    deviation = r(math.sqrt(r(r(n * p) * r(1 - p))))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = r(n * p) + 0.5
    quick = 0.92 - 4.2 / b
    odds = r(p / r(1 - p))
    alpha = (2.83 + 5.1 / b) * deviation
    mode = math.floor(r(r(n + 1) * p))
    while True:
        u = numbers.uniform() - 0.5
        v = numbers.uniform()
        us = 0.5 - abs(u)
        k = r(math.floor((2 * a / us + b) * u + c))
        if k < 0 or k > n:
            continue
        if us >= 0.07 and v <= quick:
            return k
        v = math.log(v * alpha / (a / (us * us) + b))
        misses = r(r(n - k) + 1)
        bound = ((mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
                 + r(n + 1) * math.log((n - mode + 1) / misses)
                 + (k + 0.5) * math.log(odds * misses / r(k + 1))
                 + _stirling_tail(mode) + _stirling_tail(n - mode) - _stirling_tail(k) - _stirling_tail(r(n - k)))
        if v <= bound:
            return k
