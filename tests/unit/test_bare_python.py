"""A Python of which much is missing, as in a browser: no ctypes, mmap, multiprocessing, sockets, lzma, no threads to be
started and no fork. And a package that lies in an archive, or where nothing can be written."""
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tinytorch
from tinytorch.kernels import native

PACKAGE = Path(tinytorch.__file__).parent
#: Takes these away, before anything of ours is loaded; NumPy does without them.
BARE = """
import importlib.abc, os, sys, threading, _thread
import numpy, numpy.random
GONE = set("ctypes _ctypes mmap multiprocessing _multiprocessing socket _socket lzma _lzma bz2 _bz2 fcntl subprocess "
           "_posixsubprocess _posixshmem".split())
class Gone(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Gone())
for name in [name for name in sys.modules if name.partition(".")[0] in GONE]:
    del sys.modules[name]
for name in "fork memfd_create sched_getaffinity register_at_fork".split():
    if hasattr(os, name):
        delattr(os, name)
def none_left(*args, **kwargs):
    raise RuntimeError("can't start new thread")
for name in "start_new_thread", "start_joinable_thread":
    for module, named in (_thread, name), (threading, "_" + name):
        if hasattr(module, named):
            setattr(module, named, none_left)
import json
"""
TRAINING = """
import tinytorch as torch
from tinytorch import nn
from tinytorch.utils.data import DataLoader, TensorDataset
from tinytorch.vision import datasets, transforms
torch.set_num_threads(2)
torch.manual_seed(0)
digits = datasets.SyntheticDigits(train=True)
images = digits.data[:600].float() / 255
loader = DataLoader(TensorDataset(images, digits.targets[:600]), 50, shuffle=True, num_workers=WORKERS)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.RNN(196, 64, batch_first=True), nn.Linear(64, 10)
    def forward(self, x):
        return self.out(self.rnn(x.view(-1, 4, 196))[0][:, -1])
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 0.003)
losses = []
for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
"""
CHECKPOINT = """
import sys
path = sys.argv[1]
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state()}, path)
found = torch.load(path)
assert torch.equal(found["random"], torch.get_rng_state())
other = Net()
other.load_state_dict(found["model"])
torch.optim.Adam(other.parameters()).load_state_dict(found["optimizer"])
assert torch.equal(other(images), model(images))
"""


def _run(program, *args, options=(), path=None, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TINYTORCH_")}
    environment |= {"PYTHONPATH": str(path or PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1",
                    "OPENBLAS_NUM_THREADS": "1", **variables}
    done = subprocess.run([sys.executable, *options, "-c", program, *map(str, args)], capture_output=True, text=True,
                          env=environment, cwd=os.sep)         # not where the package may lie
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The package as a zip file."""
    path = tmp_path_factory.mktemp("zip") / "all.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in PACKAGE.rglob("*"):
            if name.is_file() and "__pycache__" not in name.parts:
                file.write(name, name.relative_to(PACKAGE.parent))
    return path


def test_training_and_checkpoints_where_much_is_missing(tmp_path):
    program = BARE + TRAINING.replace("WORKERS", "2") + CHECKPOINT
    program += "print(json.dumps([torch.__config__.show(), *losses]))"
    shown, *losses = json.loads(_run(program, tmp_path / "a.pt"))
    assert "native kernels: None" in shown
    assert losses[-1] < 0.7 * losses[0]
    # The same numbers as with all of it, and without kernels there too.
    whole = _run(TRAINING.replace("WORKERS", "0") + "import json; print(json.dumps(losses))", TINYTORCH_NATIVE="0")
    assert json.loads(whole) == losses


def test_a_threshold_of_threads_is_met_by_the_caller_where_none_can_be_started():
    assert _run(BARE + """
import numpy as np, tinytorch as torch
from tinytorch.kernels import threads
threads.team.size = threads.team.cores = 3
seen = []
threads.held = lambda: 1
threads.split(10, lambda first, last: seen.extend(range(first, last)))
print(sorted(seen) == list(range(10)))
""") == "True\n"


def test_what_needs_what_is_missing_says_so_when_it_is_used():
    assert _run(BARE + """
import tinytorch as torch
x = torch.ones(3)
print(torch.ones(4, 5, device="meta").sum(0).shape, torch.from_numpy(numpy.ones(2)).tolist())
try:
    x.share_memory_()
except NotImplementedError as error:
    print(error)
""").splitlines() == ["torch.Size([5]) [1.0, 1.0]", "this system has no memory that processes can share"]


def test_a_package_in_an_archive(archive, tmp_path):
    """Modules of both folders, kernels and files of numbers and text are found."""
    program = TRAINING.replace("WORKERS", "0") + CHECKPOINT + """
print(torch.__file__)
print(torch.kernels.native.level())
print(torch.quasirandom.SobolEngine(3).draw(4).tolist())
import tinytorch._dynamo, tinytorch._C
try:
    torch.no_such_name
except AttributeError as error:
    print(error)
from tinytorch.capture import schema
print(len(schema._table()) > 100)
from tinytorch.c_export import program
print(len(program._functions()) > 3)
from tinytorch.viz import page
print(losses[-1])
"""
    inside = _run(program, tmp_path / "b.pt", path=archive).splitlines()
    outside = _run(program, tmp_path / "c.pt").splitlines()
    assert inside[0].startswith(str(archive)) and inside[1:] == outside[1:]
    if os.environ.get("TINYTORCH_NATIVE") != "0":      # which the children are not told
        assert outside[1] == str(native.level())


@pytest.mark.skipif(native.level() is None, reason="there are no native kernels")
def test_kernels_of_an_archive_without_memory_files(archive, tmp_path):
    """They are written to a folder, of which nothing is left."""
    program = """
import os
del os.memfd_create
import tinytorch as torch
print(torch.kernels.native.level(), os.listdir(os.environ["TMPDIR"]))
"""
    assert _run(program, path=archive, TMPDIR=str(tmp_path)) == f"{native.level()} []\n"


def test_an_import_without_kernels_says_so_to_who_asks(tmp_path):
    """Once, as a warning that Python does not show unless it is told to; not where none are wanted."""
    shutil.copytree(PACKAGE, tmp_path / "tinytorch", ignore=shutil.ignore_patterns("library_*", "__pycache__"))
    program = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter(ACTION)
    import tinytorch
print([(w.category.__name__, str(w.message)[:40]) for w in seen], "takes about" in tinytorch.__config__.show())
"""
    shown = program.replace("ACTION", "'always'")
    said = [("ImportWarning", native.ABSENT[:40])]
    assert _run(shown, path=tmp_path) == f"{said} True\n"
    assert _run(shown, path=tmp_path, TINYTORCH_NATIVE="0") == "[] False\n"
    done = subprocess.run([sys.executable, "-c", "import tinytorch"], capture_output=True, check=True, cwd=os.sep,
                          env={**os.environ, "PYTHONPATH": str(tmp_path), "TINYTORCH_NATIVE": ""})
    assert done.stdout == done.stderr == b""


def test_a_wheel_without_kernels_is_of_any_platform(tmp_path):
    """Else pip would take it from its cache where one with kernels is wanted. Files of data are in it."""
    pytest.importorskip("setuptools", minversion="77",
                        reason="older versions do not read the licence in pyproject.toml")
    root = PACKAGE.parent
    if not (root / "setup.py").exists():
        pytest.skip("the tests of an installed package: there is no source")
    for name in "setup.py", "pyproject.toml", "README.md", "LICENSE":
        shutil.copy(root / name, tmp_path)
    shutil.copytree(PACKAGE, tmp_path / "tinytorch", ignore=shutil.ignore_patterns("library_*", "__pycache__"))
    done = subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel"], cwd=tmp_path, capture_output=True,
                          text=True, env={**os.environ, "CC": "/no/compiler", "TINYTORCH_NATIVE": ""})
    assert not done.returncode, done.stderr
    wheel, = (tmp_path / "dist").iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        about, = [name for name in names if name.endswith(".dist-info/WHEEL") and "tinytorch_numpy-" in name]
        assert "Root-Is-Purelib: true" in file.read(about).decode()
    data = [path for path in PACKAGE.rglob("*") if path.suffix in (".bin", ".txt") and "__pycache__" not in path.parts]
    assert len(data) > 4
    data += (PACKAGE / "standins").rglob("*.py")
    assert {str(path.relative_to(root)) for path in data} <= names
