"""What functions, types and nodes are called in the code and in the text of a graph."""
import builtins
import keyword
import re
from importlib import import_module
from types import FunctionType

from ..autograd.overridable import about

_ILLEGAL = re.compile(r"[^0-9a-zA-Z_]+")
_NUMBERED = re.compile(r"(.*)_(\d+)$")
#: Names of values that code may hold by their repr, beside Python's own.
OWN_NAMES = ("inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree")
#: What the globals of the code of a graph have under this name: the names of functions that are written down as calls.
WRAPPED_IN_CODE = "__wrapped_in_fx__"
#: torch's modules in which functions are looked for, in this order.
_ROOMS = ("", ".nn.functional", ".linalg", ".special", ".fft", ".nn", ".functional")


def is_own(module):
    """Whether a module's name is one of this package, which may be called torch."""
    return module.partition(".")[0] in ("torch", __package__.partition(".")[0])


def _found(label):
    """What torch.a.b is."""
    value = import_module(__package__.partition(".")[0])
    for part in label.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def qualified(target):
    """A function's or class's name with its module's; torch's as torch calls them: torch.relu, operator.add is
    _operator.add, those of Python alone are without a module."""
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
    """A type as the text of a graph has it."""
    if isinstance(kind, type) and not getattr(kind, "__origin__", None):
        return kind.__qualname__ if kind.__module__ == "builtins" else qualified(kind)
    return "..." if kind is ... else repr(kind).replace("tinytorch.tensor.Tensor", "torch.Tensor")


def shown(node):
    """The target of a node as the text of a graph has it."""
    if isinstance(node.target, str):
        return node.target
    name = qualified(node.target)
    return f"builtins.{name}" if "." not in name else re.sub(r"^_operator\.", "operator.", name)


class Namespace:
    """The names that were given: every one is given once."""

    def __init__(self):
        self._used, self._count, self._of_object = set(), {}, {}

    def create_name(self, candidate, obj=None):
        """`candidate` or, if it is taken or means something in Python, it with a number behind; the object `obj` keeps
        its name, and may have one that is its own in Python."""
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
            self._of_object[id(obj)] = candidate, obj             # kept, so that no other object gets its id
        return candidate

    @staticmethod
    def _taken(name, obj):
        if name in keyword.kwlist or name in OWN_NAMES:
            return obj is None or obj is not type(None)
        return hasattr(builtins, name) and getattr(builtins, name) is not obj
