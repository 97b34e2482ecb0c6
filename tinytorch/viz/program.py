"""`viz.program`: the program that torch.compile has recorded of a function, and the memory plan of its replays."""
from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from math import prod
from typing import Any, NamedTuple

from ..capture.lowered.emit import plan
from ..capture.program import MADE, Program, refs, shown
from .captions import short, size
from .files import png, save
from .meter import Meter
from .svg import themed
from .table import Table
from .timeline import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, common, rules

_STYLE = "tinytorch-timeline"


class Array(NamedTuple):
    """An array that a program makes: the number of its slot, its bytes, the first and the last step that use it, and
    its offset in the planned block. The offset is None for an array that leaves the program, because its memory is new
    at each call."""

    slot: int
    nbytes: int
    first: int
    last: int
    at: int | None


class ProgramTable(Table):
    """A program as a table: a row for each step.

    program   the recorded Program (capture/program.py)
    arrays    the Arrays that it makes, without views
    block     the bytes of the block that the arrays share which do not leave the program
    leaving   the bytes of the arrays that leave the program: results and gradients
    alone     the sum of the bytes of all arrays
    peak      the peak of the bytes that a call allocates when the function runs as it is written; None if it was not
              measured
    lowered   the number of calls in C; None if Python replays the whole program
    backward  the table of the program of the backward; None if the backward has no separate program
    """

    def __init__(self, name: str, program: Program, lowered: int | None, peak: int | None) -> None:
        self.program, self.peak, self.lowered = program, peak, lowered
        self.block, self.arrays = planned(program)
        self.leaving = sum([a.nbytes for a in self.arrays if a.at is None])
        self.alone = sum([a.nbytes for a in self.arrays])
        self.backward: ProgramTable | None = None
        if program.backward is not None:
            self.backward = ProgramTable(f"the backward of {name}", program.backward, None, None)
        found = f"{size(self.block)} for what it computes with ({size(self.alone - self.leaving)} one by one), " \
                f"{size(self.leaving)} for what leaves"
        if peak is not None:
            found += f"; as it is written, at most {size(peak)}"
        ways = "replayed by Python" if lowered is None else f"{lowered} calls in C"
        super().__init__(f"{name}: {len(program.steps)} steps, {ways}",
                         ("step", "call", "of", "result", "dtype", "bytes", "memory", "needed until"),
                         self._rows(program), found)

    def _rows(self, program):
        of_slot = {a.slot: a for a in self.arrays}
        rows = []
        for number, step in enumerate(program.steps):
            made = [program.slots[i] for i in step.makes if program.slots[i].shape is not None]
            slot = made[0] if made else None
            call, of = step.name or step.kind, short(", ".join([f"%{i}" for i in dict.fromkeys(refs(step.args))]), 24)
            if slot is None:
                rows.append((number, call, of, "", "", 0, "", ""))
                continue
            array = of_slot.get(slot.root)
            if slot.root != slot.index or array is None:
                memory = f"of %{slot.root}"
            else:
                memory = "new" if array.at is None else f"+{array.at}"
            nbytes = slot.dtype.itemsize * prod(slot.shape)
            rows.append((number, call, of, f"%{slot.index} {'x'.join(map(str, slot.shape)) or '()'}", str(slot.dtype),
                         nbytes, memory, "the end" if array is None or array.at is None else array.last))
        return rows

    def picture(self, theme: str | None = None) -> str:
        """The memory plan as an SVG picture: steps from left to right, addresses upwards. Each array extends from the
        step that makes it to the last step that needs it. Arrays that leave the program are red and above the block. A
        dashed line marks the peak of the bytes that the function allocates as it is written, if that was measured.

        theme     "light" or "dark"; None: the preference of the reader's system

        >>> import tinytorch as torch
        >>> f = torch.compile(lambda x: (x.exp() * 2).sin())
        >>> for _ in range(3):
        ...     y = f(torch.ones(64, 64))
        >>> "<title>exp" in program(f).picture()
        True
        """
        return drawn(self, theme or "any", f"<style>{themed(theme, _STYLE, common, rules)}</style>")

    def save(self, path: str | os.PathLike, theme: str | None = None) -> None:
        """Writes the picture (.svg or .png) or a page with the picture and the table (.html), by the suffix of `path`.
        ValueError for another suffix."""
        save(os.fspath(path), {".svg": lambda: self.picture(theme), ".html": lambda: self._page(theme),
                               ".png": lambda: png(self.picture(theme or "light"))})

    def _page(self, theme):
        parts = [self, *([self.backward] if self.backward is not None else [])]
        body = "".join([x.picture(theme) + Table._repr_html_(x) for x in parts])
        return f"<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>{escape(self.title)}</title></head>" \
               f"<body>{body}</body></html>"

    def _repr_html_(self) -> str:
        return self.picture() + super()._repr_html_()


class _Memory:
    """A block of memory with the attributes of a Root that `plan` uses."""

    kind = "made"

    def __init__(self, nbytes):
        self.nbytes, self.within = nbytes, 0


class _Use:
    """A step with the attributes of a Call that `plan` uses."""

    def __init__(self, reads, writes):
        self.reads, self.writes = reads, writes


def planned(program: Program) -> tuple[int, list[Array]]:
    """(bytes of the block, the Arrays) of a program. Arrays in the block that are never needed at once share memory."""
    last, first, leaves = {}, {}, set()
    made = [slot for slot in program.slots if slot.shape is not None and program.slots[slot.root].origin == MADE]
    roots = {slot.index: slot.root for slot in made}
    for number, step in enumerate(program.steps):
        for i in (*step.makes, *step.reads, *step.writes):
            if i in roots:
                first.setdefault(roots[i], number)
                last[roots[i]] = number
    leaves.update([slot.root for slot in made if slot.leaves])
    memory = {}
    for slot in made:
        if slot.root == slot.index and slot.index in first:
            memory[slot.index] = _Memory(slot.dtype.itemsize * prod(slot.shape))
    inside = {root: x for root, x in memory.items() if root not in leaves}
    uses = [_Use({inside[roots[i]] for i in step.reads if roots.get(i) in inside},
                 {inside[roots[i]] for i in (*step.makes, *step.writes) if roots.get(i) in inside})
            for step in program.steps]
    block = plan(uses, list(inside.values()), set())
    return block, [Array(root, x.nbytes, first[root], last[root], x.within if root in inside else None)
                   for root, x in memory.items()]


def drawn(table: ProgramTable, theme: str = "", style: str = "") -> str:
    """The SVG of a program's memory plan. `style` may be empty if the page has the style already."""
    count, right = max(len(table.program.steps), 1), WIDTH - RIGHT
    top = max(table.block + table.leaving, table.peak or 0, 1)
    width, height = right - LEFT, HEIGHT - TOP - BOTTOM

    def x(number):
        return LEFT + width * number / count

    def y(nbytes):
        return TOP + height * (1 - nbytes / top)

    def text(at, down, words, anchor="start"):
        return f'<text x="{at:.1f}" y="{down:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
    parts, above = [], table.block
    for a in table.arrays:
        at, end = (a.at, a.last + 1) if a.at is not None else (above, count)
        above += a.nbytes if a.at is None else 0
        step = table.program.steps[a.first]
        words = f"{step.name or step.kind}: {shown(step.results)}, {size(a.nbytes)}"
        parts.append(f'<rect class="{"all" if a.at is not None else "kept"}" x="{x(a.first):.1f}" '
                     f'y="{y(at + a.nbytes):.1f}" width="{x(end) - x(a.first):.1f}" '
                     f'height="{y(at) - y(at + a.nbytes):.1f}"><title>{escape(words)}</title></rect>')
    parts.append(f'<path class="axis" d="M{LEFT},{TOP}V{y(0):.1f}H{right}"/>')
    parts += [text(LEFT - 6, y(nbytes) + 4, size(nbytes), "end") for nbytes in (0, top // 2, top)]
    parts += [text(LEFT, y(0) + 16, "step 0"), text(right, y(0) + 16, f"step {count - 1}", "end"),
              text(WIDTH / 2, TOP - 14, short(table.title, 90), "middle")]
    if table.peak is not None:
        parts += [f'<line class="peak" x1="{LEFT}" x2="{right}" y1="{y(table.peak):.1f}" y2="{y(table.peak):.1f}"/>',
                  text(right, y(table.peak) - 4, "as it is written", "end")]
    for name, words, start in (("all", "in the block", LEFT), ("kept", "what leaves", LEFT + 180)):
        parts += [f'<rect class="{name}" x="{start}" y="{HEIGHT - 19}" width="11" height="11"/>',
                  text(start + 18, HEIGHT - 9, words)]
    return (f'<svg class="{_STYLE} {theme}" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">{style}'
            f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>{"".join(parts)}</svg>')


def program(compiled: Callable, *args: Any, number: int = -1) -> ProgramTable:
    """The program that torch.compile has recorded of a function or a module: its steps, how long their results are
    needed, and how the arrays that do not leave the program share memory.

    args      arguments of a call. With them, the function runs once as it is written, to measure the peak of the bytes
              that it allocates. Its effects on parameters and gradients remain. Without them nothing runs
    number    the index of the program, in the order in which they were recorded; by default the last one

    TypeError if `compiled` is not a result of torch.compile. ValueError if it has no such program: there is one after
    the second call, and a function that runs as it is written has none.

    >>> import tinytorch as torch
    >>> f = torch.compile(lambda x: (x.exp() * 2).sin())
    >>> for _ in range(3):
    ...     y = f(torch.ones(64, 64))
    >>> program(f)
    <lambda>: 3 steps, replayed by Python
     step  call  of  result    dtype    bytes  memory  needed until
        0  exp   %0  %1 64x64  float32  16384  +0      1
        1  mul   %1  %2 64x64  float32  16384  +16384  2
        2  sin   %2  %3 64x64  float32  16384  new     the end
    32.0 KiB for what it computes with (32.0 KiB one by one), 16.0 KiB for what leaves
    """
    known = getattr(compiled, "_compiled", None)
    entries = getattr(known, "entries", None)
    if known is None or entries is None:
        raise TypeError(f"program expects a result of torch.compile, not {type(compiled).__name__}")
    ready = [x for entry in entries.values() for x in entry.programs]
    if not -len(ready) <= number < len(ready):
        reasons = [entry.reason for entry in entries.values() if entry.reason]
        raise ValueError(f"{known.name} has {len(ready)} programs" + (f": {reasons[-1]}" if reasons else ""))
    peak = None
    if args:
        with Meter() as meter:
            result = known.function(*args)
        peak = max([event.most for event in meter.events])
        del result
    found = ready[number]
    return ProgramTable(known.name, found.program, found.direct.calls if found.direct is not None else None, peak)
