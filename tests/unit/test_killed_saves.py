"""What killed processes left in the middle of torch.save: the next save into the folder removes it, and no more."""
import contextlib
import errno
import os
import signal
import subprocess
import sys

import pytest

import tinytorch as torch
from tinytorch.checkpoint import whole_file as _whole_file

pytestmark = pytest.mark.skipif(not _whole_file._boot(), reason="no locks, or no id of the kernel's boot")

#: Forks processes that save for ever into a folder, and kills each at some time; says what it has found there.
KILLS = """
import os, random, signal, sys, time, tinytorch as torch
folder, left = sys.argv[1], set()
value = [torch.full((1 << 18,), 1.), torch.arange(5)]
torch.save(value, os.path.join(folder, "last.pt"))     # loads what a save needs
for i in range(30):
    child = os.fork()
    if not child:
        for k in range(1 << 30):
            torch.save(value, os.path.join(folder, ("a.pt", "b.pt", f"new{i}.pt")[k % 3]))
    time.sleep(0.02 + random.random() * 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left |= {name for name in os.listdir(folder) if name.startswith(".")}
torch.save(value, os.path.join(folder, "last.pt"))
print(len(left))
"""

#: Stops in the middle of a save until it is told to go on.
SLOW = """
import sys, tinytorch as torch
class Slow:
    def __reduce__(self):
        return list, ()
from tinytorch import serialization
write = serialization._aligned
def waits(archive, name, data):
    write(archive, name, data)
    if name.endswith("data/0"):
        archive.fp.flush()
        print("half", flush=True)
        sys.stdin.readline()
serialization._aligned = waits
torch.save(torch.arange(1000), sys.argv[1])
"""


def hidden(folder):
    return {path.name for path in folder.iterdir() if path.name.startswith(".")}


def left_behind(folder):
    """A file as a killed process leaves it."""
    path = folder / f".saving-{_whole_file._mark(folder)}-{os.urandom(6).hex()}"
    path.write_bytes(b"half")
    return path


def test_killed_at_any_time(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLS, tmp_path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3                # or no save was killed
    assert {path.name for path in tmp_path.iterdir()} <= {"a.pt", "b.pt", "last.pt", *[f"new{i}.pt" for i in range(30)]}
    for path in tmp_path.iterdir():
        ones, few = torch.load(path)
        assert few.tolist() == [0, 1, 2, 3, 4] and ones.sum() == 1 << 18


@contextlib.contextmanager
def saving(path):
    """A process that is in the middle of saving a file."""
    with subprocess.Popen([sys.executable, "-c", SLOW, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"half\n"
            yield process
        finally:
            process.kill()


def test_a_save_under_way_is_left_alone(tmp_path):
    dead = left_behind(tmp_path)
    with saving(tmp_path / "slow.pt") as process:
        [alive] = hidden(tmp_path)
        assert not dead.exists()
        torch.save(1, tmp_path / "other.pt")
        torch.save(1, tmp_path / "slow.pt")
        assert hidden(tmp_path) == {alive}
        process.communicate(b"\n", timeout=60)
        assert process.returncode == 0
    assert torch.equal(torch.load(tmp_path / "slow.pt"), torch.arange(1000)) and not hidden(tmp_path)


def test_killed_while_others_save(tmp_path):
    with saving(tmp_path / "a.pt") as first, saving(tmp_path / "b.pt") as second:
        names = hidden(tmp_path)
        assert len(names) == 2
        first.send_signal(signal.SIGKILL)
        first.wait(60)
        torch.save(1, tmp_path / "c.pt")
        assert len(hidden(tmp_path)) == 1 and hidden(tmp_path) < names
        second.communicate(b"\n", timeout=60)
    assert sorted(os.listdir(tmp_path)) == ["b.pt", "c.pt"]


def test_nothing_else_is_removed(tmp_path):
    """Files of other kernels and mounts, of earlier versions, of nearly that name; folders and links of that name."""
    boot, device = _whole_file._mark(tmp_path).split("-")
    other = "0" * 32
    names = [f".saving-{other}-{device}-0123456789ab", f".saving-{boot}-{int(device, 16) + 1:x}-0123456789ab",
             ".saving-1234-0123456789ab", ".saving-0123456789ab", f".saving-{boot}-{device}-0123456789AB",
             f".saving-{boot}-{device}-0123456789abc", f".saving-{boot}-{device}-0123456789ab.pt",
             f"a.saving-{boot}-{device}-0123456789ab"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / f".saving-{boot}-{device}-{'1' * 12}").mkdir()
    (tmp_path / "precious").write_bytes(b"1")
    (tmp_path / f".saving-{boot}-{device}-{'2' * 12}").symlink_to(tmp_path / "precious")
    before = {*tmp_path.iterdir()}
    dead = left_behind(tmp_path)
    torch.save(1, tmp_path / "model.pt")
    assert not dead.exists() and {*tmp_path.iterdir()} == before | {tmp_path / "model.pt"}
    assert (tmp_path / "precious").read_bytes() == b"1"


@pytest.mark.parametrize("function", ["open", "unlink", "listdir"])
def test_what_cannot_be_removed_is_no_error(tmp_path, monkeypatch, function):
    """Another user's files, in a folder that lets each remove his own."""
    dead, real = left_behind(tmp_path), getattr(os, function)

    def refuse(path, *args):
        if path in (str(dead), str(tmp_path)):
            raise PermissionError(errno.EPERM, "Operation not permitted", path)
        return real(path, *args)
    monkeypatch.setattr(os, function, refuse)
    torch.save([1], tmp_path / "model.pt")
    monkeypatch.undo()
    assert dead.exists() and torch.load(tmp_path / "model.pt") == [1]


def no_locks(file, how):
    raise OSError(errno.ENOLCK, "No locks available")


def found_by_another_save(file, how):
    """That one had the lock for a moment, between the creation of the file and its locking."""
    for path in os.scandir(found_by_another_save.folder):
        os.unlink(path)


@pytest.mark.parametrize("flock", [no_locks, found_by_another_save])
def test_a_file_that_could_not_be_locked_is_not_removed_either(tmp_path, monkeypatch, flock):
    """It has another name, as on systems without locks."""
    found_by_another_save.folder = tmp_path
    monkeypatch.setattr(_whole_file.fcntl, "flock", flock)
    with _whole_file.replacing(str(tmp_path / "model.pt")) as file:
        monkeypatch.undo()
        torch.save(2, tmp_path / "other.pt")
        assert len(hidden(tmp_path)) == 1 and _whole_file._boot() not in hidden(tmp_path).pop()
        file.write(b"whole")
    assert (tmp_path / "model.pt").read_bytes() == b"whole" and not hidden(tmp_path)


def test_without_locks(tmp_path, monkeypatch):
    dead = left_behind(tmp_path)
    monkeypatch.setattr(_whole_file, "fcntl", None)
    monkeypatch.setattr(_whole_file, "_boot", _whole_file._boot.__wrapped__)
    torch.save([1], tmp_path / "model.pt")
    assert dead.exists() and torch.load(tmp_path / "model.pt") == [1]
    monkeypatch.setattr(_whole_file, "_BOOT", str(tmp_path / "absent"))
    assert _whole_file._boot() == ""


def test_large_folders_are_not_listed_at_every_save(tmp_path, monkeypatch):
    listed, real = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: listed.append(folder) or real(folder))
    for _ in range(3):
        torch.save(1, tmp_path / "model.pt")
    assert len(listed) == 3
    for i in range(10 * _whole_file._FEW):
        (tmp_path / f"{i}.txt").touch()
    listed.clear()
    for _ in range(11):
        torch.save(1, tmp_path / "model.pt")
    dead = left_behind(tmp_path)
    assert len(listed) == 1
    torch.save(1, tmp_path / "model.pt")
    assert len(listed) == 2 and not dead.exists()
