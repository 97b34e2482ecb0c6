"""How far a pass over a DataLoader has come, for `DataLoader.state_dict`, and how a later one continues there.

A sampler without a state of its own is run again from the random numbers that it started with, to where it was; a
stream without one is read again. What has `state_dict` and `load_state_dict` (a sampler, a dataset, the iterator of
either) is asked instead.
"""
import contextlib
import itertools

from ...random import Generator, default_generator

__all__ = ["Indices", "Progress", "advance", "restore_dataset", "resumed", "state_of_fetcher"]


def _states_of(owners):
    """{name: state} of those owners that have one."""
    return {name: owner.state_dict() for name, owner in owners.items() if _stateful(owner)}


def _stateful(owner):
    return hasattr(owner, "state_dict") and hasattr(owner, "load_state_dict")


def state_of_fetcher(fetcher):
    """Of its dataset and of the iterator of that, if they have one, and how many samples it took from a stream."""
    owners = {"dataset": fetcher.dataset, "iterator": getattr(fetcher, "dataset_iter", None)}
    return {**_states_of(owners), "samples": getattr(fetcher, "taken", 0)}


def restore_dataset(dataset, state):
    """To be called before the fetcher is made."""
    if state is not None and "dataset" in state:
        dataset.load_state_dict(state["dataset"])


def advance(fetcher, state):
    """Bring a new fetcher of a restored dataset to where the state was taken."""
    if state is None or not hasattr(fetcher, "dataset_iter"):
        return
    if "iterator" in state:
        fetcher.dataset_iter.load_state_dict(state["iterator"])
    elif "dataset" not in state:
        for _ in itertools.islice(fetcher.dataset_iter, state["samples"]):
            pass
    fetcher.taken = state["samples"]


def _generators(loader):
    """Those that decide the order of the samples, without the default one."""
    found = [loader.generator]
    for sampler in (loader.batch_sampler, loader.sampler, getattr(loader.batch_sampler, "sampler", None)):
        found.append(getattr(sampler, "generator", None))
    distinct = {id(g): g for g in found if isinstance(g, Generator) and g is not default_generator}
    return [default_generator, *distinct.values()]


class Progress:
    """Of one pass: `yielded` batches, the last by worker `worker`; `fetchers` by worker, or the states that worker
    processes sent."""

    def __init__(self, loader):
        self.yielded, self.finished, self.worker = 0, False, None
        self.begun = [generator.get_state() for generator in _generators(loader)]
        self.fetchers = {}
        self.sampler = {}                      # states of the sampler and its iterator, if they have one

    def restart(self, loader):
        """The next pass of the same workers."""
        self.__init__(loader)

    def state_dict(self):
        workers = {k: f if isinstance(f, dict) else state_of_fetcher(f) for k, f in self.fetchers.items()}
        return {"_num_yielded": self.yielded, "_iterator_finished": self.finished, "_last_worker": self.worker,
                "_generators": list(self.begun), "_sampler": dict(self.sampler), "_workers": workers}


@contextlib.contextmanager
def resumed(loader, state):
    """Inside, what decides the order of the samples draws what it drew in the pass that the state is of."""
    generators = _generators(loader)
    if len(generators) != len(state["_generators"]):
        raise ValueError("this state is of a DataLoader with other generators")
    before = default_generator.get_state()
    for generator, begun in zip(generators, state["_generators"]):
        generator.set_state(begun)
    try:
        yield
    finally:
        default_generator.set_state(before)


class Indices:
    """The indices that a sampler gives; `resume`: the state of a pass to be continued."""

    def __init__(self, sampler, resume=None):
        self._behind = 0                       # indices of the pass to be continued that are to be drawn again
        self._owners = {"sampler": sampler, "inner": getattr(sampler, "sampler", None)}
        state = resume["_sampler"] if resume else {}
        for name, owner in self._owners.items():
            if name in state:
                owner.load_state_dict(state[name])
        self._owners["iterator"] = self._iterator = iter(sampler)
        if "iterator" in state:
            self._iterator.load_state_dict(state["iterator"])
        elif resume and not state:
            self._behind = resume["_num_yielded"]
        self._stateful = any(map(_stateful, self._owners.values()))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)

    def catch_up(self):
        """Draw what was drawn in the pass to be continued."""
        for _ in itertools.islice(self._iterator, self._behind):
            pass

    @property
    def state(self):
        """After the last index: {} if that cannot be told, and is to be drawn again."""
        return _states_of(self._owners) if self._stateful else {}
