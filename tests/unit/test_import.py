"""What `import tinytorch` loads, and what it leaves to be made when it is first asked for."""
import importlib
import pickle
import subprocess
import sys

import pytest

import tinytorch
from tinytorch import return_types
from tinytorch.autograd.node import Op

#: Modules of the standard library that are loaded beside NumPy's and `inspect`, which most versions of NumPy load.
BESIDE = {"__future__", "_heapq", "atexit", "copy", "gc", "heapq", "threading", "zlib"}
#: How many modules of the package each statement loads. One more costs each program a third of a millisecond: those
#: whose functions few programs use are named in `_OF` of the package, which loads them when they are asked for.
MODULES = {"import tinytorch": 221, "import tinytorch.nn": 296, "import tinytorch.optim": 242,
           "import tinytorch.utils.data": 235}


def _run(program):
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_modules_of_the_standard_library_that_are_loaded():
    loaded = _run("import sys, numpy, inspect; before = set(sys.modules); import tinytorch\n"
                  "print(*[m for m in sys.modules if m not in before and m in sys.stdlib_module_names])")
    assert set(loaded.split()) <= BESIDE


@pytest.mark.parametrize("statement", MODULES)
def test_how_many_modules_are_loaded(statement):
    count = _run(f"{statement}; import sys; print(len([m for m in sys.modules if m.partition('.')[0] == 'tinytorch']))")
    assert int(count) <= MODULES[statement]


def test_parts_that_are_loaded_later_have_no_names_that_nobody_finds():
    for part in {part for part in tinytorch._OF.values() if part.startswith("ops.")}:
        names = getattr(importlib.import_module(f"tinytorch.{part}"), "__all__", ())
        assert not [name for name in names if not hasattr(tinytorch, name)], part


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
