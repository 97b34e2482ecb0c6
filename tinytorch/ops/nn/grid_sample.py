"""Sampling at the places of a grid: grid_sample, affine_grid."""
from __future__ import annotations

import math

import numpy as np

from ... import dtypes as dt
from ...autograd.engine import run_backward
from ...autograd.grad_mode import enable_grad
from ...autograd.op import op, renamed
from ...autograd.public import public
from ...autograd.record_dtypes import in_float32
from ...errors import not_implemented, type_name, warn
from ...kernels import grid_sample as kernels
from ...kernels.stepwise import plain, stepwise
from ...seam import seam
from ...tensor import Tensor, wrap
from ...types import Extents, Ints
from ..creation.ranges import linspace
from ..linalg.products import _matmul
from ..plan import cached_by_shape
from ..reduction.reductions import like

__all__ = ["affine_grid_generator", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


# ------------------------------------------------------------------ primitives
def _parts(mode, padding, align_corners, half, input, grid):
    """(images as rows, the axes of the grid) of arrays. `half`: compute in bfloat16, also where backward has
    widened the arrays to float32."""
    if half:
        input, grid = dt.cast(input, dt.BFLOAT16), dt.cast(grid, dt.BFLOAT16)
    size = input.shape[2:]
    places = grid.reshape(grid.shape[0], math.prod(grid.shape[1:-1]), grid.shape[-1])
    return (np.ascontiguousarray(input).reshape(*input.shape[:2], math.prod(size)),
            kernels.axes_of(places, size, mode, padding, align_corners))


def _moving(mode, padding, align_corners, input, grid):
    """(images as rows, axes, corners) of tensors. The weights and slopes of each axis are differentiable functions of
    the grid. A corner is (its number along each axis, its flat positions, whether they are inside the image)."""
    n, c, *size = input.shape
    places = grid.reshape(grid.shape[0], math.prod(grid.shape[1:-1]), len(size))
    dtype = grid._array.dtype
    axes = kernels.axes_of(places._array, tuple(size), mode, padding, align_corners)

    def constant(x):
        return wrap(dt.cast(np.ascontiguousarray(x), dtype))
    for k, axis in enumerate(axes):
        axis.factor = constant(np.broadcast_to(axis.factor, axis.elements[0].shape))
        if axis.weights is None:               # mode nearest: constant ones that depend on the coordinate
            axis.weights = [places[..., k].masked_fill(wrap(np.ones(axis.elements[0].shape, bool)), 1)]
            axis.slopes = [0]
        else:
            t = constant(kernels.past(axis)) + (places[..., k] - places[..., k].detach()) * axis.factor
            axis.weights, axis.slopes = kernels.weights(t, mode), kernels.slopes(t, mode)
    corners = []
    for which in kernels.corners(axes):
        place, inside = kernels.corner(axes, which, tuple(size))
        place = wrap(np.ascontiguousarray(np.broadcast_to(place[:, None], (n, c, place.shape[1]))))
        corners.append((which, place, constant(inside[:, None])))
    return input.reshape(n, c, math.prod(size)), axes, corners


def _product(factors):
    result = factors[0]
    for x in factors[1:]:
        result = result * x
    return result


def _grad(g, wanted, mode, padding, align_corners, half, input, grid):
    found = _grads[input.ndim - 2](mode, padding, align_corners, half, *wanted, g, input, grid)
    return [x if w else None for x, w in zip(found, wanted)]


def _grads_by_corners(mode, padding, align_corners, half, of_input, of_grid, g, input, grid):
    """The gradients of input and grid as a composition of ordinary operations."""
    rows, axes, corners = _moving(mode, padding, align_corners, input, grid)
    g = g.reshape(*g.shape[:2], math.prod(g.shape[2:]))
    back, turns = rows.detach() * 0, [0] * len(axes)
    for which, place, inside in corners:
        weights = [axis.weights[k] for axis, k in zip(axes, which)]
        if of_input:
            back = back.scatter_add(2, place, g * inside * _product(weights)[:, None])
        if of_grid:
            sums = (rows.gather(2, place) * inside * g).sum(1)
            for i, axis in enumerate(axes):
                others = [w for j, w in enumerate(weights) if j != i]
                turns[i] = turns[i] + sums * _product(others) * axis.slopes[which[i]] * axis.factor
    from ..layout.join import stack
    return back.reshape(input.shape), stack(turns, -1).reshape(grid.shape) if of_grid else grid.detach() * 0


def _second(g, wanted, args):
    """The second derivatives: those of the composition in `_grads_by_corners`."""
    half = args[3]
    arrays = map(dt.to_bfloat16, args[6:]) if half else args[6:]
    operands = [wrap(x).requires_grad_(w) for x, w in zip(arrays, wanted)]
    with enable_grad():
        pairs = [(y, wrap(dt.to_bfloat16(d) if half else d)) for y, d in zip(_grads_by_corners(*args[:6], *operands), g)
                 if d is not None and y.requires_grad]
    found = iter(run_backward([y for y, _ in pairs], [d for _, d in pairs], False, False,
                              [x for x in operands if x.requires_grad], False))
    found = [next(found)._array if w else None for w in wanted]
    return [d if d is None or not half else dt.from_bfloat16(d) for d in found]


@op(name="grid_sampler_2d_backward", batches="examples", first=6, multi=True, joint=_second,
    decomposition=_grads_by_corners)
def _sample_grad(mode, padding, align_corners, half, of_input, of_grid, g, input, grid):
    size, wide = input.shape[2:], input.dtype != dt.BFLOAT16
    if not of_grid:
        flat = np.ascontiguousarray(g).reshape(*g.shape[:2], math.prod(g.shape[2:]))
        found = kernels.natively_back(flat, size, np.ascontiguousarray(grid), mode, padding, align_corners)
        if found is not None:
            return found, g[:0]
    rows, axes = _parts(mode, padding, align_corners, half, input, grid)
    g = np.ascontiguousarray(dt.cast(g, rows.dtype)).reshape(*g.shape[:2], math.prod(g.shape[2:]))
    d_input = kernels.input_grad(g, rows.shape, axes, size).reshape(input.shape) if of_input else g[:0]
    d_grid = kernels.grid_grad(g, rows, axes, size).reshape(grid.shape) if of_grid else g[:0]
    found = d_input, d_grid
    return tuple(map(dt.from_bfloat16, found)) if half and wide else found


@op(name="grid_sampler_2d", batches="examples", first=4, joint=_grad)
def _sample(mode, padding, align_corners, half, input, grid):
    result = kernels.natively(input, grid, mode, padding, align_corners)
    if result is not None:
        return result
    rows, axes = _parts(mode, padding, align_corners, half, input, grid)
    return kernels.sampled(rows, axes, input.shape[2:]).reshape(*input.shape[:2], *grid.shape[1:-1])


_samples = {2: _sample, 3: renamed(_sample, "grid_sampler_3d")}
_grads = {2: _sample_grad, 3: renamed(_sample_grad, "grid_sampler_3d_backward")}


# ------------------------------------------------------------------ sampling
def _sampler(n, input, grid, *settings):
    return _samples[n](*_settings(n, input, grid, *settings), input, grid)


def _settings(n, input, grid, interpolation_mode, padding_mode, align_corners):
    """The settings of the primitive, after torch's checks."""
    shape, places = input._array.shape, grid._array.shape
    if len(shape) != n + 2 or len(places) != n + 2:
        raise RuntimeError(f"grid_sampler(): expected {n + 2}D input and grid with same number of dimensions, but got "
                           f"input with sizes {list(shape)} and grid with sizes {list(places)}")
    if n == 3 and interpolation_mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if not (0 <= interpolation_mode < 3 and 0 <= padding_mode < 3):
        raise RuntimeError("grid_sampler(): interpolation_mode and padding_mode are 0, 1 or 2, but got "
                           f"{interpolation_mode} and {padding_mode}")
    if input._array.dtype.kind not in dt.FLOATING:
        raise not_implemented("grid_sampler_2d_cpu_kernel_impl" if n == 2 else "grid_sampler3d_cpu", input)
    if grid._array.dtype != input._array.dtype:
        raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(grid)}")
    return _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners, input._array.dtype == dt.BFLOAT16


@cached_by_shape
def _settings_of(shape, places, dtype, of_grid, mode, padding_mode, align_corners):
    """(the number of axes, the settings of the primitive) after torch's checks."""
    input, grid = [wrap(np.broadcast_to(np.empty((), dtype), shape)) for shape, dtype in (
        (shape, dtype), (places, of_grid))]
    _check(input, grid)
    n = 2 if len(shape) == 4 else 3
    return n, _settings(n, input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode), align_corners)


def _check(input, grid):
    shape, places = input._array.shape, grid._array.shape
    if shape[0] != places[0]:
        raise RuntimeError("grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
                           f"{list(shape)} and grid with sizes {list(places)}")
    if places[-1] != len(shape) - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, but got "
                           f"grid with sizes {list(places)}")
    for i in range(2, len(shape)):
        if not shape[i]:
            raise RuntimeError("grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
                               f"sizes {list(shape)} with dimension {i} being empty")


@public(autocast="up")
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
                    align_corners: bool) -> Tensor:
    """`grid_sampler` of images (N, C, H, W)."""
    _check(input, grid)
    return _sampler(2, input, grid, interpolation_mode, padding_mode, align_corners)


@public(autocast="up")
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
                    align_corners: bool) -> Tensor:
    """`grid_sampler` of volumes (N, C, D, H, W)."""
    _check(input, grid)
    return _sampler(3, input, grid, interpolation_mode, padding_mode, align_corners)


@public(autocast="up")
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int,
                 align_corners: bool) -> Tensor:
    """`nn.functional.grid_sample` with numbers for the modes (0 bilinear, 1 nearest, 2 bicubic) and paddings (0 zeros,
    1 border, 2 reflection)."""
    _check(input, grid)
    return _sampler(2 if input._array.ndim == 4 else 3, input, grid, interpolation_mode, padding_mode, align_corners)


def _default_corners(align_corners):
    if align_corners is None:
        warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
             "Please specify align_corners=True if the old behavior is desired. See the documentation of "
             "grid_sample for details.")
        return False
    return align_corners


@public(python=True, autocast="up", repeats=True)
def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Tensor:
    """The images `input` (N, C, H, W) at the places `grid` (N, H', W', 2) of (x, y) in [-1, 1]: (N, C, H', W').

    Volumes (N, C, D, H, W) take a grid (N, D', H', W', 3) of (x, y, z). -1 and 1 are the edges of the image, or with
    `align_corners` the centres of the pixels at the edges. mode: bilinear, nearest, or for images bicubic.
    padding_mode: beyond the edges are zeros, the pixels at the edge (border), or the mirrored image (reflection). Input
    and grid have one floating-point dtype. ValueError for another mode, RuntimeError where shapes or dtypes do not fit.

    >>> import tinytorch as torch
    >>> image = torch.tensor([[[[1., 2.], [3., 4.]]]])
    >>> torch.nn.functional.grid_sample(image, torch.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[2.5000]]]])
    """
    if align_corners.__class__ is bool and not seam.up and isinstance(input, Tensor) and isinstance(grid, Tensor):
        a, b = input._array, grid._array
        if type(a) is np.ndarray and type(b) is np.ndarray and mode in _MODES and padding_mode in _PADDINGS:
            n, settings = _settings_of(a.shape, b.shape, a.dtype, b.dtype, mode, padding_mode, align_corners)
            return _samples[n](*settings, input, grid)
    if mode not in _MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
                         f"got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
                         f"'reflection', but got: '{padding_mode}'")
    return grid_sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode),
                        _default_corners(align_corners))


# ------------------------------------------------------------------ grids
def _base(size, align_corners, d):
    """(P, axes + 1): the coordinates of the P elements of an image, the last axis first, and a column of ones."""
    lines = []
    for n in size[::-1]:
        line = linspace(-1, 1, n, dtype=d)._array if n > 1 else dt.cast(np.zeros(n, np.float32), d.numpy)
        if not align_corners:
            line = plain(stepwise(line) * (n - 1) / n)
        lines.append(line)
    grids = np.meshgrid(*lines[::-1], indexing="ij")[::-1]
    return np.stack([x.reshape(-1) for x in grids] + [dt.cast(np.ones(math.prod(size)), d.numpy)], -1)


@op(name="affine_grid_generator", first=3, theta=lambda g, base, size, align_corners: _matmul(
    like(g, np.ascontiguousarray(base.T)), g.reshape(g.shape[0], -1, g.shape[-1])).swapaxes(-1, -2))
def _affine(base, size, align_corners, theta):
    result = np.matmul(base, theta.swapaxes(-1, -2))
    return result.reshape(theta.shape[0], *size[2:], theta.shape[1])


@public()
def affine_grid_generator(theta: Tensor, size: Extents, align_corners: bool) -> Tensor:
    """`nn.functional.affine_grid` without its checks."""
    size = tuple(map(int, size))
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    shape, n = theta._array.shape, len(size) - 1
    if len(shape) != 3 or shape[0] != size[0] or shape[2] != n:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {n}] but got: "
                           f"[{', '.join(map(str, (shape[0], *shape[:1:-1])))}].")
    if 1 in size[2:] and theta._array.itemsize == 2:
        raise not_implemented("tensor_cpu", theta)
    base = _base(size[2:], align_corners, theta.dtype)
    if theta._array.dtype == dt.BFLOAT16:
        return in_float32(_affine, dt.from_bfloat16(base), size, align_corners, theta)
    return _affine(base, size, align_corners, theta)


@public(python=True)
def affine_grid(theta: Tensor, size: Ints, align_corners: bool | None = None) -> Tensor:
    """The grid (N, H, W, 2) for `grid_sample` to which the affine maps `theta` (N, 2, 3) move the pixels of images of
    `size` (N, C, H, W). Volumes take (N, 3, 4) and (N, C, D, H, W). `align_corners` is that of `grid_sample`.

    ValueError unless `theta` and `size` fit each other.

    >>> import tinytorch as torch
    >>> torch.nn.functional.affine_grid(torch.tensor([[[1., 0., 0.], [0., 1., 0.]]]), (1, 1, 1, 2), False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    align_corners = _default_corners(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
                                  f"respectively. Got size {size}.")
    n = len(size) - 2
    if theta.dim() != 3 or theta.shape[-2] != n or theta.shape[-1] != n + 1:
        raise ValueError(f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got "
                         f"{theta.shape}.")
    if align_corners and min(size[2:]) == 1:
        warn("Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
             "align_corners=True. This is not an intended use case of affine_grid. See the documentation of "
             "affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, align_corners)
