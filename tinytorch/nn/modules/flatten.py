"""Flatten and Unflatten."""
from __future__ import annotations

from ...tensor import Size
from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Merges the dimensions start_dim to end_dim into one: by default all dimensions except the batch.

    >>> import tinytorch as torch
    >>> torch.nn.Flatten()(torch.ones(32, 1, 5, 5)).shape
    torch.Size([32, 25])
    """

    __constants__ = ["start_dim", "end_dim"]
    start_dim: int
    end_dim: int

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits dimension `dim` into dimensions of the sizes `unflattened_size` (a tuple or list of ints).

    >>> import tinytorch as torch
    >>> torch.nn.Unflatten(1, (2, 5))(torch.ones(3, 10)).shape
    torch.Size([3, 2, 5])
    """

    __constants__ = ["dim", "unflattened_size"]
    dim: int
    unflattened_size: Size | list[int] | tuple[int, ...]

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError("unflattened_size must be a tuple of ints, but found type "
                            f"{type(unflattened_size).__name__}")
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError("unflattened_size must be tuple of ints, but found element of type "
                                f"{type(size).__name__} at pos {i}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
