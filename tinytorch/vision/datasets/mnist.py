"""torchvision.datasets.mnist: MNIST and the sets in its format."""
import os
import shutil
import string

import numpy as np

from ...errors import warn
from ...missing import namespace as _namespace
from ...serialization import load
from ...tensor import Tensor, wrap
from .idx import read_idx
from .utils import check_integrity, download_and_extract_archive, extract_archive, verify_str_arg
from .vision import VisionDataset

__all__ = ["EMNIST", "FashionMNIST", "KMNIST", "MNIST", "QMNIST"]


def read_sn3_pascalvincent_tensor(path, strict=True):
    """The tensor in an idx file. RuntimeError, which names the file, if it is no idx file."""
    return wrap(read_idx(os.fspath(path)))


def read_image_file(path):
    """Images (N, H, W) uint8."""
    return _bytes(path, 3)


def read_label_file(path):
    """Labels (N,) int64."""
    return _bytes(path, 1).long()


def _bytes(path, ndim):
    found = read_sn3_pascalvincent_tensor(path)
    if found._array.dtype != np.uint8:
        raise RuntimeError(f"{path} holds {found._array.dtype} where images and labels are uint8")
    if found.ndim != ndim:
        raise RuntimeError(f"{path} has {found.ndim} dimensions where images have 3 and labels 1")
    return found


def _renamed(old, new):
    def get(self):
        warn(f"{old} has been renamed {new}")
        return getattr(self, new)
    return property(get, doc=f"What `{new}` was called once, with a warning.")


def _at(x, index):
    """An element of a tensor, without making a tensor, or an element of the object that a program has put in its
    place."""
    return x._array[index] if isinstance(x, Tensor) else x[index]


class GreyImages(VisionDataset):
    """Grey images `data` (N, H, W) uint8 with labels `targets` (N,) int64.

    An item is (image, label) after the transforms. The image is one of Pillow's, or for transforms that begin with
    ToTensor the array, which gives the same tensor.
    """

    def __getitem__(self, index):
        return self._transformed(_at(self.data, index), int(_at(self.targets, index)))

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class MNIST(GreyImages):
    """Handwritten digits (LeCun, Cortes and Burges): 60,000 for training, 10,000 for test, 28x28.

    root      folder with the four idx files, plain or .gz, or with torchvision's folders MNIST/raw in it
    train     training or test images
    transform, target_transform   functions of image and label
    download  fetch what is missing into root/MNIST/raw, with a progress bar if tqdm is installed

    RuntimeError if a file is missing, truncated, corrupt, not of uint8, or has a wrong checksum. The error names the
    file.
    """

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"]
    #: MD5 of the compressed files
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    #: The files that older versions of torchvision saved.
    training_file, test_file = "training.pt", "test.pt"
    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four",
               "5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"]
    train_data, test_data = _renamed("train_data", "data"), _renamed("test_data", "data")
    train_labels, test_labels = _renamed("train_labels", "targets"), _renamed("test_labels", "targets")

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        saved = [os.path.join(self.processed_folder, name) for name in (self.training_file, self.test_file)]
        if all(map(check_integrity, saved)):
            self.data, self.targets = load(saved[0 if train else 1], weights_only=True)
            return
        if download:
            self.download()
        missing = [name for name in self._files() if self._find(name) is None]
        if missing:
            raise RuntimeError("Dataset not found. You can use download=True to download it") from FileNotFoundError(
                f"no {' nor '.join(missing)} in {self.raw_folder}")
        self.data, self.targets = self._load_data()
        if len(self.data) != len(self.targets):
            raise RuntimeError(f"{self._find(self._files()[0])}: {len(self.data)} images do not go with "
                               f"{len(self.targets)} labels")

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self):
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self):
        return {name: i for i, name in enumerate(self.classes)}

    def _files(self):
        """The files of images and of labels."""
        part = "train" if self.train else "t10k"
        return f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"

    def _find(self, name):
        """The path of a file, which may have one of several names and places; None if it is missing."""
        dotted = name.replace("-idx", ".idx")
        for folder in (self.raw_folder, self.root):
            for candidate in (name, name + ".gz", dotted, dotted + ".gz"):
                path = os.path.join(folder, candidate)
                if os.path.isfile(path):
                    return path
        return None

    def _load_data(self):
        images, labels = map(self._find, self._files())
        return read_image_file(images), read_label_file(labels)

    def download(self):
        """Fetch the files that are not there yet. RuntimeError if no mirror serves them whole."""
        for name, md5 in self.resources:
            if self._find(name.removesuffix(".gz")) is None:
                self._download(name, md5)

    def _download(self, name, md5):
        said = f"Error downloading {name}:\n"
        for mirror in self.mirrors:
            try:
                return download_and_extract_archive(mirror + name, self.raw_folder, filename=name, md5=md5)
            except (RuntimeError, OSError) as error:
                said += f"Tried {mirror}, got:\n{error}\n"
        raise RuntimeError(said)


class FashionMNIST(MNIST):
    """Zalando's articles of clothing, in MNIST's format and sizes (Xiao, Rasul and Vollgraf 2017)."""

    mirrors = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


class KMNIST(MNIST):
    """Ten cursive Japanese characters, in MNIST's format and sizes (Clanuwat et al. 2018)."""

    mirrors = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources = [
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    ]
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """Handwritten digits and letters, in MNIST's format (Cohen et al. 2017).

    split   byclass: digits, capitals and small letters; bymerge and balanced: capitals and small letters that look the
            same as one; letters; digits; mnist
    """

    url = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
    md5 = "58c8d27c78d21e728a6bc7b3cc06412e"
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    _all_classes = set(string.digits + string.ascii_letters)
    _merged_classes = set("cijklmopsuvwxyz")
    classes_split_dict = {
        "byclass": sorted(_all_classes), "bymerge": sorted(_all_classes - _merged_classes),
        "balanced": sorted(_all_classes - _merged_classes), "letters": ["N/A", *string.ascii_lowercase],
        "digits": [*string.digits], "mnist": [*string.digits],
    }

    def __init__(self, root, split, **kwargs):
        self.split = verify_str_arg(split, "split", self.splits)
        self.training_file, self.test_file = f"training_{split}.pt", f"test_{split}.pt"
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[split]

    def _files(self):
        prefix = f"emnist-{self.split}-{'train' if self.train else 'test'}"
        return f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"

    def download(self):
        """Fetch and unpack all splits, unless the files of this one are there."""
        if all(map(self._find, self._files())):
            return
        download_and_extract_archive(self.url, self.raw_folder, md5=self.md5)
        packed = os.path.join(self.raw_folder, "gzip")
        for name in os.listdir(packed):
            if name.endswith(".gz"):
                extract_archive(os.path.join(packed, name), self.raw_folder)
        shutil.rmtree(packed)


_QMNIST = "https://raw.githubusercontent.com/facebookresearch/qmnist/master/"


class QMNIST(MNIST):
    """MNIST's digits made anew, with all 60,000 of the test set and the known facts about each (Yadav and Bottou 2019).

    what     train, test, test10k, test50k or nist; by default `train` decides
    compat   labels are digits, as MNIST's; without it all eight numbers of each
    """

    subsets = {"train": "train", "test": "test", "test10k": "test", "test50k": "test", "nist": "nist"}
    resources = {
        "train": [(_QMNIST + "qmnist-train-images-idx3-ubyte.gz", "ed72d4157d28c017586c42bc6afe6370"),
                  (_QMNIST + "qmnist-train-labels-idx2-int.gz", "0058f8dd561b90ffdd0f734c6a30e5e4")],
        "test": [(_QMNIST + "qmnist-test-images-idx3-ubyte.gz", "1394631089c404de565df7b7aeaf9412"),
                 (_QMNIST + "qmnist-test-labels-idx2-int.gz", "5b5b05890a5e13444e108efe57b788aa")],
        "nist": [(_QMNIST + "xnist-images-idx3-ubyte.xz", "7f124b3b8ab81486c9d8c2749c17f834"),
                 (_QMNIST + "xnist-labels-idx2-int.xz", "5ed0e788978e45d4a8bd4b7caec3d79d")],
    }

    def __init__(self, root, what=None, compat=True, train=True, **kwargs):
        if what is None:
            what = "train" if train else "test"
        self.what = verify_str_arg(what, "what", (*self.subsets,))
        self.compat = compat
        self.data_file = self.training_file = self.test_file = f"{self.what}.pt"
        super().__init__(root, train, **kwargs)

    def _files(self):
        return tuple(os.path.splitext(os.path.basename(url))[0] for url, _ in self.resources[self.subsets[self.what]])

    def _load_data(self):
        images, labels = map(self._find, self._files())
        data, targets = read_image_file(images), read_sn3_pascalvincent_tensor(labels).long()
        if targets.ndim != 2:
            raise ValueError(f"targets should have 2 dimensions instead of {targets.ndim}")
        part = {"test10k": slice(10000), "test50k": slice(10000, None)}.get(self.what)
        return (data, targets) if part is None else (data[part].clone(), targets[part].clone())

    def download(self):
        """Fetch the files that are not there yet."""
        for name, (url, md5) in zip(self._files(), self.resources[self.subsets[self.what]]):
            if self._find(name) is None:
                download_and_extract_archive(url, self.raw_folder, md5=md5)

    def __getitem__(self, index):
        label = self.targets[index]
        return self._transformed(_at(self.data, index), int(label[0]) if self.compat else label)

    def extra_repr(self):
        return f"Split: {self.what}"


__getattr__ = _namespace(__name__)
