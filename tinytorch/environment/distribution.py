"""tinytorch as the distribution `torch` of a Python environment, in which every process can then `import torch`.

    python -m tinytorch.environment install | uninstall | status

It installs the few files of `_installed`, and RECORD, the list of files by which pip uninstalls a distribution.

Nothing else is touched: if any file is in the way that RECORD does not list with its digest, such as PyTorch, nothing
is written or removed. RECORD is the first file to be written and the last to be removed, and each file gets its name
when it is complete. So the files that are left after a killed `install` or `uninstall` are known to be tinytorch's, and
the next one completes the work.
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
#: The names of metadata: of distributions from tinytorch, of any version; then of any torch, whatever installed it.
_OURS = re.compile(r"torch-.+\+tinytorch\.dist-info")
_METADATA = re.compile(r"(torch|functorch)(-\d.*)?\.(dist-info|egg-info|egg|egg-link)|"
                       r"__editable__\.torch-\d.*\.pth|__editable___torch_\d.*_finder\.py", re.IGNORECASE)
_CONDA = re.compile(r"pytorch(-cpu|-gpu)?-[^-]+-[^-]+\.json")
_MODULE = re.compile(r"(torch|functorch)(\.[\w-]+)?\.(py|pyc|so|pyd)")
_PACKAGES = "torch", "functorch"
#: The name of a file while it is written, in the folder of the metadata.
_WRITING = "writing"


def _site():
    return Path(sysconfig.get_path("purelib"))


def _elsewhere():
    """The other folders with packages of this environment, or of the user, whose packages come before it."""
    found = [sysconfig.get_path("platlib"), *[path for path in site.getsitepackages()
                                              if Path(sys.prefix) in Path(path).parents]]
    if site.ENABLE_USER_SITE and sys.prefix == sys.base_prefix:
        found.append(site.getusersitepackages())
    return [Path(path) for path in dict.fromkeys(found) if os.path.realpath(path) != os.path.realpath(_site())]


# ------------------------------------------------------------------ existing files
def _names(folder):
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def _metadata():
    """tinytorch's folders of metadata: one or none, or several if other versions left theirs."""
    return [name for name in _names(_site()) if _OURS.fullmatch(name)]


def _recorded():
    """{path: digest and size} of the files that tinytorch has written or was going to write, from RECORD."""
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
    """{path: whether tinytorch wrote it} for all files in the folders to which tinytorch writes."""
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
    """Whether tinytorch wrote the file, or Python wrote it as the bytecode of such a file."""
    if (_site() / path).is_symlink():
        return False
    if path.parent.name == "__pycache__":
        return re.search(r"\.pyc(\.\d+)?$", path.name) is not None and (
            path.parent.parent / f"{path.name.partition('.')[0]}.py").as_posix() in recorded
    if path.name in ("RECORD", _WRITING) and path.parent.name in _metadata():
        return True
    digest = recorded.get(path.as_posix())     # files that are not in RECORD are not read
    return digest is not None and digest == _record((_site() / path).read_bytes())


def _others():
    """The files that are in the way: those in tinytorch's folders that it did not write, and signs of another torch."""
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
                           "Uninstall it with pip or conda, as it was installed, or remove these files, and try again")


# ------------------------------------------------------------------ installation and removal
def _contents():
    """{path: content} of the files to install, without RECORD; the metadata first."""
    found = {Path(METADATA) / "INSTALLER": b"tinytorch\n"}
    paths = [path.relative_to(DIRECTORY) for path in DIRECTORY.rglob("*")
             if path.is_file() and "__pycache__" not in path.parts]
    for path in sorted(paths, key=lambda path: (path.parts[0] != METADATA, path)):
        content = (DIRECTORY / path).read_bytes()
        found[path] = _with_home(content) if path.suffix == ".py" else content
    return found


def _with_home(content):
    """The file with the path of tinytorch in it, because a copy of it cannot find tinytorch by its own path."""
    there = repr(str(DIRECTORY.parents[2]))
    text = content.decode().replace("    from pathlib import Path as _Path\n", "")
    return text.replace("str(_Path(__file__).parents[4])", there).encode()


def _write(path, content):
    """Writes a file that is complete when it gets its name."""
    (_site() / path).parent.mkdir(exist_ok=True)
    writing = _site() / METADATA / _WRITING
    writing.write_bytes(content)
    os.replace(writing, _site() / path)


def _is_complete(contents, record):
    """Whether all files exist. If no other file is in the way, their contents are right."""
    there = _site() / METADATA / "RECORD"
    return there.is_file() and there.read_bytes() == record and all((_site() / path).is_file() for path in contents)


def _to_install():
    contents = _contents()
    lines = [f"{path.as_posix()},{_record(content)}\n" for path, content in contents.items()]
    return contents, "".join([*lines, f"{METADATA}/RECORD,,\n"]).encode()


def _remove():
    """Removes the files that tinytorch wrote, RECORD last, and folders that become empty."""
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
    with contextlib.suppress(OSError):         # the folder is not empty
        folder.rmdir()


def put_into_environment() -> str:
    """Installs a distribution named torch, of a few files, which imports tinytorch. RuntimeError if PyTorch is
    installed."""
    _refuse_others()
    contents, record = _to_install()
    if not _is_complete(contents, record):
        _remove()
        _write(Path(METADATA) / "RECORD", record)
        for path, content in contents.items():
            _write(path, content)
    return f"{_NAME} is installed in {_site()}"


def take_out_of_environment() -> str:
    """Removes the files that `put_into_environment` installed, and nothing else. RuntimeError if PyTorch is
    installed."""
    _refuse_others()
    if not _metadata():
        return f"no torch is installed in {_site()}"
    _remove()
    return f"{_NAME} is no longer in {_site()}"


def status() -> str:
    """One line that says what `import torch` imports in this environment."""
    others = _others()
    if others:
        return f"torch in {_site()} is PyTorch or a part of it: {_named(others)}"
    if not _metadata():
        return f"no torch is installed in {_site()}"
    if not _is_complete(*_to_install()):
        return f"{_NAME} in {_site()} is another version of tinytorch, or incomplete: install or uninstall it again"
    return f"{_NAME} in {_site()} is tinytorch"


def main(arguments: list[str]) -> int:
    """Runs `python -m tinytorch.environment`. Returns the exit status."""
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
