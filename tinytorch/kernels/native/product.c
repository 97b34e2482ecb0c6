/* Products of two matrices. The right one is read in panels (panels.h). If the left one is to be read in panels, the
transposed product is computed. */
#include <stdlib.h>

#include "halves.h"
#include "panels.h"

/* The largest number of terms of each sum at a time: so much of a panel stays in the nearest cache. With AVX2 the next
cache provides longer panels fast enough, and each tile of the result is added to less often; but not if the other
operand is transposed, so that each of its elements takes a line of the cache. */
#define TERMS 384
#if LANES == 8
#define MOST_TERMS 800
#else
#define MOST_TERMS TERMS
#endif

struct product {
    int64_t m, n, k, terms, by_row, by_term, ldb, blocks, block, ldc;
    int turned, result_turned, packed, tiled, pairs;
    const float *a, *b, *bias;
    float *c;
};

/* `m`, rounded up to whole tiles of rows. */
INLINE int64_t tiled_rows(int64_t m)
{
    return (m + HIGH - 1) / HIGH * HIGH;
}

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

/* Blocks of rows of the result, panel by panel. All panels get the same terms before the next ones. */
static void some_blocks(const void *args, int64_t first, int64_t last)
{
    const struct product *s = args;
    ALIGNED float memory[MOST_TERMS * SPAN_OF_PANEL];
    for (int64_t r = 0; r < s->k; r += s->terms)
        for (int64_t at = first; at < last; at++) {
            const int64_t j = at / s->blocks * span_of(s->n), top = at % s->blocks * s->block, width = width_of(s->n, j);
            const int64_t bottom = top + s->block < s->m ? top + s->block : s->m;
            const int64_t count = s->k - r < s->terms ? s->k - r : s->terms;
            struct panel p = {count, width, s->tiled ? count : s->by_row, s->by_row, s->by_term, packed_size(1, width),
                              s->ldc, r > 0, s->result_turned, s->a + r * (s->tiled ? tiled_rows(s->m) : s->by_term),
                              memory, s->c + (s->result_turned ? j * s->ldc : j)};
            if (s->turned) {
                if (!top || at == first)
                    pack_columns(count, j, width, s->b + r, s->ldb, 0, s->n, memory);
            } else if (!s->packed && width % LANES == 0) {
                p.b = s->b + r * s->ldb + j;
                p.ldb = s->ldb;
            } else if (!top || at == first) {
                pack_rows(count, j, width, s->b + r * s->ldb, s->ldb, memory);
            }
            if (s->pairs)
                times_panel_in_pairs(&p, top, bottom);
            else
                times_panel(&p, top, bottom);
            if (s->bias && r + count == s->k)
                add_bias(s, &p, j, top, bottom);
        }
}

/* Whether the operand that is not in panels is stored transposed: each element of a row is in another line of
memory. */
INLINE int by_lines(const struct product *s)
{
    return s->by_row == 1 && s->by_term != 1;
}

/* Whether its elements are read often enough to be copied to tiles first. */
INLINE int worth_tiles(const struct product *s)
{
    return s->n >= 8 * SPAN_OF_PANEL;
}

/* The number of terms of all parts of `k` terms but the last one: at most `most`. */
INLINE int64_t terms_of(int64_t k, int64_t most)
{
    const int64_t parts = (k + most - 1) / most;
    return parts ? (k + parts - 1) / parts : 1;
}

/* The product of operands that are stored transposed if `ta`, `tb`. `left`: `a` is the one in panels. */
static struct product as_read(int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                              int64_t left, int64_t packed, int64_t block, const float *a, const float *b,
                              const float *bias, float *c)
{
    struct product s = {m, n, k, 1, ta ? 1 : lda, ta ? lda : 1, ldb, 0, 0, n, (int)tb, 0, (int)packed, 0, 0, a, b,
                        bias, c};
    if (left)
        s = (struct product){n, m, k, 1, tb ? ldb : 1, tb ? 1 : ldb, lda, 0, 0, n, !ta, 1, (int)packed, 0, 0, b, a,
                             bias, c};
    s.terms = terms_of(k, by_lines(&s) && !worth_tiles(&s) ? TERMS : MOST_TERMS);
    s.blocks = (s.m + block - 1) / block;
    s.block = s.blocks ? tiled_rows((s.m + s.blocks - 1) / s.blocks) : 1;
    s.blocks = (s.m + s.block - 1) / s.block;
    return s;
}

static int64_t blocks_of(const struct product *s)
{
    return (s->n + span_of(s->n) - 1) / span_of(s->n) * s->blocks;
}

/* So many floats of the result, which are added to term after term, stay in the cache of a core. */
#define NEAR (1 << 17)

/* The number of blocks in a piece: at least `grain`. A panel is packed once in each piece, so that few threads get large
pieces, of whole panels where there are enough of them. No number depends on the pieces. */
static int64_t piece_of(const struct product *s, int64_t threads, int64_t grain)
{
    const int64_t all = blocks_of(s), near = NEAR / (s->block * span_of(s->n) + 1);
    int64_t most = threads < 2 ? all : all / (4 * threads);
    if (s->terms < s->k && most > near)
        most = near;
    if (most > s->blocks)
        most -= most % s->blocks;
    return most > grain ? most : grain;
}

struct tiling { struct product s; float *to; };

/* Copies terms [first, last) of an operand that is stored transposed, each a row of it, to the tiles of their part. */
static void some_tiles(const void *args, int64_t first, int64_t last)
{
    const struct tiling *t = args;
    const struct product *s = &t->s;
    for (int64_t r = first; r < last; r++) {
        const int64_t start = r / s->terms * s->terms, count = s->k - start < s->terms ? s->k - start : s->terms;
        const float *from = s->a + r * s->by_term;
        float *to = t->to + start * tiled_rows(s->m) + (r - start) * HIGH;
        int64_t i = 0;
        for (; i + HIGH <= s->m; i += HIGH, to += count * HIGH)
            for (int l = 0; l < HIGH; l++)
                to[l] = from[i + l];
        for (int64_t l = 0; l < s->m - i; l++)
            to[l] = from[i + l];
    }
}

/* Computes the product that is described, on several threads. */
static void compute(int64_t threads, int64_t grain, struct product *s)
{
    float *tiles = by_lines(s) && worth_tiles(s) ? malloc(tiled_rows(s->m) * s->k * sizeof(float)) : NULL;
    if (tiles) {
        const struct tiling args = {*s, tiles};
        share(threads, s->k, rows_in_piece(s->m), some_tiles, &args);
        s->a = tiles, s->by_term = HIGH, s->tiled = 1;
    }
    share(threads, blocks_of(s), piece_of(s, threads, grain), some_blocks, s);
    free(tiles);
}

/* c (m, n) = a (m, k) @ b (k, n) + bias. `packed`: panels are copied even if they consist of whole vectors. `block`:
the number of rows of the other operand that use a panel at a time; `grain`: the number of such products in a piece. */
void product(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
             int64_t left, int64_t packed, int64_t block, int64_t grain, const float *a, const float *b,
             const float *bias, float *c)
{
    struct product s = as_read(ta, tb, m, n, k, lda, ldb, left, packed, block, a, b, bias, c);
    compute(threads, grain, &s);
}

/* A matrix of `rows` rows of bfloat16 numbers, and its copy with rows of `width` floats, or of as many pairs. `down`:
neighbouring terms are in rows of their own. `terms`: the number of terms of a part. Parts begin with a new pair. */
struct widened { int64_t rows, columns, width, terms; int down; const uint16_t *from; float *to; };

static void some_floats(const void *args, int64_t first, int64_t last)
{
    const struct widened *w = args;
    for (int64_t i = first; i < last; i++)
        floats_of(0, w->columns, w->from + i * w->columns, w->to + i * w->width);
}

/* The place of the first term of pair r, of which parts have `pairs`. `two`: whether it has a second term. */
INLINE int64_t term_of(int64_t r, int64_t pairs, int64_t terms, int64_t k, int *two)
{
    const int64_t part = r / pairs, term = part * terms + r % pairs * 2, end = (part + 1) * terms;
    *two = term + 1 < (end < k ? end : k);
    return term;
}

/* Pairs of terms as halves of floats, the earlier one in the upper half (panels.h). */
static void some_pairs(const void *args, int64_t first, int64_t last)
{
    const struct widened *w = args;
    const int64_t pairs = (w->terms + 1) / 2;
    int two;
    for (int64_t i = first; i < last; i++) {
        uint32_t *restrict to = (uint32_t *)w->to + i * w->width;
        if (w->down) {
            const uint16_t *restrict one = w->from + term_of(i, pairs, w->terms, w->rows, &two) * w->columns;
            const uint16_t *restrict next = two ? one + w->columns : one;
            const uint32_t mask = two ? 0xffffu : 0;
            for (int64_t j = 0; j < w->columns; j++)
                to[j] = (uint32_t)one[j] << 16 | (next[j] & mask);
            continue;
        }
        for (int64_t r = 0; r < w->width; r += pairs) {
            const int64_t there = w->width - r < pairs ? w->width - r : pairs;
            const uint16_t *restrict row = w->from + i * w->columns + term_of(r, pairs, w->terms, w->columns, &two);
            term_of(r + there - 1, pairs, w->terms, w->columns, &two);
            for (int64_t j = 0; j < there - !two; j++)
                to[r + j] = (uint32_t)row[2 * j] << 16 | row[2 * j + 1];
            if (!two)
                to[r + there - 1] = (uint32_t)row[2 * (there - 1)] << 16;
        }
    }
}

/* The exponent of the smallest number but 0, which is 0 for the smallest numbers of all. */
static int64_t least_exponent(int64_t n, const uint16_t *from)
{
    uint16_t least = 0xffff;
    TOTAL(min, least)
    for (int64_t i = 0; i < n; i++) {
        const uint16_t size = (uint16_t)((from[i] & 0x7fff) - 1);      /* 65535 for 0 */
        least = size < least ? size : least;
    }
    return least == 0xffff ? 255 : (least + 1) >> 7;
}

/* The same product of bfloat16 numbers, in the bits that their product as floats has. Pairs of terms are added by one
instruction where the machine has it, and where no product and no sum can be as small as the numbers that it takes
for 0: all are multiples of the unit in the last place of the smallest product. */
int64_t bfloat16_product(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t left,
                         int64_t packed, int64_t block, int64_t grain, const uint16_t *a, const uint16_t *b, float *c)
{
    const int64_t high[] = {ta ? k : m, tb ? n : k}, wide[] = {ta ? m : k, tb ? k : n};
    const int64_t down[] = {ta, !tb}, terms = terms_of(k, TERMS), one = least_exponent(m * k, a);
    const int64_t other = one && takes_pairs() ? least_exponent(k * n, b) : 0;
    const int pairs = other && one + other >= 142;     /* 2^-126 or more, by exponents that are 127 too large */
    const int64_t half = (terms + 1) / 2, whole = k / terms * half + (k % terms + 1) / 2;
    float *copies[2];
    int64_t width[2];
    for (int i = 0; i < 2; i++) {
        const int64_t rows = pairs && down[i] ? whole : high[i];
        width[i] = pairs && !down[i] ? whole : wide[i];
        copies[i] = malloc((rows * width[i] + 1) * sizeof(float));
        const struct widened args = {high[i], wide[i], width[i], terms, (int)down[i], i ? b : a, copies[i]};
        if (copies[i])
            share(threads, rows, light_rows_in_piece(width[i]), pairs ? some_pairs : some_floats, &args);
    }
    if (copies[0] && copies[1]) {
        struct product s = as_read(ta, tb, m, n, pairs ? whole : k, width[0], width[1], left, packed, block, copies[0],
                                   copies[1], NULL, c);
        if (pairs)
            s.pairs = 1, s.terms = half;
        compute(threads, grain, &s);
    }
    const int64_t failed = copies[0] && copies[1] ? 0 : NO_MEMORY;
    free(copies[0]);
    free(copies[1]);
    return failed;
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

/* `outer` times `inner` such products, with the given strides of their operands. */
void products(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
              int64_t outer, int64_t inner, int64_t a_outer, int64_t a_inner, int64_t b_outer, int64_t b_inner,
              int64_t grain, const float *a, const float *b, float *c)
{
    const struct many all = {inner, a_outer, a_inner, b_outer, b_inner,
                             as_read(ta, tb, m, n, k, lda, ldb, 0, 0, m, a, b, NULL, c)};
    share(threads, outer * inner, grain, some_products, &all);
}

/* The same products by NumPy's inner loop of matmul for floats, which has the address `loop`: the numbers of np.matmul
without its way to the loop. */
void numpy_products(int64_t threads, int64_t loop, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda,
                    int64_t ldb, int64_t outer, int64_t inner, int64_t a_outer, int64_t a_inner, int64_t b_outer,
                    int64_t b_inner, const float *a, const float *b, float *c)
{
    enum { STEP = sizeof(float) };
    void (*const run)(char **, const intptr_t *, const intptr_t *, const void *) =
        (void (*)(char **, const intptr_t *, const intptr_t *, const void *))(intptr_t)loop;
    const intptr_t sizes[] = {inner, m, k, n};
    const intptr_t steps[] = {
        a_inner * STEP, b_inner * STEP, m * n * STEP,              /* from a product to the next one */
        (ta ? 1 : lda) * STEP, (ta ? lda : 1) * STEP, (tb ? 1 : ldb) * STEP, (tb ? ldb : 1) * STEP, n * STEP, STEP};
    (void)threads;
    for (int64_t i = 0; i < outer; i++) {
        char *operands[] = {(char *)(intptr_t)(a + i * a_outer), (char *)(intptr_t)(b + i * b_outer),
                            (char *)(c + i * inner * m * n)};
        run(operands, sizes, steps, NULL);
    }
}
