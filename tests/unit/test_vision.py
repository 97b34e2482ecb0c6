"""MNIST files in every layout, broken files, drawn digits, transforms."""
import gzip
import tracemalloc

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.vision import datasets, transforms
from tinytorch.vision.datasets.idx import read_idx
from tinytorch.vision.digits import draw_digits


def idx(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + array.astype(np.uint8).tobytes()


IMAGES, LABELS = draw_digits(12, 0)


def write(folder, compressed=False, dotted=False):
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "t10k"):
        for kind, array in (("images-idx3", IMAGES), ("labels-idx1", LABELS)):
            name = f"{part}-{kind}-ubyte"
            if dotted:
                name = name.replace("-idx", ".idx")
            if compressed:
                (folder / f"{name}.gz").write_bytes(gzip.compress(idx(array)))
            else:
                (folder / name).write_bytes(idx(array))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("below, dotted", [(".", False), ("MNIST/raw", False), (".", True)])
def test_layouts(tmp_path, compressed, below, dotted):
    write(tmp_path / below, compressed, dotted)
    data = datasets.MNIST(str(tmp_path), train=True)
    assert len(data) == 12 and data.data.dtype == torch.uint8 and data.targets.dtype == torch.int64
    assert np.array_equal(data.data.numpy(), IMAGES) and data.targets.tolist() == LABELS.tolist()


def test_items_and_transforms(tmp_path):
    write(tmp_path)
    both = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.25,))])
    image, label = datasets.MNIST(str(tmp_path), train=False, transform=both, target_transform=lambda t: t + 100)[3]
    assert image.shape == (1, 28, 28) and label == LABELS[3] + 100
    assert np.allclose(image.numpy()[0], (IMAGES[3] / 255 - 0.5) / 0.25, atol=1e-6)
    assert "Normalize(mean=(0.5,), std=(0.25,))" in repr(both)


def test_in_a_loader(tmp_path):
    write(tmp_path)
    loader = torch.utils.data.DataLoader(datasets.MNIST(str(tmp_path), transform=transforms.ToTensor()), batch_size=5)
    shapes = [(tuple(x.shape), tuple(y.shape)) for x, y in loader]
    assert shapes == [((5, 1, 28, 28), (5,)), ((5, 1, 28, 28), (5,)), ((2, 1, 28, 28), (2,))]


def test_missing_file_is_named(tmp_path):
    write(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(RuntimeError, match="Dataset not found. You can use download=True to download it") as caught:
        datasets.MNIST(str(tmp_path))
    assert "no train-labels-idx1-ubyte in" in str(caught.value.__cause__)


@pytest.mark.parametrize("break_it", [
    lambda b: b[:-5], lambda b: b + b"x", lambda b: b"", lambda b: b"abcd" + b[4:], lambda b: b[:6]])
def test_broken_file_is_named(tmp_path, break_it):
    write(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(break_it(path.read_bytes()))
    with pytest.raises(RuntimeError, match="train-images-idx3-ubyte"):
        datasets.MNIST(str(tmp_path))


def test_a_file_is_read_into_one_array(tmp_path):
    """As bytes and then as an array it took twice its size, which small machines have not."""
    images = np.zeros((4000, 28, 28), np.uint8)
    (tmp_path / "a.gz").write_bytes(gzip.compress(idx(images)))
    read_idx(str(tmp_path / "a.gz"))
    tracemalloc.start()
    found = read_idx(str(tmp_path / "a.gz"))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert images.nbytes <= most < images.nbytes + (3 << 20)
    assert found.shape == images.shape and found.flags.owndata or found.base.flags.owndata


@pytest.mark.parametrize("at", [-3, 30])
def test_broken_compressed_file_is_named(tmp_path, at):
    write(tmp_path, compressed=True)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    content = path.read_bytes()
    path.write_bytes(content[:at] if at < 0 else content[:at] + bytes([content[at] ^ 255]) + content[at + 1:])
    with pytest.raises(RuntimeError, match="train-images-idx3-ubyte.gz is truncated or corrupt"):
        datasets.MNIST(str(tmp_path))


def header(code, *sizes):
    return bytes([0, 0, code, len(sizes) % 256]) + np.array(sizes, ">u4").tobytes()


@pytest.mark.parametrize("content", [
    header(8, 2 ** 31, 2 ** 31, 4), header(8, *[2] * 255), header(8, *[1] * 255) + b"x", header(8, *[0] * 65),
    header(8, 0, 2 ** 31, 2 ** 31, 2 ** 31), header(14, 2 ** 31, 2 ** 30), header(8), header(10, 1) + b"x",
    b"\1\0\x08\1" + header(8, 1)[4:] + b"x", header(8, 12, 28, 28) + bytes(12 * 28 * 28 + 1)])
@pytest.mark.parametrize("compressed", [False, True])
def test_header_that_lies_is_named(tmp_path, content, compressed):
    """Products that wrap around 64 bits to nothing, more dimensions than an ndarray has, other magic numbers."""
    path = tmp_path / ("x-ubyte.gz" if compressed else "x-ubyte")
    path.write_bytes(gzip.compress(content) if compressed else content)
    with pytest.raises(RuntimeError, match="x-ubyte"):
        read_idx(str(path))


def test_no_more_is_unpacked_than_the_header_asks_for(tmp_path):
    import tracemalloc
    path = tmp_path / "x-ubyte.gz"
    path.write_bytes(gzip.compress(header(8, 5) + bytes(200_000_000), 1))
    tracemalloc.start()
    with pytest.raises(RuntimeError, match="more where its header"):
        read_idx(str(path))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000


@pytest.mark.parametrize("code, dtype, value", [(13, ">f4", 3), (13, ">f4", np.nan), (14, ">f8", np.nan),
                                                (14, ">f8", 1e30), (9, "i1", -1), (12, ">i4", 3)])
def test_labels_that_are_no_bytes_are_refused(tmp_path, code, dtype, value):
    """NaN and 1e30 as labels would have become -2 ** 63."""
    write(tmp_path)
    labels = np.full(12, value, dtype)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(header(code, 12) + labels.tobytes())
    with pytest.raises(RuntimeError, match="train-labels-idx1-ubyte holds (float|int)"):
        datasets.MNIST(str(tmp_path))


@pytest.mark.parametrize("code, dtype", [(8, "u1"), (9, "i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_every_type_is_read(tmp_path, code, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    (tmp_path / "x").write_bytes(header(code, 2, 3) + array.tobytes())
    found = read_idx(str(tmp_path / "x"))
    assert found.dtype == np.dtype(dtype).newbyteorder("=") and found.tolist() == array.tolist()


def test_download(tmp_path, monkeypatch):
    """From a mirror, here a folder; the checksum is compared, and a bad file is not kept."""
    import hashlib
    served = tmp_path / "served"
    write(served, compressed=True)
    names = [name for name, _ in datasets.MNIST.resources]
    monkeypatch.setattr(datasets.MNIST, "mirrors", [(tmp_path / "nowhere").as_uri() + "/", served.as_uri() + "/"])
    monkeypatch.setattr(datasets.MNIST, "resources",
                        [(n, hashlib.md5((served / n).read_bytes()).hexdigest()) for n in names])
    root = tmp_path / "root"
    assert len(datasets.MNIST(str(root), download=True)) == 12
    assert (root / "MNIST" / "raw" / names[0]).exists()
    (served / names[0]).write_bytes(b"not what it was")
    other = tmp_path / "other"
    with pytest.raises(RuntimeError, match="Error downloading.*\nTried file:.*\n.*\nTried file:") as caught:
        datasets.MNIST(str(other), download=True)
    assert str(caught.value).endswith("File not found or corrupted.\n")
    assert not (other / "MNIST" / "raw" / names[0]).exists()


def test_drawn_digits_are_the_same_each_time():
    a, b = datasets.SyntheticDigits(size=20), datasets.SyntheticDigits(size=20)
    assert torch.equal(a.data, b.data) and torch.equal(a.targets, b.targets)
    assert not torch.equal(a.data, datasets.SyntheticDigits(size=20, seed=1).data)
    assert not torch.equal(a.data, datasets.SyntheticDigits(train=False, size=20).data)
    assert a.data.max() > 150 and a.data[:, 0].max() < 128


def test_drawn_digits_are_the_same_drawn_together_or_in_parts(monkeypatch):
    images, labels = draw_digits(450, 3)
    monkeypatch.setattr("tinytorch.vision.digits._TOGETHER", 1000)
    whole, names = draw_digits(450, 3)
    assert np.array_equal(images, whole) and np.array_equal(labels, names)


def test_totensor_refuses():
    with pytest.raises(TypeError, match="pic should be PIL Image or ndarray"):
        transforms.ToTensor()([1, 2])
    with pytest.raises(ValueError, match="2/3 dimensional"):
        transforms.ToTensor()(np.zeros(3))
    with pytest.raises(TypeError, match="float tensor"):
        transforms.Normalize(0.0, 1.0)(torch.ones(1, 2, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match="std evaluated to zero"):
        transforms.Normalize([0.0], [0.0])(torch.ones(1, 2, 2))
    with pytest.raises(TypeError, match="should be callable"):
        transforms.Lambda(3)


# ------------------------------------------------------------------ files that are not what they should be
def test_batches_of_cifar_make_nothing_but_arrays(tmp_path, monkeypatch):
    import hashlib
    import os
    import pickle

    class Command:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)
    folder = tmp_path / datasets.CIFAR10.base_folder
    folder.mkdir()
    content = pickle.dumps({"data": Command(), "labels": []})
    names = [name for name, _ in datasets.CIFAR10.train_list]
    monkeypatch.setattr(datasets.CIFAR10, "train_list", [[name, hashlib.md5(content).hexdigest()] for name in names])
    monkeypatch.setattr(datasets.CIFAR10, "test_list", [])
    for name in names:
        (folder / name).write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match="no batch of CIFAR holds"):
        datasets.CIFAR10(tmp_path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("filters", [True, False])
def test_archives_write_nothing_outside(tmp_path, monkeypatch, filters):
    import io
    import tarfile

    from tinytorch.vision.datasets.utils import extract_archive
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
        monkeypatch.setattr(tarfile.TarFile, "extraction_filter", staticmethod(lambda member, path: member),
                            raising=False)
    with tarfile.open(tmp_path / "x.tar", "w") as tar:
        for name in ("good.txt", "../bad.txt"):
            member = tarfile.TarInfo(name)
            member.size = 3
            tar.addfile(member, io.BytesIO(b"abc"))
    (tmp_path / "to").mkdir()
    if filters and hasattr(tarfile, "data_filter"):
        with pytest.raises(tarfile.FilterError):
            extract_archive(tmp_path / "x.tar", tmp_path / "to")
    else:
        extract_archive(tmp_path / "x.tar", tmp_path / "to")
    assert (tmp_path / "to" / "good.txt").read_text() == "abc" and not (tmp_path / "bad.txt").exists()


@pytest.mark.parametrize("name", ["x.gz", "x.bz2", "x.xz", "x.tar.gz", "x.tgz", "x.zip", "x", "x.rar"])
def test_archives(tmp_path, name):
    import bz2
    import io
    import lzma
    import tarfile
    import zipfile

    from tinytorch.vision.datasets.utils import extract_archive
    file = io.BytesIO()
    if name in ("x.tar.gz", "x.tgz"):
        with tarfile.open(fileobj=file, mode="w:gz") as tar:
            member = tarfile.TarInfo("x")
            member.size = 3
            tar.addfile(member, io.BytesIO(b"abc"))
    elif name == "x.zip":
        with zipfile.ZipFile(file, "w") as packed:
            packed.writestr("x", "abc")
    else:
        file.write({"x.gz": gzip, "x.bz2": bz2, "x.xz": lzma}.get(name, gzip).compress(b"abc"))
    (tmp_path / name).write_bytes(file.getvalue())
    if name in ("x", "x.rar"):
        with pytest.raises(RuntimeError, match="no suffixes|Unknown compression or archive type: '.rar'"):
            extract_archive(tmp_path / name)
        return
    extract_archive(str(tmp_path / name), remove_finished=True)
    assert (tmp_path / "x").read_bytes() == b"abc" and not (tmp_path / name).exists()


# ------------------------------------------------------------------ what is elsewhere
def test_names_that_are_not_here_say_where_they_are():
    from tinytorch import vision
    for namespace, name in ((vision.models, "resnet18"), (vision.datasets, "CelebA"), (vision.transforms, "v2")):
        with pytest.raises(AttributeError, match=rf"no torchvision\..*{name}; .*pip install --no-deps torchvision"):
            getattr(namespace, name)
    with pytest.raises(ImportError, match=r"no torchvision\.models\.vgg16; "):
        from tinytorch.vision.models import vgg16  # noqa: F401


def test_without_pillow(tmp_path, monkeypatch):
    import sys
    for name in [name for name in sys.modules if name.partition(".")[0] == "PIL"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    write(tmp_path)
    assert datasets.MNIST(str(tmp_path), transform=transforms.ToTensor())[0][0].shape == (1, 28, 28)
    with pytest.raises(ImportError, match="pip install pillow"):
        datasets.MNIST(str(tmp_path))[0]
    with pytest.raises(TypeError, match="img should be PIL Image. Got <class 'int'>"):
        transforms.RandomHorizontalFlip(1)(3)


def test_data_and_transforms_may_be_exchanged(tmp_path):
    write(tmp_path)
    data = datasets.MNIST(str(tmp_path), transform=transforms.ToTensor())
    data.data, data.targets = data.data[2:5], [7, 8, 9]
    assert len(data) == 3 and data[1][1] == 8
    data.transform = transforms.Compose([transforms.ToTensor(), transforms.Resize(5)])
    assert data[2][0].shape == (1, 5, 5)
