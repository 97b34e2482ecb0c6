"""The places in the program that made a node or wrote to a tensor: noted in anomaly mode and while `viz` records.

A version cell is [version], and after a write [version, name of the last node that wrote or None, Noted]. Code that
writes to a tensor reads `all_threads.noting_writes` first, so that nothing is noted otherwise.
"""
from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from . import late_bound
from .grad_mode import all_threads, mode
from .node import Node, shape_of

_PACKAGE = __name__.split(".")[0]


class Place(NamedTuple):
    """A line of the program, and the function that it is in."""

    file: str
    line: int
    function: str

    @property
    def text(self) -> str:
        """The line as it is written."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        """As in a traceback."""
        return f'  File "{self.file}", line {self.line}, in {self.function}\n    {self.text}'


def place(frame: Any) -> Place:
    """The innermost line outside this package in the calls that lead to a frame."""
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == _PACKAGE:
        frame = frame.f_back
    return Place("", 0, "") if frame is None else Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


class Noted(NamedTuple):
    """The place of the last write to a tensor, and the version after it."""

    version: int
    place: Place


# ------------------------------------------------------------------ writes
def note_places(place_of: Callable[[Node], Place | None]) -> None:
    """Note from now on, in this thread, where tensors are written to. `place_of` returns where a node was made."""
    mode.places = (*[known for known in mode.places if known != place_of], place_of)
    all_threads.note(True)


def unnote_places(place_of: Callable[[Node], Place | None]) -> None:
    mode.places = tuple([known for known in mode.places if known != place_of])
    all_threads.note(bool(mode.places))


def note_write(cell: list, name: str) -> None:
    """Note in a version cell the node that wrote to the tensor in place."""
    cell[1:2] = (name,)
    if all_threads.noting_writes:
        note_place(cell)


def count_write(tensor: Any) -> None:
    """Count an in-place write to a tensor in its version, and note its line."""
    tensor._version_counter[0] += 1
    if all_threads.noting_writes:
        note_place(tensor._version_counter)


def note_place(cell: list) -> None:
    """Note in a version cell that the running line has written to the tensor."""
    if mode.places:
        if len(cell) == 1:
            cell.append(None)
        cell[2:] = (Noted(list.__getitem__(cell, 0), place(sys._getframe(1))),)


def writer(cell: list, otherwise: str | None) -> str | None:
    """The name of the node that wrote last to a tensor, or `otherwise`."""
    return cell[1] if len(cell) > 1 and cell[1] is not None else otherwise


def history(cell: list, node: Node | None) -> str:
    """Lines for a message: where a tensor was saved, by `node`, and where it was last written to, if that is known."""
    found = [place_of(node) for place_of in mode.places if node is not None]
    saved = next((p for p in found if p is not None), None)
    text = "" if saved is None else f"\nIt was saved for backward here:\n{saved}"
    if len(cell) > 2 and cell[2].version == cell[0]:
        text += f"\nIt was last changed here:\n{cell[2].place}"
    return text


# ------------------------------------------------------------------ modules
def open_modules() -> tuple:
    """The modules whose `forward` is running, the outermost first."""
    found = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_argcount and code.co_name == "forward":
            first = frame.f_locals.get(code.co_varnames[0])
            if isinstance(first, late_bound.module):
                found.append(first)
        frame = frame.f_back
    return tuple(reversed(found))


def origin_text(node: Node) -> str:
    """Operation, shapes, module and line of a node that was made in anomaly mode: lines for a message."""
    at = node.metadata.get("place_")
    if at is None:
        return ""
    given = [str(list(shape_of(edge))) for edge in node.edges if edge is not None and shape_of(edge) is not None]
    shapes = node.shape if node.op.multi else (node.shape,)
    made = " and ".join([str(list(shape)) for shape in shapes if shape is not None])
    text = f"\nIt is the backward of {node.op.name}, of shapes {' and '.join(given)} to {made}"
    found = module_text(node.metadata.get("modules_", ()))
    return f"{text}{found and ', in ' + found}, called here:\n{at}"


def module_text(modules: tuple) -> str:
    """The innermost of the modules from `open_modules`, by its path from the outermost; "" if there is none."""
    if not modules:
        return ""
    paths = {id(module): path for path, module in modules[0].named_modules()}
    path, kind = paths.get(id(modules[-1]), ""), type(modules[-1]).__name__
    return f"module {path!r} ({kind})" if path else kind
