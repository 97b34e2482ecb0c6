"""multi_head_attention_forward: projections, heads, masks, attention and the output's projection."""
from __future__ import annotations

import math

from ... import dtypes as dt
from ...autograd.public import public
from ...errors import warn
from ...tensor import Tensor
from ..creation.factories import zeros, zeros_like
from ..layout.join import cat
from ..linalg.added import baddbmm
from ..linalg.products import bmm, linear
from .attention import scaled_dot_product_attention
from .dropout import dropout
from .pad import pad
from .softmax import softmax


# ------------------------------------------------------------------ checks
def _require(holds, message):
    if not holds:
        raise AssertionError(message)


def _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the input has a batch dimension. AssertionError in torch's words where dimensions do not fit."""
    n = query.dim()
    _require(n in (2, 3), f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor")
    what = f"For {'batched' if n == 3 else 'unbatched'} ({n}-D) `query`, expected"
    _require(key.dim() == n and value.dim() == n,
             f"{what} `key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None:
        _require(key_padding_mask.dim() == n - 1,
                 f"{what} `key_padding_mask` to be `None` or {n - 1}-D but found {key_padding_mask.dim()}-D tensor "
                 "instead")
    if attn_mask is not None:
        _require(attn_mask.dim() in (2, 3),
                 f"{what} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead")
        if n == 2 and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            _require(attn_mask.shape == expected,
                     f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return n == 3


def as_added(mask, name, dtype, other=None, other_name=""):
    """A mask as numbers that are added to scores. Warns if its dtype is not that of the mask `other`."""
    if mask is None:
        return None
    _require(mask.dtype is dt.bool or mask.is_floating_point(), f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype != other.dtype:
        warn(f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.")
    return mask if mask.is_floating_point() else zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


def _masks(key_padding_mask, attn_mask, is_causal, need_weights, dtype):
    """(key_padding_mask, attn_mask, is_causal), the masks as numbers that are added to scores. Where attention can mask
    the future itself, `attn_mask` is None and `is_causal` True."""
    key_padding_mask = as_added(key_padding_mask, "key_padding_mask", dtype, attn_mask, "attn_mask")
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                           "`generate_square_subsequent_mask` to create this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        return None, None, True
    return key_padding_mask, as_added(attn_mask, "attn_mask", dtype), is_causal and key_padding_mask is None


# ------------------------------------------------------------------ projections
def _projected_together(query, key, value, weight, bias):
    """query, key and value multiplied by the thirds of one weight. Equal ones share a product."""
    _require(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
    _require(weight is not None, "use_separate_proj_weight is False but in_proj_weight is None")
    E = query.size(-1)
    if key is value and query is key:
        parts = linear(query, weight, bias).unflatten(-1, (3, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return parts[0], parts[1], parts[2]
    if key is value:
        of_query, of_both = weight.split([E, E * 2])
        bias_of_query, bias_of_both = (None, None) if bias is None else bias.split([E, E * 2])
        q, both = linear(query, of_query, bias_of_query), linear(key, of_both, bias_of_both)
        both = both.unflatten(-1, (2, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return q, both[0], both[1]
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple([linear(x, w, b) for x, w, b in zip((query, key, value), weight.chunk(3), biases)])


def _projected(inputs, weights, bias):
    """query, key and value, each multiplied by a weight of its own."""
    _, key, value = inputs
    _require(key.shape[:2] == value.shape[:2], f"key's sequence and batch dims {key.shape[:2]} do not match "
                                               f"value's {value.shape[:2]}")
    for name, w in zip("qkv", weights):
        _require(w is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    size = inputs[0].size(-1)
    for name, x, w in zip(("query", "key", "value"), inputs, weights):
        expected = (size, x.size(-1))
        _require(w.shape == expected, f"expecting {name} weights shape of {expected}, but got {w.shape}")
    for name, b in zip(("query", "key", "value"), biases):
        _require(b is None or b.shape == (size,),
                 f"expecting {name} bias shape of {(size,)}, but got {None if b is None else b.shape}")
    return tuple([linear(x, w, b) for x, w, b in zip(inputs, weights, biases)])


def _split(x, given, name, heads, size):
    """`x` (S, N, heads * size) as (N * heads, S, size), or `given` in that shape, if it is not None."""
    if given is None:
        return x.view(x.shape[0], heads, size).transpose(0, 1)
    _require(given.size(0) == heads, f"expecting {name}.size(0) of {heads}, but got {given.size(0)}")
    _require(given.size(2) == size, f"expecting {name}.size(2) of {size}, but got {given.size(2)}")
    return given


def _with_heads(mask, heads, length, keys):
    """`attn_mask` with a first dimension for the heads. RuntimeError for another shape."""
    expected = (length, keys) if mask.dim() == 2 else (heads, length, keys)
    if mask.shape != expected:
        raise RuntimeError(f"The shape of the {len(expected)}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _with_padding(mask, padding, num_heads, count, keys):
    """`attn_mask` (or None) plus `key_padding_mask`. AssertionError if the latter is not (count, keys)."""
    for dim, expected in enumerate((count, keys)):
        found = padding.shape[dim]
        _require(found == expected, f"Expected key_padded_mask.shape[{dim}] to be {expected}, but got {found}")
    padding = padding.view(count, 1, 1, keys).expand(-1, num_heads, -1, -1).reshape(count * num_heads, 1, keys)
    return padding if mask is None else mask + padding


def _attended(q, k, v, mask, is_causal, dropout_p):
    """(output, weights) of attention with heads and examples in one dimension."""
    _require(not is_causal or mask is not None, "FIXME: is_causal not implemented for need_weights")
    scores = bmm(q, k.transpose(-2, -1)) if mask is None else baddbmm(mask, q, k.transpose(-2, -1))
    weights = softmax(scores, -1)
    if dropout_p > 0.0:
        weights = dropout(weights, p=dropout_p)
    return bmm(weights, v), weights


# ------------------------------------------------------------------ the function
@public(python=True, autocast="down", draws=True)
def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None,
        add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
        training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
        k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
        static_v: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """Attention of `num_heads` heads (Vaswani et al. 2017): (output, weights), the weights with `need_weights` alone.

    query (L, N, E), key and value (S, N, E), or without N; the output is (L, N, E), the weights (N, L, S), or with
    average_attn_weights=False (N, heads, L, S). The inputs are projected by `in_proj_weight` (3 E, E), or with
    `use_separate_proj_weight` by a weight for each; the results of the heads are projected by `out_proj_weight`. Masks
    are bools, True where a query must not attend, or numbers that are added to the scores: `key_padding_mask` (N, S),
    `attn_mask` (L, S) or (N heads, L, S). `bias_k` and `bias_v` are one more key and value, `add_zero_attn` appends
    another one of zeros; `static_k` and `static_v` (N heads, S, E / heads) replace the projected key and value.
    `is_causal` says that `attn_mask` is the causal one. AssertionError where shapes do not fit.
    """
    # The steps: a batch dimension, masks as numbers, projections, bias_k and bias_v, heads, the zero key, the padding
    # mask. Then attention with its weights (`_attended`) or without (scaled_dot_product_attention), and the output.
    batched = _check_dims(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = [x.unsqueeze(1) for x in (query, key, value)]
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, count, E = query.shape
    key_padding_mask, attn_mask, is_causal = _masks(key_padding_mask, attn_mask, is_causal, need_weights, query.dtype)
    _require(E == embed_dim_to_check, f"was expecting embedding dimension of {embed_dim_to_check}, but got {E}")
    size, heads = E // num_heads, count * num_heads
    _require(size * num_heads == E, f"embed_dim {E} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        q, k, v = _projected((query, key, value), (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    else:
        q, k, v = _projected_together(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None:
        attn_mask = _with_heads(attn_mask, heads, length, key.shape[0])

    def longer(mask):                          # for one more key
        return None if mask is None else pad(mask, (0, 1))
    _require(bias_v is not None or bias_k is None, "bias_k is set but bias_v is None")
    _require(bias_k is not None or bias_v is None, "bias_v is set but bias_k is None")
    if bias_k is not None:
        _require(static_k is None, "bias cannot be added to static key.")
        _require(static_v is None, "bias cannot be added to static value.")
        k, v = cat([k, bias_k.repeat(1, count, 1)]), cat([v, bias_v.repeat(1, count, 1)])
        attn_mask, key_padding_mask = longer(attn_mask), longer(key_padding_mask)
    q = q.view(length, heads, size).transpose(0, 1)
    k, v = _split(k, static_k, "static_k", heads, size), _split(v, static_v, "static_v", heads, size)
    if add_zero_attn:
        k, v = [cat([x, zeros((heads, 1, size), dtype=x.dtype)], 1) for x in (k, v)]
        attn_mask, key_padding_mask = longer(attn_mask), longer(key_padding_mask)
    S = k.size(1)
    if key_padding_mask is not None:
        attn_mask = _with_padding(attn_mask, key_padding_mask, num_heads, count, S)
    dropout_p = dropout_p if training else 0.0
    weights = None
    if need_weights:
        output, weights = _attended(q * math.sqrt(1.0 / size), k, v, attn_mask, is_causal, dropout_p)
        output = output.transpose(0, 1).reshape(length * count, E)
        weights = weights.view(count, num_heads, length, S)
        weights = weights.mean(1) if average_attn_weights else weights
        weights = weights if batched else weights.squeeze(0)
    else:
        if attn_mask is not None:
            rows = attn_mask.size(1)
            attn_mask = attn_mask.unsqueeze(0) if attn_mask.size(0) == 1 else attn_mask.view(count, num_heads, rows, S)
        q, k, v = [x.view(count, num_heads, x.size(1), size) for x in (q, k, v)]
        output = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(count * length, E)
    output = linear(output, out_proj_weight, out_proj_bias)
    output = output.view(length, count, output.size(1))
    return output if batched else output.squeeze(1), weights
