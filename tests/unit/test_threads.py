"""Work shared among threads gives the results that one thread gives."""
import io
import os
import random
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd.grad_mode import all_threads
from tinytorch.kernels import threads
from tinytorch.kernels.linalg import blas
from tinytorch.kernels.linalg.blas import held
from tinytorch.seam import seam
from tinytorch.tensor import new_tensor_state


@pytest.fixture
def two_threads(monkeypatch):
    before = torch.get_num_threads()
    monkeypatch.setattr(threads.team, "cores", 2)
    torch.set_num_threads(2)
    if held() is None:
        pytest.skip("NumPy's BLAS cannot be held to one thread: work is never split")
    yield
    torch.set_num_threads(before)


def parts_of(monkeypatch):
    """Where parts of splits begin, from now on. Which thread does them is left to chance."""
    seen = set()
    split = threads.split

    def watched(count, work):
        def watching(first, last):
            seen.add(first)
            work(first, last)
        split(count, watching)
    for module in ("conv.columns", "pool", "optim", "rnn.split", "linalg.products"):
        monkeypatch.setattr(f"tinytorch.kernels.{module}.split", watched)
    return seen


def conv_gradients():
    torch.manual_seed(0)
    conv = torch.nn.Conv2d(16, 32, 3, padding=1, dtype=torch.float64)
    x = torch.randn(64, 16, 24, 24, dtype=torch.float64, requires_grad=True)
    torch.nn.functional.max_pool2d(conv(x), 2).square().sum().backward()
    return [x.grad, conv.weight.grad, conv.bias.grad]


def recurrent_gradients(kind, **settings):
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(40, 96, dtype=torch.float64, **settings)
    shape = (320, 16, 40) if settings.get("batch_first") else (16, 320, 40)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    out, state = layer(x)
    loss = out.square().sum()
    for s in state if isinstance(state, tuple) else (state,):
        loss = loss + s.exp().sum()
    loss.backward()
    return [out.detach(), x.grad, *[p.grad for p in layer.parameters()]]


def adam_steps():
    torch.manual_seed(0)
    w = torch.randn(700, 700, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([w], 0.1, weight_decay=0.01)
    for _ in range(3):
        w.grad = w.detach() * 2
        optimizer.step()
    return [w.detach()]


def products_of(*shapes):
    torch.manual_seed(0)
    a, b = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)
    product = a @ b
    product.sin().sum().backward()
    return [product.detach(), a.grad, b.grad]


@pytest.mark.parametrize("compute", [
    lambda: products_of((300, 200), (200, 310)), lambda: products_of((200, 300), (300, 400)),
    lambda: products_of((8, 130, 120), (8, 120, 140)), conv_gradients, adam_steps, lambda: recurrent_gradients("RNN"),
    lambda: recurrent_gradients("GRU", bidirectional=True), lambda: recurrent_gradients("LSTM", batch_first=True),
    lambda: recurrent_gradients("LSTM", proj_size=64)])
def test_same_as_one_thread(compute, two_threads, monkeypatch):
    seen = parts_of(monkeypatch)
    shared = compute()
    assert len(seen) > 1
    torch.set_num_threads(1)
    for a, b in zip(shared, compute(), strict=True):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()


def test_every_part_once(two_threads):
    done = []
    threads.split(7, lambda first, last: done.append((first, last)))
    assert sorted(done) == [(0, 3), (3, 7)]


def test_splits_nest(two_threads):
    inner = []
    threads.split(2, lambda first, last: threads.split(10, lambda a, b: inner.append((first, a, b))))
    assert sorted(inner) == [(0, 0, 5), (0, 5, 10), (1, 0, 5), (1, 5, 10)]


def test_parts_are_the_same_whether_or_not_a_helper_is_free(two_threads):
    """What is computed must not depend on what else the program does."""
    begun, go_on = threading.Event(), threading.Event()

    def keep_helpers_busy():
        threads.split(2, lambda first, last: (begun.set(), go_on.wait(30)))
    other = threading.Thread(target=keep_helpers_busy)
    other.start()
    assert begun.wait(30)
    done = []
    threads.split(7, lambda first, last: done.append((first, last)))
    go_on.set()
    other.join()
    assert sorted(done) == [(0, 3), (3, 7)]


def test_error_of_a_helper_reaches_the_caller(two_threads):
    def work(first, last):
        if first:
            raise ValueError("in the second part")
    with pytest.raises(ValueError, match="in the second part"):
        threads.split(2, work)
    done = []
    threads.split(2, lambda first, last: done.append(first))
    assert sorted(done) == [0, 1]


def test_an_interrupt_leaves_nothing_behind(two_threads):
    def interrupted(first, last):
        if not first:
            raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        threads.split(2, interrupted)
    assert blas_threads() == 1
    test_every_part_once(two_threads)


def blas_threads():
    return held()()


def test_blas_keeps_to_one_thread(two_threads):
    during = []
    threads.split(2, lambda first, last: during.append(blas_threads()))
    torch.set_num_threads(64)
    assert during == [1, 1] and blas_threads() == 1


@pytest.mark.parametrize("set_number, number", blas._NAMES, ids=[first for first, _ in blas._NAMES])
def test_blas_of_any_maker(monkeypatch, set_number, number):
    """It is known by the names of its functions, whatever its file is called."""
    told = []
    library = SimpleNamespace(**{set_number: told.append, number: lambda: told[-1].value})
    monkeypatch.setattr(blas, "_libraries", lambda: [SimpleNamespace(), library])
    monkeypatch.delenv("TINYTORCH_BLAS", raising=False)
    assert held.__wrapped__()() == 1 and len(told) == 1
    monkeypatch.setenv("TINYTORCH_BLAS", "0")
    assert held.__wrapped__() is None and len(told) == 1


def test_blas_that_cannot_be_held(monkeypatch):
    monkeypatch.setattr(blas, "_libraries", lambda: [SimpleNamespace(cblas_sgemm=None)])
    monkeypatch.delenv("TINYTORCH_BLAS", raising=False)
    assert held.__wrapped__() is None


def test_the_caller_does_all_parts_where_no_thread_is_to_be_had(two_threads, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")
    monkeypatch.setattr(threads, "team", threads._Team())
    monkeypatch.setattr(threads.team, "cores", 2)
    monkeypatch.setattr(threads.team, "size", 2)
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", refuse)
        done = []
        threads.split(2, lambda first, last: done.append((first, last)))
        assert sorted(done) == [(0, 1), (1, 2)] and not threads.team.helpers
    threads.split(2, lambda first, last: done.append((first, last)))
    assert len(done) == 4 and threads.team.helpers == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(two_threads):
    threads.split(2, lambda first, last: None)
    child = os.fork()
    if child == 0:
        done = []
        threads.split(2, lambda first, last: done.append(first))
        os._exit(0 if sorted(done) == [0, 1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_during_a_split(two_threads):
    """Nothing that the child needs is held by a thread that it does not have."""
    begun, go_on = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: threads.split(2, lambda first, last: (begun.set(), go_on.wait(30))))
    other.start()
    assert begun.wait(30)
    child = os.fork()
    if child == 0:
        done = []
        threads.split(2, lambda first, last: done.append(first))
        os._exit(0 if sorted(done) == [0, 1] and blas_threads() == 1 else 1)
    go_on.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_more_threads_than_cores(two_threads):
    torch.set_num_threads(64)
    assert torch.get_num_threads() == 64
    done = []
    threads.split(100, lambda first, last: done.append((first, last)))
    assert sorted(done) == [(0, 50), (50, 100)]


@pytest.mark.parametrize("setting, threads_of_8", [
    (None, 8), ("", 8), ("4", 4), (" 4 ", 4), ("+4", 4), ("4,2", 4), ("4 , 2", 4), ("04", 4), ("16", 8), ("9" * 30, 8),
    ("0", 8), ("-1", 8), ("abc", 8), ("1e3", 8), ("4,abc", 8), ("4,0", 8), (",4", 8), ("4,", 8), ("1.5", 8),
    ("0x2", 8)])
def test_omp_num_threads(setting, threads_of_8):
    assert threads._allowed_at_first(setting, 8) == threads_of_8


# ------------------------------------------------------------------ several trainings at once
def train(kind, seed, steps):
    """The parameters after some steps of a model whose work is shared by threads."""
    random = torch.Generator().manual_seed(seed)
    nn = torch.nn
    model, shape = {
        "LSTM": lambda: (nn.LSTM(28, 128), (12, 128, 28)), "RNN": lambda: (nn.RNN(196, 64), (4, 100, 196)),
        "MLP": lambda: (nn.Sequential(nn.Linear(700, 800), nn.ReLU(), nn.Linear(800, 10)), (128, 700)),
        "CNN": lambda: (nn.Sequential(nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2)), (32, 8, 32, 32))}[kind]()
    with torch.no_grad():
        for p in model.parameters():
            p.uniform_(-0.1, 0.1, generator=random)
    x = torch.rand(shape, generator=random)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        out = model(x)
        (out if isinstance(out, torch.Tensor) else out[0]).square().mean().backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]


def in_threads(*jobs):
    """The results of functions, each in a thread of its own, all at once."""
    results, barrier = [None] * len(jobs), threading.Barrier(len(jobs))

    def run(i, job):
        barrier.wait()
        results[i] = job()
    at_work = [threading.Thread(target=run, args=item) for item in enumerate(jobs)]
    for thread in at_work:
        thread.start()
    for thread in at_work:
        thread.join()
    return results


@pytest.mark.parametrize("kind", ["LSTM", "RNN", "MLP", "CNN"])
def test_trainings_at_once_are_bit_equal_to_the_same_alone(kind, two_threads):
    alone = [train(kind, seed, 3) for seed in range(4)]
    for _ in range(2):
        at_once = in_threads(*[lambda seed=seed: train(kind, seed, 3) for seed in range(4)])
        for mine, others in zip(alone, at_once, strict=True):
            for a, b in zip(mine, others, strict=True):
                assert torch.equal(a, b)


@pytest.fixture
def restless():
    """The interpreter changes threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_gradients_of_threads_that_share_parameters_add_up(restless):
    p, q = torch.zeros(1, requires_grad=True), torch.zeros(3000, requires_grad=True)

    def backward():
        for _ in range(300):
            ((p * 1.).sum() + (q * 1.).sum()).backward()
    in_threads(*[backward] * 4)
    assert p.grad.item() == 1200 and (q.grad == 1200).all()


def test_hooks_run_without_the_lock():
    """One that waits for another thread's backward would wait for ever."""
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)

    def hook(_):
        in_threads(lambda: y.sum().backward())
    x.register_hook(hook)
    x.register_post_accumulate_grad_hook(hook)
    x.sum().backward()
    assert x.grad.tolist() == [1, 1] and y.grad.tolist() == [2, 2]


def test_gradients_kept_by_a_tensor_inside_add_up(restless):
    x = torch.ones(2000, requires_grad=True)
    y = x * 2
    y.retain_grad()
    in_threads(*[lambda: [(y * 1.).sum().backward(retain_graph=True) for _ in range(100)]] * 4)
    assert (y.grad == 400).all() and (x.grad == 800).all()


# ------------------------------------------------------------------ random numbers
@pytest.mark.parametrize("draw", [
    lambda g: torch.rand(1, generator=g), lambda g: torch.randn(1, generator=g), lambda g: torch.randn(40, generator=g),
    lambda g: torch.poisson(torch.full((2,), 3.5), generator=g)])
@pytest.mark.parametrize("own", [False, True])
def test_threads_draw_what_one_would_draw(draw, own, restless):
    """Each draw is one piece of the stream: together the threads get what one thread gets, in another order."""
    def generator():
        g = torch.Generator() if own else torch.default_generator
        return g.manual_seed(3), (g if own else None)
    g, given = generator()
    expected = sorted(tuple(draw(given).tolist()) for _ in range(800))
    after = g.get_state()
    g, given = generator()
    drawn = sum(in_threads(*[lambda: [tuple(draw(given).tolist()) for _ in range(200)]] * 4), [])
    assert sorted(drawn) == expected and torch.equal(g.get_state(), after)


def test_first_draws_at_once(restless):
    for seed in range(50):
        g = torch.Generator().manual_seed(seed)
        drawn = sum(in_threads(*[lambda: torch.rand(1, generator=g).tolist()] * 4), [])
        assert sorted(drawn) == sorted(torch.rand(4, generator=torch.Generator().manual_seed(seed)).tolist())


class Drawing(torch.utils.data.Dataset):
    """Samples that are random numbers."""

    def __len__(self):
        return 40

    def __getitem__(self, i):
        assert torch.utils.data.get_worker_info() is not None
        return torch.rand(1) + torch.initial_seed() % 7


def test_workers_of_a_loader_in_another_thread_leave_the_generators_alone(restless):
    def main_draws():
        return [(torch.rand(1).item(), random.random(), np.random.rand()) for _ in range(400)]

    def seed():
        torch.manual_seed(1), random.seed(1), np.random.seed(1)
    loader = torch.utils.data.DataLoader(Drawing(), 4, num_workers=2, generator=torch.Generator().manual_seed(5))
    seed()
    expected = main_draws()
    alone = torch.cat(list(loader))
    for _ in range(3):
        seed()
        loader.generator.manual_seed(5)
        started, loaded = threading.Event(), []

        def load():
            batches = iter(loader)
            started.set()
            loaded.append(torch.cat(list(batches)))
        background = threading.Thread(target=load)
        background.start()
        assert started.wait(30)
        drawn = main_draws()
        background.join()
        assert drawn == expected and torch.equal(loaded[0], alone)
        assert torch.utils.data.get_worker_info() is None


def test_vmap_refuses_draws_in_its_own_thread_only():
    inside, go_on = threading.Event(), threading.Event()

    def mapped(x):
        inside.set()
        assert go_on.wait(30)
        with pytest.raises(RuntimeError, match="randomness error mode"):
            torch.rand(1)
        return x
    other = threading.Thread(target=torch.vmap(mapped), args=(torch.ones(1),))
    other.start()
    assert inside.wait(30)
    torch.manual_seed(0)
    assert torch.rand(1).item() == pytest.approx(0.4962566)
    go_on.set()
    other.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_draws_and_accumulates():
    from tinytorch.autograd import accumulate
    held, go_on = threading.Event(), threading.Event()

    def hold():
        with torch.default_generator.stream.lock, accumulate.lock:
            held.set()
            go_on.wait(30)
    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(30)
    child = os.fork()
    if child == 0:
        torch.rand(1)
        x = torch.ones(2, requires_grad=True)
        x.sum().backward()
        os._exit(0 if x.grad.tolist() == [1, 1] else 1)
    go_on.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("said, cores", [
    ({"cpu.max": "150000 100000"}, 2), ({"cpu.max": "max 100000"}, 4), ({"cpu.max": "900000 100000"}, 4),
    ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 1),
    ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 4), ({}, 4), ({"cpu.max": ""}, 4),
    ({"cpu.max": "0 0"}, 4),
    # The group of the process, and one that contains it. The process's own group says more, or the other one does.
    ({"/proc/self/cgroup": "0::/a.slice/b.service\n", "a.slice/b.service/cpu.max": "50000 100000\n",
      "a.slice/cpu.max": "200000 100000\n"}, 1),
    ({"/proc/self/cgroup": "0::/a.slice/b.service\n", "a.slice/b.service/cpu.max": "max 100000\n",
      "a.slice/cpu.max": "200000 100000\n"}, 2),
    ({"/proc/self/cgroup": "2:cpu,cpuacct:/a/b\n1:cpuset:/c\n0::/\n", "cpu/a/b/cpu.cfs_quota_us": "250000\n",
      "cpu/a/b/cpu.cfs_period_us": "100000\n", "cpu/c/cpu.cfs_quota_us": "1", "cpu/c/cpu.cfs_period_us": "1"}, 3),
    # A container that sees its group as the root of the hierarchy, and is told the path outside.
    ({"/proc/self/cgroup": "2:cpu:/docker/abc\n", "cpu/cpu.cfs_quota_us": "50000\n",
      "cpu/cpu.cfs_period_us": "100000\n"}, 1)])
def test_cores_of_a_control_group(said, cores, monkeypatch):
    def opened(path):
        try:
            return io.StringIO(said[path.removeprefix("/sys/fs/cgroup/")])
        except KeyError:
            raise FileNotFoundError(path) from None
    monkeypatch.setattr(threads, "open", opened, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(4), raising=False)
    assert threads._cores() == cores


@pytest.mark.parametrize("enter", [
    lambda: torch.set_grad_enabled(False), lambda: torch.no_grad().__enter__(),
    lambda: torch.inference_mode().__enter__(), lambda: torch.autocast("cpu").__enter__(),
    lambda: torch.overrides.BaseTorchFunctionMode().__enter__(),
    lambda: torch.autograd.set_detect_anomaly(True)])
def test_a_thread_that_ends_in_a_mode_leaves_nothing(enter):
    """Other threads looked more closely at every operation from then on."""
    def act():
        enter()
        torch.ones(2) + 1
    reasons = set(seam._reasons)
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    assert not all_threads.in_special_mode and not all_threads.noting_writes
    assert new_tensor_state.cell is None and set(seam._reasons) <= reasons
    torch.autograd.set_detect_anomaly(False)
