"""autocast, as a context or a decorator, and decorators for custom autograd Functions under autocast."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.casts import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    autocast_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from ..errors import warn
from ..tensor import Tensor

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_DTYPES = dt.bfloat16, dt.float16


def _check_device_type(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


class autocast:
    """Products and convolutions in bfloat16 (or float16), losses and decompositions in float32.

    Parameters keep their dtype. Recurrent layers, and functions that are composed of several (cov, pinv), compute in
    the dtype of their arguments.

    device_type  "cpu"; with "cuda" it warns and has no effect
    dtype        torch.bfloat16 or torch.float16; with any other it warns and has no effect

    >>> import tinytorch as torch
    >>> layer = torch.nn.Linear(2, 2)
    >>> with torch.autocast("cpu"):
    ...     layer(torch.ones(2)).dtype
    torch.bfloat16
    """

    def __init__(self, device_type: str, dtype: dt.dtype | None = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        _check_device_type(device_type)
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            enabled = False
        elif enabled and self.fast_dtype not in _DTYPES:
            name = device_type.upper()
            warn(f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n{name} "
                 f"Autocast only supports dtypes of {', '.join(map(str, _DTYPES))} currently.")
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> autocast:
        self._before = (is_autocast_enabled(self.device), get_autocast_dtype(self.device), is_autocast_cache_enabled(),
                        autocast_nesting())
        try:
            set_autocast_enabled(self.device, self._enabled)
            set_autocast_dtype(self.device, self.fast_dtype)
            set_autocast_cache_enabled(self._cache_enabled)
            autocast_increment_nesting()
            return self
        except BaseException:                  # an interrupt: there will be no `__exit__`
            self.__exit__(None, None, None)
            raise

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> bool:
        enabled, dtype, caching, depth = self._before
        while autocast_nesting() > depth:
            autocast_decrement_nesting()
        if depth == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(caching)
        return False

    def __call__(self, func: Callable) -> Callable:
        if not callable(func):
            raise TypeError(f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use "
                            "autocast as a context manager? For example:\n    with torch.autocast(device_type=...):\n"
                            "        output = model(input)")

        @functools.wraps(func)
        def decorated(*args, **kwargs):
            with self:
                return func(*args, **kwargs)
        return decorated


def _cast(value, device_type, dtype):
    """A value with its floating-point tensors, except float64, in another dtype."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype is not dt.float64
        return value.to(dtype) if fits else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        items = (_cast(v, device_type, dtype) for v in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def custom_fwd(fwd: Callable | None = None, *, device_type: str,
               cast_inputs: dt.dtype | None = None) -> Callable:
    """A decorator for `forward` of an autograd.Function. Where autocast is on and `cast_inputs` is given, forward runs
    without autocast on tensors cast to that dtype."""
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args, **kwargs):
        on = is_autocast_enabled(device_type)
        args[0]._dtype = get_autocast_dtype(device_type)
        args[0]._fwd_used_autocast = on and cast_inputs is None
        if not on or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
    return decorated


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """A decorator for `backward` of an autograd.Function: it runs with autocast if forward did."""
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args, **kwargs):
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)
    return decorated
