"""The version stands in one place, and the changes are told of it."""
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_version_and_the_changes():
    version = re.search(r'^version = "([^"]+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+) \(", changes, re.M)[0] == version
