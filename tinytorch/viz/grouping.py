"""Groups the steps of a tape by the calls of modules in which they ran, and folds equal runs of them."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from .recorder import Call
from .tape import Leaf, Step


class Group:
    """One call of a module, or of the whole program: `call` (None for the program), `members` in order of execution,
    each a Step, a Group or a Repeat."""

    def __init__(self, call: Call | None, members: list | None = None) -> None:
        self.call = call
        self.members: list[Step | Group | Repeat] = [] if members is None else members

    @property
    def label(self) -> str:
        if self.call is None:
            return ""
        path = self.call.path.rpartition(".")[2]
        return f"{path}: {self.call.cls}" if path else self.call.cls

    def steps(self) -> Iterator[Step]:
        """All steps in the group, in order."""
        return steps_of(self.members)

    def __repr__(self) -> str:
        return f"<{self.label or 'program'}, {len(self.members)} members>"


class Repeat:
    """Equal turns one after the other: time steps, layers or blocks. `turns`: lists of members."""

    def __init__(self, turns: list[list[Step | Group | Repeat]]) -> None:
        self.turns = turns

    @property
    def label(self) -> str:
        """A text with the contents of a turn and the number of turns.

        >>> Repeat([[Group(Call("blocks.0", "Block", 0))], [Group(Call("blocks.1", "Block", 0))]]).label
        'Block x2'
        """
        groups = [m.call.cls for m in self.turns[0] if isinstance(m, Group) and m.call]
        shown = groups or [m.name if isinstance(m, Step) else m.label for m in self.turns[0]]
        text = ", ".join(shown[:3]) + (" ..." if len(shown) > 3 else "")
        return f"{text} x{len(self.turns)}"

    def steps(self) -> Iterator[Step]:
        """All steps of all turns, in order."""
        for turn in self.turns:
            yield from steps_of(turn)

    def __repr__(self) -> str:
        return f"<{self.label}>"


def steps_of(members: Sequence[Step | Group | Repeat]) -> Iterator[Step]:
    for member in members:
        if isinstance(member, Step):
            yield member
        else:
            yield from member.steps()


def grouped(steps: Sequence[Step]) -> Group:
    """The steps as a tree of calls. In each call repetitions are a Repeat."""
    root = Group(None)
    path = [root]                              # the open groups
    for step in steps:
        calls = step.origin.calls if step.origin is not None else ()
        depth = 0
        while depth < len(calls) and depth + 1 < len(path) and path[depth + 1].call == calls[depth]:
            depth += 1
        del path[depth + 1:]
        for call in calls[depth:]:
            group = Group(call)
            path[-1].members.append(group)
            path.append(group)
        path[-1].members.append(step)
    _fold(root)
    return root


def _fold(group):
    for member in group.members:
        if isinstance(member, Group):
            _fold(member)
    group.members = folded(group.members)


def signature(member: Step | Group | Repeat) -> tuple:
    """A value that is equal for members that look the same. It has operations, shapes of results and parameters, and
    classes."""
    if isinstance(member, Step):
        return member.name, member.shapes, tuple([s.shape for s, _ in member.inputs if isinstance(s, Leaf)])
    if isinstance(member, Repeat):
        return "repeat", len(member.turns), tuple([signature(m) for m in member.turns[0]])
    return member.call and member.call.cls, tuple([signature(m) for m in member.members])


#: The largest number of members of a turn that is not one module, and the smallest number of turns of steps that are
#: folded.
LONGEST, FEWEST = 40, 3


def folded(members: list[Step | Group | Repeat]) -> list[Step | Group | Repeat]:
    """The members, in which repetitions in a row are a Repeat. At each place the turns that cover most members are
    folded."""
    signatures = [signature(m) for m in members]
    result, i = [], 0
    while i < len(members):
        length, count = _longest_repeat(signatures, i)
        has_group = any([isinstance(m, Group) for m in members[i:i + length]])
        if count >= (2 if has_group else FEWEST):
            result.append(Repeat([members[i + k * length:i + (k + 1) * length] for k in range(count)]))
            i += length * count
        else:
            result.append(members[i])
            i += 1
    return result


def _longest_repeat(signatures, i):
    """(length of a turn, number of turns) at place i. The turns cover as many members as possible, and are as short as
    possible."""
    best, covered = (1, 1), 1
    for length in range(1, min(LONGEST, (len(signatures) - i) // 2) + 1):
        turn, count = signatures[i:i + length], 1
        while signatures[i + count * length:i + (count + 1) * length] == turn:
            count += 1
        if count > 1 and count * length > covered:
            best, covered = (length, count), count * length
    return best
