"""nonfinite: stops at the first operation that makes a NaN or an Inf.

In the forward pass it is a handler of the seam, which runs a public function and checks its results. It checks the
functions that the program calls, also through layers, but not the functions that these call in turn. In the backward
pass it checks every node of the tape, and around an optimiser's step the parameters.
"""
from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..autograd import deep
from ..autograd.casts import state as autocast
from ..autograd.grad_mode import mode, unwatch, watch
from ..autograd.node import Node
from ..autograd.overridable import about, is_operation, path_of
from ..autograd.places import Place, module_text, open_modules, origin_text, place
from ..autograd.reports import gradient_text, is_finite, numbers, saved
from ..kernels.errstate import ignored
from ..optim.optimizer import (
    _global_optimizer_post_hooks,
    _global_optimizer_pre_hooks,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from ..seam import UNSEEN, seam
from ..tensor import Tensor
from ..utils._contextlib import _DecoratorContextManager


class NonFiniteError(RuntimeError):
    """The error of `nonfinite`.

    operation    the name of the function, of the node of the tape, or of the optimiser's step
    module       the path and class of the module whose forward called it; "" if there is none
    place        file, line and function of the calling line of the program; None if it was not noted
    """

    def __init__(self, text: str, operation: str = "", module: str = "", where: Place | None = None) -> None:
        super().__init__(text)
        self.operation, self.module, self.place = operation, module, where


NonFiniteError.__module__ = "tinytorch.debug"


class _Here(threading.local):
    """The open `nonfinite` blocks of this thread, the innermost last. `inside`: the code that runs now is part of a
    call, or of a step of backward, that is checked as a whole."""

    watching: tuple[nonfinite, ...] = ()
    inside = False


_here = _Here()
deep.OWN.append(_here)


class nonfinite(_DecoratorContextManager):
    """Context manager, or decorator, in which the first operation that makes a NaN or an Inf raises NonFiniteError (a
    RuntimeError), unless its inputs hold one. The message names the operation, the module, the line, and the shapes and
    ranges of the inputs; in a backward pass also the path of the gradient.

    nan, inf    whether a NaN, or an Inf, stops the program. `inf=False` is for programs that compute with infinities;
    an
                operation that makes a NaN of them is found all the same
    given       whether an operation that passes on a NaN stops the program too. Such a NaN is in the data or in a
                parameter, or was made outside of the block

    An Inf that is given on purpose (a mask of -inf) is an input, and no fault of an operation, but a NaN made of it is
    one. The block applies to its own thread. If blocks are nested, the innermost one decides.

    >>> import tinytorch as torch
    >>> scores = torch.tensor([[1., 2.], [3., 4.]])
    >>> mask = torch.tensor([[True, False], [False, False]])
    >>> with torch.debug.nonfinite():
    ...     torch.softmax(scores.masked_fill(~mask, -torch.inf), 1)
    Traceback (most recent call last):
    ...
    tinytorch.debug.NonFiniteError: torch.softmax made 2 NaN of 4 elements, the first at [1, 0].
      input: torch.float32 [2, 2], finite values from 1 to 1, 3 Inf
    ...
    """

    __slots__ = ("nan", "inf", "given", "_step", "_depth")

    def __init__(self, nan: bool = True, inf: bool = True, given: bool = False) -> None:
        self.nan, self.inf, self.given, self._step, self._depth = nan, inf, given, None, 0

    def clone(self) -> nonfinite:
        return type(self)(self.nan, self.inf, self.given)

    def __enter__(self) -> nonfinite:
        try:
            if self._step is None:
                self._step = step = _OptimizerStep(self)
                register_optimizer_step_pre_hook(step.begin)
                register_optimizer_step_post_hook(step.end)
            _here.watching += (self,)
            _settle()
            return self
        except BaseException:                  # after an interrupt here Python calls no `__exit__`
            self.__exit__()
            raise

    def __exit__(self, *exc_info: object) -> None:
        kept = list(_here.watching)
        if self in kept:
            del kept[len(kept) - 1 - kept[::-1].index(self)]
        _here.watching = tuple(kept)
        _settle()
        if self not in kept and self._step is not None:
            self._step.remove()
            self._step = None


def _settle():
    """Begins or ends the checks in this thread, as `_here.watching` says. A second call changes nothing."""
    watching = bool(_here.watching)
    others = tuple([stepper for stepper in mode.steppers if stepper is not _watched])
    if watching:
        watch(_note_node)
    elif _note_node in mode.watchers:
        unwatch(_note_node)
    mode.steppers = (*others, _watched) if watching else others
    seam.watch("nonfinite", watching)


# ------------------------------------------------------------------ forward
#: Functions whose results hold uninitialised memory, or do not depend on the numbers in their arguments.
_NOT_COMPUTED = {"resize_", "resize_as_", "set_", "empty_like", "new_empty", "new_empty_strided", "new", "new_tensor"}


def _see(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The handler of the seam: calls a function and checks its results."""
    if not _here.watching or _here.inside:
        return UNSEEN
    how = about(function)
    if how is None or not is_operation(how) or how.autocast == "within" or how.name in _NOT_COMPUTED:
        return UNSEEN
    given = list(_tensors((args, {k: x for k, x in kwargs.items() if k != "out"})))
    if not given:                              # no input holds numbers
        return UNSEEN
    try:
        _here.inside = True
        writes = how.name[-1:] == "_" or how.operator in _WRITING or "out" in kwargs
        before = [numbers(x) for x in given] if writes else None
        result = function(*args, **kwargs)
        outputs = list(_tensors(given[:1] if result is None else result))
        if not all([is_finite(x) or not writes and _is_view_of(x, given) for x in outputs]):
            with ignored():
                _check_call(function, how, args, kwargs, given, before, outputs)
        return result
    finally:
        _here.inside = False


#: Operators that write to their first argument.
_WRITING = {"__setitem__", *[f"__i{name}__" for name in """add sub mul div truediv floordiv mod pow matmul and or xor
    lshift rshift""".split()]}


def _is_view_of(x, given):
    """Whether a result shares memory with an argument: a view computes no numbers."""
    if x._view_info is None:
        return False
    base = x._view_info.base
    return any([y is base or y._view_info is not None and y._view_info.base is base for y in given])


def _tensors(x: Any, depth: int = 5) -> Iterator[Tensor]:
    """The tensors in arguments or results. `depth` limits the recursion, because a list may contain itself."""
    if isinstance(x, Tensor):
        yield x
    elif depth and isinstance(x, (tuple, list, dict)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from _tensors(y, depth - 1)


def _given_numbers(x: Any, depth: int = 5) -> Iterator[float]:
    """The numbers in arguments, outside of tensors, that are NaN or infinite."""
    if depth and isinstance(x, (tuple, list)):
        for y in x:
            yield from _given_numbers(y, depth - 1)
    elif isinstance(x, (float, complex, np.inexact, np.ndarray)) and not isinstance(x, Tensor):
        array = np.asarray(x)
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            yield float("nan") if np.isnan(array).any() else float("inf")


def _check_call(function, how, args, kwargs, given, before, outputs):
    found = [numbers(x) for x in given] if before is None else before
    extra = list(_given_numbers((*args, *kwargs.values())))
    for output in outputs:
        fault = _fault(numbers(output), found, extra)
        if fault is not None:
            raise _error_of_call(function, how, args, kwargs, (given, found), output, fault)


def _fault(made, given, extra=(), passed=True):
    """("made" or "passed on", count, "NaN" or "Inf") if `made` holds numbers that `given` and the floats in `extra` do
    not explain, else None. `passed`: whether a NaN among the inputs counts, if the block has `given=True`."""
    if made is None:
        return None
    watched, known = _here.watching[-1], [x for x in given if x is not None]
    nan = any([x.nan for x in known]) or any([number != number for number in extra])
    if made.nan and not nan and watched.nan:
        return "made", made.nan, "NaN"
    if made.inf and watched.inf and not nan and not extra and not any([x.inf for x in known]):
        return "made", made.inf, "Inf"
    return ("passed on", made.nan, "NaN") if made.nan and nan and watched.given and passed else None


def _error_of_call(function, how, args, kwargs, inputs, output, fault):
    verb, count, kind = fault
    at, found = place(sys._getframe(1)), module_text(open_modules())
    names = {id(x): name for name, x in _named(function, args, kwargs)}
    text = f"{path_of(function)} {verb} {count} {kind} of {output.numel()} elements{_first(output, kind)}."
    if verb == "passed on":
        text += " No operation in this block made it: it was in the inputs."
    for i, (x, summary) in enumerate(zip(*inputs)):
        if summary is not None:
            text += f"\n  {names.get(id(x), f'tensor {i}')}: {summary}"
    if autocast.enabled:
        text += f"\n  Autocast casts to {autocast.dtype} where it casts down."
    text += f"\nIt was called {found and 'in ' + found + ', '}here:\n{at}"
    return NonFiniteError(text, how.name, found, at)


def _first(output, kind):
    """The position of the first NaN or Inf of a plain tensor, in words."""
    array = output._array
    if type(array) is not np.ndarray or array.dtype.kind not in "fc" or not array.ndim:
        return ""
    where = np.argwhere(np.isnan(array) if kind == "NaN" else np.isinf(array))[0]
    return f", the first at {where.tolist()}"


def _named(function, args, kwargs):
    """Yields (name, argument). An element of a list is named by its position."""
    try:
        given = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        given = {**{f"argument {i}": x for i, x in enumerate(args)}, **kwargs}
    for name, x in given.items():
        if isinstance(x, (tuple, list)):
            yield from [(f"{name}[{i}]", y) for i, y in enumerate(x)]
        else:
            yield name, x


# ------------------------------------------------------------------ backward
def _note_node(node: Node, result: Any, args: Any) -> None:
    """Called with each new node: notes the line that made it, and checks the results of an autograd.Function."""
    metadata = node.metadata
    if "place_" not in metadata:
        metadata["modules_"], metadata["place_"] = open_modules(), place(sys._getframe(2))
    if node.op.function is not None and not _here.inside and _here.watching:
        with ignored():
            _check_function(node, result, args)


def _check_function(node, result, args):
    given = [numbers(x) for x in _tensors(args)]
    for output in result if isinstance(result, tuple) else (result,):
        made = None if output is None else numbers(output)
        fault = _fault(made, given)
        if fault is not None:
            verb, count, kind = fault
            name = node.op.function.__name__
            at, found = node.metadata["place_"], module_text(node.metadata["modules_"])
            text = f"The forward of {name} {verb} {count} {kind} of {made.size} elements."
            text += "".join([f"\n  argument {i}: {x}" for i, x in enumerate(given) if x is not None])
            text += f"\nIt was called {found and 'in ' + found + ', '}here:\n{at}"
            raise NonFiniteError(text, name, found, at)


def _watched(step: Callable) -> Callable:
    """`step` of the engine, followed by a check of the gradients that it returns."""
    def watched_step(node, g, edges, create_graph):
        if _here.inside or not _here.watching:
            return step(node, g, edges, create_graph)
        # The calls of a rule are not checked one by one. Those of hooks and Functions belong to the program, and are.
        own = node.op.function is None and (create_graph or node.hooks is None or not (
            node.hooks.pre or node.hooks.post))
        try:
            _here.inside = own
            grads = step(node, g, edges, create_graph)
        finally:
            _here.inside = False
        with ignored():
            if not all([d is None or is_finite(d) for d in grads]):
                _check_step(node, g, grads)
        return grads
    return watched_step


def _check_step(node, g, grads):
    given = [*[x for x in (g if node.op.multi else (g,)) if x is not None], *[x for _, x in saved(node)]]
    given = list(map(numbers, given))
    for i, d in enumerate(grads):
        made = None if d is None else numbers(d)
        fault = _fault(made, given, passed=False)
        if fault is not None:
            _, count, kind = fault
            text = (f"{node.name()} made {count} {kind} of {made.size} elements of the gradient of its input {i}."
                    f"{origin_text(node)}{gradient_text(node, g, mode.graph_task)}")
            metadata = {} if node.hooks is None else node.hooks.metadata
            raise NonFiniteError(text, node.name(), module_text(metadata.get("modules_", ())), metadata.get("place_"))


# ------------------------------------------------------------------ optimisers
class _OptimizerStep:
    """Hooks around the steps of optimisers in a block: `begin` and `end`."""

    def __init__(self, watched):
        self.watched, self.finite = watched, {}

    def remove(self):
        """Removes the hooks of this object. They are found by their `__self__`, because an interrupt may come before
        their handles are stored."""
        for hooks in _global_optimizer_pre_hooks, _global_optimizer_post_hooks:
            for key in [key for key, hook in hooks.items() if getattr(hook, "__self__", None) is self]:
                del hooks[key]

    def _is_mine(self):
        return bool(_here.watching) and _here.watching[-1] is self.watched

    def begin(self, optimizer, args, kwargs):
        if self._is_mine():
            self.finite = {id(p): is_finite(p) for group in optimizer.param_groups for p in group["params"]}

    def end(self, optimizer, args, kwargs):
        if not self._is_mine():
            return
        finite, self.finite = self.finite, {}
        with ignored():
            for number, group in enumerate(optimizer.param_groups):
                for i, p in enumerate(group["params"]):
                    if finite.get(id(p)) and not is_finite(p) and (p.grad is None or is_finite(p.grad)):
                        self._check(optimizer, number, i, p)

    def _check(self, optimizer, number, i, p):
        made, group = numbers(p), optimizer.param_groups[number]
        if not (made.nan and self.watched.nan or made.inf and self.watched.inf):
            return
        names = group.get("param_names")
        name = f"{type(optimizer).__name__}.step"
        called = f" ({names[i]})" if names else ""
        text = f"{name} made parameter {i}{called} of group {number} not finite.\n  it is now: {made}"
        if p.grad is not None:
            text += f"\n  its gradient: {numbers(p.grad)}"
        for key, x in optimizer.state.get(p, {}).items():
            if isinstance(x, Tensor) and (summary := numbers(x)) is not None:
                text += f"\n  {key}: {summary}"
        at = place(sys._getframe(1))
        lr = group.get("lr")
        text += f"\n  lr: {float(lr):g}" if lr is not None else ""
        raise NonFiniteError(f"{text}\nIt was called here:\n{at}", name, "", at)


seam.handle("nonfinite", _see)
