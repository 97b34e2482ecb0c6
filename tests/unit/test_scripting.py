# ruff: noqa: UP006, UP035, UP045 (what scripts are written in)
"""torch.jit.script: what is compiled, what is shared with the module, and what is refused, by file and line."""
import io
import os
from typing import Dict, List, Optional

import pytest

import tinytorch as torch
from tinytorch.jit.frontend import NotSupportedError, UnsupportedNodeError

nn = torch.nn
SCALE = 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2)])
        self.register_buffer("seen", torch.zeros(1))
        self.calls = 0

    def forward(self, x, times: int = 1):
        for layer in self.layers:
            x = layer(x)
        self.seen += 1
        self.calls += times
        return x

    @torch.jit.export
    def doubled(self, x):
        return x * 2


def test_a_scripted_module_shares_parameters_and_buffers():
    model = Net()
    scripted = torch.jit.script(model)
    x = torch.randn(3, 2)
    expected = model(x)
    assert scripted(x, 4).equal(expected) and scripted.doubled(x).equal(x * 2)
    assert scripted.layers[0].weight is model.layers[0].weight and scripted.seen is model.seen
    assert (scripted.calls, model.calls, float(model.seen)) == (4, 1, 2.)
    assert list(scripted.state_dict()) == list(model.state_dict()) and len(scripted.layers) == 3
    scripted(x).sum().backward()
    assert model.layers[0].weight.grad is not None
    assert scripted.train().training and scripted.layers[0].training
    assert torch.jit.script(scripted) is scripted


def test_code_is_the_source_with_its_names_resolved():
    assert torch.jit.script(Net()).code == (
        "def forward(self, x: Tensor, times: int=1):\n"
        "  x = getattr(self.layers, '0').forward(x)\n"
        "  x = getattr(self.layers, '1').forward(x)\n"
        "  x = getattr(self.layers, '2').forward(x)\n"
        "  self.seen += 1\n"
        "  self.calls += times\n"
        "  return x\n")


def test_both_branches_and_any_number_of_turns_are_in_the_program():
    @torch.jit.script
    def function(x, n: int):
        total = torch.zeros_like(x)
        for i in range(n):
            if x.sum() > 0:
                total += x * i
            else:
                total -= 1
        return total
    assert function(torch.ones(2), 4).tolist() == [6, 6] and function(-torch.ones(2), 3).tolist() == [-3, -3]
    assert function(torch.ones(2), 0).tolist() == [0, 0] and function.name == "function"
    with pytest.raises(RuntimeError, match="missing value for argument 'n'"):
        function(torch.ones(1))


def test_gradients_flow_through_loops():
    @torch.jit.script
    def power(x, n: int):
        y = torch.ones_like(x)
        while n > 0:
            y = y * x
            n -= 1
        return y
    x = torch.tensor([2., 3.], requires_grad=True)
    power(x, 3).sum().backward()
    assert x.grad.tolist() == [12., 27.]


def test_what_is_known_is_decided_and_the_rest_need_not_be_a_script():
    class Optionally(nn.Module):
        def __init__(self, norm):
            super().__init__()
            self.norm = norm

        def forward(self, x):
            if torch.jit.is_scripting():
                x = x + 1
            else:
                x = eval("x")
            if self.norm is not None:
                x = self.norm(x)
            return x
    assert torch.jit.script(Optionally(None))(torch.ones(2)).tolist() == [2, 2]
    assert torch.jit.script(Optionally(nn.Softmax(-1)))(torch.ones(2)).tolist() == [.5, .5]
    assert Optionally(None)(torch.ones(1)).tolist() == [1]


def test_ignored_methods_are_pythons_and_cannot_be_saved(tmp_path):
    class Ignoring(nn.Module):
        def forward(self, x):
            return self.python(x, 2) + 1

        @torch.jit.ignore
        def python(self, x: torch.Tensor, k: int) -> torch.Tensor:
            return torch.tensor(sorted(x.tolist(), key=lambda v: -v)) * k
    scripted = torch.jit.script(Ignoring())
    assert scripted(torch.tensor([1., 2.])).tolist() == [5, 3]
    with pytest.raises(RuntimeError, match="Could not export Python function call 'python'"):
        scripted.save(tmp_path / "model.pt")
    assert not os.listdir(tmp_path)


def test_unused_methods_raise_when_they_are_called():
    class Unusing(nn.Module):
        def forward(self, x, k: int):
            if k > 2:
                return self.never(x)
            return x

        @torch.jit.unused
        def never(self, x):
            return {x}
    scripted = torch.jit.script(Unusing())
    assert scripted(torch.ones(1), 1).tolist() == [1]
    with pytest.raises(torch.jit.Error, match="Cannot call @unused methods"):
        scripted(torch.ones(1), 3)


def test_archives_keep_attributes_constants_and_methods():
    class Kept(nn.Module):
        __constants__ = ["k"]
        counts: Dict[str, int]
        names: List[str]

        def __init__(self):
            super().__init__()
            self.k, self.counts, self.names, self.scale, self.none = 4, {"a": 1}, [], 1.5, None

        def forward(self, x, name: Optional[str] = None):
            if name is not None:
                self.counts[name] = self.counts.get(name, 0) + 1
                self.names.append(name)
            return x * self.k * self.scale

    scripted = torch.jit.script(Kept())
    scripted(torch.ones(1), "a")
    file = io.BytesIO(scripted.save_to_buffer())
    loaded = torch.jit.load(file)
    assert loaded(torch.ones(1), "b").tolist() == [6.] and loaded.counts == {"a": 2, "b": 1} and loaded.k == 4
    assert loaded.names == ["a", "b"] and loaded.scale == 1.5 and loaded.none is None


def test_classes_are_given_back():
    class Pair:
        def __init__(self, a: int):
            self.a = a

        def twice(self) -> int:
            return self.a * 2
    assert torch.jit.script(Pair) is Pair

    def function(n: int):
        pair = Pair(n)
        pair.a += 1
        return pair.twice()
    assert torch.jit.script(function)(3) == 8
    with pytest.raises(RuntimeError, match="inheritance"):
        torch.jit.script(type("Derived", (Pair,), {}))


def test_scripting_can_be_switched_off():
    torch.jit._state.disable()
    try:
        assert torch.jit.script(walrus) is walrus
    finally:
        torch.jit._state.enable()
    assert torch.jit._state._enabled


# ------------------------------------------------------------------ what is refused
def tries(x):
    try:
        return x
    except ValueError:
        return x


def nests(x):
    def g(y):
        return y
    return g(x)


def closes_over(x):
    return x * SCALE


def filters(x):
    return [y for y in [1, 2] if y > 1]


def opens(x):
    return open("/etc/passwd")


def walrus(x):
    return (x := x)


def recursive(x):
    return recursive(x)


def unknown(x):
    return unheard_of(x)                       # noqa: F821


def no_method(x):
    return x.no_such_method()


def dunder(x):
    return x.__class__


def starred(*x):
    return x[0]


def format_of(x):
    return f"{x:.2f}"


def stacked(x):
    return torch.utils.data.default_collate([x])


def loops_of_modules(x):
    return nn.Linear(2, 2)(x)


@pytest.mark.parametrize("function, error, said", [
    (tries, UnsupportedNodeError, "try blocks aren't supported"),
    (nests, UnsupportedNodeError, "function definitions aren't supported"),
    (closes_over, RuntimeError, "python value of type 'int' cannot be used as a value"),
    (filters, NotSupportedError, "Comprehension ifs are not supported yet"),
    (opens, RuntimeError, "Python builtin <built-in function open> is currently not supported in Torchscript"),
    (walrus, UnsupportedNodeError, "NamedExpr aren't supported"),
    (recursive, RuntimeError, "function 'recursive' is called recursively"),
    (unknown, RuntimeError, "undefined value unheard_of"),
    (no_method, RuntimeError, "has no attribute or method 'no_such_method'"),
    (dunder, RuntimeError, "has no attribute or method '__class__'"),
    (starred, NotSupportedError, "Compiled functions can't take variable number of arguments"),
    (format_of, NotSupportedError, "Don't support formatting in JoinedStr"),
    (stacked, RuntimeError, "default_collate is not supported in a script"),
    (loops_of_modules, Exception, "Cannot instantiate class 'Linear' in a script function"),
], ids=lambda x: getattr(x, "__name__", None))
def test_refused_by_name_with_the_line(function, error, said):
    with pytest.raises(error) as caught:
        torch.jit.script(function)
    told = str(caught.value)
    assert said in told
    if function is not recursive:
        first = function.__code__.co_firstlineno
        lines = [line for line in told.split("\n") if f'File "{__file__}", line ' in line]
        assert len(lines) == 1 and first <= int(lines[0].rpartition(" ")[2]) <= first + 4 and "<--- HERE" in told


def test_attributes_that_no_script_can_have_are_refused_where_they_are_used():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.thing = object()

        def forward(self, x):
            return x if self.thing is None else -x
    with pytest.raises(RuntimeError, match=r"Module 'Odd' has no attribute 'thing' \(This attribute exists on the "
                                           "Python module, but we failed to convert Python type: 'object' to a Torch"):
        torch.jit.script(Odd())


def test_loops_over_modules_are_unrolled_and_have_no_break():
    class Breaks(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.ReLU()])

        def forward(self, x):
            for layer in self.layers:
                if x.sum() > 0:
                    break
                x = layer(x)
            return x
    with pytest.raises(NotSupportedError, match="unrolled loops, we do not support break or continue"):
        torch.jit.script(Breaks())


# ------------------------------------------------------------------ freezing
def test_frozen_modules_have_constants_and_keep_what_is_written():
    model = Net().eval()
    scripted = torch.jit.script(model)
    x = torch.randn(3, 2)
    frozen = torch.jit.freeze(scripted)
    assert not list(frozen.parameters()) and list(frozen.state_dict()) == ["seen"]
    expected = scripted(x)
    assert frozen(x).equal(expected) and "CONSTANTS.c0" not in scripted.code
    assert (float(frozen.seen), frozen.calls, scripted.calls) == (2., 1, 1)       # the buffer is the same one
    assert not hasattr(frozen, "doubled") and torch.jit.freeze(scripted, ["doubled"]).doubled(x).equal(x * 2)
    loaded = torch.jit.load(io.BytesIO(frozen.save_to_buffer()))
    assert loaded(x).equal(expected) and not list(loaded.parameters())
    assert torch.jit.optimize_for_inference(frozen) is frozen
    assert torch.jit.optimize_for_inference(torch.jit.script(Net()))(x).shape == (3, 2)


def test_conditions_on_training_are_decided_when_frozen():
    class Either(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.count = 3, torch.zeros(1)

        def forward(self, x):
            if self.training:
                self.count += 1
            return x * self.scale
    frozen = torch.jit.freeze(torch.jit.script(Either().eval()))
    assert frozen.code == "def forward(self, x: Tensor):\n    return x * 3\n" and not frozen.state_dict()
    kept = torch.jit.freeze(torch.jit.script(Either().eval()), ["scale"])
    kept.scale = 5
    assert kept(torch.ones(1)).tolist() == [5]


def test_what_cannot_be_frozen():
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input"):
        torch.jit.freeze(Net().eval())
    with pytest.raises(RuntimeError, match="Freezing is currently only implemented for modules in eval mode"):
        torch.jit.freeze(torch.jit.script(Net()))
    with pytest.raises(RuntimeError, match="'nothing' does not exist"):
        torch.jit.freeze(torch.jit.script(Net().eval()), ["nothing"])
