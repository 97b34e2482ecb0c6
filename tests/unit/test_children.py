"""Processes that a program starts in which tinytorch stands for torch: of its own interpreter, and of others."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tinytorch
from tinytorch.environment._children import sitecustomize

from .test_environment import made, put_pytorch, written

pytestmark = pytest.mark.skipif(os.name == "nt", reason="environments of links")
ROOT = Path(tinytorch.__file__).parent.parent
PLAIN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

#: All that could show a process that it was started by tinytorch.
EVERYTHING = """
import importlib.metadata as m, importlib.util, sys
def tried(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return repr(error)
import site
print(sys.path, sys.meta_path, sorted(sys.path_importer_cache), sorted(sys.modules), sep="\\n")
print(getattr(importlib.util.find_spec("torch"), "origin", None), [d.name for d in m.distributions()])
print(*[tried(importlib.import_module, name) for name in ("torch", "functorch", "tinytorch")])
print(tried(lambda: sys.modules["torch"].__version__), tried(m.version, "torch"))
"""


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Pythons of other environments: with PyTorch, without."""
    with_it, packages = made(tmp_path_factory.mktemp("with") / "venv", numpy=False)
    put_pytorch(packages)
    without, _ = made(tmp_path_factory.mktemp("without") / "venv", numpy=False)
    return {"with": with_it, "without": without}


def run(*command, **variables):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, env={**PLAIN, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


STARTS = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], cwd='/').returncode)"


def from_tinytorch(*command, **variables):
    """What a command prints, which a program under `python -m tinytorch` starts."""
    return run(sys.executable, "-m", "tinytorch", "-c", STARTS, *map(str, command), **variables)


def plainly(*command, **variables):
    return run(sys.executable, "-c", STARTS, *map(str, command), **variables)


@pytest.mark.parametrize("other", ["with", "without"])
@pytest.mark.parametrize("flags", [[], ["-S"], ["-s"]], ids=["", "no site", "no user site"])
def test_another_interpreter_is_as_it_would_be(others, other, flags):
    command = [others[other], "-B", *flags, "-c", EVERYTHING]
    told, expected = from_tinytorch(*command), plainly(*command)
    if "-S" in flags:                          # there the folder with nothing but sitecustomize stays on the path
        told, expected = ["".join(text.splitlines(True)[3:]) for text in (told, expected)]
    assert told == expected
    if "-S" not in flags:
        assert ("2.1.0+real" in told) is (other == "with") and ("No module named 'torch'" in told) is (other != "with")
    assert "No module named 'tinytorch'" in told


def test_children_of_the_same_interpreter(others):
    """Metadata, too, before anything is imported; also where another interpreter is between, and by another name."""
    program = ("import importlib.metadata as m, importlib.util as u; v = m.version('torch'); s = u.find_spec('torch');"
               "import tinytorch, torch; print(torch is tinytorch, v, s is not None, tinytorch.__file__)")
    expected = f"True {tinytorch.__version__} True {tinytorch.__file__}\n"
    assert from_tinytorch(sys.executable, "-c", program) == expected
    between = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
    assert from_tinytorch(others["with"], "-c", between, sys.executable, "-c", program) == expected
    assert from_tinytorch(sys.executable, "-c", between, sys.executable, "-c", program) == expected
    link = others["with"].parents[1] / "link"
    link.symlink_to(sys.prefix)
    if (link / "pyvenv.cfg").exists():
        assert from_tinytorch(link / "bin" / Path(sys.executable).name, "-c", program) == expected


def test_tests_and_examples_of_a_checkout_are_not_on_the_path_of_children():
    program = "import sys; print(sys.path)"
    assert str(ROOT) not in eval(from_tinytorch(sys.executable, "-S", "-c", program, PYTHONPATH=""))


@pytest.mark.parametrize("other", ["same", "with"])
def test_another_sitecustomize_runs_too(others, other, tmp_path):
    python = others.get(other, sys.executable)
    written(tmp_path / "sitecustomize.py", "print('customized')")
    program = "import sys, sitecustomize; print(sitecustomize.__file__); import torch; print(torch.__version__)"
    version = "2.1.0+real" if other == "with" else tinytorch.__version__
    assert from_tinytorch(python, "-B", "-c", program, PYTHONPATH=str(tmp_path)).split() == [
        "customized", "customized", str(tmp_path / "sitecustomize.py"), version]
    written(tmp_path / "sitecustomize.py", "raise RuntimeError('mine')")
    done = subprocess.run([sys.executable, "-B", "-m", "tinytorch", "-c", STARTS, python, "-B", "-c", "print(1)"],
                          cwd=ROOT, capture_output=True, text=True, timeout=60,
                          env={**PLAIN, "PYTHONPATH": str(tmp_path)})
    assert done.stderr.count("mine") == 2 and done.stdout == "1\n"


@pytest.mark.parametrize("version, flags", [((3, 99), ""), (sys.version_info[:2], "x")], ids=["version", "build"])
def test_another_version_in_the_same_environment(version, flags):
    """As /usr has several: told by a file that each can run."""
    source = Path(sitecustomize.__file__).read_text()
    program = f"""
import os, sys
sys.version_info, sys.abiflags = {version!r}, {flags!r}
sys.path[:] = [{sitecustomize.FOLDER!r}, {sitecustomize.OWN!r}, "/rest"]
scope = {{"__name__": "sitecustomize", "__file__": {sitecustomize.__file__!r}}}
sys.modules["sitecustomize"] = sys
try:
    exec(compile({source!r}, "sitecustomize", "exec"), scope)
except ImportError as error:
    print(error.name)
print(sys.path)
"""
    if flags == getattr(sys, "abiflags", ""):
        program = program.replace("sys.abiflags", "sys.flags_of_another")
    assert run(sys.executable, "-S", "-c", program) == "sitecustomize\n['/rest']\n"


STATE = """
import os, sys, tinytorch
from tinytorch.environment import finder
def state():
    return os.environ.get("PYTHONPATH"), list(sys.path), list(sys.meta_path), tinytorch.__name__
"""


def test_pythonpath_of_the_user_is_his():
    """What it was, entry for entry, also one that `install` would make, and what the program adds meanwhile."""
    program = STATE + """
folder, own = finder._entries()
for value in None, "", "/a", "/a:/b", "/a::/a:", own, folder, f"{folder}:/a:{own}", str(finder.DIRECTORY):
    os.environ.pop("PYTHONPATH", None)
    if value is not None:
        os.environ["PYTHONPATH"] = value
    before = state()
    tinytorch.uninstall()
    assert state() == before, value
    for times in 1, 2:
        tinytorch.install()
        tinytorch.install()
        assert {folder, own} <= {*os.environ["PYTHONPATH"].split(os.pathsep)}
        assert len(sys.meta_path) == len(before[2]) + 2
        tinytorch.uninstall()
        tinytorch.uninstall()
        assert state() == before, value
    tinytorch.install()
    os.environ["PYTHONPATH"] = "/new" + os.pathsep + os.environ["PYTHONPATH"]
    sys.path.append("/new")
    tinytorch.uninstall()
    assert os.environ["PYTHONPATH"] == os.pathsep.join(filter(None, ["/new", value])), value
    assert sys.path == [*before[1], "/new"]
    sys.path.pop()
    tinytorch.install()
    os.environ["PYTHONPATH"] = "/other"
    tinytorch.uninstall()
    assert os.environ["PYTHONPATH"] == "/other"
"""
    run(sys.executable, "-c", program)


def test_entries_of_sys_path_that_are_the_users_stay():
    run(sys.executable, "-c", STATE + """
sys.path.append(str(finder.DIRECTORY))
before = state()
tinytorch.install()
tinytorch.uninstall()
assert state() == before
""")


def test_uninstall_in_a_child():
    """There torch is no longer tinytorch; what the parent has said of its other children holds."""
    program = STATE + """
import torch
assert torch is tinytorch and str(finder.DIRECTORY) in sys.path
pythonpath = os.environ["PYTHONPATH"]
tinytorch.install()
tinytorch.uninstall()
assert os.environ["PYTHONPATH"] == pythonpath and str(finder.DIRECTORY) not in sys.path
assert not [f for f in sys.meta_path if "tinytorch" in repr(vars(type(f))) and type(f).__module__ == "sitecustomize"]
sys.path[:] = [entry for entry in sys.path if not entry.endswith("-packages")]
try:
    import torch
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert from_tinytorch(sys.executable, "-c", program) == "torch\n"


@pytest.mark.parametrize("how", ["install", "uninstall"])
def test_interrupted_anywhere(how):
    """A KeyboardInterrupt before any line, from the 60th on before some: `install` and `uninstall` then do what they
    say."""
    run(sys.executable, "-c", STATE + f"""
def interrupted(function, line):
    left = [line]
    def trace(frame, event, argument):
        if frame.f_code.co_filename != finder.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
        return trace
    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)

os.environ["PYTHONPATH"] = "/a:/b"
empty = state()
tinytorch.install()
full = state()
for mend, wanted in (tinytorch.install, full), (tinytorch.uninstall, empty):
    line = 0
    while True:
        line += 1 + max(0, line - 60) // 10
        {"tinytorch.uninstall()" if how == "install" else "tinytorch.install()"}
        if not interrupted(tinytorch.{how}, line):
            break
        mend()
        assert state() == wanted, (line, state(), wanted)
    assert line > 10
""")
