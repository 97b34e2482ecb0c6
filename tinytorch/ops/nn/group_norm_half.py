"""Gradients of group_norm in half precision that are differentiated again. torch computes them in many steps, and
rounds each step."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ... import dtypes as dt
from ...autograd.op import op
from ...kernels import norm as kernels
from ...tensor import Tensor, wrap


def _by_group(x, groups):
    """(N, C, *) as (N, groups, C / groups, the product of the other sizes)."""
    n, channels = x.shape[:2]
    return x.reshape(n, groups, channels // groups, math.prod(x.shape[2:]))


def _statistics_gradient(g, wanted, input, ans, groups):
    """The gradient of the mean plus that of 1 / deviation, which is computed through the variance."""
    recorded = any([isinstance(d, Tensor) for d in g])
    mean, deviation = [d if d is None or isinstance(d, Tensor) else wrap(d) for d in g]
    input, inverse = (input, ans[1]) if recorded else (wrap(input), wrap(ans[1]))
    x = _by_group(input, groups)
    count, grad = x.shape[2] * x.shape[3], None
    if deviation is not None:
        variance = -0.5 * (inverse * inverse * inverse) * deviation
        grad = 2.0 / count * variance * (x - x.mean((2, 3), keepdim=True))
    if mean is not None:
        share = mean.expand(x.shape) / count
        grad = share if grad is None else grad + share
    grad = grad.reshape(input.shape)
    return grad if recorded else grad._array,


@op(name="native_group_norm", multi=True, inputs=1, steps=True, joint=_statistics_gradient, called={"input": "input"})
def _statistics(input, groups, eps):
    """The means and 1 / deviations of all groups, (N, groups, 1, 1)."""
    _, (mean, inverse) = kernels.group_norm(dt.cast(input, np.dtype(np.float32)), None, None, groups, eps)
    return tuple([dt.cast(v, input.dtype).reshape(input.shape[0], groups, 1, 1) for v in (mean, inverse)])


def gradients_by_steps(g: Tensor, wanted: Sequence[bool], input: Tensor, weight: Tensor | None,
                       bias_shape: tuple[int, ...] | None, groups: int, eps: float) -> tuple[Tensor | None, ...]:
    """The gradients of group_norm of tensors in one half precision, differentiable again. The steps are in torch's
    order, because the order decides in which sequence the second derivatives add up."""
    x, grad = _by_group(input, groups), _by_group(g, groups)
    mean, inverse = _statistics(input, groups, eps)
    scale = 1.0 / (x.shape[2] * x.shape[3])
    products, sums = (grad * x).sum(3).unsqueeze(-1), grad.sum(3).unsqueeze(-1)
    of_input = of_weight = of_bias = None
    if wanted[0]:
        cube = inverse * inverse * inverse
        if weight is None:
            slope, by_x, shift = inverse, products, sums
        else:
            by_channel = weight.reshape(1, groups, -1, 1)
            slope, by_x, shift = inverse * by_channel, products * by_channel, sums * by_channel
        by_x, shift = (v.sum(2).unsqueeze(-2) for v in (by_x, shift))
        by_x = (shift * mean - by_x) * cube * scale
        last = shift * inverse * scale
        shift = -by_x * mean - last
        last = by_x * x
        of_input = (slope * grad + last + shift).reshape(input.shape)
    if wanted[1]:
        of_weight = ((products - sums * mean) * inverse).sum(0).reshape(weight.shape)
    if wanted[2]:
        of_bias = sums.sum(0).reshape(bias_shape)
    return of_input, of_weight, of_bias
