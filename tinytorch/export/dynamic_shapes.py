"""torch.export.dynamic_shapes: names of dimensions that a program may have of any size, within limits."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

from .._refused import refused, refused_class
from ..tensor import Tensor
from ..utils._pytree import tree_flatten

__all__ = ["AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims",
           "refine_dynamic_shapes_from_suggested_fixes"]

_REASON = "say which dimensions vary by dicts of Dims"
_ONLY = "(Only increasing linear operations with integer coefficients are supported.)"


class _Unlimited(float):
    """More than any size."""

    def __repr__(self) -> str:
        return "int_oo"


_UNLIMITED = _Unlimited("inf")


class _DimHintType(Enum):
    """How much is said of a dimension."""

    AUTO, STATIC, DYNAMIC = 1, 2, 3


@dataclass(frozen=True)
class DimHint:
    """What is said of a dimension without naming it; called with limits, the same with those."""

    type: _DimHintType
    min: int | None = None
    max: int | None = None

    def __call__(self, min: int | None = None, max: int | None = None) -> DimHint:
        assert min is None or max is None or min <= max, f"min must be <= max, got min={min}, max={max}"
        return DimHint(self.type, min, max)

    def __repr__(self) -> str:
        limits = [f"{name}={value}" for name, value in (("min", self.min), ("max", self.max)) if value is not None]
        return f"DimHint({', '.join([self.type.name, *limits])})"


class Dim:
    """A name of a dimension, whose sizes are from `min` to `max`. Whole multiples of it, with whole numbers added, name
    dimensions too. AssertionError for a name that is no identifier, or no size within the limits.

    >>> import tinytorch as torch
    >>> batch = torch.export.Dim("batch", max=64)
    >>> batch, 2 * batch + 1
    (Dim('batch', min=0, max=64), 2*batch + 1)
    """

    AUTO, DYNAMIC, STATIC = map(DimHint, (_DimHintType.AUTO, _DimHintType.DYNAMIC, _DimHintType.STATIC))
    _factor, _added = 1, 0

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min, self.max = 0 if min is None else min, _UNLIMITED if max is None else max
        assert self.max > self.min, f"Cannot create Dim with inconsistent min={min}, max={max}"
        assert name.isidentifier(), f"Dim name must be a valid identifier, got {name}"
        self.__name__ = name

    def __add__(self, other: int) -> _DerivedDim:
        self._check_int("add", "to", other)
        return _DerivedDim(self, self._factor, self._added + other)

    def __sub__(self, other: int) -> _DerivedDim:
        self._check_int("subtract", "from", other)
        return _DerivedDim(self, self._factor, self._added - other)

    def __rsub__(self, other: int) -> NoReturn:
        raise NotImplementedError(f"Attempted to negate {self.__name__}. {_ONLY}")

    def __mul__(self, other: int) -> _DerivedDim:
        if type(other) is not int or other <= 0:
            raise NotImplementedError(f"Attempted to multiply {other} with {self.__name__}, where a positive integer "
                                      f"was expected. {_ONLY}")
        return _DerivedDim(self, self._factor * other, self._added * other)

    __radd__, __rmul__ = __add__, __mul__

    def _check_int(self, verb: str, to: str, other: object) -> None:
        if type(other) is not int:
            raise NotImplementedError(f"Attempted to {verb} {other} {to} {self.__name__}, where an integer was "
                                      f"expected. {_ONLY}")

    def __repr__(self) -> str:
        limits = [f"min={self.min}"] * (self.min != 2) + [f"max={self.max}"] * (self.max is not _UNLIMITED)
        return f"Dim({', '.join([repr(self.__name__), *limits])})"


class _DerivedDim(Dim):
    """factor * another + added."""

    def __init__(self, of: Dim, factor: int, added: int) -> None:
        self.root, self._factor, self._added = getattr(of, "root", of), factor, added
        name = self.root.__name__ if factor == 1 else f"{factor}*{self.root.__name__}"
        self.__name__ = f"{name} {'-' if added < 0 else '+'} {abs(added)}" if added else name

    def fn(self, size: int) -> int:
        """What it is for a size of its root."""
        return self._factor * size + self._added

    @property
    def min(self) -> int:
        """The least size. AssertionError if that is negative."""
        least = self.fn(self.root.min)
        assert least >= 0, (f"Expected derived min value of {self.__name__} to be >= 0. Please specify an appropriate "
                            f"min value for {self.root.__name__} (currently {self.root.min}).")
        return least

    @property
    def max(self) -> int:
        """The largest size."""
        return self.root.max if self.root.max is _UNLIMITED else self.fn(self.root.max)

    def __repr__(self) -> str:
        return self.__name__


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A Dim of each name.

    >>> import tinytorch as torch
    >>> torch.export.dims("height", "width", min=8)
    (Dim('height', min=8), Dim('width', min=8))
    """
    return tuple([Dim(name, min=min, max=max) for name in names])


Constraint = DimHint | Dim
AdditionalInputs, ShapesCollection = [refused_class(__name__, _name, _REASON)
                                      for _name in ("AdditionalInputs", "ShapesCollection")]
refine_dynamic_shapes_from_suggested_fixes = refused(__name__, "refine_dynamic_shapes_from_suggested_fixes", _REASON)


# ------------------------------------------------------------------ of the arguments of a call
_PAGE = ("For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html"
         "#dynamic-shapes-validation")


def given_dims(told: Any, arguments: dict[str, Any], example: tuple, error: Callable) -> list[dict[int, Any] | None]:
    """What `dynamic_shapes` says of each leaf of the arguments, in order: {dimension: Dim}, or None. `error` makes
    what is raised for another tree than that of the arguments.

    told       {name of an argument: what is said of it}, or a list in their order; of a tensor {dimension: Dim} or a
               list of Dims; None says nothing
    arguments  {name: value}, bound
    example    (args, kwargs)
    """
    leaves = tree_flatten(example)[0]
    found = [None] * len(leaves)
    if told is None:
        return found
    names = list(arguments)
    if isinstance(told, dict) and set(told) != set(names):
        if not (set(told) == set(example[1]) and not example[0]):
            raise error(
                f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {names} of "
                f"`inputs`, but here they are {list(told)}. Alternatively, you could also ignore arg names entirely "
                f"and specify `dynamic_shapes` as a list/tuple matching `inputs`. {_PAGE}")
    if not isinstance(told, dict):
        told = dict(zip(names, told))
    places, k = {}, 0
    for x in leaves:
        places.setdefault(id(x), []).append(k)
        k += 1

    def walk(value, said, path):
        if isinstance(value, Tensor):
            place = places[id(value)].pop(0)
            found[place] = _of_tensor(value, said, path, error)
        elif said is None:
            for x in tree_flatten(value)[0]:
                if places[id(x)]:
                    places[id(x)].pop(0)
        elif isinstance(value, (list, tuple)) and isinstance(said, (list, tuple)) and len(value) == len(said):
            for i, (x, y) in enumerate(zip(value, said)):
                walk(x, y, f"{path}[{i}]")
        elif isinstance(value, dict) and isinstance(said, dict) and list(value) == list(said):
            for key in value:
                walk(value[key], said[key], f"{path}[{key!r}]")
        else:
            raise error("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
                        f"`inputs{path}` is a {type(value)}, but `dynamic_shapes{path}` is a {type(said)}")
    for name in names:
        walk(arguments[name], told.get(name), f"[{name!r}]")
    return found


def _of_tensor(x, said, path, error):
    if said is None:
        return None
    if isinstance(said, (list, tuple)):
        if len(said) != x.dim():
            raise error(f"Expected dynamic shape spec {said} specified at `dynamic_shapes{path}` to have the same "
                        f"length as the actual tensor shape {x.shape} (expected {x.dim()}, but got {len(said)} "
                        f"instead)\n"
                        f"{_PAGE}")
        said = dict(enumerate(said))
    if not isinstance(said, dict):
        raise error(f"Unexpected input type {type(said)} of a dynamic shape at `dynamic_shapes{path}`: a dict or a "
                    "list is wanted")
    return {d % max(x.dim(), 1): dim for d, dim in said.items() if dim is not None}
