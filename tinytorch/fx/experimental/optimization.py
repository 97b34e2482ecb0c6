"""torch.fx.experimental.optimization: graphs of networks for inference."""
from __future__ import annotations

import copy
from collections.abc import Iterable

from ..._refused import refused, refused_class
from ...nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Dropout, Linear, Module
from ...nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..interpreter import Transformer
from ..node import Node

__all__ = ["MklSubgraph", "UnionFind", "extract_subgraph", "fuse", "gen_mkl_autotuner", "matches_module_pattern",
           "modules_to_mkldnn", "optimize_for_inference", "remove_dropout", "replace_node_module", "reset_modules",
           "use_mkl_length"]

_REASON = "there is no MKL-DNN here"
MklSubgraph, UnionFind = [refused_class(__name__, _name, _REASON) for _name in ("MklSubgraph", "UnionFind")]
gen_mkl_autotuner, modules_to_mkldnn, optimize_for_inference, reset_modules, use_mkl_length = [
    refused(__name__, _name, _REASON) for _name in ("gen_mkl_autotuner", "modules_to_mkldnn", "optimize_for_inference",
                                                    "reset_modules", "use_mkl_length")]
#: (first layer, second layer): the function that folds the second into the first.
_FUSED = [(Conv1d, BatchNorm1d, fuse_conv_bn_eval), (Conv2d, BatchNorm2d, fuse_conv_bn_eval),
          (Conv3d, BatchNorm3d, fuse_conv_bn_eval), (Linear, BatchNorm1d, fuse_linear_bn_eval)]


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Module]) -> bool:
    """Whether a node calls a module of the second class on the result of a module of the first class."""
    if not node.args:
        return False
    return all([isinstance(n, Node) and n.op == "call_module" and type(modules.get(n.target)) is wanted
                for wanted, n in zip(pattern, (node.args[0], node))])


def replace_node_module(node: Node, modules: dict[str, Module], new_module: Module) -> None:
    """Replaces the module that a node calls by another module, in `modules` and in the module's owner."""
    owner, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[owner], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> Module:
    """A graph of the model in which batch norms are folded into the convolution or linear layer before them, for
    inference. Exception for a model that is not in eval mode.

    inplace   whether the model's own layers are changed
    no_trace  whether a GraphModule is taken as it is

    >>> import tinytorch as torch
    >>> from tinytorch.fx.experimental.optimization import fuse
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).eval()
    >>> [node.target for node in fuse(model).graph.nodes if node.op == "call_module"]
    ['0']
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model
    if not no_trace or not isinstance(model, GraphModule):
        traced = symbolic_trace(model)
    modules, graph = dict(traced.named_modules()), copy.deepcopy(traced.graph)
    for first, second, fused in _FUSED:
        for node in list(graph.nodes):
            if not matches_module_pattern((first, second), node, modules) or len(node.args[0].users) > 1:
                continue
            norm = modules[node.target]
            if norm.track_running_stats:
                replace_node_module(node.args[0], modules, fused(modules[node.args[0].target], norm))
                node.replace_all_uses_with(node.args[0])
                graph.erase_node(node)
    return GraphModule(traced, graph)


def remove_dropout(model: Module) -> Module:
    """A graph of the model without its Dropout modules."""
    class Remover(Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)
    return Remover(symbolic_trace(model)).transform()


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """A GraphModule of these nodes: a function of the nodes `inputs` that returns the first of `outputs`."""
    graph, values = Graph(), {}
    for node in inputs:
        values[node] = graph.placeholder(node.name)
    for node in nodes:
        values[node] = graph.node_copy(node, lambda x: values[x])
    graph.output([values[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)
