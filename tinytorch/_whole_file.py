"""Files that are whole at every moment: a new one takes the place of the old one when all of it is written."""
import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A binary file to write in a with statement. What `path` held stays until it ends, and stays if it ends early.

    The new file lies beside the old one meanwhile, as `.saving-...`, and that is what a process leaves that is killed.
    What is no ordinary file (a pipe, a device) is written to, and so is a file in a folder that takes no others.
    """
    path = os.path.realpath(path)
    file = _beside(path)
    if file is None:
        with open(path, "wb") as direct:
            yield direct
        return
    try:
        with file:
            yield file
            file.flush()
            if os.path.exists(path):           # or a crash of the system could leave neither
                os.fsync(file.fileno())
        os.replace(file.name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(file.name)
        raise


def _beside(path):
    """A new file in the folder of `path`, with the owner and the rights of what is there; None if that cannot be."""
    known = os.stat(path) if os.path.exists(path) else None
    if known is not None and (not os.path.isfile(path) or not os.access(path, os.W_OK)):
        return None
    name = os.path.join(os.path.dirname(path), f".saving-{os.getpid()}-{os.urandom(6).hex()}")
    try:
        file = open(name, "xb")
    except OSError:
        return None
    try:
        if known is not None and os.name == "posix":
            made = os.stat(name)
            if (made.st_uid, made.st_gid) != (known.st_uid, known.st_gid):
                os.chown(name, known.st_uid, known.st_gid)
            os.chmod(name, known.st_mode & 0o7777)
    except OSError:
        file.close()
        os.unlink(name)
        return None
    return file
