"""Anomaly mode: errors of backward, and gradients that are nan, name the forward call that made the failing node."""
from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from .. import dtypes as dt
from ..errors import warn
from ..tensor import Tensor
from .grad_mode import all_threads, mode, unwatch, watch
from .places import note_places, open_modules, origin_text, place, unnote_places


def _note_forward(node, result, args):
    """The watcher of new nodes: notes the Python stack, and the node in whose backward the new node was made."""
    node.metadata["traceback_"] = _stack()
    node.metadata["modules_"], node.metadata["place_"] = open_modules(), place(sys._getframe(2))
    if mode.current_node is not None:
        node.metadata["parent_"] = mode.current_node


def _stack():
    """The lines of the Python stack outside this package."""
    package = __name__.split(".")[0]
    import traceback  # imported here, because that takes a millisecond
    frames = traceback.walk_stack(None)
    kept = [(f, n) for f, n in frames if f.f_globals.get("__name__", "").split(".")[0] != package]
    return traceback.StackSummary.extract(reversed(kept)).format()


def _place_of(node):
    return node.metadata.get("place_")


def watched(step: Callable) -> Callable:
    """The engine's `step` for anomaly mode: for a node that fails, it warns where the node was made. A gradient that is
    nan counts as a failure."""
    def watched_step(node, g, edges, create_graph):
        before, mode.current_node = mode.current_node, node
        try:
            grads = step(node, g, edges, create_graph)
            if mode.check_nan:
                _check_nan(node, g, grads)
            return grads
        except Exception:
            _explain(node)
            raise
        finally:
            mode.current_node = before
    return watched_step


def _check_nan(node, g, grads):
    for i, d in enumerate(grads):
        array = d._array if isinstance(d, Tensor) else d
        if array is not None and array.dtype.kind in dt.NATIVE + dt.COMPLEX and np.isnan(array).any():
            from .reports import gradient_text  # imported here, because few programs need it
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output." + origin_text(node)
                               + gradient_text(node, g, mode.graph_task))


def _explain(node):
    lines = node.metadata.get("traceback_")
    if lines is None:
        text = ("No forward pass information available. Enable detect anomaly during forward pass for more "
                "information.")
    else:
        text = "Traceback of forward call that caused the error:\n" + "".join(lines)
    warn(f"Error detected in {node.name()}. {text}")
    while (node := node.metadata.get("parent_")) is not None:
        text = "Traceback of forward call that induced the previous calculation:\n" + "".join(
            node.metadata.get("traceback_", ()))
        warn(f"\n\nPrevious calculation was induced by {node.name()}. {text}")


def _switch(on, check_nan):
    """Switch anomaly mode. Each statement may run twice: after an interrupt, the next switch repeats them all."""
    if on:
        watch(_note_forward)
        note_places(_place_of)
        mode.steppers = (*[stepper for stepper in mode.steppers if stepper is not watched], watched)
    elif mode.watchers or mode.places or mode.steppers or all_threads.noting_writes:
        unwatch(_note_forward)
        unnote_places(_place_of)
        mode.steppers = tuple([stepper for stepper in mode.steppers if stepper is not watched])
    mode.anomaly, mode.check_nan = on, check_nan


class set_detect_anomaly:
    """Switches anomaly mode of this thread on or off at once; as a context manager it restores the former mode.

    In anomaly mode a failing backward names the forward call that its error belongs to. With `check_nan` a gradient
    that is nan is such an error.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _state()
        _switch(bool(mode), check_nan)

    def __enter__(self) -> None:
        """The mode is on already."""

    def __exit__(self, *exc_info: object) -> None:
        _switch(*self._before)


class detect_anomaly:
    """Context manager for anomaly mode (see `set_detect_anomaly`).

    >>> import warnings, tinytorch as torch
    >>> warnings.simplefilter("ignore")
    >>> with torch.autograd.detect_anomaly():
    ...     x = torch.zeros(1, requires_grad=True)
    ...     (x * 0 / x).backward()
    Traceback (most recent call last):
    ...
    RuntimeError: Function 'DivBackward0' returned nan values in its 1th output.
    It is the backward of div, of shapes [1] and [1] to [1], called here:
    ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
             "enabled for debugging.")

    def __enter__(self) -> None:
        self._before = _state()
        _switch(True, self.check_nan)

    def __exit__(self, *exc_info: object) -> None:
        _switch(*self._before)


def _state():
    return mode.anomaly, mode.check_nan


def is_anomaly_enabled() -> bool:
    """Whether this thread is in anomaly mode."""
    return mode.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, when it is on, looks for nan."""
    return mode.check_nan
