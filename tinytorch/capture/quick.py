"""A short way to a program for calls whose arguments are simple: tensors, numbers, strings and None by position.

A replay of a small program takes a few microseconds, and so do the function calls between the call of a compiled
callable and the replay. `Quick` writes one function that compares the arguments with the signature, checks the guards,
replays the program and makes the tensor of its result.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import all_threads, mode
from ..autograd.identity import Signature, fits, wrapped
from ..autograd.node import FREED, new_node
from ..kernels import errstate
from ..kinds.lazy import root_of
from ..seam import seam
from ..tensor import new_tensor_state, wrap
from .ready import SPENT, TENSORS, Ready, settings
from .replay import Changed

if TYPE_CHECKING:
    from .compiled import Compiled

__all__ = ["MISSED", "Matching", "Quick", "matcher"]

#: The result of `Quick.run` for a call of another signature, or whose guards do not hold.
MISSED = type("Missed", (), {"__repr__": lambda self: "MISSED"})()


class Matching(NamedTuple):
    """The comparison of arguments with a signature, as source.

    count   the number of arguments
    tests   conditions on the names x0, x1 ... of the arguments
    names   the names of those that are tensors
    scope   the values of other names in the conditions
    signature   what C compares the arguments with first, or None
    """

    count: int
    tests: list[str]
    names: list[str]
    scope: dict[str, Any]
    signature: Signature | None

    def function(self, before: str, then: list[str], scope: dict[str, Any]) -> Callable:
        """A function with the parameters `before` and `args`. It runs the lines `then` for arguments that match, and
        returns MISSED after them and for others."""
        given = [f"{''.join([f'x{i}, ' for i in range(self.count)])}= args"] * bool(self.count)
        tests = " and ".join(self.tests) or "True"
        scope = {**self.scope, **scope, "MISSED": MISSED}
        if self.signature is None:
            lines = [f"if len(args) == {self.count}:", *["    " + x for x in given], f"    if {tests}:"]
        else:
            lines = ["if fit := fits(arguments, args):", *["    " + x for x in given], f"    if fit > 0 or {tests}:"]
            scope.update(fits=fits, arguments=self.signature.packed())
        lines = [f"def run({before}args):", *["    " + x for x in (*lines, *["        " + x for x in then])],
                 "    return MISSED", "return run"]
        room: dict[str, Any] = {}
        exec(f"def make({', '.join(scope)}):\n    " + "\n    ".join(lines), room)
        return room["make"](**scope)

    def __call__(self, args: tuple) -> list | None:
        """The tensors of arguments with this signature, and None for other arguments."""
        found = self.function("", [f"return [{', '.join(self.names)}]"], {})(args)
        return None if found is MISSED else found


def matcher(args: tuple) -> Matching | None:
    """The comparison with the signature of `args`. None if `args` has more than 30 elements, has the same tensor twice,
    or has an element that is neither a simple tensor nor an int, bool, str or None."""
    scope, tests, names = {"ndarray": np.ndarray, "root_of": root_of}, [], []
    tensors = [x for x in args if x.__class__ in TENSORS]
    if len(set(map(id, tensors))) < len(tensors) or len(args) > 30:
        return None
    roots: list[tuple] = []
    signature = None if fits is None else Signature()
    for i, x in enumerate(args):
        if x.__class__ in TENSORS:
            array = x._array
            if type(array) is not np.ndarray or x._version_counter.__class__ is not list or x._hooks is not None:
                return None
            scope.update({f"c{i}": x.__class__, f"s{i}": array.shape, f"d{i}": array.dtype, f"p{i}": array.strides})
            names.append(f"x{i}")
            tests.append(f"x{i}.__class__ is c{i} and type(a := x{i}._array) is ndarray and "
                         f"a.shape == s{i} and a.dtype is d{i} and a.strides == p{i} and "
                         f"x{i}._requires_grad is {x._requires_grad} and (x{i}._node is None) is {x._node is None} and "
                         f"x{i}._hooks is None and x{i}._version_counter.__class__ is list")
            root = root_of(array)
            if signature is not None:
                signature.tensor(x, next((k for k, (_, other) in enumerate(roots) if other is root), None))
            if len(tensors) > 1:               # whether the same tensors share memory
                tests.append(f"((r{i} := a) if (b := a.base) is None else (r{i} := b) if type(b) is ndarray and "
                             f"b.base is None else (r{i} := root_of(a))) is not None")
                tests += [f"r{i} is {'' if root is other else 'not '}r{j}" for j, other in roots]
            roots.append((i, root))
        elif x.__class__ in (int, bool, str, type(None)):
            scope[f"c{i}"], scope[f"s{i}"] = x.__class__, x
            tests.append(f"x{i}.__class__ is c{i} and x{i} == s{i}")
            if signature is not None:
                signature.object(x)
        else:
            return None
    for i, a in enumerate(names):
        tests += [f"{a} is not {b}" for b in names[:i]]
    return Matching(len(args), tests, names, scope, signature)


class Quick:
    """The short way to one program.

    run     run(compiled, args) -> the result of the call of a Compiled, or MISSED
    match   the comparison of arguments
    ready   the program
    """

    __slots__ = ("run", "match", "ready", "_state")

    def __init__(self, match: Matching, ready: Ready) -> None:
        self.match, self.ready = match, ready
        self._state = {"grad": mode.grad_now, "default": dt.get_default_dtype(), "resets": settings.resets}
        self.run: Callable[[Compiled, tuple], Any] = self._written(self._usual())
        if not ready.waits:
            self.settle()

    def settle(self) -> None:
        """Writes `run` for a program that is lowered now, or never will be."""
        if self.ready.program.backward is None:
            self.run = self._written(self._replay())

    def _usual(self):
        return [f"return compiled.replayed(ready, [{', '.join(self.match.names)}], args, {{}})"]

    def _written(self, then):
        scope, guards = self.ready.guards()
        # No thread records: while one does, the seam is up, and not for classes
        state = ["settings.replays", "settings.resets == resets", "(not seam.up or seam.is_up_for_classes_alone())",
                 "default_dtype() is default"]
        here_alone = "mode.grad_now is grad and not mode.inference"
        if self._state["grad"] is True:        # no thread is in another mode: that is known without reading this one's
            here_alone = f"(not all_threads.in_special_mode or {here_alone})"
        state.append(here_alone)
        scope.update(self._state, settings=settings, seam=seam, mode=mode, wrap=wrap, Changed=Changed,
                     all_threads=all_threads, wrapped=wrapped, usual=new_tensor_state,
                     default_dtype=dt.get_default_dtype, compute=self.ready.compute, quiet=errstate.quiet(),
                     direct=self.ready.direct, finish=self.ready.finish, Stale=self.ready.stale, lock=self.ready.lock,
                     new_node=new_node, spent=SPENT, FREED=FREED)
        lines = ["try:", f"    holds = {' and '.join([*state, *guards])}", "except ValueError:", "    holds = False",
                 "if holds:", *["    " + x for x in then]]
        return self.match.function("compiled, ", lines, scope)

    def _replay(self):
        """The lines that replay a program without a backward, as Compiled.replayed and Ready.run do."""
        # `special` is the count of the next replay that is checked. A program that Python replays has no `direct`
        ready, program, names = self.ready, self.ready.program, ", ".join(self.match.names)
        arrays = "(" + "".join([f"{x}._array, " for x in self.match.names]) + ")"
        usual, = self._usual()
        lines = ["count = ready.count + 1", "if count >= ready.special:", "    " + usual]
        call = f"compute({arrays})"
        if ready.direct is not None:
            ours = f"quiet(direct.replay, {arrays})" if ready.direct.in_numpy else f"direct.replay({arrays})"
            call = f"{ours} if direct.plain else {call}"
        eagerly = ["except Changed:", "    return compiled.function(*args)"]
        if ready.lock is None:
            lines += ["try:", f"    values = {call}", *eagerly]
        else:
            stale = ["except Stale:", "    values = None"] * (ready.stale is not None)
            lines += ["if not lock.acquire(False):", "    return compiled.function(*args)",
                      "try:", f"    values = {call}", *eagerly, *stale, "finally:", "    lock.release()",
                      "if values is None:", "    " + usual]
        lines.append("ready.count = count")
        for cell, count in program.bumps:
            if cell.__class__ is int:
                lines.append(f"x{cell}._version_counter[0] += {count}")
            else:
                self.match.scope[f"versions{id(cell)}"] = cell
                lines.append(f"versions{id(cell)}[0] += {count}")
        if ready.finish.single is not None:
            made = f"wrap(values[{ready.finish.single}])"
            if wrapped is not None:
                made = f"wrapped(values[{ready.finish.single}]) if usual.cell is None else {made}"
            lines.append(f"result = {made}")
            if program.spent and program.outputs.requires_grad:
                shape = program.slots[program.outputs.slot].shape
                lines += ["result._requires_grad = True",     # as attach_spent does
                          f"result._node = new_node(spent, (), None, FREED, {shape})"]
            return [*lines, "return result"]
        return [*lines, f"return finish(values, [{names}], {'()' if program.spent else None})"]
