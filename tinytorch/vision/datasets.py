"""MNIST and FashionMNIST from their idx files, and digits drawn here for a machine that has neither."""
import gzip
import math
import os
import struct
import zlib

import numpy as np

from ..kernels.memory import check_size
from ..tensor import wrap
from ..utils.data import Dataset
from .digits import draw_digits
from .transforms.transforms import Compose, ToTensor

__all__ = ["FashionMNIST", "MNIST", "SyntheticDigits"]

#: The dtypes of idx files, by the third byte of their magic number.
_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


class _Images(Dataset):
    """Grey images `data` (N, H, W) uint8 with labels `targets` (N) int64.

    An item is (image, label) after the transforms. The image is a PIL image (Pillow is needed then),
    or for transforms that begin with ToTensor directly the array, which gives the same tensor.
    """

    def __init__(self, data, targets, transform, target_transform):
        self.data, self.targets = wrap(data), wrap(targets)
        self.transform, self.target_transform = transform, target_transform
        first = transform.transforms[0] if isinstance(transform, Compose) and transform.transforms else transform
        self._array_is_enough = isinstance(first, ToTensor)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        image, target = self.data.array[index], int(self.targets.array[index])
        if not self._array_is_enough:
            from PIL import Image
            image = Image.fromarray(image)
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


class MNIST(_Images):
    """Handwritten digits (LeCun, Cortes and Burges): 60,000 for training, 10,000 for test, 28x28.

    root      folder with the four idx files, plain or .gz; torchvision's layout root/MNIST/raw too
    train     training or test images
    transform, target_transform   functions of image and label
    download  fetch what is missing into root/MNIST/raw, with a progress bar if tqdm is installed

    RuntimeError naming the file if one is missing, truncated, corrupt, not of uint8, or not what the checksum says.
    """

    mirrors = ["https://ossci-datasets.s3.amazonaws.com/mnist/"]
    #: md5 of the compressed files
    resources = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02d629"),
    ]
    classes = ["0 - zero", "1 - one", "2 - two", "3 - three", "4 - four",
               "5 - five", "6 - six", "7 - seven", "8 - eight", "9 - nine"]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        self.root, self.train = os.path.expanduser(root), train
        if download:
            self.download()
        part = self.resources[:2] if train else self.resources[2:]
        images, labels = (_bytes(self._find(name)) for name, _ in part)
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
            raise RuntimeError(f"{self._find(part[0][0])}: {images.shape} images do not go with {labels.shape} labels")
        super().__init__(images, labels.astype(np.int64), transform, target_transform)

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def class_to_idx(self):
        return {name: i for i, name in enumerate(self.classes)}

    def _find(self, name):
        """Path of a file under any of the names and places it is known by."""
        plain = name[:-len(".gz")]
        dotted = plain.replace("-idx", ".idx")
        for folder in (self.raw_folder, self.root):
            for candidate in (plain, name, dotted, dotted + ".gz"):
                path = os.path.join(folder, candidate)
                if os.path.isfile(path):
                    return path
        raise RuntimeError(f"Dataset not found. You can use download=True to download it: no {plain} or {name} "
                           f"in {self.root} or {self.raw_folder}")

    def download(self):
        """Fetch the files that are not there yet. RuntimeError if no mirror serves them whole."""
        os.makedirs(self.raw_folder, exist_ok=True)
        for name, md5 in self.resources:
            try:
                self._find(name)
            except RuntimeError:
                _fetch([mirror + name for mirror in self.mirrors], os.path.join(self.raw_folder, name), md5)

    def __repr__(self):
        return (f"Dataset {type(self).__name__}\n    Number of datapoints: {len(self)}\n"
                f"    Root location: {self.root}\n    Split: {'Train' if self.train else 'Test'}")


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


class SyntheticDigits(_Images):
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
        self.train = train
        images, labels = draw_digits(size if size is not None else 60_000 if train else 10_000,
                                     2 * seed + (0 if train else 1))
        super().__init__(images, labels, transform, target_transform)


def _bytes(path):
    """The array in an idx file of images or labels, which are uint8."""
    array = read_idx(path)
    if array.dtype != np.uint8:
        raise RuntimeError(f"{path} holds {array.dtype} where images and labels are uint8")
    return array


def read_idx(path):
    """The array in an idx file (LeCun's format: magic, sizes, big-endian data), compressed or not.

    RuntimeError naming the file if it is no such file, or its length is not what its header says.
    """
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            head = f.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES or not head[3]:
                raise RuntimeError(f"{path} is not an idx file: it begins with {head.hex(' ') or 'nothing'}")
            kind, ndim = np.dtype(_TYPES[head[2]]), head[3]
            sizes = f.read(4 * ndim)
            shape = struct.unpack(f">{len(sizes) // 4}I", sizes[:len(sizes) // 4 * 4])
            expected = math.prod(shape) * kind.itemsize
            # One byte more shows what is too long; no compressed file holds more than 1032 times its own length.
            content = f.read(min(expected + 1, 1032 * os.path.getsize(path)))
    except (EOFError, OSError, zlib.error) as error:
        raise RuntimeError(f"{path} is truncated or corrupt: {error}") from error
    if len(shape) != ndim or len(content) != expected:
        found = "more" if len(content) > expected else f"{len(content)} bytes"
        raise RuntimeError(f"{path} is truncated or corrupt: {found} where its header, of {ndim} dimensions with shape "
                           f"{list(shape)}, asks for {expected} bytes")
    try:
        check_size(shape, kind.itemsize)
    except RuntimeError as error:
        raise RuntimeError(f"{path} holds no array: {error}") from None
    return np.frombuffer(content, kind).reshape(shape).astype(kind.newbyteorder("="))


def _fetch(urls, path, md5):
    """Download the first of `urls` that answers to `path`, and check it. Nothing is left of a bad one."""
    import hashlib  # with urllib they take longer to import than all the rest
    import urllib.error
    import urllib.request
    errors = []
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=30) as response:
                content = b"".join(_progress(response, os.path.basename(path)))
        except (urllib.error.URLError, OSError) as error:
            errors.append(f"{url}: {error}")
            continue
        found = hashlib.md5(content).hexdigest()
        if found != md5:
            errors.append(f"{url}: md5 {found} where {md5} was expected")
            continue
        with open(path, "wb") as f:
            f.write(content)
        return
    raise RuntimeError(f"Error downloading {os.path.basename(path)}: " + "; ".join(errors))


def _progress(response, name):
    """The blocks of a response, shown as a progress bar where tqdm is installed."""
    blocks = iter(lambda: response.read(1 << 16), b"")
    try:
        from tqdm import tqdm
    except ImportError:
        yield from blocks
        return
    length = response.headers.get("Content-Length")
    with tqdm(total=int(length) if length else None, unit="B", unit_scale=True, desc=name) as bar:
        for block in blocks:
            bar.update(len(block))
            yield block
