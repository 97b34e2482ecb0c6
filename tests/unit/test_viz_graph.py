"""tinytorch.viz: what the graph says of the tape."""
import pytest

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.viz.grouping import Group, Repeat

from . import viz_models as models


def seen(graph):
    """(module path, operation, names of what is kept, bytes of activations) of each step."""
    return [(".".join(step.origin.calls[-1:][0][:1]) if step.origin.calls else None, step.name,
             [k.name for k in step.kept], step.nbytes) for step in graph.tape.steps]


def test_steps_leaves_and_bytes():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    graph = viz.graph(model, torch.ones(3, 4))
    assert seen(graph) == [("0", "addmm", ["input"], 0), ("1", "tanh", ["result"], 96),
                           ("2", "addmm", ["input", "weight"], 0)]
    assert [leaf.name for leaf in graph.tape.leaves] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert graph.totals == {"activation": 96, "input": 48, "parameter": 64}
    hidden = graph.tape.steps[1].kept[0].storage
    assert hidden.maker is graph.tape.steps[1] and hidden.keepers == graph.tape.steps[1:]
    assert not graph.tape.steps[2].kept[0].counted             # the same memory, kept by tanh first


def test_of_a_loss():
    x = torch.ones(3, requires_grad=True)
    graph = viz.graph((x * 2).exp().sum(), params={"x": x})
    assert [step.name for step in graph.tape.steps] == ["mul", "exp", "sum"]
    assert [(leaf.name, leaf.kind) for leaf in graph.tape.leaves] == [("x", "parameter")]
    assert [step.origin for step in graph.tape.steps] == [None] * 3
    with pytest.raises(RuntimeError, match="requires grad"):
        viz.graph(torch.ones(3))
    with pytest.raises(TypeError, match="inputs are given to a module"):
        viz.graph(x.sum(), x)


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x):
        h = None
        for row in x:
            h = self.cell(row, h)
        return h


def test_time_steps_and_blocks_are_folded():
    graph = viz.graph(Cells(), torch.ones(7, 2, 4))
    model, = graph.program.members
    repeat, = model.members
    assert repeat.label == "GRUCell x7" and [len(turn) for turn in repeat.turns] == [1] * 7
    assert [turn[0].call.number for turn in repeat.turns] == list(range(7))
    blocks = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(12)])
    model, = viz.graph(blocks, torch.ones(2, 4)).program.members
    assert [m.label for m in model.members] == ["Sequential x12"]

    def steps(x):
        h = torch.zeros(2, 4)
        for _ in range(9):
            h = (x @ weight + h @ weight).tanh()
        return h
    weight = torch.ones(4, 4, requires_grad=True)
    graph = viz.graph(steps, torch.ones(2, 4))
    repeat, = graph.program.members
    assert isinstance(repeat, Repeat) and repeat.label == "mm, mm, add ... x9"
    assert [step.number for step in graph.program.steps()] == list(range(36))


def test_a_forward_that_raised_shows_what_ran():
    with pytest.warns(UserWarning, match="ended early"):
        graph = viz.graph(models.Wrong(), torch.ones(3, 4))
    assert [step.name for step in graph.tape.steps] == ["addmm", "relu"]
    assert isinstance(graph.error, RuntimeError)
    assert "cannot be multiplied (3x8 and 7x2)" in graph.error_text and "hidden [3, 8] float32" in graph.error_text
    group, = graph.program.members
    assert isinstance(group, Group) and [m.call.path for m in group.members if isinstance(m, Group)] == ["one"]


def test_a_write_through_a_view_that_has_history():
    x = torch.tensor([1., 2.], requires_grad=True)
    base = torch.zeros(3, 2)
    column = base.t()[0]
    base[0].copy_(x * x)
    column.copy_(column * 2 + x[0])
    names = [step.name for step in viz.graph((base * base).sum()).tape.steps]
    assert names.count("copy_slices") == 2
