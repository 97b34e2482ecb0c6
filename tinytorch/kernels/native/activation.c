/* Elementwise functions and their gradients (ops/nn/gelu.py, kernels/erf.py). */
#include "halves.h"

struct elements { const float *x, *g; float *out; };

/* KERNEL name(x, out): out[i] = `value` for v = x[i]; `out` may be x itself. */
#define EACH(name, value)                                                                                             \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const float *x = ((const struct elements *)args)->x;                                                          \
        float *out = ((const struct elements *)args)->out;                                                            \
        SPAN                                                                                                          \
        for (int64_t i = first; i < last; i++) {                                                                      \
            const float v = x[i];                                                                                     \
            out[i] = value;                                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    KERNEL void name(int64_t threads, int64_t n, const float *x, float *out)                                          \
    {                                                                                                                 \
        struct elements args = {x, NULL, out};                                                                        \
        share(threads, n, LIGHT_PIECE, name##_part, &args);                                                           \
    }

/* KERNEL name(g, x, out): out[i] = `value` for v = x[i] and d = g[i]. */
#define EACH_BACKWARD(name, value)                                                                                    \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const float *restrict x = ((const struct elements *)args)->x, *restrict g = ((const struct elements *)args)->g; \
        float *restrict out = ((const struct elements *)args)->out;                                                   \
        for (int64_t i = first; i < last; i++) {                                                                      \
            const float v = x[i], d = g[i];                                                                           \
            out[i] = value;                                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    KERNEL void name(int64_t threads, int64_t n, const float *g, const float *x, float *out)                          \
    {                                                                                                                 \
        struct elements args = {x, g, out};                                                                           \
        share(threads, n, LIGHT_PIECE, name##_part, &args);                                                           \
    }

#define ROOT_2_PI 0.79788456080286536f             /* sqrt(2 / pi) */
#define DENSITY 0.39894228040143268f               /* 1 / sqrt(2 pi) */

/* p(z) with erf(x) = tanh(x p(x^2)) (_SINGLE of kernels/erf.py); constant from z = 16 on. */
INLINE float erf_series(float z)
{
    z = z > 16.0f ? 16.0f : z;
    float p = 3.217174082692509e-09f;
    p = p * z + 7.298903881292063e-08f;
    p = p * z - 5.134919319971232e-06f;
    p = p * z + 8.575973333790898e-05f;
    p = p * z - 0.0006167006213217974f;
    p = p * z - 0.0001940045622177422f;
    p = p * z + 0.10276956856250763f;
    return p * z + 1.128379225730896f;
}

/* (1 + erf(x / sqrt(2))) / 2, the share of the normal distribution below x: (1 + tanh(t)) / 2 is sigmoid(2 t), and
2 t = x p(x^2) with the series of erf, whose argument and result are scaled. */
INLINE float normal_share(float x)
{
    return sigmoid_of(1.41421356237309505f * x * erf_series(0.5f * x * x));
}

/* (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. */
INLINE float tanh_share(float x)
{
    return sigmoid_of(2.0f * ROOT_2_PI * x * (1.0f + 0.044715f * x * x));
}

INLINE float gelu_slope(float x, float share)
{
    return share + x * DENSITY * normal_exp_of(-0.5f * x * x);
}

INLINE float gelu_tanh_slope(float x, float share)
{
    return share + 2.0f * ROOT_2_PI * x * share * (1.0f - share) * (1.0f + 3.0f * 0.044715f * x * x);
}

struct shares { const float *x, *g, *share; float *out, *kept; };

/* KERNEL name(x, kept, out): x times its share, which is also written to `kept` unless that is None; and
name_backward(g, x, share, out). */
#define GELU(name, share_of, slope)                                                                                   \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const float *restrict x = ((const struct shares *)args)->x;                                                   \
        float *restrict out = ((const struct shares *)args)->out, *restrict kept = ((const struct shares *)args)->kept; \
        if (kept)                                                                                                     \
            for (int64_t i = first; i < last; i++) {                                                                  \
                kept[i] = share_of(x[i]);                                                                             \
                out[i] = x[i] * kept[i];                                                                              \
            }                                                                                                         \
        else                                                                                                          \
            for (int64_t i = first; i < last; i++)                                                                    \
                out[i] = x[i] * share_of(x[i]);                                                                       \
    }                                                                                                                 \
    KERNEL void name(int64_t threads, int64_t n, const float *x, float *kept, float *out)                             \
    {                                                                                                                 \
        struct shares args = {x, NULL, NULL, out, kept};                                                              \
        share(threads, n, 16384, name##_part, &args);                                                                 \
    }                                                                                                                 \
    static void name##_backward_part(const void *args, int64_t first, int64_t last)                                   \
    {                                                                                                                 \
        const struct shares *a = args;                                                                                \
        const float *restrict x = a->x, *restrict g = a->g, *restrict share = a->share;                               \
        float *restrict out = a->out;                                                                                 \
        for (int64_t i = first; i < last; i++)                                                                        \
            out[i] = g[i] * slope(x[i], share[i]);                                                                    \
    }                                                                                                                 \
    KERNEL void name##_backward(int64_t threads, int64_t n, const float *g, const float *x, const float *kept,        \
                                float *out)                                                                           \
    {                                                                                                                 \
        struct shares args = {x, g, kept, out, NULL};                                                                 \
        share(threads, n, 16384, name##_backward_part, &args);                                                        \
    }

EACH(relu, v < 0.0f ? 0.0f : v)
EACH(sigmoid, sigmoid_of(v))
EACH(silu, v / (1.0f + normal_exp_of(-v)))
GELU(gelu, normal_share, gelu_slope)
GELU(gelu_tanh, tanh_share, gelu_tanh_slope)
EACH_BACKWARD(silu_backward, d * sigmoid_of(v) * (1.0f + v * (1.0f - sigmoid_of(v))))
EACH_BACKWARD(sigmoid_backward, d * (1.0f - v) * v)
EACH_BACKWARD(relu_backward, v <= 0.0f ? 0.0f : d)

struct half_shares { int tanh, half; const uint16_t *x; uint16_t *out; };

static void half_gelu_part(const void *args, int64_t first, int64_t last)
{
    const struct half_shares *a = args;
    ALIGNED float x[512];
    for (int64_t i = first, n; i < last; i += n) {
        n = last - i < 512 ? last - i : 512;
        floats_of(a->half, n, a->x + i, x);
        if (a->tanh)
            for (int64_t j = 0; j < n; j++)
                x[j] = x[j] * tanh_share(x[j]);
        else
            for (int64_t j = 0; j < n; j++)
                x[j] = x[j] * normal_share(x[j]);
        of_floats(a->half, n, x, a->out + i);
    }
}

/* gelu of numbers of 16 bits, bfloat16 or (`half`) halves; `tanh`: by the tanh formula. */
void half_gelu(int64_t threads, int64_t n, int64_t tanh, int64_t half, const uint16_t *x, uint16_t *out)
{
    const struct half_shares args = {tanh != 0, half != 0, x, out};
    share(threads, n, 16384, half_gelu_part, &args);
}

struct halves { int64_t n; const float *g, *x; float *out; };

/* Of rows of two halves of `n` numbers. */
static void glu_part(const void *args, int64_t first, int64_t last)
{
    const struct halves *h = args;
    const int64_t n = h->n;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = h->x + 2 * row * n, *restrict gate = x + n;
        float *restrict out = h->out + row * n;
        for (int64_t i = 0; i < n; i++)
            out[i] = x[i] * sigmoid_of(gate[i]);
    }
}

static void glu_backward_part(const void *args, int64_t first, int64_t last)
{
    const struct halves *h = args;
    const int64_t n = h->n;
    for (int64_t row = first; row < last; row++) {
        const float *restrict g = h->g + row * n, *restrict x = h->x + 2 * row * n, *restrict gate = x + n;
        float *restrict of_x = h->out + 2 * row * n, *restrict of_gate = of_x + n;
        for (int64_t i = 0; i < n; i++) {
            const float share = sigmoid_of(gate[i]);
            of_x[i] = g[i] * share;
            of_gate[i] = g[i] * x[i] * (1.0f - share) * share;
        }
    }
}

/* The first half of each row of x (outer, 2 n), times the sigmoid of the second. */
void glu(int64_t threads, int64_t outer, int64_t n, const float *x, float *out)
{
    const struct halves args = {n, NULL, x, out};
    share(threads, outer, rows_in_piece(n), glu_part, &args);
}

void glu_backward(int64_t threads, int64_t outer, int64_t n, const float *g, const float *x, float *out)
{
    const struct halves args = {n, g, x, out};
    share(threads, outer, rows_in_piece(n), glu_backward_part, &args);
}

/* The product and the difference are each rounded, as in NumPy, which computes few elements. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
EACH_BACKWARD(tanh_backward, d * (1.0f - v * v))
