"""How a distributed tensor lies on a dimension of its mesh. Libraries make tables of these when they are imported."""
from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """The base of all."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part (along that dimension of the tensor)."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether it is what a reduction (the one of that name) makes of what the processes have."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Cut along a dimension of the tensor, a part for each process."""

    dim: int

    def __str__(self):
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Placement):
    """Cut twice along a dimension, by two dimensions of the mesh, of which this is the one that cuts first."""

    dim: int
    split_factor: int

    def __repr__(self):
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self):
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """The same on every process."""

    def __str__(self):
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """To be reduced: the tensor is what `reduce_op` makes of those of all processes."""

    reduce_op: str = "sum"

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"
