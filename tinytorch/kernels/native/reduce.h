/* How reduce.c and variance.c add up the numbers of a row. */
#ifndef REDUCE_H
#define REDUCE_H
#include "tile.h"

#define BLOCK_OF_SUM (64 * LANES)              /* 16 numbers in each lane */

/* The sum of at most BLOCK_OF_SUM numbers. */
INLINE float short_sum(const float *x, int64_t n)
{
    vec a = {0}, b = {0}, c = {0}, d = {0};
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        a += load(x + i);
        b += load(x + i + LANES);
        c += load(x + i + 2 * LANES);
        d += load(x + i + 3 * LANES);
    }
    for (; i + LANES <= n; i += LANES)
        a += load(x + i);
    float rest = 0.0f;
    for (; i < n; i++)
        rest += x[i];
    return total_of((a + b) + (c + d)) + rest;
}

INLINE double sum_of(const float *x, int64_t n)
{
    double total = 0.0;
    for (int64_t i = 0; i < n; i += BLOCK_OF_SUM)
        total += short_sum(x + i, n - i < BLOCK_OF_SUM ? n - i : BLOCK_OF_SUM);
    return total;
}

#endif
