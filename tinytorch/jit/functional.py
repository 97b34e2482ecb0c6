"""Functions of torch.nn.functional as scripts have them, where no ATen operator takes the same arguments.

Only their texts are used: a script that calls one of these functions includes it in its program. Each is written in the
language of scripts, with ATen's operators (`aten.name`).
"""
# ruff: noqa: UP006, UP007, UP035, UP045 (as scripts are written)
from __future__ import annotations

import math
from collections.abc import Callable
from typing import List, Optional, Tuple

from .._ops import ops
from ..tensor import Tensor

__all__ = ["FUNCTIONS"]

aten = ops.aten


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return aten.dropout_(input, p, training) if inplace else aten.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    return aten.alpha_dropout_(input, p, training) if inplace else aten.alpha_dropout(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    if inplace:
        return aten.feature_alpha_dropout_(input, p, training)
    return aten.feature_alpha_dropout(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    batched = input.dim() == 3
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = aten.feature_dropout_(input, p, training) if inplace else aten.feature_dropout(input, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    return aten.feature_dropout_(input, p, training) if inplace else aten.feature_dropout(input, p, training)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    return aten.feature_dropout_(input, p, training) if inplace else aten.feature_dropout(input, p, training)


def embedding(input: Tensor, weight: Tensor, padding_idx: Optional[int] = None, max_norm: Optional[float] = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    padding = -1
    if padding_idx is not None:
        padding = padding_idx if padding_idx >= 0 else weight.size(0) + padding_idx
    if max_norm is not None:
        input = input.contiguous()
        aten.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return aten.embedding(weight, input, padding, scale_grad_by_freq, sparse)


def embedding_bag(input: Tensor, weight: Tensor, offsets: Optional[Tensor] = None, max_norm: Optional[float] = None,
                  norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Optional[Tensor] = None, include_last_offset: bool = False,
                  padding_idx: Optional[int] = None) -> Tensor:
    number = 1
    if mode == "sum":
        number = 0
    elif mode == "max":
        number = 2
    starts = torch_empty_starts(input)
    if input.dim() == 2:
        starts = aten.arange(0, input.numel(), input.size(1), dtype=input.dtype)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif offsets is not None:
        starts = offsets
    if max_norm is not None:
        aten.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return aten.embedding_bag(weight, input, starts, scale_grad_by_freq, number, sparse, per_sample_weights,
                              include_last_offset, padding_idx)[0]


def torch_empty_starts(input: Tensor) -> Tensor:
    return aten.zeros([0], dtype=input.dtype)


def interpolate(input: Tensor, size: Optional[List[int]] = None, scale_factor: Optional[List[float]] = None,
                mode: str = "nearest", align_corners: Optional[bool] = None,
                recompute_scale_factor: Optional[bool] = None, antialias: bool = False) -> Tensor:
    if antialias or recompute_scale_factor is not None and recompute_scale_factor:
        raise NotImplementedError("antialias and recompute_scale_factor are not supported in a script")
    align = align_corners is not None and align_corners
    dims = input.dim() - 2
    if size is not None and len(size) == 1 and dims > 1:
        size = size * dims
    if scale_factor is not None and len(scale_factor) == 1 and dims > 1:
        scale_factor = scale_factor * dims
    result = input
    if mode == "nearest":
        if dims == 1:
            result = aten.upsample_nearest1d(input, size, scale_factor)
        elif dims == 2:
            result = aten.upsample_nearest2d(input, size, scale_factor)
        else:
            result = aten.upsample_nearest3d(input, size, scale_factor)
    elif mode == "linear":
        result = aten.upsample_linear1d(input, size, align, scale_factor)
    elif mode == "bilinear":
        result = aten.upsample_bilinear2d(input, size, align, scale_factor)
    elif mode == "bicubic":
        result = aten.upsample_bicubic2d(input, size, align, scale_factor)
    elif mode == "trilinear":
        result = aten.upsample_trilinear3d(input, size, align, scale_factor)
    else:
        raise NotImplementedError(f"interpolate in mode {mode} is not supported in a script")
    return result


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
                  ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    return aten.cross_entropy_loss(input, target, weight, number_of(reduction), ignore_index, label_smoothing)


def nll_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, size_average: Optional[bool] = None,
             ignore_index: int = -100, reduce: Optional[bool] = None, reduction: str = "mean") -> Tensor:
    return aten.nll_loss_nd(input, target, weight, number_of(reduction), ignore_index)


def number_of(reduction: str) -> int:
    number = -1
    if reduction == "none":
        number = 0
    elif reduction == "mean":
        number = 1
    elif reduction == "sum":
        number = 2
    else:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return number


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    axis = implicit_dim(input) if dim is None else dim
    return aten.softmax(input, axis, dtype)


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    axis = implicit_dim(input) if dim is None else dim
    return aten.log_softmax(input, axis, dtype)


def softmin(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Optional[int] = None) -> Tensor:
    axis = implicit_dim(input) if dim is None else dim
    return aten.softmax(-input, axis, dtype)


def implicit_dim(input: Tensor) -> int:
    dims = input.dim()
    return 0 if dims == 0 or dims == 1 or dims == 3 else 1


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Optional[Tensor] = None) -> Tensor:
    length = aten.clamp_min(aten.norm(input, p, [dim], True), eps)
    return input / length.expand_as(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    return aten.glu(input, dim)


def tanhshrink(input: Tensor) -> Tensor:
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    return input / (input.abs() + 1)


def group_norm(input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None,
               eps: float = 1e-5) -> Tensor:
    return aten.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    squares = (input * input).unsqueeze(1)
    sizes = input.size()
    if input.dim() == 3:
        padded = aten.pad(squares, [0, 0, size // 2, (size - 1) // 2])
        means = aten.avg_pool2d(padded, [size, 1], [1, 1]).squeeze(1)
    else:
        flat = squares.view([sizes[0], 1, sizes[1], sizes[2], -1])
        padded = aten.pad(flat, [0, 0, 0, 0, size // 2, (size - 1) // 2])
        means = aten.avg_pool3d(padded, [size, 1, 1], [1, 1, 1]).squeeze(1).view(sizes)
    return input / (means * alpha + k) ** beta


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Optional[int] = None,
              ceil_mode: bool = False) -> Tensor:
    step = kernel_size if stride is None else stride
    out = aten.avg_pool1d(input.pow(norm_type), [kernel_size], [step], [0], ceil_mode)
    return (aten.sign(out) * aten.relu(aten.abs(out))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: List[int], stride: Optional[List[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    size = kernel_size * 2 if len(kernel_size) == 1 else kernel_size
    step = size if stride is None else stride
    out = aten.avg_pool2d(input.pow(norm_type), size, step, [0, 0], ceil_mode)
    return (aten.sign(out) * aten.relu(aten.abs(out))).mul(size[0] * size[1]).pow(1.0 / norm_type)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: List[int], stride: Optional[List[int]] = None,
              ceil_mode: bool = False) -> Tensor:
    size = kernel_size * 3 if len(kernel_size) == 1 else kernel_size
    step = size if stride is None else stride
    out = aten.avg_pool3d(input.pow(norm_type), size, step, [0, 0, 0], ceil_mode)
    return (aten.sign(out) * aten.relu(aten.abs(out))).mul(size[0] * size[1] * size[2]).pow(1.0 / norm_type)


def logsigmoid(input: Tensor) -> Tensor:
    return aten.log_sigmoid(input)


def kl_div(input: Tensor, target: Tensor, size_average: Optional[bool] = None, reduce: Optional[bool] = None,
           reduction: str = "mean", log_target: bool = False) -> Tensor:
    if reduction == "batchmean":
        total = aten.kl_div(input, target, 2, log_target=log_target)
        return total / input.size(0) if input.dim() != 0 else total
    return aten.kl_div(input, target, number_of(reduction), log_target=log_target)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None,
                                size_average: Optional[bool] = None, reduce: Optional[bool] = None,
                                reduction: str = "mean") -> Tensor:
    loss = -(target * aten.log_sigmoid(input) + (1 - target) * aten.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(-1) / input.size(-1)
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6,
                      reduction: str = "mean") -> Tensor:
    if var.size() != input.size():
        var = var.unsqueeze(-1) if input.dim() == var.dim() + 1 else var
    var = aten.clamp_min(var.detach(), eps) + (var - var.detach())
    loss = 0.5 * (aten.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.9189385332046727
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


# The steps: the three projections, the masks, the additional keys, the scores, and the weighted sum of the values. It
# is one function because programs show it under this name.
def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Optional[Tensor], in_proj_bias: Optional[Tensor], bias_k: Optional[Tensor],
        bias_v: Optional[Tensor], add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
        out_proj_bias: Optional[Tensor], training: bool = True, key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True, attn_mask: Optional[Tensor] = None, use_separate_proj_weight: bool = False,
        q_proj_weight: Optional[Tensor] = None, k_proj_weight: Optional[Tensor] = None,
        v_proj_weight: Optional[Tensor] = None, static_k: Optional[Tensor] = None, static_v: Optional[Tensor] = None,
        average_attn_weights: bool = True, is_causal: bool = False) -> Tuple[Tensor, Optional[Tensor]]:
    if static_k is not None or static_v is not None:
        raise NotImplementedError("static_k and static_v are not supported in a script")
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, size = query.size(0), query.size(1), query.size(2)
    each = size // num_heads
    q, k, v = query, key, value
    if in_proj_weight is not None:
        wq, wk, wv = in_proj_weight[:size], in_proj_weight[size:2 * size], in_proj_weight[2 * size:]
        if in_proj_bias is not None:
            q = aten.linear(query, wq, in_proj_bias[:size])
            k = aten.linear(key, wk, in_proj_bias[size:2 * size])
            v = aten.linear(value, wv, in_proj_bias[2 * size:])
        else:
            q, k, v = aten.linear(query, wq), aten.linear(key, wk), aten.linear(value, wv)
    elif q_proj_weight is not None and k_proj_weight is not None and v_proj_weight is not None:
        if in_proj_bias is not None:
            q = aten.linear(query, q_proj_weight, in_proj_bias[:size])
            k = aten.linear(key, k_proj_weight, in_proj_bias[size:2 * size])
            v = aten.linear(value, v_proj_weight, in_proj_bias[2 * size:])
        else:
            q = aten.linear(query, q_proj_weight)
            k = aten.linear(key, k_proj_weight)
            v = aten.linear(value, v_proj_weight)
    mask: Optional[Tensor] = None
    if attn_mask is not None:
        mask = added_mask(attn_mask, query)
        if mask.dim() == 3:
            mask = mask.view([batch, num_heads, mask.size(1), mask.size(2)])
    padding: Optional[Tensor] = None
    if key_padding_mask is not None:
        padding = added_mask(key_padding_mask, query)
    if bias_k is not None and bias_v is not None:
        k = aten.cat([k, bias_k.repeat([1, batch, 1])])
        v = aten.cat([v, bias_v.repeat([1, batch, 1])])
        mask, padding = longer(mask), longer(padding)
    q = q.reshape([length, batch * num_heads, each]).transpose(0, 1)
    k = k.reshape([k.size(0), batch * num_heads, each]).transpose(0, 1)
    v = v.reshape([v.size(0), batch * num_heads, each]).transpose(0, 1)
    if add_zero_attn:
        zeros = aten.zeros([batch * num_heads, 1, each], dtype=k.dtype)
        k, v = aten.cat([k, zeros], 1), aten.cat([v, zeros], 1)
        mask, padding = longer(mask), longer(padding)
    source = k.size(1)
    q = q.view([batch, num_heads, length, each])
    k = k.view([batch, num_heads, source, each])
    v = v.view([batch, num_heads, source, each])
    scores = aten.matmul(q * aten.sqrt(1.0 / float(each)), k.transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    if padding is not None:
        scores = scores + padding.view([batch, 1, 1, source])
    weights = aten.softmax(scores, -1)
    if dropout_p > 0.0 and training:
        weights = aten.dropout(weights, dropout_p, True)
    out = aten.matmul(weights, v).permute([2, 0, 1, 3]).reshape([length, batch, size])
    out = aten.linear(out, out_proj_weight, out_proj_bias)
    if not batched:
        out = out.squeeze(1)
    if not need_weights:
        return out, None
    if average_attn_weights:
        weights = weights.mean([1])
    if not batched:
        weights = weights.squeeze(0)
    return out, weights


def added_mask(mask: Tensor, like: Tensor) -> Tensor:
    if mask.is_floating_point():
        return mask
    return aten.zeros(mask.size(), dtype=like.dtype).masked_fill_(mask, -math.inf)


def longer(mask: Optional[Tensor]) -> Optional[Tensor]:
    if mask is not None:
        return aten.pad(mask, [0, 1])
    return None


#: {name in torch.nn.functional: the function that a script calls}.
FUNCTIONS: dict[str, Callable] = {f.__name__: f for f in (
    dropout, alpha_dropout, feature_alpha_dropout, dropout1d, dropout2d, dropout3d, embedding, embedding_bag,
    interpolate, cross_entropy, nll_loss, softmax, log_softmax, softmin, normalize, glu, tanhshrink, softsign,
    group_norm, local_response_norm, lp_pool1d, lp_pool2d, lp_pool3d,
    logsigmoid, kl_div, multilabel_soft_margin_loss, gaussian_nll_loss, multi_head_attention_forward)}
