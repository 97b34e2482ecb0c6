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

#define NAMED(name) name
#define TARGET
#include "tiles.h"
#undef NAMED
#undef TARGET

#ifdef PAIRED
#include <immintrin.h>

#define NAMED(name) name##_in_pairs
#define TARGET __attribute__((target("avx512bf16")))

/* The instruction adds the product of the second numbers to the sum, rounds, adds that of the first ones and rounds:
`paired` in product.c has stored each pair the other way round. */
TARGET INLINE vec pair_sum(vec sum, vec x, vec y)
{
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)x, (__m512bh)y);
}

/* `tile_sums` for pairs of bfloat16 numbers, each in the place of a float. */
TARGET INLINE void tile_sums_in_pairs(int rows, int vectors, int64_t k, const float *restrict a, int64_t by_row,
                                      int64_t by_term, const float *restrict b, int64_t ldb, vec sums[HIGH][WIDE])
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            sums[i][j] = (vec){0};
    for (int64_t r = 0; r < k; r++) {
        vec right[WIDE];
        for (int j = 0; j < vectors; j++)
            right[j] = load(b + r * ldb + j * LANES);
        for (int i = 0; i < rows; i++) {
            const vec left = (vec)_mm512_set1_ps(a[i * by_row + r * by_term]);
            for (int j = 0; j < vectors; j++)
                sums[i][j] = pair_sum(sums[i][j], right[j], left);
        }
    }
}

#include "tiles.h"

/* A bfloat16 number between 1/16 and 32, of either sign. */
INLINE uint32_t some_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8 & 0x83ffu) + 0x3d80u;
}

/* Whether the instruction rounds as fused multiply-adds do: Intel's manual says so, and this machine is tried. */
TARGET static int tried(void)
{
    uint32_t state = 1;
    for (int trial = 0; trial < 64; trial++) {
        uint32_t from[3][LANES];
        float given[3][LANES], made[LANES];
        for (int i = 0; i < 3 * LANES; i++)
            from[i / LANES][i % LANES] = some_number(&state) << 16 | some_number(&state);
        memcpy(given, from, sizeof given);
        store(made, pair_sum(load(given[0]), load(given[1]), load(given[2])));
        for (int i = 0; i < LANES; i++) {
            const uint32_t x = from[1][i], y = from[2][i];
            const float sum = fmaf(of_bits(x & 0xffff0000u), of_bits(y & 0xffff0000u), given[0][i]);
            if (bits_of(fmaf(of_bits(x << 16), of_bits(y << 16), sum)) != bits_of(made[i]))
                return 0;
        }
    }
    return 1;
}

int takes_pairs(void)
{
    static int known;                          /* 0: not yet, 1: yes, -1: no */
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!found) {
        __builtin_cpu_init();
        found = __builtin_cpu_supports("avx512bf16") && tried() ? 1 : -1;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found > 0;
}
#else
int takes_pairs(void)
{
    return 0;
}

void times_panel_in_pairs(const struct panel *p, int64_t first, int64_t last)
{
    times_panel(p, first, last);               /* is never called */
}
#endif
