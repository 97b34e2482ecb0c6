"""Running results along a dimension: cumsum cumprod cummax logcumsumexp diff trapezoid ..."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.op import op, renamed
from ...autograd.promotion import EXACT, converted, in_float32
from ...autograd.public import public
from ...tensor import Tensor, check_dim, wrap
from ...types import Number, Tensors
from ..elementwise.limits import maximum
from ..elementwise.power import logaddexp
from ..layout.scatter import _gather

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "cumulative_trapezoid", "diff", "logcumsumexp", "trapezoid",
           "trapz"]


def _running(accumulate, input, dim, dtype, *flags):
    """`accumulate` along `dim` in the dtype that is asked for (integers: int64)."""
    if dtype is not None:
        input = converted(input, dtype.numpy)
    elif input.array.dtype.kind in dt.INTEGRAL:
        input = converted(input, np.dtype(np.int64))
    dim = check_dim(dim, input.array.ndim)
    if input.array.dtype.kind == dt.WIDENED:   # not at the door: `dtype` decides
        return in_float32(accumulate, input, dim, *flags)
    return accumulate(input, dim, *flags)


@op(name="cumsum", input=lambda g, dim, backward: _cumsum(g, dim, not backward))
def _cumsum(input, dim, backward):
    """Running sums along `dim`, from its end if `backward`."""
    if not input.ndim:
        return input.copy()
    if backward:
        result = np.empty(input.shape, input.dtype)
        np.cumsum(np.flip(input, dim), axis=dim, out=np.flip(result, dim))
        return result
    return np.cumsum(np.ascontiguousarray(input), axis=dim, dtype=input.dtype)


def _chain(g, factor):
    """h with h[k] = g[k] + factor[k+1] * h[k+1] along the first axis, in log(n) steps: steps are composed
    pairwise, each an affine map of the h behind it."""
    h, a = g.copy(), np.zeros_like(factor)
    a[:-1] = factor[1:]
    step = 1
    while step < len(h):
        h[:-step] += a[:-step] * h[step:]
        a[:-step] *= a[step:]
        step *= 2
    return h


def _doubling(input, dim, combine):
    """Running results of an associative `combine` in ordinary ops: differentiable any number of times."""
    from ..layout.join import cat  # the twins alone need it
    if not input.ndim:
        return input.clone()
    x, step = input.transpose(0, dim), 1
    while step < x.shape[0]:
        x = cat([x[:step], combine(x[step:], x[:-step])])
        step *= 2
    return x.transpose(0, dim)


def _cumprod_grad(g, wanted, input, dim):
    if not input.ndim:
        return g,
    x, g = np.moveaxis(input, dim, 0).conjugate(), np.moveaxis(g, dim, 0)
    before = np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    return np.moveaxis(before * _chain(g, x), 0, dim),


@op(name="cumprod", inputs=1, joint=_cumprod_grad,
    decomposition=lambda input, dim: _doubling(input, dim, lambda a, b: a * b))
def _cumprod(input, dim):
    return np.cumprod(np.ascontiguousarray(input), axis=dim, dtype=input.dtype) if input.ndim else input.copy()


def _logcumsumexp_grad(g, wanted, input, ans, dim):
    if not input.ndim:
        return g,
    x, total, g = (np.moveaxis(v, dim, 0) for v in (input, ans, g))
    share = np.ones_like(x)                    # of the running sum before in the one after
    share[1:] = np.where(np.isinf(total[1:]), 0, np.exp(total[:-1] - total[1:]))
    own = np.where(np.isinf(total), 0, np.exp(x - total))
    return np.moveaxis(_chain(g, share.conj()) * own.conj(), 0, dim),


def _log_sum(a, b):
    """logaddexp whose second derivative does not overflow either, for the decomposition."""
    high = maximum(a.real, b.real).detach()
    high = high.masked_fill(high.isinf(), 0)   # two -inf: their difference is no number
    return ((a - high).exp() + (b - high).exp()).log() + high


@op(name="logcumsumexp", inputs=1, joint=_logcumsumexp_grad,
    decomposition=lambda input, dim: _doubling(input, dim, _log_sum))
def _logcumsumexp(input, dim):
    if not input.ndim:
        return input.copy()
    if input.dtype.kind not in dt.COMPLEX:
        return np.logaddexp.accumulate(input, axis=dim)
    result = input.copy()                      # one after the other: the imaginary parts add up, unwrapped
    steps = np.moveaxis(result, dim, 0)
    for k in range(1, len(steps)):
        steps[k] = logaddexp(steps[k - 1], steps[k])
    return result


@public(out="", method=True, inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Running sums along `dim`; integers in int64.

    >>> import tinytorch as torch
    >>> torch.cumsum(torch.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    return _running(_cumsum, input, dim, dtype, False)


@public(out="", method=True, inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Running products along `dim`; integers in int64.

    >>> import tinytorch as torch
    >>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """
    return _running(_cumprod, input, dim, dtype)


@public(dtypes=dt.FLOATING + dt.COMPLEX, kernel="logcumsumexp_out_cpu", widen=True,
        out="expected scalar_type {Want} but found {Have}", method=True)
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """log of the running sums of exp(input) along `dim`, without overflow.

    >>> import tinytorch as torch
    >>> torch.logcumsumexp(torch.zeros(2), 0)
    tensor([0.0000, 0.6931])
    """
    return _logcumsumexp(input, check_dim(dim, input.array.ndim))


_take_max, _take_min = renamed(_gather, "cummax"), renamed(_gather, "cummin")


def _cumulative(accumulate, take, result, input, dim):
    array = input.array
    dim = check_dim(dim, array.ndim)
    if not array.ndim:
        return result(input.clone(), wrap(np.zeros((), np.int64)))
    best = accumulate(array, axis=dim)
    hits = (array == best) | (array != array)  # the latest of equal ones; a NaN stays
    places = np.arange(array.shape[dim]).reshape([-1 if d == dim else 1 for d in range(array.ndim)])
    index = wrap(np.maximum.accumulate(np.where(hits, places, 0), axis=dim))
    return result(take(input, dim, index), index)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, widen=True, kernel="cummax_cpu", out=EXACT, apart=None, method=True)
def cummax(input: Tensor, dim: int, *, out: Tensors | None = None) -> return_types.cummax:
    """The largest element so far along `dim` and where it stands: (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.cummax(torch.tensor([1, 3, 2]), 0); values, indices
    (tensor([1, 3, 3]), tensor([0, 1, 1]))
    """
    return _cumulative(np.maximum.accumulate, _take_max, return_types.cummax, input, dim)


@public(dtypes=dt.INTEGRAL + dt.FLOATING, widen=True, kernel="cummin_cpu", out=EXACT, apart=None, method=True)
def cummin(input: Tensor, dim: int, *, out: Tensors | None = None) -> return_types.cummin:
    """The smallest element so far along `dim` and where it stands: (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.cummin(torch.tensor([3, 1, 2]), 0); values, indices
    (tensor([3, 1, 1]), tensor([0, 1, 1]))
    """
    return _cumulative(np.minimum.accumulate, _take_min, return_types.cummin, input, dim)


# ------------------------------------------------------------------ differences and integrals
def _slices(x, dim):
    """All but the first, and all but the last, along `dim`."""
    lead = (slice(None),) * dim
    return x[lead + (slice(1, None),)], x[lead + (slice(None, -1),)]


@public(out="", apart=None, method=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """Differences of neighbours along `dim`, taken n times.

    >>> import tinytorch as torch
    >>> torch.diff(torch.tensor([1, 3, 2]))
    tensor([ 2, -1])
    """
    if not input.array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = check_dim(dim, input.array.ndim)
    if n == 0:
        return input.clone()
    if prepend is not None or append is not None:
        from ..layout.join import cat
        input = cat([x for x in (prepend, input, append) if x is not None], dim)
    for _ in range(min(n, input.array.shape[dim])):
        behind, before = _slices(input, dim)
        input = behind != before if input.array.dtype == bool else behind - before
    return input


def _sides(name, y, x, dim):
    """What the rule adds up: y on both sides of every interval and the widths of the intervals (None without `x`)."""
    if y.array.dtype == bool or x is not None and x.array.dtype == bool:
        raise RuntimeError(f"{name}: received a bool input for `{'y' if x is None else 'x` or `y'}`, but bool is not "
                           "supported")
    right, left = _slices(y, dim)
    if x is None:
        return left, right, None
    if x.array.ndim == 1:
        if x.array.shape[0] != y.array.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        x = x.reshape([-1 if d == dim else 1 for d in range(y.array.ndim)])
        behind, before = _slices(x, dim)
    else:
        behind, before = _slices(x, dim - y.array.ndim + x.array.ndim)
    return left, right, behind - before


@public()
def trapezoid(y: Tensor, x: Tensor = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """The integral of y along `dim` by the trapezoidal rule, at points `x` or with spacing `dx`.

    >>> import tinytorch as torch
    >>> torch.trapezoid(torch.tensor([1., 5., 10.]))
    tensor(10.5000)
    """
    return _integral(y, x, dx, dim)


def _integral(y, x, dx, dim):
    shape = y.array.shape
    dim = check_dim(dim, len(shape))
    if shape and not shape[dim]:               # of no points, in the dtype of y
        return wrap(np.zeros(shape[:dim] + shape[dim + 1:], y.array.dtype))
    left, right, widths = _sides("trapezoid", y, x, dim)
    if widths is not None:
        return ((left + right) * widths).sum(dim) / 2.0
    return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx


@public()
def trapz(y: Tensor, x: Tensor = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """`trapezoid` by its older name."""
    return _integral(y, x, dx, dim)


@public()
def cumulative_trapezoid(y: Tensor, x: Tensor = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """Running integrals of y along `dim` by the trapezoidal rule.

    >>> import tinytorch as torch
    >>> torch.cumulative_trapezoid(torch.tensor([1., 5., 10.]))
    tensor([ 3.0000, 10.5000])
    """
    dim = check_dim(dim, y.array.ndim)
    left, right, widths = _sides("cumulative_trapezoid", y, x, dim)
    if widths is None:
        return ((left + right) * (dx / 2.0)).cumsum(dim)
    return ((left + right) * widths).cumsum(dim) / 2.0
