"""What `import tinytorch` loads, and what it leaves to be made when it is first asked for."""
import importlib
import pickle
import subprocess
import sys
import threading
from types import ModuleType

import pytest

import tinytorch
from tinytorch import return_types
from tinytorch.autograd.node import Op
from tinytorch.kernels.later import Later

#: Modules of the standard library that are loaded beside NumPy's and `inspect`, which most versions of NumPy load.
BESIDE = {"__future__", "_heapq", "atexit", "copy", "gc", "heapq", "threading", "zlib"}
#: How many modules of the package each statement runs. One more costs each program a third of a millisecond, and three
#: where there is no bytecode: those whose functions few programs use are named in `_OF` of the package, which loads
#: them when they are asked for, and kernels by `kernels/later.py`.
MODULES = {"import tinytorch": 170, "import tinytorch.nn": 268, "import tinytorch.optim": 191,
           "import tinytorch.utils.data": 184}


def _run(program):
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_modules_of_the_standard_library_that_are_loaded():
    loaded = _run("import sys, numpy, inspect; before = set(sys.modules); import tinytorch\n"
                  "print(*[m for m in sys.modules if m not in before and m in sys.stdlib_module_names])")
    assert set(loaded.split()) <= BESIDE


@pytest.mark.parametrize("statement", MODULES)
def test_how_many_modules_are_loaded(statement):
    count = _run(f"{statement}; import sys; print(len([name for name, module in sys.modules.items()\n"
                 "if name.partition('.')[0] == 'tinytorch' and type(module).__name__ != 'Later']))")
    assert int(count) <= MODULES[statement]


def test_parts_that_are_loaded_later_have_no_names_that_nobody_finds():
    for part in {part for part in tinytorch._OF.values() if part.startswith("ops.")}:
        names = getattr(importlib.import_module(f"tinytorch.{part}"), "__all__", ())
        assert not [name for name in names if not hasattr(tinytorch, name)], part


# ------------------------------------------------------------------ modules that run later
@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of which slow and broken run later."""
    (tmp_path / "waiting").mkdir()
    (tmp_path / "waiting" / "__init__.py").write_text("""
from tinytorch.kernels.later import namespace
__getattr__ = namespace(__name__, "slow broken")
""")
    (tmp_path / "waiting" / "slow.py").write_text("""
import sys, time
runs = getattr(sys, "_runs", 0) + 1
sys._runs = runs
time.sleep(.1)
from . import slow
own = slow.runs
def answer():
    return 42
""")
    (tmp_path / "waiting" / "broken.py").write_text("import sys\nif sys._broken: raise ValueError('not yet')\nx = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("waiting")
    for name in [name for name in sys.modules if name.partition(".")[0] == "waiting"]:
        del sys.modules[name]
    for name in "_runs", "_broken":
        if hasattr(sys, name):
            delattr(sys, name)


def test_a_module_runs_once_when_it_is_asked_for_something(package):
    slow = package.slow
    assert not hasattr(sys, "_runs") and type(slow) is Later and sys.modules["waiting.slow"] is slow
    found = []
    threads = [threading.Thread(target=lambda: found.append(slow.answer())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [42] * 4 and sys._runs == 1
    assert type(slow) is ModuleType and slow.own == 1 and slow.__spec__.name == "waiting.slow"
    assert slow.__file__.endswith("slow.py")


@pytest.mark.parametrize("statement", ["from waiting.slow import answer", "from waiting.slow import *",
                                       "import waiting.slow as it; answer = it.answer"])
@pytest.mark.parametrize("asked", [True, False])
def test_ways_to_import_a_module_that_runs_later(package, statement, asked):
    before = package.slow if asked else None
    scope = {}
    exec(statement, scope)
    assert scope["answer"]() == 42 and sys._runs == 1
    assert before in (None, sys.modules["waiting.slow"]) and package.slow.answer is scope["answer"]


def test_a_module_that_could_not_run_is_tried_again(package):
    sys._broken = True
    for _ in range(2):
        with pytest.raises(ValueError, match="not yet"):
            package.broken.x
    sys._broken = False
    assert package.broken.x == 1
    with pytest.raises(AttributeError, match="nothing"):
        package.nothing


def test_what_is_set_in_a_module_stays(package, monkeypatch):
    monkeypatch.setattr(package.slow, "answer", lambda: 43)
    assert package.slow.answer() == 43 and sys._runs == 1


def test_what_was_loaded_is_old_to_the_collector():
    """A collection of young objects looks at none of it, and what others have frozen stays so."""
    assert _run("import gc, numpy; gc.collect(); done = lambda: [s['collections'] for s in gc.get_stats()]\n"
                "before = done(); import tinytorch; lists = [[] for _ in range(100)]\n"
                "print(gc.isenabled(), done() == before, gc.get_freeze_count() < 1000)") == "True True True\n"
    assert _run("import gc, numpy; gc.freeze(); n = gc.get_freeze_count(); import tinytorch\n"
                "print(n > 1000, gc.get_freeze_count() == n)") == "True True\n"


def test_an_operation_writes_nothing_into_the_class_of_operations():
    """Python would forget where it found the attributes of all of them."""
    before, made = dict(vars(Op)), Op.made[0]
    o = Op(lambda x: x, rules={"x": lambda g: g})
    assert dict(vars(Op)) == before and Op.made == [made + 1] and o.rules.keys() == {"x"}


def test_classes_of_results_are_made_when_first_asked_for():
    assert _run("import tinytorch as t; print('geqrf' in vars(t.return_types), 'geqrf' in dir(t.return_types),\n"
                "t.return_types.geqrf is t.return_types.geqrf, 'geqrf' in vars(t.return_types))"
                ) == "False True True True\n"
    pair = return_types.geqrf(1, 2)
    assert pickle.loads(pickle.dumps(pair)) == pair == (1, 2) and pair.tau == 2 and type(pair).__name__ == "geqrf"
    with pytest.raises(AttributeError, match="tinytorch has no torch.return_types.nothing: see docs/coverage.md"):
        return_types.nothing
