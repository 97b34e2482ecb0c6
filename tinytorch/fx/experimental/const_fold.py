"""torch.fx.experimental.const_fold: values that depend on no argument are computed once."""
from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from ...nn import Module, Parameter, ParameterList
from ...tensor import Tensor
from .._symbolic_trace import symbolic_trace
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg
from ..passes.split_module import split_module

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module that runs `const_subgraph_module` at its first call, and keeps the result in the attribute
    `fx_const_folded_attrs_name`."""

    def __init__(self, root: Module, graph: Graph, const_subgraph: Graph | None = None,
                 fx_const_folded_attrs_name: str | None = None, device_for_folded_attrs: str = "cpu") -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args, **kwargs)

    def run_folding(self) -> None:
        """Computes the values that depend on no argument."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        found = self.const_subgraph_module()
        made = ParameterList([_parameter(x) for x in found]) if isinstance(found, tuple) else _parameter(found)
        setattr(self, self.fx_const_folded_attrs_name, made)


def _parameter(x):
    if not isinstance(x, Tensor):
        return Parameter(Tensor([x]), requires_grad=False)
    return Parameter(x.detach().clone(), requires_grad=x.requires_grad)


def get_unique_attr_name_in_module(mod_traced: Module, name: str) -> str:
    """The first of `name`, name_1, name_2 ... that is a Python identifier and not an attribute of the module."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    if name[0].isdigit():
        name = f"_{name}"
    while hasattr(mod_traced, name):
        base, number = re.fullmatch(r"(.*?)(?:_(\d+))?", name).groups()
        name = f"{base}_{int(number or 0) + 1}"
    return name


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Node]:
    """Replaces a call of a module in gm by the nodes of the module. Returns {node of the module: new node}."""
    inner = dict(gm.named_modules())[inline_mod_name]
    if not isinstance(inner, GraphModule):
        raise AssertionError(f"Expected GraphModule, got {type(inner)}")
    call, = [node for node in gm.graph.nodes if node.op == "call_module" and node.target == inline_mod_name]
    given, made = iter(call.args), {}

    def within(node):
        made[node].meta = node.meta.copy()
        return made[node]

    for node in inner.graph.nodes:
        if node.op == "placeholder":
            made[node] = call.kwargs[node.name] if node.name in call.kwargs else next(given)
        elif node.op != "output":
            with gm.graph.inserting_before(call):
                made[node] = gm.graph.node_copy(node, within)
    result = map_arg(inner.graph.output_node().args[0], within)
    if isinstance(result, Node):
        call.replace_all_uses_with(result)
    for user in list(call.users):
        taken = result[user.args[1]]
        user.replace_all_uses_with(taken)
        gm.graph.erase_node(user)
        made[user] = taken
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return made


def _changes(module):
    """Whether a graph, or a graph that it calls, has side effects."""
    return any([node.op == "call_function" and node.is_impure()
                or node.op == "call_module" and isinstance(module.get_submodule(node.target), GraphModule)
                and _changes(module.get_submodule(node.target)) for node in module.graph.nodes])


def _constant(traced, skip):
    """The nodes that depend on no argument."""
    found = set()
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not set(node.all_input_nodes) <= found:
            continue
        if node.op != "get_attr" and (skip is not None and skip(node) or node.is_impure()):
            continue
        called = traced.get_submodule(node.target) if node.op == "call_module" else None
        if not (isinstance(called, GraphModule) and _changes(called)):
            found.add(node)
    return found


def split_const_subgraphs(module: Module, skip_folding_node_fn: Callable[[Node], bool] | None = None,
                          device_for_folded_attrs: str = "cpu") -> FoldedGraphModule:
    """A module that computes the values that depend on no argument once, at its first call. skip_folding_node_fn: says
    for which of these nodes the value is computed at every call nevertheless.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.experimental.const_fold import split_const_subgraphs
    >>> class Scaled(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = torch.nn.Parameter(torch.ones(2))
    ...     def forward(self, x):
    ...         return x * (self.weight + 1)
    >>> print(split_const_subgraphs(Scaled()).code.strip())
    def forward(self, x):
        _fx_const_folded_attrs = self._FX_CONST_FOLDED_ATTRS
        mul = x * _fx_const_folded_attrs;  x = _fx_const_folded_attrs = None
        return mul
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant = _constant(traced, skip_folding_node_fn)
    if not any([node.op != "get_attr" for node in constant]):
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: 0 if node in constant else 1)
    inner = split.submod_0
    for name in ("submod_1", "submod_0"):                      # their attributes are read from the whole module
        for node in getattr(split, name).graph.nodes if hasattr(split, name) else ():
            if node.op == "call_module":
                setattr(split, node.target, getattr(getattr(split, name), node.target))
    call, = split.graph.find_nodes(op="call_module", target="submod_0")
    constant = copy.deepcopy(inner.graph)                      # without a module, which would lack its attributes
    for node, given in zip(constant.find_nodes(op="placeholder"), call.args):
        with constant.inserting_before(node):
            made = constant.get_attr(given.target)
        made.meta = node.meta.copy()
        node.replace_all_uses_with(made)
        constant.erase_node(node)
    several = isinstance(constant.output_node().args[0], tuple)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    setattr(split, name, ParameterList() if several else Parameter())
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if hasattr(split, "submod_1"):
        _inline_module(split, "submod_1")
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, constant, name, device_for_folded_attrs)
