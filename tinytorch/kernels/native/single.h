/* Functions of one float. Most are computed in double precision with few terms and rounded once, to at most .51 units in
the last place; the others say how accurate they are. Long functions are two, for IN_TWO of walk.h. */
#ifndef TINYTORCH_SINGLE_H
#define TINYTORCH_SINGLE_H

#include "functions.h"

/* a x^3 + b x^2 + c x + d. Longer polynomials of these parts take less time than by Horner's rule, each step of which waits
for the last one. */
INLINE double four(double x, double a, double b, double c, double d)
{
    return (a * x + b) * (x * x) + (c * x + d);
}

/* e^x - 1 = scale rest + (scale - 1) for |x| < 700, to 1 in 10^10: `scale` gets 2^n, and `rest` is e^r - 1. */
INLINE double single_rest(double x, double *scale)
{
    const double shifted = x * 1.4426950408889634 + WIDE_SHIFT;
    const double r = x - (shifted - WIDE_SHIFT) * 0.6931471805599453;
    double p = 1.9890980869750327e-04;
    p = p * r + 1.3933641031986701e-03;
    p = p * r + 8.333310934448869e-03;
    p = p * r + 4.166646500604005e-02;
    p = p * r + 1.6666666681614256e-01;
    p = p * r + 5.000000013457727e-01;
    *scale = power_of(shifted);
    return r * r * p + r;
}

INLINE double single_exp(float x)
{
    const float least = x < -104.0f ? -104.0f : x;
    double scale;
    const double rest = single_rest(least > 89.0f ? 89.0f : least, &scale);
    return scale * rest + scale;
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

/* n log(2) + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2). The terms from f^5 on are so small that they are summed in single
precision, of `near`, which is f rounded. */
INLINE double log_near_one(float n, double f, float near)
{
    const float square = near * near;
    float p = -0.0596840634f;
    p = p * near + 0.104117028f;
    p = p * near - 0.1068557756f;
    p = p * near + 0.1106441256f;
    p = p * near - 0.1245068353f;
    p = p * near + 0.14284736f;
    p = p * near - 0.1666775097f;
    p = p * near + 0.200000433f;
    const double terms = (0.3333333333333333 - 0.25 * f) * f - 0.5;
    return (n * 0.6931471805599453 + f) + (f * f * terms + square * square * near * p);
}

/* -inf for zero, NaN for negative numbers. */
INLINE float log_times(float x, double factor)
{
    const float small = x < 1.17549435e-38f ? 8388608.0f : 1.0f, scaled = x * small;   /* 2^23: normal numbers */
    const int32_t n = power_next_to(scaled);
    const float f = of_bits(bits_of(scaled) - ((uint32_t)n << 23)) - 1.0f;
    const float result = (float)(log_near_one((float)n - (small > 1.0f ? 23.0f : 0.0f), f, f) * factor);
    return x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x < INFINITY ? result : x;
}

/* log(1 + x) for a finite x above -1. No rounding error of 1 + x counts, because it is never subtracted from. */
INLINE double log1p_inside(float inside)
{
    const int32_t n = power_next_to(1.0f + inside);
    const float less = of_bits((uint32_t)(130 - n) << 23), part = inside * less;           /* 8 / 2^n */
    return log_near_one((float)n, ((less - 8.0) + part) * 0.125, ((less - 8.0f) + part) * 0.125f);
}

INLINE float single_log1p(float x)
{
    const float inside = x > -1.0f && x < INFINITY ? x : 0.0f, result = (float)log1p_inside(inside);
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

/* asin(a) for 0 <= a <= 1 is t + t^3 p(t^2) with t = a up to 1/2; beyond it is pi / 2 - 2 asin(t) with t^2 = (1 - a) / 2.
Those roots of a float are corrected by a step of Newton's. */
INLINE double begun_asin(float x)
{
    const float a = fabsf(x), square = 0.5f - 0.5f * a, near = sqrtf(square), half = 0.5f / (near < 1e-18f ? 1e-18f : near);
    const double root = near + (square - (double)near * near) * half;
    return a <= 0.5f ? a : root;
}

INLINE double part_of_asin(float x, double t)
{
    const double a = fabsf(x), z = fabsf(x) <= 0.5f ? a * a : 0.5 - 0.5 * a;
    double p = 3.369084720283012e-02;
    p = p * z + 1.7149238357677253e-02;
    p = p * z + 3.110066273549457e-02;
    p = p * z + 4.459940152851218e-02;
    p = p * z + 0.07500094543493424;
    p = p * z + 1.6666666337430908e-01;
    return p * z * t + t;
}

INLINE float asin_of(float x, double t)
{
    const double part = part_of_asin(x, t);
    const float result = fabsf(x) <= 0.5f ? (float)part : (float)(1.5707963267948966 - 2.0 * part);
    return fabsf(x) <= 1.0f ? copysignf(result, x) : NAN;
}

INLINE float acos_of(float x, double t)
{
    const double part = copysign(part_of_asin(x, t), x);
    const float far = (float)((x < 0.0f ? 3.141592653589793 : 0.0) + 2.0 * part), near = (float)(1.5707963267948966 - part);
    return fabsf(x) <= 0.5f ? near : fabsf(x) <= 1.0f ? far : NAN;
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
INLINE double begun_erf(float x)
{
    const float size = fabsf(x) > 4.0f ? 4.0f : fabsf(x);
    const double a = size, u = (a - 2.45) * 0.6451612903225806;
    const double square = u * u, fourth = square * square;
    double q = 9.796042970847508e-06;
    q = q * fourth + four(u, 1.983231982741978e-05, -0.0002469730762010061, 0.001124225172056544, -0.0043235367151297135);
    q = q * fourth + four(u, 0.015299720927378935, -0.05134174232119058, -1.3793064527620142, -3.078179427994154);
    return a * q;
}

INLINE float erf_of(float x, double power)
{
    double scale;
    const double rest = single_rest(power, &scale);
    const float far = copysignf((float)(1.0 - (scale * rest + scale)), x), near = (float)erf_near(x);
    return x != x ? x : fabsf(x) < 0.9f ? near : far;
}

/* erfc(x) = exp(-x^2) p(t) / (1 + 2 x) from 0.7 on, with t = (x - 4) / (x + 4); below that it is 1 - erf(x). The last terms
of p are summed in single precision. To .53 units in the last place. */
INLINE double begun_erfc(float x)
{
    const float size = fabsf(x) > 10.2f ? 10.2f : fabsf(x), below = (size + 4.0f) * (1.0f + 2.0f * size);
    const float near = 1.0f / below, u = (size - 4.0f) * (1.0f + 2.0f * size) * near;
    const double a = size, above = 1.0 + 2.0 * a, inverse = near * (2.0 - (a + 4.0) * above * near);
    const double t = (a - 4.0) * above * inverse;
    float p = 8.236107284793605e-05f;
    p = p * u - 3.662307183767575e-04f;
    p = p * u - 8.403818078049156e-04f;
    p = p * u + 5.0836297359473336e-03f;
    p = p * u - 1.614655797149231e-02f;
    p = p * u + 3.716646793594233e-02f;
    p = p * u - 6.6340108866397e-02f;
    p = p * u + 9.373188234344046e-02f;
    const double most = (p * t - 1.0103829176957513e-01) * (t * t * (t * t))
        + four(t, 6.809713717448644e-02, 1.5379628991274407e-02, -1.3962111826500037e-01, 1.2329951187456965);
    return most * ((a + 4.0) * inverse);
}

INLINE float erfc_of(float x, double factor)
{
    const float size = fabsf(x) > 10.2f ? 10.2f : fabsf(x);
    double scale;
    const double rest = single_rest(-(double)size * size, &scale), far = factor * (scale * rest + scale);
    const float near = (float)(1.0 - erf_near(x));
    return x != x ? x : fabsf(x) < 0.7f ? near : x < 0.0f ? (float)(2.0 - far) : (float)far;
}

/* -log(1 - x^2) for |x| < 1. */
INLINE double begun_erfinv(float x)
{
    const float a = fabsf(x) < 1.0f ? fabsf(x) : 0.0f, near = (1.0f - a) * (1.0f + a);
    const int32_t n = power_next_to(near);
    const float less = of_bits((uint32_t)(127 - n) << 23);
    const double f = (1.0 - a) * (1.0 + a) * less - 1.0;
    return -log_near_one((float)n, f, near * less - 1.0f);
}

/* By two polynomials, the first terms of which are summed in double precision (erfinv_nearly). */
INLINE float erfinv_of(float x, double w)
{
    const double wide = 0.4 * w - 1.0;
    const float near = (float)w, root = sqrtf(near), t = (float)wide, u = root * 0.51428001f - 2.14996506f;
    float p = -1.2236984334405913e-06f, q = -0.0002554121513041371f;
    p = p * t + 2.931137042117709e-06f;
    p = p * t + 7.820672733815211e-06f;
    p = p * t - 4.140043618074984e-05f;
    p = p * t + 2.10274531521873e-05f;
    p = p * t + 0.00029213577974979843f;
    p = p * t - 0.0008343272659614886f;
    p = p * t - 0.0004878764749554979f;
    p = p * t + 0.008525432590256501f;
    p = p * t - 0.019573564270649057f;
    p = p * t - 0.026108237741432467f;
    q = q * u + 1.9601429246845168e-05f;
    q = q * u + 0.0014389093547246131f;
    q = q * u - 0.0010865539512492398f;
    q = q * u - 0.0018408286750889245f;
    q = q * u + 0.0026583934985707604f;
    q = q * u - 0.0012519465062323211f;
    q = q * u + 0.0010874095950102443f;
    q = q * u - 0.0016185343988137529f;
    q = q * u + 0.00165548962165773f;
    q = q * u - 0.0020554854702318176f;
    q = q * u + 0.0033584382172853755f;
    q = q * u - 0.004928157132895696f;
    q = q * u + 0.0031988513093181904f;
    const double z = near > 5.0f ? root * 0.514280010148954 - 2.1499650621623427 : wide, rest = near > 5.0f ? q : p;
    const double result = (rest * z + (near > 5.0f ? 1.9636582346225844 : 0.6166006919867009)) * z
        + (near > 5.0f ? 4.022067902290035 : 1.5014093511307296);
    return fabsf(x) < 1.0f ? (float)(x * result) : fabsf(x) == 1.0f ? copysignf(INFINITY, x) : NAN;
}

#endif
