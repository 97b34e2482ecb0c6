"""torch.compile beside torch's: what it takes and refuses, and what a compiled module shows."""
import copy
import ctypes
import inspect
import pickle

import pytest
import torch

import tinytorch

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
BOTH = torch, tinytorch


@pytest.fixture(autouse=True)
def frames_as_before():
    """Gives the interpreter its own function that runs frames again. After an error torch's compiler leaves another,
    under which calls hold more references, so that tinytorch copies every gradient for the rest of the process."""
    yield
    python = ctypes.pythonapi
    python.PyInterpreterState_Get.restype = ctypes.c_void_p
    python._PyInterpreterState_SetEvalFrameFunc(ctypes.c_void_p(python.PyInterpreterState_Get()),
                                                ctypes.cast(python._PyEval_EvalFrameDefault, ctypes.c_void_p))


def f(x):
    """Twice x."""
    return x * 2


def outcome(call, library):
    try:
        return call(library)
    except Exception as error:
        return type(error).__name__, str(error).partition(", known options are")[0]


CALLS = {
    "mode and options": lambda t: t.compile(f, mode="default", options={"epilogue_fusion": True}),
    "unknown mode": lambda t: t.compile(f, mode="bad"),
    "unknown option": lambda t: t.compile(f, options={"not_there": 1}),
    "options that are none": lambda t: type(t.compile(f, options={"epilogue_fusion": True})).__name__,
    "unknown backend": lambda t: t.compile(f, backend="nope")(t.ones(2)),
    "mode of another backend": lambda t: type(t.compile(f, backend="eager", mode="bad")).__name__,
    "no function": lambda t: t.compile(3),
    "a word": lambda t: t.compile("x"),
    "dynamic": lambda t: t.compile(f, dynamic=3),
    "disabled": lambda t: t.compile(f, disable=True) is f,
    "a class": lambda t: (lambda own: t.compile(own) is own)(type("Own", (t.nn.Linear,), {})),     # torch changes it
    "a decorator": lambda t: callable(t.compile(backend="eager")),
    "the name": lambda t: (t.compile(f).__name__, t.compile(f).__doc__, t.compile(f)._torchdynamo_orig_callable is f),
    "stance": lambda t: t.compiler.set_stance("force_eager") and t.compiler.set_stance("default") and None,
    "is_compiling": lambda t: (t.compiler.is_compiling(), t._dynamo.is_compiling()),
    "disable": lambda t: t.compiler.disable(f)(3),
    "backends": lambda t: {"inductor", "cudagraphs"} <= set(t._dynamo.list_backends()) and (
        {"eager", "aot_eager"} <= set(t._dynamo.list_backends(None))),
    "parameters": lambda t: list(inspect.signature(t.compile).parameters)}


@pytest.mark.parametrize("name", CALLS)
def test_as_torch(name):
    theirs, ours = (outcome(CALLS[name], library) for library in BOTH)
    assert theirs == ours


def shown(t):
    """What is seen of a compiled module."""
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
    compiled = t.compile(model, backend="eager")
    found = [type(compiled).__name__, isinstance(compiled, t.nn.Module),
             isinstance(compiled, t._dynamo.OptimizedModule), list(compiled.state_dict()),
             [name for name, _ in compiled.named_parameters()],
             [name for name, _ in compiled.named_modules()], [name for name, _ in compiled.named_children()],
             compiled._orig_mod is model, compiled[0] is model[0] if hasattr(type(compiled), "__getitem__") else None,
             repr(compiled), len(list(compiled.parameters()))]
    compiled.mine = 3
    found += [model.mine, compiled.mine]
    compiled.eval()
    found += [model.training, compiled.training, model[1].training]
    model.train()
    found += [compiled.training]
    compiled.load_state_dict(compiled.state_dict())
    found += [outcome(lambda t: compiled.nothing, t),
              outcome(lambda t: compiled.load_state_dict(model.state_dict()), t)]
    found += [type(x).__name__ for x in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled)))]
    del compiled.mine
    found += [hasattr(model, "mine")]
    return found


def test_a_compiled_module_shows_what_torchs_does():
    theirs, ours = map(shown, BOTH)
    assert theirs == ours


def test_errors():
    for library in BOTH:
        dynamo = library._dynamo
        assert issubclass(dynamo.exc.InvalidBackend, dynamo.exc.TorchDynamoException)
        assert issubclass(dynamo.exc.Unsupported, dynamo.exc.TorchDynamoException)
        assert issubclass(dynamo.exc.TorchDynamoException, RuntimeError)

        def branches(x):
            return x if x.sum() > 0 else -x
        with pytest.raises(dynamo.exc.Unsupported):
            library.compile(branches, backend="eager", fullgraph=True)(library.ones(2))
        dynamo.reset()


def test_explain():
    for library in BOTH:
        told = library._dynamo.explain(lambda x: x.sin() * 2)(library.ones(2))
        assert (told.graph_count, told.graph_break_count) == (1, 0)
        assert str(told).startswith("Graph Count: 1\nGraph Break Count: 0\nOp Count: ")
