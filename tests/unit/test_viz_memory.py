"""tinytorch.viz: memory, checkpoints and suggest, against what is known of sizes and what is measured again."""
import json
import tracemalloc
import xml.dom.minidom

import pytest

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.autograd.grad_mode import all_threads, mode
from tinytorch.nn.modules import hooks
from tinytorch.utils.checkpoint import checkpoint
from tinytorch.viz.checkpoints import Checkpointed
from tinytorch.viz.meter import AGAIN, BACKWARD, FORWARD, OTHER

MIB = 1 << 20
#: What Python's own objects take in these runs, at most.
OBJECTS = 100_000


class Block(nn.Module):
    def __init__(self, width, dropout=0.):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return x + self.dropout(self.mlp(self.norm(x)))


class Blocks(nn.Module):
    def __init__(self, count=4, width=32, dropout=0.):
        super().__init__()
        self.blocks, self.head = nn.ModuleList([Block(width, dropout) for _ in range(count)]), nn.Linear(width, 4)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def step_of(model, x):
    return lambda: model(x).sum().backward()


def gradients(model, step):
    """The gradients of a step, by name; there are none before and after."""
    torch.manual_seed(0)
    step()
    found = {name: p.grad.tolist() for name, p in model.named_parameters()}
    model.zero_grad()
    return found


# ------------------------------------------------------------------ memory
def test_what_lives_and_the_peak():
    x = torch.zeros(512, 512, requires_grad=True)              # 1 MiB

    def step():
        y = (x + 1).exp()                      # x + 1 is let go, exp is kept
        (y * y).sum().backward()               # y * y is let go with sum
    report = viz.memory(step)
    assert report.kept == MIB and [row[0] for row in report] == [MIB]
    assert report.at_peak.phase == BACKWARD and report.at_peak.most == report.peak
    names = [(event.phase, event.name) for event in report.events]
    assert names == [(FORWARD, "add"), (FORWARD, "exp"), (FORWARD, "mul"), (FORWARD, "sum"), (BACKWARD, "SumBackward0"),
                     (BACKWARD, "MulBackward0"), (BACKWARD, "ExpBackward0"), (BACKWARD, "AddBackward0"),
                     (OTHER, "the end")]
    levels = [round(event.nbytes / MIB) for event in report.events]
    assert levels[:4] == [1, 2, 2, 2] and levels[-1] == 1      # at the end the gradient of x is there


def peak_of(step):
    """What tracemalloc alone says of a step."""
    tracemalloc.start()
    try:
        step()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", [
    lambda: (Blocks(), torch.ones(256, 32)),
    lambda: (nn.LSTM(32, 64), torch.ones(28, 16, 32)),
    lambda: (nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1352, 10)),
             torch.ones(32, 1, 28, 28)),
    lambda: (Blocks(40), torch.ones(16, 32))])
def test_the_peak_is_that_of_a_step_that_nobody_looks_at(make):
    model, x = make()

    def step():
        y = model(x)
        (y[0] if isinstance(y, tuple) else y).sum().backward()
    gradients(model, step)
    expected = peak_of(step)
    model.zero_grad()
    assert abs(viz.memory(step).peak - expected) < OBJECTS < expected / 10


def test_equal_runs_measure_the_same():
    model, x = Blocks(12), torch.ones(4, 32)
    step = step_of(model, x)
    step()
    peaks = {viz.memory(step, model).peak for _ in range(4)}
    assert max(peaks) - min(peaks) < 5000


def test_from_and_to():
    model, x = Blocks(2), torch.ones(64, 32)
    report = viz.memory(step_of(model, x), model)
    graph = viz.graph(model, x)
    assert report.kept == graph.totals["activation"] and len(report.lives) == sum(
        s.kind == "activation" for s in graph.tape.storages)
    for life in report.lives:
        made, freed = report.events[life.born], report.events[life.freed - 1]
        first = life.storage.keepers[0]
        assert made.phase == FORWARD and made.origin is (life.storage.maker or first).origin
        assert freed.phase == BACKWARD and freed.origin is first.origin and freed.name == first.backward_name
    rows = {(row[1], row[4]): row for row in report}
    assert rows["aux", "blocks.*.mlp.* x2"][0] == 2 * 64 * 128 * 4
    assert rows["input", "head"][0] == 64 * 32 * 4 and rows["input", "head"][6].startswith("AddmmBackward0 test_viz_")


def test_the_operation_at_the_peak():
    model = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 4096), nn.Softmax(-1)), nn.Linear(4096, 1))
    report = viz.memory(step_of(model, torch.ones(64, 8)))
    wide = 64 * 4096 * 4
    assert report.kept == wide + 64 * 8 * 4 and (report.at_peak.name, report.at_peak.module) == (
        "SoftmaxBackward0", "1.1")
    assert 3 * wide < report.peak < 5 * wide   # the result, its gradient, the new one, and a product of those
    assert "in backward of SoftmaxBackward0" in str(report).splitlines()[-1]


def test_an_optimizer_and_a_second_backward():
    model, x = Blocks(1), torch.ones(4, 32)
    optimizer = torch.optim.SGD(model.parameters(), lr=.1, momentum=.9)

    def step():
        step_of(model, x)()
        step_of(model, x)()
        optimizer.step()
    report = viz.memory(step, model)
    assert [event.name for event in report.events if event.phase == OTHER] == [
        "before the optimizer", "SGD.step", "the end"]
    assert report.kept == 2 * viz.graph(model, x).totals["activation"]


def test_nothing_is_left_behind_and_nothing_changed():
    model, x = Blocks(2), torch.ones(4, 32)
    expected = gradients(model, step_of(model, x))
    assert gradients(model, lambda: viz.memory(step_of(model, x))) == expected
    with pytest.raises(ZeroDivisionError):
        viz.memory(lambda: 1 / model(x).numel() / 0)
    assert not tracemalloc.is_tracing() and mode.watchers == () and mode.places == () and not all_threads.noting_writes
    assert not hooks.forward and not hooks.forward_pre
    tracemalloc.start()
    try:
        held = [bytes(MIB)]
        assert viz.memory(step_of(model, x)).peak < MIB
        assert tracemalloc.is_tracing() and held
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_of_the_program_s_own(use_reentrant):
    one, two = nn.Linear(64, 64), Block(64)
    x = torch.ones(64, 64)

    def step():
        checkpoint(two, one(x), use_reentrant=use_reentrant).sum().backward()
    report = viz.memory(step)
    again = [event for event in report.events if event.phase == AGAIN]
    # norm, linear, gelu, linear, sum; the other ends with what the last linear saves
    assert len(again) == report.again == (5 if use_reentrant else 4)
    assert [event.name for event in report.events if event.phase == FORWARD][0] == "addmm"
    assert report.kept == 64 * 64 * 4 + 5056   # the output of `one`, and the state of the random numbers
    plain = viz.memory(lambda: two(one(x)).sum().backward())
    assert plain.kept > 10 * report.kept and not plain.again


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_a_checkpoint_keeps_nothing_of_a_recurrent_layer(kind):
    layer, x = kind(8, 64), torch.rand(20, 16, 8)

    def step(checkpointed):
        out = checkpoint(layer, x, use_reentrant=False)[0] if checkpointed else layer(x)[0]
        (out * out).sum().backward()
    expected = gradients(layer, lambda: step(False))
    assert gradients(layer, lambda: step(True)) == expected
    out = 20 * 16 * 64 * 4
    plain, report = viz.memory(lambda: step(False)), viz.memory(lambda: step(True))
    assert plain.kept > 1.9 * out and report.kept == out + 5056        # of the square, and the random numbers' state
    assert report.again == 1


def test_gradients_of_gradients():
    x = torch.ones(64, 64, requires_grad=True)

    def step():
        gradient, = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
        gradient.sum().backward()
    report = viz.memory(step)
    assert report.kept == 64 * 64 * 4 + 4      # exp, and the ones that its gradient was multiplied by
    assert {event.phase for event in report.events} == {FORWARD, BACKWARD, AGAIN, OTHER}


def test_data_picture_and_html():
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    report = viz.memory(step_of(model, torch.ones(16, 8)))
    data = json.loads(json.dumps(report.data()))
    assert data["peak"] == report.peak and data["events"][data["at_peak"]]["most"] == report.peak
    tanh, = [a for a in data["activations"] if a["module"] == "1"]
    assert (tanh["nbytes"], tanh["shape"], tanh["born"]) == (4096, [16, 64], 1)
    assert data["events"][1]["file"] == __file__ and data["events"][1]["module"] == "1"
    svg = xml.dom.minidom.parseString(report.timeline()).documentElement
    texts = [t.firstChild.data for t in svg.getElementsByTagName("text")]
    assert {"forward", "backward", "0 B"} <= set(texts) and any(report.at_peak.name in text for text in texts)
    polygons = {p.getAttribute("class"): p.getAttribute("points") for p in svg.getElementsByTagName("polygon")}
    assert len(polygons["all"].split()) == 2 * len(report.events) + 2
    heights = {name: min(float(point.split(",")[1]) for point in points.split()) for name, points in polygons.items()}
    assert heights["all"] < heights["kept"]    # more is allocated than kept
    assert report._repr_html_().startswith("<svg") and "<table>" in report._repr_html_()


def test_save(tmp_path):
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    report = viz.memory(step_of(model, torch.ones(16, 8)))
    report.save(tmp_path / "a.svg", theme="dark")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == report.timeline("dark") != report.timeline("light")
    report.save(str(tmp_path / "a.html"))
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "tanh" in page and "modules under checkpoint" not in page
    table = report.checkpoints(repeats=1)
    assert report.measured is table
    report.save(tmp_path / "a.html")
    assert "modules under checkpoint" in (tmp_path / "a.html").read_text(encoding="utf-8")
    for path in ("a.dot", "a"):
        with pytest.raises(ValueError, match=r"as .svg, .html or .png, not as"):
            report.save(tmp_path / path)
    graph = viz.graph(model, torch.ones(16, 8))
    with pytest.raises(ValueError, match=r"as .html, not as .svg"):
        graph.save(tmp_path / "b.svg", memory=report)
    assert not (tmp_path / "b.svg").exists()


def test_equal_modules_are_one_row():
    model = Blocks(5)
    report = viz.memory(step_of(model, torch.ones(4, 32)), model)
    assert sum(map(len, report.by_row)) == len(report.lives) > len(report) == len(report.by_row)
    for row, lives in zip(report, report.by_row):
        assert row[0] == sum(life.storage.nbytes for life in lives)
        assert row[7] == min(life.born for life in lives) and row[8] == max(life.freed for life in lives)


# ------------------------------------------------------------------ checkpoints
def test_a_checkpoint_on_each_module():
    model, x = Blocks(3), torch.ones(256, 32)
    before = {name: p.tolist() for name, p in model.named_parameters()}
    report = viz.memory(step_of(model, x), model)
    model.zero_grad()
    table = report.checkpoints(repeats=1)
    found = {m.path: m for m in table.measured}
    assert set(found) == {"blocks.0", "blocks.0.norm", "blocks.0.mlp", "blocks.0.mlp.1"}
    assert [found[path].count for path in ("blocks.0", "blocks.0.mlp")] == [3, 3]
    with Checkpointed([model.blocks[0]]):
        again = viz.memory(step_of(model, x), model)
    assert found["blocks.0"].saves == report.kept - again.kept > 256 * 128 * 4 * 3
    assert abs(found["blocks.0"].lowers_peak - (report.peak - again.peak)) < OBJECTS
    assert found["blocks.0"].again == again.again == sum(event.phase == AGAIN for event in again.events)
    modules = [event.module for event in again.events if event.phase == AGAIN]
    assert modules == ["blocks.0.norm", "blocks.0.mlp.0", "blocks.0.mlp.1", "blocks.0.mlp.2"]
    assert found["blocks.0"].saves > found["blocks.0.mlp"].saves > found["blocks.0.mlp.1"].saves > 0
    assert {name: p.tolist() for name, p in model.named_parameters()} == before
    assert all("forward" not in vars(module) for module in model.modules())
    assert json.loads(json.dumps(table.data()))[0]["path"] == "blocks.0"
    assert str(table).splitlines()[2].split()[:3] == ["blocks.0", "Block", "x3"]


def test_checkpointed_modules_give_the_same_gradients():
    model, x = Blocks(2, dropout=.5), torch.ones(4, 32)
    expected = gradients(model, step_of(model, x))
    handle = Checkpointed([model.blocks[0], model.blocks[1].mlp])
    with pytest.raises(RuntimeError, match="replaced already"):
        Checkpointed([model.head, model.blocks[0]])
    assert "forward" not in vars(model.head)
    report = viz.memory(step_of(model, x), model)
    model.zero_grad()
    assert report.again and gradients(model, step_of(model, x)) == expected
    handle.remove()
    assert not viz.memory(step_of(model, x), model).again


# ------------------------------------------------------------------ suggest
@pytest.mark.parametrize("part", [.9, .75, .6])
def test_what_is_suggested_is_true(part):
    model, x = Blocks(5, dropout=.1), torch.ones(256, 32)
    step = step_of(model, x)
    before = viz.suggest(model, x, 1 << 40)
    assert before.fits and before.paths == [] and before.peak == before.before
    budget = int(before.peak * part)
    suggestion = viz.suggest(model, x, budget)
    assert suggestion.fits and suggestion.paths and suggestion.peak <= budget
    assert all(p.grad is None for p in model.parameters())
    expected = gradients(model, step)
    with suggestion.apply():
        report = viz.memory(step)
        assert report.again and report.peak <= max(budget, suggestion.peak + OBJECTS // 10)
        model.zero_grad()
        assert gradients(model, step) == expected
    assert not viz.memory(step).again
    assert [row[0] for row in suggestion] == suggestion.paths
    assert str(suggestion).splitlines()[-1].startswith("a step allocates at most")


def test_a_budget_that_is_too_small():
    model, x = Blocks(4), torch.ones(256, 32)
    suggestion = viz.suggest(model, x, 1000)
    assert not suggestion.fits and suggestion.paths and suggestion.peak < suggestion.before
    assert "no checkpoints bring it there" in str(suggestion)


def test_a_loss_and_several_inputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = Block(32), Block(32)

        def forward(self, x, y):
            return {"a": self.one(x), "b": self.two(y)}
    model, inputs = Two(), (torch.ones(256, 32), torch.ones(256, 32))
    seen = []

    def loss(output):
        seen.append(sorted(output))
        return output["a"].sum() + output["b"].mean()
    before = viz.suggest(model, inputs, 1 << 40, loss).peak
    assert viz.suggest(model, inputs, int(before * .8), loss).fits
    assert seen and set(map(tuple, seen)) == {("a", "b")}
    assert viz.suggest(model, inputs, 1 << 40).peak > 0        # by default the sum of all of it
