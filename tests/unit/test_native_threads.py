"""Every native kernel called by several threads of Python at once on the same arrays: the bits of one call alone."""
import threading

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import random
from tinytorch.kernels import halves, native
from tinytorch.kernels.native.table import KERNELS, parsed

from .test_native import FAMILIES, draws, kernels
from .test_native_addresses import elements
from .test_native_rows import lines, moved, placed

needs_library = pytest.mark.skipif(native.level() is None, reason="no library of native kernels was built")
F = torch.nn.functional
THREADS, TURNS = 3, 4


def sums(outputs):
    return outputs.square().sum() if isinstance(outputs, torch.Tensor) else sum(map(sums, outputs))


def programs():
    """What the families of test_native.py leave out."""
    x, long = torch.tensor(draws(1, 64, 96)), torch.tensor(draws(2, 700, 800))
    index = torch.arange(96).flip(0).expand(64, 96).contiguous()
    target = torch.arange(64) % 96
    torch.manual_seed(0)
    yield lambda: (torch.rand(700), torch.randn(700), torch.rand(700, dtype=torch.float64))
    for dtype in (torch.int64, torch.float32, torch.float64):
        yield lambda: (torch.randint(9, (700,), dtype=dtype), torch.zeros(700, dtype=dtype).random_())
    yield lambda: (F.dropout(torch.ones(3000), .3), torch.bernoulli(torch.full((3000,), .3, dtype=torch.float64)))
    yield lambda: (torch.poisson(torch.full((700,), 3.0)), torch._standard_gamma(torch.full((700,), 3.0)))
    yield lambda: (torch.randperm(700), torch.binomial(torch.full((700,), 9.0), torch.full((700,), .3)))
    for dtype in (torch.float32, torch.float64):
        some = torch.zeros(700, dtype=dtype)
        yield lambda: (some.exponential_(), some.cauchy_(), some.log_normal_(), some.geometric_(0.3))
    yield lambda: (torch.zeros(700, dtype=torch.uint8).random_(), torch.zeros(700).long().random_(-2 ** 63, None))
    yield lambda: (torch.randn(700, dtype=torch.float64), torch.randn(700, dtype=torch.float16))
    yield lambda: (x[0].abs().multinomial(9), x.abs().multinomial(9, True), x.topk(5))
    yield lambda: (x.gather(1, index), torch.zeros(64, 96).scatter_add(1, index, x))
    shares = x.sigmoid()
    yield lambda: (F.binary_cross_entropy(shares, shares), F.rms_norm(x, (96,)))
    yield lambda: (torch.searchsorted(long[0].sort()[0], x), long.roll(1, 1), torch.diag_embed(long[0]))
    yield lambda: (x.cumsum(0), x.cumprod(1), x.cummax(1), x.half().softmax(1))
    yield lambda: (long.amax(1), long.argmin(0), long.max(1), long.aminmax(dim=1), long.median(1), long.kthvalue(9, 1))
    yield lambda: (long.std(0), long.var(1), long.long().sum(1), long.histc(min=-1, max=1))
    yield lambda: (long.bfloat16() @ long.bfloat16().T, F.gelu(x.half()), long.double(), F.mse_loss(long, long + 1))
    yield lambda: (torch.complex(long, long).abs(), torch.bincount(index.reshape(-1)))
    yield lambda: (torch.where(long > 0, long, 0.0), long.bool())
    yield lambda: (long.half().sum(1), torch.linalg.vector_norm(long, 3, 1))
    yield lambda: (long.T.contiguous(), torch.cat((long, long)), long + long, long - 1, long * long, long / long[0])
    yield lambda: (torch.exp(long), torch.log(long.abs()), torch.tanh(long), torch.erf(long), F.silu(long))
    yield lambda: F.relu(long.clone().requires_grad_()).square().sum().backward()
    for layer in (torch.nn.LSTM(8, 16, proj_size=4), torch.nn.GRUCell(8, 16), torch.nn.LSTMCell(8, 16),
                  torch.nn.RNNCell(8, 16)):
        yield lambda: sums(layer(torch.ones(6, 3, 8) if layer._get_name() == "LSTM" else torch.ones(6, 8))).backward()
    yield lambda: (F.cross_entropy(x, target), F.embedding(index, x.repeat(2, 1)), long[target])
    yield lambda: long.reshape(-1).gather(0, torch.arange(70_000))
    yield lambda: F.one_hot(torch.arange(70_000) % 2, 2)
    yield lambda: F.embedding(torch.randint(0, 600, (90_000,)), long[:, :64].contiguous())
    whole = torch.arange(1, 9001)
    yield lambda: (whole // whole.flip(0), whole.max(), whole.float(), (long[:9] > 0).sum())
    yield lambda: (torch.bernoulli(shares), torch.linalg.qr(x))
    yield listened_to


def listened_to():
    """Kernels for records of calls."""
    native.listen(True)
    try:
        torch.linalg.svd(torch.eye(5)), torch.bmm(torch.ones(2, 5, 5), torch.ones(2, 5, 5))
    finally:
        native.listen(False)


def recorded(monkeypatch):
    """{kernel: the arguments of one call}, of inputs as they were before the call."""
    found = {}

    def run(name, *args):
        if name not in found:
            found[name] = [a.copy() if a is not None and kind == "[" else a
                           for a, (_, _, kind, *_) in zip(args, parsed(KERNELS[name][1]))]
        plain(name, *args)
    plain = native.run
    monkeypatch.setattr(native, "run", run)
    monkeypatch.setattr(native, "done", native._looked_at)             # which calls `run`
    monkeypatch.setattr(native, "made", native._made_fallback)
    monkeypatch.setattr(native, "result", native._result_fallback)
    for name in ("_converter", "_maker_of"):
        monkeypatch.setattr(halves, name, lambda *names: lambda *args: -1)
    monkeypatch.setattr(random, "_ONE_PIECE", 0)                       # as draws of many do
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with kernels(True):
            for family in FAMILIES:
                for _ in family(33, 5, np.float32):
                    pass
            for program in programs():
                program()
            for family in (elements, lines, moved, placed):
                for _ in family(33, 5, np.float32):
                    pass
    finally:
        torch.set_num_threads(before)
        monkeypatch.undo()
    return found


def written(name):
    return [">" in marks for marks, *_ in parsed(KERNELS[name][1])]


def outcome(name, args):
    """The bits of what a kernel writes, on arrays of its own."""
    writes = written(name)
    args = [a.copy() if a is not None and w else a for a, w in zip(args, writes)]
    native.run(name, *args)
    return [a.tobytes() for a, w in zip(args, writes) if w and a is not None]


@needs_library
def test_several_threads_on_shared_arrays(monkeypatch):
    found = recorded(monkeypatch)
    left = sorted(set(KERNELS) - set(found))
    assert not left, f"no program here runs these kernels: add to programs() a call that does: {left}"
    assert set(found) == set(KERNELS)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for name, args in found.items():
            expected, different = outcome(name, args), []
            begin = threading.Barrier(THREADS)

            def work():
                begin.wait()
                for _ in range(TURNS):
                    if outcome(name, args) != expected:
                        different.append(name)
            threads = [threading.Thread(target=work) for _ in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
            assert not different and not any(thread.is_alive() for thread in threads), name
    finally:
        torch.set_num_threads(before)


@needs_library
def test_several_threads_and_an_index_that_changes():
    """What one thread writes to an index that others read is a race; that C reads a number once is what holds."""
    index, x = np.zeros(4096, np.int64), np.ones(4096, np.float32)
    stop, ran = threading.Event(), []

    def write():
        while not stop.is_set():
            index[2000:2100] = 1 << 40
            index[2000:2100] = 0

    def read():
        out = np.zeros(4096, np.float32)
        for _ in range(300):
            try:
                native.run("gather", 1, 4096, 4096, 1, x, index, out)
                native.run("add_along", 1, 4096, 4096, 1, x, index, None, out)
                native.run("in_range", 4096, 4096, index)
                ran.append(1)
            except IndexError:
                ran.append(0)
    writer, readers = threading.Thread(target=write), [threading.Thread(target=read) for _ in range(2)]
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join(120)
    stop.set()
    writer.join(120)
    assert len(ran) == 600
