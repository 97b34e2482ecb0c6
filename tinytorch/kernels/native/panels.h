/* Products of matrices. The columns of one operand are packed in panels as wide as a tile, and each tile of the result
stays in registers while a whole panel is read. Each element of the other operand is read in place, and multiplies a row
of a panel. */
#ifndef TINYTORCH_PANELS_H
#define TINYTORCH_PANELS_H

#include "tile.h"

/* A tile of products: sums of HIGH rows by WIDE vectors. With AVX2 six by two take as many registers as four by three,
and narrower panels are more often full. */
#if LANES == 8
#define HIGH 6
#define WIDE 2
#else
#define HIGH TALL
#define WIDE THREE
#endif
#define SPAN_OF_PANEL (WIDE * LANES)

/* The number of floats of a packed matrix of `k` rows and `n` columns: whole vectors, padded with zeros. */
INLINE int64_t packed_size(int64_t k, int64_t n)
{
    return k * ((n + LANES - 1) / LANES * LANES);
}

/* The number of columns of a panel of a matrix of `n` columns. All panels have about as many. */
INLINE int64_t span_of(int64_t n)
{
    const int64_t vectors = (n + LANES - 1) / LANES, panels = (vectors + WIDE - 1) / WIDE;
    return panels ? (vectors + panels - 1) / panels * LANES : LANES;
}

/* The number of columns of the panel from column `j` on. */
INLINE int64_t width_of(int64_t n, int64_t j)
{
    const int64_t span = span_of(n);
    return n - j < span ? n - j : span;
}

/* Packs `k` rows of the panel of `width` columns of `b` from `j` on. Rows of `b` begin `ldb` apart. */
static inline void pack_rows(int64_t k, int64_t j, int64_t width, const float *restrict b, int64_t ldb, float *restrict to)
{
    const int64_t whole = packed_size(1, width);
    if (width == SPAN_OF_PANEL) {              /* a constant width, for which compilers call no memcpy */
        for (int64_t r = 0; r < k; r++)
            for (int i = 0; i < WIDE; i++)
                store(to + (r * WIDE + i) * LANES, load(b + r * ldb + j + i * LANES));
        return;
    }
    if (whole > width)
        memset(to, 0, k * whole * sizeof(float));
    for (int64_t r = 0; r < k; r++)
        copy_row(to + r * whole, b + r * ldb + j, width);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define FOUR 4
typedef float four __attribute__((vector_size(16)));
typedef four four_anywhere __attribute__((aligned(4), may_alias));

/* Four elements of each of four columns, as four rows. */
INLINE void turn_four(const float *a, const float *b, const float *c, const float *d, float *to, int64_t apart)
{
    const four p = *(const four_anywhere *)a, q = *(const four_anywhere *)b;
    const four r = *(const four_anywhere *)c, s = *(const four_anywhere *)d;
    const four one = __builtin_shufflevector(p, q, 0, 4, 1, 5), two = __builtin_shufflevector(r, s, 0, 4, 1, 5);
    const four three = __builtin_shufflevector(p, q, 2, 6, 3, 7), last = __builtin_shufflevector(r, s, 2, 6, 3, 7);
    *(four_anywhere *)to = __builtin_shufflevector(one, two, 0, 1, 4, 5);
    *(four_anywhere *)(to + apart) = __builtin_shufflevector(one, two, 2, 3, 6, 7);
    *(four_anywhere *)(to + 2 * apart) = __builtin_shufflevector(three, last, 0, 1, 4, 5);
    *(four_anywhere *)(to + 3 * apart) = __builtin_shufflevector(three, last, 2, 3, 6, 7);
}
#endif
#endif

/* The same for a matrix of `n` columns that is stored transposed: columns begin `ldb` apart. Column 0 is that at
`from`; the columns before it come last. */
static inline void pack_columns(int64_t k, int64_t j, int64_t width, const float *restrict b, int64_t ldb, int64_t from,
                                int64_t n, float *restrict to)
{
    const int64_t whole = packed_size(1, width);
    if (whole > width)
        memset(to, 0, k * whole * sizeof(float));
    for (int64_t start = 0; start < k; start += 16, to += 16 * whole) {    /* a few lines of memory at a time */
        const int64_t rows = k - start < 16 ? k - start : 16;
        int64_t l = 0;
        b += start ? 16 : 0;
#ifdef FOUR
        for (; rows == 16 && l + 4 <= width; l += 4) {
            const float *columns[4];
            for (int i = 0; i < 4; i++)
                columns[i] = b + (j + l + i + from) % n * ldb;
            for (int r = 0; r < 16; r += 4)
                turn_four(columns[0] + r, columns[1] + r, columns[2] + r, columns[3] + r, to + r * whole + l, whole);
        }
#endif
        for (; l < width; l++) {
            const float *column = b + (j + l + from) % n * ldb;
            for (int r = 0; r < rows; r++)
                to[r * whole + l] = column[r];
        }
    }
}

/* In a tile the rows of `a` begin `by_row` apart. The first row of a tile begins at `by_tile` times its number. */
struct panel {
    int64_t k, width, by_tile, by_row, by_term, ldb, ldc;
    int add, turned;
    const float *a, *b;
    float *c;
};

/* panels.c: rows [first, last) of the product of `a` and one panel. */
void times_panel(const struct panel *p, int64_t first, int64_t last);

/* The same where each float of `a` and of the panel is in fact two terms of bfloat16 numbers, the later one in the lower
half; and whether this machine has an instruction for them. It rounds as fused multiply-adds do, except that it takes
numbers below 2^-126 for 0. */
void times_panel_in_pairs(const struct panel *p, int64_t first, int64_t last);
int takes_pairs(void);

/* c (m, n) = a (m, k) @ b, or added to c. `b` is packed and has `packed` rows, of which the first k are used. Rows of
`a` and `c` begin `lda` and `ldc` apart. */
static inline void times_packed(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b,
                                int64_t packed, float *c, int64_t ldc, int add)
{
    const int64_t span = span_of(n);
    for (int64_t j = 0; j < n; j += span, b += packed_size(packed, span)) {
        const int64_t width = width_of(n, j);
        struct panel p = {k, width, lda, lda, 1, packed_size(1, width), ldc, add, 0, a, b, c + j};
        times_panel(&p, 0, m);
    }
}

/* product.c */
void product(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
             int64_t left, int64_t packed, int64_t block, int64_t grain, const float *a, const float *b,
             const float *bias, float *c);

#endif
