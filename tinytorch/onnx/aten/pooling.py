"""Pooling."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, entered
from ..writer import Value
from .convolution import batched


def _listed(x, n):
    return list(x) * (n // len(x)) if isinstance(x, (list, tuple)) else [x] * n


def _windows(x, spatial, kernel, stride, padding, dilation, ceil_mode):
    """(how far the windows reach beyond the padding at the end of each dimension, ceil_mode for the node). Runtimes
    disagree on ceil_mode, so additional padding replaces it where sizes are numbers."""
    if not ceil_mode:
        return [0] * spatial, 0
    if any(x.dynamic[-spatial:]):
        return [0] * spatial, 1
    beyond = []
    for n, k, s, p, d in zip(x.shape[-spatial:], kernel, stride, padding, dilation):
        reach = d * (k - 1) + 1
        count = -((n + 2 * p - reach) // -s) + 1
        if (count - 1) * s >= n + p:           # the last window begins beyond the input
            count -= 1
        beyond.append(max((count - 1) * s + reach - (n + 2 * p), 0))
    return beyond, 0


def _max_pool(spatial, places):
    def write(g, x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        kernel = _listed(kernel, spatial)
        stride = _listed(stride, spatial) if stride else kernel
        padding, dilation = _listed(padding, spatial), _listed(dilation, spatial)
        beyond, ceil = _windows(x, spatial, kernel, stride, padding, dilation, ceil_mode)
        x, single = batched(g, x, spatial)
        attributes = dict(kernel_shape=kernel, strides=stride, pads=padding + [p + b for p, b in zip(padding, beyond)],
                    dilations=dilation, ceil_mode=ceil)
        made = g.op("MaxPool", x, outputs=2, **attributes) if places else [g.op("MaxPool", x, **attributes)]
        if places:                             # ONNX's indices count through the whole tensor, torch's in each plane
            area = g.cast(g.count(x, range(2, x.rank)), dt.int64)
            made[1] = g.op("Mod", made[1], area)
        made = [g.squeeze(y, [0]) for y in made] if single else made
        return made if places else made[0]
    return write


entered([(f"max_pool{n}d", _max_pool(n, False)) for n in (1, 2, 3)])
entered([(f"max_pool{n}d_with_indices", _max_pool(n, True)) for n in (1, 2, 3)])


def _avg_pool(spatial):
    def write(g, x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor=None):
        kernel = _listed(kernel, spatial)
        stride = _listed(stride, spatial) if stride else kernel
        padding = _listed(padding, spatial)
        beyond, ceil = _windows(x, spatial, kernel, stride, padding, [1] * spatial, ceil_mode)
        sizes = x.shape[-spatial:]
        x, single = batched(g, x, spatial)
        attributes = dict(kernel_shape=kernel, strides=stride, pads=padding + [p + b for p, b in zip(padding, beyond)],
                    ceil_mode=ceil)
        includes = divisor is not None or count_include_pad and any(padding)
        if ceil and includes:
            raise Refusal("ceil_mode with padding that is counted, for sizes that may vary")
        result = g.op("AveragePool", x, count_include_pad=int(includes), **attributes)
        if divisor is not None:
            result = g.op("Mul", result, g.number(math.prod(kernel) / divisor, x.dtype))
        elif includes and any(beyond):         # elements beyond the padding are not counted
            counted = np.ones(())
            for n, k, s, p, b in zip(sizes, kernel, stride, padding, beyond):
                begins = np.arange((n + 2 * p + b - k) // s + 1) * s
                counted = np.multiply.outer(counted, np.minimum(begins + k, n + 2 * p) - begins)
            result = g.op("Mul", result, g.constant(math.prod(kernel) / counted, x.dtype))
        return g.squeeze(result, [0]) if single else result
    return write


entered([(f"avg_pool{n}d", _avg_pool(n)) for n in (1, 2, 3)])


# ------------------------------------------------------------------ to a given size
def _bins(n, size):
    """(begin, end) of each of the `size` windows over n elements."""
    return [(i * n // size, -((i + 1) * n // -size)) for i in range(size)]


def _adaptive_avg(spatial):
    def write(g, x, size):
        single = x.rank == spatial + 1
        if all([n == 1 for n in size if isinstance(n, int)]) and all([isinstance(n, int) for n in size]):
            return g.reduce("ReduceMean", x, range(x.rank - spatial, x.rank), True) if single else g.op(
                "GlobalAveragePool", x)
        made = x
        for i, n in enumerate(size):
            dim = x.rank - spatial + i
            if isinstance(n, int) and n == 1:
                made = g.reduce("ReduceMean", made, [dim], True)
                continue
            if not isinstance(n, int) or x.dynamic[dim]:
                if isinstance(n, Value) and g.out.dynamic[dim] and g.out.shape[dim] == x.shape[dim]:
                    continue                   # the size that it has
                raise Refusal("a target size other than 1 for a size that may vary")
            if n == x.shape[dim]:
                continue
            shares = np.zeros((x.shape[dim], n))
            for j, (a, b) in enumerate(_bins(x.shape[dim], n)):
                shares[a:b, j] = 1 / (b - a)
            order = [k for k in range(x.rank) if k != dim] + [dim]
            made = g.op("MatMul", g.transpose(made, order), g.constant(shares, x.dtype))
            made = g.transpose(made, np.argsort(order).tolist())
        return made if made is not x else g.op("Identity", x)
    return write


entered([(f"adaptive_avg_pool{n}d", _adaptive_avg(n)) for n in (1, 2, 3)])


def _adaptive_max(spatial):
    def write(g, x, size):
        if len(g.outs) > 1 and g.outs[1] is not None:
            raise Refusal("the places of the largest")
        made = x
        for i, n in enumerate(size):
            dim = x.rank - spatial + i
            if isinstance(n, int) and n == 1:
                made = g.reduce("ReduceMax", made, [dim], True)
                continue
            if not isinstance(n, int) or x.dynamic[dim]:
                raise Refusal("a target size other than 1 for a size that may vary")
            made = g.op("Concat", *[g.reduce("ReduceMax", g.slice(made, dim, a, b), [dim], True)
                                    for a, b in _bins(x.shape[dim], n)], axis=dim)
        return (made,)
    return write


entered([(f"adaptive_max_pool{n}d", _adaptive_max(n)) for n in (1, 2, 3)])
