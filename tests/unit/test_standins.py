"""Examples in tinytorch/standins: pytest cannot import its files by their paths (standins/README.md)."""
import doctest
import importlib
from pathlib import Path

import pytest

import tinytorch

FOLDER = Path(tinytorch.__file__).parent / "standins"
FILES = sorted(path for path in FOLDER.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples(path):
    parts = [part for part in path.relative_to(FOLDER).with_suffix("").parts if part != "__init__"]
    module = importlib.import_module(".".join(["tinytorch", *parts]))
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert Path(module.__file__) == path and found.attempted and not found.failed


def test_there_are_examples():
    assert len(FILES) > 5
