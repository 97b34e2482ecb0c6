/* Softmax along rows, and its gradient (kernels/softmax.py). */
#include "common.h"

struct rows { int64_t width, safe; float *out; const float *x, *y; };

INLINE float largest(const float *x, int64_t width)
{
    float top = x[0];
    TOTAL(max, top)
    for (int64_t i = 0; i < width; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

static void softmax_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float *restrict out = a->out + row * width;
        float top = largest(x, width), total = 0;
        if (a->safe && top == -INFINITY) {
            memset(out, 0, (size_t)width * sizeof(float));
            continue;
        }
        TOTAL(+, total)
        for (int64_t i = 0; i < width; i++) {
            out[i] = exp_of(x[i] - top);
            total += out[i];
        }
        total = 1.0f / total;
        for (int64_t i = 0; i < width; i++)
            out[i] *= total;
    }
}

/* `safe`: zeros, not NaN, where all is -inf. */
KERNEL void softmax(int64_t threads, int64_t rows, int64_t width, int64_t safe, const float *x, float *out)
{
    struct rows args = {width, safe, out, x, NULL};
    share(threads, rows, rows_in_piece(width), softmax_rows, &args);
}

/* y (g - sum(g y)) for gradient x = g. */
static void softmax_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict g = a->x + row * width, *restrict y = a->y + row * width;
        float *restrict out = a->out + row * width;
        float dot = 0;
        TOTAL(+, dot)
        for (int64_t i = 0; i < width; i++)
            dot += g[i] * y[i];
        for (int64_t i = 0; i < width; i++)
            out[i] = y[i] * (g[i] - dot);
    }
}

KERNEL void softmax_backward(int64_t threads, int64_t rows, int64_t width, const float *g, const float *y, float *out)
{
    struct rows args = {width, 0, out, g, y};
    share(threads, rows, rows_in_piece(width), softmax_backward_rows, &args);
}

static void log_softmax_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float *restrict out = a->out + row * width;
        float top = largest(x, width), total = 0;
        TOTAL(+, total)
        for (int64_t i = 0; i < width; i++)
            total += exp_of(x[i] - top);
        float log_total = logf(total);
        for (int64_t i = 0; i < width; i++)
            out[i] = x[i] - top - log_total;
    }
}

KERNEL void log_softmax(int64_t threads, int64_t rows, int64_t width, const float *x, float *out)
{
    struct rows args = {width, 0, out, x, NULL};
    share(threads, rows, rows_in_piece(width), log_softmax_rows, &args);
}

/* g - exp(y) sum(g). */
static void log_softmax_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict g = a->x + row * width, *restrict y = a->y + row * width;
        float *restrict out = a->out + row * width;
        float total = 0;
        TOTAL(+, total)
        for (int64_t i = 0; i < width; i++)
            total += g[i];
        for (int64_t i = 0; i < width; i++)
            out[i] = g[i] - exp_of(y[i]) * total;
    }
}

KERNEL void log_softmax_backward(int64_t threads, int64_t rows, int64_t width, const float *g, const float *y,
                                 float *out)
{
    struct rows args = {width, 0, out, g, y};
    share(threads, rows, rows_in_piece(width), log_softmax_backward_rows, &args);
}
