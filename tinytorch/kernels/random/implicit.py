"""Derivatives of random numbers by the parameters of their distribution: -(d cdf(x; a) / da) / pdf(x; a).

The cumulative distribution defines the number as an implicit function of the parameter. Here are the derivatives for
gamma numbers and for the parts of Dirichlet vectors, each of which is a beta number. Near the ends of the range they
are Taylor series, for large parameters a saddle point expansion (Rice), and rational functions between, with PyTorch's
coefficients and limits. All is computed in float64, except the series for Dirichlet vectors, which PyTorch adds up in
the dtype of the vectors.
"""
import functools

import numpy as np

from ..gamma import digamma


def _pieces(conditions, functions, *arrays):
    """For each element functions[k](*arrays), where conditions[k] is the first condition that holds."""
    result = np.empty(arrays[0].shape, arrays[0].dtype)
    left = np.ones(result.shape, bool)
    for condition, function in zip([*conditions, left.copy()], functions):
        here = left & condition
        if here.any():
            result[here] = function(*[array[here] for array in arrays])
        left &= ~here
    return result


def _in_double(function):
    """`function` computed in float64, with the result in the dtype of the arrays."""
    @functools.wraps(function)
    def call(*arrays):
        return function(*[a.astype(np.float64) for a in arrays]).astype(arrays[0].dtype)
    return call


def _elementwise(function):
    """`function` for arrays of one dtype, which are broadcast."""
    @functools.wraps(function)
    def call(*arrays):
        return function(*np.broadcast_arrays(*arrays))
    return call


def _polynomial(x, coefficients):
    result = 0.
    for c in coefficients[::-1]:
        result = c + x * result
    return result


# ------------------------------------------------------------------ gamma numbers
@_elementwise
@_in_double
def standard_gamma_grad(alpha, x):
    """The derivative of gamma numbers `x` of rate 1 by their shape `alpha`."""
    near_mean = (alpha > 8) & (.9 * alpha <= x) & (x <= 1.1 * alpha)
    return _pieces([x < .8, near_mean, alpha > 8], [_gamma_small, _gamma_mean, _gamma_large, _gamma_between], alpha, x)


def _gamma_small(alpha, x):
    term, below = np.ones_like(x), alpha.copy()
    series, derivative = 1 / alpha, 1 / (alpha * alpha)
    for i in range(1, 6):
        term = term * (-x / i)
        below = below + 1
        series = series + term / below
        derivative = derivative + term / (below * below)
    power = x ** alpha
    by_alpha = (np.log(x) - digamma(alpha)) * (power * series) - power * derivative
    result = -by_alpha / (x ** (alpha - 1) * np.exp(-x))
    return np.where(np.isnan(result), 0., result)


def _gamma_mean(alpha, x):
    stirling = 1 + 24 * alpha * (1 + 12 * alpha)
    series = 1440 * alpha ** 2 + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    return stirling * series / (1244160 * alpha ** 4)


def _gamma_large(alpha, x):
    root, log_ratio = np.sqrt(8 * alpha), np.log(x / alpha)
    tail = (x - alpha - alpha * log_ratio) ** -1.5
    inner = root / (alpha - x) + np.where(x < alpha, -tail, tail)
    term = log_ratio * inner - np.sqrt(2 / alpha) * (alpha + x) / (alpha - x) ** 2
    return -(1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))) * x * term / root


#: A row for each power of log(x / alpha): coefficients by powers of log(alpha), of a numerator and a denominator.
_GAMMA = np.array([
    [.16009398, -.094634809, .025146376, -.0030648343, 1, .32668115, .10406089, .0014179084],
    [.53487893, .1298071, .065735949, -.0015649758, .16639465, .020070113, -.0035938915, -.00058392623],
    [.040121004, -.0065914022, -.0026286047, -.0013441777, .017050642, -.0021309326, .00085092367, -1.5247877e-07]])


def _gamma_between(alpha, x):
    u, v = np.log(x / alpha), np.log(alpha)
    coefficients = [_polynomial(u, column) for column in _GAMMA.T]
    return np.exp(_polynomial(v, coefficients[:4]) / _polynomial(v, coefficients[4:]))


# ------------------------------------------------------------------ parts of Dirichlet vectors
@_elementwise
def dirichlet_grad(x, alpha, total):
    """The derivative of a part `x` of a Dirichlet vector by its concentration `alpha`, divided by 1 - x. `total`: the
    sum of all concentrations."""
    beta, variance = total - alpha, total * x * (1 - x)
    return _pieces([(x <= .5) & (variance < 2.5), (x >= .5) & (variance < .75), (alpha > 6) & (beta > 6)],
                   [lambda x, a, total: _beta_small_x(x, a, total - a),
                    lambda x, a, total: -_beta_large_x(1 - x, total - a, a), _beta_large, _beta_between],
                   x, alpha, total)


def _beta_small_x(x, alpha, beta):
    factor = digamma(alpha) - digamma(alpha + beta) - np.log(x)
    term = np.ones_like(x)
    series = 1 / alpha * (factor + 1 / alpha)
    for i in range(1, 11):
        term = term * ((i - beta) * x / i)
        series = series + term / (alpha + i) * (factor + 1 / (alpha + i))
    result = x * (1 - x) ** -beta * series
    return np.where(np.isnan(result), 0., result)


def _beta_large_x(x, alpha, beta):
    """The derivative by `beta`, for a small x."""
    factor = digamma(alpha + beta) - digamma(beta)
    term, product, derivative = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    series = factor / alpha
    for i in range(1, 9):
        term = term * (-x / i)
        derivative = derivative * (beta - i) + product
        product = product * (beta - i)
        series = series + term / (alpha + i) * (derivative + factor * product)
    result = -(1 - x) ** (1 - beta) * series
    return np.where(np.isnan(result), 0., result)


@_in_double
def _beta_large(x, alpha, total):
    beta = total - alpha
    deviation = np.sqrt(alpha * beta / (total + 1)) / total
    near_mean = np.abs(x - alpha / total) <= .1 * deviation
    return _pieces([near_mean], [_beta_mean, _beta_tails], x, alpha, beta)


def _beta_mean(x, a, b):
    total = a + b
    series = _polynomial(a, [47 * x * b ** 4, (43 + 20 * (16 + 27 * b) * x) * b ** 3,
                             3 * (59 + 180 * b - 90 * x) * b ** 2, (453 + 1620 * b * (1 - x) - 455 * x) * b,
                             8 * (1 - x) * (135 * b - 11)])
    return ((1 + 12 * a) * (1 + 12 * b) / (total * total) / (1 - x) * series
            / (12960 * a ** 3 * b * b * (1 + 12 * total)))


def _beta_tails(x, a, b):
    total, away = a + b, a * (x - 1) + b * x
    stirling = _stirling(a) * _stirling(b) / _stirling(total)
    first = (2 * a * a * (x - 1) + a * b * (x - 1) - x * b * b) / (np.sqrt(2 * a / b) * total ** 1.5 * away * away)
    tail = (b * np.log(b / (total * (1 - x))) + a * np.log(a / (total * x))) ** -1.5
    second = .5 * np.log(a / (total * x))
    inner = np.sqrt(8 * a * b / total) / away + np.where(x < a / total, tail, -tail)
    return stirling * (-x / np.sqrt(2 * a * b / total)) * (first + second * inner)


def _stirling(a):
    return 1 + 1 / (12 * a) + 1 / (288 * a * a)


#: Coefficients of a numerator and a denominator, by powers of log(x), of log(alpha / x) and of log(total * x / alpha).
_BETA = np.array([
    [[[1.003668233, -.01061107488, -.0657888334, .01201642863],
      [.6336835991, -.3557432599, .05486251648, -.001465281033],
      [-.03276231906, .004474107445, .002429354597, -.0001557569013]],
     [[.221950385, -.3187676331, .01799915743, .01074823814],
      [-.2951249643, .06219954479, .01535556598, .001550077057],
      [.02155310298, .004170831599, .001292462449, 6.976601077e-05]],
     [[-.05980841433, .008441916499, .01085618172, .002319392565],
      [.02911413504, .01400243777, -.002721828457, .000751041181],
      [.005900514878, -.001936558688, -9.495446725e-06, 5.385558597e-05]]],
    [[[1, -.02924021934, -.04438342661, .007285809825],
      [.6357567472, -.3473456711, .05454656494, -.002407477521],
      [-.03301322327, .004845219414, .00231480583, -.0002307248149]],
     [[.5925320577, -.1757678135, .01505928619, .000564515273],
      [.1014815858, -.06589186703, .01272886114, -.0007316646956],
      [-.007258481865, .001096195486, .0003934994223, -4.12701925e-05]],
     [[.06469649321, -.0236701437, .002902096474, -5.896963079e-05],
      [.001925008108, -.002869809258, .0008000589141, -6.063713228e-05],
      [-.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06]]]])


@_in_double
def _beta_between(x, alpha, total):
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    above, below = (_polynomial(u, [_polynomial(a, [_polynomial(b, c) for c in by_b]) for by_b in by_a])
                    for by_a in _BETA)
    return above / below * x * (digamma(total) - digamma(alpha)) / (total - alpha)
