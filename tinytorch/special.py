"""torch.special: functions of mathematics, most of them under their usual names elsewhere too."""
from __future__ import annotations

from . import dtypes as dt
from .autograd.public import public
from .ops.elementwise import bessel, math, power, rounding, special as functions
from .ops.elementwise.special import entr
from .ops.nn import softmax as softmaxes
from .ops.reduction import statistics
from .tensor import Tensor
from .types import Number

__all__ = ["digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0", "i0e", "i1", "i1e",
           "log1p", "log_softmax", "logit", "logsumexp", "multigammaln", "polygamma", "psi", "round", "sinc", "softmax",
           "xlogy"]


def _special(name, function):
    """A function that has another name elsewhere, told in messages by its name here."""
    return public("special_" + name)(function)


digamma, psi = _special("digamma", functions.digamma), _special("psi", functions.digamma)
erf, erfc, erfinv = (_special(f.__name__, f) for f in (functions.erf, functions.erfc, functions.erfinv))
exp2, expm1, log1p, sinc = (_special(f.__name__, f) for f in (math.exp2, math.expm1, math.log1p, math.sinc))
i0, i0e, i1, i1e = (_special(f.__name__, f) for f in (bessel.i0, bessel.i0e, bessel.i1, bessel.i1e))
expit, gammaln = _special("expit", functions.sigmoid), _special("gammaln", functions.lgamma)
logit, polygamma = _special("logit", functions.logit), _special("polygamma", functions.polygamma)
logsumexp, multigammaln = _special("logsumexp", statistics.logsumexp), _special("multigammaln", functions.mvlgamma)


@public("special_log_softmax")
def log_softmax(input: Tensor, dim: int, *, dtype: dt.dtype | type | None = None) -> Tensor:
    """`torch.log_softmax`."""
    return softmaxes.log_softmax(input, dim, dtype)


@public("special_round", dtypes=dt.FLOATING + dt.COMPLEX, kernel="round_vml_cpu")
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """`torch.round`."""
    return rounding.round(input, decimals=decimals, out=out)


@public("special_softmax")
def softmax(input: Tensor, dim: int, dtype: dt.dtype | type | None = None) -> Tensor:
    """`torch.softmax`."""
    return softmaxes.softmax(input, dim, dtype)


@public("special_xlogy")
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """`torch.xlogy`."""
    return power.xlogy(input, other, out=out)
