/* torch's transforms of the numbers that it draws, with the operations of kernels/random/samplers.py and normal.py.
Products and sums that are rounded once are written as fma; the compiler must fuse no others. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "twister.h"

/* low + (high - low) u for numbers u in [0, 1), each the low 24 bits of a word; `low` for results that are rounded up
to `high`. */
void uniform(int64_t threads, int64_t n, float low, float high, twister *key, float *out)
{
    uint32_t drawn[WORDS];
    const float width = high - low;
    const int plain = low == 0.0f && high == 1.0f;
    (void)threads;
    for (int64_t start = 0; start < n; start += WORDS) {
        const int64_t count = n - start < WORDS ? n - start : WORDS;
        float *to = out + start;
        draw_words(key, drawn, count);
        for (int64_t i = 0; i < count; i++)
            to[i] = (float)(int32_t)(drawn[i] & 0xffffffu) * 5.9604644775390625e-8f;
        for (int64_t i = 0; i < count && !plain; i++) {
            const float x = fmaf(to[i], width, low);
            to[i] = x == high ? low : x;
        }
    }
}

/* Whether a number u as in `uniform` is below each probability: 1 or 0. */
void bernoulli_each(int64_t threads, int64_t n, twister *key, const float *p, float *out)
{
    uint32_t drawn[WORDS];
    (void)threads;
    for (int64_t start = 0; start < n; start += WORDS) {
        const int64_t count = n - start < WORDS ? n - start : WORDS;
        draw_words(key, drawn, count);
        for (int64_t i = 0; i < count; i++)
            out[start + i] = (float)(int32_t)(drawn[i] & 0xffffffu) * 5.9604644775390625e-8f < p[start + i] ? 1.0f : 0.0f;
    }
}

/* `uniform` with numbers u of 53 bits from two words. */
void uniform53_each(int64_t threads, int64_t n, double low, double high, twister *key, double *out)
{
    uint32_t drawn[WORDS];
    const double width = high - low;
    const int plain = low == 0.0;
    (void)threads;
    for (int64_t start = 0; start < n; start += WORDS / 2) {
        const int64_t count = n - start < WORDS / 2 ? n - start : WORDS / 2;
        double *to = out + start;
        draw_words(key, drawn, 2 * count);
        for (int64_t i = 0; i < count; i++)
            to[i] = of_two_words(drawn[2 * i], drawn[2 * i + 1]);
        for (int64_t i = 0; i < count && plain; i++)
            to[i] *= width;
        for (int64_t i = 0; i < count && !plain; i++)
            to[i] = fma(to[i], width, low);
        for (int64_t i = 0; i < count; i++)
            to[i] = to[i] == high ? low : to[i];
    }
}

/* The remainder of a word divided by `width`, which is below 2^31. The quotient comes from a product, and is sometimes
off by one. */
INLINE int32_t remainder_of(uint32_t drawn, double part, double width)
{
    const double word = (double)(int32_t)(drawn ^ 0x80000000u) + 2147483648.0;
    const double rest = word - floor(word * part) * width;
    const int32_t whole = (int32_t)(rest < 0 ? rest + width : rest);
    return whole >= (int32_t)width ? whole - (int32_t)width : whole;
}

/* low + word % width for a word each, where `width` is below 2^31. */
#define OF_WORD(name, type)                                                                                           \
void name(int64_t threads, int64_t n, int64_t low, int64_t width, twister *key, type *out)                            \
{                                                                                                                     \
    uint32_t drawn[WORDS];                                                                                            \
    const double whole = (double)width, part = 1.0 / whole;                                                           \
    (void)threads;                                                                                                    \
    for (int64_t start = 0; start < n; start += WORDS) {                                                              \
        const int64_t count = n - start < WORDS ? n - start : WORDS;                                                  \
        draw_words(key, drawn, count);                                                                                \
        for (int64_t i = 0; i < count; i++)                                                                           \
            out[start + i] = (type)(int64_t)((uint64_t)low + (uint64_t)remainder_of(drawn[i], part, whole));          \
    }                                                                                                                 \
}

OF_WORD(integers, int64_t)
OF_WORD(integers_in_float, float)
OF_WORD(integers_in_double, double)

/* The remainder of 64 bits divided by `width`. Its inverse is rounded down, so that the quotient is too small by one at
most. A width of 0 stands for 2^64. */
INLINE uint64_t remainder_of_two(uint64_t drawn, uint64_t width, uint64_t inverse)
{
#ifdef __SIZEOF_INT128__
    const uint64_t rest = drawn - (uint64_t)((unsigned __int128)drawn * inverse >> 64) * width;
    return rest >= width ? rest - width : rest;
#else
    (void)inverse;
    return width ? drawn % width : drawn;
#endif
}

/* The same with two words each, the first of which is the high half, and a width of up to 64 bits. */
#define OF_TWO_WORDS(name, type)                                                                                      \
void name(int64_t threads, int64_t n, int64_t low, int64_t width, twister *key, type *out)                            \
{                                                                                                                     \
    uint32_t drawn[WORDS];                                                                                            \
    const uint64_t whole = (uint64_t)width, inverse = whole ? UINT64_MAX / whole : 0;                                 \
    (void)threads;                                                                                                    \
    for (int64_t start = 0; start < n; start += WORDS / 2) {                                                          \
        const int64_t count = n - start < WORDS / 2 ? n - start : WORDS / 2;                                          \
        draw_words(key, drawn, 2 * count);                                                                            \
        for (int64_t i = 0; i < count; i++) {                                                                         \
            const uint64_t both = (uint64_t)drawn[2 * i] << 32 | drawn[2 * i + 1];                                    \
            out[start + i] = (type)(int64_t)((uint64_t)low + remainder_of_two(both, whole, inverse));                 \
        }                                                                                                             \
    }                                                                                                                 \
}

OF_TWO_WORDS(long_integers, int64_t)
OF_TWO_WORDS(long_integers_in_double, double)

/* 0 .. n-1, where each place i is swapped with place i + word % (n - i). The rounding of a quotient of doubles is
smaller than its distance from the next whole number. */
void permutation(int64_t threads, int64_t n, twister *key, int64_t *out)
{
    uint32_t drawn[WORDS];
    int32_t beyond[WORDS];
    (void)threads;
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t start = 0; start < n - 1; start += WORDS) {
        const int32_t count = (int32_t)(n - 1 - start < WORDS ? n - 1 - start : WORDS);
        const double left = (double)(n - start);
        int64_t *to = out + start;
        draw_words(key, drawn, count);
        for (int32_t i = 0; i < count; i++) {
            const double word = (double)(int32_t)(drawn[i] ^ 0x80000000u) + 2147483648.0, width = left - (double)i;
            beyond[i] = (int32_t)(word - floor(word / width) * width) + i;
        }
        for (int32_t i = 0; i < count; i++) {
            const int64_t there = to[beyond[i]];
            to[beyond[i]] = to[i];
            to[i] = there;
        }
    }
}

/* A kernel that computes `value` of a number u in [0, 1) in double precision for each element. */
#define OF_UNIFORM(name, type, value)                                                                                 \
void name(int64_t threads, int64_t n, double a, double b, twister *key, type *out)                                    \
{                                                                                                                     \
    uint32_t drawn[WORDS];                                                                                            \
    (void)threads;                                                                                                    \
    for (int64_t start = 0; start < n; start += WORDS / 2) {                                                          \
        const int64_t count = n - start < WORDS / 2 ? n - start : WORDS / 2;                                          \
        draw_words(key, drawn, 2 * count);                                                                            \
        for (int64_t i = 0; i < count; i++) {                                                                         \
            const double u = of_two_words(drawn[2 * i], drawn[2 * i + 1]);                                            \
            out[start + i] = (type)(value);                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    (void)b;                                                                                                          \
}

/* log(x) for positive x, to 2^-48: x = 2^n m, sqrt(1/2) <= m < sqrt(2), and log(m) by the series of
artanh((m - 1) / (m + 1)). */
INLINE double near_log(double x)
{
    union { double value; uint64_t bits; } whole = {x}, m;
    const uint64_t above = whole.bits - 0x3fe6a09e667f3bcdull;            /* bits of sqrt(1/2) */
    m.bits = (above & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull;
    const double n = (double)((int32_t)(above >> 32) >> 20), s = (m.value - 1.0) / (m.value + 1.0), z = s * s;
    double p = 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    p = p * z + 1.0;
    return 2.0 * s * p + n * 0.6931471805599453;
}

INLINE int32_t is_doubtful(double x)
{
    union { double value; uint64_t bits; } whole = {x};
    const uint32_t beside = (uint32_t)(whole.bits & 0x1fffffffu) - 0x0fffff00u;
    return (beside < 0x200u) | !(x > 2e-38);
}

/* scale log1p(-u) as floats. 1 - u is exact, and the approximate logarithm is rounded to the same float as the exact
one, unless it is near the middle of two floats or below the normal ones; these are computed by log1p. */
void exponentials(twister *key, double scale, int64_t n, float *out)
{
    uint32_t drawn[WORDS];
    double u[WORDS / 2], x[WORDS / 2];
    for (int64_t start = 0; start < n; start += WORDS / 2) {
        const int64_t count = n - start < WORDS / 2 ? n - start : WORDS / 2;
        int32_t doubtful = 0;
        draw_words(key, drawn, 2 * count);
        TOTAL(|, doubtful)
        for (int64_t i = 0; i < count; i++) {
            u[i] = of_two_words(drawn[2 * i], drawn[2 * i + 1]);
            x[i] = scale * near_log(1.0 - u[i]);
            out[start + i] = (float)x[i];
            doubtful |= is_doubtful(x[i]);
        }
        for (int64_t i = 0; i < count && doubtful; i++)
            if (is_doubtful(x[i]))
                out[start + i] = (float)(scale * log1p(-u[i]));
    }
}

INLINE double scaled(double z, double mean, double deviation)
{
    return mean == 0 ? z * deviation + 0.0 : fma(z, deviation, mean);
}

OF_UNIFORM(exponential53, double, a * log1p(-u))
OF_UNIFORM(geometric, float, ceil(log(u) / a))
OF_UNIFORM(geometric53, double, ceil(log(u) / a))
OF_UNIFORM(cauchy, float, scaled(tan(3.141592653589793 * (u - 0.5)), a, b))
OF_UNIFORM(cauchy53, double, scaled(tan(3.141592653589793 * (u - 0.5)), a, b))

void exponential(int64_t threads, int64_t n, double a, double b, twister *key, float *out)
{
    (void)threads;
    (void)b;
    exponentials(key, a, n, out);
}

/* Normal numbers, made in pairs, one after the other; or exp of them. */
#define ONE_BY_ONE(name, type)                                                                                        \
void name(int64_t threads, int64_t n, double mean, double deviation, int64_t exponents, twister *key, double *source, \
          type *out)                                                                                                  \
{                                                                                                                     \
    struct numbers s = numbers_of(key, source, 0);                                                                    \
    (void)threads;                                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                                                 \
        const double z = scaled(normal_number(&s), mean, deviation);                                                  \
        out[i] = (type)(exponents ? exp(z) : z);                                                                      \
    }                                                                                                                 \
    leave(&s);                                                                                                        \
}

ONE_BY_ONE(normals, float)
ONE_BY_ONE(normals53, double)

/* Uniform to normal numbers, in place: in each block of 16, number k and k + 8 make a pair. */
static void box_muller53(int64_t blocks, double mean, double deviation, double *u)
{
    for (int64_t i = 0; i < blocks; i++, u += 16)
        for (int64_t k = 0; k < 8; k++) {
            const double radius = sqrt(-2.0 * log(1.0 - u[k])), angle = TURN * u[k + 8];
            u[k] = scaled(radius * cos(angle), mean, deviation);
            u[k + 8] = scaled(radius * sin(angle), mean, deviation);
        }
}

/* Normal numbers in blocks of 16. If n is no multiple of 16, the last 16 numbers get a new block. */
void normal(int64_t threads, int64_t n, float mean, float deviation, twister *key, float *out)
{
    float last[16];
    uniform(threads, n, 0, 1, key, out);
    box_muller(threads, n / 16, mean, deviation, out);
    if (n % 16) {
        uniform(threads, 16, 0, 1, key, last);
        box_muller(threads, 1, mean, deviation, last);
        memcpy(out + n - 16, last, sizeof last);
    }
}

void normal53(int64_t threads, int64_t n, double mean, double deviation, twister *key, double *out)
{
    double last[16];
    uniform53_each(threads, n, 0, 1, key, out);
    box_muller53(n / 16, mean, deviation, out);
    if (n % 16) {
        uniform53_each(threads, 16, 0, 1, key, last);
        box_muller53(1, mean, deviation, last);
        memcpy(out + n - 16, last, sizeof last);
    }
}
