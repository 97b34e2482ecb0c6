"""The differences between the memory that two graphs keep."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .captions import size
from .table import Table
from .tape import ACTIVATION

if TYPE_CHECKING:
    from .graph import Graph


class Comparison(Table):
    """A table of the differences between the memory that two graphs keep: (difference, bytes in the first, bytes in
    the second, kind, module, operation, name), the largest difference first. Modules and names that differ only by
    numbers share a row if their bytes are equal. `difference`: the bytes of activations in the second minus those in
    the first."""

    def __init__(self, first: Graph, second: Graph) -> None:
        self.difference = second.totals[ACTIVATION] - first.totals[ACTIVATION]
        one, two = _kept(first), _kept(second)
        equal: dict[tuple, int] = {}
        for key in dict.fromkeys([*one, *two]):
            a, b = one.get(key, 0), two.get(key, 0)
            if a != b:
                kind, module, op, name = key
                row = (a, b, kind, without_numbers(module), op, without_numbers(name))
                equal[row] = equal.get(row, 0) + 1
        rows = [((b - a) * n, a * n, b * n, kind, module + (f" x{n}" if n > 1 else ""), op, name)
                for (a, b, kind, module, op, name), n in equal.items()]
        rows.sort(key=lambda row: -abs(row[0]))
        totals = [f"{kind}s {size(first.totals[kind])} and {size(second.totals[kind])}" for kind in first.totals]
        super().__init__("kept for backward in the one and in the other",
                         ("difference", "first", "second", "kind", "module", "operation", "name"), rows,
                         ", ".join(totals))


def _kept(graph):
    """{(kind, module, operation, name): bytes} of the memory that a graph keeps."""
    found: dict[tuple, int] = {}
    for step in graph.tape.steps:
        for kept in step.kept:
            if kept.counted:
                path = step.origin.calls[-1].path if step.origin is not None and step.origin.calls else ""
                key = (kept.storage.kind, path, step.name, kept.storage.name or kept.name)
                found[key] = found.get(key, 0) + kept.nbytes
    return found


def without_numbers(path: str) -> str:
    """A path with a star for each number in it.

    >>> without_numbers("blocks.0.mlp.2.weight")
    'blocks.*.mlp.*.weight'
    """
    return re.sub(r"(^|\.)\d+(?=\.|$)", r"\1*", path)
