"""torch.compile of operations that decide by numbers inside, of half precision and of complex numbers: each is recorded
and replayed with the bits of eager, forward and backward."""
import numpy as np
import pytest

import tinytorch as torch
from tinytorch import dtypes as dt
from tinytorch.capture import compiled, steps
from tinytorch.capture.selfcheck import with_one_nan
from tinytorch.kinds.one_step import STEPS

F, nn = torch.nn.functional, torch.nn
NAN = float("nan")


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    """Comparisons at run time would hide what is compared here."""
    monkeypatch.setattr(compiled.settings, "self_check", False)


def bits(x):
    if isinstance(x, (tuple, list)):
        return [bits(y) for y in x]
    return x if x is None else (x.dtype, tuple(x.shape), x.stride(), x._array.tobytes())


def with_gradients(function):
    def call(*given):
        result = function(*given)
        parts = list(result) if isinstance(result, tuple) else [result]
        roots = [x for x in parts if x.requires_grad]
        leaves = [x for x in given if x.requires_grad]
        total = sum([(x.abs() if x.is_complex() else x.float()).sum() for x in roots])
        return [x.detach() for x in parts], torch.autograd.grad(total, leaves) if roots else []
    return call


def outcome(function, make, k):
    torch.manual_seed(k)
    given = make(k)
    torch.manual_seed(k)
    return bits(function(*given)), torch.get_rng_state()._array.tobytes()


def replays(function, make, patience=3, calls=6):
    """Compares calls with other numbers each time, of the function and of the compiled function, and returns the number
    of replays."""
    compiled.settings.patience, before = patience, compiled.settings.patience
    try:
        ready = compiled.Compiled(function)
        for k in range(calls):
            assert outcome(ready, make, k) == outcome(function, make, k), k
    finally:
        compiled.settings.patience = before
    entry, = ready.entries.values()
    assert entry.reason is None
    return sum([program.count for program in entry.programs])


def uniform(*shape):
    return lambda k: (torch.randn(*shape),)


def tied(k):
    """Rows with equal elements, and in every other call with a NaN."""
    x = torch.randn(6, 8).round()
    x[0, k % 8] = NAN if k % 2 else 0.
    return x,


def labels(k):
    return torch.randn(10, 2, 5), torch.randint(1, 5, (2, 3))


OPERATIONS = {
    "searchsorted": (lambda x, y: torch.searchsorted(x.sort().values, y), lambda k: (torch.randn(9), torch.randn(4))),
    "searchsorted of rows": (lambda x: torch.searchsorted(x.sort().values, x, right=True), tied),
    "searchsorted with NaN": (lambda x: torch.searchsorted(x, x), tied),
    "searchsorted with a sorter": (lambda x: torch.searchsorted(x, x, sorter=x.argsort()), uniform(5, 7)),
    "bucketize": (lambda x, y: torch.bucketize(x, y.sort().values), lambda k: (torch.randn(9), torch.randn(4))),
    "median": (lambda x: x.median(1), tied), "nanmedian": (lambda x: x.nanmedian(0, True), tied),
    "median of all": (lambda x: x.median(), tied), "mode": (lambda x: x.mode(1), tied),
    "kthvalue": (lambda x: x.kthvalue(3, 1), tied), "topk": (lambda x: x.topk(4, 1), tied),
    "sort": (lambda x: x.sort(0, descending=True), tied), "sort of columns": (lambda x: x.t().sort(0), tied),
    "sort in half precision": (lambda x: x.half().sort(1), tied), "cummax": (lambda x: x.cummax(1), tied),
    "quantile": (lambda x: x.quantile(0.3), tied), "quantiles": (lambda x: x.quantile(torch.tensor([.2, .7]), 1), tied),
    "quantile of rows": (lambda x: x.quantile(0.3, 1, interpolation="lower"), uniform(5, 7)),
    "nanquantile": (lambda x: x.nanquantile(0.3, 0), tied), "cov": (torch.cov, uniform(3, 6)),
    "cov with weights": (lambda x, w: torch.cov(x, aweights=w), lambda k: (torch.randn(3, 6), torch.rand(6))),
    "cov with counts": (lambda x, n: torch.cov(x, fweights=n),
                        lambda k: (torch.randn(3, 6), torch.randint(1, 4, (6,)))),
    "cov of one": (lambda x: torch.cov(x, correction=2), uniform(7)), "corrcoef": (torch.corrcoef, uniform(3, 6)),
    "histc": (lambda x: torch.histc(x, 5, -2, 2), uniform(30)), "histc of all": (lambda x: x.histc(5), uniform(30)),
    "histogram": (lambda x: tuple(torch.histogram(x.detach(), 5)), uniform(30)),
    "isin": (lambda x: torch.isin(x, torch.tensor([0., 1.])), tied),
    "one_hot": (lambda x: F.one_hot(x, 8), lambda k: (torch.randint(8, (5,)),)),
    "repeat_interleave": (lambda x, n: x.repeat_interleave(n, 0, output_size=7),
                          lambda k: (torch.randn(3, 2), torch.tensor([[1, 2, 4], [3, 0, 4]][k % 2]))),
    "gumbel_softmax": (lambda x: F.gumbel_softmax(x, hard=True), uniform(5, 7)),
    "fractional_max_pool2d": (lambda x: F.fractional_max_pool2d(x, 2, 3, return_indices=True), uniform(2, 3, 8, 8)),
    "fractional_max_pool3d": (lambda x: F.fractional_max_pool3d(x, 2, 3), uniform(2, 8, 8, 8)),
    "ctc_loss": (lambda x, y: F.ctc_loss(x.log_softmax(2), y, (10, 9), (3, 2)), labels),
    "ctc_loss of tensors": (lambda x, y: F.ctc_loss(x.log_softmax(2), y, torch.full((2,), 10), torch.full((2,), 3),
                                                    zero_infinity=True), labels),
    "ctc_loss of one row": (lambda x, y: F.ctc_loss(x.log_softmax(2), y.reshape(-1), (10, 10), (3, 3),
                                                    reduction="sum"), labels),
}


@pytest.mark.parametrize("patience", [3, 0], ids=["python", "c"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_that_read_numbers_inside(name, patience):
    function, make = OPERATIONS[name]
    assert replays(function, make, patience) >= 3

    def leaves(k):
        return tuple([x.requires_grad_() if x.is_floating_point() else x for x in make(k)])
    assert replays(with_gradients(function), leaves, patience) >= 3


def test_their_errors_are_raised_in_replays_too():
    cases = [(lambda x: x.quantile(x), torch.tensor([0.5, 0.6]), torch.tensor([0.5, 6.])),
             (lambda x: F.one_hot(x, 3), torch.tensor([0, 2]), torch.tensor([0, 3])),
             (lambda x: torch.searchsorted(torch.ones(2), torch.ones(2), sorter=x), torch.tensor([0, 1]),
              torch.tensor([0, 2]))]
    for function, right, wrong in cases:
        ready = compiled.Compiled(function)
        for _ in range(4):
            ready(right.clone())
        with pytest.raises(RuntimeError) as expected:
            function(wrong)
        with pytest.raises(RuntimeError) as found:
            ready(wrong)
        assert str(found.value) == str(expected.value)


def test_functions_of_one_step_are_put_back():
    names = [(function.__globals__, function.__name__, function) for function in STEPS]
    compiled.Compiled(lambda x: x.quantile(0.3))(torch.randn(5))
    assert names and all([space[name] is function for space, name, function in names])


def test_an_index_of_one_number_selects_a_view():
    """A recording would have copied the elements."""
    x = torch.randn(3, 4, 5, 6)
    for function in (lambda x, i: x[i], lambda x, i: x[:, i, :, [0, 1]]):
        ready = compiled.Compiled(function)
        for k in range(4):
            found, expected = [f(x, torch.tensor(k % 3)) for f in (ready, function)]
            assert bits(found) == bits(expected)
            assert found._is_view() == expected._is_view()


# ------------------------------------------------------------------ half precision
HALVES = {
    "sum": lambda x, w: x * w + x, "broadcast": lambda x, w: x * w[0],
    "number": lambda x, w: (x * 2.5 + 1) ** 2 - w / 3,
    "product": lambda x, w: (x @ w).tanh(), "softmax": lambda x, w: F.softmax(x @ w, -1).log(),
    "gelu": lambda x, w: F.gelu(x @ w), "norm": lambda x, w: F.layer_norm(x, (4,), w[0], w[1]),
    "mixed": lambda x, w: (x.float() * w.float().exp()).to(x.dtype) * x, "sorted": lambda x, w: x.sort(1)[0] * w}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
@pytest.mark.parametrize("name", HALVES)
def test_gradients_in_half_precision(name, dtype):
    def make(k):
        return [torch.randn(4, 4).to(dtype).requires_grad_() for _ in range(2)]
    for patience in 3, 0:
        assert replays(with_gradients(HALVES[name]), make, patience) >= 3


def test_a_form_that_eager_makes_between_recordings():
    """A form of an operation for records is exchanged in recordings, whoever makes it, and when."""
    from tinytorch.autograd.op import unary

    @unary(lambda g, ans: g * ans, to_float=True, name="made_between", method=False, inplace=False)
    def made_between(input):
        return np.exp(np.ascontiguousarray(input))             # it cannot be recorded inside

    def make(k):
        return [torch.randn(4, 4).bfloat16().requires_grad_()]
    assert replays(with_gradients(lambda x: x * 2), make) >= 3
    made_between(make(0)[0])
    assert replays(with_gradients(made_between), make) >= 3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("shape", [(), (2, 3)], ids=str)
@pytest.mark.parametrize("cleared", [True, False])
def test_training_in_other_dtypes(dtype, shape, cleared):
    """A whole step. Gradients accumulate where they are not cleared."""
    found = []
    for wrap in (lambda step: step, lambda step: torch.compile(step)):
        torch.manual_seed(1)
        p = torch.randn(shape, dtype=torch.complex64 if dtype.is_complex else torch.float32).to(dtype).requires_grad_()
        optimizer = torch.optim.SGD([p], lr=0.01, momentum=0.9)

        def step(x, p=p, optimizer=optimizer):
            if cleared:
                optimizer.zero_grad()
            loss = (p * p * p * x).abs().float().sum() + (p * x).real.float().sum()
            loss.backward()
            optimizer.step()
            return loss.detach()
        for patience in (3, 0):
            compiled.settings.patience, before = patience, compiled.settings.patience
            call = wrap(step)
            for k in range(8):
                torch.manual_seed(k)
                x = torch.randn(shape, dtype=torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
                found.append(bits([call(x), p.detach(), p.grad]))
            compiled.settings.patience = before
    half = len(found) // 2
    assert found[:half] == found[half:]
    assert all([not entry.reason for entry in call._compiled.entries.values()])


LAYERS = {
    "linear": (lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)), (5, 4)),
    "conv": (lambda: nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2)), (2, 1, 8, 8)),
    "attention": (lambda: nn.MultiheadAttention(8, 2), (4, 2, 8)),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16), (4, 2, 8))}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_alone(name, dtype):
    """A compiled module is one node on the tape, whose gradients may be records."""
    make, shape = LAYERS[name]
    found = []
    for compiles in (False, True):
        torch.manual_seed(0)
        layer = make().to(dtype)
        call = torch.compile(layer) if compiles else layer
        for k in range(8):
            torch.manual_seed(k)
            x = torch.randn(shape).to(dtype).requires_grad_()
            result = call(x, x, x) if name == "attention" else call(x)
            parts = result if isinstance(result, tuple) else (result,)
            sum([(part * torch.randn(part.shape).to(dtype)).sum() for part in parts]).backward()
            found.append(bits([*[part.detach() for part in parts], x.grad, *[p.grad for p in layer.parameters()]]))
    assert found[:8] == found[8:]
    entry, = call._compiled.entries.values()
    assert entry.reason is None and entry.programs[0].count >= 3


# ------------------------------------------------------------------ results that share memory
@pytest.mark.parametrize("function", [
    lambda x: (lambda c: (c, c.detach(), c.data, c.data.unsqueeze(-1)))(x.log()),
    lambda x: (lambda c: (c, c.view(-1), c.data))(x * 2),
    lambda x: (lambda c: (c.data, c, c[..., 0]))(x * 2)], ids=["data", "view", "data first"])
@pytest.mark.parametrize("shape", [(2, 3), (0, 3)], ids=str)
def test_writes_count_for_the_results_that_they_count_for_in_eager(function, shape):
    def counted(results):
        for i, t in enumerate(results):
            t.add_(i + 1)
        return [(t._version, t._array.tobytes()) for t in results]
    ready = compiled.Compiled(function)
    for _ in range(6):
        x = torch.rand(shape)
        assert counted(ready(x)) == counted(function(x))
    assert not [entry.reason for entry in ready.entries.values() if entry.reason]


def test_empty_results_that_are_views_of_results_with_a_history():
    def function(a):
        b = a * a
        with torch.no_grad():
            c = b.expand(2, *b.shape)
            d = b.view(-1)
        return b, c, d
    ready, a = compiled.Compiled(function), torch.zeros(0, 3, requires_grad=True)
    for _ in range(4):
        for found, expected in zip(ready(a), function(a)):
            assert (found.requires_grad, found._is_view()) == (expected.requires_grad, expected._is_view())


def test_the_sign_of_nan_is_no_difference(monkeypatch):
    """Replays are compared with eager, and instructions differ in the sign."""
    monkeypatch.setattr(compiled.settings, "self_check", True)
    monkeypatch.setattr(compiled.settings, "longer", 1)
    for pair in ([-np.nan, 2], [np.nan, 2]), ([complex(-np.nan, 2)], [complex(np.nan, 2)]), (-np.nan, np.nan), (
            complex(2, -np.nan), complex(2, np.nan)):
        a, b = [with_one_nan(np.array(x)) for x in pair]
        assert a.tobytes() == b.tobytes() and np.array_equal(np.nan_to_num(a), np.nan_to_num(np.array(pair[0])))

    def function(a, b):
        c = torch.cosine_similarity(a, b, -1).double().reshape(-1)
        return torch.autograd.grad(sum([c[k::7].sum() * (k + 1) for k in range(7)]), [a])[0]
    ready = compiled.Compiled(function)
    a, b = torch.tensor([-1.63, -3.41, 2.19, -1.64], requires_grad=True), torch.full((4,), float("inf"))
    assert all([ready(a, b).isnan().all() for _ in range(20)])


def test_results_of_vmap_are_no_arrays_of_the_recording():
    """The recording stops within vmap, whose function returns its argument."""
    ready, x = compiled.Compiled(lambda x: torch.vmap(lambda y: y.float())(x)), torch.randn(3, 2)
    assert type(ready(x)._array) is np.ndarray


def test_a_result_with_a_history_that_is_conjugated():
    a = torch.randn(2, 2, dtype=torch.complex64).requires_grad_()
    ready = compiled.Compiled(lambda a: (a * 1, (a * 1).conj()))
    for _ in range(4):
        found, expected = ready(a), (a * 1, (a * 1).conj())
        for x, y in zip(found, expected):
            assert x.resolve_conj()._array.tobytes() == y.resolve_conj()._array.tobytes() and x.requires_grad


# ------------------------------------------------------------------ what depends on the classes of a batch
CLASSES = {
    "cross_entropy": lambda x, y, i: F.cross_entropy(x, y, ignore_index=i),
    "sum": lambda x, y, i: F.cross_entropy(x, y, ignore_index=i, reduction="sum"),
    "weights": lambda x, y, i: F.cross_entropy(x, y, ignore_index=i, weight=torch.tensor([1., 2., 3.])),
    "smoothing": lambda x, y, i: F.cross_entropy(x, y, ignore_index=i, label_smoothing=0.1),
    "positions": lambda x, y, i: F.cross_entropy(x.view(2, 4, 3).transpose(1, 2), y.view(2, 4), ignore_index=i),
    "nll_loss": lambda x, y, i: F.nll_loss(x.log_softmax(1), y, ignore_index=i)}


@pytest.mark.parametrize("mode", [None, "max-autotune"])
@pytest.mark.parametrize("patience", [3, 0], ids=["python", "c"])
@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("name", CLASSES)
def test_padding_that_comes_after_the_recording(name, ignored, patience, mode, monkeypatch):
    """The first batches have no class that is ignored, or as many as each other; the others do."""
    monkeypatch.setattr(compiled.settings, "patience", patience)
    found = []
    for wrap in (lambda step: step, lambda step: torch.compile(step, mode=mode)):
        torch.manual_seed(0)
        layer = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

        def step(x, y, layer=layer, optimizer=optimizer):
            optimizer.zero_grad()
            loss = CLASSES[name](layer(x), y, ignored)
            loss.backward()
            optimizer.step()
            return loss.detach()
        call, results = wrap(step), []
        for k in range(10):
            torch.manual_seed(k)
            x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
            if k > 3:
                y[:k - 3] = ignored
            results.append([call(x, y), *[p.detach().clone() for p in layer.parameters()]])
        found.append(results)
    for expected, result in zip(*found):
        for a, b in zip(expected, result):
            assert torch.equal(a, b) if mode is None else torch.allclose(a, b, 1e-4, 1e-6)
    assert not [entry.reason for entry in call._compiled.entries.values() if entry.reason]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_several_steps_of_several_groups_in_one_call(dtype, monkeypatch):
    """Each step of a parameter has a gradient of its own, also where Python runs the optimiser between calls in C."""
    monkeypatch.setattr(compiled.settings, "patience", 0)
    found = []
    for compiles in (False, True):
        torch.manual_seed(0)
        p = [torch.randn(n, dtype=dtype).requires_grad_() for n in (3, 4, 4)]
        optimizer = torch.optim.AdamW([{"params": p[:1]}, {"params": p[1:], "lr": 0.03}], lr=0.1, foreach=False)

        def step(x, p=p, optimizer=optimizer):
            for _ in range(2):
                optimizer.zero_grad()
                loss = sum([(q * q * x).sum() for q in p])
                loss.backward()
                grads = [q.grad for q in p]
                optimizer.step()
            return [loss.detach().clone(), *[g.clone() for g in grads]]
        call = torch.compile(step) if compiles else step
        found.append([bits([*call(torch.tensor(1. + k)), *[q.detach() for q in p]]) for k in range(6)])
    assert found[0] == found[1]


def test_a_step_that_takes_the_state_of_its_optimizer_away():
    p = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.Adam([p])

    def step(x):
        (p * x).sum().backward()
        optimizer.step()
        optimizer.state.clear()
    call = torch.compile(step)
    for _ in range(5):
        call(torch.ones(3))
        assert not optimizer.state
    assert [entry.reason for entry in call._compiled.entries.values()] == ["the state of an optimiser is taken away"]


@pytest.mark.parametrize("array", [np.zeros((3, 500)), np.zeros((500, 3)).T, np.zeros(5000, dt.BFLOAT16), np.zeros(()),
                                   np.zeros((40, 30), np.complex64)[::2], np.zeros((2000, 3), bool)])
def test_a_write_to_an_array_is_seen(array):
    content = steps._content(array)
    assert steps._holds(array, content)
    array[(-1,) * array.ndim] = 1
    assert not steps._holds(array, content)
