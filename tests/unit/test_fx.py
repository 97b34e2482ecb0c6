"""torch.fx: what is traced stays as it was, learns with its copy, and is written as it is."""
import operator
import threading

import pytest

import tinytorch as torch
from tinytorch import fx, nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(2))
        self.layers = [self.linear]

    def forward(self, x):
        return self.layers[0](x).relu() * self.scale


def test_the_traced_module_has_the_same_parameters_and_is_not_touched():
    model = Model()
    before, call = dict(vars(model)), nn.Module.__call__
    traced = fx.symbolic_trace(model)
    assert {name: id(x) for name, x in vars(model).items()} == {name: id(x) for name, x in before.items()}
    assert nn.Module.__call__ is call and type(model) is Model
    assert traced.linear is model.linear and traced.scale is model.scale
    x = torch.randn(3, 2)
    assert torch.equal(traced(x), model(x))
    traced(x).sum().backward()
    assert model.scale.grad is not None and model.linear.weight.grad is not None
    assert [(n.op, n.target) for n in traced.graph.nodes] == [
        ("placeholder", "x"), ("call_module", "linear"), ("call_method", "relu"), ("get_attr", "scale"),
        ("call_function", operator.mul), ("output", "output")]


def test_tracing_in_one_thread_does_not_disturb_another():
    model, stop, failed = Model(), threading.Event(), []

    def use():
        while not stop.is_set():
            if not isinstance(model(torch.ones(1, 2)), torch.Tensor):
                failed.append(1)

    other = threading.Thread(target=use)
    other.start()
    for _ in range(20):
        fx.symbolic_trace(model)
    stop.set()
    other.join()
    assert not failed


def test_what_depends_on_values_is_refused():
    with pytest.raises(fx.proxy.TraceError, match="control flow"):
        fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
    with pytest.raises(AssertionError, match="specialized to have value 2"):
        fx.symbolic_trace(lambda x, n: x * n, concrete_args={"n": 2})(torch.ones(1), 3)


def test_in_place_operators_are_statements():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(operator.iadd, (x, 1)))
    a = torch.zeros(1)
    assert fx.GraphModule(nn.Module(), graph)(a) is a and a.tolist() == [1.0]


def test_errors_name_the_line_of_the_program(capsys):
    with pytest.raises(RuntimeError):
        fx.symbolic_trace(lambda x: torch.mm(x, x))(torch.ones(2))
    said = capsys.readouterr().err
    assert "Call using an FX-traced Module, line 5 of" in said and "mm = torch.mm(x, x)" in said
    with pytest.raises(RuntimeError):                  # what is raised in a layer is not the program's line
        fx.symbolic_trace(nn.Sequential(nn.Linear(2, 3)))(torch.ones(5))
    assert not capsys.readouterr().err
