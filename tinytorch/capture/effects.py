"""Finds side effects of a recorded call in Python. A replay would not repeat them, so such a call is not recorded.

A profile hook shows the functions of the program that the call runs. Their code must not write to attributes, globals
or items that outlive the call, and must not call C functions that may do more than compute. Functions of the library
are trusted, except those of the parts that keep state in Python (schedulers, averages).
"""
from __future__ import annotations

import dis
import functools
import gc
import operator
import os
import sys
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .. import random
from ..autograd.grad_mode import mode
from ..autograd.torch_function import PLAIN, state
from ..kernels import later
from ..nn import Module
from ..nn.parameter import Buffer, Parameter
from ..optim import Optimizer
from ..tensor import Tensor
from .reads import Reads
from .references import OF_A_NAME

__all__ = ["UNWATCHED", "Watch", "holds", "is_own"]

_PACKAGE = __name__.partition(".")[0]
_SIDE = {"STORE_GLOBAL", "DELETE_GLOBAL", "DELETE_ATTR", "DELETE_SUBSCR", "IMPORT_STAR"}
#: The values of __module__ of C functions that only compute.
_PURE = {"math", "cmath", "_operator", "operator", "itertools", "_functools", "_abc", "typing", "_collections", None}
_IMPURE = {"print", "input", "open", "exec", "eval", "setattr", "delattr", "compile", "__import__", "breakpoint",
           "vars", "globals", "locals"}
_MUTATING = {"append", "extend", "insert", "update", "add", "pop", "popitem", "setdefault", "clear", "remove",
             "discard", "sort", "reverse", "appendleft", "extendleft", "popleft", "rotate", "__setitem__",
             "__delitem__"}
_MODULE_CALL = Module.__call__.__code__
_FUNCTIONS = FunctionType, BuiltinFunctionType, MethodType, ModuleType
_CONTAINERS = (list, dict, set)
_VALUES = (str, bytes, int, float, complex, tuple, frozenset, range, type(None), bool)


#: Prefixes of the names of instructions that compute a new value from the stack.
_MAKING = "BINARY", "FORMAT", "BUILD"
#: Names of functions and attributes that give access to attributes whose names need not be in the code.
_READERS = frozenset(("__dict__", "vars", "copy", "deepcopy", "asdict", "astuple", "replace", "fields", "getmembers",
                      "attrgetter", "methodcaller"))


@functools.lru_cache(maxsize=4096)
def _scanned(code: CodeType) -> tuple[str | None, tuple[str, ...], bool]:
    """Three facts about a function's code: a description of its first write to a variable outside of the function, or
    None; the globals that it reads; whether it may read attributes by names that it computes."""
    if _TOLD_BY_DIS.isdisjoint(code.co_code[::2]) and "getattr" not in code.co_names and "hasattr" not in code.co_names:
        return None, _globals_in(code), False
    return _told_by_dis(code)


def _globals_in(code):
    """The names of the globals that a function's code reads. `dis` takes ten times as long to find them."""
    found, argument = {}, 0
    for number, part in zip(code.co_code[::2], code.co_code[1::2]):
        argument |= part
        if number == _LOAD_GLOBAL or number == _LOAD_NAME:
            found[code.co_names[argument >> (number == _LOAD_GLOBAL and _FLAGGED)]] = None
        argument = argument << 8 if number == _EXTENDED else 0
    return tuple(found)


_LOAD_GLOBAL, _LOAD_NAME, _EXTENDED = map(dis.opmap.__getitem__, ("LOAD_GLOBAL", "LOAD_NAME", "EXTENDED_ARG"))
#: From Python 3.11 on the lowest bit of the argument of LOAD_GLOBAL says whether it also pushes NULL.
_FLAGGED = sys.version_info >= (3, 11)
_TOLD_BY_DIS = frozenset([dis.opmap[name] for name in (*_SIDE, "STORE_DEREF") if name in dis.opmap])


def _told_by_dis(code):
    reason, read, dynamic, asked = None, [], False, None
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _SIDE:
            reason = reason or f"{code.co_qualname if hasattr(code, 'co_qualname') else code.co_name} writes to "\
                               f"{instruction.argval}"
        elif name == "STORE_DEREF" and instruction.argval in code.co_freevars:
            reason = reason or f"{code.co_name} writes to the variable {instruction.argval} around it"
        elif name == "LOAD_GLOBAL" or name == "LOAD_NAME":
            read.append(instruction.argval)
            if instruction.argval in ("getattr", "hasattr"):
                asked = []
                continue
        if asked is not None:                  # the arguments of getattr up to its call: an object and a constant name
            if name.startswith("CALL") or name.startswith(_MAKING):
                stands = len(asked) in (2, 3) and asked[1].__class__ is str and instruction.arg == len(asked)
                dynamic, asked = dynamic or name.startswith(_MAKING) or not stands, None
            elif name.startswith("LOAD_") and name not in ("LOAD_ATTR", "LOAD_METHOD"):
                asked.append(instruction.argval if name == "LOAD_CONST" else None)
    return reason, tuple(dict.fromkeys(read)), dynamic


#: Attributes by which a scheduler knows that the optimiser has taken a step.
_MARKS = frozenset(("_opt_called",))


@functools.lru_cache(maxsize=4096)
def _stores(code: CodeType) -> bool:
    """Whether a function's code writes to attributes or items other than _MARKS, which are set once and then stay."""
    return any([i.opname == "STORE_SUBSCR" or i.opname == "STORE_ATTR" and i.argval not in _MARKS
                for i in dis.get_instructions(code)])


class Watch:
    """Watches the functions that run in a `with` statement.

    reason   their first side effect, or None
    globals  (dict, name, value) of each global that they read
    objects  {id: (object, its attributes before)} of objects that they get as arguments or read, modules among them
    names    the names in their code, by which they read attributes; None if they may read any attribute

    A profile hook that sees each call within the library takes several times as long as these calls. So the recording
    turns the hook off where no function of the program can run (`quietly`), and on again where one can (`aloud`).
    """

    _hook: Callable | None = None              # the profile hook, while functions are watched
    _quiet = False

    def __init__(self) -> None:
        self.reason: str | None = None
        self.globals: list[tuple[dict, str, Any]] = []
        self.objects: dict[int, tuple[Any, dict]] = {}
        self.containers: dict[int, tuple[Any, Any]] = {}
        self.names: set[str] | None = set()
        self.modules: list[Module] = []
        self.reached: set[CodeType] = set()    # functions that the guards of the first recording reached
        self._codes: set[CodeType] = set()

    def __enter__(self) -> Watch:
        self._before = sys.getprofile()
        _Begin.code = sys._getframe(1).f_code
        self._hook = self._event
        sys.setprofile(self._hook)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.setprofile(self._before)
        self._hook = None

    def quietly(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """function(*args, **kwargs), with the hook off except in calls of `aloud`."""
        hook = self._hook
        if hook is None or self._quiet or sys.getprofile() is not hook:
            return function(*args, **kwargs)
        sys.setprofile(None)
        self._quiet = True
        try:
            return function(*args, **kwargs)
        finally:
            self._quiet = False
            sys.setprofile(hook)

    def aloud(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """function(*args, **kwargs), with the hook on again within `quietly`."""
        if not self._quiet:
            return function(*args, **kwargs)
        self._quiet = False
        sys.setprofile(self._hook)
        try:
            return function(*args, **kwargs)
        finally:
            sys.setprofile(None)
            self._quiet = True

    def public(self, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """function(*args, **kwargs) for a public function. With plain arguments it runs functions of the program only
        in modes and in hooks of saved tensors; else it runs `aloud`."""
        if self._quiet and (state.modes or mode.saved_tensors_hooks is not None or not _are_plain(args) or not
                            _are_plain(kwargs.values())):
            return self.aloud(function, args, kwargs)
        return function(*args, **kwargs)

    def _event(self, frame, event, argument):
        code = frame.f_code
        kind = _kinds.get(id(code))
        if kind is _LIBRARY or kind is None and (kind := _kind(code, frame)) is _LIBRARY:
            return
        if event == "call":
            if kind is _MODULES:
                module = frame.f_locals["self"]
                self.modules.append(module)
                self.notice(module)
            elif kind is _KEEPS:
                self.reason = self.reason or f"{code.co_name} of {frame.f_globals['__name__']}, which keeps state"
            elif _is_of_program(kind, frame) and not _is_of_collector(frame):
                if code not in self._codes:
                    self._codes.add(code)
                    self._look(code, frame)
                for name, value in frame.f_locals.items():
                    if not (name == "self" and code.co_name == "__init__"):
                        self.notice(value)
        elif event == "c_call" and self.reason is None and _is_of_program(kind, frame) and (
                not _is_of_collector(frame)):
            self._call(argument)

    def notice(self, value: Any) -> None:
        """Keeps the attributes and items of an object that a function of the program gets as an argument or reads."""
        if value.__class__ in _VALUES or isinstance(value, Tensor):
            return
        if value.__class__ in _CONTAINERS:
            if id(value) not in self.containers:
                self.containers[id(value)] = value, value.copy()
        elif isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, (type, *_FUNCTIONS)) and (
                id(value) not in self.objects):
            found = dict(vars(value))
            self.objects[id(value)] = value, found
            if not isinstance(value, Module):  # a module's own dicts are compared by the guards
                for x in found.values():
                    if x.__class__ in _CONTAINERS and id(x) not in self.containers:
                        self.containers[id(x)] = x, x.copy()
            else:
                for name, x in found.items():
                    if x.__class__ in _CONTAINERS and name[0] != "_" and id(x) not in self.containers:
                        self.containers[id(x)] = x, x.copy()

    def once_more(self) -> Watch:
        """A new Watch of the same objects and globals, with their current values, for a call that is not watched."""
        found = Watch()
        for value, _ in self.objects.values():
            found.notice(value)
        found.globals = [(room, name, room.get(name)) for room, name, _ in self.globals]
        for _, _, value in found.globals:
            found.notice(value)
        found.names, found.modules, found.reached = self.names, self.modules[:], self.reached
        found._codes = self._codes
        return found

    def add(self, other: Watch) -> None:
        """Adds the objects, globals, names, modules and functions of another Watch."""
        self.objects |= {key: x for key, x in other.objects.items() if key not in self.objects}
        self.globals += [(room, name, room.get(name)) for room, name, _ in other.globals]
        self.names = None if self.names is None or other.names is None else self.names | other.names
        self.modules += other.modules
        self._codes |= other._codes

    def reads(self, function: Any, args: tuple, kwargs: dict) -> Reads:
        """Guards on the Python objects that the functions read, with their current values."""
        starts = [function, *self.modules, *_objects_in((args, kwargs)),
                  *[x for x, _ in self.objects.values() if not isinstance(x, Optimizer)]]
        found = Reads([*starts, *[value for _, _, value in self.globals]], self.names)
        inner = {code for x in self._codes for code in x.co_consts if isinstance(code, CodeType)}
        lost = [code for code in self._codes if code.co_freevars and code not in found.codes and code not in inner]
        if lost:                               # functions that the search from `starts` did not reach
            starts += [x for code in lost for x in gc.get_referrers(code) if isinstance(x, FunctionType)]
            found = Reads([*starts, *[value for _, _, value in self.globals]], self.names)
        known = {(id(room), name) for room, name, _ in found.places}
        for room, name, value in self.globals:
            if name in room and (id(room), name) not in known:
                known.add((id(room), name))
                found.places.append((room, name, value))
        return found

    def _look(self, code, frame):
        reason, read, dynamic = _scanned(code)
        if self.reason is None:
            self.reason = reason
        if dynamic or not _READERS.isdisjoint(code.co_names):
            self.names = None
        elif self.names is not None:
            self.names.update(code.co_names)
            self.names.update([x for x in code.co_consts if x.__class__ is str and x.isidentifier()])
        room = frame.f_globals
        for name in read:
            if name in room:
                value = room[name]
                self.globals.append((room, name, value))
                self.notice(value)

    def changed(self, result: Any) -> str | None:
        """A description of an object that was written to, or None."""
        for value, before in self.objects.values():
            if isinstance(value, (Optimizer, Module)) and type(value).__module__.partition(".")[0] == _PACKAGE:
                continue
            if not _same(vars(value), before):
                return f"an attribute of a {type(value).__name__} is written to"
        for key in list(self.containers):
            value, before = self.containers.pop(key)
            if not _same_content(value, before) and sys.getrefcount(value) > OF_A_NAME and not _within(value, result):
                return f"a {type(value).__name__} of the program is written to ({list(value)[:3]})"
        return None

    def _call(self, function):
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "")
        if owner is not None and not isinstance(owner, type(sys)):
            if isinstance(owner, type) or isinstance(owner, _VALUES):
                return
            if isinstance(owner, _CONTAINERS):
                if name in _MUTATING:
                    self.notice(owner)         # before it is written to
                return
            if name in ("__init__", "__enter__", "__exit__"):
                return
            module = type(owner).__module__
            if module.partition(".")[0] in (_PACKAGE, "numpy", "collections"):
                return
            self.reason = f"a call of {type(owner).__name__}.{name}"
            return
        module = getattr(function, "__module__", None)
        if module == "builtins":
            if name in _IMPURE:
                self.reason = f"a call of {name}"
        elif module not in _PURE and (module or "").partition(".")[0] not in (_PACKAGE, "numpy"):
            self.reason = f"a call of {module}.{name}"


def _are_plain(args):
    for x in args:
        if type(x) not in _OF_LIBRARY and not (type(x) in (tuple, list) and _are_plain(x)):
            return False
    return True


_OF_LIBRARY = PLAIN - {FunctionType} | {Parameter, Buffer}
#: A Watch that is never entered.
UNWATCHED = Watch()


def is_own(function: Callable) -> bool:
    """Whether a function on arrays, and each function in its closure, is the library's or NumPy's."""
    if type(function) is not FunctionType:
        if isinstance(function, type):
            return function.__module__.partition(".")[0] in (_PACKAGE, "numpy", "builtins")
        return isinstance(function, (np.ufunc, BuiltinFunctionType, type(np.sum))) or type(function) in _VALUES
    found = _own.get(function)
    if found is None:
        found = (function.__globals__.get("__name__") or _PACKAGE).partition(".")[0] in (_PACKAGE, "numpy")
        _own[function] = found                 # before the cells: one of them may hold the function itself
        for cell in function.__closure__ or ():
            try:
                found = found and is_own(cell.cell_contents)
            except ValueError:                 # an empty cell
                pass
        _own[function] = found
    return found


_own: weakref.WeakKeyDictionary[FunctionType, bool] = weakref.WeakKeyDictionary()


def _objects_in(x):
    """The objects among nested arguments that a signature knows by their ids alone."""
    if isinstance(x, (tuple, list)):
        return [z for y in x for z in _objects_in(y)]
    if x.__class__ is dict:
        return [z for y in x.values() for z in _objects_in(y)]
    return [] if x.__class__ in _VALUES or isinstance(x, Tensor) else [x]


def _same(a, b):
    return len(a) == len(b) and all([key in b and b[key] is x for key, x in a.items()])


def _same_content(a, b):
    if a.__class__ is dict:
        return _same(a, b)
    return len(a) == len(b) and (a == b if a.__class__ is set else all(map(operator.is_, a, b)))


def holds(objects: list) -> bool:
    """Whether objects still have the same attributes. `objects`: (object, its attributes before)."""
    for value, before in objects:
        if not _same(vars(value), before):
            return False
    return True


def _within(x, result, depth=0):
    if x is result:
        return True
    if depth > 4:
        return False
    if isinstance(result, (list, tuple)):
        return any([_within(x, y, depth + 1) for y in result])
    return isinstance(result, dict) and any([_within(x, y, depth + 1) for y in result.values()])


#: Parts of the library whose functions keep state in Python.
_ACCOUNTS = tuple([f"{_PACKAGE}.{name}" for name in (
    "optim.lr_scheduler", "optim.swa_utils", "amp", "utils.data", "utils.tensorboard", "monitor", "profiler", "hub")])


_LIBRARY, _PROGRAM, _STANDARD, _MODULES, _KEEPS = range(5)
#: The code of functions that read or set the state of the random number generator.
_OF_STREAM = [f.__code__ for f in vars(random).values() if getattr(f, "said", {}).get("leaves")]
#: id of the code of a function -> its kind. Code is held in `_held` and not a key: its hash reads all its instructions.
_kinds: dict[int, int] = {id(code): _KEEPS for code in _OF_STREAM}
_held: list[CodeType] = []
_PLACE = os.path.dirname(os.__file__)


def _kind(code, frame):
    """The owner of a function: the library (or NumPy), Python's standard library, or the program."""
    kind = _kinds.get(id(code))
    if kind is None:
        module, file = frame.f_globals.get("__name__") or "", code.co_filename
        if module.partition(".")[0] in (_PACKAGE, "numpy") or not module or file.startswith("<frozen") or (
                module.startswith("namedtuple_")):     # such a function only creates a named tuple
            kind = _LIBRARY
            if code is _MODULE_CALL:
                kind = _MODULES
            elif module.startswith(_ACCOUNTS) and _stores(code):
                kind = _KEEPS
        elif file.startswith(_PLACE) and "site-packages" not in file:
            kind = _STANDARD
        else:
            kind = _PROGRAM
        if len(_held) > 100000:
            _kinds.clear()
            _held.clear()
            _kinds.update([(id(code), _KEEPS) for code in _OF_STREAM])
        _held.append(code)
        _kinds[id(code)] = kind
    return kind


def _is_of_collector(frame):
    """Whether a callback of the garbage collector runs, which may happen in the middle of any function."""
    codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while codes and frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def _is_of_program(kind, frame):
    """Whether a function is the program's, or is in Python's standard library and was called by the program. A function
    that runs during an import is neither."""
    if kind is _STANDARD:
        while kind is _STANDARD:
            if frame is None or frame.f_globals.get("__name__") in _CALM:
                return False
            frame = frame.f_back
            kind = _LIBRARY if frame is None else _kind(frame.f_code, frame)
        if kind is not _PROGRAM:
            return False
    while frame is not None and frame.f_code is not _Begin.code:
        if frame.f_code is _LATER or frame.f_code.co_filename.startswith("<frozen importlib"):
            return False
        frame = frame.f_back
    return True


#: The function of the library that runs a lazy module at its first use, without an import statement.
_LATER = later.run.__code__


class _Begin:
    code = None                                # the code of the function that entered the Watch


#: Modules of Python's standard library whose functions have no side effects of their own.
_CALM = frozenset(("contextlib", "functools", "collections", "typing", "abc", "enum", "inspect", "types", "copy",
                   "operator", "dataclasses", "numbers", "warnings"))
