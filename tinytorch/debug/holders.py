"""What holds an object: the shortest chain of references to it from a variable of the program.

The walk begins at the variables of running functions, then at those of modules. It follows the references that Python's
garbage collector follows, and the reference of an array to the array that owns its memory, which the collector does not
know.
"""
from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from ..autograd.node import Node
from ..autograd.saved import saved_names
from ..tensor import Tensor

_PACKAGE = __name__.partition(".")[0]
#: Types that hold no wanted object, or only objects that are reached in another way.
_LEAVES = (str, bytes, int, float, complex, bool, type(None), CodeType, BuiltinFunctionType, np.dtype, re.Pattern)
#: Attributes of tensors and their public names.
_SHOWN = {"_node": "grad_fn", "_grad": "grad"}
_REGISTRY = re.compile(r"\._(?:parameters|buffers|modules)\['(\w+)'\]")


class _Root:
    """A namespace at which the walk begins. `text` describes a variable of it, whose name takes the place of {}."""

    __slots__ = ("names", "text")

    def __init__(self, names: dict[str, Any], text: str) -> None:
        self.names, self.text = names, text


def _roots() -> Iterator[_Root]:
    """The variables of running functions, outermost last, and of modules, those of the program first."""
    seen = set()
    modules = [(name, vars(module)) for name, module in list(sys.modules.items()) if isinstance(module, ModuleType)]
    named = {id(names): name for name, names in modules}
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            if frame.f_globals.get("__name__", "").partition(".")[0] != _PACKAGE:
                if id(frame.f_globals) not in seen:
                    seen.add(id(frame.f_globals))
                    module = named.get(id(frame.f_globals), frame.f_globals.get("__name__", "?"))
                    yield _Root(frame.f_globals, f"the variable {{}} of module {module}")
                if frame.f_locals is not frame.f_globals:
                    yield _Root(dict(frame.f_locals), f"the variable {{}} of {frame.f_code.co_name}, which runs")
            frame = frame.f_back
    modules.sort(key=lambda item: item[0].partition(".")[0] == _PACKAGE)
    for name, names in modules:
        if id(names) not in seen:
            seen.add(id(names))
            yield _Root(names, f"the variable {{}} of module {name}")


def holders_of(objects: Iterable[Any]) -> dict[int, str]:
    """{id of an object: the chain of references to it, in words}."""
    wanted = {id(x): x for x in objects}
    if not wanted:
        return {}
    parents: dict[int, Any] = {id(wanted): None}               # id -> what refers to it: a root or an object
    level: list[Any] = []
    for root in _roots():
        parents.setdefault(id(root.names), None)
        for x in root.names.values():
            if id(x) not in parents and type(x) not in _LEAVES:
                parents[id(x)] = root
                level.append(x)
    kept, missing = list(level), set(wanted) - set(parents)
    while level and missing:
        below = []
        for x in level:
            for y in _referents(x):
                if id(y) not in parents and type(y) not in _LEAVES:
                    parents[id(y)] = x
                    below.append(y)
                    missing.discard(id(y))
        level = below
        kept += below                          # kept alive, so that no id is used again
    return {key: _text(x, parents) for key, x in wanted.items()}


def _referents(x):
    kind = type(x)                             # type() and not __class__, which an object may replace
    if issubclass(kind, np.ndarray):
        return () if x.base is None else (x.base,)
    if issubclass(kind, ModuleType):           # its variables are roots
        return ()
    return gc.get_referents(x)


def _text(x, parents):
    if id(x) not in parents:
        return "something that no variable leads to: an object of an extension, or an unfinished call"
    way = [x]
    while not isinstance(way[-1], _Root):
        way.append(parents[id(way[-1])])
    root, *way = way[::-1]
    name = next((key for key, value in root.names.items() if value is way[0]), "?")
    text, i, attributes = root.text.format(name), 0, None
    if len(way) > 1 and not (issubclass(type(way[0]), Tensor) and way[1] is way[0]._array):
        text += ": "
    while i < len(way) - 1:
        if issubclass(type(way[i]), Node):
            i, step = _in_graph(way, i)
        elif type(way[i]) is FunctionType and way[i + 1] is way[i].__closure__:
            function, cell = way[i], way[i + 2]
            i, step = i + 2, f", in whose closure {function.__code__.co_freevars[function.__closure__.index(cell)]}"
        else:
            step, attributes = _step(way[i], way[i + 1], attributes)
            i += 1
        text += step
    return _REGISTRY.sub(r".\1", text)


def _in_graph(way, start):
    """(the position at which a chain goes on after nodes of the tape, this part of it in words)."""
    i, count = start, 0
    while i + 2 < len(way) and way[i + 1] is way[i].edges and isinstance(way[i + 2], Node):
        i, count = i + 2, count + 1
    node, text = way[i], f", {count} node{'s' * (count > 1)} down" if count else ""
    text += f" {node.name()}" if count else f" ({node.name()})"
    if i + 2 < len(way) and way[i + 1] is node.saved:
        names = {place: name for name, place in saved_names(node).items()}
        place = next((k for k, x in enumerate(node.saved) if x is way[i + 2]), None)
        return i + 2, f"{text}, which has saved {names.get(place, '_saved_for_it').removeprefix('_saved_')}"
    if i + 2 < len(way) and way[i + 1] is node.edges:
        return i + 2, f"{text}, which leads to a leaf"
    step, _ = _step(node, way[i + 1], None)
    return i + 1, text + step


def _step(holder, held, attributes):
    """(how `holder` refers to `held`, in words; `held` if it is a dictionary of attributes, else None)."""
    # `attributes` is the dictionary that the previous step led to: its keys are names of attributes. The kinds of
    # holders are asked for in this order: such a dictionary; an object whose dictionary is `held`; a dict; a list or
    # tuple; an array, a cell or a tensor's array; a function; a method; a frame; then any object with attributes.
    kind = type(holder)
    if holder is attributes:
        return _attribute(next((key for key, value in holder.items() if value is held), "?")), None
    if type(held) is dict and (issubclass(kind, type) or _dictionary(holder) is held):
        return "", held
    if issubclass(kind, dict):
        return next((f"[{key!r}]" for key, value in holder.items() if value is held), ", among its keys"), None
    if issubclass(kind, (list, tuple)):
        return next((f"[{i}]" for i, value in enumerate(holder) if value is held), "[?]"), None
    if issubclass(kind, (np.ndarray, CellType)) or issubclass(kind, Tensor) and held is holder._array:
        return "", None                        # the memory of a view or of a tensor
    if kind is FunctionType:
        return (", in whose defaults " if held is holder.__defaults__ or held is holder.__kwdefaults__ else ""), None
    if kind is MethodType:
        return ".__self__" if held is holder.__self__ else "", None
    if kind is FrameType or kind is GeneratorType:
        return _of_frame(holder, held), None
    for name in _names(holder):
        try:
            if object.__getattribute__(holder, name) is held:
                return _attribute(name), None
        except AttributeError:
            pass
    return f" (in a {kind.__name__})", None


def _dictionary(x):
    """The `__dict__` of an object, or None."""
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None


def _attribute(name):
    return f".{_SHOWN.get(name, name)}"


def _names(x):
    """The names of the attributes of an object, including those in slots."""
    yield from _dictionary(x) or ()
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


def _of_frame(holder, held):
    frame = holder.gi_frame if isinstance(holder, GeneratorType) else holder
    name = None if frame is None else next((key for key, value in frame.f_locals.items() if value is held), None)
    return "" if name is None else f", the variable {name} of {frame.f_code.co_name}, which is not finished"
