"""torch.fx: the graphs of every module of module_db, node by node, and the passes over graphs."""
import re

import pytest
import torch

import tinytorch

from .adapter import MODULES, Untranslatable, convert
from .test_graph import both_agree

pytestmark = pytest.mark.any_kernels

HERE = [name for name in MODULES if hasattr(tinytorch.nn, name.removeprefix("nn."))]


#: What functions call themselves within torch, and what they hand on that has no meaning.
_OTHERWISE = [("_with_indices", ""), (r"\b_threshold", "threshold"), ("log_sigmoid", "logsigmoid"),
              (r"need_weights: False, (is_causal: [%\w]+)", r"\1, need_weights: False"),
              (r"_stacklevel: \d", "_stacklevel: 3"), (r"(l1_loss.*), weight: None", r"\1")]


def graph_of(lib, module, whole):
    """The text of a module's graph with everything inside, or with its parts as modules, or that there is an
    error. Types of
    parameters are left out: the layers here have none."""
    class Tracer(lib.fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return not whole and super().is_leaf_module(m, module_qualified_name)
    try:
        text = str(Tracer().trace(module))
    except Exception:
        return "an error"                      # which is the first of several that differ in their words
    for name, told in _OTHERWISE:
        text = re.sub(name, told, text)
    text = re.sub(r"^(    %\w+) : .*? \[num_users", r"\1 : [num_users", text, flags=re.M)
    return text.replace("torch._C._nn.", "torch.nn.functional.").replace("torch._VF.", "torch.")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HERE)
def test_graphs_of_modules(name):
    compared = 0
    for training in (True, False):
        info = MODULES[name]
        samples = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False,
                                          training=training)
        for sample in samples[:6]:
            args, kwargs = sample.constructor_input.args, sample.constructor_input.kwargs
            theirs = info.module_cls(*args, **kwargs).train(training)
            try:
                ours = getattr(tinytorch.nn, name.removeprefix("nn."))(*convert(args), **convert(kwargs))
            except Untranslatable:
                continue
            ours.train(training)
            for whole in (True, False):
                assert graph_of(tinytorch, ours, whole) == graph_of(torch, theirs, whole)
                compared += 1
    assert compared


def network(lib):
    nn = lib.nn
    lib.manual_seed(0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.drop = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(.5)
            self.linear, self.last = nn.Linear(8, 3), nn.BatchNorm1d(3)
            self.norm.running_mean.add_(.5)
            self.last.running_var.mul_(2)

        def forward(self, x):
            x = self.drop(self.norm(self.conv(x)).relu())
            return self.last(self.linear(x.flatten(1))), x.split(1, 1)
    return Net().eval()


def test_shapes_of_nodes():
    def act(lib):
        from importlib import import_module
        prop = import_module(f"{lib.__name__}.fx.passes.shape_prop")
        traced = lib.fx.symbolic_trace(network(lib))
        out = prop.ShapeProp(traced).propagate(lib.ones(2, 1, 4, 4))
        found = [(n.name, str(n.meta.get("tensor_meta")), n.meta["type"].__name__) for n in traced.graph.nodes]
        return found, out[0].shape, prop.TensorMetadata._fields
    both_agree(act)


def test_an_error_names_its_node(capsys):
    def act(lib):
        from importlib import import_module
        prop = import_module(f"{lib.__name__}.fx.passes.shape_prop")
        try:
            prop.ShapeProp(lib.fx.symbolic_trace(lambda x: x @ x)).propagate(lib.ones(2, 3))
        except RuntimeError as error:
            return str(error).partition("\nOriginal traceback")[0]
    both_agree(act)
    assert "shapes" in capsys.readouterr().err


def test_networks_for_inference():
    def act(lib):
        from importlib import import_module
        optimization = import_module(f"{lib.__name__}.fx.experimental.optimization")
        model, x = network(lib), lib.arange(32.).view(2, 1, 4, 4) / 32
        fused = optimization.fuse(model)
        assert lib.allclose(fused(x)[0], model(x)[0], atol=1e-5)
        without = optimization.remove_dropout(model)
        nodes = list(lib.fx.symbolic_trace(model).graph.nodes)
        part = optimization.extract_subgraph(model, nodes[1:3], nodes[:1], nodes[2:3])
        return (str(fused.graph), fused.code, str(without.graph), str(part.graph), part(x)[0].sum().item(),
                hasattr(model.norm, "running_mean"), sorted(fused.state_dict()))
    both_agree(act)


def test_fusing_needs_eval_mode():
    def act(lib):
        from importlib import import_module
        import_module(f"{lib.__name__}.fx.experimental.optimization").fuse(network(lib).train())
    both_agree(act)
