"""torch.distributed.algorithms.ddp_comm_hooks: how the gradients of DistributedDataParallel are sent."""
from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ....missing import namespace as _namespace
from . import debugging_hooks, default_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


class _Registers:
    """A value of DDPCommHookType: value(model=model, state=group) registers the hook."""

    def __init__(self, hook: Callable) -> None:
        self.hook = hook

    def __call__(self, model: Any, state: Any) -> None:
        model.register_comm_hook(state, self.hook)


class DDPCommHookType(Enum):
    """The hooks by name."""

    ALLREDUCE = _Registers(default_hooks.allreduce_hook)
    FP16_COMPRESS = _Registers(default_hooks.fp16_compress_hook)
    BF16_COMPRESS = _Registers(default_hooks.bf16_compress_hook)
    NOOP = _Registers(debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Registers the hook of that name with a DistributedDataParallel; `state` is its process group, None for all."""
    comm_hook_type.value(model=model, state=state)


__getattr__ = _namespace(__name__)
