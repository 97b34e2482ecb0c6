"""Work shared among threads gives the results that one thread gives."""
import os
import threading

import pytest

import tinytorch as torch
from tinytorch.kernels import threads
from tinytorch.kernels.blas import thread_counts


@pytest.fixture
def two_threads(monkeypatch):
    before = torch.get_num_threads()
    monkeypatch.setattr(threads._team, "cores", 2)
    torch.set_num_threads(2)
    if not thread_counts():
        pytest.skip("NumPy's BLAS is not the OpenBLAS of its wheels: work is never split")
    yield
    torch.set_num_threads(before)


def parts_of(monkeypatch):
    """Threads that took part in splits from now on."""
    seen = set()
    split = threads.split

    def watched(count, work):
        def watching(first, last):
            seen.add(threading.get_ident())
            work(first, last)
        split(count, watching)
    for module in ("conv", "pool", "optim", "batch"):
        monkeypatch.setattr(f"tinytorch.kernels.{module}.split", watched)
    return seen


def conv_gradients():
    torch.manual_seed(0)
    conv = torch.nn.Conv2d(16, 32, 3, padding=1)
    x = torch.randn(64, 16, 24, 24, requires_grad=True)
    torch.nn.functional.max_pool2d(conv(x), 2).square().sum().backward()
    return [x.grad, conv.weight.grad, conv.bias.grad]


def recurrent_gradients(kind, **settings):
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(40, 96, **settings)
    x = torch.randn(*(320, 16) if settings.get("batch_first") else (16, 320), 40, requires_grad=True)
    out, state = layer(x)
    loss = out.square().sum()
    for s in state if isinstance(state, tuple) else (state,):
        loss = loss + s.exp().sum()
    loss.backward()
    return [out.detach(), x.grad, *[p.grad for p in layer.parameters()]]


def adam_steps():
    torch.manual_seed(0)
    w = torch.randn(700, 700, requires_grad=True)
    optimizer = torch.optim.Adam([w], 0.1, weight_decay=0.01)
    for _ in range(3):
        w.grad = w.detach() * 2
        optimizer.step()
    return [w.detach()]


@pytest.mark.parametrize("compute", [
    conv_gradients, adam_steps, lambda: recurrent_gradients("RNN"),
    lambda: recurrent_gradients("GRU", bidirectional=True), lambda: recurrent_gradients("LSTM", batch_first=True),
    lambda: recurrent_gradients("LSTM", proj_size=64)])
def test_same_as_one_thread(compute, two_threads, monkeypatch):
    seen = parts_of(monkeypatch)
    shared = compute()
    assert len(seen) == 2
    torch.set_num_threads(1)
    for a, b in zip(shared, compute(), strict=True):
        assert (a - b).abs().max() <= 1e-5 * b.abs().max()


def test_every_part_once(two_threads):
    done = []
    threads.split(7, lambda first, last: done.append((first, last)))
    assert sorted(done) == [(0, 3), (3, 7)]


def test_splits_do_not_nest(two_threads):
    inner = []
    threads.split(2, lambda first, last: threads.split(10, lambda a, b: inner.append((a, b))))
    assert inner == [(0, 10), (0, 10)]


def test_error_of_a_helper_reaches_the_caller(two_threads):
    def work(first, last):
        if first:
            raise ValueError("in the second part")
    with pytest.raises(ValueError, match="in the second part"):
        threads.split(2, work)
    done = []
    threads.split(2, lambda first, last: done.append(first))
    assert sorted(done) == [0, 1]


def test_blas_gets_its_threads_back(two_threads):
    get, _ = thread_counts()
    during = []
    threads.split(2, lambda first, last: during.append(get()))
    assert during == [1, 1] and get() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(two_threads):
    threads.split(2, lambda first, last: None)
    child = os.fork()
    if child == 0:
        done = []
        threads.split(2, lambda first, last: done.append(first))
        os._exit(0 if sorted(done) == [0, 1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_more_threads_than_cores(two_threads, monkeypatch):
    torch.set_num_threads(64)
    assert torch.get_num_threads() == 64 and thread_counts()[0]() == 2
    done = []
    threads.split(100, lambda first, last: done.append((first, last)))
    assert sorted(done) == [(0, 50), (50, 100)]
