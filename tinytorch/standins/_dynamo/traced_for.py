"""A function that is compiled by a backend of the user, a function of a graph and its inputs."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..capture.twice import BakedIn, leaves, record_twice, undone
from ..fx import GraphModule
from ..nn import Module
from ..tensor import Tensor
from .exc import Unsupported

__all__ = ["TracedFor"]


class TracedFor:
    """Calls `function` in compiled form: `backend(graph module, inputs)` gets its graph and returns the function to
    call."""

    def __init__(self, function: Callable, backend: Callable, fullgraph: bool) -> None:
        self.function, self.backend, self.fullgraph = function, backend, fullgraph
        self.made: dict[tuple, Callable | None] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = list(leaves((args, kwargs)))
        key = tuple([(tuple(t.shape), t.dtype, t.requires_grad) for t in inputs]) + tuple(
            [x for x in args if isinstance(x, (int, float, str, bool, type(None)))])
        if key not in self.made:
            self.made[key] = self._made(args, kwargs, inputs)
        call = self.made[key]
        return self.function(*args, **kwargs) if call is None else call(inputs)

    def _made(self, args, kwargs, inputs):
        module = self.function if isinstance(self.function, Module) else None
        attributes = {} if module is None else {
            id(t): name for named in (module.named_parameters, module.named_buffers) for name, t in named()}
        try:
            with undone(module or Module()):
                found = record_twice(self.function, args, kwargs, attributes=attributes)
        except (BakedIn, NotImplementedError, RuntimeError) as error:
            if self.fullgraph:
                raise Unsupported(str(error)) from None
            return None
        root = module or Module()
        for name, tensor in found.constants.items():
            root.__dict__[name] = tensor
        graph = GraphModule(root, found.graph)
        call = self.backend(graph, inputs)
        single = isinstance(found.result, Tensor)

        def run(given):
            result = call(*given)
            return result[0] if single and isinstance(result, (tuple, list)) else result
        return run
