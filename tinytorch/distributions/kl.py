"""The Kullback-Leibler divergence: the table of functions by two classes, and the functions for two distributions of
one class.

The functions for two different classes are in kl_pairs.py.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any

from .. import broadcast_shapes, digamma, exp, full_like, lgamma, linalg, log1p
from ..autograd.tensor_methods import grad
from ..errors import warn
from ..nn.functional import softplus
from ..tensor import Tensor
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _half_log_det
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable], Callable]:
    """Decorator that enters a function of p and q as the one that computes the divergence for two classes and their
    subclasses.

    If several functions fit, the function for the nearest classes is used, where the class of p counts first. If the
    class of q counted first, it should be the same function; if not, a RuntimeWarning says so.

    >>> class Heavy(Cauchy):
    ...     pass
    >>> @register_kl(Heavy, Normal)
    ... def _(p, q):
    ...     return p.loc.new_tensor(float("inf"))
    >>> kl_divergence(Heavy(0., 1.), Normal(0., 1.))
    tensor(inf)
    """
    for name, given in ("type_p", type_p), ("type_q", type_q):
        if not isinstance(given, type):        # torch does not check whether the class is a Distribution
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorate(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function
    return decorate


def _dispatch(type_p, type_q):
    """The function for two classes, or None."""
    fits = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not fits:
        return None
    by_p, by_q = _nearest(fits, 0), _nearest(fits, 1)
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl("
             f"{by_p[0].__name__}, {by_q[1].__name__})", RuntimeWarning)
    return _KL_REGISTRY[by_p]


def _nearest(pairs, first):
    """The pair of the most derived classes, where class number `first` counts before the other."""
    def depth(pair):
        return len(pair[first].__mro__), len(pair[1 - first].__mro__)
    return max(pairs, key=depth)


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence of q from p: the expectation, over x of p, of p.log_prob(x) - q.log_prob(x), of shape batch_shape.

    NotImplementedError for classes for which no function is registered.

    >>> kl_divergence(Normal(0., 1.), Normal(1., 1.))
    tensor(0.5000)
    """
    kinds = type(p), type(q)
    if kinds not in _KL_MEMOIZE:
        _KL_MEMOIZE[kinds] = _dispatch(*kinds)
    if _KL_MEMOIZE[kinds] is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {kinds[0].__name__} and q type "
                                  f"{kinds[1].__name__}")
    return _KL_MEMOIZE[kinds](p, q)


def _infinite_like(tensor: Tensor) -> Tensor:
    return full_like(tensor, inf)


def _squares(matrices: Tensor) -> Tensor:
    """The trace of X X^T: the sum of the squares of each matrix."""
    return matrices.reshape(-1, matrices.size(-2) * matrices.size(-1)).pow(2).sum(-1).reshape(matrices.shape[:-2])


# ------------------------------------------------------------------ of one class
@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    happens = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    happens[q.probs == 0] = inf
    happens[p.probs == 0] = 0
    fails = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    fails[q.probs == 1] = inf
    fails[p.probs == 1] = 0
    return happens + fails


@register_kl(Beta, Beta)
def _beta(p, q):
    sum_p, sum_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    normalizer = (q.concentration1.lgamma() + q.concentration0.lgamma() + sum_p.lgamma()
                  - (p.concentration1.lgamma() + p.concentration0.lgamma() + sum_q.lgamma()))
    return (normalizer + (p.concentration1 - q.concentration1) * digamma(p.concentration1)
            + (p.concentration0 - q.concentration0) * digamma(p.concentration0) + (sum_q - sum_p) * digamma(sum_p))


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    kl[p.total_count > q.total_count] = inf
    return kl


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    return (p.mean * (p.logits - q.logits) + (p._cont_bern_log_norm() + log1p(-p.probs))
            + (-q._cont_bern_log_norm() - log1p(-q.probs)))


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    sum_p, sum_q = p.concentration.sum(-1), q.concentration.sum(-1)
    normalizer = sum_p.lgamma() - sum_q.lgamma() - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    of_logs = p.concentration.digamma() - sum_p.digamma().unsqueeze(-1)
    return normalizer + ((p.concentration - q.concentration) * of_logs).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed "
                                  "using Bregman divergences")
    params = [x.detach().requires_grad_() for x in p._natural_params]
    normalizer = p._log_normalizer(*params)
    gradients = grad(normalizer.sum(), params, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for of_p, of_q, g in zip(params, q._natural_params, gradients):
        result = result - _sum_rightmost((of_q - of_p) * g, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (q.concentration * (p.rate / q.rate).log() + (lgamma(q.concentration) - lgamma(p.concentration))
            + (p.concentration - q.concentration) * digamma(p.concentration)
            + (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio, loc_q, loc_p = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    return (-ratio.log() - loc_q + loc_p + ratio * euler_constant + exp(loc_q + (1 + ratio).lgamma() - loc_p)
            - (1 + euler_constant))


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return .5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() + -ratio.log() + ratio - 1
    result[p.support.lower_bound < q.support.lower_bound] = inf
    return result


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = inf
    return result


# ------------------------------------------------------------------ of normal vectors
def _of_one_size(words):
    """Decorator that raises ValueError for events of different shapes."""
    def decorate(function):
        @functools.wraps(function)
        def call(p, q):
            if p.event_shape != q.event_shape:
                raise ValueError(f"KL-divergence between two {words} with different event shapes cannot be computed")
            return function(p, q)
        return call
    return decorate


def _expanded(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    """The matrices, expanded to one batch shape."""
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.expand(batch + a.shape[-2:]), b.expand(batch + b.shape[-2:])


def _in_units_of(q: Any) -> Tensor:
    """The term that the Woodbury identity subtracts from the inverse of q's diagonal."""
    factor, diagonal = q._parts
    return linalg.solve_triangular(q._capacitance_tril, factor.mT / diagonal.unsqueeze(-2), upper=False)


@register_kl(MultivariateNormal, MultivariateNormal)
@_of_one_size("Multivariate Normals")
def _multivariate_normal(p, q):
    factor_p, factor_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    log_det = _half_log_det(factor_q) - _half_log_det(factor_p)
    q_expanded, p_expanded = _expanded(factor_q, factor_p)
    trace = _squares(linalg.solve_triangular(q_expanded, p_expanded, upper=False))
    distance = _batch_mahalanobis(factor_q, q.loc - p.loc)
    return log_det + .5 * (trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@_of_one_size("Low Rank Multivariate Normals")
def _lowrank(p, q):
    log_det = (_batch_lowrank_logdet(*q._parts, q._capacitance_tril)
               - _batch_lowrank_logdet(*p._parts, p._capacitance_tril))
    distance = _batch_lowrank_mahalanobis(*q._parts, q.loc - p.loc, q._capacitance_tril)
    (factor, diagonal), (_, diagonal_q), a = p._parts, q._parts, _in_units_of(q)
    trace = ((diagonal / diagonal_q).sum(-1) + _squares(factor * diagonal_q.rsqrt().unsqueeze(-1))
             - _squares(a * diagonal.sqrt().unsqueeze(-2)) - _squares(a.matmul(factor)))
    return .5 * (log_det + trace + distance - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@_of_one_size("(Low Rank) Multivariate Normals")
def _multivariate_normal_lowrank(p, q):
    factor = p._unbroadcasted_scale_tril
    log_det = _batch_lowrank_logdet(*q._parts, q._capacitance_tril) - 2 * _half_log_det(factor)
    distance = _batch_lowrank_mahalanobis(*q._parts, q.loc - p.loc, q._capacitance_tril)
    trace = _squares(factor * q._parts[1].rsqrt().unsqueeze(-1)) - _squares(_in_units_of(q).matmul(factor))
    return .5 * (log_det + trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@_of_one_size("(Low Rank) Multivariate Normals")
def _lowrank_multivariate_normal(p, q):
    factor_q = q._unbroadcasted_scale_tril
    log_det = 2 * _half_log_det(factor_q) - _batch_lowrank_logdet(*p._parts, p._capacitance_tril)
    distance = _batch_mahalanobis(factor_q, q.loc - p.loc)
    factor, diagonal = p._parts
    trace = 0.
    for part in factor, diagonal.sqrt().diag_embed():
        q_expanded, part = _expanded(factor_q, part)
        trace = trace + _squares(linalg.solve_triangular(q_expanded, part, upper=False))
    return .5 * (log_det + trace + distance - p.event_shape[0])
