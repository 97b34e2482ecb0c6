"""Programs of torch.compile's default mode that are replayed in C and by NumPy in memory of their own: with the bits of
eager."""
import threading
import time

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.capture import compiled
from tinytorch.capture.lowered import Lowered
from tinytorch.kernels import native

pytestmark = pytest.mark.skipif(native.level() is None, reason="there are no native kernels")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Programs are lowered after one replay in Python, and no replay is compared with eager at run time."""
    monkeypatch.setattr(compiled.settings, "patience", 1)
    monkeypatch.setattr(compiled.settings, "longer", 1)
    monkeypatch.setattr(compiled.settings, "self_check", False)


def ready_of(function):
    entry, = function._compiled.entries.values()
    ready, = entry.programs
    return ready


def both(make, inputs):
    """(what calls gave and left in eager, the same compiled, the program); make() -> (function, tensors that it writes
    to)."""
    found = []
    for compiles in (False, True):
        torch.manual_seed(0)
        function, kept = make()
        if compiles:
            function = torch.compile(function)
        results = [function(*args).detach().numpy().tobytes() for args in inputs]
        found.append((results, [t.detach().numpy().tobytes() for t in kept()]))
    return *found, ready_of(function)


def training(model, optimizer, loss):
    def make():
        net = model()
        chosen = optimizer(net.parameters())

        def step(x, y):
            chosen.zero_grad()
            value = loss(net(x), y)
            value.backward()
            chosen.step()
            return value
        return step, lambda: [*net.parameters(), *net.buffers(), *[p.grad for p in net.parameters()]]
    return make


def conv():
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(75, 4))


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)), (8, 4),
            (8, 1), nn.functional.mse_loss),
    "cnn": (conv, (3, 1, 12, 12), 4, nn.functional.cross_entropy),
    "norm": (lambda: nn.Sequential(nn.Linear(6, 12), nn.LayerNorm(12), nn.GELU(), nn.Linear(12, 5)), (7, 6), 5,
             nn.functional.cross_entropy),
}
OPTIMIZERS = {"sgd": lambda p: torch.optim.SGD(p, lr=0.1), "adam": torch.optim.Adam,
              "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3, nesterov=True),
              "adamw": lambda p: torch.optim.AdamW(p, amsgrad=True), "rmsprop": torch.optim.RMSprop,
              "adagrad": torch.optim.Adagrad}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", MODELS)
def test_training_has_the_bits_of_eager(name, optimizer):
    model, shape, target, loss = MODELS[name]
    torch.manual_seed(1)
    inputs = [(torch.randn(shape), torch.randn(target) if isinstance(target, tuple) else
               torch.randint(0, target, shape[:1])) for _ in range(12)]
    eager, found, ready = both(training(model, OPTIMIZERS[optimizer], loss), inputs)
    assert found == eager
    assert ready.count == 10 and ready.direct is not None and ready.direct.calls and not ready.in_c


def test_signs_of_zeros_and_what_is_not_a_number():
    x = torch.tensor([-0., 0., float("nan"), -float("nan"), float("inf"), -1e-45, -3.] * 3)
    inputs = [(x * (1 - 2 * (k % 2)),) for k in range(6)]
    for function in (torch.relu, lambda x: x.clamp(min=0.), lambda x: torch.maximum(x, -x), lambda x: x.abs() / x,
                     lambda x: x.sqrt() - x.square()):
        eager, found, ready = both(lambda function=function: (lambda x: function(x) * 1, list), inputs)
        assert found == eager


def test_powers_of_sums_are_those_of_numbers():
    """Of one number NumPy computes otherwise than of an array without dimensions."""
    torch.manual_seed(0)
    inputs = [(torch.rand(9) * 9,) for _ in range(60)]
    eager, found, ready = both(lambda: (lambda x: (x * x).sum() ** (1 / 3), list), inputs)
    assert found == eager


def test_options_that_change_are_read():
    def make():
        p = nn.Parameter(torch.ones(4))
        optimizer = torch.optim.Adam([p])

        def step(x):
            optimizer.zero_grad()
            value = (p * x).square().sum()
            value.backward()
            optimizer.step()
            return value
        step.optimizer = optimizer
        return step, p, optimizer
    found = []
    for compiles in (False, True):
        step, p, optimizer = make()
        call = torch.compile(step) if compiles else step
        results = []
        for k in range(40):
            group = optimizer.param_groups[0]
            group["lr"] = 0.1 / (1 + k)
            if k % 9 == 8:
                group["weight_decay"] = 0.1 * (k % 2)
                optimizer.state[p]["exp_avg"] = torch.zeros(4)       # what was lowered does not hold any more
            results.append(call(torch.arange(4.) + k).item())
        found.append((results, p.tolist()))
    assert found[0] == found[1]
    assert ready_of(call).count == 38


def test_state_that_changes_again_and_again_is_left_to_python():
    p = nn.Parameter(torch.ones(4))
    optimizer = torch.optim.Adam([p])

    @torch.compile
    def step(x):
        optimizer.zero_grad()
        value = (p * x).square().sum()
        value.backward()
        optimizer.step()
        return value
    for _ in range(30):
        step(torch.ones(4))
        optimizer.state[p]["exp_avg"] = torch.zeros(4)
    ready = ready_of(step)
    assert ready.direct.again == 6 and not ready.direct.plain and ready.direct.calls == 0
    assert any("too often" in reason for reason in ready.direct.why)


def test_gradients_are_nobody_elses():
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        return loss
    kept, losses = [], []
    for k in range(10):
        losses.append(step(torch.ones(4, 3) * k))
        kept.append((model.weight.grad, model.weight.grad.tolist(), losses[-1].item()))
    for (grad, numbers, loss), result in zip(kept, losses):
        assert grad.tolist() == numbers and result.item() == loss
    assert ready_of(step).direct is not None


def test_large_programs_with_gradients_are_left_to_python():
    """test_compile_inference.py has those without."""
    w = torch.tensor(1., requires_grad=True)
    f = torch.compile(lambda x: (x + w).exp().sum())
    for _ in range(5):
        f(torch.ones(1 << 20))
    assert ready_of(f).direct is None and not ready_of(f).waits
    f = torch.compile(lambda x: (x + 1).exp().sum())
    for _ in range(5):
        f(torch.ones(1 << 10))
    assert ready_of(f).direct is not None


def test_a_check_that_fails_leaves_nothing():
    """Where a program does not hold for some numbers the call is eager's: nothing was written before."""
    norm, pool = nn.BatchNorm1d(2), nn.MaxPool1d(2)

    def f(x):
        return pool(norm(x))
    g, x = torch.compile(f), torch.rand(3, 2, 8)
    for _ in range(6):
        g(x)
    assert norm.num_batches_tracked.item() == 6
    bad = x.clone()
    bad[0, 0, 0] = float("nan")
    g(bad)
    assert norm.num_batches_tracked.item() == 7
    assert np.isnan(norm.running_mean.numpy()).tolist() == [True, False]


def test_backwards_of_several_threads_at_once():
    """The program of a backward has one memory: of two threads one is left to Python."""
    model = torch.compile(nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.ReLU(), nn.Linear(128, 1)))
    for _ in range(5):
        model(torch.rand(64, 64, requires_grad=True)).sum().backward()
    entry, = model._compiled.entries.values()
    ready, = entry.programs
    assert isinstance(ready.back[0], Lowered)
    x = [torch.rand(64, 64, requires_grad=True) for _ in range(8)]
    expected = [torch.autograd.grad(model._orig_mod(t).sum(), t)[0].tolist() for t in x]
    outputs, found, inside = [model(t).sum() for t in x], [None] * 8, []
    run = ready.back[0]

    def waits(arrays):
        inside.append(1)
        assert len(inside) == 1                # nobody else is in it
        time.sleep(0.01)
        result = run(arrays)
        inside.pop()
        return result
    ready.back[0] = waits

    def backward(i):
        found[i] = torch.autograd.grad(outputs[i], x[i])[0].tolist()
    threads = [threading.Thread(target=backward, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_several_steps_in_one_call(optimizer):
    """The second step in a call has the next step count."""
    def make():
        net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        chosen = OPTIMIZERS[optimizer](net.parameters())

        def steps(x):
            for _ in range(3):
                chosen.zero_grad()
                value = net(x).square().mean()
                value.backward()
                chosen.step()
            return value
        return steps, lambda: [*net.parameters(), *[s["step"] for s in chosen.state.values()]]
    eager, replayed, ready = both(make, [(torch.rand(8, 4),) for _ in range(8)])
    assert replayed == eager
    assert type(ready.direct) is Lowered and not ready.direct.python


def test_threads_that_replay_one_program():
    """A program in C has one memory, and NumPy's calls of a program run in one context: other threads run eagerly."""
    model = nn.Sequential(nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 10))
    x = torch.rand(4, 300)

    def predict(x):
        with torch.no_grad():
            return model(x)
    function = torch.compile(predict)
    for _ in range(6):
        function(x)
    assert type(ready_of(function).direct) is Lowered
    wanted, found = predict(x).numpy().tobytes(), []

    def run():
        for _ in range(200):
            found.append(function(x).numpy().tobytes() == wanted)
    threads = [threading.Thread(target=run) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(found) == 800 and all(found)


def test_the_error_state_of_numpy_is_no_matter():
    function = torch.compile(lambda x, w: (x @ w).relu())
    x, w = torch.full((2, 4), 3e38), torch.full((4, 3), 3e38)
    with np.errstate(all="raise"):
        for _ in range(8):
            assert function(x, w).tolist() == [[np.inf] * 3] * 2
    assert type(ready_of(function).direct) is Lowered


def test_programs_that_one_call_runs(monkeypatch):
    """Arrays with gaps or offsets, empty ones and numbers of each call, results of several dimensions and none, another
    number of threads, and other errors of NumPy's."""
    monkeypatch.setattr(compiled.settings, "patience", 1)
    monkeypatch.setattr(compiled.settings, "longer", 1)
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.5)

    def update():
        weight.grad = None
        (weight * 2.0).backward(torch.ones(3))
        optimizer.step()
    functions = [lambda x: x * 2.0 + 1.0, lambda x: (x * x - x).reshape(x.shape), lambda x: (x + x, x * 3.0)]
    arguments = [torch.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(3, 4).T, torch.arange(24.0)[5:17],
                 torch.zeros(0, 3), torch.tensor(2.0), torch.arange(12.0).reshape(3, 4)[:, ::2],
                 torch.ones(*[1] * 33, 2)]
    for function in functions:
        for x in arguments:
            fast, before = torch.compile(function), torch.get_num_threads()
            for k in range(6):
                torch.set_num_threads(2 if k == 4 else 1)
                found, wanted = fast(x + k), function(x + k)
                for a, b in zip(*[(y,) if isinstance(y, torch.Tensor) else y for y in (found, wanted)]):
                    assert a.shape == b.shape and a.stride() == b.stride() and a.tolist() == b.tolist(), (x.shape, k)
                    assert a._version == 0 and a.is_leaf and not a.requires_grad and a.grad is None
            torch.set_num_threads(before)
    fast = torch.compile(update)
    for k in range(6):
        optimizer.param_groups[0]["lr"] = 0.5 + k
        assert fast() is None
        assert weight.tolist() == [1.0 - 2 * sum([0.5 + j for j in range(k + 1)])] * 3
