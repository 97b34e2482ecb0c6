"""Data sets of images beside torchvision's: what they read from the same files, items, reprs, words; grids."""
import hashlib
import io
import pickle
import tarfile

import numpy as np
import pytest

import tinytorch

from .vision import Image, both, pixels, torchvision

STATE = np.random.RandomState(0)
IMAGES, LABELS = STATE.randint(0, 255, (7, 28, 28)).astype(np.uint8), STATE.randint(0, 9, 7).astype(np.uint8)


def idx(array, code=8):
    return bytes([0, 0, code, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def described(root, **how):
    """A program: the data set of this name, what it says of itself, and its items."""
    def program(torch, vision):
        make = getattr(vision.datasets, root.name)
        to = vision.transforms
        data = make(str(root), **how)
        turned = make(str(root), transform=to.Compose([to.CenterCrop(5), to.ToTensor()]), target_transform=lambda t: -t,
                      **how)
        direct = make(str(root), transform=to.ToTensor(), **how)
        said = repr(turned).split("target_transform")[0].split("<function")[0]
        rest = [getattr(data, name, None) for name in ("data", "targets", "labels", "classes", "class_to_idx", "root")]
        rest = [x.tolist() if isinstance(x, np.ndarray) else [*x.items()] if isinstance(x, dict) else x for x in rest]
        return [repr(data), said, len(data), *rest, *data[3], *turned[-1], *direct[2]]
    return program


@pytest.fixture
def mnist(tmp_path):
    """Files of every set in MNIST's format, of twelve images each."""
    for name in ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST"):
        raw = tmp_path / name / name / "raw"
        raw.mkdir(parents=True)
        for part in ("train", "t10k", "emnist-letters-train", "emnist-byclass-test", "qmnist-train", "qmnist-test",
                     "xnist"):
            (raw / f"{part}-images-idx3-ubyte").write_bytes(idx(IMAGES))
            (raw / f"{part}-labels-idx1-ubyte").write_bytes(idx(LABELS))
            (raw / f"{part}-labels-idx2-int").write_bytes(idx(np.tile(LABELS[:, None], 8).astype(">i4"), 12))
    return tmp_path


@pytest.mark.parametrize("name, how", [
    ("MNIST", {}), ("MNIST", {"train": False}), ("FashionMNIST", {}), ("KMNIST", {"train": False}),
    ("EMNIST", {"split": "letters"}), ("EMNIST", {"split": "byclass", "train": False}), ("EMNIST", {"split": "digits"}),
    ("EMNIST", {"split": "other"}), ("EMNIST", {"split": 3}), ("QMNIST", {}), ("QMNIST", {"train": False}),
    ("QMNIST", {"what": "nist", "compat": False}), ("QMNIST", {"what": "test10k"}), ("QMNIST", {"what": "tests"})])
def test_grey(mnist, name, how):
    both(described(mnist / name, **how))


def test_older_names_and_files(mnist):
    def program(torch, vision):
        data = vision.datasets.MNIST(mnist / "MNIST")
        return [data.train_data, data.train_labels, data.test_data, data.test_labels]
    both(program)

    def saved(torch, vision):
        folder = mnist / torch.__name__ / "MNIST" / "processed"
        folder.mkdir(parents=True)
        for name in ("training.pt", "test.pt"):
            torch.save((torch.zeros(2, 28, 28, dtype=torch.uint8), torch.arange(2)), folder / name)
        data = vision.datasets.MNIST(str(folder.parents[1]))
        return [data.data, data.targets, data[1][1]]
    both(saved)


@pytest.mark.parametrize("name, how", [("MNIST", {}), ("CIFAR10", {}), ("CIFAR100", {"train": False}), ("SVHN", {}),
                                       ("STL10", {}), ("STL10", {"folds": 10}), ("STL10", {"split": "extra"}),
                                       ("ImageFolder", {}), ("EMNIST", {"split": "mnist"}), ("QMNIST", {})])
def test_nothing_there(tmp_path, name, how):
    both(lambda torch, vision: getattr(vision.datasets, name)(str(tmp_path), **how))


def test_addresses_and_checksums():
    names = """mirrors resources url md5 splits classes classes_split_dict subsets base_folder filename tgz_md5
        train_list test_list meta split_list class_names_file folds_list_file""".split()
    compared = 0
    for name in ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST", "CIFAR10", "CIFAR100", "SVHN", "STL10"):
        ours, theirs = (getattr(x.datasets, name) for x in (tinytorch.vision, torchvision))
        for attribute in names:
            if hasattr(theirs, attribute):
                assert getattr(ours, attribute) == getattr(theirs, attribute), (name, attribute)
                compared += 1
    assert compared > 30


# ------------------------------------------------------------------ CIFAR, STL10
def md5(content):
    return hashlib.md5(content).hexdigest()


@pytest.fixture
def cifar(tmp_path, monkeypatch):
    """Folders CIFAR10 and CIFAR100 with small batches, and their checksums in both libraries."""
    def batch(kind):
        return pickle.dumps({"data": STATE.randint(0, 255, (3, 3072)).astype(np.uint8), kind: [1, 9, 4]}, protocol=2)
    for name, kind, key in (("CIFAR10", "labels", "label_names"), ("CIFAR100", "fine_labels", "fine_label_names")):
        for vision in (tinytorch.vision, torchvision):
            made = getattr(vision.datasets, name)
            if vision is not torchvision:
                contents = {file: batch(kind) for file, _ in made.train_list + made.test_list}
            contents.setdefault(made.meta["filename"], pickle.dumps({key: ["plane", "cat"]}, protocol=2))
            for part in ("train_list", "test_list"):
                monkeypatch.setattr(made, part, [[file, md5(contents[file])] for file, _ in getattr(made, part)])
            monkeypatch.setattr(made, "meta", {**made.meta, "md5": md5(contents[made.meta["filename"]])})
        folder = tmp_path / name / made.base_folder
        folder.mkdir(parents=True)
        for file, content in contents.items():
            (folder / file).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("how", [{}, {"train": False}])
@pytest.mark.parametrize("name", ["CIFAR10", "CIFAR100"])
def test_cifar(cifar, name, how):
    both(described(cifar / name, **how))


def test_cifar_archive(cifar, monkeypatch, tmp_path):
    """An archive that is there already is checked and unpacked."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(cifar / "CIFAR10" / "cifar-10-batches-py", "cifar-10-batches-py")

    def program(torch, vision):
        made, root = vision.datasets.CIFAR10, tmp_path / f"got_{torch.__name__}"
        root.mkdir()
        (root / made.filename).write_bytes(packed.getvalue())
        monkeypatch.setattr(made, "tgz_md5", md5(packed.getvalue()))
        found = [len(made(root, download=True)), len(made(root, train=False, download=True))]
        return [*found, sorted(str(path.relative_to(root)) for path in root.rglob("*"))]
    both(program)


@pytest.mark.parametrize("how", [{}, {"split": "test"}, {"split": "train+unlabeled"}, {"split": "unlabeled"},
                                 {"folds": 1}, {"split": "train+unlabeled", "folds": 0}])
def test_stl10(tmp_path, monkeypatch, how):
    folder = tmp_path / "STL10" / "stl10_binary"
    folder.mkdir(parents=True)
    state = np.random.RandomState(1)
    for vision in (tinytorch.vision, torchvision):
        for part in ("train_list", "test_list"):
            listed = []
            for file, _ in getattr(vision.datasets.STL10, part):
                if vision is not torchvision:
                    content = state.randint(1, 10, 5).astype(np.uint8) if "_y" in file else \
                        state.randint(0, 255, 5 * 3 * 96 * 96).astype(np.uint8)
                    (folder / file).write_bytes(content.tobytes())
                listed.append([file, md5((folder / file).read_bytes())])
            monkeypatch.setattr(vision.datasets.STL10, part, listed)
    (folder / "class_names.txt").write_text("plane\nbird\n")
    (folder / "fold_indices.txt").write_text("0 2 4 1 \n1 3 0 2 \n")

    def program(torch, vision):
        data = vision.datasets.STL10(str(tmp_path / "STL10"), **how)
        return [repr(data), len(data), data.labels.tolist(), data.data[3].tolist(), *data[1], data.classes]
    both(program)


# ------------------------------------------------------------------ folders, noise
@pytest.fixture
def folders(tmp_path):
    for i, name in enumerate(["dog/a.png", "cat/nested/b.JPG", "cat/c.jpeg", "cat/notes.txt", "bird/d.bmp"]):
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("txt"):
            path.write_text("no image")
        else:
            Image.fromarray(pixels(seed=i).transpose(1, 2, 0)).save(path)
    (tmp_path / "root" / "empty").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize("how", [{}, {"allow_empty": True}, {"is_valid_file": lambda path: path.endswith("g")},
                                 {"allow_empty": True, "is_valid_file": lambda path: "c" in path.rpartition("/")[2]}])
def test_image_folder(folders, how):
    def program(torch, vision):
        data = vision.datasets.ImageFolder(str(folders), transform=vision.transforms.Resize(6), **how)
        return [repr(data), data.classes, list(data.class_to_idx.items()), data.samples, data.imgs, data.targets,
                data.extensions, *(x for item in data for x in item)]
    both(program)


def test_folder_functions(folders):
    def calls(torch, vision):
        folder = vision.datasets.folder
        data = vision.datasets.DatasetFolder(folders, lambda path: path, (".txt", ".png"), allow_empty=True,
                                             target_transform=str)
        return [*folder.find_classes(folders)[0], folder.make_dataset(folders, {"cat": 5}, ".jpeg"), len(data), data[1],
                folder.IMG_EXTENSIONS, folder.is_image_file("x.PNG"), folder.default_loader(folders / "dog" / "a.png")]
    both(calls)
    for wrong in ({}, {"class_to_idx": {}}, {"extensions": ".png", "is_valid_file": bool}, {"extensions": ".png"}):
        both(lambda torch, vision: vision.datasets.folder.make_dataset(folders, **wrong))


def test_fake_data():
    def program(torch, vision):
        data = vision.datasets.FakeData(3, (3, 5, 4), 7, random_offset=2)
        return [repr(data), *data[0], *data[2], data.extra_repr()]
    both(program)
    both(lambda torch, vision: vision.datasets.FakeData(3)[3])


def test_transforms_of_both():
    def program(torch, vision):
        vision.datasets.VisionDataset("x", transforms=len, transform=len)
    both(program)

    def standard(torch, vision):
        made = vision.datasets.vision.StandardTransform(vision.transforms.Compose([vision.transforms.ToTensor()]),
                                                        vision.transforms.Grayscale())
        return repr(made)
    both(standard)


# ------------------------------------------------------------------ utils, io
@pytest.mark.parametrize("call", [
    "make_grid(x)", "make_grid(x, 3, 1, pad_value=0.5)", "make_grid(x, normalize=True)", "make_grid(x[0])",
    "make_grid(x, normalize=True, scale_each=True, nrow=2)", "make_grid(x, normalize=True, value_range=(0.2, 0.4))",
    "make_grid([x[0], x[1]])", "make_grid(x[:, :1])", "make_grid(x[0, 0])", "make_grid(x[:1])", "make_grid(3)",
    "make_grid([1])", "make_grid(x, normalize=True, value_range=[0, 1])", "make_grid(x, padding=0, nrow=1)",
    "make_grid((x * 255).to(torch.uint8), pad_value=7)"])
def test_make_grid(call):
    both(lambda torch, vision, x: eval(call, {**vars(vision.utils), "x": x, "torch": torch}),
         pixels("float32", (5, 3, 4, 6)))


def test_save_and_read(tmp_path):
    def program(torch, vision, x):
        vision.utils.save_image(x, tmp_path / "x.png", nrow=2)
        file = io.BytesIO()
        vision.utils.save_image([x[0]], file, format="bmp")
        return [Image.open(tmp_path / "x.png"), file.getvalue()]
    both(program, pixels("float32", (5, 3, 4, 6)))
    ours = tinytorch.vision.io.read_image(tmp_path / "x.png")
    assert np.array_equal(ours.numpy(), np.asarray(Image.open(tmp_path / "x.png")).transpose(2, 0, 1))
    assert [(x.name, x.value) for x in tinytorch.vision.io.image.ImageReadMode] == [
        (x.name, x.value) for x in torchvision.io.ImageReadMode]
