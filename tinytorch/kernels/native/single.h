/* Functions of one float. Most are computed in double precision with few terms and rounded once, to at most .51 units in
the last place; the others say how accurate they are. */
#ifndef TINYTORCH_SINGLE_H
#define TINYTORCH_SINGLE_H

#include "functions.h"

/* e^x - 1 = scale rest + (scale - 1) for -80 <= x <= 89.5, to 1 in 10^10: `scale` gets 2^n, and `rest` is e^r - 1. */
INLINE double single_rest(double x, double *scale)
{
    const float shifted = (float)x * 1.44269504088896341f + SHIFT;
    const double r = x - (double)(shifted - SHIFT) * 0.6931471805599453;
    double p = 1.9890980869750327e-04;
    p = p * r + 1.3933641031986701e-03;
    p = p * r + 8.333310934448869e-03;
    p = p * r + 4.166646500604005e-02;
    p = p * r + 1.6666666681614256e-01;
    p = p * r + 5.000000013457727e-01;
    *scale = 4.0 * of_bits((bits_of(shifted) - bits_of(SHIFT) + 125) << 23);
    return r * r * p + r;
}

INLINE double single_exp(float x)
{
    const float least = x < -104.0f ? -104.0f : x;
    double scale;
    const double rest = single_rest(0.5f * (least > 89.0f ? 89.0f : least), &scale), half = scale * rest + scale;
    return half * half;
}

/* 2^x to .61 units in the last place, in single precision. log(2) is in two parts, the first of 12 bits: its product with
the first 12 bits of the remainder is exact. The rounding error of 1 + r is added to the small terms. */
INLINE float single_exp2(float x)
{
    const float least = x < -151.0f ? -151.0f : x, most = least > 129.0f ? 129.0f : least, shifted = most + SHIFT;
    const float f = most - (shifted - SHIFT), high = (f + 1536.0f) - 1536.0f;
    const float r = high * 0.69311523f, less = high * 3.19481e-5f + (f - high) * 0.69314718f, sum = 1.0f + r;
    float p = 1.52909486e-5f;
    p = p * f + 1.54531629e-4f;
    p = p * f + 1.33335223e-3f;
    p = p * f + 9.61808256e-3f;
    p = p * f + 5.55041087e-2f;
    p = p * f + 2.40226508e-1f;
    p = sum + (f * f * p + (((1.0f - sum) + r) + less));
    const int32_t whole = (int32_t)(bits_of(shifted) - bits_of(SHIFT)), half = whole >> 1;
    return p * of_bits((uint32_t)(half + 127) << 23) * of_bits((uint32_t)(whole - half + 127) << 23);
}

INLINE double single_expm1(float x)
{
    const float least = x < -50.0f ? -50.0f : x;
    double scale;
    const double rest = single_rest(least > 89.0f ? 89.0f : least, &scale), result = scale * rest + (scale - 1.0);
    return x == 0.0f ? x : result;
}

INLINE double single_sinh(float x)
{
    const float a = fabsf(x) > 89.5f ? 89.5f : fabsf(x);
    double scale;
    const double rest = single_rest(a, &scale), e = scale * rest + (scale - 1.0);
    return copysign(0.5 * (e + e * inverse_of(e + 1.0)), x);
}

INLINE double single_cosh(float x)
{
    const float a = fabsf(x) > 89.5f ? 89.5f : fabsf(x);
    double scale;
    const double rest = single_rest(a, &scale), e = scale * rest + scale;
    return 0.5 * (e + inverse_of(e));
}

INLINE double single_tanh(float x)
{
    const float a = fabsf(x) > 10.0f ? 10.0f : fabsf(x);
    double scale;
    const double rest = single_rest(2.0f * a, &scale), e = scale * rest + (scale - 1.0);
    return copysign(e * inverse_of(e + 2.0), x);
}

/* n log(2) + log((1 + s) / (1 - s)), |s| <= 0.172. */
INLINE double log_of_parts(double n, double s)
{
    const double z = s * s;
    double p = 0.23330467216303835;
    p = p * z + 0.28550820815960665;
    p = p * z + 0.40000121839806124;
    p = p * z + 0.6666666655449709;
    return n * 0.6931471805599453 + (p * z * s + 2.0 * s);
}

/* 2^n is next to x, within the factor sqrt(2), for a normal x. */
INLINE int32_t power_next_to(float x)
{
    return (int32_t)(bits_of(x) - 0x3f3504f3u) >> 23;      /* bits of sqrt(1/2) */
}

/* -inf for zero, NaN for negative numbers. */
INLINE double single_log(float x)
{
    const float small = x < 1.17549435e-38f ? 8388608.0f : 1.0f, scaled = x * small;   /* 2^23: normal numbers */
    const int32_t n = power_next_to(scaled);
    const double m = of_bits(bits_of(scaled) - ((uint32_t)n << 23)), s = (m - 1.0) * inverse_of(m + 1.0);
    const double result = log_of_parts((float)n - (small > 1.0f ? 23.0f : 0.0f), s);
    return x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x < INFINITY ? result : x;
}

/* log(1 + x) for a finite x above -1. No rounding error of 1 + x counts, because it is never subtracted from. */
INLINE double log1p_inside(float inside)
{
    const int32_t n = power_next_to(1.0f + inside);
    const double scale = 8.0 * of_bits((uint32_t)(n + 124) << 23), less = 0.125 * of_bits((uint32_t)(130 - n) << 23);
    const double s = ((1.0 - scale) + inside) * less * inverse_of(((1.0 + scale) + inside) * less);
    return log_of_parts(n, s);
}

INLINE double single_log1p(float x)
{
    const float inside = x > -1.0f && x < INFINITY ? x : 0.0f;
    const double result = log1p_inside(inside);
    return inside != 0.0f ? result : x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
}

/* Half the logarithm of (1 + x) / (1 - x), from a power of two next to the quotient. */
INLINE double single_atanh(float x)
{
    const float a = fabsf(x), inside = a < 1.0f ? a : 0.5f;
    const int32_t n = power_next_to((1.0f + inside) / (1.0f - inside));
    const double scale = of_bits((uint32_t)(n + 127) << 23), above = (1.0 - scale) + inside * (1.0 + scale);
    const double below = (1.0 + scale) + inside * (1.0 - scale), result = 0.5 * log_of_parts(n, above * inverse_of(below));
    return copysign(a < 1.0f ? result : a == 1.0f ? INFINITY : NAN, x);
}

/* The angle of the point (x, y): beyond pi / 8 from the nearest axis it is counted from the diagonal. */
INLINE double single_atan2(float y, float x)
{
    const double a = fabsf(y), b = fabsf(x), least = a < b ? a : b, most = a < b ? b : a;
    const int diagonal = (least > 0.41421356237309503 * most) | (least == INFINITY);       /* tan(pi / 8) */
    double t = most == 0.0 ? 0.0 : (diagonal ? least - most : least) / (diagonal ? least + most : most);
    t = least == INFINITY ? 0.0 : t;
    const double z = t * t;
    double p = 0.0470734814196802;
    p = p * z - 0.08456192886940496;
    p = p * z + 0.1104048921722824;
    p = p * z - 0.14281588772654125;
    p = p * z + 0.19999883856551304;
    p = p * z - 0.33333332097609386;
    double angle = p * z * t + t + (diagonal ? 0.7853981633974483 : 0.0);
    angle = a > b ? 1.5707963267948966 - angle : angle;
    angle = copysignf(1.0f, x) < 0.0f ? 3.141592653589793 - angle : angle;
    return ((x != x) | (y != y)) ? NAN : copysign(angle, y);
}

/* x = n pi / 2 + r, |r| <= pi / 4. Larger numbers lose digits of r: FAR tells them. */
#define FAR(x) !(fabsf(x) < 100000.0f)
struct angle { double sine, cosine; int64_t quarter; };

INLINE struct angle angle_at(double x)
{
    const double shifted = x * 0.6366197723675814 + WIDE_SHIFT, n = shifted - WIDE_SHIFT;
    const double r = (x - n * 1.5707963267341256) - n * 6.077100506506192e-11, z = r * r;
    double s = 2.724992580305979e-06, c = -2.730095920390147e-07;
    s = s * z - 1.9840086735384846e-04;
    s = s * z + 8.333331874710208e-03;
    s = s * z - 1.666666666385529e-01;
    c = c * z + 2.480060037715673e-05;
    c = c * z - 1.388888767201679e-03;
    c = c * z + 4.16666666643212e-02;
    const struct angle found = {s * z * r + r, c * z * z - 0.5 * z + 1.0, (int64_t)wide_bits_of(shifted)};
    return found;
}

INLINE double single_sin(float x)
{
    const struct angle a = angle_at(x);
    const double result = a.quarter & 1 ? a.cosine : a.sine;
    return x == 0.0f ? x : a.quarter & 2 ? -result : result;
}

INLINE double single_cos(float x)
{
    const struct angle a = angle_at(x);
    const double result = a.quarter & 1 ? a.sine : a.cosine;
    return (a.quarter + 1) & 2 ? -result : result;
}

INLINE double single_tan(float x)
{
    const struct angle a = angle_at(x);
    const double above = a.quarter & 1 ? -a.cosine : a.sine, below = a.quarter & 1 ? a.sine : a.cosine;
    return x == 0.0f ? x : above * inverse_of(below);
}

/* asin(a) for 0 <= a <= 1: beyond 1/2 it is pi / 2 - 2 asin(sqrt((1 - a) / 2)). `direct` gets whether a <= 1/2, and
`part` the arc sine of a or of that root. The root of a float is corrected by a step of Newton's. */
INLINE double part_of_asin(float a, int *direct)
{
    *direct = a <= 0.5f;
    const double wide = a, z = *direct ? wide * wide : 0.5 - 0.5 * wide;
    const float near = sqrtf((float)z), half = 0.5f / (near < 1e-18f ? 1e-18f : near);
    const double t = *direct ? wide : near + (z - (double)near * near) * half;
    double p = 3.369084720283012e-02;
    p = p * z + 1.7149238357677253e-02;
    p = p * z + 3.110066273549457e-02;
    p = p * z + 4.459940152851218e-02;
    p = p * z + 0.07500094543493424;
    p = p * z + 1.6666666337430908e-01;
    return p * z * t + t;
}

INLINE double single_asin(float x)
{
    int direct;
    const double part = part_of_asin(fabsf(x), &direct), result = direct ? part : 1.5707963267948966 - 2.0 * part;
    return fabsf(x) <= 1.0f ? copysign(result, x) : NAN;
}

INLINE double single_acos(float x)
{
    int direct;
    const double part = part_of_asin(fabsf(x), &direct), turned = x < 0.0f ? 3.141592653589793 - 2.0 * part : 2.0 * part;
    return fabsf(x) <= 1.0f ? direct ? 1.5707963267948966 - copysign(part, x) : turned : NAN;
}

/* erf(x) by its series, below 0.9. */
INLINE double erf_near(double x)
{
    const double z = x * x;
    double p = 7.875875062685488e-05;
    p = p * z - 0.000801686428716587;
    p = p * z + 0.005189087423433974;
    p = p * z - 0.026854212010626412;
    p = p * z + 0.11283594715160218;
    p = p * z - 0.37612626667720334;
    p = p * z + 0.12837916584835083;
    return p * x + x;
}

/* Beyond it is 1 - exp(a p(a)) with a = |x| < 4. */
INLINE double single_erf(float x)
{
    const double a = fabsf(x), b = a > 4.0 ? 4.0 : a, u = (b - 2.45) * 0.6451612903225806;
    double q = 9.796042970847508e-06;
    q = q * u + 1.983231982741978e-05;
    q = q * u - 0.0002469730762010061;
    q = q * u + 0.001124225172056544;
    q = q * u - 0.0043235367151297135;
    q = q * u + 0.015299720927378935;
    q = q * u - 0.05134174232119058;
    q = q * u - 1.3793064527620142;
    q = q * u - 3.078179427994154;
    double scale;
    const double rest = single_rest(b * q, &scale), far = copysign(1.0 - (scale * rest + scale), x);
    return a < 0.9 ? erf_near(x) : x != x ? x : far;
}

/* erfc(x) = exp(-x^2) p(t) / (1 + 2 x) from 1/2 on, with t = (x - 4) / (x + 4); below that it is 1 - erf(x). */
INLINE double single_erfc(float x)
{
    const double a = fabsf(x) > 10.2f ? 10.2f : fabsf(x), z = a * a, t = (a - 4.0) * inverse_of(a + 4.0);
    double p = 8.236107284793605e-05;
    p = p * t - 3.662307183767575e-04;
    p = p * t - 8.403818078049156e-04;
    p = p * t + 5.0836297359473336e-03;
    p = p * t - 1.614655797149231e-02;
    p = p * t + 3.716646793594233e-02;
    p = p * t - 6.6340108866397e-02;
    p = p * t + 9.373188234344046e-02;
    p = p * t - 1.0103829176957513e-01;
    p = p * t + 6.809713717448644e-02;
    p = p * t + 1.5379628991274407e-02;
    p = p * t - 1.3962111826500037e-01;
    p = p * t + 1.2329951187456965;
    double scale;
    const double rest = single_rest(-0.5 * z, &scale), root = scale * rest + scale;
    const double far = p * inverse_of(1.0 + 2.0 * a) * root * root, near = 1.0 - erf_near(x);
    return x != x ? x : a < 0.5 ? near : x < 0.0f ? 2.0 - far : far;
}

INLINE float single_erfinv(float x)
{
    const double a = fabs((double)x), y = a < 1.0 - 0x1p-30 ? a : 1.0 - 0x1p-30;
    const float result = (float)erfinv_nearly(y, 0);
    return a < 1.0 ? copysignf(result, x) : a == 1.0 ? copysignf(INFINITY, x) : NAN;
}

#endif
