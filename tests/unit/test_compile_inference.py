"""Programs of torch.compile for inference that are replayed in C: batch norm with the limits after it, activations in
place, results that nothing reads, and large arrays. All with the bits of eager."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.capture import compiled
from tinytorch.capture.lowered import maker, size
from tinytorch.kernels import native, norm

pytestmark = pytest.mark.skipif(native.level() is None, reason="there are no native kernels")
F = nn.functional


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """The names of the calls of the program that was lowered last. Programs are lowered after one replay, and no replay
    is compared with eager at run time."""
    for name, value in ("patience", 1), ("longer", 1), ("self_check", False):
        monkeypatch.setattr(compiled.settings, name, value)
    found, plan = [], maker.plan

    def planned(calls, *others):
        found[:] = [call.name for call in calls if hasattr(call, "name")]
        return plan(calls, *others)
    monkeypatch.setattr(maker, "plan", planned)
    return found


def ready_of(function):
    entry, = function._compiled.entries.values()
    ready, = entry.programs
    return ready


class Layer(nn.Module):
    """A convolution and a norm, whose channels have large and small variances; `after` is called with the module and
    the norm's result."""

    def __init__(self, after, norm=nn.BatchNorm2d):
        super().__init__()
        self.conv, self.norm, self.after = nn.Conv2d(3, 8, 3, padding=1), norm(8), after
        with torch.no_grad():
            for t in (self.norm.running_mean, self.norm.weight, self.norm.bias):
                t.copy_(torch.randn(8))
            self.norm.running_var.copy_(torch.rand(8) + 0.1)
            self.norm.weight[0], self.norm.bias[0], self.norm.running_mean[0] = 0., -0., 0.

    def forward(self, x):
        return self.after(self, self.norm(self.conv(x)))


def layer(after, norm=nn.BatchNorm2d):
    torch.manual_seed(0)
    return Layer(after, norm).eval()


def images(odd=True):
    x = torch.randn(4, 3, 20, 20, generator=torch.Generator().manual_seed(1)) * 3
    if odd:                                    # each reaches nine pixels
        x[0, 0, 3, 3], x[1, 1, 7, 7], x[2, 2, 9, 2], x[3, :, 5:9, 5:9] = np.nan, np.inf, -np.inf, 0.
    return x


def agree(function, x, calls=6):
    """Compiles the function, and compares each call with eager."""
    quick = torch.compile(function)
    with torch.no_grad():
        for _ in range(calls):
            expected, found = function(x.clone()), quick(x.clone())
            for a, b in zip(*[t if isinstance(t, tuple) else (t,) for t in (expected, found)]):
                assert a.numpy().tobytes() == b.numpy().tobytes()
    ready = ready_of(quick)
    assert ready.direct is not None
    return ready


LIMITS = {
    "relu": lambda self, y: F.relu(y), "relu in place": lambda self, y: F.relu(y, inplace=True),
    "relu_": lambda self, y: y.relu_(), "relu6": lambda self, y: F.relu6(y),
    "relu6 in place": lambda self, y: F.relu6(y, inplace=True), "hardtanh": lambda self, y: F.hardtanh(y, -.3, .1),
    "clamp": lambda self, y: y.clamp(-0.5, 2), "one point": lambda self, y: y.clamp(0.25, 0.25),
    "crossed": lambda self, y: y.clamp(1, -1), "from below": lambda self, y: y.clamp(min=0.1),
    "minus zero": lambda self, y: y.clamp(min=-0.), "from above": lambda self, y: y.clamp_(max=-0.),
    "infinite": lambda self, y: F.hardtanh(y, -np.inf, 0.),
}


@pytest.mark.parametrize("name", LIMITS)
def test_batch_norm_limits_its_result(name, names):
    agree(layer(LIMITS[name]), images())
    assert names.count("batch_norm_by") == 1 and not {"relu", "fused", "run"} & set(names)
    assert sum([x.startswith("conv") for x in names]) == 1


OTHERS = {
    "added": lambda self, y: F.relu(y) + y, "returned after": lambda self, y: (F.relu(y), y),
    "returned before": lambda self, y: (y, F.relu6(y)), "chosen": lambda self, y: torch.where(y > 0, F.relu6(y), y),
    "a part": lambda self, y: F.relu(y[:, 2:]), "turned": lambda self, y: F.relu(y.mT),
    "doubled": lambda self, y: F.relu(y * 2),
    "by a tensor": lambda self, y: y.clamp(self.norm.running_mean[:, None, None]),
    "leaky": lambda self, y: F.leaky_relu(y, 0.1), "in place": lambda self, y: F.silu(y, inplace=True),
    "unused": lambda self, y: F.relu(self.conv.bias), "read again": lambda self, y: (F.relu(y, inplace=True), y + 1),
    "a part in place": lambda self, y: torch.relu_(y[:, :4]) + y[:, :4],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_uses_of_the_result_get_what_eager_gives(name):
    agree(layer(OTHERS[name]), images())


def test_limits_twice():
    agree(layer(lambda self, y: F.relu6(F.relu(y))), images())


def test_training_is_the_same_as_before(names):
    """Batch norm of a batch has no limits."""
    found = []
    for compiles in (False, True):
        model, results = layer(LIMITS["relu"]).train(), []
        function = torch.compile(model) if compiles else model
        with torch.no_grad():
            for _ in range(7):
                results.append(function(images(odd=False)).numpy().tobytes())
        found.append([*results, *[t.numpy().tobytes() for t in model.buffers()]])
    assert found[0] == found[1] and names.count("batch_norm") == names.count("relu") == 1


@pytest.mark.parametrize("kind, shape", [(nn.BatchNorm1d, (6, 8)), (nn.BatchNorm1d, (6, 8, 5)),
                                         (nn.BatchNorm3d, (2, 8, 3, 4, 5))])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_batch_norm_of_other_inputs(kind, shape, dtype):
    torch.manual_seed(0)
    agree(nn.Sequential(kind(8), nn.ReLU(), nn.Hardtanh()).eval().to(dtype), torch.randn(shape).to(dtype))


def test_the_kernel_limits_as_relu_and_clamp_do():
    random = np.random.RandomState(0)
    x = random.randn(3, 5, 37).astype(np.float32)
    x[0, :, :6] = np.nan, np.inf, -np.inf, 0, -0., 1e-42
    mean, weight, bias = random.randn(3, 5).astype(np.float32)
    variance = random.rand(5).astype(np.float32)
    mean[0], bias[0] = 0, -0.
    plain, _ = norm.batch_norm_by(x, weight, bias, mean, variance, 1e-5)
    for low, high in ((0., np.inf), (-0., 6.), (-np.inf, 0.), (-1., 1.), (1., -1.), (-np.inf, np.inf)):
        out, rate = np.empty_like(x), np.empty_like(mean)
        native.run("batch_norm_by", 3, 5, 37, 1e-5, low, high, x, mean, variance, weight, bias, rate, out)
        y = torch.from_numpy(plain)
        expected = F.relu(y) if (low, high) == (0., np.inf) else y.clamp(low, high)
        assert out.tobytes() == expected.numpy().tobytes()


@pytest.mark.parametrize("name", ["relu", "relu6", "silu", "leaky_relu", "hardtanh", "hardswish"])
def test_an_activation_in_place_is_one_call(name, names):
    function = getattr(F, name)
    agree(lambda x: function(x * 2, inplace=True), images())
    assert "run" not in names
    agree(lambda x: function(x * 2, inplace=True) + 1, images())
    assert "run" not in names

    def kept(x):
        y = x * 2
        z = y.clone()
        function(y, inplace=True)
        return y, z, function(z[0]), z + 1
    agree(kept, images())


def test_arguments_and_outs_of_the_caller_are_written_as_in_eager():
    model, out = layer(LIMITS["relu"]), torch.zeros(4, 8, 20, 20)

    def step(x):
        y = model.norm(model.conv(x))
        torch.relu(y, out=out)
        F.relu6(x, inplace=True)
        return y

    quick, found = torch.compile(step), []
    with torch.no_grad():
        for function in (step, quick, quick, quick, quick, quick):
            x = images()
            out.zero_()
            y = function(x)
            found.append([t.numpy().tobytes() for t in (x, y, out)])
    assert found == found[:1] * 6


def test_hooks_get_the_intermediate_results():
    model, kept = layer(LIMITS["relu in place"]), []
    expected = model.norm(model.conv(images())).detach()
    handle = model.norm.register_forward_hook(lambda module, args, y: kept.append(y.clone()))
    quick = torch.compile(model)
    with torch.no_grad():
        for _ in range(5):
            result = quick(images())
            assert kept.pop().numpy().tobytes() == expected.numpy().tobytes()
            assert result.numpy().tobytes() == F.relu(expected).numpy().tobytes()
        handle.remove()
        model.norm.register_forward_hook(lambda module, args, y: y * 2)
        for _ in range(5):
            assert quick(images()).numpy().tobytes() == F.relu(expected * 2).numpy().tobytes()
    assert not kept


def test_large_programs_without_gradients_are_lowered(monkeypatch):
    """If they need few bytes at once, whatever all their arrays take."""
    model, x = nn.Sequential(*[layer(LIMITS["relu"]), nn.Conv2d(8, 3, 1)] * 6).eval(), torch.randn(16, 3, 64, 64)
    ready = agree(model, x, 4)
    most, all = ready.direct.sizes
    assert size.LARGE < all and most < all // 4 and ready.direct.calls
    monkeypatch.setattr(size, "HELD", most // 2)
    quick = torch.compile(model)
    with torch.no_grad():
        for _ in range(4):
            quick(x)
    assert ready_of(quick).direct is None and not ready_of(quick).waits
    monkeypatch.setattr(size, "HELD", 1 << 40)
    quick = torch.compile(model)
    for _ in range(4):
        quick(x).sum().backward()
    assert ready_of(quick).direct is None and not ready_of(quick).waits
