"""Normalisation over batches and layers. Normalisation over groups of channels is in group_norm.py."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...arguments import ints_of
from ...autograd.op import op, unwatched
from ...autograd.places import count_write
from ...autograd.promotion import refuse_gradient
from ...autograd.public import public, refuse
from ...autograd.views import check_written
from ...errors import not_implemented, type_name
from ...kernels import norm as kernels, norm_steps
from ...kernels.errstate import ignored
from ...kernels.layout import channels_last, in_channels_last, operand_order
from ...memory_format import channels_last as CHANNELS_LAST, channels_last_3d as CHANNELS_LAST_3D
from ...tensor import Size, Tensor, wrap
from ...types import Extents

__all__ = ["layer_norm", "rms_norm"]

#: Exceptions that arguments of the wrong type may raise. `refuse` raises torch's TypeError if a type is wrong.
WRONG = AttributeError, RuntimeError, TypeError


# ------------------------------------------------------------------ half precision, memory order
def wide(x):
    """An array of half precision in single precision; anything else as it is."""
    return dt.cast(x, np.dtype(np.float32)) if x is not None and x.itemsize == 2 else x


def widened(g, wanted, input, weight):
    """The operands of a gradient: the arrays in single precision, if the input is in half precision."""
    return (g, wanted, input, weight) if input.itemsize != 2 else (wide(g), wanted, wide(input), wide(weight))


def _as(dtype):
    """A function that casts arrays to a dtype."""
    return lambda x: dt.cast(x, dtype) if x is not None and x.dtype != dtype else x


def _kept_in(input, *parameters):
    """The dtype of statistics: single precision if any of the parameters has it, else the dtype of the input."""
    return np.dtype(np.float32) if any([p is not None and p.dtype == np.float32 for p in parameters]) else input.dtype


def laid_out(result, like, is_last=channels_last):
    """`result`, or a copy with channels last in memory if array `like` has them last."""
    if like.ndim not in (4, 5) or like.strides[1] > like.strides[-1] or not is_last(like):
        return result
    return in_channels_last(result)


def _filled_last(x):
    """`channels_last` as batch norms decide it: for dense arrays the strides along sizes of 1 do not matter."""
    return channels_last(x) or np.moveaxis(x, 1, -1).flags.c_contiguous


def about(bias):
    """(shape, dtype) of a bias: its gradient needs no more, and torch does not save it."""
    return None if bias is None else (bias.shape, bias.dtype)


#: Zeros stand in for the bias, which was not saved, where the gradients are differentiated again.
_BIAS = {"bias": lambda aux: None if aux[-1] is None else np.zeros(*aux[-1])}


def shaped(grads, input, weight, bias, like=None, is_last=channels_last):
    """The gradients of input, weight and bias in the shapes and dtypes of these. The input's gradient has the memory
    format of `like`. `bias`: (shape, dtype)."""
    g_input, g_weight, g_bias = grads
    if input.itemsize == 2:
        g_input = _as(input.dtype)(g_input)
        g_weight = g_weight if weight is None else _as(weight.dtype)(g_weight)
        g_bias = g_bias if bias is None else _as(bias[1])(g_bias)
    if g_input is not None and like is not None:
        g_input = laid_out(g_input, like, is_last)
    g_weight = None if weight is None or g_weight is None else g_weight.reshape(weight.shape)
    return g_input, g_weight, None if bias is None or g_bias is None else g_bias.reshape(bias[0])


def _single(function, input, *parameters):
    """The result of a decomposition, computed in single precision and rounded if the input is in half precision."""
    if input._array.itemsize != 2:
        return function(input, *parameters)
    return function(input.float(), *[p if p is None else p.float() for p in parameters]).to(input.dtype)


# ------------------------------------------------------------------ batch norm
def _spread(vector, like):
    """A vector by channel, laid out along dimension 1 of tensor `like`."""
    return vector.reshape((1, -1) + (1,) * (like._array.ndim - 2))


def _affine(x, weight, bias):
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


def _with_channels_last(g):
    if not isinstance(g, Tensor):
        return in_channels_last(g)
    return g.clone(memory_format=CHANNELS_LAST if g._array.ndim == 4 else CHANNELS_LAST_3D)


@op(name="alias", input=_with_channels_last)
def _gradient_in_channels_last(input):
    return input[...]


def _ordered(input):
    """`input`, whose gradient has channels last in memory if `input` has."""
    array = input._array
    if array.ndim not in (4, 5) or array.strides[1] > array.strides[-1] or not _filled_last(array):
        return input
    return _gradient_in_channels_last(input)


def _batch_norm_decomposition(input, weight, bias, running_mean, running_var, momentum, eps):
    dims = tuple(i for i in range(input._array.ndim) if i != 1)

    def normalised(input, weight, bias):
        centred = input - input.mean(dims, keepdim=True)
        x = centred / ((centred * centred).mean(dims, keepdim=True) + eps).sqrt()
        return _affine(x, *(v if v is None else _spread(v, input) for v in (weight, bias)))
    return _single(normalised, _ordered(input), weight, bias)


def _memory_format(x):
    """1 for an array in C order, 2 for one with channels last, 0 for any other."""
    return 1 if x.flags.c_contiguous else 2 * (x.ndim in (4, 5) and np.moveaxis(x, 1, -1).flags.c_contiguous)


def _rounded_steps(input, weight, mean, g=None):
    """Two functions for a batch norm of half precision: the first rounds each step, unless parameters are in single
    precision, the second rounds in any case. None for an input, and a gradient, that are dense and in the same memory
    order: there torch computes the steps in single precision."""
    order = _memory_format(input)
    if order and (g is None or _memory_format(g) == order):
        return None
    to = _as(input.dtype)

    def stored(x):
        return wide(to(x))
    return stored if _kept_in(input, weight, mean) == input.dtype else lambda x: x, stored


def _backward(name):
    """A gradient rule that calls the kernel of that name, or the one of norm_steps where torch rounds each step."""
    def gradient(g, wanted, input, weight, running_mean, running_var, aux):
        steps = _rounded_steps(input, weight, running_mean, g) if input.itemsize == 2 else None
        arrays = widened(g, wanted, input, weight)
        grads = getattr(kernels if steps is None else norm_steps, name)(*arrays, *aux[:2], *(steps or ()))
        return shaped(grads, input, weight, aux[2], input, _filled_last)
    return gradient


@op(name="native_batch_norm", aux=True, inputs=3, decomposition=_batch_norm_decomposition, stand_ins=_BIAS,
    joint=_backward("batch_norm_backward"), converts=True,
    called={"input": "input"})
def _batch_norm(input, weight, bias, running_mean, running_var, momentum, eps):
    count = input.size // (input.shape[1] or 1)
    unbiased = count / (count - 1) if count > 1 else math.nan
    for running in (running_mean, running_var):
        if running is not None:
            check_written(running)
    if input.itemsize == 2:
        to = _as(kept := _kept_in(input, weight, bias, running_mean, running_var))

        def rounded(x):
            return wide(to(x))
        steps = _rounded_steps(input, weight, running_mean)
        result, statistics = kernels.batch_norm(wide(input), wide(weight), wide(bias), eps, rounded,
                                                rounded if kept == dt.BFLOAT16 and steps is None else None)
        for running, new in ((running_mean, statistics[0]), (running_var, unbiased * statistics[1])):
            if running is not None:
                moved = momentum * new.astype(np.float64) + (1 - momentum) * wide(running).astype(np.float64)
                running[...] = dt.cast(moved, running.dtype)
        if steps is not None:
            result = norm_steps.scale_shift(wide(input), wide(weight), wide(bias), *statistics[::2], steps[0])
        result = _as(input.dtype)(result)
    else:
        result, statistics = kernels.batch_norm(input, weight, bias, eps)
        if running_mean is not None:
            running_mean *= 1 - momentum
            running_mean += momentum * statistics[0]
        if running_var is not None:
            running_var *= 1 - momentum
            running_var += momentum * unbiased * statistics[1]
    if not input.flags.c_contiguous:
        result = laid_out(result, input, _filled_last)
    return result, (*statistics[::2], about(bias))


def _scale_shift_decomposition(input, weight, bias, running_mean, running_var, eps):
    def moved(input, weight, bias, mean, var):
        x = (input - _spread(mean, input)) / (_spread(var, input) + eps).sqrt()
        return _affine(x, *(v if v is None else _spread(v, input) for v in (weight, bias)))
    return _single(moved, _ordered(input), weight, bias, running_mean, running_var)


@op(name="native_batch_norm", aux=True, inputs=3, decomposition=_scale_shift_decomposition, stand_ins=_BIAS,
    joint=_backward("scale_shift_backward"), converts=True,
    called={"input": "input"})
def _scale_shift(input, weight, bias, running_mean, running_var, eps):
    if input.itemsize == 2:
        mean, variance, steps = wide(running_mean), wide(running_var), _rounded_steps(input, weight, running_mean)
        if steps is None:
            result, rate = kernels.batch_norm_by(wide(input), wide(weight), wide(bias), mean, variance, eps)
        else:
            rate = 1 / np.sqrt(variance + eps)
            result = norm_steps.scale_shift(wide(input), wide(weight), wide(bias), mean, rate, steps[0])
        result = _as(input.dtype)(result)
    else:
        mean = running_mean
        result, rate = kernels.batch_norm_by(input, weight, bias, mean, running_var, eps)
    if not input.flags.c_contiguous:
        result = laid_out(result, input, _filled_last)
    return result, (mean.copy(), rate, about(bias))


@public(hot=True, in_python=True, writes="running_mean running_var")
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """(input - mean) / sqrt(var + eps) * weight + bias by channel (dimension 1) of `input` (N, C, *).

    With `training`, mean and (biased) variance are those of the batch, and the running statistics, if given, move
    towards them by `momentum` (the variance unbiased). Otherwise the running statistics are used. ValueError if
    training on one value per channel, RuntimeError for lengths other than C. Ioffe and Szegedy 2015.

    >>> import tinytorch as torch
    >>> torch.nn.functional.batch_norm(torch.tensor([[1.], [3.]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if training:
        _check_batch(input._array.shape)
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if training.__class__ is not bool or momentum.__class__ is not float or eps.__class__ is not float:
        refuse(batch_norm, input, running_mean, running_var, weight, bias, training, momentum, eps)
    try:
        return _by_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)
    except WRONG:
        refuse(batch_norm, input, running_mean, running_var, weight, bias, training, momentum, eps)
        raise


def _by_batch(input, running_mean, running_var, weight, bias, training, momentum, eps):
    if not training:
        for name, value in (("mean", running_mean), ("var", running_var)):
            if value is None:
                raise RuntimeError(f"running_{name} must be defined in evaluation mode")
    if not input._array.size:
        refuse(batch_norm, input, running_mean, running_var, weight, bias, training, momentum, eps)
        return _affine(input * 1, *(v if v is None else v[0] for v in (weight, bias)))
    channels, dtype = input._array.shape[1] if input._array.ndim > 1 else 1, input._array.dtype
    alike = True
    for name, value in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight),
                        ("bias", bias)):
        if value is None:
            continue
        if value._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {value._array.size}")
        alike = alike and value._array.dtype is dtype
    if dtype.kind not in dt.FLOATING:
        raise not_implemented("batch_norm", input)
    if not alike:
        check_types(input, weight, bias, running_mean, running_var)
    for name, value in (("running_mean", running_mean), ("running_var", running_var)):
        if value is not None and value._requires_grad:
            refuse_gradient("native_batch_norm", name, value)
    if not training:
        return _scale_shift(input, weight, bias, running_mean, running_var, eps)
    return _batch_norm(input, weight, bias, running_mean, running_var, momentum, eps)


def check_types(input, *parameters):
    """RuntimeError unless all have one dtype, or the input is in half precision and all parameters in single."""
    given = [p for p in parameters if p is not None]
    dtype = input._array.dtype
    if all([p._array.dtype is dtype or p._array.dtype == dtype for p in given]):
        return
    if given[0]._array.dtype == dtype and dtype.kind in dt.FLOATING:
        other = next(p for p in given if p._array.dtype != dtype)
        raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(other)}")
    if given[0]._array.dtype != dtype and any(p._array.dtype != np.float32 for p in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if given[0]._array.dtype != dtype and (dtype.itemsize != 2 or dtype.kind not in dt.FLOATING):
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _check_batch(size):
    values = math.prod(size[:1] + size[2:])
    if values == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {Size(size)}")


@public(hot=True, python=True, writes="running_mean running_var", repeats=True)
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """batch_norm of each example on its own. The running statistics move towards the mean over the examples.

    ValueError if there is one value per channel. Ulyanov et al. 2016.

    >>> import tinytorch as torch
    >>> torch.nn.functional.instance_norm(torch.tensor([[[1., 3.]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    single = use_input_stats and math.prod(input._array.shape[2:]) == 1
    if single:
        raise ValueError("Expected more than 1 spatial element when training, got input size "
                         f"{Size(input._array.shape)}")
    if use_input_stats.__class__ is not bool or momentum.__class__ is not float or eps.__class__ is not float:
        refuse(instance_norm, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    try:
        return _by_example(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    except WRONG:
        refuse(instance_norm, input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
        raise


def _by_example(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps):
    shape = input._array.shape
    means = [running_mean, running_var]
    if weight is None:                         # the statistics take the dtype of the input
        means = [v if v is None else v.to(input.dtype) for v in means]
    if not use_input_stats:
        return _by_batch(input.contiguous(), *means, weight, bias, False, momentum, eps)
    batch = shape[0]
    repeated = [v if v is None else v.repeat(batch) for v in (*means, weight, bias)]
    result = _by_batch(input.contiguous().reshape((1, batch * shape[1]) + shape[2:]), *repeated, True, momentum, eps)
    for running, moved in ((running_mean, repeated[0]), (running_var, repeated[1])):
        if running is not None:
            check_written(running._array)
            with ignored():
                mean = wide(moved._array).reshape(batch, shape[1]).sum(0) / (batch or math.nan)
                running._array[...] = dt.cast(dt.cast(mean, moved._array.dtype), running._array.dtype)
            count_write(running)
    return wrap(result._array.reshape(shape)) if unwatched(result) else result.reshape(shape)


# ------------------------------------------------------------------ layer norm
def _layer_norm_decomposition(input, weight, bias, shape, eps, center):
    dims = tuple(range(-len(shape), 0))

    def normalised(input, weight, bias):
        if center:
            input = input - input.mean(dims, keepdim=True)
        return _affine(input / ((input * input).mean(dims, keepdim=True) + eps).sqrt(), weight, bias)
    return _single(normalised, input, weight, bias)


def _layer_norm_gradient(g, wanted, input, weight, bias, size, center, aux):
    rounded = None
    if input.itemsize == 2:                    # torch sums the parameters' gradients in the input's dtype
        to = _as(input.dtype)

        def rounded(x):
            return wide(to(x))
    grads = kernels.layer_norm_backward(*widened(g, wanted, input, weight), math.prod(size), *aux, rounded)
    return shaped(grads, input, weight, about(bias), None if center else g)


@op(name="native_layer_norm", aux=True, inputs=3, joint=_layer_norm_gradient, decomposition=_layer_norm_decomposition,
    converts=True, called={"input": "input", "size": "normalized_shape"})
def _layer_norm(input, weight, bias, size, eps, center):
    if input.itemsize != 2:
        result, statistics = kernels.layer_norm(input, weight, bias, math.prod(size), eps, center)
        return result if center else laid_out(result, input), statistics
    return rounded(kernels.layer_norm(wide(input), wide(weight), wide(bias), math.prod(size), eps, center), input,
                    weight, bias)


def rounded(computed, input, weight, bias):
    """`computed` (result, statistics) of a half-precision input, each rounded to its dtype. The statistics are widened
    again."""
    result, statistics = computed
    to = _as(_kept_in(input, weight, bias))
    return _as(input.dtype)(result), tuple([wide(to(v)) for v in statistics])


def _check_normalized(input, normalized_shape, weight, bias, star):
    shape, have = normalized_shape, input._array.shape
    if shape.__class__ is not tuple:
        shape = ints_of(shape, "layer_norm" if star == "*, " else "rms_norm", "normalized_shape", 2, True)
    if not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
                           "element, but got normalized_shape = []")
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._array.shape != shape:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                               f"{list(value._array.shape)} and normalized_shape = {list(shape)}")
    if have[-len(shape):] != shape or len(have) < len(shape):
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape [{star}"
                           f"{', '.join(map(str, shape))}], but got input of size{list(have)}")
    return have[-len(shape):]                  # the same numbers as plain ints


@public(hot=True, in_python="nn.functional", repeats=True)
def layer_norm(input: Tensor, normalized_shape: Extents, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """(input - mean) / sqrt(var + eps) * weight + bias over the last dimensions, which must be `normalized_shape`.

    RuntimeError if they are not. Ba, Kiros and Hinton 2016.

    >>> import tinytorch as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([[1., 3.]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    if eps.__class__ is not float:
        refuse(layer_norm, input, normalized_shape, weight, bias, eps)
    shape = _check_normalized(input, normalized_shape, weight, bias, "*, ")
    check_types(input, weight, bias)
    if input._array.dtype.kind not in dt.FLOATING:
        raise not_implemented("LayerNormKernelImpl", input)
    return _layer_norm(input, weight, bias, shape, eps, True)


@public(hot=True, in_python="nn.functional", repeats=True)
def rms_norm(input: Tensor, normalized_shape: Extents, weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """input / sqrt(mean(input**2) + eps) * weight over the last dimensions, which must be `normalized_shape`.

    `eps` None stands for the machine epsilon of the dtype. RuntimeError for other shapes. Zhang and Sennrich 2019.

    >>> import tinytorch as torch
    >>> torch.nn.functional.rms_norm(torch.tensor([[3., 4.]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    if eps is not None and eps.__class__ is not float:
        refuse(rms_norm, input, normalized_shape, weight, eps)
    return _rms_norm(input, _check_normalized(input, normalized_shape, weight, None, "*"), weight, eps)


def _times(input, weight):
    """input * weight in the memory order of `input`, from which the order of the weight may differ."""
    result = input * weight
    if result._array.strides != input._array.strides:
        result._array = operand_order(result._array, input._array)
    return result


def _rms_norm(input, shape, weight, eps):
    if input._array.dtype.kind in dt.COMPLEX:
        squares = (input * input).mean(tuple(range(-len(shape), 0)), keepdim=True)
        return _affine(input * (squares + (dt.finfo(input.dtype).eps if eps is None else eps)) ** -0.5, weight, None)
    if input._array.dtype.kind not in dt.FLOATING:
        raise not_implemented("rms_norm", input)
    if weight is not None and weight._array.dtype != input._array.dtype and (
            input._array.itemsize > 2 or weight._array.dtype == np.float64):
        x = input.float() if input._array.itemsize == 2 else input
        return _times(_rms_norm(x, shape, None, eps), weight).to(input.dtype)
    if input._array.itemsize == 2:
        return _single(lambda input, weight: _rms_norm(input, shape, weight, eps), input, weight)
    if weight is not None and weight._requires_grad and not input._requires_grad:
        return _times(_rms_norm(input, shape, None, eps), weight)  # torch saves the factors of this product alone
    return _layer_norm(input, weight, None, shape, dt.finfo(input.dtype).eps if eps is None else eps, False)
