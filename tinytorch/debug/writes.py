"""inplace: adds the lines that saved a tensor and wrote to it to the error that a write in place causes in backward."""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from ..autograd import deep
from ..autograd.grad_mode import all_threads, mode, unwatch, watch
from ..autograd.node import Node
from ..autograd.places import Place, note_places, place, unnote_places
from ..utils._contextlib import _DecoratorContextManager


class _Here(threading.local):
    depth = 0                                  # the number of open blocks in this thread


_here = _Here()
deep.OWN.append(_here)


class inplace(_DecoratorContextManager):
    """Context manager, or decorator. If a tensor that backward needs was changed in place, the error names the line
    that saved it and the line that wrote to it last. Anomaly mode does this too, but does more and takes more time. The
    block applies to operations and writes of its own thread.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.debug.inplace():
    ...     y = x * 2
    ...     z = y.square()
    ...     y += 1
    ...     z.sum().backward()
    Traceback (most recent call last):
    ...
    RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: ...
    It was saved for backward here:
      File "...", line ...
    It was last changed here:
      File "...", line ...
    """

    __slots__ = ()

    def __enter__(self) -> inplace:
        before = _here.depth
        try:
            _settle(before + 1)
            return self
        except BaseException:                  # after an interrupt here Python calls no `__exit__`
            _settle(before)
            raise

    def __exit__(self, *exc_info: object) -> None:
        _settle(max(_here.depth - 1, 0))


def _settle(depth):
    """Begins or ends the notes of lines in this thread. A second call changes nothing."""
    _here.depth = depth
    others = tuple([stepper for stepper in mode.steppers if stepper is not _known_node])
    if depth:
        watch(_note_node)
        note_places(_place_of)
    elif mode.watchers or mode.places or all_threads.noting_writes:
        unwatch(_note_node)
        unnote_places(_place_of)
    mode.steppers = (*others, _known_node) if depth else others


def _note_node(node: Node, result: Any, args: Any) -> None:
    """Called with each new node: notes the line that made it."""
    if "place_" not in node.metadata:
        node.metadata["place_"] = place(sys._getframe(2))


def _place_of(node: Node) -> Place | None:
    return None if node.hooks is None else node.hooks.metadata.get("place_")


def _known_node(step: Callable) -> Callable:
    """`step` of the engine with the node in `mode.current_node`, because packed values do not know the node that saved
    them."""
    def step_of(node, g, edges, create_graph):
        before, mode.current_node = mode.current_node, node
        try:
            return step(node, g, edges, create_graph)
        finally:
            mode.current_node = before
    return step_of
