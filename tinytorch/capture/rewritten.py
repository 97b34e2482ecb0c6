"""The operators of functions of nn.functional that take other arguments than the function.

Each entry of REWRITTEN takes the arguments of the function by name. It returns (operator, overload, the operator's
arguments in order), or None if there is no operator for these arguments.
"""
from __future__ import annotations

from typing import Any

__all__ = ["REWRITTEN"]


def _dropped(operator):
    def rewrite(input, p=0.5, training=True, inplace=False):
        return operator + "_" * inplace, "", [input, float(p), training]
    return rewrite


def _indexed(name, rank):
    def rewrite(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        sizes = [_list(x, rank) for x in (kernel_size, stride, padding, dilation)]
        return name + "_with_indices" * bool(return_indices), "", [input, *sizes, ceil_mode]
    return rewrite


def _list(x, rank):
    if x is None:
        return []
    return [x] * rank if isinstance(x, int) else list(x)


def _adaptive(name, rank):
    def rewrite(input, output_size, return_indices=False):
        sizes = _list(output_size, rank) if output_size is not None else [None] * rank
        shape = input.shape[-rank:]
        return name, "", [input, [n if size is None else size for size, n in zip(sizes, shape)]]
    return rewrite


_ALIGNED = ("linear", "bilinear", "bicubic", "trilinear")
_UPSAMPLES = {("nearest", 3): "upsample_nearest1d", ("nearest", 4): "upsample_nearest2d",
              ("nearest", 5): "upsample_nearest3d", ("linear", 3): "upsample_linear1d",
              ("bilinear", 4): "upsample_bilinear2d", ("bicubic", 4): "upsample_bicubic2d",
              ("trilinear", 5): "upsample_trilinear3d"}


def _interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                 antialias=False):
    name, rank = _UPSAMPLES.get((mode, input.dim())), input.dim() - 2
    if name is None or antialias or recompute_scale_factor or (size is None) == (scale_factor is None):
        return None
    sizes = None if size is None else _list(size, rank)
    factors = scale_factor
    if factors is not None:
        factors = [float(x) for x in (factors if isinstance(factors, (list, tuple)) else [factors] * rank)]
    return name, "vec", [input, sizes, *([bool(align_corners)] if mode in _ALIGNED else []), factors]


def _bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
         per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if max_norm is not None or mode not in ("sum", "mean", "max"):
        return None
    if offsets is None:
        if input.dim() != 2:
            return None
        from ..ops.creation.ranges import arange
        rows, each = input.shape
        offsets = arange(0, rows * each, each, dtype=input.dtype)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    number = ("sum", "mean", "max").index(mode)
    return "embedding_bag", "padding_idx", [weight, input, offsets, scale_grad_by_freq, number, sparse,
                                            per_sample_weights, include_last_offset, padding_idx]


def _distances(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    return "cdist", "", [x1, x2, float(p), modes.index(compute_mode) or None]


def _tensordot(a, b, dims=2, out=None):
    if isinstance(dims, int):
        dims = list(range(-dims, 0)), list(range(dims))
    elif not isinstance(dims, (tuple, list)) or len(dims) != 2:
        return None
    return "tensordot", "", [a, b, *[[x] if isinstance(x, int) else list(x) for x in dims]]


REWRITTEN: dict[str, Any] = {
    "dropout": _dropped("dropout"), "alpha_dropout": _dropped("alpha_dropout"),
    **{f"dropout{n}d": _dropped("feature_dropout") for n in (1, 2, 3)},
    "feature_alpha_dropout": _dropped("feature_alpha_dropout"),
    "interpolate": _interpolate, "embedding_bag": _bag, "cdist": _distances,
    "tensordot": _tensordot,
    "logsigmoid": lambda input, out=None: ("log_sigmoid", "", [input]),
    "adaptive_avg_pool1d": _adaptive("adaptive_avg_pool1d", 1),
    "adaptive_avg_pool2d": _adaptive("adaptive_avg_pool2d", 2),
    "adaptive_avg_pool3d": _adaptive("adaptive_avg_pool3d", 3),
    "adaptive_max_pool1d": _adaptive("adaptive_max_pool1d", 1),
    "adaptive_max_pool2d": _adaptive("adaptive_max_pool2d", 2),
    "adaptive_max_pool3d": _adaptive("adaptive_max_pool3d", 3),
    "max_pool1d": _indexed("max_pool1d", 1), "max_pool2d": _indexed("max_pool2d", 2),
    "max_pool3d": _indexed("max_pool3d", 3),
}
