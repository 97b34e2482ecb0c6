/* Counts of numbers in bins (ops/reduction/statistics.py). */
#include "common.h"

enum { AT_ONCE = 256 };

/* The numbers of elements from `low` to `high` in bins of equal width. The place of a number is computed by the steps of
torch.histc; the last bin includes `high`. */
int64_t histogram(int64_t threads, int64_t n, int64_t bins, float low, float high, const float *x, float *out)
{
    int64_t *counts = calloc((size_t)bins + 1, sizeof *counts);        /* the last one counts what is outside */
    int32_t places[AT_ONCE];
    const float number = (float)bins, span = high - low;
    (void)threads;
    if (!counts)
        return NO_MEMORY;
    for (int64_t first = 0; first < n; first += AT_ONCE) {
        const int64_t size = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (int64_t i = 0; i < size; i++) {
            const float v = x[first + i], place = (v - low) * number / span;
            const float inside = place < number ? place : place != place ? 0.0f : number - 1.0f;
            places[i] = v >= low && v <= high ? (int32_t)inside : (int32_t)bins;
        }
        for (int64_t i = 0; i < size; i++)
            counts[places[i]]++;
    }
    for (int64_t i = 0; i < bins; i++)
        out[i] = (float)counts[i];
    free(counts);
    return 0;
}
