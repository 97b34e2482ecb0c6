/* Products of two matrices. The right one is read in panels (panels.h). If the left one is to be instead, the result is
computed transposed: its rows are then the columns of the right one. */
#include "panels.h"

#define TERMS 384                              /* of each sum at a time, at most: so much of a panel stays in the cache */

struct product {
    int64_t m, n, k, by_row, by_term, ldb, blocks, block, ldc;
    int turned, result_turned, packed;
    const float *a, *b, *bias;
    float *c;
};

static void add_bias(const struct product *s, const struct panel *p, int64_t j, int64_t top, int64_t bottom)
{
    if (s->result_turned) {
        for (int64_t l = 0; l < p->width; l++)
            for (int64_t i = top; i < bottom; i++)
                p->c[l * s->ldc + i] += s->bias[i];
    } else {
        for (int64_t i = top; i < bottom; i++)
            for (int64_t l = 0; l < p->width; l++)
                p->c[i * s->ldc + l] += s->bias[j + l];
    }
}

/* Blocks of rows of the result, panel by panel; all of them with the same terms before the next. */
static void some_blocks(const void *args, int64_t first, int64_t last)
{
    const struct product *s = args;
    const int64_t parts = (s->k + TERMS - 1) / TERMS, terms = parts ? (s->k + parts - 1) / parts : 1;
    float memory[TERMS * SPAN_OF_TILE];
    for (int64_t r = 0; r < s->k; r += terms)
        for (int64_t at = first; at < last; at++) {
            const int64_t j = at / s->blocks * span_of(s->n), top = at % s->blocks * s->block, width = width_of(s->n, j);
            const int64_t bottom = top + s->block < s->m ? top + s->block : s->m;
            struct panel p = {s->k - r < terms ? s->k - r : terms, width, s->by_row, s->by_term, packed_size(1, width),
                              s->ldc, r > 0, s->result_turned, s->a + r * s->by_term, memory,
                              s->c + (s->result_turned ? j * s->ldc : j)};
            if (s->turned) {
                if (!top || at == first)
                    pack_columns(p.k, j, width, s->b + r, s->ldb, 0, s->n, memory);
            } else if (!s->packed && width % LANES == 0) {
                p.b = s->b + r * s->ldb + j;
                p.ldb = s->ldb;
            } else if (!top || at == first) {
                pack_rows(p.k, j, width, s->b + r * s->ldb, s->ldb, memory);
            }
            times_panel(&p, top, bottom);
            if (s->bias && r + terms >= s->k)
                add_bias(s, &p, j, top, bottom);
        }
}

/* The product whose operands lie transposed if `ta`, `tb`; `left`: `a` is the one in panels. */
static struct product as_read(int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                              int64_t left, int64_t packed, int64_t block, const float *a, const float *b,
                              const float *bias, float *c)
{
    struct product s = {m, n, k, ta ? 1 : lda, ta ? lda : 1, ldb, 0, block, n, (int)tb, 0, (int)packed, a, b, bias, c};
    if (left)
        s = (struct product){n, m, k, tb ? ldb : 1, tb ? 1 : ldb, lda, 0, block, n, !ta, 1, (int)packed, b, a, bias, c};
    s.blocks = (s.m + block - 1) / block;
    return s;
}

static int64_t blocks_of(const struct product *s)
{
    return (s->n + span_of(s->n) - 1) / span_of(s->n) * s->blocks;
}

/* c (m, n) = a (m, k) @ b (k, n) + bias. `packed`: panels are copied even if they lie in whole vectors. `block`: how many
rows (of the other) go by a panel at a time; `grain`: how many such products are a piece. */
void product(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
             int64_t left, int64_t packed, int64_t block, int64_t grain, const float *a, const float *b,
             const float *bias, float *c)
{
    const struct product s = as_read(ta, tb, m, n, k, lda, ldb, left, packed, block, a, b, bias, c);
    share(threads, blocks_of(&s), grain, some_blocks, &s);
}

struct many { int64_t inner, a_outer, a_inner, b_outer, b_inner; struct product first; };

static void some_products(const void *args, int64_t first, int64_t last)
{
    const struct many *all = args;
    for (int64_t i = first; i < last; i++) {
        struct product s = all->first;
        s.a += i / all->inner * all->a_outer + i % all->inner * all->a_inner;
        s.b += i / all->inner * all->b_outer + i % all->inner * all->b_inner;
        s.c += i * s.m * s.n;
        some_blocks(&s, 0, blocks_of(&s));
    }
}

/* `outer` times `inner` products of that kind; by how much the operands of the next one are further on. */
void products(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
              int64_t outer, int64_t inner, int64_t a_outer, int64_t a_inner, int64_t b_outer, int64_t b_inner,
              int64_t grain, const float *a, const float *b, float *c)
{
    const struct many all = {inner, a_outer, a_inner, b_outer, b_inner,
                             as_read(ta, tb, m, n, k, lda, ldb, 0, 0, m, a, b, NULL, c)};
    share(threads, outer * inner, grain, some_products, &all);
}
