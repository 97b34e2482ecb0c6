"""The progress of a pass over a DataLoader, for `DataLoader.state_dict`, and the continuation of a pass.

A sampler without a state is run again from its first random numbers to its position, and a stream without a state is
read again. A sampler, a dataset, or the iterator of either that has `state_dict` and `load_state_dict` gives its state
instead. The samplers of this library have both methods, but are run again nevertheless: this costs a pass nothing
unless its state is read.
"""
import contextlib
import itertools
from collections.abc import Collection
from typing import Any

import numpy as np

from ...random import Generator, default_generator
from .sampler import has_own_state, stateful

__all__ = ["NOT_BEGUN", "Indices", "Progress", "advance", "check_fits", "not_begun", "restore_dataset", "resumed",
           "settle", "state_of_fetcher"]

#: The state of a DataLoader before its first pass, with torchdata's names as far as it has them.
NOT_BEGUN: dict[str, Any] = {
    "_num_yielded": 0, "_iterator_finished": False, "_last_yielded_worker_id": None, "_num_workers": 0,
    "_base_seed": None, "_restarted": False, "_sampler_iter_yielded": 0, "_yielded_ahead": [],
    "_indices_drawn": 0, "_index_sampler_state": None, "_sampler_state": None, "_sampler_iter_state": None,
    "_epochs": [], "_generators_at_start": [], "_generators": [], "_worker_snapshots": {},
    "_steps_since_snapshot": 0, "_IterableDataset_len_called": None}


def _stateful(owner):
    """Whether the state of an object is part of the loader's state."""
    return stateful(owner) and not has_own_state(owner)


def _state_of(owner):
    return owner.state_dict() if _stateful(owner) else None


def state_of_fetcher(fetcher, streams=None):
    """The states of a fetcher's dataset and of the dataset's iterator (None without a state), the number of samples
    that it took from a stream, and the states of its random streams if `streams` are passed. None if it has no
    state."""
    dataset, iterator = _state_of(fetcher.dataset), getattr(fetcher, "dataset_iter", None)
    if dataset is None and streams is None and iterator is None:
        return None
    return {"dataset_state": dataset, "random_streams": streams,
            "fetcher_state": {"dataset_iter_state": _state_of(iterator), "samples": getattr(fetcher, "taken", 0)}}


def restore_dataset(dataset, state):
    """Loads the state of a dataset. It must be called before the fetcher is made."""
    if state is not None and state["dataset_state"] is not None:
        dataset.load_state_dict(state["dataset_state"])


def advance(fetcher, state):
    """Brings a new fetcher of a restored dataset to the position of a state."""
    if state is None or not hasattr(fetcher, "dataset_iter"):
        return
    iterator, taken = state["fetcher_state"]["dataset_iter_state"], state["fetcher_state"]["samples"]
    if iterator is not None:
        fetcher.dataset_iter.load_state_dict(iterator)
    elif state["dataset_state"] is None:
        for _ in itertools.islice(fetcher.dataset_iter, taken):
            pass
    fetcher.taken = taken


def _samplers(loader):
    found = loader.batch_sampler, loader.sampler, getattr(loader.batch_sampler, "sampler", None)
    return list({id(sampler): sampler for sampler in found}.values())


def _generators(loader):
    """The generators that decide the order of the samples, beginning with the default generator."""
    found = [loader.generator, *(getattr(sampler, "generator", None) for sampler in _samplers(loader))]
    distinct = {id(g): g for g in found if isinstance(g, Generator) and g is not default_generator}
    return [default_generator, *distinct.values()]


def _with_epochs(loader):
    """The samplers with a `set_epoch`, such as DistributedSampler."""
    return [sampler for sampler in _samplers(loader)
            if hasattr(sampler, "set_epoch") and isinstance(getattr(sampler, "epoch", None), int)]


class Progress:
    """The progress of one pass.

    yielded   the number of yielded batches; `worker`: the worker of the last one
    fetchers  {worker: its fetcher}, or {worker: state} for states that worker processes sent
    streams   {worker: the simulated worker}, which has random streams
    given     the number of indices whose batches are yielded (None: all that were drawn)
    ahead     {position: state of the sampler} for indices whose batches were yielded before their turn
    every     the states that worker processes send are complete after each `every`-th batch
    """

    def __init__(self, loader, every=1):
        self._generators, self._with_epochs = _generators(loader), _with_epochs(loader)
        self._num_workers, self.every = loader.num_workers, every
        self.base_seed, self.streams = None, {}
        self.indices: Any = None               # the Indices of the pass, once it has begun
        self.restart(loader)
        self.restarted = False                 # whether the workers had seeds already, so that the pass drew none

    def restart(self, loader):
        """Begins the next pass of the same workers, before its indices are drawn."""
        self.restarted = True
        self.yielded, self.finished, self.worker = 0, False, None
        self.given: Any = 0
        self.ahead, self.sampler = {}, {}
        self.begun = [generator.get_state() for generator in self._generators]
        self.epochs = [sampler.epoch for sampler in self._with_epochs]
        self.length = loader._IterableDataset_len_called
        self.fetchers = {}
        self._snapshot: Any = None             # the last complete state, if not every state is complete

    def resume(self, state, persistent):
        """Goes to the position of a state. After a pass that has ended, only the dataset of this process, or those of
        `persistent` workers, keep their states."""
        ended = state["_iterator_finished"]
        if state["_num_workers"] == self._num_workers and not (ended and self._num_workers and not persistent):
            self.fetchers = {int(name.removeprefix("worker_")): worker
                             for name, worker in state["_worker_snapshots"].items()}
        if ended:
            self.fetchers = {k: {**worker, "fetcher_state": {"dataset_iter_state": None, "samples": 0}}
                             for k, worker in self.fetchers.items()}
            return
        self.yielded, self.worker = state["_num_yielded"], state["_last_yielded_worker_id"]
        self.given, self.ahead = state["_sampler_iter_yielded"], dict.fromkeys(state["_yielded_ahead"], {})
        self.sampler = {name: state[name] for name in _STATES if state[name] is not None}

    def give(self, sampler, position=None):
        """Notes that the batch at `position` (None: the next batch) is yielded; `sampler`: the sampler's state after
        it."""
        if position is not None and position != self.given:
            self.ahead[position] = sampler
            return
        self.given, self.sampler = self.given + 1, sampler
        while self.ahead and self.given in self.ahead:
            self.sampler = self.ahead.pop(self.given)
            self.given += 1

    def keep(self, yielded=0):
        """Keeps the present state as the complete state, with a number of batches yielded."""
        if self.every > 1:
            self._snapshot = {**self._now(), "_num_yielded": yielded}

    def _now(self):
        workers, given = {}, self.indices.drawn if self.given is None else self.given
        for k, fetcher in self.fetchers.items():
            if fetcher is not None and not isinstance(fetcher, dict):
                fetcher = state_of_fetcher(fetcher, self.streams[k].streams() if k in self.streams else None)
            if fetcher is not None:
                workers[f"worker_{k}"] = fetcher
        return {**NOT_BEGUN, "_num_yielded": self.yielded, "_iterator_finished": self.finished,
                "_last_yielded_worker_id": self.worker, "_num_workers": self._num_workers,
                "_base_seed": self.base_seed, "_restarted": self.restarted, "_sampler_iter_yielded": given,
                "_yielded_ahead": sorted(self.ahead), "_indices_drawn": self.indices.drawn, **self.sampler,
                "_epochs": list(self.epochs), "_generators_at_start": list(self.begun),
                "_generators": states_of_generators(self._generators), "_worker_snapshots": workers,
                "_IterableDataset_len_called": self.length}

    def state_dict(self):
        state = self._now()
        if self.every == 1 or self.finished:
            return state
        names = "_indices_drawn", "_generators"
        return {**self._snapshot, "_steps_since_snapshot": self.given - self._snapshot["_sampler_iter_yielded"],
                **{name: state[name] for name in names}}


def states_of_generators(generators):
    """The states of the generators, except the default generator, which belongs to the program."""
    return [None if generator is default_generator else generator.get_state() for generator in generators]


def not_begun(loader):
    """The state of a DataLoader before its first pass."""
    return {**NOT_BEGUN, "_num_workers": loader.num_workers, "_generators": states_of_generators(_generators(loader))}


def check_fits(loader, state):
    """ValueError if a pass over this loader cannot continue from a state."""
    if len(_generators(loader)) != len(state["_generators"]):
        raise ValueError("this state belongs to a DataLoader with other generators")
    if loader.num_workers == state["_num_workers"] or state["_iterator_finished"] and not loader.persistent_workers:
        return
    kept = any(worker["dataset_state"] is not None for worker in state["_worker_snapshots"].values())
    if loader._dataset_kind or kept:
        what = "a stream" if loader._dataset_kind else "a dataset with a state"
        raise ValueError(f"this state is of a DataLoader with num_workers={state['_num_workers']}: {what} cannot go "
                         f"on with num_workers={loader.num_workers}")


@contextlib.contextmanager
def resumed(loader, state):
    """A context in which the samplers draw the same numbers as in the pass of a state. At its end the global streams
    have their former states, since they belong to the program."""
    import random
    for sampler, epoch in zip(_with_epochs(loader), state["_epochs"]):
        sampler.set_epoch(epoch)
    before, others = default_generator.get_state(), (random.getstate(), np.random.get_state())
    for generator, begun in zip(_generators(loader), state["_generators_at_start"]):
        generator.set_state(begun)
    try:
        yield
    finally:
        default_generator.set_state(before)
        random.setstate(others[0])
        np.random.set_state(others[1])


def settle(loader, state):
    """Sets the generators, except the default generator, to their states in `state`."""
    for generator, state_then in zip(_generators(loader)[1:], state["_generators"][1:]):
        generator.set_state(state_then)


_STATES = "_index_sampler_state", "_sampler_state", "_sampler_iter_state"


class Indices:
    """The indices of a sampler; `resume`: the state of the pass to continue."""

    def __init__(self, sampler, resume=None):
        self.drawn = 0
        self._skipped: Collection[int] = ()    # positions of indices that were yielded before their turn
        self._behind = 0                       # the number of indices of the continued pass to draw again
        inner: Any = getattr(sampler, "sampler", None)
        state = {} if resume is None else {name: resume[name] for name in _STATES if resume[name] is not None}
        for owner, name in (sampler, "_index_sampler_state"), (inner, "_sampler_state"):
            if name in state:
                owner.load_state_dict(state[name])
        self._iterator = iter(sampler)
        if "_sampler_iter_state" in state:
            self._iterator.load_state_dict(state["_sampler_iter_state"])
        if resume is not None:
            self._skipped = frozenset(resume["_yielded_ahead"])
            if state:
                self.drawn = resume["_sampler_iter_yielded"]
            else:
                self._behind = resume["_sampler_iter_yielded"]
        owners = zip(_STATES, (sampler, inner, self._iterator))
        self._owners = {name: owner for name, owner in owners if _stateful(owner)}
        self.stateful = bool(self._owners)

    def __iter__(self):
        return self

    def __next__(self):
        index = next(self._iterator)
        self.drawn += 1
        if self._skipped:
            while self.drawn - 1 in self._skipped:
                index = next(self._iterator)
                self.drawn += 1
        return index

    def catch_up(self):
        """Draws the indices again that the continued pass had drawn."""
        if self._behind:
            self.drawn += sum(1 for _ in itertools.islice(self._iterator, self._behind))

    @property
    def state(self):
        """The states after the last index; {} if there are none, so that indices must be drawn again."""
        return {name: owner.state_dict() for name, owner in self._owners.items()} if self.stateful else {}
