/* What attention does to scores between its products (ops/nn/attention.py). */
#include "common.h"

struct scores { int64_t queries, keys, causal, divided; float scale; float *scores, *total; };

static void weights_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct scores *a = args;
    for (int64_t row = first; row < last; row++) {
        float *restrict s = a->scores + row * a->keys;
        const int64_t seen = row % a->queries + 1, count = a->causal && seen < a->keys ? seen : a->keys;
        const float scale = a->scale;
        float top = -INFINITY, total = 0;
        TOTAL(max, top)
        for (int64_t i = 0; i < count; i++)
            top = s[i] * scale > top ? s[i] * scale : top;
        if (top == -INFINITY)
            top = 0;
        TOTAL(+, total)
        for (int64_t i = 0; i < count; i++) {
            s[i] = exp_of(s[i] * scale - top);
            total += s[i];
        }
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

/* Scores (rows, keys) become exp(scale scores - the largest), 0 for keys behind the query if `causal`; divided by their
sums, if those are wanted so. `queries`: after how many rows the next head begins. */
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

/* The gradient of weights becomes that of scores; `dots`: of the gradient and what was attended to, by row. */
void attention_weights_backward(int64_t threads, int64_t rows, int64_t keys, float scale, const float *weights,
                                const float *dots, float *g)
{
    struct slopes args = {keys, scale, weights, dots, g};
    share(threads, rows, rows_in_piece(keys), slopes_of_rows, &args);
}
