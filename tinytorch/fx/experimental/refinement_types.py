"""torch.fx.experimental.refinement_types: equations between types."""
from __future__ import annotations

from typing import Any

__all__ = ["Equality"]


class Equality:
    """lhs = rhs"""

    def __init__(self, lhs: Any, rhs: Any) -> None:
        self.lhs, self.rhs = lhs, rhs

    def __repr__(self) -> str:
        return f"{self.lhs} = {self.rhs}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equality) and self.lhs == other.lhs and self.rhs == other.rhs

    __hash__ = None
