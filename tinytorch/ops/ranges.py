"""New tensors of numbers in a row or a pattern: arange linspace logspace eye vander."""
import math
import warnings
from operator import index as as_int

import numpy as np

from .. import dtypes as dt
from ..autograd.promotion import result_dtype, write_out
from ..tensor import Tensor, wrap
from .create import as_dtype, finish

__all__ = ["arange", "eye", "linspace", "logspace", "range", "vander"]

_range = range


def _number(x):
    return x.item() if isinstance(x, (Tensor, np.generic)) else x


def arange(*args, start=0, end=None, step=1, out=None, dtype=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """Numbers from start to end (without it) by step: arange(end), arange(start, end), arange(start, end, step).

    int64 if all are integers, else the default dtype. RuntimeError for a step of zero or in the wrong direction.

    >>> import tinytorch as torch
    >>> torch.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if len(args) == 1 and end is None:
        end, = args
    elif args:
        start, end, step = (*args, *(start, end, step)[len(args):])
    given = (start, end, step)
    start, end, step = map(_number, given)
    if dtype is None:
        dtype = out.dtype if out is not None else (
            dt.int64 if all(isinstance(v, int) for v in (start, end, step)) else
            _floating(given) if any(isinstance(v, Tensor) for v in given) else dt.get_default_dtype())
    dtype = as_dtype(dtype, "arange")
    if dtype is dt.int64:
        if 0 < abs(step) < 1:
            raise ValueError("step must be nonzero")
        start, end, step = _whole(start), _whole(end), int(step)
    _check_range(start, end, step)
    count = max(math.ceil((end - start) / step), 0)
    return write_out(out, finish(_steps(start, step, count, dtype), None, device, requires_grad))


def _whole(x):
    return int(x) if math.isfinite(x) else x   # _check_range has the words for what is not finite


def _floating(given):
    d = result_dtype([v for v in given if isinstance(v, Tensor)])
    return d if d.is_floating_point else dt.get_default_dtype()


def _check_range(start, end, step):
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _steps(start, step, count, dtype):
    if dtype.category == 1:
        return (np.arange(count, dtype=np.int64) * int(step) + int(start)).astype(dtype.numpy)
    return dt.cast(np.arange(count, dtype=np.float64) * step + start, dtype.numpy)


def range(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Numbers from start to end (with it) by step. Deprecated: use `arange`.

    >>> import tinytorch as torch
    >>> torch.range(0, 2)
    tensor([0., 1., 2.])
    """
    warnings.warn("torch.range is deprecated and will be removed in a future release because its behavior is "
                  "inconsistent with Python's range builtin. Instead, use torch.arange, which produces values in "
                  "[start, end).",
                  UserWarning, stacklevel=2)
    if end is None:
        start, end = 0, start
    _check_range(start, end, step)
    count = int((end - start) / step) + 1
    array = _steps(start, step, count, dtype or dt.get_default_dtype())
    return write_out(out, finish(array, None, device, requires_grad))


def _spaced(start, end, steps, d, small):
    """`steps` numbers from start to end, each half counted from its own end, in dtype `d` (rounded
    after every operation if it is one of the `small` floats)."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    work = d.numpy if d.category >= 2 and d.itemsize > 2 else np.dtype(np.float32)
    if d.category == 1:
        work, start, end = np.dtype(np.float64), int(start), int(end)
    def rounded(x):
        return dt.cast(dt.cast(x, d.numpy), work) if small else x
    first, last = rounded(np.asarray(start, work)), rounded(np.asarray(end, work))
    if steps == 1:
        return first.reshape(1)
    step = rounded(rounded(np.asarray(last - first)) / work.type(max(steps - 1, 1)))
    way = rounded(step * np.arange(steps).astype(work))
    return rounded(np.where(np.arange(steps) < steps // 2, first + way, last - way[::-1]))


def _steps_of(name, steps):
    """How many numbers: TypeError unless it is an integer."""
    try:
        return as_int(None if isinstance(steps, bool) else steps)
    except TypeError:
        raise TypeError(f"{name}(): argument 'steps' (position 3) must be int, not {type(steps).__name__}") from None


def _spaced_dtype(start, end, dtype, out):
    if dtype is not None:
        return as_dtype(dtype, "linspace")
    if out is not None:
        return out.dtype
    return dt.default_complex() if isinstance(start, complex) or isinstance(end, complex) else dt.get_default_dtype()


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """`steps` evenly spaced numbers from start to end, both included.

    >>> import tinytorch as torch
    >>> torch.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    start, end, steps = _number(start), _number(end), _steps_of("linspace", steps)
    d = _spaced_dtype(start, end, dtype, out)
    array = dt.cast(_spaced(start, end, steps, d, d.itemsize == 2 and d.category == 2), d.numpy)
    return write_out(out, finish(array, None, device, requires_grad))


def logspace(start, end, steps, base=10.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """`steps` numbers from base**start to base**end, evenly spaced in the exponent.

    >>> import tinytorch as torch
    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    start, end, steps = _number(start), _number(end), _steps_of("logspace", steps)
    d = _spaced_dtype(start, end, dtype, out)
    exponents = _spaced(start, end, steps, d, False)
    array = dt.cast(np.power(exponents.dtype.type(base), exponents), d.numpy)
    return write_out(out, finish(array, None, device, requires_grad))


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """The n x m matrix (n x n without m) with ones on the diagonal.

    >>> import tinytorch as torch
    >>> torch.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    m = n if m is None else m
    for name, count in (("n", n), ("m", m)):
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    d = as_dtype(dtype, "eye") or (dt.get_default_dtype() if out is None else out.dtype)
    return write_out(out, finish(dt.cast(np.eye(n, m, dtype=bool), d.numpy), None, device, requires_grad))


def vander(x, N=None, *, increasing=False):
    """The Vandermonde matrix of a vector: its powers as columns, highest first unless `increasing`.

    >>> import tinytorch as torch
    >>> torch.vander(torch.tensor([1, 2, 3]), 3, increasing=True).tolist()
    [[1, 1, 1], [1, 2, 4], [1, 3, 9]]
    """
    if x.array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.array.size if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    powers = _range(n) if increasing else _range(n - 1, -1, -1)
    d = x.array.dtype if x.array.dtype.kind in "fcV" else np.dtype(np.int64)
    return x.to(dt.BY_NUMPY[d]).unsqueeze(1) ** wrap(np.array(powers, np.int64))
