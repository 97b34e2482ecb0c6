"""Dropout in all its forms, as in torch.nn.functional. The masks are PyTorch's own.

torch.dropout(input, p, train) and the functions like it are in native_dropout.py.
"""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...autograd.public import public, refuse
from ...autograd.record_dtypes import in_float32
from ...autograd.views import assign, check_in_place
from ...device import META
from ...errors import not_implemented, warn
from ...kernels.layout import operand_order
from ...kernels.random import samplers
from ...kinds.lazy import device_of
from ...random import stream_of
from ...tensor import Tensor, wrap
from ..creation.options import new_without_numbers
from ..random.samplers import room

_SELU_LOW = 1.7580993408473766          # -(scale * alpha): selu's limit for large negative inputs


@op(name="mul", input=lambda g, noise: g * noise, called={"noise": "other"})
def _times(input, noise):
    return input * noise


@op(name="mul", elementwise=True, input=lambda g, noise: g * noise, called={"noise": "other"})
def _times_channels(input, noise):
    return input * noise


@op(name="add", elementwise=True, input=lambda g, noise: g * noise)
def _times_plus(input, noise, shift):
    result = input * noise
    result += shift
    return result


def _noise(array, p, feature):
    """True where an element (a whole channel if `feature`) is kept, in the memory order of `array`."""
    if dt.kind(array.dtype) not in dt.INTEGRAL + dt.FLOATING:
        raise not_implemented("bernoulli_scalar_cpu_", array)
    if device_of(array) is META:
        kept = new_without_numbers(array.shape[:2] + (1,) * (array.ndim - 2) if feature else array.shape,
                                   np.dtype(bool))
    elif feature:
        kept = np.empty(array.shape[:2] + (1,) * (array.ndim - 2), bool)
    else:
        kept = samplers.empty_like(array, bool)
    kept = room(kept, array)
    stream = stream_of(None)
    with stream.lock:
        samplers.bernoulli(kept, 1 - p, stream)
    if array.dtype.kind in dt.INTEGRAL:
        raise RuntimeError("result type Float can't be cast to the desired output type "
                           f"{dt.of(array).type_name}")
    return kept


def _arithmetic(array):
    """How PyTorch computes with numbers beside an array: (type of the steps, rounding of their results).

    The 16-bit types compute in float32; bfloat16 results stay float32 here.
    """
    if array.dtype == dt.BFLOAT16:
        return np.float32, lambda x: dt.from_bfloat16(dt.to_bfloat16(np.array([x], np.float32)))[0]
    return (np.float64 if array.dtype == np.float64 else np.float32), array.dtype.type


def _dropped(input, p, feature):
    """`input` times noise that is 0 with probability p and 1 / (1 - p) otherwise."""
    array = input._array
    if p == 1:
        return input * wrap(np.zeros((), array.dtype))
    step, rounded = _arithmetic(array)
    noise = _noise(array, p, feature) * rounded(step(1) / step(1 - p))
    times = _times_channels if feature else _times
    if array.dtype == dt.BFLOAT16:
        return in_float32(times, input, wrap(noise))
    return times(input, wrap(noise))


def _alpha_dropped(input, p, feature):
    """Dropout that sends elements to selu's lower limit, then rescales to keep mean and variance."""
    array = input._array
    step, rounded = _arithmetic(array)
    a = 1.0 / math.sqrt((_SELU_LOW * _SELU_LOW * p + 1) * (1 - p))

    def shift(kept):                                         # each step is rounded to the dtype, as in PyTorch
        value = rounded(step(kept) + step(-1))
        value = rounded(step(value) * step(_SELU_LOW * a))
        return rounded(step(value) + step(rounded(_SELU_LOW * a * p)))

    kept = _noise(array, p, feature)
    noise, shifts = kept * rounded(step(a)), np.where(kept, shift(1), shift(0))
    if array.dtype == dt.BFLOAT16:
        result = in_float32(_times_channels, input, wrap(noise)) + wrap(dt.to_bfloat16(shifts))
        result._array = operand_order(result._array, array)
        return result
    return _times_plus(input, wrap(noise), shifts)


def drop(input, p, train, inplace, alpha=False, feature=False):
    """The dropout that all public forms share, after they have checked `p`."""
    if p == 0 or not train or input._array.size == 0:
        return input
    if feature and p != 1 and input._array.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    function = _alpha_dropped if alpha and p != 1 else _dropped
    result = function(input, p, feature)
    if not inplace:
        return result
    check_in_place(input)
    return assign(input, result)


# ------------------------------------------------------------------ torch.nn.functional
def _check(function, input, p, training):
    if not 0 <= p <= 1:
        error = RuntimeError if p != p else ValueError     # torch's Python code lets NaN pass, its C++ code does not
        raise error(f"dropout probability has to be between 0 and 1, but got {p}")
    if training.__class__ is not bool or not isinstance(input, Tensor):
        refuse(function, input, p, training)


@public(hot=True, in_python=True, draws=True)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and multiply the others by 1 / (1 - p); unchanged if not `training`.

    ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout(torch.ones(4))
    tensor([0., 0., 2., 0.])
    """
    _check(dropout, input, p, training)
    return drop(input, p, training, inplace)


@public(python=True, draws=True)
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean and variance of its input, to go with selu. ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.alpha_dropout(torch.ones(4), 0.5, training=True)
    tensor([-0.7792, -0.7792,  1.6656, -0.7792])
    """
    _check(alpha_dropout, input, p, training)
    return drop(input, p, training, inplace, alpha=True)


@public(python=True, draws=True)
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels (dimension 1). ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 2, 2), 0.5, training=True)
    tensor([[[-0.7792, -0.7792],
             [-0.7792, -0.7792]]])
    """
    _check(feature_alpha_dropout, input, p, training)
    return drop(input, p, training, inplace, alpha=True, feature=True)


def _unbatched(input, p, training, inplace):
    """Channel dropout of one sample: its channels are dimension 0."""
    if inplace:
        drop(input.unsqueeze(0), p, training, True, feature=True)
        return input
    return drop(input.unsqueeze(0), p, training, False, feature=True).squeeze(0)


@public(python=True, draws=True)
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L) input with probability `p`.

    ValueError for p outside [0, 1], RuntimeError for input of other ranks.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout1d(torch.ones(3, 2))
    tensor([[0., 0.],
            [0., 0.],
            [2., 2.]])
    """
    ndim = input._array.ndim
    _check(dropout1d, input, p, training)
    if ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d "
                           "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
                           "dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    if ndim == 2:
        return _unbatched(input, p, training, inplace)
    return drop(input, p, training, inplace, feature=True)


def _warn_of_rank(name, dims, ndim):
    warn(f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a "
         "future release. To retain the behavior and silence this warning, please use dropout instead. Note "
         f"that {name} exists to provide channel-wise dropout on inputs with {dims} spatial dimensions, a "
         f"channel dimension, and an optional batch dimension (i.e. {dims + 1}D or {dims + 2}D inputs).")


@public(python=True, draws=True)
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, H, W) input with probability `p`. A 3-D input is taken as (N, C, L).

    ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout2d(torch.ones(1, 3, 1, 2))
    tensor([[[[0., 0.]],
             [[0., 0.]],
             [[2., 2.]]]])
    """
    ndim = input._array.ndim
    _check(dropout2d, input, p, training)
    if ndim not in (3, 4):
        _warn_of_rank("dropout2d", 2, ndim)
    if ndim == 3:
        warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
             "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This "
             "behavior will change in a future release to interpret the input as one without a batch "
             "dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please "
             "switch to using dropout1d instead.")
    return drop(input, p, training, inplace, feature=True)


@public(python=True, draws=True)
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, D, H, W) or (C, D, H, W) input with probability `p`.

    ValueError for p outside [0, 1].

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.functional.dropout3d(torch.ones(3, 1, 1, 2))
    tensor([[[[0., 0.]]],
            [[[0., 0.]]],
            [[[2., 2.]]]])
    """
    ndim = input._array.ndim
    _check(dropout3d, input, p, training)
    if ndim not in (4, 5):
        _warn_of_rank("dropout3d", 3, ndim)
    if ndim != 5:
        return _unbatched(input, p, training, inplace)
    return drop(input, p, training, inplace, feature=True)
