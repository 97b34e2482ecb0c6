"""The arrays that an object keeps alive, for results of pack hooks, checkpoints and the ctx of a Function."""
from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..autograd.node import Edge, Node, Op
from ..nn.modules.module import Module
from ..tensor import Tensor

#: Types of objects that the program holds and not the tape, or that are searched elsewhere.
_ENDS = (str, bytes, int, float, complex, type, types.ModuleType, types.CodeType, weakref.ref, Module, Node, Op,
         np.dtype, np.generic)


def held_arrays(x: Any, seen: set[int] | None = None) -> Iterator[tuple[np.ndarray, Edge]]:
    """(array, receiver of its gradient) of each array that can be reached from `x` through containers, attributes and
    closures. Modules are left out, because the program holds their parameters. `seen`: ids of the objects that have
    been searched, which are left out too.

    >>> import tinytorch as torch
    >>> t = torch.ones(2)
    >>> [array.shape for array, _ in held_arrays([{"a": t}, functools.partial(torch.exp, t)])]
    [(2,), (2,)]
    """
    seen = set() if seen is None else seen
    if x is None or isinstance(x, _ENDS):
        return
    if isinstance(x, Tensor):
        yield x._array, edge_of(x)
    elif isinstance(x, np.ndarray):
        yield x, None
    elif id(x) not in seen:
        seen.add(id(x))
        for part in _parts(x):
            yield from held_arrays(part, seen)


def edge_of(tensor: Tensor) -> Edge:
    """The receiver of the gradient of a tensor."""
    return tensor._node or (tensor if tensor._requires_grad else None)


def _parts(x):
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, (tuple, list, set, frozenset)):
        return list(x)
    if isinstance(x, types.MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, functools.partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, types.FunctionType):
        return [cell.cell_contents for cell in x.__closure__ or () if _is_filled(cell)]
    slots = [name for cls in type(x).__mro__ for name in _names(vars(cls).get("__slots__", ()))]
    return [*getattr(x, "__dict__", {}).values(), *[getattr(x, name, None) for name in slots if name != "__weakref__"]]


def _names(slots):
    return (slots,) if isinstance(slots, str) else slots


def _is_filled(cell):
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
