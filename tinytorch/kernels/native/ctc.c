/* Connectionist temporal classification (kernels/ctc.py). The states of an example are its labels with a blank before,
between and behind them. Each example has rows of scores by itself: for each step the log probabilities of all states,
with two numbers before or behind them for states that do not exist. */
#include "single.h"

enum { APART = 2 };                            /* how far a state can be from the one before it */

struct ctc {
    int64_t steps, batch, classes, width, blank, states;
    const float *log_p, *g, *losses;
    const place *labels, *frames, *lengths;
    float *alpha, *room, *out;
    int64_t *failed;
};

/* log(exp(x) + exp(y)). */
INLINE float log_of_sum(float x, float y)
{
    const float apart = x == y ? 0.0f : -fabsf(x - y), more = x > y ? x : y;
    return (x != x ? x : more) + (float)single_log1p(exp_of(apart));
}

/* log(exp(x) + exp(y) + exp(z)), and in `out` for `n` states, of each score in `a`, of that one `step` further on, and of
the one two further on if the state may follow it (`jumps`). All are -inf before a state that nothing leads to. */
INLINE void logs_of_sums(int64_t n, int64_t step, const float *restrict a, const float *restrict jumps, float *restrict out)
{
    SPAN
    for (int64_t s = 0; s < n; s++) {
        const float x = a[s], y = a[s + step], far = a[s + 2 * step], z = jumps[s] != 0.0f ? far : -INFINITY;
        const float more = x > y ? x : y, less = x > y ? y : x, most = more > z ? more : z, rest = more > z ? z : more;
        const float base = most > -INFINITY ? most : 0.0f, all = x + y + z;        /* NaN if one is */
        const float sum = most + (float)log1p_inside(normal_exp_of(less - base) + normal_exp_of(rest - base));
        out[s] = all != all ? all : sum;
    }
}

/* The scores of the labels of example n at step t; -inf behind the last one. `length` is at most a->width. */
static int64_t scores_of(const struct ctc *a, int64_t t, int64_t n, int64_t length, float *out)
{
    const float *row = a->log_p + (t * a->batch + n) * a->classes;
    int64_t wrong = 0;
    for (int64_t j = 0; j < a->width; j++) {
        const int64_t label = place_below(a->classes, a->labels + n * a->width + j);
        wrong |= label;
        out[2 * j] = j <= length ? row[a->blank] : -INFINITY;
        out[2 * j + 1] = j < length ? row[label < 0 ? 0 : label] : -INFINITY;
    }
    out[2 * a->width] = length == a->width ? row[a->blank] : -INFINITY;
    return wrong < 0;
}

/* 1 for each state that may follow the one two before it, which are labels that differ. */
static int64_t jumps_of(const struct ctc *a, int64_t n, float *out)
{
    int64_t before = -1, wrong = 0;
    for (int64_t j = 0; j < a->width; j++) {
        const int64_t label = place_below(a->classes, a->labels + n * a->width + j);
        wrong |= label;
        out[2 * j] = 0.0f;
        out[2 * j + 1] = j && label != a->blank && label != before ? 1.0f : 0.0f;
        before = label;
    }
    out[2 * a->width] = 0.0f;
    return wrong < 0;
}

static void losses_of(const void *args, int64_t first, int64_t last)
{
    const struct ctc *a = args;
    const int64_t pitch = a->states + APART;
    for (int64_t n = first; n < last; n++) {
        const int64_t frames = place_below(a->steps + 1, a->frames + n), length = place_below(a->width + 1, a->lengths + n);
        float *jumps = a->room + n * 2 * a->states, *sums = jumps + a->states;
        int64_t wrong = (frames < 0) | (length < 0) | jumps_of(a, n, jumps);
        for (int64_t t = 0; t < frames && !wrong; t++) {
            float *restrict row = a->alpha + (n * a->steps + t) * pitch + APART;
            row[-2] = row[-1] = -INFINITY;
            wrong |= scores_of(a, t, n, length, row);
            for (int64_t s = 2; s < a->states && !t; s++)
                row[s] = -INFINITY;
            if (t) {
                logs_of_sums(a->states, -1, row - pitch, jumps, sums);
                for (int64_t s = 0; s < a->states; s++)
                    row[s] += sums[s];
            }
        }
        if (wrong) {
            fail(a->failed, OUTSIDE);
            continue;
        }
        const float *final = a->alpha + (n * a->steps + frames - 1) * pitch + APART + 2 * length;
        if (frames)
            a->out[n] = -log_of_sum(final[0], length ? final[-1] : -INFINITY);
        else
            a->out[n] = length ? INFINITY : -0.0f;
    }
}

static void gradients_of(const void *args, int64_t first, int64_t last)
{
    const struct ctc *a = args;
    const int64_t pitch = a->states + APART;
    for (int64_t n = first; n < last; n++) {
        const int64_t frames = place_below(a->steps + 1, a->frames + n), length = place_below(a->width + 1, a->lengths + n);
        float *restrict ahead = a->room + n * 4 * pitch, *restrict beta = ahead + pitch, *restrict score = beta + pitch;
        float *restrict jumps = score + pitch;
        int64_t wrong = (frames < 0) | (length < 0) | jumps_of(a, n, jumps);
        jumps[a->states] = jumps[a->states + 1] = 0.0f;
        for (int64_t s = 0; s < pitch; s++)
            beta[s] = -INFINITY;
        for (int64_t t = a->steps - 1; t >= 0 && !wrong; t--) {
            const float *log_p = a->log_p + (t * a->batch + n) * a->classes;
            const float *alpha = a->alpha + (n * a->steps + t) * pitch + APART, loss = a->losses[n];
            float *out = a->out + (t * a->batch + n) * a->classes;
            memset(out, 0, a->classes * sizeof(float));
            if (t < frames) {
                wrong |= scores_of(a, t, n, length, score);
                logs_of_sums(a->states, 1, beta, jumps + 2, ahead);
                for (int64_t s = 0; s < a->states && t + 1 == frames; s++)
                    ahead[s] = s == 2 * length || s == 2 * length - 1 ? 0.0f : -INFINITY;
                for (int64_t s = 0; s < a->states; s++)
                    beta[s] = ahead[s] + score[s];
                SPAN
                for (int64_t s = 0; s < a->states; s++)
                    ahead[s] = exp_of(alpha[s] + ahead[s] + loss);
                for (int64_t s = 0; s < a->states; s++) {
                    const int64_t label = s % 2 ? place_below(a->classes, a->labels + n * a->width + s / 2) : a->blank;
                    wrong |= label < 0;
                    out[label < 0 ? 0 : label] += ahead[s];
                }
                SPAN
                for (int64_t c = 0; c < a->classes; c++) {
                    const float slope = exp_of(log_p[c]) - out[c];
                    out[c] = ((loss - loss == 0.0f) & (log_p[c] != -INFINITY)) ? slope : NAN;
                }
            }
            for (int64_t c = 0; c < a->classes; c++)
                out[c] *= a->g[n];
        }
        if (wrong)
            fail(a->failed, OUTSIDE);
    }
}

/* -log of the probability of each row of `labels`, and the scores of all states that lead up to each step. `frames` and
`lengths` have the numbers of steps and of labels that count. */
int64_t ctc(int64_t threads, int64_t steps, int64_t batch, int64_t classes, int64_t width, int64_t most, int64_t longest,
            int64_t blank, const float *log_p, const place *labels, const place *frames, const place *lengths, float *room,
            float *alpha, float *out)
{
    int64_t failed = most != steps + 1 || longest != width + 1 || blank < 0 || blank >= classes ? OUTSIDE : 0;
    const struct ctc args = {steps, batch, classes, width, blank, 2 * width + 1, log_p, NULL, NULL, labels, frames, lengths,
                             alpha, room, out, &failed};
    if (!failed)
        share(threads, batch, rows_in_piece(16 * steps * args.states), losses_of, &args);
    return failed;
}

/* The gradient g with respect to `log_p`, taken to be the output of log_softmax. */
int64_t ctc_backward(int64_t threads, int64_t steps, int64_t batch, int64_t classes, int64_t width, int64_t most,
                     int64_t longest, int64_t blank, const float *log_p, const float *g, const float *losses,
                     const float *alpha, const place *labels, const place *frames, const place *lengths, float *room,
                     float *out)
{
    int64_t failed = most != steps + 1 || longest != width + 1 || blank < 0 || blank >= classes ? OUTSIDE : 0;
    const struct ctc args = {steps, batch, classes, width, blank, 2 * width + 1, log_p, g, losses, labels, frames, lengths,
                             (float *)alpha, room, out, &failed};
    if (!failed)
        share(threads, batch, rows_in_piece(32 * steps * args.states), gradients_of, &args);
    return failed;
}
