"""Whether operations are recorded: no_grad, enable_grad, set_grad_enabled, inference_mode.

Grad mode belongs to the thread, as in torch. Each of these works as a context manager and as a
decorator (of plain functions and of generator functions).
"""
from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Literal

from ..errors import not_a_tensor, warn
from ..seam import Leaving, door
from ..tensor import Tensor, new_tensor_state
from .node import Node


class _AllThreads:
    """The threads that are in a mode which operations must look at.

    `in_special_mode` holds the threads that do not record, and the threads in which something watches what is recorded.
    The set is nearly always empty, and testing it takes a fifth of the time of reading a thread-local variable.
    `noting_writes` says whether any thread notes where tensors are written to (places.py). Entering or leaving a mode
    twice changes nothing, so whatever an interrupt between two statements leaves behind, the next change of mode puts
    right.
    """

    __slots__ = ("in_special_mode", "noting_writes", "_noting", "_lock")

    def __init__(self):
        self.in_special_mode: set[int] = set()
        self.noting_writes = False
        self._noting: set[int] = set()
        self._lock = threading.RLock()

    def note(self, noting):
        """Set whether this thread notes writes."""
        with self._lock:
            (self._noting.add if noting else self._noting.discard)(get_ident())
            self.noting_writes = bool(self._noting)

    def forget(self, thread):
        """Remove a thread that has ended, in whatever mode."""
        self.in_special_mode.discard(thread)
        with self._lock:
            self._noting.discard(thread)
            self.noting_writes = bool(self._noting)


all_threads = _AllThreads()


def _forget(thread):
    all_threads.forget(thread)
    _note_inference(False, thread)


class _Mode(threading.local):
    grad_now: Any = True           # the value of `grad`, read in half the time; assign to `grad`, not to this
    inference = False
    off: Any = False               # the value of `grad` when grad mode is off: `for_tangents` in forward mode
    grad_in_inference = False      # whether grad mode is on in inference mode, where nothing is recorded all the same
    recorder: Any = True           # the value of `grad` when grad mode is on
    watchers: tuple[Callable, ...] = ()    # functions that are called with new nodes
    saved_tensors_hooks: Any = None        # the innermost (pack, unpack)
    saved_tensors_hooks_disabled: str | None = None    # the message of the error if hooks are disabled
    anomaly, check_nan = False, True
    #: Functions that wrap the engine's step of one node, as anomaly mode does.
    steppers: tuple[Callable, ...] = ()
    places: tuple[Callable, ...] = ()      # while writes are noted: functions that tell where a node was made
    current_node: Any = None       # the node that backward is running, in anomaly mode
    graph_task: Any = None         # the running backward (see engine.py)
    dual_level: Any = None         # the open level of forward-mode AD (forward_ad.py)
    fwd_grad_enabled = True        # whether that level has tangents
    enforce_grad_layout = True     # whether .grad has the strides of its leaf even if that takes a copy
    grad_levels = 0                # the number of open transforms of torch.func that differentiate
    vmap_levels: tuple = ()        # the open vmaps, the outermost first (func/vmap_levels.py)
    computing_jvp = False          # whether backward runs for a tangent (transform_levels.py)
    pushing = False                # whether tangents are computed: then nodes made for tangents alone count

    def __init__(self):
        self._leaving = Leaving(_forget)

    @property
    def grad(self):
        """False: nothing is recorded. True: operations are recorded. A function: it is called with every new node,
        because something watches what is recorded (saved_tensors_hooks, detect_anomaly); `for_tangents` is such a
        function, and records for forward mode alone."""
        return self.grad_now

    @grad.setter
    def grad(self, value):
        before = self.grad_now
        if value is True:
            self.grad_now = True
            if before is not True:
                all_threads.in_special_mode.discard(get_ident())
            return
        if before is True:
            all_threads.in_special_mode.add(get_ident())
        self.grad_now = value


mode = _Mode()


def watch(function: Callable[[Node, Any, Sequence[Any]], None], first: bool = False) -> None:
    """Call function(node, result, args) for every node that this thread records, until `unwatch(function)`. `result` is
    the array, or the tuple of arrays, that the operation returned, `args` are its arguments. A function that is added
    twice is called once. `first`: before the functions that watch already."""
    others = [watcher for watcher in mode.watchers if watcher != function]
    _set_watchers((function, *others) if first else (*others, function))


def unwatch(function: Callable[[Node, Any, Sequence[Any]], None]) -> None:
    _set_watchers(tuple([watcher for watcher in mode.watchers if watcher != function]))


def _set_watchers(watchers):
    mode.watchers = watchers
    mode.recorder = _notify_watchers if watchers else True
    if mode.grad_now:
        mode.grad = mode.recorder


def _notify_watchers(node, result, args):
    for watcher in mode.watchers:
        watcher(node, result, args)


INFERENCE_WRITE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
    "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")


class InferenceCell(list):
    """The version cell of an inference tensor, by which such a tensor is recognised. Saving a tensor for backward reads
    its version, and that is refused outside inference mode."""

    __slots__ = ()
    counts = False

    def __getitem__(self, index: Any) -> Any:
        if mode.grad_now and not mode.inference:
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.")
        return list.__getitem__(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not mode.inference:
            raise RuntimeError(INFERENCE_WRITE)
        list.__setitem__(self, index, value)


class OwnCell(list):
    """The version cell of an inference tensor that was detached outside inference mode: it may be written to."""

    __slots__ = ()


def _new_cell():
    return InferenceCell([0]) if mode.inference else [0]


#: The threads in inference mode, and the lock of this set.
_inference_lock = threading.RLock()
_inference_threads: set[int] = set()


def _note_inference(value, thread=None):
    """Keep `new_tensor_state.cell` set while a thread is in inference mode, and only then."""
    with _inference_lock:
        (_inference_threads.add if value else _inference_threads.discard)(thread or get_ident())
        new_tensor_state.cell = _new_cell if _inference_threads else None


#: The nodes that carry tangents and no gradients: results computed without grad mode inside a level of forward mode.
#: The attribute `data` is the plain set, which is read in a tenth of the time.
for_tangents_alone: Any = weakref.WeakSet()


def for_tangents(node: Node, result: Any, args: Sequence[Any]) -> None:
    """The value of `mode.grad` where grad mode is off and tangents are computed all the same."""
    for_tangents_alone.add(node)


def carries_tangents(tensor: Tensor) -> bool:
    """Whether the history of a tensor is for tangents alone."""
    return tensor._node is not None and bool(for_tangents_alone.data) and tensor._node in for_tangents_alone


def differentiates() -> bool:
    """Whether results computed now will have gradients. If so, a write to a leaf, for example, is refused."""
    return not all_threads.in_special_mode or bool(mode.grad_now) and mode.grad_now is not for_tangents


def is_grad_enabled() -> bool:
    """Whether grad mode is on in this thread: operations are recorded then, unless in inference mode.

    >>> import tinytorch as torch
    >>> torch.is_grad_enabled()
    True
    """
    return differentiates() or mode.grad_in_inference


new_tensor_state.recording = is_grad_enabled


def _enable(enabled):
    """Switch grad mode."""
    recorder = mode.recorder if enabled else mode.off
    mode.grad, mode.grad_in_inference = not mode.inference and recorder, enabled and mode.inference


def is_inference_mode_enabled() -> bool:
    """True inside `inference_mode`."""
    return mode.inference


@door
def is_inference(input: Tensor) -> bool:
    """Whether a tensor was made in inference mode.

    >>> import tinytorch as torch
    >>> with torch.inference_mode():
    ...     x = torch.ones(2)
    >>> torch.is_inference(x), torch.is_inference(x.clone())
    (True, False)
    """
    try:
        return input.is_inference()
    except AttributeError:
        raise not_a_tensor("is_inference", "input", 1, input) from None


class _GradContext:
    """Sets grad mode on entry and restores what was there on exit."""

    __slots__ = ("_before",)
    _before: Any

    def _switch(self) -> None:
        raise NotImplementedError

    def clone(self) -> _GradContext:
        """Another context manager of the same kind."""
        return type(self)()

    def __enter__(self) -> Any:
        self._before = mode.grad_now, mode.grad_in_inference
        try:
            self._switch()
        except BaseException:                  # an interrupt: there will be no `__exit__`
            mode.grad, mode.grad_in_inference = self._before
            raise

    def __exit__(self, *exc_info: object) -> Literal[False] | None:
        mode.grad, mode.grad_in_inference = self._before
        return False

    def __call__(self, function: Callable) -> Callable:
        if inspect.isclass(function):
            warn("Decorating classes is deprecated and will be disabled in future versions. You should only "
                 "decorate functions or methods. To preserve the current behavior of class decoration, you "
                 "can directly decorate the `__init__` method and nothing else.", FutureWarning)
            return self(lambda *args, **kwargs: function(*args, **kwargs))
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return wrapped

    def _wrap_generator(self, function: Callable) -> Callable:
        # The mode must hold only while the generator's own frame runs, not between its yields.
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                with self.clone():
                    item = next(generator)
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self.clone():
                            item = generator.throw(error)
                    else:
                        with self.clone():
                            item = generator.send(sent)
            except StopIteration as stop:
                return stop.value
        return wrapped


class _ModeFunction(_GradContext):
    """no_grad and enable_grad may decorate with or without parentheses."""

    __slots__ = ()

    def __new__(cls, function: Callable | None = None) -> Any:
        self = super().__new__(cls)
        return self if function is None else self(function)


class no_grad(_ModeFunction):
    """Nothing inside is recorded; results do not require gradients.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ()

    def _switch(self) -> None:
        _enable(False)


class unrecorded(no_grad):
    """`no_grad` that stops tangents too: for functions whose derivative is given elsewhere, or that have none."""

    __slots__ = ()

    def _switch(self) -> None:
        mode.grad = mode.grad_in_inference = False


class enable_grad(_ModeFunction):
    """Operations inside are recorded, even within an enclosing `no_grad`."""

    __slots__ = ()

    def _switch(self) -> None:
        _enable(True)


class set_grad_enabled(_GradContext):
    """Sets grad mode to `mode` at once; as a context manager it restores the former mode on exit.

    >>> import tinytorch as torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError("set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                            f"{type(mode).__name__}")
        self.mode = mode
        super().__enter__()

    def _switch(self) -> None:
        _enable(self.mode)

    def __repr__(self) -> str:
        return f"{__name__}.set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, function: Callable) -> Callable:
        # Decorating must not change the mode that is in force while the function is defined.
        self.__exit__()
        return super().__call__(function)

    def __enter__(self) -> None:
        self._switch()


class inference_mode(_GradContext):
    """Like `no_grad`; in addition, tensors made inside can never enter a recorded graph.

    `mode=False` switches inference mode off for the enclosed code, and recording on.
    """

    __slots__ = ("mode", "_outside")

    def __new__(cls, mode: bool | Callable = True) -> Any:
        self = super().__new__(cls)
        return self if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self._outside = mode.inference
        try:
            super().__enter__()
        except BaseException:
            self._set_inference(self._outside)
            raise

    def __exit__(self, *exc_info: object) -> Literal[False] | None:
        self._set_inference(self._outside)
        return super().__exit__(*exc_info)

    def _switch(self) -> None:
        self._set_inference(self.mode)
        _enable(not self.mode)

    @staticmethod
    def _set_inference(value):
        _note_inference(value)
        mode.inference = value

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)


class set_multithreading_enabled(_GradContext):
    """Accepted as in torch, where it concerns backward's own threads. Backward here has no threads of that kind."""

    __slots__ = ("mode", "_multithreading")

    _enabled = True

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._multithreading, set_multithreading_enabled._enabled = self._enabled, self.mode

    def clone(self) -> set_multithreading_enabled:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        set_multithreading_enabled._enabled = self.mode

    def __exit__(self, *exc_info: object) -> Literal[False]:
        set_multithreading_enabled._enabled = self._multithreading
        return False


def is_multithreading_enabled() -> bool:
    """The last value passed to `set_multithreading_enabled`."""
    return set_multithreading_enabled._enabled


class enforce_grad_layout_policy(_GradContext):
    """Sets at once whether a first gradient whose memory order differs from its leaf's is copied into the leaf's order
    (the default), or kept unchanged; as a context manager it restores the former setting on exit.

    >>> import tinytorch as torch
    >>> x = torch.ones(2, 3).t().requires_grad_()
    >>> with torch.autograd.enforce_grad_layout_policy(False):
    ...     (x * torch.ones(3, 2)).sum().backward()
    >>> x.grad.shape
    torch.Size([3, 2])
    """

    __slots__ = ("mode",)

    def __init__(self, enable: bool = True) -> None:
        self._before, self.mode = mode.enforce_grad_layout, enable
        mode.enforce_grad_layout = enable

    def clone(self) -> enforce_grad_layout_policy:
        return enforce_grad_layout_policy(self.mode)

    def __call__(self, function: Callable) -> Callable:
        self.__exit__()
        return super().__call__(function)

    def __enter__(self) -> None:
        mode.enforce_grad_layout = self.mode

    def __exit__(self, *exc_info: object) -> Literal[False]:
        mode.enforce_grad_layout = self._before
        return False
