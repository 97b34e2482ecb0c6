"""torchvision.datasets.fakedata: noise in the shape of a data set."""
from ... import get_rng_state, int64, manual_seed, randint, randn, set_rng_state
from ...missing import namespace as _namespace
from ..transforms.functional import to_pil_image
from .vision import VisionDataset

__all__ = ["FakeData"]


class FakeData(VisionDataset):
    """`size` images of noise (C, H, W), as images of Pillow, with random labels below `num_classes`: the same for the
    same index and `random_offset`.

    >>> from tinytorch.vision import datasets, transforms
    >>> image, label = datasets.FakeData(4, (3, 8, 8), transform=transforms.ToTensor())[0]
    >>> image.shape, label
    (torch.Size([3, 8, 8]), 6)
    """

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None,
                 random_offset=0):
        super().__init__(transform=transform, target_transform=target_transform)
        self.size, self.num_classes, self.image_size, self.random_offset = size, num_classes, image_size, random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        state = get_rng_state()
        manual_seed(index + self.random_offset)
        image, target = randn(*self.image_size), randint(0, self.num_classes, size=(1,), dtype=int64)[0]
        set_rng_state(state)
        image, target = self._transformed(to_pil_image(image), target)
        return image, target.item()

    def __len__(self):
        return self.size


__getattr__ = _namespace(__name__)
