"""torch.utils.data.datapipes: the same steps in both."""
import importlib
import pickle

import pytest
import torch

import tinytorch

BOTH = [torch, tinytorch]


def pipes(t, kind="iter"):
    return importlib.import_module(f"{t.__name__}.utils.data.datapipes.{kind}")


def of(t, *numbers):
    return pipes(t).IterableWrapper(range(*numbers))


def seq(t, n):
    return pipes(t, "map").SequenceWrapper(list(range(n)))


def shuffled(t, **options):
    t.manual_seed(3)
    dp = of(t, 20).shuffle(**options)
    return [*dp], [*dp], [*dp.set_seed(5)], [*dp.set_shuffle(False)], t.rand(2).tolist()


def branches(make, take):
    def call(t):
        made = make(t)
        return take(made)
    return call


def even(x):
    return x % 2


def first_twice(t):
    dp = of(t, 4).map(str)
    first = iter(dp)
    found = [next(first)]
    second = iter(dp)
    found.append(next(second))
    try:
        next(first)
    except RuntimeError as error:
        found.append(str(error).split(":")[0])
    return found + [*second]


CALLS = {
    "map": lambda t: [*of(t, 4).map(lambda x: x * x)],
    "map parts": lambda t: [*pipes(t).IterableWrapper([(1, 2, 3), (4, 5, 6)]).map(lambda x: -x, input_col=1)],
    "map several parts": lambda t: [*pipes(t).IterableWrapper([[1, 2, 3], [4, 5, 6]]).map(
        lambda x, y: x + y, input_col=[0, 2])],
    "map to the end": lambda t: [*pipes(t).IterableWrapper([(1, 2), (4, 5)]).map(str, input_col=0, output_col=-1)],
    "map of dicts": lambda t: [*pipes(t).IterableWrapper([{"a": 1}]).map(lambda x: x + 1, "a", "b")],
    "map to nowhere": lambda t: of(t, 3).map(str, output_col=1),
    "filter": lambda t: [*of(t, 9).filter(lambda x: x % 3 == 0)],
    "filter of no bool": lambda t: [*of(t, 9).filter(lambda x: x)],
    "filter by parts": lambda t: [*pipes(t).IterableWrapper([(1, 2), (4, 1)]).filter(lambda x: x > 1, input_col=1)],
    "batch": lambda t: ([*of(t, 7).batch(3)], len(of(t, 7).batch(3)), len(of(t, 7).batch(3, drop_last=True))),
    "batch less": lambda t: [*of(t, 7).batch(3, drop_last=True)], "no batch": lambda t: of(t, 7).batch(0),
    "chunks": lambda t: [type(x).__name__ for x in of(t, 7).batch(3, wrapper_class=tuple)],
    "unbatch": lambda t: ([*of(t, 8).batch(2).batch(2).unbatch()], [*of(t, 8).batch(2).batch(2).unbatch(2)],
                          [*of(t, 8).batch(2).batch(2).unbatch(-1)]),
    "unbatch too deep": lambda t: [*of(t, 4).unbatch()], "unbatch -2": lambda t: [*of(t, 4).unbatch(-2)],
    "collate": lambda t: [x.tolist() for x in of(t, 4).batch(2).collate()],
    "collate by": lambda t: [*of(t, 4).batch(2).collate(sum)],
    "concat": lambda t: ([*of(t, 3).concat(of(t, 2))], len(of(t, 3).concat(of(t, 2)))),
    "concat of lists": lambda t: of(t, 3).concat([1]), "zip": lambda t: [*of(t, 3).zip(of(t, 5, 9))],
    "length of zip": lambda t: len(of(t, 3).zip(of(t, 5, 9))),
    "mux": lambda t: ([*of(t, 3).mux(of(t, 10, 15))], len(of(t, 3).mux(of(t, 10, 15)))),
    "groupby": lambda t: [*of(t, 9).groupby(lambda x: x % 2)],
    "groups of a size": lambda t: [*of(t, 9).groupby(lambda x: x % 2, group_size=3, keep_key=True)],
    "groups of a buffer": lambda t: [*of(t, 12).groupby(lambda x: x % 5 // 2, buffer_size=4)],
    "groups lost": lambda t: [*of(t, 9).groupby(lambda x: x, buffer_size=3, group_size=2)],
    "groups dropped": lambda t: [*of(t, 9).groupby(lambda x: x, buffer_size=3, group_size=2, drop_remaining=True)],
    "no group": lambda t: of(t, 9).groupby(lambda x: x, buffer_size=3, group_size=5),
    "fork": branches(lambda t: of(t, 4).fork(2), lambda made: [[*zip(*made)], [*made[0]], [*made[1]], len(made[0])]),
    "fork in turn": branches(lambda t: of(t, 4).fork(3), lambda made: [[*dp] for dp in made]),
    "fork to one": lambda t: [*of(t, 4).fork(1)], "fork to none": lambda t: of(t, 4).fork(0),
    "fork too far": branches(lambda t: of(t, 9).fork(2, buffer_size=2), lambda made: [*made[0]]),
    "demux": branches(lambda t: of(t, 7).demux(2, even), lambda made: [[*made[1]], [*made[0]]]),
    "demux to 5": branches(lambda t: of(t, 7).demux(2, lambda x: x), lambda made: [*made[1]]),
    "demux without": branches(lambda t: of(t, 7).demux(2, lambda x: None if x == 3 else x % 2, drop_none=True),
                              lambda made: [*made[1]]),
    "shuffle": shuffled, "shuffle little": lambda t: shuffled(t, buffer_size=3),
    "shuffle parts": lambda t: (t.manual_seed(1), [*of(t, 8).batch(2).shuffle(unbatch_level=1)])[1],
    "sampler": lambda t: [*pipes(t).Sampler(of(t, 4))],
    "sharding": lambda t: [(dp.apply_sharding(3, 1), [*dp], len(dp)) for dp in [of(t, 8).sharding_filter()]],
    "no shard": lambda t: of(t, 8).sharding_filter().apply_sharding(2, 2), "iterators": first_twice,
    "sequence": lambda t: ([*seq(t, 4).map(str)], len(seq(t, 4)), [*seq(t, 5).batch(2)], len(seq(t, 5).batch(2)),
                           [*seq(t, 2).concat(seq(t, 3))], [seq(t, 2).zip(seq(t, 3))[i] for i in range(2)]),
    "sequence beyond": lambda t: seq(t, 5).batch(2)[3],
    "sequence shuffled": lambda t: (t.manual_seed(2), [*seq(t, 9).shuffle()], [*seq(t, 9).shuffle().set_seed(4)])[1:],
    "no such step": lambda t: of(t, 3).nothing(), "shown": lambda t: str(t.utils.data.IterDataPipe()),
    "chunk": lambda t: (t.utils.data.DataChunk([1, 2]).as_str("-"), [*t.utils.data.DataChunk([1]).raw_iterator()]),
    "loaded": lambda t: [x.tolist() for x in t.utils.data.DataLoader(of(t, 6).map(even), batch_size=4)],
    "decorated": lambda t: t.utils.data.functional_datapipe("x")(int),
    "taken": lambda t: t.utils.data.functional_datapipe("map")(t.utils.data.IterDataPipe),
    "again": lambda t: pickle.loads(pickle.dumps([*of(t, 3).batch(2)])),
}


def told(t, call):
    try:
        return without_names(call(t))
    except Exception as error:
        kinds = BufferError, ValueError, IndexError, TypeError, AttributeError, AssertionError, RuntimeError, Exception
        return next(kind.__name__ for kind in kinds if isinstance(error, kind))


def without_names(x):
    return x if not isinstance(x, str) else x.replace("IterDataPipe", "").replace("MapDataPipe", "")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CALLS)
def test_as_torch(name):
    assert told(tinytorch, CALLS[name]) == told(torch, CALLS[name])


def test_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text(name * 3, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.txt").write_text("d", encoding="utf-8")
    found = []
    for t in BOTH:
        listed = pipes(t).FileLister(str(tmp_path), "*.txt")
        read = pipes(t).StreamReader(pipes(t).FileOpener(listed, "b"), 4)
        found.append(([*listed], [*pipes(t).FileLister([str(tmp_path)], recursive=True)],
                      [(path, bytes(data)) for path, data in read]))
    assert found[0][:2] == found[1][:2] and found[0][2] == found[1][2] and len(found[0][1]) == 4


def test_own_pipes():
    found = []
    for t in BOTH:
        class Counted(t.utils.data.IterDataPipe):
            resets = 0

            def __iter__(self):
                yield from range(3)

            def reset(self):
                self.resets += 1
        dp = Counted()
        found.append(([*dp.map(str)], [*dp], dp.resets, isinstance(dp, t.utils.data.IterableDataset),
                      issubclass(t.utils.data.DFIterDataPipe, t.utils.data.IterDataPipe)))
    assert found[0] == found[1]
    with pytest.raises(NotImplementedError, match="not decoded"):
        pipes(tinytorch).RoutedDecoder([])


def test_all_public_names_are_there():
    for name in ("iter", "map"):
        assert set(pipes(torch, name).__all__) <= set(pipes(tinytorch, name).__all__)
    assert [n for n in torch.utils.data.__all__ if not hasattr(tinytorch.utils.data, n)] == []
