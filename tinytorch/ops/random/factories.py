"""Random tensors: rand randn randint randperm normal bernoulli multinomial poisson ...

All functions draw from PyTorch's own CPU stream (see tinytorch/random.py): the same seed gives the same numbers as in
torch. `generator=None` means the default generator.
"""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...arguments import extent_of, size_of
from ...autograd.grad_mode import differentiates
from ...autograd.op import op
from ...autograd.places import count_write
from ...autograd.promotion import check_broadcast, check_written, refill, write_out
from ...autograd.public import public
from ...autograd.views import give, resized
from ...device import META, check_device, device as Device
from ...errors import refuse_records, type_name
from ...kernels.memory import LARGEST, empty
from ...kernels.random import rejection, samplers
from ...memory_format import layout as Layout, memory_format as MemoryFormat
from ...random import Generator, stream_of
from ...seam import seam
from ...tensor import Tensor, wrap
from ...types import Extent, Extents, Ints
from ..creation.factories import elsewhere
from ..creation.options import as_dtype, check_options, check_pinned, new_without_numbers, require_grad
from ..elementwise.arithmetic import zeros_like
from .samplers import (
    as_integer,
    fill_bernoulli,
    fill_integers,
    fill_normal,
    fill_uniform,
    refuse,
    refuse_out,
    room,
    varied,
)

__all__ = ["bernoulli", "binomial", "multinomial", "normal", "poisson",
           "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm"]


# ------------------------------------------------------------------ new tensors
def _shape(name, args, size):
    """The shape from f(2, 3), f((2, 3)) or f(size=(2, 3))."""
    if size is None and not args:
        raise TypeError(f"{name}() received an invalid combination of arguments - got ()")
    if size is not None and not isinstance(size, (tuple, list)):
        raise TypeError(f"{name}(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    return size_of(args if size is None else (size,), name)


def _new(fill, low, high, shape, generator, out, dtype, default, device, requires_grad, pin_memory):
    """A tensor of `shape`, filled by fill(array, low, high, stream); or `out`, resized and filled."""
    stream = stream_of(generator)
    on_meta = device is not None and check_device(device) is META
    if requires_grad.__class__ is not bool:
        check_options("rand", requires_grad=requires_grad)
    if pin_memory:
        check_pinned(pin_memory)
    if dtype is not None and dtype.__class__ is not dt.dtype:
        dtype = as_dtype(dtype, "rand")
    if out is None:
        array = (new_without_numbers if on_meta else empty)(shape, (dtype or default or dt.get_default_dtype()).numpy)
        result = wrap(room(array) if seam.up else array)       # the seam is up within vmap
        if requires_grad:
            require_grad(result)
        with stream.lock:
            fill(result._array, low, high, stream)
        return result
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    refuse_out(out)
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype.type_name} does not match dtype of out parameter ({type_name(out)})")
    if differentiates() and out.requires_grad:
        raise RuntimeError("functions with out=... arguments don't support automatic differentiation, but one of the "
                           "arguments requires grad.")
    if out._array.shape != shape:
        give(out, resized(out._array, empty(shape, out._array.dtype)))
    check_written(out._array)
    with stream.lock:
        fill(out._array, low, high, stream)
    count_write(out)
    if requires_grad:
        require_grad(out)
    return out


@public(hot=True)
def rand(*sizes: int, size: Extents = None, generator: Generator | None = None, out: Tensor | None = None,
         dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device | str | None = None,
         requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:
    """Numbers drawn evenly from [0, 1), in the default or a given floating or complex dtype.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    if layout is not None:
        check_options("rand", layout)
    return _new(fill_uniform, 0.0, 1.0, _shape("rand", sizes, size), generator, out, dtype, None, device,
                requires_grad, pin_memory)


@public(hot=True)
def randn(*sizes: int, size: Extents = None, generator: Generator | None = None, out: Tensor | None = None,
          dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device | str | None = None,
          requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:
    """Standard normal numbers.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    if layout is not None:
        check_options("randn", layout)
    if isinstance(out, Tensor) and out.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    return _new(fill_normal, 0.0, 1.0, _shape("randn", sizes, size), generator, out, dtype, None, device,
                requires_grad, pin_memory)


@public(hot=True)
def randint(low: Extent = 0, high: Extent | Ints = None, size: Extents = None, *, generator: Generator | None = None,
            out: Tensor | None = None, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
            device: Device | str | None = None, requires_grad: bool | None = False,
            pin_memory: bool | None = False) -> Tensor:
    """Integers from `low` (default 0) to `high` - 1: randint(high, size) or randint(low, high, size). int64.

    RuntimeError if the range holds no integer or the dtype cannot hold the range.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randint(10, (5,))
    tensor([4, 9, 3, 0, 3])
    """
    if isinstance(high, (tuple, list)) and size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"randint(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    if low.__class__ is not int or high.__class__ is not int or low < -LARGEST or high > LARGEST:
        low, high = as_integer("randint", "low", low), as_integer("randint", "high", high)
    if layout is not None:
        check_options("randint", layout)
    return _new(fill_integers, low, high, size_of((size,), "randint"), generator, out, dtype, dt.int64, device,
                requires_grad, pin_memory)


def _like(fill, low, high, input, generator, dtype, device, requires_grad, pin_memory, memory_format):
    """As `_new`, with the shape, dtype and memory order of `input`."""
    if device is not None and (check_device(device) is META) is not input.is_meta:
        input = elsewhere(input)
    if pin_memory:
        check_pinned(pin_memory)
    like = input._array
    numpy_dtype = (dt.of(like) if dtype is None else as_dtype(dtype, "rand_like")).numpy
    layout = "torch.preserve_format" if memory_format is None else repr(memory_format)
    if layout == "torch.preserve_format":
        if type(like) is np.ndarray and like.flags.c_contiguous and not seam.up:
            array = empty(like.shape, numpy_dtype)
        else:
            array = room(like.astype(numpy_dtype) if input.is_meta else empty(
                like.shape, numpy_dtype, lambda size, dtype: samplers.empty_like(like, dtype)), like)
    elif layout == "torch.contiguous_format":
        array = room((new_without_numbers if input.is_meta else empty)(like.shape, numpy_dtype))
    else:
        raise NotImplementedError(f"memory_format {memory_format} is not supported")
    result = wrap(array)
    if requires_grad:
        require_grad(result)
    stream = stream_of(generator)
    with stream.lock:
        fill(array, low, high, stream)
    return result


@public()
def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: dt.dtype | type | None = None,
              layout: Layout | None = None, device: Device | str | None = None, pin_memory: bool | None = False,
              requires_grad: bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """`rand` with the shape and dtype of `input`, drawn in its memory order.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.rand_like(torch.zeros(2))
    tensor([0.4963, 0.7682])
    """
    return _like(fill_uniform, 0.0, 1.0, input, generator, dtype, device, requires_grad, pin_memory, memory_format)


@public()
def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: dt.dtype | type | None = None,
               layout: Layout | None = None, device: Device | str | None = None, pin_memory: bool | None = False,
               requires_grad: bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """`randn` with the shape and dtype of `input`, drawn in its memory order.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randn_like(torch.zeros(2))
    tensor([ 1.5410, -0.2934])
    """
    return _like(fill_normal, 0.0, 1.0, input, generator, dtype, device, requires_grad, pin_memory, memory_format)


@public()
def randint_like(input: Tensor, low: Extent | Tensor = None, high: Extent = None, *, generator: Generator | None = None,
                 dtype: dt.dtype | type | None = None, layout: Layout | None = None,
                 device: Device | str | None = None, pin_memory: bool | None = False,
                 requires_grad: bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """`randint` with the shape and dtype of `input`: randint_like(x, high) or randint_like(x, low, high).

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randint_like(torch.zeros(2), 5)
    tensor([4., 4.])
    """
    if high is None:
        if low is None:
            raise TypeError("randint_like() missing 1 required positional arguments: \"high\"")
        low, high = 0, low
    elif isinstance(low, Tensor):              # one tensor alone is the upper bound
        low = extent_of(low, "randint_like", "low", 2)
    if isinstance(high, Tensor) and high._array.ndim:
        raise RuntimeError("high must be a scalar tensor and on CPU")
    return _like(fill_integers, 0 if low is None else int(low), int(high), input, generator, dtype, device,
                 requires_grad, pin_memory, memory_format)


@public()
def randperm(n: Extent, *, generator: Generator | None = None, out: Tensor | None = None,
             dtype: dt.dtype | type | None = None, layout: Layout | None = None, device: Device | str | None = None,
             requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor:
    """The integers 0 .. n-1 in random order, as int64 or a given dtype.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
    """
    n = int(n)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return _new(_permutation, 0, n, (n,), generator, out, dtype, dt.int64, device, requires_grad, pin_memory)


def _permutation(array, low, n, stream):
    """The integers from `low` to n - 1, shuffled. `low` is always 0."""
    if samplers.permutation_natively(array, n, stream):
        return array
    d = dt.of(array)
    if d.is_complex or d is dt.bool or d in (dt.uint16, dt.uint32, dt.uint64, *dt.FLOAT8):
        refuse("randperm", array)
    if d.is_floating_point and d is not dt.bfloat16:
        largest = (1 << samplers.DIGITS[array.dtype]) + 1
        if n > largest:
            raise RuntimeError(f"n cannot be greater than {largest} for {d.type_name} type.")
    elif not d.is_floating_point and n - 1 > np.iinfo(array.dtype).max:
        raise RuntimeError(f"value cannot be converted to type {d.name}_t without overflow")
    return samplers.permutations(array, n, stream)


def zeros_of(g, shape):
    dtype = g._array.dtype if isinstance(g, Tensor) else g.dtype
    zeros = np.zeros(shape, dtype)
    return wrap(zeros) if isinstance(g, Tensor) else zeros


@op(name="normal", first=1, mean=zeros_of, std=zeros_of, without_tangent=(1,))
def _normal_of(stream, mean, std):
    if isinstance(std, np.ndarray):
        if dt.kind(std.dtype) in dt.COMPLEX:
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.dtype.kind in dt.NATIVE and std.size and not np.minimum.reduce(std, None) >= 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
        if np.shape(mean) != std.shape:
            check_broadcast(np.shape(mean), std.shape)
    source = mean if isinstance(mean, np.ndarray) else std
    if source.dtype != dt.BFLOAT16:
        std = dt.widened(std)
    else:
        return _normal_of_bfloat16(stream, mean, std)
    result = np.empty(_broadcast(mean, std, source), source.dtype)
    if seam.up:
        result = room(result)
    if isinstance(std, np.ndarray):
        fill_normal(result, 0.0, 1.0, stream)
        np.multiply(result, std, out=result, casting="same_kind")
    else:
        fill_normal(result, 0.0, std, stream)
    result += mean
    return result


def _broadcast(mean, std, source):
    """The broadcast shape of mean and std, one of which is the array `source`."""
    other = np.shape(std if source is mean else mean)
    return source.shape if not other or other == source.shape else np.broadcast_shapes(source.shape, other)


def _normal_of_bfloat16(stream, mean, std):
    """Normal numbers in bfloat16: each step is rounded, as in torch."""
    mean, std = (dt.from_bfloat16(x) if getattr(x, "dtype", None) == dt.BFLOAT16 else x for x in (mean, std))
    result = room(np.empty(_broadcast(mean, std, mean if isinstance(mean, np.ndarray) else std), dt.BFLOAT16))
    if isinstance(std, np.ndarray):
        fill_normal(result, 0.0, 1.0, stream)
        result = dt.to_bfloat16(dt.from_bfloat16(result) * std)
    else:
        fill_normal(result, 0.0, std, stream)
    return dt.to_bfloat16(dt.from_bfloat16(result) + mean)


@public(makes=False)
def normal(mean: Tensor | float, std: Tensor | float = 1.0, size: Extents = None, *, generator: Generator | None = None,
           out: Tensor | None = None, dtype: dt.dtype | type | None = None, layout: Layout | None = None,
           device: Device | str | None = None, requires_grad: bool | None = False,
           pin_memory: bool | None = False) -> Tensor:
    """Normal numbers with the given mean and standard deviation.

    One or both of them are tensors, which broadcast; or both are numbers and `size` is the shape.
    RuntimeError for a negative `std`.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([0., 10.]), 1.), torch.normal(0., 1., (2,))
    (tensor([1.5410, 9.7066]), tensor([-2.1788,  0.5684]))
    """
    if size is not None:
        for x in (mean, std):
            if isinstance(x, Tensor) and x._array.ndim:
                raise TypeError("normal() received an invalid combination of arguments - got "
                                f"({', '.join(type(v).__name__ for v in (mean, std, size))})")
    elif isinstance(mean, Tensor) or isinstance(std, Tensor):
        stream = stream_of(generator)
        with stream.lock:
            result = _normal_of(stream, varied(mean, out), varied(std))
        return write_out(out, result, mean, std)
    else:
        raise TypeError(f"normal() received an invalid combination of arguments - got ({type(mean).__name__}, "
                        f"{type(std).__name__})")
    return _new(fill_normal, mean, std, _shape("normal", (), size), generator, out, dtype, None, device,
                requires_grad, pin_memory)


@op(name="bernoulli", first=1, p=zeros_like)
def _bernoulli_of(stream, p):
    return fill_bernoulli(room(np.empty(p.shape, p.dtype)), p, stream)


@public(method=True)
def bernoulli(input: Tensor, p: float = None, *, generator: Generator | None = None,
              out: Tensor | None = None) -> Tensor:
    """1 with the probability that `input` holds for each element, else 0; or with probability `p` everywhere.

    NotImplementedError for probabilities of an integer dtype, RuntimeError for probabilities outside [0, 1].

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.bernoulli(torch.tensor([0., 0.9, 0.5, 1.]))
    tensor([0., 1., 1., 1.])
    """
    if p is None:
        refuse_records("bernoulli_tensor_cpu_self_", input)
        if out is not None and out._array.shape == input._array.shape:
            check_written(out._array)
        stream = stream_of(generator)
        with stream.lock:
            result = _bernoulli_of(stream, varied(input, out))
        return refill(out, result)
    refuse_out(out)
    stream = stream_of(generator)
    with stream.lock:
        result = fill_bernoulli(room(np.empty(input._array.shape, input._array.dtype)), p, stream)
    return write_out(out, wrap(result))


@public(method=True)
def multinomial(input: Tensor, num_samples: Extent, replacement: bool = False, *, generator: Generator | None = None,
                out: Tensor | None = None) -> Tensor:
    """Category numbers (int64) drawn by weight. `input` holds non-negative weights, (categories,) or (rows,
    categories). The result has `num_samples` in place of the categories.

    RuntimeError for weights that are negative, not finite or all zero, and for more samples than categories
    without `replacement`.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.tensor([0., 10., 3., 0.]), 2)
    tensor([1, 2])
    """
    weights = input._array
    if out is not None and out._array.dtype != np.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {type_name(out)}")
    refuse_records("aminmax_cpu", weights, dt.FLOAT8_RECORDS)
    if dt.kind(weights.dtype) not in dt.FLOATING:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {type_name(input)}")
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    count = int(num_samples)
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    stream = stream_of(generator)
    with stream.lock:
        result = _categories(varied(input, out)._array, count, replacement, stream)
    return refill(out, wrap(result if result.base is None else result.copy()))


@op(name="multinomial")
def _categories(weights, count, replacement, stream):
    return samplers.categorical(weights, count, replacement, stream,
                                lambda weights: _check_weights(weights, replacement and count > 1))


def _check_weights(weights, replaced):
    if weights.size:
        most = np.maximum.reduce(weights, -1)
        if np.minimum.reduce(weights, None) >= 0 and np.minimum.reduce(most, None) > 0 and (
                np.maximum.reduce(most, None) < np.inf):
            return
    if not (np.isfinite(weights) & (weights >= 0)).all():
        if not replaced:
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        found = "entry < 0" if (weights < 0).any() else "entry = infinity or NaN"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability {found})")
    if not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


@op(name="poisson", first=1, input=zeros_like)
def _poisson(stream, input):
    if dt.kind(input.dtype) not in dt.FLOATING:
        refuse("poisson_cpu", input)
    if input.dtype == dt.BFLOAT16:
        return dt.to_bfloat16(_poisson(stream, dt.from_bfloat16(input)))
    if input.size and not np.minimum.reduce(input, None) >= 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return rejection.poisson(input, stream)


@public()
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson-distributed counts with the rates in `input`, in its dtype. RuntimeError for a negative rate.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.tensor([2., 30.]))
    tensor([ 6., 27.])
    """
    stream = stream_of(generator)
    with stream.lock:
        return _poisson(stream, varied(input))


@op(name="binomial", first=1, count=zeros_of, prob=zeros_of)
def _binomial(stream, count, prob):
    for name, array in (("count", count), ("prob", prob)):
        if dt.kind(array.dtype) not in dt.FLOATING:
            raise ValueError("binomial only supports floating-point dtypes for "
                             f"{name}, got: {dt.of(array).type_name}")
        if array.dtype not in (np.float32, np.float64):
            refuse("binomial_cpu", array)
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {dt.of(prob).type_name} but expected {dt.of(count).type_name}")
    check_broadcast(count.shape, prob.shape)
    count, prob = np.broadcast_arrays(count, prob)
    return rejection.binomial(count, prob, stream)


@public()
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """The number of successes in `count` trials of probability `prob`. The two broadcast and have one floating dtype.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.binomial(torch.tensor([5., 6.]), torch.tensor([0.5]))
    tensor([4., 3.])
    """
    stream = stream_of(generator)
    with stream.lock:
        return _binomial(stream, varied(count), varied(prob))
