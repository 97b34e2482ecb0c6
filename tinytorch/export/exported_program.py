"""torch.export.exported_program: a graph of ATen's operators, with the parameters and buffers of its module."""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ..nn import Module, Parameter
from ..tensor import Tensor
from ..utils import _pytree as pytree
from .graph_signature import ExportGraphSignature
from .symbols import Expression, Range

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]


@dataclass
class ModuleCallSignature:
    """How a module is called: the trees of its arguments and of its result."""

    inputs: list
    outputs: list
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    forward_arg_names: list[str] | None = None


@dataclass
class ModuleCallEntry:
    """A module by its path, and how it is called."""

    fqn: str
    signature: ModuleCallSignature | None = None


#: The functions of decompositions.py, which imports this module.
APART: dict[str, Callable] = {}


class CallSpec(NamedTuple):
    """The trees of the arguments and of the result."""

    in_spec: Any
    out_spec: Any


@dataclass
class ExportedProgram:
    """A module's call as a graph: `torch.export.export` makes it, `module()` returns a module that runs it.

    graph_module       its graph has the parameters, buffers and constants as inputs, before the user's inputs
    graph_signature    what each input and output stands for
    state_dict         parameters and persistent buffers by their names
    constants          other buffers and tensors by their names
    range_constraints  the sizes that each symbol stands for
    example_inputs     the (args, kwargs) of the recorded call; None if there are none
    """

    graph_module: GraphModule
    graph_signature: ExportGraphSignature
    state_dict: dict[str, Any]
    range_constraints: dict[str, Range]
    module_call_graph: list[ModuleCallEntry]
    example_inputs: tuple[tuple, dict] | None = None
    constants: dict[str, Any] = field(default_factory=dict)
    dialect: str = "TRAINING"
    guards: list[Guard] = field(default_factory=list)

    @property
    def graph(self) -> Graph:
        return self.graph_module.graph

    @property
    def call_spec(self) -> CallSpec:
        signature = self.module_call_graph[0].signature
        return CallSpec(signature.in_spec, signature.out_spec)

    @property
    def tensor_constants(self) -> dict[str, Any]:
        return self.constants

    def hints(self) -> dict[str, int]:
        """The sizes of the symbols in the example. A symbol that the example does not show gets the least size that
        its range allows, but at least 2."""
        found = {}
        flat = [] if self.example_inputs is None else pytree.tree_flatten(self.example_inputs)[0]
        for guard in self.guards if flat else ():
            if isinstance(guard.wanted, Expression):
                for key, factor in guard.wanted.terms.items():
                    if len(key) == 1:
                        rest = flat[guard.place].shape[guard.dim] - guard.wanted.terms.get((), 0)
                        found.setdefault(key[0], int(rest // factor))
        return {name: found.get(name, max(r.lower, 2)) for name, r in self.range_constraints.items()}

    def parameters(self) -> Iterator[Parameter]:
        """The parameters of the module, in the order of the inputs."""
        for _, x in self.named_parameters():
            yield x

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their names."""
        for name in self.graph_signature.parameters:
            yield name, self.state_dict[name]

    def buffers(self) -> Iterator[Tensor]:
        """The buffers of the module, in the order of the inputs."""
        for _, x in self.named_buffers():
            yield x

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        for name in self.graph_signature.buffers:
            yield name, self.tensor(name)

    def tensor(self, name: str) -> Tensor:
        """A parameter, buffer or constant by its name."""
        return self.state_dict[name] if name in self.state_dict else self.constants[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """RuntimeError: `module()` gives what can be called."""
        raise RuntimeError("Unable to call ExportedProgram directly. You should use `exported_program.module()` "
                           "instead.")

    def module(self, check_guards: bool = True) -> Module:
        """A module with the parameters and buffers that runs the graph. Its arguments must have the tree of the
        example. AssertionError ("Guard failed") for a size that the graph was not made for, ValueError for other
        keywords."""
        return _unlifted(self, check_guards)

    def run_decompositions(self, decomp_table: dict | None = None, decompose_custom_triton_ops: bool = False
                           ) -> ExportedProgram:
        """The same program in ATen's core operators. `decomp_table` has the operators that are taken apart; None
        stands for `default_decompositions`. A value that was written in place becomes an output of the graph, which
        `module()` writes to the buffer. An operator without a rule stays as it is. NotImplementedError for custom
        rules, and for writes to views. `decompose_custom_triton_ops` changes nothing: there is no Triton."""
        return APART["program"](self, decomp_table)

    def validate(self) -> None:
        """RuntimeError if the graph is not well formed."""
        self.graph.lint()

    def __str__(self) -> str:
        code = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ").rstrip()
        return (f"ExportedProgram:\n    {code}\n\nGraph signature: {self.graph_signature}\n"
                f"Range constraints: {self.range_constraints}\n")

    def __deepcopy__(self, memo: dict) -> ExportedProgram:
        copied = {name: copy.deepcopy(value, memo) for name, value in vars(self).items()}
        return type(self)(**copied)


@dataclass
class Guard:
    """A condition on an input: on one of its sizes (`dim` is a number), or on its value (`dim` is None)."""

    name: str
    place: int                                 # among the user's inputs
    dim: int | None
    wanted: Any                                # a size, an Expression, or a value

    def check(self, x: Any, sizes: dict[str, int], ranges: dict[str, Range]) -> None:
        """AssertionError if the condition does not hold. A symbol gets its size from the first size that has no other
        symbol."""
        if self.dim is None:
            assert type(x) is type(self.wanted) and x == self.wanted, f"Guard failed: {self.name} == {self.wanted!r}"
            return
        text = f"Guard failed: {self.name}.size()[{self.dim}]"
        n = x.shape[self.dim]
        if isinstance(self.wanted, int):
            assert n == self.wanted, f"{text} == {self.wanted}"
            return
        symbols = [name for key in self.wanted.terms for name in key]
        if len(symbols) == 1 and symbols[0] not in sizes:
            factor, added = self.wanted.terms[(symbols[0],)], self.wanted.terms.get((), 0)
            assert (n - added) % factor == 0, f"{text} == {self.wanted}"
            size, (lower, upper) = (n - added) // factor, ranges[symbols[0]]
            assert size >= lower, f"{text} >= {self._limit(lower)}"
            assert upper is None or size <= upper, f"{text} <= {self._limit(upper)}"
            sizes[symbols[0]] = size
        assert n == self.wanted.at(sizes), f"{text} == {self.wanted}"

    def _limit(self, size):
        name = next(name for key in self.wanted.terms for name in key)
        return self.wanted.at({name: size})


# ------------------------------------------------------------------ a module that runs it
def _unlifted(program, check_guards):
    root = Module()
    for name, x in [*program.state_dict.items(), *program.constants.items()]:
        if isinstance(x, Tensor):
            _put(root, name, x, name not in program.graph_signature.non_persistent_buffers
                 and name in program.state_dict)
    graph, values = Graph(), {}
    targets = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs if spec.target is not None}
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in targets:
            values[node] = graph.get_attr(targets[node.name])
            values[node].meta.update(node.meta)
        elif node.op == "output":
            _output(graph, program, node, values)
        else:
            values[node] = graph.node_copy(node, lambda n: values[n])
    made = _Exported(root, graph, "GraphModule")
    made.program, made.check_guards = program, check_guards
    return made


def _output(graph, program, node, values):
    """Writes the outputs that belong to buffers, and returns the others."""
    from .._ops import ops
    kept = []
    for spec, x in zip(program.graph_signature.output_specs, node.args[0]):
        if spec.target is None:
            kept.append(values[x] if isinstance(x, Node) else x)
            continue
        place = next(v for n, v in values.items() if n.op == "placeholder" and _target(program, n) == spec.target)
        graph.call_function(ops.aten.copy_.default, (place, values[x]))
    graph.output(tuple(kept))


def _target(program, node):
    return next((s.target or s.arg.name for s in program.graph_signature.input_specs if s.arg.name == node.name), None)


def _put(root, path, x, persistent):
    *way, name = path.split(".")
    for part in way:
        if part not in root._modules:
            root.add_module(part, Module())
        root = root._modules[part]
    if isinstance(x, Parameter):
        root.register_parameter(name, x)
    else:
        root.register_buffer(name, x, persistent=persistent)


class _Exported(GraphModule):
    """Runs the graph on arguments that have the tree of the example."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        program = self.program
        spec = program.call_spec
        wanted = spec.in_spec.children()[1]
        names = wanted.context or [] if wanted.kind is not None else []
        if sorted(kwargs) != sorted(names):
            args, kwargs = self._by_name(args, kwargs, names)
        kwargs = {name: kwargs[name] for name in names}
        flat, found = pytree.tree_flatten((tuple(args), kwargs))
        if found != spec.in_spec:
            raise ValueError("Trying to flatten user inputs with exported input tree spec: \n"
                             f"{spec.in_spec}\nbut actually got inputs with tree spec of: \n{found}")
        if self.check_guards:
            sizes = {}
            for guard in program.guards:
                guard.check(flat[guard.place], sizes, program.range_constraints)
        return pytree.tree_unflatten(list(super().__call__(*flat)), spec.out_spec)

    def _by_name(self, args, kwargs, names):
        """The arguments as the example passed them: by position where the example did so, and by keyword elsewhere."""
        order = self.program.module_call_graph[0].signature.forward_arg_names or []
        positions = len(self.program.call_spec.in_spec.children()[0].children())
        rest = dict(kwargs)
        args = list(args)
        for name in order[len(args):positions]:
            if name in rest:
                args.append(rest.pop(name))
        if sorted(rest) != sorted(names):
            raise ValueError(f"Ran into a kwarg keyword mismatch: Got the following keywords {list(rest)} but "
                             f"expected {list(names)}")
        return args, rest

    def train(self, mode: bool = True) -> Module:
        raise NotImplementedError("Calling train() is not supported yet.")

    def eval(self) -> Module:
        raise NotImplementedError("Calling eval() is not supported yet.")


def default_decompositions() -> dict[Any, Callable]:
    """{operator: its rule} for the operators that `run_decompositions` takes apart."""
    return APART["rules"]()
