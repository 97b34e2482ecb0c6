/* Attention (kernels/attention.py): the softmax between its two products, and the whole attention in one call. */
#include <stdlib.h>
#include "panels.h"

#define QUERIES 32                             /* their scores are in the cache at a time */
#define MOST_QUERIES 96                        /* for the gradients, where keys are few */
#define SCORES 8192                            /* and so many scores */

struct scores { int64_t queries, keys, causal, divided; float scale; float *scores, *total; };

/* `count` scores s become exp(scale s - max(scale s)). Returns their sum. */
INLINE float weigh(float *restrict s, int64_t count, float scale)
{
    float top = -INFINITY, total = 0;
    TOTAL(max, top)
    for (int64_t i = 0; i < count; i++)
        top = s[i] * scale > top ? s[i] * scale : top;
    if (top == -INFINITY)
        top = 0;
    TOTAL(+, total)
    for (int64_t i = 0; i < count; i++) {
        s[i] = normal_exp_of(s[i] * scale - top);
        total += s[i];
    }
    return total;
}

static void weights_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct scores *a = args;
    for (int64_t row = first; row < last; row++) {
        float *restrict s = a->scores + row * a->keys;
        const int64_t seen = row % a->queries + 1, count = a->causal && seen < a->keys ? seen : a->keys;
        const float total = weigh(s, count, a->scale);
        for (int64_t i = count; i < a->keys; i++)
            s[i] = 0;
        if (a->divided && total != 0) {
            const float share = 1.0f / total;
            for (int64_t i = 0; i < count; i++)
                s[i] *= share;
        }
        a->total[row] = total;
    }
}

/* Scores s (rows, keys) become exp(scale s - max(scale s)), and 0 for keys behind the query if `causal`; `divided` by
their sums, if wanted. `queries`: the number of rows of a head. */
void attention_weights(int64_t threads, int64_t rows, int64_t keys, int64_t queries, int64_t causal,
                       int64_t divided, float scale, float *scores, float *total)
{
    struct scores args = {queries, keys, causal, divided, scale, scores, total};
    share(threads, rows, rows_in_piece(keys), weights_of_rows, &args);
}

struct heads {
    int64_t outer, inner, queries, keys, size, wide, causal, joined;
    float scale;
    int64_t q_apart[3], k_apart[3], v_apart[3];          /* strides: outer axis, inner axis, rows */
    int64_t mask_apart[3];                               /* 0 where one row or matrix serves for several */
    const float *q, *k, *v, *mask;
    float *out;
    int64_t *failed;
};

/* Panels of the rows of a matrix, which are the columns of the right operand. */
static void pack_turned(int64_t rows, int64_t size, const float *x, int64_t apart, float *to)
{
    for (int64_t j = 0; j < rows; j += span_of(rows)) {
        const int64_t width = width_of(rows, j);
        pack_columns(size, j, width, x, apart, 0, rows, to);
        to += packed_size(size, width);
    }
}

/* Panels of a matrix of `rows` rows. */
static void pack_whole(int64_t rows, int64_t size, const float *x, int64_t apart, float *to)
{
    for (int64_t j = 0; j < size; j += span_of(size)) {
        const int64_t width = width_of(size, j);
        pack_rows(rows, j, width, x, apart, to);
        to += packed_size(rows, width);
    }
}

/* The products of `rows` rows of `size` numbers, `apart` from each other, and the first `seen` of `keys` packed rows. */
static void scores_of(int64_t rows, int64_t size, int64_t seen, int64_t keys, const float *x, int64_t apart,
                      const float *packed, float *scores)
{
    for (int64_t j = 0; j < seen; j += span_of(keys)) {
        const int64_t width = packed_size(1, width_of(keys, j));       /* whole vectors: the padding is not read */
        struct panel p = {size, width, apart, apart, 1, width, packed_size(1, keys), 0, 0, x, packed + size * j,
                          scores + j};
        times_panel(&p, 0, rows);
    }
}

/* The number of keys that rows [top, bottom) see. */
INLINE int64_t seen_by(const struct heads *a, int64_t bottom)
{
    return a->causal && bottom < a->keys ? bottom : a->keys;
}

/* Scores of rows [top, bottom) become their weights without the division by `total`. Row 0 of the mask of the head is
that at `mask`. */
static void weigh_rows(const struct heads *a, int64_t top, int64_t bottom, const float *mask, float *scores, float *total)
{
    const int64_t seen = seen_by(a, bottom), pitch = packed_size(1, a->keys);
    for (int64_t i = 0; i < bottom - top; i++) {
        const int64_t count = a->causal && top + i + 1 < seen ? top + i + 1 : seen;
        float *restrict s = scores + i * pitch;
        if (mask) {
            const float *restrict added = mask + (top + i) * a->mask_apart[2];
            for (int64_t j = 0; j < count; j++)
                s[j] = s[j] * a->scale + added[j];
        }
        total[i] = weigh(s, count, mask ? 1.0f : a->scale);
        for (int64_t j = count; j < seen; j++)
            s[j] = 0;
    }
}

/* Rows [top, bottom) of the result of a head. They go to `out`, `distance` apart. */
static void attend_rows(const struct heads *a, int64_t top, int64_t bottom, const float *q, const float *mask,
                        const float *keys, const float *values, float *scores, float *out, int64_t distance)
{
    const int64_t seen = seen_by(a, bottom), pitch = packed_size(1, a->keys);
    float total[QUERIES];
    scores_of(bottom - top, a->size, seen, a->keys, q + top * a->q_apart[2], a->q_apart[2], keys, scores);
    weigh_rows(a, top, bottom, mask, scores, total);
    times_packed(bottom - top, a->wide, seen, scores, pitch, values, a->keys, out, distance, 0);
    for (int64_t i = 0; i < bottom - top; i++)
        if (total[i] != 0) {
            const float share = 1.0f / total[i];
            for (int64_t j = 0; j < a->wide; j++)
                out[i * distance + j] *= share;
        }
}

/* Where the matrix of head (i, j) begins. */
INLINE const float *of_head(const float *x, const int64_t apart[3], int64_t i, int64_t j)
{
    return x ? x + i * apart[0] + j * apart[1] : NULL;
}

static void some_heads(const void *args, int64_t first, int64_t last)
{
    const struct heads *a = args;
    const int64_t of_keys = packed_size(a->size, a->keys), of_values = packed_size(a->keys, a->wide);
    const int64_t blocks = (a->queries + QUERIES - 1) / QUERIES, distance = a->joined ? a->inner * a->wide : a->wide;
    float *memory = malloc((of_keys + of_values + QUERIES * packed_size(1, a->keys) + LINE) * sizeof(float));
    float *keys = on_line(memory), *values = keys + of_keys, *scores = values + of_values;
    if (!memory)
        fail(a->failed, NO_MEMORY);
    for (int64_t at = first; at < last && memory; at++) {
        const int64_t head = at / blocks, top = at % blocks * QUERIES, i = head / a->inner, j = head % a->inner;
        const int64_t bottom = top + QUERIES < a->queries ? top + QUERIES : a->queries;
        if (!top || at == first) {
            pack_turned(a->keys, a->size, of_head(a->k, a->k_apart, i, j), a->k_apart[2], keys);
            pack_whole(a->keys, a->wide, of_head(a->v, a->v_apart, i, j), a->v_apart[2], values);
        }
        float *out = a->out + (a->joined ? i * a->queries * distance + j * a->wide : head * a->queries * distance);
        attend_rows(a, top, bottom, of_head(a->q, a->q_apart, i, j), of_head(a->mask, a->mask_apart, i, j), keys, values,
                    scores, out + top * distance, distance);
    }
    free(memory);
}

/* Whether the rows of a mask of `count` numbers end before it does. */
INLINE int mask_fits(const struct heads *a, int64_t count)
{
    const int64_t *apart = a->mask_apart;
    return !a->mask || (apart[0] >= 0 && apart[1] >= 0 && apart[2] >= 0 && (a->outer - 1) * apart[0]
        + (a->inner - 1) * apart[1] + (a->queries - 1) * apart[2] + a->keys <= count);
}

/* softmax(scale q k^T + mask) v for `outer` times `inner` heads: q (queries, size), k (keys, size), v (keys, wide), each
with the given strides of heads and rows; mask (queries, keys), or none. The result is (outer, inner, queries, wide), or
(outer, queries, inner, wide) if `joined`. `grain`: the number of blocks of queries in a piece. Returns whether memory
was missing. */
int64_t attend(int64_t threads, int64_t outer, int64_t inner, int64_t queries, int64_t keys, int64_t size, int64_t wide,
               int64_t causal, int64_t joined, int64_t grain, float scale, int64_t q_outer,
               int64_t q_inner, int64_t ldq, int64_t k_outer, int64_t k_inner, int64_t ldk, int64_t v_outer,
               int64_t v_inner, int64_t ldv, int64_t m_outer, int64_t m_inner, int64_t ldm, int64_t m_size,
               const float *q, const float *k, const float *v, const float *mask, float *out)
{
    int64_t failed = 0;
    struct heads args = {outer, inner, queries, keys, size, wide, causal, joined, scale, {q_outer, q_inner, ldq},
                         {k_outer, k_inner, ldk}, {v_outer, v_inner, ldv}, {m_outer, m_inner, ldm}, q, k, v, mask, out,
                         &failed};
    if (!mask_fits(&args, m_size))
        return OUTSIDE;
    share(threads, outer * inner * ((queries + QUERIES - 1) / QUERIES), grain, some_heads, &args);
    return failed;
}

struct gradients {
    struct heads heads;
    int64_t g_apart[3];
    const float *g;
    float *of_query, *of_key, *of_value;
};

/* c (m, n) += a^T b, for a (k, m) with rows `pitch` apart and b (k, n) in panels. */
static void add_turned(int64_t m, int64_t n, int64_t k, const float *a, int64_t pitch, const float *b, float *c)
{
    for (int64_t j = 0; j < n; j += span_of(n)) {
        const int64_t width = width_of(n, j);
        struct panel p = {k, width, 1, 1, pitch, packed_size(1, width), n, 1, 0, a, b, c + j};
        times_panel(&p, 0, m);
        b += packed_size(k, width);
    }
}

/* For rows of weights without the division by `total`, and of their gradients, the weights and the gradients of the
scores. The mean of the gradients is that of the same numbers, so that it is theirs where there is one key. */
static void slopes_of_scores(const struct heads *a, int64_t rows, int64_t seen, const float *total, float *weights,
                             float *slopes)
{
    const int64_t pitch = packed_size(1, a->keys);
    for (int64_t i = 0; i < rows; i++) {
        float *restrict w = weights + i * pitch, *restrict s = slopes + i * pitch;
        const float share = total[i] != 0 ? 1.0f / total[i] : 1.0f, scale = a->scale;
        float mean = 0;
        TOTAL(+, mean)
        for (int64_t j = 0; j < seen; j++) {
            w[j] *= share;
            mean += w[j] * s[j];
        }
        for (int64_t j = 0; j < seen; j++)
            s[j] = (s[j] - mean) * w[j] * scale;
    }
}

/* The number of queries whose gradients are computed at a time. All blocks have about as many. Of causal attention small
blocks leave out more scores. */
static int64_t block_of(const struct heads *a)
{
    const int64_t fit = a->causal ? QUERIES : SCORES / packed_size(1, a->keys), least = fit < QUERIES ? QUERIES : fit;
    const int64_t most = least > MOST_QUERIES ? MOST_QUERIES : least, blocks = (a->queries + most - 1) / most;
    return (a->queries + blocks - 1) / blocks;
}

/* The gradients of whole heads, block of queries by block. */
static void some_gradients(const void *args, int64_t first, int64_t last)
{
    const struct gradients *b = args;
    const struct heads *a = &b->heads;
    const int64_t of_keys = packed_size(a->size, a->keys), of_values = packed_size(a->wide, a->keys);
    const int64_t of_rows = packed_size(a->keys, a->size), pitch = packed_size(1, a->keys);
    const int64_t each = block_of(a), of_block = each * packed_size(1, a->size > a->wide ? a->size : a->wide);
    float *memory = malloc((of_keys + of_values + of_rows + 2 * each * pitch + of_block + LINE) * sizeof(float));
    float *keys = on_line(memory), *values = keys + of_keys, *key_rows = values + of_values, *block = key_rows + of_rows;
    float *weights = block + of_block, *slopes = weights + each * pitch;
    if (!memory)
        fail(a->failed, NO_MEMORY);
    for (int64_t head = first; head < last && memory; head++) {
        const int64_t i = head / a->inner, j = head % a->inner;
        const float *q = of_head(a->q, a->q_apart, i, j), *k = of_head(a->k, a->k_apart, i, j);
        const float *g = of_head(b->g, b->g_apart, i, j);
        float *of_query = b->of_query + head * a->queries * a->size, *of_key = b->of_key + head * a->keys * a->size;
        float *of_value = b->of_value + head * a->keys * a->wide;
        pack_turned(a->keys, a->size, k, a->k_apart[2], keys);
        pack_turned(a->keys, a->wide, of_head(a->v, a->v_apart, i, j), a->v_apart[2], values);
        pack_whole(a->keys, a->size, k, a->k_apart[2], key_rows);
        memset(of_key, 0, a->keys * a->size * sizeof(float));
        memset(of_value, 0, a->keys * a->wide * sizeof(float));
        for (int64_t top = 0; top < a->queries; top += each) {
            const int64_t bottom = top + each < a->queries ? top + each : a->queries, rows = bottom - top;
            const int64_t seen = seen_by(a, bottom);
            const float *some = g + top * b->g_apart[2];
            float total[MOST_QUERIES];
            scores_of(rows, a->size, seen, a->keys, q + top * a->q_apart[2], a->q_apart[2], keys, weights);
            weigh_rows(a, top, bottom, of_head(a->mask, a->mask_apart, i, j), weights, total);
            scores_of(rows, a->wide, seen, a->keys, some, b->g_apart[2], values, slopes);
            slopes_of_scores(a, rows, seen, total, weights, slopes);
            times_packed(rows, a->size, seen, slopes, pitch, key_rows, a->keys, of_query + top * a->size, a->size, 0);
            pack_whole(rows, a->size, q + top * a->q_apart[2], a->q_apart[2], block);
            add_turned(seen, a->size, rows, slopes, pitch, block, of_key);
            pack_whole(rows, a->wide, some, b->g_apart[2], block);
            add_turned(seen, a->wide, rows, weights, pitch, block, of_value);
        }
    }
    free(memory);
}

/* The gradients of q, k and v of `attend`, in C order, from that of its result, g, with the given strides. The weights are
computed once more for a block of queries at a time. `grain`: the number of heads in a piece. */
int64_t attend_backward(int64_t threads, int64_t outer, int64_t inner, int64_t queries, int64_t keys, int64_t size,
                        int64_t wide, int64_t causal, int64_t grain, float scale, int64_t q_outer, int64_t q_inner,
                        int64_t ldq, int64_t k_outer, int64_t k_inner, int64_t ldk, int64_t v_outer, int64_t v_inner,
                        int64_t ldv, int64_t g_outer, int64_t g_inner, int64_t ldg, int64_t m_outer, int64_t m_inner,
                        int64_t ldm, int64_t m_size, const float *q, const float *k, const float *v, const float *g,
                        const float *mask, float *of_query, float *of_key, float *of_value)
{
    int64_t failed = 0;
    struct gradients args = {{outer, inner, queries, keys, size, wide, causal, 0, scale, {q_outer, q_inner, ldq},
                              {k_outer, k_inner, ldk}, {v_outer, v_inner, ldv}, {m_outer, m_inner, ldm}, q, k, v, mask,
                              NULL, &failed}, {g_outer, g_inner, ldg}, g, of_query, of_key, of_value};
    if (!mask_fits(&args.heads, m_size))
        return OUTSIDE;
    share(threads, outer * inner, grain, some_gradients, &args);
    return failed;
}
