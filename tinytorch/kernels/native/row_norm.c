/* Norms of rows (kernels/sums.py), added up in torch's order, with every rounding. Fused operations are written as fma;
the compiler must fuse no others. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "common.h"

#if defined(__FMA__) || defined(__aarch64__)
#define FUSED(a, b, c) fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#endif
#define SUMS 8
#define ROWS 4                                 /* at a time: each sum waits for the one before */

struct rows { int64_t width; const float *x; float *out; };

#if defined(__GNUC__)
typedef float eight __attribute__((vector_size(4 * SUMS)));
#define ADD_SQUARES(sums, v) sums += v * v
#else
typedef struct { float at[SUMS]; } eight;
#define ADD_SQUARES(sums, v)                                                                                          \
    for (int j = 0; j < SUMS; j++)                                                                                    \
        sums.at[j] += v.at[j] * v.at[j]
#endif

INLINE void norms_of_some(int rows, int64_t width, const float *x, float *out)
{
    const int64_t whole = width / SUMS * SUMS;
    eight sums[ROWS], v;
    memset(sums, 0, sizeof sums);
    for (int64_t i = 0; i < whole; i += SUMS)
        for (int r = 0; r < rows; r++) {
            memcpy(&v, x + r * width + i, sizeof v);
            ADD_SQUARES(sums[r], v);
        }
    for (int r = 0; r < rows; r++, x += width) {
        float parts[SUMS];
        memcpy(parts, sums + r, sizeof parts);
        float total = parts[0];
        for (int j = 1; j < SUMS; j++)
            total += parts[j];
        int64_t i = whole;
        for (; i < width / 4 * 4; i++)
            total += x[i] * x[i];
        for (; i < width; i++)
            total = FUSED(x[i], x[i], total);
        out[r] = sqrtf(total);
    }
}

static void norms_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *s = args;
    int64_t row = first;
    for (; row + ROWS <= last; row += ROWS)
        norms_of_some(ROWS, s->width, s->x + row * s->width, s->out + row);
    for (; row < last; row++)
        norms_of_some(1, s->width, s->x + row * s->width, s->out + row);
}

void row_norms(int64_t threads, int64_t rows, int64_t width, const float *x, float *out)
{
    struct rows args = {width, x, out};
    share(threads, rows, rows_in_piece(width), norms_of_rows, &args);
}
