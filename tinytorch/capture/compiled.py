"""`torch.compile`: a callable that records its first calls and replays the others.

The calls of one signature (structure of the arguments, layouts of their tensors, grad mode ...) are recorded until two
recordings are the same program. From then on the program is replayed (ready.py) whenever its guards hold. A call that
cannot be recorded runs eagerly.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from .. import dtypes as dt, runtime
from ..autograd import casts
from ..autograd.grad_mode import mode
from ..errors import warn
from ..kinds.lazy import root_of
from ..nn import Module
from ..runtime import get_default_device
from ..seam import Leaving, seam
from ..tensor import Tensor
from .build import difference, program_of
from .calls import here, lock
from .effects import Watch
from .program import INPUT, Program
from .quick import MISSED, Quick, matcher
from .ready import TENSORS, Ready, settings
from .replay import Changed
from .steps import Recording
from .traced import Unrecordable

__all__ = ["Compiled", "reset", "settings"]

#: A signature without a program is given up after this many recordings that differ; each program allows one more.
_TRIES = 4
_VALUES = frozenset((int, float, bool, str, type(None), complex, bytes))


class Eager(Exception):
    """Raised when a call must run eagerly."""


class _Entry:
    """The programs and pending recordings of the calls of one signature."""

    def __init__(self, held):
        # `held` keeps the objects alive whose ids are in the key. `reason`: why no call is recorded any more, or None.
        self.held, self.reason = held, None
        self.watch: Watch | None = None
        self.programs: list[Ready] = []
        #: Programs that were recorded once, and whether the functions of the call were watched.
        self.pending: list[tuple[Program, bool]] = []
        self.look = False                      # whether the functions of the next recording must be watched


def _alone():
    """Whether this is the only running thread that has used the library."""
    if not Leaving.threads <= {get_ident()}:   # an interrupt may have kept a thread from removing itself
        Leaving.threads.intersection_update(sys._current_frames())
    return Leaving.threads <= {get_ident()}


class Compiled:
    """A callable that runs `function`, records its calls and replays their programs."""

    def __init__(self, function: Callable, fullgraph: bool = False, native: bool = False,
                 limit: int | None = None) -> None:
        self.function, self.fullgraph, self.native = function, fullgraph, native
        self.name, self.limit = getattr(function, "__qualname__", type(function).__name__), limit
        self.entries: dict[Any, _Entry] = {}
        self.stopped, self.count, self.age = False, 0, settings.resets
        #: A way to each program whose arguments are simple. The list itself stays: callers keep it.
        self.quick: list[Quick] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if here.recording is not None or self.stopped or not settings.replays or (
                seam.up and not seam.is_up_for_classes_alone()):
            return self.function(*args, **kwargs)
        if not kwargs:
            for way in self.quick:
                if (result := way.run(self, args)) is not MISSED:
                    return result
        return self._looked_up(args, kwargs)

    def _looked_up(self, args, kwargs):
        if here.running or mode.steppers:
            return self.function(*args, **kwargs)
        inputs: list[Tensor] = []
        if self.age != settings.resets:
            self.forget()                      # torch._dynamo.reset() was called
        try:
            key = self._key(args, kwargs, inputs)
        except Eager:
            return self.function(*args, **kwargs)
        entry = self.entries.get(key)
        if entry is not None:
            for ready in entry.programs:
                if ready.holds():
                    if not ready.matched:
                        ready.matched = True
                        self._match(ready, args, kwargs)
                    return self.replayed(ready, inputs, args, kwargs)
            if entry.reason is not None:
                return self.function(*args, **kwargs)
        if settings.stance != "default":
            if settings.stance.startswith("fail"):
                raise RuntimeError("Detected recompile when torch.compile stance is 'fail_on_recompile'")
            if settings.stance == "eager_on_recompile":
                return self.function(*args, **kwargs)
        return self._recorded(key, entry, inputs, args, kwargs)

    def forget(self) -> None:
        """Drops all programs."""
        self.entries, self.stopped, self.count, self.age = {}, False, 0, settings.resets
        self.quick.clear()

    # -------------------------------------------------------------- signature
    def _key(self, args, kwargs, inputs):
        grad = mode.grad_now
        if grad is not True and grad is not False:
            raise Eager
        parts = [grad, mode.inference, dt.get_default_dtype()]
        for x in args:
            _sign(x, parts, inputs)
        for name, x in kwargs.items():
            parts.append(name)
            _sign(x, parts, inputs)
        if len(inputs) > 1:
            roots: dict[int, int] = {}
            for t in inputs:
                a = t._array
                root = a if a.base is None else root_of(a)
                parts.append(roots.setdefault(id(root), len(roots)))
        return tuple(parts)

    # -------------------------------------------------------------- replay
    def replayed(self, ready: Ready, inputs: list[Tensor], args: tuple, kwargs: dict) -> Any:
        """The result of a call whose program holds."""
        lock = ready.lock
        if lock is not None and not lock.acquire(False):   # another thread replays it
            return self.function(*args, **kwargs)
        try:
            if ready.waits and ready.count >= ready.patience:
                try:
                    ready.lower()
                except Exception as error:     # the replay in Python still works
                    breaks.append((self.name, f"its program is not replayed in C: {error or repr(error)}"))
                for way in self.quick:
                    if way.ready is ready:
                        way.settle()
            ready.count = count = ready.count + 1
            special = count >= ready.special
            if special:
                ready.look_again()
            if special and settings.self_check:
                from .selfcheck import checked
                here.running += 1
                try:
                    return checked(self, ready, inputs, args, kwargs)
                finally:
                    here.running -= 1
            return ready.run(inputs)
        except Changed:
            return self.function(*args, **kwargs)
        finally:
            if lock is not None:
                lock.release()

    # -------------------------------------------------------------- recording
    def _recorded(self, key, entry, inputs, args, kwargs):
        # A recording puts Traced arrays into tensors that other threads may use, so it needs to be the only thread.
        if sys.getprofile() is not None or not _alone() or not lock.acquire(False):
            return self.function(*args, **kwargs)
        try:
            if self.count >= (self.limit or settings.cache_size_limit) and (entry is None or not entry.pending):
                self.stopped = True
                self.quick.clear()
                warn(f"torch.compile: {self.name} has {self.count} programs, one for each kind of arguments. From "
                     "now on it runs as it is written (torch._dynamo.config.cache_size_limit)")
                return self.function(*args, **kwargs)
            return self._record(key, entry, inputs, args, kwargs)
        finally:
            lock.release()

    def _record(self, key, entry, inputs, args, kwargs):
        # The call runs in one of two ways:
        #   again      without a profile hook, if a recording is pending, `look` is not set, and the guards reach the
        #              same functions as at the last watched call
        #   watched    else, for example at the first call of a signature: a hook shows the functions of the program
        # The first case that applies decides on the signature:
        #   reason     the recording stopped, or it is no program, or the call had side effects: eager from now on
        #   same       a watched pending recording is the same program, and `reads` guards it: the program is Ready
        #   different  the program becomes pending, or with _TRIES pending programs: eager from now on
        recording = Recording()
        watch = reads = None
        if entry is not None and entry.watch is not None:
            reads = entry.watch.reads(self.function, args, kwargs)
            if entry.pending and not entry.look and reads.codes == entry.watch.reached:
                watch = entry.watch.once_more()
        again, watch = watch is not None, watch or Watch()
        recording.fullgraph = self if self.fullgraph else None
        here.running += 1
        program = reason = None
        before = _settings_of_library()
        try:
            try:
                recording.begin()
                _enter(recording, inputs)
            except Unrecordable as error:
                recording.stop(str(error))
            target = self.function
            for known in (target, getattr(target, "__self__", None)):
                if isinstance(known, Module):
                    for m in known.modules():
                        watch.notice(m)
            if again:
                result = target(*args, **kwargs)
            else:
                recording.watch = watch
                with watch:
                    result = target(*args, **kwargs)
            if recording.open:
                try:
                    program = program_of(recording, inputs, result)
                except Exception as error:     # the call itself has succeeded
                    reason = str(error) or repr(error)
                if program is not None:
                    reason = watch.reason or watch.changed(result) or _settings_changed(before)
                    if reason is None and reads is not None and not reads.unwritten():
                        reason = "an object of the program is written to"
                    if reason is None and not again:
                        if entry is not None and entry.watch is not None:
                            watch.add(entry.watch)
                        found = watch.reads(self.function, args, kwargs)
                        reason, watch.reached = found.reason, found.codes
        finally:
            recording.end()
            here.running -= 1
        reason = reason or recording.reason
        if entry is None:
            entry = self.entries[key] = _Entry((args, kwargs))
        if reason is not None:
            self._break(entry, reason)
            return result
        entry.watch, entry.look = watch, False
        last = None
        for other, watched in entry.pending:
            last = difference(other, program)
            if last is None and watched and reads is not None:
                try:
                    ready = Ready(program, recording, watch, reads, self.native)
                except Exception as error:
                    self._break(entry, str(error) or repr(error))
                else:
                    self._ready(entry, program, ready, other)
                return result
        entry.pending.append((program, not again))
        entry.look = again                     # a different program of an unwatched call: watch the next call
        if len(entry.pending) >= _TRIES + len(entry.programs):
            self._break(entry, f"each recorded call is a different program: {last}")
        return result

    def _match(self, ready, args, kwargs):
        match = None if kwargs or mode.inference else matcher(args)
        if match is not None:
            self.quick.append(Quick(match, ready))

    def _ready(self, entry, program, ready, other):
        entry.programs.append(ready)
        entry.pending = [(p, watched) for p, watched in entry.pending
                         if p is not other and difference(p, program) is not None]
        self.count += 1

    def _break(self, entry, reason):
        entry.reason, entry.pending = reason, []
        breaks.append((self.name, reason))
        if "graph_breaks" in os.environ.get("TORCH_LOGS", ""):
            print(f"Graph break in {self.name}: {reason}. It runs as it is written for arguments of this kind.",
                  file=sys.stderr)
        if self.fullgraph:
            from .._dynamo.exc import Unsupported
            raise Unsupported(f"{reason}\n  Explanation: {self.name} was compiled with fullgraph=True, and this cannot "
                              "be recorded.")


def _settings_of_library():
    return (mode.grad_now, mode.inference, dt.get_default_dtype(), get_default_device(), casts.state.enabled,
            *runtime._settings.values())


def _settings_changed(before):
    return None if before == _settings_of_library() else "a setting of the library is changed"


#: (name of a compiled callable, reason why it runs eagerly or is not lowered to C), since the last reset.
breaks: list[tuple[str, str]] = []


def _enter(recording, inputs):
    for t in inputs:
        recording.know(t, INPUT)
        if t._node is not None:
            recording.outside.add(id(t._node))
    for t in inputs:
        if type(t._array) is np.ndarray:
            t._array = recording.trace(t._array)


def _sign(x, parts, inputs):
    kind = x.__class__
    if kind in TENSORS:
        array = x._array
        if type(array) is not np.ndarray:
            raise Eager
        for i, t in enumerate(inputs):
            if t is x:
                parts.append(("same", i))
                return
        inputs.append(x)
        parts += (array.shape, array.strides, array.dtype, x._requires_grad, x._node is None)
        if x._hooks is not None:
            raise Eager
        if x._version_counter.__class__ is not list:
            parts.append("inference")
    elif kind in _VALUES:
        parts += (kind, x)
    elif kind is tuple or kind is list or isinstance(x, tuple):
        parts += (kind, len(x))
        for y in x:
            _sign(y, parts, inputs)
    elif kind is dict:
        parts += (kind, len(x))
        for name, y in x.items():
            parts.append(name)
            _sign(y, parts, inputs)
    elif isinstance(x, Tensor):
        raise Eager
    else:
        parts += ("object", id(x))


def reset() -> None:
    """Has every compiled callable forget its programs at its next call."""
    settings.resets += 1
    breaks.clear()
