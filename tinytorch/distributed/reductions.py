"""ReduceOp: the operations of collectives that reduce."""
from __future__ import annotations

import enum

__all__ = ["ReduceOp", "supports_complex"]


class RedOpType(enum.Enum):
    """The operations."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __str__(self):
        return f"RedOpType.{self.name}"

    def __repr__(self):
        return f"<{self}: {self.value}>"

    def __int__(self):
        return self.value


class ReduceOp:
    """The operation of a collective that reduces: `ReduceOp.SUM`, AVG, PRODUCT, MIN, MAX; BAND, BOR and BXOR of
    integers.

    PREMUL_SUM is the sum of each rank's numbers times a factor of its own; `_make_nccl_premul_sum` makes one.

    >>> import tinytorch as torch
    >>> torch.distributed.ReduceOp.SUM
    <RedOpType.SUM: 0>
    >>> torch.distributed.ReduceOp(torch.distributed.ReduceOp.MAX) == torch.distributed.ReduceOp.MAX
    True
    """

    RedOpType = RedOpType
    factor = None

    def __init__(self, op: RedOpType | ReduceOp) -> None:
        self.op = op.op if isinstance(op, ReduceOp) else op

    def __eq__(self, other):
        if isinstance(other, ReduceOp):
            return (self.op, self.factor) == (other.op, other.factor)
        return self.op is other if isinstance(other, RedOpType) else NotImplemented

    def __hash__(self):
        return hash(self.op)

    def __repr__(self):
        return f"<torch.distributed.ReduceOp: {self.op}>"


for _op in RedOpType:
    setattr(ReduceOp, _op.name, _op)


def _make_nccl_premul_sum(factor: object) -> ReduceOp:
    """PREMUL_SUM with this rank's `factor`, a number or a tensor of one."""
    op = ReduceOp(RedOpType.PREMUL_SUM)
    op.factor = factor
    return op


def supports_complex(reduceOp: RedOpType | ReduceOp) -> bool:
    """Whether complex numbers can be reduced so. Sums can reduce them, because they treat real and imaginary parts
    separately."""
    op = reduceOp.op if isinstance(reduceOp, ReduceOp) else reduceOp
    return op in (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)
