"""tinytorch.viz.program: the steps of a compiled program, lifetimes and the memory plan, against what is known."""
import xml.dom.minidom

import pytest

import tinytorch as torch
from tinytorch import nn, viz


def trained():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss
    x = torch.rand(64, 8)
    for _ in range(3):
        step(x)
    return step, x, model


def test_steps_and_memory():
    step, x, model = trained()
    table = viz.program(step)
    assert [row[0] for row in table] == list(range(len(table.program.steps))) and table.peak is None
    calls = [row[1] for row in table]
    assert calls[:3] == ["addmm", "relu", "addmm"] and calls[-1] == "SGD"
    # gradients and the loss leave: they have new memory, and so may what gradients are copies of
    leaving = [a for a in table.arrays if a.at is None]
    parameters = sum([p.numel() for p in model.parameters()])
    assert table.leaving == sum([a.nbytes for a in leaving])
    assert 4 * (parameters + 1) <= table.leaving <= 8 * (parameters + 1)
    assert table.alone > table.block + table.leaving and str(table).endswith("for what leaves")


def test_no_two_arrays_that_are_needed_at_once_share_a_place():
    table = viz.program(trained()[0])
    inside = [a for a in table.arrays if a.at is not None]
    assert len(inside) > 5 and max([a.at + a.nbytes for a in inside]) <= table.block
    for i, a in enumerate(inside):
        for b in inside[:i]:
            apart = a.last < b.first or b.last < a.first
            assert apart or a.at + a.nbytes <= b.at or b.at + b.nbytes <= a.at
    assert any([b.at == a.at and b.first > a.last for a in inside for b in inside])


def test_the_peak_of_eager():
    step, x, model = trained()
    before = model[0].weight.detach().clone()
    table = viz.program(step, x)
    assert not torch.equal(model[0].weight, before)            # it was run once
    assert 64 * 32 * 4 < table.peak < 1 << 20 and "as it is written" in str(table)
    assert "as it is written" in table.picture()


def test_pictures_and_files(tmp_path):
    step, x, _ = trained()
    table = viz.program(step, x)
    for theme in (None, "light", "dark"):
        picture = xml.dom.minidom.parseString(table.picture(theme))
        titles = [node.firstChild.data for node in picture.getElementsByTagName("title")]
        assert len(titles) == len(table.arrays) and titles[0].startswith("addmm: %")
    for name, begins in (("plan.svg", b"<svg"), ("plan.html", b"<!DOCTYPE html>")):
        table.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begins)
    with pytest.raises(ValueError, match="saved as"):
        table.save(tmp_path / "plan.txt")
    assert table._repr_html_().startswith("<svg") and "<table>" in table._repr_html_()


def test_a_module_has_a_program_of_its_backward():
    model = torch.compile(nn.Sequential(nn.Linear(4, 8), nn.Tanh()))
    for _ in range(3):
        model(torch.rand(5, 4)).sum().backward()
    table = viz.program(model)
    assert table.title.startswith("Sequential: 2 steps")
    assert table.backward.title.startswith("the backward of Sequential")
    assert "tanh backward" in [row[1] for row in table.backward]


def test_what_has_no_program():
    with pytest.raises(TypeError, match="result of torch.compile"):
        viz.program(len)
    step = torch.compile(lambda x: x.sum().item())
    with pytest.raises(ValueError, match="<lambda> has 0 programs$"):
        viz.program(step)
    step(torch.ones(3))
    with pytest.raises(ValueError, match="has 0 programs: item of a tensor"):
        viz.program(step)
    f = torch.compile(lambda x: x + 1)
    for n in (2, 3):
        for _ in range(3):
            f(torch.ones(n))
    assert viz.program(f).arrays[0].nbytes == 12 and viz.program(f, number=0).arrays[0].nbytes == 8
    with pytest.raises(ValueError, match="has 2 programs"):
        viz.program(f, number=2)
