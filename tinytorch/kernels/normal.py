"""Logarithm and inverse of the normal distribution function, on arrays, in the precision of the argument."""
import math

import numpy as np

from .erf import erfc, erfcx
from .series import piecewise, ratio

# Rational approximations of the inverse from the Cephes library (S. Moshier): within 3/8 of y = 1/2 in (y - 1/2)^2;
# beyond in 1 / z, for z = sqrt(-2 log y) up to 8, and for larger z.
_MIDDLE = (
    (-1.2391658386738125, 13.931260938727968, -56.67628574690703, 98.00107541859997, -59.96335010141079),
    (-1.1833162112133, 15.90562251262117, -82.03722561683334, 200.26021238006066, -225.46268785411937,
     86.36024213908905, 4.676279128988815, 1.9544885833814176, 1.0))
_TAIL = (
    (-0.0008574567851546854, -0.03504246268278482, -0.1402560791713545, 2.1866330685079025, 14.684956192885803,
     44.08050738932008, 57.16281922464213, 31.525109459989388, 4.0554489230596245),
    (-0.0009332594808954574, -0.03808064076915783, -0.14218292285478779, 2.504649462083094, 15.04253856929075,
     41.3172038254672, 45.39076351288792, 15.779988325646675, 1.0))
_FAR_TAIL = (
    (6.239745391849833e-09, 2.6580697468673755e-06, 0.00030158155350823543, 0.012371663481782003, 0.20148538954917908,
     1.3330346081580755, 3.9388102529247444, 6.915228890689842, 3.2377489177694603),
    (6.790194080099813e-09, 2.8924786474538068e-06, 0.00032801446468212774, 0.013420400608854318, 0.21623699359449663,
     1.3770209948908132, 3.6798356385616087, 6.02427039364742, 1.0))
_BORDER = math.exp(-2.0)                       # the border of the middle part


def log_ndtr(x):
    """The logarithm of the distribution function, without underflow far below 0."""
    t = x * math.sqrt(0.5)
    return np.where(x < -1.0, np.log(erfcx(np.maximum(-t, 0.0)) / 2) - t * t, np.log1p(-erfc(t) / 2))


def _middle(y):
    y = y - 0.5
    square = y * y
    return (y + y * (square * ratio(_MIDDLE, square))) * math.sqrt(2.0 * math.pi)


def _lower(y):
    z = np.sqrt(-2.0 * np.log(y))
    inverse = 1.0 / z
    return inverse * np.where(z < 8.0, ratio(_TAIL, inverse), ratio(_FAR_TAIL, inverse)) - (z - np.log(z) / z)


def ndtri(y):
    """The inverse of the distribution function: infinite at 0 and 1, NaN outside."""
    middle = (y > _BORDER) & (y <= y.dtype.type(1.0) - y.dtype.type(_BORDER))
    return piecewise(y, (y == 0.0, -np.inf), (y == 1.0, np.inf), ((y < 0.0) | (y > 1.0), np.nan), (middle, _middle),
                     (y <= 0.5, _lower), (y > 0.5, lambda y: -_lower(1.0 - y)))
