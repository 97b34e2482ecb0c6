"""Autocast: public functions that cast their arguments while it is switched on (`torch.autocast`).

torch's autocast for the CPU casts arguments of products and convolutions down, to bfloat16 (or float16). It casts
arguments of losses, decompositions, Fourier transforms and some others up, to float32. All other functions take their
arguments unchanged. The seam (seam.py) is up while autocast is on, and shows each call to `cast_call`.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .. import dtypes as dt
from ..device import device
from ..errors import warn
from ..seam import UNSEEN, seam
from ..tensor import Tensor
from .grad_mode import is_grad_enabled

__all__ = ["autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
           "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
           "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
           "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"]


class _State(threading.local):
    enabled, dtype, caching, depth, inside = False, dt.bfloat16, True, 0, False

    def __init__(self):
        self.cache = {}                        # {id of a parameter: (the parameter, its cast)}


state = _State()
#: The settings for other devices, on which nothing runs: (switched on, dtype).
_others = {**dict.fromkeys(["cuda", "xpu", "mps", "ipu", "mtia", "privateuseone"], (False, dt.float16)),
           **dict.fromkeys(["hpu", "xla", "maia"], (False, dt.bfloat16))}


# ------------------------------------------------------------------ the casts
def _cast(x, dtype):
    if isinstance(x, (tuple, list)) and any([isinstance(item, Tensor) for item in x]):
        return type(x)([_cast(item, dtype) for item in x])
    if not isinstance(x, Tensor) or x.dtype is dtype or x.dtype is dt.float64 or not x.dtype.is_floating_point:
        return x
    if not (state.caching and x.requires_grad and x.dtype is dt.float32 and x.grad_fn is None and is_grad_enabled()):
        return x.to(dtype)
    known = state.cache.get(id(x))            # a weight is cast once, and its gradients add up in that dtype
    if known is None:
        known = state.cache[id(x)] = x, x.to(dtype)
    return known[1]


def _widest(args, kwargs):
    found = [x for group in (*args, *kwargs.values()) for x in (group if isinstance(group, (tuple, list)) else (group,))
             if isinstance(x, Tensor)]
    for x in found:                            # after a float32, any dtype is accepted
        if x.dtype is dt.float32:
            return dt.float32
        if x.dtype.is_floating_point and x.dtype not in (dt.float64, state.dtype):
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return None


def _target(about, args, kwargs):
    """The dtype to which a call's arguments are cast; None if they are not, as in a call that writes to `out`."""
    if kwargs.get("out") is not None:
        return None
    if about.autocast == "widest":
        return _widest(args, kwargs)
    if about.name == "pad" and (args[2] if len(args) > 2 else kwargs.get("mode", "constant")) == "constant":
        return None
    return {"down": state.dtype, "up": dt.float32, None: None}[about.autocast]


def lowered(*operands: Tensor) -> tuple[Tensor, ...]:
    """The operands of a product inside of a function with autocast="parts", cast if autocast is on."""
    if not state.enabled or state.inside:
        return operands
    return tuple([_cast(x, state.dtype) for x in operands])


def cast_call(function: Callable, about: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of a public function with its arguments cast. Functions that it calls itself cast no further. UNSEEN
    where autocast is off or another call is casting, and for functions whose inner calls cast ("within", "parts")."""
    if not state.enabled or state.inside or about.autocast in ("within", "parts"):
        return UNSEEN
    target = _target(about, args, kwargs)
    try:
        state.inside = True                    # inside of `try`: an interrupt before it leaves nothing set
        if target is None:
            return function(*args, **kwargs)
        return function(*[_cast(x, target) for x in args], **{k: _cast(x, target) for k, x in kwargs.items()})
    finally:
        state.inside = False


# ------------------------------------------------------------------ the switches, by torch's names
def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device, whether or not there is such a device."""
    kind = device(device_type).type
    return kind == "cpu" or kind in _others


def _kind(device_type, text="unknown device type for autocast in get_autocast_dispatch_key_from_device_type"):
    kind = device(device_type).type
    if kind != "cpu" and kind not in _others:
        raise RuntimeError(text)
    return kind


def _argument(function, name, position, value, kind):
    """TypeError with torch's message unless the value is of that class."""
    if not isinstance(value, kind):
        said = "torch.dtype" if kind is dt.dtype else kind.__name__
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be {said}, not "
                        f"{type(value).__name__}")


def _setting(name, value, kind):
    """The value; TypeError with torch's message unless it is of that class."""
    if not isinstance(value, kind):
        said = "torch.dtype" if kind is dt.dtype else kind.__name__
        raise TypeError(f"{name} must be a {said} (got {type(value).__name__})")
    return value


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device; by default for CUDA."""
    _argument("is_autocast_enabled", "device_type", 1, device_type, str)
    kind = _kind(device_type)
    return state.enabled if kind == "cpu" else _others[kind][0]


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a kind of device; set_autocast_enabled(enabled) switches it for CUDA."""
    if enabled is None:
        _argument("set_autocast_enabled", "enabled", 1, device_type, bool)
        device_type, enabled = "cuda", device_type
    _argument("set_autocast_enabled", "device_type", 1, device_type, str)
    _argument("set_autocast_enabled", "enabled", 2, enabled, bool)
    kind = _kind(device_type)
    if kind == "cpu":
        state.enabled = enabled
        seam.watch("autocast", enabled)
    else:
        _others[kind] = enabled, _others[kind][1]


def get_autocast_dtype(device_type: str) -> dt.dtype:
    """The dtype that autocast casts products to: bfloat16 on the CPU unless set."""
    _argument("get_autocast_dtype", "device_type", 1, device_type, str)
    kind = _kind(device_type, "unsupported scalarType")
    return state.dtype if kind == "cpu" else _others[kind][1]


def set_autocast_dtype(device_type: str, dtype: dt.dtype) -> None:
    """Set the dtype that autocast casts products to."""
    _argument("set_autocast_dtype", "device_type", 1, device_type, str)
    _argument("set_autocast_dtype", "dtype", 2, dtype, dt.dtype)
    kind = _kind(device_type)
    if kind == "cpu":
        state.dtype = dtype
    else:
        _others[kind] = _others[kind][0], dtype


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU."""
    warn("torch.is_autocast_cpu_enabled() is deprecated. Please use torch.is_autocast_enabled('cpu') instead.",
         DeprecationWarning)
    return state.enabled


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Switch autocast on or off for the CPU."""
    set_autocast_enabled("cpu", _setting("enabled", enabled, bool))


def get_autocast_cpu_dtype() -> dt.dtype:
    """The dtype that autocast casts products to on the CPU."""
    return state.dtype


def set_autocast_cpu_dtype(dtype: dt.dtype) -> None:
    """Set the dtype that autocast casts products to on the CPU."""
    state.dtype = _setting("dtype", dtype, dt.dtype)


def get_autocast_gpu_dtype() -> dt.dtype:
    """The dtype that autocast would cast products to on CUDA."""
    return _others["cuda"][1]


def set_autocast_gpu_dtype(dtype: dt.dtype) -> None:
    """Set the dtype for CUDA. It has no effect, since there is no CUDA."""
    set_autocast_dtype("cuda", _setting("dtype", dtype, dt.dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether cast weights are kept until the outermost autocast ends."""
    return state.caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether cast weights are kept until the outermost autocast ends."""
    state.caching = _setting("enabled", enabled, bool)


def clear_autocast_cache() -> None:
    """Drop the cast weights that are kept."""
    state.cache.clear()


def autocast_nesting() -> int:
    """The number of autocast contexts around the running code."""
    return state.depth


def autocast_increment_nesting() -> int:
    """Enter one more autocast context; returns the number of contexts."""
    state.depth += 1
    return state.depth


def autocast_decrement_nesting() -> int:
    """Leave one autocast context; returns the number of contexts that are left."""
    state.depth -= 1
    return state.depth
