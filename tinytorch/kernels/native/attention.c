/* Attention (kernels/attention.py): the softmax between its two products, and the whole attention in one call. */
#include <stdlib.h>
#include "panels.h"

#define QUERIES 32                             /* their scores are in the cache at a time */

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

struct slopes { int64_t keys; float scale; const float *weights, *dots; float *g; };

static void slopes_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct slopes *a = args;
    for (int64_t row = first; row < last; row++) {
        float *restrict g = a->g + row * a->keys;
        const float *restrict weights = a->weights + row * a->keys;
        const float dot = a->dots[row], scale = a->scale;
        for (int64_t i = 0; i < a->keys; i++)
            g[i] = (g[i] - dot) * weights[i] * scale;
    }
}

/* The gradient of the weights becomes that of the scores. `dots`: for each row, the dot product of the
output's gradient and the output. */
void attention_weights_backward(int64_t threads, int64_t rows, int64_t keys, float scale, const float *weights,
                                const float *dots, float *g)
{
    struct slopes args = {keys, scale, weights, dots, g};
    share(threads, rows, rows_in_piece(keys), slopes_of_rows, &args);
}

struct heads {
    int64_t outer, inner, queries, keys, size, wide, causal, joined;
    float scale;
    int64_t q_apart[3], k_apart[3], v_apart[3];          /* strides: outer axis, inner axis, rows */
    const float *q, *k, *v;
    float *out;
    int64_t *failed;
};

/* Panels of a head's keys, which are the columns of the right operand, and of its values. */
static void pack_head(const struct heads *a, const float *k, const float *v, float *keys, float *values)
{
    for (int64_t j = 0; j < a->keys; j += span_of(a->keys)) {
        const int64_t width = width_of(a->keys, j);
        pack_columns(a->size, j, width, k, a->k_apart[2], 0, a->keys, keys);
        keys += packed_size(a->size, width);
    }
    for (int64_t j = 0; j < a->wide; j += span_of(a->wide)) {
        const int64_t width = width_of(a->wide, j);
        pack_rows(a->keys, j, width, v, a->v_apart[2], values);
        values += packed_size(a->keys, width);
    }
}

/* Rows [top, bottom) of the result of a head. They go to `out`, `distance` apart. */
static void attend_rows(const struct heads *a, int64_t top, int64_t bottom, const float *q, const float *keys,
                        const float *values, float *scores, float *out, int64_t distance)
{
    const int64_t seen = a->causal && bottom < a->keys ? bottom : a->keys, pitch = packed_size(1, a->keys);
    for (int64_t j = 0; j < seen; j += span_of(a->keys)) {
        const int64_t width = packed_size(1, width_of(a->keys, j));       /* whole vectors: the padding is not read */
        struct panel p = {a->size, width, a->q_apart[2], a->q_apart[2], 1, width, pitch, 0, 0, q + top * a->q_apart[2],
                          keys + a->size * j, scores + j};
        times_panel(&p, 0, bottom - top);
    }
    float total[QUERIES];
    for (int64_t i = 0; i < bottom - top; i++) {
        const int64_t count = a->causal && top + i + 1 < seen ? top + i + 1 : seen;
        total[i] = weigh(scores + i * pitch, count, a->scale);
        for (int64_t j = count; j < seen; j++)
            scores[i * pitch + j] = 0;
    }
    times_packed(bottom - top, a->wide, seen, scores, pitch, values, a->keys, out, distance, 0);
    for (int64_t i = 0; i < bottom - top; i++)
        if (total[i] != 0) {
            const float share = 1.0f / total[i];
            for (int64_t j = 0; j < a->wide; j++)
                out[i * distance + j] *= share;
        }
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
        if (!top || at == first)
            pack_head(a, a->k + i * a->k_apart[0] + j * a->k_apart[1], a->v + i * a->v_apart[0] + j * a->v_apart[1],
                      keys, values);
        float *out = a->out + (a->joined ? i * a->queries * distance + j * a->wide : head * a->queries * distance);
        attend_rows(a, top, bottom, a->q + i * a->q_apart[0] + j * a->q_apart[1], keys, values, scores,
                    out + top * distance, distance);
    }
    free(memory);
}

/* softmax(scale q k^T) v for `outer` times `inner` heads: q (queries, size), k (keys, size), v (keys, wide), each with
the given strides of heads and rows. The result is (outer, inner, queries, wide), or (outer, queries, inner, wide) if
`joined`. `grain`: the number of blocks of queries in a piece. Returns whether memory was missing. */
int64_t attend(int64_t threads, int64_t outer, int64_t inner, int64_t queries, int64_t keys, int64_t size, int64_t wide,
               int64_t causal, int64_t joined, int64_t grain, float scale, int64_t q_outer,
               int64_t q_inner, int64_t ldq, int64_t k_outer, int64_t k_inner, int64_t ldk, int64_t v_outer,
               int64_t v_inner, int64_t ldv, const float *q, const float *k, const float *v, float *out)
{
    int64_t failed = 0;
    struct heads args = {outer, inner, queries, keys, size, wide, causal, joined, scale, {q_outer, q_inner, ldq},
                         {k_outer, k_inner, ldk}, {v_outer, v_inner, ldv}, q, k, v, out, &failed};
    share(threads, outer * inner * ((queries + QUERIES - 1) / QUERIES), grain, some_heads, &args);
    return failed;
}
