"""Writes the nodes of an ONNX graph: values with their shapes, constants, and the operators that differ between opsets.

Nodes are plain records. `model` makes the protobuf of the nodes that the outputs need, by the onnx package.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ._types import TensorProtoDataType

__all__ = ["LAST_OPSET", "OPSETS", "Record", "Value", "Writer", "element_type"]

#: The opsets that can be written.
OPSETS = range(13, 22)
LAST_OPSET = OPSETS[-1]
_NUMBERS = {dt.float32: "FLOAT", dt.uint8: "UINT8", dt.int8: "INT8", dt.int16: "INT16", dt.int32: "INT32",
            dt.int64: "INT64", dt.bool: "BOOL", dt.float16: "FLOAT16", dt.float64: "DOUBLE", dt.uint16: "UINT16",
            dt.uint32: "UINT32", dt.uint64: "UINT64", dt.complex64: "COMPLEX64", dt.complex128: "COMPLEX128",
            dt.bfloat16: "BFLOAT16"}
#: Operators that draw random numbers: two nodes with the same inputs must stay two.
_DRAW = ("Dropout", "RandomUniformLike", "RandomNormalLike", "Multinomial")


def element_type(dtype: dt.dtype) -> int:
    """ONNX's number of a dtype."""
    return TensorProtoDataType[_NUMBERS[dtype]].value


class Record(NamedTuple):
    """A node: the operator, the names of its inputs ("" for an omitted input) and outputs, and its attributes."""

    kind: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]


class Value:
    """A tensor of the graph.

    shape    its sizes in the example
    dtype    its torch dtype
    history  for each size, the values in all recordings; empty if all sizes are the same for each call
    dynamic  for each size, whether it may vary from call to call
    name     its name in the graph; None for a constant that no node uses yet
    array    the array of a constant, else None
    """

    __slots__ = ("array", "dtype", "dynamic", "history", "name", "shape")

    def __init__(self, name: str | None, shape: Sequence[int], dtype: dt.dtype, history: Sequence[tuple] = (),
                 array: np.ndarray | None = None) -> None:
        self.name, self.shape, self.dtype, self.array, self.history = name, tuple(shape), dtype, array, history
        self.dynamic = tuple([len(set(each)) > 1 for each in history]) or (False,) * len(self.shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every call has the example's sizes."""
        return not any(self.dynamic)

    def known(self, dim: int) -> int | None:
        """A size; None if it may vary from call to call."""
        return None if self.dynamic[dim] else self.shape[dim]

    def __repr__(self):
        return f"Value({self.name}, {self.shape}, {self.dtype})"


class Writer:
    """The graph while it is written.

    opset   the version of ONNX's operators
    out     the result, without a name, of the operator that is translated now; with several results, the first result
            that is used. `outs` has all results, None for results that no node uses
    """

    def __init__(self, opset: int) -> None:
        self.opset, self.records, self.initializers = opset, [], {}
        self.out, self.outs, self.domains = None, [], {}
        self._names, self._constants, self._hint = set(), {}, "value"
        self._written: dict[tuple, Any] = {}

    # ------------------------------------------------------------- names
    def hint(self, name: str) -> None:
        """Sets the name for the results of the following nodes."""
        self._hint = name

    def unique(self, name: str) -> str:
        """A name that no value has yet: this name, or this name with a number."""
        made, n = name, 0
        while made in self._names:
            n += 1
            made = f"{name}_{n}"
        self._names.add(made)
        return made

    def name_of(self, x: Any) -> str:
        """The name of a value. A constant gets its name now; a number or an array becomes a constant."""
        if x is None:
            return ""
        if isinstance(x, str):
            return x
        if not isinstance(x, Value):
            x = self.constant(x)
        if x.name is None:
            x.name = self.unique("constant")
        if x.array is not None and x.name not in self.initializers:
            self._names.add(x.name)
            self.initializers[x.name] = x
        return x.name

    # ------------------------------------------------------------- constants
    def constant(self, x: Any, dtype: dt.dtype | None = None) -> Value:
        """A constant. Equal small constants become one."""
        array = np.array(x) if dtype is None else np.array(dt.cast(np.asarray(x), dtype.numpy))
        made = Value(None, array.shape, dtype or dt.of(array), (), array)
        if array.nbytes > 1024:
            return made
        return self._constants.setdefault((made.dtype, array.shape, array.tobytes()), made)

    def number(self, x: float, dtype: dt.dtype) -> Value:
        """A number as a constant without dimensions."""
        if dtype in (dt.float16, dt.bfloat16) or not dtype.is_floating_point:
            if dtype is dt.bool:
                x = bool(x)
            elif not dtype.is_floating_point and isinstance(x, float):
                x = int(x)
        return self.constant(x, dtype)

    def ints(self, items: Iterable[int | Value]) -> Value | str:
        """Sizes, some of which may be values, as one tensor with one dimension."""
        items = list(items)
        if all([isinstance(x, int) for x in items]):
            return self.constant(np.array(items, np.int64))
        parts, run = [], []
        for x in items:
            if isinstance(x, int):
                run.append(x)
                continue
            if run:
                parts.append(self.constant(np.array(run, np.int64)))
                run = []
            parts.append(self.op("Reshape", self.cast(x, dt.int64), self.constant(np.array([1], np.int64))))
        if run:
            parts.append(self.constant(np.array(run, np.int64)))
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    # ------------------------------------------------------------- nodes
    def op(self, kind: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Writes a node and returns the name of its result, or a list of names. `kind` may name a domain
        ("com.microsoft::Gelu"). Inputs are values, names, arrays and numbers, and None for an omitted input. The names
        of attributes may have the endings of torch's symbolic functions (axis_i, alpha_f, mode_s)."""
        domain, _, kind = kind.rpartition("::")
        domain = "" if domain in ("onnx", "aten") else domain
        names = [self.name_of(x) for x in inputs]
        while names and not names[-1]:
            names.pop()
        given = {_attribute(key): value for key, value in attributes.items() if value is not None}
        known = (kind, domain, tuple(names), outputs, repr(given))
        if known in self._written:             # an equal node exists already
            return self._written[known] if outputs == 1 else list(self._written[known])
        made = [self.unique(self._hint) for _ in range(outputs)]
        if domain:
            self.domains.setdefault(domain, 1)
        self.records.append(Record(kind, domain, names, made, given))
        result = made[0] if outputs == 1 else tuple(made)
        if kind not in _DRAW and not domain:
            self._written[known] = result
        return result if outputs == 1 else list(made)

    def cast(self, x: Any, dtype: dt.dtype) -> Any:
        """The value in a dtype; a Cast is written only if the dtypes differ."""
        if isinstance(x, (bool, int, float)):
            return self.number(x, dtype)
        if isinstance(x, Value):
            if x.dtype is dtype:
                return x
            if x.array is not None and x.array.size < 4096:
                return self.constant(x.array, dtype)
        return Value(self.op("Cast", x, to=element_type(dtype)), *_like(x, dtype))

    def apply(self, kind: str, *inputs: Any, dtype: dt.dtype | None = None, **attributes: Any) -> Any:
        """`op` on inputs that are cast to one dtype, by default the dtype of the result."""
        dtype = dtype or self.out.dtype
        return self.op(kind, *[None if x is None else self.cast(x, dtype) for x in inputs], **attributes)

    # ------------------------------------------------------------- shapes
    def shape(self, x: Value) -> Any:
        """The sizes of a value as a tensor."""
        if x.is_static:
            return self.ints(x.shape)
        return self.op("Shape", x)

    def size(self, x: Value, dim: int) -> int | Value:
        """A size of a value: a number if it is the same for each call, else a value."""
        dim = dim % max(x.rank, 1)
        if not x.dynamic[dim]:
            return x.shape[dim]
        return Value(self.op("Gather", self.op("Shape", x), self.constant(dim, dt.int64), axis=0), (), dt.int64)

    def sizes(self, x: Value) -> list[int | Value]:
        """All sizes of a value."""
        return [self.size(x, i) for i in range(x.rank)]

    def count(self, x: Value, dims: Iterable[int] | None = None) -> int | Value:
        """The number of elements in these dimensions, or in all dimensions."""
        result: int | Value = 1
        for i in range(x.rank) if dims is None else dims:
            result = self.arithmetic("Mul", result, self.size(x, i))
        return result

    def arithmetic(self, kind: str, a: int | Value, b: int | Value) -> int | Value:
        """Arithmetic of sizes: Add, Sub, Mul, Div (floor, of numbers that are not negative) or Mod."""
        if isinstance(a, int) and isinstance(b, int):
            return {"Add": a + b, "Sub": a - b, "Mul": a * b, "Div": b and a // b, "Mod": b and a % b}[kind]
        if kind == "Mul" and 1 in [x for x in (a, b) if isinstance(x, int)]:
            return b if isinstance(a, int) else a
        if kind in ("Add", "Sub") and isinstance(b, int) and b == 0:
            return a
        return Value(self.op(kind, self.cast(a, dt.int64), self.cast(b, dt.int64)), (), dt.int64)

    def reshape(self, x: Any, sizes: Sequence[int | Value], keeps: bool = False) -> str:
        """Reshapes to these sizes, of which one may be -1. `keeps`: whether 0 stands for the present size."""
        sizes = list(sizes)
        if sum([not isinstance(n, int) for n in sizes]) == 1 and -1 not in [n for n in sizes if isinstance(n, int)]:
            if 0 not in [n for n in sizes if isinstance(n, int)]:
                sizes = [n if isinstance(n, int) else -1 for n in sizes]
        empty = not keeps and self.opset >= 14 and 0 in [n for n in sizes if isinstance(n, int)]
        return self.op("Reshape", x, self.ints(sizes), allowzero=1 if empty else None)

    def reshaped_to(self, x: Any, like: Value, sizes: Sequence[int | Value] | None = None) -> str:
        """Reshapes to the shape of a value. `sizes` has the sizes that differ from call to call."""
        dynamic = [i for i, moves in enumerate(like.dynamic) if moves]
        if len(dynamic) <= 1 and (not dynamic or 0 not in like.shape):
            return self.reshape(x, [-1 if i in dynamic else n for i, n in enumerate(like.shape)])
        return self.reshape(x, like.shape if sizes is None else sizes)

    def squeeze(self, x: Any, dims: Iterable[int]) -> str:
        """Removes these dimensions."""
        return self.op("Squeeze", x, self.ints(dims))

    def unsqueeze(self, x: Any, dims: Iterable[int]) -> str:
        """Adds dimensions of size 1 at these places of the result."""
        return self.op("Unsqueeze", x, self.ints(dims))

    def transpose(self, x: Any, order: Iterable[int]) -> str:
        """Puts the dimensions in this order."""
        return self.op("Transpose", x, perm=list(order))

    def slice(self, x: Any, dim: int, start: Any, end: Any, step: int = 1) -> str:
        """Takes a part of a dimension."""
        return self.op("Slice", x, self.ints([start]), self.ints([end]), self.ints([dim]), self.ints([step]))

    def expand(self, x: Any, sizes: Sequence[int | Value]) -> str:
        """Expands to these sizes; 1 or -1 keeps a size."""
        return self.op("Expand", x, self.ints([1 if isinstance(n, int) and n == -1 else n for n in sizes]))

    def reduce(self, kind: str, x: Any, dims: Sequence[int] | None, keepdim: bool = False) -> str:
        """A reduction such as ReduceSum over these dimensions; None stands for all."""
        options = {"keepdims": int(keepdim)}
        if dims is None:
            return self.op(kind, x, **options)
        if kind == "ReduceSum" or self.opset >= 18:
            return self.op(kind, x, self.ints(dims), **options)
        return self.op(kind, x, axes=list(dims), **options)

    def where(self, condition: Any, a: Any, b: Any) -> str:
        """Selects a where the condition holds, else b."""
        return self.op("Where", condition, a, b)

    def split(self, x: Any, sizes: Sequence[int | Value], dim: int) -> list[str]:
        """Splits a dimension into parts of these sizes."""
        if len(sizes) == 1:
            return [self.op("Identity", x)]
        return self.op("Split", x, self.ints(sizes), outputs=len(sizes), axis=dim)

    # ------------------------------------------------------------- the graph
    def needed(self, outputs: Iterable[str]) -> list[Record]:
        """The nodes that these values depend on, in order."""
        wanted, found = set(outputs), []
        for record in reversed(self.records):
            if wanted.intersection(record.outputs):
                wanted.update(record.inputs)
                found.append(record)
        return found[::-1]


def _like(x, dtype):
    return (x.shape, dtype, x.history) if isinstance(x, Value) else ((), dtype)


def _attribute(key):
    return key[:-2] if len(key) > 2 and key[-2:] in ("_i", "_f", "_s", "_t") else key
