/* Running sums and products along the second of three axes, in double precision (kernels/running.py). */
#include "common.h"

#define ROWS 4                                 /* at a time, because each step of a row waits for the previous one */
#define MOST 1024                              /* columns at a time */

struct running { int64_t n, inner, backward, block, blocks; const float *x; float *out; };

INLINE double step(int product, double total, float x)
{
    return product ? total * x : total + x;
}

/* Several successive rows. */
INLINE void some_rows(int product, int rows, int64_t n, int64_t backward, const float *restrict x, float *restrict out)
{
    double totals[ROWS];
    for (int r = 0; r < rows; r++)
        totals[r] = product;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = backward ? n - 1 - i : i;
        for (int r = 0; r < rows; r++)
            out[r * n + at] = (float)(totals[r] = step(product, totals[r], x[r * n + at]));
    }
}

INLINE void rows_of(int product, const struct running *a, int64_t first, int64_t last)
{
    int64_t row = first;
    for (; row + ROWS <= last; row += ROWS)
        some_rows(product, ROWS, a->n, a->backward, a->x + row * a->n, a->out + row * a->n);
    for (; row < last; row++)
        some_rows(product, 1, a->n, a->backward, a->x + row * a->n, a->out + row * a->n);
}

/* Blocks of columns. */
INLINE void columns_of(int product, const struct running *a, int64_t first, int64_t last)
{
    double totals[MOST];
    for (int64_t k = first; k < last; k++) {
        const int64_t from = k % a->blocks * a->block;
        const int64_t size = a->inner - from < a->block ? a->inner - from : a->block;
        const int64_t begin = k / a->blocks * a->n * a->inner + from;
        for (int64_t i = 0; i < size; i++)
            totals[i] = product;
        for (int64_t j = 0; j < a->n; j++) {
            const int64_t line = begin + (a->backward ? a->n - 1 - j : j) * a->inner;
            const float *restrict x = a->x + line;
            float *restrict out = a->out + line;
            for (int64_t i = 0; i < size; i++)
                out[i] = (float)(totals[i] = step(product, totals[i], x[i]));
        }
    }
}

static void rows_of_sums(const void *args, int64_t first, int64_t last)
{
    rows_of(0, args, first, last);
}

static void rows_of_products(const void *args, int64_t first, int64_t last)
{
    rows_of(1, args, first, last);
}

static void columns_of_sums(const void *args, int64_t first, int64_t last)
{
    columns_of(0, args, first, last);
}

static void columns_of_products(const void *args, int64_t first, int64_t last)
{
    columns_of(1, args, first, last);
}

/* out = the running sums or products of x (outer, n, inner) along n, from its end if `backward`. */
void running(int64_t threads, int64_t outer, int64_t n, int64_t inner, int64_t product, int64_t backward,
             const float *x, float *out)
{
    const int64_t block = columns_in_piece(n, inner, MOST);
    const struct running args = {n, inner, backward, block, (inner + block - 1) / block, x, out};
    if (inner == 1)
        share(threads, outer, rows_in_piece(n), product ? rows_of_products : rows_of_sums, &args);
    else
        share(threads, outer * args.blocks, rows_in_piece(n * block), product ? columns_of_products : columns_of_sums,
              &args);
}
