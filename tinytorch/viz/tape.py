"""The tape as data: the recorded operations, and the memory that each keeps until its backward.

It is read from the nodes themselves (`autograd/node.py`): an operation keeps the arrays that its derivative rules name.
This file has no list of operations.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.kept import KeptTensor
from ..autograd.node import ANS, AUX, OUTGROWN, SELECT, Edge, Node
from ..autograd.saved import Packed, short_name
from ..autograd.views import AS_STRIDED, COPY_SLICE
from ..kinds.lazy import raw, root_of
from ..tensor import Tensor
from . import source
from .held import edge_of, held_arrays

PARAMETER, INPUT, ACTIVATION = "parameter", "input", "activation"

#: The tape's own operations that give a tensor another history; its memory stays.
_SAME_MEMORY = (AS_STRIDED, COPY_SLICE, OUTGROWN)


class Storage:
    """A piece of memory that the tape keeps alive.

    nbytes   its size
    name     the name of its parameter or input, or ""
    shape, dtype   those of that tensor; otherwise the shape of the whole memory, and the dtype of the first array in it
    kind     "parameter" (or a buffer of the module), "input" (given from outside: data, masks, indices) or
             "activation" (made on the way)
    maker    the Step that made it, the Leaf that it belongs to, or None if it is no leaf and no recorded step made it
    keepers  the Steps whose backward needs it, in order of execution
    """

    def __init__(self, memory: np.ndarray, dtype: Any, kind: str, maker: Step | Leaf | None) -> None:
        self.nbytes, self.shape, self.name, self.kind, self.maker = memory.nbytes, memory.shape, "", kind, maker
        self.dtype = dtype
        self.keepers: list[Step] = []

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.nbytes} bytes>"


class Kept:
    """One array that a step keeps for its backward: `name` as in its derivative rules ("result" is the output, "aux"
    is a further value that the forward passes to backward), `shape`, `dtype`, `storage`, and `counted`: whether this
    step is the first to keep the storage, so that the storage counts here. For later steps the same memory is an
    alias."""

    def __init__(self, name: str, array: np.ndarray, storage: Storage, counted: bool) -> None:
        self.name, self.shape, self.dtype = name, array.shape, dt.of(array)
        self.storage, self.counted = storage, counted

    @property
    def nbytes(self) -> int:
        """The bytes that it adds to the kept memory: 0 if it is an alias."""
        return self.storage.nbytes if self.counted else 0

    def __repr__(self) -> str:
        alias = "" if self.counted else ", alias"
        return f"<{self.name} {list(self.shape)} {self.dtype.name}, {self.storage.kind}{alias}>"


class Leaf:
    """A tensor at which backward ends: `name`, `kind`, `shape`, `dtype`, `nbytes`."""

    def __init__(self, tensor: Tensor, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.shape, self.dtype, self.nbytes = tensor._array.shape, dt.of(tensor._array), tensor._array.nbytes

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name} {list(self.shape)}>"


class Step:
    """One recorded operation.

    number    in order of execution
    name      the name in pictures and tables ("addmm"); `backward_name` is that of its node ("AddmmBackward0")
    op        its entry of the registry, with forward function and derivative rules
    inputs    for each argument that has a gradient: (Step or Leaf, number of its output); `arguments`: their names
    shapes, dtypes   those of its outputs
    given     (Storage, name of the argument) of the named parameters, buffers and inputs that it takes and that no
              gradient goes to
    kept      the arrays that its backward needs, a list of Kept
    origin    its Origin (see recorder.py), or None
    is_view   whether its output lies in the memory of its first input
    """

    def __init__(self, number: int, node: Node) -> None:
        self.number, self.op, self.backward_name = number, node.op, node.name()
        self.name = name_of(node)
        self.shapes = tuple(node.shape) if node.op.multi else (node.shape,)
        self.dtypes: tuple = ()
        self.inputs: list[tuple[Step | Leaf, int]] = []
        self.arguments: list[str] = []
        self.given: list[tuple[Storage, str]] = []
        self.kept: list[Kept] = []
        self.origin: Any = None
        self.is_view = node.op.view or node.op in _SAME_MEMORY

    @property
    def nbytes(self) -> int:
        """The bytes of the activations that this step is the first to keep."""
        return sum(k.nbytes for k in self.kept if k.storage.kind == ACTIVATION)

    def __repr__(self) -> str:
        return f"<{self.number}: {self.name} {list(self.shapes[0] or ())}>"


class Tape:
    """A recorded computation: `steps` in order of execution, the `leaves` at which backward ends, and the `storages`.

    roots     tensors, or nodes
    params    {name: tensor}: parameters, and the buffers of the module
    inputs    {name: tensor}: the inputs of the program
    origins   {node: Origin} of a recorder
    before    before(memory): whether memory existed before the program ran; None: tensors without history are inputs
    watch     watch(memory, storage) is called for each array that owns kept memory
    """

    def __init__(self, roots: Iterable[Tensor | Node], params: Mapping[str, Tensor] | None = None,
                 inputs: Mapping[str, Tensor] | None = None, origins: Mapping[Node, Any] | None = None,
                 before: Callable[[np.ndarray], bool] | None = None,
                 watch: Callable[[np.ndarray, Storage], object] | None = None) -> None:
        self._origins, self._before = origins or {}, before
        self.inputs = dict(inputs or {})
        self.steps: list[Step] = []
        self.leaves: list[Leaf] = []
        self._of: dict[int, Step | Leaf] = {}
        self._named: dict[int, tuple[str, str]] = {}           # (name, kind) by the id of the tensor
        self._storages: dict[int, tuple[np.ndarray, Storage]] = {}
        self._walked: set[int] = set()
        for kind, tensors in ((INPUT, self.inputs), (PARAMETER, params or {})):
            for name, tensor in tensors.items():
                self._named[id(tensor)] = name, kind
                self._give_name(self._storage(tensor._array, kind, None), tensor, name, kind)
        edges = [root if isinstance(root, Node) else root._node for root in roots]
        for number, node in enumerate(sorted(_reached(edges), key=lambda node: -node.sequence_nr)):
            self._read(number, node)
        self.outputs = [self._source(edge) for edge in edges if edge is not None]
        self.storages: list[Storage] = [storage for _, storage in self._storages.values() if storage.keepers]
        if watch is not None:
            for memory, storage in self._storages.values():
                if storage.keepers:
                    watch(memory, storage)
        # Later memory is not the program's, and nothing here keeps it alive.
        del self._of, self._named, self._storages, self._walked, self._origins, self._before

    def kept_bytes(self, kind: str = ACTIVATION) -> int:
        """The bytes of one kind that are kept for backward. Each storage counts once."""
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
        for i, memory in step.origin.given if step.origin is not None else ():
            _, storage = self._storages.get(memory, (None, None))
            if storage is not None and storage.name:
                step.given.append((storage, _argument(node, i)))
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
            name, kind = self._named.get(id(tensor), (f"leaf {len(self.leaves)}", PARAMETER))
            leaf = self._of[id(tensor)] = Leaf(tensor, name, kind)
            self.leaves.append(leaf)
            storage = self._storage(tensor._array, kind, leaf)
            self._give_name(storage, tensor, name, kind)
            storage.maker = leaf
        return leaf

    def _give_name(self, storage, tensor, name, kind):
        storage.name, storage.kind = name, kind
        storage.shape, storage.dtype = tensor._array.shape, dt.of(tensor._array)

    def _saved(self, step, node):
        """(name, array, maker, kind) of each array that a node keeps."""
        if node.op.function is not None:
            yield from self._of_context(step, node.saved[0])
            return
        saved = node.saved or ()
        for i, s in enumerate(saved):
            if i == len(saved) + ANS or i == len(saved) + AUX:
                name, edge = ("result" if i == len(saved) + ANS else "aux"), node
            else:
                name, k = _argument(node, i), i - node.op.first
                edge = node.edges[k] if 0 <= k < len(node.edges) else None
            for part in _packed(s):
                yield from self._of_pack(step, name, part, edge)
            for array in arrays_in(s):
                yield name, array, *self._maker(step, edge)

    def _of_pack(self, step, name, packed, edge):
        """The arrays in the packed value of a saved tensor, and those that the function that unpacks it holds."""
        for array, own in held_arrays(packed.data):
            yield name, array, *(self._maker(step, edge or own) if edge or own else (step, ACTIVATION))
        for array, own in held_arrays(packed.unpack, self._walked):
            yield "unpack", array, *self._maker(step, own)

    def _of_context(self, step, ctx):
        """The arrays that the ctx of an autograd.Function keeps."""
        for k, kept in enumerate(getattr(ctx, "_saved", None) or ()):
            if not isinstance(kept, KeptTensor):
                continue
            name, own = f"saved_tensors[{k}]", kept.number is not None
            edge = kept.source() if own else kept.source
            if isinstance(kept.kept, Packed):
                yield from self._of_pack(step, name, kept.kept, edge)
            else:
                if isinstance(kept.kept, Tensor):
                    edge = edge_of(kept.kept)
                array = kept.kept._array if isinstance(kept.kept, Tensor) else kept.kept
                yield name, array, *self._maker(step, edge, made_here=True)
        for name, value in vars(ctx).items():
            if name != "_saved":
                for array, edge in held_arrays(value, self._walked):
                    yield f"ctx.{name}", array, *self._maker(step, edge, made_here=True)

    def _maker(self, step, edge, made_here=False):
        """(maker, kind) of the tensor of an edge, if its memory is not known yet. `made_here`: the step itself made a
        tensor without history, unless the tensor existed before."""
        if edge is None:
            return step if made_here else None, None
        if isinstance(edge, Node) and id(edge.edges[0] if edge.op is SELECT else edge) not in self._of:
            return None, ACTIVATION            # a tensor of another graph, which is not searched
        maker, _ = self._source(edge)
        while isinstance(maker, Step) and maker.is_view and maker is not step and maker.inputs:
            maker = maker.inputs[0][0]         # the step to which the memory belongs
        return maker, maker.kind if isinstance(maker, Leaf) else ACTIVATION

    def _source(self, edge: Edge) -> tuple[Step | Leaf, int]:
        """The target of an edge: a leaf, or a step and the number of its output."""
        if isinstance(edge, Tensor):
            return self._leaf(edge), 0
        if edge.op is SELECT:
            return self._of[id(edge.edges[0])], edge.saved[0]
        return self._of[id(edge)], 0

    def _storage(self, array, kind, maker):
        """The storage in which an array lies, a known or a new one. `kind`: None if its history is not known."""
        memory = root_of(raw(array))
        found = self._storages.get(id(memory))
        if found is None:
            there_before = kind is None if self._before is None else self._before(memory)
            if kind in (None, ACTIVATION):
                kind = INPUT if there_before else ACTIVATION
                maker = None if there_before else maker
            found = self._storages[id(memory)] = memory, Storage(memory, dt.of(array), kind, maker)
        return found[1]

    def _dtypes(self, step, node):
        """The dtypes of a step's outputs: those noted when it ran, or else the dtype of a kept output or of an
        input."""
        if step.origin is not None and step.origin.dtypes:
            return step.origin.dtypes
        for kept in step.kept:
            if kept.name == "result":
                return (kept.dtype,) * len(step.shapes)
        for s in node.saved or ():
            if isinstance(s, np.dtype) and s in dt.BY_NUMPY:
                return (dt.BY_NUMPY[s],) * len(step.shapes)
        given = [made.dtypes[min(output, len(made.dtypes) - 1)] if isinstance(made, Step) else made.dtype
                 for made, output in step.inputs]
        return (given[0] if given else dt.get_default_dtype(),) * len(step.shapes)


def name_of(node: Node) -> str:
    """The name of the operation of a node."""
    return short_name(node.name()) if node.op.function is not None else source.name(node.op)


def _argument(node, i):
    """The name of the argument at place i."""
    params = node.op.params if node.op.function is None else ()
    return params[i] if i < len(params) else f"argument {i}"


def _reached(edges) -> Iterator[Node]:
    """All nodes that can be reached from some edges, except those that only pick an output of another node."""
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
    """The arrays in a saved value of a node, which is an array, or a tuple, list or dict with arrays. Packed ones are
    left out."""
    if isinstance(s, np.ndarray):
        yield s
    elif isinstance(s, Tensor):
        yield s._array
    elif isinstance(s, (tuple, list)):
        for x in s:
            yield from arrays_in(x)
    elif isinstance(s, dict):
        yield from arrays_in(list(s.values()))


def _packed(s):
    """The packed tensors in a saved value of a node."""
    if isinstance(s, Packed):
        yield s
    elif isinstance(s, (tuple, list, dict)):
        for x in s.values() if isinstance(s, dict) else s:
            yield from _packed(x)
