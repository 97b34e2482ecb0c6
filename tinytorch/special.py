"""torch.special: functions of mathematics, most of them under their usual names elsewhere too."""
from .ops.bessel import i0, i0e, i1, i1e
from .ops.math import exp2, expm1, log1p, sinc
from .ops.power import xlogy
from .ops.rounding import round
from .ops.softmax import log_softmax, softmax
from .ops.special_math import digamma, erf, erfc, erfinv, lgamma as gammaln, logit, mvlgamma as multigammaln
from .ops.special_math import polygamma, sigmoid as expit
from .ops.stats import logsumexp

psi = digamma

__all__ = ["digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0", "i0e", "i1", "i1e", "log1p",
           "log_softmax", "logit", "logsumexp", "multigammaln", "polygamma", "psi", "round", "sinc", "softmax", "xlogy"]
