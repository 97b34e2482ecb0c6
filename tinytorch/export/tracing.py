"""`torch.export.export`: a module's call recorded as a graph, with sizes that may vary.

A size that may vary is a symbol. The call is recorded with the example's sizes, then once for each symbol, larger by
one, and then with other sizes in their ranges for all symbols. The graphs must be the same, node by node, and each size
of each tensor must be an expression of the symbols that has the right value in every recording. Computations with sizes
are part of the graph. A program that does something special for one size gives graphs that differ, and is refused.
"""
from __future__ import annotations

import inspect
import operator
from collections.abc import Sequence
from typing import Any

from .._ops import ops
from ..autograd.grad_mode import no_grad
from ..capture.recorder import Recorder
from ..capture.twice import Recording, difference
from ..fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node, map_arg
from ..nn import Module
from ..random import fork_rng
from ..tensor import Tensor, wrap
from ..utils import _pytree as pytree
from .dynamic_shapes import Dim, DimHint, given_dims
from .exported_program import ExportedProgram, Guard, ModuleCallEntry, ModuleCallSignature
from .graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from .symbols import Expression, Range, fitted

__all__ = ["export"]

_MORE = ("\n\nThe error above occurred when calling torch.export.export. If you would like to view some more "
         "information about this error, and get a list of all other errors that may occur in your export call, you can "
         "replace your `export()` call with `draft_export()`.")


def _user_error(text):
    from .._dynamo.exc import UserError, UserErrorType
    return UserError(UserErrorType.INVALID_INPUT, text)


def export(mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
           dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None, strict: bool = False,
           preserve_module_call_signature: tuple[str, ...] = (),
           prefer_deferred_runtime_asserts_over_guards: bool = False) -> ExportedProgram:
    """The call mod(*args, **kwargs) as a graph of ATen's operators, with the module's parameters and buffers.

    dynamic_shapes  {name of an argument: {dimension: Dim}}, or a list of these in the order of the arguments: sizes
                    that may vary. Dim.AUTO varies if it can, Dim.DYNAMIC must
    strict          only False is supported: Python runs the module, and its calls on tensors are recorded
    prefer_deferred_runtime_asserts_over_guards  changes nothing: sizes are checked when the program is called

    ValueError if mod is not a Module; UserError for arguments that are not a tuple, and for a size that is declared to
    vary and cannot; GuardOnDataDependentSymNode (a RuntimeError) where the path depends on a value of a tensor;
    NotImplementedError for strict=True, and for computations that no recording sees.

    >>> import tinytorch as torch
    >>> program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    >>> print(program.graph_module.code.strip())
    def forward(self, input):
        input_1 = input
        relu = torch.ops.aten.relu.default(input_1);  input_1 = None
        return (relu,)
    >>> program.module()(torch.tensor([-1., 1.]))
    tensor([0., 1.])
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if hasattr(mod, "code") and hasattr(mod, "_c"):
        raise ValueError("Exporting a ScriptModule is not supported. Maybe try converting your ScriptModule to an "
                         "ExportedProgram using `TS2EPConverter(mod, args, kwargs).convert()` instead.")
    if strict:
        raise NotImplementedError("torch.export.export: strict=True is not supported: it takes TorchDynamo, which "
                                  "reads Python's bytecode")
    if preserve_module_call_signature:
        raise NotImplementedError("torch.export.export: preserve_module_call_signature is not supported")
    if not isinstance(args, tuple):
        raise _user_error(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}{_MORE}")
    kwargs = kwargs or {}
    bound = inspect.signature(mod.forward).bind(*args, **kwargs)
    flat, spec = pytree.tree_flatten((args, kwargs))
    varying = given_dims(dynamic_shapes, bound.arguments, (args, kwargs), lambda text: _user_error(text + _MORE))
    dims = _Dims(flat, varying)
    names = _names(bound.arguments, mod, args, kwargs)
    recordings, sizes = _recorded(mod, flat, spec, names, dims)
    return _program(mod, recordings, sizes, dims, flat, spec, names, (args, kwargs))


# ------------------------------------------------------------------ which sizes vary
class _Dims:
    """The sizes of the inputs: numbers, or expressions of symbols."""

    def __init__(self, flat: list, varying: list) -> None:
        self.symbols, self.shapes = {}, []     # {symbol: its Dim or DimHint}; the shape of each input
        self.hints, self._named = {}, {}       # {symbol: its size in the example}; {name of a Dim: its symbol}
        for k, x in enumerate(flat):
            if not isinstance(x, Tensor):
                self.shapes.append(None)
                continue
            shape = list(map(int, x.shape))
            for d, dim in (varying[k] or {}).items():
                shape[d] = self._size(dim, shape[d], k, d)
            self.shapes.append(tuple(shape))

    def _size(self, dim, n, k, d):
        if isinstance(dim, int):
            if dim != n:
                raise _user_error(f"Static shape constraint of {dim} does not match input size of {n}, for input {k}, "
                                  f"dimension {d}{_MORE}")
            return n
        if isinstance(dim, DimHint):
            if dim.type.name == "STATIC" or dim.type.name == "AUTO" and n in (0, 1):
                return n
            return self._symbol(dim, n)
        root = getattr(dim, "root", dim)
        (size, rest) = divmod(n - dim._added, dim._factor)
        if rest:
            raise _user_error(f"Expected input size {n} to be of the form {dim}{_MORE}")
        symbol = self._named.get(root.__name__)
        if symbol is None:
            symbol = self._named[root.__name__] = self._symbol(root, size)
        found = self.hints[next(iter(symbol.terms))[0]]
        if found != size:
            raise _user_error(f"Constraints violated ({root.__name__})! The inputs have {found} and {size} for "
                              f"it{_MORE}")
        return dim._factor * symbol + dim._added

    def _symbol(self, dim, n):
        name = f"s{len(self.symbols)}"
        self.symbols[name], self.hints[name] = dim, n
        return Expression.symbol(name)

    def without(self, name: str) -> None:
        """Replaces a symbol by its size in the example."""
        n = self.hints[name]
        self.symbols.pop(name)
        self.hints.pop(name)
        self.shapes = [s and tuple([n if isinstance(x, Expression) and x == Expression.symbol(name) else x
                                    for x in s]) for s in self.shapes]

    def range(self, name: str) -> Range:
        dim = self.symbols[name]
        upper = dim.max
        upper = None if upper is None or upper == float("inf") else int(upper)
        least = 2 if isinstance(dim, DimHint) and dim.min is None else int(dim.min or 0)
        return Range(max(0, least), upper)

    def trials(self) -> list[dict[str, int]]:
        """The sizes to record: those of the example, each symbol larger by one in turn, and other sizes in their ranges
        for all symbols."""
        found = [dict(self.hints)]
        for name, n in self.hints.items():
            upper = self.range(name).upper
            found.append({**self.hints, name: n + 1 if upper is None or n < upper else n - 1})
        if self.hints:
            found.append({name: self._other(name, n + 2 + k) for k, (name, n) in enumerate(self.hints.items())})
            least = {name: max(self.range(name).lower, 2) for name in self.hints}
            found.append(least)
        return found

    def _other(self, name, n):
        lower, upper = self.range(name)
        return n if upper is None or n <= upper else max(lower, min(upper, 2))

    def label(self, name: str) -> str:
        dim = self.symbols[name]
        return dim.__name__ if isinstance(dim, Dim) else name


def _resized(x, shape, sizes):
    """A tensor with other sizes, filled with the elements of `x`, which repeat from the beginning if too few."""
    wanted = [n.at(sizes) if isinstance(n, Expression) else n for n in shape]
    array = x._array
    for d, n in enumerate(wanted):
        if n != array.shape[d]:
            array = array.take([i % max(array.shape[d], 1) for i in range(n)], axis=d)
    return wrap(array.copy()).requires_grad_(x.requires_grad)


# ------------------------------------------------------------------ to record
def _names(arguments, mod, args, kwargs):
    """A name for each leaf of the arguments, in order: the name of its parameter, with the path through lists and
    dicts."""
    parameters = inspect.signature(mod.forward).parameters
    names, order = [], []
    for name, p in parameters.items():
        if name not in arguments:
            continue
        if p.kind is p.VAR_POSITIONAL:
            order += [(f"{name}_{i}", x) for i, x in enumerate(arguments[name])]
        elif p.kind is p.VAR_KEYWORD:
            order += list(arguments[name].items())
        else:
            order.append((name, arguments[name]))
    by_name = dict(order)
    positional = [name for name, _ in order if name not in kwargs]
    for name in [*positional[:len(args)], *kwargs]:
        for path, _ in pytree.tree_flatten_with_path(by_name[name])[0]:
            way = [str(getattr(key, "idx", getattr(key, "key", getattr(key, "name", "")))) for key in path]
            names.append("_".join([name, *way]))
    return names


def _recorded(mod, flat, spec, names, dims):
    """The recordings of the call, one for each trial, and the trials. A size that was allowed to vary, and turns out
    not to, becomes a number."""
    while True:
        trials, made, changed = dims.trials(), [], False
        for k, sizes in enumerate(trials):
            try:
                made.append(_record(mod, flat, spec, names, dims, sizes))
                if k and difference(made[0], made[-1]) is not None:
                    raise RuntimeError("the graphs differ")
            except GuardOnDataDependentSymNode:
                raise
            except Exception:
                if not k:
                    raise
                blamed = list(dims.hints)[min(k - 1, len(dims.hints) - 1)]
                if not isinstance(dims.symbols[blamed], DimHint) or dims.symbols[blamed].type.name != "AUTO":
                    raise _violated(dims, blamed) from None
                dims.without(blamed)
                changed = True
                break
        if not changed:
            return made, trials


def _violated(dims, name):
    label, n = dims.label(name), dims.hints[name]
    return _user_error(
        f"Constraints violated ({label})! For more information, run with TORCH_LOGS=\"+dynamic\".\n"
        f"  - You marked {label} as dynamic but your code specialized it to be a constant ({n}). If you're using "
        "mark_dynamic, either remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either "
        f"Dim.STATIC or Dim.AUTO.\nSuggested fixes:\n  {label} = {n}{_MORE}")


def _record(mod, flat, spec, names, dims, sizes):
    """One call, with these sizes of the symbols."""
    recorder = Recorder(_constants(mod), bool(dims.symbols), _refuse)
    inputs = []
    for prefix, found in (("p", mod.named_parameters()), ("b", mod.named_buffers())):
        for path, x in found:
            node = recorder.graph.placeholder(f"{prefix}_{path.replace('.', '_')}")
            inputs.append((node, path))
            recorder.name(x, node)
    own = []
    for name, x, shape in zip(names, flat, dims.shapes):
        node = recorder.graph.placeholder(name)
        if isinstance(x, Tensor):
            x = _resized(x, shape, sizes)
            recorder.name(x, node)
        own.append(x)
    args, kwargs = pytree.tree_unflatten(own, spec)
    buffers = [(x, x.detach().clone()) for _, x in mod.named_buffers()]
    with fork_rng():
        try:
            with recorder:
                result = mod(*args, **kwargs)
                leaves, out_spec = pytree.tree_flatten(result)
                outputs = [recorder.value(x) for x in leaves]
        finally:
            with no_grad():
                for x, before in buffers:      # a recording in training mode has updated them
                    x.copy_(before)
    recorder.graph.output(tuple(outputs))
    return Recording(recorder.graph, {**recorder.constants, **_attributes(recorder, mod)}, out_spec, names, outputs, [])


def _refuse(kind, tensor):
    if kind in ("len", "iter") or kind.startswith("constant") or tensor is None:
        return
    raise GuardOnDataDependentSymNode(
        f"Could not guard on data-dependent expression: a tensor became a Python value ({kind})"
        f"{_line()}{_MORE}")


def _line():
    """The place in the user's program that is being recorded."""
    package = __name__.partition(".")[0]
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    if frame is None:
        return ""
    code = frame.f_code
    return ("\n\nThe following call raised this error:\n"
            f"  File \"{code.co_filename}\", line {frame.f_lineno}, in {code.co_name}")


def _constants(mod):
    """Tensors that modules hold without registering them: {id: path}."""
    found = {}
    for path, m in mod.named_modules():
        for name, x in vars(m).items():
            if isinstance(x, Tensor):
                found[id(x)] = f"{path}.{name}" if path else name
    return found


def _attributes(recorder, mod):
    """The tensors of `_constants` that the graph reads: {path: tensor}."""
    asked = {n.target for n in recorder.graph.nodes if n.op == "get_attr"}
    found = {}
    for path in asked - set(recorder.constants):
        owner, _, name = path.rpartition(".")
        found[path] = getattr(mod.get_submodule(owner), name)
    return found


# ------------------------------------------------------------------ the program
def _program(mod, recordings, sizes, dims, flat, spec, names, example):
    first = recordings[0]
    _name_sizes(recordings, sizes)
    graph = first.graph
    constants, specs = _lifted(graph, first.constants)
    graph.eliminate_dead_code()
    parameters, buffers = dict(mod.named_parameters()), dict(mod.named_buffers())
    kept = set(mod.state_dict())
    inputs = [InputSpec(InputKind.PARAMETER, TensorArgument(_placeholder("p", path)), path) for path in parameters]
    inputs += [InputSpec(InputKind.BUFFER, TensorArgument(_placeholder("b", path)), path, path in kept)
               for path in buffers]
    inputs += specs
    nodes = [n for n in graph.nodes if n.op == "placeholder"]
    for node, s in zip(nodes, inputs):
        s.arg.name = node.name
    guards = []
    for k, (node, x) in enumerate(zip(nodes[len(inputs):], flat)):
        inputs.append(InputSpec(InputKind.USER_INPUT, _argument(node, x), None))
        guards += _guards(k, names[k], x, dims.shapes[k])
    outputs = []
    for x in graph.output_node().args[0]:
        arg = ConstantArgument("", x)
        if isinstance(x, Node):
            arg = (TensorArgument if "val" in x.meta and isinstance(x.meta["val"], tuple) else SymIntArgument)(x.name)
        outputs.append(OutputSpec(OutputKind.USER_OUTPUT, arg, None))
    state = {path: x for path, x in [*parameters.items(), *buffers.items()] if path in kept}
    constants.update({path: x for path, x in buffers.items() if path not in kept})
    signature = ModuleCallSignature([], [], spec, first.inputs, _argument_names(mod, example))
    entries = [ModuleCallEntry("", signature)]
    entries += [ModuleCallEntry(path) for path, _ in mod.named_modules() if path]
    return ExportedProgram(GraphModule({}, graph, "GraphModule"), ExportGraphSignature(inputs, outputs), state,
                           {name: dims.range(name) for name in dims.symbols}, entries, example, constants,
                           guards=guards)


def _placeholder(prefix, path):
    return f"{prefix}_{path.replace('.', '_')}"


def _argument(node, x):
    if isinstance(x, Tensor):
        return TensorArgument(node.name)
    return ConstantArgument(node.name, x)


def _argument_names(mod, example):
    args, kwargs = example
    parameters = list(inspect.signature(mod.forward).parameters.values())
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = names[:len(args)]
    given += [f"{p.name}_{i}" for p in parameters if p.kind is p.VAR_POSITIONAL for i in range(len(args) - len(given))]
    return given + list(kwargs)


def _guards(k, name, x, shape):
    if isinstance(x, Tensor):
        return [Guard(name, k, d, n) for d, n in enumerate(shape)]
    if x is None or isinstance(x, (bool, int, float, str)):
        return [Guard(name, k, None, x)]
    return []


def _lifted(graph, constants):
    """Makes the tensors that the graph reads from the module inputs of the graph: ({name: tensor}, InputSpecs)."""
    found, specs = {}, []
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    names = {}
    for node in [n for n in graph.nodes if n.op == "get_attr"]:
        path = node.target
        if path not in names:
            lifted = path.startswith(("_tensor_constant", "_param_constant"))
            name = f"lifted_tensor_{len(specs)}" if lifted else path
            first_user = next((n for n in placeholders if not n.name.startswith(("p_", "b_"))), None)
            with graph.inserting_before(first_user or next(iter(graph.nodes))):
                made = graph.placeholder(f"c_{name.replace('.', '_')}")
            made.meta.update(node.meta)
            names[path] = made
            found[name] = constants[path].detach()
            specs.append(InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(made.name), name))
        node.replace_all_uses_with(names[path])
        graph.erase_node(node)
    return found, specs


# ------------------------------------------------------------------ sizes in the graph
def _name_sizes(recordings, sizes):
    """Gives each node of the first graph its shape in symbols (meta["val"]), and replaces the sizes that it reads by
    numbers where they do not vary, and by sym_size nodes where they do."""
    nodes = [list(r.graph.nodes) for r in recordings]
    values = [_integers(r.graph) for r in recordings]
    graph = recordings[0].graph
    for row in zip(*nodes):
        node = row[0]
        if node in values[0]:
            seen = [v[n] for v, n in zip(values, row)]
            node.meta["val"] = _fit(seen, sizes, node)
        elif "val" in node.meta:
            shapes = [n.meta["val"][0] for n in row]
            shape = tuple([_fit([s[d] for s in shapes], sizes, node) for d in range(len(shapes[0]))])
            node.meta["val"] = shape, node.meta["val"][1]
            if node.target is operator.getitem:
                node.args[0].meta.setdefault("parts", {})[node.args[1]] = node.meta["val"]
    for node in list(graph.nodes):
        value = node.meta.get("val")
        if isinstance(value, int):
            for user in list(node.users):
                user.args, user.kwargs = [map_arg(a, lambda n: value if n is node else n)
                                          for a in (user.args, user.kwargs)]
            graph.erase_node(node)
        elif isinstance(value, Expression) and node.target is ops.aten.size.int:
            node.target = ops.aten.sym_size.int


def _fit(seen, sizes, node):
    found = fitted(seen, sizes)
    if found is None:
        raise NotImplementedError(f"torch.export.export: the size of {node.name} is no sum and no product of the sizes "
                                  f"that vary: it is {', '.join(map(str, seen))} for {sizes}")
    return found


def _integers(graph: Graph) -> dict[Node, int]:
    """The values of the nodes that are sizes, or are computed from sizes."""
    found = {}

    def value(x):
        return found[x] if isinstance(x, Node) else x
    for node in graph.nodes:
        if node.op != "call_function" or "val" in node.meta:
            continue
        if node.target is ops.aten.size.int:
            source, dim = node.args
            found[node] = int(source.meta["val"][0][dim])
        elif node.target in _ARITHMETIC and all([not isinstance(x, Node) or x in found for x in node.args]):
            found[node] = int(node.target(*[value(x) for x in node.args]))
    return found


_ARITHMETIC: Sequence = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)
