/* Writes a value where a mask is true (ops/layout/masked.py), finds where that is and chooses by a mask
(kernels/masks.py), and compares (kernels/looks.py). */
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
    share(threads, period < 1 ? 0 : n, LIGHT_PIECE, some_filled, &args);
}

struct chosen { float p, q; int past; const uint8_t *mask; const float *x, *y; float *out; };

INLINE void run_chosen(int64_t n, const uint8_t *restrict mask, const float *restrict x, const float *restrict y, float p,
                       float q, int one_x, int one_y, float *restrict out)
{
    SPAN
    for (int64_t i = 0; i < n; i++) {
        const float yes = one_x ? p : x[i], no = one_y ? q : y[i];
        out[i] = mask[i] ? yes : no;
    }
}

static void some_chosen(const void *args, int64_t first, int64_t last)
{
    enum { BLOCK = 1024 };
    const struct chosen *a = args;
    ALIGNED float block[BLOCK];
    for (int64_t i = first, n; i < last; i += n) {
        n = last - i < BLOCK ? last - i : BLOCK;
        float *out = a->past ? block : a->out + i;
        if (a->x && a->y)
            run_chosen(n, a->mask + i, a->x + i, a->y + i, 0, 0, 0, 0, out);
        else if (a->x)
            run_chosen(n, a->mask + i, a->x + i, NULL, 0, a->q, 0, 1, out);
        else if (a->y)
            run_chosen(n, a->mask + i, NULL, a->y + i, a->p, 0, 1, 0, out);
        else
            run_chosen(n, a->mask + i, NULL, NULL, a->p, a->q, 1, 1, out);
        if (a->past)
            copy_bytes_of((char *)(a->out + i), (const char *)block, n * sizeof(float), 1);
    }
}

/* The elements of x where the mask is true, and those of y elsewhere. `p` and `q` stand for arrays that are missing. */
void choose(int64_t threads, int64_t n, float p, float q, const uint8_t *mask, const float *x, const float *y,
            float *out)
{
    const struct chosen args = {p, q, n >= PAST / 4, mask, x, y, out};
    share(threads, n, LIGHT_PIECE / 2, some_chosen, &args);
}

/* The elements of x where the mask is true, which the caller has counted. There are zeros for those that it has lost
since. */
void selected(int64_t threads, int64_t n, int64_t count, const uint8_t *mask, const float *x, float *out)
{
    (void)threads;
    int64_t k = 0;
    for (int64_t i = 0; i < n && k < count; i++) {
        out[k] = x[i];
        k += mask[i] != 0;
    }
    for (; k < count; k++)
        out[k] = 0.0f;
}

/* The places where a mask (rows, columns) is true, which the caller has counted: their rows if `both` is true, and then
their columns. There are zeros for those that it has lost since. */
void true_places(int64_t threads, int64_t rows, int64_t columns, int64_t both, int64_t count, const uint8_t *mask,
                 int64_t *out)
{
    (void)threads;
    int64_t k = 0, *column = both ? out + count : out;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < columns && k < count; i++) {
            if (both)
                out[k] = row;
            column[k] = i;
            k += mask[row * columns + i] != 0;
        }
    for (; k < count; k++)
        out[k] = column[k] = 0;
}

struct compared { const float *x, *other; int64_t *differ; };

static void some_compared(const void *args, int64_t first, int64_t last)
{
    const struct compared *a = args;
    int64_t differ = 0;
    for (int64_t i = first; i < last; i++)
        differ |= !(a->x[i] == a->other[i]);
    if (differ)
        fail(a->differ, OUTSIDE);
}

/* Fails if an element of x is not equal to that of the other array. NaN is equal to none. */
int64_t all_equal(int64_t threads, int64_t n, const float *x, const float *other)
{
    int64_t differ = 0;
    const struct compared args = {x, other, &differ};
    share(threads, n, LIGHT_PIECE, some_compared, &args);
    return differ;
}

struct bounded { float low, high; const float *x; int64_t *outside; };

static void some_bounded(const void *args, int64_t first, int64_t last)
{
    const struct bounded *a = args;
    int64_t outside = 0;
    for (int64_t i = first; i < last; i++)
        outside |= !(a->x[i] >= a->low) | !(a->x[i] <= a->high);
    if (outside)
        fail(a->outside, OUTSIDE);
}

/* Fails if an element of x is not between the two numbers, which NaN never is. */
int64_t all_within(int64_t threads, int64_t n, float low, float high, const float *x)
{
    int64_t outside = 0;
    const struct bounded args = {low, high, x, &outside};
    share(threads, n, LIGHT_PIECE, some_bounded, &args);
    return outside;
}
