"""The seam: the one place where a call is data, as (function, arguments, keywords).

Every public function, and every method, operator and property of Tensor, looks at `seam.up` before it runs. `seam.up`
is False unless a mode, a device context, autocast, a vmap or a profiler is active in some thread, or there is a tensor
whose class has a `__torch_function__` of its own. While it is True, a call goes through `seam.see`, which asks modes
and classes first (autograd/torch_function.py), and then autocast (autograd/casts.py). If none of them answers the
call, it runs the operation's forward for batches, if vmap has made one (func/dispatch.py). No function is replaced
when the seam goes up, so a function that a program has kept from before looks at the seam as well.

Handlers that few programs use (tinytorch.debug, precise_tails) are asked before or after these (`seam.handle`), and
only while a thread has their reason for the seam to be up. `see` is then a function that asks them as well.

The cell `public` of a function holds the function object that handlers are given. Where torch has several functions
and tinytorch has one (torch.add and Tensor.add; torch.exp2 and its alias torch.special.exp2), each of torch's
functions is a copy with a cell of its own (`twin`).
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

#: The result of `seam.see` if no handler answers a call. The function then runs.
UNSEEN = type("Unseen", (), {"__repr__": lambda self: "UNSEEN"})()


class _Reference(weakref.ref):
    """A reference that knows its key. References to tensors cannot be keys: they compare as tensors do, by elements."""

    __slots__ = ("key",)


class Leaving:
    """An object in a thread-local variable, which calls forget(the thread's number) when the thread has ended. Without
    it, a temporary setting of a thread would stay for ever if the thread ended before it was undone."""

    __slots__ = ("thread", "forget")

    #: The living threads that have used the library. Each of them has such an object.
    threads: set[int] = set()

    def __init__(self, forget: Callable[[int], None]) -> None:
        self.thread, self.forget = threading.get_ident(), forget
        self.threads.add(self.thread)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():                # at the end of the process `forget` may be gone
            self.threads.discard(self.thread)
            self.forget(self.thread)


class _Here(threading.local):
    def __init__(self):
        self.leaving = Leaving(seam.forget)


class _Seam:
    """`up` says whether calls must be shown to handlers, and `see(function, args, kwargs)` shows a call to them."""

    __slots__ = ("up", "see", "_reasons", "_lock", "_handlers", "_usual")

    def __init__(self):
        self.up, self._reasons, self._lock, self._handlers = False, {}, threading.RLock(), {}

    def begin(self, see: Callable[[Callable, tuple, dict], Any]) -> None:
        """Sets the function that shows calls while there are no other handlers."""
        self.see = self._usual = see

    def handle(self, reason: str, handler: Callable[[Callable, tuple, dict], Any], last: bool = False) -> None:
        """Adds a handler, handler(function, args, kwargs), which returns a result or UNSEEN. While a thread has this
        reason for the seam to be up, the handler is asked before modes, classes and autocast, or, if `last` is true,
        about the calls that these do not answer. It is asked about the calls of every thread, so it must check which
        thread makes the call."""
        with self._lock:
            self._handlers[reason] = handler, last
            self._settle()

    def watch(self, reason: str, watched: bool) -> None:
        """Adds (`watched`) or removes a reason of this thread for the seam to be up. A second call has no effect."""
        self._note((_here.leaving.thread, reason), reason, watched)

    def watch_instance(self, instance: Any) -> None:
        """Keeps the seam up for as long as this object lives."""
        if id(instance) not in self._reasons:
            reference = _Reference(instance, self._died)
            reference.key = id(instance)
            self._note(reference.key, reference, True)

    def is_up_for_classes_alone(self) -> bool:
        """Whether every reason is a class that overrides functions and is not a Tensor: no mode is entered, and no
        tensor of a subclass is alive."""
        with self._lock:
            reasons = list(self._reasons.values())
        return all([reason.__class__ is _Reference and isinstance(reason(), type) for reason in reasons])

    def forget(self, thread: int) -> None:
        """Removes all reasons of a thread that has ended."""
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


def set_cell(call: Callable, name: str, value: Any) -> None:
    """Gives the free variable `name` of a function another value."""
    call.__closure__[call.__code__.co_freevars.index(name)].cell_contents = value


def known_as(call: Callable) -> Callable:
    """Makes handlers see `call` as itself, and returns it."""
    set_cell(call, "public", call)
    return call


def shown_as(name: str, call: Callable) -> Callable:
    """Gives `call` this name, makes handlers see it as itself, and returns it."""
    call.__name__ = name
    return known_as(call)


def twin(call: Callable, name: str | None = None, seen: bool = True) -> Callable:
    """A copy of a function. Handlers see the copy as a function of its own or, if `seen` is false, do not see its calls
    at all. A function that does not look at the seam gets a door."""
    inside = call.__code__.co_freevars if type(call) is FunctionType else ()
    if "public" not in inside:
        return shown_as(name or call.__name__, door(call)) if seen else call
    cell, own, cells = CellType(None), CellType(None), list(call.__closure__)
    cells[inside.index("public")] = cell
    if "own" in inside:                        # holds the function itself, even if handlers do not see it
        cells[inside.index("own")] = own
    own.cell_contents = copy = FunctionType(call.__code__, call.__globals__, name or call.__name__, call.__defaults__,
                                            tuple(cells))
    copy.__kwdefaults__, copy.__qualname__, copy.__module__ = call.__kwdefaults__, call.__qualname__, call.__module__
    copy.__doc__, copy.__annotations__ = call.__doc__, call.__annotations__
    copy.__dict__.update(call.__dict__)
    copy.__dict__.pop("about", None)           # these say where a function is found: the copy is found elsewhere
    copy.__dict__.pop("place", None)
    if seen:
        copy.twin_of, cell.cell_contents = getattr(call, "twin_of", call), copy
    return copy


def is_door(function: Any) -> bool:
    """Whether a function looks at the seam."""
    return type(function) is FunctionType and "public" in function.__code__.co_freevars


#: Functions that are called when a setting changes on which results depend: the number of threads, the default dtype.
on_settings: list[Callable[[], None]] = []


def settings_changed() -> None:
    """Tells everybody who has kept what follows from settings."""
    for forget in on_settings:
        forget()


def door(function: Callable, failed: Callable | None = None) -> Callable:
    """A function that looks at the seam and then calls `function`. If `function` raises an error, the result is that of
    failed(public, error, args, kwargs)."""
    public = None

    def call(*args, **kwargs):
        if seam.up and public is not None and (seen := seam.see(public, args, kwargs)) is not UNSEEN:
            return seen
        try:
            if kwargs:
                return function(*args, **kwargs)
            return function(*args)             # a call without **kwargs makes no dictionary
        except Exception as error:
            if failed is None:
                raise
            return failed(public, error, args, kwargs)
    return named_as(function, call)


def repeating_door(function: Callable, failed: Callable | None, repeats: Any) -> Callable:
    """`door` for a function whose calls `repeats` may answer (autograd/repeats.py)."""
    public = None

    def call(*args, **kwargs):
        key = args
        if kwargs:
            key = (len(args), *args, *kwargs, *kwargs.values())
        try:
            if seam.up:
                if public is not None and (seen := seam.see(public, args, kwargs)) is not UNSEEN:
                    return seen
            elif (found := repeats.again(key)) is not None:
                return repeats.learn(key, function, args, kwargs) if found is True else found
            return function(*args, **kwargs) if kwargs else function(*args)
        except Exception as error:
            if failed is None:
                raise
            return failed(public, error, args, kwargs)
    return named_as(function, call)


def door_of_python(function: Callable, failed: Callable, repeats: Any = None) -> Callable:
    """A door for a function that torch has in Python. Handlers see its arguments in one form, whether they were given
    by position or by keyword (see `overridable`). So this door has the parameters of the function, and takes a third
    of the time of `door`. `repeats` may answer calls (autograd/repeats.py)."""
    code = function.__code__
    if code.co_flags & VARIABLE or code.co_kwonlyargcount:
        return door(function, failed) if repeats is None else repeating_door(function, failed, repeats)
    parameters = code.co_varnames[:code.co_argcount]
    made = _with_parameters(len(parameters), repeats is not None)
    made = made.replace(co_name=code.co_name, co_varnames=(*parameters, *made.co_varnames[len(parameters):]))
    cells = {"function": CellType(function), "failed": CellType(failed), "public": CellType(None),
             "repeats": CellType(repeats)}
    call = FunctionType(made, globals(), code.co_name, function.__defaults__,
                        tuple([cells[name] for name in made.co_freevars]))
    return named_as(function, call)


#: Flags of code with *args or **kwargs.
VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@functools.cache
def _with_parameters(count, repeats):
    """The code of a door with `count` parameters. `repeats`: what is kept of earlier calls may answer a call."""
    given = "".join([f"_{i}, " for i in range(count)])
    again = f"""
            if not seam.up and (found := repeats.again(({given}))) is not None:
                return repeats.learn(({given}), function, ({given}), {{}}) if found is True else found""" * repeats
    scope = {}
    exec(f"""
def make(function, failed, public, repeats):
    def call({given}):
        if seam.up and public is not None and (seen := seam.see(public, ({given}), {{}})) is not UNSEEN:
            return seen
        try:{again}
            return function({given})
        except Exception as error:
            return failed(public, error, ({given}), {{}})
    return call""", globals(), scope)
    return scope["make"](None, None, None, None).__code__


def door_of_one(function: Callable) -> Callable:
    """A door for a method without arguments, or for the function that reads a property."""
    public = None

    def call(self):
        if seam.up and public is not None and (seen := seam.see(public, (self,), {})) is not UNSEEN:
            return seen
        return function(self)
    return named_as(function, call)


def door_of_two(function: Callable) -> Callable:
    """A door for a method whose one argument is never given by keyword, such as the method of an operator."""
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
    call.__wrapped__ = function                # inspect shows its source, signature and hints
    return call
