/* Steps of optimisers, each in one pass over memory (kernels/optim.py). */
#include "common.h"

struct step { float *p; const float *g; float *m, *v, *top; float a, b, c, d, e, f, h; };

#define PIECE 65536

static void adam_part(const void *args, int64_t first, int64_t last)
{
    const struct step s = *(const struct step *)args;
    float *restrict p = s.p, *restrict m = s.m, *restrict v = s.v;
    const float *restrict gradient = s.g;
    for (int64_t i = first; i < last; i++) {
        float w = p[i] * s.h, g = gradient[i] * s.f + w * s.e;
        m[i] = s.a * m[i] + (1.0f - s.a) * g;
        v[i] = s.b * v[i] + (1.0f - s.b) * g * g;
        p[i] = w - s.c * m[i] / (sqrtf(v[i]) + s.d);
    }
}

/* Adam: `sign` of the gradient, weights times `shrink` first (AdamW), weight_decay added to the gradient; `rate` and
`eps` with the corrections of the bias in them. */
KERNEL void adam(int64_t threads, int64_t n, float beta1, float beta2, float rate, float eps, float weight_decay,
                 float sign, float shrink, float *p, const float *g, float *m, float *v)
{
    struct step args = {p, g, m, v, NULL, beta1, beta2, rate, eps, weight_decay, sign, shrink};
    share(threads, n, PIECE, adam_part, &args);
}
