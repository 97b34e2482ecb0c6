# ruff: noqa: UP006, UP035 (what scripts are written in)
"""torch.jit.script: the same programs compiled here and there compute the same, and each runs the other's archives."""
import importlib.util
import io
import linecache
from typing import Dict, List

import numpy as np
import pytest
import torch

import tinytorch
from tests.parity import scripts as theirs

pytestmark = [pytest.mark.any_kernels, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """scripts.py with tinytorch as torch."""
    path = tmp_path_factory.mktemp("scripts") / "scripts_here.py"
    with open(theirs.__file__, encoding="utf-8") as file:
        text = file.read().replace("import torch\n", "import tinytorch as torch\n").replace(
            "from torch", "from tinytorch")
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("scripts_here", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(t, make):
    rng = np.random.default_rng(0)
    return make(lambda *s: t.from_numpy(rng.standard_normal(s).astype(np.float32)),
                lambda *s: t.from_numpy(rng.integers(0, 10, s)))


def plain(x):
    if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
        return x.detach().numpy()
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return {key: plain(y) for key, y in x.items()} if isinstance(x, dict) else x


def near(a, b, where=""):
    if isinstance(a, np.ndarray):
        assert a.shape == b.shape and a.dtype == b.dtype, where
        np.testing.assert_allclose(a, b, 2e-5, 2e-5, err_msg=where)
    elif isinstance(a, (list, dict)):
        assert len(a) == len(b) and type(a) is type(b), where
        if isinstance(a, dict):
            assert list(a) == list(b), where
        for key in a if isinstance(a, dict) else range(len(a)):
            near(a[key], b[key], f"{where}[{key!r}]")
    else:
        assert type(a) is type(b) and (a == b or a == pytest.approx(b, 1e-6, 1e-6)), (where, a, b)


@pytest.mark.parametrize("name", theirs.PROGRAMS)
def test_programs_both_ways(ours, name):
    results = []
    scripted = []
    for t, programs in ((torch, theirs), (tinytorch, ours)):
        make, inputs = programs.PROGRAMS[name]
        t.manual_seed(0)
        scripted.append((t, t.jit.script(make())))
    archives = [module.save_to_buffer() for _, module in scripted]
    for t, module in [*scripted, *[(t, t.jit.load(io.BytesIO(content))) for content in archives for t, _ in scripted]]:
        t.manual_seed(1)
        results.append(plain(module(*arguments(t, inputs))))
    for result in results[1:]:
        near(result, results[0])


@pytest.mark.parametrize("name", [name for name, (make, _) in theirs.PROGRAMS.items()
                                  if isinstance(make(), torch.nn.Module)])
def test_frozen_programs_run_there(ours, name):
    make, inputs = ours.PROGRAMS[name]
    there = torch.jit.script(theirs.PROGRAMS[name][0]().eval())
    for scripted in (tinytorch.jit.script(make().eval()), tinytorch.jit.load(io.BytesIO(there.save_to_buffer()))):
        expected = plain(scripted(*arguments(tinytorch, inputs)))
        frozen = tinytorch.jit.freeze(scripted)
        assert not list(frozen.parameters())
        near(plain(frozen(*arguments(tinytorch, inputs))), expected)
        back = torch.jit.load(io.BytesIO(frozen.save_to_buffer()))
        assert not list(back.parameters())
        near(plain(back(*arguments(torch, inputs))), expected)


def bodies(name, text, **names):
    """A function of that body, from a file, of either library."""
    found = []
    for t in (torch, tinytorch):
        scope = {"torch": t, "__name__": __name__, **names}
        lines = ["def function(x):", *["    " + line for line in text.split("\n")]]
        place = f"<{name} {t.__name__}>"
        linecache.cache[place] = (len(lines), None, [line + "\n" for line in lines], place)
        exec(compile("\n".join(lines), place, "exec"), scope)
        found.append((t, scope["function"]))
    return found


@pytest.mark.parametrize("text", [
    "try:\n    y = x\nexcept ValueError:\n    y = x\nreturn y", "def g(z):\n    return z\nreturn g(x)",
    "import os\nreturn x", "return {1, 2}", "return [y for y in [1, 2] if y > 1]", "yield x",
    "return [a + b for a in [1] for b in [2]]", "global G\nreturn G", "return x + G", "return unknown",
    "return f'{1.5:.2f}'", "x //= 2\nreturn x", "return (z := x)",
    "for i in range(3):\n    pass\nelse:\n    x = x\nreturn x", "class A:\n    pass\nreturn x", "return open('f')",
    "return eval('1')", "lambda: 1\nreturn x", "return {**{}}", "print(x, sep='')\nreturn x",
    "return torch.add(**x)", "return function(x)"])
def test_refused_in_torchs_words(text):
    told = []
    for t, function in bodies("refused", text, G=3):
        with pytest.raises(Exception) as error:
            t.jit.script(function)
        told.append((type(error.value).__name__, str(error.value).strip().split("\n")[0][:90]))
    assert told[0] == told[1]


def test_forty_programs_go_both_ways():
    """Those of test_programs_both_ways, and those that test_torchscript traces here and there."""
    from tests.parity.test_torchscript import NAMES
    told = {"mlp", "cnn", "residual", "lstm", "gru", "encoder", "decoder", "bag"}
    assert told <= set(NAMES) and {"LSTM", "GRU", "bag", "U-Net", "lists", "classes"} <= set(theirs.PROGRAMS)
    assert len(NAMES) + len(theirs.PROGRAMS) >= 40


def test_a_program_does_not_write_to_the_lists_of_its_caller():
    for t in (torch, tinytorch):
        names = {"a": 1, "b": 2}
        deleting = t.jit.script(deletes)
        assert deleting(names, [[1], [2]]) == 3 and names == {"a": 1, "b": 2}


def deletes(d: Dict[str, int], x: List[List[int]]) -> int:
    del d["a"]
    x[0].append(3)
    return len(d) + len(x[0])
