"""tinytorch as the distribution `torch` of an environment of Python: every process in it may say `import torch`.

    python -m tinytorch.environment install | uninstall | status

What is installed are the few files of `_installed`, with the list of them (RECORD) that pip wants to uninstall them.

Nothing else is touched: where anything lies that RECORD does not list with its digest, PyTorch above all, nothing is
written or removed. RECORD is the first file to be written and the last to be removed, and each file takes its place
when it is whole: what is left when this is killed is known as tinytorch's, and the next `install` or `uninstall` mends
it.
"""
from __future__ import annotations

import contextlib
import hashlib
import os
import re
import site
import sys
import sysconfig
from base64 import urlsafe_b64encode
from pathlib import Path

from .finder import DIRECTORY, METADATA

_NAME = METADATA.removesuffix(".dist-info").replace("-", " ")
#: Distributions of torch, also of other versions of tinytorch; their metadata, whatever installed them.
_OURS = re.compile(r"torch-.+\+tinytorch\.dist-info")
_METADATA = re.compile(r"(torch|functorch)(-\d.*)?\.(dist-info|egg-info|egg|egg-link)|"
                       r"__editable__\.torch-\d.*\.pth|__editable___torch_\d.*_finder\.py", re.IGNORECASE)
_CONDA = re.compile(r"pytorch(-cpu|-gpu)?-[^-]+-[^-]+\.json")
_MODULE = re.compile(r"(torch|functorch)(\.[\w-]+)?\.(py|pyc|so|pyd)")
_PACKAGES = "torch", "functorch"
#: A file while it is written, in the folder of the metadata.
_WRITING = "writing"


def _site():
    return Path(sysconfig.get_path("purelib"))


def _elsewhere():
    """The other folders in which this environment has packages, or a user who comes before it."""
    found = [sysconfig.get_path("platlib"), *[path for path in site.getsitepackages()
                                              if Path(sys.prefix) in Path(path).parents]]
    if site.ENABLE_USER_SITE and sys.prefix == sys.base_prefix:
        found.append(site.getusersitepackages())
    return [Path(path) for path in dict.fromkeys(found) if os.path.realpath(path) != os.path.realpath(_site())]


# ------------------------------------------------------------------ what is there
def _names(folder):
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def _metadata():
    """The folders of metadata that are tinytorch's: none or one, or another version's too."""
    return [name for name in _names(_site()) if _OURS.fullmatch(name)]


def _recorded():
    """{path: digest and size} of what tinytorch has written or was going to write, as RECORD lists it."""
    found = {}
    for name in _metadata():
        record = _site() / name / "RECORD"
        for line in record.read_text(encoding="utf-8").splitlines() if record.is_file() else ():
            path, _, digest = line.partition(",")
            found[path] = digest
    return found


def _record(content):
    digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(content)}"


def _there():
    """{path: whether tinytorch wrote it} of all files where tinytorch writes."""
    recorded, found = _recorded(), {}
    for name in (*_PACKAGES, *_metadata()):
        if (_site() / name).is_symlink() or (_site() / name).is_file():
            found[Path(name)] = False
            continue
        for folder, folders, files in os.walk(_site() / name, onerror=_unreadable):
            inside = Path(folder).relative_to(_site())
            links = [name for name in folders if (_site() / inside / name).is_symlink()]
            found.update({inside / name: _is_ours(inside / name, recorded) for name in files + links})
    return found


def _unreadable(error):
    if not isinstance(error, FileNotFoundError):
        raise error


def _is_ours(path, recorded):
    """Whether tinytorch wrote the file; Python did, if it is the bytecode of one that tinytorch wrote."""
    if (_site() / path).is_symlink():
        return False
    if path.parent.name == "__pycache__":
        return re.search(r"\.pyc(\.\d+)?$", path.name) is not None and (
            path.parent.parent / f"{path.name.partition('.')[0]}.py").as_posix() in recorded
    if path.name in ("RECORD", _WRITING) and path.parent.name in _metadata():
        return True
    digest = recorded.get(path.as_posix())     # a whole PyTorch need not be read
    return digest is not None and digest == _record((_site() / path).read_bytes())


def _others():
    """What is in the way: files that tinytorch did not write where it writes, and signs of another torch."""
    found = [_site() / name for name in _names(_site())
             if (_METADATA.fullmatch(name) or _MODULE.fullmatch(name)) and not _OURS.fullmatch(name)]
    for folder in _elsewhere():
        found += [folder / name for name in _names(folder)
                  if _METADATA.fullmatch(name) or _MODULE.fullmatch(name) or name in _PACKAGES]
    conda = Path(sys.prefix) / "conda-meta"
    found += [conda / name for name in _names(conda) if _CONDA.fullmatch(name)]
    return found + [_site() / path for path, ours in _there().items() if not ours]


def _named(paths):
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return ", ".join(map(str, paths[:5])) + more


def _refuse_others():
    others = _others()
    if others:
        raise RuntimeError(f"PyTorch or a part of it is installed, and it is left as it is: {_named(others)}. "
                           "Uninstall it by what installed it (pip, conda), or remove what is named, and try again")


# ------------------------------------------------------------------ what is put there and taken away
def _contents():
    """{path: content} of what is installed, without RECORD; the metadata first."""
    found = {Path(METADATA) / "INSTALLER": b"tinytorch\n"}
    paths = [path.relative_to(DIRECTORY) for path in DIRECTORY.rglob("*")
             if path.is_file() and "__pycache__" not in path.parts]
    for path in sorted(paths, key=lambda path: (path.parts[0] != METADATA, path)):
        content = (DIRECTORY / path).read_bytes()
        found[path] = _with_home(content) if path.suffix == ".py" else content
    return found


def _with_home(content):
    """A copy of the package is not where it can find tinytorch by its own path."""
    there = repr(str(DIRECTORY.parents[2]))
    text = content.decode().replace("    from pathlib import Path as _Path\n", "")
    return text.replace("str(_Path(__file__).parents[4])", there).encode()


def _write(path, content):
    """A file that is whole when it has its name."""
    (_site() / path).parent.mkdir(exist_ok=True)
    writing = _site() / METADATA / _WRITING
    writing.write_bytes(content)
    os.replace(writing, _site() / path)


def _is_complete(contents, record):
    """Whether all is there. What is there is right, if nothing is in the way."""
    there = _site() / METADATA / "RECORD"
    return there.is_file() and there.read_bytes() == record and all((_site() / path).is_file() for path in contents)


def _to_install():
    contents = _contents()
    lines = [f"{path.as_posix()},{_record(content)}\n" for path, content in contents.items()]
    return contents, "".join([*lines, f"{METADATA}/RECORD,,\n"]).encode()


def _remove():
    """Removes the files that tinytorch wrote, RECORD last, and folders that are empty then."""
    last = [Path(name) / "RECORD" for name in _metadata()]
    for path, ours in _there().items():
        if ours and path not in last:
            (_site() / path).unlink()
    for name in _PACKAGES:
        _remove_empty(_site() / name / "__pycache__")
        _remove_empty(_site() / name)
    for path in last:
        (_site() / path).unlink(missing_ok=True)
        _remove_empty(_site() / path.parent)


def _remove_empty(folder):
    with contextlib.suppress(OSError):         # there is something in it
        folder.rmdir()


def put_into_environment() -> str:
    """Installs a distribution named torch, of a few files, which gives tinytorch. RuntimeError where PyTorch is."""
    _refuse_others()
    contents, record = _to_install()
    if not _is_complete(contents, record):
        _remove()
        _write(Path(METADATA) / "RECORD", record)
        for path, content in contents.items():
            _write(path, content)
    return f"{_NAME} is installed in {_site()}"


def take_out_of_environment() -> str:
    """Removes what `put_into_environment` installed, and nothing else. RuntimeError where PyTorch is, too."""
    _refuse_others()
    if not _metadata():
        return f"no torch is installed in {_site()}"
    _remove()
    return f"{_NAME} is no longer in {_site()}"


def status() -> str:
    """What `import torch` gives in this environment, in a line."""
    others = _others()
    if others:
        return f"torch in {_site()} is PyTorch, or in part: {_named(others)}"
    if not _metadata():
        return f"no torch is installed in {_site()}"
    if not _is_complete(*_to_install()):
        return f"{_NAME} in {_site()} is another version of tinytorch, or incomplete: install or uninstall it once more"
    return f"{_NAME} in {_site()} is tinytorch"


def main(arguments: list[str]) -> int:
    """`python -m tinytorch.environment`: the exit status."""
    commands = {"install": put_into_environment, "uninstall": take_out_of_environment, "status": status}
    if len(arguments) != 1 or arguments[0] not in commands:
        print("usage: python -m tinytorch.environment install | uninstall | status", file=sys.stderr)
        return 2
    try:
        print(commands[arguments[0]]())
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
