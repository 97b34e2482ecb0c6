"""torch._inductor.decomposition: the decompositions of operators for a compiler."""
from collections.abc import Callable
from typing import Any

__all__ = ["decompositions", "register_decomposition"]

#: {operator: function}, which libraries register.
decompositions: dict[Any, Callable] = {}


def register_decomposition(ops: Any) -> Callable[[Callable], Callable]:
    """A decorator that registers a function for an operator, or for each operator of a list, and returns the
    function."""
    def keep(fn):
        for op in ops if isinstance(ops, (tuple, list)) else (ops,):
            decompositions[op] = fn
        return fn
    return keep
