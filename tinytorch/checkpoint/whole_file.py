"""Files that are complete at every moment: a new file replaces the old one when all of it is written.

A process that is killed while it writes leaves the new file. Its writer holds a lock on it (flock), which the kernel
releases when the process ends, in whatever way. So a file that can be locked has no writer any more, and the next save
into the folder removes it. Process ids would say less: they are used again, and each container counts its own. A file
without a name (O_TMPFILE) would leave nothing, but few file systems have it, and it needs a name for a moment before
it can replace another file.

Locks are only known to hold between processes of one kernel that reach the file through one mount. On network file
systems they may hold on each machine separately. So the file's name holds the id of the kernel's boot, which containers
share, and the device, and a save only looks at files with the same two.
"""
import contextlib
import functools
import os
import re
from collections.abc import Iterator
from typing import BinaryIO

try:
    import fcntl
except ImportError:                            # on Windows the files of killed processes stay
    fcntl = None

_BOOT = "/proc/sys/kernel/random/boot_id"
#: A folder with fewer entries is listed at every save. A folder with n times as many is listed at every n-th save, so
#: that listing takes no more time on average.
_FEW = 32
_unlisted = {}                                 # folder -> the number of next saves that do not list it


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A binary file to write in a with statement. The old contents of `path` stay until the statement ends, and stay if
    it ends with an error.

    The new file lies in the same folder meanwhile, as `.saving-...`. A path that is no ordinary file (a pipe, a device)
    is written to directly, and so is a file in a folder in which no file can be made.
    """
    path = os.path.realpath(path)
    made = _beside(path)
    if made is None:
        with open(path, "wb") as direct:
            yield direct
        return
    file, lock = made
    try:
        with lock:                             # until the file has its name; closing it may fail, so that comes first
            with file:
                yield file
                file.flush()
                if os.path.exists(path):       # otherwise a system crash could destroy both files
                    os.fsync(file.fileno())
            os.replace(file.name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(file.name)
        raise


def _beside(path):
    """(a new file in the folder of `path`, with the owner and mode of the old file; its lock), or None if there can be
    no such file."""
    known = os.stat(path) if os.path.exists(path) else None
    if known is not None and (not os.path.isfile(path) or not os.access(path, os.W_OK)):
        return None
    folder = os.path.dirname(path)
    try:
        mark = _mark(folder)
        if mark:
            _clear(folder, mark)
        file, lock = _locked(folder, mark) or _unlocked(folder)
    except OSError:
        return None
    try:
        if known is not None and os.name == "posix":
            made = os.stat(file.name)
            if (made.st_uid, made.st_gid) != (known.st_uid, known.st_gid):
                os.chown(file.name, known.st_uid, known.st_gid)
            os.chmod(file.name, known.st_mode & 0o7777)
    except OSError:
        with lock:
            file.close()
            os.unlink(file.name)
        return None
    return file, lock


def _locked(folder, mark):
    """(a new file, its lock). Later saves remove the file if this process is killed. None if there are no locks."""
    if not mark:
        return None
    file = open(_new_name(folder, f"{mark}-"), "xb")
    lock = open(os.dup(file.fileno()), "wb", buffering=0)      # one lock by two descriptors: held until both are closed
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(file.name)                     # fails if another save found it before it was locked
        return file, lock
    except OSError:
        with lock, file, contextlib.suppress(OSError):
            os.unlink(file.name)
        return None


def _unlocked(folder):
    """(a new file, an empty context in place of a lock). No other save removes a file of this name."""
    return open(_new_name(folder, ""), "xb"), contextlib.nullcontext()


def _new_name(folder, mark):
    return os.path.join(folder, f".saving-{mark}{os.urandom(6).hex()}")


# ------------------------------------------------------------------ files of killed processes
@functools.cache
def _boot():
    """The id of this boot of the kernel, 32 hexadecimal digits; empty if there is none, or if there are no locks."""
    try:
        with open(_BOOT) as file:
            found = file.read().strip().replace("-", "")
    except OSError:
        return ""
    return found if fcntl is not None and re.fullmatch("[0-9a-f]{32}", found) else ""


def _mark(folder):
    """The beginning of the names of locked files in the folder, after `.saving-`; empty if there are no locks."""
    return _boot() and f"{_boot()}-{os.stat(folder).st_dev:x}"


def _clear(folder, mark):
    """Remove the files of killed processes from the folder, if that is permitted."""
    if _unlisted.get(folder):
        _unlisted[folder] -= 1
        return
    try:
        names = os.listdir(folder)
    except OSError:                            # the folder may be writable and not readable
        return
    if len(names) >= _FEW:
        _unlisted[folder] = len(names) // _FEW
    else:
        _unlisted.pop(folder, None)
    ours = re.compile(f"[.]saving-{mark}-[0-9a-f]{{12}}")
    for name in names:
        if name.startswith(".saving-") and ours.fullmatch(name):
            with contextlib.suppress(OSError):             # another user's file, or removed meanwhile
                _remove_unless_locked(os.path.join(folder, name))


def _remove_unless_locked(name):
    descriptor = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name)
    finally:
        os.close(descriptor)
