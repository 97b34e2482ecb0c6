"""From a Program to a function that replays it in C."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...autograd.identity import Same, same
from ...kernels import native, pool, scatter, threads
from ...kernels.native.table import KERNELS, failing
from ...tensor import Tensor
from ..program import CONSTANT, GRAD, INPUT, MADE, TENSOR, Program, Ref, refs
from ..replay import python
from . import functions  # noqa: F401
from .arrays import NotLowered, Place, Reading, Root, Traced
from .emit import fused, plan
from .epilogue import folded, in_place, limited, merged, needed
from .size import is_large
from .tape import FUNCTIONS, Call, InNumpy, Tape
from .text import InPython, Opaque, Stale, Text, as_it_lies, owner_of
from .world import World

__all__ = ["Lowered", "lower"]


def lower(program: Program, wanted: list[int], bits: bool = False) -> Callable[[list], tuple]:
    """function(arrays of the inputs) -> the arrays of the slots `wanted`, as replay.python returns. With `bits`, the
    results have the bits of eager, so NumPy computes what C would round differently. Raises NotImplementedError if
    there are no native kernels or if the program cannot be lowered."""
    return Lowered(program, wanted, bits)


#: A program with the bits of eager is lowered again at most this often. After that, Python replays it for good.
_AGAIN = 5
#: A result of fewer bytes than this that is a part of other memory, such as a loss behind those of all rows, is copied
#: to an array of its own. A view of the part takes longer.
_SHORT = 256
#: What `failing` says of a kernel that never fails in a program: None, or the name of a plan, which is right.
_NEVER = {None, "order", "plan", "columns"}


class Lowered:
    """A program and the function that replays it in C.

    python   the steps that are left to Python
    sizes    (bytes of the block that the arrays share, sum of the bytes of these arrays)
    calls    the number of calls of C functions
    why      the reasons why steps are left to Python
    """

    def __init__(self, program: Program, wanted: list[int], bits: bool = False) -> None:
        if native.level() is None:
            raise NotImplementedError("there are no native kernels")
        if bits and is_large(program, wanted):
            raise NotImplementedError("the arrays are so large that replay in C would save little")
        self.program, self.wanted, self.bits, self.again = program, wanted, bits, 0
        self._lower()

    def build(self) -> None:
        """Lowers the program again after something that the lowering relied on has changed."""
        self.again += 1
        try:
            if self.bits and self.again > _AGAIN:
                raise NotImplementedError("the program has been lowered too often")
            self._lower()
        except Exception as error:
            if not self.bits:
                raise
            self.why.append(f"left to Python: {error}")
            self.replay, self.python, self.calls = python(self.program, self.wanted), self.program.steps, 0
            self.plain = False

    def _lower(self):
        maker = _Maker(self.program, self.wanted, self.bits)
        self.replay, self.text = maker.function()
        self.python, self.sizes, self.calls, self.why = maker.python, maker.sizes, maker.count, maker.why
        # Whether C computes everything, perhaps between functions of NumPy; whether there are any
        self.plain, self.in_numpy = not maker.python, maker.in_numpy

    def __call__(self, inputs: list) -> tuple:
        try:
            return self.replay(inputs)
        except Stale:
            self.build()
            return self.replay(inputs)


def _has_traced(values):
    for x in values:
        if type(x) is Traced or type(x) in (tuple, list) and _has_traced(x):
            return True
    return False


class OtherForm(NotLowered):
    """A result does not have the parts that it has in eager."""


def _of_reals(place):
    """The place of an array of complex numbers as one of pairs of real numbers; any other place as it is."""
    if place.dtype.kind != "c":
        return place
    size = place.dtype.itemsize // 2
    return place._replace(shape=(*place.shape, 2), strides=(*place.strides, size), dtype=np.dtype(f"f{size}"))


class _Held:
    """Stands in for a tensor of an optimiser's state."""

    __slots__ = ("_array",)

    def __init__(self, array):
        self._array = array


class _Count:
    """Stands in for the array of a step count. `text` is the name of its value before the program runs, which takes
    `ahead` steps before."""

    ndim = 0

    def __init__(self, maker, array, text):
        self.maker, self.array, self.text, self.ahead = maker, array, text, maker.ahead.get(id(array), 0)

    def __iadd__(self, n):
        if n != 1:
            raise NotLowered("a step count that grows by more than one")
        self.ahead += 1
        self.maker.ahead[id(self.array)] = self.ahead
        self.maker.counted.append(self.maker.kept_place(self.array))
        return self

    def item(self):
        value = self.array.item() + self.ahead + self.maker.trying
        return Reading(value, f"({self.text} + {self.ahead})", self.maker.decided)


class _Maker:
    def __init__(self, program, wanted, bits=False):
        self.program, self.wanted, self.bits = program, wanted, bits
        self.slots = program.slots
        self.tape = Tape()
        self.tape.bits = self.tape.exact = bits
        self.values: list[Any] = [None] * len(self.slots)
        self.scope: dict[str, Any] = {}        # names in the generated source -> their values
        self.names: dict[int, str] = {}
        self.decided: list = []
        self.trying = 0
        self.checks: list[str] = []
        self.same = Same()                     # more checks, for C
        self.options: dict[str, tuple] = {}    # source of an option of an optimiser -> (its group, its key)
        self.read: dict[str, str] = {}         # source that is evaluated once per call -> the name of its value
        self.effects: list = []
        self.grads: dict[int, Any] = {}        # id of a leaf -> its gradient
        self.kept: dict[int, tuple] = {}
        self.ahead: dict[int, int] = {}        # id of a step count's array -> the steps that were traced
        self.begun, self.counted = 0, []
        self.lasts = False                     # whether a step so far has an effect that lasts
        self.python: list = []
        self.why: list[str] = []
        self.worlds = self._worlds()
        self.world = self.worlds[bits]
        self._enter()
        for step in program.steps:
            self._step(step)
        self._leave()

    # -------------------------------------------------------------- values
    def name(self, value: Any, hint: str = "c") -> str:
        """The name of a value in the generated source."""
        if id(value) not in self.names:
            self.names[id(value)] = f"{hint}{len(self.names)}"
            self.scope[self.names[id(value)]] = value
        return self.names[id(value)]

    def once(self, text: str) -> str:
        """The name of the value of this source, which each call evaluates once, before the checks."""
        return self.read.setdefault(text, f"v{len(self.read)}")

    def _enter(self):
        """Creates roots and arrays for all slots that exist before the program runs."""
        roots: dict[int, Root] = {}
        ends: dict[int, int] = {}
        for slot in self.slots:
            if slot.origin != MADE and slot.shape is not None:
                reach = Place(None, slot.offset, slot.shape, slot.strides, slot.dtype).reach()
                if reach[0] < 0:
                    raise NotImplementedError("an array with negative strides")
                ends[slot.root] = max(ends.get(slot.root, 0), reach[1])
        for slot in self.slots:
            if slot.origin == MADE or slot.shape is None:
                if slot.origin != MADE:
                    self.values[slot.index] = Opaque(slot.index)
                continue
            if slot.root not in roots:
                real = None if slot.array is None else owner_of(slot.array)
                kind = {INPUT: "given", GRAD: "given", TENSOR: "kept", CONSTANT: "constant"}[slot.origin]
                root = roots[slot.root] = self.tape.root(kind, ends[slot.root], real)
                if slot.origin == CONSTANT:
                    numbers = as_it_lies(real).reshape(-1).view(np.uint8)
                    root.array[:ends[slot.root]] = numbers[:ends[slot.root]]
                root.slot = slot.root
            self.values[slot.index] = self.tape.array(roots[slot.root], slot.shape, slot.dtype, slot.offset,
                                                      slot.strides)
            if slot.origin == GRAD:
                self.grads[id(slot.value)] = self.values[slot.index]

    def kept_place(self, array: np.ndarray) -> Place:
        """The place of an array of an optimiser's state, which keeps its address."""
        return self.tape.place(self.kept_array(array))

    def kept_array(self, array: np.ndarray) -> Traced:
        if type(array) is not np.ndarray or array.dtype.kind not in "fi":
            raise NotLowered("state that is not an array of floats or integers")
        if id(array) not in self.kept:
            place = Place(None, 0, array.shape, array.strides, array.dtype)
            root = self.tape.root("kept", place.reach()[1], array)
            self.kept[id(array)] = array, self.tape.array(root, array.shape, array.dtype, 0, array.strides)
        return self.kept[id(array)][1]

    # -------------------------------------------------------------- the world
    def _worlds(self):
        """Two worlds: kernels take any number of elements in the first, and at least as many as in eager in the second.
        """
        tape = self.tape

        def constant(x):
            if type(x) is np.ndarray:
                return tape.constant(x)
            if type(x) in (tuple, list):
                return type(x)([constant(y) for y in x])
            return x

        def made(function):
            if hasattr(function, "text") and hasattr(function, "program_of"):
                return tape.expression(function)
            op = getattr(function, "op", None)
            if op is not None and hasattr(function, "make"):
                forward = self.world.value(op.forward)

                def call(*args):
                    result = forward(*args, False) if op.keep_flag else forward(*args)
                    return result[0] if op.aux else result
                return call
            code = function.__code__
            if code.co_name == "compute" and {"general", "make", "name"} <= set(code.co_freevars):
                cells = dict(zip(code.co_freevars, function.__closure__))
                general = cells["general"].cell_contents
                inside = dict(zip(general.__code__.co_freevars, general.__closure__))
                return tape.by_element(cells["name"].cell_contents, self.world.value(inside["twin"].cell_contents))
            return None

        def called(function):
            if isinstance(function, np.ufunc):
                return function
            if function in FUNCTIONS:
                own = FUNCTIONS[function]
                return lambda *args, **kwargs: own(tape, *args, **kwargs)

            if getattr(function, "__module__", None) in ("_operator", "operator", "itertools", "math", "functools"):
                return function

            def call(*args, **kwargs):
                if _has_traced(args) or _has_traced(tuple(kwargs.values())):
                    raise NotLowered(getattr(function, "__name__", str(function)))
                return constant(function(*args, **kwargs))
            return call

        def zeros(shape, dtype=float, order="C"):
            return tape.new(shape, dtype, zeros=True)

        def empty(shape, dtype=float, order="C"):
            return tape.new(shape, dtype)

        def split(count, work):
            work(0, count)
        replaced = {native.run: tape.kernel, native.done: tape.done, native.takes: tape.takes, native.made: tape.made,
                    native.result: tape.result, pool._any_nan: tape.any_nan, np.ndarray: Traced,
                    np.empty: empty, np.zeros: zeros,
                    threads.number: self._number_of_threads, threads.split: split}
        kernels = native.__name__
        replaced[scatter.take_rows], replaced[scatter.any_outside] = tape.take_rows, tape.any_outside
        self._constant = constant
        replaced = {id(x): y for x, y in replaced.items()}
        return [World(replaced, named, made, tape.constant, called) for named in ({(kernels, "LEAST"): 0}, {})]

    # -------------------------------------------------------------- steps
    def _filled(self, x):
        """The arguments of a step, with references replaced by traced arrays and functions by their copies."""
        if x.__class__ is Ref:
            value = self.values[x.slot]
            if value.__class__ is Opaque:
                raise NotLowered("it reads a value that a step in Python made")
            return value
        if x.__class__ is tuple or x.__class__ is list:
            return x.__class__([self._filled(y) for y in x])
        if isinstance(x, tuple):
            return type(x)(*[self._filled(y) for y in x])
        if x.__class__ is dict:
            return {key: self._filled(y) for key, y in x.items()}
        if x.__class__ is slice:
            return slice(self._filled(x.start), self._filled(x.stop), self._filled(x.step))
        if isinstance(x, np.generic):
            return x
        return self.world.value(x) if isinstance(x, np.ndarray) or callable(x) and not isinstance(x, type) else x

    def _number_of_threads(self):
        if not self.bits:
            return 1
        n = threads.number()                   # functions choose their algorithm by it
        self.checks.append(f"team.size == {n}")
        return n

    def _step(self, step):
        before = self._state()
        try:
            if step.draws or step.kind in ("check", "fill", "node"):
                raise NotLowered("random numbers" if step.draws else step.kind)
            if step.kind in ("accumulate", "set_grad"):
                getattr(self, f"_step_{step.kind}")(step)
                return
            try:
                self._twice(step, before)
            except OtherForm:                  # eager keeps other parts for few elements: trace as eager does
                if self.bits:
                    raise
                self.world, self.tape.exact = self.worlds[1], True
                try:
                    self._twice(step, before)
                finally:
                    self.world, self.tape.exact = self.worlds[0], False
        except Exception as error:             # after any failure the step is called in Python
            if step.kind in ("accumulate", "set_grad"):
                raise
            self._restore(before)
            self.why.append(f"{step.name or step.kind}: {type(error).__name__}: {error}")
            self._in_python(step)
        finally:
            self.lasts = self.lasts or self.step_lasts(step) or any(map(self.call_lasts, self.tape.calls[before[0]:]))

    def call_lasts(self, call):
        """Whether a call writes to memory that outlives the program's call, after which the call cannot run eagerly."""
        return any([root.kind == "kept" or root.kind == "given" and self.slots[root.slot].origin != MADE
                    for root in call.writes])

    def step_lasts(self, step):
        """Whether a step in Python has an effect that lasts."""
        if step.kind == "set_grad":            # eager sets it too, and no step has read the gradient before
            return any([slot.value is step.args[0] for slot in self.program.grads])
        return step.draws or step.kind in ("update", "accumulate") or any(
            [self.slots[self.slots[i].root].origin != MADE for i in step.writes])

    def _twice(self, step, before):
        """Traces the step twice with different placeholder contents. A step that reads them records different calls."""
        found, self.begun = [], before[6]      # roots with this number or a higher one belong to this step
        if self.bits:                          # kernels of optimisers round as NumPy does for any number of elements
            self.world, self.tape.exact = self.worlds[step.kind != "update"], step.kind != "update"
        for seed in (1, 0):
            self._restore(before)
            self.tape.seed = self.trying = seed
            for index in (*refs(step.args), *refs(step.kwargs)):
                self._refill(self.values[index])
            with np.errstate(all="ignore"):
                if step.kind == "update":
                    self._update(step)
                else:
                    self._results(step, step.results, self._run(step))
            described = self.tape.described
            roots = {x.root for call in self.tape.calls[before[0]:] for x in call.places()}
            if not all(map(self.tape.untouched, roots)):
                raise NotLowered("memory is written to without the tape")
            found.append([[described(x) for x in self.tape.calls[before[0]:]],
                          [described(self.values[i]) for i in step.makes],
                          self.decided[before[2]:], self.checks[before[3]:]])
        if found[0] != found[1]:
            raise NotLowered("numbers are read without the tape")
        if self.lasts and any([call.__class__ is Call and call.name in KERNELS
                               and failing(call.name) not in _NEVER for call in self.tape.calls[before[0]:]]):
            raise NotLowered("a kernel that may fail, where eager goes on, after something was written that lasts")

    def _state(self):
        return (len(self.tape.calls), list(self.values), len(self.decided), len(self.checks), list(self.effects),
                dict(self.grads), len(self.tape.roots), dict(self.kept), dict(self.ahead))

    def _restore(self, state):
        calls, values, decided, checks, effects, grads, roots, kept, ahead = state
        del self.tape.calls[calls:], self.decided[decided:], self.checks[checks:], self.tape.roots[roots:]
        self.values[:], self.effects, self.grads, self.kept = values, list(effects), dict(grads), dict(kept)
        self.ahead = dict(ahead)

    def _refill(self, value):
        if isinstance(value, Traced):
            root = self.tape.owner(value)
            if root.kind != "constant":
                self.tape.fill(root)
        elif isinstance(value, (tuple, list)):
            for x in value:
                self._refill(x)

    def _run(self, step):
        args, kwargs = self._filled(step.args), self._filled(step.kwargs)
        if step.kind == "method":
            return getattr(args[0], step.name)(*args[1:], **kwargs)
        if step.kind == "view":
            array, shape, dtype, offset, strides = args
            root = self.tape.owner(array)
            base = self.slots[step.args[0].slot]
            start = self.tape.place(array).offset - base.offset if array.size else 0
            return self.tape.array(root, shape, np.dtype(dtype), start + offset, strides)
        if step.kind == "maker":
            return self._constant(step.call(*step.args, **step.kwargs))
        if step.kind == "setitem":
            array, index, value = args
            array[index] = value
            return None
        if step.kind == "getitem":
            return args[0][args[1]]
        if step.kind == "part":
            raise NotLowered("parts of complex numbers")
        call = self.world.value(step.call)
        return call(*args, **kwargs)

    def _results(self, step, wanted, found):
        """Assigns what was traced, `found`, to the slots of a result."""
        if wanted.__class__ is Ref:
            slot = self.slots[wanted.slot]
            if slot.index not in step.makes:
                return
            if slot.shape is None:
                self.values[slot.index] = found
                return
            if isinstance(found, np.generic) or type(found) in (int, float, bool):
                found = np.asarray(found)
            if type(found) is np.ndarray:
                found = self.tape.constant(found)
            if type(found) is not Traced:
                raise OtherForm("a result that is not an array")
            self.values[slot.index] = self._fitting(step, slot, found)
        elif isinstance(wanted, (tuple, list)):
            if not isinstance(found, (tuple, list)) or len(found) != len(wanted):
                raise OtherForm("a result with other parts")
            for x, y in zip(wanted, found):
                self._results(step, x, y)

    def _fitting(self, step, slot, found):
        """The traced array `found` as the array of a slot. It is copied if it lacks the slot's strides or shares memory
        that the slot does not."""
        if type(found) is not Traced or found.shape != slot.shape or found.dtype != slot.dtype:
            raise NotLowered(f"a result of shape {getattr(found, 'shape', None)} for {slot.shape}")
        root = self.tape.owner(found)
        alike = not found.size or all([n == 1 or a == b for n, a, b in zip(slot.shape, found.strides, slot.strides)])
        if slot.root != slot.index:
            owner = self.values[slot.root]
            if not isinstance(owner, Traced) or self.tape.owner(owner) is not root or not alike:
                raise NotLowered("a view of other memory")
            return self._exactly(found, slot)
        if alike and root.kind == "made" and not self._is_elsewhere(step, slot, root):
            return self._exactly(found, slot)
        place = Place(None, 0, slot.shape, slot.strides, slot.dtype)
        new = self.tape.array(self.tape.root("made", place.reach()[1]), slot.shape, slot.dtype, 0, slot.strides)
        self.tape.copy_place(self.tape.place(found), self.tape.place(new))
        return new

    def _is_elsewhere(self, step, slot, root):
        """Whether the memory also belongs to a slot that is not a view of this one."""
        candidates = step.makes if root.number >= self.begun else range(len(self.values))
        return any([isinstance(x, Traced) and self.tape.owner(x) is root and self.slots[i].root != slot.index
                    for i in candidates if i != slot.index and (x := self.values[i]) is not None])

    def _exactly(self, found, slot):
        """The same array with the exact strides of its slot, which may differ along dimensions of size 1."""
        if found.strides == slot.strides:
            return found
        return self.tape.array(self.tape.owner(found), slot.shape, slot.dtype, self.tape.place(found).offset,
                               slot.strides)

    def _in_python(self, step):
        """Records that Python runs a step."""
        values, tape = {}, self.tape
        for index in [*refs(step.args), *refs(step.kwargs)]:
            values[index] = self._runtime(self.values[index])
        results = {}
        for index in step.makes:
            slot = self.slots[index]
            if slot.shape is None or slot.dtype.kind not in "fbiuc":
                self.values[index] = Opaque(index)
                continue
            if slot.root == index or self.slots[slot.root].origin == MADE and self.values[slot.root] is None:
                place = Place(None, 0, slot.shape, slot.strides, slot.dtype)
                root = tape.root("given", place.reach()[1] + slot.offset)
                root.slot = index
                self.values[index] = tape.array(root, slot.shape, slot.dtype, slot.offset, slot.strides)
                results[index] = tape.place(self.values[index])
            else:
                owner = self.values[slot.root]
                if not isinstance(owner, Traced):
                    self.values[index] = Opaque(index)
                    continue
                start = tape.place(owner).offset - self.slots[slot.root].offset
                self.values[index] = tape.array(tape.owner(owner), slot.shape, slot.dtype, start + slot.offset,
                                                slot.strides)
        made = InPython(step, values, results, self.effects)
        self.effects = []
        self.python.append(step)
        tape.calls.append(made)

    def _runtime(self, value):
        """The value with its traced arrays replaced by their places."""
        if isinstance(value, Traced):
            return self.tape.place(value)
        if isinstance(value, (tuple, list)):
            parts = [self._runtime(x) for x in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return value

    # -------------------------------------------------------------- effects
    def _step_set_grad(self, step):
        leaf = step.args[0]
        self.effects.append(("none", leaf, None))
        self.grads.pop(id(leaf), None)

    def _step_accumulate(self, step):
        leaf, ref = step.args
        g = self._filled(ref)
        if not step.fresh:
            held, added = [_of_reals(self.tape.place(x)) for x in (self.grads[id(leaf)], g)]
            if held.dtype not in self.tape.operations or added.dtype != held.dtype:
                raise NotLowered(f"gradients of {held.dtype}")
            self.tape.each("add", [held, added], held)
            self.effects.append(("bump", leaf, None))
            return
        place, slot, leaf_array = self.tape.place(g), self.slots[ref.slot], leaf._array
        taken = any([kind == "grad" and x.root is place.root for kind, _, x in self.effects])
        whole = place.offset == 0 and place.nbytes == place.root.nbytes
        own = place.root.kind == "made" or self.bits and place.root.kind == "given" and slot.origin == MADE
        if not own or taken or not whole or place.strides != leaf_array.strides or (
                ref.slot in self.wanted) or any([s.root == slot.root for s in self.slots[ref.slot + 1:]]):
            fresh = np.empty_like(leaf_array)
            g = self.tape.array(self.tape.root("made", fresh.nbytes), fresh.shape, fresh.dtype, 0, fresh.strides)
            self.tape.copy_place(place, self.tape.place(g))
            place = self.tape.place(g)
        self.effects.append(("grad", leaf, place))
        self.grads[id(leaf)] = g
        for index in step.makes:
            self.values[index] = g
        if place.root.kind == "made":
            place.root.kind = "fresh"

    # -------------------------------------------------------------- optimisers
    def _update(self, step):
        optimiser, number = step.args
        group = optimiser.param_groups[number]
        if any([group.get(x) for x in ("differentiable", "capturable", "fused")]):
            raise NotLowered("a differentiable, capturable or fused optimiser")
        own = self.name(group, "g")
        o = self.name(optimiser, "o")
        self.checks.append(f"{o}.param_groups[{number}] is {own}")
        options = {key: self._option(value, f"{own}[{key!r}]") for key, value in group.items() if key != "params"}
        self.options.update({f"{own}[{key!r}]": (group, key) for key in options})
        options["params"] = group["params"]
        update = self.world.function(type(optimiser)._update)
        counts = {}
        self.counted = []                      # the step counts, which grow after all updates, in one call
        for p in group["params"]:
            g = self.grads.get(id(p))
            if g is None:
                continue
            state = optimiser.state.get(p) or {}
            array = next((self.values[s.index] for s in self.slots if s.origin == TENSOR and s.value is p), None)
            if array is None:
                raise NotLowered("a parameter that the program does not know")
            held = self._state_of(optimiser, o, p, state, counts)
            before = set(held)
            update(optimiser, options, options["lr"], array, g, held)
            if set(held) != before:
                raise NotLowered("new state")
            self.effects.append(("written", p, None))
        for place in self.counted:
            self.tape.each("add", [place, 1.0], place)

    def _option(self, value, text):
        if type(value) in (float, int):        # the first trace has another number, which shows if it is baked in
            return Reading(value * 0.98 if self.trying else value, text, self.decided)
        if type(value) is tuple:
            return tuple([self._option(x, f"{text}[{i}]") for i, x in enumerate(value)])
        if value is None or type(value) in (bool, str):
            self.checks.append(f"{text} == {value!r}" if type(value) is str else f"{text} is {value!r}")
            return value
        raise NotLowered("an option that is not a number")

    def _state_of(self, optimiser, o, p, state, counts):
        made = {}
        if not state:
            try:
                new = optimiser._new_state(optimiser.param_groups[0], p._array)
            except NotImplementedError:        # the optimiser has no state
                new = None
            if new:
                raise NotLowered("an optimiser without state yet")
            if same is None or p in optimiser.state:
                self.checks.append(f"not {self.once(f'{o}.state.get')}({self.name(p, 'p')})")
            else:
                self.checks.append(f"{o}.state is {self.name(optimiser.state, 'd')}")
                self.same.no_item_of_dict(optimiser.state, p)
            return made
        d = self.name(state, "d")
        if same is None:
            self.checks.append(f"{self.once(f'{o}.state.get')}({self.name(p, 'p')}) is {d}")
        else:
            self.checks.append(f"{o}.state is {self.name(optimiser.state, 'd')}")
            self.same.item_of_dict(optimiser.state, p, state)
        for key, tensor in state.items():
            if not isinstance(tensor, Tensor) or type(tensor._array) is not np.ndarray:
                raise NotLowered("state that is not an array")
            array = tensor._array
            if same is None or type(tensor) is not Tensor:
                self.checks.append(f"{d}[{key!r}]._array is {self.name(array, 'a')}")
            else:
                self.same.item_of_dict(state, key, tensor)
                self.same.array(tensor, array)
            if key in optimiser._NUMBERS:
                if key != "step" or array.size != 1:
                    raise NotLowered("state that is another number")
                if any([done.kind == "update" and done.args[0] is optimiser for done in self.python]):
                    raise NotLowered("a step count that a step in Python has written")
                value = array.item()
                number = f"{self.name(array, 'a')}.item()"
                if (value, array.dtype) not in counts:
                    counts[value, array.dtype] = self.once(number), array
                name, first = counts[value, array.dtype]
                if first is not array and same is not None:
                    self.same.number(array, first)
                elif first is not array:
                    self.checks.append(f"{number} == {name}")
                made[key] = _Held(_Count(self, array, name))
            else:
                if array.shape != p._array.shape or not array.flags.writeable:
                    raise NotLowered("state of another shape")
                made[key] = _Held(self.kept_array(array))
        return made

    # -------------------------------------------------------------- the end
    def _leave(self):
        """Gives new memory to the results that leave the program."""
        for index in self.wanted:
            if self.slots[index].origin == INPUT and self.slots[index].shape is None:
                raise NotImplementedError("an input that is not a tensor is returned")
            self.values[index] = self._leaving(self.values[index], self.slots[index].origin)

    def _leaving(self, value, origin):
        if isinstance(value, (tuple, list)):
            parts = [self._leaving(x, origin) for x in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        if not isinstance(value, Traced):
            return value
        root = self.tape.owner(value)
        part = root.kind == "made" and value.nbytes < min(root.nbytes, _SHORT) and (
            value.strides == np.empty(value.shape, value.dtype).strides)       # those of a new array
        if root.kind == "constant" or root.kind == "kept" and origin == CONSTANT or part and self._is_alone(root):
            value = self.tape.moved(value, "K")
            root = self.tape.owner(value)
        if root.kind == "made":
            root.kind = "fresh"
        return value

    def _is_alone(self, root):
        """Whether one result of the program alone is in memory of this root."""
        return sum([type(x) is Traced and self.tape.owner(x) is root for x in map(self.values.__getitem__, self.wanted)]
                   ) == 1

    def function(self):
        """(function(inputs), its source)."""
        tape = self.tape
        calls = in_place(needed(folded(tape, tape.calls)))
        calls = limited(fused(calls if self.bits else merged(calls), set()))
        size = plan(calls, tape.roots, set())
        used = {root for call in calls for root in call.reads | call.writes}
        self.sizes = size, sum([root.nbytes for root in used if root.kind == "made"])
        block = np.empty(size + 64, np.uint8)
        start = -block.__array_interface__["data"][0] % 64
        block = block[start:start + size]
        self.count = len([call for call in calls if call.__class__ not in (InPython, InNumpy)])
        self.in_numpy = any([call.__class__ is InNumpy for call in calls])
        if self.bits and not self.count:
            raise NotImplementedError("C computes nothing of the program")
        self.held = [block]
        addresses = {}
        for root in used:
            if root.kind == "made":
                addresses[root] = block.__array_interface__["data"][0] + root.within
            elif root.kind in ("kept", "constant"):
                addresses[root] = root.real.__array_interface__["data"][0]
                self.held.append(root.real)
        self.block = block
        return Text(self, calls, addresses).function()
