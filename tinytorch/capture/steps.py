"""Records a call as a program (program.py) while it runs eagerly.

A recording watches three things, in its own thread and only while it is open. The seam shows the calls of public
functions: the tensors among their arguments get Traced arrays (traced.py), so that the recording also sees NumPy calls
outside of operations. Operations run a forward that notes a step (`Op.of_batches`, which is used while the seam is up).
Backward walks the tape by backward.py, and a step of an optimiser is noted as a whole.

A recording never changes the result of the call. It stops when it meets something that it does not understand: all
tensors get their ndarrays back, the public function that was running is called again, and the rest of the call is
eager.
"""
from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes as dt
from ..autograd.grad_mode import mode
from ..autograd.node import Op
from ..autograd.overridable import _OPERATOR, about, is_property, place
from ..kernels import native
from ..kinds.lazy import StandIn, address_of, root_of
from ..nn.parameter import Buffer, Parameter
from ..seam import UNSEEN, seam
from ..tensor import Tensor
from .calls import (
    draw_again,
    drawn,
    here,
    laid_out,
    maker_of,
    set_grad,
    unwrap_held_by_others,
    unwrap_tensor,
    view_of,
)
from .effects import UNWATCHED, is_own
from .exchanged import install, uninstall
from .program import CONSTANT, GRAD, INPUT, MADE, TENSOR, Slot, Step, ref
from .traced import Traced, Unrecordable, plain

__all__ = ["Recording", "here"]

_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...), np.dtype, type, np.generic, dt.dtype)


class Recording:
    """The recording of one call. `reason`: why the call could not be recorded, or None."""

    is_of_a_call = True                        # False for the recording of a backward in build.py

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.steps: list[Step] = []
        self.reason, self.open, self.depth, self.inside = None, False, 0, 0
        self.ids: dict[int, int] = {}          # id of an array, or of an object, -> its slot
        self.roots: dict[int, int] = {}        # id of an array that owns memory -> its slot
        self.owners: dict[int, np.ndarray] = {}        # slot of a root -> its array
        self.arrays: dict[int, np.ndarray] = {}
        self.held: list[Any] = []              # the objects with these ids, kept alive
        self.external: dict[int, tuple] = {}   # id of a tensor -> its state before: see `know`
        self.traced: list[weakref.ref] = []
        self.living: list[weakref.ref] = []    # tensors that public functions got or returned
        self.unknown: list[int] = []           # constants that may be the array of an unseen tensor
        self.states: list[tuple] = []          # (state of an optimiser, parameter, its state) after the steps
        self.met: list[int] = []               # ids of tensors that were first seen within a public function
        self.effects = False                   # whether a step had an effect that cannot be repeated
        self.resets: set[int] = set()          # ids of leaves whose .grad was set in the call
        self.undo: list[tuple] = []            # (array, its content before) of writes of the running function
        self.position = None                   # in the random stream after the last public function
        self.needs_none: list[Tensor] = []     # leaves whose .grad was None at entry
        self.outside: set[int] = set()         # ids of nodes of arguments
        self.own_bumps: dict[int, int] = {}    # id of a version cell -> writes that steps count themselves
        self.grads: dict[int, int] = {}        # id of a leaf -> slot of its gradient at entry
        self.own: set[Callable] = set()        # forwards and rules that are known to be the library's
        self.watch = UNWATCHED                 # the Watch of the functions of the program

    # -------------------------------------------------------------- from beginning to end
    def here(self) -> bool:
        """Whether the recording is open in this thread and no step is running."""
        return self.open and not self.depth and here.recording is self

    def begin(self) -> None:
        here.recording, self.open, self.position = self, True, drawn()
        install()
        seam.watch("recording", True)

    def end(self) -> None:
        """Closes the recording. All tensors get their ndarrays back."""
        if self.open:
            self.open = False
            here.recording = None
            seam.watch("recording", False)
            uninstall()
            self._unwrap()

    def stop(self, reason: str) -> None:
        """Closes the recording because the call cannot be recorded."""
        if self.open:
            self.reason = reason
            self.end()

    def ends(self, reason: str) -> None:
        """Ends the recording. Within a public function it raises Unrecordable, and the function is then called again.
        Otherwise it closes the recording, and the caller continues with ndarrays."""
        if self.inside or not self.is_of_a_call:
            raise Unrecordable(reason)
        self.stop(reason)

    def _unwrap(self):
        for tensor, *_ in self.external.values():
            if type(tensor._array) is Traced:
                tensor._array = tensor._array.value
        seen = set()
        for reference in self.living:
            tensor = reference()
            if tensor is not None:
                unwrap_tensor(tensor, seen)
        for tensor, *_ in self.external.values():
            unwrap_tensor(tensor, seen)
        alive = [found for found in [reference() for reference in self.traced] if found is not None]
        if alive:
            unwrap_held_by_others(alive)

    # -------------------------------------------------------------- slots
    def enter(self, array: np.ndarray, origin: str, value: Tensor | None = None, held: np.ndarray | None = None,
              made: int | None = None) -> int:
        """Adds a slot for an array. `value`, `held` and `made` are its `value`, `array` and `made`."""
        index = len(self.slots)
        root = array if array.base is None else root_of(array)
        owner, offset = self.roots.setdefault(id(root), index), 0
        if owner == index:
            self.held.append(root)
            self.owners[index] = array
        elif array.size:
            offset = self.offset_of(array, owner)
        self.slots.append(Slot(index, origin, array.shape, array.dtype, array.strides, owner, offset, value, held,
                               made))
        self.ids[id(array)] = index
        self.held.append(array)
        self.arrays[index] = array
        return index

    def offset_of(self, array: np.ndarray, owner: int) -> int:
        """The distance of the first element of `array` from that of the slot of its root."""
        return address_of(array) - address_of(self.owners[owner])

    def slot_of(self, array: np.ndarray) -> int:
        """The slot of an array. An array of unknown origin becomes a view of a known root, or a constant."""
        found = self.ids.get(id(array))
        if found is not None:
            return found
        if type(array) is not np.ndarray:
            raise Unrecordable(f"an array of class {type(array).__name__}")
        root = root_of(array)
        owner = self.roots.get(id(root))
        if owner is not None and self.slots[owner].origin != CONSTANT:
            return self._view(array, root, owner)
        index = self.enter(array, CONSTANT, held=array)
        self.unknown.append(index)
        return index

    def _view(self, array, root, owner):
        """The slot of a view that was created unseen by the recording. A step that makes it is added."""
        offset = self.offset_of(array, owner)
        index = self.enter(array, MADE, made=len(self.steps))
        self.steps.append(Step("view", view_of, (ref(owner), array.shape, array.dtype, offset, array.strides), {},
                               ref(index), name="view", reads=(owner,), makes=(index,)))
        return index

    def standing(self, array: np.ndarray) -> Traced:
        """A Traced array in place of `array`, which gets a slot."""
        if not self.open:
            return array
        self.slot_of(array)
        return self.trace(array)

    def trace(self, array: np.ndarray) -> Traced:
        made = Traced(array, self)
        self.traced.append(weakref.ref(made))
        return made

    def template(self, x: Any, read: list[int]) -> Any:
        """Nested arguments with Refs in place of arrays. Their slots are added to `read`."""
        kind = type(x)
        if kind is np.ndarray or kind is Traced:
            index = self.slot_of(x if kind is np.ndarray else x.value)
            read.append(index)
            return ref(index)
        if kind in _KEPT or isinstance(x, _LITERALS):
            return x
        found = self.ids.get(id(x))
        if found is not None:
            read.append(found)
            return ref(found)
        if kind is tuple or kind is list:
            return kind([self.template(y, read) for y in x])
        if kind is dict:
            return {key: self.template(y, read) for key, y in x.items()}
        if kind is slice:
            return slice(self.template(x.start, read), self.template(x.stop, read), self.template(x.step, read))
        if isinstance(x, StandIn):
            raise Unrecordable(f"an array of class {kind.__name__}")
        if isinstance(x, tuple):
            parts = [self.template(y, read) for y in x]
            return kind(*parts) if hasattr(x, "_fields") else kind(parts)
        if isinstance(x, Tensor):
            raise Unrecordable("a tensor within an operation")
        return x

    def results(self, x: Any, made: list[int], number: int) -> Any:
        """The template of a result. Its new arrays get slots, which are added to `made`."""
        if type(x) is np.ndarray:
            index = self.ids.get(id(x))
            if index is None:
                made.append(index := self.enter(x, MADE, made=number))
            return ref(index)
        if x is None or isinstance(x, _LITERALS) and not isinstance(x, np.generic):
            return None
        if type(x) in (tuple, list):
            parts = type(x)([self.results(y, made, number) for y in x])
            if not any([y is not None for y in parts]) and not any([isinstance(y, float) for y in x]):
                return None
            return parts
        if id(x) not in self.ids:              # an object that is passed to a rule
            index = len(self.slots)
            self.slots.append(Slot(index, MADE, made=number, root=index))
            self.ids[id(x)] = index
            self.held.append(x)
            made.append(index)
        return ref(self.ids[id(x)])

    # -------------------------------------------------------------- steps
    def step(self, kind: str, call: Callable, args: tuple, kwargs: dict[str, Any], **known: Any) -> Any:
        """call(*args, **kwargs), noted as a step. The result has Traced in place of arrays."""
        if not self.here():
            result = call(*plain(args), **plain(kwargs))
            return result
        result = self.run(kind, call, args, kwargs, **known)
        return self._seen(result)

    def _seen(self, x):
        if type(x) is np.ndarray:
            return self.trace(x)
        if type(x) in (tuple, list):
            return type(x)([self._seen(y) for y in x])
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*[self._seen(y) for y in x])
        return x

    def run(self, kind: str, call: Callable, args: tuple, kwargs: dict[str, Any], writes: tuple[int, ...] | None = None,
            **known: Any) -> Any:
        """Like `step`, but the result has ndarrays."""
        # Slots come first, because an unseen view among the arguments adds a step before this one.
        real, given, read, before = [], [], [], None
        for x in args:
            kind_of_x = type(x)
            if kind_of_x is Traced:
                x, kind_of_x = x.value, np.ndarray
            if kind_of_x is np.ndarray:
                index = self.ids.get(id(x))
                if index is None:
                    index = self.slot_of(x)
                read.append(index)
                given.append(ref(index))
            elif kind_of_x in _KEPT:
                given.append(x)
            else:
                x = plain(x)
                given.append(self.template(x, read))
            real.append(x)
        args, named = tuple(real), {}
        if kwargs:
            kwargs = plain(kwargs)
            named = self.template(kwargs, read)
        read = tuple(dict.fromkeys(read))
        target = _target(kind, call, args, kwargs) if kwargs or kind not in _RULES else ()
        if target:
            self.undo += [(x, x.copy("K")) for x in target]
        elif writes is None and kind in _MAY_WRITE:
            before = [(i, x, _content(x)) for i in read if (x := self.arrays.get(i)) is not None and (
                x.nbytes <= _LARGE and x.dtype.kind != "O")]
        self.depth += 1
        try:
            if kind not in _RULES or call in self.own:
                result = call(*args, **kwargs)
            elif is_own(call):
                self.own.add(call)
                result = call(*args, **kwargs)
            else:
                result = self.watch.aloud(call, args, kwargs)
        finally:
            self.depth -= 1
        if not self.open:                      # the call closed the recording
            return result
        if target:
            writes = tuple([self.slot_of(x) for x in target])
        elif before is not None:
            written = [(i, x, content) for i, x, content in before if not _holds(x, content)]
            writes = tuple([i for i, _, _ in written])
            self.undo += [(x, content) for _, x, content in written]
        number, made = len(self.steps), []
        scalar = isinstance(result, np.generic)
        if scalar:
            result = np.asarray(result)
        elif isinstance(result, tuple) and type(result) is not tuple:          # a named tuple of NumPy
            result = tuple(result)
        if isinstance(result, (bool, int, float)) and kind in ("numpy", "method"):
            raise Unrecordable(f"a number that NumPy's {getattr(call, '__name__', call)} returns")
        if "out" in kwargs:
            template = None
        else:
            if kind == "forward" and known["op"].aux and isinstance(result[0], np.generic):
                result, scalar = (np.asarray(result[0]), *result[1:]), True
            template = self.results(result, made, number)
        self.steps.append(Step(kind, call, tuple(given), named, template, known.get("op"), known.get("argument"),
                               known.get("name") or getattr(call, "__name__", ""), read, writes or (), tuple(made),
                               known.get("draws", False), scalar))
        for slot in writes or ():
            root = self.slots[self.slots[slot].root]
            if root.origin == CONSTANT:
                self.slots[root.index].leaves = True           # `program_of` refuses it
            elif root.origin != MADE:
                self.effects = True
        if known.get("draws"):
            self.effects = True
        return result

    def array(self, index: int) -> np.ndarray | None:
        """The array of a slot, or None if the slot holds another object."""
        return self.arrays.get(index)

    def fresh(self, array: np.ndarray) -> Traced:
        """A Traced array in place of a new array whose elements are not set yet."""
        if not self.here():
            return array
        if array.flags.c_contiguous:
            made = self.run("numpy", np.empty, (array.shape, array.dtype), {})
        else:
            made = self.run("numpy", laid_out, (array.shape, array.dtype, array.strides), {})
        return self.trace(made)

    def forward(self, o: Op, inner: Callable, args: tuple) -> Any:
        """Runs the forward of an operation and notes it as a step."""
        state = None
        if not self.effects:
            state = drawn()
        call = inner
        if o.ufunc is not None and type(plain(args[0])) is np.ndarray and args[0].size < native.LEAST:
            call = o.ufunc                     # as in eager
        result = self.run("forward", call, args, {}, op=o, name=o.name)
        if not self.open:
            return result
        if state is not None and drawn() != state:
            self.steps[-1].draws = self.effects = True
        if o.aux:
            out, *extra = result
            return (self._seen(out), *extra)
        return self._seen(result)

    def checked(self, traced: Traced) -> bool:
        """Notes a check of the truth value of an array, for code of the library. False if a replay could not check it,
        because steps before it have effects."""
        if self.effects:
            return False
        index = self.slot_of(traced.value)
        self.steps.append(Step("check", bool, (ref(index),), {}, bool(traced.value), name="check", reads=(index,)))
        return True

    # -------------------------------------------------------------- tensors
    def wrap(self, values: Iterable) -> None:
        """Puts Traced arrays into the tensors among nested arguments."""
        for x in values:
            if isinstance(x, Tensor):
                if type(x._array) is not Traced:
                    self.wrap_tensor(x)
            elif isinstance(x, (tuple, list)):
                self.wrap(x)
            elif x.__class__ is dict:
                self.wrap(x.values())

    def wrap_tensor(self, tensor: Tensor) -> None:
        array = _array_of(tensor)
        if type(array) is Traced:
            return
        if id(array) not in self.ids:
            root = root_of(array)
            owner = self.roots.get(id(root))
            if owner is None or self.slots[owner].origin in (TENSOR, INPUT, GRAD):
                self.know(tensor, TENSOR)
                if self.inside:
                    self.met.append(id(tensor))
            else:
                self.slot_of(array)
        tensor._array = self.trace(array)
        self.living.append(weakref.ref(tensor))

    def know(self, tensor: Tensor, origin: str) -> int:
        """The slot of a tensor from outside of the call. Its state before the call is stored in `external`."""
        array = _array_of(tensor)
        if type(array) is not np.ndarray:
            raise Unrecordable("a tensor whose array is traced already")
        self.external[id(tensor)] = (tensor, array, tensor._node, tensor._requires_grad, tensor._grad,
                                     tensor._version_counter,
                                     tensor._version_counter.__class__ is list and tensor._version_counter[0], origin)
        if tensor._node is not None and origin != INPUT:
            raise Unrecordable("a tensor from outside that has a history")
        if tensor._requires_grad and (tensor._hooks or tensor._accumulating is not None):
            raise Unrecordable("hooks of a tensor")
        if tensor._version_counter.__class__ is not list and origin != INPUT:
            raise Unrecordable("an inference tensor from outside")
        found = self.ids.get(id(array))
        if found is not None:
            return found
        value = None if origin == INPUT else tensor
        return self.enter(array, origin, value, array if origin == TENSOR else None)

    def grad_of(self, leaf: Tensor) -> int:
        """The slot of the gradient that a leaf had at entry."""
        if id(leaf) not in self.grads:
            grad = leaf._grad
            array = plain(grad._array)
            if id(array) in self.ids:
                slot = self.slots[self.ids[id(array)]]
                if slot.origin == TENSOR:      # the call has used it as a tensor before
                    slot.origin, slot.value, slot.array = GRAD, leaf, None
                self.grads[id(leaf)] = slot.index
            else:
                self.grads[id(leaf)] = self.enter(array, GRAD, leaf)
        return self.grads[id(leaf)]

    def note(self, result: Any) -> None:
        """Adds the tensors that a public function returned to `living`."""
        if isinstance(result, Tensor):
            self.living.append(weakref.ref(result))
        elif isinstance(result, (tuple, list)):
            for x in result:
                self.note(x)
        elif result.__class__ is dict:
            for x in result.values():
                self.note(x)
        elif hasattr(result, "__dict__") and not callable(result):
            for x in vars(result).values():
                if isinstance(x, Tensor):
                    self.note(x)

    # -------------------------------------------------------------- calls of public functions
    def see(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The answer to the seam for a call of a public function in this thread."""
        if self.depth:
            return UNSEEN
        if mode.vmap_levels or mode.grad_levels or mode.dual_level is not None:
            self.stop("a transform of torch.func")
            return UNSEEN
        if self.inside:
            self.wrap(args)
            self.wrap(kwargs.values())
            return UNSEEN
        return self.watch.quietly(self._see, function, args, kwargs)

    def _see(self, function, args, kwargs):
        state = drawn()
        if self.position is not None and state != self.position:
            self.stop("random numbers that are drawn unseen by the recording")
            return UNSEEN
        name = _name_of(function)
        has_tensors = _has_tensors(args) or _has_tensors(kwargs.values())
        if has_tensors and _leaves(function):
            self.stop(f"{name} of a tensor")
            return UNSEEN
        if name.endswith(".__set__"):
            return self._set(name, args)
        if kwargs.get("generator") is not None:
            self.stop("a generator of random numbers")
            return UNSEEN
        try:
            self.wrap(args)
            self.wrap(kwargs.values())
        except Exception as error:
            self.stop(str(error))
            return UNSEEN
        self.undo.clear()
        out = kwargs.get("out")
        given = [(t, t._array) for t in (out if isinstance(out, (tuple, list)) else (out,)) if isinstance(t, Tensor)]
        maker = not has_tensors
        self.inside += 1
        self.depth += maker
        try:
            result = self.watch.public(function, args, kwargs)
        except Exception as error:
            self.depth -= maker
            self.inside -= 1
            maker = False
            if not self.open and not isinstance(error, Unrecordable):
                raise
            self.stop(f"{name}: {error}")
            for t, array in given:             # the function may have resized it
                t._array = plain(array)
            for array, content in reversed(self.undo):
                array[...] = content if type(content) is np.ndarray else np.frombuffer(
                    content, array.dtype).reshape(array.shape)
            if drawn() != state:
                draw_again(state)
            return self.watch.aloud(function, args, kwargs)    # raises again if it is the program's own error
        except BaseException:
            self.depth -= maker
            self.inside -= 1
            raise
        self.depth -= maker
        self.inside -= 1
        if not self.open:
            return result
        self.position = drawn()
        if maker:
            try:
                self._made(function, name, args, kwargs, result, state)
            except Exception as error:
                self.stop(str(error))
                return result
        self.note(result)
        return result

    def _made(self, function, name, args, kwargs, result, state):
        """Notes a step for the tensor that a public function made without tensors among its arguments."""
        if result is None and name.startswith(("set_", "use_")):
            raise Unrecordable(f"a call of {name}")
        if isinstance(result, Tensor):
            tensors = [result]
        elif isinstance(result, (tuple, list)):
            tensors = [x for x in result if isinstance(x, Tensor)]
        else:
            tensors = []
        if not tensors:
            return
        if len(tensors) > 1 or not isinstance(result, Tensor):
            raise Unrecordable(f"{name}, which makes several tensors")
        array = result._array
        if type(array) is not np.ndarray or id(array) in self.ids:
            return
        number, made = len(self.steps), []
        draws = drawn() != state
        template = self.results(array, made, number)
        self.steps.append(Step("maker", maker_of(function), self.template(tuple(args), []),
                               self.template(dict(kwargs), []), template, name=name, makes=tuple(made), draws=draws))
        self.effects = self.effects or draws
        result._array = self.trace(array)

    def _set(self, name, args):
        """Handles an assignment to a property of a tensor: only .grad = None can be recorded."""
        what = name.split(".")[-2]
        tensor, value = args[0], args[1] if len(args) > 1 else None
        if what == "grad" and value is None:
            try:
                self.reset(tensor)
            except Unrecordable as error:
                self.stop(str(error))
            return UNSEEN
        self.stop(f"a tensor's .{what} is set")
        return UNSEEN

    def reset(self, leaf: Tensor) -> None:
        """Notes that the gradient of a leaf is set to None."""
        if id(leaf) not in self.external:
            if type(_array_of(leaf)) is not np.ndarray:
                return
            self.know(leaf, TENSOR)
        self.resets.add(id(leaf))
        self.steps.append(Step("set_grad", set_grad, (leaf, None), {}, None, name="set_grad"))


@functools.lru_cache(maxsize=4096)
def _name_of(function):
    owner = getattr(function, "__self__", None)
    if isinstance(owner, property):
        return f"{owner.fget.__name__}.{function.__name__}"
    how = about(function)
    if how is not None and is_property(how):
        return f"{how.name}.{how.operator}"
    if how is not None and how.kind == _OPERATOR:
        return how.operator or how.name
    return place(function)[1] or function.__name__


@functools.lru_cache(maxsize=4096)
def _leaves(function):
    """Whether a public function is declared (`leaves`) to use tensors in a way that cannot be recorded."""
    return getattr(function, "said", {}).get("leaves") or getattr(getattr(function, "record", None), "leaves", False)


def _array_of(tensor):
    """The array of a tensor. Raises Unrecordable for a tensor of another class, or without a plain array."""
    if type(tensor) not in _PLAIN:
        raise Unrecordable(f"a tensor of class {type(tensor).__name__}")
    array = tensor._array
    if type(array) is not np.ndarray and type(array) is not Traced:
        raise Unrecordable(f"a tensor whose array is of class {type(array).__name__}")
    return array


def _has_tensors(values):
    for x in values:
        if isinstance(x, Tensor) or isinstance(x, (tuple, list)) and _has_tensors(x) or (
                x.__class__ is dict and _has_tensors(x.values())):
            return True
    return False


def _target(kind, call, args, kwargs):
    """The arrays that a NumPy call writes to."""
    if kind in _WRITERS or "out" in kwargs or call in _WRITING:
        out = kwargs.get("out")
        target = out if out is not None else args[0]
        return [x for x in (target if type(target) is tuple else (target,)) if x is not None]
    return []


_WRITERS = "setitem", "fill"
_WRITING = [np.ndarray.sort, np.ndarray.partition, np.ndarray.put, np.ndarray.fill, np.copyto, np.put, np.fill_diagonal,
            np.put_along_axis, np.add.at, np.subtract.at, np.multiply.at]


def _content(array):
    """The bytes of an array. Those of a large one are a bytearray, which is compared with the array without a copy."""
    return array.tobytes() if array.nbytes < 4096 or not array.flags.c_contiguous else bytearray(array.data)


def _holds(array, content):
    return content == (array.tobytes() if content.__class__ is bytes else array.data)


_RULES = frozenset(("forward", "rule", "joint"))
#: Kinds of steps that are looked at for writes to their arguments.
_MAY_WRITE = _RULES | {"node", "maker"}
_LARGE = 1 << 24
_KEPT = {int, float, str, bool, type(None)}
_PLAIN = {Tensor, Parameter, Buffer}


def plain_class(kind: type) -> None:
    """Has tensors of this class recorded like plain tensors."""
    _PLAIN.add(kind)
