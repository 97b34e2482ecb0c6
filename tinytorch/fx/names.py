"""The names of functions, types and nodes in the code and in the text of a graph."""
import builtins
import keyword
import re
from importlib import import_module
from types import FunctionType

from ..autograd.overridable import about

_ILLEGAL = re.compile(r"[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"(.*)_(\d+)$")
#: Names of values, other than Python's built-in names, that code may contain by their repr.
OWN_NAMES = ("inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree")
#: The global of a graph's code that holds the names of the functions of `wrap`.
WRAPPED_IN_CODE = "__wrapped_in_fx__"
#: torch's modules that are searched for functions, in this order.
_ROOMS = ("", ".nn.functional", ".linalg", ".special", ".fft", ".nn", ".functional")


def is_own(module):
    """Whether a module with this name belongs to this package, which may be imported as torch."""
    return module.partition(".")[0] in ("torch", __package__.partition(".")[0])


def _found(label):
    """The object torch.a.b."""
    value = import_module(__package__.partition(".")[0])
    for part in label.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def qualified(target):
    """The name of a function or class with the name of its module. torch's functions have torch's names (torch.relu),
    operator.add is _operator.add, and Python's built-in functions have no module."""
    name, module = getattr(target, "__name__", type(target).__name__), getattr(target, "__module__", None) or ""
    if getattr(builtins, name, None) is target or target is type(None):
        return name
    how = about(target) if isinstance(target, FunctionType) else None
    label = how and how.label
    if not is_own(module) and label is None:
        return f"{module}.{target.__qualname__ if isinstance(target, type) else name}"
    for spelled in (label or "", *[f"torch{room}.{name}" for room in _ROOMS]):
        found = _found(spelled) if spelled else None
        if found is target or callable(found) and found == target:
            return spelled
    return "torch." + f"{module}.{name}".partition(".")[2]


def of_type(kind):
    """The notation of a type in the text of a graph."""
    if isinstance(kind, type) and not getattr(kind, "__origin__", None):
        return kind.__qualname__ if kind.__module__ == "builtins" else qualified(kind)
    return "..." if kind is ... else repr(kind).replace("tinytorch.tensor.Tensor", "torch.Tensor")


def shown(node):
    """The notation of a node's target in the text of a graph."""
    if isinstance(node.target, str):
        return node.target
    name = qualified(node.target)
    return f"builtins.{name}" if "." not in name else re.sub(r"^_operator\.", "operator.", name)


class Namespace:
    """The names of a graph. Each name is used once."""

    def __init__(self):
        self._used, self._count, self._of_object = set(), {}, {}

    def create_name(self, candidate, obj=None):
        """`candidate`, with a number at its end if the name is in use or means something in Python. The object `obj`
        keeps its name, and may have the name that Python gives it."""
        if obj is not None and id(obj) in self._of_object:
            return self._of_object[id(obj)][0]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        numbered = _NUMBERED.match(candidate)
        base, number = (numbered[1], int(numbered[2])) if numbered else (candidate, 0)
        number = number or self._count.get(base, 0)
        while candidate in self._used or self._taken(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._count[base] = number
        if obj is not None:
            self._of_object[id(obj)] = candidate, obj             # the reference keeps the id from being reused
        return candidate

    @staticmethod
    def _taken(name, obj):
        if name in keyword.kwlist or name in OWN_NAMES:
            return obj is None or obj is not type(None)
        return hasattr(builtins, name) and getattr(builtins, name) is not obj
