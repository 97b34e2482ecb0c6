"""The programs of this folder give the same under tinytorch as under torch; those without their library skip."""
import sys

import pytest

from . import running


@pytest.mark.sweep
@pytest.mark.parametrize("name", running.PROGRAMS)
def test_library(name):
    if not running.installed(name):
        pytest.skip(f"{running.DISTRIBUTIONS.get(name, name)} is not installed")
    _, said = running.outcome(name, sys.executable)
    assert said == "equal"


def test_differences_are_seen():
    assert running.difference([1.0, 2.0], [1.0, 2.0]) == 0 == running.difference({"a": "x"}, {"a": "x"})
    assert running.difference([1.0, 2.0], [1.0, 2.1]) == pytest.approx(0.1 / 2.1)
    assert running.difference([[1.0]], [[1.0, 2.0]]) == running.difference("a", "b") == float("inf")
    assert running.difference([float("nan")], [1.0]) != running.difference([1.0], [1.0])


def test_messages_have_no_addresses():
    said = "RuntimeError: applying transform <monai.ScaleIntensity object at 0x7f95cd617910>"
    assert running.without_addresses(said) == "RuntimeError: applying transform <monai.ScaleIntensity object>"
    assert running.without_addresses("at 0 x") == "at 0 x"
