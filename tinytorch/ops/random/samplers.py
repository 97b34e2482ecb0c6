"""The in-place samplers: uniform_ normal_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_.

Each fills a tensor from PyTorch's own CPU stream (see tinytorch/random.py); `generator=None` means the default
generator. The checked samplers of arrays behind them serve ops/random/factories.py too.
"""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import extent_of
from ...autograd import late_bound
from ...autograd.grad_mode import mode
from ...autograd.op import op
from ...autograd.places import count_write
from ...autograd.public import public
from ...autograd.views import check_in_place, check_written, is_apart, rebase
from ...errors import C_NAMES, not_implemented, refuse_records, warn
from ...kernels.looks import all_within
from ...kernels.memory import WHOLE, pieces
from ...kernels.random import normal as normals, samplers
from ...random import Generator, stream_of
from ...seam import seam
from ...tensor import Tensor
from ..elementwise.arithmetic import zeros_like

_C_NAMES = {d: C_NAMES[d.type_name] for d in dt.ALL}

_NO_KERNELS = (np.uint16, np.uint32, np.uint64)      # PyTorch has few kernels for these


# ------------------------------------------------------------------ checked samplers of arrays
def refuse(kernel, array):
    raise not_implemented(kernel, array)


def room(array, like=None):
    """The array to write random numbers to: `array`; under vmap with randomness="different", an array of the samples,
    in the memory order of `like`; while a thread records programs (capture/steps.py), the stand-in for `array`."""
    if not seam.up:
        return array
    if mode.vmap_levels:
        return late_bound.vmap.room(array, like)
    return array if Standing.made is None else Standing.made(array)


class Standing:
    """`made`: while a thread records programs, the function that gives the stand-in for a new array."""

    made = None


def varied(x, out=None):
    """A parameter of random numbers. Under vmap with randomness="different" it gets a value for each sample, and `out`
    is refused."""
    refuse_out(out)
    return late_bound.vmap.varied(x) if mode.vmap_levels and isinstance(x, Tensor) else x


def refuse_out(out):
    """RuntimeError under vmap for random numbers that would be written to `out`."""
    if out is not None and mode.vmap_levels:
        raise RuntimeError("vmap: We do not support calling out variants of random operations inside of vmap. Please "
                           "use non-out variants as a workaround")


def fill_uniform(array, low, high, stream):
    if samplers.uniform_natively(array, low, high, stream):
        return array
    if dt.is_complex(array.dtype):
        if type(array) is np.ndarray:
            fill_uniform(samplers.parts_of(array), low, high, stream)
            return array
        parts = np.empty_like(array[..., None], dt.of(array).to_real().numpy, shape=(*array.shape, 2))
        array[...] = fill_uniform(parts, low, high, stream).view(array.dtype)[..., 0]
        return array
    if dt.kind(array.dtype) not in dt.FLOATING:
        refuse("check_uniform_bounds", array)
    if not (low == 0 and high == 1):
        d = dt.of(array)
        top = dt.finfo(d).max
        for name, value in (("from", low), ("to", high)):
            if not -top <= value <= top:
                raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[d]}")
        if low > high:
            raise RuntimeError("uniform_ expects to return a [from, to) range, but found "
                               f"from={low:g} > to={high:g}")
        if high - low > top:
            raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{d.type_name}>::max(), but "
                               f"found to={high:g} and from={low:g} which result in to-from to exceed the limit")
    return samplers.uniform(array, low, high, stream)


def fill_normal(array, mean, std, stream):
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if normals.normal_natively(array, mean, std, stream):
        return array
    if array.size and dt.kind(array.dtype) not in dt.FLOATING + dt.COMPLEX:
        refuse("normal_kernel_cpu", array)
    return normals.normal(array, float(mean), float(std), stream)


def _check_integer_bound(name, value, d):
    """RuntimeError if an integer bound does not fit a dtype. A warning if a floating dtype cannot hold all integers up
    to the bound."""
    if d.is_floating_point:
        top = int(dt.finfo(d).max)
        low, high = -top, top
    elif d is dt.bool:
        low, high = 0, 1
    else:
        info = dt.iinfo(d)
        low, high = info.min, info.max
    if not low <= value <= high:
        raise RuntimeError(f"{name} is out of bounds for {_C_NAMES[d]}")
    if d.is_floating_point:
        digits = samplers.DIGITS[d.numpy]
        if abs(value) > 1 << digits:
            warn(f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                 f"{_C_NAMES[d]} can support discrete uniform distribution only within this range. This "
                 "warning will become an error in version 1.7 release, please fix the code in advance")


def fill_integers(array, low, high, stream):
    """Integers in [low, high), or from `low` to the dtype's largest integer if `high` is None."""
    if samplers.integers_natively(array, low, high, stream):
        return array
    if high is not None and low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dt.kind(array.dtype) in dt.COMPLEX:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    d = dt.of(array)
    refuse_records("random_from_to", array, dt.FLOAT8_RECORDS)
    if high is None and low == -(1 << 63):
        if d in (dt.bool, dt.float16, dt.uint16, dt.uint32, dt.uint64):
            refuse("random_full_64_bits_range_kernel_cpu", array)
        if d not in (dt.int64, dt.float64, dt.float32, dt.bfloat16):
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        return samplers.integers(array, low, None, stream)
    if d is dt.bool or high is None or low < 0 or high > 128:            # every dtype holds 0 to 127
        _check_integer_bound("from", low, d)
        if high is not None:
            _check_integer_bound("to - 1", high - 1, d)
    return samplers.integers(array, low, high, stream)


def fill_whole_range(array, stream):
    if samplers.whole_range_natively(array, stream):
        return array
    if dt.kind(array.dtype) not in dt.INTEGRAL + dt.FLOATING or array.dtype in _NO_KERNELS:
        refuse("random_kernel_cpu", array)
    return samplers.whole_range(array, stream)


def check_probability(p):
    """`p` as an array of floats. RuntimeError if any is not in [0, 1]."""
    values = dt.from_bfloat16(p) if p.dtype == dt.BFLOAT16 else p
    if values.dtype.kind not in dt.NATIVE:
        refuse("bernoulli_tensor_cpu_p_", p)
    if values.size and not all_within(values, 0.0, 1.0):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
                           "improved?  If so, please report an enhancement request to PyTorch.)")
    return p


def fill_bernoulli(array, p, stream):
    """`p`: a number or an array that broadcasts to `array`."""
    if isinstance(p, np.ndarray):
        return samplers.bernoulli_each(array, check_probability(p), stream)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if dt.kind(array.dtype) not in dt.INTEGRAL + dt.FLOATING or array.dtype in _NO_KERNELS:
        refuse("bernoulli_scalar_cpu_", array)
    return samplers.bernoulli(array, float(p), stream)


def fill_exponential(array, lambd, stream):
    if dt.kind(array.dtype) not in dt.FLOATING:
        raise RuntimeError("Exponential distribution is a continuous probability distribution. dtype must be a "
                           f"floating point but you specified {dt.of(array).type_name}")
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return samplers.exponential(array, float(lambd), stream)


def fill_geometric(array, p, stream):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if dt.kind(array.dtype) not in dt.INTEGER + dt.FLOATING or array.dtype in _NO_KERNELS:
        refuse("geometric_cpu", array)
    return samplers.geometric(array, float(p), stream)


def fill_cauchy(array, median, sigma, stream):
    if dt.kind(array.dtype) not in dt.FLOATING:
        raise RuntimeError("Cauchy distribution is a continuous probability distribution. dtype must be a floating "
                           f"point but you specified {_C_NAMES[dt.of(array)]}")
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    return samplers.cauchy(array, float(median), float(sigma), stream)


def fill_log_normal(array, mean, std, stream):
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if dt.kind(array.dtype) not in dt.FLOATING:
        refuse("log_normal_cpu", array)
    return normals.log_normal(array, float(mean), float(std), stream)


def as_integer(function, name, value):
    return extent_of(value, function, name, None)


# ------------------------------------------------------------------ in place
def _overwriting(name):
    """The op that is recorded when random numbers overwrite a tensor that requires a gradient. The gradient is zero."""
    @op(name=name, input=zeros_like)
    def overwritten(input):
        return input
    return overwritten


_RECORDED = {fill: _overwriting(name) for fill, name in (
    (fill_uniform, "uniform"), (fill_normal, "normal"), (fill_integers, "random"), (fill_whole_range, "random"),
    (fill_bernoulli, "bernoulli"), (fill_exponential, "exponential"), (fill_geometric, "geometric"),
    (fill_cauchy, "cauchy"), (fill_log_normal, "log_normal"))}


def _fill(self, fill, arguments, generator):
    """Overwrites `self` by fill(array, *arguments, stream)."""
    array = self._array
    if not is_apart(self) or 0 in array.strides or not array.flags.writeable:
        if self._requires_grad or self._view_info is not None or self.is_inference():
            check_in_place(self)
        check_written(array)
    recorded = _RECORDED[fill](self) if self._requires_grad and mode.grad_now else None     # before the write
    stream = stream_of(generator)
    with stream.lock:
        if seam.up and mode.vmap_levels:       # within vmap the seam is up
            late_bound.vmap.refill(array, fill, arguments, stream)
        elif array.size <= WHOLE or any([isinstance(x, np.ndarray) and x.ndim for x in arguments]):
            fill(array, *arguments, stream)    # in one piece: each element may have its own probability
        else:
            for piece in pieces(array):
                fill(piece, *arguments, stream)
    count_write(self)
    if recorded is not None:
        rebase(self, recorded)
    return self


@public(method=True)
def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers drawn evenly from [from, to). RuntimeError if from > to.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(2).uniform_(2, 3)
    tensor([2.4963, 2.7682])
    """
    return _fill(self, fill_uniform, (from_, to), generator)


@public(method=True)
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers. RuntimeError for a negative std.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(2).normal_(10, 2)
    tensor([13.0820,  9.4131])
    """
    return _fill(self, fill_normal, (mean, std), generator)


_ABSENT = object()


@public(method=True)
def random_(self: Tensor, from_: int = _ABSENT, to: int | None = _ABSENT, *,
            generator: Generator | None = None) -> Tensor:
    """Fill with integers: random_() from 0 to the largest that the dtype holds exactly, random_(to) from 0 to `to` - 1,
    random_(from, to) from `from` to `to` - 1 (to the largest if `to` is None).

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(3).random_(5, 10)
    tensor([9., 9., 8.])
    """
    if to is _ABSENT:
        if from_ is _ABSENT:
            return _fill(self, fill_whole_range, (), generator)
        from_, to = 0, from_
    low = 0 if from_ is _ABSENT else int(from_)
    return _fill(self, fill_integers, (low, None if to is None else int(to)), generator)


@public(method=True)
def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability `p` (a number, or a tensor that broadcasts to self), else 0.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(4).bernoulli_(0.5)
    tensor([0., 0., 1., 0.])
    """
    if isinstance(p, Tensor):
        p = p._array
        try:
            np.broadcast_to(p, self._array.shape)
        except ValueError:
            raise RuntimeError(f"output with shape {list(self._array.shape)} doesn't match the broadcast shape of "
                               f"p, {list(p.shape)}") from None
    return _fill(self, fill_bernoulli, (p,), generator)


@public(method=True)
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponentially distributed numbers of rate `lambd`.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(2).exponential_()
    tensor([3.5083, 1.2304])
    """
    return _fill(self, fill_exponential, (lambd,), generator)


@public(method=True)
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of trials until the first success of probability p, in (0, 1).

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(2).geometric_(0.1)
    tensor([1., 4.])
    """
    return _fill(self, fill_geometric, (p,), generator)


@public(method=True)
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of the Cauchy distribution.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(2).cauchy_()
    tensor([10.5977,  0.7648])
    """
    return _fill(self, fill_cauchy, (median, sigma), generator)


@public(method=True)
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exp of normal numbers of mean `mean` and standard deviation `std`.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.zeros(2).log_normal_()
    tensor([59.2634,  1.5116])
    """
    return _fill(self, fill_log_normal, (mean, std), generator)
