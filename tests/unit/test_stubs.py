"""What editors and type checkers are told is what there is."""
from pathlib import Path

import pytest

import tinytorch
from tests import coverage_page, stubs, typed_program


@pytest.mark.parametrize("path", stubs.STUBS)
def test_stubs_are_current(path):
    """Otherwise: python -m tests.stubs"""
    assert (Path(tinytorch.__file__).parent / path).read_text(encoding="utf-8") == stubs.STUBS[path]()


def test_the_page_of_functions_is_current():
    """Otherwise: python -m tests.coverage_page"""
    assert coverage_page.PATH.read_text(encoding="utf-8") == coverage_page.page()


def test_the_typed_program_runs():
    first, last = typed_program.train()
    assert last < first


def test_the_marker_for_type_checkers_is_there():
    assert (Path(tinytorch.__file__).parent / "py.typed").exists()
