"""precise_tails: derivatives where functions are nearly flat."""
import math
import sys
import threading
import warnings
from pathlib import Path

import pytest

import tinytorch as torch
from tinytorch import nn
from tinytorch.autograd.grad_mode import all_threads, mode
from tinytorch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import tails  # noqa: E402

sys.path.pop(0)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert not mode.watchers and not all_threads.in_special_mode


CASES = {case.name: case for case in tails.CASES}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_right_to_the_last_places(name, dtype):
    case = CASES[name]
    x = tails.points(case, dtype)
    with torch.precise_tails():
        first, second = tails.derivatives(case, x)
    assert tails.error(first, x, case.first) <= 4 and tails.error(second, x, case.second) <= 4
    plain = tails.derivatives(case, x)
    assert max(tails.error(plain[0], x, case.first), tails.error(plain[1], x, case.second)) > 100      # what is mended


@pytest.mark.parametrize("name", CASES)
def test_forward_mode(name):
    case = CASES[name]
    x = tails.points(case, torch.float64)

    def slope(f):
        return lambda x: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]
    with torch.precise_tails():
        first, second = slope(case.function)(x), slope(slope(case.function))(x)
        mixed = torch.func.jvp(torch.func.grad(lambda x: case.function(x).sum()), (x,), (torch.ones_like(x),))[1]
    assert tails.error(first, x, case.first) <= 4
    assert tails.error(second, x, case.second) <= 4 and tails.error(mixed, x, case.second) <= 4


def test_vmap():
    x = tails.points(CASES["sigmoid"], torch.float64)
    with torch.precise_tails(), warnings.catch_warnings():
        warnings.simplefilter("error")
        first = torch.vmap(torch.func.grad(torch.sigmoid))(x)
        second = torch.vmap(torch.func.grad(torch.func.grad(torch.tanh)))(x / 2)
    assert tails.error(first, x, CASES["sigmoid"].first) <= 4
    assert tails.error(second, x / 2, CASES["tanh"].second) <= 4

    def inside(x):                             # switched on where a vmap is at work already
        with torch.precise_tails():
            return torch.func.grad(lambda x: F.cross_entropy(torch.stack([x, 0 * x]), torch.tensor(0)))(x)
    x = torch.tensor([40., 60.], dtype=torch.float64)
    assert torch.vmap(inside)(x).tolist() == pytest.approx([-math.exp(-40), -math.exp(-60)], rel=1e-14)


LOSSES = [
    lambda x, t: F.cross_entropy(x, t),
    lambda x, t: F.cross_entropy(x, t, reduction="sum"),
    lambda x, t: F.cross_entropy(x, t, weight=torch.arange(1., 5., dtype=x.dtype), reduction="none"),
    lambda x, t: F.cross_entropy(x, t, weight=torch.arange(1., 5., dtype=x.dtype), ignore_index=2),
    lambda x, t: F.cross_entropy(x, t, label_smoothing=.2),
    lambda x, t: F.cross_entropy(x, (x.detach() * .3).softmax(1)),
    lambda x, t: F.cross_entropy(x[0], t[0]),
    lambda x, t: F.cross_entropy(x.reshape(1, 4, 3), t[None]),
    lambda x, t: F.nll_loss(x.log_softmax(-1), t),
    lambda x, t: x.log_softmax(0) * x,
    lambda x, t: x[0, 0].log_softmax(0) + x[0, 0].softmax(0),
    lambda x, t: x.softmax(0) * x.softmax(1),
    lambda x, t: F.softmin(x, 1) * x,
    lambda x, t: F.gumbel_softmax(x * 0 + 1) + x.sigmoid() * x.tanh(),
    lambda x, t: F.glu(x) * F.softplus(x[:, :2], beta=3) * F.logsigmoid(x[:, :2]),
    lambda x, t: F.binary_cross_entropy(x.sigmoid(), x.sigmoid().detach() * .5, weight=x.detach().abs()),
    lambda x, t: F.binary_cross_entropy_with_logits(x, x.sigmoid() * .5),
    lambda x, t: F.binary_cross_entropy_with_logits(x, x.sigmoid() * .5, pos_weight=torch.tensor([2., 3., 1., 1.]).to(
        x.dtype)),
    lambda x, t: x.clone().sigmoid_() + x.clone().tanh_() + torch.special.expit(x) + F.sigmoid(x) + torch.tanh(x),
    lambda x, t: nn.CrossEntropyLoss()(nn.Tanh()(x), t) + nn.BCELoss()(nn.Sigmoid()(x), torch.ones_like(x)),
    lambda x, t: nn.LogSoftmax(1)(x) + nn.Softplus()(x) + nn.LogSigmoid()(x) + nn.Softmax(1)(x).exp(),
]


@pytest.mark.parametrize("number", range(len(LOSSES)))
def test_values_are_the_same_and_derivatives_nearly(number):
    loss = LOSSES[number]

    def compute(dtype):
        torch.manual_seed(0)
        x = (torch.randn(3, 4, dtype=torch.float64) * 2).to(dtype).requires_grad_()
        value = loss(x, torch.tensor([1, 3, 2])).sum()
        first, = torch.autograd.grad(value, x, create_graph=True)
        second, = torch.autograd.grad((first * first).sum(), x)
        plain, = torch.autograd.grad(loss(x, torch.tensor([1, 3, 2])).sum(), x)
        return value.detach(), plain, first.detach(), second
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        torch.manual_seed(0)
        usual = compute(dtype)
        with torch.precise_tails():
            precise = compute(dtype)
        assert torch.equal(usual[0], precise[0]) and precise[1].dtype is dtype
        single = 1e-8 if number in (15, 19) else 1e-12         # torch's of chances has a summand of 1e-12
        tolerance = {torch.float64: single, torch.float32: 2e-5, torch.float16: 2e-2, torch.bfloat16: .15}[dtype]
        for a, b in zip(usual[1:], precise[1:]):
            assert torch.allclose(a, b, rtol=tolerance, atol=tolerance), (dtype, a, b)
    if number != 13:                           # which draws
        with torch.precise_tails():
            x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)

            def differentiated(x):
                return loss(x, torch.tensor([1, 3, 2]))
            assert torch.autograd.gradcheck(differentiated, x) if number not in (5, 15) else True


def test_softplus_is_smooth_above_its_threshold():
    x = torch.tensor([1., 3.], dtype=torch.float64, requires_grad=True)
    with torch.precise_tails():
        slope, = torch.autograd.grad(F.softplus(x, beta=2, threshold=4).sum(), x)
    assert slope.tolist() == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(-6))], rel=1e-15)


def test_half_precision_out_in_the_tails():
    for dtype, rel in ((torch.float16, 2e-3), (torch.bfloat16, 8e-3)):
        x = torch.tensor([9., -9.], dtype=dtype, requires_grad=True)
        with torch.precise_tails():
            loss = F.cross_entropy(torch.stack([x, torch.zeros_like(x)], 1), torch.tensor([0, 1]), reduction="sum")
            found = [torch.autograd.grad(y, x)[0].tolist() for y in (loss, x.sigmoid().sum(), (x / 2).tanh().sum())]
        true = math.exp(-9) / (1 + math.exp(-9))
        assert found[0] == pytest.approx([-true, true], rel=rel)
        assert found[1] == pytest.approx([true, true], rel=rel) and found[2] == pytest.approx([2 * true] * 2, rel=rel)


def test_masked_and_infinite_scores():
    x = torch.tensor([[40., 0., -torch.inf]], dtype=torch.float64, requires_grad=True)
    with torch.precise_tails():
        F.cross_entropy(x, torch.tensor([0])).backward()
    assert x.grad.tolist() == [[pytest.approx(-math.exp(-40), rel=1e-14), pytest.approx(math.exp(-40), rel=1e-14), 0.]]
    x = torch.full((2,), -torch.inf, requires_grad=True)
    with torch.precise_tails():
        assert torch.autograd.grad(x.softmax(0).sum(), x)[0].isnan().all()
        assert torch.autograd.grad(x.sigmoid().sum(), x)[0].tolist() == [0., 0.]
        assert torch.autograd.grad(torch.zeros(0, 3, requires_grad=True).log_softmax(1).sum(), [x], allow_unused=True
                                   ) == (None,)


def test_probabilities_of_zero_and_one():
    p = torch.tensor([0., 1., 0., 1., 1e-30], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0., 1., 1., 0., 1.], dtype=torch.float64)
    with torch.precise_tails():
        slope, = torch.autograd.grad(F.binary_cross_entropy(p, y, reduction="sum"), p)
    # What is expected has the slope of the logarithm; where the loss is cut off, torch's derivative is as good as any.
    assert slope.tolist() == [1., -1., -1e12, 1e12, pytest.approx(-1e30)]


# ------------------------------------------------------------------ the switch
def slope_at(x):
    x = torch.tensor([float(x)], requires_grad=True)
    return torch.autograd.grad(x.sigmoid().sum(), x)[0].item()


def test_it_is_a_function_a_context_manager_and_a_decorator():
    assert slope_at(30) == 0
    torch.precise_tails()
    assert slope_at(30) > 0
    with torch.precise_tails(False):
        assert slope_at(30) == 0
        with torch.precise_tails():
            assert slope_at(30) > 0
        assert slope_at(30) == 0
    assert slope_at(30) > 0
    torch.precise_tails(False)
    assert slope_at(30) == 0

    @torch.precise_tails()
    def decorated():
        return slope_at(30)

    @torch.precise_tails()
    def generate():
        yield slope_at(30)
        yield slope_at(30)
    assert slope_at(30) == 0 and decorated() > 0 and slope_at(30) == 0
    found = generate()
    assert next(found) > 0 and slope_at(30) == 0 and next(found) > 0
    found.close()
    with pytest.raises(ZeroDivisionError), torch.precise_tails():
        1 / 0
    assert slope_at(30) == 0


def test_threads_switch_for_themselves():
    found = []
    with torch.precise_tails():
        thread = threading.Thread(target=lambda: found.append(slope_at(30)))
        thread.start()
        thread.join()
        assert slope_at(30) > 0
    assert found == [0]


def test_backward_may_come_later_and_other_nodes_are_left_alone():
    x = torch.tensor([30.], requires_grad=True)
    with torch.precise_tails():
        y = x.sigmoid()
    z = x.sigmoid()
    assert type(y.grad_fn).__name__ == type(z.grad_fn).__name__ == "SigmoidBackward0"
    y.backward()
    assert x.grad.item() > 0
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    with torch.precise_tails():
        c = torch.tensor([30 + 0j], requires_grad=True)
        assert torch.autograd.grad(c.sigmoid().real.sum(), c)[0].item() == 0       # complex: as in torch
        with torch.no_grad():
            assert x.sigmoid().grad_fn is None


def test_writes_in_place_checkpoints_packing_and_autocast():
    from tinytorch.utils.checkpoint import checkpoint
    with torch.precise_tails():
        x = torch.tensor([30.], requires_grad=True)
        y = x * 1
        z = y.sigmoid()
        y += 1                                 # torch saves the result of sigmoid
        z.backward()
        expected = x.grad.item()
        assert 0 < expected == pytest.approx(math.exp(-30), rel=1e-6)
        for reentrant in (False, True):
            x.grad = None
            checkpoint(torch.sigmoid, x, use_reentrant=reentrant).backward()
            assert x.grad.item() == expected
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t.clone(), lambda t: t):
            z = x.sigmoid()
        x.grad = None
        z.backward()
        assert len(packed) == 1 and packed[0].item() == 30 and x.grad.item() == expected
        with torch.autocast("cpu"):
            x.grad = None
            F.cross_entropy(torch.stack([x, 0 * x], 1), torch.tensor([0])).backward()
            assert x.grad.item() == pytest.approx(-expected, rel=1e-6)


def test_a_training_step():
    def train():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=.01)
        for _ in range(5):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(torch.randn(6, 3)), torch.tensor([0, 1, 0, 1, 1, 0]))
            loss.backward()
            optimizer.step()
        return loss.item()
    with torch.precise_tails():
        precise = train()
    assert precise == pytest.approx(train(), rel=1e-5)
