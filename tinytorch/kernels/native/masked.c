/* Writes a value where a mask is true (ops/layout/masked.py). */
#include "common.h"

struct filled { int64_t period; float value; const float *x; const uint8_t *mask; float *out; };

static void some_filled(const void *args, int64_t first, int64_t last)
{
    const struct filled *a = args;
    const float value = a->value;
    for (int64_t i = first, run; i < last; i += run) {
        const int64_t at = i % a->period;
        const uint8_t *restrict mask = a->mask + at;
        const float *restrict x = a->x + i;
        float *restrict out = a->out + i;
        run = a->period - at < last - i ? a->period - at : last - i;
        SPAN
        for (int64_t j = 0; j < run; j++) {
            const float kept = x[j];
            out[j] = mask[j] ? value : kept;
        }
    }
}

/* The mask has `period` elements, and is repeated along `x`. */
void masked_fill(int64_t threads, int64_t n, int64_t period, float value, const float *x, const uint8_t *mask, float *out)
{
    const struct filled args = {period, value, x, mask, out};
    share(threads, period < 1 ? 0 : n, 16384, some_filled, &args);
}
