/* Max pooling of images (n, height, width) by windows of 2 x 2 that lie side by side (kernels/pool.py). */
#include "common.h"

struct pool { int64_t height, width, rows, columns; const float *x; float *out; };

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
KERNEL void max_pool(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t rows, int64_t columns,
                     const float *x, float *out)
{
    struct pool args = {height, width, rows, columns, x, out};
    share(threads, images, rows_in_piece(height * width), max_pool_images, &args);
}
