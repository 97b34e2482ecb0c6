"""torch.special: functions of mathematics, most of them under their usual names elsewhere too."""
from __future__ import annotations

from . import dtypes as dt
from .autograd.public import public
from .ops.elementwise import bessel, math, power, rounding, special as functions
from .ops.nn import softmax as softmaxes
from .ops.reduction import statistics
from .tensor import Tensor
from .types import Ints, Number

__all__ = ["digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0", "i0e", "i1", "i1e", "log1p",
           "log_softmax", "logit", "logsumexp", "multigammaln", "polygamma", "psi", "round", "sinc", "softmax", "xlogy"]


@public("special_digamma")
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.digamma`."""
    return functions.digamma(input, out=out)


@public("special_erf")
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.erf`."""
    return functions.erf(input, out=out)


@public("special_erfc")
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.erfc`."""
    return functions.erfc(input, out=out)


@public("special_erfinv")
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.erfinv`."""
    return functions.erfinv(input, out=out)


@public("special_exp2")
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.exp2`."""
    return math.exp2(input, out=out)


@public("special_expit")
def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.sigmoid`."""
    return functions.sigmoid(input, out=out)


@public("special_expm1")
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.expm1`."""
    return math.expm1(input, out=out)


@public("special_gammaln")
def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.lgamma`."""
    return functions.lgamma(input, out=out)


@public("special_i0")
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.i0`."""
    return bessel.i0(input, out=out)


@public("special_i0e")
def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.i0e`."""
    return bessel.i0e(input, out=out)


@public("special_i1")
def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.i1`."""
    return bessel.i1(input, out=out)


@public("special_i1e")
def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.i1e`."""
    return bessel.i1e(input, out=out)


@public("special_log1p")
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.log1p`."""
    return math.log1p(input, out=out)


@public("special_psi")
def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.digamma`."""
    return functions.digamma(input, out=out)


@public("special_sinc")
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.sinc`."""
    return math.sinc(input, out=out)


@public("special_log_softmax")
def log_softmax(input: Tensor, dim: int, *, dtype: dt.dtype | type | None = None) -> Tensor:
    """`torch.log_softmax`."""
    return softmaxes.log_softmax(input, dim, dtype)


@public("special_logit")
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """`torch.logit`."""
    return functions.logit(input, eps, out=out)


@public("special_logsumexp")
def logsumexp(input: Tensor, dim: int | Ints, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """`torch.logsumexp`."""
    return statistics.logsumexp(input, dim, keepdim, out=out)


@public("special_multigammaln")
def multigammaln(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """`torch.mvlgamma`."""
    return functions.mvlgamma(input, p, out=out)


@public("special_polygamma")
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.polygamma`."""
    return functions.polygamma(n, input, out=out)


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
