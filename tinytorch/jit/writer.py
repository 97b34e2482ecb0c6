"""Graphs and modules as the code of a TorchScript archive: one class for each module, a method for each graph."""
from __future__ import annotations

import json
import keyword
import math
import operator
import re
from typing import Any

from .. import dtypes as dt
from ..capture.schema import LAYOUTS, MEMORY_FORMATS, SCALAR_TYPES
from ..capture.twice import Recording
from ..device import device
from ..fx.node import Node
from ..memory_format import layout, memory_format
from ..nn import Module
from ..tensor import Tensor

__all__ = ["ModuleWriter"]

_INTEGERS = {operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.floordiv: "floordiv",
             operator.mod: "remainder"}
_TAKEN = {"self", "torch", "ops", "CONSTANTS", "inf", "nan", "annotate", "int", "float", "bool", "str", "list", "range",
          "getattr", "len", "print", "isinstance", "uninitialized", "unchecked_cast", "Tensor", "List", "Dict", "Tuple",
          "Optional", "fork", "complex", "Device", "number", "t"}
_WORD = re.compile(r"[A-Za-z_]\w*$", re.ASCII)


def _is_word(name):
    return _WORD.match(name) is not None and not keyword.iskeyword(name)


class ModuleWriter:
    """Writes the classes of a module and of its submodules. `files`: {name of a file: text}; `constants`: the constants
    that the code refers to."""

    def __init__(self) -> None:
        self.files, self.constants, self.names = {}, [], {}

    def write(self, module: Module, methods: dict[str, Recording]) -> str:
        """Writes the class of a module with these methods, and returns its name."""
        for child in module.children():
            if id(child) not in self.names:
                self.write(child, {})
        kind = type(module).__name__
        kind = kind if _is_word(kind) else "Module"
        place = f"__torch__.___torch_mangle_{len(self.names)}"
        name = self.names[id(module)] = f"{place}.{kind}"
        own = [(key, "Tensor" if p is not None else "NoneType") for key, p in module._parameters.items()]
        buffers = [(key, "Tensor" if b is not None else "NoneType") for key, b in module._buffers.items()]
        children = [(key, self.names[id(child)]) for key, child in module._modules.items() if child is not None]
        lines = [f"class {kind}(Module):",
                 "  __parameters__ = [" + "".join([f"{json.dumps(k)}, " for k, t in own if t == "Tensor"]) + "]",
                 "  __buffers__ = [" + "".join([f"{json.dumps(k)}, " for k, t in buffers if t == "Tensor"]) + "]"]
        for key, declared in [*own, *buffers, ("training", "bool"), *children]:
            lines.append(f"  {key} : {declared}" if _is_word(key) else
                         f"  __annotations__[{json.dumps(key)}] = {declared}")
        for method, recording in methods.items():
            lines += [f"  {line}" for line in _Method(self, name, method, recording).lines]
        self.files[place] = "\n".join(lines) + "\n"
        return name


class _Method:
    """Writes one graph as a method."""

    def __init__(self, writer, class_name, name, recording):
        self.writer, self.recording, self.names = writer, recording, {}
        self.used, self.paths = set(_TAKEN), {"": "self"}
        self.lines, body = [], []
        self.body = body
        arguments = self._arguments(recording.inputs)
        output = None
        for node in recording.graph.nodes:
            if node.op == "get_attr":
                self._get(node)
            elif node.op == "call_function":
                self._call(node)
            elif node.op == "output":
                output = node.args[0]
        text, kind = self._result(output)
        self.lines = [f"def {name}(self: {class_name}" + "".join([f",\n    {key}: {of}" for key, of in arguments])
                      + f") -> {kind}:", *["  " + line for line in body], f"  return {text}"]
        self.lines = "\n".join(self.lines).split("\n")

    def name(self, wanted):
        """A name that is not in use."""
        wanted = re.sub(r"\W", "_", wanted, flags=re.ASCII) or "_"
        wanted = wanted if not wanted[0].isdigit() else f"_{wanted}"
        made, n = wanted, 0
        while made in self.used or keyword.iskeyword(made):
            made, n = f"{wanted}{n}", n + 1
        self.used.add(made)
        return made

    # ------------------------------------------------------------- arguments and results
    def _arguments(self, inputs):
        args, kwargs = inputs
        found = []
        parameters = self.recording.parameters
        for name, x in [*zip(parameters, args), *kwargs.items()]:
            if isinstance(x, Node):
                self.names[x] = self.name(name)
                found.append((self.names[x], "Tensor"))
            else:
                given = self.name(name)
                found.append((given, self._unpack(given, x)))
        return found

    def _unpack(self, given, x):
        """Names the tensors in an argument, and returns its type."""
        if isinstance(x, Node):
            return "Tensor"
        if isinstance(x, dict):
            kinds = []
            for key, y in x.items():
                inner = self.names[y] = self.name(str(key)) if isinstance(y, Node) else self.name(str(key))
                self.body.append(f"{inner} = {given}[{json.dumps(key)}]")
                kinds.append(self._unpack(inner, y))
            return f"Dict[str, {_one(kinds)}]"
        if isinstance(x, (tuple, list)) and x:
            inner = []
            for i, y in enumerate(x):
                inner.append(self.name(f"{given}_{i}"))
                if isinstance(y, Node):
                    self.names[y] = inner[-1]
            self.body.append(", ".join(inner) + f", = {given}")
            kinds = [self._unpack(name, y) for name, y in zip(inner, x)]
            return f"Tuple[{', '.join(kinds)}]" if isinstance(x, tuple) else f"List[{_one(kinds)}]"
        raise RuntimeError(f"Type '{_type_of(x)}' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, "
                           "and Tuples of Tensors can be traced")

    def _result(self, x):
        if isinstance(x, Node):
            if x.target in _INTEGERS or _is_size(x):
                return f"ops.prim.NumToTensor({self.names[x]})", "Tensor"
            return self.names[x], "Tensor"
        if isinstance(x, dict) and x and all([isinstance(key, str) for key in x]):
            items = [(key, *self._result(y)) for key, y in x.items()]
            inner = _one([kind for _, _, kind in items])
            text = ", ".join([f"{json.dumps(key)}: {text}" for key, text, _ in items])
            return "{" + text + "}", f"Dict[str, {inner}]"
        if isinstance(x, (tuple, list)) and x:
            parts = [self._result(y) for y in x]
            texts, kinds = [text for text, _ in parts], [kind for _, kind in parts]
            if isinstance(x, tuple):
                return f"({', '.join(texts)}{',' * (len(texts) == 1)})", f"Tuple[{', '.join(kinds)}]"
            return f"[{', '.join(texts)}]", f"List[{_one(kinds)}]"
        raise RuntimeError("Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced "
                           "functions")

    # ------------------------------------------------------------- nodes
    def _get(self, node):
        constants = self.recording.constants
        if node.target in constants:
            tensor = constants[node.target]
            if tensor.requires_grad:
                raise RuntimeError("Cannot insert a Tensor that requires grad as a constant. Consider making it a "
                                   "parameter or input, or detaching the gradient\nTensor:\n" + str(tensor))
            place = next((i for i, x in enumerate(self.writer.constants) if x is tensor), None)
            if place is None:
                place = len(self.writer.constants)
                self.writer.constants.append(tensor)
            self.names[node] = f"CONSTANTS.c{place}"
            return
        owner, _, last = node.target.rpartition(".")
        self.names[node] = self.name(last)
        self.body.append(f"{self.names[node]} = {self._member(self._path(owner), last)}")

    def _path(self, path):
        """The name of the variable that holds a submodule."""
        if path not in self.paths:
            owner, _, last = path.rpartition(".")
            held = self._member(self._path(owner), last)
            self.paths[path] = self.name(last)
            self.body.append(f"{self.paths[path]} = {held}")
        return self.paths[path]

    @staticmethod
    def _member(owner, name):
        return f"{owner}.{name}" if _is_word(name) else f"getattr({owner}, {json.dumps(name)})"

    def _call(self, node):
        if node.target is operator.getitem:
            return                             # named where its list is unpacked
        if node.target in _INTEGERS:
            self.names[node] = self.name("n")
            self.body.append(f"{self.names[node]} = torch.{_INTEGERS[node.target]}"
                             f"({', '.join([self._text(x, 'int') for x in node.args])})")
            return
        form = node.target._schema
        kinds = {argument.name: argument.kind for argument in form.arguments}
        args = [self._text(x, argument.kind) for x, argument in zip(node.args, form.arguments)]
        if form.name == "to":
            args += [self._text(argument.default, argument.kind) for argument in form.arguments[len(args):]]
        args += [f"{key}={self._text(x, kinds[key])}" for key, x in node.kwargs.items()]
        name = {"lift_fresh_copy": "clone"}.get(form.name, form.name)
        self.body.append(f"{self._targets(node, form)} = torch.{name}({', '.join(args)})")

    def _targets(self, node, form):
        if form.results == ["Tensor"] or form.results == ["int"]:
            self.names[node] = self.name(node.name)
            return self.names[node]
        count = len(form.results) if form.tuple else node.meta["count"]
        names = [None] * count
        for user in node.users:
            if user.target is operator.getitem:
                names[user.args[1]] = self.names[user] = names[user.args[1]] or self.name(node.name)
        names = [self.name("_unused") if name is None else name for name in names]
        return ", ".join(names) + ","

    def _text(self, x, kind):
        """The code of an argument whose type in the schema is `kind`."""
        if isinstance(x, Node):
            return self.names[x]
        if x is None:
            return "None"
        if isinstance(x, (list, tuple)):
            inner = kind.rstrip("?")
            inner = inner[:inner.rindex("[")] if inner[-1] == "]" else "Tensor"
            text = f"[{', '.join([self._text(y, inner) for y in x])}]"
            of = {"Tensor?": "Optional[Tensor]", "Scalar": "number"}.get(inner, inner)
            return f"annotate(List[{of}], {text})" if not x or inner[-1] == "?" else text
        if isinstance(x, bool) or isinstance(x, int) and "float" not in kind:
            return str(x) if isinstance(x, bool) else str(int(x))
        if isinstance(x, (int, float)):
            return _float(float(x))
        if isinstance(x, str):
            return json.dumps(x)
        if isinstance(x, dt.dtype):
            return str(SCALAR_TYPES.index(x))
        if isinstance(x, layout):
            return str(LAYOUTS.index(x))
        if isinstance(x, memory_format):
            return str(MEMORY_FORMATS.index(x))
        if isinstance(x, device):
            return f"torch.device({json.dumps(str(x))})"
        raise NotImplementedError(f"an argument of type {type(x).__name__} cannot be written as TorchScript")


def _float(x):
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    text = repr(x)
    return text if "." in text or "e" in text else text + "."


def _is_size(node):
    return getattr(node.target, "__name__", "") in ("size.int",)


def _one(kinds):
    if len(set(kinds)) > 1:
        raise RuntimeError(f"a list or dict of {' and '.join(sorted(set(kinds)))} cannot be traced: its elements must "
                           "be of one type")
    return kinds[0] if kinds else "Tensor"


def _type_of(x: Any) -> str:
    return type(x).__name__ if not isinstance(x, Tensor) else "Tensor"
