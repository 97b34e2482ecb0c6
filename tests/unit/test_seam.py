"""The seam: calls are shown while something can see them, and nothing in the process is rewritten for it."""
import ast
import subprocess
import sys
from pathlib import Path

import tinytorch as torch

PACKAGE = Path(torch.__file__).parent


def run(text):
    process = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return process.stdout


def test_nothing_is_rewritten_when_calls_are_seen():
    """Modules, the class Tensor and the cells of functions hold the same objects after every kind of watcher."""
    found = run("""
import sys, types
import tinytorch as torch
import tinytorch.func, tinytorch.profiler, tinytorch.sparse, tinytorch.amp, tinytorch.linalg, tinytorch.fft
import tinytorch.special, tinytorch.nn, tinytorch.optim, tinytorch.utils._device

def held():
    places = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("tinytorch") and hasattr(module, "__dict__"):
            for key, value in list(vars(module).items()):
                if callable(value):
                    places[name, key] = value
    for key, value in vars(torch.Tensor).items():
        places["Tensor", key] = value
    for (owner, key), value in list(places.items()):
        for i, cell in enumerate(type(value) is types.FunctionType and value.__closure__ or ()):
            content = contents(cell)
            if callable(content):
                places[owner, key, i] = content
    return places

def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:                         # it is empty
        return None

before = held()
kept = torch.mm, torch.zeros, torch.add
x = torch.ones(2, 2)
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
class Sub(torch.Tensor):
    pass
with Mode():
    kept[2](x, x)
with torch.autocast("cpu"):
    kept[0](x, x)
with torch.device("meta"):
    kept[1](2)
with torch.profiler.profile():
    x @ x
torch.vmap(lambda v: (v * v).sum())(x)
torch.func.jacrev(lambda v: v.exp())(x)
Sub([1.]) + 1
torch.eye(2).to_sparse() @ x
after = held()
changed = [place for place in before if after.get(place) is not before[place]]
print(len(before) > 5000, changed)
""")
    assert found == "True []\n"


def test_only_the_seam_writes_to_cells():
    writers = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if any([isinstance(target, ast.Attribute) and target.attr == "cell_contents" for target in targets]):
                writers.add(path.name)
    assert writers == {"seam.py", "world.py"}    # which fills the cells of copies that it makes (capture/lowered)


def test_the_seam_belongs_to_those_who_need_it():
    """It is up while any thread has a reason, and down when the last one has gone."""
    assert run("""
import threading
import tinytorch as torch
from tinytorch.seam import seam
begun, end = threading.Event(), threading.Event()
def other():
    with torch.autocast("cpu"):
        begun.set()
        end.wait()
thread = threading.Thread(target=other)
thread.start()
begun.wait()
print(seam.up)
with torch.overrides.BaseTorchFunctionMode():
    print((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)      # whose autocast it is not
print(seam.up)
end.set()
thread.join()
print(seam.up)
""").split() == ["True", "torch.float32", "True", "False"]


def test_functions_are_seen_whichever_way_they_came():
    """Functions that the package loads when torch.<name> is read: a layer may have brought them before."""
    assert run("""
import tinytorch as torch
from tinytorch.overrides import TorchFunctionMode, resolve_name
class Log(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(resolve_name(func))
        return func(*args, **(kwargs or {}))
layers, x = (torch.nn.GRU(1, 1), torch.nn.Conv1d(1, 1, 1), torch.nn.MaxPool1d(1)), torch.ones(1, 1, 1)
with Log():
    [layer(x) for layer in layers]
""").split()[-3:] == ["torch.gru", "torch.nn.functional.conv1d", "torch.nn.functional.max_pool1d"]


def test_it_stays_up_when_a_handler_enters_a_mode():
    """While a mode's handler runs, the mode is out of the list of modes, and another one may come and go."""
    assert run("""
import tinytorch as torch
from tinytorch.seam import seam
class Deep(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(func.__name__)
        with self, torch.device("meta"):
            pass
        return func(*args, **(kwargs or {}))
with Deep():
    torch.ones(1)
    torch.zeros(1)
print(seam.up)
""").split() == ["ones", "zeros", "False"]


def test_instances_of_a_class_that_overrides_are_counted_one_by_one():
    assert run("""
import tinytorch as torch
from tinytorch.seam import seam
class Sub(torch.Tensor):
    pass
a, b = Sub([1.]), torch.ones(1).as_subclass(Sub)
c = a + b
print(seam.up, type(c).__name__)
del a, b
print(seam.up)
del c
print(seam.up)
""").split() == ["True", "Sub", "True", "False"]
