/* Running extremes, products of rows, and evenly spaced numbers (kernels/scan.py). */
#include "common.h"

#define MOST 1024                              /* columns at a time */

struct best { int64_t n, inner, smallest, block, blocks; const float *x; float *out; int64_t *index; };

/* Whether `x` replaces the best number so far: the last of equal ones wins, and the last NaN. */
INLINE int beats(int smallest, float x, float best)
{
    return (smallest ? x <= best : x >= best) | (x != x);
}

enum { LOOKED_AT = 16 };                       /* numbers at once, of which none may be better */

INLINE void best_of_row(int smallest, int64_t n, const float *restrict x, float *restrict out, int64_t *restrict index)
{
    float best = x[0];
    int64_t at = 0, i = 0;
    for (; i + LOOKED_AT <= n; i += LOOKED_AT) {
        int any = 0;
        TOTAL(|, any)
        for (int64_t j = 0; j < LOOKED_AT; j++)
            any |= beats(smallest, x[i + j], best);
        if (any)
            for (int64_t j = i; j < i + LOOKED_AT; j++) {
                const int better = beats(smallest, x[j], best);
                out[j] = best = better ? x[j] : best;
                index[j] = at = better ? j : at;
            }
        else
            for (int64_t j = i; j < i + LOOKED_AT; j++)
                out[j] = best, index[j] = at;
    }
    for (; i < n; i++) {
        const int better = beats(smallest, x[i], best);
        out[i] = best = better ? x[i] : best;
        index[i] = at = better ? i : at;
    }
}

static void some_rows(const void *args, int64_t first, int64_t last)
{
    const struct best *a = args;
    const int64_t n = a->n;
    for (int64_t row = first; row < last; row++)
        if (a->smallest)
            best_of_row(1, n, a->x + row * n, a->out + row * n, a->index + row * n);
        else
            best_of_row(0, n, a->x + row * n, a->out + row * n, a->index + row * n);
}

static void some_columns(const void *args, int64_t first, int64_t last)
{
    const struct best *a = args;
    const int smallest = (int)a->smallest;
    for (int64_t k = first; k < last; k++) {
        const int64_t from = k % a->blocks * a->block;
        const int64_t size = a->inner - from < a->block ? a->inner - from : a->block;
        const int64_t begin = k / a->blocks * a->n * a->inner + from;
        for (int64_t j = 0; j < a->n; j++) {
            const int64_t line = begin + j * a->inner, before = j ? line - a->inner : line;
            const float *restrict x = a->x + line, *best = a->out + before;
            float *out = a->out + line;
            const int64_t *at = a->index + before;
            int64_t *index = a->index + line;
            for (int64_t i = 0; i < size; i++) {
                const int better = j == 0 || beats(smallest, x[i], best[i]);
                const int64_t place = better ? j : at[i];
                out[i] = better ? x[i] : best[i];
                index[i] = place;
            }
        }
    }
}

/* The running extremes of x (outer, n, inner) along n, and their positions. */
void running_extremes(int64_t threads, int64_t outer, int64_t n, int64_t inner, int64_t smallest, const float *x,
                      float *out, int64_t *index)
{
    const int64_t block = columns_in_piece(n, inner, MOST);
    const struct best args = {n, inner, smallest, block, (inner + block - 1) / block, x, out, index};
    if (n < 1)
        return;
    if (inner == 1)
        share(threads, outer, rows_in_piece(n), some_rows, &args);
    else
        share(threads, outer * args.blocks, rows_in_piece(n * block), some_columns, &args);
}

struct rows { int64_t width; const float *x; float *out; double *parts; };

INLINE double product_of(const float *restrict x, int64_t n)
{
    enum { AT_ONCE = 16 };                     /* products, each of which waits for its last one */
    double parts[AT_ONCE], product = 1.0;
    int64_t i = 0;
    for (int k = 0; k < AT_ONCE; k++)
        parts[k] = 1.0;
    for (; i + AT_ONCE <= n; i += AT_ONCE) {
        SPAN
        for (int k = 0; k < AT_ONCE; k++)
            parts[k] *= (double)x[i + k];
    }
    for (; i < n; i++)
        product *= (double)x[i];
    for (int k = 0; k < AT_ONCE; k++)
        product *= parts[k];
    return product;
}

/* The products of the parts of a row. */
static void products_of_parts(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    a->parts[first / part_of_row(a->width)] = product_of(a->x + first, last - first);
}

static float product_by_parts(int64_t threads, int64_t width, const float *x)
{
    double parts[MOST_PARTS], product = 1.0;
    const struct rows args = {width, x, NULL, parts};
    share(threads, width, part_of_row(width), products_of_parts, &args);
    for (int64_t i = 0; i * part_of_row(width) < width; i++)
        product *= parts[i];
    return (float)product;
}

static void some_products(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    for (int64_t row = first; row < last; row++)
        a->out[row] = product_by_parts(1, a->width, a->x + row * a->width);
}

/* Products of rows, in double precision. */
void row_products(int64_t threads, int64_t rows, int64_t width, const float *x, float *out)
{
    const struct rows args = {width, x, out, NULL};
    if (rows == 1)
        *out = product_by_parts(threads, width, x);
    else
        share(threads, rows, rows_in_piece(width), some_products, &args);
}

struct steps { int64_t n; double start, step; float *out; };

enum { LANES_OF_STEPS = 8 };

/* As in PyTorch's vector code the first of each group of numbers is rounded, and the others are computed from it. The
last numbers, which do not fill two vectors, are each computed from the start. */
static void some_steps(const void *args, int64_t first, int64_t last)
{
    const struct steps *a = args;
    const int64_t whole = a->n - a->n % (2 * LANES_OF_STEPS);
    float *restrict out = a->out;
    int64_t i = first;
    for (; i < last && i < whole; i += LANES_OF_STEPS) {
        const double begin = (double)(float)((double)i * a->step + a->start);
        for (int64_t j = 0; j < LANES_OF_STEPS; j++)
            out[i + j] = (float)(begin + a->step * (double)j);
    }
    for (; i < last; i++)
        out[i] = (float)((double)i * a->step + a->start);
}

/* start + i step. */
void steps(int64_t threads, int64_t n, double start, double step, float *out)
{
    const struct steps args = {n, start, step, out};
    share(threads, n, 16384, some_steps, &args);
}

struct whole_steps { int64_t start, *out; };

static void some_whole_steps(const void *args, int64_t first, int64_t last)
{
    const struct whole_steps *a = args;
    for (int64_t i = first; i < last; i++)
        a->out[i] = a->start + i;
}

/* The integers from `start` on. */
void whole_steps(int64_t threads, int64_t n, int64_t start, int64_t *out)
{
    const struct whole_steps args = {start, out};
    share(threads, n, LIGHT_PIECE, some_whole_steps, &args);
}

struct spaced { int64_t n; float start, last, step; float *out; };

static void some_spaced(const void *args, int64_t first, int64_t last)
{
    const struct spaced *a = args;
    const int64_t half = a->n / 2;
    for (int64_t i = first; i < last && i < half; i++)
        a->out[i] = fmaf((float)i, a->step, a->start);
    for (int64_t i = first < half ? half : first; i < last; i++)
        a->out[i] = fmaf((float)(a->n - 1 - i), -a->step, a->last);
}

/* From `start` to `last`, each half computed from its own end. */
void spaced(int64_t threads, int64_t n, float start, float last, float step, float *out)
{
    const struct spaced args = {n, start, last, step, out};
    share(threads, n, 16384, some_spaced, &args);
}
