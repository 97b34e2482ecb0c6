"""torch.masked: reductions and normalisations of the elements where `mask` is true.

A mask is broadcast to the shape of the input (IndexError if it has more dimensions), and converted to bool. Masked-out
elements are replaced by the operation's identity, which does not change the result. Where all elements are masked out,
the result is that identity, or nan. `dtype`: the dtype of the result, by default that of the input. NotImplementedError
for a dtype without an identity.

There are no MaskedTensors: `masked_tensor` and `as_masked_tensor` are missing.
"""
from __future__ import annotations

import math
from operator import index as as_int

from . import dtypes as dt
from ._refused import refused as _refused, refused_class as _refused_class
from .autograd.public import public
from .missing import namespace as _namespace
from .ops.creation.factories import ones, tensor
from .ops.elementwise.arithmetic import div, sub
from .ops.elementwise.limits import maximum
from .ops.elementwise.math import sqrt
from .ops.elementwise.power import logaddexp as _logaddexp
from .ops.elementwise.where import where
from .ops.layout.broadcast import broadcast_to
from .ops.linalg.norms import vector_norm
from .ops.nn import softmax as softmaxes
from .ops.reduction import cumulative, extremes, quantiles, reductions, statistics
from .tensor import Tensor, check_dim
from .types import Ints

__all__ = ["MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum",
           "is_masked_tensor", "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median", "norm",
           "normalize", "prod", "softmax", "softmin", "std", "sum", "var"]


_NO_CLASS = "there are no tensors with a mask; pass a mask to the functions of torch.masked"


# ------------------------------------------------------------------ masks and identities
def _mask_of(input, mask):
    """The mask as bool, in the shape of the input."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
                             "input)")
        mask = broadcast_to(mask.clone(), input.shape)
    return mask.to(dt.bool)


def _lowest(name, d):
    if d.is_floating_point:
        return -math.inf
    if d.is_complex and name == "logsumexp":
        return complex(-math.inf, 0)
    return _end_of_integers(name, d).min


def _highest(name, d):
    return math.inf if d.is_floating_point else _end_of_integers(name, d).max


def _end_of_integers(name, d):
    if not d.is_signed and d is not dt.uint8:
        raise NotImplementedError(f"identity of {name} on {d} input")
    return dt.iinfo(d)


#: Operation -> function(name, dtype) that gives its identity.
_IDENTITIES = {**dict.fromkeys(("sum", "norm"), lambda name, d: 0), "prod": lambda name, d: 1,
               **dict.fromkeys(("amax", "argmax", "logaddexp", "logsumexp"), _lowest),
               **dict.fromkeys(("amin", "argmin", "norm of -inf"), _highest), "median": lambda name, d: math.nan}


def _filled(name, input, mask):
    """The input with the operation's identity in place of masked-out elements."""
    if mask is None:
        return input
    mask = _mask_of(input, mask)
    return where(mask, input, tensor(_IDENTITIES[name](name, input.dtype), dtype=input.dtype))


def _dims(dim, ndim):
    """Dimensions (an int, several, or None or () for all) in order."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    found = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if d < -ndim or d >= max(ndim, 1):     # torch checks it in Python, where ints may exceed 64 bits
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
        found.append(check_dim(as_int(d), ndim))
    return tuple(sorted(found))


def _summed(input, dtype):
    """The dtype of a sum or product: int64 for smaller integers."""
    if dtype is None:
        small = input.dtype.category < 2 and input.dtype not in (dt.uint16, dt.uint32, dt.uint64)
        return dt.int64 if small else input.dtype
    return dtype


# ------------------------------------------------------------------ reductions
@public(python=True)
def sum(input: Tensor, dim: int | Ints | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:
    """The sum over `dim` (all): 0 where all elements are masked out.

    >>> import tinytorch as torch
    >>> torch.masked.sum(torch.tensor([1, 2, 3]), 0, mask=torch.tensor([True, False, True]))
    tensor(4)
    """
    dtype, dims = _summed(input, dtype), _dims(dim, input.ndim)
    return reductions.sum(_filled("sum", input, mask), dims, bool(keepdim), dtype=dtype)


@public(python=True)
def prod(input: Tensor, dim: int | Ints | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The product over `dim` (all): 1 where all elements are masked out.

    >>> import tinytorch as torch
    >>> torch.masked.prod(torch.tensor([2, 0, 3]), 0, mask=torch.tensor([True, False, True]))
    tensor(6)
    """
    dtype, dims = _summed(input, dtype), _dims(dim, input.ndim)
    result = _filled("prod", input, mask).to(dtype)
    for d in reversed(dims):
        result = result.prod(d, bool(keepdim))
    return result


@public(python=True)
def amax(input: Tensor, dim: int | Ints | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The largest element over `dim` (all): -inf, or the least integer, where all elements are masked out.

    >>> import tinytorch as torch
    >>> torch.masked.amax(torch.tensor([1., 5., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(3.)
    """
    return extremes.amax(_filled("amax", input, mask), _dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


@public(python=True)
def amin(input: Tensor, dim: int | Ints | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The least element over `dim` (all): inf, or the largest integer, where all elements are masked out.

    >>> import tinytorch as torch
    >>> torch.masked.amin(torch.tensor([5., 1., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(3.)
    """
    return extremes.amin(_filled("amin", input, mask), _dims(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


@public(python=True)
def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:
    """The index of the largest element along `dim`, or in the flat tensor, in `dtype`, by default the input's.

    >>> import tinytorch as torch
    >>> torch.masked.argmax(torch.tensor([1., 5., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(2.)
    """
    return extremes.argmax(_filled("argmax", input, mask), dim, bool(keepdim)).to(dtype or input.dtype)


@public(python=True)
def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:
    """The index of the least element along `dim`, or in the flat tensor, in `dtype`, by default the input's.

    >>> import tinytorch as torch
    >>> torch.masked.argmin(torch.tensor([5, 1, 3]), 0, mask=torch.tensor([True, False, True]))
    tensor(2)
    """
    return extremes.argmin(_filled("argmin", input, mask), dim, bool(keepdim)).to(dtype or input.dtype)


def _total(input, dim, keepdim, dtype, mask):
    """The number of elements that are not masked out, their sum, and the mask in the shape of the input."""
    if mask is None:
        count = sum(ones(input.shape, dtype=dt.int64), dim, keepdim=keepdim)
    else:
        mask = _mask_of(input, mask)
        count = reductions.sum(mask, dim, bool(keepdim))
    return count, sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask), mask


@public(python=True)
def mean(input: Tensor, dim: int | Ints | None = None, *, keepdim: bool | None = False, dtype: dt.dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The mean over `dim` (all): nan where all elements are masked out. ValueError for integers.

    >>> import tinytorch as torch
    >>> torch.masked.mean(torch.tensor([1., 5., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(2.)
    """
    source, dtype = ("Input", input.dtype) if dtype is None else ("Optional", dtype)
    if dtype.category < 2:
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or "
                         f"complex dtype. Got: {dtype}")
    count, total, _ = _total(input, dim, keepdim, dtype, mask)
    return total / count


@public(python=True)
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: dt.dtype | None = None,
           mask: Tensor | None = None) -> Tensor:
    """The median along `dim` (of an even number of elements, the lower one): nan where all elements are masked out,
    ValueError for integers.
    >>> import tinytorch as torch
    >>> torch.masked.median(torch.tensor([1., 5., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(1.)
    """
    dtype, floating = dtype or input.dtype, input.dtype.is_floating_point
    dim = _dims(dim, input.ndim)[0]
    found = quantiles.nanmedian(_filled("median", input if floating else input.to(dt.float32), mask), dim, keepdim)
    if floating:
        return found.values
    if found.values.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.values.to(dtype)


@public(python=True)
def logsumexp(input: Tensor, dim: int | Ints | None = None, *, keepdim: bool = False, dtype: dt.dtype | None = None,
              mask: Tensor | None = None) -> Tensor:
    """log of the sum of exp(input) over `dim` (all): -inf where all elements are masked out.

    >>> import tinytorch as torch
    >>> torch.masked.logsumexp(torch.zeros(3), 0, mask=torch.tensor([True, False, True]))
    tensor(0.6931)
    """
    dims = _dims(dim, input.ndim)
    return statistics.logsumexp(_filled("logsumexp", input, mask), dims, keepdim).to(dtype or input.dtype)


@public(python=True)
def logaddexp(input: Tensor, other: Tensor, *, dtype: dt.dtype | None = None, input_mask: Tensor | None = None,
              other_mask: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)), elementwise, with a separate mask for each.

    >>> import tinytorch as torch
    >>> torch.masked.logaddexp(torch.zeros(2), torch.zeros(2), other_mask=torch.tensor([True, False]))
    tensor([0.6931, 0.0000])
    """
    one, two = _filled("logaddexp", input, input_mask), _filled("logaddexp", other, other_mask)
    return _logaddexp(one, two).to(dtype or input.dtype)


@public(python=True)
def norm(input: Tensor, ord: float | None = 2.0, dim: int | Ints | None = None, *, keepdim: bool | None = False,
         dtype: dt.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The vector norm over `dim` (all): 0 where all elements are masked out, inf for order -inf.

    >>> import tinytorch as torch
    >>> torch.masked.norm(torch.tensor([3., 5., 4.]), 2, 0, mask=torch.tensor([True, False, True]))
    tensor(5.)
    """
    filled = _filled("norm of -inf" if ord == -math.inf else "norm", input, mask)
    return vector_norm(filled, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    if dtype is None:
        dtype = input.dtype if input.dtype.category > 1 else dt.float32
    wide = dtype if dtype.category > 1 else dt.float32
    count, total, mask = _total(input, dim, True, dtype, mask)
    difference = sub(input, div(total, count))
    total = sum(difference * difference.conj(), dim, keepdim=keepdim, dtype=wide, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if correction:
        count = sub(count.to(wide.to_real() if wide.is_complex else wide), float(correction))
        count = maximum(count, count.new_zeros([]))
    return div(total, count).to(dtype)


@public(python=True)
def var(input: Tensor, dim: int | Ints | None = None, unbiased: bool | None = None, *,
        correction: float | None = None, keepdim: bool | None = False, dtype: dt.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:
    """The variance over `dim` (all): nan where all elements are masked out. It is divided by the number of other
    elements less `correction` (1 by default, 0 with unbiased=False).

    >>> import tinytorch as torch
    >>> torch.masked.var(torch.tensor([1., 5., 3.]), 0, mask=torch.tensor([True, False, True]))
    tensor(2.)
    """
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


@public(python=True)
def std(input: Tensor, dim: int | Ints | None = None, unbiased: bool | None = None, *,
        correction: float | None = None, keepdim: bool | None = False, dtype: dt.dtype | None = None,
        mask: Tensor | None = None) -> Tensor:
    """The standard deviation: the root of `var`.

    >>> import tinytorch as torch
    >>> torch.masked.std(torch.tensor([1., 5., 3.]), 0, False, mask=torch.tensor([True, False, True]))
    tensor(1.)
    """
    return sqrt(_variance(input, dim, unbiased, correction, keepdim, dtype, mask))


# ------------------------------------------------------------------ results of the input's shape
@public(python=True)
def cumsum(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Running sums along `dim`.

    >>> import tinytorch as torch
    >>> torch.masked.cumsum(torch.tensor([1, 2, 3]), 0, mask=torch.tensor([True, False, True]))
    tensor([1, 1, 4])
    """
    dtype, dim = dtype or input.dtype, _dims(dim, input.ndim)[0]
    return cumulative.cumsum(_filled("sum", input, mask), dim, dtype=dtype).to(dtype)


@public(python=True)
def cumprod(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Running products along `dim`.

    >>> import tinytorch as torch
    >>> torch.masked.cumprod(torch.tensor([2, 0, 3]), 0, mask=torch.tensor([True, False, True]))
    tensor([2, 2, 6])
    """
    dtype, dim = dtype or input.dtype, _dims(dim, input.ndim)[0]
    return cumulative.cumprod(_filled("prod", input, mask), dim, dtype=dtype).to(dtype)


@public(python=True)
def softmax(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """exp(input) divided by its sum along `dim`: nan where all elements are masked out.

    >>> import tinytorch as torch
    >>> torch.masked.softmax(torch.zeros(3), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    dtype, dim = dtype or input.dtype, _dims(dim, input.ndim)[0]
    return softmaxes.softmax(_filled("amax", input, mask), dim, dtype)


@public(python=True)
def log_softmax(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """log of `softmax`.

    >>> import tinytorch as torch
    >>> torch.masked.log_softmax(torch.zeros(3), 0, mask=torch.tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    dtype, dim = dtype or input.dtype, _dims(dim, input.ndim)[0]
    return softmaxes.log_softmax(_filled("amax", input, mask), dim, dtype)


@public(python=True)
def softmin(input: Tensor, dim: int, *, dtype: dt.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative.

    >>> import tinytorch as torch
    >>> torch.masked.softmin(torch.zeros(3), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    dtype, dim = dtype or input.dtype, _dims(dim, input.ndim)[0]
    return softmaxes.softmax(-_filled("amin", input, mask), dim, dtype)


@public(python=True)
def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: dt.dtype | None = None,
              mask: Tensor | None = None) -> Tensor:
    """The elements, with zeros for masked-out ones, divided by their norm along `dim`, or by `eps` if that is larger.

    >>> import tinytorch as torch
    >>> torch.masked.normalize(torch.tensor([3., 5., 4.]), 2, 0, mask=torch.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    size = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return div(_filled("sum", input, mask), maximum(size, size.new_full([], eps)))


# ------------------------------------------------------------------ tensors with a mask
MaskedTensor = _refused_class(__name__, "MaskedTensor", _NO_CLASS)
as_masked_tensor, masked_tensor = [
    _refused(__name__, name, _NO_CLASS) for name in ("as_masked_tensor", "masked_tensor")]


def is_masked_tensor(obj, /) -> bool:
    """False: there are no tensors with a mask."""
    return False


__getattr__ = _namespace(__name__)
