"""Digits drawn with strokes: the data of `SyntheticDigits`."""
import math

import numpy as np

_SIDE = 28
_POINTS = 64                      # ink blots along the strokes of a digit
_TOGETHER = 200                   # digits drawn at once; the points of 60,000 would take 61 MB


def _arc(cx, cy, rx, ry, start, end, n=12):
    """Points of an ellipse's arc; angles in degrees, clockwise from the right (y points down)."""
    angles = [math.radians(start + (end - start) * i / (n - 1)) for i in range(n)]
    return [(cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles]


#: The strokes of each digit: polylines in a box one unit high and wide.
_STROKES = [
    [_arc(.5, .5, .27, .4, 0, 360, 20)],
    [[(.36, .26), (.53, .1), (.53, .9)]],
    [_arc(.5, .32, .25, .22, 190, 380) + [(.25, .9), (.77, .9)]],
    [_arc(.47, .3, .23, .2, 200, 450) + _arc(.47, .7, .27, .2, 270, 520)],
    [[(.6, .1), (.22, .62), (.8, .62)], [(.62, .38), (.62, .92)]],
    [[(.74, .1), (.34, .1), (.3, .46)] + _arc(.48, .65, .26, .25, 230, 500)],
    [[(.66, .1), (.4, .34), (.28, .62)] + _arc(.5, .68, .23, .22, 180, 540, 18)],
    [[(.24, .12), (.76, .12), (.42, .9)]],
    [_arc(.5, .3, .2, .2, 90, 450, 16), _arc(.5, .7, .25, .2, 270, 630, 16)],
    [_arc(.5, .32, .23, .22, 0, 360, 18) + [(.72, .4), (.66, .66), (.54, .92)]],
]


def _evenly(strokes):
    """_POINTS points at even distances along the strokes, as an array (_POINTS, 2)."""
    pieces = [(np.array(a), np.array(b)) for line in strokes for a, b in zip(line, line[1:])]
    ends = np.cumsum([np.linalg.norm(b - a) for a, b in pieces])
    found = []
    for s in np.linspace(0, ends[-1] * (1 - 1e-9), _POINTS):
        k = int(np.searchsorted(ends, s, side="right"))
        a, b = pieces[k]
        length = np.linalg.norm(b - a)
        found.append(a + (b - a) * ((s - ends[k] + length) / length if length else 0))
    return np.array(found)


def draw_digits(count, seed):
    """`count` images (count, 28, 28) uint8 and their labels (count,) int64.

    Each is a digit's strokes under a random affine map and a smooth wobble, drawn with a pen of
    random width and strength, with noise on top. The random numbers are NumPy's frozen legacy
    stream, so that a seed means the same images for good.
    """
    random = np.random.RandomState(seed)
    labels = random.randint(0, 10, count)
    moves = _moves(count, random)
    width = random.uniform(0.55, 1.05, count)
    strength = random.uniform(0.75, 1.0, count)
    strokes = np.stack([_evenly(s) for s in _STROKES]) - 0.5                 # (10, _POINTS, 2)
    images = np.empty((count, _SIDE, _SIDE), np.uint8)
    for i in range(0, count, _TOGETHER):
        part = slice(i, i + _TOGETHER)
        points = _warp(strokes[labels[part]], *[move[part] for move in moves])
        ink = _blot(points) * (_SIDE / _POINTS)
        ink = _blur(ink, width[part])
        ink = np.minimum(ink * 3, 1) * strength[part, None, None]
        ink += random.normal(0, 0.04, ink.shape) * (ink > 0.02)
        images[part] = np.clip(ink * 255, 0, 255)
    return images, labels.astype(np.int64)


def _moves(count, random):
    """The random angles, shears, scales, shifts and two wobbles of `count` digits."""
    angle, shear = random.normal(0, 0.17, count), random.normal(0, 0.16, count)
    scale = random.uniform(0.75, 1.05, (count, 2)) * 21
    shift = random.normal(0, 1.2, (count, 2)) + (_SIDE - 1) / 2
    return angle, shear, scale, shift, *random.normal(0, 0.022, (2, count, 2, 3))


def _warp(points, angle, shear, scale, shift, sines, cosines):
    """The points after these moves, in pixels."""
    along = np.linspace(0, math.pi, _POINTS)[:, None] * np.arange(1, 4)       # slow waves along the stroke
    points = points + (np.einsum("ncw,pw->npc", sines, np.sin(along))
                       + np.einsum("ncw,pw->npc", cosines, np.cos(along)))
    points[..., 0] += shear[:, None] * -points[..., 1]
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y = points[..., 0], points[..., 1]
    turned = np.stack([cos * x - sin * y, sin * x + cos * y], -1)
    return np.clip(turned * scale[:, None] + shift[:, None], 0.5, _SIDE - 1.51)


def _blot(points):
    """Drop a unit of ink at every point, shared between the four pixels around it."""
    count = len(points)
    corner = np.floor(points).astype(np.int64)
    part = points - corner
    base = (np.arange(count)[:, None] * _SIDE + corner[..., 1]) * _SIDE + corner[..., 0]
    ink = np.zeros(count * _SIDE * _SIDE)
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        horizontal = part[..., 0] if dx else 1 - part[..., 0]
        vertical = part[..., 1] if dy else 1 - part[..., 1]
        weight = horizontal * vertical
        ink += np.bincount((base + dy * _SIDE + dx).ravel(), weight.ravel(), ink.size)
    return ink.reshape(count, _SIDE, _SIDE)


def _blur(ink, width):
    """Gaussian pen of standard deviation `width` pixels, one axis after the other."""
    offsets = np.arange(-2, 3)
    weights = np.exp(-0.5 * (offsets / width[:, None]) ** 2)
    weights /= weights.sum(1, keepdims=True)
    for axis in (1, 2):
        padded = np.pad(ink, [(0, 0)] + [(2, 2) if a == axis else (0, 0) for a in (1, 2)])
        parts = (np.take(padded, np.arange(k, k + _SIDE), axis) * weights[:, k, None, None] for k in range(5))
        ink = sum(parts)
    return ink
