"""Layers and losses with the signatures of torch's C++ functions: torch.batch_norm, torch.kl_div ...

Their arguments have another order than those in torch.nn.functional, and `reduction` is a number: 0 none, 1 mean,
2 sum. Its default is 1 in torch's declarations, but torch's functions use 0."""
from __future__ import annotations

from ...autograd.public import public
from ...errors import warn_once
from ...tensor import Tensor
from ...types import Ints, Number
from ..linalg.norms import vector_norm
from . import adaptive_pool, ctc, embedding as embeddings, loss as losses, margin_loss as margins, norm as norms
from .cross_entropy import REDUCTIONS

__all__ = ["adaptive_max_pool1d", "addmv_", "as_strided_", "batch_norm", "binary_cross_entropy_with_logits",
           "cosine_embedding_loss", "ctc_loss", "embedding", "frobenius_norm", "hinge_embedding_loss", "instance_norm",
           "kl_div", "margin_ranking_loss", "norm_except_dim", "poisson_nll_loss", "triplet_margin_loss"]


def _word(reduction):
    if not 0 <= reduction < len(REDUCTIONS):
        raise RuntimeError(f"Expected reduction to be 0 (none), 1 (mean) or 2 (sum), but got {reduction}")
    return REDUCTIONS[reduction]


# ------------------------------------------------------------------ norms
@public()
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
               running_var: Tensor | None, training: bool, momentum: float, eps: float,
               cudnn_enabled: bool) -> Tensor:
    """torch.nn.functional.batch_norm; `cudnn_enabled` changes nothing.

    >>> import tinytorch as torch
    >>> torch.batch_norm(torch.tensor([[1.], [3.]]), None, None, None, None, True, 0.1, 1e-8, False)
    tensor([[-1.],
            [ 1.]])
    """
    return norms.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@public()
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
                  running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float,
                  cudnn_enabled: bool) -> Tensor:
    """torch.nn.functional.instance_norm; `cudnn_enabled` changes nothing."""
    return norms.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@public()
def frobenius_norm(input: Tensor, dim: int | Ints, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The square root of the sum of squares along `dim`, one dimension or two: torch.linalg.vector_norm.
    """
    warn_once("at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a "
              "future PyTorch release. Please use `linalg.vector_norm(A, 2., dim, keepdim)` instead")
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) > 2:
        raise RuntimeError("Expected at most 2 dimensions, but got 3 dimensions instead.")
    return vector_norm(input, 2, dims or None, keepdim, out=out)


@public()
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The `pow`-norm over all dimensions but `dim`, which keeps its place; over all of them for -1.

    >>> import tinytorch as torch
    >>> torch.norm_except_dim(torch.tensor([[3., 4.], [0., 2.]]))
    tensor([[5.],
            [2.]])
    """
    if dim == -1:
        return vector_norm(v, pow)
    ndim = v._array.ndim
    if dim not in (0, ndim - 1):
        return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)
    return vector_norm(v, pow, [d for d in range(ndim) if d != dim], True)


# ------------------------------------------------------------------ pooling
@public()
def adaptive_max_pool1d(input: Tensor, output_size: int | Ints) -> tuple[Tensor, Tensor]:
    """torch.nn.functional.adaptive_max_pool1d, and the positions of the maxima (int64)."""
    return adaptive_pool.adaptive_max_pool1d_with_indices(input, output_size)


# ------------------------------------------------------------------ embeddings
@public()
def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Tensor:
    """Rows of `weight`. The row `padding_idx` gets no gradient; a negative number stands for no such row.

    >>> import tinytorch as torch
    >>> torch.embedding(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1, 0, 1]))
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    """
    padding = None if padding_idx < 0 else padding_idx
    return embeddings.embedding(indices, weight, padding, None, 2.0, scale_grad_by_freq, sparse)


# ------------------------------------------------------------------ losses
@public()
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Ints, target_lengths: Tensor | Ints,
             blank: int = 0, reduction: int = 0, zero_infinity: bool = False) -> Tensor:
    """torch.nn.functional.ctc_loss."""
    return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _word(reduction), zero_infinity)


@public()
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """torch.nn.functional.kl_div.

    >>> import tinytorch as torch
    >>> torch.kl_div(torch.zeros(2), torch.ones(2), 2)
    tensor(0.)
    """
    reduction = _word(reduction)
    loss = losses.kl_div(input, target, reduction="none", log_target=log_target)      # "mean" would warn
    return loss if reduction == "none" else getattr(loss, reduction)()


@public()
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     pos_weight: Tensor | None = None, reduction: int = 0) -> Tensor:
    """torch.nn.functional.binary_cross_entropy_with_logits."""
    return losses.binary_cross_entropy_with_logits(input, target, weight, reduction=_word(reduction),
                                                   pos_weight=pos_weight)


@public()
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """torch.nn.functional.poisson_nll_loss."""
    return losses.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_word(reduction))


@public()
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                          reduction: int = 0) -> Tensor:
    """torch.nn.functional.cosine_embedding_loss."""
    return margins.cosine_embedding_loss(input1, input2, target, margin, reduction=_word(reduction))


@public()
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """torch.nn.functional.hinge_embedding_loss."""
    return margins.hinge_embedding_loss(input, target, margin, reduction=_word(reduction))


@public()
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                        reduction: int = 0) -> Tensor:
    """torch.nn.functional.margin_ranking_loss."""
    return margins.margin_ranking_loss(input1, input2, target, margin, reduction=_word(reduction))


@public()
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0,
                        eps: float = 1e-6, swap: bool = False, reduction: int = 0) -> Tensor:
    """torch.nn.functional.triplet_margin_loss."""
    return margins.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_word(reduction))


# ------------------------------------------------------------------ methods as functions
@public()
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """input.addmv_(mat, vec)."""
    return input.addmv_(mat, vec, beta=beta, alpha=alpha)


@public()
def as_strided_(input: Tensor, size: Ints, stride: Ints, storage_offset: int | None = None) -> Tensor:
    """input.as_strided_(size, stride)."""
    return input.as_strided_(size, stride, storage_offset)
