"""Modified Bessel functions of orders 0 and 1, on arrays; computed in double precision."""
import math

import numpy as np

from .gamma import in_double
from .series import chebyshev, piecewise, polynomial

# Chebyshev series of the second kind, from the Cephes library (S. Moshier), highest term first. Up to 2 they give
# K0(x) + log(x / 2) I0(x) and x (K1(x) - log(x / 2) I1(x)) in terms of x^2 - 2; beyond, exp(x) sqrt(x) K(x) in terms of
# 8 / x - 2.
_K0 = (
    (1.374465435613523e-16, 4.25981614279661e-14, 1.0349695257633842e-11, 1.904516377220209e-09,
     2.5347910790261494e-07, 2.286212103119452e-05, 0.001264615411446926, 0.0359799365153615, 0.3442898999246285,
     -0.5353273932339028),
    (5.300433772686263e-18, -1.6475804301524212e-17, 5.2103915050390274e-17, -1.678231096805412e-16,
     5.512055978524319e-16, -1.848593377343779e-15, 6.3400764774050706e-15, -2.2275133269916698e-14,
     8.032890775363575e-14, -2.9800969231727303e-13, 1.140340588208475e-12, -4.514597883373944e-12,
     1.8559491149547177e-11, -7.957489244477107e-11, 3.577397281400301e-10, -1.69753450938906e-09,
     8.574034017414225e-09, -4.660489897687948e-08, 2.766813639445015e-07, -1.8317555227191195e-06,
     1.39498137188765e-05, -0.00012849549581627802, 0.0015698838857300533, -0.0314481013119645, 2.4403030820659555))
_K1 = (
    (-7.023863479386288e-18, -2.427449850519366e-15, -6.666901694199329e-13, -1.4114883926335278e-10,
     -2.213387630734726e-08, -2.4334061415659684e-06, -0.0001730288957513052, -0.006975723859639864,
     -0.12261118082265715, -0.3531559607765449, 1.5253002273389478),
    (-5.756744483665017e-18, 1.7940508731475592e-17, -5.689462558442859e-17, 1.838093544366639e-16,
     -6.057047248373319e-16, 2.038703165624334e-15, -7.019837090418314e-15, 2.4771544244813043e-14,
     -8.976705182324994e-14, 3.3484196660784293e-13, -1.2891739609510289e-12, 5.13963967348173e-12,
     -2.1299678384275683e-11, 9.218315187605006e-11, -4.1903547593418965e-10, 2.015049755197033e-09,
     -1.0345762465678097e-08, 5.7410841254500495e-08, -3.5019606030878126e-07, 2.406484947837217e-06,
     -1.936197974166083e-05, 0.00019521551847135162, -0.002857816859622779, 0.10392373657681724, 2.7206261904844427))


# Chebyshev series of the first kind, computed with 50 digits: beyond 8 they give exp(-x) sqrt(x) I(x) in terms of
# 32 / x - 2.
_I_FAR = (
    (1.193650890845982e-18, 9.921475412173699e-19, -7.233180487874754e-18, -4.830504485944182e-18,
     4.46562142029676e-17, 3.461222867697461e-17, -2.8276239805165836e-16, -3.425485619677219e-16,
     1.7725601330565263e-15, 3.8116806693526224e-15, -9.554846698828307e-15, -4.150569347287222e-14,
     1.54008621752141e-14, 3.8527783827421426e-13, 7.180124451383666e-13, -1.7941785315068062e-12,
     -1.3215811840447713e-11, -3.1499165279632416e-11, 1.1889147107846439e-11, 4.94060238822497e-10,
     3.3962320257083865e-09, 2.266668990498178e-08, 2.0489185894690638e-07, 2.8913705208347567e-06,
     6.889758346916825e-05, 0.0033691164782556943, 0.8044904110141088),
    (-1.242193275194891e-18, -9.314178867326884e-19, 7.517296310842105e-18, 4.414348323071708e-18,
     -4.6503053684893586e-17, -3.209525921993424e-17, 2.96262899764595e-16, 3.3082023109209285e-16,
     -1.8803547755107825e-15, -3.8144030724370075e-15, 1.0420276984128802e-14, 4.272440016711951e-14,
     -2.1015418427726643e-14, -4.0835511110921974e-13, -7.198551776245908e-13, 2.0356285441470896e-12,
     1.4125807436613782e-11, 3.2526035830154884e-11, -1.8974958123505413e-11, -5.589743462196584e-10,
     -3.835380385964237e-09, -2.6314688468895196e-08, -2.512236237870209e-07, -3.882564808877691e-06,
     -0.00011058893876262371, -0.009761097491361469, 0.7785762350182801))


def _coefficients(order):
    """The coefficients of the power series of (2 / x)^order I(x) in x^2 / 4. All are positive, so no digits cancel."""
    return tuple([1 / (math.factorial(k) * math.factorial(k + order)) for k in range(26)])


_I_NEAR = _coefficients(0), _coefficients(1)


def _of_first_kind(order, input, grown):
    """I(x) if `grown`, else exp(-|x|) I(x), computed in double precision."""
    x = np.abs(input).astype(np.float64)
    small, large = np.minimum(x, 8), np.maximum(x, 8)
    near = polynomial(_I_NEAR[order], small * small / 4) * (small / 2) ** order
    far = chebyshev(_I_FAR[order], 32 / large - 2) / np.sqrt(large)
    if grown:
        far *= np.exp(np.abs(input), dtype=np.float64 if input.dtype == np.float64 else np.float32)
    else:
        near *= np.exp(-small)
    result = np.where(x <= 8, near, far)
    return np.where(input < 0, -result, result) if order else result


def scaled_i(order, input):
    """exp(-|x|) I(x), where I is of the first kind."""
    return _of_first_kind(order, input, False).astype(input.dtype)


def i(order, input):
    """I(x), of the first kind: infinite where exp(|x|) is (in float32 for half precision)."""
    return _of_first_kind(order, input, True).astype(input.dtype)


def _near_0(x):
    return chebyshev(_K0[0], x * x - 2.0) - np.log(0.5 * x) * i(0, x)


def _near_1(x):
    return np.log(0.5 * x) * i(1, x) + chebyshev(_K1[0], x * x - 2.0) / x


def _second_kind(near, coefficients, grows):
    def far(x):
        result = chebyshev(coefficients, 8.0 / x - 2.0)
        return (result if grows else np.exp(-x) * result) / np.sqrt(x)

    def k(x):
        return piecewise(x, (x == 0.0, np.inf), ((x > 0.0) & (x <= 2.0), scaled if grows else near), (x > 2.0, far))

    def scaled(x):
        return near(x) * np.exp(x)
    return in_double(k)


#: The second kind: infinite at 0, NaN below. Then the same, times exp(x).
k0, k1 = _second_kind(_near_0, _K0[1], False), _second_kind(_near_1, _K1[1], False)
scaled_k0, scaled_k1 = _second_kind(_near_0, _K0[1], True), _second_kind(_near_1, _K1[1], True)
