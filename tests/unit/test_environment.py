"""`python -m tinytorch.environment`: what it installs and removes, and what it leaves as it is."""
import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import threading
import venv
from base64 import urlsafe_b64encode
from pathlib import Path

import numpy as np
import pytest

import tinytorch
from tinytorch.environment import distribution as environment, finder

ROOT = Path(tinytorch.__file__).parent.parent


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty folder of packages, of an environment that has no other one."""
    (tmp_path / "site").mkdir()
    (tmp_path / "prefix").mkdir()
    monkeypatch.setattr(environment, "_site", lambda: tmp_path / "site")
    monkeypatch.setattr(environment, "_elsewhere", lambda: [tmp_path / "lib64"])
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    return tmp_path / "site"


def tree(folder):
    """All that is in a folder: contents of files, targets of links, None for folders."""
    return {path: os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")}


def written(path, text="other"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_an_installed_distribution(site, capsys):
    """Every file stands in its list with its digest; what is left when it is taken out is nothing."""
    assert environment.main(["install"]) == environment.main(["status"]) == 0
    metadata = site / finder.METADATA
    recorded = [line.split(",") for line in (metadata / "RECORD").read_text().splitlines()]
    assert {name for name, *_ in recorded} == {p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file()}
    assert {f"{finder.METADATA}/{name}" for name in ("RECORD", "METADATA", "INSTALLER", "WHEEL")} < {
        name for name, *_ in recorded}
    for name, digest, size in recorded[:-1]:
        content = (site / name).read_bytes()
        expected = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert digest == f"sha256={expected}" and int(size) == len(content)
    assert f"Version: {tinytorch.__version__}\n" in (metadata / "METADATA").read_text()
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(site)!r}); import torch.nn as nn; import torch;"
         "import tinytorch as t, functorch; print(torch is t, nn is t.nn, functorch.vmap is t.func.vmap)"],
        cwd="/", capture_output=True, text=True, timeout=60,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
    assert done.stdout.split() == ["True"] * 3, done.stderr
    assert environment.main(["uninstall"]) == 0 and not list(site.iterdir())
    assert environment.main(["uninstall"]) == 0 and "no torch is installed" in capsys.readouterr().out


def test_installing_again_changes_nothing(site):
    environment.put_into_environment()
    before = {path: path.stat().st_ino for path in site.rglob("*")}
    environment.put_into_environment()
    assert {path: path.stat().st_ino for path in site.rglob("*")} == before


OTHERS = ["torch-2.13.0.dist-info/METADATA", "torch-2.1.0+cu121.dist-info/METADATA", "torch-1.0.egg-info/PKG-INFO",
          "torch-1.0-py3.11.egg-info", "torch-1.0-py3.11-linux-x86_64.egg/torch/__init__.py", "torch.egg-info/PKG-INFO",
          "torch.egg-link", "__editable__.torch-2.0.0a0.pth", "__editable___torch_2_0_0a0_finder.py", "torch.py",
          "torch.cpython-311-x86_64-linux-gnu.so", "functorch-2.0.dist-info/METADATA", "torch/_C.so",
          "torch/nn/__init__.py", "functorch/compile/__init__.py", "torch/__pycache__/other.cpython-311.pyc",
          f"{finder.METADATA}/REQUESTED", "../lib64/torch/__init__.py", "../lib64/torch-2.0.dist-info/METADATA",
          "../prefix/conda-meta/pytorch-2.1.0-py3.11_cpu_0.json", "../prefix/conda-meta/pytorch-cpu-2.1.0-h1_0.json"]


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("over", [False, True], ids=["alone", "over tinytorch"])
def test_another_torch_is_left_as_it_is(site, capsys, name, over):
    """Also one that pip or conda has put over tinytorch's."""
    if over:
        environment.put_into_environment()
    path = written(site / name)
    before = tree(site.parent)
    assert environment.main(["install"]) == environment.main(["uninstall"]) == 1
    said = capsys.readouterr().err
    assert said.count("it is left as it is") == 2 and any([
        str(part) in said for part in (path, *path.parents) if part.name not in ("site", "lib64", "prefix")])
    assert environment.main(["status"]) == 0 and "is PyTorch" in capsys.readouterr().out
    assert tree(site.parent) == before
    path.unlink()
    for folder in path.parents:
        if not list(folder.iterdir()) and folder != site:
            folder.rmdir()
    assert environment.main(["install"]) == environment.main(["uninstall"]) == 0 and not list(site.iterdir())


@pytest.mark.parametrize("name", ["torch/__init__.py", "functorch/__init__.py", f"{finder.METADATA}/METADATA"])
@pytest.mark.parametrize("how", ["changed", "linked"])
def test_a_file_that_was_overwritten_is_left_as_it_is(site, name, how):
    """pip --target and --ignore-installed write PyTorch's files in the place of tinytorch's."""
    environment.put_into_environment()
    elsewhere = written(site.parent / "kept.py", (site / name).read_text())
    if how == "linked":
        (site / name).unlink()
        (site / name).symlink_to(elsewhere)
    else:
        (site / name).write_text("import torch._C\n")
    before = tree(site.parent)
    for change in environment.put_into_environment, environment.take_out_of_environment:
        with pytest.raises(RuntimeError, match="it is left as it is"):
            change()
    assert tree(site.parent) == before


@pytest.mark.parametrize("name", ["torch", "functorch"])
@pytest.mark.parametrize("kind", ["folder", "file", "nothing"])
def test_links_are_not_followed(site, name, kind):
    target = site.parent / "source"
    if kind == "folder":
        written(target / "__init__.py")
    elif kind == "file":
        written(target)
    (site / name).symlink_to(target)
    before = tree(site.parent)
    for change in environment.put_into_environment, environment.take_out_of_environment:
        with pytest.raises(RuntimeError, match=f"it is left as it is: {site / name}"):
            change()
    assert tree(site.parent) == before


def test_a_record_that_lists_others_files_removes_none(site):
    environment.put_into_environment()
    for name in "numpy/__init__.py", "../victim.py", "torch-geometric/__init__.py":
        written(site / name)
        with open(site / finder.METADATA / "RECORD", "a") as record:
            record.write(f"{name},{environment._record(b'other')}\n")
    environment.take_out_of_environment()
    assert (site / "numpy/__init__.py").exists() and (site.parent / "victim.py").exists()
    assert sorted(path.name for path in site.iterdir()) == ["numpy", "torch-geometric"]


def test_what_is_not_torch_is_not_in_the_way(site):
    for name in ("torch_geometric-2.0.dist-info/METADATA", "pytorch_lightning-2.0.dist-info/METADATA",
                 "torchvision/__init__.py", "torchvision-0.1.dist-info/METADATA", "__editable__.torch_x-1.pth",
                 "~orch-2.1.dist-info/METADATA", "../prefix/conda-meta/pytorch-lightning-2.0-pyhd_0.json",
                 "../prefix/conda-meta/numpy-2.0-py_0.json"):
        written(site / name)
    before = tree(site.parent)
    environment.put_into_environment()
    assert environment.status().endswith("is tinytorch")
    environment.take_out_of_environment()
    assert tree(site.parent) == before


def test_bytecode_goes_with_its_source(site):
    environment.put_into_environment()
    compiled = Path(py_compile.compile(str(site / "torch/__init__.py"), doraise=True))
    shutil.copy(compiled, f"{compiled}.140234567")         # what Python leaves that is killed when it writes one
    assert compiled.parent.parent == site / "torch"
    environment.take_out_of_environment()
    assert not list(site.iterdir())


def test_another_version_is_replaced(site):
    environment.put_into_environment()
    older = "torch-1.0+tinytorch.dist-info"
    content = (site / finder.METADATA / "RECORD").read_text().replace(finder.METADATA, older)
    (site / finder.METADATA).rename(site / older)
    written(site / "torch/old.py", "old")
    written(site / older / "RECORD", content + f"torch/old.py,{environment._record(b'old')}\n")
    assert "another version" in environment.status()
    environment.put_into_environment()
    assert sorted(path.name for path in site.iterdir()) == ["functorch", "torch", finder.METADATA]
    assert not (site / "torch/old.py").exists() and environment.status().endswith("is tinytorch")


def interrupted(function, line):
    """Calls it, and stops it as a signal would before the line of environment.py that is the n-th to run. Whether it
    came to its end. It runs in a thread, because Python 3.13 handles an exception for ever, also in later tests, if
    a trace function raises in the `__exit__` of a `with`."""
    left, ended = [line], []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != environment.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        return trace

    def call():
        sys.settrace(trace)
        try:
            function()
            ended.append(True)
        except KeyboardInterrupt:
            ended.append(False)
        finally:
            sys.settrace(None)
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return ended.pop()


@pytest.mark.parametrize("change", ["install", "uninstall"])
@pytest.mark.parametrize("mend", ["install", "uninstall"])
def test_interrupted_anywhere(site, change, mend):
    """The next command does what it says, and what is of others is there still."""
    commands = {"install": environment.put_into_environment, "uninstall": environment.take_out_of_environment}
    written(site / "torchvision/__init__.py")
    empty = tree(site)
    commands["install"]()
    full = tree(site)
    line, seen = 0, set()
    back = commands["uninstall" if change == "install" else "install"]
    back()
    begun = frozenset(tree(site).items())
    while True:
        line += 1
        if interrupted(commands[change], line):
            break
        state = frozenset(tree(site).items())
        if state not in seen:                  # nothing else has a memory
            seen.add(state)
            environment.status()
            commands[mend]()
            assert tree(site) == (full if mend == "install" else empty), line
        if state != begun:
            back()
    assert len(seen) > 10


def test_half_a_file_is_mended(site, monkeypatch):
    """The disk is full, or the process is killed, in the middle of one."""
    real = Path.write_bytes

    def half(path, content):
        if b"Metadata-Version" in content:
            real(path, content[:10])
            raise OSError("No space left on device")
        return real(path, content)
    monkeypatch.setattr(Path, "write_bytes", half)
    assert environment.main(["install"]) == 1
    monkeypatch.undo()
    monkeypatch.setattr(environment, "_site", lambda: site)
    monkeypatch.setattr(environment, "_elsewhere", list)
    assert (site / finder.METADATA / "writing").exists()
    assert environment.main(["install"]) == 0 and environment.status().endswith("is tinytorch")
    assert not (site / finder.METADATA / "writing").exists()


def test_arguments():
    assert environment.main([]) == environment.main(["remove"]) == 2


# ------------------------------------------------------------------ real environments
def made(folder, numpy=True):
    """(Python, folder of packages) of a new environment, which has NumPy, too."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    # posix_prefix: Debian's Python has another scheme outside of environments.
    packages = Path(sysconfig.get_path("purelib", "posix_prefix", {"base": str(folder), "platbase": str(folder)}))
    if numpy:
        for path in Path(np.__file__).parents[1].glob("numpy*"):
            (packages / path.name).symlink_to(path)
    return python, packages


def put_pytorch(packages):
    """What a wheel of PyTorch unpacks, in small."""
    written(packages / "torch/__init__.py", "__version__ = '2.1.0+real'\n")
    written(packages / "torch/nn/__init__.py", "")
    metadata = packages / "torch-2.1.0+real.dist-info"
    written(metadata / "METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.1.0+real\n")
    written(metadata / "INSTALLER", "pip\n")
    files = [*(packages / "torch").rglob("*.py"), *metadata.iterdir()]
    written(metadata / "RECORD", "".join(f"{path.relative_to(packages)},,\n" for path in files))


def said(python, *arguments, path=ROOT):
    done = subprocess.run([python, "-B", *arguments], capture_output=True, text=True, timeout=60, cwd="/",
                          env={**os.environ, "PYTHONPATH": str(path)})
    return done.returncode, (done.stdout + done.stderr).strip()


VERSION = "import torch, importlib.metadata as m; print(torch.__version__, m.version('torch'))"


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_in_an_environment(tmp_path):
    python, packages = made(tmp_path / "venv")
    empty = tree(tmp_path)
    assert said(python, "-m", "tinytorch.environment", "install") == (
        0, f"torch 2.13.0+tinytorch is installed in {packages}")
    assert said(python, "-c", VERSION) == (0, f"{tinytorch.__version__} {tinytorch.__version__}")
    ours = tree(tmp_path)
    put_pytorch(packages)
    before = tree(tmp_path)
    for command in "install", "uninstall":
        code, text = said(python, "-m", "tinytorch.environment", command)
        assert code == 1 and str(packages / "torch-2.1.0+real.dist-info") in text and "Traceback" not in text
        assert str(packages / "torch/nn/__init__.py") in text
    assert tree(tmp_path) == before
    assert said(python, "-c", "import torch; print(torch.__version__)") == (0, "2.1.0+real")
    for path, content in before.items():
        if path not in ours and content is not None:
            path.unlink()
    for path in sorted({*tree(tmp_path)} - {*ours}, reverse=True):
        path.rmdir()
    (packages / "torch/__init__.py").unlink()
    assert said(python, "-m", "tinytorch.environment", "install")[0] == 0 and tree(tmp_path) == ours
    assert said(python, "-m", "tinytorch.environment", "uninstall")[0] == 0 and tree(tmp_path) == empty


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_in_an_environment_that_has_pytorch(tmp_path):
    python, packages = made(tmp_path / "venv")
    put_pytorch(packages)
    before = tree(tmp_path)
    for command, code in ("install", 1), ("uninstall", 1), ("status", 0):
        assert said(python, "-m", "tinytorch.environment", command)[0] == code
    assert tree(tmp_path) == before and said(python, "-c", VERSION) == (0, "2.1.0+real 2.1.0+real")
