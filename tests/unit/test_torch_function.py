"""How functions come to look for `__torch_function__`: not before there is one, and then wherever they are found."""
import inspect
import pickle
import subprocess
import sys
import threading
import types

import pytest

import tinytorch as torch
from tinytorch.autograd.public import TABLE
from tinytorch.kernels import errstate
from tinytorch.utils._python_dispatch import TorchDispatchMode


class Duck:
    """No tensor, and notes what it sees."""

    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append((func, args, kwargs or {}))
        return "seen"


def run(text):
    """What a program prints in a process of its own, where nothing is overridden yet."""
    program = "import tinytorch as torch\n" + text
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return process.stdout.split()


_UP = "from tinytorch.seam import seam\nprint(seam.up)\n"


_UNSEEN = """
class P(torch.nn.Parameter): pass
class B(torch.nn.Buffer): pass
class T(torch.Tensor): __torch_function__ = torch._C._disabled_torch_function_impl
torch.nn.Linear(2, 2)(torch.ones(2)).sum().backward()
kept = T([1.]) + torch.autograd.Variable(torch.ones(2)), T([1.]), P(), B()
class S(torch.Tensor): pass
S([1.]) + 1
with torch.overrides.BaseTorchFunctionMode(), torch.autocast("cpu"), torch.device("meta"):
    torch.ones(2) + 1
torch.func.vmap(torch.sin)(torch.ones(2))
torch.set_default_device("meta")
torch.set_default_device(None)
"""


@pytest.mark.parametrize("text, up", [
    (_UNSEEN, False), ("class T(torch.Tensor): pass\nkept = T([1.]) + 1", True),
    ("class T(torch.Tensor): pass\nkept = torch.ones(2).as_subclass(T)", True),
    ("mode = torch.overrides.BaseTorchFunctionMode().__enter__()", True),
    ("mode = torch.autocast('cpu').__enter__()", True), ("torch.set_default_device('meta')", True),
    ("class D:\n    __torch_function__ = classmethod(lambda *args: 3)\ntorch.add(D(), 1)", True)])
def test_the_seam_is_up_only_while_something_can_see(text, up):
    assert run(text + "\n" + _UP) == [str(up)]


def test_functions_that_were_kept_look_too():
    """`mm` and the rest were taken before the first autocast, mode, device or subclass of the process."""
    found = run("""
import functools
mm, zeros, add, size, part = torch.mm, torch.zeros, torch.add, torch.Tensor.size, functools.partial(torch.sum, dim=0)
x = torch.ones(2, 2)
with torch.autocast("cpu"):
    print(mm(x, x).dtype)
with torch.device("meta"):
    print(zeros(2).device)
class Log(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(torch.overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))
with Log():
    add(x, x), size(x), part(x), x.shape
class Sub(torch.Tensor):
    pass
print(type(add(x.as_subclass(Sub), 1)).__name__)
""")
    assert found == ["torch.bfloat16", "meta", "torch.add", "torch.Tensor.size", "torch.sum",
                     "torch.Tensor.shape.__get__", "Sub"]


@pytest.mark.skipif(sys.maxsize < 2 ** 32, reason="every array passes through a function of two frames (tensor.py)")
def test_calls_go_through_no_more_frames_after_watchers_than_before():
    found = run("""
import sys
def frames(act):
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append(frame.f_code.co_name) if event == "call" else None)
    try:
        act()
    finally:
        sys.setprofile(None)
    return [name for name in seen if name != "<lambda>"]
x, layer = torch.ones(4, 8), torch.nn.Linear(8, 3)
acts = [lambda: x * x, lambda: x.exp(), lambda: layer(x), lambda: x.sum()]
for act in acts:                               # the first call looks up what the others keep
    act()
before = [frames(act) for act in acts]
with torch.overrides.BaseTorchFunctionMode(), torch.autocast("cpu"), torch.device("cpu"):
    layer(x)
torch.vmap(torch.exp)(x)
print(*[len(found) for found in before[:3]], [frames(act) for act in acts] == before)
""")
    setter = int(not errstate._OWN_CONTEXTS)   # a function that sets NumPy's error state, beside the operator's
    assert found == [str(1 + setter), str(1 + setter), str(7 + setter), "True"]


def test_functions_are_found_wherever_they_are():
    found = run("""
import sys, types
from tinytorch import relu
from tinytorch.nn.functional import layer_norm as norm
class Seen:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(torch.overrides.resolve_name(func))
table = {torch.exp: "found"}
torch.nn.functional.linear(Seen(), 2, 3)
relu(Seen()), norm(Seen(), (2,)), torch.nn.LayerNorm(2)(Seen()), torch.nn.Dropout(0.5)(Seen())
from tinytorch.distributions import Normal
import tinytorch.distributions.normal
torch.distributions.kl_divergence
print(table[torch.exp])
""")
    assert found == ["torch.nn.functional.linear", "torch.relu", "torch.nn.functional.layer_norm",
                     "torch.nn.functional.layer_norm", "torch.nn.functional.dropout", "found"]


#: Functions that take no tensors, but sizes and bounds; those of several forms.
WITHOUT = {"zeros", "ones", "empty", "rand", "randn", "arange", "rnn_tanh", "rnn_relu", "gru", "lstm"}
VALUES = {"int": 1, "float": 1., "Number": 1, "Ints": (1,), "int | Ints": 1, "bool": True, "str": "i,i->",
          "dt.dtype": torch.float32}


def arguments(function):
    """Arguments that a function needs, all its tensors ducks; None if it takes none."""
    args, ducks = [], 0
    for parameter in inspect.signature(function).parameters.values():
        kind = str(parameter.annotation)
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += [Duck(), Duck()]
            ducks += 2
        elif parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            of_tensors = "Tensor" in kind
            ducks += of_tensors
            args.append([Duck()] if "Tensors" in kind else Duck() if of_tensors else VALUES.get(kind, (1, 1)))
    return args if ducks else None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_first_call_of_every_function_is_seen():
    plain = [function for space, functions in torch.overrides.get_overridable_functions().items()
             if isinstance(space, types.ModuleType) for function in functions if function.__name__ not in WITHOUT]
    called = 0
    for function in plain:
        args = arguments(function)
        if args is None or function in (torch.reshape, torch.permute):
            continue
        Duck.seen.clear()
        assert function(*args) == "seen", function
        (func, *_), = Duck.seen
        assert func == function, (func, function)
        called += 1
    assert called > 550


@pytest.mark.parametrize("act, name, args, kwargs", [
    (lambda f, d, t: f("linear")(t, d), "linear", 2, {}),
    (lambda f, d, t: f("zeros_like")(d, dtype=torch.int8), "zeros_like", 1, {"dtype": torch.int8}),
    (lambda f, d, t: f("cumsum")(d, dim=0), "cumsum", 1, {"dim": 0}), (lambda f, d, t: f("mul")(t, d), "mul", 2, {}),
    (lambda f, d, t: f("cat")([t, d], 1), "cat", 2, {}), (lambda f, d, t: f("sum")(input=d), "sum", 0, {"input"})])
def test_the_arguments_of_a_first_call(act, name, args, kwargs):
    functions = {function.__name__: function for function in TABLE if "place" in vars(function)}
    functions["linear"] = torch.nn.functional.linear
    Duck.seen.clear()
    assert act(functions.get, Duck(), torch.ones(2, 2)) == "seen"
    (func, given, named), = Duck.seen
    assert func.__name__ == name
    assert (len(given), named) == (args, kwargs) or name == "sum" and len(given) + len(named) == 1


def test_functions_are_functions():
    assert torch.exp != torch.log and torch.Tensor.exp != torch.exp and torch.exp in TABLE
    for function in (torch.exp, torch.nn.functional.relu, torch.linalg.norm, torch.Tensor.add, torch.Tensor.__add__):
        assert type(function) is types.FunctionType
        assert pickle.loads(pickle.dumps(function)) is function
    assert torch.exp.__doc__ == torch.Tensor.exp.__doc__ and "e to the power" in torch.exp.__doc__
    assert inspect.signature(torch.exp) == inspect.signature(torch.Tensor.exp)
    assert isinstance(torch.ones(1).add, types.MethodType)


def test_what_is_switched_off_belongs_to_the_thread():
    class Sub(torch.Tensor):
        pass
    x, found = Sub([1.]), []
    with torch._C.DisableTorchFunctionSubclass(), torch.overrides.BaseTorchFunctionMode():
        thread = threading.Thread(target=lambda: found.extend([type(x + 1), torch._C._len_torch_function_stack()]))
        thread.start()
        thread.join()
        assert type(x + 1) is torch.Tensor and torch._C._len_torch_function_stack() == 1
    assert found == [Sub, 0]


def test_tables_of_functions():
    functions = torch.overrides.get_overridable_functions()
    overrides = torch.overrides.get_testing_overrides()
    assert {func for found in functions.values() for func in found} == set(overrides)
    assert overrides[torch.add](1, 2) == -1
    assert inspect.signature(overrides[torch.matmul]) == inspect.signature(torch.matmul)
    assert torch.set_printoptions in torch.overrides.get_ignored_functions()
    assert torch.add not in torch.overrides.get_ignored_functions()
    assert torch.overrides.get_default_nowrap_functions() == {torch.Tensor._base.__get__, torch.Tensor.grad.__get__}


def test_wrapping_by_dispatch_is_refused():
    class Wrapper(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args)
    with pytest.raises(NotImplementedError, match="__torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Wrapper, (2,))
    with pytest.raises(NotImplementedError, match="TorchFunctionMode"), TorchDispatchMode():
        pass


def test_second_derivatives_are_taken_of_tensors_as_they_are():
    class Sub(torch.Tensor):
        seen = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)
    x = torch.ones(2).as_subclass(Sub).requires_grad_()
    y = (x * x).sum().as_subclass(torch.Tensor)
    Sub.seen.clear()
    with pytest.warns(UserWarning, match="create_graph"):
        y.backward(create_graph=True)
    assert Sub.seen == [] and type(x.grad) is torch.Tensor
