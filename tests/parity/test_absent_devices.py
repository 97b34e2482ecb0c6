"""torch.cuda, xpu, mps and accelerator where there is none: every name of torch's, and what it answers."""
import collections
import contextlib
import importlib
import types
import warnings

import pytest
import torch

import tinytorch

MODULES = """cuda cuda.memory cuda.streams cuda.graphs cuda.sparse cuda.nccl cuda.profiler cuda.tunable xpu mps
    accelerator""".split()
#: Answered in another way: torch's own errors there come from what its C++ has not, or from what is no CUDA.
_OTHER_ERRORS = (AttributeError, KeyError)


def part(t, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"{t.__name__}.{name}")


def public(name):
    theirs = part(torch, name)
    return [n for n in getattr(theirs, "__all__", ()) if not isinstance(getattr(theirs, n), types.ModuleType)]


@pytest.mark.parametrize("name", MODULES)
def test_names(name):
    ours = part(tinytorch, name)
    assert [n for n in public(name) if not hasattr(ours, n)] == []


def answered(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*args)
        except Exception as error:
            return type(error), str(error)
    kinds = (bool, int, str, list, tuple, dict, collections.OrderedDict, type(None))
    return (type(result), result) if type(result) in kinds else "an object"


@pytest.mark.parametrize("name", ["cuda", "cuda.memory", "xpu", "accelerator", "mps"])
def test_answers_of_functions_without_arguments(name):
    theirs, ours = part(torch, name), part(tinytorch, name)
    compared, other = 0, []
    for n in public(name):
        if not isinstance(getattr(theirs, n), types.FunctionType):
            continue
        expected = answered(getattr(theirs, n))
        if isinstance(expected, tuple) and expected[0] in (*_OTHER_ERRORS, TypeError) or n == "synchronize":
            continue                           # an argument is wanted, or torch's own answer is a fault
        compared += 1
        got = answered(getattr(ours, n))
        if got != expected and not (expected == "an object" and isinstance(getattr(ours, n)(), contextlib.nullcontext)):
            other.append((n, expected, got))
    assert compared > (5 if name != "mps" else 3) and other == []


@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_classes_that_cannot_be_made():
    for t in (torch, tinytorch):
        assert not isinstance(t.ones(1).storage(), t.cuda.FloatStorage)
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            t.cuda.FloatStorage(2)
        with pytest.raises(RuntimeError, match="Tried to instantiate dummy base class MemPool"):
            t.cuda.MemPool()
        with pytest.raises(RuntimeError, match="dummy base class Event"):
            t.xpu.Event()
        with pytest.raises(NotImplementedError, match="compiled without XPU support"):
            t.xpu.device(-1).__enter__()
        with t.cuda.device_of(t.ones(1)), t.xpu.stream(None), t.accelerator.device_index(None):
            assert t.cuda.nccl.is_available([]) is False and t.cuda.OutOfMemoryError is t.OutOfMemoryError
