"""Tensors (..., C, H, W) turned, sheared, seen in perspective and bent: where each pixel of the result comes from, as
grids (1, H, W, 2) for `grid_sample`."""

from ... import cat, ceil, float32, floor, linspace, matmul, meshgrid, ones, stack, tensor, where
from ...errors import warn
from ...nn import functional as nnf
from ...tensor import Tensor
from ._tensors import as_batch, check_image, get_dimensions


def _check(img, interpolation, fill):
    if not isinstance(img, Tensor):
        raise TypeError("Input img should be Tensor")
    check_image(img)
    if fill is not None and not isinstance(fill, (int, float, tuple, list)):
        warn("Argument fill should be either int, float, tuple or list")
    channels = get_dimensions(img)[0]
    if isinstance(fill, (tuple, list)) and len(fill) not in (1, channels):
        raise ValueError("The number of elements in 'fill' cannot broadcast to match the number of channels of the "
                         f"image ({len(fill)} != {channels})")
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(f"Interpolation mode '{interpolation}' is unsupported with Tensor input")


def _sampled(img, grid, mode, fill):
    """The pixels at the grid's places; outside of the image the colour `fill`, or 0."""
    batch, back = as_batch(img, (grid.dtype,))
    grid = grid.expand(batch.shape[0], *grid.shape[1:])
    if fill is None:
        return back(nnf.grid_sample(batch, grid, mode=mode, padding_mode="zeros", align_corners=False))
    inside = ones(batch.shape[0], 1, *batch.shape[2:], dtype=batch.dtype)
    both = nnf.grid_sample(cat((batch, inside), 1), grid, mode=mode, padding_mode="zeros", align_corners=False)
    found, share = both[:, :-1], both[:, -1:]
    fill = fill if isinstance(fill, (tuple, list)) else [fill]
    colour = tensor([float(x) for x in fill], dtype=found.dtype).view(1, -1, 1, 1)
    if mode == "nearest":
        return back(where(share < 0.5, colour, found))
    return back(found * share + (1.0 - share) * colour)


def _lines(w, h, first, dtype):
    """x of each column (1, W) and y of each row (H, 1), at the pixels' centres. `first` are the least."""
    x, y = first
    return linspace(x, x + w - 1, steps=w).to(dtype), linspace(y, y + h - 1, steps=h).to(dtype)[:, None]


def _combined(x, y, rows):
    """(a x + b y) + c of each row (a, b, c), side by side: (1, H, W, rows), added in this order as torch's `bmm` of
    such narrow matrices does, for a rounding decides which pixel is the nearest."""
    return stack([x * a + y * b + c for a, b, c in rows], -1)[None]


def _grid_dtype(img):
    return img.dtype if img.is_floating_point() else float32


def _mapped(img, matrix, interpolation, fill, width, height):
    """By the matrix [a, b, c, d, e, f], which takes the result's places, from its centre, to the image's."""
    dtype = _grid_dtype(img)
    x, y = _lines(width, height, (-width * 0.5 + 0.5, -height * 0.5 + 0.5), dtype)
    theta = tensor(matrix, dtype=dtype).view(2, 3) / _half(img, dtype)
    return _sampled(img, _combined(x, y, theta), interpolation, fill)


def _half(img, dtype):
    """Half of the width and of the height, one below the other."""
    return tensor([[0.5 * img.shape[-1]], [0.5 * img.shape[-2]]], dtype=dtype)


def affine(img, matrix, interpolation="nearest", fill=None):
    _check(img, interpolation, fill)
    return _mapped(img, matrix, interpolation, fill, img.shape[-1], img.shape[-2])


def rotate(img, matrix, interpolation="nearest", expand=False, fill=None):
    _check(img, interpolation, fill)
    w, h = img.shape[-1], img.shape[-2]
    return _mapped(img, matrix, interpolation, fill, *(_extent(matrix, w, h) if expand else (w, h)))


def _extent(matrix, w, h):
    """Width and height of what holds all of the turned image; corners a ten thousandth of a pixel out do not count."""
    x, y = 0.5 * w, 0.5 * h
    corners = matmul(tensor([[-x, -y, 1.0], [-x, y, 1.0], [x, y, 1.0], [x, -y, 1.0]]),
                     tensor(matrix, dtype=float32).view(2, 3).T)
    half = tensor([x, y])
    least, most = ((f(0).values + half) / 1e-4 for f in (corners.min, corners.max))
    size = ceil(most.trunc() * 1e-4) - floor(least.trunc() * 1e-4)
    return int(size[0]), int(size[1])


def perspective(img, coefficients, interpolation="bilinear", fill=None):
    _check(img, interpolation, fill)
    if len(coefficients) != 8:
        raise ValueError("Argument coeffs should have 8 float values")
    dtype = _grid_dtype(img)
    x, y = _lines(img.shape[-1], img.shape[-2], (0.5, 0.5), dtype)
    over = tensor(coefficients[:6], dtype=dtype).view(2, 3) / _half(img, dtype)
    under = tensor([[*coefficients[6:], 1.0]], dtype=dtype)
    return _sampled(img, _combined(x, y, over) / _combined(x, y, under) - 1.0, interpolation, fill)


def elastic_transform(img, displacement, interpolation="bilinear", fill=None):
    check_image(img)
    y, x = meshgrid([linspace((1 - n) / n, (n - 1) / n, n) for n in img.shape[-2:]], indexing="ij")
    return _sampled(img, stack([x, y], -1)[None] + displacement, interpolation, fill)
