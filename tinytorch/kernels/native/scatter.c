/* Reads rows by an index, and adds to such rows (kernels/scatter.py). */
#include "tile.h"

struct rows { int64_t count, width, n; const float *g; const place *index; float *out; int64_t *failed; };

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
    const struct rows args = {count, width, n, x, index, out, &failed};
    share(threads, n, rows_in_piece(width), taken_rows, &args);
    return failed;
}

/* Adds to rows [first, last) of the result, in the order of the index. */
static void some_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows a = *(const struct rows *)args;
    for (int64_t i = 0; i < a.n; i++) {
        const int64_t row = place_below(a.count, a.index + i);
        if (row < 0) {
            fail(a.failed, OUTSIDE);
            continue;
        }
        if (row < first || row >= last)
            continue;
        const float *restrict from = a.g + i * a.width;
        float *restrict to = a.out + row * a.width;
        for (int64_t j = 0; j < a.width; j++)
            to[j] += from[j];
    }
}

/* out (count, width)[index] += g (n, width), where rows may repeat. Returns whether a row does not exist. */
int64_t add_rows(int64_t threads, int64_t count, int64_t width, int64_t n, int64_t grain, const float *g,
                 const place *index, float *out)
{
    int64_t failed = 0;
    const struct rows args = {count, width, n, g, index, out, &failed};
    share(threads, count, grain, some_rows, &args);
    return failed;
}
