/* Samplers that reject candidates, with the operations of kernels/random/rejection.py in the same order. The number of
words that a value takes depends on the words, so they are drawn two at a time. `single`: parts of the arithmetic are
rounded to float, as torch's are for float parameters. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "twister.h"

INLINE double rounded(const struct numbers *s, double x)
{
    return s->single ? (double)(float)x : x;
}

/* Values that depend on the rate alone, because neighbours often have the same rate. */
struct poisson { double rate, limit, log_rate, b, a, log_inverse_alpha, quick; };

static void prepare_poisson(struct poisson *p, double rate)
{
    p->rate = rate;
    if (rate < 10) {
        p->limit = exp(-rate);
        return;
    }
    p->log_rate = log(rate);
    p->b = 0.931 + 2.53 * sqrt(rate);
    p->a = -0.059 + 0.02483 * p->b;
    p->log_inverse_alpha = log(1.1239 + 1.1328 / (p->b - 3.4));
    p->quick = 0.9277 - 3.6224 / (p->b - 2);
}

static double poisson_number(struct numbers *s, const struct poisson *p)
{
    if (p->rate == 0 || p->rate == HUGE_VAL)
        return p->rate;
    if (p->rate < 10) {
        double product = 1, count = 0;
        for (;; count++) {
            product *= uniform53(s);
            if (product <= p->limit)
                return count;
        }
    }
    for (;;) {
        const double u = uniform53(s) - 0.5, v = uniform53(s), us = 0.5 - fabs(u);
        const double count = floor((2 * p->a / us + p->b) * u + p->rate + 0.43);
        if (us >= 0.07 && v <= p->quick)
            return count;
        if (count < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + p->log_inverse_alpha - log(p->a / (us * us) + p->b)
            <= -p->rate + count * p->log_rate - lgamma(count + 1.0))
            return count;
    }
}

void poisson(int64_t threads, int64_t n, twister *key, double *source, const double *rate, double *out)
{
    struct numbers s = numbers_of(key, source, 0);
    struct poisson p = {NAN, 0, 0, 0, 0, 0, 0};
    (void)threads;
    for (int64_t i = 0; i < n; i++) {
        const double given = rate[i];
        if (given != p.rate)
            prepare_poisson(&p, given);
        out[i] = poisson_number(&s, &p);
    }
    leave(&s);
}

static double gamma_number(struct numbers *s, double shape)
{
    const double third = (double)(1.0f / 3.0f), squeeze = (double)0.0331f;
    double scale = 1;
    if (shape < 1) {
        if (shape == 0)
            return 0;
        scale = pow(1 - uniform53(s), rounded(s, 1.0 / shape));
        shape = rounded(s, shape + 1.0);
    }
    const double d = rounded(s, shape - third), c = d > 0 ? 1.0 / sqrt(9.0 * d) : NAN;
    for (;;) {
        double x = 0, y = 0;
        while (y <= 0) {
            x = normal_number(s);
            y = 1.0 + c * x;
        }
        const double v = y * y * y, u = 1 - uniform53(s), square = x * x;
        if (u < 1.0 - squeeze * square * square || log(u) < 0.5 * square + d * (1.0 - v + log(v)))
            return scale * d * v;
    }
}

void standard_gamma(int64_t threads, int64_t n, int64_t single, twister *key, double *source, const double *shape,
                    double *out)
{
    struct numbers s = numbers_of(key, source, single);
    (void)threads;
    for (int64_t i = 0; i < n; i++)
        out[i] = gamma_number(&s, shape[i]);
    leave(&s);
}

static double waits(struct numbers *s, double n, double denominator)
{
    double total = 0;
    for (double hits = 0;; hits++) {
        const double u = uniform53(s);
        total += u > 0 ? ceil(log(u) / denominator) : HUGE_VAL;
        if (total > n)
            return hits;
    }
}

static double stirling_tail(double k)
{
    static const double tails[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                   0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                   0.00925546218271273, 0.00833056343336287};
    if (k >= 0 && k < 10)
        return tails[(int)k];
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

#define R(x) rounded(s, x)

/* Values that depend on the count and the probability alone, which is at most 1/2. `few`: count the waiting times for
hits; else candidates are rejected. */
struct binomial { double n, p, denominator, deviation, a, b, c, quick, odds, alpha, mode; int few; };

static void prepare_binomial(const struct numbers *s, struct binomial *d, double n, double p)
{
    d->n = n;
    d->p = p;
    d->few = !(R(n * p) >= 10.0);
    if (d->few) {
        d->denominator = R(log1p(-p));
        return;
    }
    d->deviation = R(sqrt(R(R(n * p) * R(1 - p))));
    d->b = 1.15 + 2.53 * d->deviation;
    d->a = -0.0873 + 0.0248 * d->b + 0.01 * p;
    d->c = R(n * p) + 0.5;
    d->quick = 0.92 - 4.2 / d->b;
    d->odds = R(p / R(1 - p));
    d->alpha = (2.83 + 5.1 / d->b) * d->deviation;
    d->mode = floor(R(R(n + 1) * p));
}

static double rejection(struct numbers *s, const struct binomial *d)
{
    const double n = d->n, mode = d->mode;
    for (;;) {
        const double u = uniform53(s) - 0.5, first = uniform53(s), us = 0.5 - fabs(u);
        const double k = R(floor((2 * d->a / us + d->b) * u + d->c));
        if (k < 0 || k > n)
            continue;
        if (us >= 0.07 && first <= d->quick)
            return k;
        const double v = log(first * d->alpha / (d->a / (us * us) + d->b)), misses = R(R(n - k) + 1);
        const double bound = (mode + 0.5) * log((mode + 1) / (d->odds * (n - mode + 1)))
            + R(n + 1) * log((n - mode + 1) / misses)
            + (k + 0.5) * log(d->odds * misses / R(k + 1))
            + stirling_tail(mode) + stirling_tail(n - mode) - stirling_tail(k) - stirling_tail(R(n - k));
        if (v <= bound)
            return k;
    }
}

void binomial(int64_t threads, int64_t n, int64_t single, twister *key, double *source, const double *count,
              const double *prob, double *out)
{
    struct numbers s = numbers_of(key, source, single);
    struct binomial d = {NAN, NAN, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    (void)threads;
    for (int64_t i = 0; i < n; i++) {
        const double trials = count[i], p = prob[i];
        if (trials <= 0 || p <= 0)
            out[i] = 0;
        else if (p >= 1)
            out[i] = trials;
        else if (!(trials * p < HUGE_VAL))             /* infinite or NaN */
            out[i] = trials * p;
        else {
            const double rare = p <= 0.5 ? p : rounded(&s, 1.0 - p);
            if (trials != d.n || rare != d.p)
                prepare_binomial(&s, &d, trials, rare);
            const double hits = d.few ? waits(&s, trials, d.denominator) : rejection(&s, &d);
            out[i] = p <= 0.5 ? hits : trials - hits;
        }
    }
    leave(&s);
}

/* Whether all weights are finite and not negative, and each row has one above 0. */
static int are_weights(int64_t rows, int64_t width, const float *weights)
{
    for (int64_t r = 0; r < rows; r++) {
        const float *row = weights + r * width;
        int32_t wrong = 0, some = 0;
        TOTAL(|, wrong, some)
        for (int64_t i = 0; i < width; i++) {
            wrong |= !(row[i] >= 0 && row[i] < INFINITY);
            some |= row[i] > 0;
        }
        if (wrong || !some)
            return 0;
    }
    return 1;
}

/* Categories by weight, `count` for each row: the first place at which the running sum of the weights, divided by their
sum, is not below a number in [0, 1). The number is rounded up to a float, because the sums are floats. Several searches
run at a time, because each step of a search waits for memory. A row has fewer than 2^31 weights. */
#define SEVERAL 256

int64_t categories(int64_t threads, int64_t rows, int64_t width, int64_t count, twister *key, const float *weights,
                   int64_t *out)
{
    float *sums = malloc((size_t)(width > 0 ? width : 1) * sizeof(float));
    uint32_t words[2 * SEVERAL];
    float drawn[SEVERAL];
    int32_t at[SEVERAL];
    (void)threads;
    if (!sums)
        return NO_MEMORY;
    if (!are_weights(rows, width, weights)) {
        free(sums);
        return OUTSIDE;
    }
    for (int64_t r = 0; r < rows; r++) {
        const float *row = weights + r * width;
        float total = 0;
        for (int64_t i = 0; i < width; i++)
            sums[i] = total += row[i];
        for (int64_t start = 0; start < count; start += SEVERAL) {
            const int64_t several = count - start < SEVERAL ? count - start : SEVERAL;
            draw_words(key, words, 2 * several);
            for (int64_t i = 0; i < several; i++) {
                const double u = of_two_words(words[2 * i], words[2 * i + 1]);
                const float single = (float)u;
                drawn[i] = of_bits(bits_of(single) + ((double)single < u));
                at[i] = 0;
            }
            for (int32_t left = (int32_t)width, half; left > 1; left -= half) {
                half = left / 2;
                SPAN
                for (int64_t i = 0; i < several; i++)
                    at[i] += half & -(int32_t)(sums[at[i] + half - 1] / total < drawn[i]);
            }
            for (int64_t i = 0; i < several; i++)
                out[r * count + start + i] = at[i] + (sums[at[i]] / total < drawn[i]);
        }
    }
    free(sums);
    return 0;
}

/* Different categories by weight, `count` for each row: those with the largest quotients of weights and exponentially
distributed numbers. */
int64_t race(int64_t threads, int64_t rows, int64_t width, int64_t count, twister *key, const float *weights,
             int64_t *out)
{
    float *speeds = malloc((size_t)(rows * width > 0 ? rows * width : 1) * sizeof(float));
    int64_t failed = 0;
    if (!speeds)
        return NO_MEMORY;
    if (!are_weights(rows, width, weights)) {
        free(speeds);
        return OUTSIDE;
    }
    exponentials(key, -1.0, rows * width, speeds);
    SPAN
    for (int64_t i = 0; i < rows * width; i++)
        speeds[i] = weights[i] / speeds[i];
    if (count > 1)
        failed = top(threads, rows, width, count, 1, 1, speeds, out);
    for (int64_t r = 0; r < rows && count == 1; r++) {
        const float *row = speeds + r * width;
        int64_t first = 0;
        for (int64_t i = 1; i < width; i++)
            if (row[i] > row[first] || (row[i] != row[i] && row[first] == row[first]))
                first = i;
        out[r] = first;
    }
    free(speeds);
    return failed;
}
