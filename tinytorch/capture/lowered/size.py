"""Whether a program's arrays are too large for lowering to pay."""
from __future__ import annotations

from math import prod

from ..program import MADE, Program

__all__ = ["is_large"]

#: Above LARGE bytes of arrays, a program with the bits of eager is not lowered, because the calls from Python are a
#: small part of its cost. The exception is a program without gradients that needs at most HELD bytes at once. It gains
#: a twentieth or more, because its arrays share memory that stays in the cache. It keeps these bytes between calls.
LARGE, HELD = 1 << 23, 1 << 26
#: The kinds of steps that compute gradients or use them.
_WITH_GRADIENTS = frozenset(("rule", "joint", "accumulate", "update"))


def is_large(program: Program, wanted: list[int]) -> bool:
    """Whether such a program is not lowered because of the size of its arrays."""
    slots, last = program.slots, program.last_reads()
    size, ends = {}, {}
    for slot in slots:
        if slot.origin == MADE and slot.shape is not None and slot.root == slot.index:
            size[slot.index] = slot.dtype.itemsize * prod(slot.shape)
    if sum(size.values()) <= LARGE:
        return False
    if program.backward is not None or program.spent or any([s.kind in _WITH_GRADIENTS for s in program.steps]):
        return True
    leave = {slots[i].root for i in wanted}
    for slot in slots:
        if slot.root in size and slot.root not in leave:
            ends[slot.root] = max(ends.get(slot.root, -1), last[slot.index])
    held = most = 0
    for number, step in enumerate(program.steps):
        held += sum([size[i] for i in step.makes if i in ends])
        most = max(most, held)
        held -= sum([size[i] for i in {slots[i].root for i in (*step.reads, *step.writes, *step.makes)}
                     if ends.get(i) == number])
    return most > HELD
