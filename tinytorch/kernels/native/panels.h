/* Products by one matrix of many: its columns are packed once, in panels as wide as a tile, and each tile of a result
stays in registers while all of a panel goes by. */
#ifndef TINYTORCH_PANELS_H
#define TINYTORCH_PANELS_H

#include "tile.h"

/* How many floats a packed matrix of `k` rows and `n` columns has: whole vectors, zeros in what they have too many. */
INLINE int64_t packed_size(int64_t k, int64_t n)
{
    return k * ((n + LANES - 1) / LANES * LANES);
}

/* `b` (k, n), whose rows lie under each other, packed. */
static inline void pack(int64_t k, int64_t n, const float *b, float *to)
{
    for (int64_t j = 0; j < n; j += SPAN_OF_TILE) {
        const int64_t width = n - j < SPAN_OF_TILE ? n - j : SPAN_OF_TILE, whole = packed_size(1, width);
        for (int64_t r = 0; r < k; r++, to += whole) {
            memcpy(to, b + r * n + j, width * sizeof(float));
            memset(to + width, 0, (whole - width) * sizeof(float));
        }
    }
}

/* `rows` rows and `vectors` vectors of a result, of which `width` columns count: instead of `c`, or added to it. */
INLINE void panel_tile(int rows, int vectors, int64_t k, int64_t width, const float *restrict a, int64_t lda,
                       const float *restrict b, float *restrict c, int64_t ldc, int add)
{
    vec sums[TALL][THREE];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            sums[i][j] = (vec){0};
    for (int64_t r = 0; r < k; r++) {
        vec right[THREE];
        for (int j = 0; j < vectors; j++)
            right[j] = load(b + (r * vectors + j) * LANES);
        for (int i = 0; i < rows; i++) {
            float left = a[i * lda + r];
            for (int j = 0; j < vectors; j++)
                sums[i][j] += right[j] * left;
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) {
            float *to = c + i * ldc + j * LANES;
            if ((j + 1) * LANES <= width) {
                store(to, add ? load(to) + sums[i][j] : sums[i][j]);
            } else {
                float last[LANES];
                store(last, sums[i][j]);
                for (int64_t l = 0; l < width - j * LANES; l++)
                    to[l] = add ? to[l] + last[l] : last[l];
            }
        }
}

INLINE void panel_rows(int vectors, int64_t m, int64_t k, int64_t width, const float *a, int64_t lda, const float *b,
                       float *c, int64_t ldc, int add)
{
    for (int64_t i = 0; i < m; i += TALL, a += TALL * lda, c += TALL * ldc)
        switch (m - i) {
        case 1: panel_tile(1, vectors, k, width, a, lda, b, c, ldc, add); break;
        case 2: panel_tile(2, vectors, k, width, a, lda, b, c, ldc, add); break;
        case 3: panel_tile(3, vectors, k, width, a, lda, b, c, ldc, add); break;
#if TALL > 4
        case 4: panel_tile(4, vectors, k, width, a, lda, b, c, ldc, add); break;
        case 5: panel_tile(5, vectors, k, width, a, lda, b, c, ldc, add); break;
        case 6: panel_tile(6, vectors, k, width, a, lda, b, c, ldc, add); break;
        case 7: panel_tile(7, vectors, k, width, a, lda, b, c, ldc, add); break;
#endif
        default: panel_tile(TALL, vectors, k, width, a, lda, b, c, ldc, add);
        }
}

/* c (m, n) = a (m, k) @ b, or added to it; `b` is packed and has `packed` rows, of which the first k count; rows of `a`
and `c` begin `lda` and `ldc` apart. */
static void times_packed(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t packed,
                         float *c, int64_t ldc, int add)
{
    for (int64_t j = 0; j < n; j += SPAN_OF_TILE) {
        const int64_t width = n - j < SPAN_OF_TILE ? n - j : SPAN_OF_TILE, whole = packed_size(1, width);
        switch (whole / LANES) {
        case 1: panel_rows(1, m, k, width, a, lda, b, c + j, ldc, add); break;
        case 2: panel_rows(2, m, k, width, a, lda, b, c + j, ldc, add); break;
        default: panel_rows(THREE, m, k, width, a, lda, b, c + j, ldc, add);
        }
        b += packed * whole;
    }
}

#endif
