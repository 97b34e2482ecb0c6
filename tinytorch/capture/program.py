"""A recorded call as a program: slots for arrays, and steps that are calls of functions on ndarrays.

`steps.py` makes it while the call runs eagerly; `replay.py` runs it again in Python with the same bits. Code that
lowers a program may rely on the statements below.

The order of the steps is the order of the calls, including draws of random numbers. Every step is a call of a function
that eager execution calls too, with the same arguments. So step.call(*args, **kwargs), with arrays in place of their
Refs, computes the same as eager execution, and returns new memory or views where eager execution does.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..autograd.node import Op
from ..tensor import Tensor

__all__ = ["CONSTANT", "Earlier", "GRAD", "INPUT", "MADE", "Output", "Program", "Ref", "Slot", "Step", "TENSOR",
           "filled", "ref", "refs"]

#: The sources of the value of a slot.
INPUT, TENSOR, GRAD, CONSTANT, MADE = "input", "tensor", "grad", "constant", "made"


class Ref(NamedTuple):
    """Stands for the value of a slot in the arguments and results of a step."""

    slot: int


_REFS: list[Ref] = []


def ref(slot: int) -> Ref:
    """The Ref of a slot: the same object at each call, so that equal programs mostly have identical arguments."""
    while len(_REFS) <= slot:
        _REFS.append(Ref(len(_REFS)))
    return _REFS[slot]


@dataclass(slots=True)
class Slot:
    """A value that steps read and make: an ndarray, or (shape None) an object that one rule passes to another.

    index     its index in Program.slots
    origin    INPUT     the array of a tensor among the arguments; a different array of the same layout at each call
              TENSOR    the array of a tensor that the callable refers to (a parameter, a buffer, a constant of the
                        user): the guard checks that `value._array` is still `array`
              GRAD      the array of the gradient of the leaf `value` at entry; a different array at each call
              CONSTANT  an array that does not depend on the arguments: `array`. No step may write to it
              MADE      the result of step `made`
    shape, dtype, strides     those of the array, the same at each call; strides in bytes
    root      the index of the first slot that has the same memory: its own index if there is none before it. A view of
              a view has the root of the first
    offset    the distance of its first element from the root's first element, in bytes
    value     the Tensor of TENSOR and GRAD
    array     the ndarray of TENSOR and CONSTANT
    made      the number of the step that made it, or None
    leaves    whether the caller, or an object that outlives the call, gets it: its memory must be new at each call, and
              must not be a reused buffer. A root leaves if any view of it leaves
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

    kind      forward     `call` is the forward of `op`; args are arrays and attributes by position, in the order of
                          `op.params` (with `keep` at the end if op.keep_flag). Its result is the output, or
                          (output, aux) if op.aux; the output is a tuple if op.multi
              rule        `call` is the derivative rule op.rules[argument] as it was written: its first argument is the
                          gradient, the others are the values that its parameters name (op.py). The result is a
                          gradient, not yet summed to the shape of the argument
              joint       `call` is the derivative rule of all arguments at once, op.rules["joint"], as it was written:
                          its first argument is the gradient (for an op.multi a list of gradients, some None), the
                          second a list that says whether the gradient of each argument is wanted, the others are the
                          values that its parameters name. The result is a sequence with a gradient or None for each
                          argument
              node        call(op, gradient, saved, shapes) returns the gradients of a node in half precision, as the
                          engine computes them; or call(a, b) adds two gradients of records
              sum         a gradient is summed down: call(g, shape), or call(g) where its first dimension goes
              add         two gradients of one tensor are added: call(a, b) returns a new array
              add_        two gradients are added in the memory of the first: call(a, b, out=a), which returns a
              numpy       a NumPy function, ufunc or method of a ufunc, which may have `out=`; or a function of the
                          library that is one step (kinds/one_step.py)
              part        the real or the imaginary part of an array, a view: call is an operator.attrgetter
              check       call(array) is a truth value that must be `results`; otherwise the program is not right for
                          these numbers, and the call runs eagerly. No step before it has an effect outside the program
              method      a method of ndarrays: call is the function of the class ndarray with that name
              getitem     call(array, index); setitem: call(array, index, value), which returns None
              view        a view of the root: call(root array, shape, dtype, offset, strides)
              fill        call(array, *arguments) fills the array with random numbers
              maker       a public function that makes a tensor from no tensors (zeros, randn, tensor): call(*args,
                          **kwargs) returns the array
              accumulate  call(leaf, array) adds to, or sets, leaf.grad; args = (Tensor, Ref). If `fresh`, leaf.grad is
                          None before, and afterwards a Tensor of this array (or of a copy, if the array is shared)
              set_grad    call(leaf, None): leaf.grad is set to None
              update      call(optimiser, group): one step for a group of parameters, from their .grad. Options, state
                          and counts are read at each call; args = (optimiser, number of the group)
    call      the function
    args, kwargs   the arguments, with Refs in place of the values of slots, at any depth of lists, tuples, dicts and
              slices. Everything else is the same at each call
    results   a Ref, or nested tuples and lists of Refs, with None for results that no step reads
    op        the Op of forward, rule and joint (None otherwise)
    argument  for a rule, the name of the argument whose gradient it computes
    name      the name of the called function, for people
    reads, writes, makes    the indices of the slots that it reads, that it writes to (slots among its arguments; a
              write also changes the views of the same root), and that it makes. `writes` was observed during the
              recording; code that lowers a step takes it from the rule of the operation
    draws     whether it may draw random numbers. Such steps must stay in order
    scalar    whether the result is a NumPy number, of which an array is made
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
    """An output that is the same tensor as an earlier output."""

    number: int


class Output(NamedTuple):
    """Stands for a tensor, with the array of a slot, in the result of a program.

    known          for a tensor that existed before the call, the number of the argument or the Tensor; Earlier(n) for
                   a tensor that is output n; else None
    base           the number of the output that it is a view of, or None. Only outputs with known=None are numbered
    requires_grad  whether it requires gradients: then it is a result of the node that stands for the whole program
    """

    slot: int
    known: Any = None
    base: int | None = None
    requires_grad: bool = False


@dataclass
class Program:
    """The steps of a call with one signature.

    inputs     the slots of the tensors among the arguments, in order (None for a tensor that no step reads)
    tensors    the slots of origin TENSOR; grads: the slots of origin GRAD
    outputs    the result in its nested structure, with Outputs in place of tensors
    bumps      (version cell of a known tensor, or number of an argument; the number of in-place writes that the call
               counts in addition to those that its steps count)
    backward   the program of the gradients, if the result requires gradients. Its inputs are the gradients of the
               outputs that require them, in order, and then the arrays of `saved`; its outputs go to `edges`, in order
    spent      whether the results have been differentiated already, so that another backward is an error
    saved      the slots that `backward` reads
    edges      the leaves (a Tensor) or inputs (their number) that get gradients
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
    """The indices of the slots in nested arguments."""
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
    """Nested arguments with the values of slots in place of their Refs."""
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
