"""The names of torch._C that classes with `__torch_function__` use, and the switch of threads."""
from .autograd.grad_mode import is_multithreading_enabled as _is_multithreading_enabled
from .autograd.torch_function import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    EnableTorchFunction as _EnableTorchFunction,
    _disabled_torch_function_impl,
    enabled as _is_torch_function_enabled,
    modes as _modes,
    skip_one_hop as _skip_one_hop_torch_function,
)
from .overrides import (
    _pop_mode as _pop_torch_function_stack,
    _push_mode as _push_on_torch_function_stack,
    has_torch_function as _has_torch_function,
    has_torch_function_unary as _has_torch_function_unary,
    has_torch_function_variadic as _has_torch_function_variadic,
)

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_EnableTorchFunction",
           "_disabled_torch_function_impl", "_get_function_stack_at", "_has_torch_function",
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
