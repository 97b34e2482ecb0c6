/* Max pooling of images (n, height, width) by windows of 2 x 2 that lie side by side (kernels/pool.py). */
#include "common.h"

struct pool { int64_t height, width, rows, columns; const float *x, *largest, *g; float *out; };

INLINE float larger(float a, float b)
{
    return a > b ? a : b;
}

static void max_pool_images(const void *args, int64_t first, int64_t last)
{
    const struct pool *a = args;
    for (int64_t row = first * a->rows; row < last * a->rows; row++) {
        const float *restrict x = a->x + (row / a->rows * a->height + row % a->rows * 2) * a->width;
        const float *restrict y = x + a->width;
        float *restrict out = a->out + row * a->columns;
        int nan = 0;
        for (int64_t j = 0; j < a->columns; j++) {
            const float p = x[2 * j], q = x[2 * j + 1], r = y[2 * j], s = y[2 * j + 1];
            out[j] = larger(larger(p, q), larger(r, s));
            nan |= (p != p) | (q != q) | (r != r) | (s != s);
        }
        if (nan)
            for (int64_t j = 0; j < a->columns; j++) {
                const float sum = x[2 * j] + x[2 * j + 1] + y[2 * j] + y[2 * j + 1];
                if (x[2 * j] != x[2 * j] || x[2 * j + 1] != x[2 * j + 1] || y[2 * j] != y[2 * j]
                        || y[2 * j + 1] != y[2 * j + 1])
                    out[j] = sum;
            }
    }
}

/* NaN where a window has one. */
void max_pool(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t rows, int64_t columns,
              const float *x, float *out)
{
    struct pool args = {height, width, rows, columns, x, NULL, NULL, out};
    share(threads, images, rows_in_piece(height * width), max_pool_images, &args);
}

/* All bits if a == b, else none: no branch, for which is the largest cannot be foretold. */
INLINE uint32_t equal(float a, float b)
{
    return 0u - (uint32_t)(a == b);
}

static void max_pool_gradients(const void *args, int64_t first, int64_t last)
{
    const struct pool *a = args;
    for (int64_t image = first; image < last; image++) {
        float *out = a->out + image * a->height * a->width;
        const float *x = a->x + image * a->height * a->width;
        for (int64_t i = 0; i < a->rows; i++, x += 2 * a->width, out += 2 * a->width) {
            const float *largest = a->largest + (image * a->rows + i) * a->columns;
            const float *g = a->g + (image * a->rows + i) * a->columns;
            const float *y = x + a->width;
            float *below = out + a->width;
            SPAN
            for (int64_t j = 0; j < a->columns; j++) {
                const float top = largest[j];
                const uint32_t bits = bits_of(g[j]), p = equal(x[2 * j], top), q = equal(x[2 * j + 1], top) & ~p;
                const uint32_t r = equal(y[2 * j], top) & ~(p | q);
                out[2 * j] = of_bits(bits & p);
                out[2 * j + 1] = of_bits(bits & q);
                below[2 * j] = of_bits(bits & r);
                below[2 * j + 1] = of_bits(bits & ~(p | q | r));
            }
            for (int64_t j = 2 * a->columns; j < a->width; j++)
                out[j] = below[j] = 0.0f;
        }
        memset(out, 0, (a->height - 2 * a->rows) * a->width * sizeof(float));
    }
}

/* Each element of `g` where the first of the largest of its window is; none of them is NaN. */
void max_pool_backward(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t rows,
                       int64_t columns, const float *x, const float *largest, const float *g, float *out)
{
    struct pool args = {height, width, rows, columns, x, largest, g, out};
    share(threads, images, rows_in_piece(height * width), max_pool_gradients, &args);
}
