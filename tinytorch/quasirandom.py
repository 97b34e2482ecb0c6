"""torch.quasirandom: Sobol sequences.

The direction numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional
projections", SIAM J. Sci. Comput. 30 (2008), set D(6), https://web.maths.unsw.edu.au/~fkuo/sobol/new-joe-kuo-6.21201;
their licence is in kernels/random/sobol.txt. `sobol.bin` holds them bit by bit. First, for each odd number below 2^19,
one bit says whether it stands for a polynomial (these are all primitive ones up to degree 18, in rising order). Then
come the initial numbers m_1 ... m_s of each polynomial of degree s: the k - 1 bits of m_k between the first and the
last bit, which is 1.
"""
from __future__ import annotations

import functools
import os

import numpy as np

from . import dtypes as dt
from .errors import not_implemented
from .ops.layout.join import cat
from .ops.random.factories import randint
from .random import Generator
from .tensor import Tensor, wrap

__all__ = ["SobolEngine"]

_HALF = 1 << 18                                # odd numbers below 2^19


@functools.cache
def _table():
    """(the polynomials of the dimensions from the second on, their degrees, where the bits of each begin, all bits)."""
    path = os.path.join(os.path.dirname(__file__), "kernels", "random", "sobol.bin")
    data = np.frombuffer(__spec__.loader.get_data(path), np.uint8)     # the package may be in an archive
    polynomials = 2 * np.flatnonzero(np.unpackbits(data[:_HALF // 8])) + 1
    degrees = np.frexp(polynomials.astype(float))[1].astype(int) - 1
    starts = np.concatenate([[0], np.cumsum(degrees * (degrees - 1) // 2)])
    return polynomials, degrees, starts, np.unpackbits(data[_HALF // 8:])


def _directions(dimension, bits):
    """The direction numbers of each dimension: integers of `bits` bits."""
    polynomials, degrees, starts, flags = _table()
    m = np.ones((dimension, bits), np.int64)   # all numbers of the first dimension are 1
    for s in range(1, int(degrees[:dimension - 1].max(initial=0)) + 1):
        of = np.flatnonzero(degrees[:dimension - 1] == s)
        rows = of + 1
        for k in range(1, s):
            places = starts[of, None] + k * (k - 1) // 2 + np.arange(k)
            m[rows, k] = (flags[places].astype(np.int64) << np.arange(k, 0, -1)).sum(1) + 1
        for j in range(s, bits):
            value = m[rows, j - s]
            for k in range(1, s + 1):
                value = value ^ (m[rows, j - k] << k) * (polynomials[of] >> (s - k) & 1)
            m[rows, j] = value
    return m << np.arange(bits - 1, -1, -1)


class SobolEngine:
    """A generator of Sobol's points, evenly spread in the unit cube of up to 21,201 dimensions.

    scramble  shift and permute the digits at random (Owen 1998); seed: the seed of these random numbers, by default
              they are drawn from the default generator

    ValueError for a dimension outside of [1, 21201].

    >>> import tinytorch as torch
    >>> torch.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = wrap(_directions(dimension, self.MAXBIT))
        if scramble:
            self._scramble()
        else:
            self.shift = wrap(np.zeros(dimension, np.int64))
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2 ** self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: dt.dtype | None = None) -> Tensor:
        """The next n points, (n, dimension), in `dtype` or the default dtype. NotImplementedError for dtypes other than
        float32 and float64, except for the first point alone."""
        dtype = dtype or dt.get_default_dtype()
        first = self.num_generated == 0
        if first and n == 1:
            result = self._first_point.to(dtype)
        else:
            if dtype not in (dt.float32, dt.float64):
                raise not_implemented("_sobol_engine_draw", wrap(np.empty(0, dtype.numpy)))
            if n < first:
                raise RuntimeError(f"Trying to create tensor with negative dimension {n - first}: "
                                   f"[{n - first}, {self.dimension}]")
            # The points are rounded as integers, because float32 does not hold all of them.
            result = wrap(self._advance(n - first).astype(dtype.numpy)).mul_(1 / 2 ** self.MAXBIT)
            if first:
                result = cat((self._first_point.to(dtype), result), dim=-2)
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: dt.dtype | None = None) -> Tensor:
        """The next 2**m points. ValueError unless the number of points drawn so far becomes a power of 2."""
        n = 2 ** m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError("The balance properties of Sobol' points require n to be a power of 2. "
                             f"{self.num_generated} points have been previously generated, then: "
                             f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                             "'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Start again, and return the engine."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip n points, and return the engine."""
        self._advance(n - (self.num_generated == 0))
        self.num_generated += n
        return self

    def _advance(self, n):
        """The next n points as integers (except the first point, the shift itself). The last one becomes `quasi`."""
        done = max(self.num_generated - 1, 0)
        counts = ~np.arange(done, done + max(n, 0))
        lowest = np.frexp((counts & -counts).astype(float))[1] - 1     # the lowest zero of each count: Gray's code
        steps = self.sobolstate._array[:, lowest].T
        points = np.bitwise_xor.accumulate(np.concatenate([self.quasi._array[None], steps]), axis=0)
        self.quasi = wrap(points[-1].copy())
        return points[1:]

    def _scramble(self):
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        bits = np.arange(self.MAXBIT)
        shift = randint(2, (self.dimension, self.MAXBIT), generator=generator)._array
        self.shift = wrap((shift << bits).sum(1))
        lower = np.tril(randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator)._array)
        lower[:, bits, bits] = 1
        rows = (lower << bits[::-1]).sum(2)    # the rows of each matrix, as numbers
        digits = np.bitwise_count(rows[:, :, None] & self.sobolstate._array[:, None, :]) & 1
        self.sobolstate = wrap((digits.astype(np.int64) << bits[::-1, None]).sum(1))

    def __repr__(self):
        given = [f"dimension={self.dimension}", *["scramble=True"] * bool(self.scramble),
                 *[f"seed={self.seed}"] * (self.seed is not None)]
        return f"{type(self).__name__}({', '.join(given)})"
