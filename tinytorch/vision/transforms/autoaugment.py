"""torchvision.transforms.autoaugment: a few operations drawn from a list, with strengths found by search or drawn too.

AutoAugment (Cubuk et al. 2018), RandAugment (Cubuk et al. 2019), TrivialAugment (Müller and Hutter 2021), AugMix
(Hendrycks et al. 2019).
"""
import math
from enum import Enum

from ... import _sample_dirichlet, arange, full, int64, linspace, rand, randint, tensor
from ...missing import namespace as _namespace
from ...nn import Module
from ...tensor import Tensor
from . import functional as F
from ._arguments import colour_for, described
from .functional import InterpolationMode

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]


class AutoAugmentPolicy(Enum):
    """The data set on which the pairs of operations were searched for."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


#: Pairs of operations, each with its probability and, where it has a strength, the strength's number.
_POLICIES = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize 0.4 8, Rotate 0.6 9; Solarize 0.6 5, AutoContrast 0.6; Equalize 0.8, Equalize 0.6; Posterize 0.6
        7, Posterize 0.6 6; Equalize 0.4, Solarize 0.2 4; Equalize 0.4, Rotate 0.8 8; Solarize 0.6 3, Equalize 0.6;
        Posterize 0.8 5, Equalize 1.0; Rotate 0.2 3, Solarize 0.6 8; Equalize 0.6, Posterize 0.4 6; Rotate 0.8 8,
        Color 0.4 0; Rotate 0.4 9, Equalize 0.6; Equalize 0.0, Equalize 0.8; Invert 0.6, Equalize 1.0; Color 0.6 4,
        Contrast 1.0 8; Rotate 0.8 8, Color 1.0 2; Color 0.8 8, Solarize 0.8 7; Sharpness 0.4 7, Invert 0.6; ShearX
        0.6 5, Equalize 1.0; Color 0.4 0, Equalize 0.6; Equalize 0.4, Solarize 0.2 4; Solarize 0.6 5, AutoContrast
        0.6; Invert 0.6, Equalize 1.0; Color 0.6 4, Contrast 1.0 8; Equalize 0.8, Equalize 0.6""",
    AutoAugmentPolicy.CIFAR10: """
        Invert 0.1, Contrast 0.2 6; Rotate 0.7 2, TranslateX 0.3 9; Sharpness 0.8 1, Sharpness 0.9 3; ShearY 0.5 8,
        TranslateY 0.7 9; AutoContrast 0.5, Equalize 0.9; ShearY 0.2 7, Posterize 0.3 7; Color 0.4 3, Brightness 0.6
        7; Sharpness 0.3 9, Brightness 0.7 9; Equalize 0.6, Equalize 0.5; Contrast 0.6 7, Sharpness 0.6 5; Color 0.7
        7, TranslateX 0.5 8; Equalize 0.3, AutoContrast 0.4; TranslateY 0.4 3, Sharpness 0.2 6; Brightness 0.9 6,
        Color 0.2 8; Solarize 0.5 2, Invert 0.0; Equalize 0.2, AutoContrast 0.6; Equalize 0.2, Equalize 0.6; Color
        0.9 9, Equalize 0.6; AutoContrast 0.8, Solarize 0.2 8; Brightness 0.1 3, Color 0.7 0; Solarize 0.4 5,
        AutoContrast 0.9; TranslateY 0.9 9, TranslateY 0.7 9; AutoContrast 0.9, Solarize 0.8 3; Equalize 0.8, Invert
        0.1; TranslateY 0.7 9, AutoContrast 0.9""",
    AutoAugmentPolicy.SVHN: """
        ShearX 0.9 4, Invert 0.2; ShearY 0.9 8, Invert 0.7; Equalize 0.6, Solarize 0.6 6; Invert 0.9, Equalize 0.6;
        Equalize 0.6, Rotate 0.9 3; ShearX 0.9 4, AutoContrast 0.8; ShearY 0.9 8, Invert 0.4; ShearY 0.9 5, Solarize
        0.2 6; Invert 0.9, AutoContrast 0.8; Equalize 0.6, Rotate 0.9 3; ShearX 0.9 4, Solarize 0.3 3; ShearY 0.8 8,
        Invert 0.7; Equalize 0.9, TranslateY 0.6 6; Invert 0.9, Equalize 0.6; Contrast 0.3 3, Rotate 0.8 4; Invert
        0.8, TranslateY 0.0 2; ShearY 0.7 6, Solarize 0.4 8; Invert 0.6, Rotate 0.8 4; ShearY 0.3 7, TranslateX 0.9
        3; ShearX 0.1 6, Invert 0.6; Solarize 0.7 2, TranslateY 0.6 7; ShearY 0.8 4, Invert 0.8; ShearX 0.7 9,
        TranslateY 0.8 3; ShearY 0.8 5, AutoContrast 0.7; ShearX 0.7 2, Invert 0.1""",
}


def _parsed(policy):
    """[((name, probability, strength or None), and another)]."""
    def operation(words):
        name, probability, *strength = words.split()
        return name, float(probability), int(strength[0]) if strength else None
    return [tuple(operation(words) for words in pair.split(",")) for pair in _POLICIES[policy].split(";")]


# ------------------------------------------------------------------ operations
def _shift(img, x, y, shear, interpolation, fill, center=None):
    return F.affine(img, angle=0.0, translate=[x, y], scale=1.0, shear=shear, interpolation=interpolation, fill=fill,
                    center=center)


#: The operations that take the interpolation and the colour of the edges.
_MOVES = {
    "ShearX": lambda img, m, *how: _shift(img, 0, 0, [math.degrees(math.atan(m)), 0.0], *how, center=[0, 0]),
    "ShearY": lambda img, m, *how: _shift(img, 0, 0, [0.0, math.degrees(math.atan(m))], *how, center=[0, 0]),
    "TranslateX": lambda img, m, *how: _shift(img, int(m), 0, [0.0, 0.0], *how),
    "TranslateY": lambda img, m, *how: _shift(img, 0, int(m), [0.0, 0.0], *how),
    "Rotate": lambda img, m, interpolation, fill: F.rotate(img, m, interpolation=interpolation, fill=fill),
}
_CHANGES = {
    "Brightness": lambda img, m: F.adjust_brightness(img, 1.0 + m),
    "Color": lambda img, m: F.adjust_saturation(img, 1.0 + m),
    "Contrast": lambda img, m: F.adjust_contrast(img, 1.0 + m),
    "Sharpness": lambda img, m: F.adjust_sharpness(img, 1.0 + m),
    "Posterize": lambda img, m: F.posterize(img, int(m)),
    "Solarize": F.solarize,
    "AutoContrast": lambda img, m: F.autocontrast(img),
    "Equalize": lambda img, m: F.equalize(img),
    "Invert": lambda img, m: F.invert(img),
    "Identity": lambda img, m: img,
}
_COLOURS = "Brightness", "Color", "Contrast", "Sharpness"


def _apply_op(img, op_name, magnitude, interpolation, fill):
    if op_name in _MOVES:
        return _MOVES[op_name](img, magnitude, interpolation, fill)
    if op_name not in _CHANGES:
        raise ValueError(f"The provided operator {op_name} is not recognized.")
    return _CHANGES[op_name](img, magnitude)


def _bits(n, most, dropped):
    return most - (arange(n) / ((n - 1) / dropped)).round().int()


def _strengths(n, shear, shift_x, shift_y, turn, change=None, bits=(8, 4), first=(), last=()):
    """{operation: (its strengths, whether they may be negative)}, with the greatest strength of each kind."""
    none = tensor(0.0), False
    moves = {"ShearX": shear, "ShearY": shear, "TranslateX": shift_x, "TranslateY": shift_y, "Rotate": turn}
    changes = {} if change is None else dict.fromkeys(_COLOURS, change)
    return {**dict.fromkeys(first, none),
            **{name: (linspace(0.0, most, n), True) for name, most in {**moves, **changes}.items()},
            "Posterize": (_bits(n, *bits), False), "Solarize": (linspace(255.0, 0.0, n), False),
            "AutoContrast": none, "Equalize": none,
            **dict.fromkeys(last, none)}


class _Augment(Module):
    """The base class: it holds the fill of edges, and draws strengths."""

    def __init__(self, interpolation, fill):
        super().__init__()
        self.interpolation, self.fill = interpolation, fill

    def _changed(self, img, name, magnitude):
        return _apply_op(img, name, magnitude, self.interpolation, colour_for(img, self.fill))

    def _drawn(self, img, operations, pick):
        """The image after one of the operations, with the strength that `pick` takes of them."""
        name, (strengths, signed) = [*operations.items()][int(randint(len(operations), (1,)).item())]
        magnitude = float(pick(strengths).item()) if strengths.ndim else 0.0
        if signed and randint(2, (1,)):
            magnitude *= -1.0
        return self._changed(img, name, magnitude)


class AutoAugment(_Augment):
    """One of 25 pairs of operations that were found best for a data set, each with its probability and strength.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.AutoAugment()(torch.zeros(3, 4, 4, dtype=torch.uint8)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.policy, self.policies = policy, self._get_policies(policy)

    def _get_policies(self, policy):
        if policy not in _POLICIES:
            raise ValueError(f"The provided policy {policy} is not recognized.")
        return _parsed(policy)

    @staticmethod
    def get_params(transform_num):
        """(Which pair, two numbers to hold against the probabilities, two signs.)"""
        return int(randint(transform_num, (1,)).item()), rand((2,)), randint(2, (2,))

    def forward(self, img):
        _, h, w = F.get_dimensions(img)
        which, chances, signs = self.get_params(len(self.policies))
        known = _strengths(10, 0.3, 150.0 / 331.0 * w, 150.0 / 331.0 * h, 30.0, 0.9, last=["Invert"])
        for i, (name, probability, strength) in enumerate(self.policies[which]):
            if chances[i] <= probability:
                strengths, signed = known[name]
                magnitude = 0.0 if strength is None else float(strengths[strength].item())
                img = self._changed(img, name, -magnitude if signed and signs[i] == 0 else magnitude)
        return img

    def __repr__(self):
        return described(self, "policy", "fill")


class RandAugment(_Augment):
    """`num_ops` operations, with the strength `magnitude` of `num_magnitude_bins`."""

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST,
                 fill=None):
        super().__init__(interpolation, fill)
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins

    def forward(self, img):
        _, h, w = F.get_dimensions(img)
        known = _strengths(self.num_magnitude_bins, 0.3, 150.0 / 331.0 * w, 150.0 / 331.0 * h, 30.0, 0.9,
                           first=["Identity"])
        for _ in range(self.num_ops):
            img = self._drawn(img, known, lambda strengths: strengths[self.magnitude])
        return img

    def __repr__(self):
        return described(self, "num_ops", "magnitude", "num_magnitude_bins", "interpolation", "fill")


class TrivialAugmentWide(_Augment):
    """One operation with a strength, both drawn."""

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def forward(self, img):
        known = _strengths(self.num_magnitude_bins, 0.99, 32.0, 32.0, 135.0, 0.99, (8, 6), first=["Identity"])
        return self._drawn(img, known, lambda strengths: strengths[randint(len(strengths), (1,), dtype=int64)])

    def __repr__(self):
        return described(self, "num_magnitude_bins", "interpolation", "fill")


class AugMix(_Augment):
    """The image mixed with `mixture_width` others, each made of it by a chain of operations, in random parts.

    severity      1 to 10: the strengths that are drawn
    chain_depth   operations in a chain; 1 to 3, drawn, where it is not above 0
    alpha         the parameter of the Dirichlet and Beta distributions of the parts
    all_ops       whether operations that change brightness, colour, contrast and sharpness are included
    """

    def __init__(self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True,
                 interpolation=InterpolationMode.BILINEAR, fill=None):
        super().__init__(interpolation, fill)
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth = severity, mixture_width, chain_depth
        self.alpha, self.all_ops = alpha, all_ops

    def forward(self, orig_img):
        img = orig_img if isinstance(orig_img, Tensor) else F.pil_to_tensor(orig_img)
        _, h, w = F.get_dimensions(img)
        known = _strengths(10, 0.3, w / 3.0, h / 3.0, 30.0, bits=(4, 4))
        if self.all_ops:
            known.update(dict.fromkeys(_COLOURS, (linspace(0.0, 0.9, 10), True)))
        batch = img.view([1] * max(4 - img.ndim, 0) + [*img.shape])
        parts = [len(batch)] + [1] * (batch.ndim - 1)
        kept = _sample_dirichlet(full((2,), self.alpha).expand(len(batch), -1))
        shares = _sample_dirichlet(full((self.mixture_width,), self.alpha).expand(len(batch), -1))
        shares = shares * kept[:, 1].view(len(batch), -1)
        mix = kept[:, 0].view(parts) * batch
        for i in range(self.mixture_width):
            other = batch
            for _ in range(self.chain_depth if self.chain_depth > 0 else int(randint(1, 4, (1,)).item())):
                other = self._drawn(other, known,
                                    lambda strengths: strengths[randint(self.severity, (1,), dtype=int64)])
            mix = mix + shares[:, i].view(parts) * other
        mix = mix.view(img.shape).to(img.dtype)
        return mix if isinstance(orig_img, Tensor) else F.to_pil_image(mix)

    def __repr__(self):
        return described(self, "severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")


__getattr__ = _namespace(__name__)
