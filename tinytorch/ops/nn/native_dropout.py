"""torch.dropout(input, p, train) and the functions like it: they have no defaults, and each has an in-place form."""
from __future__ import annotations

from ...autograd.promotion import refuse_complex_gradient, scalar_as
from ...autograd.public import public
from ...kernels.random import samplers
from ...random import stream_of
from ...tensor import Tensor, wrap
from ..random.samplers import room
from .dropout import drop

__all__ = ["alpha_dropout", "alpha_dropout_", "dropout", "dropout_", "feature_alpha_dropout", "feature_alpha_dropout_",
           "feature_dropout", "feature_dropout_", "native_dropout"]


def _checked(input, p, train, inplace, **kind):
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return drop(input, p, train, inplace, **kind)


@public(draws=True)
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero elements with probability `p` and scale the others by 1 / (1 - p), if `train`.

    RuntimeError for p outside [0, 1], as in the other functions of this file.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.dropout(torch.ones(4), 0.5, True)
    tensor([0., 0., 2., 0.])
    """
    return _checked(input, p, train, False)


@public(draws=True)
def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place."""
    return _checked(input, p, train, True)


@public(draws=True)
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero whole channels (dimension 1) with probability `p` and scale the others by 1 / (1 - p), if `train`.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.feature_dropout(torch.ones(1, 3, 1), 0.5, True).flatten()
    tensor([0., 0., 2.])
    """
    return _checked(input, p, train, False, feature=True)


@public(draws=True)
def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place."""
    return _checked(input, p, train, True, feature=True)


@public(draws=True)
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout that keeps mean and variance, if `train`; see nn.functional.alpha_dropout."""
    return _checked(input, p, train, False, alpha=True)


@public(draws=True)
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place."""
    return _checked(input, p, train, True, alpha=True)


@public(draws=True)
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` of whole channels (dimension 1)."""
    return _checked(input, p, train, False, alpha=True, feature=True)


@public(draws=True)
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place."""
    return _checked(input, p, train, True, alpha=True, feature=True)


@public(draws=True)
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """`dropout` with its bool mask of the elements kept: (output, mask). `train=None` counts as True.

    >>> import tinytorch as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.native_dropout(torch.ones(4), 0.5, True)
    (tensor([0., 0., 2., 0.]), tensor([False, False,  True, False]))
    """
    kept = samplers.empty_like(input._array, bool)
    if train is not None and not train:
        kept[...] = True
        return input.clone(), wrap(kept)
    refuse_complex_gradient("native_dropout", input)
    stream = stream_of(None)
    with stream.lock:
        mask = wrap(samplers.bernoulli(room(kept, input._array), 1 - p, stream))
    scale = 1.0 / (1 - p) if p < 1 else 0.0
    if input._array.itemsize == 2:
        scale = wrap(scalar_as(scale, input._array.dtype))      # rounded
    return input * mask * scale, mask
