"""torchvision.datasets.cifar: CIFAR10 and CIFAR100 (Krizhevsky 2009)."""
import os
import pickle

import numpy as np

from ...missing import namespace as _namespace
from .utils import check_integrity, download_and_extract_archive
from .vision import VisionDataset

__all__ = ["CIFAR10", "CIFAR100"]

#: The names that pickles of arrays, lists and numbers need, in old and new versions of NumPy.
_KNOWN = {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"),
          *((f"numpy.{core}.{name}", what) for core in ("core", "_core")
            for name, what in (("multiarray", "_reconstruct"), ("numeric", "_frombuffer")))}


class _Unpickler(pickle.Unpickler):
    """Makes arrays and nothing else."""

    def find_class(self, module, name):
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"no batch of CIFAR holds {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


class CIFAR10(VisionDataset):
    """Photographs of ten kinds of things, 32x32: 50,000 for training, 10,000 for test.

    root      the folder that contains the folder cifar-10-batches-py
    train     training or test images
    transform, target_transform   functions of image and label
    download  fetch and unpack it, unless it is there

    `data` is an array (N, 32, 32, 3) uint8, `targets` a list of ints. RuntimeError if a file is missing, or its
    checksum is wrong.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        batches = [self._read(name) for name, _ in (self.train_list if train else self.test_list)]
        self.data = np.vstack([batch["data"] for batch in batches]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.targets = [label for batch in batches for label in batch.get("labels") or batch["fine_labels"]]
        if not check_integrity(self._path(self.meta["filename"]), self.meta["md5"]):
            raise RuntimeError("Dataset metadata file not found or corrupted. You can use download=True to download it")
        self.classes = self._read(self.meta["filename"])[self.meta["key"]]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _read(self, name):
        with open(self._path(name), "rb") as file:
            return _Unpickler(file, encoding="latin1").load()

    def __getitem__(self, index):
        return self._transformed(self.data[index], self.targets[index])

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        return all(check_integrity(self._path(name), md5) for name, md5 in self.train_list + self.test_list)

    def download(self):
        """Fetch and unpack the archive, unless its files are there."""
        if not self._check_integrity():
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class CIFAR100(CIFAR10):
    """CIFAR10's format, with a hundred kinds of things."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}


__getattr__ = _namespace(__name__)
