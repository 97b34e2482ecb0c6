"""scaled_dot_product_attention: one operation where torch has one, else a composition of ordinary operations."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.grad_mode import mode
from ...autograd.op import op, single
from ...autograd.promotion import converted
from ...autograd.public import Repeats, public
from ...errors import C_NAMES, not_implemented, type_name
from ...kernels.attention import attend, attend_backward, in_single
from ...kernels.softmax import safe_softmax
from ...seam import repeating_door
from ...tensor import Tensor, wrap
from ..layout.rearrange import repeat_interleave
from ..linalg.products import matmul
from ..plan import cached_by_shape
from .native_dropout import dropout
from .softmax import _softmax_backward, _softmax_gradient

_FLOAT32 = np.dtype(np.float32)

#: Which backends may be used, by torch's numbers for them (see nn.attention.SDPBackend), and their order of priority.
SDP_ENABLED = dict.fromkeys(range(5), True)
SDP_ORDER = [1, 2, 0, 3, 4]
_MATH, _FLASH = 0, 1


# ------------------------------------------------------------------ in ordinary operations
@single(name="safe_softmax", input=lambda g, ans, dim: _softmax_backward(g, ans, dim) if isinstance(g, Tensor) else
        _softmax_gradient(g, ans, dim))
def _safe_softmax(input, dim):
    """softmax, with zeros where all scores are -inf."""
    if input.dtype.kind == dt.COMPLEX:
        raise not_implemented("softmax_lastdim_kernel_impl", input)
    return safe_softmax(input, dim)


def _added(mask, like):
    """A mask as numbers that are added to the scores: -inf where a bool is False."""
    if mask._array.dtype.kind in dt.BOOL:
        return wrap(dt.cast(np.where(mask._array, 0, -np.inf), like._array.dtype))
    return mask


def _by_operations(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa):
    narrow = query._array.dtype.itemsize == 2
    given = query._array.dtype
    if narrow:                                 # the steps are in single precision, the result is rounded
        query, key, value = [converted(x, _FLOAT32) for x in (query, key, value)]
    root = math.sqrt(abs(scale))
    query = query * (-root if scale < 0 else root)
    if is_causal:
        rows, columns = query._array.shape[-2], key._array.shape[-2]
        mask = wrap(np.tril(np.ones((rows, columns), bool))).to(query.device)
    if enable_gqa:
        heads = query._array.shape[-3]
        if any([not x._array.shape[-3] or heads % x._array.shape[-3] for x in (key, value)]):
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
        key, value = [repeat_interleave(x, heads // x._array.shape[-3], -3) for x in (key, value)]
    scores = matmul(query, key.transpose(-2, -1) * root)
    if mask is not None:
        scores = scores + converted(_added(mask, query), query._array.dtype)
    weights = _safe_softmax(scores, scores._array.ndim - 1)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p, True)
    return converted(matmul(weights, value), given)


# ------------------------------------------------------------------ as one operation
def _not_derived(g):
    raise RuntimeError("derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward is not implemented")


@op(name="scaled_dot_product_flash_attention_for_cpu_backward", first=3, multi=True, g=_not_derived,
    query=_not_derived, key=_not_derived, value=_not_derived, ans=_not_derived)
def _attend_backward(mask, is_causal, scale, g, query, key, value, ans):
    return attend_backward(g, query, key, value, ans, mask, is_causal, scale)


def _attend_grad(g, wanted, mask, is_causal, scale, query, key, value, ans):
    if mode.computing_jvp:
        raise NotImplementedError("Trying to use forward AD with _scaled_dot_product_flash_attention_for_cpu that does "
                                  "not support it because it has not been implemented yet.")
    return _attend_backward(mask, is_causal, scale, g, query, key, value, ans)


@op(name="scaled_dot_product_flash_attention_for_cpu", first=3, joint=_attend_grad, called={"result": "output"})
def _attend(mask, is_causal, scale, query, key, value):
    return attend(query, key, value, mask, is_causal, scale)


@cached_by_shape
def _fit_together(q, k, v, steps_of_q, steps_of_k, steps_of_v, dtype, enable_gqa):
    """The conditions of `_in_one` on shapes, strides and dtype."""
    if not len(q) == len(k) == len(v) == 4 or dtype.kind not in dt.FLOATING:
        return False
    if not q[0] == k[0] == v[0] or not q[3] == k[3] == v[3]:
        return False
    if k[1] != v[1] or not (q[1] == k[1] or enable_gqa and k[1] and q[1] % k[1] == 0):
        return False
    if 0 in q or 0 in k or 0 in v or k[2] != v[2]:
        return False
    return steps_of_q[3] == steps_of_k[3] == steps_of_v[3] == dtype.itemsize


def _in_one(query, key, value, mask, dropout_p, enable_gqa):
    """Whether torch computes this attention as one operation.

    The conditions, in this order: no dropout, 4 dimensions, a floating dtype; one batch size and one width; as many
    heads of keys as of values, and as many or (`enable_gqa`) a multiple of them of queries; no empty tensor, as many
    keys as values; dense rows; and a mask that has 2 or 4 dimensions, broadcasts to the scores and needs no gradient.
    """
    q, k, v = query._array, key._array, value._array
    if dropout_p or not _fit_together(q.shape, k.shape, v.shape, q.strides, k.strides, v.strides, q.dtype, enable_gqa):
        return False
    if mask is None:
        return True
    full = (*q.shape[:3], k.shape[2])[-mask._array.ndim:]
    return (mask._array.ndim in (2, 4) and not mask.requires_grad
            and all([m in (1, n) for m, n in zip(mask._array.shape, full)]))


# ------------------------------------------------------------------ the function
def _check(query, key, value, mask, is_causal):
    tensors = query, key, value
    if not query._array.dtype == key._array.dtype == value._array.dtype:
        q, k, v = [C_NAMES[type_name(x)] for x in tensors]
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {q} "
                           f"key.dtype: {k} and value.dtype: {v} instead.")
    if min([x._array.ndim for x in tensors]) < 2:
        q, k, v = [x._array.ndim for x in tensors]
        raise RuntimeError("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
                           f"{q} key.dim: {k} and value.dim: {v} instead.")
    if mask is None:
        return
    if mask.dtype not in (dt.bool, dt.float32, query.dtype):
        raise RuntimeError("Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                           f"attn_mask.dtype: {C_NAMES[type_name(mask)]} and  query.dtype: "
                           f"{C_NAMES[type_name(query)]} instead.")
    if is_causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")


@public(autocast="down", draws=True)
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:
    """softmax(query @ key^T * scale + mask) @ value. The default `scale` is 1 / sqrt(E).

    query (..., L, E), key (..., S, E), value (..., S, Ev): (..., L, Ev). `attn_mask` broadcasts to (..., L, S): bools,
    True where a query attends to a key, or numbers that are added to the scores. With `is_causal` query i attends to
    keys 0 .. i. A query that attends to no key has the result 0. `dropout_p` is the probability of dropout of the
    weights. `enable_gqa`: several heads (dimension -3) of the queries share one head of keys and values. RuntimeError
    where dtypes or shapes do not fit. With 4 dimensions and without dropout the call is one operation, which is
    differentiable once.

    >>> import tinytorch as torch
    >>> x = torch.eye(2)[None, None]
    >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[[[1.0000, 0.0000],
              [0.3302, 0.6698]]]])
    """
    attended = _attended if dropout_p else _without_dropout
    return attended(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, SDP_ENABLED[_FLASH],
                    SDP_ENABLED[_MATH])


def _attended(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, flash, by_operations):
    _check(query, key, value, attn_mask, is_causal)
    if not flash and not by_operations:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found. This is likely due to "
                           "turning off both the math kernel and the fused kernels.")
    size = query._array.shape[-1]
    if scale is not None:
        scale = float(scale)
    else:
        scale = 1 / math.sqrt(size) if size else math.inf
    if flash and _in_one(query, key, value, attn_mask, dropout_p, enable_gqa):
        mask = None if attn_mask is None else in_single(_added(attn_mask, query)._array)[0]
        return _attend(mask, is_causal, scale, query, key, value)
    if not by_operations:
        raise RuntimeError("No available kernel.  Aborting execution.")
    return _by_operations(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _raised(public, error, args, kwargs):
    raise error


#: Only a call that draws nothing may be answered from what is kept of earlier ones.
_without_dropout = repeating_door(_attended, _raised, Repeats())
