"""torch.utils.data beside the real torch: the same batches, and the same state of the generator after each."""
import collections
import random
import re

import numpy as np
import pytest
import torch

import tinytorch

from .adapter import same

Point = collections.namedtuple("Point", ["x", "y"])


def state(module):
    return hash(module.get_rng_state().numpy().tobytes())


def snapshot(value):
    """Datasets and samplers, which have no values of their own, as the names of their classes; the rest as it is."""
    if isinstance(value, (torch.utils.data.Dataset, tinytorch.utils.data.Dataset)):
        return type(value).__name__
    return [snapshot(v) for v in value] if type(value) is list else value


def compare(run, seed=5):
    """run(module) yields things: they and the generator's state must be equal on both sides, step by step."""
    logs = []
    for module in (tinytorch, torch):
        module.manual_seed(seed)
        log = []
        try:
            for item in run(module):
                log.append((snapshot(item), state(module)))
        except Exception as error:
            log.append((type(error), str(error).split("\n")[0]))
        log.append(state(module))
        logs.append(log)
    same(*logs, tolerance=0)


def tensors(m, n=10):
    return m.utils.data.TensorDataset(m.arange(3. * n).reshape(n, 3), m.arange(n))


def samples(m, n=10):
    """A dataset that the fast path does not take, and that draws random numbers."""
    class Noisy(m.utils.data.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            if not 0 <= i < n:
                raise IndexError(i)
            return {"x": m.rand(2), "i": i, "f": i / 2, "name": str(i), "p": Point(i, np.float32(i))}
    return Noisy()


def stream(m, n=7):
    class Stream(m.utils.data.IterableDataset):
        def __iter__(self):
            info = m.utils.data.get_worker_info()
            first, step = (0, 1) if info is None else (info.id, info.num_workers)
            return iter([(i, m.rand(1)) for i in range(first, n, step)])
    return Stream()


KINDS = {"tensors": tensors, "samples": samples, "stream": stream,
         "subset": lambda m: m.utils.data.Subset(tensors(m), [3, 1, 4, 1, 5, 9]),
         "split": lambda m: m.utils.data.random_split(tensors(m), [6, 4])[0],
         "concatenated": lambda m: tensors(m) + tensors(m, 3),
         "stacked": lambda m: m.utils.data.StackDataset(a=tensors(m), b=range(10)),
         "list": lambda m: list(range(7))}
OPTIONS = [{}, {"batch_size": 4}, {"batch_size": 4, "drop_last": True}, {"batch_size": 4, "shuffle": True},
           {"batch_size": None}, {"batch_size": None, "shuffle": True}, {"batch_size": 3, "collate_fn": list}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("own_generator", [False, True])
def test_loader(kind, options, own_generator):
    def run(m):
        generator = m.Generator().manual_seed(11) if own_generator else None
        loader = m.utils.data.DataLoader(KINDS[kind](m), generator=generator, **options)
        for _ in range(2):
            for batch in loader:
                yield batch
                m.rand(1)
        if generator is not None:
            yield generator.get_state()
        yield len(loader)
    compare(run)


@pytest.mark.parametrize("options", [{}, {"shuffle": True, "batch_size": 3}, {"prefetch_factor": 1, "batch_size": 2},
                                     {"persistent_workers": True, "shuffle": True, "batch_size": 4}], ids=str)
@pytest.mark.parametrize("kind", ["tensors", "samples", "stream"])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_workers(kind, options):
    if kind == "stream":
        options = {k: v for k, v in options.items() if k != "shuffle"}

    def run(m):
        loader = m.utils.data.DataLoader(KINDS[kind](m), num_workers=2, **options)
        for _ in range(2):
            yield from loader
    compare(run)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_workers_seed_every_generator():
    def run(m):
        class Draws(m.utils.data.Dataset):
            offset = 0

            def __len__(self):
                return 6

            def __getitem__(self, i):
                info = m.utils.data.get_worker_info()
                return (info.id, info.num_workers, info.seed, self.offset, random.random(), np.random.rand(),
                        m.rand(1), m.initial_seed())

        def init(k):
            m.utils.data.get_worker_info().dataset.offset = 10 * k + random.random()
            m.rand(1)
        before = random.getstate(), np.random.get_state()[1].tolist()
        yield from m.utils.data.DataLoader(Draws(), 2, num_workers=2, worker_init_fn=init)
        assert before == (random.getstate(), np.random.get_state()[1].tolist())
        assert m.utils.data.get_worker_info() is None
    compare(run)


@pytest.mark.parametrize("run", [
    lambda D, ds: D.RandomSampler(ds), lambda D, ds: D.RandomSampler(ds, True),
    lambda D, ds: D.RandomSampler(ds, True, 100),
    lambda D, ds: D.RandomSampler(ds, False, 130), lambda D, ds: D.SubsetRandomSampler(range(5, 40)),
    lambda D, ds: D.WeightedRandomSampler(list(range(1, 58)), 100),
    lambda D, ds: D.WeightedRandomSampler([3, 1, 2.5], 3, False),
    lambda D, ds: D.SequentialSampler(ds), lambda D, ds: D.BatchSampler(D.RandomSampler(ds), 10, True),
    lambda D, ds: D.BatchSampler(D.RandomSampler(ds), 10, False), lambda D, ds: D.random_split(ds, [20, 30, 7]),
    lambda D, ds: D.random_split(ds, [.5, .3, .2]), lambda D, ds: D.DistributedSampler(ds, 4, 1),
    lambda D, ds: D.DistributedSampler(ds, 4, 3, drop_last=True), lambda D, ds: D.DistributedSampler(range(2), 5, 4)])
def test_samplers(run):
    def steps(m):
        sampler = run(m.utils.data, range(57))
        for item in sampler:
            yield list(item) if isinstance(item, m.utils.data.Subset) else item
        yield len(sampler)
    compare(steps)


@pytest.mark.parametrize("data", [
    [1, 2], [1., 2.], [True, False], ["a", "b"], [b"a", b"b"], [np.float32(1), np.float32(2)], [np.int16(3)],
    [np.arange(3), np.arange(3)], [(1, 2.), (3, 4.)], [[1, 2], [3, 4]], [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
    [Point(1, 2.), Point(3, 4.)], [{"a": [1, (2, 3)]}, {"a": [4, (5, 6)]}], [(1, 2), (3,)], [object()], [None],
    [np.array(["a"])], [collections.OrderedDict(a=1), collections.OrderedDict(a=2)], [[], []], [range(2), range(2)]],
    ids=lambda data: re.sub(r" at 0x\w+", "", str(data)))
def test_collate_and_convert(data):
    compare(lambda m: iter([m.utils.data.default_collate(data)]))
    compare(lambda m: iter([m.utils.data.default_convert(data), m.utils.data.default_convert(data[0])]))


def test_collate_tensors():
    compare(lambda m: iter([m.utils.data.default_collate([m.ones(2), m.zeros(2)])]))
    compare(lambda m: iter([m.utils.data.default_collate([m.ones(2), m.zeros(3)])]))
    compare(lambda m: iter([m.utils.data.default_collate([{"a": m.ones(2, 2), "b": [m.zeros(1)]}] * 3)]))


@pytest.mark.parametrize("make", [
    lambda m: [m.tensor(1), m.tensor(2)], lambda m: [m.ones(2, dtype=m.bfloat16), m.zeros(2, dtype=m.bfloat16)],
    lambda m: [m.ones(2), m.ones(2, dtype=m.float64)], lambda m: [m.ones(3, 2).t(), m.zeros(2, 3)],
    lambda m: [m.ones(3, 2).t()] * 2, lambda m: [m.ones(6)[::2], m.ones(3)], lambda m: [m.ones(2, 3), m.ones(3, 2)],
    lambda m: [m.ones(0), m.ones(0)], lambda m: [m.ones(2, requires_grad=True), m.ones(2)], lambda m: [m.ones(2), 1],
    lambda m: [m.ones(2, dtype=m.complex64).conj()] * 2, lambda m: [m.nn.Parameter(m.ones(2))] * 2,
    lambda m: [m.ones(2, 3, requires_grad=True).detach()[0], m.ones(2, 3, requires_grad=True)[0]],
    lambda m: [True, False], lambda m: [1, True], lambda m: [1, 2.5], lambda m: [1.5, 2], lambda m: [2 ** 70, 1],
    lambda m: [1, None], lambda m: [float("nan"), 1.], lambda m: [(1, 2), (3, 4, 5)], lambda m: [(1, 2), 3]])
def test_collate_small_samples(make):
    def run(m):
        batch = m.utils.data.default_collate(make(m))
        yield batch, str(batch)
        if isinstance(batch, m.Tensor):
            yield batch.stride(), batch.requires_grad, batch.is_leaf, batch.is_conj()
            yield batch.detach().clone().add_(1) if not batch.requires_grad else batch
    compare(run)


@pytest.mark.parametrize("options", [
    {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
    {"sampler": [1], "shuffle": True},
    {"batch_sampler": [[1]], "batch_size": 2}, {"batch_sampler": [[1]], "drop_last": True},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0}, {"batch_size": 2.5}, {"multiprocessing_context": "fork"}, {"drop_last": 1}, {"timeout": 1},
    {"num_workers": 1, "multiprocessing_context": "x"}, {"num_workers": 1, "multiprocessing_context": 3},
    {"num_workers": 1, "prefetch_factor": -1}, {"sampler": [0, 99]}, {"batch_sampler": [[0, 1], [2]]},
    {"sampler": [3, 1, -1]}], ids=str)
@pytest.mark.parametrize("kind", ["tensors", "stream"])
def test_option_errors(kind, options):
    def run(m):
        loader = m.utils.data.DataLoader(KINDS[kind](m), **options)
        if "num_workers" not in options:
            yield from loader
    if kind == "stream":
        if "sampler" in options or "batch_sampler" in options:
            options = {k: str(v) for k, v in options.items()}
    compare(run)


@pytest.mark.parametrize("run", [
    lambda m: m.utils.data.TensorDataset(m.ones(2), m.ones(3)), lambda m: m.utils.data.StackDataset(),
    lambda m: m.utils.data.StackDataset([1], x=[1]), lambda m: m.utils.data.StackDataset([1], [1, 2]),
    lambda m: m.utils.data.ConcatDataset([]), lambda m: m.utils.data.ConcatDataset([stream(m)]),
    lambda m: (tensors(m) + tensors(m))[-21], lambda m: m.utils.data.Dataset()[0],
    lambda m: m.utils.data.random_split(range(5), [1, 2]), lambda m: m.utils.data.random_split(range(5), [-.5, 1.5]),
    lambda m: m.utils.data.RandomSampler([]), lambda m: m.utils.data.RandomSampler([1], replacement=1),
    lambda m: m.utils.data.RandomSampler([1], num_samples=0), lambda m: m.utils.data.WeightedRandomSampler([[1.]], 1),
    lambda m: m.utils.data.WeightedRandomSampler([1.], 0), lambda m: m.utils.data.WeightedRandomSampler([1.], 1, 1),
    lambda m: m.utils.data.DistributedSampler([1], 2, 2), lambda m: list(m.utils.data.ChainDataset([[1]])),
    lambda m: type("S", (m.utils.data.Subset,), {"__getitem__": None})([1], [0]),
    lambda m: setattr(m.utils.data.DataLoader([1]), "batch_size", 3)])
def test_errors(run):
    def steps(m):
        run(m)
        yield "no error"
    compare(steps)


def test_chain_and_lengths():
    def run(m):
        D = m.utils.data
        yield from stream(m) + stream(m, 3)
        yield [len(D.DataLoader(range(10), 3, drop_last=d)) for d in (True, False)]
        yield len(D.Subset(range(10), [1, 2]))
    compare(run)
