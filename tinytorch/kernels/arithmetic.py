"""Sums, differences, products and quotients of arrays, of which the second one may be repeated for each row, and
quotients of integers."""
import sys

import numpy as np

from . import native
from .expressions import LARGE, in_one_pass
from .layout import operand_order
from .rows import around
from .threads import number
from .ufuncs import shared

_UFUNCS = {"add_each": np.add, "sub_each": np.subtract, "mul_each": np.multiply, "div_each": np.true_divide}
_FLOAT, _LONG = np.dtype(np.float32), np.dtype(np.int64)
#: Below so many elements of the first operand NumPy is faster than C.
MANY = 16384 if native.level() else sys.maxsize
#: The same for two operands of one shape, or for a number as the second one. There NumPy is as fast on one thread,
#: unless there are _FAR elements, which C writes past the caches.
_MORE, _FAR = 1 << 17, 1 << 21
#: Elements of a row of which NumPy begins a loop of its own, and from how many on that does not matter.
_WIDE = 8


def many(name, x, y):
    """The result of the kernel `name` for `x`, which has at least `MANY` elements, and `y`: a number, or an array with
    the shape of `x` or of its last dimensions. None where NumPy is to compute it on this thread."""
    if x.dtype != _FLOAT:
        return shared(_UFUNCS[name], x, y) if number() > 1 else None
    if y.__class__ is float or y.__class__ is int:
        if x.size < _MORE or x.size < _FAR and number() == 1:
            return None
        y = np.array([y], _FLOAT)
    elif type(y) is not np.ndarray:
        return None
    elif y.shape == x.shape:
        if not (x.flags.c_contiguous and y.flags.c_contiguous):
            return _by_rows(name, x, y)
        if x.size < _MORE or x.size < _FAR and number() == 1:
            return None
    elif y.shape == (*x.shape[:-1], 1):
        return _down(name, x, y)
    elif y.size != 1 and y.shape != x.shape[-y.ndim:] or y.ndim > x.ndim:
        return None
    return native.made(name, x.shape, x.size, y.size, x, y)


def whole_quotients(x, y):
    """The quotients, rounded down, of an array of int64 and another one of its shape or one integer. RuntimeError for a
    divisor of zero. None where NumPy is to compute them."""
    if y.__class__ is int:
        y = np.array([y], _LONG)
    elif type(y) is not np.ndarray or y.size != 1 and y.shape != x.shape or y.ndim > x.ndim:
        return None
    return native.made("floor_quotients", x.shape, x.size, y.size, x, y)


def _by_rows(name, x, y):
    """The same of two arrays of one shape, whose rows are runs of memory that begin equally far apart."""
    name = name[:3] + "_lines"
    if not native.many(name, x.size) or not _wide_floats(x, y) or x.ndim < 2:
        return None
    shape, apart = x.shape, []
    for array in (x, y):
        steps = array.strides
        if steps[-1] != 4 or steps[-2] < 4 * shape[-1] or steps[-2] % 4:
            return None
        if any([steps[i] != shape[i + 1] * steps[i + 1] for i in range(len(shape) - 2)]):
            return None
        apart.append(steps[-2] // 4)
    rows, width = x.size // shape[-1], shape[-1]
    result = np.empty(shape, _FLOAT)
    native.run(name, rows, width, *apart, x.reshape(rows, width), y.reshape(rows, width), result)
    return result


def _down(name, x, y):
    """The same of rows, and a number for each of them."""
    name = name[:3] + "_down"
    if not native.many(name, x.size) or not _wide_floats(x, y) or not (x.flags.c_contiguous and y.flags.c_contiguous):
        return None
    return native.result(name, x.shape, y.size, x.shape[-1], y.size, x, y)


def _wide_floats(x, y):
    return type(x) is np.ndarray and x.dtype == y.dtype == _FLOAT and x.shape[-1] >= _WIDE


def outer(x, y):
    """The products of the elements of two vectors."""
    result = native.made("mul_down", (len(x), len(y)), len(x), len(y), 1, y, x)
    return np.multiply(x[:, None], y) if result is None else result


def differences(x, dim):
    """Each element less the one before it along `dim`; None where NumPy is to compute them."""
    outer, n, inner = around(x.shape, dim)
    if n < 2 or type(x) is not np.ndarray or x.dtype != _FLOAT or not (
            x.flags.c_contiguous and native.many("sub_lines", x.size)):
        return None
    rows, shape = x.reshape(outer, n * inner), (*x.shape[:dim], n - 1, *x.shape[dim + 1:])
    return native.result("sub_lines", shape, outer, (n - 1) * inner, n * inner, n * inner, rows[:, inner:],
                         rows[:, :-inner])


def complex_sizes(x):
    """The absolute values of an array of complex64; None where NumPy is to compute them."""
    if type(x) is not np.ndarray:
        return None
    in_rows = x if x.flags.c_contiguous else np.ascontiguousarray(x)
    result = native.made("complex_sizes", x.shape, x.size, in_rows.reshape(-1).view(_FLOAT))
    return result if result is None or in_rows is x else operand_order(result, x)


# ------------------------------------------------------------------ steps of derivative rules
def _step(operation):
    """An operation of arrays or Tensors, of which the first one has the shape of the result. Threads share it for large
    arrays. Small ones are told here already, because each backward has many."""
    large = in_one_pass(operation)
    return lambda x, *rest: operation(x, *rest) if x.__class__ is not np.ndarray or x.nbytes < LARGE \
        else large(x, *rest)


product, total, subtracted, negated = map(_step, (
    lambda x, y: x * y, lambda x, y: x + y, lambda x, y: x - y, lambda x: -x))


def is_large(x):
    """Whether `x` is a large array of numbers in single or double precision."""
    return x.__class__ is np.ndarray and x.nbytes >= LARGE and x.dtype.char in "fd"
