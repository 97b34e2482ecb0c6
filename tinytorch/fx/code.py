"""A graph as Python source."""
import operator
import typing
from dataclasses import dataclass
from types import UnionType
from typing import Any, NamedTuple

from ..utils import _pytree as pytree
from . import _pytree
from .names import OWN_NAMES, Namespace, qualified
from .node import Node, map_arg

_BINARY = {"add": "+", "and_": "&", "eq": "==", "floordiv": "//", "ge": ">=", "gt": ">", "le": "<=", "lshift": "<<",
           "lt": "<", "matmul": "@", "mod": "%", "mul": "*", "ne": "!=", "or_": "|", "pow": "**", "rshift": ">>",
           "sub": "-", "truediv": "/", "xor": "^"}
_UNARY = {"invert": "~", "neg": "-", "pos": "+"}
#: The text of calls of Python's operators.
_WRITTEN = {getattr(operator, name): f"{{}} {sign} {{}}" for name, sign in _BINARY.items()}
_WRITTEN |= {getattr(operator, name): sign + "{}" for name, sign in _UNARY.items()}
_WRITTEN[operator.getitem] = "{}[{}]"
_IN_PLACE = {getattr(operator, "i" + name.rstrip("_")): f"{{}} {sign}= {{}}" for name, sign in _BINARY.items()
             if hasattr(operator, "i" + name.rstrip("_"))}


@dataclass
class PythonCode:
    """A program: its text, and the values of the global names in it."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int] | None = None
    _wrapped: tuple[str, ...] = ()


def attribute(owner, path):
    """owner.a.b as an expression. Names that are not Python identifiers are read by getattr()."""
    for part in path.split("."):
        owner = f"{owner}.{part}" if part.isidentifier() else f'getattr({owner}, "{part}")'
    return owner


class _Written(str):
    """The text of an expression. Its repr is the text."""

    __repr__ = str.__str__


class _Line(str):
    """A line of a program, and the number of its node."""

    def __new__(cls, text, number):
        made = super().__new__(cls, text)
        made.number = number
        return made


class _Writer:
    """Writes one graph."""

    def __init__(self, root, codegen):
        from .. import device
        self.codegen = codegen
        torch = __import__(__package__.partition(".")[0])
        self.root, self.lines, self.result, self.arguments, self.renamed, self.wrapped = root, [], "", [], [], []
        self.names = Namespace()
        own = (float("inf"), float("nan"), type(None), torch, device, _pytree, pytree)
        self.globals = dict(zip(OWN_NAMES, own, strict=True))

    # ------------------------------------------------------------- words
    def name(self, spelled, value):
        """The name of the value in the program."""
        if spelled.startswith("torch.") and self._is_torch(spelled, value):
            return spelled
        name = self.names.create_name(spelled.replace(".", "_"), value)
        self.globals[name] = value
        return name

    def _is_torch(self, spelled, value):
        found = self.globals["torch"]
        for part in spelled.split(".")[1:]:
            found = getattr(found, part, None)
        return found is value or callable(value) and found == value

    def kind(self, kind):
        """A type as an annotation."""
        if isinstance(kind, UnionType):
            return "|".join(map(self.kind, kind.__args__))
        origin = getattr(kind, "__origin__", None)
        if kind == ():
            return "()"
        if origin is None:
            name = getattr(kind, "_name", None)
            if getattr(kind, "__module__", "") == "typing" and name:
                return self.name(f"typing.{name}", kind)
            if isinstance(kind, typing.ForwardRef):
                return self.name(repr(kind), kind)
            return self.name(qualified(kind), kind) if isinstance(kind, type) else self.value(kind)
        outer = getattr(typing, origin.__name__.title(), origin) if origin in (list, dict, tuple) else origin
        text = self.name(f"typing.{getattr(outer, '_name', None) or outer.__name__}", outer)
        return f"{text}[{','.join(map(self.kind, kind.__args__))}]" if kind.__args__ else text

    def value(self, value):
        """An argument as an expression."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.name(qualified(type(value)), type(value))}({', '.join(map(self.value, value))})"
        if isinstance(value, tuple):
            return "(" + ", ".join(map(self.value, value)) + (",)" if len(value) == 1 else ")")
        if isinstance(value, list):
            return "[" + ", ".join(map(self.value, value)) + "]"
        if isinstance(value, dict):
            return "{" + ", ".join([f"{key!r}: {self.value(item)}" for key, item in value.items()]) + "}"
        if isinstance(value, slice):
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
        if isinstance(value, type) or callable(value) and hasattr(value, "__name__"):
            return self.name(qualified(value), value)
        text = repr(value)
        if text.startswith("<"):                                   # not an expression: the program gets the value
            return self.name(f"_{type(value).__name__}", value)
        return text

    def call(self, args, kwargs):
        """The arguments of a call."""
        return ", ".join([*map(self.value, args), *[f"{key} = {self.value(x)}" for key, x in kwargs.items()]])

    # ------------------------------------------------------------- nodes
    def write(self, node, last):
        """Writes the line of a node. `last`: the nodes that no later node uses."""
        kind = f" : {self.kind(node.type)}" if node.type is not None else ""
        if node.op == "placeholder":
            default = f" = {self.value(node.args[0])}" if node.args else ""
            self.arguments.append(f"{node.target}{kind}{default}")
            raw = node.target.lstrip("*")
            if raw != node.name:
                self.lines.append(f"{node} = {raw}")
        elif node.op == "output":
            self.result = f" -> {self.kind(node.type)}" if node.type is not None else ""
            self.lines.append(self.codegen.generate_output(_Written(self.value(node.args[0]))))
        else:
            done = f";  {' = '.join([repr(x) for x in last])} = None" if last else ""
            self.lines.append(self.expression(node, kind) + done)

    def expression(self, node, kind):
        """The statement of a node."""
        args = node.args
        if node.op == "get_attr":
            return f"{node}{kind} = {attribute(self.root, node.target)}"
        if node.op == "call_module":
            return f"{node}{kind} = {attribute(self.root, node.target)}({self.call(args, node.kwargs)})"
        if node.op == "call_method":
            return f"{node}{kind} = {self.value(args[0])}.{node.target}({self.call(args[1:], node.kwargs)})"
        if node.target in _WRITTEN:
            return f"{node}{kind} = {_WRITTEN[node.target].format(*map(self.value, args))}"
        if node.target in _IN_PLACE:
            written = _IN_PLACE[node.target].format(*map(self.value, args))
            return f"{written};  {node}{kind} = {self.value(args[0])}"
        name = self.name(qualified(node.target), node.target)
        if node.meta.get("is_wrapped") and name not in self.wrapped:
            self.wrapped.append(name)
        if node.target is getattr and isinstance(args[0], Node) and isinstance(args[1], str) and (
                args[1].isidentifier() and len(args) == 2):
            return f"{node}{kind} = {attribute(self.value(args[0]), args[1])}"
        return f"{node}{kind} = {name}({self.call(args, node.kwargs)})"


class CodeGen:
    """Writes graphs as a function `forward`. Subclasses may override its first line (`gen_fn_def`), its last line
    (`generate_output`) and the global names of these lines (`additional_globals`). `process_inputs` and
    `process_outputs` do the same with arguments and results for a caller that runs the graph node by node."""

    _body_transformer = None
    _func_name = "forward"

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The first line, for arguments that are already text. It may contain further lines."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args):
        """The last line, which returns the result of the graph."""
        return f"return {output_args!r}"

    def process_inputs(self, *args):
        """The arguments of the graph for arguments of the function."""
        return args

    def process_outputs(self, outputs):
        """The result of the function for a result of the graph."""
        return outputs

    def additional_globals(self):
        """[(name, value)]: the global names that its lines use."""
        return []

    def write(self, nodes, root):
        """The program of the nodes, which reads attributes from `root` ("self")."""
        last_user, last = {}, {}
        for node in reversed(nodes):
            def used(used_node, node=node):
                if used_node not in last_user:
                    last_user[used_node] = node
                    last.setdefault(node, []).append(used_node)
                return used_node
            map_arg(node.args, used)
            map_arg(node.kwargs, used)
        writer = _Writer(root, self)
        writer.globals.update(self.additional_globals())
        for number, node in enumerate(nodes):
            count = len(writer.lines)
            unused = [node] if not node.users and node.op not in ("placeholder", "output") else []
            writer.write(node, last.get(node, []) + unused)
            writer.lines[count:] = [_Line(f"{line}\n", number) for line in writer.lines[count:]]
        lines = writer.lines or ["pass\n"]
        if self._body_transformer is not None:
            lines = self._body_transformer(lines)
        body = "".join([f"    {line}" for line in lines]) + "    "
        wrapped = "\n".join([f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped])
        head = self.gen_fn_def(writer.arguments, writer.result)
        text = f"\n{wrapped}\n\n{head}\n{body}" if wrapped else f"\n\n\n{head}\n{body}"
        start = head.count("\n") + 1
        places = {start + i: line.number for i, line in enumerate(lines) if isinstance(line, _Line)}
        return PythonCode(text, writer.globals, places, tuple(writer.wrapped))


class _PyTreeInfo(NamedTuple):
    """The names of a function's arguments, and the structures of its arguments and results."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """Writes a function that takes nested arguments apart for its graph, and rebuilds the nested result."""

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        """The leaves of the arguments."""
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out):
        """The results in their nested structure."""
        if self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        """The first line, and a line that takes the arguments apart."""
        names = self.pytree_info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        head = super().gen_fn_def(names[:], maybe_return_annotation)
        if not free_vars:
            return head
        typed = [x for x in free_vars if ":" in x]
        if typed:
            head += "\n    " + "".join([f"{x}; " for x in typed]) + "\n"
        free = ", ".join([x.split(":")[0] for x in free_vars])
        return f"{head}\n    {free}, = fx_pytree.tree_flatten_spec([{', '.join(names)}], self._in_spec)"

    def generate_output(self, output_args):
        """The last line, which rebuilds the nested result."""
        if not self.pytree_info.out_spec:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"
