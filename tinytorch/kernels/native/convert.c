/* Conversions of arrays between 16-bit numbers and floats, and floats and doubles, longs or bools
(kernels/halves.py). */
#include "halves.h"

struct converted { const void *x; void *out; };

#define CONVERT(name, half, from, to, function)                                                                       \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const from *x = ((const struct converted *)args)->x;                                                          \
        to *out = ((const struct converted *)args)->out;                                                              \
        function(half, last - first, x + first, out + first);                                                         \
    }                                                                                                                 \
    void name(int64_t threads, int64_t n, const from *x, to *out)                                                     \
    {                                                                                                                 \
        const struct converted args = {x, out};                                                                       \
        share(threads, n, 32768, name##_part, &args);                                                                 \
    }

INLINE void doubles_of(int unused, int64_t n, const float *restrict from, double *restrict to)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i];
}

INLINE void of_doubles(int unused, int64_t n, const double *restrict from, float *restrict to)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

INLINE void floats_of_longs(int unused, int64_t n, const int64_t *restrict from, float *restrict to)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

INLINE void longs_of(int unused, int64_t n, const float *restrict from, int64_t *restrict to)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        to[i] = (int64_t)from[i];              /* as NumPy does, also for what has no integer */
}

INLINE void truths_of(int unused, int64_t n, const float *restrict from, uint8_t *restrict to)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i] != 0.0f;
}

CONVERT(float_to_double, 0, float, double, doubles_of)
CONVERT(double_to_float, 0, double, float, of_doubles)
CONVERT(long_to_float, 0, int64_t, float, floats_of_longs)
CONVERT(float_to_long, 0, float, int64_t, longs_of)
CONVERT(float_to_bool, 0, float, uint8_t, truths_of)
CONVERT(bfloat16_to_float, 0, uint16_t, float, floats_of)
CONVERT(float_to_bfloat16, 0, float, uint16_t, of_floats)
CONVERT(half_to_float, 1, uint16_t, float, floats_of)
CONVERT(float_to_half, 1, float, uint16_t, of_floats)
