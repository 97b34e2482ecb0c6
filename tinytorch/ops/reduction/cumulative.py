"""Running results along a dimension: cumsum cumprod cummax logcumsumexp diff trapezoid ..."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt, return_types
from ...autograd.grad_mode import mode
from ...autograd.op import op, unwatched
from ...autograd.promotion import EXACT, converted, refuse_complex_gradient, write_out
from ...autograd.public import public
from ...errors import not_implemented, refuse_records
from ...kernels import scan
from ...kernels.arithmetic import differences
from ...kernels.layout import as_array
from ...kernels.running import running
from ...kinds.one_step import one_step
from ...tensor import Tensor, check_dim, wrap
from ...types import Number, Tensors
from ..elementwise.math import exp, log
from ..elementwise.power import logaddexp
from ..elementwise.where import pick
from ..layout.scatter import _gather, _gather_backward
from .reductions import at_once, check_recorded_dtype, dtype_in, raw

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "cumulative_trapezoid", "diff", "logcumsumexp", "trapezoid",
           "trapz"]


def _running(accumulate, input, dim, dtype, *flags):
    """`accumulate` along `dim` in the given dtype. Without one, integers are computed in int64."""
    dim = check_dim(dim, input._array.ndim)
    if dtype is not None:
        if dtype is dt.bool and input._array.ndim and input._array.size:
            raise not_implemented(f"{accumulate.op.name}_out_cpu", dtype)
        check_recorded_dtype(input, dtype)
        input = converted(input, dtype.numpy)
    elif input._array.dtype.kind in dt.NATIVE:
        return accumulate(input, dim, *flags, True)
    elif input._array.dtype.kind in dt.INTEGRAL:
        input = converted(input, np.dtype(np.int64))
    return at_once(accumulate, input, dim, *flags, input._array.dtype != dt.BFLOAT16)


@op(name="cumsum", batches="dims", kernel="cumsum_out_cpu",
    input=lambda g, dim, backward, wide: _cumsum(g, dim, not backward, wide))
def _cumsum(input, dim, backward, wide):
    """Running sums along `dim`; from its end if `backward`. `wide` is explained in `running`."""
    return running(input, dim, False, backward, wide) if input.ndim else input.copy()


def _recurrence(g, factor):
    """h with h[k] = g[k] + factor[k+1] * h[k+1] along the first axis, in log(n) steps. Each step is an affine map of
    the next h, and neighbouring maps are composed in pairs."""
    h, a = g.copy(), np.zeros_like(factor)
    a[:-1] = factor[1:]
    step = 1
    while step < len(h):
        h[:-step] += a[:-step] * h[step:]
        a[:-step] *= a[step:]
        step *= 2
    return h


def _recurrence_recorded(g, a):
    """`_recurrence` made of recorded ops. `a` holds, for each h but the last, the factor of the next h."""
    from ..layout.join import cat  # loaded here: only this function and its like need it
    h, step = g, 1
    while step < h.shape[0]:
        h = cat([h[:-step] + a * h[step:], h[-step:]])
        a, step = a[:-step] * a[step:] if a.shape[0] > step else a[:0], step * 2
        a = a[:max(h.shape[0] - step, 0)]
    return h


def _cumprod_grad(g, input, ans, dim, wide):
    """The gradient of cumprod. It divides by the elements if none is zero, else it multiplies the others."""
    from ..layout.join import cat  # loaded here: only inputs with zeros need it
    array = raw(input)
    if not array.ndim or array.size <= 1 or array.shape[dim] == 1:
        return g
    if np.count_nonzero(array) == array.size:
        return _cumsum(ans.conj() * g, dim, True, wide) / input.conj()
    x, g = input.swapaxes(0, dim).conj(), g.swapaxes(0, dim)
    if isinstance(g, Tensor):
        one = wrap(dt.cast(np.ones((1, *x.shape[1:])), x._array.dtype))
        return (cat([one, x[:-1].cumprod(0)]) * _recurrence_recorded(g, x[1:])).swapaxes(0, dim).contiguous()
    before = np.ones_like(x)
    np.cumprod(x[:-1], axis=0, out=before[1:])
    return np.ascontiguousarray((before * _recurrence(g, x)).swapaxes(0, dim))


def _of_complex(array):
    """The first product is 1 times the first element, as in torch. NaN in one part of a complex number then spreads to
    the other part."""
    if array.size and not np.isfinite(array).all():
        array = np.array(array)
        array[:1] *= np.ones((), array.dtype)
    return array


@op(name="cumprod", batches="dims", kernel="cumprod_out_cpu", steps=True, input=_cumprod_grad)
def _cumprod(input, dim, wide):
    if not input.ndim:
        return input.copy()
    if input.dtype.kind in dt.COMPLEX:
        input = _of_complex(input.swapaxes(0, dim)).swapaxes(0, dim)
    return running(input, dim, True, False, wide)


def _reversed_logcumsumexp(x, dim):
    """logcumsumexp from the end of `dim`."""
    if isinstance(x, Tensor):
        return _logcumsumexp(x.flip(dim), dim).flip(dim)
    return np.flip(_logcumsumexp(np.flip(x, dim), dim), dim)


def _logcumsumexp_grad(g, input, ans, dim):
    """Torch's steps: the positive and the negative part of the gradient are computed apart, by their logarithms."""
    array = raw(g)
    if not array.ndim or not array.size:
        return g
    if mode.computing_jvp:                     # forward mode needs a formula that is linear in g
        x, total, g = (v.swapaxes(0, dim) for v in (input, ans, g))
        running = exp(total[:-1] - total[1:]).masked_fill(total[1:].isinf(), 0)
        return (_recurrence_recorded(g, running.conj()) * exp(x - total).conj()).swapaxes(0, dim)
    if array.dtype.kind in dt.COMPLEX:
        return exp(_reversed_logcumsumexp(log(g.conj()) - ans, dim) + input).conj()
    size = log(abs(g))
    lowest = dt.finfo(size.dtype if isinstance(size, Tensor) else dt.of(size)).min
    parts = [pick(sign, size, lowest) for sign in (array > 0, array < 0)]
    raising, lowering = [exp(_reversed_logcumsumexp(part - ans, dim) + input) for part in parts]
    return raising - lowering


@op(name="logcumsumexp", batches="dims", steps=True, input=_logcumsumexp_grad)
def _logcumsumexp(input, dim):
    if not input.ndim:
        return input.copy()
    if input.dtype.kind not in dt.COMPLEX:
        wide = np.asarray(input, np.float32 if input.dtype == np.float16 else None, order="C")
        return np.logaddexp.accumulate(wide, axis=dim).astype(input.dtype, copy=False)
    result = np.array(input, order="C")        # step by step: imaginary parts add up and are not wrapped
    steps = np.moveaxis(result, dim, 0)
    if len(steps):
        steps[0] = np.where(np.isnan(steps[0]), complex(np.nan, np.nan),
                            np.where(steps[0].real == -np.inf, -np.inf, steps[0]))
    for k in range(1, len(steps)):
        steps[k] = logaddexp(steps[k], steps[k - 1])
    return result


def _written(out, result, input, dtype):
    """`result`, or `out` after the result is written to it. `out` must have the `dtype` argument, if it was given."""
    return write_out(out, result, input, exact=None if dtype is None else EXACT)


@public(method=True, inplace=True, repeats=True)
def cumsum(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Running sums along `dim`. Integers are summed in int64.

    >>> import tinytorch as torch
    >>> torch.cumsum(torch.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    wanted = dtype_in(out) if dtype is None and out is not None else dtype
    return _written(out, _running(_cumsum, input, dim, wanted, False), input, dtype)


@public(method=True, inplace=True, repeats=True)
def cumprod(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Running products along `dim`. Integers are multiplied in int64.

    >>> import tinytorch as torch
    >>> torch.cumprod(torch.tensor([1, 2, 3]), 0)
    tensor([1, 2, 6])
    """
    wanted = dtype_in(out) if dtype is None and out is not None else dtype
    return _written(out, _running(_cumprod, input, dim, wanted), input, dtype)


@public(out="expected scalar_type {Want} but found {Have}", method=True)
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """log of the running sums of exp(input) along `dim`, without overflow.

    >>> import tinytorch as torch
    >>> torch.logcumsumexp(torch.zeros(2), 0)
    tensor([0.0000, 0.6931])
    """
    dim = check_dim(dim, input._array.ndim)
    if input._array.dtype.kind in dt.INTEGRAL:
        raise not_implemented("logcumsumexp_out_cpu", input)
    refuse_records("logcumsumexp_out_cpu", input)
    return at_once(_logcumsumexp, input, dim)


def _taken_grad(g, input, dim, index):
    """The rule names `input`, so that it is saved as in torch."""
    return _gather_backward(g, dim, index, input.shape)


_take_max = op(name="cummax", input=_taken_grad, called={"index": "indices"})(_gather.op.forward)
_take_min = op(name="cummin", input=_taken_grad, called={"index": "indices"})(_gather.op.forward)


def _cumulative(name, accumulate, take, result, input, dim):
    array = input._array
    if not array.ndim:
        if dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        refuse_complex_gradient(name, input)
        index = wrap(np.zeros((), np.int64))
        return result(take(input, 0, index), index)
    if not array.size:                         # torch does not check `dim`
        refuse_complex_gradient(name, input)
        index = wrap(np.zeros(array.shape, np.int64))
        return result(take(input, 0, index), index)
    dim = check_dim(dim, array.ndim)
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise not_implemented(f"{name}_cpu", input)
    refuse_records(f"{name}_cpu", input)
    array = dt.widened(array)
    best, index = _running_extremes(array, dim, accumulate)
    index = wrap(index)
    if best is not None and unwatched(input) and input._array.dtype == array.dtype:
        return result(wrap(best), index)
    return result(take(input, dim, index), index)


@one_step
def _running_extremes(array, dim, accumulate):
    """(the running extremes, or None without a kernel, their positions)."""
    array = np.ascontiguousarray(array)
    found = scan.running_extremes(array, dim, accumulate.__self__ is np.minimum)
    if found is not None:
        return found
    best = accumulate(array, axis=dim)
    hits = (array == best) | (array != array)  # the last of equal elements; once there is a NaN, it stays
    places = np.arange(array.shape[dim]).reshape([-1 if d == dim else 1 for d in range(array.ndim)])
    return None, np.maximum.accumulate(np.where(hits, places, 0), axis=dim)


@public(out=EXACT, apart=None, method=True, repeats=True)
def cummax(input: Tensor, dim: int, *, out: Tensors | None = None) -> return_types.cummax:
    """The largest element so far along `dim` and its index: (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.cummax(torch.tensor([1, 3, 2]), 0); values, indices
    (tensor([1, 3, 3]), tensor([0, 1, 1]))
    """
    return _cumulative("cummax", np.maximum.accumulate, _take_max, return_types.cummax, input, dim)


@public(out=EXACT, apart=None, method=True)
def cummin(input: Tensor, dim: int, *, out: Tensors | None = None) -> return_types.cummin:
    """The smallest element so far along `dim` and its index: (values, indices).

    >>> import tinytorch as torch
    >>> values, indices = torch.cummin(torch.tensor([3, 1, 2]), 0); values, indices
    (tensor([3, 1, 1]), tensor([0, 1, 1]))
    """
    return _cumulative("cummin", np.minimum.accumulate, _take_min, return_types.cummin, input, dim)


# ------------------------------------------------------------------ differences and integrals
def _slices(x, dim):
    """All but the first, and all but the last, along `dim`."""
    if not x._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    lead = (slice(None),) * check_dim(dim, x._array.ndim)
    return _part(x, lead + (slice(1, None),)), _part(x, lead + (slice(None, -1),))


def _part(x, index):
    """x[index] by a basic index, for reading only: without history it is no view that knows its base."""
    return wrap(as_array(x._array[index])) if unwatched(x) and x._array.flags.c_contiguous else x[index]


@public(out="", apart=None, method=True, repeats=True)
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *,
         out: Tensor | None = None) -> Tensor:
    """Differences of neighbours along `dim`, taken n times.

    >>> import tinytorch as torch
    >>> torch.diff(torch.tensor([1, 3, 2]))
    tensor([ 2, -1])
    """
    if not input._array.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for x in (prepend, append):
        if x is not None and x._array.ndim != input._array.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    if n == 0:                                 # torch does not check `dim`
        return input.clone()
    dim = check_dim(dim, input._array.ndim)
    if prepend is not None or append is not None:
        from ..layout.join import cat
        input = cat([x for x in (prepend, input, append) if x is not None], dim)
    if n == 1 and unwatched(input) and (found := differences(input._array, dim)) is not None:
        return wrap(found)
    for _ in range(min(n, input._array.shape[dim])):
        behind, before = _slices(input, dim)
        input = behind != before if input._array.dtype == bool else behind - before
    return input


def _interval_ends(name, y, x, dim):
    """(left, right, widths): y at both ends of every interval, and the widths of the intervals (None without `x`)."""
    if y._array.dtype == bool or x is not None and x._array.dtype == bool:
        raise RuntimeError(f"{name}: received a bool input for `{'y' if x is None else 'x` or `y'}`, but bool is not "
                           "supported")
    if x is None:
        right, left = _slices(y, dim)
        return left, right, None
    ndim = y._array.ndim
    if x._array.ndim == 1:
        if x._array.shape[0] != _size(y, dim):
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        dim = check_dim(dim, ndim)
        x = x.reshape([x._array.shape[0] if d == dim else 1 for d in range(ndim)])
    elif x._array.ndim < ndim:
        x = x.reshape((1,) * (ndim - x._array.ndim) + x._array.shape)
    behind, before = _slices(x, dim)
    widths = behind - before
    right, left = _slices(y, dim)
    return left, right, widths


def _size(x, dim):
    """The size of dimension `dim`. IndexError if the tensor has no dimensions."""
    if not x._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return x._array.shape[check_dim(dim, x._array.ndim)]


@public()
def trapezoid(y: Tensor, x: Tensor = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """The integral of y along `dim` by the trapezoidal rule, at points `x` or with spacing `dx`.

    >>> import tinytorch as torch
    >>> torch.trapezoid(torch.tensor([1., 5., 10.]))
    tensor(10.5000)
    """
    return _integral(y, x, dx, dim)


def _check_spacing(name, x, dx):
    if x is None and isinstance(dx, complex):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


def _integral(y, x, dx, dim):
    _check_spacing("trapezoid", x, dx)
    if not _size(y, dim):                      # the integral over no points has the dtype of y
        shape, dim = y._array.shape, check_dim(dim, y._array.ndim)
        return wrap(np.zeros(shape[:dim] + shape[dim + 1:], y._array.dtype))
    left, right, widths = _interval_ends("trapezoid", y, x, dim)
    if widths is not None:
        return ((left + right) * widths).sum(dim) / 2.0
    lead = (slice(None),) * check_dim(dim, y._array.ndim)
    return (y.sum(dim) - (_part(y, (*lead, 0)) + _part(y, (*lead, -1))) * 0.5) * dx


@public()
def trapz(y: Tensor, x: Tensor = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """`trapezoid` under its older name."""
    return _integral(y, x, dx, dim)


@public()
def cumulative_trapezoid(y: Tensor, x: Tensor = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """Running integrals of y along `dim` by the trapezoidal rule.

    >>> import tinytorch as torch
    >>> torch.cumulative_trapezoid(torch.tensor([1., 5., 10.]))
    tensor([ 3.0000, 10.5000])
    """
    _check_spacing("cumulative_trapezoid", x, dx)
    left, right, widths = _interval_ends("cumulative_trapezoid", y, x, dim)
    if widths is None:
        return ((left + right) * (dx / 2.0)).cumsum(dim)
    return ((left + right) * widths).cumsum(dim) / 2.0
