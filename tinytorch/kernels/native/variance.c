/* Variances of rows and of columns (kernels/sums.py). The numbers are added up as by the sums of reduce.c, so that they
have the bits of its sums of squared differences from the mean: no multiplication is fused with an addition. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "reduce.h"

struct variances { int64_t width, rows, grain, root; double freedom; const float *x; float *out; };

/* Whether squares have neither over- nor underflown. */
INLINE int usual(float total)
{
    return total > 1e-30f && total < 1e38f;
}

INLINE float finished(const struct variances *v, float total)
{
    const float variance = total / (float)v->freedom;
    return v->root ? sqrtf(variance) : variance;
}

/* The variance of `n` numbers, `apart` elements apart, in double precision. */
static float wide_variance(const struct variances *v, const float *x, int64_t n, int64_t apart)
{
    double mean = 0.0, total = 0.0;
    for (int64_t i = 0; i < n; i++)
        mean += x[i * apart];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
        total += (x[i * apart] - mean) * (x[i * apart] - mean);
    const double variance = total / v->freedom;
    return (float)(v->root ? sqrt(variance) : variance);
}

/* The sum of squared differences from `mean`, block by block as in `sum_of`. */
static double squares_of(const float *x, int64_t n, float mean)
{
    ALIGNED float squares[BLOCK_OF_SUM];
    double total = 0.0;
    for (int64_t i = 0, run; i < n; i += run) {
        run = n - i < BLOCK_OF_SUM ? n - i : BLOCK_OF_SUM;
        for (int64_t j = 0; j < run; j++) {
            const float d = x[i + j] - mean;
            squares[j] = d * d;
        }
        total += short_sum(squares, run);
    }
    return total;
}

static void variances_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct variances *v = args;
    const int64_t n = v->width;
    for (int64_t row = first; row < last; row++) {
        const float *x = v->x + row * n;
        double sum = 0.0, squares = 0.0;
        for (int64_t i = 0; i < n; i += v->grain)
            sum += sum_of(x + i, n - i < v->grain ? n - i : v->grain);
        const float mean = (float)sum / (float)n;
        for (int64_t i = 0; i < n; i += v->grain)
            squares += squares_of(x + i, n - i < v->grain ? n - i : v->grain, mean);
        const float total = (float)squares;
        v->out[row] = usual(total) ? finished(v, total) : wide_variance(v, x, n, 1);
    }
}

/* Variances, or their roots, of rows that are added up in pieces of `grain` elements. */
void row_variances(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t root, double freedom,
                   const float *x, float *out)
{
    const struct variances args = {width, rows, grain, root, freedom, x, out};
    if (width > 0 && grain > 0)
        share(threads, rows, rows_in_piece(width), variances_of_rows, &args);
}

enum { AT_ONCE = 256 };                        /* columns */

/* Adds the numbers of a line, or (`mean`) the squares of their differences from `mean`, to `sums`. */
INLINE void add_line(int64_t n, int first, const float *restrict x, const float *restrict mean, float *restrict sums)
{
    for (int64_t i = 0; i < n; i++) {
        const float d = mean ? x[i] - mean[i] : x[i], value = mean ? d * d : d;
        sums[i] = first ? value : sums[i] + value;
    }
}

INLINE void sums_of_lines(const struct variances *v, int64_t n, const float *x, const float *mean, float *total)
{
    float part[AT_ONCE];
    for (int64_t begin = 0; begin < v->rows; begin += v->grain) {
        const int64_t end = v->rows - begin < v->grain ? v->rows : begin + v->grain;
        float *sums = begin ? part : total;
        add_line(n, 1, x + begin * v->width, mean, sums);
        for (int64_t row = begin + 1; row < end; row++)
            add_line(n, 0, x + row * v->width, mean, sums);
        for (int64_t i = 0; begin && i < n; i++)
            total[i] += part[i];
    }
}

static void variances_of_columns(const void *args, int64_t first, int64_t last)
{
    const struct variances *v = args;
    float mean[AT_ONCE], total[AT_ONCE];
    for (int64_t from = first; from < last; from += AT_ONCE) {
        const int64_t n = last - from < AT_ONCE ? last - from : AT_ONCE;
        const float *x = v->x + from;
        sums_of_lines(v, n, x, NULL, mean);
        for (int64_t i = 0; i < n; i++)
            mean[i] /= (float)v->rows;
        sums_of_lines(v, n, x, mean, total);
        for (int64_t i = 0; i < n; i++)
            v->out[from + i] = usual(total[i]) ? finished(v, total[i]) : wide_variance(v, x + i, v->rows, v->width);
    }
}

/* Variances, or their roots, of columns that are added up in pieces of `grain` rows. */
void column_variances(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t root, double freedom,
                      const float *x, float *out)
{
    const struct variances args = {width, rows, grain, root, freedom, x, out};
    if (rows > 0 && grain > 0)
        share(threads, width, columns_in_piece(rows, width, AT_ONCE), variances_of_columns, &args);
}
