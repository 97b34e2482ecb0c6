"""torch.utils.data: datasets, samplers, collation, the DataLoader and its simulated workers."""
import random
from collections import namedtuple

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.utils import data
from tinytorch.utils.data import dataloader

Point = namedtuple("Point", ["x", "y"])


@pytest.fixture
def pairs():
    return data.TensorDataset(torch.arange(20.).reshape(10, 2), torch.arange(10))


class Squares(data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return torch.tensor([float(i)]), i * i


class Counting(data.IterableDataset):
    def __init__(self, n=7):
        self.first, self.n = 0, n

    def __iter__(self):
        return iter(range(self.first, self.n))


def test_every_sample_once_per_pass(pairs):
    loader = data.DataLoader(pairs, batch_size=4, shuffle=True)
    assert len(loader) == 3
    first, second = ([y.tolist() for _, y in loader] for _ in range(2))
    assert [len(y) for y in first] == [4, 4, 2] and first != second
    assert sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(10))
    for x, y in loader:
        assert x.tolist() == [[2 * i, 2 * i + 1] for i in y.tolist()]


def test_rows_at_once_are_the_rows_one_by_one(pairs):
    class Slow(data.TensorDataset):
        pass
    slow = Slow(*pairs.tensors)
    for make in (lambda d: d, lambda d: data.Subset(d, [5, 0, 5, -1])):
        batches = [list(data.DataLoader(make(d), 3)) for d in (pairs, slow)]
        for ours, theirs in zip(*batches):
            assert [t.tolist() for t in ours] == [t.tolist() for t in theirs] and type(ours) is type(theirs) is list
    with pytest.raises(IndexError):
        list(data.DataLoader(pairs, sampler=[3, 99]))


def test_batches_of_tensors_that_require_grad_are_recorded():
    x = torch.ones(4, 2, requires_grad=True)
    total = sum(batch.sum() for batch, in data.DataLoader(data.TensorDataset(x), 2))
    total.backward()
    assert x.grad.tolist() == [[1, 1]] * 4


def test_loading_without_batches():
    assert [y for _, y in data.DataLoader(Squares(), batch_size=None)] == [i * i for i in range(10)]
    assert list(data.DataLoader([np.float32(1)], batch_size=None))[0].dtype == torch.float32


def test_streams():
    assert [b.tolist() for b in data.DataLoader(Counting(), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in data.DataLoader(Counting(), 3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]
    assert list(Counting(2) + Counting(3)) == [0, 1, 0, 1, 2]
    with pytest.raises(ValueError, match="expected unspecified shuffle option"):
        data.DataLoader(Counting(), shuffle=True)


def test_stream_longer_than_it_said():
    class Liar(Counting):
        def __len__(self):
            return 3
    loader = data.DataLoader(Liar(), batch_size=None)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match="was reported to be 3"):
        list(loader)


def test_the_same_seed_gives_the_same_order():
    orders = []
    for _ in range(2):
        torch.manual_seed(1)
        orders.append([y.tolist() for _, y in data.DataLoader(Squares(), 3, shuffle=True)])
    own = []
    for _ in range(2):
        loader = data.DataLoader(Squares(), 3, shuffle=True, generator=torch.Generator().manual_seed(4))
        own.append([y.tolist() for _, y in loader])
    assert orders[0] == orders[1] and own[0] == own[1] != orders[0]


class Draws(data.Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        info = data.get_worker_info()
        return info.id, info.num_workers, random.random() + np.random.rand() + torch.rand(()).item()


def test_workers_share_the_work_and_leave_no_trace(monkeypatch):
    def draw():
        torch.manual_seed(0)
        return [[x.item() for x in batch] for batch in data.DataLoader(Draws(), 1, num_workers=2)]
    python, numpy = random.getstate(), np.random.get_state()[1].tolist()
    in_processes = draw()
    monkeypatch.setattr(dataloader, "_simulates_workers", lambda loader: True)
    assert draw() == in_processes and [batch[:2] for batch in in_processes] == [[k % 2, 2] for k in range(5)]
    assert data.get_worker_info() is None
    assert random.getstate() == python and np.random.get_state()[1].tolist() == numpy


def test_worker_init_fn_may_split_a_stream():
    def split(k):
        dataset = data.get_worker_info().dataset
        dataset.first, dataset.n = 4 * k, 4 * k + 3
    source = Counting()
    loader = data.DataLoader(source, batch_size=None, num_workers=2, worker_init_fn=split, persistent_workers=True)
    assert list(loader) == [0, 4, 1, 5, 2, 6] == list(loader)
    assert (source.first, source.n) == (0, 7)


@pytest.mark.parametrize("options, message", [
    ({"num_workers": -1}, "should be non-negative"), ({"prefetch_factor": 2}, "only be specified in multiprocessing"),
    ({"persistent_workers": True}, "needs num_workers > 0"),
    ({"sampler": [1], "shuffle": True}, "exclusive with shuffle"),
    ({"batch_sampler": [[1]], "batch_size": 2}, "mutually exclusive"), ({"batch_size": 0}, "positive integer"),
    ({"batch_size": None, "drop_last": True}, "exclusive with drop_last"), ({"timeout": -1}, "non-negative"),
    ({"multiprocessing_context": "fork"}, "only be used with multi-process")])
def test_exclusive_options(options, message):
    with pytest.raises(ValueError, match=message):
        data.DataLoader(Squares(), **options)


def test_fixed_attributes():
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        data.DataLoader(Squares()).batch_size = 3


# ------------------------------------------------------------------ datasets
def test_subset_and_split(pairs):
    subset = data.Subset(pairs, [3, 1])
    assert len(subset) == 2 and subset[0][1] == 3 and subset[[0, 1]][1].tolist() == [3, 1]
    parts = data.random_split(range(10), [0.5, 0.25, 0.25], generator=torch.Generator().manual_seed(0))
    assert [len(p) for p in parts] == [6, 2, 2]
    assert sorted(i for p in parts for i in p.indices) == list(range(10))
    with pytest.raises(ValueError, match="does not equal the length"):
        data.random_split(range(10), [3, 4])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split(range(1), [0.5, 0.5])
    with pytest.raises(NotImplementedError, match="overrides __getitem__ but not __getitems__"):
        type("Half", (data.Subset,), {"__getitem__": lambda self, i: 0})([1], [0])


def test_concat_and_stack(pairs):
    joined = pairs + Squares()
    assert len(joined) == 20 and joined[13][1] == 9 and joined[-20][1] == 0
    with pytest.raises(ValueError, match="absolute value of index"):
        joined[-21]
    batch, = data.DataLoader(data.StackDataset(a=pairs, b=range(10)), 10)
    assert batch["b"].tolist() == list(range(10)) and batch["a"][0].shape == (10, 2)
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(torch.ones(2), torch.ones(3))
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        data.Dataset()[0]


def test_getitems_is_preferred():
    class Bulk(data.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [10 * i for i in indices]
    assert [b.tolist() for b in data.DataLoader(Bulk(), 2)] == [[0, 10], [20, 30]]


# ------------------------------------------------------------------ samplers
def test_samplers():
    assert sorted(data.RandomSampler(range(6))) == list(range(6))
    assert len(list(data.RandomSampler(range(6), replacement=True, num_samples=50))) == 50
    assert sorted(data.SubsetRandomSampler([7, 8, 9])) == [7, 8, 9]
    assert set(data.WeightedRandomSampler([0, 1, 0], 9)) == {1}
    assert list(data.BatchSampler(data.SequentialSampler(range(5)), 2, True)) == [[0, 1], [2, 3]]
    assert len(data.BatchSampler(range(5), 2, False)) == 3
    with pytest.raises(ValueError, match="positive integer"):
        data.RandomSampler([])


def test_distributed_sampler(monkeypatch):
    parts = [list(data.DistributedSampler(range(10), 3, rank)) for rank in range(3)]
    assert {len(p) for p in parts} == {4} and set(sum(parts, [])) == set(range(10))
    sampler = data.DistributedSampler(range(10), 3, 0)
    sampler.set_epoch(1)
    assert list(sampler) != parts[0]
    monkeypatch.setattr(torch.distributed, "is_available", lambda: True)
    with pytest.raises(ValueError, match="has not been initialized"):
        data.DistributedSampler(range(10))
    monkeypatch.setattr(torch.distributed, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="Requires distributed package"):
        data.DistributedSampler(range(10))


# ------------------------------------------------------------------ collation
def test_collate():
    batch = data.default_collate([{"p": Point(1, 2.), "s": "a", "l": [np.arange(2), True]}] * 2)
    assert batch["p"].x.dtype == torch.int64 and batch["p"].y.dtype == torch.float64 and batch["s"] == ["a", "a"]
    assert batch["l"][0].tolist() == [[0, 1], [0, 1]] and batch["l"][1].dtype == torch.bool
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([(1,), (1, 2)])
    with pytest.raises(TypeError, match="batch must contain tensors, numpy arrays"):
        data.default_collate([object()])


def test_collate_map_may_be_extended():
    from tinytorch.utils.data._utils.collate import collate, default_collate_fn_map

    class Odd:
        pass
    batch = collate([(1, Odd()), (2, Odd())], collate_fn_map={**default_collate_fn_map, Odd: lambda b, **_: len(b)})
    assert batch[0].tolist() == [1, 2] and batch[1] == 2
