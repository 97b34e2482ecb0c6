"""The seam: the one place where a call is data, as (function, arguments, keywords).

Every public function, and every method, operator and property of Tensor, looks at `seam.up` before it runs. It is down
unless a mode, a device context, autocast, a vmap or a profiler is at work in some thread, or a tensor lives whose class
has a `__torch_function__` of its own. While it is up, a call goes through `seam.see`, which asks in this order: modes
and classes (autograd/torch_function.py), then autocast (autograd/casts.py). A call that none of them answers runs the
operation's forward for batches, if vmap has made one (func/dispatch.py). Nothing is exchanged when the seam goes up, so
a function that somebody has kept from before looks as well.

Handlers that few programs have (tinytorch.debug, precise_tails) are asked before or after those (`seam.handle`), and
only while a thread has their reason for the seam to be up: `see` is then a function that asks them as well.

A function knows itself by its cell `public`: what handlers are given. Where torch has several functions for what is one
here (torch.add, Tensor.add, the alias torch.special.exp2), each is a copy with a cell of its own (`twin`).
"""
from __future__ import annotations

import functools
import inspect
import sys
import threading
import weakref
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

#: What `seam.see` gives if nobody answers a call: the function then runs.
UNSEEN = type("Unseen", (), {"__repr__": lambda self: "UNSEEN"})()


class _Reference(weakref.ref):
    """One that knows what it is kept under: tensors compare by their elements, and so would references to them."""

    __slots__ = ("key",)


class Leaving:
    """It lives in a variable of a thread, and calls forget(the thread's number) when that has ended: what one thread
    says for a while would else hold for good if it ends in between."""

    __slots__ = ("thread", "forget")

    #: The threads that have such an object: those that have used the library, and live.
    threads: set[int] = set()

    def __init__(self, forget: Callable[[int], None]) -> None:
        self.thread, self.forget = threading.get_ident(), forget
        self.threads.add(self.thread)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():                # else there may be nothing left to call
            self.threads.discard(self.thread)
            self.forget(self.thread)


class _Here(threading.local):
    def __init__(self):
        self.leaving = Leaving(seam.forget)


class _Seam:
    """`up`: whether a call has to be shown. `see(function, args, kwargs)`: shows it."""

    __slots__ = ("up", "see", "_reasons", "_lock", "_handlers", "_usual")

    def __init__(self):
        self.up, self._reasons, self._lock, self._handlers = False, {}, threading.RLock(), {}

    def begin(self, see: Callable[[Callable, tuple, dict], Any]) -> None:
        """`see` shows calls, while there are no other handlers."""
        self.see = self._usual = see

    def handle(self, reason: str, handler: Callable[[Callable, tuple, dict], Any], last: bool = False) -> None:
        """While a thread has this reason for the seam to be up, handler(function, args, kwargs) is asked before modes,
        classes and autocast, or (`last`) about the calls that those do not answer: of every thread, so that it looks
        whose call it is. It gives a result, or UNSEEN."""
        with self._lock:
            self._handlers[reason] = handler, last
            self._settle()

    def watch(self, reason: str, watched: bool) -> None:
        """This thread has a reason for the seam to be up, or has it no more. To say so twice changes nothing."""
        self._note((_here.leaving.thread, reason), reason, watched)

    def watch_instance(self, instance: Any) -> None:
        """The seam is up for as long as this object lives."""
        if id(instance) not in self._reasons:
            reference = _Reference(instance, self._died)
            reference.key = id(instance)
            self._note(reference.key, reference, True)

    def forget(self, thread: int) -> None:
        """A thread has ended, whatever its reasons were."""
        with self._lock:
            for key in [key for key in self._reasons if key.__class__ is tuple and key[0] == thread]:
                del self._reasons[key]
            self._settle()

    def _died(self, reference):
        self._note(reference.key, None, False)

    def _note(self, key, reason, watched):
        with self._lock:
            if watched:
                self._reasons[key] = reason
            else:
                self._reasons.pop(key, None)
            self._settle()

    def _settle(self):
        if self._handlers:
            given = {reason for reason in self._reasons.values() if reason.__class__ is str}
            found = [self._handlers[reason] for reason in self._handlers if reason in given]
            self.see = _in_turn([handler for handler, last in found if not last], self._usual,
                                [handler for handler, last in found if last]) if found else self._usual
        self.up = bool(self._reasons)


def _in_turn(first, usual, last):
    """A function that asks the handlers in `first`, then `usual`, then those in `last`."""
    asked = (*first, usual, *last)

    def see(function, args, kwargs):
        for handler in asked:
            if (seen := handler(function, args, kwargs)) is not UNSEEN:
                return seen
        return UNSEEN
    return see


seam = _Seam()
_here = _Here()


def known_as(call: Callable) -> Callable:
    """Has handlers see `call` as itself."""
    call.__closure__[call.__code__.co_freevars.index("public")].cell_contents = call
    return call


def shown_as(name: str, call: Callable) -> Callable:
    """Has handlers see `call` as itself, under this name."""
    call.__name__ = name
    return known_as(call)


def twin(call: Callable, name: str | None = None, seen: bool = True) -> Callable:
    """The same function as another object, which handlers see as itself, or (not `seen`) do not see at all. A function
    that does not look at the seam gets a door."""
    inside = call.__code__.co_freevars if type(call) is FunctionType else ()
    if "public" not in inside:
        return shown_as(name or call.__name__, door(call)) if seen else call
    cell, own, cells = CellType(None), CellType(None), list(call.__closure__)
    cells[inside.index("public")] = cell
    if "own" in inside:                        # the function itself, whether it is seen or not
        cells[inside.index("own")] = own
    own.cell_contents = copy = FunctionType(call.__code__, call.__globals__, name or call.__name__, call.__defaults__,
                                            tuple(cells))
    copy.__kwdefaults__, copy.__qualname__, copy.__module__ = call.__kwdefaults__, call.__qualname__, call.__module__
    copy.__doc__, copy.__annotations__ = call.__doc__, call.__annotations__
    copy.__dict__.update(call.__dict__)
    copy.__dict__.pop("about", None)           # where it is found is its own
    copy.__dict__.pop("place", None)
    if seen:
        copy.twin_of, cell.cell_contents = getattr(call, "twin_of", call), copy
    return copy


def is_door(function: Any) -> bool:
    """Whether a function looks at the seam."""
    return type(function) is FunctionType and "public" in function.__code__.co_freevars


def door(function: Callable, failed: Callable | None = None) -> Callable:
    """`function`, which looks at the seam before it runs. failed(public, error, args, kwargs) says what becomes of an
    error that comes up in it."""
    public = None

    def call(*args, **kwargs):
        if seam.up and public is not None and (seen := seam.see(public, args, kwargs)) is not UNSEEN:
            return seen
        try:
            if kwargs:
                return function(*args, **kwargs)
            return function(*args)             # which makes no dictionary
        except Exception as error:
            if failed is None:
                raise
            return failed(public, error, args, kwargs)
    return named_as(function, call)


def door_of_python(function: Callable, failed: Callable) -> Callable:
    """The same of a function that torch has in Python, whose arguments handlers see in one form however they were given
    (see `overridable`). So the door has the parameters of the function, which takes a third of the time."""
    code = function.__code__
    if code.co_flags & VARIABLE or code.co_kwonlyargcount:
        return door(function, failed)
    parameters = code.co_varnames[:code.co_argcount]
    made = _with_parameters(len(parameters))
    made = made.replace(co_name=code.co_name, co_varnames=(*parameters, *made.co_varnames[len(parameters):]))
    cells = {"function": CellType(function), "failed": CellType(failed), "public": CellType(None)}
    call = FunctionType(made, globals(), code.co_name, function.__defaults__,
                        tuple([cells[name] for name in made.co_freevars]))
    return named_as(function, call)


#: Flags of code with *args or **kwargs.
VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@functools.cache
def _with_parameters(count):
    """The code of a door with so many parameters."""
    given = "".join([f"_{i}, " for i in range(count)])
    scope = {}
    exec(f"def make(function, failed, public):\n"
         f"    def call({given}):\n"
         f"        if seam.up and public is not None and (seen := seam.see(public, ({given}), {{}})) is not UNSEEN:\n"
         f"            return seen\n"
         f"        try:\n"
         f"            return function({given})\n"
         f"        except Exception as error:\n"
         f"            return failed(public, error, ({given}), {{}})\n"
         f"    return call", globals(), scope)
    return scope["make"](None, None, None).__code__


def door_of_one(function: Callable) -> Callable:
    """The same of a method without arguments, or of what reads a property."""
    public = None

    def call(self):
        if seam.up and public is not None and (seen := seam.see(public, (self,), {})) is not UNSEEN:
            return seen
        return function(self)
    return named_as(function, call)


def door_of_two(function: Callable) -> Callable:
    """The same of a method of one argument that nobody gives by keyword, as those of operators."""
    public = None

    def call(self, other):
        if seam.up and public is not None and (seen := seam.see(public, (self, other), {})) is not UNSEEN:
            return seen
        return function(self, other)
    return named_as(function, call)


def named_as(function: Callable, call: Callable) -> Callable:
    """Gives `call` the name, the documentation and the source of the function that it covers."""
    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__, call.__module__ = function.__doc__, function.__module__
    call.__wrapped__ = function                # whose source, signature and hints inspect shows
    return call
