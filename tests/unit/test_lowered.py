"""Programs replayed in C: beside eager over many steps, with options and state that change, and what must not be baked
into them. tests/parity/test_compile_in_c.py walks over all operators, layers and optimisers."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch.capture import compiled
from tinytorch.capture.lowered import Lowered, arrays
from tinytorch.kernels import native
from tinytorch.kernels.threads import team

pytestmark = pytest.mark.skipif(native.level() is None, reason="no library of native kernels was built")
F, nn = torch.nn.functional, torch.nn


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    """Without comparisons at run time, which would hide what is compared here."""
    monkeypatch.setattr(compiled.settings, "self_check", False)
    monkeypatch.setattr(compiled.settings, "patience", 0)      # lowered at once


def numbers(*shape, seed=0):
    return torch.from_numpy(np.random.RandomState(seed).rand(*shape).astype(np.float32))


def lowered(function):
    """A compiled function, and how to find what replays its programs."""
    call = compiled.Compiled(function, native=True)

    def programs():
        entries = list(call.entries.values())
        assert all([entry.reason is None for entry in entries]), [entry.reason for entry in entries]
        return [ready.run_steps for entry in entries for ready in entry.programs]
    return call, programs


def training(build, loss, kind=torch.optim.SGD, **options):
    """(step, model, optimiser) of a model and an optimiser that are the same each time."""
    torch.manual_seed(0)
    model = build()
    optimiser = kind(model.parameters(), **options)

    def step(x, y):
        optimiser.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimiser.step()
        return value.detach()
    return step, model, optimiser


def tiny():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(4 * 5 * 5, 3)

    def forward(self, x):
        return self.out(F.max_pool2d(F.relu(self.norm(self.conv(x))), 2).flatten(1))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(11, 16), nn.LayerNorm(16)
        self.qkv, self.out = nn.Linear(16, 48, bias=False), nn.Linear(16, 11)

    def forward(self, x):
        x = self.table(x)
        q, k, v = (t.view(*t.shape[:2], 2, 8).transpose(1, 2) for t in self.qkv(self.norm(x)).split(16, dim=2))
        weights = F.softmax((q @ k.transpose(-2, -1)) * 8 ** -0.5, -1)
        x = x + F.gelu((weights @ v).transpose(1, 2).reshape(x.shape))
        return self.out(x).view(-1, 11)


class Last(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer, nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.layer(x)[0][:, -1])


def classes(n, count=3):
    return torch.arange(n) % count


STEPS = {
    "tiny, Adam": (tiny, F.mse_loss, torch.optim.Adam, {},
                   lambda k: (numbers(8, 4, seed=k), numbers(8, 1, seed=-k % 9))),
    "tiny, SGD": (tiny, F.mse_loss, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9},
                  lambda k: (numbers(8, 4, seed=k), numbers(8, 1, seed=k + 1))),
    "images": (Images, F.cross_entropy, torch.optim.SGD, {"lr": 0.1},
               lambda k: (numbers(6, 1, 12, 12, seed=k), classes(6))),
    "attention": (Attention, F.cross_entropy, torch.optim.AdamW, {},
                  lambda k: ((torch.arange(40).reshape(4, 10) * (k + 1)) % 11, classes(40, 11))),
    "rnn": (lambda: Last(nn.RNN(40, 8, batch_first=True)), F.cross_entropy, torch.optim.SGD, {"lr": 0.1},
            lambda k: (numbers(5, 7, 40, seed=k), classes(5))),
    "lstm": (lambda: Last(nn.LSTM(40, 8, batch_first=True)), F.cross_entropy, torch.optim.Adam, {},
             lambda k: (numbers(5, 7, 40, seed=k), classes(5))),
    "gru": (lambda: Last(nn.GRU(40, 8, batch_first=True)), F.cross_entropy, torch.optim.Adam, {},
            lambda k: (numbers(5, 7, 40, seed=k), classes(5))),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_follow_eager(name):
    build, loss, kind, options, data = STEPS[name]
    (mine, model, _), (theirs, other, _) = (training(build, loss, kind, **options) for _ in range(2))
    call, programs = lowered(mine)
    for k in range(12):
        found, wanted = call(*data(k)), theirs(*data(k))
        assert abs(found.item() - wanted.item()) < 1e-5
    for p, q in zip([*model.parameters(), *model.buffers()], [*other.parameters(), *other.buffers()]):
        assert (p - q).abs().max() < 2e-5
        assert p.grad is None or (p.grad - q.grad).abs().max() < 2e-5
    found, = programs()
    # After statistics are written, a class that is ignored could not send the call to eager any more.
    allowed = {"nll_loss", "nll_loss backward"} if name == "images" else set()
    assert isinstance(found, Lowered) and {step.name for step in found.python} <= allowed, found.why


def test_programs_are_lowered_once_they_have_been_replayed(monkeypatch):
    """Few calls do not pay for it. Before they are eager's bits, and some replays of either kind are checked."""
    monkeypatch.setattr(compiled.settings, "patience", 3)
    monkeypatch.setattr(compiled.settings, "self_check", True)
    for module in (False, True):
        step, model, _ = training(tiny, F.mse_loss, torch.optim.Adam)
        if module:
            def step(x, y):
                model.zero_grad()
                return model(x).sum()
        (call, programs), kinds = lowered(step), []
        for k in range(8):
            loss = call(numbers(8, 4, seed=k), numbers(8, 1))
            if module:
                loss.backward()
            for replay in programs():
                ready = call.entries[next(iter(call.entries))].programs[0]
                kinds.append((type(replay) is Lowered, ready.back and type(ready.back[0]) is Lowered))
        one = (True, True if module else None)
        assert kinds[:4] == [tuple([x and False for x in one])] * 4 and set(kinds[4:]) == {one}, kinds


def test_memory_is_shared_by_lifetimes():
    """Arrays that are not needed at once have one place."""
    layers = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.GELU()) for _ in range(6)])
    call, programs = lowered(torch.no_grad()(lambda x: layers(x)))
    for k in range(4):
        call(numbers(32, 64, seed=k))
    found, = programs()
    assert found.sizes[0] <= found.sizes[1] / 2


def test_threads_change_no_bit():
    """A program gives the same bits on any number of threads."""
    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(300, 200), nn.Linear(200, 10)

        def forward(self, x):
            return self.b(F.gelu(self.a(x)) * 1.5 + 1)
    found = set()
    before = team.size
    try:
        for size in (1, 2, 4):
            step, model, _ = training(Wide, F.cross_entropy, torch.optim.Adam)
            call, programs = lowered(step)
            for k in range(5):
                team.size = 1 if k < 3 else size
                call(numbers(200, 300, seed=k), classes(200, 10))
            assert len(programs()) == 1
            found.add(b"".join([p.detach().numpy().tobytes() for p in model.parameters()]))
    finally:
        team.size = before
    assert len(found) == 1


def test_options_are_read_at_each_call():
    pair = [training(tiny, F.mse_loss, torch.optim.Adam, lr=0.01) for _ in range(2)]
    call, programs = lowered(pair[0][0])
    for k in range(12):
        for _, _, optimiser in pair:
            optimiser.param_groups[0]["lr"] = 0.01 * 0.7 ** k
            optimiser.param_groups[0]["betas"] = (0.9 - 0.01 * k, 0.99)
            optimiser.param_groups[0]["weight_decay"] = 0.1 if k > 6 else 0
        x, y = numbers(8, 4, seed=k), numbers(8, 1)
        call(x, y), pair[1][0](x, y)
        for p, q in zip(pair[0][1].parameters(), pair[1][1].parameters()):
            assert (p - q).abs().max() < 1e-5, k
    assert len(programs()) == 1


def test_state_that_is_replaced_is_found():
    """load_state_dict gives an optimiser other arrays: the program is made anew."""
    pair = [training(tiny, F.mse_loss, torch.optim.Adam, lr=0.01) for _ in range(2)]
    call, programs = lowered(pair[0][0])
    for k in range(10):
        if k == 6:
            for _, _, optimiser in pair:
                optimiser.load_state_dict(optimiser.state_dict())
        x, y = numbers(8, 4, seed=k), numbers(8, 1)
        call(x, y), pair[1][0](x, y)
        for p, q in zip(pair[0][1].parameters(), pair[1][1].parameters()):
            assert (p - q).abs().max() < 1e-6, k
    for _, model, optimiser in pair:
        assert optimiser.state[next(model.parameters())]["step"].item() == 10
    programs()


def test_state_that_appears_is_found():
    """An optimiser without state: looking a parameter up in `state` gives it an empty one, and momentum a whole one."""
    pair = [training(tiny, F.mse_loss, torch.optim.SGD, lr=0.01) for _ in range(2)]
    call, programs = lowered(pair[0][0])
    for k in range(12):
        for _, model, optimiser in pair:
            if k == 4:
                assert not optimiser.state[next(model.parameters())]
            if k == 8:
                optimiser.param_groups[0]["momentum"] = 0.9
        x, y = numbers(8, 4, seed=k), numbers(8, 1)
        call(x, y), pair[1][0](x, y)
        for p, q in zip(pair[0][1].parameters(), pair[1][1].parameters()):
            assert (p - q).abs().max() < 1e-6, k
    program, = programs()
    assert program.again == 2, program.why


def test_a_loss_has_an_array_of_its_own():
    """The kernel of cross entropy writes it behind the losses of all rows. One call of C makes the array of the result
    and runs the program."""
    torch.manual_seed(0)
    model = nn.Linear(4, 3)

    def loss(x, y):
        with torch.no_grad():
            return F.cross_entropy(model(x), y)
    call, programs = lowered(loss)
    for k in range(4):
        x, y = numbers(8, 4, seed=k), torch.arange(8) % 3
        found = call(x, y)
        assert (found - loss(x, y)).abs() < 1e-6 and found._array.base is None and found.shape == ()
    program, = programs()
    assert "launch(" in program.text and "part(" not in program.text


def test_parts_of_memory_keep_their_strides():
    for cut in (lambda x: x[::2], lambda x: x[:, 1], lambda x: x.as_strided((2, 1), (1, 7)), lambda x: x[1:2, :2].t()):
        call, programs = lowered(lambda x: cut(x * 2))         # noqa: B023
        for k in range(4):
            x = numbers(4, 3, seed=k)
            found, wanted = call(x), cut(x * 2)
            assert torch.equal(found, wanted) and found.stride() == wanted.stride()
        assert len(programs()) == 1


def test_gradients_add_up():
    """Without zero_grad each call adds to what is there."""
    torch.manual_seed(0)
    model = tiny()

    def step(x):
        model(x).sum().backward()
    call, programs = lowered(step)
    for k in range(6):
        call(numbers(3, 4, seed=k))
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    for k in range(6):
        step(numbers(3, 4, seed=k))
    for g, p in zip(found, model.parameters()):
        assert (g - p.grad).abs().max() < 1e-5
    programs()


def test_results_are_nobodys_buffer():
    call, programs = lowered(lambda x: (x * 2 + 1, x.sum(1)))
    given = [numbers(3, 4, seed=k) for k in range(6)]
    found = [call(x) for x in given]
    for x, (a, b) in zip(given, found):
        assert (a == x * 2 + 1).all() and (b - x.sum(1)).abs().max() < 1e-6
    with torch.no_grad():
        found[-1][0].zero_()
        assert (call(given[0])[0] == given[0] * 2 + 1).all()
    assert not programs()[0].python


def test_gradients_of_a_step_are_new_arrays():
    step, model, _ = training(tiny, F.mse_loss, torch.optim.SGD, lr=0.1)
    call, _ = lowered(step)
    kept = []
    for k in range(6):
        call(numbers(8, 4, seed=k), numbers(8, 1))
        kept.append(next(model.parameters()).grad)
    assert len({g._array.__array_interface__["data"][0] for g in kept}) == 6


def test_writes_to_arguments_are_seen():
    def write(x):
        x[:, 1] = x[:, 0] * 2
        x.mul_(3)
        return x.sum()
    call, programs = lowered(write)
    for k in range(5):
        x, y = numbers(3, 4, seed=k), numbers(3, 4, seed=k)
        found, wanted = call(x), write(y)
        assert (x == y).all() and abs(found.item() - wanted.item()) < 1e-5
    programs()


def test_a_class_that_there_is_not_is_an_error():
    """What C refuses runs eagerly, which says what is wrong; and nothing has been written."""
    step, model, _ = training(lambda: nn.Linear(4, 3), F.cross_entropy, torch.optim.SGD, lr=0.1)
    call, _ = lowered(step)
    for k in range(4):
        call(numbers(5, 4, seed=k), classes(5))
    before = model.weight.detach().clone()
    with pytest.raises(IndexError, match="out of bounds"):
        call(numbers(5, 4), torch.tensor([0, 1, 7, 0, 1]))
    assert (model.weight == before).all()
    assert call(numbers(5, 4), classes(5)).item() > 0


def test_nan_in_a_window_goes_where_eager_has_it():
    def step(x):
        x = x.clone().requires_grad_()
        g, = torch.autograd.grad(F.max_pool2d(x * 1, 2).sum(), x)
        return g
    call, _ = lowered(step)
    for k in range(5):
        x = numbers(1, 1, 4, 4, seed=k)
        if k == 4:
            x[0, 0, 1, 1] = float("nan")
        found, wanted = call(x), step(x)
        assert (found == wanted).all(), k


def test_random_numbers_go_on():
    """Steps that draw are called in Python, in their order."""
    torch.manual_seed(0)
    call, programs = lowered(lambda x: F.dropout(torch.tanh(x), 0.5) * 2)
    x = numbers(4, 50)
    found = []
    for function in (call, lambda x: F.dropout(torch.tanh(x), 0.5) * 2):
        torch.manual_seed(1)
        found.append([function(x) for _ in range(6)])
    for a, b in zip(*found):
        assert (a - b).abs().max() < 1e-5


# ------------------------------------------------------------------ what stands in
def test_numbers_of_stand_ins_are_not_to_be_had():
    from tinytorch.capture.lowered.tape import Tape
    x = Tape().new((3, 4))
    for look in (bool, float, int, lambda x: x.tolist(), lambda x: x.argmax(), lambda x: x[x > 0], np.sort,
                 lambda x: x.take([0]), np.linalg.norm, lambda x: x.astype("i8"), np.arcsinh,
                 lambda x: np.add.accumulate(x), lambda x: x + 1j, lambda x: x.std()):
        with pytest.raises((arrays.NotLowered, TypeError, ValueError)):
            look(x)


def looks(x):
    return x * np.float32(x.sum())


def writes(x):
    made = np.empty(3, np.float32)
    np.copyto(made, x)
    memoryview(made)[1] = 7.0
    return made


@pytest.mark.parametrize("function, wanted", [(looks, [6, 12, 18]), (writes, [1, 7, 3])])
def test_a_function_that_does_something_out_of_sight_is_left_to_python(function, wanted):
    """np.float32 of an array asks nobody, nor does who writes to its memory: a second run with other numbers shows the
    one, the memory the other."""
    from tinytorch.capture.program import INPUT, MADE, Program, Ref, Slot, Step
    f4 = np.dtype("f4")
    function.__module__ = "tinytorch.kernels"
    program = Program([Slot(0, INPUT, (3,), f4, (4,), 0), Slot(1, MADE, (3,), f4, (4,), 1, leaves=True)],
                      [Step("forward", function, (Ref(0),), {}, Ref(1), reads=(0,), makes=(1,))], [0])
    replay = Lowered(program, [1])
    assert len(replay.python) == 1 and "without the tape" in replay.why[0]
    assert replay([np.array([1, 2, 3], f4)])[0].tolist() == wanted
