/* Conversions of arrays between 16-bit numbers and floats (kernels/halves.py). */
#include "halves.h"

struct converted { const void *x; void *out; };

#define CONVERT(name, from, to, function)                                                                             \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const from *restrict x = ((const struct converted *)args)->x;                                                 \
        to *restrict out = ((const struct converted *)args)->out;                                                     \
        SPAN                                                                                                          \
        for (int64_t i = first; i < last; i++)                                                                        \
            out[i] = function(x[i]);                                                                                  \
    }                                                                                                                 \
    void name(int64_t threads, int64_t n, const from *x, to *out)                                                     \
    {                                                                                                                 \
        const struct converted args = {x, out};                                                                       \
        share(threads, n, 32768, name##_part, &args);                                                                 \
    }

CONVERT(bfloat16_to_float, uint16_t, float, of_bfloat16)
CONVERT(float_to_bfloat16, float, uint16_t, to_bfloat16)
CONVERT(half_to_float, uint16_t, float, of_half)
CONVERT(float_to_half, float, uint16_t, to_half)
