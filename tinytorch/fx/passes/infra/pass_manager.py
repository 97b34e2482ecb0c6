"""torch.fx.passes.infra.pass_manager: sequences of passes in an order that satisfies constraints."""
from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Callable
from typing import Any

from ....nn import Module
from ...graph_module import GraphModule
from .pass_base import PassResult

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]


def _name(f):
    return f.__name__ if inspect.isfunction(f) else type(f).__name__


def pass_result_wrapper(fn: Callable | None) -> Callable | None:
    """A pass that returns a PassResult. Its module is the result of `fn`, or the argument if `fn` returns None."""
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped(gm):
        found = fn(gm)
        if found is None:
            return PassResult(gm, True)
        return PassResult(found, True) if isinstance(found, Module) and not isinstance(found, tuple) else found
    wrapped.__name__ = _name(fn)
    return wrapped


def this_before_that_pass_constraint(this: Callable, that: Callable) -> Callable[[Callable, Callable], bool]:
    """A constraint: `this` comes before `that`."""
    return lambda a, b: a != that or b != this


def _validate_pass_schedule_constraint(constraint, passes):
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1:]):
            if not constraint(a, b):
                raise RuntimeError(f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index "
                                   f"{i} and {b} at index{j} in pass list.")


def _topological_sort_passes(passes, constraints):
    if not constraints:
        return passes
    before = {a: [b for b in passes for allowed in constraints if a != b and not allowed(a, b)] for a in passes}
    ready, found = deque([a for a in passes if not before[a]]), []
    while ready:
        done = ready.popleft()
        found.append(done)
        for a in passes:
            if done in before[a]:
                before[a] = [b for b in before[a] if b != done]
                if not before[a]:
                    ready.append(a)
    if len(found) < len(passes):
        raise RuntimeError(
            f"Circular dependency detected within the following passes: {[a for a in passes if before[a]]}")
    return found


class PassManager:
    """Runs passes one after the other, up to `steps` times or until none changes anything.

    >>> import tinytorch as torch
    >>> from tinytorch.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper
    >>> def without_dead_code(gm):
    ...     gm.graph.eliminate_dead_code()
    >>> manager = PassManager([pass_result_wrapper(without_dead_code)])
    >>> manager(torch.fx.symbolic_trace(lambda x: x + 1)).modified
    True
    """

    def __init__(self, passes: list[Callable] | None = None, constraints: list[Callable] | None = None,
                 steps: int | None = None, run_checks_after_each_pass: bool = False,
                 suppress_check_failures: bool = False) -> None:
        self.passes, self.constraints, self.steps = passes or [], constraints or [], steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Callable) -> None:
        """Adds a pass."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[[Callable, Callable], bool]) -> None:
        """Adds a constraint: a function of two passes that is true if the first may come before the second."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """RuntimeError unless the order of the passes satisfies the constraints."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Sorts the passes so that they satisfy the constraints; RuntimeError if no order does."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Sets a function of the module that is called before the first pass, and after each pass if
        `run_checks_after_each_pass`."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    def check(self, module: Module) -> None:
        """Checks nothing. `add_checks` replaces this method."""

    def __call__(self, module: Module) -> PassResult:
        """Runs the passes. If a pass raises, an Exception names it and the passes before it; its cause is the error of
        the pass."""
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for i, f in enumerate(self.passes):
                try:
                    module, here = self._run(f, module)
                except Exception as error:
                    raise Exception(f"An error occurred when running the '{_name(f)}' pass after the following "
                                    f"passes: {[_name(x) for x in self.passes[:i]]}") from error
                modified = modified or here
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)

    def _run(self, f: Callable, module: Module) -> tuple[Any, bool]:
        found = f(module)
        if not isinstance(found, PassResult) and not hasattr(found, "graph_module"):
            raise TypeError(f"The result of the pass {_name(f)} should be type PassResult."
                            "Please wrap it with pass_result_wrapper()")
        if isinstance(found.graph_module, GraphModule):
            found.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(found.graph_module)
        return found.graph_module, found.modified
