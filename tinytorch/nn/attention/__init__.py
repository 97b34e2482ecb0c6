"""The computations that `scaled_dot_product_attention` may use, and masks for it."""
import contextlib
from enum import Enum

from ..._refused import refused as _refused
from ...missing import namespace as _namespace
from ...ops.nn.attention import SDP_ENABLED, SDP_ORDER

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "activate_flash_attention_impl", "current_flash_attention_impl",
           "list_flash_attention_impls", "register_flash_attention_impl", "restore_flash_attention_impl",
           "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(Enum):
    """Computations of scaled dot product attention. tinytorch has FLASH_ATTENTION (one operation) and MATH (several).

    >>> import tinytorch as torch
    >>> torch.nn.attention.SDPBackend.MATH
    <SDPBackend.MATH: 0>
    """

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION, OVERRIDEABLE = range(-1, 5)

    def __int__(self):
        return self.value

    __index__ = __int__


def _set(backends, set_priority):
    for value in SDP_ENABLED:
        SDP_ENABLED[value] = SDPBackend(value) in backends
    if set_priority:
        first = [backend.value for backend in backends]
        SDP_ORDER[:] = first + [value for value in SDP_ORDER if value not in first]


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Restrict `scaled_dot_product_attention` to these computations: an SDPBackend or a list of them.

    set_priority    whether the order of the list is the order of preference; on the CPU it has no effect
    AssertionError for anything else. A call raises RuntimeError if none of them can serve it.

    >>> import tinytorch as torch
    >>> x = torch.ones(1, 1, 2, 2, requires_grad=True)
    >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    ...     y = torch.nn.functional.scaled_dot_product_attention(x, x, x)
    >>> torch.nn.functional.scaled_dot_product_attention(x, x, x).grad_fn.name(), y.grad_fn.name()
    ('ScaledDotProductFlashAttentionForCpuBackward0', 'UnsafeViewBackward0')
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                             f"{type(backends).__name__}")
    enabled, order = dict(SDP_ENABLED), list(SDP_ORDER)
    try:
        _set([backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends)), set_priority)
        yield {}
    finally:
        SDP_ENABLED.update(enabled)
        SDP_ORDER[:] = order


# ------------------------------------------------------------------ computations of GPUs
def list_flash_attention_impls():
    """The names of torch's implementations for GPUs."""
    return ["FA3", "FA4"]


def current_flash_attention_impl():
    """None: the default implementation, since no other can be activated."""
    return None


def activate_flash_attention_impl(impl):
    """NotImplementedError for an implementation of torch's for GPUs. ValueError for another name."""
    if impl not in list_flash_attention_impls():
        raise ValueError(f"Unknown flash attention impl '{impl}'. Available implementations: "
                         f"{list_flash_attention_impls()}")
    raise NotImplementedError(f"flash attention impl '{impl}' is one of GPUs")


def restore_flash_attention_impl(_raise_warn=True):
    """Does nothing, since no other implementation can have been activated."""


register_flash_attention_impl = _refused(__name__, "register_flash_attention_impl", "it would be one of GPUs")

__getattr__ = _namespace(__name__, ["bias", "flex_attention"])
