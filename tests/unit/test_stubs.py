"""What editors and type checkers are told is what there is."""
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tinytorch
from tests import coverage_page, stubs, typed_program

_WRITE = """import json
from tests import coverage_page, stubs
made = {path: make() for path, make in stubs.STUBS.items()}        # before the page, for which all names are loaded
print(json.dumps({"page": coverage_page.page(), **made}))
"""


@pytest.fixture(scope="module")
def written():
    """What is written in a process where nobody has overridden a function."""
    process = subprocess.run([sys.executable, "-c", _WRITE], cwd=coverage_page.PATH.parent.parent, check=True,
                             capture_output=True, text=True)
    return json.loads(process.stdout)


@pytest.mark.parametrize("path", stubs.STUBS)
def test_stubs_are_current(path, written):
    """Otherwise: python -m tests.stubs"""
    assert (Path(tinytorch.__file__).parent / path).read_text(encoding="utf-8") == written[path], (
        "public signatures have changed: run `python -m tests.stubs`")


def test_the_page_of_functions_is_current(written):
    """Otherwise: python -m tests.coverage_page"""
    assert coverage_page.PATH.read_text(encoding="utf-8") == written["page"], (
        "public functions or torch's names have changed: run `python -m tests.coverage_page`")


def test_the_typed_program_runs():
    first, last = typed_program.train()
    assert last < first


def test_the_marker_for_type_checkers_is_there():
    assert (Path(tinytorch.__file__).parent / "py.typed").exists()
