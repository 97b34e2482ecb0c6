"""torchvision.datasets: sets of images, which keep their files in torchvision's places, and `SyntheticDigits`, which
needs no files.

>>> from tinytorch.vision import datasets
>>> datasets.SyntheticDigits(train=False, size=5)
Dataset SyntheticDigits
    Number of datapoints: 5
    Split: Test
"""
from ...missing import namespace as _namespace
from .cifar import CIFAR10, CIFAR100
from .fakedata import FakeData
from .folder import DatasetFolder, ImageFolder
from .mnist import EMNIST, FashionMNIST, KMNIST, MNIST, QMNIST
from .stl10 import STL10
from .svhn import SVHN
from .synthetic import SyntheticDigits
from .vision import VisionDataset

__all__ = ["CIFAR10", "CIFAR100", "DatasetFolder", "EMNIST", "FakeData", "FashionMNIST", "ImageFolder", "KMNIST",
           "MNIST", "QMNIST", "STL10", "SVHN", "SyntheticDigits", "VisionDataset"]

__getattr__ = _namespace(__name__)
