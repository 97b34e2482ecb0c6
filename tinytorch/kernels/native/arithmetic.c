/* Sums, differences, products and quotients of large arrays (kernels/arithmetic.py). */
#include "common.h"

struct operands { int64_t period; const float *x, *y; float *out; };

/* A run of `x` with as many elements of `y`, or with one. */
#define RUN(operation)                                                                                                \
    if (one)                                                                                                          \
        for (int64_t j = 0; j < run; j++)                                                                             \
            out[j] = x[j] operation value;                                                                            \
    else                                                                                                              \
        for (int64_t j = 0; j < run; j++)                                                                             \
            out[j] = x[j] operation y[j];

/* KERNEL name(x, y, out): `y` is repeated along `x`. */
#define ARITHMETIC(name, operation)                                                                                   \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const struct operands *a = args;                                                                              \
        const int one = a->period == 1;                                                                               \
        const float value = a->y[0];                                                                                  \
        for (int64_t i = first, run; i < last; i += run) {                                                            \
            const int64_t at = one ? 0 : i % a->period, left = last - i;                                              \
            const float *restrict x = a->x + i, *restrict y = a->y + at;                                              \
            float *restrict out = a->out + i;                                                                         \
            run = one || a->period - at > left ? left : a->period - at;                                               \
            RUN(operation)                                                                                            \
        }                                                                                                             \
    }                                                                                                                 \
    void name(int64_t threads, int64_t n, int64_t period, const float *x, const float *y, float *out)                 \
    {                                                                                                                 \
        const struct operands args = {period, x, y, out};                                                             \
        share(threads, period < 1 ? 0 : n, 32768, name##_part, &args);                                                \
    }

ARITHMETIC(add_each, +)
ARITHMETIC(sub_each, -)
ARITHMETIC(mul_each, *)
ARITHMETIC(div_each, /)
