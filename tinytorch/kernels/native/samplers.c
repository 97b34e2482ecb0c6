/* Samplers that reject candidates (kernels/random/rejection.py, whose operations and order these are): how many words of
the twister a number takes depends on the words, so they are drawn two at a time. `single`: parts of the arithmetic are
rounded to float, as torch's are for parameters that are. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "common.h"

#define TURN 6.283185307179586                 /* 2 pi */

/* Where numbers come from: `source` of the kernels is whether there is a normal number left, that, and how many words
were drawn. */
struct numbers { twister *state; double *source; int64_t single; };

INLINE double rounded(const struct numbers *s, double x)
{
    return s->single ? (double)(float)x : x;
}

static double uniform53(const struct numbers *s)
{
    uint32_t words[2];
    draw_words(s->state, words, 2);
    s->source[2] += 2;
    return (double)(((uint64_t)words[0] << 32 | words[1]) & 0x1fffffffffffffu) * (1.0 / 9007199254740992.0);
}

static double normal(const struct numbers *s)
{
    if (s->source[0] != 0) {
        s->source[0] = 0;
        return s->source[1];
    }
    const double first = uniform53(s), second = uniform53(s);
    const double radius = sqrt(-2.0 * log1p(-second)), angle = TURN * first;
    s->source[0] = 1;
    s->source[1] = radius * sin(angle);
    return radius * cos(angle);
}

static double poisson_number(const struct numbers *s, double rate)
{
    if (rate == 0 || rate == HUGE_VAL)
        return rate;
    if (rate < 10) {
        const double limit = exp(-rate);
        double product = 1, count = 0;
        for (;; count++) {
            product *= uniform53(s);
            if (product <= limit)
                return count;
        }
    }
    const double log_rate = log(rate), b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    const double log_inverse_alpha = log(1.1239 + 1.1328 / (b - 3.4)), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = uniform53(s) - 0.5, v = uniform53(s), us = 0.5 - fabs(u);
        const double count = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= quick)
            return count;
        if (count < 0 || (us < 0.013 && v > us))
            continue;
        if (log(v) + log_inverse_alpha - log(a / (us * us) + b) <= -rate + count * log_rate - lgamma(count + 1.0))
            return count;
    }
}

void poisson(int64_t threads, int64_t n, twister *key, double *source, const double *rate, double *out)
{
    const struct numbers s = {key, source, 0};
    (void)threads;
    for (int64_t i = 0; i < n; i++)
        out[i] = poisson_number(&s, rate[i]);
}

static double gamma_number(const struct numbers *s, double shape)
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
            x = normal(s);
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
    const struct numbers s = {key, source, single};
    (void)threads;
    for (int64_t i = 0; i < n; i++)
        out[i] = gamma_number(&s, shape[i]);
}

static double waits(const struct numbers *s, double n, double p)
{
    const double denominator = rounded(s, log1p(-p));
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
static double rejection(const struct numbers *s, double n, double p)
{
    const double deviation = R(sqrt(R(R(n * p) * R(1 - p)))), b = 1.15 + 2.53 * deviation;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = R(n * p) + 0.5, quick = 0.92 - 4.2 / b;
    const double odds = R(p / R(1 - p)), alpha = (2.83 + 5.1 / b) * deviation, mode = floor(R(R(n + 1) * p));
    for (;;) {
        const double u = uniform53(s) - 0.5, first = uniform53(s), us = 0.5 - fabs(u);
        const double k = R(floor((2 * a / us + b) * u + c));
        if (k < 0 || k > n)
            continue;
        if (us >= 0.07 && first <= quick)
            return k;
        const double v = log(first * alpha / (a / (us * us) + b)), misses = R(R(n - k) + 1);
        const double bound = (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1)))
            + R(n + 1) * log((n - mode + 1) / misses)
            + (k + 0.5) * log(odds * misses / R(k + 1))
            + stirling_tail(mode) + stirling_tail(n - mode) - stirling_tail(k) - stirling_tail(R(n - k));
        if (v <= bound)
            return k;
    }
}

static double binomial_number(const struct numbers *s, double n, double p)
{
    if (n <= 0 || p <= 0)
        return 0;
    if (p >= 1)
        return n;
    if (!(n * p < HUGE_VAL))             /* an infinite count, or NaN */
        return n * p;
    const double rare = p <= 0.5 ? p : R(1.0 - p);
    const double hits = R(n * rare) >= 10.0 ? rejection(s, n, rare) : waits(s, n, rare);
    return p <= 0.5 ? hits : n - hits;
}

void binomial(int64_t threads, int64_t n, int64_t single, twister *key, double *source, const double *count,
              const double *prob, double *out)
{
    const struct numbers s = {key, source, single};
    (void)threads;
    for (int64_t i = 0; i < n; i++)
        out[i] = binomial_number(&s, count[i], prob[i]);
}

/* 0 .. n after swaps of each place i with place i + words[i] % (n + 1 - i), which is one of those after it. */
void shuffle(int64_t threads, int64_t n, const uint64_t *words, int64_t *out)
{
    (void)threads;
    for (int64_t i = 0; i <= n; i++)
        out[i] = i;
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = i + (uint32_t)words[i] % (uint32_t)(n + 1 - i), there = out[k];
        out[k] = out[i];
        out[i] = there;
    }
}
