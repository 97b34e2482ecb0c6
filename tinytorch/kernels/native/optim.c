/* Steps of optimisers, each in one pass over memory (kernels/optim.py). `sign`: of the gradient, -1 to maximize. */
#include "common.h"

#define PIECE 65536

/* The parameters, their gradient, up to three arrays of state, and numbers as each optimiser orders them. */
struct step { float *p; const float *g; float *a, *b, *c; float k[8]; };

/* `body` for each element i of a part, where `g` is its gradient with sign k[0] and L2 penalty k[1]. It stands in a
function of `flags` that are known where it is called, so each loop has no more in it than it needs. */
#define STEP(name, flags, known, body)                                                                                \
    INLINE void name##_loop(const struct step *step, int64_t first, int64_t last, const int flags)                    \
    {                                                                                                                 \
        const struct step s = *step;                                                                                  \
        const float *const k = s.k, *restrict gradient = s.g;                                                         \
        float *restrict p = s.p, *restrict a = s.a, *restrict b = s.b, *restrict c = s.c;                             \
        (void)a, (void)b, (void)c;                                                                                    \
        for (int64_t i = first; i < last; i++) {                                                                      \
            const float g = k[0] * gradient[i] + k[1] * p[i];                                                         \
            body                                                                                                      \
        }                                                                                                             \
    }                                                                                                                 \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const struct step *s = args;                                                                                  \
        known                                                                                                         \
    }

/* `buf` is None without momentum, and `fresh` on its first use. */
STEP(sgd, flags,
    if (!s->a)
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
    p[i] -= k[2] * moved;
)

void sgd(int64_t threads, int64_t n, int64_t nesterov, int64_t fresh, float sign, float weight_decay, float lr,
         float momentum, float share_of_gradient, float *p, const float *g, float *buf)
{
    struct step args = {p, g, buf, NULL, NULL,
                        {sign, weight_decay, lr, momentum, share_of_gradient, (float)nesterov, (float)fresh}};
    share(threads, n, PIECE, sgd_part, &args);
}

STEP(adam, amsgrad,
    if (s->c)
        adam_loop(s, first, last, 1);
    else
        adam_loop(s, first, last, 0);,
    a[i] = k[2] * a[i] + (1.0f - k[2]) * g;
    b[i] = k[3] * b[i] + (1.0f - k[3]) * g * g;
    float square = b[i];
    if (amsgrad) {
        c[i] = c[i] > square ? c[i] : square;
        square = c[i];
    }
    p[i] = p[i] * k[6] - k[4] * a[i] / (sqrtf(square) + k[5]);
)

/* `rate` and `eps` with the corrections of the bias in them; weights times `shrink` at first (AdamW); `largest` is
None without AMSGrad. */
void adam(int64_t threads, int64_t n, float sign, float weight_decay, float beta1, float beta2, float rate,
          float eps, float shrink, float *p, const float *g, float *m, float *v, float *largest)
{
    struct step args = {p, g, m, v, largest, {sign, weight_decay, beta1, beta2, rate, eps, shrink}};
    share(threads, n, PIECE, adam_part, &args);
}

STEP(adamax, flags,
    adamax_loop(s, first, last, 0);,
    const float before = k[3] * b[i]; const float size = fabsf(g) + k[5];
    a[i] = k[2] * a[i] + (1.0f - k[2]) * g;
    b[i] = before > size ? before : size;
    p[i] -= k[4] * a[i] / b[i];
)

void adamax(int64_t threads, int64_t n, float sign, float weight_decay, float beta1, float beta2, float rate,
            float eps, float *p, const float *g, float *m, float *largest)
{
    struct step args = {p, g, m, largest, NULL, {sign, weight_decay, beta1, beta2, rate, eps}};
    share(threads, n, PIECE, adamax_part, &args);
}

/* `mean`: None unless centered; `buf`: None without momentum. */
STEP(rmsprop, flags,
    if (s->b)
        s->c ? rmsprop_loop(s, first, last, 3) : rmsprop_loop(s, first, last, 1);
    else
        s->c ? rmsprop_loop(s, first, last, 2) : rmsprop_loop(s, first, last, 0);,
    a[i] = k[2] * a[i] + (1.0f - k[2]) * g * g;
    float square = a[i];
    if (flags & 1) {
        b[i] = k[2] * b[i] + (1.0f - k[2]) * g;
        square -= b[i] * b[i];
    }
    float moved = g / (sqrtf(square) + k[3]);
    if (flags & 2)
        moved = c[i] = k[4] * c[i] + moved;
    p[i] -= k[5] * moved;
)

void rmsprop(int64_t threads, int64_t n, float sign, float weight_decay, float alpha, float eps, float momentum,
             float lr, float *p, const float *g, float *square, float *mean, float *buf)
{
    struct step args = {p, g, square, mean, buf, {sign, weight_decay, alpha, eps, momentum, lr}};
    share(threads, n, PIECE, rmsprop_part, &args);
}

STEP(adagrad, flags,
    adagrad_loop(s, first, last, 0);,
    a[i] += g * g;
    p[i] -= k[2] * g / (sqrtf(a[i]) + k[3]);
)

void adagrad(int64_t threads, int64_t n, float sign, float weight_decay, float lr, float eps, float *p,
             const float *g, float *total)
{
    struct step args = {p, g, total, NULL, NULL, {sign, weight_decay, lr, eps}};
    share(threads, n, PIECE, adagrad_part, &args);
}

STEP(adadelta, flags,
    adadelta_loop(s, first, last, 0);,
    a[i] = k[2] * a[i] + (1.0f - k[2]) * g * g;
    const float moved = sqrtf((b[i] + k[3]) / (a[i] + k[3])) * g;
    b[i] = k[2] * b[i] + (1.0f - k[2]) * moved * moved;
    p[i] -= k[4] * moved;
)

void adadelta(int64_t threads, int64_t n, float sign, float weight_decay, float rho, float eps, float lr,
              float *p, const float *g, float *square, float *squared_moves)
{
    struct step args = {p, g, square, squared_moves, NULL, {sign, weight_decay, rho, eps, lr}};
    share(threads, n, PIECE, adadelta_part, &args);
}
