"""Programs that say `import torch`, run as they are: in a process of their own, which has no PyTorch to find."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tinytorch

ROOT = Path(tinytorch.__file__).parent.parent


def run(*arguments, cwd=ROOT, **options):
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=variables | {"OMP_NUM_THREADS": "1"},
                          capture_output=True, text=True, timeout=60, **options)


def printed(program, *arguments):
    """What a program prints that runs as `python -m tinytorch -c`."""
    done = run("-m", "tinytorch", "-c", program, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_modules_of_torch_are_those_of_tinytorch():
    """The same objects, whichever statement imports them, and nothing of theirs is changed."""
    out = printed("""
import importlib, sys, tinytorch
import torch
print("tinytorch.fft" in sys.modules, torch.special.__name__)
import torch, torch.nn as nn, torch.nn.functional as F, torch.optim.lr_scheduler, torch.fft, functorch
from torch.utils.data import DataLoader
from torch import Tensor
pairs = [(torch, tinytorch), (nn, tinytorch.nn), (F, tinytorch.nn.functional), (torch.fft, tinytorch.fft),
         (torch.optim.lr_scheduler, tinytorch.optim.lr_scheduler), (DataLoader, tinytorch.utils.data.DataLoader),
         (importlib.import_module("torch.special"), tinytorch.special), (functorch.vmap, tinytorch.vmap)]
print(all(a is b for a, b in pairs), nn.__spec__.name, nn.__package__, torch.__name__, type(torch.tensor).__name__)
""")
    assert out == ["False", "tinytorch.special", "True", "tinytorch.nn", "tinytorch.nn", "torch", "function"]


def test_missing_modules_are_named_and_can_be_asked_for():
    out = printed("""
import importlib, importlib.metadata, importlib.util
for name in "torch.tensor", "torch.nn.nothing", "torch.kernels.conv":
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(str(error).replace(" ", "_"), error.name)
print(importlib.util.find_spec("torch") is not None, importlib.util.find_spec("torch.nothing"),
      importlib.metadata.version("torch"))
""")
    assert out == ["tinytorch_has_no_module_torch.tensor:_see_docs/coverage.md", "torch.tensor",
                   "tinytorch_has_no_module_torch.nn.nothing:_see_docs/coverage.md", "torch.nn.nothing",
                   "tinytorch_has_no_module_torch.kernels:_see_docs/coverage.md", "torch.kernels",
                   "True", "None", tinytorch.__version__]


_POOL = """
import multiprocessing, subprocess, sys
import torch

class Net(torch.nn.Linear):
    pass

def forward(net):
    import torch
    return net(torch.ones(2)) * len(sys.argv)

if __name__ == "__main__":
    net = Net(2, 1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        [result] = pool.map(forward, [net])
    print(torch.equal(result, net(torch.ones(2)) * 3), __file__.endswith("program.py"), sys.argv[1:])
    child = "import torch.nn, tinytorch, importlib.metadata as m; print(torch is tinytorch, m.version('torch'))"
    print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, cwd="/", timeout=60).stdout)
    1 / 0
"""


def test_a_script_and_its_children(tmp_path):
    """Arguments, spawned processes and their pickles, subprocesses; a traceback begins with the script's own line."""
    (tmp_path / "program.py").write_text(_POOL)
    done = run("-m", "tinytorch", str(tmp_path / "program.py"), "a", "b")
    assert done.stdout.split() == ["True", "True", "['a',", "'b']", "True", tinytorch.__version__]
    assert done.returncode == 1 and done.stderr.splitlines()[1].strip().startswith(f'File "{tmp_path / "program.py"}"')
    assert "ZeroDivisionError" in done.stderr


def test_a_module_of_the_current_directory(tmp_path):
    (tmp_path / "tool.py").write_text("import sys, torch\nprint(torch.ones(1).item(), sys.argv[1:], __name__)")
    sources = f"import sys; sys.path.append({str(ROOT)!r}); import runpy; sys.argv = ['tinytorch', '-m', 'tool', 'x']; "
    done = run("-c", sources + "runpy.run_module('tinytorch', run_name='__main__')", cwd=tmp_path)
    assert done.stdout.split() == ["1.0", "['x']", "__main__"], done.stderr


@pytest.mark.parametrize("arguments, said", [(["-m"], "argument expected for -m"), (["no.py"], "can't open file"),
                                             (["-c", "a b"], "SyntaxError"), (["-c", "raise SystemExit(3)"], "")])
def test_bad_programs(arguments, said):
    done = run("-m", "tinytorch", *arguments)
    assert said in done.stderr and done.returncode == (3 if not said else 1)


def test_install_and_uninstall():
    """In a program, and after PyTorch was imported."""
    out = printed("""
import os, sys, types, tinytorch
from tinytorch.environment import finder
tinytorch.uninstall()
tinytorch.uninstall()
print("PYTHONPATH" in os.environ, tinytorch.__name__, "torch" in sys.modules, str(finder.DIRECTORY) in sys.path)
sys.modules["torch"] = types.ModuleType("torch")
try:
    tinytorch.install()
except RuntimeError as error:
    print(str(error).partition(" was")[0])
del sys.modules["torch"]
before = len(sys.meta_path)
tinytorch.install()
tinytorch.install()
import torch
print(torch is tinytorch, len(sys.meta_path) - before, str(finder.DIRECTORY) in sys.path)
""")
    assert out == ["False", "tinytorch", "False", "False", "PyTorch", "True", "2", "True"]


LIKENESS = """
import importlib, inspect, pickle, sys, typing, torch, torch.distributions, torch.utils.data
kinds = [type(torch.ones(2)), type(torch.float32), type(torch.Size([1])), type(torch.device("cpu")), torch.nn.Linear,
         torch.nn.Parameter, torch.optim.Adam, torch.optim.SGD, torch.distributions.Normal, torch.utils.data.DataLoader,
         torch.autograd.Function, torch.nn.Module, torch.finfo, type(torch.strided), type(torch.contiguous_format)]
print(*[kind.__module__ for kind in kinds], repr(kinds[0]), sep="\\n")
print(torch.relu.__module__, torch.nn.functional.relu.__module__, torch.nn.functional.mse_loss.__module__)
"""


def test_classes_say_torch_where_it_stands_in():
    """Also those of modules that are loaded later; their source is found, and pickles hold torch's names."""
    out = printed(LIKENESS)
    assert out == """torch torch torch torch torch.nn.modules.linear torch.nn.parameter torch.optim.adam torch.optim.sgd
        torch.distributions.normal torch.utils.data.dataloader torch.autograd.function torch.nn.modules.module torch
        torch torch <class 'torch.Tensor'> torch torch.nn.functional torch.nn.functional""".split()
    assert printed("""
import copy, inspect, pickle, torch
for x in (torch.nn.Linear(2, 3), torch.distributions.Normal(0., 1.), torch.optim.lr_scheduler.StepLR, torch.ones(2)):
    assert type(pickle.loads(pickle.dumps(x))) is type(x) is type(copy.deepcopy(x))
assert b"tinytorch" not in pickle.dumps(torch.nn.Linear(2, 3)), pickle.dumps(torch.nn.Linear(2, 3))
for x in (torch.float32, torch.fft.fft, torch.linalg.inv, torch.special.entr, torch.add, torch.nn.functional.linear):
    assert pickle.loads(pickle.dumps(x)) is x and b"tinytorch" not in pickle.dumps(x), x
for x in (torch.ones(2, 2).max(0), torch.linalg.qr(torch.eye(2)), torch.eye(2).to_sparse()):
    assert b"tinytorch" not in pickle.dumps(x) and type(pickle.loads(pickle.dumps(x))) is type(x), type(x)
    assert repr(type(x)).startswith("<class 'torch."), type(x)
graph, seen = [torch.nn.Linear(2, 2)(torch.ones(1, 2)).relu().sum().grad_fn], []
while graph:                                   # of functions that stand inside of a node too
    seen.append(type(graph[-1]).__module__)
    graph.extend(node for node, _ in graph.pop().next_functions if node is not None)
assert set(seen) == {"builtins", "torch.autograd.graph"} and len(seen) > 4, seen
from torch.quantization.observer import MinMaxObserver
assert MinMaxObserver is torch.ao.quantization.MinMaxObserver
assert "class Linear" in inspect.getsource(torch.nn.Linear)
import torch.nn.modules.linear
print(torch.nn.modules.linear.Linear is torch.nn.Linear)
""") == ["True"]


def test_a_module_is_loaded_once():
    """The import statement that is the first to name it gives the one that its own parts know."""
    assert printed("""
import sys
import torch.utils.data, torch.distributions.kl, torch.nn.modules.linear, torch.optim.lr_scheduler, torch.fft
for name, module in list(sys.modules.items()):
    if name.startswith("torch."):
        assert module is sys.modules[module.__name__], name
        where = torch
        for part in name.split(".")[1:]:
            where = getattr(where, part)
        assert where is module or not hasattr(where, "__file__"), name
print(torch.utils.data.DataLoader is torch.utils.data.dataloader.DataLoader)
""") == ["True"]


def test_classes_say_tinytorch_where_it_does_not():
    done = run("-c", "import tinytorch as torch\n" + LIKENESS.replace("torch, ", "tinytorch, ").replace(
        "import importlib, inspect, pickle, sys, typing, tinytorch, torch.distributions, torch.utils.data", ""))
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(("tinytorch", "<class 'tinytorch")) for line in done.stdout.split("\n")[:16])


def test_uninstalling_takes_the_names_back():
    assert printed("""
import sys, tinytorch
before = tinytorch.Tensor.__module__, tinytorch.nn.Linear.__module__, tinytorch.return_types.max.__module__
tinytorch.uninstall()
print(*[x.__module__ for x in (tinytorch.Tensor, tinytorch.nn.Linear, tinytorch.optim.Adam)])
print(before[2], tinytorch.return_types.max.__module__, tinytorch.return_types.min.__module__)
print([name for name in sys.modules if name.split(".")[0] == "torch"])
tinytorch.install()
print(tinytorch.Tensor.__module__, before[1])
""") == ["tinytorch.tensor", "tinytorch.nn.modules.linear", "tinytorch.optim.adam", "torch.return_types",
         "tinytorch.return_types", "tinytorch.return_types", "[]", "torch",
         "torch.nn.modules.linear"]


def test_what_is_asked_of_the_package():
    assert printed("""
import importlib.metadata, importlib.util, pkgutil, os, torch
print(importlib.metadata.version("torch").split("+")[0], torch.__version__.split("+")[0])
print(os.path.basename(torch.__file__), os.path.isdir(torch.__path__[0]))
print(importlib.util.find_spec("torch").origin == torch.__file__)
print("nn" in [module.name for module in pkgutil.iter_modules(torch.__path__)])
print(importlib.util.find_spec("torch.nn") is not None, torch.__spec__.name)
""") == ["2.13.0", "2.13.0", "__init__.py", "True", "True", "True", "True", "tinytorch"]


def test_classes_that_override_end_in_the_functions_of_what_stands_in():
    """Their `__torch_function__` gets functions that say torch's module, and calls Tensor's own with them."""
    out = printed("""
import torch

class Seen(torch.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__module__.partition(".")[0])
        return super().__torch_function__(func, types, args, kwargs or {})

s = torch.ones(2).as_subclass(Seen)
results = [torch.add(s, 1), s.to(torch.float64), torch.stack([s, s]), torch.nn.functional.gelu(s), s.view(2, 1),
           torch.einsum("a->", s), s.mean(), s.unsqueeze(0)]
print(*{type(result).__name__ for result in results}, len(Seen.calls) >= len(results), "torch" in Seen.calls)
""")
    assert out == ["Seen", "True", "True"]


def test_connections_are_known_to_whoever_imports_multiprocessing():
    """As `import torch` loads them; here not before they are asked for, whichever of the two is imported first."""
    for first, second in (("torch", "multiprocessing"), ("multiprocessing", "torch")):
        out = printed(f"""
import sys
import {first}
import {second}
import multiprocessing, tinytorch
print("multiprocessing.connection" in sys.modules, multiprocessing.connection.Connection.__name__)
print(hasattr(multiprocessing, "nothing"))
tinytorch.uninstall()
print("__getattr__" in vars(multiprocessing))
""")
        assert out == ["False", "Connection", "False", "False"]
