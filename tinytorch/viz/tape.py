"""The tape as data: which operations were recorded, and which memory each keeps until its backward.

It is read from the nodes themselves (`autograd/node.py`): an operation keeps what its derivative rules name. There is
no list of operations here.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.kept import KeptTensor
from ..autograd.node import ANS, AUX, SELECT, Edge, Node
from ..autograd.saved import Packed, short_name
from ..lazy import raw, root_of
from ..tensor import Tensor

PARAMETER, INPUT, ACTIVATION = "parameter", "input", "activation"


class Storage:
    """A piece of memory that the tape keeps alive.

    nbytes   its size; `shape`: of the whole memory
    name     of an input that was given by name, or ""
    kind     "parameter", "input" (given from outside: data, masks, indices) or "activation" (an operation made it)
    maker    the Step that made it, the Leaf that it belongs to, or None
    keepers  the Steps whose backward needs it, first one first
    """

    def __init__(self, memory: np.ndarray, kind: str, maker: Step | Leaf | None) -> None:
        self.nbytes, self.kind, self.maker, self.keepers = memory.nbytes, kind, maker, []
        self.shape, self.name = memory.shape, ""
        self._memory = memory

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.nbytes} bytes>"


class Kept:
    """One array that a step keeps for its backward: `name` as in its derivative rules ("result" is the output, "aux"
    what the forward hands to backward besides), `shape`, `dtype`, `storage`, and `counted`: whether the storage is
    counted here, where it is kept first; everywhere else the same memory is an alias."""

    def __init__(self, name: str, array: np.ndarray, storage: Storage, counted: bool) -> None:
        self.name, self.shape, self.dtype = name, array.shape, dt.of(array)
        self.storage, self.counted = storage, counted

    @property
    def nbytes(self) -> int:
        """What it adds to the memory that is kept: nothing if it is an alias."""
        return self.storage.nbytes if self.counted else 0

    def __repr__(self) -> str:
        alias = "" if self.counted else ", alias"
        return f"<{self.name} {list(self.shape)} {self.dtype.name}, {self.storage.kind}{alias}>"


class Leaf:
    """A tensor that backward ends at, or that was given: `name`, `kind`, `shape`, `dtype`, `nbytes`."""

    def __init__(self, tensor: Tensor, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.shape, self.dtype, self.nbytes = tensor.array.shape, dt.of(tensor.array), tensor.array.nbytes

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name} {list(self.shape)}>"


class Step:
    """One recorded operation.

    number    in order of execution
    name      torch's ("addmm"); `backward_name` of its node ("AddmmBackward0")
    op        its entry of the registry, with forward function and derivative rules
    inputs    for each argument that has a gradient: (Step or Leaf, number of its output); `arguments`: their names
    shapes, dtypes   of its outputs
    kept      what its backward needs, a list of Kept
    origin    where it ran (see recorder.py), or None
    """

    def __init__(self, number: int, node: Node) -> None:
        self.number, self.op, self.backward_name = number, node.op, node.name()
        self.name = short_name(self.backward_name) if node.op.function is not None else node.op.name
        self.shapes = tuple(node.shape) if node.op.multi else (node.shape,)
        self.dtypes: tuple = ()
        self.inputs: list[tuple[Step | Leaf, int]] = []
        self.arguments: list[str] = []
        self.kept: list[Kept] = []
        self.origin: Any = None

    @property
    def nbytes(self) -> int:
        """Bytes of the activations that are kept here first."""
        return sum(k.nbytes for k in self.kept if k.storage.kind == ACTIVATION)

    def __repr__(self) -> str:
        return f"<{self.number}: {self.name} {list(self.shapes[0] or ())}>"


class Tape:
    """What has been recorded: `steps` in order of execution, `leaves`, `storages`, and the `roots` it was read from.

    `roots`: tensors, or nodes. `names`: of leaves, by the id of the tensor. `inputs`: tensors given from outside.
    `origins`: {node: Origin} of a recorder.
    """

    def __init__(self, roots: Iterable[Tensor | Node], names: Mapping[int, str] | None = None,
                 inputs: Mapping[str, Tensor] | None = None, origins: Mapping[Node, Any] | None = None) -> None:
        self._names, self._origins = names or {}, origins or {}
        self.inputs = dict(inputs or {})
        self.steps: list[Step] = []
        self.leaves: list[Leaf] = []
        self._of: dict[int, Step | Leaf] = {}
        self._storages: dict[int, Storage] = {}
        edges = [root if isinstance(root, Node) else root.node for root in roots]
        nodes = sorted(_reached(edges), key=lambda node: -node.sequence_nr)
        for name, tensor in self.inputs.items():
            self._storage(tensor.array, INPUT, None).name = name
        for number, node in enumerate(nodes):
            self._read(number, node)
        self.outputs = [self._source(edge) for edge in edges if edge is not None]
        del self._of                           # by ids of nodes, which may be gone from here on

    @property
    def storages(self) -> list[Storage]:
        return [storage for storage in self._storages.values() if storage.keepers]

    def kept_bytes(self, kind: str = ACTIVATION) -> int:
        """Bytes of one kind that are kept for backward, each storage once."""
        return sum(storage.nbytes for storage in self.storages if storage.kind == kind)

    # ------------------------------------------------------------------ reading a node
    def _read(self, number, node):
        step = self._of[id(node)] = Step(number, node)
        step.origin = self._origins.get(node)
        self.steps.append(step)
        for place in node.inputs() if node.op.function is None else range(len(node.edges)):
            edge = node.edges[place]
            if edge is not None:
                step.inputs.append(self._source(edge))
                step.arguments.append(_argument(node, node.op.first + place))
        for name, array, maker, kind in self._saved(step, node):
            storage = self._storage(array, kind, maker)
            if step not in storage.keepers:
                storage.keepers.append(step)
            step.kept.append(Kept(name, array, storage, storage.keepers == [step] and not any(
                k.storage is storage for k in step.kept)))
        step.dtypes = self._dtypes(step, node)

    def _leaf(self, tensor):
        leaf = self._of.get(id(tensor))
        if leaf is None:
            name = self._names.get(id(tensor))
            given = next((n for n, t in self.inputs.items() if t is tensor), None)
            kind = INPUT if given is not None else PARAMETER
            leaf = self._of[id(tensor)] = Leaf(tensor, name or given or f"leaf {len(self.leaves)}", kind)
            self.leaves.append(leaf)
            storage = self._storage(tensor.array, kind, leaf)
            storage.kind, storage.maker = kind, leaf
        return leaf

    def _saved(self, step, node):
        """(name, array, who made it, kind) of each array that a node keeps."""
        if node.op.function is not None:
            for name, array, edge in _of_context(node.saved[0]):
                yield name, array, *self._maker(step, edge)
            return
        saved = node.saved or ()
        for i, s in enumerate(saved):
            if i == len(saved) + ANS or i == len(saved) + AUX:
                name = "result" if i == len(saved) + ANS else "aux"
                for array in arrays_in(s):
                    yield name, array, step, ACTIVATION
            elif s is not None:
                k = i - node.op.first
                edge = node.edges[k] if 0 <= k < len(node.edges) else None
                for array in arrays_in(s):
                    yield _argument(node, i), array, *self._maker(step, edge)

    def _maker(self, step, edge):
        """Who made what came along an edge, and of what kind it is."""
        if isinstance(edge, Node) and self._of.get(id(edge)) is step:
            return step, ACTIVATION
        if edge is None:
            return None, INPUT
        source, _ = self._source(edge)
        return source, source.kind if isinstance(source, Leaf) else ACTIVATION

    def _source(self, edge: Edge) -> tuple[Step | Leaf, int]:
        """Where an edge leads: to a leaf, or to a step and which of its outputs."""
        if isinstance(edge, Tensor):
            return self._leaf(edge), 0
        if edge.op is SELECT:
            return self._of[id(edge.edges[0])], edge.saved[0]
        return self._of[id(edge)], 0

    def _storage(self, array, kind, maker):
        """The storage that an array lies in: seen before, or new."""
        memory = root_of(raw(array))
        found = self._storages.get(id(memory))
        if found is None:
            found = self._storages[id(memory)] = Storage(memory, kind, maker)
        return found

    def _dtypes(self, step, node):
        """The dtypes of a step's outputs: noted when it ran; else that of what is kept of it, or of what goes in."""
        if step.origin is not None and step.origin.dtypes:
            return step.origin.dtypes
        for kept in step.kept:
            if kept.name == "result":
                return (kept.dtype,) * len(step.shapes)
        for s in node.saved or ():
            if isinstance(s, np.dtype) and s in dt.BY_NUMPY:
                return (dt.BY_NUMPY[s],) * len(step.shapes)
        given = [source.dtypes[min(output, len(source.dtypes) - 1)] if isinstance(source, Step) else source.dtype
                 for source, output in step.inputs]
        return (given[0] if given else dt.get_default_dtype(),) * len(step.shapes)


def _argument(node, i):
    """The name of the argument at place i."""
    params = node.op.params if node.op.function is None else ()
    return params[i] if i < len(params) else f"argument {i}"


def _reached(edges) -> Iterator[Node]:
    """All nodes that are reached from some edges, but for those that only pick an output of another."""
    seen, todo = set(), list(edges)
    while todo:
        edge = todo.pop()
        if not isinstance(edge, Node) or id(edge) in seen:
            continue
        seen.add(id(edge))
        if edge.op is not SELECT:
            yield edge
        todo.extend(edge.edges)


def arrays_in(s: Any) -> Iterator[np.ndarray]:
    """The arrays in what a node has saved: one, or some in tuples and lists; packed ones where they are tensors."""
    if isinstance(s, np.ndarray):
        yield s
    elif isinstance(s, Packed):
        yield from arrays_in(s.data)
    elif isinstance(s, Tensor):
        yield s.array
    elif isinstance(s, (tuple, list)):
        for x in s:
            yield from arrays_in(x)
    elif isinstance(s, dict):
        yield from arrays_in(list(s.values()))


def _of_context(ctx) -> Iterator[tuple[str, np.ndarray, Any]]:
    """(name, array, edge) of what the ctx of an autograd.Function keeps."""
    for k, kept in enumerate(getattr(ctx, "_saved", None) or ()):
        if isinstance(kept, KeptTensor):
            own = kept.number is not None
            for array in arrays_in(kept.kept):
                yield f"saved_tensors[{k}]", array, kept.source() if own else kept.source
    for name, value in vars(ctx).items():
        if not name.startswith("_") and isinstance(value, (Tensor, np.ndarray)):
            array = value.array if isinstance(value, Tensor) else value
            yield f"ctx.{name}", array, value.node if isinstance(value, Tensor) else None
