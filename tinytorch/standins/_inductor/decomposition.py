"""torch._inductor.decomposition: what a compiler writes operators out as."""
from collections.abc import Callable
from typing import Any

__all__ = ["decompositions", "register_decomposition"]

#: {operator: function} of those that libraries gave.
decompositions: dict[Any, Callable] = {}


def register_decomposition(ops: Any) -> Callable[[Callable], Callable]:
    """A decorator that keeps the function for an operator, or for each of a list of them, and gives it back."""
    def keep(fn):
        for op in ops if isinstance(ops, (tuple, list)) else (ops,):
            decompositions[op] = fn
        return fn
    return keep
