"""tinytorch.viz: parameters, inputs and activations are told apart, and what pack hooks hold is found."""
import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import tinytorch as torch
from tinytorch import nn, viz
from tinytorch.viz.recorder import Recorder
from tinytorch.viz.view import view

from . import viz_models as models


class Masked(nn.Module):
    def __init__(self, made_inside):
        super().__init__()
        self.weight, self.frozen = nn.Parameter(torch.ones(4, 4)), nn.Parameter(torch.ones(4, 4), requires_grad=False)
        self.register_buffer("scale", torch.ones(4))
        self.made_inside, self.masks = made_inside, [torch.ones(4, 4).tril() == 0]

    def forward(self, pair, options):
        mask = torch.ones(4, 4).tril() == 0 if self.made_inside else self.masks[0]
        y = (pair[0] @ self.weight * self.scale) @ self.frozen
        return y.masked_fill(mask, 0.) * options["factor"] * pair[1]


def kept(graph):
    return {(k.name, k.storage.kind, k.storage.name) for step in graph.tape.steps for k in step.kept}


@pytest.fixture(params=[False, True], ids=["", "tracing"])
def tracing(request):
    """Whether the program traces its memory itself."""
    if request.param:
        tracemalloc.start()
    yield
    assert tracemalloc.is_tracing() == request.param
    tracemalloc.stop()


@pytest.mark.parametrize("made_inside", [False, True])
def test_kinds(made_inside, tracing):
    pair, options = (torch.ones(4, 4), torch.ones(4, 4)), {"factor": torch.ones(4)}
    found = kept(viz.graph(Masked(made_inside), pair, options))
    mask = "activation" if made_inside else "input"
    assert {("input", "input", "input 0 0"), ("other", "parameter", "scale"), ("mat2", "parameter", "frozen"),
            ("mask", mask, ""), ("other", "input", "input 1 factor"), ("other", "input", "input 0 1")} <= found
    weight, = viz.graph(Masked(made_inside), pair, options).tape.leaves
    assert (weight.name, weight.kind) == ("weight", "parameter")


def test_frozen_parameters_and_buffers_are_in_the_graph():
    graph = models.frozen()
    one, two, three = graph.tape.steps
    assert [(argument, s.name, s.kind) for s, argument in one.given] == [
        ("input", "input", "input"), ("weight", "base.weight", "parameter")]
    assert [(argument, s.name) for s, argument in two.given] == [("weight", "head.weight"), ("bias", "head.bias")]
    assert [(argument, s.name, s.dtype.name) for s, argument in three.given] == [("other", "offset", "float32")]
    assert graph.totals == {"activation": 0, "input": 0, "parameter": 32}      # head.weight, for base.bias
    data = view(graph)
    elements, tensors = data["elements"], data["tensors"]
    nodes = {e["name"]: e for e in elements if e["kind"] in ("parameter", "input")}
    assert {name: e["grad"] for name, e in nodes.items()} == {
        "base.bias": True, "input": False, "base.weight": False, "head.weight": False, "head.bias": False,
        "offset": False}
    wires = {(elements[tensors[w["tensor"]]["from"]]["name"], elements[w["to"]]["name"], w["argument"], w["grad"],
             w["kept"]) for w in data["wires"]}
    assert wires == {
        ("input", "addmm", "input", False, ""), ("base.weight", "addmm", "weight", False, ""),
        ("base.bias", "addmm", "bias", True, ""), ("addmm", "addmm", "input", True, ""),
        ("head.weight", "addmm", "weight", False, "kept"), ("head.bias", "addmm", "bias", False, ""),
        ("addmm", "add", "input", True, ""), ("offset", "add", "other", False, ""), ("add", "output", "", True, "")}
    shapes = {elements[t["from"]]["name"]: (t["shape"], t["dtype"]) for t in tensors}
    assert shapes["offset"] == ([2], "float32") and shapes["head.bias"] == ([2], "float32")


def test_what_is_detached_is_still_the_parameter():
    layer = nn.Linear(3, 3)
    graph = viz.graph(lambda x: layer(x) * layer.bias.detach(), torch.ones(2, 3), params=dict(layer.named_parameters()))
    product = graph.tape.steps[-1]
    assert [(s.name, argument) for s, argument in product.given] == [("bias", "other")]
    nodes = [e["name"] for e in view(graph)["elements"] if e["kind"] == "parameter"]
    assert sorted(nodes) == ["bias", "weight"]


def test_a_function_of_one_s_own_and_operations_of_many_outputs():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            return x * scale

        @staticmethod
        def backward(ctx, g):
            return g, None
    x, scale = torch.ones(3, requires_grad=True), torch.ones(3)
    step, = viz.graph(Scale.apply, x, scale).tape.steps
    assert [(s.name, argument) for s, argument in step.given] == [("input 1", "argument 1")]
    lstm = nn.LSTM(2, 2)
    lstm.requires_grad_(False)
    graph = viz.graph(lambda x, h, c: lstm(x, (h, c))[0], *[torch.ones(1, 1, 2) for _ in range(2)],
                      torch.ones(1, 1, 2, requires_grad=True), params=dict(lstm.named_parameters()))
    given = {s.name for step in graph.tape.steps for s, _ in step.given}
    assert {"input 0", "input 1", "weight_ih_l0", "bias_hh_l0"} <= given


def test_of_a_loss_what_has_no_history_is_an_input():
    x, y = torch.ones(3, requires_grad=True), torch.ones(3)
    graph = viz.graph((x * y).sum(), params={"x": x, "y": y})
    assert kept(graph) == {("other", "parameter", "y")}
    assert kept(viz.graph((x * y).sum())) == {("other", "input", "")}


def test_an_input_that_wants_gradients_and_one_that_is_written_to():
    x, out = torch.ones(3, requires_grad=True), torch.zeros(3)
    graph = viz.graph(lambda x: x.exp() * x, x)
    assert [(leaf.name, leaf.kind) for leaf in graph.tape.leaves] == [("input", "input")]
    assert graph.totals == {"activation": 12, "input": 12, "parameter": 0}

    def into(x):
        out.copy_(x.detach())
        return x * out                         # memory that was there before
    assert viz.graph(into, x).totals == {"activation": 0, "input": 12, "parameter": 0}


def test_maker_is_who_made_the_memory():
    def function(x):
        y = (x * 2).reshape(2, 6).t()[1:]
        return y.exp().t() * y.t()
    graph = viz.graph(function, torch.ones(3, 4, requires_grad=True))
    product = graph.tape.steps[-1]
    assert [k.storage.maker.name for k in product.kept] == ["exp", "mul"]
    assert product.kept[1].nbytes == 48        # all of it stays, though two thirds of it are looked at


# ------------------------------------------------------------------ pack hooks
def halves(tensor):
    return {"array": tensor.numpy(force=True).astype(np.float16), "tag": "half"}


class Offload:
    def __init__(self):
        self.store, self.scratch = {}, np.ones(100)

    def pack(self, tensor):
        self.store[len(self.store)] = tensor.detach().clone()
        return len(self.store) - 1

    def unpack(self, number):
        return self.store[number]


def test_what_pack_hooks_hold():
    x = torch.ones(64, requires_grad=True)
    graph = torch.autograd.graph

    def packed(pack, unpack):
        def function(x):
            with graph.saved_tensors_hooks(pack, unpack):
                return x.exp().sin()
        return [(step.name, [(k.name, k.storage.kind, k.nbytes) for k in step.kept])
                for step in viz.graph(function, x).tape.steps]
    assert packed(halves, lambda packed: torch.tensor(packed["array"]).float()) == [
        ("exp", [("result", "activation", 128)]), ("sin", [("input", "activation", 128)])]
    offload = Offload()                        # all of the two saved tensors, and what else it has, are held together
    assert packed(offload.pack, offload.unpack) == [
        ("exp", [("unpack", "activation", 256), ("unpack", "activation", 256), ("unpack", "input", 800)]),
        ("sin", [])]
    with graph.save_on_cpu():
        copies = viz.graph(x.exp().sin())
    assert copies.totals["activation"] == 512


def test_a_graph_keeps_nothing_alive():
    y = torch.ones(1000, requires_grad=True).exp()
    memory = weakref.ref(y._array)
    graph = viz.graph(y.sin())
    assert graph.totals["activation"] == 4000
    del y
    gc.collect()
    assert memory() is None


# ------------------------------------------------------------------ the recorder
def test_calls_of_modules_and_lines():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.Linear(2, 2)

        def forward(self, x):
            h = self.part(x)
            h[0] = 0.  # written
            return self.part(h)
    model = Twice()
    with Recorder(model) as recorder:
        model(torch.ones(2, 2))
        nn.functional.relu(model.part.weight)
    steps = [(node.op.name, [(c.path, c.number) for c in o.calls], o.text) for node, o in recorder.origins.items()]
    inside, line = [("", 0)], "h[0] = 0.  # written"
    assert steps == [
        ("addmm", [*inside, ("part", 0)], "h = self.part(x)"), ("select", inside, line), ("fill", inside, line),
        ("copy_slices", inside, line), ("addmm", [*inside, ("part", 1)], "return self.part(h)"),
        ("relu", [], "nn.functional.relu(model.part.weight)")]


def test_an_error_in_a_module_ends_its_call():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError

    class Tries(nn.Module):
        def __init__(self):
            super().__init__()
            self.fails, self.part = Fails(), nn.Linear(2, 2)

        def forward(self, x):
            with pytest.raises(ValueError):
                self.fails(x)
            return self.part(x)
    step, = viz.graph(Tries(), torch.ones(1, 2)).tape.steps
    assert [call.path for call in step.origin.calls] == ["", "part"]


def test_other_threads_are_not_recorded():
    model = nn.Sequential(nn.Linear(2, 2))
    with Recorder(model) as recorder:
        thread = threading.Thread(target=model, args=(torch.ones(1, 2),))
        thread.start()
        thread.join()
        assert not recorder.origins
        model(torch.ones(1, 2))
    (origin,) = recorder.origins.values()
    assert [call.number for call in origin.calls] == [0, 0]
