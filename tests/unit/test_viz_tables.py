"""tinytorch.viz: saved_tensors and compare."""
from pathlib import Path

import pytest

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.viz.table import Table

HERE = Path(__file__).name


class Block(nn.Module):
    def __init__(self, act=nn.GELU):
        super().__init__()
        self.norm, self.mlp = nn.LayerNorm(8), nn.Sequential(nn.Linear(8, 32), act(), nn.Linear(32, 8))

    def forward(self, x):
        return x + self.mlp(self.norm(x))  # sum


class Blocks(nn.Module):
    def __init__(self, *acts):
        super().__init__()
        self.blocks, self.head = nn.ModuleList([Block(act) for act in acts]), nn.Linear(8, 3)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def line_of(text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    number, = [k for k, line in enumerate(lines, 1) if line.endswith(text)]
    return f"{HERE}:{number}"


def test_each_storage_once_with_who_made_it_and_who_needs_it():
    model, x = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), torch.ones(3, 4)
    table = viz.saved_tensors(model, x)  # here
    at = line_of("model, x)  # here")
    assert [tuple(s) for s in table.saved] == [
        (48, 1, "input", "input", (3, 4), "float32", "0", "", "", f"AddmmBackward0 {at}"),
        (96, 1, "activation", "result", (3, 8), "float32", "1", "", f"tanh {at}", f"TanhBackward0 {at}"),
        (64, 1, "parameter", "2.weight", (2, 8), "float32", "2", "", "", f"AddmmBackward0 {at}")]
    assert table.totals == viz.graph(model, x).totals == {"activation": 96, "input": 48, "parameter": 64}
    assert [row[0] for row in table] == [48, 96, 64] and len(table) == 3


def test_equal_blocks_are_one():
    model, x = Blocks(*[nn.GELU] * 12), torch.ones(2, 8)
    table = viz.saved_tensors(model, x)
    assert sum(s.nbytes * s.count for s in table.saved) == sum(table.totals.values())
    blocks = [s for s in table.saved if s.count > 1]
    assert {s.block for s in blocks} == {"Block x12", "Block x11"}             # the input of the first is no activation
    assert len(table) == 14
    gelu, = [s for s in blocks if s.module == "blocks.0.mlp.1" and s.name == "aux"]
    assert (gelu.nbytes, gelu.count, gelu.shape, gelu.maker) == (256, 12, (2, 32), f"gelu {line_of('# sum')}")
    assert [s.name for s in blocks if s.kind == "parameter"] == [
        "blocks.*.norm.weight", "blocks.*.norm.bias", "blocks.*.mlp.*.weight", "blocks.*.mlp.*.weight"]
    nested = nn.Sequential(*[nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Sigmoid()) for _ in range(3)], nn.Tanh())
                             for _ in range(2)])
    table = viz.saved_tensors(nested, torch.ones(1, 4))
    assert [(s.count, s.block) for s in table.saved if s.name == "result"] == [
        (6, "Sequential x2: Sequential x3"), (2, "Sequential x2")]


def test_text_and_html():
    text = str(viz.saved_tensors(Blocks(nn.GELU), torch.ones(2, 8)))
    lines = text.splitlines()
    assert lines[0] == "kept for backward" and lines[1].split()[:5] == ["bytes", "kind", "name", "shape", "dtype"]
    assert lines[-1] == "activations 912 B, inputs 64 B, parameters 2.2 KiB"
    html = Table("a < b", ("n", "text"), [(1, "<i>"), (22, "x")], "1 & 2")._repr_html_()
    assert "a &lt; b" in html and "&lt;i&gt;" in html and "1 &amp; 2" in html
    assert html.count('text-align:right">') == 3 and html.count("<tr>") == 3


def test_compare():
    x = torch.ones(2, 8)
    gelu, relu = viz.graph(Blocks(*[nn.GELU] * 4), x), viz.graph(Blocks(nn.GELU, nn.ReLU, nn.ReLU, nn.GELU), x)
    table = gelu.compare(relu)
    assert table.rows == [
        (-512, 512, 0, "activation", "blocks.*.mlp.* x2", "gelu", "input"),
        (-512, 512, 0, "activation", "blocks.*.mlp.* x2", "gelu", "aux"),
        (-512, 512, 0, "activation", "blocks.*.mlp.* x2", "addmm", "input"),
        (512, 0, 512, "activation", "blocks.*.mlp.* x2", "relu", "result")]
    assert table.difference == relu.totals["activation"] - gelu.totals["activation"] == -1024
    assert len(gelu.compare(gelu)) == 0 and gelu.compare(gelu).difference == 0
    assert relu.compare(gelu).difference == 1024


def test_arguments_are_those_of_graph():
    with pytest.raises(RuntimeError, match="requires grad"):
        viz.saved_tensors(torch.ones(3))
