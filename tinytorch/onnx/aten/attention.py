"""Attention."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ..registry import Refusal, translation
from ..writer import Value


@translation("scaled_dot_product_attention")
def attention(g, query, key, value, mask=None, dropout=0.0, is_causal=False, scale=None, enable_gqa=False):
    if scale is None:
        if query.dynamic[-1]:
            raise Refusal("of a size that may vary; pass scale=")
        scale = 1 / math.sqrt(query.shape[-1])
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        key, value = [_repeated(g, x, query.shape[-3] // key.shape[-3]) for x in (key, value)]
    turned = g.transpose(key, [*range(key.rank - 2), key.rank - 1, key.rank - 2])
    # each factor gets the square root of the scale, which keeps products small, as in torch
    half = g.number(math.sqrt(scale), query.dtype)
    scores = g.op("MatMul", g.op("Mul", query, half), g.op("Mul", turned, half))
    lowest = g.number(-np.inf, query.dtype)
    if is_causal:
        rows, columns = [g.op("Range", g.constant(0, dt.int64), g.cast(g.size(x, -2), dt.int64),
                              g.constant(1, dt.int64)) for x in (query, key)]
        seen = g.op("GreaterOrEqual", g.unsqueeze(rows, [1]), g.unsqueeze(columns, [0]))
        scores = g.where(seen, scores, lowest)
    if mask is not None:
        if mask.dtype is dt.bool:
            scores = g.where(mask, scores, lowest)
        else:
            scores = g.op("Add", scores, g.cast(mask, query.dtype))
    weights = g.op("Softmax", scores, axis=-1)
    if mask is not None:                       # a row whose elements are all masked is zero
        weights = g.where(g.op("IsNaN", weights), g.number(0.0, query.dtype), weights)
    if dropout:
        weights = g.op("Dropout", weights, g.number(dropout, dt.float32), g.number(True, dt.bool))
    return g.op("MatMul", weights, value)


def _repeated(g, x, times):
    """Repeats each head `times` times."""
    *rest, heads, length, width = g.sizes(x)
    n = len(rest)
    wide = g.expand(g.unsqueeze(x, [n + 1]), [1] * (n + 1) + [times, 1, 1])
    made = g.reshape(wide, [*rest, g.arithmetic("Mul", heads, times), length, width])
    shape = [*x.shape]
    shape[-3] *= times
    return Value(made, shape, x.dtype)
