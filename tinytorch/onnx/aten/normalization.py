"""Normalisation over batches, channels, groups and layers."""
from __future__ import annotations

import numpy as np

from ..registry import Refusal, translation


def _or(g, x, value, n, dtype):
    """The vector `value`; a vector of n equal numbers if it is None."""
    return g.constant(np.full(n, value), dtype) if x is None else x


def _of_channels(g, x, rank):
    """A vector as a tensor of a given rank, along the second dimension."""
    return g.reshape(x, [1, -1] + [1] * (rank - 2)) if rank > 2 else x


def _affine(g, x, weight, bias, rank):
    """x times the weights of its channels, plus their biases."""
    if weight is not None:
        x = g.op("Mul", x, _of_channels(g, weight, rank))
    return x if bias is None else g.op("Add", x, _of_channels(g, bias, rank))


def _normalized(g, x, dims, eps):
    """x normalized to mean 0 and variance 1 over these dimensions."""
    apart = g.op("Sub", x, g.reduce("ReduceMean", x, dims, True))
    variance = g.reduce("ReduceMean", g.op("Mul", apart, apart), dims, True)
    return g.op("Div", apart, g.op("Sqrt", g.op("Add", variance, g.number(eps, x.dtype))))


@translation("batch_norm")
def batch_norm(g, x, weight, bias, mean, var, training, momentum, eps, *options):
    if x.rank < 2:
        raise Refusal("of a tensor without channels")
    if training or mean is None or var is None:
        dims = [i for i in range(x.rank) if i != 1]
        return (_affine(g, _normalized(g, x, dims, eps), weight, bias, x.rank),)
    n = x.shape[1]
    return (g.op("BatchNormalization", x, _or(g, weight, 1, n, x.dtype), _or(g, bias, 0, n, x.dtype), mean, var,
                 epsilon=float(eps)),)


@translation("instance_norm")
def instance_norm(g, x, weight, bias, mean, var, use_input_stats, momentum, eps, *options):
    if not use_input_stats:
        return batch_norm(g, x, weight, bias, mean, var, False, momentum, eps)
    if x.rank < 3:
        raise Refusal("of a single example")
    n = x.shape[1]
    return (g.op("InstanceNormalization", x, _or(g, weight, 1, n, x.dtype), _or(g, bias, 0, n, x.dtype),
                 epsilon=float(eps)),)


@translation("group_norm")
def group_norm(g, x, groups, weight=None, bias=None, eps=1e-5, *options):
    apart = g.reshape(x, [0, groups, -1], keeps=True)
    ones, zeros = g.constant(np.ones(groups), x.dtype), g.constant(np.zeros(groups), x.dtype)
    made = g.op("InstanceNormalization", apart, ones, zeros, epsilon=float(eps))
    return _affine(g, g.reshaped_to(made, x, g.sizes(x)), weight, bias, x.rank)


@translation("layer_norm")
def layer_norm(g, x, shape, weight=None, bias=None, eps=1e-5, *options):
    n = len(shape)
    if g.opset >= 17:
        sizes = x.shape[-n:]
        if weight is None and any(x.dynamic[-n:]):
            raise Refusal("over sizes that may vary")
        scale = g.constant(np.ones(sizes), x.dtype) if weight is None else weight
        return (g.op("LayerNormalization", x, scale, bias, axis=-n, epsilon=float(eps)),)
    made = _normalized(g, x, range(x.rank - n, x.rank), eps)
    if weight is not None:
        made = g.op("Mul", made, weight)
    return (made if bias is None else g.op("Add", made, bias),)


@translation("rms_norm")
def rms_norm(g, x, shape, weight=None, eps=None):
    eps = float(np.finfo(x.dtype.numpy).eps) if eps is None else eps
    dims = range(x.rank - len(shape), x.rank)
    mean = g.reduce("ReduceMean", g.op("Mul", x, x), dims, True)
    made = g.op("Div", x, g.op("Sqrt", g.op("Add", mean, g.number(eps, x.dtype))))
    return made if weight is None else g.op("Mul", made, weight)


@translation("local_response_norm")
def local_response_norm(g, x, size, alpha=1e-4, beta=0.75, k=1.0):
    return g.op("LRN", x, size=size, alpha=float(alpha), beta=float(beta), bias=float(k))


@translation("_normalize")
def normalize(g, x, p=2.0, dim=1, eps=1e-12):
    size = g.reduce("ReduceL2" if p == 2 else "ReduceL1", x, [dim % x.rank], True)
    return g.op("Div", x, g.op("Max", size, g.number(eps, x.dtype)))


@translation("_weight_norm")
def weight_norm(g, v, size, dim=0):
    norm = g.reduce("ReduceL2", v, [i for i in range(v.rank) if i != dim % v.rank], True)
    return g.op("Mul", v, g.op("Div", size, norm))
