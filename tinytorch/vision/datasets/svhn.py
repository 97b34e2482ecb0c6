"""torchvision.datasets.svhn: SVHN (Netzer et al. 2011)."""
import os

import numpy as np

from ...missing import namespace as _namespace
from .utils import check_integrity, download_url, verify_str_arg
from .vision import VisionDataset

__all__ = ["SVHN"]

_URL = "http://ufldl.stanford.edu/housenumbers/"


class SVHN(VisionDataset):
    """Digits of house numbers from street views, 32x32: the splits train (73,257), test (26,032) and extra (531,131).

    `data` is an array (N, 3, 32, 32) uint8, `labels` one (N,) int64. RuntimeError if the file is missing or its
    checksum is wrong, ImportError without SciPy, which reads the file.
    """

    split_list = {
        "train": [_URL + "train_32x32.mat", "train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"],
        "test": [_URL + "test_32x32.mat", "test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"],
        "extra": [_URL + "extra_32x32.mat", "extra_32x32.mat", "a93ce644f1a588dc4d68dda5feec44a7"],
    }

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", (*self.split_list,))
        self.url, self.filename, self.file_md5 = self.split_list[split]
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError("Dataset not found or corrupted. You can use download=True to download it")
        try:
            from scipy.io import loadmat
        except ImportError:
            raise ImportError("SVHN is in files of MATLAB's, which SciPy reads: pip install scipy") from None
        found = loadmat(os.path.join(self.root, self.filename))
        self.data = found["X"].transpose(3, 2, 0, 1)
        labels = found["y"].astype(np.int64).squeeze()
        self.labels = np.where(labels == 10, 0, labels)        # the file has 10 for the digit 0

    def __getitem__(self, index):
        return self._transformed(self.data[index].transpose(1, 2, 0), int(self.labels[index]))

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        return check_integrity(os.path.join(self.root, self.filename), self.file_md5)

    def download(self):
        """Fetch the file of the split, unless it is there."""
        download_url(self.url, self.root, self.filename, self.file_md5)

    def extra_repr(self):
        return f"Split: {self.split}"


__getattr__ = _namespace(__name__)
