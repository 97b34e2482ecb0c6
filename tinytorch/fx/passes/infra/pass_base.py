"""torch.fx.passes.infra.pass_base: what a pass over a graph is."""
from __future__ import annotations

import abc
from typing import NamedTuple

from ....nn import Module
from ...graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass gives: a module, and whether it was changed."""

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """A pass over the graph of a module: `call` is to be written, `requires` and `ensures` may be."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """What the pass does."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Checks what must be true before it."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Checks what must be true behind it."""
