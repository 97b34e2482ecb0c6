"""Transforms that change colours by chance, blur and erase."""
from collections.abc import Sequence
from numbers import Number

from ... import empty, float32, randperm, tensor
from ...nn import Module
from . import functional as F
from ._arguments import described, size_of
from ._random_place import Perhaps, check_range, sides, uniform, whole


class ColorJitter(Module):
    """Brightness, contrast, saturation and hue changed in a random order, each by a random factor.

    brightness, contrast, saturation   (least, most), or x for 1 - x (but not below 0) to 1 + x
    hue                                (least, most) within -0.5 and 0.5, or x for -x to x

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> transforms.ColorJitter(0.5, hue=0.1)(torch.rand(3, 4, 4)).shape
    torch.Size([3, 4, 4])
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness = self._check_input(brightness, "brightness")
        self.contrast = self._check_input(contrast, "contrast")
        self.saturation = self._check_input(saturation, "saturation")
        self.hue = self._check_input(hue, "hue", center=0, bound=(-0.5, 0.5), clip_first_on_zero=False)

    def _check_input(self, value, name, center=1, bound=(0, float("inf")), clip_first_on_zero=True):
        """(least, most), or None where nothing would change."""
        if isinstance(value, Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            value = [center - float(value), center + float(value)]
            if clip_first_on_zero:
                value[0] = max(value[0], 0.0)
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            value = [float(x) for x in value]
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {value}.")
        return None if value[0] == value[1] == center else tuple(value)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        """(The order as a permutation of 4, and four factors, None of what stays.)"""
        order = randperm(4)
        return (order, *(None if span is None else uniform(*span) for span in (brightness, contrast, saturation, hue)))

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        change = F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue
        for i in order.tolist():
            if factors[i] is not None:
                img = change[i](img, factors[i])
        return img

    def __repr__(self):
        return described(self, "brightness", "contrast", "saturation", "hue")


class RandomGrayscale(Perhaps):
    """The image without colours, in as many channels as it has, with probability `p`."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def changed(self, img):
        return F.rgb_to_grayscale(img, F.get_image_num_channels(img))


class RandomInvert(Perhaps):
    """The negative, with probability `p`."""

    def changed(self, img):
        return F.invert(img)


class RandomPosterize(Perhaps):
    """The highest `bits` bits of each byte, with probability `p`."""

    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits

    def changed(self, img):
        return F.posterize(img, self.bits)

    def __repr__(self):
        return f"{type(self).__name__}(bits={self.bits},p={self.p})"


class RandomSolarize(Perhaps):
    """The negative of all pixels of `threshold` or more, with probability `p`."""

    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold

    def changed(self, img):
        return F.solarize(img, self.threshold)

    def __repr__(self):
        return f"{type(self).__name__}(threshold={self.threshold},p={self.p})"


class RandomAdjustSharpness(Perhaps):
    """The image sharper (above 1) or more blurred (below), with probability `p`."""

    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def changed(self, img):
        return F.adjust_sharpness(img, self.sharpness_factor)

    def __repr__(self):
        return f"{type(self).__name__}(sharpness_factor={self.sharpness_factor},p={self.p})"


class RandomAutocontrast(Perhaps):
    """Each channel stretched from black to white, with probability `p`."""

    def changed(self, img):
        return F.autocontrast(img)


class RandomEqualize(Perhaps):
    """Each channel with its levels about as frequent as one another, with probability `p`."""

    def changed(self, img):
        return F.equalize(img)


class GaussianBlur(Module):
    """The image blurred by a bell of `sigma` pixels, or of a random number of them within (least, most), cut off at the
    odd `kernel_size`, (x, y) or one for both."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = size_of(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, Number):
            if sigma <= 0:
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif not isinstance(sigma, Sequence) or len(sigma) != 2:
            raise ValueError("sigma should be a single number or a list/tuple with length 2.")
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError("sigma values should be positive and of the form (min, max).")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        """The width of the bell."""
        return uniform(sigma_min, sigma_max)

    def forward(self, img):
        return F.gaussian_blur(img, self.kernel_size, [self.get_params(*self.sigma)] * 2)

    def __repr__(self):
        return described(self, "kernel_size", "sigma")


class RandomErasing(Perhaps):
    """A rectangle of a tensor overwritten, with probability `p`: of an area within `scale` of the image's and a ratio
    of sides within `ratio`, with `value`: a number, one for each channel, or "random" for normal noise.

    >>> import tinytorch as torch
    >>> from tinytorch.vision import transforms
    >>> bool(transforms.RandomErasing(1.0)(torch.ones(1, 8, 8)).sum() < 64)
    True
    """

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__(p)
        if not isinstance(value, (Number, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        check_range(scale, ratio)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.scale, self.ratio, self.value, self.inplace = scale, ratio, value, inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """(top, left, height, width, what to write there): the image itself, after ten rectangles too large for it."""
        channels, h, w = img.shape[-3:]
        for height, width in sides(h * w, scale, ratio):
            if height < h and width < w:
                if value is None:
                    written = empty([channels, height, width], dtype=float32).normal_()
                else:
                    written = tensor(value)[:, None, None]
                return whole(0, h - height + 1), whole(0, w - width + 1), height, width, written
        return 0, 0, h, w, img

    def changed(self, img):
        value = self.value
        if isinstance(value, str):
            value = None
        elif isinstance(value, (int, float)):
            value = [float(value)]
        elif isinstance(value, (list, tuple)):
            value = [float(x) for x in value]
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(f"If value is a sequence, it should have either a single value or {img.shape[-3]} (number "
                             "of input channels)")
        top, left, height, width, written = self.get_params(img, self.scale, self.ratio, value)
        return F.erase(img, top, left, height, width, written, self.inplace)

    def __repr__(self):
        return described(self, "p", "scale", "ratio", "value", "inplace")
