/* The tiles of panels.h. Their loops are unrolled for every number of rows and vectors. Compiling them takes longer
than any other file, so they are compiled here alone, and not in each file that uses panels. */
#include "panels.h"

/* Sums of `rows` rows and `vectors` vectors over `k` elements of rows of `a`, and rows of a panel, which begin `ldb`
apart. */
INLINE void tile_sums(int rows, int vectors, int64_t k, const float *restrict a, int64_t by_row, int64_t by_term,
                      const float *restrict b, int64_t ldb, vec sums[HIGH][WIDE])
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            sums[i][j] = (vec){0};
    for (int64_t r = 0; r < k; r++) {
        vec right[WIDE];
        for (int j = 0; j < vectors; j++)
            right[j] = load(b + r * ldb + j * LANES);
        for (int i = 0; i < rows; i++) {
            float left = a[i * by_row + r * by_term];
            for (int j = 0; j < vectors; j++)
                sums[i][j] += right[j] * left;
        }
    }
}

/* Writes the sums of a tile, of which `width` columns count, to the result, or adds them to it. */
INLINE void put_tile(int rows, int vectors, int64_t width, vec sums[HIGH][WIDE], float *restrict c, int64_t ldc, int add)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) {
            float *to = c + i * ldc + j * LANES;
            if ((j + 1) * LANES <= width) {
                store(to, add ? load(to) + sums[i][j] : sums[i][j]);
            } else {
                float last[LANES];
                store(last, sums[i][j]);
                for (int l = 0; l < (int)width - j * LANES; l++)       /* compilers would unroll a constant end */
                    to[l] = add ? to[l] + last[l] : last[l];
            }
        }
}

/* The same for a transposed result. */
INLINE void put_turned(int rows, int vectors, int64_t width, vec sums[HIGH][WIDE], float *restrict c, int64_t ldc,
                       int add)
{
    for (int j = 0; j < vectors; j++) {
        float columns[LANES][HIGH];
        for (int i = 0; i < rows; i++) {
            float some[LANES];
            store(some, sums[i][j]);
            for (int l = 0; l < LANES; l++)
                columns[l][i] = some[l];
        }
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < rows && j * LANES + l < width; i++) {
                float *to = c + (j * LANES + l) * ldc + i;
                *to = add ? *to + columns[l][i] : columns[l][i];
            }
    }
}

INLINE void one_tile(int rows, int vectors, const struct panel *p, int64_t row)
{
    vec sums[HIGH][WIDE];
    tile_sums(rows, vectors, p->k, p->a + row * p->by_tile, p->by_row, p->by_term, p->b, p->ldb, sums);
    if (p->turned)
        put_turned(rows, vectors, p->width, sums, p->c + row, p->ldc, p->add);
    else
        put_tile(rows, vectors, p->width, sums, p->c + row * p->ldc, p->ldc, p->add);
}

INLINE void panel_rows(int vectors, const struct panel *p, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i += HIGH)
        switch (last - i) {
        case 1: one_tile(1, vectors, p, i); break;
        case 2: one_tile(2, vectors, p, i); break;
        case 3: one_tile(3, vectors, p, i); break;
#if HIGH > 4
        case 4: one_tile(4, vectors, p, i); break;
        case 5: one_tile(5, vectors, p, i); break;
#endif
#if HIGH > 6
        case 6: one_tile(6, vectors, p, i); break;
        case 7: one_tile(7, vectors, p, i); break;
#endif
        default: one_tile(HIGH, vectors, p, i);
        }
}

void times_panel(const struct panel *p, int64_t first, int64_t last)
{
    switch (packed_size(1, p->width) / LANES) {
    case 1: panel_rows(1, p, first, last); break;
#if WIDE > 2
    case 2: panel_rows(2, p, first, last); break;
#endif
    default: panel_rows(WIDE, p, first, last);
    }
}
