"""`ExportedProgram.run_decompositions`: the same program in ATen's core operators, without writes in place.

A rule takes an operator apart: it is called with an `Emitter` and the operator's arguments, with nodes of the new graph
in place of tensors, and returns the node of the result, or a list of nodes. Each node is run at once, for the example's
sizes and, where sizes vary, for other sizes too, so that a rule can ask for shapes. A write in place becomes a new
value of the same name, and a value that was written to a buffer becomes an output of the graph.
"""
from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from .. import dtypes as dt
from .._ops import OpOverload, ops
from ..autograd.grad_mode import no_grad
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node, map_arg
from ..random import fork_rng
from ..tensor import Tensor
from .core_rules import RULES
from .exported_program import APART, ExportedProgram
from .graph_signature import ExportGraphSignature, InputKind, OutputKind, OutputSpec, TensorArgument
from .symbols import Expression, fitted

__all__ = ["core", "decomposed"]

_aten = ops.aten


def core() -> dict[Any, Callable]:
    """{operator: its rule} for the operators that are not core operators."""
    return {getattr(_aten, name).default: rule for name, rule in RULES.items() if hasattr(_aten, name)}


class Emitter:
    """Writes nodes into a new graph, and runs each of them for each trial of the sizes."""

    def __init__(self, trials: list[dict[str, int]], table: dict[str, Callable]) -> None:
        self.graph, self.trials, self.table, self.values = Graph(), trials, table, {}
        self.written = {}                      # {name of a placeholder: the node that has its new value}

    def placeholder(self, name: str, values: list) -> Node:
        """An input, with its value for each trial."""
        return self._kept(self.graph.placeholder(name), values)

    def _kept(self, node, values):
        self.values[node] = values
        first = values[0]
        if isinstance(first, Tensor):
            shape = tuple([self._fit([v.shape[d] for v in values], node) for d in range(first.dim())])
            node.meta["val"] = shape, first.dtype
        elif type(first) is int:
            node.meta["val"] = self._fit(values, node)
        elif isinstance(first, (tuple, list)):
            node.meta["count"] = len(first)
        return node

    def _fit(self, seen, node):
        found = fitted(list(map(int, seen)), self.trials)
        if found is None:
            raise NotImplementedError(f"run_decompositions: the size of {node.name} is no sum and no product of the "
                                      "sizes that vary")
        return found

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        """A node that calls an operator, or a function on sizes."""
        values = []
        with no_grad(), fork_rng():
            for k in range(len(self.trials)):
                own = map_arg((args, kwargs), lambda n: self.values[n][k])     # noqa: B023 used at once
                values.append(target(*own[0], **own[1]))
        packet = getattr(target, "overloadpacket", None)
        return self._kept(self.graph.call_function(target, args, kwargs, name=packet and packet.__name__), values)

    def item(self, node: Node, k: int) -> Node:
        """One of several results."""
        made = self.call(operator.getitem, node, k)
        node.meta.setdefault("parts", {})[k] = made.meta.get("val")
        return made

    def shape(self, x: Node) -> tuple:
        """The sizes of a node's tensor: numbers, and Expressions where sizes vary."""
        return x.meta["val"][0]

    def dtype(self, x: Node) -> dt.dtype:
        """The dtype of a node's tensor."""
        return x.meta["val"][1]

    def size(self, x: Node, d: int) -> Node | int:
        """The size of a dimension: a number, or a node."""
        n = self.shape(x)[d]
        return self.call(_aten.sym_size.int, x, d % len(self.shape(x))) if isinstance(n, Expression) else n

    def sizes(self, x: Node) -> list:
        """The sizes of all dimensions: numbers, and nodes where they vary."""
        return [self.size(x, d) for d in range(len(self.shape(x)))]

    def times(self, *sizes: Any) -> Any:
        """The product of sizes."""
        total = 1
        for n in sizes:
            if isinstance(total, Node) or isinstance(n, Node):
                total = n if total == 1 and not isinstance(total, Node) else self.call(operator.mul, total, n)
            else:
                total *= n
        return total

    # ------------------------------------------------------------- one operator
    def operator(self, target: Any, args: tuple, kwargs: dict) -> Any:
        """The result of an operator, which is taken apart if the table has a rule for it."""
        name = target.overloadpacket.__name__ if isinstance(target, OpOverload) else None
        if name in self.table:
            return self.table[name](self, *args, **kwargs)
        return self.call(target, *args, **kwargs)


# ------------------------------------------------------------------ a program
def decomposed(program: ExportedProgram, table: dict | None) -> ExportedProgram:
    """The program in core operators. `table` has the operators whose rules are used; None uses all rules."""
    rules = RULES
    if table is not None:
        by_name = {key.overloadpacket.__name__ if isinstance(key, OpOverload) else str(key): value
                   for key, value in table.items()}
        custom = [name for name, value in by_name.items() if value is not RULES.get(name)]
        if custom:
            raise NotImplementedError(f"run_decompositions: custom rules are not supported ({custom[0]})")
        rules = {name: RULES[name] for name in by_name}
    trials = _trials(program)
    emitter = Emitter(trials, rules)
    made, bases = {}, {}
    for node in program.graph.nodes:
        if node.op == "placeholder":
            made[node] = emitter.placeholder(node.target, _values(program, node, trials))
        elif node.op == "call_function":
            _one(emitter, node, made, bases)
        elif node.op == "output":
            return _finished(program, emitter, made, node)
    raise RuntimeError("the graph has no output")


def _one(emitter, node, made, bases):
    def new(x):
        return made[x]
    if node.target is operator.getitem:
        parts = made[node.args[0]]
        made[node] = parts[node.args[1]] if isinstance(parts, (list, tuple)) else emitter.item(parts, node.args[1])
        return
    name = node.target.overloadpacket.__name__ if isinstance(node.target, OpOverload) else ""
    args, kwargs = map_arg((node.args, dict(node.kwargs)), new)
    if _is_view(node.target) and isinstance(node.args[0], Node):
        bases[node] = bases.get(node.args[0], node.args[0])
    if name.endswith("_") and not name.endswith("__"):
        _written(emitter, node, name[:-1], args, kwargs, made, bases)
        return
    if name == "batch_norm" and args[5] and args[3] is not None and name in emitter.table:
        made[node] = _trained(emitter, node, args, made)
        return
    made[node] = emitter.operator(node.target, args, kwargs)


def _is_view(target):
    """Whether the schema says that the result is a view of an argument."""
    form = getattr(target, "_schema", None)
    return form is not None and re.search(r"\(a[) ]", form.text.rpartition(" -> ")[2]) is not None


def _written(emitter, node, name, args, kwargs, made, bases):
    """Turns a write in place into a new value, which all later nodes use."""
    target = node.args[0]
    if target in bases or any([base is target for base in bases.values()]):
        raise NotImplementedError(f"run_decompositions: a write in place to a view, or to the base of one "
                                  f"({node.format_node()})")
    form = getattr(getattr(_aten, name), str(node.target).rpartition(".")[2])
    made[node] = made[target] = emitter.operator(form, args, kwargs) if name != "copy" else emitter.call(
        _aten.copy.default, *args)
    _note(emitter, target, made)


def _note(emitter, target, made):
    source = target
    while source.op == "call_function" and str(source.target).partition(".")[2].partition(".")[0].endswith("_"):
        source = source.args[0]                # mul_ of add_ of a buffer
        made[source] = made[target]
    if source.op == "placeholder":
        emitter.written[source.name] = made[target]


def _trained(emitter, node, args, made):
    """A batch norm by the statistics of the batch, which updates the running statistics."""
    x, weight, bias, mean, var, training, momentum, eps = args[:8]
    result = emitter.call(_aten._native_batch_norm_legit_functional.default, x, weight, bias, mean, var, training,
                          momentum, eps)
    for place, k in ((3, 3), (4, 4)):
        target = node.args[place]
        made[target] = emitter.item(result, k)
        _note(emitter, target, made)
    return emitter.item(result, 0)


def _trials(program):
    hints = program.hints()
    found = [dict(hints)]
    found += [{**hints, name: n + 1} for name, n in hints.items()]
    if hints:
        found.append({name: n + 2 + k for k, (name, n) in enumerate(hints.items())})
    return found


def _values(program, node, trials):
    """A value of an input for each trial."""
    spec = next(s for s in program.graph_signature.input_specs if s.arg.name == node.name)
    if spec.target is not None:
        return [program.tensor(spec.target).detach()] * len(trials)
    if not isinstance(spec.arg, TensorArgument):
        return [spec.arg.value] * len(trials)
    from ..ops.creation.factories import zeros
    shape, dtype = node.meta["val"]
    return [zeros([n.at(sizes) if isinstance(n, Expression) else n for n in shape], dtype=dtype) for sizes in trials]


def _finished(program, emitter, made, node):
    graph = emitter.graph
    old = program.graph_signature
    targets = {s.arg.name: (s.kind, s.target) for s in old.input_specs}
    outputs, specs = [], []
    for name, value in emitter.written.items():
        kind, target = targets[name]
        written = {InputKind.BUFFER: OutputKind.BUFFER_MUTATION, InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION}
        outputs.append(value)
        specs.append(OutputSpec(written.get(kind, OutputKind.USER_INPUT_MUTATION), TensorArgument(value.name),
                                target if target is not None else name))
    for spec, x in zip(old.output_specs, node.args[0]):
        value = made[x] if isinstance(x, Node) else x
        arg = type(spec.arg)(value.name) if isinstance(value, Node) else spec.arg
        outputs.append(value)
        specs.append(OutputSpec(spec.kind, arg, spec.target))
    graph.output(tuple(outputs))
    graph.eliminate_dead_code()
    return ExportedProgram(
        GraphModule({}, graph, "GraphModule"), ExportGraphSignature(list(old.input_specs), specs), program.state_dict,
        program.range_constraints, program.module_call_graph, program.example_inputs, program.constants, "ATEN",
        program.guards)


APART.update(program=decomposed, rules=core)
