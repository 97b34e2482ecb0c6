"""Normalisation over groups of channels, and over neighbouring channels."""
from __future__ import annotations

import math
from operator import index as as_int

import numpy as np

from ... import dtypes as dt
from ...arguments import in_64_bits
from ...autograd.op import op
from ...autograd.public import public, refuse
from ...errors import not_implemented
from ...kernels import norm as kernels
from ...tensor import Tensor
from .group_norm_half import gradients_by_steps
from .norm import about, check_types, laid_out, rounded, shaped, wide, widened
from .pad import pad

__all__ = ["group_norm"]


def _group_norm_gradient(g, wanted, input, weight, groups, eps, aux):
    if isinstance(g, Tensor):
        return _recorded_group_norm_gradient(g, wanted, input, weight, aux[2], groups, eps)
    return shaped(kernels.group_norm_backward(*widened(g, wanted, input, weight), groups, *aux[:2]), input, weight,
                  aux[2], input)


def _recorded_group_norm_gradient(g, wanted, input, weight, bias, groups, eps):
    """The gradients by the formula that torch uses where they are differentiated again. It decides their rounding and
    memory order."""
    shape, narrow = input.shape, input._array.itemsize == 2
    dtypes = [None if v is None else v._array.dtype for v in (input, weight)]
    dtypes.append(None if bias is None else bias[1])
    if narrow and input._array.size and all([dtype is None or dtype == dtypes[0] for dtype in dtypes]):
        return gradients_by_steps(g, wanted, input, weight, bias and bias[0], groups, eps)
    x, d, scale = (v if v is None or not narrow else v.float() for v in (input, g, weight))
    size = shape[0], groups, shape[1] // groups, math.prod(shape[2:])
    x, d = x.reshape(size), d.reshape(size)
    mean = x.mean((2, 3), keepdim=True)
    centred = x - mean
    rate = ((centred * centred).mean((2, 3), keepdim=True) + eps).rsqrt()
    dot, total = (d * x).sum(3, keepdim=True), d.sum(3, keepdim=True)
    grads = [None, None, None]
    if wanted[0]:
        grads[0] = _recorded_input_gradient(x, d, dot, total, mean, rate, scale).reshape(shape)
    if wanted[1]:
        grads[1] = ((dot - total * mean) * rate).sum(0).reshape(weight.shape)
    if wanted[2]:
        grads[2] = total.sum(0).reshape(bias[0])
    return [v if v is None else v.to(dt.BY_NUMPY[dtype]) for v, dtype in zip(grads, dtypes)]


def _recorded_input_gradient(x, d, dot, total, mean, rate, scale):
    """The input's gradient of a group norm of `x` (N, groups, channels, *), given that of its output, `d`. `dot` and
    `total`: the sums of d * x and d over the last axis. `scale`: the weight or None."""
    share = 1 / (x.shape[2] * x.shape[3] or math.nan)
    b, c = dot, total
    if scale is not None:
        scale = scale.reshape(1, x.shape[1], x.shape[2], 1)
        b, c = b * scale, c * scale
    b, c = b.sum(2, keepdim=True), c.sum(2, keepdim=True)
    b = (c * mean - b) * (rate * rate * rate) * share
    c = -b * mean - c * rate * share
    return (rate if scale is None else rate * scale) * d + b * x + c


@op(name="native_group_norm", aux=True, inputs=3, joint=_group_norm_gradient,
    converts=True, called={"input": "input"})     # parameters may be in single precision beside a bfloat16 input
def _group_norm(input, weight, bias, groups, eps):
    if input.itemsize != 2:
        result, statistics = kernels.group_norm(input, weight, bias, groups, eps)
    else:
        result, statistics = rounded(kernels.group_norm(wide(input), wide(weight), wide(bias), groups, eps), input,
                                      weight, bias)
    return laid_out(result, input), (*statistics, about(bias))


@public(hot=True, in_python="nn.functional", repeats=True)
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """layer_norm over each of `num_groups` groups of channels of `input` (N, C, *); weight and bias by channel.

    RuntimeError if the groups do not divide C, ValueError for one value per group. Wu and He 2018.

    >>> import tinytorch as torch
    >>> torch.nn.functional.group_norm(torch.tensor([[1., 3., 5., 7.]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if num_groups.__class__ is not int or eps.__class__ is not float:
        refuse(group_norm, input, num_groups, weight, bias, eps)
        num_groups = as_int(num_groups)
    in_64_bits(num_groups)
    return _by_group(input, num_groups, weight, bias, eps)


def _by_group(input, num_groups, weight, bias, eps):
    shape = input._array.shape
    if len(shape) >= 2:
        per_group = [shape[0] * shape[1] // num_groups, num_groups, *shape[2:]]
        if math.prod(per_group[:1] + per_group[2:]) == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {per_group}")
    check_groups(input, num_groups, weight, bias)
    return _group_norm(input, weight, bias, num_groups, eps)


def check_groups(input, num_groups, weight, bias):
    """Raises torch's errors for sizes or dtypes that do not fit."""
    shape = input._array.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[1] % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{list(shape)} and num_groups={num_groups}")
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value._array.shape != shape[1:2]:
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, but "
                               f"got {name} of shape {list(value._array.shape)} and input of shape {list(shape)}")
    check_types(input, weight, bias)
    if input._array.dtype.kind not in dt.FLOATING:
        raise not_implemented("GroupNormKernelImpl", input)


@public(python=True)
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta. ValueError below 3 dimensions.

    Krizhevsky et al. 2012.

    >>> import tinytorch as torch
    >>> torch.nn.functional.local_response_norm(torch.ones(1, 2, 1), 2, alpha=1.)
    tensor([[[0.7378],
             [0.5946]]])
    """
    shape = input.shape                        # not the array's shape: a recording keeps these sizes
    if len(shape) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {len(shape)} "
                         "dimensions)")
    if not input._array.size:
        return input
    squares = input * input
    if len(shape) > 3:                         # RuntimeError if the memory order allows no such view
        squares = squares.view(*shape[:3], -1)
    pooled = input._array.dtype == np.int64 or input._array.dtype.kind in dt.FLOATING and not input.is_complex() and (
        len(shape) == 3 or input._array.itemsize > 2)
    if not pooled:                             # torch computes the mean by pooling
        raise not_implemented("avg_pool2d" if len(shape) == 3 else "avg_pool3d_out_frame", input)
    size = as_int(size)
    squares = pad(squares, (0, 0) * (squares._array.ndim - 2) + (size // 2, (size - 1) // 2))
    window = squares.narrow(1, 0, shape[1])
    for i in range(1, size):
        window = window + squares.narrow(1, i, shape[1])
    if window.is_floating_point():
        window = window / size
    else:
        window = window // size                # as torch's pooling of integers does
    return input / (window.reshape(shape) * alpha + k) ** beta
