"""LinearCrossEntropyOptions: how the cross entropy of a linear layer splits the batch into pieces."""
import dataclasses
from typing import Literal

from ... import dtypes as dt

__all__ = ["LinearCrossEntropyOptions"]

_POLICIES = ("accurate", "balanced", "compact", "auto")


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` splits a batch into pieces. ValueError for bad settings.

    allow_retain_graph     whether backward may run more than once
    batch_chunk_size       the number of rows of a piece; None: all rows, or the number by `chunking_method`
    chunking_method        "aspect_ratio": so many rows (a power of two) that their scores take as much memory as the
                           inputs; "aspect_ratio:N": an Nth of these rows; "auto": "aspect_ratio:2"; None: by
                           `batch_chunk_size`
    acc_policy, acc_dtype  in torch, how half precision is summed; they have no effect here

    >>> import tinytorch as torch
    >>> options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    >>> x, w, y = torch.ones(5, 3), torch.zeros(4, 3), torch.tensor([0, 3, 1, 1, 2])
    >>> torch.nn.functional.linear_cross_entropy(x, w, y, options=options)
    tensor(1.3863)
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: dt.dtype | None = None

    def __post_init__(self):
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method, size = self.chunking_method, self.batch_chunk_size
        if method not in (None, "auto"):
            name, colon, factor = method.partition(":")
            if name != "aspect_ratio" or colon and not (factor.isdigit() and int(factor) > 0):
                raise ValueError(f"invalid chunking_method: {method!r}")
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, dt.float16, dt.bfloat16, dt.float32, dt.float64):
            raise ValueError("acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                             f"torch.float64}}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick "
                             "automatically.")
