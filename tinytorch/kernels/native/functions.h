/* Functions of one or two numbers that compilers vectorise, in double precision to about 1 unit in the last place. With
fewer terms they serve single precision too (single.h). There are no branches: every value is computed in each way, and one is selected. */
#ifndef TINYTORCH_FUNCTIONS_H
#define TINYTORCH_FUNCTIONS_H

#include "common.h"

#define WIDE_SHIFT 6755399441055744.0          /* 1.5 * 2^52: adding it rounds a number to an integer */

INLINE uint64_t wide_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

INLINE double of_wide_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* The nearest integer for |x| < 2^51; larger numbers stay as they are. */
INLINE double nearest(double x)
{
    const double near = (x + WIDE_SHIFT) - WIDE_SHIFT;
    return fabs(x) < 2251799813685248.0 ? near : x;
}

/* x rounded down; trunc_of rounds toward zero. */
INLINE double floor_of(double x)
{
    const double near = nearest(x);
    return copysign(near > x ? near - 1.0 : near, x);
}

INLINE double trunc_of(double x)
{
    return copysign(floor_of(fabs(x)), x);
}

/* x - y trunc(x / y) for floats whose quotient is below 2^29: every step is exact. */
INLINE double fmod_of(double x, double y)
{
    const double a = fabs(x), b = fabs(y);
    return copysign(a - floor_of(a / b) * b, x);
}

#define NO_FMOD(x, y) !(fabs((double)(x)) < 536870912.0 * fabs((double)(y)) && fabsf(y) < INFINITY)

/* x - y floor(x / y), from the result of fmod_of, `rest`. */
INLINE float remainder_of(float rest, float y)
{
    return rest == 0.0f ? copysignf(0.0f, y) : (y < 0.0f) != (rest < 0.0f) ? rest + y : rest;
}

/* 1 / x to 2^-46 where x and 1 / x are floats: a division of floats takes a fraction of the time of one of doubles. */
INLINE double inverse_of(double x)
{
    const double q = 1.0f / (float)x;
    return q * (2.0 - x * q);
}

/* 2^n for `shifted` = n + WIDE_SHIFT, -1022 <= n <= 1023. */
INLINE double power_of(double shifted)
{
    return of_wide_bits((wide_bits_of(shifted) + 1023) << 52);
}

/* A number in two parts: their exact sum. */
struct pair { double high, low; };

/* a + b for |a| >= |b|, and for any two numbers. */
INLINE struct pair ordered_sum(double a, double b)
{
    const double sum = a + b;
    return (struct pair){sum, (a - sum) + b};
}

INLINE struct pair sum_of(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (struct pair){sum, (a - (sum - part)) + (b - part)};
}

/* a b - product, where `product` is a b rounded. Without an instruction for it the factors are split in halves. */
INLINE double beyond_product(double a, double b, double product)
{
#if defined(__FMA__) || defined(__aarch64__)
    return fma(a, b, -product);
#else
    const double above = of_wide_bits(wide_bits_of(a) & 0xfffffffff8000000ull);
    const double upper = of_wide_bits(wide_bits_of(b) & 0xfffffffff8000000ull);
    return ((above * upper - product) + above * (b - upper) + (a - above) * upper) + (a - above) * (b - upper);
#endif
}

INLINE struct pair quotient_of(struct pair a, struct pair b)
{
    const double q = a.high / b.high, product = q * b.high;
    const double rest = (a.high - product) - beyond_product(q, b.high, product);
    return (struct pair){q, (rest + a.low - q * b.low) / b.high};
}

/* exp(r) - 1, where x = n log(2) + r, for |x| <= 1100. `shifted` gets n + WIDE_SHIFT. */
INLINE struct pair exp_rest(double x, double *shifted)
{
    *shifted = x * 1.4426950408889634 + WIDE_SHIFT;
    const double n = *shifted - WIDE_SHIFT, most = x - n * 0.6931471803691238, less = n * 1.9082149292705877e-10;
    const double r = most - less, lost = (most - r) - less, square = r * r, half = 0.5 * square, sum = r + half;
    double p = 1.6087170907940627e-10;
    p = p * r + 2.0918952345998524e-09;
    p = p * r + 2.5052069612234677e-08;
    p = p * r + 2.7557261055508104e-07;
    p = p * r + 2.755731924861721e-06;
    p = p * r + 2.4801587338540415e-05;
    p = p * r + 1.984126984126277e-04;
    p = p * r + 1.388888888887828e-03;
    p = p * r + 8.333333333333333e-03;
    p = p * r + 4.166666666666668e-02;
    p = p * r + 1.6666666666666666e-01;
    const double small = square * r * p + (0.5 * beyond_product(r, r, square) + lost * (1.0 + r));
    return ordered_sum(sum, ((r - sum) + half) + small);
}

/* exp(x), with 2^n in two factors, because n may exceed an exponent. */
INLINE double wide_exp(double x)
{
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    double shifted;
    const struct pair rest = exp_rest(x, &shifted), sum = ordered_sum(1.0, rest.high);
    const uint64_t whole = wide_bits_of(shifted) - wide_bits_of(WIDE_SHIFT) + 4096, half = whole >> 1;
    return (sum.high + (sum.low + rest.low)) * of_wide_bits((half - 2048 + 1023) << 52)
        * of_wide_bits((whole - half - 2048 + 1023) << 52);
}

/* (exp(x) - 1) scale = 2^n scale (exp(r) - 1) + (2^n - 1) scale, -100 < x < 711. `scale` is 1/2 or 1/8, because 2^n may
overflow; `down` is 1 or 3. */
INLINE struct pair expm1_part(double x, double scale, double down)
{
    double shifted;
    const struct pair rest = exp_rest(x, &shifted);
    const double power = power_of(shifted - down);
    const struct pair sum = sum_of(power - scale, power * rest.high);
    return (struct pair){sum.high, sum.low + power * rest.low};
}

INLINE double wide_expm1(double x)
{
    const double least = x < -50.0 ? -50.0 : x;
    const struct pair half = expm1_part(least > 710.0 ? 710.0 : least, 0.5, 1.0);
    return fabs(x) < 1e-300 ? x : 2.0 * (half.high + half.low);    /* -0, and denormal numbers */
}

/* With e = exp(|x|) - 1: sinh(x) = (e + e / (e + 1)) / 2, cosh(x) = (e + 1 + 1 / (e + 1)) / 2. */
INLINE double wide_sinh(double x)
{
    const double a = fabs(x);
    const struct pair part = expm1_part(a > 711.0 ? 711.0 : a, 0.125, 3.0), sum = sum_of(part.high, 0.125);
    const struct pair ratio = quotient_of(part, (struct pair){sum.high, sum.low + part.low});
    const struct pair total = sum_of(part.high, 0.125 * ratio.high);
    const double result = 4.0 * (total.high + (total.low + part.low + 0.125 * ratio.low));
    return copysign(a < 1e-150 ? a : result, x);
}

INLINE double wide_cosh(double x)
{
    const double a = fabs(x);
    const struct pair part = expm1_part(a > 711.0 ? 711.0 : a, 0.125, 3.0), sum = sum_of(part.high, 0.125);
    const struct pair whole = {sum.high, sum.low + part.low}, inverse = quotient_of((struct pair){0.015625, 0.0}, whole);
    const struct pair total = sum_of(whole.high, inverse.high);
    return 4.0 * (total.high + (total.low + whole.low + inverse.low));
}

/* (log(m) - 2 s) / s, s = (m - 1) / (m + 1), z = s^2, sqrt(1/2) <= m < sqrt(2). */
INLINE double log_terms(double z)
{
    double p = 0.13086626147840102;
    p = p * z + 0.13268773138656886;
    p = p * z + 0.15386239702814658;
    p = p * z + 0.18181795640132906;
    p = p * z + 0.22222222392171393;
    p = p * z + 0.28571428570803614;
    p = p * z + 0.4000000000000088;
    return z * (p * z + 0.6666666666666666);
}

/* n with sqrt(1/2) <= x / 2^n < sqrt(2), for a normal x. */
INLINE int64_t wide_power_next_to(double x)
{
    return (int64_t)(wide_bits_of(x) - 0x3fe6a09e667f3bcdull) >> 52;
}

/* n log(2) + log((1 + s) / (1 - s)), |s| < 0.172. */
INLINE double log_of_pair(double n, struct pair s)
{
    const struct pair sum = sum_of(n * 0.6931471803691238, 2.0 * s.high);
    return sum.high + (sum.low + (s.high * log_terms(s.high * s.high) + 2.0 * s.low + n * 1.9082149292705877e-10));
}

/* -inf for zero, NaN for negative numbers. */
INLINE double wide_log(double x)
{
    const double small = x < 2.2250738585072014e-308 ? 18014398509481984.0 : 1.0;  /* 2^54 makes a denormal normal */
    const uint64_t bits = wide_bits_of(x * small) - 0x3fe6a09e667f3bcdull;         /* bits of sqrt(1/2) */
    const uint64_t power = (bits >> 52) + 2048;            /* 12 bits: 4096 more for negative numbers */
    const double n = of_wide_bits(wide_bits_of(WIDE_SHIFT) + ((power & 4095) - 2048)) - WIDE_SHIFT
        - (small > 1.0 ? 54.0 : 0.0);
    const double m = of_wide_bits((bits & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull);
    double result = log_of_pair(n, quotient_of((struct pair){m - 1.0, 0.0}, sum_of(m, 1.0)));
    result = x == 0.0 ? -INFINITY : result;
    return x < 0.0 ? NAN : x < INFINITY ? result : x;
}

/* log(1 + x), by s = (1 + x - 2^n) / (1 + x + 2^n). */
INLINE double wide_log1p(double x)
{
    const double inside = x > -1.0 && x < INFINITY ? x : 0.0;
    const int64_t n = wide_power_next_to(1.0 + inside);
    const double less = 0.125 * of_wide_bits((uint64_t)(1026 - n) << 52), scaled = inside * less;      /* 1 / 2^n */
    const struct pair plus = sum_of(less, 1.0), minus = sum_of(less, -1.0);
    const struct pair above = sum_of(minus.high, scaled), below = sum_of(plus.high, scaled);
    const double result = log_of_pair((double)n, quotient_of((struct pair){above.high, above.low + minus.low},
                                                             (struct pair){below.high, below.low + plus.low}));
    return fabs(x) < 1e-300 || inside != x ? x < -1.0 ? NAN : x == -1.0 ? -INFINITY : x : result;
}

/* Half the logarithm of (1 + x) / (1 - x), by a power of two next to that quotient. */
INLINE double wide_atanh(double x)
{
    const double a = fabs(x), inside = a < 1.0 ? a : 0.5;
    const int64_t n = wide_power_next_to((1.0 + inside) / (1.0 - inside));
    const double scale = of_wide_bits((uint64_t)(n + 1023) << 52), more = inside * scale;
    struct pair above = sum_of(1.0 - scale, more), below = sum_of(1.0 + scale, -more);
    const struct pair upper = sum_of(above.high, inside), lower = sum_of(below.high, inside);
    const double result = 0.5 * log_of_pair((double)n, quotient_of((struct pair){upper.high, upper.low + above.low},
                                                                   (struct pair){lower.high, lower.low + below.low}));
    return copysign(a < 1e-150 ? a : a < 1.0 ? result : a == 1.0 ? INFINITY : NAN, x);
}

/* 1 / (1 + exp(-x)), where exp(-x) is infinite from 709.8 on, as in torch. */
INLINE double wide_sigmoid(double x)
{
    const double y = -x < -100.0 ? -100.0 : -x;
    double shifted;
    const struct pair rest = exp_rest(y > 709.7 ? 709.7 : y, &shifted), sum = ordered_sum(1.0, rest.high);
    const double power = power_of(shifted - 1.0);
    const struct pair total = sum_of(0.5, power * sum.high);
    const struct pair half = {total.high, total.low + power * (sum.low + rest.low)};
    const struct pair result = quotient_of((struct pair){0.5, 0.0}, half);
    return y > 709.782712893384 ? 0.0 : result.high + result.low;
}

INLINE double wide_tanh(double x)
{
    const double a = fabs(x);
    const struct pair half = expm1_part(a > 22.0 ? 44.0 : 2.0 * a, 0.5, 1.0), sum = sum_of(half.high, 1.0);
    const struct pair t = quotient_of(half, (struct pair){sum.high, sum.low + half.low});
    return copysign(a < 1e-150 ? a : t.high + t.low, x);
}

/* arctan(t) / t - 1 for |t| < 0.415, from z = t^2. */
INLINE double angle_terms(double z)
{
    double p = -0.017805397205419446;
    p = p * z + 0.03796525745386593;
    p = p * z - 0.05035102456601552;
    p = p * z + 0.05846878297330872;
    p = p * z - 0.06662951813629191;
    p = p * z + 0.07692045330902225;
    p = p * z - 0.09090896809064027;
    p = p * z + 0.11111110744919658;
    p = p * z - 0.14285714279250245;
    p = p * z + 0.19999999999940893;
    p = p * z - 0.3333333333333312;
    return p * z;
}

/* `from` - angle - `low`: the angle from another direction. */
INLINE struct pair turned(double from, struct pair angle, double low)
{
    const struct pair sum = ordered_sum(from, -angle.high);
    return (struct pair){sum.high, sum.low - angle.low - low};
}

/* The angle of the point (x, y): beyond pi / 8 from the nearest axis it is counted from the diagonal. */
INLINE double wide_atan2(double y, double x)
{
    const double a = fabs(y), b = fabs(x), least = a < b ? a : b, most = a < b ? b : a;
    const int diagonal = (least > 0.41421356237309503 * most) | (least == INFINITY);       /* tan(pi / 8) */
    const struct pair above = sum_of(least, diagonal ? -most : 0.0), below = sum_of(most, diagonal ? least : 0.0);
    const struct pair t = quotient_of(above, below);
    const double plain = most == 0.0 || least == INFINITY ? 0.0 : t.high, low = t.low == t.low && plain != 0.0 ? t.low : 0.0;
    const struct pair sum = ordered_sum(diagonal ? 0.7853981633974483 : plain, diagonal ? plain : 0.0);
    struct pair angle = {sum.high, sum.low + (low + plain * angle_terms(plain * plain) + (diagonal ? 3.061616997868383e-17 : 0.0))};
    const struct pair upper = turned(1.5707963267948966, angle, -6.123233995736766e-17);
    angle = a > b ? upper : angle;
    const struct pair behind = turned(3.141592653589793, angle, -1.2246467991473532e-16);
    angle = copysign(1.0, x) < 0.0 ? behind : angle;
    return ((x != x) | (y != y)) ? NAN : copysign(angle.high + angle.low, y);
}

INLINE double hypot_of(double x, double y)
{
    const double size = sqrt(x * x + y * y);
    return fabs(x) == INFINITY || fabs(y) == INFINITY ? INFINITY : size;
}

/* sin(pi r) and cos(pi r) for |r| <= 1/2, by their Taylor series. */
INLINE double sine_of_turn(double r)
{
    const double t = 3.141592653589793 * r, z = t * t;
    double p = -3.868170170630684e-23;
    p = p * z + 1.9572941063391263e-20;
    p = p * z - 8.22063524662433e-18;
    p = p * z + 2.8114572543455206e-15;
    p = p * z - 7.647163731819816e-13;
    p = p * z + 1.6059043836821613e-10;
    p = p * z - 2.505210838544172e-08;
    p = p * z + 2.7557319223985893e-06;
    p = p * z - 1.984126984126984e-04;
    p = p * z + 8.333333333333333e-03;
    p = p * z - 1.6666666666666666e-01;
    return p * z * t + t;
}

INLINE double cosine_of_turn(double r)
{
    const double t = 3.141592653589793 * r, z = t * t;
    double p = -8.896791392450574e-22;
    p = p * z + 4.110317623312165e-19;
    p = p * z - 1.5619206968586225e-16;
    p = p * z + 4.779477332387385e-14;
    p = p * z - 1.1470745597729725e-11;
    p = p * z + 2.08767569878681e-09;
    p = p * z - 2.755731922398589e-07;
    p = p * z + 2.48015873015873e-05;
    p = p * z - 1.388888888888889e-03;
    p = p * z + 4.1666666666666664e-02;
    p = p * z - 0.5;
    return p * z + 1.0;
}

/* erf(x) / x in powers of z = x^2 < 1, and exp(x^2) erfc(x), x >= 0 (_SMALL and _TAIL of kernels/erf.py). */
INLINE double erf_ratio(double z)
{
    double p = -7.795898827002142e-10;
    p = p * z + 1.3720064546777686e-08;
    p = p * z - 1.6208483801871705e-07;
    p = p * z + 1.6447424703317362e-06;
    p = p * z - 1.492473690741966e-05;
    p = p * z + 0.00012055294904839707;
    p = p * z - 0.0008548325975389692;
    p = p * z + 0.0052239776071164225;
    p = p * z - 0.02686617064323777;
    p = p * z + 0.11283791670945006;
    p = p * z - 0.37612638903183543;
    return p * z + 1.1283791670955126;
}

INLINE double erf_tail(double x)
{
    const double t = (x - 4.0) / (x + 4.0);
    double p = 9.655408225482863e-10;
    p = p * t + 1.5712153638319064e-09;
    p = p * t - 1.2544825403855518e-08;
    p = p * t - 1.6357383982124768e-08;
    p = p * t + 1.0683442926744586e-07;
    p = p * t + 7.111912428010423e-08;
    p = p * t - 8.218020654813044e-07;
    p = p * t + 2.980596055322769e-07;
    p = p * t + 5.707239573693257e-06;
    p = p * t - 1.1225140354449658e-05;
    p = p * t - 2.439811794207995e-05;
    p = p * t + 0.0001506231178516207;
    p = p * t - 0.00019925700412184815;
    p = p * t - 0.0007577737141838885;
    p = p * t + 0.005031970032548695;
    p = p * t - 0.01619773397992426;
    p = p * t + 0.0371675155318432;
    p = p * t - 0.06633036582050367;
    p = p * t + 0.09373283499865172;
    p = p * t - 0.10103906603585294;
    p = p * t + 0.0680970542546862;
    p = p * t + 0.015379652102610162;
    p = p * t - 0.1396211168405625;
    return (p * t + 1.2329951186255526) / (1.0 + 2.0 * x);
}

/* exp(-x^2), corrected for the rounding error of x^2, which would cost digits where x is large. */
INLINE double squared_exp(double x)
{
    const double high = of_wide_bits(wide_bits_of(x) & 0xfffffffff8000000ull);
    return wide_exp(-high * high) * wide_exp((high - x) * (high + x));
}

INLINE double wide_erfc(double x)
{
    double a = fabs(x);
    a = a > 30.0 ? 30.0 : a;
    const double far = erf_tail(a) * squared_exp(a), near = 1.0 - x * erf_ratio(x * x);
    return x != x ? x : a < 0.5 ? near : x < 0.0 ? 2.0 - far : far;
}

INLINE double wide_erf(double x)
{
    const double a = fabs(x), near = x * erf_ratio(x * x);
    return x != x ? x : a < 1.0 ? near : copysign(1.0 - wide_erfc(a), x);
}

/* The x with erf(x) = y, 0 <= y < 1, to nine digits (_INVERSE_NEAR and _INVERSE_FAR of kernels/erf.py). */
INLINE double erfinv_nearly(double y)
{
    const double w = -wide_log((1.0 - y) * (1.0 + y)), t = 0.4 * w - 1.0, u = sqrt(w) * 0.514280010148954 - 2.1499650621623427;
    double p = -1.2236984334405913e-06, q = -0.0002554121513041371;
    p = p * t + 2.931137042117709e-06;
    p = p * t + 7.820672733815211e-06;
    p = p * t - 4.140043618074984e-05;
    p = p * t + 2.10274531521873e-05;
    p = p * t + 0.00029213577974979843;
    p = p * t - 0.0008343272659614886;
    p = p * t - 0.0004878764749554979;
    p = p * t + 0.008525432590256501;
    p = p * t - 0.019573564270649057;
    p = p * t - 0.026108237741432467;
    p = p * t + 0.6166006919867009;
    p = p * t + 1.5014093511307296;
    q = q * u + 1.9601429246845168e-05;
    q = q * u + 0.0014389093547246131;
    q = q * u - 0.0010865539512492398;
    q = q * u - 0.0018408286750889245;
    q = q * u + 0.0026583934985707604;
    q = q * u - 0.0012519465062323211;
    q = q * u + 0.0010874095950102443;
    q = q * u - 0.0016185343988137529;
    q = q * u + 0.00165548962165773;
    q = q * u - 0.0020554854702318176;
    q = q * u + 0.0033584382172853755;
    q = q * u - 0.004928157132895696;
    q = q * u + 0.0031988513093181904;
    q = q * u + 1.9636582346225844;
    q = q * u + 4.022067902290035;
    return y * (w > 5.0 ? q : p);
}

/* A step of Halley's method triples the number of digits. */
INLINE double wide_erfinv(double x)
{
    const double a = fabs(x), y = a < 1.0 - 0x1p-53 ? a : 1.0 - 0x1p-53, z = erfinv_nearly(y);
    const double error = y < 0.5 ? z * erf_ratio(z * z) - y : (1.0 - y) - wide_erfc(z);
    const double step = error / (1.1283791670955126 * wide_exp(-z * z)), result = z - step / (1.0 + z * step);
    return a < 1.0 ? copysign(result, x) : a == 1.0 ? copysign(INFINITY, x) : NAN;
}

/* log gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2), for z >= 10 (kernels/gamma.py). */
INLINE double stirling(double z)
{
    const double r = 1.0 / z, w = r * r;
    double p = 0.00641025641025641;
    p = p * w - 0.0019175269175269176;
    p = p * w + 0.0008417508417508417;
    p = p * w - 0.0005952380952380953;
    p = p * w + 0.0007936507936507937;
    p = p * w - 0.002777777777777778;
    p = p * w + 0.08333333333333333;
    return p * r;
}

/* log gamma from 1/2 to 5/2 by its Taylor series at 2 (_near_two of kernels/gamma.py). From the second on its
coefficients approach (-1)^k / k. */
static const double AT_TWO[] = {
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546,
    -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425,
    -0.00022315475845357939, 9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05,
    -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07,
    -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10,
    -6.4229645638381e-11};

INLINE double near_two(double y)
{
    const double z = y < 1.5 ? y - 1.0 : y - 2.0;
    double p = AT_TWO[sizeof AT_TWO / sizeof *AT_TWO - 1];
    _Pragma("GCC unroll 32")
    for (int k = (int)(sizeof AT_TWO / sizeof *AT_TWO) - 2; k >= 0; k--)
        p = p * z + AT_TWO[k];
    return p * z - (y < 1.5 ? wide_log1p(z) : 0.0);
}

/* log |gamma(x)|. Near its zeros, 1 and 2, it is accurate to 1 unit in the last place if `fine`, else to 3e-15. */
INLINE double lgamma_by(double x, int fine)
{
    const int reflect = x < 0.5;
    const double y = reflect ? 1.0 - x : x, v = y < 10.0 ? y : 1.0;
    double result, product = 1.0;
    if (fine) {                                /* down to 3/2 ... 5/2 */
        double down = 0.0;
        for (int k = 1; k < 9; k++) {
            const int more = v - (double)k >= 1.5;
            product *= more ? v - (double)k : 1.0;
            down += more ? 1.0 : 0.0;
        }
        const double far = (y - 0.5) * wide_log(y) - y + 0.9189385332046727 + stirling(y);
        result = y < 10.0 ? near_two(v - down) + wide_log(product) : far;
    } else {
        for (int k = 0; k < 8; k++)
            product *= v + (double)k;
        const double z = y < 10.0 ? y + 8.0 : y;
        result = (z - 0.5) * wide_log(z) - z + 0.9189385332046727 + stirling(z);
        result = y < 10.0 ? result - wide_log(product) : result;
        result = y == 1.0 || y == 2.0 ? 0.0 : result;
    }
    result = y == INFINITY ? y : result;
    const double turned = wide_log(3.141592653589793 / fabs(sine_of_turn(x - nearest(x)))) - result;
    return x == -INFINITY ? INFINITY : reflect ? turned : result;
}

/* digamma(x) / (x - its zero) for 1 <= x <= 2, in powers of t = 2 x - 3. */
INLINE double digamma_ratio(double t)
{
    double p = 2.4057297773026326e-10;
    p = p * t - 7.217231554506031e-10;
    p = p * t + 9.021824538932729e-10;
    p = p * t - 2.7066308634469587e-09;
    p = p * t + 1.0962078810190396e-08;
    p = p * t - 3.288837880625679e-08;
    p = p * t + 9.509734580818946e-08;
    p = p * t - 2.8534578211707985e-07;
    p = p * t + 8.590699307116732e-07;
    p = p * t - 2.5785659502395533e-06;
    p = p * t + 7.741184312154647e-06;
    p = p * t - 2.3258098660110816e-05;
    p = p * t + 6.995019751413975e-05;
    p = p * t - 0.00021074843772854427;
    p = p * t + 0.0006368880294427922;
    p = p * t - 0.001935066662210221;
    p = p * t + 0.005936795278346364;
    p = p * t - 0.01855061538185726;
    p = p * t + 0.060135621060196195;
    p = p * t - 0.21181371064072865;
    return p * t + 0.9510558760318328;
}

INLINE double digamma_of(double x)
{
    const int reflect = x < 0.0;
    const double y = reflect ? 1.0 - x : x, v = y < 10.0 ? y : 2.0;
    double down = v < 1.0 ? -1.0 : 0.0;        /* to 1 ... 2 */
    double above = v < 1.0 ? -1.0 : 0.0, below = v < 1.0 ? v : 1.0;      /* the sum of 1 / (v - k) as a quotient */
    for (int k = 1; k < 9; k++) {
        const int more = v - (double)k >= 1.0;
        const double u = more ? v - (double)k : 1.0;
        above = above * u + (more ? below : 0.0);
        below *= u;
        down += more ? 1.0 : 0.0;
    }
    const double a = v - down, near = ((a - 1.4616321449683622) - 9.549995429965697e-17) * digamma_ratio(2.0 * a - 3.0);
    const double r = 1.0 / y, w = r * r;
    double p = -0.4432598039215686;
    p = p * w + 0.08333333333333333;
    p = p * w - 0.021092796092796094;
    p = p * w + 0.007575757575757576;
    p = p * w - 0.004166666666666667;
    p = p * w + 0.003968253968253968;
    p = p * w - 0.008333333333333333;
    p = p * w + 0.08333333333333333;
    double result = y < 10.0 ? near + above / below : wide_log(y) - 0.5 * r - p * w;
    const double part = x - nearest(x), turn = 3.141592653589793 * cosine_of_turn(part) / sine_of_turn(part);
    result = reflect ? result - turn : result;
    result = reflect && part == 0.0 ? NAN : result;
    return x == 0.0 ? -copysign(INFINITY, x) : result;
}

/* The derivative of digamma. Below 1/2 it is reflected, where `angle` is pi x, rounded as in torch. So it is finite at
negative whole numbers, where the sine of that angle is not quite zero (kernels/gamma.py). */
INLINE double trigamma_by(double x, double angle)
{
    const int reflect = x < 0.5;
    const double y = reflect ? 1.0 - x : x, v = y < 10.0 ? y : 1.0;
    double above = 1.0, below = v * v;         /* the sum of 1 / (y + k)^2 as a quotient */
    for (int k = 1; k < 10; k++) {
        const double u = (v + (double)k) * (v + (double)k);
        above = above * u + below;
        below *= u;
    }
    const double z = y < 10.0 ? y + 10.0 : y, r = 1.0 / z, w = r * r;
    double p = 1.1666666666666667;
    p = p * w - 0.2531135531135531;
    p = p * w + 0.07575757575757576;
    p = p * w - 0.03333333333333333;
    p = p * w + 0.023809523809523808;
    p = p * w - 0.03333333333333333;
    p = p * w + 0.16666666666666666;
    const double result = r + 0.5 * w + p * w * r + (y < 10.0 ? above / below : 0.0);
    const double turns = nearest(angle * 0.3183098861837907);
    const double rest = ((angle - turns * 3.1415926218032837) - turns * 3.1786509424591713e-08)
        - turns * 1.2246467991473532e-16;      /* pi in three parts: exact up to 2^26 turns */
    const double sine = sine_of_turn(rest * 0.3183098861837907);
    return reflect ? 9.869604401089358 / (sine * sine) - result : result;
}

#endif
