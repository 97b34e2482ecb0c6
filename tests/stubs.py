"""Writes tinytorch/__init__.pyi and tinytorch/tensor.pyi, which tell editors and type checkers what there is, from the
functions as they are called and the annotations above their definitions.

    python -m tests.stubs
"""
import inspect
import re
import sys
import types
from pathlib import Path

import tinytorch
from tinytorch import dtypes
from tinytorch.ops.creation import legacy

ROOT = Path(tinytorch.__file__).parent
tensor = sys.modules["tinytorch.tensor"]    # tinytorch.tensor is the function of that name

#: Annotations as they stand in the sources -> in the stubs, where `float` is a dtype and `int` a method.
_WORDS = {"int": "_int", "float": "_float", "bool": "_bool", "complex": "_complex", "dt.dtype": "_dtype",
          "dtype": "_dtype", "device": "_device", "dt.device": "_device", "Self": "Tensor",
          "Extent": "_int", "Extents": "Ints"}
#: What else may stand in an annotation.
_KNOWN = {"Tensor", "Tensors", "Ints", "Number", "None", "str", "tuple", "list", "dict", "Any", "Size", "Generator",
          "ndarray", "Callable", "Sequence", "Iterator", "Iterable", "Device", "object", *_WORDS.values()}
#: Where the names in the stubs come from.
_SOURCES = {"collections.abc": ("Callable", "Iterable", "Iterator", "Sequence"),
            "types": ("ModuleType",), "typing": ("Any",),
            "numpy": ("ndarray",), ".": ("return_types",), ".random": ("Generator",), ".tensor": ("Size", "Tensor"),
            ".types": ("Device", "Ints", "Number", "Tensors", "_bool", "_complex", "_device", "_dtype", "_float",
                       "_int")}


def _with_imports(text):
    """The text of a stub below the imports that it needs."""
    lines = ["# Written by tests/stubs.py. Do not edit."]
    for source, names in _SOURCES.items():
        used = [n for n in names if re.search(rf"(?<![\w.]){n}\b", text) and f"import {n} as" not in text
                and f"class {n}" not in text]
        lines += [f"from {source} import {n} as {n}" for n in used]
    return "\n".join(lines) + "\n\n" + text


#: Operators of two numbers, which take less than the functions that do their work.
_OPERATOR = re.compile(
    "__([ri]?(add|sub|mul|truediv|floordiv|mod|pow|lshift|rshift|and|or|xor|div)|eq|ne|lt|le|gt|ge)__")


def type_of(annotation):
    """An annotation as the stubs have it; Any where it names what they do not know."""
    if annotation is inspect.Parameter.empty:
        return None
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"(?<![\w.])(?:\w+\.)*\w+", lambda m: _WORDS.get(m[0], m[0]), text.strip("'\""))
    names = set(re.findall(r"(?<![\w.])(?:\w+\.)*\w+", text))
    unknown = {n for n in names if n not in _KNOWN and not n.startswith("return_types.") and not n.isdigit()}
    return "Any" if unknown else text


def _default(value):
    plain = value is None or isinstance(value, (bool, int, float, str)) and repr(value) not in ("inf", "nan", "-inf")
    return repr(value) if plain else "..."


def arguments(signature, method, spread=False):
    """The text between the brackets of a `def`; `spread`: the ints of its first argument may be given one by one."""
    parts, starred, slash = [], False, False
    parameters = list(signature.parameters.values())
    if method:
        if parameters and parameters[0].kind in (parameters[0].POSITIONAL_ONLY, parameters[0].POSITIONAL_OR_KEYWORD):
            parameters = parameters[1:]
        parts.append("self")
    for p in parameters:
        if slash and p.kind != p.POSITIONAL_ONLY:
            parts.append("/")
        slash = p.kind == p.POSITIONAL_ONLY
        if p.kind == p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        kind, text = type_of(p.annotation), p.name
        if p.kind == p.VAR_POSITIONAL:
            text, starred = "*" + text, True
        elif p.kind == p.VAR_KEYWORD:
            text = "**" + text
        text += f": {kind}" if kind else ""
        if p.default is not p.empty:
            absent = p.default is None and kind and not {"None", "Any"} & set(re.findall(r"\w+", kind))
            text += (" = " if kind else "=") + ("..." if absent else _default(p.default))
        parts.append(text)
        if spread and p is parameters[0]:
            parts.append("*more: _int")
            starred = True
    return ", ".join(parts + ["/"] * slash)


def _is_spread(function):
    while function is not None and not hasattr(function, "record"):
        function = getattr(function, "__wrapped__", None)
    return function is not None and function.record.spread


def definition(name, function, method=False, indent=""):
    """The lines of a function, or of a method of Tensor."""
    signature = inspect.signature(function)
    result = type_of(signature.return_annotation) or "Any"
    given = arguments(signature, method, method and _is_spread(function))
    ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    if name == "__init__":
        result = "None"
    if _OPERATOR.fullmatch(name):
        result, given = "Tensor", "self, other: Tensor | Number"
    line = f"{indent}def {name}({given}) -> {result}: ...{ignored}"
    if len(line) <= 120:
        return [line]
    return [f"{indent}def {name}(", *[f"{indent}    {part}," for part in _split(given)], f"{indent}) -> {result}: ..."]


def _split(text):
    """Arguments apart, at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def _is_function(value):
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType))


def tensor_stub():
    """tensor.pyi: the class with its methods, which other files put there, and the functions of the file."""
    lines = []
    for name, value in sorted(vars(tensor).items()):
        if _is_function(value) and value.__module__ == tensor.__name__:
            lines += definition(name, value)
    lines += ["new_instance: Any", "new_tensor_state: Any"]      # what else others import from there
    lines += ["", "", "class Size(tuple[_int, ...]):", "    def numel(self) -> _int: ...", "", "", "class Tensor:"]
    for name, value in sorted({**vars(tensor._Slots), **vars(tensor.Tensor)}.items()):
        if name in tensor._Slots.__slots__:    # `_array` is a property on 32-bit machines
            value = None
        lines += _member(name, value)
    return _with_imports("\n".join(lines) + "\n")


_NOT_SHOWN = {"__doc__", "__module__", "__slots__", "__weakref__", "__dict__", "__annotations__", "__firstlineno__",
              "__static_attributes__", "__new__", "__reduce_ex__", "__class__", "__getitem_size__"}


def _member(name, value):
    if name in _NOT_SHOWN:
        return []
    if isinstance(value, property):
        result = type_of(inspect.signature(value.fget).return_annotation) or "Any"
        lines = ["    @property", f"    def {name}(self) -> {result}: ..."]
        if value.fset:
            lines += [f"    @{name}.setter", f"    def {name}(self, value: {result}) -> None: ..."]
        return lines
    if isinstance(value, (staticmethod, classmethod)):
        return [f"    {name}: Any"]
    if _is_function(value):
        return definition(name, value, True, "    ")
    return [f"    {name}: Any"]


#: Parts of the package that are no part of torch's.
_INTERNAL = {"arguments", "capture", "checkpoint", "dtypes", "environment", "errors", "kernels", "kinds",
             "memory_format", "missing", "ops", "printing", "runtime", "seam", "tensor"}


def _is_standin(module):
    """Whether type checkers find no file for a module: those of tinytorch/standins."""
    return "standins" in Path(sys.modules[module].__file__ or "").parts


def package_stub():
    """__init__.pyi: every public name of the package."""
    modules, classes, values, functions = [], [], [], []
    for name in dir(tinytorch):
        value = getattr(tinytorch, name)
        if name.startswith("_") and name != "__version__":
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__.startswith(tinytorch.__name__ + ".") and name not in _INTERNAL:
                standin = _is_standin(value.__name__)
                modules.append(f"{name}: ModuleType" if standin else f"from . import {name} as {name}")
        elif value in legacy.TYPES.values():
            values.append(f"{name}: type[Tensor]")
        elif getattr(value, "__name__", name) in vars(tinytorch.storage)["_KINDS"]:      # made when asked for
            values.append(f"{name}: type[TypedStorage]")
        elif isinstance(value, type) and value.__module__.startswith(tinytorch.__name__ + "."):
            room = value.__module__
            classes.append(f"{name}: Any" if _is_standin(room) else
                           f"from {room.removeprefix('tinytorch')} import {value.__name__} as {name}")
        elif _is_function(value):
            functions += definition(name, value)
        else:
            kind = {dtypes.dtype: "_dtype", float: "_float", str: "str"}.get(type(value), "Any")
            values.append(f"{name}: {kind}")
    return _with_imports("\n".join([*modules, *classes, "", *values, "", *functions]) + "\n")


STUBS = {"__init__.pyi": package_stub, "tensor.pyi": tensor_stub}

if __name__ == "__main__":
    for path, make in STUBS.items():
        (ROOT / path).write_text(make(), encoding="utf-8")
