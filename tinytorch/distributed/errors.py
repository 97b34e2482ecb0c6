"""PyTorch's errors for those of MPI. They name the call, the rank and the tensors.

A call is described by (the function's name, this rank's tensors, the operation, the root or the other rank).
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tensor import Tensor
from .store import DistError

__all__ = ["DistBackendError"]


class DistBackendError(DistError):
    """MPI failed."""


_ROOT = {"isend": "to rank {}", "send_object_list": "to rank {}", "irecv": "from rank {}", "recv": "from rank {}",
         "recv_object_list": "from rank {}"}


def described(group: Any, name: str, tensors: Sequence[Tensor] = (), op: Any = None, root: int | None = None) -> str:
    """The call and the calling rank, for messages of errors."""
    words = [f"{name} on rank {group.own_rank} of group {group.name} ({group.count} ranks)"]
    if tensors:
        words.append("with " + ", ".join([f"{x.dtype} {list(x._array.shape)}" for x in tensors]))
    if op is not None:
        words.append(str(getattr(op, "op", op)))
    if root is not None:
        words.append(_ROOT.get(name, "root {}").format(root) if root >= 0 else "from any rank")
    return ", ".join(words)


def failure(mpi: Any, error: Exception, group: Any, *about: Any) -> Exception:
    """PyTorch's exception for one of MPI's: RuntimeError if the calls of the ranks do not fit together,
    DistBackendError otherwise."""
    who = about[0] if group is None else described(group, *about)
    unlike = "truncated" in str(error) or "sizes do not match" in str(error)       # MPICH's errors of several classes
    if unlike or error.Get_error_class() == mpi.MPI.ERR_TRUNCATE:
        return RuntimeError(
            f"{who}: another rank sent another length than this one receives. The ranks must call the same functions "
            "in the same order, with the same shapes, dtypes, operations and roots. TORCH_DISTRIBUTED_DEBUG=DETAIL "
            f"names the ranks and what each called, before anything is sent. ({error})")
    return DistBackendError(f"{who}: MPI failed: {error}")


class calling:
    """`with calling(mpi, group, "name"):` MPI's errors in the block become PyTorch's."""

    __slots__ = ("mpi", "about")

    def __init__(self, mpi: Any, group: Any, *about: Any) -> None:
        self.mpi, self.about = mpi, (group, *about)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None and issubclass(kind, self.mpi.MPI.Exception):
            raise failure(self.mpi, error, *self.about) from error


def other_length(group: Any, about: Sequence[Any], source: int, sent: int, expected: int) -> RuntimeError:
    """The error for a message from rank `source` with another number of bytes than the tensor that receives it."""
    return RuntimeError(f"{described(group, *about)}: rank {source} sent {sent} bytes, and this rank receives "
                        f"{expected}. Both must have the same shape and dtype")
