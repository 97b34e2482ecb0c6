"""torch.special: functions of mathematics, most of them under their usual names elsewhere too."""
from .ops.elementwise.bessel import i0, i0e, i1, i1e
from .ops.elementwise.math import exp2, expm1, log1p, sinc
from .ops.elementwise.power import xlogy
from .ops.elementwise.rounding import round
from .ops.elementwise.special import (
    digamma,
    entr,
    erf,
    erfc,
    erfinv,
    lgamma as gammaln,
    logit,
    mvlgamma as multigammaln,
    polygamma,
    sigmoid as expit,
)
from .ops.nn.softmax import log_softmax, softmax
from .ops.reduction.statistics import logsumexp

psi = digamma

__all__ = ["digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0", "i0e", "i1", "i1e", "log1p",
           "log_softmax", "logit", "logsumexp", "multigammaln", "polygamma", "psi", "round", "sinc", "softmax", "xlogy"]
