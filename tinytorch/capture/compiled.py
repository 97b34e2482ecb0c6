"""`torch.compile`: a callable that records its first calls and replays the others.

The calls of one signature (structure of the arguments, layouts of their tensors, grad mode ...) are recorded until two
of them are the same program; then it is replayed wherever its guards hold. What cannot be recorded is run eagerly.
"""
from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from operator import is_
from threading import get_ident
from typing import Any

import numpy as np

from .. import dtypes as dt, runtime
from ..autograd import casts
from ..autograd.engine import GraphTask
from ..autograd.grad_mode import mode
from ..autograd.node import FREED, SELECT, Op, new_node
from ..autograd.views import refresh, track_view
from ..errors import warn
from ..kernels import errstate
from ..kinds.lazy import root_of
from ..nn import Module
from ..nn.modules.hooks import changes
from ..nn.parameter import Buffer, Parameter
from ..optim import optimizer as optimizers
from ..runtime import get_default_device
from ..seam import Leaving, seam
from ..tensor import Tensor, wrap
from . import replay
from .build import difference, program_of
from .calls import here, lock
from .effects import Watch, holds
from .program import INPUT, TENSOR, Earlier, Output, Program, refs
from .reads import Reads
from .replay import Changed
from .steps import Recording
from .traced import Unrecordable

__all__ = ["Compiled", "reset", "settings"]


class _Settings:
    """What `torch._dynamo.config` sets."""

    __slots__ = ("cache_size_limit", "self_check", "disable", "stance", "backend", "replays", "patience")

    def __init__(self):
        object.__setattr__(self, "cache_size_limit", 16)       # programs of one callable
        object.__setattr__(self, "self_check", True)           # whether some replays are compared with eager
        object.__setattr__(self, "disable", False)             # whether all run as they are written
        object.__setattr__(self, "stance", "default")          # see torch.compiler.set_stance
        object.__setattr__(self, "backend", "inductor")        # of torch.compile that is told none
        object.__setattr__(self, "replays", True)              # what follows from the last two
        object.__setattr__(self, "patience", 3)                # replays in Python before a program is lowered to C

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "replays", not self.disable and self.stance != "force_eager")


settings = _Settings()
#: The replays of a program that are compared with eager.
CHECKED = frozenset((1, 10, 100, 1000))
#: How many recordings that differ there may be of a signature.
_TRIES = 4
_TENSORS = frozenset((Tensor, Parameter, Buffer))
_VALUES = frozenset((int, float, bool, str, type(None), complex, bytes))


class Eager(Exception):
    """Raised where a call is to be run eagerly."""


class _Ready:
    """A program, its guards and its replay."""

    def __init__(self, program: Program, recording: Recording, watch: Watch, reads: Reads, native: bool) -> None:
        self.program, self.count = program, 0
        tensors = {}
        for source in (program, program.backward):
            for slot in () if source is None else source.tensors:
                tensors[id(slot.value)] = slot.value, slot.array
        for tensor, array, *_, origin in recording.external.values():
            if origin == TENSOR:
                tensors[id(tensor)] = tensor, array
        self.tensors = [t for t, _ in tensors.values()]
        self.arrays = [a for _, a in tensors.values()]
        self.without_grad = list(recording.needs_none)
        self.with_grad = [(slot.value, slot.shape, slot.strides, slot.dtype) for slot in program.grads]
        self.optimisers = {id(s.args[0]): s.args[0] for s in program.steps if s.kind == "update"}
        self.groups = [(o, [len(g["params"]) for g in o.param_groups]) for o in self.optimisers.values()]
        self.modules = [(x, before) for x, before in watch.objects.values() if isinstance(x, Module)]
        self.contents = _contents([x for x, _ in self.modules])
        self.reads = reads.checker()
        self.epoch = changes[0]
        self.holds = self._guard()
        self.results = list(dict.fromkeys(refs(program.outputs)))
        self.wanted = self.results + program.saved
        self.in_backward = any([s.kind in ("rule", "joint", "sum") for s in program.steps])
        self.run_steps = replay.python(program, self.wanted)
        self.lock = threading.Lock() if native else None
        self.finish = _finisher(program, self.results)
        # Where in `values` the result is, if it is one new tensor without a history and nothing else is to be done.
        self.single = None if program.backward is not None or program.spent or program.bumps else self.finish.single
        self.back: list | None = None          # [what replays the backward, its results]
        if program.backward is not None:
            _attach(program, self)
        elif program.spent:
            self.finish.ways["attach"] = _attach_spent
        self.waits = native                    # whether it is to be lowered to C, when that pays
        self.in_c = False                      # whether it has been
        self.direct = self.stale = None        # the replay in C, and what it raises if it is to be lowered again
        if self.waits and not settings.patience:
            self.lower()

    def lower(self) -> None:
        """From now on it is replayed in C, as far as it can be."""
        self.waits = False
        try:
            from .lowered import Stale, lower
        except ImportError:
            return
        for program, wanted in (self.program, self.wanted), (self.program.backward, self.back and self.back[1]):
            if program is None:
                continue
            try:
                run = lower(program, wanted)
            except NotImplementedError:
                continue
            self.in_c, self.count = True, 0    # the first replay in C is looked at as well
            if program is self.program:
                self.run_steps = self.direct = run
                self.stale = Stale
            else:
                self.back[0] = run

    # -------------------------------------------------------------- guards
    def _guard(self):
        """A function that says whether all is as it was when the program was recorded: of code without loops, which
        takes a fourth of the time."""
        scope = {"ndarray": np.ndarray, "optimizers": optimizers, "changes": changes, "ready": self}
        known, terms = {}, []

        def name(x):
            made = known.setdefault(id(x), f"k{len(known)}")
            scope[made] = x
            return made
        for tensor, array in zip(self.tensors, self.arrays):
            t, flag = name(tensor), tensor._requires_grad
            terms.append(f"{t}._array is {name(array)} and {t}._requires_grad is {flag}" + (
                f" and {t}._hooks is None and {t}._accumulating is None" if flag else ""))
        terms += [f"{name(leaf)}._grad is None" for leaf in self.without_grad]
        for leaf, shape, strides, dtype in self.with_grad:
            terms.append(f"(g := {name(leaf)}._grad) is not None and type(a := g._array) is ndarray and "
                         f"a.shape == {name(shape)} and a.strides == {name(strides)} and a.dtype == {name(dtype)}")
        for optimiser, counts in self.groups:
            o = name(optimiser)
            terms.append(f"len(groups := {o}.param_groups) == {len(counts)}")
            terms += [f"len(groups[{i}]['params']) == {count}" for i, count in enumerate(counts)]
            terms.append(f"not {o}._optimizer_step_pre_hooks and not {o}._optimizer_step_post_hooks")
        terms.append("not optimizers._global_optimizer_pre_hooks and not optimizers._global_optimizer_post_hooks")
        terms.append("(ready().epoch == changes[0] or ready().same_modules())")
        terms.append(f"{name(self.reads)}()")
        scope.update(ready=weakref.ref(self))
        room = {}
        exec(f"def make({', '.join(scope)}):\n    return lambda: {' and '.join(terms)}", room)
        return room["make"](**scope)

    def same_modules(self) -> bool:
        """Whether modules have the attributes and contents that they had; their writes raise a counter."""
        if not holds(self.modules) or not _same_contents(self.contents):
            return False
        self.epoch = changes[0]
        return True

    # -------------------------------------------------------------- replay
    def run(self, inputs: list[Tensor]) -> Any:
        """What a call with these tensors gives."""
        values = self.compute([t._array for t in inputs])
        if self.single is not None:
            return wrap(values[self.single])
        program = self.program
        for cell, count in program.bumps:
            (inputs[cell]._version_counter if cell.__class__ is int else cell)[0] += count
        if program.backward is not None:
            return self.finish(values, inputs, self._outputs_of_node(values, inputs))
        if program.spent:
            return self.finish(values, inputs, ())
        return self.finish(values, inputs, None)

    def compute(self, arrays):
        direct = self.direct
        if direct is not None and not direct.python:       # then neither NumPy nor a derivative rule runs
            try:
                return direct.replay(arrays)
            except self.stale:                 # nothing has been done
                pass
        if not self.in_backward:
            begun = errstate.begin()
            try:
                return self.run_steps(arrays)
            finally:
                errstate.end(begun)
        return _as_backward(self.run_steps, arrays)

    def _outputs_of_node(self, values, inputs):
        """The node that stands for the program, with its edges."""
        program, edges = self.program, []
        for edge in program.edges:
            if edge.__class__ is int:
                edge = inputs[edge]
                if edge._view_info is not None:
                    refresh(edge)
                edge = edge._node or edge
            edges.append(edge)
        saved = values[len(self.results):]
        cells = [(t._version_counter, t._version_counter[0], t._array.shape) for t in self.tensors] + [
            (t._version_counter, t._version_counter[0], t._array.shape) for t in inputs]
        return edges, (saved, cells)


def _matcher(args):
    """A function that gives the tensors of arguments of the same signature as these, and None for others; None if there
    are others than tensors and plain values among them, or a tensor twice."""
    scope, tests, names = {"ndarray": np.ndarray, "root_of": root_of}, [f"len(args) == {len(args)}"], []
    tensors = [x for x in args if x.__class__ in _TENSORS]
    if len(set(map(id, tensors))) < len(tensors) or len(args) > 30:
        return None
    lines, roots = [], []
    for i, x in enumerate(args):
        if x.__class__ in _TENSORS:
            array = x._array
            if type(array) is not np.ndarray or x._version_counter.__class__ is not list or x._hooks is not None:
                return None
            scope.update({f"c{i}": x.__class__, f"s{i}": array.shape, f"d{i}": array.dtype, f"p{i}": array.strides})
            names.append(f"x{i}")
            tests.append(f"x{i}.__class__ is c{i} and type(a := x{i}._array) is ndarray and "
                         f"a.shape == s{i} and a.dtype is d{i} and a.strides == p{i} and "
                         f"x{i}._requires_grad is {x._requires_grad} and (x{i}._node is None) is {x._node is None} and "
                         f"x{i}._hooks is None and x{i}._version_counter.__class__ is list")
            if len(tensors) > 1:               # which of them lie in the same memory
                tests.append(f"((r{i} := a) if (b := a.base) is None else (r{i} := b) if type(b) is ndarray and "
                             f"b.base is None else (r{i} := root_of(a))) is not None")
                root = root_of(array)
                tests += [f"r{i} is {'' if root is other else 'not '}r{j}" for j, other in roots]
                roots.append((i, root))
        elif x.__class__ in (int, bool, str, type(None)):
            scope[f"c{i}"], scope[f"s{i}"] = x.__class__, x
            tests.append(f"x{i}.__class__ is c{i} and x{i} == s{i}")
        else:
            return None
    for i, a in enumerate(names):
        tests += [f"{a} is not {b}" for b in names[:i]]
    if args:
        lines.append("        " + ", ".join([f"x{i}" for i in range(len(args))]) + ", = args")
    room = {}
    exec(f"def make({', '.join(scope)}):\n    def match(args):\n        if {tests[0]}:\n    " + "\n    ".join(lines) +
         f"\n            if {' and '.join(tests[1:]) or 'True'}:\n                return [{', '.join(names)}]\n"
         "        return None\n    return match", room)
    return room["make"](**scope)


def _as_backward(run, arrays):
    """run(arrays) as the engine runs derivative rules."""
    before, begun = mode.graph_task, None
    try:
        begun = errstate.begin()
        mode.graph_task = _TASK                # derivative rules call operations with arrays, no tensor that records
        return run(arrays)
    finally:
        mode.graph_task = before
        errstate.end(begun)


_TASK = GraphTask((), None, False)


def _finisher(program, results):
    """function(values, inputs, node) -> the result of the call."""
    place = {slot: i for i, slot in enumerate(results)}
    outputs = program.outputs
    ways = {}
    fixed = {slot.index for slot in program.slots if program.slots[slot.root].origin in ("constant",)}

    def single(x, values, inputs, made, made_all):
        known = x.known
        if known is not None:
            if known.__class__ is Earlier:
                return made_all[known.number]
            return inputs[known] if known.__class__ is int else known
        array = values[place[x.slot]]
        if x.slot in fixed:
            array = array.copy("K")
        tensor = wrap(array)
        if made is not None and x.requires_grad:
            made.append(tensor)
        if x.base is not None:
            track_view(tensor, made_all[x.base])
        made_all.append(tensor)
        return tensor

    def filled(x, values, inputs, made, made_all):
        if x.__class__ is Output:
            return single(x, values, inputs, made, made_all)
        if x.__class__ in (list, tuple):
            return x.__class__([filled(y, values, inputs, made, made_all) for y in x])
        if isinstance(x, tuple):
            return type(x)(*[filled(y, values, inputs, made, made_all) for y in x])
        if x.__class__ is dict:
            return {key: filled(y, values, inputs, made, made_all) for key, y in x.items()}
        return x

    def finish(values, inputs, node):
        if node is None:
            if outputs.__class__ is Output:
                return single(outputs, values, inputs, None, [])
            return filled(outputs, values, inputs, None, [])
        made = []
        result = filled(outputs, values, inputs, made, [])
        ways["attach"](made, *node)
        return result
    finish.ways = ways
    finish.single = place[outputs.slot] if outputs.__class__ is Output and outputs.known is None and (
        outputs.slot not in fixed) else None
    return finish


def _attach_spent(made):
    """Results of a graph that a backward has gone through."""
    for tensor in made:
        tensor._requires_grad = True
        tensor._node = new_node(_SPENT, (), None, FREED, tensor._array.shape)


_SPENT = Op(lambda: None, name="compiled_function", backward_name="CompiledFunctionBackward")


def _attach(program, ready):
    """The one node that stands for a program with a backward."""
    backward = program.backward
    results = list(dict.fromkeys(refs(backward.outputs)))
    ready.back = back = [replay.python(backward, results), results]
    order = [results.index(x.slot) for x in backward.outputs]
    count = sum([_requiring(x) for x in _flat(program.outputs)])
    many = count > 1
    layouts = [(backward.slots[i].shape, backward.slots[i].dtype) for i in backward.inputs[:count]]

    def joint(g, wanted, aux):
        if isinstance(g, Tensor) or many and any([isinstance(d, Tensor) for d in g]):
            raise RuntimeError("torch.compile with aot_autograd does not currently support double backward")
        saved, cells = aux
        for cell, version, shape in cells:
            if cell[0] != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{list(shape)}] is at version {cell[0]}; expected version {version} instead. Hint: enable "
                    "anomaly detection to find the operation that failed to compute its gradient, with "
                    "torch.autograd.set_detect_anomaly(True).")
        grads = [np.zeros(shape, dtype) if d is None else d
                 for d, (shape, dtype) in zip(g if many else (g,), layouts)]
        grads = [d if d.flags.c_contiguous else np.ascontiguousarray(d).reshape(d.shape) for d in grads]
        found = _as_backward(back[0], [*grads, *saved])
        return [found[i] for i in order]

    def forward():
        raise NotImplementedError
    op = Op(forward, name="compiled_function", multi=many, joint=joint, backward_name="CompiledFunctionBackward")

    def attach(made, edges, aux):
        if not made:
            return
        shapes = [t._array.shape for t in made]
        node = new_node(op, edges, (None, aux), ([0], 0), tuple(shapes) if many else shapes[0])
        for k, tensor in enumerate(made):
            tensor._requires_grad = True
            tensor._node = node if not many else new_node(SELECT, (node,), (k, None, None), (), shapes[k])
    ready.finish.ways["attach"] = attach


def _flat(x):
    if x.__class__ is Output:
        return [x]
    if isinstance(x, (list, tuple)):
        return [z for y in x for z in _flat(y)]
    return [z for y in x.values() for z in _flat(y)] if x.__class__ is dict else []


def _requiring(x):
    return x.known is None and x.requires_grad


def _contents(found):
    return [(d, dict(d)) for m in found for d in (
        m._parameters, m._buffers, m._modules, m._forward_hooks, m._forward_pre_hooks, m._backward_hooks,
        m._backward_pre_hooks)]


def _same_contents(contents):
    for d, before in contents:
        if len(d) != len(before) or not all(map(is_, d.values(), before.values())):
            return False
    return True


class _Entry:
    """What is known of the calls of one signature."""

    def __init__(self, held):
        self.held, self.reason = held, None    # `held`: what the ids in the key are of
        self.watch: Watch | None = None
        self.programs: list[_Ready] = []
        self.pending: list[tuple[Program, bool]] = []          # and whether its functions were watched
        self.look = False                      # whether those of the next recording are to be watched


def _alone():
    """Whether no other living thread has used the library."""
    if not Leaving.threads <= {get_ident()}:   # an interrupt may have kept one from saying that it ended
        Leaving.threads.intersection_update(sys._current_frames())
    return Leaving.threads <= {get_ident()}


class Compiled:
    """`function`, recorded and replayed."""

    def __init__(self, function: Callable, fullgraph: bool = False, native: bool = False,
                 limit: int | None = None) -> None:
        self.function, self.fullgraph, self.native = function, fullgraph, native
        self.name, self.limit = getattr(function, "__qualname__", type(function).__name__), limit
        self.entries: dict[Any, _Entry] = {}
        self.stopped, self.count, self.age = False, 0, _reset.count
        #: (matcher of arguments, grad mode, default dtype, program) of those whose arguments are simple.
        self.quick: list[tuple] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if here.recording is not None or seam.up or self.stopped or not settings.replays:
            return self.function(*args, **kwargs)
        if not kwargs and self.age == _reset.count:
            for match, grad, default, ready in self.quick:
                if mode.grad_now is grad and (inputs := match(args)) is not None and ready.holds() and (
                        dt.get_default_dtype() is default) and not mode.inference:
                    return self._replayed(ready, inputs, args, kwargs)
        return self._looked_up(args, kwargs)

    def _looked_up(self, args, kwargs):
        if here.running or mode.steppers:
            return self.function(*args, **kwargs)
        inputs: list[Tensor] = []
        if self.age != _reset.count:
            self.forget()                      # torch._dynamo.reset() was called
        try:
            key = self._key(args, kwargs, inputs)
        except Eager:
            return self.function(*args, **kwargs)
        entry = self.entries.get(key)
        if entry is not None:
            for ready in entry.programs:
                if ready.holds():
                    return self._replayed(ready, inputs, args, kwargs)
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
        self.entries, self.quick, self.stopped, self.count, self.age = {}, [], False, 0, _reset.count

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
    def _replayed(self, ready, inputs, args, kwargs):
        if ready.lock is not None and not ready.lock.acquire(False):       # another thread is in it
            return self.function(*args, **kwargs)
        try:
            if ready.waits and ready.count >= settings.patience:
                try:
                    ready.lower()
                except Exception as error:     # whatever it is, there is what replays in Python
                    breaks.append((self.name, f"it is not replayed in C: {error or repr(error)}"))
            ready.count = count = ready.count + 1
            if count in CHECKED and settings.self_check:
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
            if ready.lock is not None:
                ready.lock.release()

    # -------------------------------------------------------------- recording
    def _recorded(self, key, entry, inputs, args, kwargs):
        # Another thread that is at work would meet the arrays of a recording in the tensors that both know.
        if sys.getprofile() is not None or not _alone() or not lock.acquire(False):
            return self.function(*args, **kwargs)
        try:
            if self.count >= (self.limit or settings.cache_size_limit) and (entry is None or not entry.pending):
                self.stopped = True
                warn(f"torch.compile: {self.name} has {self.count} programs, one for each kind of arguments: from now "
                     "on it is run as it is written (torch._dynamo.config.cache_size_limit)")
                return self.function(*args, **kwargs)
            return self._record(key, entry, inputs, args, kwargs)
        finally:
            lock.release()

    def _record(self, key, entry, inputs, args, kwargs):
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
                except Exception as error:     # whatever it is, the call itself is done
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
                    ready = _Ready(program, recording, watch, reads, self.native)
                except Exception as error:
                    self._break(entry, str(error) or repr(error))
                else:
                    self._ready(entry, program, ready, args, kwargs)
                return result
        entry.pending.append((program, not again))
        entry.look = again                     # what another way does is to be watched
        if len(entry.pending) >= _TRIES + len(entry.programs):
            self._break(entry, f"what was recorded of each call is another program: {last}")
        return result

    def _ready(self, entry, program, ready, args, kwargs):
        entry.programs.append(ready)
        match = None if kwargs or mode.inference else _matcher(args)
        if match is not None:
            self.quick.append((match, mode.grad_now, dt.get_default_dtype(), ready))
        entry.pending = [(p, watched) for p, watched in entry.pending if difference(p, program) is not None]
        self.count += 1

    def _break(self, entry, reason):
        entry.reason, entry.pending = reason, []
        breaks.append((self.name, reason))
        if "graph_breaks" in os.environ.get("TORCH_LOGS", ""):
            print(f"Graph break in {self.name}: {reason}. It is run as it is written for arguments of this kind.",
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


#: (what was compiled, why it could not be recorded) of this process, the last ones.
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
    if kind in _TENSORS:
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


class _Reset:
    count = 0


_reset = _Reset()


def reset() -> None:
    """Everything that was compiled forgets its programs."""
    _reset.count += 1
    breaks.clear()
