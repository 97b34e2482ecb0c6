"""`viz.saved_tensors`: the memory that backward keeps, as a table."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..nn.modules.module import Module
from ..tensor import Tensor
from .captions import size
from .comparison import without_numbers
from .graph import Graph, graph
from .grouping import Group, Repeat
from .table import Table
from .tape import Kept, Step, Storage


class Saved(NamedTuple):
    """A storage that is kept, or several equal storages of a repetition.

    nbytes   the bytes of one of them; count: their number
    kind     "activation", "input" or "parameter"
    name     of the parameter or input; otherwise the name in the first operation that keeps it
    shape, dtype   of the tensor in it
    module   path of the module in which the operation ran ("" is the model)
    block    the repetition, as "Block x12", or ""
    maker    the operation that made it, with file and line
    needed_by      the first backward that needs it, with file and line of its forward
    """

    nbytes: int
    count: int
    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    module: str
    block: str
    maker: str
    needed_by: str


class SavedTensors(Table):
    """A table of the memory that backward keeps. `saved` has the rows, a list of Saved, and `totals` has the bytes by
    kind."""

    def __init__(self, graph: Graph) -> None:
        self.saved: list[Saved] = [saved for _, saved in _of_members(graph.program.members)]
        self.totals = graph.totals
        headings = ("bytes", "kind", "name", "shape", "dtype", "module", "block", "made by", "needed by")
        rows = [(s.nbytes * s.count, s.kind, s.name, "x".join(map(str, s.shape)) or "()", s.dtype, s.module, s.block,
                 s.maker, s.needed_by) for s in self.saved]
        last = ", ".join([f"{kind}s {size(n)}" for kind, n in self.totals.items()])
        super().__init__("kept for backward", headings, rows, last)


def saved_tensors(loss_or_module: Tensor | Module | Callable, *inputs: Any,
                  params: Mapping[str, Tensor] | None = None) -> SavedTensors:
    """The memory that the backward of a loss, or of the call of a module or function with `inputs`, keeps. Each
    storage is listed once, with its bytes, the operation that made it and the backward that needs it. The arguments
    are those of `graph`.

    >>> import tinytorch as torch
    >>> x = torch.ones(3, 4, requires_grad=True)
    >>> print(saved_tensors((x * 2).exp().log().sum(), params={"x": x}))
    kept for backward
     bytes  kind        name    shape  dtype    module  block  made by  needed by
        48  activation  result  3x4    float32                 exp      ExpBackward0
    activations 48 B, inputs 0 B, parameters 0 B
    """
    return SavedTensors(graph(loss_or_module, *inputs, params=params))


def _of_members(members) -> Iterator[tuple[Any, Saved]]:
    """(a key that is equal in all turns, Saved) of each storage that these members are the first to keep."""
    for place, member in enumerate(members):
        if isinstance(member, Step):
            for k, kept in enumerate(member.kept):
                if kept.counted:
                    saved = saved_of(member, kept)
                    yield (place, k, without_numbers(saved.name), saved.kind, saved.shape, saved.maker), saved
        elif isinstance(member, Group):
            for key, saved in _of_members(member.members):
                yield (place, key), saved
        else:
            for key, saved in _of_turns(member):
                yield (place, key), saved


def _of_turns(repeat: Repeat):
    found: dict[Any, list[Saved]] = {}
    for turn in repeat.turns:
        for key, saved in _of_members(turn):
            found.setdefault((key, saved.nbytes, saved.count), []).append(saved)
    label = repeat.label.rpartition(" x")[0]
    for key, equal in found.items():
        first = equal[0]
        if len(equal) > 1:
            block = f"{label} x{len(equal)}" + (f": {first.block}" if first.block else "")
            name = first.name if equal[1].name == first.name else without_numbers(first.name)
            first = first._replace(count=first.count * len(equal), name=name, block=block)
        yield key, first


def saved_of(step: Step, kept: Kept) -> Saved:
    """The Saved of an array that a step is the first to keep."""
    storage = kept.storage
    path = step.origin.calls[-1].path if step.origin is not None and step.origin.calls else ""
    shape = storage.shape if storage.name else kept.shape      # a view of a part of an input keeps the whole input
    return Saved(storage.nbytes, 1, storage.kind, storage.name or kept.name, tuple(shape), kept.dtype.name, path, "",
                 maker_of(storage), with_line(step.backward_name, step))


def maker_of(storage: Storage) -> str:
    """The operation that made a storage, with file and line, or ""."""
    return with_line(storage.maker.name, storage.maker) if isinstance(storage.maker, Step) else ""


def with_line(text: str, step: Step) -> str:
    """A text, followed by the line in which a step ran."""
    origin = step.origin
    return text if origin is None or not origin.file else f"{text} {os.path.basename(origin.file)}:{origin.line}"
