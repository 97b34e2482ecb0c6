"""torch.fx.passes.infra.pass_base: the base class of passes over a graph."""
from __future__ import annotations

import abc
from typing import NamedTuple

from ....nn import Module
from ...graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The result of a pass: a module, and whether it was changed."""

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """A pass over the graph of a module. Subclasses define `call`, and may define `requires` and `ensures`."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Runs the pass on a module."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Checks the conditions that must hold before the pass."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Checks the conditions that must hold after the pass."""
