"""Resampling: interpolate, grid_sample, affine_grid."""
from __future__ import annotations

import numpy as np

from ..registry import Refusal, Unwritable, entered, translation


def _resized(g, x, mode, size, factors, align):
    if mode == "nearest":
        attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    else:
        attributes = {"coordinate_transformation_mode": "align_corners" if align else "half_pixel"}
        if mode == "cubic":
            attributes["cubic_coeff_a"] = -0.75
    if size is None or factors is not None and any([y is not None for y in factors]) and not align:
        scales = g.constant(np.array([1, 1, *factors], np.float32))
        return g.op("Resize", x, None, scales, mode=mode, **attributes)
    return g.op("Resize", x, None, None, g.ints([*g.sizes(x)[:2], *size]), mode=mode, **attributes)


def _upsampled(mode, aligned):
    """The translation of the form that takes sizes or factors."""
    def write(g, x, size, *options):
        align = options[0] if aligned else False
        return _resized(g, x, mode, size, options[-1], align)
    return write


def _to_size(mode, aligned):
    """The translation of the form that takes sizes, and a factor for each dimension."""
    def write(g, x, size, *options):
        factors = list(options[1:] if aligned else options)
        factors = None if not factors or None in factors else factors
        return _resized(g, x, mode, size, factors, options[0] if aligned else False)
    return write


for _name, _mode, _aligned in (
        ("nearest1d", "nearest", False), ("nearest2d", "nearest", False), ("nearest3d", "nearest", False),
        ("linear1d", "linear", True), ("bilinear2d", "linear", True), ("trilinear3d", "linear", True),
        ("bicubic2d", "cubic", True)):
    entered([(f"upsample_{_name}.vec", _upsampled(_mode, _aligned)), (f"upsample_{_name}", _to_size(_mode, _aligned))])


@translation("grid_sampler")
def grid_sampler(g, x, grid, mode, padding, align):
    if g.opset < 16:
        raise Unwritable(16)
    if x.rank == 5 and g.opset < 20:
        raise Unwritable(20)
    modes = ("linear", "nearest", "cubic") if g.opset >= 20 else ("bilinear", "nearest", "bicubic")
    return g.op("GridSample", x, grid, mode=modes[mode], padding_mode=("zeros", "border", "reflection")[padding],
                align_corners=int(align))


@translation("affine_grid_generator")
def affine_grid(g, theta, size, align):
    if not all([isinstance(n, int) for n in size[2:]]):
        raise Refusal("of sizes that may vary")
    lines = [np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in size[2:]]
    if not align:
        lines = [line * ((n - 1) / n) for line, n in zip(lines, size[2:])]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
    flat = g.constant(places.reshape(-1, len(lines) + 1), theta.dtype)
    return g.reshape(g.op("MatMul", flat, g.transpose(theta, [0, 2, 1])), [-1, *size[2:], len(lines)])
