"""The example scripts under both modules: only the import lines differ, nothing is copied across, and the
losses are the same."""
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch.vision.digits import draw_digits

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SWAP = [("import tinytorch as torch", "import torch"), ("from tinytorch import nn", "from torch import nn"),
        ("from tinytorch.utils.data", "from torch.utils.data")]


def load(name, library, monkeypatch):
    """An example as a module, its torch being `library`; the data sets stay tinytorch's (it has no
    torchvision to swap them for), which hand over ndarrays."""
    loaded = {}
    for part in ("common", name):
        source = (EXAMPLES / f"{part}.py").read_text()
        if library is torch:
            for ours, theirs in SWAP:
                source = source.replace(ours, theirs)
        module = loaded[part] = types.ModuleType(part)
        monkeypatch.setitem(sys.modules, part, module)
        exec(compile(source, f"{part}.py ({library.__name__})", "exec"), module.__dict__)
    return loaded[name]


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A small data set in MNIST's own files."""
    folder = tmp_path_factory.mktemp("mnist")
    for part, count, seed in (("train", 2000, 0), ("t10k", 500, 1)):
        images, labels = draw_digits(count, seed)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels.astype(np.uint8))):
            header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (folder / f"{part}-{kind}-ubyte").write_bytes(header + array.tobytes())
    return str(folder)


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Made-up reviews in the layout of aclImdb."""
    folder = tmp_path_factory.mktemp("aclImdb")
    random = np.random.RandomState(0)
    words = [f"word{i}" for i in range(3000)]
    weights = 1 / np.arange(10, 3010)
    for part in ("train", "test"):
        for kind, shift in (("neg", 0), ("pos", 40)):
            (folder / part / kind).mkdir(parents=True)
            for i in range(320):
                chosen = random.choice(3000, random.randint(60, 200), p=np.roll(weights, shift) / weights.sum())
                (folder / part / kind / f"{i}.txt").write_text(" ".join(words[k] for k in chosen))
    return str(folder)


CASES = [("mnist_rnn", []), ("mnist_cnn", []), ("mnist_gru", []), ("imdb_cnn", []),
         ("imdb_cnn", ["--optimizer", "sgd", "--lr", "0.1"])]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name, options", CASES, ids=[f"{name}{' sgd' if 'sgd' in o else ''}" for name, o in CASES])
def test_losses(name, options, dtype, digits, films, monkeypatch, capsys):
    data, steps_per_epoch = (films, 8) if name == "imdb_cnn" else (digits, 20)
    count, tolerance = (200, 1e-8) if dtype == "float64" else (50, 2e-4)
    options = [*options, "--epochs", str(-(-count // steps_per_epoch))]
    losses = {}
    for library in (tinytorch, torch):
        before = library.get_default_dtype()
        library.set_default_dtype(getattr(library, dtype))
        try:
            losses[library], rows = load(name, library, monkeypatch).main(["--data", data, "--seed", "3", *options])
        finally:
            library.set_default_dtype(before)
    capsys.readouterr()
    ours, theirs = np.array(losses[tinytorch][:count]), np.array(losses[torch][:count])
    assert len(ours) == len(theirs) == count
    np.testing.assert_allclose(ours, theirs, rtol=tolerance)
