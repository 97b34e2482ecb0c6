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

struct rows { int64_t width; const float *x; float *out; };

static void norms_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *s = args;
    const int64_t width = s->width;
    for (int64_t row = first; row < last; row++) {
        const float *x = s->x + row * width;
        float sums[SUMS] = {0.0f};
        int64_t i = 0;
        for (; i + SUMS <= width; i += SUMS)
            for (int j = 0; j < SUMS; j++)
                sums[j] += x[i + j] * x[i + j];
        float total = sums[0];
        for (int j = 1; j < SUMS; j++)
            total += sums[j];
        for (; i < width / 4 * 4; i++)
            total += x[i] * x[i];
        for (; i < width; i++)
            total = FUSED(x[i], x[i], total);
        s->out[row] = sqrtf(total);
    }
}

void row_norms(int64_t threads, int64_t rows, int64_t width, const float *x, float *out)
{
    struct rows args = {width, x, out};
    share(threads, rows, rows_in_piece(width), norms_of_rows, &args);
}
