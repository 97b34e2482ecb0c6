"""The example scripts under both modules: only the import lines differ, nothing is copied across, and the
losses are the same."""
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import tinytorch
from tinytorch.vision.digits import draw_digits

pytestmark = pytest.mark.any_kernels

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """`load` of benchmarks/swapped.py."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = dict(sys.modules)
    from swapped import load
    yield load
    for name in sys.modules.keys() - before.keys():
        if name in ("common", "swapped") or name in ("nanogpt", *[case for case, _ in CASES]):
            del sys.modules[name]


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
def test_losses(name, options, dtype, digits, films, load, capsys):
    data, steps_per_epoch = (films, 8) if name == "imdb_cnn" else (digits, 20)
    count, tolerance = (200, 1e-8) if dtype == "float64" else (50, 2e-4)
    options = [*options, "--epochs", str(-(-count // steps_per_epoch))]
    losses = {}
    for library in (tinytorch, torch):
        before = library.get_default_dtype()
        library.set_default_dtype(getattr(library, dtype))
        try:
            losses[library], rows = load(name, library.__name__).main(["--data", data, "--seed", "3", *options])
        finally:
            library.set_default_dtype(before)
    capsys.readouterr()
    ours, theirs = np.array(losses[tinytorch][:count]), np.array(losses[torch][:count])
    assert len(ours) == len(theirs) == count
    np.testing.assert_allclose(ours, theirs, rtol=tolerance)


@pytest.mark.parametrize("dropout", ["0", "0.2"])
def test_text(dropout, tmp_path, load, capsys):
    """The losses of a small GPT, and what it writes."""
    file = tmp_path / "text.txt"
    file.write_text(" ".join(["some words", "that come", "again", "and again"][i * i % 7 % 4] for i in range(300)))
    options = ["--data", str(file), "--epochs", "2", "--steps", "20", "--width", "32", "--depth", "2", "--context",
               "16", "--letters", "40", "--dropout", dropout]
    found = {}
    for library in (tinytorch, torch):
        losses, rows = load("nanogpt", library.__name__).main(options)
        found[library] = losses, [row[:3] for row in rows], capsys.readouterr().out.partition("-- most likely")[2]
    ours, theirs = found[tinytorch], found[torch]
    assert len(ours[0]) == 40 and ours[0][-1] < ours[0][0]
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-4)
    assert ours[2] == theirs[2]


@pytest.mark.parametrize("name, options", [*CASES[:4], ("nanogpt", ["--steps", "8", "--width", "16", "--depth", "2",
                                                                   "--context", "8", "--letters", "4"])],
                         ids=[*[name for name, _ in CASES[:4]], "nanogpt"])
def test_compiled(name, options, digits, films, tmp_path, load, capsys):
    """With --compile the losses are the same ones, bit for bit, and the step is replayed."""
    from tinytorch.capture import compiled
    from tinytorch.capture.ready import Ready
    text = tmp_path / "text.txt"
    text.write_text("some words that come again and again " * 40)
    data = {"imdb_cnn": films, "nanogpt": str(text)}.get(name, digits)
    options = [*options, "--data", data, "--epochs", "1", "--limit", "1400" if name == "nanogpt" else "500"]
    made, build = [], Ready.__init__

    def noted(self, *args):
        made.append(self)
        build(self, *args)
    losses = []
    for more in ([], ["--compile"]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ready, "__init__", noted)
            losses.append(load(name, "tinytorch").main([*options, *more])[0])
    assert len(losses[0]) >= 5 and losses[0] == losses[1]
    assert made, compiled.breaks[-1]
    assert sum([ready.count for ready in made]) >= len(losses[0]) - 4
