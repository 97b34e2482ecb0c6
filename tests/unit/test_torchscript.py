"""torch.jit: tracing, archives, and what is refused: archives that are damaged, or made to harm."""
import io
import os
import pickle
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.torch_function import modes
from tinytorch.jit.language import Machine, Refused

nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True))
        self.again = self.layers[0]
        self.table = torch.arange(4.)
        self.out = nn.Linear(8, 4, bias=False)

    def forward(self, x):
        return self.out(self.layers(x).flatten(1)) + self.table


def traced(model=None, inputs=None):
    torch.manual_seed(0)
    model = model or Net().eval()
    return model, torch.jit.trace(model, torch.randn(2, 1, 4, 4) if inputs is None else inputs)


def saved(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    return file.getvalue()


def loaded(content):
    return torch.jit.load(io.BytesIO(content))


def changed(content, **records):
    """An archive with other records; None leaves one out."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for info in old.infolist():
            name = info.filename.partition("/")[2]
            if name not in records:
                new.writestr(f"a/{name}", old.read(info))
        for name, data in records.items():
            if data is not None:
                new.writestr(f"a/{name}", data)
    return file.getvalue()


def program(body, arguments="x", constants=()):
    """A module whose `forward` is this text, as an archive."""
    code = ("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
            f"  def forward(self, {arguments}):\n" + "".join([f"    {line}\n" for line in body.split("\n")]))
    data = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\0\0\0training\x89ub."
    empty = saved(torch.jit.trace(torch.relu, torch.ones(1)))
    names = [name for name in zipfile.ZipFile(io.BytesIO(empty)).namelist() if "/code/" in name]
    return changed(empty, **{name.partition("/")[2]: None for name in names},
                   **{"code/__torch__.py": code.encode(), "data.pkl": data})


def run(body, *args, arguments="x"):
    return loaded(program(body, arguments))(*args)


# ------------------------------------------------------------------ what is traced
def test_a_traced_module_is_a_module_with_the_same_parameters():
    model, made = traced()
    assert isinstance(made, torch.jit.ScriptModule) and type(made).__name__ == "TopLevelTracedModule"
    assert list(made.state_dict()) == list(model.state_dict()) and made.out.weight is model.out.weight
    assert made.again is made.layers.get_submodule("0") and made.original_name == "Net"
    assert "torch.conv2d" in made.code and made.graph.find_nodes(op="placeholder")[0].name == "x"
    x = torch.randn(3, 1, 4, 4)
    assert torch.equal(made(x), model(x))
    with torch.no_grad():
        model.out.weight.mul_(2)
    assert torch.equal(made(x), model(x))
    made(x).sum().backward()
    assert model.out.weight.grad is not None
    made.load_state_dict({key: value * 0 for key, value in made.state_dict().items()})
    assert torch.equal(made(x), torch.arange(4.).expand(3, 4))
    assert made.double().out.weight.dtype is torch.float64


def test_round_trip_shares_what_was_shared():
    model, made = traced()
    again = loaded(saved(made))
    assert again.again is again.layers.get_submodule("0") and not again.training
    assert all([torch.equal(a, b) for a, b in zip(again.state_dict().values(), model.state_dict().values())])
    assert isinstance(again.out.weight, nn.Parameter) and again.out.weight.requires_grad
    x = torch.randn(2, 1, 4, 4)
    assert torch.equal(again(x), model(x)) and saved(again)
    copy = made.__deepcopy__({})
    copy.out.weight.data.zero_()
    assert not torch.equal(copy(x), made(x)) and copy.graph is made.graph
    with pytest.raises(NotImplementedError, match="no graph"):
        again.graph
    with pytest.raises(pickle.PickleError, match="ScriptModules cannot be"):
        pickle.dumps(made)


def test_recording_leaves_no_trace():
    torch.manual_seed(1)
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
    x = torch.randn(4, 2)
    with torch.random.fork_rng():
        expected = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout())
        expected(x)
        state = torch.get_rng_state()
    made = torch.jit.trace(model, x)
    assert torch.equal(model[0].running_mean, expected[0].running_mean) and int(model[0].num_batches_tracked) == 1
    assert torch.equal(torch.get_rng_state(), state) and not modes()
    torch.manual_seed(2)
    a = made(x)
    torch.manual_seed(2)
    assert torch.equal(a, model(x)) and int(made.get_submodule("0").num_batches_tracked) == 3
    assert torch.jit.is_tracing() is False
    told = []
    torch.jit.trace(lambda x: (told.append(torch.jit.is_tracing()), x + 1)[1], x, check_trace=False)
    assert told == [True]


def test_functions_sizes_and_the_sizes_that_are_baked_in():
    function = torch.jit.trace(lambda x: x.reshape(x.size(0) * 2, -1), torch.ones(2, 4))
    assert function(torch.ones(3, 6)).shape == (6, 3) and "def " in function.code and function.graph is not None
    with pytest.warns(torch.jit.TracerWarning, match="depends on the size"):
        torch.jit.trace(lambda x: torch.cat([row * i for i, row in enumerate(x)]), torch.ones(2, 3))
    with pytest.warns(torch.jit.TracerWarning, match="Python boolean"):
        torch.jit.trace(lambda x: x * 2 if x.shape[0] > 1 else x, torch.ones(2, 3))
    count = [0]

    def counted(x):
        count[0] += 1
        return x * count[0]
    with pytest.raises(torch.jit.TracingCheckError, match="Graphs differed"):
        torch.jit.trace(counted, torch.ones(1))
    assert torch.jit.trace(counted, torch.ones(1), check_trace=False)(torch.ones(1)).item() == 3


def test_what_cannot_be_traced_or_saved(tmp_path):
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad as a constant"):
        torch.jit.trace(lambda x: x * w, torch.ones(2))
    with pytest.raises(NotImplementedError, match="cannot be recorded"):
        torch.jit.trace(lambda x: torch.unique(x), torch.ones(2))
    with pytest.raises(ValueError, match="traced or read"):
        torch.jit.save(nn.Linear(1, 1), tmp_path / "m.pt")
    made = torch.jit.trace(lambda x: x + 1, torch.ones(1))
    with pytest.raises(OSError):
        made.save(tmp_path / "nowhere" / "m.pt")
    assert os.listdir(tmp_path) == []
    with pytest.warns(UserWarning, match="already a ScriptModule"):
        assert torch.jit.trace(made, torch.ones(1)) is made
    made.save(tmp_path / "m.pt")
    assert torch.jit.load(tmp_path / "m.pt")(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="TorchScript archives"):
        torch.load(tmp_path / "m.pt")
    torch.save({}, tmp_path / "w.pt")
    with pytest.raises(RuntimeError, match="not a TorchScript archive"):
        torch.jit.load(tmp_path / "w.pt")


def test_threads_run_one_module_each_with_steps_of_its_own(monkeypatch):
    _, made = traced()
    monkeypatch.setattr(Machine, "steps", 60)
    errors = []

    def work():
        try:
            for _ in range(20):
                made(torch.ones(1, 1, 4, 4))
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_nothing_of_it_is_loaded_until_it_is_used():
    names = subprocess.run([sys.executable, "-c", "import sys, tinytorch, tinytorch.jit; print(*sys.modules)"],
                           capture_output=True, text=True, check=True).stdout.split()
    assert "tinytorch.jit" in names and not [name for name in names if name.startswith((
        "tinytorch.capture", "tinytorch.fx", "tinytorch.jit."))]


# ------------------------------------------------------------------ the language
def test_programs():
    assert run("a = annotate(List[int], [])\nfor i in range(x):\n  _0 = torch.append(a, torch.mul(i, i))\nreturn a",
               4) == [0, 1, 4, 9]
    assert run("n = 0\nwhile torch.lt(n, x):\n  n = torch.add(n, 3)\nreturn (n, torch.format(\"{}!\", n))",
               7) == (9, "9!")
    assert run("d = {\"a\": 1}\ntorch._set_item(d, \"b\", x)\nreturn (torch.keys(d), d[\"b\"])", 2) == (["a", "b"], 2)
    assert run("if torch.__is__(x, None):\n  y = 1\nelse:\n  y = unchecked_cast(int, x)\nreturn y", None) == 1
    assert run("return torch.mul(x, x)", 1 << 40) == 0     # as in 64 bits
    assert run("return (torch.floordiv(x, 2), torch.remainder(-7, x), torch.div(x, 2))", 3) == (1, 2, 1.5)
    assert run("return isinstance(x, List[int])", [1, 2]) and not run("return isinstance(x, List[int])", [1.])
    assert run("a, b, = torch.split(x, 1)\nreturn torch.add(a, b, alpha=2)", torch.tensor([1, 2])).tolist() == [5]
    assert run("return torch.to(x, 7)", torch.ones(1)).dtype is torch.float64
    assert run("return torch.sum(x, [0], dtype=6)", torch.ones(2, dtype=torch.int64)).dtype is torch.float32


@pytest.mark.parametrize("body", [
    "ops.prim.RaiseException(\"bad\", \"builtins.ValueError\")\nreturn x", "assert torch.gt(0, 1), \"bad\"\nreturn x",
    "return [1][x]", "return {\"a\": 1}[\"b\"]", "return torch.div(1, 0)", "return torch.floordiv(1, 0)"])
def test_errors_of_programs(body):
    with pytest.raises(torch.jit.Error, match="failed in the TorchScript interpreter"):
        run(body, 5)


@pytest.mark.parametrize("body", [
    "return __import__(\"os\")", "return open(\"/etc/passwd\")", "return eval(\"1\")", "return x.__class__",
    "return (x).__class__", "return getattr(x, \"__class__\")", "return getattr(self, \"__dict__\")",
    "return self.forward", "return (self).state_dict()", "return (x).numpy()", "return os.system(\"x\")",
    "import os\nreturn x", "return [y for y in x if y]", "return (lambda: x)()", "return f\"{x}\"", "del x\nreturn x",
    "global y\nreturn x", "def f():\n  pass\nreturn x", "class A:\n  pass\nreturn x", "try:\n  pass\nfinally:\n  pass",
    "return torch.from_file(\"/etc/passwd\", None, 10)", "return torch.load(\"x\")", "return torch.set_(x, x)",
    "return torch.as_strided(x, [100], [1])", "return torch.hub", "return torch.classes.x()",
    "return ops.mine.thing(x)",
    "return ops.aten.from_file(\"x\")", "return ops.prim.PythonOp(x)", "return torch.Tensor.numpy(x)",
    "return CONSTANTS.c7", "return CONSTANTS.__class__", "return __torch__.os.system(\"x\")", "return y",
    "return x if y else x", "self.new = x\nreturn x", "self.__class__ = x\nreturn x", "x.data = x\nreturn x",
    "return torch.format(\"{0.__class__}\", x).__class__", "return (torch.add)", "return torch.add.__globals__",
    "with torch.jit.fork():\n  pass", "return annotate(int)", "return x[torch]", "return b\"x\"", "return ...",
    "yield x", "return (yield x)", "return *x,", "return torch.add(*x)", "return torch.add(**x)",
    "a: int = b\nreturn a",
    "return __torch__.M.__new__(__torch__.M)", "return {**x}", "return x and y", "return 1 < x < 2",
    "return 1 if isinstance(x, object) else 0", "nonlocal x", "raise x", "async def f(): pass", "return self.M",
    "return fork(x)", "return fork(self.forward)", "return fork(forward)",
    "def __forked_function(y):\n  return y\nreturn x",
    "@x\ndef __forked_function():\n  return x\nreturn x", "def __forked_function():\n  return y\nreturn fork("
    "__forked_function)", "def __forked_function():\n  return fork(__forked_function)\nreturn fork(__forked_function)"])
def test_what_is_not_in_the_language_is_refused(body):
    with pytest.raises(RuntimeError):          # Refused, or torch.jit.Error's own
        run(body, torch.ones(2))


@pytest.mark.parametrize("body", [
    "while True:\n  pass\nreturn x", "n = 1\nwhile True:\n  n = torch.mul(n, 3)\nreturn n",
    "for i in range(1000000000000):\n  pass\nreturn x", "return torch.list(range(1000000000000))",
    "return torch.sum(range(1000000000000))", "a = [0]\nwhile True:\n  a = torch.add(a, a)\nreturn a",
    "a = \"0\"\nwhile True:\n  a = torch.add(a, a)\nreturn a", "return torch.mul([0], 1000000000000)",
    "a = \"0\"\nwhile True:\n  a = torch.join(a, [a, a, a])\nreturn a", "return torch.zeros([100000, 100000, 100000])",
    "a = \"x\"\nwhile True:\n  a = torch.format(\"{}{}\", a, a)\nreturn a",
    "return torch.expand(x, [1000000000000, 2])",
    "a = (1, 2)\nfor i in range(100):\n  a = (a, a)\n"
    "b = (1, 2)\nfor i in range(100):\n  b = (b, b)\nreturn torch.eq(a, b)",
    "a = (1, 2)\nfor i in range(100):\n  a = (a, a)\nreturn torch.str(a)", "return (self).forward(x)",
    "return torch.rangelist(1)", "return ops.prim.rangelist(100000000000)"])
def test_steps_and_memory_are_bounded(body, monkeypatch):
    monkeypatch.setattr(Machine, "steps", 20_000)
    with pytest.raises(RuntimeError):
        run(body, torch.ones(2))


# ------------------------------------------------------------------ hostile and damaged archives
def test_truncated_and_damaged_archives():
    content = saved(traced()[1])
    errors = (RuntimeError, pickle.UnpicklingError, EOFError)
    for end in [*range(0, len(content), 97), len(content) - 1]:
        with pytest.raises(errors):
            loaded(content[:end])
    rng = np.random.default_rng(0)
    for _ in range(150):                       # a byte that is another: refused, or read as what it says
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= int(rng.integers(1, 256))
        try:
            loaded(bytes(damaged))
        except errors:
            pass


@pytest.mark.parametrize("data", [
    b"cos\nsystem\n(X\x02\0\0\0lstR.", b"\x80\x02cbuiltins\neval\n(X\x01\0\0\x001tR.",
    b"\x80\x02c__torch__\nNone_such\n)\x81}b.",
    b"\x80\x02c__torch__\nM\n)\x81}(X\x09\0\0\0__class__Nub.", b"\x80\x02c__torch__\nM\n)\x81N.", b"\x80\x02N.",
    b"", b".",
    b"\x80\x02c__torch__\nM\n)\x81X\x01\0\0\0ab.", b"\x80\x02c__torch__\nM\n(K\x01tR.", b"\x80\x02c__torch__\nM\n.",
    b"\x80\x02ctorch.jit._pickle\nbuild_intlist\n](X\x01\0\0\0ae\x85R.", b"\x80\x02ctorch.jit._pickle\nos\n)R.",
    b"\x80\x02c__torch__\nM\nK\x01R.", b"\x80\x02ctorch.jit._pickle\nbuild_intlist\nK\x01R.",
    b"\x80\x02c__torch__\nM\n)\x81}(X\x08\0\0\0trainingc__torch__\nM\nub.",
    b"\x80\x02c__torch__\nM\n)\x81}(X\x08\0\0\0training\x89ub}(X\x08\0\0\0training\x89ub.",
    b"\x80\x02" + b"(" * 5000 + b"t" * 5000 + b".", b"\x80\x02]r\0\0\0\0(j\0\0\0\0e."])
def test_hostile_pickles(data):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        loaded(changed(program("return x"), **{"data.pkl": data}))


@pytest.mark.parametrize("code", [
    b"import os\n", b"print(1)\n", b"x = 1\n", b"class M(object):\n  pass\n",
    b"class M(Module, metaclass=X):\n  pass\n",
    b"@property\nclass M(Module):\n  pass\n", b"class M(Module):\n  x = open('f')\n",
    b"class M(Module):\n  import os\n", b"class E(Enum):\n  A = []\n", b"class E(Enum):\n  A = __import__('os')\n",
    b"class E(Enum):\n  A, B = 1, 2\n",
    b"class M(Module):\n  x : Final[int] = __import__('os')\n", b"class M(Module):\n  __parameters__ = [f()]\n",
    b"\xff\xfe", b"def f(:\n", b"(" * 3000, b"x = " + b"-" * 100_000 + b"1",
    b"x = " + b"[" * 150 + b"]" * 150 + b"\n" + b"0",
    b"class M(Module):\n  def forward(self, *args):\n    return 1\n", b"\0",
    b"class M(Module):\n  def f(self, x=[y for y in z]):\n"
    b"    pass\n"])
def test_hostile_code(code):
    with pytest.raises(Refused):
        loaded(changed(program("return x"), **{"code/__torch__.py": code}))


def test_hostile_archives(monkeypatch):
    base = program("return x")
    for records in ({"constants.pkl": b"\x80\x02N."}, {"constants.pkl": None}, {"data.pkl": None},
                    {"constants.pkl": b"cos\nsystem\n."}, {"byteorder": b"middle"}):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            loaded(changed(base, **records))
    content = saved(traced()[1])
    for name in [n.partition("/")[2] for n in zipfile.ZipFile(io.BytesIO(content)).namelist()]:
        if name not in ("version", "byteorder"):
            with pytest.raises((RuntimeError, pickle.UnpicklingError)):
                loaded(changed(content, **{name: None}))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for info in zipfile.ZipFile(io.BytesIO(base)).infolist():
            new.writestr(info.filename, zipfile.ZipFile(io.BytesIO(base)).read(info))
        new.writestr("a/code/big.py", b"#" * (64 << 20))
    with pytest.raises(RuntimeError, match="expand|bytes of code"):
        loaded(bomb.getvalue())


def test_members_of_enumerations_are_those_of_the_class():
    code = (b"class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  c : __torch__.E\n"
            b"  def forward(self, x):\n    return torch.eq(self.c, __torch__.E.B), (self.c).value\n"
            b"class E(Enum):\n  A = 1\n  B = 2\n")

    def with_value(value):
        data = (b"\x80\x02c__torch__\nM\n)\x81}(X\x08\0\0\0training\x89X\x01\0\0\0cc__torch__\nE\n" + value + b"Rub.")
        return changed(program("return x"), **{"code/__torch__.py": code, "data.pkl": data})
    assert loaded(with_value(b"K\x02"))(torch.ones(1)) == (True, 2)
    assert loaded(with_value(b"K\x01"))(torch.ones(1)) == (False, 1)
    for value in (b"K\x03", b"X\x01\0\0\0A", b")", b"]", b"(K\x01K\x02t"):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            loaded(with_value(value))


def test_the_c_module_knows_of_a_trace():
    seen = []

    def function(x):
        seen.append(torch._C._is_tracing())
        return x + 1
    assert torch._C._is_tracing() is False
    torch.jit.trace(function, torch.ones(1), check_trace=False)
    assert set(seen) == {True}
