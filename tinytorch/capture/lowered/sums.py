"""Reductions (sums, maxima, minima) and matrix products of the arrays of a tape."""
from __future__ import annotations

import functools
from math import prod
from typing import Any

import numpy as np

from .arrays import NotLowered, Place, Reading, Traced

_FLOAT, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
#: Packing into panels pays above this many multiplications; elements that are summed in one piece (kernels/sums.py).
_SMALL, _PIECE_OF_SUM = 1 << 13, 16384


class InNumpy:
    """A call of a NumPy function between two sequences in C. It gives the bits that it gives in eager. `args` has
    Places instead of arrays, and `out` is the place that the call writes to."""

    __slots__ = ("call", "args", "kwargs", "out", "reads", "writes")

    def __init__(self, call, args, kwargs, out):
        self.call, self.args, self.kwargs, self.out = call, args, kwargs, out
        self.reads, self.writes = {x.root for x in args if x.__class__ is Place}, {out.root}

    def places(self):
        return [*[x for x in self.args if x.__class__ is Place], self.out]


class Sums:
    """The part of a tape that records reductions and products."""

    new: Any
    call: Any
    kernel: Any
    moved: Any
    place: Any
    owner: Any
    move: Any
    copy_place: Any
    bits: bool
    calls: list
    root: Any
    array: Any

    def in_numpy(self, call, args, kwargs, shown, out=None):
        """Records a call of a NumPy function, `call`. Its result has the shape, dtype and strides of `shown`, and is
        written to `out` if that is given."""
        if any([x.__class__ is Reading or isinstance(x, (list, tuple)) for x in args]):
            raise NotLowered(f"{call.__name__} of a list or of a number that changes")
        if shown.dtype.kind not in "fbiu":
            raise NotLowered(f"arrays of {shown.dtype}")
        if out is None:
            out = self.array(self.root("made", shown.nbytes), shown.shape, shown.dtype, 0, shown.strides)
        elif type(out) is not Traced or out.shape != shown.shape or out.dtype != shown.dtype:
            raise NotLowered("out has another shape or dtype than the result")
        places = [self.place(x) if isinstance(x, np.ndarray) else x for x in args]
        to = self.place(out)
        if to.root.kind == "constant":
            raise NotLowered("a constant is written to")
        self.calls.append(InNumpy(call, places, kwargs, to))
        return out

    def reduce(self, ufunc, x, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
        """ufunc.reduce"""
        # The cases, in this order:
        #   the bits of eager are required: NumPy
        #   all axes have size 1: a copy
        #   a sum of float32: `_sum`; a maximum or a minimum of float32: `_extreme`
        name = ufunc.__name__
        if self.bits:
            if initial is not None or where is not True or dtype is not None:
                raise NotLowered(f"{name}.reduce")
            kwargs = {"axis": axis, "keepdims": True} if keepdims else {"axis": axis}
            with np.errstate(all="ignore"):
                shown = np.asarray(ufunc.reduce(np.ndarray.view(x, np.ndarray), **kwargs))
            return self.in_numpy(ufunc.reduce, [x], kwargs, shown, out)
        if dtype is not None or initial is not None or where is not True or (
                name not in ("add", "maximum", "minimum") or x.dtype != _FLOAT or not x.size):
            raise NotLowered(f"{name}.reduce of {x.dtype}")
        if axis is None:
            axes = tuple(range(x.ndim))
        else:
            axes = axis if type(axis) is tuple else (axis,)
        axes = tuple(sorted([int(i) % x.ndim for i in axes])) if x.ndim else ()
        shape = tuple([1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes])
        if out is not None and (type(out) is not Traced or out.shape != shape or out.dtype != _FLOAT):
            raise NotLowered("out has another shape or dtype than the sum")
        real = tuple([i for i in axes if x.shape[i] != 1])
        if not real:
            made = self.moved(x).reshape(shape)
        else:
            kept = [i for i in range(x.ndim) if i not in real]
            made = (self._sum if name == "add" else functools.partial(self._extreme, name == "minimum"))(x, real, kept)
            made = made.reshape(shape)
        if out is None:
            return made
        self.copy_place(self.place(made), self.place(out))
        return out

    def _contiguous(self, x):
        return x if x.flags.c_contiguous else self.moved(x)

    def _sum(self, x, axes, kept):
        # The cases, in this order:
        #   x has gaps or another order than C: the sum of its transpose if that is contiguous, else of a copy
        #   the last dimension is summed: sums of rows, then the sum of these over the remaining axes
        #   the axes are not the leading dimensions: the sum of a copy that has them last
        #   else: sums of columns
        n = x.ndim
        if not x.flags.c_contiguous:           # in the order of memory, if it has no gaps
            order = sorted(range(n), key=lambda i: (-x.strides[i], i))
            turned = x.transpose(order)
            if turned.flags.c_contiguous:
                axes, inverse = tuple(sorted([order.index(i) for i in axes])), [i for i in order if i in kept]
                made = self._sum(turned, axes, [i for i in range(n) if i not in axes])
                made = made.reshape([x.shape[i] for i in inverse])
                return made.transpose([inverse.index(i) for i in kept])
            x = self.moved(x)
        last = max([i for i in range(n) if x.shape[i] != 1])
        if last in axes:
            first = last
            while first - 1 in axes or first and x.shape[first - 1] == 1:
                first -= 1
            rows = prod(x.shape[:first])
            made = self._row_sums(x, rows, prod(x.shape[first:]))
            rest = tuple([i for i in axes if i < first])
            made = made.reshape(x.shape[:first])
            return self._sum(made, rest, [i for i in range(first) if i not in rest]) if rest else made
        stop = max(axes) + 1
        first = stop
        while first and (first - 1 in axes or x.shape[first - 1] == 1):
            first -= 1
        if not prod(x.shape[:first]) == 1:
            turned = self.moved(x.transpose([*kept, *axes]))
            return self._sum(turned, tuple(range(len(kept), n)), list(range(len(kept))))
        return self._column_sums(x, prod(x.shape[:stop]), prod(x.shape[stop:]))

    def _row_sums(self, x, rows, width):
        made = self.new((rows,))
        pieces = -(-width // _PIECE_OF_SUM) if rows == 1 else 0
        parts = self.new((pieces,), _DOUBLE) if pieces > 1 else None
        self.kernel("row_sums", rows, width, _PIECE_OF_SUM, pieces, x, parts, made)
        return made

    def _column_sums(self, x, rows, width):
        grain = max(32, _PIECE_OF_SUM // width)
        pieces = -(-rows // grain)
        parts = self.new((pieces, width))
        self.kernel("column_sums", rows, width, grain, pieces, x, parts)
        return parts[0]

    def _extreme(self, smallest, x, axes, kept):
        n = x.ndim
        x = self.moved(x.transpose([*kept, *axes])) if list(axes) != list(range(n - len(axes), n)) else (
            self._contiguous(x))
        rows = prod([x.shape[i] for i in range(len(kept))])
        made = self.new((rows,))
        self.kernel("extremes", rows, x.size // rows, 1, smallest, x, made)
        return made

    # ------------------------------------------------------------- products
    def dot(self, a, b, out=None):
        if self.bits:
            return self._product_in_numpy(np.dot, a, b, out)
        if not isinstance(b, np.ndarray) or not a.ndim or not b.ndim:
            return np.multiply(a, b) if out is None else np.multiply(a, b, out=out)
        if a.ndim > 2 and b.ndim == 2:
            found = self.matmul(a.reshape(-1, a.shape[-1]), b).reshape(a.shape[:-1] + b.shape[-1:])
        elif a.ndim <= 2 and b.ndim <= 2:
            found = self.matmul(a, b)
        else:
            raise NotLowered("a product of arrays with more than two dimensions")
        if out is not None:
            self.move(found, out)
            return out
        return found

    def matmul(self, a, b, out=None):
        """np.matmul"""
        if self.bits:
            return self._product_in_numpy(np.matmul, a, b, out)
        for x in (a, b):
            if x.dtype != _FLOAT:
                raise NotLowered(f"a product of {x.dtype}")
        shape_of = np.matmul(np.broadcast_to(np.float32(0), a.shape), np.broadcast_to(np.float32(0), b.shape)).shape \
            if a.size * b.size < 4096 else _shape_of_product(a.shape, b.shape)
        left = a[None, :] if a.ndim == 1 else a
        right = b[:, None] if b.ndim == 1 else b
        if not prod(shape_of) or not a.size:
            made = self.new(shape_of, zeros=True)
        elif right.ndim == 2:
            if left.ndim > 2:
                left = left.reshape(-1, left.shape[-1])
            made = self._product(left, right).reshape(shape_of)
        else:
            made = self._products(left, right).reshape(shape_of)
        if out is None:
            return made
        self.move(made, out)
        return out

    def _product_in_numpy(self, call, a, b, out):
        a, b = (x if isinstance(x, np.ndarray) else np.asarray(x) for x in (a, b))
        few = [np.empty([min(n, 1) for n in x.shape], x.dtype) for x in (a, b)]
        if a.dtype != b.dtype or not a.ndim or not b.ndim:
            raise NotLowered("a product of different dtypes or of numbers")
        if a.size * b.size < 4096:
            shape = call(np.zeros(a.shape, a.dtype), np.zeros(b.shape, b.dtype)).shape
        elif call is np.matmul:
            shape = _shape_of_product(a.shape, b.shape)
        else:
            shape = a.shape[:-1] + (b.shape[:-2] + b.shape[-1:] if b.ndim > 1 else ())
        return self.in_numpy(call, [a, b], {}, np.empty(shape, call(*few).dtype), out)

    def _stored(self, x):
        """(whether it is stored transposed, array, leading dimension) of a matrix. A matrix is copied if neither its
        rows nor its columns are contiguous."""
        (m, n), (row, step) = x.shape, x.strides
        if (step == 4 or n == 1) and (row >= 4 * n and row % 4 == 0 or m == 1):
            return 0, x, row // 4 if m > 1 else n
        if (row == 4 or m == 1) and (step >= 4 * m and step % 4 == 0 or n == 1):
            return 1, x, step // 4 if n > 1 else m
        x = self.moved(x)
        return 0, x, n

    def _product(self, a, b):
        (m, k), n = a.shape, b.shape[1]
        made = self.new((m, n))
        (ta, a, lda), (tb, b, ldb) = self._stored(a), self._stored(b)
        if n == 1 and m > 1:
            ta, a, lda, tb, b, ldb, m, n = not tb, b, ldb, not ta, a, lda, 1, m
        reads = {self.owner(a), self.owner(b)}
        a, b, c = self.place(a), self.place(b), self.place(made)
        in_a_row = not ta if m > 1 else not ta or lda == 1
        if m == 1 and tb and (in_a_row or k == 1):
            self.call("row", [n, k, ldb, 0, a, b, None, c], reads, {c.root})
        elif m * n * k <= _SMALL or min(m, n) < 8 or k < 4:
            self.call("small", [ta, tb, m, n, k, lda, ldb, 0, a, b, None, c], reads, {c.root})
        else:
            turned = tb and 4 * m <= n
            self.call("product", [ta, tb, m, n, k, lda, ldb, turned, m > 16 or k > 1024, 128,
                                  1 + (1 << 20) // (48 * k * min(128, n if turned else m)), a, b, None, c], reads,
                      {c.root})
        return made

    def _products(self, a, b):
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        (m, k), n = a.shape[-2:], b.shape[-1]
        if len(shape) > 2:
            a, b = (np.broadcast_to(x, shape + x.shape[-2:]) for x in (a, b))
            a, b = a.reshape(-1, m, k), b.reshape(-1, k, n)
            shape = a.shape[:1]
        given = []
        for x in (a, b):
            x = np.broadcast_to(x, shape + x.shape[-2:])
            x = x[(None,) * (4 - x.ndim)]
            outer, inner, row, step = x.strides
            rows, columns = x.shape[2:]
            if (step == 4 or columns == 1) and (row >= 4 * columns or rows == 1) and not (row | outer | inner) % 4:
                given.append((0, x, row // 4 if rows > 1 else columns))
            elif (row == 4 or rows == 1) and (step >= 4 * rows or columns == 1) and not (step | outer | inner) % 4:
                given.append((1, x, step // 4 if columns > 1 else rows))
            else:
                given.append((0, self.moved(x), columns))
        (ta, a, lda), (tb, b, ldb) = given
        made = self.new(a.shape[:2] + (m, n))
        apart = [s // 4 if size > 1 else 0 for x in (a, b) for s, size in zip(x.strides[:2], x.shape)]
        self.call("products", [ta, tb, m, n, k, lda, ldb, *a.shape[:2], *apart, 1 + (1 << 20) // max(m * n * k, 1),
                               self.place(a), self.place(b), self.place(made)],
                  {self.owner(a), self.owner(b)}, {self.owner(made)})
        return made.reshape(shape + (m, n))


def _shape_of_product(a, b):
    if len(a) == 1 and len(b) == 1:
        return ()
    if len(a) == 1:
        return b[:-2] + b[-1:]
    if len(b) == 1:
        return a[:-1]
    return np.broadcast_shapes(a[:-2], b[:-2]) + (a[-2], b[-1])
