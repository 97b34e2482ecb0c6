"""A recorded call as a program: slots for arrays, and steps that are calls of functions on ndarrays.

`steps.py` makes it while the call runs eagerly; `replay.py` runs it again in Python with the bits of eager. Whoever
lowers it to something else may rely on what stands here.

The order of the steps is the order of the calls, draws of random numbers among them. Every step is a call of a function
that eager itself calls, with the same arguments: so step.call(*args, **kwargs), with arrays in the place of their Refs,
computes what eager does, and gives new memory where eager does and views where eager does.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..autograd.node import Op
from ..tensor import Tensor

__all__ = ["CONSTANT", "Earlier", "GRAD", "INPUT", "MADE", "Output", "Program", "Ref", "Slot", "Step", "TENSOR",
           "filled", "refs"]

#: Where the value of a slot comes from.
INPUT, TENSOR, GRAD, CONSTANT, MADE = "input", "tensor", "grad", "constant", "made"


class Ref(NamedTuple):
    """In the arguments and results of a step: the value of this slot stands here."""

    slot: int


@dataclass(slots=True)
class Slot:
    """A value that steps read and make: an ndarray, or (shape None) an object that one rule hands to another.

    index     its place in Program.slots
    origin    INPUT     the array of a tensor among the arguments; another at each call, of the same layout
              TENSOR    the array of a tensor that the callable knows (parameter, buffer, constant of the user's): the
                        guard says that `value._array` is the array that it was, `array`
              GRAD      the array of the gradient that the leaf `value` has at entry: another at each call
              CONSTANT  an array that does not depend on the arguments: `array`. It may be written to by no step
              MADE      the result of step `made`
    shape, dtype, strides     of the array, the same at each call; strides in bytes
    root      the slot in whose memory it lies: its own index if no slot before it lies in that memory. Views have the
              slot of the first, however many views lie between
    offset    of its first element from that of the root's array, in bytes
    value     the Tensor of TENSOR and GRAD
    array     the ndarray of TENSOR and CONSTANT
    made      the number of the step that made it, or None
    leaves    whether the caller gets it, or something that lives on: its memory must be new at each call, and nobody's
              buffer. That of a root is true if any view of it leaves
    """

    index: int
    origin: str
    shape: tuple[int, ...] | None = None
    dtype: np.dtype | None = None
    strides: tuple[int, ...] | None = None
    root: int = -1
    offset: int = 0
    value: Tensor | None = None
    array: np.ndarray | None = None
    made: int | None = None
    leaves: bool = False


@dataclass(slots=True)
class Step:
    """One call: results = call(*args, **kwargs).

    kind      forward     `call` is the forward of `op`; args by position, arrays and attributes, as `op.params` names
                          them (with `keep` at the end if op.keep_flag). Its result is the output, or (output, aux) if
                          op.aux; the output is a tuple if op.multi
              rule        `call` is the derivative rule op.rules[argument] as it was written: its first argument is the
                          gradient, the others are what its parameters name (op.py). The result is a gradient, not yet
                          summed to the shape of the argument
              joint       `call` is the derivative rule of all arguments at once, op.rules["joint"], as it was written:
                          its first argument is the gradient (a list of them, some None, for an op.multi), the second
                          the list of whether the gradient of each argument is wanted, the others are what its
                          parameters name. The result is a sequence with a gradient or None for each argument
              sum         a gradient is summed down: call(g, shape), or call(g) where its first dimension goes
              add         two gradients that meet are added: call(a, b) gives a new array
              add_        the same in the memory of the first one: call(a, b, out=a), which gives a
              numpy       a function, ufunc or method of ufunc of NumPy's, which may have `out=`
              part        the real or the imaginary part of an array, a view: call is an operator.attrgetter
              check       call(array) is a truth value that must be `results`; else the program does not hold for these
                          numbers, and the call is run eagerly. No step before it has an effect outside of the program
              method      a method of ndarrays: call is the function of the class ndarray with that name
              getitem     call(array, index); setitem: call(array, index, value), which gives None
              view        a view of the root: call(root array, shape, dtype, offset, strides)
              fill        call(array, *arguments) fills it with random numbers
              maker       a public function that makes a tensor of no tensors (zeros, randn, tensor): call(*args,
                          **kwargs) gives the array
              accumulate  call(leaf, array) adds to, or sets, leaf.grad; args = (Tensor, Ref). If `fresh`, leaf.grad is
                          None before, and a Tensor of that very array (or of a copy, if it is shared) afterwards
              set_grad    call(leaf, None): leaf.grad is set to None
              update      call(optimiser, group): one step of a group of parameters, from their .grad, with options,
                          state and counts that are read at each call; args = (optimiser, number of the group)
    call      the function
    args, kwargs   with Ref where the value of a slot stands, at any depth of lists, tuples, dicts and slices; anything
              else is the same at each call
    results   Ref, or nested tuples and lists of them with None where nobody reads what stands there
    op        the Op of forward, rule and joint (None otherwise)
    argument  of a rule: the name of the argument that it is of
    name      of what is called, for people
    reads, writes, makes    numbers of slots: which it reads, whose memory it writes to (among them the slots that it
              was given; what views of the same root show changes too), which it makes. `writes` is what was seen
              while recording; for what is lowered the rule of the operation says it
    draws     whether it may draw random numbers: the order of such steps may not change
    scalar    whether the result is a number of NumPy's, of which an array is made
    """

    kind: str
    call: Callable
    args: tuple
    kwargs: dict[str, Any]
    results: Any
    op: Op | None = None
    argument: str | None = None
    name: str = ""
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    makes: tuple[int, ...] = ()
    draws: bool = False
    scalar: bool = False
    fresh: bool = False


class Earlier(NamedTuple):
    """An output that is one of those before it."""

    number: int


class Output(NamedTuple):
    """In the result of a program: a tensor of the array of this slot.

    known          the tensor that it is, if it is one that was there before (an argument: its number, or a Tensor), or
                   Earlier(n): it is the output n itself, once more
    base           the number of the output that it is a view of, or None. Outputs are numbered without those known
    requires_grad  whether it requires gradients: then it is a result of the one node that stands for the program
    """

    slot: int
    known: Any = None
    base: int | None = None
    requires_grad: bool = False


@dataclass
class Program:
    """What a call of one signature does.

    inputs     the slots of the tensors among the arguments, in order (None for one that no step reads)
    tensors    the slots of origin TENSOR; grads: those of origin GRAD
    outputs    the result, nested as it was, with Output in the place of tensors
    bumps      (version cell of a tensor that is known, or the number of an argument; how many in-place writes the call
               counts beside those that its steps count)
    backward   the program of the gradients, if the result requires them: its inputs are the gradients of the outputs
               that require them, in order, then the arrays of `saved`; its outputs go to `edges`, in order
    spent      whether the results that require gradients have been differentiated already: another backward is an error
    saved      the slots that `backward` reads
    edges      the leaves (a Tensor), or inputs (their number) that get gradients
    """

    slots: list[Slot] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    inputs: list[int | None] = field(default_factory=list)
    outputs: Any = None
    bumps: list[tuple[Any, int]] = field(default_factory=list)
    backward: Program | None = None
    spent: bool = False
    saved: list[int] = field(default_factory=list)
    edges: list[Any] = field(default_factory=list)

    @property
    def tensors(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.origin == TENSOR]

    @property
    def grads(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.origin == GRAD]

    def last_reads(self) -> list[int]:
        """The number of the last step that reads or writes each slot, or -1."""
        last = [-1] * len(self.slots)
        for number, step in enumerate(self.steps):
            for slot in (*step.reads, *step.writes, *step.makes):
                last[slot] = number
        return last

    def __str__(self) -> str:
        return "\n".join([f"{shown(step.results)} = {step.name or step.kind}({shown(step.args)[1:-1]})"
                          f"{' ' + step.argument if step.argument else ''}" for step in self.steps])


def refs(value: Any) -> Iterator[int]:
    """The slots that are named in nested arguments."""
    if value.__class__ is Ref or value.__class__ is Output:
        yield value.slot
    elif isinstance(value, (tuple, list)):
        for x in value:
            yield from refs(x)
    elif value.__class__ is dict:
        for x in value.values():
            yield from refs(x)
    elif value.__class__ is slice:
        yield from refs((value.start, value.stop, value.step))


def filled(value: Any, values: list[Any]) -> Any:
    """Nested arguments with the values of slots in the place of their Refs."""
    if value.__class__ is Ref:
        return values[value.slot]
    if value.__class__ is tuple or value.__class__ is list:
        return value.__class__([filled(x, values) for x in value])
    if value.__class__ is dict:
        return {key: filled(x, values) for key, x in value.items()}
    if value.__class__ is slice:
        return slice(filled(value.start, values), filled(value.stop, values), filled(value.step, values))
    return value


def shown(value: Any) -> str:
    """Nested arguments as text."""
    if value.__class__ is Ref:
        return f"%{value.slot}"
    if value.__class__ is tuple:
        return "(" + ", ".join(map(shown, value)) + ")"
    if value.__class__ is list:
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, np.ndarray):
        return f"<{value.dtype}{list(value.shape)}>"
    if isinstance(value, Tensor):
        return f"<tensor {tuple(value._array.shape)}>"
    return str(value)
