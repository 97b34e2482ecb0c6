"""What a compiled function reads of Python's objects: when it changes, no replay gives an old number."""
import collections
import functools
import itertools
import sys
import types
from types import FunctionType

import numpy as np
import pytest

import tinytorch as torch
from tinytorch.autograd import identity
from tinytorch.capture import compiled, quick, ready
from tinytorch.capture.effects import _scanned, _told_by_dis
from tinytorch.capture.lowered import maker, text


@pytest.fixture(autouse=True)
def unchecked():
    """Without comparisons at run time, which would hide what is compared here."""
    compiled.settings.self_check = False
    yield
    compiled.settings.self_check = True


class Config:
    kind = 2.0

    def __init__(self, scale=2.0):
        self.scale = scale


class Slotted:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 2.0


def double(x):
    return x * 2


def triple(x):
    return x * 3


class Room:
    """What functions find by their global names."""

    config, slotted, one = Config(), Slotted(), [2.0]
    nested, queue = {"a": {"b": 2.0}}, collections.deque([2.0])


settings = types.ModuleType("settings_of_a_program")
array = np.array([2.0, 2.0], np.float32)
part = functools.partial(lambda numbers, x: x * numbers[0], [2.0])
act = double


SHARED = [2.0]


def inner(x, *, numbers=SHARED):
    return x * numbers[0]


def rebind():
    global act
    act = triple


READS = {
    "an attribute of an attribute": (lambda x: x * Room.config.scale, lambda: setattr(Room.config, "scale", 3.0)),
    "an attribute by its name": (lambda x: x * getattr(Room.config, "scale", None), lambda: setattr(
        Room.config, "scale", 3.0)),
    "an attribute by a name that is made": (lambda x: x * getattr(Room.config, "sc" + "ALE".lower()), lambda: setattr(
        Room.config, "scale", 3.0)),
    "an attribute of a class": (lambda x: x * Room.config.kind, lambda: setattr(Config, "kind", 3.0)),
    "one of a class that an object gets": (lambda x: x * Room.config.kind, lambda: setattr(Room.config, "kind", 5.0)),
    "a slot": (lambda x: x * Room.slotted.scale, lambda: setattr(Room.slotted, "scale", 3.0)),
    "what is in a list": (lambda x: x * Room.one[0], lambda: Room.one.__setitem__(0, 3.0)),
    "what is in a dict in a dict": (lambda x: x * Room.nested["a"]["b"], lambda: Room.nested["a"].update(b=3.0)),
    "what is in a queue": (lambda x: x * Room.queue[0], lambda: Room.queue.__setitem__(0, 3.0)),
    "what a module has": (lambda x: x * settings.scale, lambda: setattr(settings, "scale", 3.0)),
    "an array": (lambda x: x * array, lambda: array.fill(3.0)),
    "a number of an array": (lambda x: x * float(array[0]), lambda: array.fill(3.0)),
    "a default": (lambda x: inner(x), lambda: SHARED.__setitem__(0, 3.0)),
    "an argument of a partial": (lambda x: part(x), lambda: part.args[0].__setitem__(0, 3.0)),
    "a function by its name": (lambda x: act(x), rebind),
}


@pytest.mark.parametrize("what", READS)
def test_what_is_read_is_guarded(what):
    function, change = READS[what]
    Room.config, Room.slotted, Config.kind = Config(), Slotted(), 2.0
    Room.one[0] = Room.nested["a"]["b"] = Room.queue[0] = settings.scale = 2.0
    array.fill(2.0)
    SHARED[0] = part.args[0][0] = 2.0
    fast, x = torch.compile(function), torch.ones(2)
    for _ in range(4):
        assert fast(x).tolist() == function(x).tolist() == [2.0, 2.0]
    change()
    expected = function(x).tolist()
    assert expected != [2.0, 2.0]
    for _ in range(4):
        assert fast(x).tolist() == expected


def test_variables_around_a_function():
    factor, numbers = 2.0, [1.0]

    def scaled(x):
        return x * factor * numbers[0]
    fast, x = torch.compile(lambda x: scaled(x) + 1), torch.ones(1)
    for _ in range(4):
        assert fast(x).item() == 3
    factor = 3.0
    assert [fast(x).item() for _ in range(4)] == [4] * 4
    numbers[0] = 2.0
    assert [fast(x).item() for _ in range(4)] == [7] * 4


def test_what_a_module_holds():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.config, self.numbers, self.parts = Config(), [1.0], {"a": [Config(1.0)]}

        def forward(self, x):
            return x * self.config.scale * self.numbers[0] * self.parts["a"][0].scale
    net = Net()
    fast, x = torch.compile(net), torch.ones(1)
    for change in (lambda: None, lambda: setattr(net.config, "scale", 3.0), lambda: net.numbers.__setitem__(0, 5.0),
                   lambda: setattr(net.parts["a"][0], "scale", 7.0)):
        change()
        assert [fast(x).item() for _ in range(4)] == [net(x).item()] * 4


@pytest.mark.parametrize("numbers", [lambda: itertools.cycle([1.0, 2.0]), lambda: (x for x in [1.0, 2.0] * 4)],
                         ids=["cycle", "generator"])
def test_what_goes_on_as_it_is_read(numbers):
    source = numbers()
    fast = torch.compile(lambda x: x * next(source))
    assert [fast(torch.ones(1)).item() for _ in range(8)] == [1.0, 2.0] * 4


def test_functions_of_another_way_are_looked_at_too():
    flag, scale = False, 2.0

    def helper(x):
        return x * scale

    def either(x):
        return helper(x) if flag else x + 1
    fast, x = torch.compile(either), torch.ones(1)
    for _ in range(4):
        assert fast(x).item() == 2
    flag = True
    assert [fast(x).item() for _ in range(4)] == [2] * 4
    scale = 3.0
    assert [fast(x).item() for _ in range(4)] == [3] * 4


def test_writes_far_below_are_made():
    class Trainer:
        def __init__(self):
            self.inner, self.held = Config(0.0), {"a": []}

        def count(self, x):
            self.inner.scale = self.inner.scale + 1
            return x * 2

        def note(self, x):
            self.held["a"].append(1)
            return x * 2
    trainer = Trainer()
    for method in (trainer.count, trainer.note):
        fast = torch.compile(method)
        for _ in range(6):
            fast(torch.ones(1))
    assert trainer.inner.scale == 6 and len(trainer.held["a"]) == 6


def test_settings_and_flags_are_set_again():
    layer = torch.nn.Linear(2, 2)

    def settle(x):
        torch.set_default_dtype(torch.float64)
        layer.eval()
        return layer(x)
    fast = torch.compile(settle)
    for _ in range(5):
        fast(torch.ones(2))
        assert torch.get_default_dtype() is torch.float64 and not layer.training
        torch.set_default_dtype(torch.float32)
        layer.train()

    def switch(x):
        torch.use_deterministic_algorithms(True)
        return x * 2
    fast = torch.compile(switch)
    for _ in range(5):
        fast(torch.ones(2))
        assert torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(False)


def test_what_is_not_read_may_change():
    class Trainer:
        def __init__(self):
            self.scale, self.steps, self.losses = 2.0, 0, []

        def step(self, x):
            return x * self.scale
    trainer = Trainer()
    call = compiled.Compiled(trainer.step)
    for _ in range(30):
        trainer.steps += 1
        trainer.losses.append(call(torch.ones(1)).item())
        trainer.scale = float("2.0")           # another object, the same number
    entry, = call.entries.values()
    assert len(entry.programs) == 1 and entry.programs[0].count == 28


def test_large_containers_are_no_guards():
    table = list(range(5000))
    call = compiled.Compiled(lambda x: x * table[3])
    assert [call(torch.ones(1)).item() for _ in range(4)] == [3] * 4
    entry, = call.entries.values()
    assert not entry.programs and "a list of 5000" in entry.reason


# ------------------------------------------------------------------ results
def test_results_that_are_one_or_lie_in_one_memory():
    def twice(x):
        y = x * 2
        return y, y, y[1:]
    fast = torch.compile(twice)
    for _ in range(4):
        a, b, c = fast(torch.ones(3))
        assert a is b and c._base is a and c._version_counter is a._version_counter
        c.mul_(5)
        assert a.tolist() == [2, 10, 10] and a._version == c._version


def test_views_with_gradients_keep_their_history():
    w = torch.ones(3, requires_grad=True)

    def views(x):
        y = x * w
        return y, y[1:]
    fast = torch.compile(views)
    for _ in range(4):
        w.grad = None
        y, part = fast(torch.ones(3))
        part.mul_(5)
        y.sum().backward()
        assert w.grad.tolist() == [1, 5, 5]


def test_errors_halfway_leave_arguments_alone():
    def out(a):
        c = a.copy_(a.flip(0))
        return torch.diag(a, out=c)
    fast = torch.compile(out)
    for _ in range(4):
        a, b = torch.tensor([[9, -3]]), torch.tensor([[9, -3]])
        with pytest.warns(UserWarning, match="resized"):
            found = fast(a)
        with pytest.warns(UserWarning, match="resized"):
            expected = out(b)
        assert found.tolist() == expected.tolist() and a.shape == b.shape


def test_numbers_that_a_class_reads():
    fast = torch.compile(lambda x: torch.Tensor([x.sum(), True]))
    for k in range(4):
        assert fast(torch.full((2,), float(k))).tolist() == [2.0 * k, 1]


def test_a_variable_that_is_deleted_and_set_again():
    factor = 2.0

    def by_factor(x):
        return x * factor
    compiled_function, x = torch.compile(by_factor), torch.ones(2)
    for _ in range(25):
        assert compiled_function(x).tolist() == [2.0] * 2
    del factor
    for _ in range(2):
        with pytest.raises(NameError):
            compiled_function(x)
    factor = 3.0
    for _ in range(4):
        assert compiled_function(x).tolist() == [3.0] * 2


def test_hooks_of_leaves_run_from_the_next_call_on():
    """A program with a backward looks for them, one without need not."""
    weight, seen = torch.ones(2, requires_grad=True), []

    def step(x):
        weight.grad = None
        (x * weight).sum().backward()
        return weight.grad

    def predict(x):
        with torch.no_grad():
            return x * weight
    stepping, predicting, x = torch.compile(step), torch.compile(predict), torch.ones(2)
    for _ in range(25):
        stepping(x), predicting(x)
    hook = weight.register_hook(lambda g: seen.append(1) or g * 2)
    for k in range(4):
        assert stepping(x).tolist() == [2.0] * 2 and predicting(x).tolist() == [1.0] * 2
        assert len(seen) == k + 1
    hook.remove()
    assert stepping(x).tolist() == [1.0] * 2 and len(seen) == 4


@pytest.mark.parametrize("in_c", [True, False])
def test_state_that_is_replaced(in_c, monkeypatch):
    """Whether C or Python looks at tensors, variables and the state of an optimiser, a change is seen at once."""
    if not in_c:
        for module in (ready, maker, text):
            monkeypatch.setattr(module, "same", None)
    elif identity.same is None:
        pytest.skip("C does not find the fields of objects")
    monkeypatch.setattr(compiled.settings, "patience", 1)
    monkeypatch.setattr(compiled.settings, "longer", 1)

    def training():
        weights = [torch.ones(3, 2, requires_grad=True), torch.full((2,), 0.5, requires_grad=True)]
        optimizer, factor = torch.optim.Adam(weights, lr=0.1), 2.0

        def step(x):
            optimizer.zero_grad()
            value = (x @ weights[0] * factor + weights[1]).square().mean()
            value.backward()
            optimizer.step()
            return value

        def change(what):
            nonlocal factor
            state = optimizer.state[weights[0]]
            if what == "a variable":
                factor = factor + 1
            elif what == "the array of a parameter":
                weights[0].data = torch.full((3, 2), 0.3)
            elif what == "a tensor of the state":
                state["exp_avg"] = torch.full((3, 2), 0.2)
            elif what == "the array of a tensor of the state":
                state["exp_avg_sq"].data = torch.full((3, 2), 0.2)
            elif what == "one step count":
                state["step"].add_(3)
            elif what == "the state of a parameter":
                optimizer.state[weights[0]] = {key: x.clone() * 2 for key, x in state.items()}
            elif what == "the whole state":
                optimizer.load_state_dict(optimizer.state_dict())
                optimizer.state[weights[1]]["exp_avg"].mul_(2)
            elif what == "whether a parameter requires a gradient":
                weights[1].requires_grad_(False)
        return step, change, weights
    eager, change_eager, expected = training()
    step, change, weights = training()
    fast = torch.compile(step)
    for what in ("", "a variable", "the array of a parameter", "a tensor of the state", "one step count",
                 "the array of a tensor of the state", "the state of a parameter", "the whole state",
                 "whether a parameter requires a gradient"):
        change(what), change_eager(what)
        for k in range(5):
            x = torch.full((4, 3), 0.1 * k)
            assert fast(x).item() == eager(x).item(), (what, k)
            assert [w.tolist() for w in weights] == [w.tolist() for w in expected], (what, k)


@pytest.mark.parametrize("mode", [None, "max-autotune"])
@pytest.mark.parametrize("in_c", [True, False])
def test_options_and_gradients_that_are_replaced(in_c, mode, monkeypatch):
    """A replay uses the gradients of the last one again, and the numbers of the options; not if somebody else has the
    gradients, or if there are other options."""
    if not in_c:
        for module in (ready, maker, text):
            monkeypatch.setattr(module, "same", None)
        monkeypatch.setattr(quick, "fits", None)
    elif identity.same is None:
        pytest.skip("C does not find the fields of objects")
    monkeypatch.setattr(compiled.settings, "patience", 1)
    monkeypatch.setattr(compiled.settings, "longer", 1)

    def training():
        weights = [torch.ones(3, 2, requires_grad=True), torch.full((2,), 0.5, requires_grad=True)]
        optimizer = torch.optim.AdamW(weights, lr=0.1)
        group, seen = optimizer.param_groups[0], []

        def step(x):
            optimizer.zero_grad()
            value = (x @ weights[0] + weights[1]).square().mean()
            value.backward()
            optimizer.step()
            return value

        def change(what):
            gradient = weights[0].grad
            if what == "options":
                group["lr"], group["betas"] = group["lr"] * 0.5, (0.8, 0.99)
            elif what == "an option of NumPy":
                group["eps"] = np.float64(1e-3)
            elif what == "an option that becomes true":
                group["maximize"] = not group["maximize"]
            elif what == "a gradient that is held":
                seen.append(gradient)
            elif what == "the array of a gradient that is held":
                seen.append(gradient.numpy())
            elif what == "a view of a gradient":
                seen.append(gradient[0])
            elif what == "no gradient":
                weights[0].grad = None
            elif what == "another gradient":
                weights[0].grad = torch.full((3, 2), 7.0)
            elif what == "another array":
                gradient.data = torch.full((3, 2), 7.0)
            elif what == "a gradient that requires one":
                seen.append(gradient.requires_grad_())
            elif what == "swapped gradients":
                weights[1].grad = weights[1].grad.clone()
        return step, change, weights, seen
    eager, change_eager, expected, seen_eager = training()
    step, change, weights, seen = training()
    fast = torch.compile(step, mode=mode)
    close = (lambda a, b: a == b) if mode is None else (lambda a, b: np.allclose(a, b, 1e-5, 1e-6))
    for what in ("", "options", "an option of NumPy", "an option that becomes true", "a gradient that is held",
                 "the array of a gradient that is held", "a view of a gradient", "no gradient", "another gradient",
                 "another array", "a gradient that requires one", "swapped gradients", ""):
        for k in range(4):
            if k != 2:
                change(what), change_eager(what)
            x = torch.full((4, 3), 0.1 * k)
            assert close(fast(x).tolist(), eager(x).tolist()), (what, k)
            for a, b in zip([*weights, *[w.grad for w in weights]], [*expected, *[w.grad for w in expected]]):
                assert close(a.tolist(), b.tolist()) and a._version == b._version, (what, k)
            assert all([close(a.tolist(), b.tolist()) for a, b in zip(seen, seen_eager)]), (what, k)


def test_arguments_that_c_compares():
    """C finds the same arguments alike as Python."""
    if identity.fits is None:
        pytest.skip("C does not find the fields of objects")
    base, hooked = torch.zeros(4, 3), torch.zeros(4, 3, requires_grad=True)
    hooked.register_hook(lambda g: g)
    with torch.inference_mode():
        inference = torch.zeros(4, 3)
    tensors = [torch.zeros(4, 3), base, base[:], base[:2], base[:, :2], base.T, torch.zeros(4, 3).double(), hooked,
               torch.zeros(4, 3, requires_grad=True), torch.zeros(4, 3, requires_grad=True) * 2, inference,
               torch.nn.Parameter(torch.zeros(4, 3)), torch.zeros(()), torch.zeros(0, 3), torch.zeros(1, 4, 3),
               torch.from_numpy(np.frombuffer(bytearray(48), np.float32).reshape(4, 3)),
               torch.from_numpy(np.lib.stride_tricks.as_strided(np.zeros(2, np.float32), (4, 3), (0, 0)))]
    values = [1, True, 1.0, 10 ** 6, int("1000000"), None, "a", "".join(["a", ""]), (), np.zeros((4, 3), np.float32)]
    calls = [(), *[(x,) for x in (*tensors, *values)], *itertools.product(tensors, tensors),
             *itertools.product(tensors[:4], values), (base, base[:], 1, base[1:]), (base, tensors[0], 1, base[1:])]
    matches = [quick.matcher(args) for args in calls]
    assert sum([match is not None for match in matches]) > 200
    for match in matches:
        if match is not None:
            assert match.signature is not None
            in_c, in_python = (m.function("", ["return True"], {}) for m in (match, match._replace(signature=None)))
            for args in calls:
                assert in_c(args) == in_python(args), args


def test_what_code_reads_is_found_without_dis():
    """Both ways agree for the functions of this package, and for code of more than 256 names."""
    many = compile("\n".join([f"a = g{i}.x{i}" for i in range(300)]), "many", "exec")
    codes = [many, *[f.__code__ for module in list(sys.modules.values()) for f in list(vars(module).values())
                     if isinstance(f, FunctionType) and (f.__module__ or "").startswith(torch.__name__)]]
    assert len(codes) > 1000 and [code for code in codes if _scanned.__wrapped__(code) != _told_by_dis(code)] == []
    assert len(_scanned(many)[1]) == 300 and _scanned(compile("x.y = len(z)", "", "exec"))[1] == ("len", "z", "x")
