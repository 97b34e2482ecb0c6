/* Layer norm, its gradient, and root mean square norm (kernels/norm.py). */
#include "common.h"

struct layer { int64_t width; float eps; const float *x, *weight, *bias; float *out, *mean, *rate; };

static void layer_norm_rows(const void *args, int64_t first, int64_t last)
{
    const struct layer *a = args;
    const int64_t width = a->width;
    const float *restrict weight = a->weight, *restrict bias = a->bias;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float *restrict out = a->out + row * width;
        double total = 0, squares = 0;
        for (int64_t i = 0; i < width; i = end_of_run(i, width)) {
            float sum = 0;
            TOTAL(+, sum)
            for (int64_t j = i; j < end_of_run(i, width); j++)
                sum += x[j];
            total += sum;
        }
        const float mean = (float)(total / (double)width);
        for (int64_t i = 0; i < width; i = end_of_run(i, width)) {
            float sum = 0;
            TOTAL(+, sum)
            for (int64_t j = i; j < end_of_run(i, width); j++)
                sum += (x[j] - mean) * (x[j] - mean);
            squares += sum;
        }
        const float rate = 1.0f / sqrtf((float)(squares / (double)width) + a->eps);
        if (weight && bias)
            for (int64_t i = 0; i < width; i++)
                out[i] = (x[i] - mean) * rate * weight[i] + bias[i];
        else if (weight)
            for (int64_t i = 0; i < width; i++)
                out[i] = (x[i] - mean) * rate * weight[i];
        else
            for (int64_t i = 0; i < width; i++)
                out[i] = (x[i] - mean) * rate;
        a->mean[row] = mean;
        a->rate[row] = rate;
    }
}

/* x (rows, width); weight and bias (width), or none. Also writes the mean and 1 / deviation of each row. */
void layer_norm(int64_t threads, int64_t rows, int64_t width, float eps, const float *x, const float *weight,
                const float *bias, float *out, float *mean, float *rate)
{
    struct layer args = {width, eps, x, weight, bias, out, mean, rate};
    share(threads, rows, rows_in_piece(width), layer_norm_rows, &args);
}

static void rms_norm_rows(const void *args, int64_t first, int64_t last)
{
    const struct layer *a = args;
    const int64_t width = a->width;
    const float *restrict weight = a->weight;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float *restrict out = a->out + row * width;
        double squares = 0;
        for (int64_t i = 0; i < width; i = end_of_run(i, width)) {
            float sum = 0;
            TOTAL(+, sum)
            for (int64_t j = i; j < end_of_run(i, width); j++)
                sum += x[j] * x[j];
            squares += sum;
        }
        const float rate = 1.0f / sqrtf((float)(squares / (double)width) + a->eps);
        if (weight)
            for (int64_t i = 0; i < width; i++)
                out[i] = x[i] * rate * weight[i];
        else
            for (int64_t i = 0; i < width; i++)
                out[i] = x[i] * rate;
        a->rate[row] = rate;
    }
}

/* x (rows, width); weight (width), or none. Also writes 1 / root mean square of each row. */
void rms_norm(int64_t threads, int64_t rows, int64_t width, float eps, const float *x, const float *weight, float *out,
              float *rate)
{
    struct layer args = {width, eps, x, weight, NULL, out, NULL, rate};
    share(threads, rows, rows_in_piece(width), rms_norm_rows, &args);
}

struct backward { int64_t rows, width, grain; const float *g, *x, *weight, *mean, *rate; float *g_input, *parts; };

/* The gradient of some rows and, if wanted, their part of the gradients of weight and bias, in memory of this piece. */
static void layer_norm_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct backward *a = args;
    const int64_t width = a->width;
    const float *restrict weight = a->weight;
    float *restrict g_weight = a->parts ? a->parts + first / a->grain * 2 * width : NULL;
    float *restrict g_bias = g_weight + (a->parts ? width : 0);
    if (g_weight)
        memset(g_weight, 0, (size_t)(2 * width) * sizeof(float));
    for (int64_t row = first; row < last; row++) {
        const float *restrict g = a->g + row * width, *restrict x = a->x + row * width;
        float *restrict out = a->g_input + row * width;
        const float mean = a->mean[row], rate = a->rate[row];
        double dots = 0, totals = 0;
        for (int64_t i = 0; i < width; i = end_of_run(i, width)) {
            const int64_t end = end_of_run(i, width);
            float dot = 0, total = 0;
            if (weight) {
                TOTAL(+, dot, total)
                for (int64_t j = i; j < end; j++) {
                    dot += g[j] * weight[j] * ((x[j] - mean) * rate);
                    total += g[j] * weight[j];
                }
            } else {
                TOTAL(+, dot, total)
                for (int64_t j = i; j < end; j++) {
                    dot += g[j] * ((x[j] - mean) * rate);
                    total += g[j];
                }
            }
            dots += dot;
            totals += total;
        }
        const float dot = (float)(dots / (double)width), total = (float)(totals / (double)width);
        if (weight)
            for (int64_t i = 0; i < width; i++)
                out[i] = (g[i] * weight[i] - (x[i] - mean) * rate * dot - total) * rate;
        else
            for (int64_t i = 0; i < width; i++)
                out[i] = (g[i] - (x[i] - mean) * rate * dot - total) * rate;
        if (g_weight)
            for (int64_t i = 0; i < width; i++) {
                g_weight[i] += g[i] * ((x[i] - mean) * rate);
                g_bias[i] += g[i];
            }
    }
}

/* `sums` (pieces, 2, width): the gradients of weight and bias by pieces of `grain` rows, for the caller to add up. */
void layer_norm_backward(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t pieces,
                         const float *g, const float *x, const float *weight, const float *mean,
                         const float *rate, float *g_input, float *sums)
{
    struct backward args = {rows, width, grain, g, x, weight, mean, rate, g_input, sums};
    (void)pieces;
    share(threads, rows, grain, layer_norm_backward_rows, &args);
}
