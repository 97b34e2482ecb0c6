/* Conversions of arrays between 16-bit numbers and floats (kernels/halves.py). */
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

CONVERT(bfloat16_to_float, 0, uint16_t, float, floats_of)
CONVERT(float_to_bfloat16, 0, float, uint16_t, of_floats)
CONVERT(half_to_float, 1, uint16_t, float, floats_of)
CONVERT(float_to_half, 1, float, uint16_t, of_floats)
