"""torch.cuda, xpu, mps and accelerator where there is none: every name of torch's, and what it answers."""
import collections
import contextlib
import importlib
import types
import warnings

import pytest
import torch

import tinytorch

from .test_names_of_libraries import told

MODULES = """cuda cuda.memory cuda.streams cuda.graphs cuda.sparse cuda.nccl cuda.profiler cuda.tunable xpu mps
    accelerator mtia backends.cuda backends.mps backends.mkl backends.nnpack backends.cusparselt nested monitor package
    masked""".split()
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


@pytest.mark.parametrize("name", ["cuda", "cuda.memory", "xpu", "accelerator", "mps", "backends.cuda"])
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
            assert t.cuda.OutOfMemoryError is t.OutOfMemoryError


SETTINGS = {
    "flash": lambda t: (t.backends.cuda.enable_flash_sdp(False), t.backends.cuda.flash_sdp_enabled(),
                        t.backends.cuda.enable_flash_sdp(True), t.backends.cuda.flash_sdp_enabled()),
    "around": lambda t: around(t), "no bool": lambda t: t.backends.cuda.enable_cudnn_sdp(3).x,
    "libraries": lambda t: (t.backends.cuda.preferred_linalg_library(), t.backends.cuda.preferred_blas_library()),
    "no library": lambda t: t.backends.cuda.preferred_linalg_library("xx"),
    "others": lambda t: (t.backends.opt_einsum.strategy, t.backends.xnnpack.enabled, t.backends.miopen.immediate,
                         t.backends.kleidiai.is_available(), t.backends.cusparselt.version()),
    "einsum": lambda t: part(t, "backends.opt_einsum").is_available(),
    "reduction": lambda t: t.backends.cuda.fp16_bf16_reduction_math_sdp_allowed(),
    "macos": lambda t: t.backends.mps.is_macos_or_newer(13, 0),
    "mkl": lambda t: (part(t, "backends.mkl").VERBOSE_OFF, part(t, "backends.mkl").VERBOSE_ON),
}


def around(t):
    with t.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False) as given:
        c = t.backends.cuda
        return given, [f() for f in (c.flash_sdp_enabled, c.math_sdp_enabled, c.mem_efficient_sdp_enabled)]


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name):
    theirs, ours = told(SETTINGS[name], torch), told(SETTINGS[name], tinytorch)
    assert theirs[0] == ours[0] == "RuntimeError" if name == "no bool" else theirs == ours


def test_what_there_is_not_refuses_when_it_is_used():
    for call in (lambda t: t.nested.nested_tensor([]), lambda t: t.monitor.log_event(None),
                 lambda t: t.package.PackageExporter("a"), lambda t: t.masked.masked_tensor(None, None)):
        with pytest.raises(NotImplementedError, match="is not supported: "):
            call(tinytorch)
    assert tinytorch.masked.is_masked_tensor(3) is torch.masked.is_masked_tensor(3) is False


REST = {
    "attention": lambda t: (t.nn.attention.list_flash_attention_impls(), t.nn.attention.current_flash_attention_impl()),
    "no attention": lambda t: t.nn.attention.activate_flash_attention_impl("x"),
    "batch norms": lambda t: [(m.running_mean, m.running_var, m.num_batches_tracked, m.track_running_stats) for m in (
        t.func.replace_all_batch_norm_modules_(t.nn.Sequential(t.nn.BatchNorm1d(2))))],
    "policies": lambda t: [(name, x.value) for name, x in (
        t.utils.checkpoint.CheckpointPolicy.__members__.items())],
    "kinds of devices": lambda t: t.utils.checkpoint.DefaultDeviceType.get_device_type(),
    "backends": lambda t: (t.compiler.set_default_backend("eager"), t.compiler.get_default_backend(),
                           t.compiler.set_default_backend(None), t.compiler.get_default_backend()),
    "no backend": lambda t: t.compiler.set_default_backend(3),
    "artifacts": lambda t: t.compiler.save_cache_artifacts(),
    "activities": lambda t: len(t.profiler.supported_activities()),
    "budget": lambda t: t.autograd.graph.region_activation_memory_budget(0.5).__enter__(),
    "streams": lambda t: t.autograd.graph.set_override_stale_capture_stream(3),
    "metaclass": lambda t: isinstance(t.autograd.Function, t.autograd.function.FunctionMeta),
    "module": lambda t: (lambda f: (t.utils.set_module(f, "a.b"), f.__module__))(lambda: 1),
    "no module": lambda t: t.utils.set_module(1, 2),
}


@pytest.mark.parametrize("name", REST)
def test_small_things(name):
    assert told(REST[name], tinytorch) == told(REST[name], torch)
