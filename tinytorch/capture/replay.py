"""Replays a program in Python: generated straight-line code calls the functions that eager calls."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.accumulate import (
    accumulate_grad,
    lock as _lock,  # noqa: F401
)
from ..tensor import Tensor, wrap
from .program import CONSTANT, MADE, TENSOR, Program, Ref, Slot, Step, refs

__all__ = ["Changed", "may_be_scalar", "python"]


class Changed(Exception):
    """Raised if a truth value on which the program relies has changed. The replay has had no side effects by then."""


def python(program: Program, wanted: list[int], observe: Callable | None = None) -> Callable[[list], tuple]:
    """function(arrays of the inputs) -> the arrays of the slots `wanted`.

    After each step, `observe(number, made, written)` is called with the arrays that the step made and wrote to.
    """
    writer = _Writer(program, wanted)
    return writer.function(observe)


class _Writer:
    def __init__(self, program, wanted):
        self.program, self.wanted, self.read, self.shared = program, wanted, set(), set()
        self.names, self.scope = {}, {}
        self.slots = program.slots

    # -------------------------------------------------------------- values
    def constant(self, value: Any, hint: str = "c") -> str:
        """The name in the generated code of a value that is the same at each call."""
        key = id(value)
        if key not in self.names:
            name = f"{hint}{len(self.names)}"
            self.names[key], self.scope[name] = name, value
        return self.names[key]

    def slot(self, index: int) -> str:
        slot = self.slots[index]
        if slot.origin in (TENSOR, CONSTANT):
            return self.constant(slot.array, "a")
        return f"v{index}"

    def text(self, x: Any) -> str:
        """The text of an argument in the generated code."""
        kind = x.__class__
        if kind is Ref:
            return self.slot(x.slot)
        if x is None or x is True or x is False or kind is int:
            return repr(x)
        if kind in (tuple, list, dict, slice) and any(True for _ in refs(x)):
            if kind is tuple:
                return "(" + "".join([self.text(y) + ", " for y in x]) + ")"
            if kind is list:
                return "[" + ", ".join([self.text(y) for y in x]) + "]"
            if kind is dict:
                return "{" + ", ".join([f"{self.text(key)}: {self.text(y)}" for key, y in x.items()]) + "}"
            return f"slice({self.text(x.start)}, {self.text(x.stop)}, {self.text(x.step)})"
        if isinstance(x, tuple) and any(True for _ in refs(x)):
            given = ", ".join([self.text(y) for y in x])
            return f"{self.constant(kind)}({given})" if hasattr(x, "_fields") else f"{self.constant(kind)}([{given}])"
        return self.fresh(x)

    def fresh(self, x: Any) -> str:
        """The text of an argument without arrays. A list is written out, because a rule may write to it."""
        if x.__class__ is list and all([y is None or y.__class__ in (bool, int) for y in x]):
            return repr(x)
        return self.constant(x)

    # -------------------------------------------------------------- steps
    def line(self, step: Step, last: list[int], number: int) -> list[str]:
        kind = step.kind
        if kind == "check":
            return [f"if bool({self.text(step.args[0])}) is not {step.results}:", "    raise Changed"]
        if kind == "accumulate":
            return [self.accumulate(step, last, number)]
        if kind == "set_grad":
            return [f"{self.constant(step.args[0], 't')}._grad = None"]
        given = [self.text(x) for x in step.args] + [f"{key}={self.text(x)}" for key, x in step.kwargs.items()]
        call = f"{self.constant(step.call, 'f')}({', '.join(given)})"
        target = self.target(step.results, step)
        scalar = may_be_scalar(step, self.slots)
        if scalar and step.results.__class__ is Ref:
            call = f"asarray({call})"
        lines = [f"{target} = {call}" if target else call]
        if scalar and step.results.__class__ is not Ref:
            first = self.slot(step.results[0].slot)
            lines.append(f"{first} = asarray({first})")
        return lines

    def target(self, results: Any, step: Step) -> str:
        """The text to which the result of a step is assigned: "" if the step makes no new array."""
        made = set(step.makes)
        if results.__class__ is Ref:
            return self.slot(results.slot) if results.slot in made else ""
        if results.__class__ in (tuple, list):
            parts = []
            for x in results:
                if x.__class__ is Ref and x.slot in made:
                    parts.append(self.slot(x.slot))
                elif x.__class__ in (tuple, list) and any([i in made for i in refs(x)]):
                    parts.append("(" + self.target(x, step) + ")")
                else:
                    parts.append("_")
            return ", ".join(parts) + ("," if len(parts) == 1 else "")
        return ""

    def accumulate(self, step, last, number):
        leaf, given = step.args
        slot = self.slots[given.slot]
        name = self.constant(leaf, "t")
        if not step.fresh:
            return f"accumulate_grad({name}, {self.text(given)})"
        leaf_array = leaf._array if type(leaf._array) is np.ndarray else leaf._array.value
        alone = slot.origin == MADE and slot.root == slot.index and slot.strides == leaf_array.strides and (
            given.slot not in self.shared) and last[given.slot] <= number and given.slot not in self.wanted
        made = step.makes
        if alone:
            text = f"{name}._grad = wrap({self.text(given)})"
        else:
            text = f"copy_to_grad({name}, {self.text(given)})"
        for index in made:
            if index in self.read:
                text += f"; v{index} = {name}._grad._array"
        return text

    def function(self, observe):
        program = self.program
        last = program.last_reads()
        self.shared = {slot.root for slot in self.slots if slot.origin == MADE and slot.root != slot.index}
        counts: dict[int, int] = {}
        for step in program.steps:             # no leaf may own an array that goes to two leaves
            if step.kind == "accumulate":
                counts[step.args[1].slot] = counts.get(step.args[1].slot, 0) + 1
        self.shared |= {slot for slot, n in counts.items() if n > 1}
        lines = []
        self.read = read = set(self.wanted).union(*[
            (*step.reads, *step.writes) for step in program.steps if step.kind != "update"])
        for place, index in enumerate(program.inputs):
            if index is not None and index in read:
                lines.append(f"v{index} = inputs[{place}]")
        for slot in program.grads:
            if slot.index in read:
                lines.append(f"v{slot.index} = {self.constant(slot.value, 't')}._grad._array")
        keep = set(self.wanted)
        for number, step in enumerate(program.steps):
            lines += self.line(step, last, number)
            if observe is not None:
                self.scope["observe"] = observe
                values = "".join([f"{self.slot(i)}, " for i in step.makes])
                written = "".join([f"{self.slot(i)}, " for i in step.writes])
                lines.append(f"observe({number}, ({values}), ({written}))")
            dead = [] if step.kind == "update" else [
                f"v{i}" for i in dict.fromkeys((*step.reads, *step.makes)) if last[i] == number and i not in keep and (
                    self.slots[i].origin == MADE and _is_large(self.slots[i])) and (
                        i in read or step.kind != "accumulate")]
            if dead:
                lines.append("del " + ", ".join(dead))
        lines.append("return " + ("".join([f"{self.slot(i)}, " for i in self.wanted]) or "()"))
        names = list(self.scope)
        body = "\n        ".join(lines)
        text = f"def make({', '.join(names)}):\n    def replay(inputs):\n        {body}\n    return replay\n"
        room = {"asarray": np.asarray, "wrap": wrap, "accumulate_grad": accumulate_grad, "Changed": Changed,
                "copy_to_grad": copy_to_grad}
        exec(compile(text, "<program>", "exec"), room)
        made = room["make"](**self.scope)
        made.text = text
        return made


def may_be_scalar(step: Step, slots: list[Slot]) -> bool:
    """Whether the first result of a step may be NumPy's scalar: it was when the step was recorded, or it is an array of
    one number, which some operations make in several ways."""
    if step.scalar or step.kind != "forward":
        return step.scalar
    first = step.results if step.results.__class__ is Ref else step.results and step.results[0]
    return first.__class__ is Ref and first.slot in step.makes and slots[first.slot].shape == ()


def _is_large(slot: Slot) -> bool:
    return slot.dtype is None or int(np.prod(slot.shape)) * slot.dtype.itemsize >= 4096


def copy_to_grad(leaf: Tensor, g: np.ndarray) -> None:
    """Sets leaf.grad to a copy of the gradient `g`, which other objects may hold."""
    fresh = np.empty_like(leaf._array)
    fresh[...] = g
    leaf._grad = wrap(fresh)
