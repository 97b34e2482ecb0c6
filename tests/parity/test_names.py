"""The list of torch's names, from which docs/coverage.md is written, is that of the installed torch."""
from tests import torch_names


def test_the_list_of_names_is_current():
    """Otherwise: python -m tests.torch_names && python -m tests.coverage_page"""
    written, now = torch_names.PATH.read_text(encoding="utf-8"), torch_names.text()
    assert len(now.splitlines()) > 2000
    assert set(written.splitlines()) ^ set(now.splitlines()) == set()
