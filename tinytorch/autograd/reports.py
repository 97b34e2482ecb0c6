"""Texts for messages about numbers that are not finite: the range of a tensor's numbers, and the path of a gradient.

It is imported when anomaly mode or tinytorch.debug writes such a message.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..device import META
from ..kinds.lazy import StandIn
from ..tensor import Tensor
from . import late_bound
from .engine import GraphTask
from .node import AUX, FREED, SELECT, GradientEdge, Node
from .paths import edge_of
from .saved import PACKED, saved_names

#: The number of steps shown at each end of a longer path.
SHOWN = 12


# ------------------------------------------------------------------ numbers
def numbers_of(x: Any) -> np.ndarray | None:
    """The numbers of a tensor, or of an array of any kind: the samples of a batch, the stored values of a sparse array.
    None if it has no numbers, as on the device meta."""
    array = x._array if isinstance(x, Tensor) else x
    while isinstance(array, StandIn):
        if array.device is META:
            return None
        array = array.raw
    if isinstance(array, late_bound.sparse_array):
        return numbers_of(array.values)
    array = dt.numbers(array)
    return array if isinstance(array, np.ndarray) and array.dtype.kind in dt.INTEGRAL + dt.NATIVE + dt.COMPLEX else None


def is_finite(x: Any) -> bool:
    """Whether all numbers of a tensor, or of an array, are finite. True if it has no numbers."""
    array = numbers_of(x)
    return array is None or array.dtype.kind in dt.INTEGRAL or bool(np.isfinite(array).all())


class Numbers(NamedTuple):
    """The facts about a tensor's numbers that a message states.

    dtype, shape    as the tensor shows them
    low, high       the smallest and the largest finite number (of real and imaginary parts); None if none is finite
    nan, inf        how many are NaN, how many are infinite
    size            how many numbers there are
    """

    dtype: dt.dtype
    shape: tuple[int, ...]
    low: float | None
    high: float | None
    nan: int
    inf: int
    size: int

    def __str__(self) -> str:
        text = f"{self.dtype} {list(self.shape)}, "
        if not self.size:
            return text + "without elements"
        text += "none finite" if self.low is None else f"finite values from {self.low:.6g} to {self.high:.6g}"
        return text + f", {self.nan} NaN" * bool(self.nan) + f", {self.inf} Inf" * bool(self.inf)


def numbers(x: Any) -> Numbers | None:
    """`Numbers` of a tensor, or of an array; None if it has no numbers."""
    array, values = x._array if isinstance(x, Tensor) else x, numbers_of(x)
    if values is None:
        return None
    nan, inf = (0, 0) if values.dtype.kind in dt.INTEGRAL else (
        int(np.isnan(values).sum()), int(np.isinf(values).sum()))
    parts = [values.real, values.imag] if values.dtype.kind in dt.COMPLEX else [values]
    parts = [part[np.isfinite(part)] if nan or inf else part.reshape(-1) for part in parts]
    parts = [part for part in parts if part.size]
    low, high = (min([part.min() for part in parts]), max([part.max() for part in parts])) if parts else (None, None)
    return Numbers(dt.of(array), tuple(array.shape), low, high, nan, inf, values.size)


# ------------------------------------------------------------------ backward
def gradient_text(node: Node, g: Any, task: GraphTask | None) -> str:
    """Lines for a message: the numbers of the gradient that a node received, the numbers that it had saved, and the
    path of the gradient from the loss."""
    given = g if node.op.multi else (g,)
    found = [("its gradient", x) for x in given if x is not None] + [(f"saved {name}", x) for name, x in saved(node)]
    text = "".join([f"\n  {name}: {told}" for name, x in found if (told := numbers(x)) is not None])
    steps = [] if task is None else way(task.roots, node)
    if len(steps) > 1:
        shown = [f"\n  {step}" for step in steps]
        if len(steps) > 2 * SHOWN:
            shown[SHOWN:-SHOWN] = [f"\n  ... {len(steps) - 2 * SHOWN} more ..."]
        text += "\nThe gradient came this way, from the loss down:" + "".join(shown)
    return text


def saved(node: Node) -> list[tuple[str, Any]]:
    """The arrays that a node has saved, by name."""
    if node.versions is FREED or node.versions is PACKED or node.op.function is not None:
        return []
    found = [(name.removeprefix("_saved_"), node.saved[i]) for name, i in saved_names(node).items()
             if i - len(node.saved) != AUX]
    return [(name, x) for name, x in found if isinstance(x, (np.ndarray, late_bound.sparse_array))]


def way(roots: Sequence[Tensor | GradientEdge], node: Node) -> list[str]:
    """The nodes on the shortest path from the loss to `node`, both ends included: the name and the line of each."""
    known: dict[int, Node | None] = {}
    level = [edge for edge in map(edge_of, roots) if isinstance(edge, Node)]
    known.update((id(edge), None) for edge in level)
    while level and id(node) not in known:
        below = []
        for above_it in level:
            for edge in above_it.edges or ():
                if isinstance(edge, Node) and id(edge) not in known:
                    known[id(edge)] = above_it
                    below.append(edge)
        level = below
    steps: list[str] = []
    at: Node | None = node if id(node) in known else None
    while at is not None:
        if at.op is not SELECT:
            steps.append(step_text(at))
        at = known[id(at)]
    return steps[::-1]


def step_text(node: Node) -> str:
    """The name of a node, and the line that made it, if that was noted."""
    at: Any = node.hooks and node.hooks.metadata.get("place_")
    return node.name() if at is None or not at.file else f"{node.name()}  {at.file}:{at.line}  {at.text}"
