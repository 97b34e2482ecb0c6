"""Join: processes that have different numbers of inputs."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import distributed as dist
from ...device import device
from ...errors import warn
from ...tensor import wrap

__all__ = ["Join", "JoinHook", "Joinable"]

_MANY = 1000                                   # iterations ahead of this process that are worth a warning


class JoinHook:
    """What a process does that has no inputs left, while others have."""

    def main_hook(self) -> None:
        """Called for each iteration of the others: takes part in the collectives that they call in it."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called once no process has inputs left. `is_last_joiner`: this is one of those that had most."""


class _JoinConfig(NamedTuple):
    enable: bool = False
    throw_on_early_termination: bool = False
    is_first_joinable: bool = False


class Joinable(ABC):
    """What can be given to Join: its join_hook() shadows the collectives of an iteration."""

    @abstractmethod
    def __init__(self) -> None:
        self._join_config = _JoinConfig()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process does for this object when it is through; kwargs are those of Join."""

    @property
    @abstractmethod
    def join_device(self) -> device:
        """Where tensors for collectives are to be."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """Who takes part in the collectives."""


def _sum(value, group):
    """The Work of summing a number over the group. Always that: MPI tells collectives that are waited for at once from
    those that are not, and what one rank calls has to be what the others call."""
    return dist.all_reduce(wrap(np.full(1, value, np.float32)), group=group, async_op=True)


def _summed(value, group):
    work = _sum(value, group)
    work.wait()
    return work.result()[0].item()


class Join:
    """Context manager for loops over different numbers of inputs. A process that leaves it runs the join hooks of
    `joinables` until all have left, so that nobody waits for it.

    With `throw_on_early_termination` all raise RuntimeError instead, as soon as one has no inputs left. `enable=False`
    does nothing. ValueError without joinables, or for joinables of different groups.
    """

    def __init__(self, joinables: Sequence[Joinable], enable: bool = True, throw_on_early_termination: bool = False,
                 **kwargs: Any) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable, self._throws = enable, throw_on_early_termination
        for i, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, i == 0)
        self._group = joinables[0].join_process_group
        if any([joinable.join_process_group is not self._group for joinable in joinables]):
            raise ValueError("Using join context manager with multiple process groups")
        self._rank = dist.get_rank(self._group)

    def __enter__(self) -> None:
        """Nothing: the joinables know already."""

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if not self._enable or kind:
            return
        is_last, iterations = True, 0
        while _summed(0, self._group):
            if iterations == _MANY + 1:
                warn(f"Detected uneven input skew of greater than {_MANY}. This means that rank {self._rank} "
                     f"has at least {_MANY} fewer inputs than other currently-active ranks. This level of "
                     "skew could lead to performance degradation during training.")
            if self._throws:
                _summed(1, self._group)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            is_last, iterations = False, iterations + 1
        for hook in self._join_hooks:
            hook.post_hook(is_last)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Tells the processes that are through that this one is not: a joinable calls it before the collectives of an
        iteration. Returns the Work of counting those that are not, None outside Join or from other than the first
        joinable. RuntimeError if one is through and that is to end all."""
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config, group = joinable._join_config, joinable.join_process_group
        if not config.is_first_joinable or not config.enable:
            return None
        work = _sum(1, group)
        if config.throw_on_early_termination and _summed(0, group):
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work
