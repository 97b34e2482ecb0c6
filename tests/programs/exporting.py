"""Lays out what a program needs to run: its repository's files at a commit, and data."""
import gzip
import os
import shutil
import subprocess
from pathlib import Path

from .notebooks import as_program

#: Files larger than this are left out: data that no program of the list reads.
LARGEST = 8 << 20


def git_directory(mirror, repository):
    """Where the copy of owner/name keeps its objects: MIRROR/owner+name/repo, bare or not."""
    place = Path(mirror) / repository.replace("/", "+") / "repo"
    return place / ".git" if (place / ".git").is_dir() else place


def _git(mirror, repository, *command, asked=""):
    """What git prints, as bytes; a blob that the copy lacks is not looked for elsewhere."""
    done = subprocess.run(["git", f"--git-dir={git_directory(mirror, repository)}", *command], input=asked.encode(),
                          capture_output=True, check=True, timeout=60, env=os.environ | {"GIT_NO_LAZY_FETCH": "1"})
    return done.stdout


def export(mirror, program, target):
    """Writes the repository's files at the program's commit below target."""
    listed = _git(mirror, program.repository, "ls-tree", "-r", "-z", "--full-tree", program.commit).decode()
    entries = [entry.partition("\t") for entry in listed.split("\0") if entry]
    blobs = [(head.split()[2], path) for head, _, path in entries if head.split()[1] == "blob"]
    asked = "".join([f"{blob}\n" for blob, _ in blobs])
    sizes = _git(mirror, program.repository, "cat-file", "--batch-check", asked=asked).decode().splitlines()
    wanted = [(blob, path) for (blob, path), line in zip(blobs, sizes)
              if not line.endswith("missing") and int(line.split()[2]) <= LARGEST]
    asked = "".join([f"{blob}\n" for blob, _ in wanted])
    content = _git(mirror, program.repository, "cat-file", "--batch", asked=asked)
    start = 0
    for _, path in wanted:
        end = content.index(b"\n", start)
        size = int(content[start:end].split()[2])
        place = Path(target) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content[end + 1:end + 1 + size])
        start = end + 2 + size
    if program.path.endswith(".ipynb"):
        script(program, target).write_text(as_program((Path(target) / program.path).read_text(encoding="utf-8")),
                                           encoding="utf-8")


def script(program, target):
    """The file that is run: the program's, or what is made of a notebook, beside it."""
    path = Path(target) / program.path
    return path.with_name(path.name + ".py") if path.suffix == ".ipynb" else path


def lay_out_data(data, program, target):
    """Puts the data that the program's row names where it reads them; data: the folder that holds all of them."""
    for entry in program.data.split():
        what, place = entry.split(":")
        place = Path(target) / program.runs_in / place
        if what == "MNIST":
            place = place / "MNIST" / "raw"
            place.mkdir(parents=True, exist_ok=True)
            for packed in (Path(data) / "mnist").glob("*.gz"):
                (place / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
                shutil.copy(packed, place)
        elif what == "folder":
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            source = Path(data) / what
            (shutil.copytree if source.is_dir() else shutil.copy)(source, place)
