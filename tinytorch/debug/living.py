"""leaks: the memory of tensors that stays alive after a block, by the line that made it, and what holds it.

While a block runs, the results of public functions and the nodes of the tape are noted with the lines that made them,
by weak references to the arrays that own the memory. For an array that is alive at the end, a walk from all variables
of modules and running functions finds what holds it (holders.py).
"""
from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..autograd import deep
from ..autograd.grad_mode import all_threads, mode, unwatch, watch
from ..autograd.node import Node
from ..autograd.overridable import about, is_property, path_of
from ..autograd.places import Place, place
from ..kinds.lazy import StandIn, root_of
from ..seam import UNSEEN, seam
from ..tensor import Tensor
from .holders import holders_of


class Line(NamedTuple):
    """Memory that one line of the program made, and that stays alive.

    place        file, line and function; None if it was not noted, as for gradients
    operation    the operation that made it; "" if that was not noted
    count        the number of pieces of memory
    nbytes       the bytes of all pieces
    shapes       the different shapes of the pieces
    steps        the numbers of the steps in which they were made, from 0
    holder       what holds the last piece: a variable of the program, and the chain of references from there
    """

    place: Place | None
    operation: str
    count: int
    nbytes: int
    shapes: list[tuple[int, ...]]
    steps: list[int]
    holder: str

    def __str__(self) -> str:
        made = "made where no line was noted" if self.place is None else (
            f"{self.place.file}:{self.place.line}  {self.place.text}")
        shapes = " ".join([str(list(shape)) for shape in self.shapes[:4]]) + " ..." * (len(self.shapes) > 4)
        steps = f", of step{'s' * (len(self.steps) > 1)} {', '.join(map(str, self.steps))}" if any(self.steps) else ""
        by = self.operation and f", by {self.operation}"
        return f"{made}\n  {self.count} of {self.nbytes:,} bytes, {shapes}{by}{steps}\n  held by {self.holder}"


class _Known:
    """Notes on arrays, without keeping these alive: {id: (weak reference, note)}."""

    def __init__(self):
        self._of, self._lock = {}, threading.RLock()

    def note(self, array, known):
        key = id(array)
        self._of[key] = weakref.ref(array, lambda _: self._of.pop(key, None)), known

    def get(self, array):
        found = self._of.get(id(array))
        return None if found is None else found[1]

    def living(self) -> list[tuple[np.ndarray, Any]]:
        return [(array, known) for reference, known in list(self._of.values()) if (array := reference()) is not None]


class _Here(threading.local):
    watching: tuple[leaks, ...] = ()
    inside = False


_here = _Here()
deep.OWN.append(_here)


class leaks:
    """Context manager that finds the tensors that stay alive after the block, the lines that made them, and what holds
    them. After the block it is a sequence of `Line`s, the largest first, and prints as one.

    The first step of a training makes tensors that stay: gradients, the state of the optimiser. So run a step before
    the block, or two steps in it with `next_step()` between them: then only memory made before the last `next_step()`
    counts.

    lines     the memory that stays alive
    nbytes    its number of bytes
    cycles    bytes in cycles of references, which Python's garbage collector had to find

    >>> import tinytorch as torch
    >>> history = []
    >>> def step(x):
    ...     loss = (x * x).sum()
    ...     history.append(loss)
    >>> x = torch.ones(1000, requires_grad=True)
    >>> with torch.debug.leaks() as found:
    ...     step(x)
    >>> len(found), found[0].shapes
    (1, [()])
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.nbytes = self.cycles = self._step = 0
        self._before, self._made = _Known(), _Known()

    # ---------------------------------------------------------------- the block
    def __enter__(self) -> leaks:
        if self in _here.watching:
            raise RuntimeError("this block is open already")
        try:
            self.lines, self.nbytes, self.cycles, self._step = [], 0, 0, 0
            self._before, self._made = _Known(), _Known()
            self._collect()
            for array in self._memory():
                self._before.note(array, True)
            _here.watching += (self,)
            _settle()
            return self
        except BaseException:                  # after an interrupt here Python calls no `__exit__`
            self._stop()
            raise

    def __exit__(self, *exc_info: object) -> None:
        self._stop()
        if exc_info and exc_info[0] is not None:               # its traceback holds the frames' variables
            return
        self._note_others()
        before = sum([array.nbytes for array, _ in self._old()])
        self._collect()
        found = self._old()
        self.nbytes = sum([array.nbytes for array, _ in found])
        self.cycles = before - self.nbytes
        self.lines = _lines(found)

    def next_step(self) -> None:
        """Ends a step and begins the next one. Memory that the last step makes does not count."""
        self._note_others()
        self._step += 1

    def _collect(self):
        gc.collect()

    def _memory(self):
        """The arrays that own the memory of all existing tensors and nodes."""
        for x in gc.get_objects():
            kind = type(x)
            if issubclass(kind, Tensor):
                if hasattr(x, "_array"):       # else its constructor has not finished
                    yield from memory_of(x)
            elif issubclass(kind, Node):
                yield from memory_of(getattr(x, "saved", None))

    def _stop(self):
        _here.watching = tuple([block for block in _here.watching if block is not self])
        _settle()

    def _note_others(self):
        """Notes memory that no watched call made: gradients, the state of optimisers, memory from other threads."""
        for array in self._memory():
            if self._before.get(array) is None and self._made.get(array) is None:
                self._made.note(array, (None, "", self._step))

    def _note(self, array, made, name):
        """Notes the operation that made an array. Of nested calls on one line the outermost, which ends last, is
        kept."""
        known = self._made.get(array)
        if self._before.get(array) is None and (known is None or known[0] == made):
            self._made.note(array, (made, name, self._step))

    def _old(self):
        """The memory that is alive; if there were several steps, only that of steps before the last one."""
        return [(array, known) for array, known in self._made.living() if not self._step or known[2] < self._step]

    # ---------------------------------------------------------------- results
    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __getitem__(self, index: int) -> Line:
        return self.lines[index]

    def __str__(self) -> str:
        count = sum([line.count for line in self.lines])
        text = f"{count} live on, {self.nbytes:,} bytes" if count else "No tensor lives on"
        text += f"; {self.cycles:,} bytes were in cycles" if self.cycles > 0 else ""
        return "\n".join([f"{text}.", *map(str, self.lines)])

    __repr__ = __str__


def _lines(found):
    """One `Line` for each line and operation."""
    groups: dict[Any, list] = {}
    for array, (made, name, step) in found:
        held_by_none = made is None
        key = (id(array),) if held_by_none else (made, name)
        groups.setdefault(key, []).append((array, made, name, step))
    holders = holders_of([group[-1][0] for group in groups.values()])
    lines = []
    for group in groups.values():
        arrays = [array for array, *_ in group]
        _, made, name, _ = group[0]
        shapes = list(dict.fromkeys([array.shape for array in arrays]))
        lines.append(Line(made, name, len(group), sum([array.nbytes for array in arrays]), shapes,
                          sorted({step for *_, step in group}), holders[id(arrays[-1])]))
    return sorted(lines, key=lambda line: -line.nbytes)


# ------------------------------------------------------------------ memory
def memory_of(x: Any, depth: int = 5) -> Iterator[np.ndarray]:
    """The arrays that own the memory of tensors and arrays, also of those in tuples, lists and dictionaries. `depth`
    limits the recursion, because a list may contain itself."""
    if isinstance(x, Tensor):
        x = x._array
    if isinstance(x, StandIn):
        x = x.memory
    kind = type(x)
    if kind is tuple or kind is list or kind is dict:
        for y in x.values() if kind is dict else x:
            if depth:
                yield from memory_of(y, depth - 1)
    elif issubclass(kind, np.ndarray):
        yield root_of(x)
    elif hasattr(kind, "with_values"):         # a sparse array
        yield from memory_of((x.values, x.plan))


# ------------------------------------------------------------------ noting operations
def _settle():
    """Begins or ends the notes in this thread, as `_here.watching` says. A second call changes nothing."""
    watching = bool(_here.watching)
    if watching:
        watch(_note_node)
    elif mode.watchers or all_threads.in_special_mode:
        unwatch(_note_node)
    seam.watch("leaks", watching)


def _see(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The handler of the seam: calls a function and notes the memory of its results."""
    if not _here.watching or _here.inside:
        return UNSEEN
    how = about(function)
    if how is None or is_property(how) or how.autocast == "within":
        return UNSEEN
    try:
        _here.inside = True
        result = function(*args, **kwargs)
    finally:
        _here.inside = False
    at = None
    for array in memory_of(result):
        at = place(sys._getframe(1)) if at is None else at
        for block in _here.watching:
            block._note(array, at, path_of(function))
    return result


def _note_node(node: Node, result: Any, args: Any) -> None:
    """Called with each new node: notes its result, and saved memory that no watched call made."""
    at = None
    made = list(memory_of(result))
    for array in [*made, *memory_of(node.saved)]:
        at = place(sys._getframe(2)) if at is None else at
        for block in _here.watching:
            if any([array is x for x in made]) or block._made.get(array) is None:
                block._note(array, at, node.op.name)


seam.handle("leaks", _see)
