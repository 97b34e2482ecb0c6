"""Transforms that move pixels by chance: flips, crops, rotations, perspectives."""
import math
from collections.abc import Sequence

from ... import cat, empty, exp, log, rand, randint, tensor
from ...errors import warn
from ...nn import Module
from . import functional as F
from ._arguments import angles, check_sequence, colour, colour_for, described, interpolation_of, size_of
from .functional import InterpolationMode


def uniform(least, most):
    """A number of torch's generator."""
    return empty(1).uniform_(least, most).item()


def whole(least, most):
    """An integer of torch's generator, least <= x < most."""
    return randint(least, most, size=(1,)).item()


class Perhaps(Module):
    """A transform with probability `p`: `changed(img)`, or else the image."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return self.changed(img) if rand(1) < self.p else img

    def __repr__(self):
        return described(self, "p")


class RandomHorizontalFlip(Perhaps):
    """Left and right exchanged, with probability `p`.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.RandomHorizontalFlip(1.0)(torch.arange(3).reshape(1, 1, 3))
    tensor([[[2, 1, 0]]])
    """

    def changed(self, img):
        return F.hflip(img)


class RandomVerticalFlip(Perhaps):
    """Top and bottom exchanged, with probability `p`."""

    def changed(self, img):
        return F.vflip(img)


# ------------------------------------------------------------------ crops
class RandomCrop(Module):
    """A part of `size` (H, W) from anywhere in the image, around which `padding` is put first.

    pad_if_needed   put as much around it as it is too small by
    ValueError if it is too small otherwise.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.RandomCrop(2, padding=1)(torch.ones(3, 2, 4)).shape
    torch.Size([3, 2, 2])
    """

    @staticmethod
    def get_params(img, output_size):
        """(top, left, height, width)."""
        _, h, w = F.get_dimensions(img)
        height, width = output_size
        if h < height or w < width:
            raise ValueError(f"Required crop size {(height, width)} is larger than input image size {(h, w)}")
        if (h, w) == (height, width):
            return 0, 0, h, w
        return whole(0, h - height + 1), whole(0, w - width + 1), height, width

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(size_of(size))
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, h, w = F.get_dimensions(img)
        height, width = self.size
        if self.pad_if_needed and w < width:
            img = F.pad(img, [width - w, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and h < height:
            img = F.pad(img, [0, height - h], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self):
        return described(self, "size", "padding")


def check_range(scale, ratio):
    if not isinstance(scale, Sequence):
        raise TypeError("Scale should be a sequence")
    if not isinstance(ratio, Sequence):
        raise TypeError("Ratio should be a sequence")
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        warn("Scale and ratio should be of kind (min, max)")


def sides(area, scale, ratio):
    """Of ten random rectangles, one after the other, two sides each: of a part of the area within `scale`, and with a
    ratio that is uniform in its logarithm."""
    logs = log(tensor(ratio))
    for _ in range(10):
        part = area * uniform(scale[0], scale[1])
        shape = exp(empty(1).uniform_(logs[0], logs[1])).item()
        yield int(round(math.sqrt(part * shape))), int(round(math.sqrt(part / shape)))


class RandomResizedCrop(Module):
    """A part of the image, of a random area within `scale` of its own and a random ratio of sides, resized to `size`.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.RandomResizedCrop(2)(torch.ones(3, 8, 8)).shape
    torch.Size([3, 2, 2])
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=InterpolationMode.BILINEAR,
                 antialias=True):
        super().__init__()
        self.size = size_of(size)
        check_range(scale, ratio)
        self.interpolation, self.antialias = interpolation_of(interpolation), antialias
        self.scale, self.ratio = scale, ratio

    @staticmethod
    def get_params(img, scale, ratio):
        """(top, left, height, width): the middle, as close to the ratio as can be, after ten that are too large."""
        _, h, w = F.get_dimensions(img)
        for width, height in sides(h * w, scale, ratio):
            if 0 < width <= w and 0 < height <= h:
                return whole(0, h - height + 1), whole(0, w - width + 1), height, width
        least, most = min(ratio), max(ratio)
        width, height = w, h
        if w / h < least:
            height = int(round(w / least))
        elif w / h > most:
            width = int(round(h * most))
        return (h - height) // 2, (w - width) // 2, height, width

    def forward(self, img):
        part = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *part, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self):
        scale, ratio = (tuple(round(x, 4) for x in pair) for pair in (self.scale, self.ratio))
        return (f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
                f"interpolation={self.interpolation.value}, antialias={self.antialias})")


# ------------------------------------------------------------------ warps
class RandomRotation(Module):
    """The image turned by an angle within `degrees`, (least, most) or a number for as much to either side.

    expand   in an image large enough for all of it
    center   the point (x, y) that stays, by default the middle
    fill     the colour around it, a number or one for each channel
    """

    def __init__(self, degrees, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.interpolation = interpolation_of(interpolation)
        self.degrees = angles(degrees, "degrees")
        if center is not None:
            check_sequence(center, "center")
        self.center, self.expand, self.fill = center, expand, colour(fill)

    @staticmethod
    def get_params(degrees):
        """The angle."""
        return uniform(float(degrees[0]), float(degrees[1]))

    def forward(self, img):
        fill = colour_for(img, self.fill)
        return F.rotate(img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, fill)

    def __repr__(self):
        center = "" if self.center is None else f", center={self.center}"
        return (f"{type(self).__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}, "
                f"expand={self.expand}{center}, fill={self.fill})")


class RandomAffine(Module):
    """The image turned, shifted, scaled and sheared.

    degrees     within which it is turned: (least, most), or a number for as much to either side
    translate   (x, y) parts of its width and height by which it is shifted at most
    scale       (least, most)
    shear       degrees along x, as `degrees`, or four: along x and along y
    fill        the colour around it, a number or one for each channel
    center      the point (x, y) that stays, by default the middle
    """

    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation=InterpolationMode.NEAREST, fill=0,
                 center=None):
        super().__init__()
        self.interpolation = interpolation_of(interpolation)
        self.degrees = angles(degrees, "degrees")
        if translate is not None:
            check_sequence(translate, "translate")
            if not all(0.0 <= part <= 1.0 for part in translate):
                raise ValueError("translation values should be between 0 and 1")
        if scale is not None:
            check_sequence(scale, "scale")
            if not all(s > 0 for s in scale):
                raise ValueError("scale values should be positive")
        self.translate, self.scale = translate, scale
        self.shear = None if shear is None else angles(shear, "shear", (2, 4))
        self.fill = colour(fill)
        if center is not None:
            check_sequence(center, "center")
        self.center = center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        """(angle, (shift x, shift y), scale, (shear x, shear y)) for an image of (W, H)."""
        angle, shift, scale, shear = uniform(float(degrees[0]), float(degrees[1])), (0, 0), 1.0, [0.0, 0.0]
        if translate is not None:
            most = [float(part * n) for part, n in zip(translate, img_size)]
            shift = tuple(int(round(uniform(-x, x))) for x in most)
        if scale_ranges is not None:
            scale = uniform(scale_ranges[0], scale_ranges[1])
        for i in range(0, len(shears or ()), 2):
            shear[i // 2] = uniform(shears[i], shears[i + 1])
        return angle, shift, scale, tuple(shear)

    def forward(self, img):
        _, h, w = F.get_dimensions(img)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [w, h])
        return F.affine(img, *drawn, interpolation=self.interpolation, fill=colour_for(img, self.fill),
                        center=self.center)

    def __repr__(self):
        said = {name: getattr(self, name) for name in ("translate", "scale", "shear")}
        said = {name: value for name, value in said.items() if value is not None}
        if self.interpolation != InterpolationMode.NEAREST:
            said["interpolation"] = self.interpolation.value
        if self.fill != 0:
            said["fill"] = self.fill
        if self.center is not None:
            said["center"] = self.center
        rest = "".join(f", {name}={value}" for name, value in said.items())
        return f"{type(self).__name__}(degrees={self.degrees}{rest})"


class RandomPerspective(Perhaps):
    """The image seen in a perspective that moves its corners inwards by up to `distortion_scale` of half of its sides,
    with probability `p`."""

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__(p)
        self.interpolation, self.distortion_scale = interpolation_of(interpolation), distortion_scale
        self.fill = colour(fill)

    def changed(self, img):
        _, h, w = F.get_dimensions(img)
        corners = self.get_params(w, h, self.distortion_scale)
        return F.perspective(img, *corners, self.interpolation, colour_for(img, self.fill))

    @staticmethod
    def get_params(width, height, distortion_scale):
        """(corners, where they go), each [x, y] from the top left clockwise."""
        across, down = (int(distortion_scale * (n // 2)) for n in (width, height))
        left, right = (0, across + 1), (width - across - 1, width)
        top, bottom = (0, down + 1), (height - down - 1, height)
        moved = [[whole(*x), whole(*y)] for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], moved


class ElasticTransform(Module):
    """The image with its pixels displaced by up to `alpha` pixels, smoothed over `sigma` of them: (x, y) or one float.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.ElasticTransform(5.0, 1.0)(torch.ones(3, 8, 8)).shape
    torch.Size([3, 8, 8])
    """

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=InterpolationMode.BILINEAR, fill=0):
        super().__init__()
        self.alpha, self.sigma = _two_floats(alpha, "alpha"), _two_floats(sigma, "sigma")
        self.interpolation = interpolation_of(interpolation)
        if not isinstance(fill, (int, float, list, tuple)):
            raise TypeError(f"fill should be int or float or a list or tuple of them. Got {type(fill)}")
        self.fill = [float(x) for x in (fill if isinstance(fill, (list, tuple)) else [fill])]

    @staticmethod
    def get_params(alpha, sigma, size):
        """The displacement (1, H, W, 2) of an image of (H, W)."""
        found = []
        for most, spread, n in zip(alpha, sigma, reversed(size)):
            moved = rand([1, 1, *size]) * 2 - 1
            if spread > 0.0:
                width = int(8 * spread + 1)
                moved = F.gaussian_blur(moved, [width + 1 - width % 2] * 2, sigma)
            found.append(moved * most / n)
        return cat(found, 1).permute(0, 2, 3, 1)

    def forward(self, tensor):
        _, h, w = F.get_dimensions(tensor)
        return F.elastic_transform(tensor, self.get_params(self.alpha, self.sigma, [h, w]), self.interpolation,
                                   self.fill)

    def __repr__(self):
        return described(self, "alpha", "sigma", "interpolation", "fill")


def _two_floats(x, name):
    if not isinstance(x, (float, Sequence)):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(x)}")
    if isinstance(x, float):
        return [x, x]
    if len(x) != 2:
        raise ValueError(f"If {name} is a sequence its length should be 2. Got {len(x)}")
    for element in x:
        if not isinstance(element, float):
            raise TypeError(f"{name} should be a sequence of floats. Got {type(element)}")
    return x
