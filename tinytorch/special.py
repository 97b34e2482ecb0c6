"""torch.special: mathematical functions. Most of them are torch functions of the same name too."""
from __future__ import annotations

import sys as _sys

from . import dtypes as dt
from .autograd.op import renamed
from .autograd.overridable import complete as _complete
from .autograd.public import public
from .missing import namespace as _namespace
from .ops.elementwise import (
    bessel,
    bessel_functions,
    incomplete_gamma,
    math,
    normal,
    orthogonal_polynomials,
    power,
    rounding,
    special as functions,
)
from .ops.elementwise.bessel_functions import *
from .ops.elementwise.normal import ndtr
from .ops.elementwise.orthogonal_polynomials import *
from .ops.nn import softmax as softmaxes
from .ops.reduction import statistics
from .tensor import Tensor
from .types import Number

__all__ = [*bessel_functions.__all__, *orthogonal_polynomials.__all__, "digamma", "entr", "erf", "erfc", "erfcx",
           "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e", "log1p",
           "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi",
           "round", "sinc", "softmax", "xlog1py", "xlogy", "zeta"]


def _special(name, function):
    """A function with a second name in another namespace. Messages use its name here."""
    return public("special_" + name)(function)


def _of_two(function):
    """`_special` for a function of two operands, either of which may be a number: torch has other nodes for numbers."""
    name = function.op.name
    of_first, of_second = renamed(function, name + ".1"), renamed(function, name + ".2")

    def call(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        chosen = function if isinstance(other, Tensor) else of_second
        return (chosen if isinstance(input, Tensor) else of_first)(input, other, out=out)
    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return _special(function.__name__, call)


digamma, psi = _special("digamma", functions.digamma), _special("psi", functions.digamma)
erfcx, log_ndtr, ndtri = (_special(f.__name__, f) for f in (normal.erfcx, normal.log_ndtr, normal.ndtri))
erf, erfc, erfinv = (_special(f.__name__, f) for f in (functions.erf, functions.erfc, functions.erfinv))
exp2, expm1, log1p, sinc = (_special(f.__name__, f) for f in (math.exp2, math.expm1, math.log1p, math.sinc))
i0, i0e, i1, i1e = (_special(f.__name__, f) for f in (bessel.i0, bessel.i0e, bessel.i1, bessel.i1e))
expit, gammaln = _special("expit", functions.sigmoid), _special("gammaln", functions.lgamma)
logit, polygamma = _special("logit", functions.logit), _special("polygamma", functions.polygamma)
logsumexp, multigammaln = _special("logsumexp", statistics.logsumexp), _special("multigammaln", functions.mvlgamma)
xlogy, xlog1py, zeta = (_of_two(f) for f in (power.xlogy, power.xlog1py, functions.zeta))
entr = _special("entr", functions.entr)


@public("special_gammainc")
def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.igamma`."""
    return incomplete_gamma.igamma(input, other, out=out)


@public("special_gammaincc")
def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.igammac`."""
    return incomplete_gamma.igammac(input, other, out=out)


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


__getattr__ = _namespace(__name__)


_complete("special", _sys.modules[__name__])
