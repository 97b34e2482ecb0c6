"""torch.ops: functions by the names of their operators. `torch.ops.aten.add` is torch.add; other namespaces have the
operators of `torch.library`."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ._refused import table as _table
from .missing import namespace as _namespace
from .seam import UNSEEN, seam
from .tensor import Tensor

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]

_PACKAGE = __package__
#: Operators of libraries: {"namespace::name": function}.
CUSTOM: dict[str, Callable] = {}


def _named(namespace):
    """The operators of torch that libraries compare with, and that this library cannot run: those in refused.txt, and
    for ATen those in unsupported.txt."""
    return _table().get(f"torch.ops.{namespace}", ())


class OpOverload:
    """One form of an operator: torch.ops.aten.add.Tensor. Its arguments are in ATen's order (capture/schema.py). A form
    that is not in the table of schemas calls the function of the operator."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self._packet, self._overload, self.__name__ = packet, overload, f"{packet.__name__}.{overload}"
        self.namespace, self.__module__ = packet.namespace, f"torch.ops.{packet.namespace}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if seam.up and (seen := _shown(self, args, kwargs)) is not UNSEEN:
            return seen
        form = self._schema
        return self._packet(*args, **kwargs) if form is None else _schemas().called(form, args, kwargs)

    @functools.cached_property
    def _schema(self):
        """The arguments and results in torch's declaration; None for a form that is not in the table."""
        if self.namespace != "aten":
            return None
        wanted = "" if self._overload == "default" else self._overload
        return next((form for form in _schemas().forms_of(self._packet.__name__) if form.form == wanted), None)

    def __reduce__(self):
        return getattr, (self._packet, self._overload)

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operator of this form."""
        return self._packet

    def name(self) -> str:
        """namespace::name.overload."""
        return self._packet._qualified_op_name + (f".{self._overload}" if self._overload != "default" else "")

    def __str__(self) -> str:
        return f"{self._packet}.{self._overload}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet}', overload='{self._overload}')>"


class OpOverloadPacket:
    """An operator, which calls the function of its name."""

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace, self.__name__, self._forms = namespace, name, {}
        self._qualified_op_name = f"{namespace}::{name}"
        self.__module__ = f"torch.ops.{namespace}"

    def __reduce__(self):
        return _packet, (self.namespace, self.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if seam.up and (seen := _shown(self, args, kwargs)) is not UNSEEN:
            return seen
        found = _schemas().form_for(self.__name__, args, kwargs) if self.namespace == "aten" else None
        if found is not None:
            return _schemas().run(*found)
        function = _function(self.namespace, self.__name__)
        if function is None:
            raise NotImplementedError(f"torch.ops.{self} is not supported: see docs/coverage.md")
        return function(*args, **kwargs)

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__") or name != "default" and self.namespace != "aten" and (
                self.__name__ not in _named(self.namespace)):
            raise AttributeError(f"The underlying op of '{self._qualified_op_name}' has no overload name '{name}'",
                                 name=name, obj=self)
        return self._forms.setdefault(name, OpOverload(self, name))

    def overloads(self) -> list[str]:
        """The names of the forms that have been used; ["default"] before that."""
        return sorted(self._forms) or ["default"]

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def _shown(operator, args, kwargs):
    """The result of a call with a stand-in (fx.Proxy) among its arguments; UNSEEN if there is no stand-in."""
    for x in (*args, *kwargs.values()):
        for y in x if isinstance(x, (list, tuple)) else (x,):
            if not isinstance(y, Tensor) and hasattr(type(y), "__torch_function__"):
                return type(y).__torch_function__(operator, (type(y),), args, kwargs)
    return UNSEEN


def _schemas():
    return importlib.import_module(f"{_PACKAGE}.capture.schema")


def _function(namespace, name):
    """The function that runs an operator; None if there is none."""
    if f"{namespace}::{name}" in CUSTOM:
        return CUSTOM[f"{namespace}::{name}"]
    if namespace == "profiler":
        return _PROFILED.get(name)
    if namespace == "higher_order":
        return vars(importlib.import_module(f"{_PACKAGE}._higher_order_ops")).get(name)
    if namespace != "aten":
        return None
    if name in _BY_HAND:
        return _BY_HAND[name]
    room, _, rest = name.partition("_")
    places = [("", name), ("nn.functional", name)]
    if room in ("linalg", "fft", "special"):
        places.append((room, rest))
    for place, key in places:
        module = importlib.import_module(f"{_PACKAGE}.{place}".rstrip("."))
        found = vars(module).get(key)
        if found is None and key in vars(module).get("_OF", ()):       # it is imported at its first use
            found = getattr(module, key)
        if callable(found):
            return found
    return getattr(Tensor, name, None)


def _index(self, indices):
    """self[indices], with None for a dimension without an index."""
    return self[tuple([slice(None) if i is None else i for i in indices])]


def _index_put(self, indices, values, accumulate=False):
    if not any([i is None for i in indices]):
        return self.index_put(tuple(indices), values, accumulate)
    return _put("put", self, indices, values, accumulate)


def _index_put_(self, indices, values, accumulate=False):
    if not any([i is None for i in indices]):
        return self.index_put_(tuple(indices), values, accumulate)
    return _put("put_in_place", self, indices, values, accumulate)


def _put(how, self, indices, values, accumulate):
    """The method `how` of a tensor, with None for a dimension without an index, which the method refuses."""
    put = getattr(importlib.import_module(f"{_PACKAGE}.ops.layout.index"), f"_{how}")
    return put(self, tuple(indices), values, accumulate)


def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *switches):
    convolution = importlib.import_module(f"{_PACKAGE}.ops.nn.conv").convolution
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def _sym_size(self, dim):
    return self.shape[dim]


#: Operators that differ in their arguments from the function of the same name.
_BY_HAND = {"index": _index, "_unsafe_index": _index, "index_put": _index_put, "index_put_": _index_put_,
            "_unsafe_index_put": _index_put, "_convolution": _convolution, "sym_size": _sym_size}


def _enter(name, args=None):
    range_ = importlib.import_module(f"{_PACKAGE}.profiler").record_function(name, args)
    range_.__enter__()
    return range_


#: Ranges of the profiler. The third operator ends the range that one of the first two has returned.
_PROFILED = {"_record_function_enter": _enter, "_record_function_enter_new": _enter,
             "_record_function_exit": lambda range_: range_.__exit__(None, None, None)}


class _Namespace(ModuleType):
    """A namespace of operators, torch.ops.name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self._name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        known = name in _named(self._name) or self._name == "aten" and name[:2] != "__" and (
            _schemas().runs(name) or name in _schemas().unsupported())
        if name.startswith("__") or not known and _function(self._name, name) is None:
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'", name=name, obj=self)
        packet = OpOverloadPacket(self._name, name)
        setattr(self, name, packet)
        return packet


class _Ops(ModuleType):
    """torch.ops."""

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _Namespace(name)
        setattr(self, name, found)
        return found

    def load_library(self, path: str) -> None:
        """OSError: libraries of compiled operators need PyTorch itself."""
        raise OSError(f"Could not load this library: {path}: compiled operators need PyTorch itself")

    def import_module(self, module: str) -> None:
        """Imports a module that registers operators."""
        importlib.import_module(module)


ops = _Ops()


def _packet(namespace, name):
    return getattr(getattr(ops, namespace), name)


__getattr__ = _namespace(__name__)
