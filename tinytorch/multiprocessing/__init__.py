"""torch.multiprocessing: Python's multiprocessing, whose queues, pipes and processes pass tensors in shared memory, and
`spawn`."""
import multiprocessing
from multiprocessing import *  # noqa: F403  (torch's module too is Python's with additions)

from .reductions import init_reductions
from .spawn import (ENV_VAR_PARALLEL_START, ProcessContext, ProcessExitedException, ProcessRaisedException,
                    SpawnContext, spawn, start_processes)

__all__ = ["ENV_VAR_PARALLEL_START", "ProcessContext", "ProcessExitedException", "ProcessRaisedException",
           "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn",
           "start_processes", *multiprocessing.__all__]

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies():
    """The names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy():
    """The strategy that was set, "file_descriptor" at first."""
    return _strategy


def set_sharing_strategy(new_strategy):
    """Sets the strategy for sharing memory: "file_descriptor" or "file_system". Here both are the same, and shared
    memory never leaves a file behind. AssertionError for any other name.

    >>> import tinytorch as torch
    >>> torch.multiprocessing.set_sharing_strategy("file_system")
    >>> torch.multiprocessing.get_sharing_strategy()
    'file_system'
    >>> torch.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}")
    _strategy = new_strategy


init_reductions()
