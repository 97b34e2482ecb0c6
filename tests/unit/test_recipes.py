"""docs/recipes.md: its patches, applied to a copy of the tree, and the tests that they bring, run there."""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import recipes
from tinytorch.kernels import native

ROOT = Path(__file__).parents[2]
SECTIONS = recipes.PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
KERNEL = next(text for text in SECTIONS if text.startswith("A kernel in C"))


@pytest.fixture
def tree(tmp_path):
    """A copy of the tree, with the libraries that are built."""
    for name in ("tinytorch", "tests", "pyproject.toml", "setup.py", "README.md"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns(
                "__pycache__", "parity", "libraries", "programs"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(tree, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1",
                   "TINYTORCH_NATIVE": "1" if native.level() is not None else "0"}
    environment = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


def run_tests(tree, paths):
    """Runs the tests and the examples in the files that the patches wrote, and the rules of the house."""
    own = [path for path in paths if path.endswith(".py") and ("tests/unit/" in path or ">>> " in (
        tree / path).read_text(encoding="utf-8"))]
    # The project's own options name pytest-benchmark's, which is not there where NumPy is alone.
    options = "addopts=--doctest-modules -m 'not sweep'"
    said = run(tree, "-m", "pytest", "--override-ini", options, "-p", "no:cacheprovider", "-p", "no:xdist", *own,
               "tests/unit/test_house.py", "tests/unit/test_every_optimiser.py")
    assert "no tests ran" not in said
    expressions = [Path(path).stem for path in paths if path.startswith("tinytorch/ops/")
                   and "import expression" in (tree / path).read_text(encoding="utf-8")]
    run(tree, "-m", "pytest", "--override-ini", options, "-p", "no:cacheprovider", "-p", "no:xdist",
        "tests/unit/test_expressions.py", "-k", " or ".join(expressions))
    if importlib.util.find_spec("ruff") is not None:
        run(tree, "-m", "ruff", "check", *[path for path in paths if path.endswith(".py")])


def test_the_patches_of_python(tree):
    paths = recipes.apply(tree, "\n## ".join(text for text in SECTIONS if text is not KERNEL))
    assert len(paths) > 15
    run_tests(tree, paths)


@pytest.mark.sweep                             # it compiles all kernels anew
@pytest.mark.skipif(native.level() is None, reason="no library of native kernels was built")
def test_all_patches(tree):
    paths = recipes.apply(tree)
    run(tree, "setup.py", "-q", "build_ext", "--inplace")
    run_tests(tree, [*paths, "tests/unit/test_native_threads.py"])


def test_a_patch_that_does_not_fit(tmp_path):
    (tmp_path / "a.py").write_text("one\ntwo\none\n")
    for text in ("```diff\n# a.py\n one\n+three\n```\n", "```diff\n# a.py\n four\n+three\n```\n",
                 "```diff\n# a.py\n+three\n```\n"):
        with pytest.raises(ValueError, match="a.py"):
            recipes.apply(tmp_path, text)
    assert recipes.apply(tmp_path, "```diff\n# a.py\n-two\n+three\n@@\n three\n+four\n```\n") == ["a.py"]
    assert (tmp_path / "a.py").read_text() == "one\nthree\nfour\none\n"
