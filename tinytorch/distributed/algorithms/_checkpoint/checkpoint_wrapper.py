"""Modules around modules, which compute them by torch.utils.checkpoint. Names of parameters stay as they were."""
from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any

from ....autograd.graph import save_on_cpu
from ....nn import Module, Parameter
from ....utils.checkpoint import checkpoint

__all__ = ["ActivationWrapper", "CheckpointImpl", "CheckpointWrapper", "OffloadWrapper",
           "apply_activation_checkpointing", "checkpoint_wrapper", "offload_wrapper"]

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(enum.Enum):
    """How torch.utils.checkpoint works: `use_reentrant` or not."""

    REENTRANT = 1
    NO_REENTRANT = 2


class ActivationWrapper(Module):
    """What a module around another has: its attributes, its items, and the names of its parameters."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_without_prefix)
        self.register_load_state_dict_pre_hook(_with_prefix)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_CHECKPOINT_WRAPPED_MODULE), name)

    def __getitem__(self, key: Any) -> Any:
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        """Those of the module, by the names that they have there."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), parameter


def _renamed(state, old, new):
    """The entries of a state_dict under `old` stand under `new`, in the order of before."""
    if old != new:
        for name in [*state]:
            value = state.pop(name)
            state[new + name.removeprefix(old) if name.startswith(old) else name] = value


def _without_prefix(module, state_dict, prefix, *args):
    _renamed(state_dict, prefix + _CHECKPOINT_PREFIX, prefix)
    return state_dict


def _with_prefix(module, state_dict, prefix, *args):
    _renamed(state_dict, prefix, prefix + _CHECKPOINT_PREFIX)


class OffloadWrapper(ActivationWrapper):
    """A module whose saved tensors are kept in the memory of the CPU."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module whose forward is computed again in backward. `checkpoint_fn` is called in the place of
    torch.utils.checkpoint.checkpoint; `checkpoint_fn_kwargs` are its further arguments."""

    def __init__(self, mod: Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
                 checkpoint_fn: Callable | None = None, **checkpoint_fn_kwargs: Any) -> None:
        super().__init__(mod)
        self.checkpoint_impl, self._options = checkpoint_impl, checkpoint_fn_kwargs
        self._calls = checkpoint_fn or checkpoint
        if checkpoint_fn is None:
            self._options = {"use_reentrant": checkpoint_impl is CheckpointImpl.REENTRANT, **checkpoint_fn_kwargs}

    def checkpoint_fn(self, function: Callable, *args: Any, **kwargs: Any) -> Any:
        """The function that is called in the place of the module."""
        return self._calls(function, *args, **self._options, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        module = self._checkpoint_wrapped_module
        if self.checkpoint_impl is CheckpointImpl.REENTRANT and kwargs:        # which takes no keywords
            count, names = len(args), list(kwargs)
            return self.checkpoint_fn(lambda *given: module(*given[:count], **dict(zip(names, given[count:]))),
                                      *args, *kwargs.values())
        return self.checkpoint_fn(module, *args, **kwargs)


def offload_wrapper(module: Module) -> Module:
    """The module, whose saved tensors are kept in the memory of the CPU."""
    return OffloadWrapper(module)


def checkpoint_wrapper(module: Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
                       checkpoint_fn: Callable | None = None, **checkpoint_fn_kwargs: Any) -> Module:
    """The module, whose forward is computed again in backward (see `CheckpointWrapper`).

    >>> import tinytorch as torch
    >>> from tinytorch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
    >>> [name for name, _ in checkpoint_wrapper(torch.nn.Linear(2, 2)).named_parameters()]
    ['weight', 'bias']
    """
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(model: Module, checkpoint_wrapper_fn: Callable = checkpoint_wrapper,
                                   check_fn: Callable[[Module], bool] = lambda _: True,
                                   auto_wrap_policy: Callable | None = None) -> None:
    """Puts checkpoint_wrapper_fn(module) in the place of each module below `model` of which check_fn(module) is true.
    NotImplementedError for an `auto_wrap_policy`."""
    if auto_wrap_policy is not None:
        raise NotImplementedError("apply_activation_checkpointing(auto_wrap_policy=...) is not supported: say check_fn")
    for name, child in [*model.named_children()]:
        apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn)
        if check_fn(child):
            setattr(model, name, checkpoint_wrapper_fn(child))
