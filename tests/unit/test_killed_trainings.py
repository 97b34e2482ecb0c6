"""The examples, killed in the middle of an epoch (SIGKILL): what goes on from the checkpoint ends in the same bits."""
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.vision.digits import draw_digits

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = [pytest.mark.skipif(not EXAMPLES.exists(), reason="no examples beside these tests"),
              pytest.mark.skipif(os.name != "posix", reason="kills a process")]

RUN = """
import importlib, os, signal, sys
sys.path.insert(0, sys.argv[1])
from tinytorch.optim.optimizer import register_optimizer_step_post_hook
steps, last = [], int(sys.argv[3])
def count(*_):
    steps.append(1)
    if len(steps) == last:
        os.kill(os.getpid(), signal.SIGKILL)
register_optimizer_step_post_hook(count)
losses, _ = importlib.import_module(sys.argv[2]).main(sys.argv[4:])
print(len(steps), "steps of", len(losses), flush=True)
"""


def run(example, options, kill_at=0):
    """(the exit code, what was said)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, str(EXAMPLES), example, str(kill_at), *map(str, options)]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """600 images in MNIST's own files: six steps in an epoch."""
    folder = tmp_path_factory.mktemp("mnist")
    for part, count, seed in (("train", 600, 0), ("t10k", 100, 1)):
        images, labels = draw_digits(count, seed)
        for kind, array in (("images-idx3", images), ("labels-idx1", labels.astype(np.uint8))):
            header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            (folder / f"{part}-{kind}-ubyte").write_bytes(header + array.tobytes())
    return folder


def equal(a, b):
    """Whether two states are the same to the last bit."""
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


@pytest.mark.parametrize("example, kills", [
    ("mnist_cnn", [(9, 8), (9, 16)]), ("nanogpt", [(5, 4), (8, 8)]),
    pytest.param("mnist_rnn", [(10, 8), (6, 12)], marks=pytest.mark.sweep),
    pytest.param("mnist_gru", [(4, 0)], marks=pytest.mark.sweep)])
def test_a_training_that_is_killed_goes_on(example, kills, digits, tmp_path):
    if example == "nanogpt":
        text = tmp_path / "text.txt"
        text.write_text("to be or not to be, that is the question. " * 60)
        options = ["--data", text, "--steps", 6, "--width", 16, "--heads", 2, "--depth", 1, "--context", 16,
                   "--dropout", 0.2, "--letters", 3]
    else:
        options = ["--data", digits]
    options += ["--epochs", 3, "--every", 4, "--seed", 5]
    whole, cut = tmp_path / "whole.pt", tmp_path / "cut.pt"
    code, said = run(example, [*options, "--checkpoint", whole])
    assert code == 0 and "18 steps of 18" in said, said
    for kill_at, kept in kills:                # in which of its steps, and of how many there is a checkpoint then
        code, said = run(example, [*options, "--checkpoint", cut, "--resume"], kill_at)
        assert code == -signal.SIGKILL, said
        assert cut.exists() == bool(kept) and (not kept or len(torch.load(cut)["losses"]) == kept)
    code, said = run(example, [*options, "--checkpoint", cut, "--resume"])
    assert code == 0 and f"{18 - kept} steps of 18" in said, said
    expected, found = torch.load(whole), torch.load(cut)
    for name in expected.keys() - {"rows"}:    # which hold seconds
        assert equal(expected[name], found[name]), name
    assert [row[:3] for row in expected["rows"]] == [row[:3] for row in found["rows"]]


def test_without_a_checkpoint_there_is_none(digits, tmp_path):
    code, said = run("mnist_rnn", ["--data", digits, "--epochs", 1])
    assert code == 0 and "6 steps of 6" in said and not list(tmp_path.iterdir()), said
