"""torch._C: the names that classes with `__torch_function__` and other libraries use."""
import enum
from importlib import import_module as _import_module
from sys import modules as _modules
from types import FunctionType as _FunctionType, ModuleType as _ModuleType

from ._refused import refused_class as _refused_class, refusing as _refusing
from .arguments import parse_to as _parse_to
from .autograd import casts as _casts
from .autograd.grad_mode import (
    is_multithreading_enabled as _is_multithreading_enabled,
    mode as _mode,
    no_grad as _no_grad,
)
from .autograd.torch_function import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    EnableTorchFunction as _EnableTorchFunction,
    _disabled_torch_function_impl,
    enabled as _is_torch_function_enabled,
    modes as _modes,
    skip_one_hop as _skip_one_hop_torch_function,
)
from .device import device as _Device
from .missing import words as _words
from .ops.linalg.decompositions import _LinAlgError  # noqa: F401
from .overrides import (
    _pop_mode as _pop_torch_function_stack,
    _push_mode as _push_on_torch_function_stack,
    has_torch_function as _has_torch_function,
    has_torch_function_unary as _has_torch_function_unary,
    has_torch_function_variadic as _has_torch_function_variadic,
)
from .random import Generator  # noqa: F401
from .tensor import Tensor as _Tensor

#: An attribute of packages: the import of `torch._C._functorch` needs it.
__path__ = []
__all__ = ["DispatchKey", "DispatchKeySet", "_AutoDispatchBelowAutograd", "_ExcludeDispatchKeyGuard",
           "DisableTorchFunction", "DisableTorchFunctionSubclass", "_EnableTorchFunction",
           "_TensorMeta", "_disabled_torch_function_impl", "_get_function_stack_at", "_has_torch_function",
           "_has_torch_function_unary", "_has_torch_function_variadic", "_is_multithreading_enabled",
           "_is_torch_function_all_disabled",
           "_is_torch_function_enabled", "_is_torch_function_mode_enabled", "_len_torch_function_stack",
           "_pop_torch_function_stack", "_push_on_torch_function_stack", "_skip_one_hop_torch_function"]


def _is_torch_function_mode_enabled():
    return bool(_modes())


def _is_torch_function_all_disabled():
    return not _is_torch_function_enabled(modes=True)


def _len_torch_function_stack():
    return len(_modes(always=True))


def _get_function_stack_at(idx):
    return _modes(always=True)[idx]


#: The metaclass of Tensor.
_TensorMeta = type(_Tensor)


def _is_tracing():
    """Whether a call is being traced in this thread."""
    return _import_module(f"{__package__}.jit").is_tracing()


globals().update({name: _refused_class(__name__, name, "it is a part of PyTorch's C++ library") for name in (
    "PyTorchFileReader", "PyTorchFileWriter", "SymBool", "SymFloat", "SymInt", "ScriptModule", "ScriptMethod", "Node",
    "Graph", "Value")})


def _log_api_usage_once(event):
    """Does nothing: calls are not counted."""


class DispatchKey(enum.Enum):
    """Layers of torch's dispatcher that libraries name. Only the autocast layers have an effect."""

    CPU, CUDA, Meta, CompositeImplicitAutograd, CompositeExplicitAutograd, Autograd, AutogradCPU, AutogradCUDA, \
        AutocastCPU, AutocastCUDA, AutocastXPU, ADInplaceOrView, BackendSelect, Python = range(14)


class DispatchKeySet:
    """A set of DispatchKeys."""

    def __init__(self, *keys):
        self.keys = frozenset(keys)

    def __or__(self, other):
        return DispatchKeySet(*self.keys, *other.keys)

    def has(self, key):
        """Whether a layer is in the set."""
        return key in self.keys


class _ExcludeDispatchKeyGuard:
    """A context without autocast if autocast is among the excluded layers. Other layers cannot be excluded."""

    def __init__(self, keys):
        self._autocast = keys.has(DispatchKey.AutocastCPU)

    def __enter__(self):
        self._before = _casts.is_autocast_enabled("cpu")
        if self._autocast:
            _casts.set_autocast_cpu_enabled(False)

    def __exit__(self, *error):
        _casts.set_autocast_cpu_enabled(self._before)


class _AutoDispatchBelowAutograd:
    """A context in which operators of `torch.library` run their own implementations, and autograd records nothing."""

    def __enter__(self):
        self._below = _import_module(f"{__package__}.library").below_autograd
        self._unrecorded = _no_grad()
        self._unrecorded.__enter__()
        self._below.depth += 1

    def __exit__(self, *error):
        self._below.depth -= 1
        self._unrecorded.__exit__(*error)


class _Room(_ModuleType):
    """torch._C._linalg ...: functions that pickles name by the names of torch's C module. They are the functions of a
    module of this package; torch's names begin with `prefix`."""

    def __init__(self, name, room, prefix, **more):
        super().__init__(f"{__name__}.{name}")
        vars(self).update({"_others": {}, **more}, _room=room, _prefix=prefix)
        _modules[self.__name__] = self

    def _functions(self):
        return _import_module(f"{__package__}.{self._room}".rstrip("."))

    def __dir__(self):
        return sorted([self._prefix + name for name, value in vars(self._functions()).items()
                       if type(value) is _FunctionType and name[:1] != "_"])

    def __getattr__(self, name):
        room = self._functions()
        if name.startswith("__") or not name.startswith(self._prefix):
            raise AttributeError(_words(f"torch._C.{self.__name__.rpartition('.')[2]}.{name}"), name=name, obj=self)
        return getattr(room, self._others.get(name, name.removeprefix(self._prefix)))


#: `_parse_to`: with it, libraries read the arguments of a call of `to`.
_nn = _Room("_nn", "nn.functional", "", _parse_to=_parse_to, _others={"log_sigmoid": "logsigmoid"})
_linalg, _fft = _Room("_linalg", "linalg", "linalg_"), _Room("_fft", "fft", "fft_")
_special, _sparse = _Room("_special", "special", "special_"), _Room("_sparse", "sparse", "_sparse_")
#: The class whose static methods are the functions of torch, and the same class under another name.
_VariableFunctionsClass, _VariableFunctions = [
    _Room(_name, "", "") for _name in ("_VariableFunctionsClass", "_VariableFunctions")]
#: Tensor's base class in torch. Pickles refer to methods of tensors by its name.
TensorBase = _Tensor


def __getattr__(name):
    if _modules[__package__]._OF.get(name) in ("_rare", "jit"):        # names of torch's top level
        return getattr(_modules[__package__], name)
    if name != "_functorch":
        value = _refusing("torch._C", name)
        if value is None:
            raise AttributeError(_words(f"torch._C.{name}"), name=name)
        return value
    return _import_module("._functorch._C", __package__)


def _get_accelerator(check=None):
    """The CPU: there is no accelerator."""
    return _Device("cpu")


def _get_default_device():
    """"cpu", whatever torch.set_default_device has set: torch.set_default_device uses a mode."""
    return "cpu"


def _get_privateuse1_backend_name():
    """The name "privateuseone": no device has another name."""
    return "privateuseone"


def _are_functorch_transforms_active():
    """Whether vmap, grad or jvp of torch.func is running."""
    return bool(_mode.vmap_levels or _mode.grad_levels)


def _get_tracing_state():
    """None: tracing has no state object here. See `_is_tracing`."""
