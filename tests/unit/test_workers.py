"""Worker processes of a DataLoader: how they start, fail and end, and that nothing stays behind."""
import contextlib
import gc
import itertools
import multiprocessing
import multiprocessing.resource_tracker
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.utils import data
from tinytorch.utils.data import dataloader

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
              pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")]


def left():
    """(Worker processes, open descriptors, mapped segments) of this process."""
    gc.collect()
    with open("/proc/self/maps") as maps:
        segments = maps.read().count("memfd:tinytorch")
    return len(multiprocessing.active_children()), len(os.listdir("/proc/self/fd")), segments


@pytest.fixture
def nothing_left():
    multiprocessing.resource_tracker.ensure_running()            # which spawn would leave running
    before = left()
    yield
    assert left() == before


class Numbers(data.Dataset):
    """Rows of 2,000 numbers."""

    def __init__(self, n=12, seconds=0.0):
        self.n, self.seconds = n, seconds

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(self.seconds)
        if i >= self.n:
            raise KeyError(f"no {i}")
        return torch.full((2000,), float(i)), i


class Counting(data.IterableDataset):
    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 11, step))


class Remembering(Counting):
    """A stream with a state."""

    next = 0

    def __iter__(self):
        info = data.get_worker_info()
        while self.next < 6:
            self.next += 1
            yield self.next - 1 + 100 * (info.id if info else 0)

    def state_dict(self):
        return {"next": self.next}

    def load_state_dict(self, state):
        self.next = state["next"]


def rows(loader):
    return [y.tolist() for _, y in loader]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_batches_come_through_shared_memory(method, nothing_left):
    batches = list(data.DataLoader(Numbers(), 4, num_workers=1, multiprocessing_context=method))
    assert [y.tolist() for _, y in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    x = batches[1][0]
    assert x.is_shared() and not batches[1][1].is_shared()           # the small one came along
    assert x.untyped_storage().nbytes() == x.nbytes == 4 * 2000 * 4
    x += 1
    assert x[:, 5].tolist() == [5, 6, 7, 8]


@pytest.mark.sweep
def test_forkserver():
    assert rows(data.DataLoader(Numbers(), 4, num_workers=2, multiprocessing_context="forkserver")) == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


@pytest.mark.parametrize("warnings_are", ["error", "ignore"])
def test_what_cannot_be_pickled(warnings_are, nothing_left):
    """Is said where a worker would have to be sent it, as it is by default from Python 3.14 on, and nothing stays."""
    class Local(Numbers):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter(warnings_are)
        with pytest.raises((UserWarning, AttributeError, pickle.PicklingError), match="ickle") as told:
            iter(data.DataLoader(Local(), num_workers=2, multiprocessing_context="spawn"))
    assert (told.type is UserWarning) == (warnings_are == "error")
    del told


def test_what_a_worker_is(nothing_left):
    class Told(Numbers):
        def __getitem__(self, i):
            info = data.get_worker_info()
            inner = data.DataLoader(range(3), num_workers=2)
            return (os.getpid(), info.id, info.num_workers, info.seed, torch.initial_seed(), torch.get_num_threads(),
                    [x.item() for x in inner], self.n)

    def init(k):
        data.get_worker_info().dataset.n = 10 + k
        with pytest.raises(AttributeError, match="cannot assign to field 'id'"):
            data.get_worker_info().id = 5
    loader = data.DataLoader(Told(4), None, num_workers=2, worker_init_fn=init, persistent_workers=True)
    told = [list(loader), list(loader)]
    pids = [w.pid for w in loader._iterator._workers]
    for k, (pid, *info, seed, initial, count, inner, n) in enumerate(told[0]):
        assert pid == pids[k % 2] != os.getpid() and info == [k % 2, 2] and seed == initial
        assert count == 1 and inner == [0, 1, 2] and n == 10 + k % 2
    assert [t[0] for t in told[1]] == [t[0] for t in told[0]]


def test_simulated_workers_give_the_same(monkeypatch, nothing_left):
    class Draws(Numbers):
        def __getitem__(self, i):
            return i, torch.rand(3), random.random(), np.random.rand()

    def draws(**options):
        torch.manual_seed(3)
        generator = torch.Generator().manual_seed(4)
        loader = data.DataLoader(Draws(), num_workers=2, generator=generator, **options)
        return [[[x.tolist() for x in batch] for batch in loader] for _ in range(2)]
    cases = [{"batch_size": 5, "shuffle": True}, {"batch_size": 3, "persistent_workers": True, "prefetch_factor": 1},
             {"batch_sampler": [[3, 1], [2], [5, 5, 5]]}]
    in_processes = [draws(**case) for case in cases]
    monkeypatch.setattr(dataloader, "_simulates_workers", lambda loader: True)
    assert [draws(**case) for case in cases] == in_processes


def test_arrays_in_memory_need_no_processes():
    x = torch.arange(6.)
    iterator = iter(data.DataLoader(data.TensorDataset(x), 2, num_workers=2))
    assert type(iterator).__name__ == "_SimulatedWorkersIter" and next(iterator)[0].tolist() == [0, 1]


def test_the_first_that_is_ready(nothing_left):
    class Late(Numbers):
        def __getitem__(self, i):
            time.sleep(0.2 * (i == 0))
            return i
    loader = data.DataLoader(Late(6), None, num_workers=2, in_order=False)
    seen = list(loader)
    assert sorted(seen) == list(range(6)) and seen[0] != 0


# ------------------------------------------------------------------ failures
def test_exceptions_keep_their_type(nothing_left):
    loader = data.DataLoader(Numbers(4), sampler=[1, 99, 2], num_workers=1)
    iterator = iter(loader)
    next(iterator)
    with pytest.raises(KeyError) as caught:
        next(iterator)
    said = str(caught.value)
    head = "Caught KeyError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):"
    assert said.startswith(head)
    assert "raise KeyError(f\"no {i}\")" in said and next(iterator)[1].item() == 2


def test_exceptions_that_cannot_be_sent(nothing_left):
    class Local(Exception):
        pass

    class Fails(Numbers):
        def __getitem__(self, i):
            if i:
                raise Local("of a function")
            return torch.ones(2, requires_grad=True) * 2

    iterator = iter(data.DataLoader(Fails(2), None, num_workers=1))
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf"):
        next(iterator)
    with pytest.raises(RuntimeError, match="(?s)Local: of a function.*cannot be sent from its process"):
        next(iterator)

    def refuse(k):
        raise ValueError("not today")
    with pytest.raises(ValueError, match="(?s)Caught ValueError in DataLoader worker process 0.*not today"):
        list(data.DataLoader(Numbers(), num_workers=1, worker_init_fn=refuse))


@pytest.mark.parametrize("end, cause", [
    (lambda: os.kill(os.getpid(), signal.SIGKILL), r"\(pid \d+\) is killed by signal: Killed\. $"),
    (lambda: os._exit(3), r"\(pid \d+\) exited unexpectedly with exit code 3\. Details")])
def test_a_worker_that_ends_by_itself(end, cause, nothing_left):
    class Ending(Numbers):
        def __getitem__(self, i):
            return end() if i == 3 else i
    began, seen = time.monotonic(), []
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly") as caught:
        seen.extend(data.DataLoader(Ending(), None, num_workers=2))
    assert caught.value.__cause__.args and time.monotonic() - began < 2
    with pytest.raises(RuntimeError, match=cause):
        raise caught.value.__cause__
    caught.value.__traceback__ = None


def test_timeout(nothing_left):
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.1 seconds") as caught:
        list(data.DataLoader(Numbers(seconds=0.3), num_workers=1, timeout=0.1))
    caught.value.__traceback__ = None


def test_what_does_not_fit_into_a_socket(nothing_left):
    class Long(Numbers):
        def __getitems__(self, indices):
            return ["x" * 7000, [torch.ones(1500) for _ in range(20)]]
    batches = [[i % 12] * 3000 for i in range(200)]
    loader = data.DataLoader(Long(), batch_sampler=batches, num_workers=1, prefetch_factor=200, collate_fn=list)
    assert sum(len(text) + sum(t.numel() for t in parts) for text, parts in loader) == 200 * (7000 + 30000)


# ------------------------------------------------------------------ ends
def test_dropped_passes_end_their_workers(nothing_left):
    def generator():
        yield from data.DataLoader(Numbers(100, 0.002), num_workers=2)
    for _ in generator():
        break
    iterator = iter(data.DataLoader(Numbers(100, 0.002), num_workers=2, persistent_workers=True))
    next(iterator)
    del iterator


def stream_of(n, seconds):
    """An IterableDataset of as many samples for each worker."""
    class Endless(data.IterableDataset):
        def __iter__(self):
            yield from map(Numbers(n, seconds).__getitem__, range(n))
    return Endless()


def kill(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):            # one that ended because of another
            os.kill(pid, number)


def kill_at_random(times):
    """Starts and stops of workers that are killed at random moments, by threads that end with them. How many of them
    raised, ran to the end, and were dropped before."""
    chance, ends = random.Random(times), {"raised": 0, "finished": 0, "dropped": 0}
    for _ in range(times):
        streams, persistent, workers = chance.random() < 0.3, chance.random() < 0.3, chance.choice([1, 2, 2, 3])
        dataset = stream_of(20, 0.0005) if streams else Numbers(40, 0.0005)
        iterator = iter(data.DataLoader(dataset, 2, num_workers=workers, persistent_workers=persistent,
                                        in_order=chance.random() < 0.7, prefetch_factor=chance.choice([1, 2, 4])))
        pids = [w.pid for w in iterator._workers]
        killed = pids if chance.random() < 0.2 else [chance.choice(pids)]
        with_what = chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
        killer = threading.Timer(chance.random() * 0.04, kill, (killed, with_what))
        wanted = chance.choice([0, 3, None, None, None])
        killer.start()
        try:
            seen = sum(len(y) for _, y in itertools.islice(iterator, wanted))
            ends["finished" if wanted is None else "dropped"] += 1
            assert seen == (2 * wanted if wanted is not None else 20 * workers if streams else 40)
        except RuntimeError as error:
            ends["raised"] += 1
            assert any(str(pid) in str(error) for pid in killed), str(error)
        finally:
            killer.cancel()
            killer.join()
        del iterator
    return ends


@pytest.fixture
def no_hang(request):
    def stop(*_):
        raise TimeoutError("a pass hangs")
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(request.param)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("times, no_hang", [
    (15, 60), pytest.param(1000, 900, marks=pytest.mark.sweep)], indirect=["no_hang"])
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
def test_killed_workers_leave_nothing(times, no_hang, nothing_left):
    ends = kill_at_random(times)
    assert ends["raised"] > 0 and sum(ends.values()) == times


SCRIPT = """
import os, signal, sys, time
import tinytorch as torch
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 1000
    def __getitem__(self, i):
        time.sleep(0.02)
        return i
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)   # shells have what they start in the background ignore it
    loader = torch.utils.data.DataLoader(Slow(), num_workers=2, persistent_workers=True,
                                         multiprocessing_context=METHOD)
    batches = iter(loader)
    next(batches)
    print(*[w.pid for w in batches._workers], flush=True)
    END
"""


@pytest.mark.parametrize("method", ["fork", "forkserver"])
@pytest.mark.parametrize("end, code", [("os.kill(os.getpid(), signal.SIGKILL)", -9),
                                       pytest.param("os._exit(0)", 0, marks=pytest.mark.sweep),
                                       pytest.param("sys.exit(0)", 0, marks=pytest.mark.sweep), ("list(batches)", -2)])
def test_no_worker_outlives_its_process(end, code, method, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = tmp_path / "script.py"            # forkserver imports it, so it is a file
    script.write_text(SCRIPT.replace("END", end).replace("METHOD", repr(method)))
    with subprocess.Popen([sys.executable, str(script)], text=True, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            pids = process.stdout.readline().split()
            assert len(pids) == 2
            if code == -2:
                os.killpg(process.pid, signal.SIGINT)            # as Ctrl-C does
            assert process.wait(10) == code
            deadline = time.monotonic() + 5
            while any(os.path.exists(f"/proc/{pid}") and state(pid) != "Z" for pid in pids):
                assert time.monotonic() < deadline, "workers go on without their process"
                time.sleep(0.02)
        finally:
            process.kill()


def state(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_a_pass_in_another_thread(nothing_left):
    torch.manual_seed(1)
    before, seen = (torch.get_rng_state().tolist(), random.getstate()), []
    generator = torch.Generator().manual_seed(2)
    loader = data.DataLoader(Numbers(), 4, True, num_workers=2, generator=generator)
    thread = threading.Thread(target=lambda: seen.extend(rows(loader)))
    thread.start()
    thread.join()
    assert sorted(sum(seen, [])) == list(range(12))
    assert (torch.get_rng_state().tolist(), random.getstate()) == before


# ------------------------------------------------------------------ to be continued
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["shuffled", "stream", "remembering", "tensors"])
def test_a_pass_goes_on_from_its_state(kind, workers, nothing_left):
    def make():
        options = {"num_workers": workers}
        if kind == "shuffled":
            return data.DataLoader(Numbers(), 2, True, collate_fn=lambda batch: [i for _, i in batch], **options)
        if kind == "tensors":
            return data.DataLoader(data.TensorDataset(torch.arange(9)), 2, shuffle=True, **options)
        return data.DataLoader({"stream": Counting, "remembering": Remembering}[kind](), 2, **options)

    def plain(batches):
        return [batch.tolist() if isinstance(batch, torch.Tensor) else
                [x.tolist() if isinstance(x, torch.Tensor) else x for x in batch] for batch in batches]
    loader = make()
    if kind != "remembering":
        list(loader)
    iterator = iter(loader)
    first = plain(next(iterator) for _ in range(2))
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    rest = plain(iterator)
    again = make()
    again.load_state_dict(state)
    assert again.state_dict() is state
    assert plain(again) == rest and rest and first[0] not in rest
    if kind != "remembering":
        assert sum(len(batch) if kind != "tensors" else len(batch[0]) for batch in plain(again)) == sum(
            len(batch) if kind != "tensors" else len(batch[0]) for batch in first + rest)


def test_a_stateful_sampler_is_asked():
    class From(data.Sampler):
        place = 0

        def __iter__(self):
            while self.place < 8:
                self.place += 1
                yield self.place - 1

        def state_dict(self):
            return {"place": self.place}

        def load_state_dict(self, state):
            self.place = state["place"]
    for workers in (0, 1):
        loader = data.DataLoader(Numbers(), 2, sampler=From(), num_workers=workers)
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        again = data.DataLoader(Numbers(), 2, sampler=From(), num_workers=workers)
        again.load_state_dict(state)
        assert rows(again) == rows(iterator) == [[2, 3], [4, 5], [6, 7]]
    with pytest.raises(ValueError, match="not a state of a DataLoader"):
        loader.load_state_dict({})


def test_loaders_are_pickled():
    loader = data.DataLoader(Numbers(), 4, shuffle=True, generator=torch.Generator().manual_seed(1))
    list(loader)
    copy = pickle.loads(pickle.dumps(loader))
    assert rows(copy) == rows(loader)
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(loader))


def test_names_that_libraries_import():
    from tinytorch.utils.data._utils import collate, worker
    assert collate.default_collate is data.default_collate and worker.get_worker_info is data.get_worker_info
    kinds = dataloader._SingleProcessDataLoaderIter, dataloader._MultiProcessingDataLoaderIter
    assert all(issubclass(kind, dataloader._BaseDataLoaderIter) for kind in kinds)
    assert dataloader.DataLoader(Counting())._dataset_kind == dataloader._DatasetKind.Iterable
