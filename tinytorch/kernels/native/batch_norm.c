/* Batch norm of (images, channels, size), and its gradient (kernels/norm.py), channel by channel: the cache holds a
channel. */
#include <stdlib.h>

#include "common.h"

struct batch {
    int64_t images, channels, size;
    float eps;
    const float *x, *g, *weight, *bias;
    float *out, *mean, *variance, *rate, *total, *dot;
    float low, high;
};

INLINE const float *of_channel(const struct batch *a, const float *x, int64_t image, int64_t channel)
{
    return x + (image * a->channels + channel) * a->size;
}

static void some_channels(const void *args, int64_t first, int64_t last)
{
    const struct batch *a = args;
    const int64_t size = a->size;
    const double count = (double)(a->images * size);
    for (int64_t c = first; c < last; c++) {
        double total = 0, squares = 0;
        for (int64_t n = 0; n < a->images; n++) {
            const float *restrict x = of_channel(a, a->x, n, c);
            for (int64_t i = 0; i < size; i = end_of_run(i, size)) {
                float sum = 0;
                TOTAL(+, sum)
                for (int64_t j = i; j < end_of_run(i, size); j++)
                    sum += x[j];
                total += sum;
            }
        }
        const float mean = (float)(total / count);
        for (int64_t n = 0; n < a->images; n++) {
            const float *restrict x = of_channel(a, a->x, n, c);
            for (int64_t i = 0; i < size; i = end_of_run(i, size)) {
                float sum = 0;
                TOTAL(+, sum)
                for (int64_t j = i; j < end_of_run(i, size); j++)
                    sum += (x[j] - mean) * (x[j] - mean);
                squares += sum;
            }
        }
        const float variance = (float)(squares / count), rate = 1.0f / sqrtf(variance + a->eps);
        const float scale = a->weight ? rate * a->weight[c] : rate, bias = a->bias ? a->bias[c] : 0.0f;
        for (int64_t n = 0; n < a->images; n++) {
            const float *restrict x = of_channel(a, a->x, n, c);
            float *restrict out = a->out + (n * a->channels + c) * size;
            for (int64_t i = 0; i < size; i++)
                out[i] = (x[i] - mean) * scale + bias;
        }
        a->mean[c] = mean;
        a->variance[c] = variance;
        a->rate[c] = rate;
    }
}

/* Also writes the mean, the variance and 1 / deviation of each channel. */
void batch_norm(int64_t threads, int64_t images, int64_t channels, int64_t size, float eps, const float *x,
                const float *weight, const float *bias, float *out, float *mean, float *variance, float *rate)
{
    struct batch args = {images, channels, size, eps, x, NULL, weight, bias, out, mean, variance, rate, NULL, NULL, 0.0f,
                         0.0f};
    share(threads, channels, rows_in_piece(images * size), some_channels, &args);
}

static void some_channels_backward(const void *args, int64_t first, int64_t last)
{
    const struct batch *a = args;
    const int64_t size = a->size;
    for (int64_t c = first; c < last; c++) {
        const float mean = a->mean[c], rate = a->rate[c];
        double total = 0, dot = 0;
        for (int64_t n = 0; n < a->images; n++) {
            const float *restrict x = of_channel(a, a->x, n, c), *restrict g = of_channel(a, a->g, n, c);
            for (int64_t i = 0; i < size; i = end_of_run(i, size)) {
                float sum = 0, product = 0;
                TOTAL(+, sum, product)
                for (int64_t j = i; j < end_of_run(i, size); j++) {
                    sum += g[j];
                    product += g[j] * (x[j] - mean);
                }
                total += sum;
                dot += product;
            }
        }
        const double count = (double)(a->images * size);
        const float shift = (float)(total / count), slope = (float)(dot / count) * rate * rate;
        const float scale = a->weight ? rate * a->weight[c] : rate;
        for (int64_t n = 0; n < a->images; n++) {
            const float *restrict x = of_channel(a, a->x, n, c), *restrict g = of_channel(a, a->g, n, c);
            float *restrict out = a->out + (n * a->channels + c) * size;
            for (int64_t i = 0; i < size; i++)
                out[i] = (g[i] - shift - (x[i] - mean) * slope) * scale;
        }
        a->total[c] = (float)total;
        a->dot[c] = (float)dot;
    }
}

/* The gradient of the input, and by channel the sums of g, and of g times the deviations from the mean. */
void batch_norm_backward(int64_t threads, int64_t images, int64_t channels, int64_t size, const float *g,
                         const float *x, const float *weight, const float *mean, const float *rate, float *out,
                         float *total, float *dot)
{
    struct batch args = {images, channels, size, 0.0f, x, g, weight, NULL, out, (float *)mean, NULL, (float *)rate, total,
                         dot, 0.0f, 0.0f};
    share(threads, channels, rows_in_piece(images * size), some_channels_backward, &args);
}

static void some_images(const void *args, int64_t first, int64_t last)
{
    const struct batch *a = args;
    const float low = a->low, high = a->high;
    const int limited = low != -INFINITY || high != INFINITY;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * a->size;
        float *restrict out = a->out + row * a->size;
        const float scale = a->weight ? a->weight[row % a->channels] : 1.0f;
        const float bias = a->bias ? a->bias[row % a->channels] : 0.0f;
        if (!limited) {
            for (int64_t i = 0; i < a->size; i++)
                out[i] = x[i] * scale + bias;
            continue;
        }
        for (int64_t i = 0; i < a->size; i++) {        /* NaN stays, and so does a zero that equals a limit */
            const float y = x[i] * scale + bias, above = low > y ? low : y;
            out[i] = high < above ? high : above;
        }
    }
}

/* x * scale + shift, by channel. */
void scale_shift(int64_t threads, int64_t images, int64_t channels, int64_t size, const float *x,
                 const float *weight, const float *bias, float *out)
{
    struct batch args = {images, channels, size, 0.0f, x, NULL, weight, bias, out, NULL, NULL, NULL, NULL, NULL, -INFINITY,
                         INFINITY};
    share(threads, images * channels, rows_in_piece(size), some_images, &args);
}

/* Batch norm with given statistics, whose steps are rounded as the twin rounds them, limited to [low, high]. Also writes
1 / deviation of each channel. */
int64_t batch_norm_by(int64_t threads, int64_t images, int64_t channels, int64_t size, float eps, float low, float high,
                      const float *x, const float *mean, const float *variance, const float *weight, const float *bias,
                      float *restrict rate, float *out)
{
    float *restrict scale = malloc((2 * channels + 1) * sizeof(float)), *restrict shift = scale + channels;
    if (!scale)
        return NO_MEMORY;
    for (int64_t c = 0; c < channels; c++) {
        rate[c] = 1.0f / sqrtf(variance[c] + eps);
        scale[c] = weight ? rate[c] * weight[c] : rate[c];
    }
    for (int64_t c = 0; c < channels; c++)
        shift[c] = mean[c] * scale[c];
    for (int64_t c = 0; c < channels; c++)     /* apart from the product, so that both are rounded */
        shift[c] = bias ? bias[c] - shift[c] : -shift[c];
    struct batch args = {images, channels, size, 0.0f, x, NULL, scale, shift, out, NULL, NULL, NULL, NULL, NULL, low, high};
    share(threads, images * channels, rows_in_piece(size), some_images, &args);
    free(scale);
    return 0;
}
