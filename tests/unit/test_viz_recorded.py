"""viz draws programs that were recorded, traced or read from files as it draws the modules that they came from."""
import pytest

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.fx.experimental.proxy_tensor import make_fx

pytest.importorskip("igraph", reason="pictures need the extra viz")


@pytest.mark.parametrize("recorded", [
    lambda model, x: torch.fx.symbolic_trace(model), lambda model, x: make_fx(model)(x),
    lambda model, x: torch.jit.trace(model, x), lambda model, x: torch.jit.script(model),
    lambda model, x: torch.export.export(model, (x,)).module()], ids=["fx", "make_fx", "trace", "script", "export"])
def test_recorded_programs_are_drawn(recorded):
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), torch.ones(3, 4)
    graph, plain = viz.graph(recorded(model, x), x), viz.graph(model, x)
    operations = [[e["name"] for e in g.view()["elements"] if e["kind"] == "op"] for g in (graph, plain)]
    assert operations[0] == operations[1] == ["addmm", "tanh", "addmm"]
    assert graph.totals == plain.totals and "tanh" in graph.svg()
