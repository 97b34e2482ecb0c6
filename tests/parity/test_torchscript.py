# ruff: noqa: UP006, UP035, UP045 (what scripts are written in)
"""Archives of TorchScript, both ways: what is traced here runs in PyTorch, what PyTorch traces or scripts runs here."""
import io
import warnings
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import pytest
import torch

import tinytorch

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# ------------------------------------------------------------------ models, of either library
def models(t):
    nn, F = t.nn, t.nn.functional

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.c1, self.b1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.c2, self.p, self.f = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(3, 8, 1), nn.Linear(8, 5)

        def forward(self, x):
            y = self.c2(F.relu(self.b1(self.c1(x)))) + self.p(x)
            return self.f(F.adaptive_avg_pool2d(F.relu(y), 1).flatten(1))

    class Recurrent(nn.Module):
        def __init__(self, kind):
            super().__init__()
            self.r, self.f = kind(6, 7, 2, batch_first=True, bidirectional=True), nn.Linear(14, 3)

        def forward(self, x):
            y, h = self.r(x)
            return self.f(y[:, -1])

    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.e, self.f = nn.EmbeddingBag(10, 4, mode="mean"), nn.Linear(4, 2)

        def forward(self, words, offsets):
            return self.f(self.e(words, offsets))

    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x):
            return self.a(x, x, x)
    images, floats = ("f", 2, 3, 8, 8), ("f", 2, 5, 8)
    return {
        "mlp": (lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3), nn.Softmax(-1)),
                [("f", 5, 4)]),
        "cnn": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                                      nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 5)), [images]),
        "images": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding="same"), nn.GroupNorm(2, 4), nn.SiLU(),
                                         nn.ConvTranspose2d(4, 2, 2, stride=2), nn.InstanceNorm2d(2),
                                         nn.AdaptiveMaxPool2d(2), nn.Upsample(scale_factor=2, mode="bilinear")),
                   [images]),
        "residual": (Residual, [images]),
        "rnn": (lambda: Recurrent(nn.RNN), [("f", 2, 5, 6)]), "gru": (lambda: Recurrent(nn.GRU), [("f", 2, 5, 6)]),
        "lstm": (lambda: Recurrent(nn.LSTM), [("f", 2, 5, 6)]),
        "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), [floats]),
        "encoder, norm first": (lambda: nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", norm_first=True,
                                                                   batch_first=True), [floats]),
        "decoder": (lambda: nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), [floats, ("f", 2, 4, 8)]),
        "attention": (Heads, [floats]), "bag": (Bag, [("i", 10, 7), ("o", 0, 3)]),
        "embedding": (lambda: nn.Sequential(nn.Embedding(10, 4), nn.LayerNorm(4), nn.GELU()), [("i", 10, 7)]),
        "activations": (lambda: nn.Sequential(
            nn.ELU(), nn.LeakyReLU(0.1), nn.Hardtanh(), nn.Softplus(), nn.SELU(), nn.CELU(), nn.Tanh(), nn.Sigmoid(),
            nn.LogSigmoid(), nn.Hardswish(), nn.Mish(), nn.PReLU(), nn.GLU(), nn.Softshrink(), nn.ReLU6(),
            nn.LogSoftmax(1)), [("f", 4, 6)]),
    }


def arrays(specs, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for kind, *numbers in specs:
        if kind == "f":
            made.append(rng.standard_normal(numbers).astype(np.float32))
        else:
            made.append(rng.integers(0, numbers[0], numbers[1]) if kind == "i" else np.array(numbers))
    return made


def tensors(t, given):
    return tuple([t.from_numpy(x.copy()) for x in given])


def flat(x):
    if isinstance(x, (torch.Tensor, tinytorch.Tensor)):
        return [x.detach().numpy()]
    if isinstance(x, (list, tuple)):
        return [a for y in x for a in flat(y)]
    return [a for key in sorted(x) for a in flat(x[key])] if isinstance(x, dict) else [x]


def near(a, b):
    a, b = flat(a), flat(b)
    assert len(a) == len(b) > 0
    for x, y in zip(a, b):
        if isinstance(x, np.ndarray):
            assert x.shape == y.shape and x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)
        else:
            assert x == y


def read_here(made):
    """What PyTorch has made, read here."""
    return carried(lambda file: torch.jit.save(made, file), tinytorch.jit.load)


def carried(make, load, options=None):
    file = io.BytesIO()
    make(file)
    file.seek(0)
    return load(file, **options or {})


NAMES = list(models(tinytorch))


@pytest.mark.parametrize("name", NAMES)
def test_traced_here_and_run_there(name):
    tinytorch.manual_seed(0)
    make, specs = models(tinytorch)[name]
    model, given = make().eval(), arrays(specs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced = tinytorch.jit.trace(model, tensors(tinytorch, given))
    theirs = carried(lambda file: tinytorch.jit.save(traced, file), torch.jit.load)
    assert list(theirs.state_dict()) == list(traced.state_dict()) == list(model.state_dict())
    other = arrays(specs, 1)
    more = [other, [np.concatenate([x, x]) for x in other]] if specs[0][0] == "f" else [other]
    for x in more:
        expected = model(*tensors(tinytorch, x))
        near(theirs(*tensors(torch, x)), expected)
        near(traced(*tensors(tinytorch, x)), expected)


@pytest.mark.parametrize("how", ["trace", "script"])
@pytest.mark.parametrize("name", NAMES)
def test_made_there_and_run_here(name, how):
    torch.manual_seed(0)
    make, specs = models(torch)[name]
    model, given = make().eval(), arrays(specs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = torch.jit.trace(model, tensors(torch, given), check_trace=False) if how == "trace" else (
                torch.jit.script(model))
        except Exception as error:             # PyTorch scripts no classes that are made in functions
            pytest.skip(f"PyTorch does not script it: {type(error).__name__}")
    ours = read_here(made)
    assert list(ours.state_dict()) == list(model.state_dict()) and not ours.training
    x = arrays(specs, 1)
    expected = model(*tensors(torch, x))
    near(ours(*tensors(tinytorch, x)), expected)
    with tinytorch.no_grad(), torch.no_grad():
        near(ours(*tensors(tinytorch, x)), made(*tensors(torch, x)))
    again = carried(ours.save, torch.jit.load)             # and back
    near(again(*tensors(torch, x)), expected)


# ------------------------------------------------------------------ scripts with control flow
class Loops(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.n, self.scale = torch.nn.Linear(4, 4), 3, 0.5

    def forward(self, x: torch.Tensor, k: int, mask: Optional[torch.Tensor] = None) -> Dict[str, torch.Tensor]:
        out: List[torch.Tensor] = []
        for _ in range(k):
            x = self.l(x)
            if x.sum() > 0:
                x = torch.tanh(x)
            else:
                x = x * self.scale - 1
            if mask is not None:
                x = x * mask
            out.append(x)
        j = 0
        while j < self.n:
            j += 1
            if j == 2:
                continue
            x = x + j
        d: Dict[str, torch.Tensor] = {}
        d["x"], d["s"] = x, torch.stack(out)
        assert len(out) == k
        for name, v in d.items():
            d[name] = v + 1
        if "s" in d and j >= 3:
            d["y"] = d["s"][-1, :, 1:3]
        return d


class Point(NamedTuple):
    x: torch.Tensor
    n: int


class Counter:
    def __init__(self, n: int):
        self.n = n
        self.items: List[int] = []

    def add(self, k: int) -> int:
        self.items.append(k)
        self.n += k
        return self.n


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    torch.jit.script(Counter)


class Classes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ms = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 3)])
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x, k: int = 2):
        counter = Counter(1)
        for i in range(k):
            counter.add(i)
        for m in self.ms:
            x = m(x)
        self.seen += 1
        values = [float(v) * 2 for v in counter.items]
        w, index = x.view(x.size(0), -1).max(1)
        p = Point(w * float(counter.n), k // 2 + k % 3 - k ** 2 > 0)
        if k > 100:
            raise ValueError("too many")
        return p, index, values, f"{k} things of {counter.n}", self.seen

    @torch.jit.export
    def halved(self, x: torch.Tensor, texts: List[str]) -> Tuple[torch.Tensor, List[str]]:
        return x / 2, [text.upper().replace("A", "b") + "!" for text in texts]


def test_loops_branches_dicts_and_optional():
    torch.manual_seed(0)
    scripted = torch.jit.script(Loops())
    ours = read_here(scripted)
    x, mask = arrays([("f", 3, 4), ("f", 3, 4)])
    for k in (1, 4):
        near(ours(tinytorch.from_numpy(x), k), scripted(torch.from_numpy(x), k))
        near(ours(*tensors(tinytorch, [x]), k, tinytorch.from_numpy(mask)),
             scripted(torch.from_numpy(x), k, torch.from_numpy(mask)))
    near(ours(tinytorch.from_numpy(x), k=2, mask=None), scripted(torch.from_numpy(x), k=2))
    for wrong in ((), (tinytorch.ones(1),), (tinytorch.ones(1), 1, None, 2), (3, 1)):
        with pytest.raises(RuntimeError):
            ours(*wrong)


def test_classes_named_tuples_texts_exports_and_errors():
    torch.manual_seed(0)
    scripted = torch.jit.script(Classes())
    ours = read_here(scripted)
    x = arrays([("f", 3, 3)])[0]
    for _ in range(2):
        near(ours(tinytorch.from_numpy(x), 5), scripted(torch.from_numpy(x), 5))
    assert ours.halved(tinytorch.ones(2), ["abc", "b"])[1] == ["bBC!", "B!"]
    assert scripted.halved(torch.ones(2), ["abc", "b"])[1] == ["bBC!", "B!"]
    with pytest.raises(tinytorch.jit.Error, match="ValueError: too many"):
        ours(tinytorch.from_numpy(x), 101)


def test_a_loaded_model_can_be_trained_as_there():
    models_ = []
    torch.manual_seed(0)
    there = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)))
    here = read_here(there)
    x, y = arrays([("f", 8, 3), ("f", 8, 1)])
    for t, model in ((torch, there), (tinytorch, here)):
        optimizer = t.optim.SGD(model.parameters(), 0.1)
        for _ in range(5):
            optimizer.zero_grad()
            t.nn.functional.mse_loss(model(t.from_numpy(x)), t.from_numpy(y)).backward()
            optimizer.step()
        models_.append([*model.train().state_dict().values(), model.eval()(t.from_numpy(x))])
    near(*models_)


def test_constants_devices_and_extra_files():
    table = torch.arange(3.)
    traced = torch.jit.trace(lambda x: (x + table + torch.full((1,), 2, dtype=torch.int32)).double(), torch.ones(3))
    file = io.BytesIO()
    torch.jit.save(traced, file, _extra_files={"notes": "hello"})
    file.seek(0)
    extra = {"notes": "", "none": ""}
    ours = tinytorch.jit.load(file, "cpu", extra)
    near(ours(tinytorch.ones(3)), traced(torch.ones(3)))
    assert extra == {"notes": b"hello", "none": ""}
    back = carried(lambda f: tinytorch.jit.save(ours, f, {"notes": "again"}), torch.jit.load, {"_extra_files": extra})
    near(back(torch.ones(3)), traced(torch.ones(3)))
    assert extra["notes"] == b"again"


# ------------------------------------------------------------------ what tracing says
def warned(t, function, *inputs, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        t.jit.trace(function, inputs, **options)
    return {str(w.message) for w in caught if w.category.__name__ == "TracerWarning"}


@pytest.mark.parametrize("function", [
    lambda t: lambda x: x * 2 if x.sum() > 0 else x, lambda t: lambda x: x * float(x[0]),
    lambda t: lambda x: x * int(x[0]), lambda t: lambda x: x + t.from_numpy(x.numpy()),
    lambda t: lambda x: x * len(x), lambda t: lambda x: x * 2 if x.size(0) > 2 else x], ids=range(6))
def test_tracer_warnings_in_torchs_words(function):
    ours, theirs = [warned(t, function(t), t.tensor([2., 1.]), check_trace=False) for t in (tinytorch, torch)]
    assert ours == theirs and ours


@pytest.mark.filterwarnings("ignore")
def test_checks_find_counters_and_outputs_that_differ():
    for t in (torch, tinytorch):
        count = [0]

        def counted(x, count=count):
            count[0] += 1
            return x * count[0]
        with pytest.raises(Exception, match="failed sanity checks!\nERROR: Graphs differed across invocations!"):
            t.jit.trace(counted, (t.ones(2),))


@pytest.mark.parametrize("call", [
    lambda t: t.jit.trace(lambda x: {"a": x}, (t.ones(1),)),
    lambda t: t.jit.trace(lambda x: 3, (t.ones(1),)), lambda t: t.jit.trace(lambda x: "a", (t.ones(1),)),
    lambda t: t.jit.trace(lambda x, n: x, (t.ones(1), 3)), lambda t: t.jit.load("no such file")], ids=range(5))
def test_errors_in_torchs_words(call):
    told = []
    for t in (torch, tinytorch):
        with pytest.raises(Exception) as error:
            call(t)
        told.append((type(error.value).__name__, str(error.value).split("\n")[0][:90]))
    assert told[0] == told[1]


def test_inputs_by_name_structures_and_several_methods():
    class Net(tinytorch.nn.Module):
        def forward(self, pair, *, scale):
            a, b = pair["p"]
            return (a * scale, (b, a.size(0) * b))

        def twice(self, xs):
            return [x * 2 for x in xs], xs[0]
    inputs = {"pair": {"p": (tinytorch.ones(2, 3), tinytorch.ones(3))}, "scale": tinytorch.full((1,), 3.)}
    traced = tinytorch.jit.trace(Net(), example_kwarg_inputs=inputs)
    theirs = carried(traced.save, torch.jit.load)
    given = {"pair": {"p": (torch.ones(4, 3), torch.ones(3))}, "scale": torch.ones(1)}
    near(theirs(**given), (torch.ones(4, 3), (torch.ones(3), torch.full((3,), 4.))))
    both = tinytorch.jit.trace_module(Net(), {"twice": ([tinytorch.ones(2), tinytorch.ones(1)],)}, strict=False)
    near(carried(both.save, torch.jit.load).twice([torch.ones(2), torch.ones(1)]), both.twice(
        [tinytorch.ones(2), tinytorch.ones(1)]))
