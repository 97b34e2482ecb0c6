/* Reads rows by an index, and adds to such rows (kernels/scatter.py). */
#include "tile.h"

struct rows { int64_t count, width, n; const float *g, *base; const place *index; float *out; int64_t *failed; };

static void taken_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    for (int64_t i = first; i < last; i++) {
        const int64_t row = place_below(a->count, a->index + i);
        if (row < 0)
            fail(a->failed, OUTSIDE);
        else
            copy_row(a->out + i * a->width, a->g + row * a->width, a->width);
    }
}

/* out (n, width) = x (count, width)[index]. Returns whether a row does not exist. */
int64_t take_rows(int64_t threads, int64_t count, int64_t width, int64_t n, const float *x, const place *index,
                  float *out)
{
    int64_t failed = 0;
    const struct rows args = {count, width, n, x, NULL, index, out, &failed};
    share(threads, n, rows_in_piece(width), taken_rows, &args);
    return failed;
}

/* Adds to rows [first, last) of one result, in the order of the index. */
INLINE void added_rows(const struct rows *a, const float *g, const float *base, float *out, int64_t first, int64_t last)
{
    const int64_t width = a->width, start = first * width, size = (last - first) * width;
    if (!base)
        memset(out + start, 0, size * sizeof(float));
    else if (base != out)
        memcpy(out + start, base + start, size * sizeof(float));
    for (int64_t i = 0; i < a->n; i++) {
        const int64_t row = place_below(a->count, a->index + i);
        if (row < 0) {
            fail(a->failed, OUTSIDE);
            continue;
        }
        if (row < first || row >= last)
            continue;
        const float *restrict from = g + i * width;
        float *restrict to = out + row * width;
        for (int64_t j = 0; j < width; j++)
            to[j] += from[j];
    }
}

/* Rows of all results, numbered through. */
static void some_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t size = a->count * a->width;
    for (int64_t k = first / a->count, end; first < last; k++, first = end) {
        end = (k + 1) * a->count < last ? (k + 1) * a->count : last;
        added_rows(a, a->g + k * a->n * a->width, a->base ? a->base + k * size : NULL, a->out + k * size,
                   first - k * a->count, end - k * a->count);
    }
}

/* out (outer, count, width)[:, index] = base + g (outer, n, width), where rows may repeat. Without a base there are
zeros in its place; it may be `out` itself. Returns whether a row does not exist: then nothing is added. */
int64_t add_rows(int64_t threads, int64_t outer, int64_t count, int64_t width, int64_t n, int64_t grain, const float *g,
                 const place *index, const float *base, float *out)
{
    int64_t failed = 0;
    for (int64_t i = 0; i < n; i++)
        if (place_below(count, index + i) < 0)
            return OUTSIDE;
    const struct rows args = {count, width, n, g, base, index, out, &failed};
    share(threads, outer * count, grain, some_rows, &args);
    return failed;
}
