/* Copies from one layout to another (kernels/copies.py). */
#include "tile.h"

struct copied { int64_t turned, m, n, distance, inner, outer_step, inner_step, pitch; int past; const float *x;
                float *out; };

#define SIDE 16                                /* floats in a line of memory: the rows of a tile that is transposed */

/* Rows [first, last) of one transposed matrix: out[row][j] = x[j][row]. */
INLINE void turned_rows(const struct copied *a, const float *x, float *out, int64_t first, int64_t last)
{
    for (int64_t j = 0; j < a->n; j += SIDE) {
        const int64_t wide = a->n - j < SIDE ? a->n - j : SIDE;
        for (int64_t row = first; row < last; row += SIDE) {
            const int64_t high = last - row < SIDE ? last - row : SIDE;
            ALIGNED float tile[SIDE][SIDE];
            for (int64_t k = 0; k < wide; k++)
                copy_row(tile[k], x + (j + k) * a->distance + row, high);
            if (high == SIDE && wide == SIDE)
                for (int64_t i = 0; i < SIDE; i++)
                    for (int64_t k = 0; k < SIDE; k++)
                        out[(row + i) * a->n + j + k] = tile[k][i];
            else
                for (int64_t i = 0; i < high; i++)
                    for (int64_t k = 0; k < wide; k++)
                        out[(row + i) * a->n + j + k] = tile[k][i];
        }
    }
}

/* Rows of all matrices, numbered through. */
static void some_copied(const void *args, int64_t first, int64_t last)
{
    const struct copied *a = args;
    const int64_t m = a->m, n = a->n, distance = a->distance;
    int64_t outer = first / m / a->inner, inner = first / m % a->inner, row = first % m;
    for (int64_t left = last - first, rows; left > 0; left -= rows, row = 0) {
        const float *x = a->x + outer * a->outer_step + inner * a->inner_step;
        float *out = a->out + (outer * a->inner + inner) * a->pitch;
        rows = m - row < left ? m - row : left;
        if (a->turned)
            turned_rows(a, x, out, row, row + rows);
        else
            for (int64_t k = row; k < row + rows; k++)
                put(out + k * n, x + k * distance, n, a->past);
        if (++inner == a->inner)
            inner = 0, outer++;
    }
}

/* A part of one run. */
static void part_copied(const void *args, int64_t first, int64_t last)
{
    const struct copied *a = args;
    put(a->out + first, a->x + first, last - first, a->past);
}

/* Writes each of `outer` times `inner` matrices (m, n) to its row of the result, between `before` and `after` elements
of other arrays. */
void copy(int64_t threads, int64_t turned, int64_t m, int64_t n, int64_t distance, int64_t outer, int64_t inner,
          int64_t outer_step, int64_t inner_step, int64_t before, int64_t after, const float *x, float *out)
{
    const struct copied args = {turned, m, n, distance, inner, outer_step, inner_step, before + m * n + after,
                                outer * inner * m * n >= PAST / 4, x, out + before};
    const int64_t rows = outer * inner * m;
    if (rows == 1)
        share(threads, n, LIGHT_PIECE, part_copied, &args);
    else
        share(threads, rows, !turned || n < 16384 / (4 * SIDE) ? rows_in_piece(n) : 4 * SIDE, some_copied, &args);
}

struct moved { int past; const uint8_t *x; uint8_t *out; };

static void part_moved(const void *args, int64_t first, int64_t last)
{
    const struct moved *a = args;
    if (a->past)
        copy_bytes_of((char *)a->out + first, (const char *)a->x + first, last - first, 1);
    else
        copy_bytes_of((char *)a->out + first, (const char *)a->x + first, last - first, 0);
}

/* Copies `n` bytes. */
void copy_bytes(int64_t threads, int64_t n, const uint8_t *x, uint8_t *out)
{
    const struct moved args = {n >= PAST, x, out};
    share(threads, n, 4 * LIGHT_PIECE, part_moved, &args);
}
