"""The Kullback-Leibler divergence of two distributions of different classes. It is infinite if q
has no mass at some x of p."""
from __future__ import annotations

import math
from math import inf
from typing import Any

from .. import erf, exp, ge, le, log, log1p, max as larger, ones_like, square, where, xlogy
from ..tensor import Tensor
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import _infinite_like, register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

#: The class of p and a parameter of it -> the classes of q that lack mass somewhere where p has some.
_INFINITE = {
    (Beta, "concentration1"): (Pareto,),
    (ContinuousBernoulli, "probs"): (Pareto,),
    (Exponential, "rate"): (Beta, ContinuousBernoulli, Pareto, Uniform),
    (Gamma, "concentration"): (Beta, ContinuousBernoulli, Pareto, Uniform),
    (Gumbel, "loc"): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    (Laplace, "loc"): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    (Normal, "loc"): (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    (Pareto, "scale"): (Beta, ContinuousBernoulli, Uniform),
    (Poisson, "rate"): (Bernoulli, Binomial),
}


def _register_infinite(kind, name, others):
    def infinite(p, q):
        return _infinite_like(getattr(p, name))
    for other in others:
        register_kl(kind, other)(infinite)


for (_kind, _name), _others in _INFINITE.items():
    _register_infinite(_kind, _name, _others)


def _x_log_x(x: Tensor) -> Tensor:
    return xlogy(x, x)


def _gamma_normalizer(q: Any) -> Tensor:
    return q.concentration.lgamma() - q.concentration * q.rate.log()


def _log_deviations(q: Any, scale: Any) -> Tensor:
    """log(sqrt(2 pi) * q.scale * scale)."""
    return .5 * log(square(scale) * q.scale.pow(2) * 2 * math.pi)


# ------------------------------------------------------------------ p on an interval
@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return -p.entropy() + _gamma_normalizer(q) - (q.concentration - 1) * mean_log + q.rate * p.mean


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    mean, variance = p.mean, q.scale.pow(2)
    half_square = (mean * (1 - mean) / (p.concentration1 + p.concentration0 + 1) + mean.pow(2)) * .5
    return (-p.entropy() + .5 * (variance * 2 * math.pi).log()
            + (half_square - q.loc * mean + q.loc.pow(2) * .5) / variance)


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    result[(q.low > p.support.lower_bound) | (q.high < p.support.upper_bound)] = inf
    return result


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - log(q.rate) + q.rate * p.mean


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p, q):
    normalizer = .5 * (math.log(2. * math.pi) + square(q.loc / q.scale)) + log(q.scale)
    distance = (p.variance + square(p.mean) - 2. * q.loc * p.mean) / (2. * square(q.scale))
    return -p.entropy() + normalizer + distance


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    outside = larger(ge(q.low, p.support.lower_bound), le(q.high, p.support.upper_bound))     # as torch has it
    return where(outside, ones_like(result) * inf, result)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    width = p.high - p.low
    of_log = (q.concentration1 - 1) * (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    of_log_rest = (q.concentration0 - 1) * (_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width) / width
    normalizer = (q.concentration1.lgamma() + q.concentration0.lgamma()
                  - (q.concentration1 + q.concentration0).lgamma())
    result = of_log_rest + normalizer - log(width) - of_log
    result[(p.high > q.support.upper_bound) | (p.low < q.support.lower_bound)] = inf
    return result


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    result = -p.entropy() - p.mean * q.logits - log1p(-q.probs) - q._cont_bern_log_norm()
    outside = larger(ge(p.high, q.support.upper_bound), le(p.low, q.support.lower_bound))     # as torch has it
    return where(outside, ones_like(result) * inf, result)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    result[p.low < q.support.lower_bound] = inf
    return result


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    width = p.high - p.low
    of_log = (1 - q.concentration) * (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    result = -width.log() + _gamma_normalizer(q) + of_log + q.rate * (p.high + p.low) / 2
    result[p.low < q.support.lower_bound] = inf
    return result


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    ratio, high, low = q.scale / (p.high - p.low), (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + .5 * (high + low) - ratio * (exp(-high) - exp(-low))


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    away = ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return (math.sqrt(math.pi * 2) * q.scale / width).log() + .5 * (width.pow(2) / 12 + away) / q.scale.pow(2)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    width = p.high - p.low
    mean_log = (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    result = mean_log * (q.alpha + 1) - (q.alpha * q.scale.pow(q.alpha) * width).log()
    result[p.low < q.support.lower_bound] = inf
    return result


# ------------------------------------------------------------------ p on a half line
@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    return (-q.concentration * log(ratio) + ratio + q.concentration.lgamma() + q.concentration * euler_constant
            - (1 + euler_constant))


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product, loc = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - loc + exp(loc) * product / (product + 1) + product.reciprocal()


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    squared = p.rate.pow(2)
    distance = squared.reciprocal() - q.loc / p.rate + q.loc.pow(2) * .5
    return _log_deviations(q, p.rate) - 1 + distance / q.scale.pow(2)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    product, loc = p.rate * q.scale, q.loc / q.scale
    of_p = (p.concentration - 1) * p.concentration.digamma() - p.concentration.lgamma() - p.concentration
    return (of_p + product.log() + p.concentration / product
            + exp(loc) * (1 + product.reciprocal()).pow(-p.concentration) - loc)


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    normalizer = _log_deviations(q, p.rate) - p.concentration - p.concentration.lgamma()
    distance = (.5 * (p.concentration.pow(2) + p.concentration) / p.rate.pow(2) - q.loc * p.concentration / p.rate
                + .5 * q.loc.pow(2))
    return normalizer + (p.concentration - 1) * p.concentration.digamma() + distance / q.scale.pow(2)


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    product = p.scale * q.rate
    result = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    result[p.alpha <= 1] = inf
    return result


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    mean_log = p.scale.log() + p.alpha.reciprocal()
    result = (p.alpha.log() - mean_log + _gamma_normalizer(q) + (1 - q.concentration) * mean_log
              + q.rate * p.alpha * p.scale / (p.alpha - 1) - 1)
    result[p.alpha <= 1] = inf
    return result


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    common = p.scale / (p.alpha - 1)
    distance = p.alpha * common.pow(2) / (p.alpha - 2) + (p.alpha * common - q.loc).pow(2)
    result = ((math.sqrt(2 * math.pi) * q.scale * p.alpha / p.scale).log() - p.alpha.reciprocal()
              + distance / (2 * q.scale.pow(2)) - 1)
    result[p.alpha <= 2] = inf
    return result


# ------------------------------------------------------------------ p on the whole line
@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    ratio = p.scale / q.scale
    distance = ((p.loc + p.scale * euler_constant - q.loc) / q.scale).pow(2) * .5
    return (-(ratio / math.sqrt(2 * math.pi)).log() + (math.pi * ratio * .5).pow(2) / 3 + distance
            - (euler_constant + 1))


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    distance = .5 * p.loc.pow(2) - p.loc * q.loc + .5 * q.loc.pow(2)
    return -.5 * log(2 * ratio / math.pi) + ratio + distance / variance - 1


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    mean, ratio, loc = p.loc / q.scale, (p.scale / q.scale).pow(2), q.loc / q.scale
    return (-ratio.log() * .5 + (mean - loc) + exp(-mean + .5 * ratio + loc)
            - .5 * (1 + math.log(2 * math.pi)))


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    distance = p.loc - q.loc
    away = distance / p.scale
    mean_distance = (math.sqrt(2 / math.pi) * p.scale * exp(-.5 * away.pow(2))
                     + distance * erf(math.sqrt(.5) * away))
    return -log(p.scale / q.scale) + mean_distance / q.scale - .5 * (1 + math.log(.5 * math.pi))
