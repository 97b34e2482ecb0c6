"""A recorded call as nodes of ONNX.

The graph of a recording has writes to tensors and to views of them; an ONNX graph has none. Here each node stands for a
view of a place (`_Place`), with the operators that made the view. A write computes a new value of the place, and later
reads derive their values from it.

A size that differed between the recordings may vary from call to call, and is a value of the graph. Other sizes are
numbers.
"""
from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import no_grad
from ..capture.recorder import Recorder
from ..capture.schema import Form, run
from ..capture.twice import Recording
from ..fx.node import Node
from ..tensor import Tensor, wrap
from .errors import OnnxExporterError, UnsupportedOperatorError
from .registry import Refusal, Unwritable, put_of, translation_of
from .writer import LAST_OPSET, Value, Writer

__all__ = ["Lowering", "Watcher", "line", "place_of"]

_PACKAGE = __name__.partition(".")[0]
_ARITHMETIC = {operator.add: "Add", operator.sub: "Sub", operator.mul: "Mul", operator.floordiv: "Div",
               operator.mod: "Mod"}
#: The largest number of elements of a folded constant that is larger than its arguments.
_LARGEST = 1 << 20


def line() -> tuple[str, Any] | None:
    """(file, number) of the innermost line outside this library, or (function, statement) of a script; None if there is
    none."""
    frame = sys._getframe(1)
    script = sys.modules.get(f"{_PACKAGE}.jit.language")
    while frame is not None:
        if script is not None and (found := script.line_of(frame)) is not None:
            return found
        if frame.f_globals.get("__name__", "").partition(".")[0] != _PACKAGE:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def place_of(where: tuple[str, Any] | None) -> str:
    """The text of a line in a message."""
    if where is None:
        return ""
    if isinstance(where[1], str):
        return f"\n  in {where[0]} of a script\n    {where[1]}"
    code = linecache.getline(*where).strip()
    return f"\n  File \"{where[0]}\", line {where[1]}" + (f"\n    {code}" if code else "")


class Watcher(Recorder):
    """A recorder that notes for each node the line that called it, and the place of its tensor in memory. Comparisons
    of sizes are not reported: recordings with other sizes show whether they matter."""

    def __init__(self, attributes=None, sizes=False, reads=lambda what, tensor: None):
        def read(what, tensor):
            if self._opened:
                raise NotImplementedError("a tensor becomes a Python value")
            if what != "bool" or tensor is not None:
                reads(what, tensor)
        super().__init__(attributes, sizes, read)
        self._opened = 0                       # the number of running operators whose inner calls are recorded instead

    def parts_of(self, form, func, args, kwargs):
        """Whether an operator without a counterpart is recorded as the operators that it calls: all of them must be
        seen, and must have counterparts."""
        if translation_of(form.name, form.form, LAST_OPSET)[0] is not None or form.mutates:
            return NotImplemented
        if form.is_impure:
            return self._closed(form)
        before = list(self.graph.nodes)[-1:]
        self._opened += 1
        try:
            return self._through(func, args, kwargs)
        except NotImplementedError:
            while list(self.graph.nodes)[-1:] != before:
                self.graph.erase_node(list(self.graph.nodes)[-1])
        finally:
            self._opened -= 1
        return self._closed(form)

    def _closed(self, form):
        if self._opened:                       # the message must name the operator that the model calls
            raise NotImplementedError(f"aten::{form.name} has no counterpart")
        return NotImplemented

    def node(self, target, args, kwargs=None):
        made = super().node(target, args, kwargs)
        made.meta["line"] = line()
        return made

    def name(self, tensor, node):
        super().name(tensor, node)
        array = tensor._array
        if type(array) is np.ndarray and "bounds" not in node.meta:
            node.meta["bounds"] = np.lib.array_utils.byte_bounds(array) if array.size else (0, 0)


class _View(NamedTuple):
    """One step from a place to the value of a node: the node that made the view, and its index among several parts."""

    node: Node
    part: int | None


class _Place:
    """Memory that is written to: its present value, and the number of writes."""

    __slots__ = ("value", "version")

    def __init__(self, value):
        self.value, self.version = value, 0


class _Seen:
    """The value of a node: a view of a place, and the value of the view at a version of the place."""

    __slots__ = ("place", "value", "version", "views")

    def __init__(self, place, views, value):
        self.place, self.views, self.value, self.version = place, views, value, place.version


class Lowering:
    """Writes the nodes of a recording.

    recordings  the graph of the first is written; sizes that differ in the others are not numbers
    attributes  {path: tensor}, the parameters and buffers of the model
    names       {path: name in the graph}
    fold        whether values that depend only on constants are computed now
    """

    def __init__(self, writer: Writer, recordings: Sequence[Recording], attributes: dict[str, Tensor],
                 names: dict[str, str], fold: bool = True) -> None:
        self.g, self.recording, self.names, self.fold = writer, recordings[0], names, fold
        self.attributes = {**attributes, **recordings[0].constants}
        self._seen: dict[Node, Any] = {}
        self._shapes(recordings)

    @staticmethod
    def _shapes(recordings):
        for recording in recordings:
            _complete(recording)
        nodes = [list(recording.graph.nodes) for recording in recordings]
        for first, *others in zip(*nodes):
            described = first.meta.get("val")
            if described is not None:
                first.meta["history"] = tuple(zip(described[0], *[other.meta["val"][0] for other in others]))

    # ------------------------------------------------------------- the graph
    def run(self, inputs: dict[Node, str]) -> list[Any]:
        """Writes all nodes and returns the values of the outputs in order; `inputs` are the names of placeholders."""
        needed = self._needed()
        for node in self.recording.graph.nodes:
            if node.op == "placeholder":
                self._enter(node, self._value(inputs[node], node))
            elif node.op == "get_attr":
                self._enter(node, self._attribute(node))
            elif node.op == "call_function" and node in needed:
                self._call(node)
            elif node.op == "output":
                return [self.read(x) if isinstance(x, Node) else x for x in _flat(node.args[0])]
        raise AssertionError("a graph has an output")

    def _needed(self):
        """The nodes that the outputs need. Nodes that write are counted among them."""
        needed = set()
        for node in reversed(list(self.recording.graph.nodes)):
            form = _form(node)
            if node.op == "output" or form is not None and form.mutates or node in needed:
                needed.update([node, *node.all_input_nodes])
        return needed

    def _value(self, name, node, array=None):
        shape, dtype = node.meta["val"]
        return Value(name, shape, dtype, node.meta.get("history", ()), array)

    def _attribute(self, node):
        tensor = self.attributes[node.target]
        array = tensor._array
        if type(array) is not np.ndarray:
            raise OnnxExporterError(f"{node.target} is a tensor of another kind: it cannot be a constant")
        array = np.ascontiguousarray(array).reshape(array.shape)
        return Value(self.names[node.target], array.shape, dt.of(array), (), array)

    def _enter(self, node, value):
        self._seen[node] = _Seen(_Place(value), (), value)

    # ------------------------------------------------------------- places
    def read(self, node: Node) -> Any:
        """The present value of a node."""
        seen = self._seen[node]
        if not isinstance(seen, _Seen) or seen.version == seen.place.version:
            return seen.value if isinstance(seen, _Seen) else seen
        value = seen.place.value
        for view in seen.views:
            value = self._through(view, value)
        seen.value, seen.version = value, seen.place.version
        return value

    def _through(self, view, value):
        """Writes the nodes of a view again for a value."""
        result = self._translated(view.node, {0: value})
        return result if view.part is None else result[view.part]

    def write(self, node: Node, value: Any) -> None:
        """Sets the value of the node, and with it the values of all nodes that share its memory."""
        seen = self._seen[node]
        chain = [seen.place.value]
        for view in seen.views[:-1]:
            chain.append(self._through(view, chain[-1]))
        for view, whole in zip(reversed(seen.views), reversed(chain)):
            try:
                value = self._put(view, whole, value)
            except (Refusal, Unwritable) as error:
                raise self._error(view.node, error) from None
        seen.place.value = value
        seen.place.version += 1

    def _put(self, view, whole, value):
        """The whole value with a view of it replaced."""
        g, node = self.g, view.node
        form, values = _form(node), self._arguments(node, {0: whole})
        how = put_of(form.name)
        if how == "scatter":
            function, _ = translation_of(f"{form.name}_scatter", "", g.opset)
            return _as(function(g, whole, value, *values[1:]), whole)
        if how == "same":
            return value
        if how == "shape":
            return _as(g.reshaped_to(value, whole, g.sizes(whole)), whole)
        if how == "order":
            return _as(g.transpose(value, np.argsort(_order(form, values, whole.rank)).tolist()), whole)
        if how == "parts":
            parts = list(self._translated(node, {0: whole}))
            parts[view.part] = value
            return _as(g.op("Concat", *parts, axis=values[-1] % whole.rank), whole)
        result = self._value(None, node) if view.part is None else None
        if not whole.is_static or result is not None and not result.is_static:
            raise Refusal("writing to such a view of a tensor whose sizes may vary")
        places = np.arange(int(np.prod(whole.shape, dtype=np.int64))).reshape(whole.shape)
        with no_grad():
            found = run(form, [wrap(places), *values[1:]])
        found = (found if view.part is None else found[view.part])._array.reshape(-1)
        flat = g.op("ScatterElements", g.reshape(whole, [-1]), g.constant(found, dt.int64), g.reshape(value, [-1]))
        return _as(g.reshape(flat, whole.shape), whole)

    # ------------------------------------------------------------- nodes
    def _call(self, node):
        if node.target is operator.getitem:
            return self._part(node)
        if node.target in _ARITHMETIC:
            self._seen[node] = self._sized(node)
            return None
        form = _form(node)
        if form is None:
            raise UnsupportedOperatorError(str(node.target), self.g.opset, None, place_of(node.meta.get("line")))
        self.g.hint(node.name)
        if (form.name, form.form) == ("size", "int"):
            self._seen[node] = self.g.size(self.read(node.args[0]), node.args[1])
            return None
        if form.mutates:
            return self._write(node, form)
        result = self._translated(node, {})
        source = node.args[0] if node.args and isinstance(node.args[0], Node) else None
        if source is not None and isinstance(self._seen.get(source), _Seen) and self._shares(node, form, source):
            seen = self._seen[source]
            self._seen[node] = _Seen(seen.place, (*seen.views, _View(node, None)), result)
        else:
            self._enter(node, result)
        return None

    def _sized(self, node):
        """Arithmetic of sizes. Quotients are rounded down, also where they may be negative."""
        g, (a, b) = self.g, [self.read(x) if isinstance(x, Node) else x for x in node.args]
        if node.target is operator.floordiv and isinstance(a, Value) and _form(node.args[0]) is None:
            a = g.arithmetic("Sub", a, g.arithmetic("Mod", a, b))
        return g.arithmetic(_ARITHMETIC[node.target], a, b)

    def _part(self, node):
        """One of several results."""
        source, index = node.args
        seen = self._seen[source]
        value = seen.value[index]
        if seen.views and seen.views[-1].node is source:
            views = (*seen.views[:-1], _View(source, index))
            self._seen[node] = _Seen(seen.place, views, value)
            self._seen[node].version = seen.version
        else:
            self._enter(node, value)

    @staticmethod
    def _shares(node, form, source):
        """Whether the result lies in the memory of the first argument."""
        if not _aliases(form):
            return False
        parts = [node] if "bounds" in node.meta else [user for user in node.users if "bounds" in user.meta]
        held = source.meta.get("bounds")
        return held is not None and any([part.meta["bounds"][0] < held[1] and held[0] < part.meta["bounds"][1]
                                         for part in parts])

    def _write(self, node, form):
        """A node that writes to its first argument: the result of the function of the same name is written there."""
        target = node.args[0]
        before = self.read(target)
        plain = form.name.removesuffix("_")
        values = self._arguments(node, {})
        if plain in ("copy", "fill", "zero"):
            source = values[1] if len(values) > 1 else 0
            result = self.g.cast(source, before.dtype)
            if not isinstance(result, Value) or (result.shape, result.history) != (before.shape, before.history):
                result = self.g.expand(result, self.g.sizes(before))
        else:
            result = self._translate(node, form, plain, values, [before])
            if not isinstance(result, Value) or result.dtype is not before.dtype:
                result = self.g.cast(result, before.dtype)
        value = _as(result, before)
        self.write(target, value)
        seen = self._seen[target]
        self._seen[node] = _Seen(seen.place, seen.views, value)

    def _translated(self, node, replaced):
        """The result of a node, with other values for some of its arguments."""
        form = _form(node)
        values = self._arguments(node, replaced)
        folded = self._folded(node, form, values)
        if folded is not None:
            return folded
        return self._translate(node, form, form.name, values, self._results(node))

    def _results(self, node):
        """The results as values without names; None for results that no node uses."""
        if "val" in node.meta:
            return [self._value(None, node)]
        found = [None] * node.meta.get("count", 1)
        for user in node.users:
            if user.target is operator.getitem and "val" in user.meta:
                index = user.args[1]
                found += [None] * (index + 1 - len(found))
                found[index] = self._value(None, user)
        return found

    def _translate(self, node, form, name, values, outs):
        function, registered = translation_of(name, form.form, self.g.opset)
        if function is None:
            raise UnsupportedOperatorError(f"aten::{form.name}", self.g.opset, None, place_of(node.meta.get("line")))
        g = self.g
        g.outs, g.out = outs, next((x for x in outs if x is not None), None)
        try:
            result = function(g, *values)
        except (Refusal, Unwritable) as error:
            raise self._error(node, error) from None
        if isinstance(result, (tuple, list)):
            outs = [*outs, *[None] * (len(result) - len(outs))]
            made = [x if x is None or out is None else _as(x, out) for x, out in zip(result, outs)]
            return made[0] if "val" in node.meta else made
        return _as(result, outs[0]) if "val" in node.meta or form.mutates else [_as(result, outs[0])]

    def _error(self, node, error):
        name, where = f"aten::{_form(node).name}", place_of(node.meta.get("line"))
        if isinstance(error, Unwritable):
            return UnsupportedOperatorError(name, self.g.opset, error.opset, where)
        return UnsupportedOperatorError(name, self.g.opset, None, f" ({error.reason}){where}")

    # ------------------------------------------------------------- arguments
    def _arguments(self, node, replaced):
        """The arguments in the schema's order, with the defaults."""
        form, values, given = _form(node), [], dict(node.kwargs)
        for i, argument in enumerate(form.arguments):
            if i in replaced:
                values.append(replaced[i])
                given.pop(argument.name, None)
                continue
            x = node.args[i] if i < len(node.args) else given.pop(argument.name, argument.default)
            x = None if x is ... else self._known(x)
            if argument.kind.startswith("Tensor[") or argument.kind.startswith("Tensor?["):
                x = list(x)
            values.append(x)
        return values

    def _known(self, x):
        if isinstance(x, Node):
            return self.read(x)
        if isinstance(x, (list, tuple)):
            return [self._known(y) for y in x]
        return x

    # ------------------------------------------------------------- folding
    def _folded(self, node, form, values):
        """The result as constants if all arguments are constants; None otherwise, or if the result is much larger than
        the arguments."""
        tensors = [x for x in _flat(values) if isinstance(x, Value)]
        if not self.fold or form.is_impure or any([x.array is None for x in tensors]):
            return None
        results = [x for x in self._results(node) if x is not None]
        size = sum([int(np.prod(x.shape, dtype=np.int64)) for x in results])
        if size > max([_LARGEST, *[x.array.size for x in tensors]]):
            return None
        with no_grad():
            found = run(form, [_tensors(x) for x in values])
        found = found if isinstance(found, (tuple, list)) else [found]
        made = [_constant(x) if isinstance(x, Tensor) else x for x in found]
        return made[0] if "val" in node.meta else made


def _constant(x):
    return Value(None, x._array.shape, dt.of(x._array), (), np.array(x._array))


def _complete(recording):
    """Notes the shapes of nodes that no tensor of the program stands for: steps of an index, and the targets of
    writes."""
    sizes = {}

    def known(x):
        if isinstance(x, Node):
            if x in sizes:
                return sizes[x]
            shape, dtype = x.meta["val"]
            return wrap(np.broadcast_to(np.zeros((), dtype.numpy), shape))
        return [known(y) for y in x] if isinstance(x, (list, tuple)) else x
    for node in recording.graph.nodes:
        form = _form(node)
        if node.target in _ARITHMETIC and node.op == "call_function":
            sizes[node] = node.target(*known(node.args))
        elif form is not None and (form.name, form.form) == ("size", "int"):
            sizes[node] = node.args[0].meta["val"][0][node.args[1]]
        elif form is not None and "val" not in node.meta and form.mutates:
            node.meta["val"] = node.args[0].meta["val"]
        elif form is not None and "val" not in node.meta and form.results == ["Tensor"]:
            with no_grad():
                made = node.target(*known(node.args), **{key: known(x) for key, x in node.kwargs.items()})
            node.meta["val"] = tuple(made._array.shape), dt.of(made._array)
            if _aliases(form):
                node.meta["bounds"] = node.args[0].meta["bounds"]


def _tensors(x):
    if isinstance(x, Value):
        return wrap(np.array(x.array))
    if isinstance(x, list):
        return [_tensors(y) for y in x]
    return x


def _flat(x):
    if isinstance(x, dict):
        x = x.values()
    elif not isinstance(x, (list, tuple)):
        return [x]
    return [z for y in x for z in _flat(y)]


def _form(node) -> Form | None:
    return getattr(node.target, "_schema", None) if node.op == "call_function" else None


def _aliases(form):
    """Whether a result may lie in the memory of an argument."""
    return "(a" in form.text.partition(") -> ")[2]


def _as(x: Any, like: Value) -> Value:
    """A name as a value with the shape and dtype of `like`; a value with the shape of `like`."""
    if isinstance(x, Value) and x.array is not None:
        return x
    return Value(x.name if isinstance(x, Value) else x, like.shape, like.dtype, like.history)


def _order(form, values, rank) -> list[int]:
    """The order of the dimensions in a view of a tensor with this rank."""
    places = wrap(np.empty((1,) * rank))
    places = wrap(np.lib.stride_tricks.as_strided(places._array, strides=range(1, rank + 1)))
    strides = run(form, [places, *values[1:]])._array.strides
    return [n - 1 for n in strides]
