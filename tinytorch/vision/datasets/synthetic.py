"""Digits drawn here, for a machine that has neither the files of MNIST nor a network."""
from ...tensor import wrap
from ..digits import draw_digits
from .mnist import MNIST, GreyImages

__all__ = ["SyntheticDigits"]


class SyntheticDigits(GreyImages):
    """28x28 digits drawn here (strokes, random affine maps, noise), sized as MNIST: for a machine
    with neither the files nor a network.

    `size` images (60,000 for training, 10,000 for test, unless given), the same for the same `seed`.

    >>> from tinytorch.vision.datasets import SyntheticDigits
    >>> digits = SyntheticDigits(train=False, size=5)
    >>> digits.data.shape, digits.data.dtype, digits.targets.dtype
    (torch.Size([5, 28, 28]), torch.uint8, torch.int64)
    """

    classes = MNIST.classes

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False, *,
                 seed=0, size=None):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if size is None:
            size = 60_000 if train else 10_000
        images, labels = draw_digits(size, 2 * seed + (not train))
        self.data, self.targets = wrap(images), wrap(labels)
