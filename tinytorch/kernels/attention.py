"""Attention on ndarrays: the weighted mean of values, and its gradient."""
import numpy as np

from .. import dtypes as dt
from . import native
from .layout import operand_order
from .linalg.products import NATIVE, laid_apart, matmul

_FLOAT32 = np.dtype(np.float32)
#: _ROWS: the number of queries whose scores C keeps in the cache at a time. _PIECE: the number of multiplications that
#: make a piece of work for a thread. _FEW: fewer queries are left to BLAS, because C would read all keys for them.
_ROWS, _PIECE, _FEW = 32, 1 << 20, 4


def in_single(*arrays):
    return [dt.cast(x, _FLOAT32) if x.dtype.itemsize == 2 else x for x in arrays]


def _weights(query, key, mask, is_causal, scale, divided):
    """(exp(scores - largest score), their sums) in single or double precision. `divided`: the first are divided by the
    sums."""
    scores = matmul(query, key.swapaxes(-1, -2))
    total, (queries, keys) = np.empty((*scores.shape[:-1], 1), scores.dtype), scores.shape[-2:]
    if mask is None and native.done(
            "attention_weights", total.size, keys, queries, is_causal, divided, scale, scores, total):
        return scores, total
    scores *= scores.dtype.type(scale)
    if is_causal:
        scores[..., ~np.tril(np.ones(scores.shape[-2:], bool))] = -np.inf
    if mask is not None:
        scores += mask.astype(scores.dtype, copy=False)
    top = np.maximum.reduce(scores, axis=-1, keepdims=True)
    scores -= np.where(np.isneginf(top), 0, top).astype(scores.dtype)
    np.exp(scores, out=scores)
    total = np.add.reduce(scores, axis=-1, keepdims=True)
    if divided:
        scores /= np.where(total == 0, 1, total)
    return scores, total


def _heads(x, count):
    """The heads of keys or values, each repeated for the heads of the queries that share it."""
    return x if x.shape[1] == count else np.repeat(x, count // x.shape[1], axis=1)


def _shared(g, count):
    """The gradients of the heads of queries, summed over those that share a head of the keys."""
    n, heads, *rest = g.shape
    return g if heads == count else g.reshape(n, count, heads // count, *rest).sum(2)


def _spread(mask, keys):
    """(strides of the heads' two axes and of the rows, number of elements, the mask in C order) for a mask that
    broadcasts to the scores. A stride is 0 where one matrix or row serves for several."""
    if mask is None:
        return 0, 0, 0, 0, None
    mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    if mask.shape[3] != keys:
        mask = np.broadcast_to(mask, (*mask.shape[:3], keys))
    mask = np.ascontiguousarray(mask)
    outer, inner, rows, _ = mask.shape
    return (inner * rows * keys * (outer > 1), rows * keys * (inner > 1), keys * (rows > 1), mask.size, mask)


def _in_one(query, key, value, is_causal, scale, mask=None):
    """The whole attention in C, whose scores never leave the cache. None where C does not take the arrays."""
    count, heads, queries, size = query.shape
    keys, wide = value.shape[2:]
    if not NATIVE or query.size < native.LEAST_OF["attend"] or queries < _FEW:
        return None
    apart = [laid_apart(x) for x in (query, key, value)]
    if None in apart or mask is not None and mask.dtype != _FLOAT32:
        return None
    joined = query.strides[1] < query.strides[2]         # the heads of a query are adjacent in memory
    shape = (count, queries, heads, wide) if joined else (count, heads, queries, wide)
    blocks = -(-queries // _ROWS)                        # per head; with many heads a piece consists of whole heads
    piece = blocks if count * heads >= 8 else -(-blocks // 4)
    piece *= 1 + _PIECE // (piece * _ROWS * keys * (size + wide))
    *spread, mask = _spread(mask, keys)
    result = native.result("attend", shape, count, heads, queries, keys, size, wide, is_causal, joined, piece, scale,
                           *[n for strides in apart for n in strides], *spread, query, key, value, mask)
    return result.swapaxes(1, 2) if joined else result


def _gradients_in_one(g, query, key, value, is_causal, scale, mask):
    """The gradients of query, key and value in C, block by block of queries. None where C does not take the arrays."""
    count, heads, queries, size = query.shape
    keys, wide = value.shape[2:]
    if not NATIVE or query.size < native.LEAST_OF["attend_backward"]:
        return None
    given = [x if laid_apart(x) else np.ascontiguousarray(x) for x in (query, key, value, g)]
    apart = [laid_apart(x) for x in given]
    if None in apart or mask is not None and mask.dtype != _FLOAT32:
        return None
    found = [np.empty((count, heads, *shape), _FLOAT32) for shape in ((queries, size), (keys, size), (keys, wide))]
    *spread, mask = _spread(mask, keys)
    native.run("attend_backward", count, heads, queries, keys, size, wide, is_causal,
               1 + _PIECE // (queries * keys * (3 * size + 2 * wide)), scale,
               *[n for strides in apart for n in strides], *spread, *given, mask, *found)
    return found


def attend(query, key, value, mask, is_causal, scale):
    """softmax(query key^T scale + mask) value in the memory order of `query`; 0 for a query that attends to no key.

    query (N, heads, queries, size), key (N, h, keys, size), value (N, h, keys, wide), where h divides heads."""
    q, k, v = in_single(query, key, value)
    heads = q.shape[1]
    k, v = _heads(k, heads), _heads(v, heads)
    half = query.dtype.itemsize == 2
    result = None if half else _in_one(q, k, v, is_causal, scale, mask)
    if result is None:
        weights, total = _weights(q, k, mask, is_causal, scale, False)
        if half:                               # torch rounds the weights before this product
            weights = dt.cast(dt.cast(weights, query.dtype), _FLOAT32)
        result = matmul(weights, v)
        result /= np.where(total == 0, 1, total).astype(result.dtype)
    return operand_order(dt.cast(result, query.dtype) if half else result, query)


def attend_backward(g, query, key, value, ans, mask, is_causal, scale):
    """The gradients of query, key and value. The weights are computed once more."""
    given = g.dtype
    g, query, key, value, ans = in_single(g, query, key, value, ans)
    heads = query.shape[1]
    k, v = _heads(key, heads), _heads(value, heads)
    found = _gradients_in_one(g, query, k, v, is_causal, scale, mask)
    if found is None:
        found = _gradients(g, query, k, v, ans, mask, is_causal, scale)
    return tuple([dt.cast(_shared(d, x.shape[1]), given) for d, x in zip(found, (query, key, value))])


def _gradients(g, query, k, v, ans, mask, is_causal, scale):
    weights, _ = _weights(query, k, mask, is_causal, scale, True)
    of_value = matmul(weights.swapaxes(-1, -2), g)
    of_scores = matmul(g, v.swapaxes(-1, -2))
    of_scores -= np.vecdot(g, ans)[..., None]
    of_scores *= weights
    of_scores *= of_scores.dtype.type(scale)
    return matmul(of_scores, k), matmul(of_scores.swapaxes(-1, -2), query), of_value
