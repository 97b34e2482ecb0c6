"""VonMises: an angle."""
from __future__ import annotations

import math
from collections.abc import Sequence

from .. import bool as bool_, cos, empty, float64, rand, where, zeros
from ..autograd.grad_mode import no_grad
from ..tensor import Size, Tensor
from . import constraints
from .distribution import Distribution
from .utils import lazy_property

__all__ = ["VonMises"]

#: Coefficients of the modified Bessel functions of order 0 and 1, for small and large arguments: Abramowitz and
#: Stegun, 9.8.
_SMALL = ((1., 3.5156229, 3.0899424, 1.2067492, .2659732, .360768e-1, .45813e-2),
          (.5, .87890594, .51498869, .15084934, .2658733e-1, .301532e-2, .32411e-3))
_LARGE = ((.39894228, .1328592e-1, .225319e-2, -.157565e-2, .916281e-2, -.2057706e-1, .2635537e-1, -.1647633e-1,
           .392377e-2),
          (.39894228, -.3988024e-1, -.362018e-2, .163801e-2, -.1031555e-1, .2282967e-1, -.2895312e-1, .1787654e-1,
           -.420059e-2))


def _polynomial(x, coefficients):
    *rest, result = coefficients
    for c in reversed(rest):
        result = c + x * result
    return result


def _log_bessel(x, order):
    """The logarithm of the modified Bessel function of the first kind of order 0 or 1."""
    t = x / 3.75
    small = _polynomial(t * t, _SMALL[order])
    small = (x.abs() * small if order == 1 else small).log()
    large = x - .5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return where(x < 3.75, small, large)


class VonMises(Distribution):
    """Angles in radians around `loc`, with the density in proportion to exp(concentration * cos(x - loc)). Samples are
    drawn by rejection (Best and Fisher, 1979), in double precision.

    >>> VonMises(1., 4.).mean
    tensor(1.)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast(loc=loc, concentration=concentration), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Distribution:
        return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape),
                          validate_args=vars(self).get("_validate_args"))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        return 1 - (_log_bessel(self.concentration, 1) - _log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        log_density = self.concentration * cos(value - self.loc)
        return log_density - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    @lazy_property
    def _loc(self) -> Tensor:
        return self.loc.to(float64)

    @lazy_property
    def _concentration(self) -> Tensor:
        return self.concentration.to(float64)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa ** 2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho ** 2) / (2 * rho))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            loc, kappa, r = self._loc, self._concentration, self._proposal_r
            x = empty(self._extended_shape(sample_shape), dtype=loc.dtype)
            done = zeros(x.shape, dtype=bool_)
            while not done.all():
                u1, u2, u3 = rand((3,) + x.shape, dtype=loc.dtype).unbind()
                z = cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                # For a concentration from about 1e16 on, all candidates are 0. For NaN and infinity they are NaN.
                accepted = accepted | (r == 1) | c.isnan()
                x = where(accepted, (u3 - .5).sign() * f.acos(), x)
                done = done | accepted
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)
