"""What torch.save leaves when it does not come to its end: the file that was there before."""
import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

import tinytorch as torch
from tinytorch.checkpoint import whole_file as _whole_file

KILLED = """
import os, signal, sys, tinytorch as torch
from tinytorch import serialization
write = serialization._aligned
def half(archive, name, data):
    write(archive, name, data)
    archive.fp.flush()
    if name.endswith("data/0"):
        os.kill(os.getpid(), signal.SIGKILL)
serialization._aligned = half
torch.save(torch.zeros(1000), sys.argv[1])
"""


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.pt"
    torch.save(torch.arange(3), found)
    return found


def whole(path, *others):
    """Whether there is the earlier file, and nothing beside it."""
    return torch.load(path).tolist() == [0, 1, 2] and sorted(path.parent.iterdir()) == sorted([path, *others])


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()],
                         ids=["full disk", "interrupted"])
@pytest.mark.parametrize("zipped", [True, False])
def test_errors(path, error, zipped, monkeypatch):
    real = memoryview

    def refuse(data):
        if refuse.asked:
            raise error
        refuse.asked = True
        return real(data)
    refuse.asked = False
    from tinytorch import serialization
    from tinytorch.checkpoint import old_format as _old_format
    for module in serialization, _old_format:
        monkeypatch.setattr(module, "memoryview", refuse, raising=False)
    with pytest.raises(type(error)):
        torch.save([torch.zeros(1000), torch.zeros(10)], path, _use_new_zipfile_serialization=zipped)
    assert whole(path)


def test_what_cannot_be_pickled(path):
    with pytest.raises(Exception, match="pickle"):
        torch.save([torch.zeros(3), lambda: 1], path)
    assert whole(path)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed(path):
    done = subprocess.run([sys.executable, "-c", KILLED, path], timeout=60)
    left = [file for file in path.parent.iterdir() if file != path]
    assert done.returncode == -signal.SIGKILL and len(left) == 1 and left[0].name.startswith(".saving-")
    assert left[0].stat().st_size >= 4000 and whole(path, *left)
    torch.save(torch.arange(3), path)
    assert whole(path, *([] if _whole_file._boot() else left))


@pytest.mark.skipif(os.name != "posix", reason="links and rights of files")
def test_rights_and_links(path, tmp_path):
    path.chmod(0o640)
    link = tmp_path / "link.pt"
    link.symlink_to(path)
    torch.save(torch.ones(2), link)
    assert link.is_symlink() and torch.load(path).tolist() == [1, 1] and stat.S_IMODE(path.stat().st_mode) == 0o640
    torch.save(torch.zeros(2), os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    before = os.umask(0o027)
    try:
        torch.save(torch.ones(2), tmp_path / "new.pt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.pt").stat().st_mode) == 0o640


def test_no_place():
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save(1, os.path.join(os.devnull, "model.pt"))
