"""torch.nn.init: functions that fill a tensor with initial values and return it. Autograd does not record them.

The random functions draw exactly PyTorch's numbers. `generator=None` means the default generator.
"""
import functools
import math
import sys as _sys

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import no_grad
from ..autograd.overridable import complete as _complete
from ..autograd.promotion import check_broadcast
from ..autograd.views import assign
from ..errors import not_implemented, warn
from ..kernels.random.samplers import empty_like
from ..ops.random.factories import rand_like, randperm
from ..seam import door
from ..tensor import Tensor, wrap

__all__ = ["calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal",
           "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal",
           "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform", "uniform_", "xavier_normal",
           "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_"]

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
           "sigmoid")


def calculate_gain(nonlinearity, param=None):
    """The recommended factor for the standard deviation with a nonlinearity. `param` is the slope of leaky_relu.

    ValueError for an unknown name.

    >>> import tinytorch as torch
    >>> torch.nn.init.calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope ** 2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor):
    """(number of inputs for each output, number of outputs for each input) of the layer with this weight."""
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field = math.prod(shape[2:])
    return shape[1] * receptive_field, shape[0] * receptive_field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


# ------------------------------------------------------------------ simple
@door
@no_grad()
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Numbers from the uniform distribution over [a, b).

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.uniform_(torch.empty(3))
    tensor([0.4963, 0.7682, 0.0885])
    """
    return tensor.uniform_(a, b, generator=generator)


@door
@no_grad()
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Numbers from the normal distribution.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.normal_(torch.empty(2), std=0.01)
    tensor([ 0.0154, -0.0029])
    """
    return tensor.normal_(mean, std, generator=generator)


@door
@no_grad()
def constant_(tensor, val):
    """`val` everywhere.

    >>> import tinytorch as torch
    >>> torch.nn.init.constant_(torch.empty(2), 0.3)
    tensor([0.3000, 0.3000])
    """
    return tensor.fill_(val)


def ones_(tensor):
    """1 everywhere."""
    return constant_(tensor, 1.0)


@no_grad()
def zeros_(tensor):
    """0 everywhere."""
    return tensor.zero_()


def _put(tensor, values):
    """Overwrite `tensor` with an array of real numbers."""
    return assign(tensor, wrap(dt.cast(values, tensor._array.dtype)))


@no_grad()
def eye_(tensor):
    """The identity matrix. ValueError unless the tensor has 2 dimensions.

    >>> import tinytorch as torch
    >>> torch.nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor._array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _put(tensor, np.eye(*tensor._array.shape, dtype=np.float32))


@no_grad()
def dirac_(tensor, groups=1):
    """A convolution weight (out, in / groups, ...) that passes as many channels as possible on unchanged.

    ValueError unless it has 3, 4 or 5 dimensions, or if `groups` does not divide the outputs.

    >>> import tinytorch as torch
    >>> torch.nn.init.dirac_(torch.empty(2, 2, 3))
    tensor([[[0., 1., 0.],
             [0., 0., 0.]],
            [[0., 0., 0.],
             [0., 1., 0.]]])
    """
    shape = tensor._array.shape
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    outputs = shape[0] // groups
    weight = np.zeros((groups, outputs, *shape[1:]), np.float32)
    channel = np.arange(min(outputs, shape[1]))
    weight[(slice(None), channel, channel, *(n // 2 for n in shape[2:]))] = 1
    return _put(tensor, weight.reshape(shape))


# ------------------------------------------------------------------ by fan
@no_grad()
def xavier_uniform_(tensor, gain=1.0, generator=None):
    """U(-a, a) with a = gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.xavier_uniform_(torch.empty(1, 2))
    tensor([[-0.0106,  0.7586]])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return tensor.uniform_(-bound, bound, generator=generator)


@no_grad()
def xavier_normal_(tensor, gain=1.0, generator=None):
    """N(0, std) with std = gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.xavier_normal_(torch.empty(1, 2))
    tensor([[ 1.2582, -0.2396]])
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return tensor.normal_(0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator=generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _nothing_to_do(tensor):
    if 0 in tensor._array.shape:
        warn("Initializing zero-element tensors is a no-op")
        return True
    return False


@door
@no_grad()
def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """U(-bound, bound) with bound = gain * sqrt(3 / fan) (He et al., 2015); `a` is leaky_relu's slope.

    ValueError for a mode other than fan_in and fan_out.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.kaiming_uniform_(torch.empty(1, 2), nonlinearity="relu")
    tensor([[-0.0130,  0.9291]])
    """
    if _nothing_to_do(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor.uniform_(-bound, bound, generator=generator)


@no_grad()
def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """N(0, std) with std = gain / sqrt(fan) (He et al., 2015); `a` is leaky_relu's slope.

    ValueError for a mode other than fan_in and fan_out.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.kaiming_normal_(torch.empty(1, 2), nonlinearity="relu")
    tensor([[ 1.5410, -0.2934]])
    """
    if _nothing_to_do(tensor):
        return tensor
    return tensor.normal_(0, _kaiming_std(tensor, a, mode, nonlinearity), generator=generator)


# ------------------------------------------------------------------ others
@no_grad()
def orthogonal_(tensor, gain=1, generator=None):
    """A random (semi-)orthogonal matrix times `gain`; dimensions after the first count as one (Saxe et al., 2013).

    The random numbers are PyTorch's; the result agrees up to rounding. ValueError for fewer than 2 dimensions.

    >>> import tinytorch as torch
    >>> w = torch.nn.init.orthogonal_(torch.empty(2, 3))
    >>> torch.allclose(w @ w.t(), torch.eye(2), atol=1e-6)
    True
    """
    array = tensor._array
    if array.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if array.size == 0 or tensor.is_meta:
        return tensor
    if array.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise not_implemented("geqrf_cpu", array)
    rows, columns = array.shape[0], array.size // array.shape[0]
    flat = wrap(np.empty((rows, columns), array.dtype)).normal_(0, 1, generator=generator)._array
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q *= np.sign(np.diag(r))                                 # makes the distribution uniform
    q = q.T if rows < columns else q
    if isinstance(gain, Tensor):
        check_broadcast(q.shape, gain._array.shape)
        gain = gain._array
    q = q * np.asarray(gain, array.dtype)
    return assign(tensor, wrap(q.reshape(array.shape)))


@no_grad()
def sparse_(tensor, sparsity, std=0.01, generator=None):
    """N(0, std) numbers, with zeros for a fraction `sparsity` of each column (Martens, 2010).

    As in PyTorch, the places of the zeros come from the default generator, whatever `generator` is.
    ValueError unless the tensor has 2 dimensions.

    >>> import tinytorch as torch
    >>> (torch.nn.init.sparse_(torch.empty(4, 3), 0.5) == 0).sum(0)
    tensor([2, 2, 2])
    """
    if tensor._array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.is_meta:
        return tensor
    rows, columns = tensor._array.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor._array[randperm(rows)._array[:zeros], column] = 0
    return tensor


@no_grad()
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """N(mean, std) numbers between a and b. Numbers outside are drawn again.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.nn.init.trunc_normal_(torch.empty(3), std=0.02)
    tensor([ 0.0308, -0.0059, -0.0436])
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
             "incorrect.")
    if tensor.is_meta:
        return tensor
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    if inside > 0.3:
        return _redraw_outside(tensor, mean, std, a, b, generator)
    return _redraw_unlikely(tensor, mean, std, a, b, generator)


def _normal_cdf(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redraw_outside(tensor, mean, std, a, b, generator):
    low, high = (dt.cast(np.array(bound), tensor._array.dtype) for bound in (a, b))
    if tensor._array.dtype == dt.BFLOAT16:
        low, high = dt.from_bfloat16(low), dt.from_bfloat16(high)
    tensor.normal_(mean, std, generator=generator)
    while True:
        values = dt.from_bfloat16(tensor._array) if tensor._array.dtype == dt.BFLOAT16 else tensor._array
        outside = (values < low) | (values > high)
        if not outside.any():
            return tensor
        fresh = wrap(empty_like(tensor._array)).normal_(mean, std, generator=generator)
        np.copyto(tensor._array, fresh._array, where=outside)


def _redraw_unlikely(tensor, mean, std, a, b, generator):
    """Rejection sampling: uniform candidates, each accepted with its density divided by the highest in the range."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    candidates = tensor.uniform_(a, b, generator=generator)
    pending = None
    while True:
        log_ratio = ((candidates - mean) / std) ** 2 * -0.5 - log_peak
        chance = rand_like(tensor, generator=generator)
        refused = (chance.log() > log_ratio)._array
        pending = refused if pending is None else pending & refused
        if not pending.any():
            return tensor
        candidates = wrap(empty_like(tensor._array)).uniform_(a, b, generator=generator)
        np.copyto(tensor._array, candidates._array, where=pending)


# ------------------------------------------------------------------ old names, without the final underscore
def _deprecated(new):
    def decorate(old):
        @functools.wraps(old)
        def alias(*args, **kwargs):
            warn(f"`nn.init.{old.__name__}` is now deprecated in favor of `nn.init.{new.__name__}`.",
                 FutureWarning)
            return new(*args, **kwargs)
        alias.__wrapped__ = new                # so that inspect shows its source and signature
        return alias
    return decorate


@_deprecated(uniform_)
def uniform():
    """Deprecated name of `uniform_`."""


@_deprecated(normal_)
def normal():
    """Deprecated name of `normal_`."""


@_deprecated(constant_)
def constant():
    """Deprecated name of `constant_`."""


@_deprecated(eye_)
def eye():
    """Deprecated name of `eye_`."""


@_deprecated(dirac_)
def dirac():
    """Deprecated name of `dirac_`."""


@_deprecated(xavier_uniform_)
def xavier_uniform():
    """Deprecated name of `xavier_uniform_`."""


@_deprecated(xavier_normal_)
def xavier_normal():
    """Deprecated name of `xavier_normal_`."""


@_deprecated(kaiming_uniform_)
def kaiming_uniform():
    """Deprecated name of `kaiming_uniform_`."""


@_deprecated(kaiming_normal_)
def kaiming_normal():
    """Deprecated name of `kaiming_normal_`."""


@_deprecated(orthogonal_)
def orthogonal():
    """Deprecated name of `orthogonal_`."""


@_deprecated(sparse_)
def sparse():
    """Deprecated name of `sparse_`."""


_complete("nn.init", _sys.modules[__name__])
