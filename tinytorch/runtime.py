"""Settings of the runtime, and questions about it: threads, determinism, precision.

Every computation is deterministic and in full precision. Settings that have no effect here are stored, so that a
program reads back what it has set.
"""
from __future__ import annotations

import math
import os
import sys

from .device import CPU, _contexts, device as Device
from .errors import once, warn
from .kernels import threads
from .kernels.memory import Unset
from .seam import settings_changed
from .tensor import Tensor

__all__ = ["are_deterministic_algorithms_enabled", "e", "get_default_device",
           "get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads",
           "get_num_threads", "inf", "is_deterministic_algorithms_warn_only_enabled",
           "is_warn_always_enabled", "nan", "newaxis", "pi",
           "set_default_device", "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
           "set_num_interop_threads", "set_num_threads", "set_warn_always", "typename", "use_deterministic_algorithms"]

inf, nan, pi, e, newaxis = math.inf, math.nan, math.pi, math.e, None

_settings = {"interop_threads": os.cpu_count() or 1, "deterministic": 0, "precision": "highest"}
_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def get_num_threads() -> int:
    """The number of threads that share a heavy operation: at first OMP_NUM_THREADS or the number of cores."""
    return threads.number()


def set_num_threads(int: int, /) -> None:
    """Let up to `int` threads share a heavy operation (NumPy's BLAS too, if it is OpenBLAS).

    RuntimeError unless `int` is a positive integer.
    """
    threads.set_number(_thread_count("set_num_threads", int))


def get_num_interop_threads() -> int:
    """The last number passed to `set_num_interop_threads`, at first the number of cores."""
    return _settings["interop_threads"]


def set_num_interop_threads(int: int, /) -> None:
    """Store the number, which has no effect. RuntimeError unless `int` is a positive integer."""
    _settings["interop_threads"] = _thread_count("set_num_interop_threads", int)


def _thread_count(name, n):
    if not isinstance(n, int) or isinstance(n, bool):
        raise RuntimeError(f"{name} expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    return n


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Fill uninitialised memory (see `torch.utils.deterministic`). Nothing else changes, since every algorithm here is
    deterministic. TypeError unless `mode` is a bool."""
    if not isinstance(mode, bool):
        raise TypeError("_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, "
                        f"not {type(mode).__name__}")
    level = 1 if warn_only else 2
    _settings["deterministic"] = level if mode else 0
    Unset.deterministic = mode


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic algorithms were last switched on by `use_deterministic_algorithms`."""
    return _settings["deterministic"] > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was last called with warn_only."""
    return _settings["deterministic"] == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a name or number: default 0, warn 1, error 2. RuntimeError for any other name
    or number, TypeError for any other object."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`, "
                               f"but got {debug_mode}")
        debug_mode = _DEBUG_MODES[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _settings["deterministic"] = debug_mode
    Unset.deterministic = debug_mode > 0


def get_deterministic_debug_mode() -> int:
    """0 default, 1 warn, 2 error."""
    return _settings["deterministic"]


def get_default_device() -> Device:
    """The device on which tensors are made: the CPU unless `with device` or `set_default_device` changes it."""
    return _contexts().current() if f"{__package__}.utils._device" in sys.modules else CPU


def set_default_device(device: Device) -> None:
    """Set the device on which tensors are made from now on, in this thread; None: the CPU.

    RuntimeError for an object that names no device. If the device is not available, functions that make tensors raise.
    """
    device = None if device is None else Device(device)
    if not (device is None or device == CPU) or f"{__package__}.utils._device" in sys.modules:
        _contexts().set_default(device)


def get_float32_matmul_precision() -> str:
    """The last precision set with `set_float32_matmul_precision`, at first 'highest'."""
    return _settings["precision"]


def set_float32_matmul_precision(precision: str) -> None:
    """Store the name, which has no effect: float32 products have full precision. Warns of an unknown name."""
    if precision in ("highest", "high", "medium"):
        _settings["precision"] = precision
    else:
        warn(f"{precision} is not one of 'highest', 'high', or 'medium'; "
             "the current setFloat32MatmulPrecision call has no effect.")


def set_flush_denormal(mode: bool, /) -> bool:
    """False: NumPy has no way to switch denormal numbers off."""
    return False


def set_warn_always(b: bool, /) -> None:
    """Set whether warnings that are given once are given every time; Python's filters still apply to them.
    RuntimeError unless `b` is a bool."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    once.always = b
    settings_changed()


def is_warn_always_enabled() -> bool:
    """The last value set with `set_warn_always`."""
    return once.always


def typename(obj: object, /) -> str:
    """The full name in torch of a tensor's type, of a class, or of an object's class.

    >>> import tinytorch as torch
    >>> torch.typename(torch.tensor([1, 2])), torch.typename(3), torch.typename(torch.nn.Parameter)
    ('torch.LongTensor', 'int', 'torch.nn.parameter.Parameter')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or ""
    if module in ("", "builtins"):
        return named.__qualname__
    if module.partition(".")[0] == "tinytorch":
        module = module.replace("tinytorch", "torch", 1)
    return f"{module}.{named.__qualname__}"
