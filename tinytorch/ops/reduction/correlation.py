"""Covariances and correlations of variables: cov corrcoef. The rows of a matrix are variables, its columns
observations."""
from __future__ import annotations

import numpy as np

from ... import dtypes as dt
from ...autograd.op import unwatched
from ...autograd.public import public
from ...errors import type_name, warn
from ...kernels.errstate import ignored
from ...kernels.sums import add_up
from ...kinds.lazy import StandIn
from ...tensor import Tensor, wrap
from ..elementwise.complex import complex, real
from ..layout.diagonal import diag
from ..linalg.products import _mm

__all__ = ["corrcoef", "cov"]


def _two_dims(name, input):
    if input.dim() > 2:
        raise RuntimeError(f"{name}(): expected input to have two or fewer dimensions but got an input with "
                           f"{input.dim()} dimensions")


def _holds(condition):
    array = condition._array
    return array.holds() if isinstance(array, StandIn) else bool(array)


def _check_weights(name, weights, observations, kinds, word):
    if weights.dim() > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                           f"{weights.dim()} dimensions")
    if weights._array.dtype.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {word} dtype but got {name} with {type_name(weights)} "
                           "dtype")
    if weights.numel() != observations:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but "
                           f"got {weights.numel()} != {observations}")
    if observations and not _holds(weights.min() >= 0):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _of_plain_rows(input, correction):
    """The covariances of rows of floats without weights, in the steps of `cov`, where nobody watches, or None."""
    array = input._array
    if array.ndim != 2 or array.dtype.char not in "fd" or array.shape[1] <= correction or not unwatched(input):
        return None
    kind, observations = array.dtype.type, array.shape[1]
    with ignored():
        rows = array - (add_up(array, (1,), True) / kind(observations))
        return _mm.op.forward(rows, rows.T) / kind(observations - correction)


def _normalized(c):
    """Correlations of at least two variables from their covariances."""
    with ignored():
        deviations = np.sqrt(c.diagonal())
        c = c / deviations[:, None] / deviations
    return np.minimum(np.maximum(c, c.dtype.type(-1)), c.dtype.type(1))


@public(method=True, autocast="parts")
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
        ) -> Tensor:
    """The covariance matrix of the variables in the rows of `input` (variables, observations), or the variance of a
    single variable (observations).

    correction   the number that is subtracted from the number of observations
    fweights     (observations) int: how often each observation was made
    aweights     (observations) floating: the weight of each observation

    >>> import tinytorch as torch
    >>> torch.cov(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    _two_dims("cov", input)
    if input._array.dtype.kind in dt.BOOL:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if fweights is None and aweights is None and (found := _of_plain_rows(input, correction)) is not None:
        return wrap(found).squeeze()
    rows = input.view(1, -1) if input.dim() < 2 else input
    observations, weights = rows.size(1), None
    if fweights is not None:
        _check_weights("fweights", fweights, observations, dt.INTEGER, "integral")
        weights = fweights
    if aweights is not None:
        _check_weights("aweights", aweights, observations, dt.FLOATING, "floating point")
        weights = aweights if weights is None else weights * aweights
    total = observations if weights is None else weights.sum()
    if weights is not None and not _holds(total != 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    mean = (rows if weights is None else rows * weights).sum(1) / total
    if weights is not None and aweights is not None and correction != 0:
        freedom = total - correction * (weights * aweights).sum() / total
    else:
        freedom = total - correction
    if freedom <= 0 if weights is None else _holds(freedom <= 0):
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
             "observations.")
        freedom = freedom * 0
    rows = rows - mean.unsqueeze(1)
    weighted = rows if weights is None else rows * weights
    return (rows.mm(weighted.t().conj()) / freedom).squeeze()


@public(method=True, autocast="parts")
def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation coefficients, between -1 and 1, of the variables in the rows of `input`.

    >>> import tinytorch as torch
    >>> torch.corrcoef(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    _two_dims("corrcoef", input)
    if input._array.ndim == 2 and (c := _of_plain_rows(input, 1)) is not None and len(c) > 1:
        return wrap(_normalized(c))
    c = cov(input)
    if c.dim() == 0:
        return c / c                           # 1, or NaN if the variance is 0 or NaN
    variances = diag(c)
    deviations = (real(variances) if variances.is_complex() else variances).sqrt()
    c = c / deviations.view(-1, 1) / deviations.view(1, -1)
    if c.is_complex():
        return complex(c.real.clip(-1, 1), c.imag.clip(-1, 1))
    return c.clip(-1, 1)
