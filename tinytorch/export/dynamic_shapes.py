"""torch.export.dynamic_shapes: names of dimensions whose sizes may vary within limits."""
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
    """The upper limit of a dimension without a limit. It is larger than any size."""

    def __repr__(self) -> str:
        return "int_oo"


_UNLIMITED = _Unlimited("inf")


class _DimHintType(Enum):
    """Whether a dimension may vary, must vary or must not."""

    AUTO, STATIC, DYNAMIC = 1, 2, 3


@dataclass(frozen=True)
class DimHint:
    """A statement on a dimension that has no name. A call with limits returns the same hint with these limits."""

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
    """A name of a dimension, whose sizes are from `min` to `max`. Its whole multiples, with whole numbers added, name
    dimensions too. AssertionError for a name that is not an identifier, or limits between which there is no size.

    >>> import tinytorch as torch
    >>> batch = torch.export.Dim("batch", max=64)
    >>> batch, 2 * batch + 1
    (Dim('batch', min=0, max=64), 2*batch + 1)
    """

    AUTO, DYNAMIC, STATIC = map(DimHint, (_DimHintType.AUTO, _DimHintType.DYNAMIC, _DimHintType.STATIC))
    _factor, _added = 1, 0

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min = 0 if min is None else min
        self.max = _UNLIMITED if max is None else max
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
    """The dimension `factor * of + added`."""

    def __init__(self, of: Dim, factor: int, added: int) -> None:
        self.root, self._factor, self._added = getattr(of, "root", of), factor, added
        name = self.root.__name__ if factor == 1 else f"{factor}*{self.root.__name__}"
        sign = "-" if added < 0 else "+"
        self.__name__ = f"{name} {sign} {abs(added)}" if added else name

    def fn(self, size: int) -> int:
        """The size for a size of its root."""
        return self._factor * size + self._added

    @property
    def min(self) -> int:
        """The smallest size. AssertionError if it is negative."""
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


# ------------------------------------------------------------------ the arguments of a call
_PAGE = ("For more information about this error, see: https://pytorch.org/docs/main/generated/exportdb/index.html"
         "#dynamic-shapes-validation")


def given_dims(shapes: Any, arguments: dict[str, Any], example: tuple, error: Callable) -> list[dict[int, Any] | None]:
    """The `dynamic_shapes` of each leaf of the arguments, in order: {dimension: Dim}, or None. `error` makes the
    exception for a tree that differs from the tree of the arguments.

    shapes     {name of an argument: its spec}, or a list of specs in the order of the arguments. The spec of a tensor
               is {dimension: Dim} or a list of Dims; None leaves all sizes fixed
    arguments  {name: value}, bound
    example    (args, kwargs)
    """
    leaves = tree_flatten(example)[0]
    if shapes is None:
        return [None] * len(leaves)
    shapes = _by_argument(shapes, list(arguments), example, error)
    walk = _Walk(leaves, error)
    for name, value in arguments.items():
        walk.visit(value, shapes.get(name), f"[{name!r}]")
    return walk.found


def _by_argument(shapes, names, example, error):
    """{name of an argument: its spec}."""
    if not isinstance(shapes, dict):
        return dict(zip(names, shapes))
    all_by_keyword = set(shapes) == set(example[1]) and not example[0]
    if set(shapes) != set(names) and not all_by_keyword:
        raise error(
            f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {names} of "
            f"`inputs`, but here they are {list(shapes)}. Alternatively, you could also ignore arg names entirely "
            f"and specify `dynamic_shapes` as a list/tuple matching `inputs`. {_PAGE}")
    return shapes


class _Walk:
    """A walk over the arguments and their specs together, which notes the spec of each tensor among the leaves."""

    def __init__(self, leaves: list, error: Callable) -> None:
        self.found, self.error, self._places = [None] * len(leaves), error, {}
        for k, x in enumerate(leaves):
            self._places.setdefault(id(x), []).append(k)

    def visit(self, value: Any, spec: Any, path: str) -> None:
        """Notes the specs of the tensors in a value."""
        if isinstance(value, Tensor):
            place = self._places[id(value)].pop(0)
            self.found[place] = _of_tensor(value, spec, path, self.error)
        elif spec is None:
            for x in tree_flatten(value)[0]:
                if self._places[id(x)]:
                    self._places[id(x)].pop(0)
        elif isinstance(value, (list, tuple)) and isinstance(spec, (list, tuple)) and len(value) == len(spec):
            for i, (x, y) in enumerate(zip(value, spec)):
                self.visit(x, y, f"{path}[{i}]")
        elif isinstance(value, dict) and isinstance(spec, dict) and list(value) == list(spec):
            for key in value:
                self.visit(value[key], spec[key], f"{path}[{key!r}]")
        else:
            raise self.error("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
                             f"`inputs{path}` is a {type(value)}, but `dynamic_shapes{path}` is a {type(spec)}")


def _of_tensor(x, spec, path, error):
    if spec is None:
        return None
    if isinstance(spec, (list, tuple)):
        if len(spec) != x.dim():
            raise error(f"Expected dynamic shape spec {spec} specified at `dynamic_shapes{path}` to have the same "
                        f"length as the actual tensor shape {x.shape} (expected {x.dim()}, but got {len(spec)} "
                        f"instead)\n"
                        f"{_PAGE}")
        spec = dict(enumerate(spec))
    if not isinstance(spec, dict):
        raise error(f"Unexpected input type {type(spec)} of a dynamic shape at `dynamic_shapes{path}`: a dict or a "
                    "list is wanted")
    return {d % max(x.dim(), 1): dim for d, dim in spec.items() if dim is not None}
