"""Autocast: public functions that cast their arguments while it is switched on (`torch.autocast`).

What the processor's autocast of torch casts down is products and convolutions, to bfloat16 (or float16); what it casts
up, to float32, is losses, decompositions, Fourier transforms and some more. All other functions take what they are
given. Nothing of this is on the way of a program before the first autocast: `install` then puts the casts behind
the overrides of the functions concerned.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .. import dtypes as dt
from ..device import device
from ..errors import warn
from ..tensor import Tensor
from . import overridable
from .grad_mode import is_grad_enabled

__all__ = ["autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
           "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
           "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype",
           "set_autocast_cpu_enabled", "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype"]

_DOWN = set("""addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d einsum linear matmul __matmul__ __rmatmul__ __imatmul__ mm multi_dot
    multi_head_attention_forward prelu scaled_dot_product_attention tensordot
    vecdot""".split())
_UP = set("""adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits
    cdist cholesky cholesky_ex cholesky_inverse cholesky_solve cond cosine_embedding_loss cross_entropy ctc_loss eig
    eigh eigvals eigvalsh fft fft2 fftn fractional_max_pool2d fractional_max_pool2d_with_indices
    fractional_max_pool3d fractional_max_pool3d_with_indices geqrf grid_sample grid_sampler grid_sampler_2d
    grid_sampler_3d hfft hfft2 hfftn hinge_embedding_loss householder_product huber_loss ifft ifft2 ifftn ihfft ihfft2
    ihfftn inv inv_ex inverse irfft irfft2 irfftn kl_div l1_loss linear_cross_entropy lstsq lu lu_solve
    margin_ranking_loss matrix_rank max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss
    multilabel_margin_loss nanquantile nll_loss orgqr ormqr pad pinverse poisson_nll_loss polar prod qr quantile
    rfft rfft2 rfftn smooth_l1_loss soft_margin_loss solve solve_ex stft svd svdvals tensorinv tensorsolve trace
    triangular_solve triplet_margin_loss view_as_complex""".split())
_WIDEST = {"cat", "concat", "concatenate", "index_copy", "stack"}


class _State(threading.local):
    enabled, dtype, caching, depth, inside = False, dt.bfloat16, True, 0, False

    def __init__(self):
        self.cache = {}                        # {id of a parameter: (the parameter, it cast)}


_state = _State()
#: Of other devices, on which nothing runs: (switched on, dtype).
_others = {**dict.fromkeys(["cuda", "xpu", "mps", "ipu", "mtia", "privateuseone"], (False, dt.float16)),
           **dict.fromkeys(["hpu", "xla", "maia"], (False, dt.bfloat16))}
_done = []


# ------------------------------------------------------------------ the casts
def _cast(x, dtype):
    if isinstance(x, (tuple, list)) and any([isinstance(item, Tensor) for item in x]):
        return type(x)([_cast(item, dtype) for item in x])
    if not isinstance(x, Tensor) or x.dtype is dtype or x.dtype is dt.float64 or not x.dtype.is_floating_point:
        return x
    if not (_state.caching and x.requires_grad and x.dtype is dt.float32 and x.grad_fn is None and is_grad_enabled()):
        return x.to(dtype)
    known = _state.cache.get(id(x))            # a weight is cast once, and its gradients add up in that dtype
    if known is None:
        known = _state.cache[id(x)] = x, x.to(dtype)
    return known[1]


def _widest(args, kwargs):
    found = [x for group in (*args, *kwargs.values()) for x in (group if isinstance(group, (tuple, list)) else (group,))
             if isinstance(x, Tensor)]
    for x in found:                            # what comes after a float32 may be of any dtype
        if x.dtype is dt.float32:
            return dt.float32
        if x.dtype.is_floating_point and x.dtype not in (dt.float64, _state.dtype):
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return None


def _target(name, args, kwargs):
    """The dtype to which a call casts, None for none."""
    if name in _WIDEST:
        return _widest(args, kwargs)
    if name == "pad" and (args[2] if len(args) > 2 else kwargs.get("mode", "constant")) == "constant":
        return None
    if name == "einsum" and not _sums(args):
        return None
    return _state.dtype if name in _DOWN else dt.float32


def _sums(args):
    """Whether an einsum sums over a label: else it only multiplies."""
    if not isinstance(args[0], str):
        return True
    given, arrow, wanted = args[0].replace(" ", "").partition("->")
    letters = set(given) - set(",.")
    return "," in given and (bool(letters - set(wanted)) if arrow else any([given.count(x) > 1 for x in letters]))


def _casting(function: Callable, name: str) -> Callable:
    def run(*args: Any, **kwargs: Any) -> Any:
        if not _state.enabled or _state.inside:
            return function(*args, **kwargs)
        target = _target(name, args, kwargs)
        if target is None:
            return function(*args, **kwargs)
        _state.inside = True                   # what it calls casts no further
        try:
            return function(*[_cast(x, target) for x in args], **{k: _cast(x, target) for k, x in kwargs.items()})
        finally:
            _state.inside = False
    return run


def install() -> None:
    """Lets autocast step in wherever public functions are called, from now on."""
    if _done:
        return
    for made in overridable.installed().values():
        for (_, name), stands in made.items():
            if name in _DOWN or name in _UP or name in _WIDEST:
                stands.run = _casting(stands.__wrapped__, name)
    _done.append(True)                         # last: after an interrupt it is done anew


# ------------------------------------------------------------------ the switches, by torch's names
def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device, be there such a device or not."""
    kind = device(device_type).type
    return kind == "cpu" or kind in _others


def _kind(device_type, text="unknown device type for autocast in get_autocast_dispatch_key_from_device_type"):
    kind = device(device_type).type
    if kind != "cpu" and kind not in _others:
        raise RuntimeError(text)
    return kind


def _argument(function, name, position, value, kind):
    """TypeError in torch's words unless the value is of that class."""
    if not isinstance(value, kind):
        said = "torch.dtype" if kind is dt.dtype else kind.__name__
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be {said}, not "
                        f"{type(value).__name__}")


def _setting(name, value, kind):
    """The value; TypeError in torch's words unless it is of that class."""
    if not isinstance(value, kind):
        said = "torch.dtype" if kind is dt.dtype else kind.__name__
        raise TypeError(f"{name} must be a {said} (got {type(value).__name__})")
    return value


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device, without one for CUDA."""
    _argument("is_autocast_enabled", "device_type", 1, device_type, str)
    kind = _kind(device_type)
    return _state.enabled if kind == "cpu" else _others[kind][0]


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a kind of device; set_autocast_enabled(enabled) is for CUDA."""
    if enabled is None:
        _argument("set_autocast_enabled", "enabled", 1, device_type, bool)
        device_type, enabled = "cuda", device_type
    _argument("set_autocast_enabled", "device_type", 1, device_type, str)
    _argument("set_autocast_enabled", "enabled", 2, enabled, bool)
    kind = _kind(device_type)
    if kind == "cpu":
        _state.enabled = enabled
        if enabled:
            install()
    else:
        _others[kind] = enabled, _others[kind][1]


def get_autocast_dtype(device_type: str) -> dt.dtype:
    """To what autocast casts products: bfloat16 on the CPU unless set."""
    _argument("get_autocast_dtype", "device_type", 1, device_type, str)
    kind = _kind(device_type, "unsupported scalarType")
    return _state.dtype if kind == "cpu" else _others[kind][1]


def set_autocast_dtype(device_type: str, dtype: dt.dtype) -> None:
    """Set to what autocast casts products."""
    _argument("set_autocast_dtype", "device_type", 1, device_type, str)
    _argument("set_autocast_dtype", "dtype", 2, dtype, dt.dtype)
    kind = _kind(device_type)
    if kind == "cpu":
        _state.dtype = dtype
    else:
        _others[kind] = _others[kind][0], dtype


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU."""
    warn("torch.is_autocast_cpu_enabled() is deprecated. Please use torch.is_autocast_enabled('cpu') instead.",
         DeprecationWarning)
    return _state.enabled


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Switch autocast on or off for the CPU."""
    set_autocast_enabled("cpu", _setting("enabled", enabled, bool))


def get_autocast_cpu_dtype() -> dt.dtype:
    """To what autocast casts products on the CPU."""
    return _state.dtype


def set_autocast_cpu_dtype(dtype: dt.dtype) -> None:
    """Set to what autocast casts products on the CPU."""
    _state.dtype = _setting("dtype", dtype, dt.dtype)


def get_autocast_gpu_dtype() -> dt.dtype:
    """To what autocast would cast products on CUDA."""
    return _others["cuda"][1]


def set_autocast_gpu_dtype(dtype: dt.dtype) -> None:
    """Remembered: there is no CUDA."""
    set_autocast_dtype("cuda", _setting("dtype", dtype, dt.dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether weights that were cast are kept until the outermost autocast ends."""
    return _state.caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Keep weights that were cast until the outermost autocast ends, or do not."""
    _state.caching = _setting("enabled", enabled, bool)


def clear_autocast_cache() -> None:
    """Forget the weights that were cast."""
    _state.cache.clear()


def autocast_nesting() -> int:
    """How many autocasts are around what runs now."""
    return _state.depth


def autocast_increment_nesting() -> int:
    """One autocast more around what runs now: how many there are."""
    _state.depth += 1
    return _state.depth


def autocast_decrement_nesting() -> int:
    """One autocast less: how many are left."""
    _state.depth -= 1
    return _state.depth
