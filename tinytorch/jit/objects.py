"""Instances of the classes of an archive. A program works on them, and on tensors, numbers and containers.

Attributes are looked up only in the tables of an instance, never by getattr(): a program reaches the attributes that
its class declares, and no other Python object.
"""
from __future__ import annotations

from enum import Enum
from typing import Any

from ..tensor import Tensor

__all__ = ["Member", "Object", "ScriptObject", "Tuple", "attribute_of", "set_attribute"]


class Object:
    """An instance of a class of the archive, its `script_class`."""


class ScriptObject(Object):
    """An instance of a plain class."""

    def __init__(self, script_class):
        self.script_class, self.values = script_class, {}

    def __repr__(self):
        return f"<torch.ScriptObject of {self.script_class.name}>"

    def find(self, name):
        """(whether there is an attribute, its value)."""
        return name in self.values, self.values.get(name)

    def put(self, name, value):
        """Sets an attribute."""
        self.values[name] = value


class Member:
    """A member of an enumeration of the archive. It equals the member with the same name of the Python enumeration that
    the program was compiled from."""

    __slots__ = ("script_class", "name", "value")

    def __init__(self, script_class, name, value):
        self.script_class, self.name, self.value = script_class, name, value

    def __repr__(self):
        return f"{self.script_class.name.rpartition('.')[2]}.{self.name}"

    def __eq__(self, other):
        if isinstance(other, Member):
            return other.name == self.name and other.script_class is self.script_class
        return isinstance(other, Enum) and repr(self) == f"{type(other).__name__}.{other.name}"

    def __hash__(self):
        return hash(self.name)


class Tuple(tuple):
    """A named tuple of the archive."""

    def __new__(cls, script_class, values):
        made = tuple.__new__(cls, values)
        made.script_class = script_class
        return made

    def __repr__(self):
        inner = ", ".join([f"{name}={value!r}" for name, value in zip(self.script_class.fields, self)])
        return f"{self.script_class.name.rpartition('.')[2]}({inner})"


#: The attributes of tensors that a program may read.
_OF_TENSORS = frozenset("dtype device shape requires_grad ndim T mT H mH real imag data grad is_cuda is_cpu is_sparse "
                        "is_quantized is_meta is_leaf layout itemsize nbytes".split())


def attribute_of(value: Any, name: str) -> Any:
    """value.name in a program. RuntimeError if its class declares no such attribute."""
    if isinstance(value, Object):
        there, found = value.find(name)
        if there:
            return found
        constants = value.script_class.constants
        if name in constants:
            return constants[name]
    elif isinstance(value, Tuple):
        names = list(value.script_class.fields)
        if name in names:
            return value[names.index(name)]
    elif isinstance(value, Tensor):
        from .operators import found as operator
        read = operator(f"ops.prim.{name}") if name in _OF_TENSORS else None
        if read is not None:
            return read(value)
    elif isinstance(value, (Member, Enum)):
        if name in ("name", "value"):
            return value.name if name == "name" else value.value
    elif isinstance(value, tuple) and name in getattr(value, "_fields", ()):
        return value[value._fields.index(name)]
    kind = value.script_class.name if isinstance(value, (Object, Tuple, Member)) else type(value).__name__
    raise RuntimeError(f"{kind} has no attribute {name!r:.60}")


def set_attribute(value: Any, name: str, new: Any) -> None:
    """value.name = new in a program. RuntimeError if `value` is not an instance, or its class does not declare the
    name."""
    if not isinstance(value, Object) or name not in value.script_class.fields:
        raise RuntimeError(f"{type(value).__name__} has no attribute {name!r:.60} to set")
    value.put(name, new)
