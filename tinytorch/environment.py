"""tinytorch as the distribution `torch` of an environment of Python: every process in it may say `import torch`.

    python -m tinytorch.environment install | uninstall | status

What is installed are the few files of `_installed`, with the list of them that pip wants to uninstall them.
"""
from __future__ import annotations

import hashlib
import shutil
import sys
import sysconfig
from base64 import urlsafe_b64encode
from importlib.metadata import DistributionFinder, MetadataPathFinder
from pathlib import Path

from .finder import DIRECTORY, METADATA


def _site():
    return Path(sysconfig.get_path("purelib"))


def _installed():
    """What is installed under the name of torch: (its version, whether it is this one), or None."""
    found = list(MetadataPathFinder.find_distributions(DistributionFinder.Context(name="torch", path=[str(_site())])))
    if not found and not (_site() / "torch").exists():
        return None
    version = found[0].version if found else "of an unknown version"
    return version, version == METADATA.removeprefix("torch-").removesuffix(".dist-info")


def _files():
    return sorted(path.relative_to(DIRECTORY) for path in DIRECTORY.rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts)


def _record(content):
    digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(content)}"


def put_into_environment() -> str:
    """Installs a distribution named torch, of a few files, which gives tinytorch. RuntimeError where PyTorch is."""
    found = _installed()
    if found and not found[1]:
        raise RuntimeError(f"PyTorch {found[0]} is installed in {_site()}: it is left as it is")
    lines = []
    for path in [*_files(), Path(METADATA) / "INSTALLER"]:
        content = b"tinytorch\n" if path.name == "INSTALLER" else (DIRECTORY / path).read_bytes()
        if path.suffix == ".py":
            content = _with_home(content)
        (_site() / path).parent.mkdir(exist_ok=True)
        (_site() / path).write_bytes(content)
        lines.append(f"{path.as_posix()},{_record(content)}\n")
    record = Path(METADATA) / "RECORD"
    (_site() / record).write_text("".join(lines) + f"{record.as_posix()},,\n", encoding="utf-8")
    return f"torch 2.13.0+tinytorch is installed in {_site()}"


def _with_home(content):
    """A copy of the package is not where it can find tinytorch by its own path."""
    there = repr(str(DIRECTORY.parents[1]))
    text = content.decode().replace("    from pathlib import Path as _Path\n", "")
    return text.replace("str(_Path(__file__).parents[3])", there).encode()


def take_out_of_environment() -> str:
    """Removes what `put_into_environment` installed, and nothing else."""
    found = _installed()
    if found is None:
        return f"no torch is installed in {_site()}"
    if not found[1]:
        raise RuntimeError(f"PyTorch {found[0]} is installed in {_site()}: it is left as it is")
    for name in ("torch", "functorch", METADATA):
        shutil.rmtree(_site() / name, ignore_errors=True)
    return f"torch 2.13.0+tinytorch is no longer in {_site()}"


def status() -> str:
    """What `import torch` gives in this environment, in a line."""
    found = _installed()
    if found is None:
        return f"no torch is installed in {_site()}"
    return f"torch {found[0]} in {_site()} is " + ("tinytorch" if found[1] else "PyTorch")


def main(arguments: list[str]) -> int:
    """`python -m tinytorch.environment`: the exit status."""
    commands = {"install": put_into_environment, "uninstall": take_out_of_environment, "status": status}
    if len(arguments) != 1 or arguments[0] not in commands:
        print("usage: python -m tinytorch.environment install | uninstall | status", file=sys.stderr)
        return 2
    try:
        print(commands[arguments[0]]())
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
