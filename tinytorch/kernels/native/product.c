/* Products of two matrices. The right one is read in panels (panels.h). If the left one is to be instead, the result is
computed transposed: its rows are then the columns of the right one. */
#include <stdlib.h>

#include "panels.h"

#define TERMS 512                              /* of each sum at a time: so much of a panel stays in the cache */
#define MANY 1024                              /* rows, for which packing is worth its time */

struct product {
    int64_t m, n, k, by_row, by_term, ldb, blocks, block, ldc;
    int turned, result_turned;
    const float *a, *b, *bias;
    float *packed, *c;
};

/* Whether all panels are packed, or only one at the end whose rows are no whole vectors. */
static int all_packed(const struct product *s)
{
    return s->turned || s->m > MANY;
}

/* Where the panel from column `j` on is packed. */
static float *place_of(const struct product *s, int64_t j)
{
    return s->packed + (all_packed(s) ? packed_size(s->k, j) : 0);
}

static void some_panels(const void *args, int64_t first, int64_t last)
{
    const struct product *s = args;
    for (int64_t p = first; p < last; p++) {
        const int64_t j = p * SPAN_OF_TILE, width = width_of(s->n, j);
        if (s->turned)
            pack_columns(s->k, j, width, s->b, s->ldb, 0, s->n, place_of(s, j));
        else if (all_packed(s) || width < SPAN_OF_TILE)
            pack_rows(s->k, j, width, s->b, s->ldb, place_of(s, j));
    }
}

/* Blocks of rows of the result, panel by panel. */
static void some_blocks(const void *args, int64_t first, int64_t last)
{
    const struct product *s = args;
    for (int64_t at = first; at < last; at++) {
        const int64_t j = at / s->blocks * SPAN_OF_TILE, top = at % s->blocks * s->block;
        const int64_t bottom = top + s->block < s->m ? top + s->block : s->m;
        const int64_t width = width_of(s->n, j), whole = packed_size(1, width);
        const int packed = all_packed(s) || width < SPAN_OF_TILE;
        struct panel p = {0, width, s->by_row, s->by_term, packed ? whole : s->ldb, s->ldc, 0, s->result_turned, NULL, NULL,
                          s->c + (s->result_turned ? j * s->ldc : j)};
        for (int64_t r = 0; r < s->k; r += TERMS) {
            p.k = s->k - r < TERMS ? s->k - r : TERMS;
            p.a = s->a + r * s->by_term;
            p.b = packed ? place_of(s, j) + r * whole : s->b + r * s->ldb + j;
            p.add = r > 0;
            times_panel(&p, top, bottom);
        }
        for (int64_t i = top; i < bottom && s->bias; i++)
            for (int64_t l = 0; l < p.width; l++)
                if (s->result_turned)
                    p.c[l * s->ldc + i] += s->bias[i];
                else
                    p.c[i * s->ldc + l] += s->bias[j + l];
    }
}

/* c (m, n) = a (m, k) @ b (k, n) + bias, of operands that lie transposed if `ta`, `tb`; `block`: rows of `c`, or columns if
`a` is the one in panels (`left`), that go by a panel at a time; `grain`: how many such products are a piece. Whether
there was no memory for it. */
KERNEL int64_t product(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                       int64_t left, int64_t block, int64_t grain, const float *a, const float *b, const float *bias,
                       float *c)
{
    struct product s = {m, n, k, ta ? 1 : lda, ta ? lda : 1, ldb, 0, block, n, (int)tb, 0, a, b, bias, NULL, c};
    if (left)
        s = (struct product){n, m, k, tb ? ldb : 1, tb ? 1 : ldb, lda, 0, block, n, !ta, 1, b, a, bias, NULL, c};
    s.packed = malloc((1 + packed_size(k, all_packed(&s) ? s.n : s.n % SPAN_OF_TILE)) * sizeof(float));
    if (!s.packed)
        return 1;
    const int64_t panels = (s.n + SPAN_OF_TILE - 1) / SPAN_OF_TILE;
    s.blocks = (s.m + block - 1) / block;
    share(threads, panels, 1 + 32768 / (k * SPAN_OF_TILE), some_panels, &s);
    share(threads, panels * s.blocks, grain, some_blocks, &s);
    free(s.packed);
    return 0;
}
