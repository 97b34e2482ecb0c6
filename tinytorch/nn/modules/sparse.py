"""Embeddings as layers."""
from __future__ import annotations

from ...autograd.grad_mode import no_grad
from ...ops.creation.factories import empty
from ...tensor import Tensor
from .. import functional as F, init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """Base of the two embeddings: a table `weight` (V, D), drawn from the normal distribution."""

    _padding_idx = "Padding_idx"               # the word in the error message

    def _set_table(self, num_embeddings, embedding_dim, padding_idx, weight, freeze, device, dtype):
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(f"{self._padding_idx} must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if weight is None:
            self.weight: Tensor = Parameter(empty((num_embeddings, embedding_dim), device=device, dtype=dtype),
                                            requires_grad=not freeze)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self):
        """Fill the table with new random numbers and its padding row with zeros."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


def _check_table(embeddings):
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")


class Embedding(_Table):
    """A table of `num_embeddings` vectors, looked up by integers. See torch.nn.functional.embedding.

    input (*) of int64 or int32, output (*, embedding_dim). The row `padding_idx` starts at 0 and is not trained.

    >>> import tinytorch as torch
    >>> torch.nn.Embedding(10, 3, padding_idx=0)(torch.tensor([[0, 5]])).shape
    torch.Size([1, 2, 3])
    """

    __constants__ = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq",
                     "sparse"]
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: Tensor
    freeze: bool
    sparse: bool

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._set_table(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0,
                        scale_grad_by_freq=False, sparse=False):
        """An Embedding with the given table (V, D). The table is not trained unless `freeze` is False.

        >>> import tinytorch as torch
        >>> torch.nn.Embedding.from_pretrained(torch.tensor([[1., 2.], [3., 4.]]))(torch.tensor([1]))
        tensor([[3., 4.]])
        """
        _check_table(embeddings)
        rows, width = embeddings.shape
        return cls(rows, width, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx, max_norm=max_norm,
                   norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self):
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + (", sparse=True" if self.sparse else "")


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of vectors of a table. See torch.nn.functional.embedding_bag.

    >>> import tinytorch as torch
    >>> torch.nn.EmbeddingBag(10, 3, mode="sum")(torch.tensor([1, 2, 4]), torch.tensor([0, 2])).shape
    torch.Size([2, 3])
    """

    num_embeddings: int
    embedding_dim: int
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: Tensor
    mode: str
    sparse: bool
    include_last_offset: bool
    padding_idx: int | None

    _padding_idx = "padding_idx"
    __constants__ = ["num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
                     "include_last_offset", "padding_idx"]

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None,
                 device=None, dtype=None):
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self._set_table(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                        mode="mean", sparse=False, include_last_offset=False, padding_idx=None):
        """An EmbeddingBag with the given table (V, D). The table is not trained unless `freeze` is False."""
        _check_table(embeddings)
        rows, width = embeddings.shape
        bag = cls(rows, width, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
                  scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse,
                  include_last_offset=include_last_offset, padding_idx=padding_idx)
        bag.weight.requires_grad = not freeze
        return bag

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")
