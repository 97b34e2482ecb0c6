/* Steps of optimisers, each in one pass over memory, with the operations of kernels/optim.py in the same order. A
product and a sum are each rounded, although the processor could fuse them. `sign`: the sign of the gradient, -1 to
maximize; `share`: the weight of the new value in an average; `rate`: the factor of the addend, so less than 0. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "common.h"

#define PIECE 65536

/* The parameters, their gradient, up to three arrays of state, and the numbers of the optimiser. */
struct step { float *p; const float *g; float *a, *b, *c; float k[11]; };

/* from + weight * (to - from), computed from the nearer of the two. */
INLINE float lerp(float from, float to, float weight)
{
    const float way = to - from;
    return fabsf(weight) < 0.5f ? from + weight * way : to - way * (1.0f - weight);
}

/* The larger of two numbers; NaN if one is NaN. */
INLINE float larger(float x, float y)
{
    return x > y || x != x ? x : y;
}

/* `body` for each element i of a part, where `g` is its gradient with sign k[0] and L2 penalty k[1]. It is in a
function of `flags` that are constants at each call, so that each loop contains only what it needs. */
#define STEP(name, flags, known, body)                                                                                \
    INLINE void name##_loop(const struct step *step, int64_t first, int64_t last, const int flags)                    \
    {                                                                                                                 \
        const struct step s = *step;                                                                                  \
        const float *const k = s.k, *restrict gradient = s.g;                                                         \
        float *restrict p = s.p, *restrict a = s.a, *restrict b = s.b, *restrict c = s.c;                             \
        (void)a, (void)b, (void)c, (void)flags;                                                                       \
        for (int64_t i = first; i < last; i++) {                                                                      \
            float g = k[0] * gradient[i];                                                                             \
            if (k[1] != 0)                                                                                            \
                g += k[1] * p[i];                                                                                     \
            body                                                                                                      \
        }                                                                                                             \
    }                                                                                                                 \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const struct step *s = args;                                                                                  \
        known                                                                                                         \
    }

/* Plain descent. In a simple loop half of the instructions would be overhead. Many numbers are read and written from the
beginning of a line of the cache on, because vectors across two lines take twice as long. */
static void descend(float *restrict p, const float *restrict g, float rate, int64_t first, int64_t last)
{
    if (last - first >= 1024)
        for (; first < last && (intptr_t)(p + first) & 63; first++)
            p[first] += rate * g[first];
#pragma GCC unroll 8
    for (int64_t i = first; i < last; i++)
        p[i] += rate * g[i];
}

/* `buf` is None without momentum; `fresh`: this is its first use. */
STEP(sgd, flags,
    if (!s->a && s->k[1] == 0)
        descend(s->p, s->g, s->k[0] * s->k[2], first, last);
    else if (!s->a)
        sgd_loop(s, first, last, 0);
    else if (s->k[6] != 0)
        sgd_loop(s, first, last, 1);
    else
        sgd_loop(s, first, last, 2);,
    float moved = g;
    if (flags) {
        a[i] = flags == 1 ? g : k[3] * a[i] + k[4] * g;
        moved = k[5] != 0 ? g + k[3] * a[i] : a[i];
    }
    p[i] += k[2] * moved;
)

void sgd(int64_t threads, int64_t n, int64_t nesterov, int64_t fresh, float sign, float weight_decay, float rate,
         float momentum, float share_of_gradient, float *p, const float *g, float *buf)
{
    struct step args = {p, g, buf, NULL, NULL,
                        {sign, weight_decay, rate, momentum, share_of_gradient, (float)nesterov, (float)fresh}};
    share(threads, n, PIECE, sgd_part, &args);
}

STEP(adam, amsgrad,
    if (s->c)
        adam_loop(s, first, last, 1);
    else
        adam_loop(s, first, last, 0);,
    a[i] = lerp(a[i], g, k[2]);
    b[i] = b[i] * k[3] + k[4] * g * g;
    float square = b[i];
    if (amsgrad)
        square = c[i] = larger(c[i], square);
    p[i] = p[i] * k[8] + k[7] * a[i] / (sqrtf(square) / k[5] + k[6]);
)

/* `root`: the root of the bias correction of the squares. The weights are multiplied by `shrink` first (AdamW).
`largest` is None without AMSGrad. */
void adam(int64_t threads, int64_t n, float sign, float weight_decay, float weight, float beta2, float square_share,
          float root, float eps, float rate, float shrink, float *p, const float *g, float *m, float *v,
          float *largest)
{
    struct step args = {p, g, m, v, largest,
                        {sign, weight_decay, weight, beta2, square_share, root, eps, rate, shrink}};
    share(threads, n, PIECE, adam_part, &args);
}

STEP(nadam, flags,
    nadam_loop(s, first, last, 0);,
    a[i] = lerp(a[i], g, k[2]);
    b[i] = b[i] * k[3] + k[4] * g * g;
    const float root = sqrtf(b[i] / k[5]) + k[6];
    p[i] = p[i] * k[9] + k[7] * g / root;
    p[i] += k[8] * a[i] / root;
)

/* `of_gradient`, `of_mean`: the factors of the two addends. The weights are multiplied by `shrink` first. */
void nadam(int64_t threads, int64_t n, float sign, float weight_decay, float weight, float beta2, float square_share,
           float correction, float eps, float of_gradient, float of_mean, float shrink, float *p, const float *g,
           float *m, float *v)
{
    struct step args = {p, g, m, v, NULL, {sign, weight_decay, weight, beta2, square_share, correction, eps,
                                           of_gradient, of_mean, shrink}};
    share(threads, n, PIECE, nadam_part, &args);
}

STEP(radam, rectified,
    if (s->k[9] != 0)
        radam_loop(s, first, last, 1);
    else
        radam_loop(s, first, last, 0);,
    a[i] = lerp(a[i], g, k[2]);
    b[i] = b[i] * k[3] + k[4] * g * g;
    float moved = a[i] / k[5] * k[6];
    if (rectified)
        moved = moved * (1.0f / (sqrtf(b[i]) + k[7]) * k[8]) * k[9];
    p[i] = p[i] * k[10] - moved;
)

/* `rectify`: 0 while the squares are not used. The weights are multiplied by `shrink` first. */
void radam(int64_t threads, int64_t n, float sign, float weight_decay, float weight, float beta2, float square_share,
           float correction, float lr, float eps, float root, float rectify, float shrink, float *p, const float *g,
           float *m, float *v)
{
    struct step args = {p, g, m, v, NULL, {sign, weight_decay, weight, beta2, square_share, correction, lr, eps, root,
                                           rectify, shrink}};
    share(threads, n, PIECE, radam_part, &args);
}

STEP(adamax, flags,
    adamax_loop(s, first, last, 0);,
    a[i] = lerp(a[i], g, k[2]);
    b[i] = larger(k[3] * b[i], fabsf(g) + k[4]);
    p[i] += k[5] * a[i] / b[i];
)

void adamax(int64_t threads, int64_t n, float sign, float weight_decay, float weight, float beta2, float eps,
            float rate, float *p, const float *g, float *m, float *largest)
{
    struct step args = {p, g, m, largest, NULL, {sign, weight_decay, weight, beta2, eps, rate}};
    share(threads, n, PIECE, adamax_part, &args);
}

/* `mean` is None unless centered, `buf` is None without momentum. */
STEP(rmsprop, flags,
    if (s->b)
        s->c ? rmsprop_loop(s, first, last, 3) : rmsprop_loop(s, first, last, 1);
    else
        s->c ? rmsprop_loop(s, first, last, 2) : rmsprop_loop(s, first, last, 0);,
    a[i] = a[i] * k[2] + k[3] * g * g;
    float square = a[i];
    if (flags & 1) {
        b[i] = lerp(b[i], g, k[3]);
        square -= b[i] * b[i];
    }
    const float root = sqrtf(square) + k[4];
    if (flags & 2) {
        c[i] = c[i] * k[5] + g / root;
        p[i] += k[6] * c[i];
    } else
        p[i] += k[6] * g / root;
)

void rmsprop(int64_t threads, int64_t n, float sign, float weight_decay, float alpha, float square_share, float eps,
             float momentum, float rate, float *p, const float *g, float *square, float *mean, float *buf)
{
    struct step args = {p, g, square, mean, buf, {sign, weight_decay, alpha, square_share, eps, momentum, rate}};
    share(threads, n, PIECE, rmsprop_part, &args);
}

STEP(adagrad, flags,
    adagrad_loop(s, first, last, 0);,
    a[i] += g * g;
    p[i] += k[2] * g / (sqrtf(a[i]) + k[3]);
)

void adagrad(int64_t threads, int64_t n, float sign, float weight_decay, float rate, float eps, float *p,
             const float *g, float *total)
{
    struct step args = {p, g, total, NULL, NULL, {sign, weight_decay, rate, eps}};
    share(threads, n, PIECE, adagrad_part, &args);
}

STEP(adadelta, flags,
    adadelta_loop(s, first, last, 0);,
    a[i] = a[i] * k[2] + k[3] * g * g;
    const float moved = sqrtf(b[i] + k[4]) / sqrtf(a[i] + k[4]) * g;
    b[i] = b[i] * k[2] + k[3] * moved * moved;
    p[i] += k[5] * moved;
)

void adadelta(int64_t threads, int64_t n, float sign, float weight_decay, float rho, float square_share, float eps,
              float rate, float *p, const float *g, float *square, float *squared_moves)
{
    struct step args = {p, g, square, squared_moves, NULL, {sign, weight_decay, rho, square_share, eps, rate}};
    share(threads, n, PIECE, adadelta_part, &args);
}

struct factored { const float *g, *row, *col, *least; float *out; float floor; int64_t n, m; };

static void factored_part(const void *args, int64_t first, int64_t last)
{
    const struct factored s = *(const struct factored *)args;
    for (int64_t i = first; i < last; i++) {
        const int64_t matrix = i / s.n;
        const float *restrict g = s.g + i * s.m, *restrict col = s.col + matrix * s.m;
        float *restrict out = s.out + i * s.m;
        const float row = s.row[i], least = s.least[matrix];
        SPAN
        for (int64_t j = 0; j < s.m; j++)
            out[j] = 1.0f / sqrtf(larger(row * col[j] / least, s.floor)) * g[j];
    }
}

/* Adafactor: g / sqrt(max(row * col / least, floor)) for `outer` matrices, with the averages of their rows and
columns. */
void factored(int64_t threads, int64_t outer, int64_t n, int64_t m, float floor, const float *g, const float *row,
              const float *col, const float *least, float *out)
{
    struct factored args = {g, row, col, least, out, floor, n, m};
    share(threads, outer * n, rows_in_piece(m), factored_part, &args);
}
