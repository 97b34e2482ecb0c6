"""A pass over a DataLoader, or over a sampler, that goes on from a state: what it gives is what the uncut one gives."""
import io
import pickle
import random
import sys

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.utils import data

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="counts processes"),
              pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
              pytest.mark.filterwarnings("ignore:This DataLoader will create")]


class Squares(data.Dataset):
    def __len__(self):
        return 23

    def __getitem__(self, i):
        return i * i


class Noisy(Squares):
    """Each sample draws from all global streams."""

    def __getitem__(self, i):
        return i, torch.randn(2).tolist(), random.random(), np.random.rand(), torch.randn(1).item()


class Stream(data.IterableDataset):
    def __init__(self, n=23):
        self.n = n

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, self.n if first != 1 else self.n // 2, step):      # worker 1 ends early
            yield i, torch.rand(1).item(), random.random()


class Remembering(Stream):
    """A stream with a state that lasts: each pass gives eight more numbers."""

    at, left = 0, None

    def __iter__(self):
        self.left = 8 if self.left is None else self.left
        while self.left:
            self.left, self.at = self.left - 1, self.at + 1
            yield self.at, getattr(data.get_worker_info(), "id", None)
        self.left = None

    def state_dict(self):
        return {"at": self.at, "left": self.left}

    def load_state_dict(self, state):
        self.at, self.left = state["at"], state["left"]


def same(batch):
    return batch


class Program:
    """A training without the training: passes over a loader, with draws in between, and its checkpoint."""

    def __init__(self, make, seed=3):
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)
        self.generator = torch.Generator().manual_seed(seed + 1)
        self.loader = make(self.generator)
        self.epoch, self.log = 0, []

    def save(self):
        file = io.BytesIO()
        torch.save({"loader": self.loader.state_dict(), "epoch": self.epoch, "torch": torch.get_rng_state(),
                    "own": self.generator.get_state(), "random": random.getstate(),
                    "numpy": np.random.get_state()[1].tolist(), "numpy_at": np.random.get_state()[2]}, file)
        return file.getvalue()

    def load(self, saved):
        state = torch.load(io.BytesIO(saved))
        self.loader.load_state_dict(state["loader"])
        self.epoch = state["epoch"]
        self.generator.set_state(state["own"])
        torch.set_rng_state(state["torch"])
        version, key, gauss = state["random"]
        random.setstate((version, tuple(key), gauss))
        np.random.set_state(("MT19937", np.array(state["numpy"], np.uint32), state["numpy_at"]))

    def run(self, epochs, cut=None):
        """To the end of that many passes, or to the batch `cut`, of which it returns a checkpoint."""
        while self.epoch < epochs:
            for batch in self.loader:
                self.log.append((self.epoch, batch, torch.rand(1).item(), random.random(),
                                 torch.rand(1, generator=self.generator).item()))
                if cut == len(self.log):
                    return self.save()
            self.epoch += 1
            self.log.append(("end", torch.rand(1).item()))
            if cut == len(self.log):
                return self.save()
        return None


def goes_on(make, cuts, epochs=3):
    """Whether programs that are cut there and go on give what the uncut one gives."""
    whole = Program(make)
    whole.run(epochs)
    for cut in cuts:
        first = Program(make)
        saved = first.run(epochs, cut)
        assert saved is not None, "the program ended before the cut"
        del first.loader
        second = Program(make, seed=99)
        second.load(saved)
        second.run(epochs)
        assert first.log + second.log == whole.log, cut
    return len(whole.log)


SAMPLERS = {
    "order": lambda d, g: {},
    "shuffle": lambda d, g: {"shuffle": True},
    "shuffle by a generator": lambda d, g: {"shuffle": True, "generator": g},
    "replacement": lambda d, g: {"sampler": data.RandomSampler(d, True, num_samples=75)},
    "replacement by a generator": lambda d, g: {"sampler": data.RandomSampler(d, True, 75, generator=g.clone_state())},
    "several permutations": lambda d, g: {"sampler": data.RandomSampler(d, num_samples=50)},
    "weighted": lambda d, g: {"sampler": data.WeightedRandomSampler(range(23), 30)},
    "weighted by a generator": lambda d, g: {"sampler": data.WeightedRandomSampler(range(23), 30, generator=g)},
    "subset": lambda d, g: {"sampler": data.SubsetRandomSampler(range(1, 20))},
    "distributed": lambda d, g: {"sampler": data.DistributedSampler(d, 2, 1)},
    "batches": lambda d, g: {"batch_sampler": data.BatchSampler(data.RandomSampler(d), 4, True), "batch_size": 1},
    "single": lambda d, g: {"shuffle": True, "batch_size": None},
}


def loader_of(dataset, sampler, workers, **more):
    def make(generator):
        options = {"batch_size": 3, "collate_fn": same, **SAMPLERS[sampler](dataset, generator), **more}
        return data.DataLoader(dataset, num_workers=workers, **options)
    return make


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_orders_go_on(sampler):
    dataset = Noisy()                          # which draws from the program's own streams
    steps = goes_on(loader_of(dataset, sampler, 0), (1, 2, 7, 8), epochs=2)
    goes_on(loader_of(dataset, sampler, 0), (steps // 2 - 1, steps // 2, steps // 2 + 1, steps - 2), epochs=2)


@pytest.mark.parametrize("sampler", ["shuffle", "shuffle by a generator", "replacement", "weighted", "distributed",
                                     pytest.param("subset", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("workers", [1, 2])
def test_orders_go_on_with_workers(sampler, workers):
    if sampler == "replacement":               # chunks are drawn as batches are given out, not as they are yielded
        goes_on(loader_of(Squares(), sampler, workers), (1, 26, 30), epochs=2)
    else:
        goes_on(loader_of(Squares(), sampler, workers), (1, 5), epochs=2)


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("workers", [1, 2])
def test_random_numbers_of_workers_go_on(workers, persistent, every):
    make = loader_of(Noisy(), "shuffle by a generator", workers, persistent_workers=persistent,
                     snapshot_every_n_steps=every)
    # a pass has 8 batches: cut in the first one, at its last batch, at its end, and in the second one
    goes_on(make, (1, 6, 8, 9, 11), epochs=2)


@pytest.mark.parametrize("dataset", [Stream, Remembering])
@pytest.mark.parametrize("workers, persistent", [(0, False), (2, False), (2, True),
                                                 pytest.param(3, False, marks=pytest.mark.sweep)])
def test_streams_go_on(dataset, workers, persistent):
    def make(generator):
        return data.DataLoader(dataset(), 2, num_workers=workers, collate_fn=same, persistent_workers=persistent,
                               snapshot_every_n_steps=1)
    goes_on(make, (3, 5, 9), epochs=2)


def test_simulated_workers_go_on(monkeypatch):
    monkeypatch.setattr("tinytorch.utils.data.dataloader._simulates_workers", lambda loader: True)
    for persistent in (False, True):
        goes_on(loader_of(Noisy(), "shuffle", 2, persistent_workers=persistent), (1, 4, 8, 9, 11), epochs=2)


def test_the_number_of_workers_may_change():
    loader = loader_of(Squares(), "shuffle", 2)(None)
    batches = iter(loader)
    first, state = [next(batches) for _ in range(3)], loader.state_dict()
    rest = list(batches)
    assert sorted(sum(first + rest, [])) == sorted(i * i for i in range(23))
    for workers in (0, 1, 3):
        again = loader_of(Squares(), "shuffle", workers)(None)
        again.load_state_dict(state)
        assert list(again) == rest
    for dataset in (Stream(), Remembering()):
        loader = data.DataLoader(dataset, 2, num_workers=2, collate_fn=same)
        next(iter(loader))
        again = data.DataLoader(dataset, 2, collate_fn=same)
        again.load_state_dict(loader.state_dict())
        with pytest.raises(ValueError, match="with num_workers=2: a stream cannot go on with num_workers=0"):
            iter(again)
    again = loader_of(Squares(), "shuffle by a generator", 2)(torch.Generator())
    again.load_state_dict(state)
    with pytest.raises(ValueError, match="other generators"):
        iter(again)


class Uneven(Squares):
    def __getitem__(self, i):
        import time
        time.sleep(0.03 * (i % 2))
        return i


def test_batches_out_of_their_order_are_neither_lost_nor_given_twice():
    def make():
        return data.DataLoader(Uneven(), None, shuffle=True, num_workers=2, in_order=False)
    for cut in (1, 4, 9):
        loader = make()
        batches = iter(loader)
        first, state = [next(batches) for _ in range(cut)], loader.state_dict()
        again = make()
        again.load_state_dict(state)
        batches = iter(again)
        first += [next(batches) for _ in range(5)]
        third = make()
        third.load_state_dict(pickle.loads(pickle.dumps(again.state_dict())))
        assert sorted(first + list(third)) == list(range(23))


class Failing(Squares):
    def __getitem__(self, i):
        if i == 4:
            raise KeyError(i)
        return i


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_sample_that_fails_was_given(workers, every):
    loader = data.DataLoader(Failing(), None, num_workers=workers, snapshot_every_n_steps=every)
    batches = iter(loader)
    first = [next(batches) for _ in range(4)]
    with pytest.raises(KeyError):
        next(batches)
    first += [next(batches), next(batches)]
    again = data.DataLoader(Failing(), None, num_workers=workers, snapshot_every_n_steps=every)
    again.load_state_dict(loader.state_dict())
    assert first + list(again) == [i for i in range(23) if i != 4]


def test_a_pass_of_no_batches_yet():
    torch.manual_seed(0)
    loader = loader_of(Squares(), "shuffle", 0)(None)
    batches, after = iter(loader), torch.get_rng_state()
    state = loader.state_dict()
    assert state["_num_yielded"] == 0
    torch.manual_seed(5)
    again = loader_of(Squares(), "shuffle", 0)(None)
    again.load_state_dict(state)
    torch.set_rng_state(after)
    rest, end = list(again), torch.get_rng_state()
    torch.set_rng_state(after)
    assert list(batches) == rest and torch.equal(torch.get_rng_state(), end)


def test_a_state_says_what_torchdata_says():
    from tinytorch.utils.data.stateful_dataloader import StatefulDataLoader
    loader = StatefulDataLoader(Noisy(), 3, shuffle=True, num_workers=2, collate_fn=same)
    assert loader.snapshot_every_n_steps == 1 and loader.state_dict()["_num_yielded"] == 0
    batches = iter(loader)
    next(batches), next(batches)
    state = loader.state_dict()
    assert state["_num_yielded"] == 2 and not state["_iterator_finished"] and state["_num_workers"] == 2
    assert state["_last_yielded_worker_id"] == 1 and sorted(state["_worker_snapshots"]) == ["worker_0", "worker_1"]
    assert state["_steps_since_snapshot"] == 0
    rest = list(batches)
    assert loader.state_dict()["_iterator_finished"]
    loader.load_state_dict({})                 # begins anew
    assert len(list(loader)) == 8
    loader.load_state_dict(state)
    assert list(loader) == rest
    with pytest.raises(ValueError, match="snapshot_every_n_steps should be positive, but got 0"):
        StatefulDataLoader(Noisy(), snapshot_every_n_steps=0)


def test_states_are_not_sent_unasked():
    """What a worker answers has neither the state of a dataset that has none, nor that of its random streams."""
    for every, there in ((None, set()), (1, {"worker_0"})):
        loader = data.DataLoader(Noisy(), 3, num_workers=1, collate_fn=same, snapshot_every_n_steps=every)
        batches = iter(loader)
        next(batches)
        assert set(loader.state_dict()["_worker_snapshots"]) == there


# ------------------------------------------------------------------ samplers
def samplers(generator=False):
    g = torch.Generator().manual_seed(5) if generator else None
    dataset = range(70)
    return [data.SequentialSampler(dataset), data.RandomSampler(dataset, generator=g),
            data.RandomSampler(dataset, num_samples=150, generator=g),
            data.RandomSampler(dataset, True, 100, generator=g),
            data.SubsetRandomSampler(range(10, 60), generator=g),
            data.WeightedRandomSampler([1.] * 9, 70, generator=g),
            data.DistributedSampler(dataset, 2, 1), data.DistributedSampler(dataset, 3, 1, shuffle=False),
            data.BatchSampler(data.RandomSampler(dataset, True, generator=g), 4, True),
            data.BatchSampler(data.SequentialSampler(range(70)), 4, False),
            data.BatchSampler(list(range(70)), 4, False)]


@pytest.mark.parametrize("generator", [False, True])
@pytest.mark.parametrize("given", [0, 1, 9, 17, "all but the end", "all"])
def test_samplers_go_on(given, generator):
    for k, (sampler, again) in enumerate(zip(samplers(generator), samplers(generator))):
        if isinstance(sampler, data.DistributedSampler):
            sampler.set_epoch(7)
        indices = iter(sampler)
        count = given if isinstance(given, int) else len(sampler)
        first = [next(indices) for _ in range(count)]
        if given == "all":
            assert next(indices, None) is None
        if getattr(sampler, "generator", None) is not None:
            torch.rand(3, generator=sampler.generator)           # the program draws from it as well
        state = pickle.loads(pickle.dumps(sampler.state_dict()))
        defaults = torch.get_rng_state()
        if given in (0, "all"):                # a new pass, which begins when its first index is wanted
            rest = list(indices if given == 0 else sampler)
        else:
            rest = list(indices)
        after = torch.get_rng_state()
        torch.set_rng_state(defaults)
        again.load_state_dict(state)
        assert again.state_dict() is not None and list(again) == rest, k
        assert torch.equal(torch.get_rng_state(), after), k
        if given == "all but the end":
            assert not rest and len(first) == len(sampler)
        if getattr(sampler, "generator", None) is not None:
            assert torch.equal(sampler.generator.get_state(), again.generator.get_state()), k
        assert len(list(again)) == len(again)  # and then a whole pass


def test_a_state_is_taken_of_a_pass_that_went_on():
    for sampler, again, third in zip(samplers(), samplers(), samplers()):
        indices = iter(sampler)
        first = [next(indices) for _ in range(5)]
        again.load_state_dict(sampler.state_dict())
        indices_again = iter(again)
        first += [next(indices_again) for _ in range(5)]
        third.load_state_dict(again.state_dict())
        assert list(third) == list(indices)[5:]


def test_samplers_with_passes_of_their_own():
    class Backwards(data.RandomSampler):
        def __iter__(self):
            return iter(list(super().__iter__())[::-1])
    sampler = Backwards(range(5))
    with pytest.raises(NotImplementedError, match="Backwards defines __iter__ and no state_dict that fits it"):
        sampler.state_dict()
    batches = data.BatchSampler(sampler, 2, False)
    next(iter(batches))
    assert batches.state_dict() == {"samples_yielded": 2, "sampler_state": None, "sampler_iter_state": None,
                                    "ended": False}
    loader = data.DataLoader(range(5), sampler=sampler)          # which runs it again
    passing = iter(loader)
    next(passing)
    state = loader.state_dict()
    rest = list(passing)
    loader.load_state_dict(state)
    assert list(loader) == rest
    with pytest.raises(KeyError):
        data.RandomSampler(range(5)).load_state_dict({})


def test_samplers_are_pickled_and_copied_in_a_pass():
    for sampler in samplers():
        next(iter(sampler))
        assert len(list(pickle.loads(pickle.dumps(sampler)))) == len(sampler)


# ------------------------------------------------------------------ random numbers by index
def samples(workers, batch=3, shuffle=False, dataset=None, epochs=1, cut=None, **more):
    torch.manual_seed(11)
    random.seed(workers)
    loader = data.DataLoader(dataset or Noisy(), batch, shuffle, num_workers=workers, collate_fn=same,
                             seed_by_index=True, **more)
    return [sorted(sum(loader, [])) for _ in range(epochs)]


def test_numbers_by_index():
    one = samples(0, epochs=2)
    assert one[0] != one[1]                    # passes differ
    assert len({sample[2] for sample in one[0]}) == len({sample[3] for sample in one[0]}) == 23
    assert samples(1, epochs=2) == samples(2, epochs=2) == samples(3, batch=5, epochs=2) == one
    assert samples(0, batch=7, epochs=2) == one
    assert samples(2, epochs=2, persistent_workers=True) == one
    assert samples(2, epochs=2, in_order=False) == one
    shuffled = samples(0, shuffle=True, epochs=2)
    assert shuffled == samples(2, shuffle=True, epochs=2) == samples(2, shuffle=True, epochs=2, persistent_workers=True)


@pytest.mark.sweep
def test_numbers_by_index_in_a_process_of_its_own():
    assert samples(1, epochs=2, multiprocessing_context="spawn") == samples(0, epochs=2)


def test_numbers_by_index_leave_the_programs_streams_alone():
    class Counted(Noisy):
        def __getitems__(self, indices):
            return [self[i] for i in indices]

    def drawn(dataset, by_index):
        torch.manual_seed(1)
        random.seed(1)
        np.random.seed(1)
        loader = data.DataLoader(dataset, 4, True, collate_fn=same, seed_by_index=by_index)
        batches = list(loader)
        return batches, (torch.rand(1).item(), random.random(), np.random.rand())
    plain = drawn(Squares(), False)
    for dataset in (Noisy(), Counted()):
        batches, after = drawn(dataset, True)
        assert after == plain[1] and [[s[0]**2 for s in batch] for batch in batches] == plain[0]
        assert batches == drawn(dataset, True)[0]


def draws_in_collation(batch):
    return batch, torch.rand(1).item(), random.random()


def test_collations_draw_by_index():
    def batches(workers):
        torch.manual_seed(4)
        return list(data.DataLoader(Noisy(), 4, True, num_workers=workers, collate_fn=draws_in_collation,
                                    seed_by_index=True))
    assert batches(0) == batches(2)
    assert len({batch[1] for batch in batches(0)}) == 6


def test_numbers_by_index_go_on():
    for workers, persistent in ((0, False), (2, False), (2, True)):
        goes_on(loader_of(Noisy(), "shuffle", workers, persistent_workers=persistent, seed_by_index=True),
                (1, 5, 8, 9, 11), epochs=2)


def test_which_indices_seed():
    class Named(Noisy):
        def __getitem__(self, i):
            return torch.rand(1).item()
    names = [("a", 1), ("a", 2), "b", np.int64(3), torch.tensor(3), 3, True]
    torch.manual_seed(0)
    drawn = [batch[0] for batch in data.DataLoader(Named(), sampler=names, collate_fn=same, seed_by_index=True)]
    assert len(set(drawn)) == 5 and drawn[3] == drawn[4] == drawn[5]
    with pytest.raises(TypeError, match="integers, strings or tuples of these, but got float"):
        list(data.DataLoader(Named(), sampler=[0.5], collate_fn=same, seed_by_index=True))
    with pytest.raises(ValueError, match="unspecified seed_by_index option, but got seed_by_index=True"):
        data.DataLoader(Stream(), seed_by_index=True)
