"""torchvision.datasets.stl10: STL10 (Coates, Lee and Ng 2011)."""
import os

import numpy as np

from ...missing import namespace as _namespace
from .utils import check_integrity, download_and_extract_archive, verify_str_arg
from .vision import VisionDataset

__all__ = ["STL10"]


class STL10(VisionDataset):
    """Photographs of ten kinds of things, 96x96: 5,000 for training, 8,000 for test, 100,000 without labels.

    split   train, test, unlabeled or train+unlabeled
    folds   0 to 9, the thousand of the training images of that fold; all by default

    `data` is an array (N, 3, 96, 96) uint8, and `labels` an array (N,), with -1 for images without label. RuntimeError
    if a file is missing, or its checksum is wrong.
    """

    base_folder = "stl10_binary"
    url = "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"
    filename = "stl10_binary.tar.gz"
    tgz_md5 = "91f7769df0f17e558f3565bffb0c7dfb"
    class_names_file = "class_names.txt"
    folds_list_file = "fold_indices.txt"
    train_list = [["train_X.bin", "918c2871b30a85fa023e0c44e0bee87f"],
                  ["train_y.bin", "5a34089d4802c674881badbb80307741"],
                  ["unlabeled_X.bin", "5242ba1fed5e4be9e1e742405eb56ca4"]]
    test_list = [["test_X.bin", "7f263ba9f9e0b06b93213547f721ac82"],
                 ["test_y.bin", "36f9794fa4beb8a2c72628de14fa638e"]]
    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split, self.folds = verify_str_arg(split, "split", self.splits), self._verify_folds(folds)
        if download:
            self.download()
        elif not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        (images, _), (labels, _), *_ = self.test_list if split == "test" else self.train_list
        parts = []
        if split != "unlabeled":
            parts.append(self._read(images, labels, folds if "train" in split else None))
        if "unlabeled" in split:
            parts.append(self._read(self.train_list[2][0]))
        self.data, self.labels = (np.concatenate(part) if len(part) > 1 else part[0] for part in zip(*parts))
        if os.path.isfile(self._path(self.class_names_file)):
            with open(self._path(self.class_names_file)) as file:
                self.classes = file.read().splitlines()

    @staticmethod
    def _verify_folds(folds):
        if folds is None or isinstance(folds, int) and 0 <= folds < 10:
            return folds
        if isinstance(folds, int):
            raise ValueError(f"Value for argument folds should be in the range [0, 10), but got {folds}.")
        raise ValueError(f"Expected type None or int for argument folds, but got type {type(folds)}.")

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _read(self, images, labels=None, fold=None):
        """(Images, labels): the files have columns of pixels, and labels from 1 on."""
        data = np.fromfile(self._path(images), np.uint8).reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)
        if labels is None:
            return data, np.full(len(data), -1)
        labels = np.fromfile(self._path(labels), np.uint8) - 1
        if fold is None:
            return data, labels
        with open(self._path(self.folds_list_file)) as file:
            chosen = [int(word) for word in file.read().splitlines()[fold].split()]
        return data[chosen], labels[chosen]

    def __getitem__(self, index):
        return self._transformed(self.data[index].transpose(1, 2, 0), int(self.labels[index]))

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        return all(check_integrity(self._path(name), md5) for name, md5 in self.train_list + self.test_list)

    def download(self):
        """Fetch and unpack the archive, unless its files are there."""
        if not self._check_integrity():
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)

    def extra_repr(self):
        return f"Split: {self.split}"


__getattr__ = _namespace(__name__)
