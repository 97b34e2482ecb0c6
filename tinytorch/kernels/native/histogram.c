/* Counts of numbers in bins, and of whole numbers (ops/reduction/statistics.py). */
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

enum { TABLES = 4 };                           /* of counts: one count that grows twice in a row waits for itself */

INLINE int64_t counted(int64_t bins, const place *x, int64_t *counts)
{
    const int64_t at = place_below(bins, x);
    counts[at < 0 ? 0 : at]++;
    return at;
}

/* How often each of the numbers below `bins` occurs. */
int64_t occurrences(int64_t threads, int64_t n, int64_t bins, const place *x, int64_t *out)
{
    int64_t *counts = calloc(TABLES * (size_t)bins + 1, sizeof *counts), wrong = 0;
    (void)threads;
    if (!counts)
        return NO_MEMORY;
    for (int64_t first = 0, end; first < n && wrong >= 0; first = end) {
        end = n - first < 1 << 16 ? n : first + (1 << 16);
        int64_t i = first;
        for (; i + TABLES <= end; i += TABLES)
            for (int64_t k = 0; k < TABLES; k++)
                wrong |= counted(bins, x + i + k, counts + k * bins);
        for (; i < end; i++)
            wrong |= counted(bins, x + i, counts);
    }
    for (int64_t i = 0; i < bins; i++)
        out[i] = counts[i] + counts[bins + i] + counts[2 * bins + i] + counts[3 * bins + i];
    free(counts);
    return wrong < 0 ? OUTSIDE : 0;
}
