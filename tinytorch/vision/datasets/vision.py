"""torchvision.datasets.vision: the base class of data sets of images."""
import os

import numpy as np

from ...utils.data import Dataset
from ..images import pillow
from ..transforms.transforms import Compose, ToTensor

__all__ = ["StandardTransform", "VisionDataset"]


class VisionDataset(Dataset):
    """A data set with a folder `root`, and either `transforms`, a function of an item and its label, or `transform`, a
    function of the item, and `target_transform`, of the label. ValueError for both."""

    _repr_indent = 4

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform, self.target_transform = transform, target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def _transformed(self, item, target):
        """The item and the target after their transforms. An array first becomes an image, unless ToTensor takes it
        directly."""
        if isinstance(item, np.ndarray):
            transform = self.transform
            first = transform.transforms[0] if type(transform) is Compose and transform.transforms else transform
            if type(first) is not ToTensor:
                item = pillow().fromarray(item)
        if self.transform is not None:
            item = self.transform(item)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return item, target

    def __repr__(self):
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if self.transforms is not None:
            body.append(repr(self.transforms))
        return "\n".join([f"Dataset {type(self).__name__}", *(" " * self._repr_indent + line for line in body)])

    def extra_repr(self):
        """More lines of the repr."""
        return ""


class StandardTransform:
    """`transform` of an item and `target_transform` of its label, as one function of both."""

    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input, target):
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self):
        lines = [type(self).__name__]
        for head, transform in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if transform is not None:
                first, *rest = repr(transform).splitlines()
                lines += [head + first, *(" " * len(head) + line for line in rest)]
        return "\n".join(lines)
