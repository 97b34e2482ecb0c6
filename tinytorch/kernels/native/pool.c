/* Maxima and sums of images (n, height, width) by adjacent windows of `high` x `wide` (kernels/pool.py). */
#include "tile.h"

struct pool { int64_t height, width, high, wide, rows, columns; const float *x, *largest, *g; float *out; };

INLINE float larger(float a, float b)
{
    return a > b ? a : b;
}

/* The maxima of a row of windows of 2 x 2, whose elements are in the rows `x` and `y`. */
static void largest_of_four(const struct pool *a, const float *restrict x, const float *restrict y, float *restrict out)
{
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

#define BAND 2048                              /* at most so many numbers of half an image are kept */

/* The maxima of `rows` rows of windows of 2 x 2 that fill the width: first of pairs within a row, in loops that go on over
the ends of rows, because short rows would keep vectors half empty. */
static void largest_in_band(const struct pool *a, int64_t rows, const float *restrict x, float *restrict out)
{
    const int64_t columns = a->columns, pairs = 2 * rows * columns;
    ALIGNED float halves[BAND + LANES];
    int nan = 0;
    TOTAL(|, nan)
    for (int64_t i = 0; i < pairs; i++) {
        const float p = x[2 * i], q = x[2 * i + 1];
        halves[i] = larger(p, q);
        nan |= (p != p) | (q != q);
    }
    for (int64_t r = 0; r < rows && nan; r++)
        largest_of_four(a, x + 4 * r * columns, x + (4 * r + 2) * columns, out + r * columns);
    for (int64_t r = 0; r < rows && !nan; r++) {
        const float *above = halves + 2 * r * columns, *below = above + columns;
        float *to = out + r * columns;
        int64_t j = 0;
#if LANES > 1
        /* A vector may reach into the rows that come next. */
        for (; j < columns && (rows - r) * columns - j >= LANES; j += LANES) {
            const vec p = load(above + j), q = load(below + j);
            store(to + j, chosen(p > q, p, q));
        }
#endif
        for (; j < columns; j++)
            to[j] = larger(above[j], below[j]);
    }
}

/* The maxima of a row of windows. `wide` is a constant for common sizes. */
INLINE void largest_of_each(const struct pool *a, int64_t wide, const float *restrict x, float *restrict out)
{
    for (int64_t r = 0; r < a->high; r++, x += a->width) {
        int nan = 0;
        TOTAL(|, nan)
        for (int64_t i = 0; i < a->columns * wide; i++)
            nan |= x[i] != x[i];
        if (!r)
            for (int64_t j = 0; j < a->columns; j++)
                out[j] = x[j * wide];
        for (int64_t j = 0; j < a->columns; j++) {
            const float *window = x + j * wide;
            float top = out[j];
            for (int64_t c = 0; c < wide; c++)
                top = larger(window[c], top);  /* `top` if one is NaN */
            out[j] = top;
        }
        for (int64_t j = 0; j < a->columns && nan; j++)
            for (int64_t c = 0; c < wide; c++)
                out[j] = x[j * wide + c] != x[j * wide + c] ? x[j * wide + c] : out[j];
    }
}

static void max_pool_images(const void *args, int64_t first, int64_t last)
{
    const struct pool *a = args;
    if (a->high == 2 && a->wide == 2 && a->width == 2 * a->columns && a->width <= BAND) {
        const int64_t most = BAND / a->width;
        for (int64_t image = first; image < last; image++)
            for (int64_t row = 0; row < a->rows; row += most)
                largest_in_band(a, a->rows - row < most ? a->rows - row : most,
                                a->x + (image * a->height + 2 * row) * a->width,
                                a->out + (image * a->rows + row) * a->columns);
        return;
    }
    for (int64_t row = first * a->rows; row < last * a->rows; row++) {
        const float *x = a->x + (row / a->rows * a->height + row % a->rows * a->high) * a->width;
        float *out = a->out + row * a->columns;
        if (a->high == 2 && a->wide == 2)
            largest_of_four(a, x, x + a->width, out);
        else
            switch (a->wide) {
            case 2: largest_of_each(a, 2, x, out); break;
            case 3: largest_of_each(a, 3, x, out); break;
            case 4: largest_of_each(a, 4, x, out); break;
            case 8: largest_of_each(a, 8, x, out); break;
            default: largest_of_each(a, a->wide, x, out);
            }
    }
}

/* The maximum of a window with a NaN is NaN. */
void max_pool(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide, int64_t rows,
              int64_t columns, const float *x, float *out)
{
    struct pool args = {height, width, high, wide, rows, columns, x, NULL, NULL, out};
    share(threads, images, rows_in_piece(height * width), max_pool_images, &args);
}

/* All bits if a == b, else none. There is no branch, because processors could not predict it. */
INLINE uint32_t equal(float a, float b)
{
    return 0u - (uint32_t)(a == b);
}

static void gradients_of_four(const struct pool *a, const float *x, const float *largest, const float *g, float *out)
{
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
}

INLINE void gradients_of_each(const struct pool *a, int64_t high, int64_t wide, const float *restrict x,
                              const float *restrict largest, const float *restrict g, float *restrict out)
{
    SPAN
    for (int64_t j = 0; j < a->columns; j++) {
        const float top = largest[j];
        uint32_t left = bits_of(g[j]);         /* 0 after an element has received it */
        for (int64_t r = 0; r < high; r++)
            for (int64_t c = 0; c < wide; c++) {
                const uint32_t its = equal(x[r * a->width + j * wide + c], top);
                out[r * a->width + j * wide + c] = of_bits(left & its);
                left &= ~its;
            }
    }
}

static void max_pool_gradients(const void *args, int64_t first, int64_t last)
{
    const struct pool *a = args;
    const int64_t each = a->high * a->width, rest = a->width - a->columns * a->wide;
    for (int64_t image = first; image < last; image++) {
        float *out = a->out + image * a->height * a->width;
        const float *x = a->x + image * a->height * a->width;
        for (int64_t i = 0; i < a->rows; i++, x += each, out += each) {
            const int64_t at = (image * a->rows + i) * a->columns;
            if (a->high == 2 && a->wide == 2)
                gradients_of_four(a, x, a->largest + at, a->g + at, out);
            else if (a->high > 1)
                gradients_of_each(a, a->high, a->wide, x, a->largest + at, a->g + at, out);
            else
                switch (a->wide) {
                case 2: gradients_of_each(a, 1, 2, x, a->largest + at, a->g + at, out); break;
                case 4: gradients_of_each(a, 1, 4, x, a->largest + at, a->g + at, out); break;
                case 8: gradients_of_each(a, 1, 8, x, a->largest + at, a->g + at, out); break;
                default: gradients_of_each(a, 1, a->wide, x, a->largest + at, a->g + at, out);
                }
            for (int64_t r = 0; r < a->high && rest; r++)
                memset(out + r * a->width + a->columns * a->wide, 0, rest * sizeof(float));
        }
        memset(out, 0, (a->height - a->high * a->rows) * a->width * sizeof(float));
    }
}

/* Writes each element of `g` to the place of the first maximum of its window. No maximum is NaN. */
void max_pool_backward(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide,
                       int64_t rows, int64_t columns, const float *x, const float *largest, const float *g, float *out)
{
    struct pool args = {height, width, high, wide, rows, columns, x, largest, g, out};
    share(threads, images, rows_in_piece(height * width), max_pool_gradients, &args);
}

struct shares { int64_t height, width, high, wide, rows, columns; float start, divisor; const float *g; float *out; };

static void shares_of_images(const void *args, int64_t first, int64_t last)
{
    const struct shares *a = args;
    const int64_t used = a->columns * a->wide, rest = a->height - a->rows * a->high;
    for (int64_t image = first; image < last; image++) {
        const float *g = a->g + image * a->rows * a->columns;
        float *out = a->out + image * a->height * a->width;
        for (int64_t row = 0; row < a->rows; row++, g += a->columns) {
            float *top = out;
            if (a->wide == 2)
                for (int64_t j = 0; j < a->columns; j++)
                    top[2 * j] = top[2 * j + 1] = g[j] / a->divisor + a->start;
            else
                for (int64_t j = 0; j < a->columns; j++) {
                    const float share = g[j] / a->divisor + a->start;
                    for (int64_t c = 0; c < a->wide; c++)
                        top[j * a->wide + c] = share;
                }
            memset(top + used, 0, (a->width - used) * sizeof(float));
            for (int64_t r = 1; r < a->high; r++)
                memcpy(top + r * a->width, top, a->width * sizeof(float));
            out += a->high * a->width;
        }
        memset(out, 0, rest * a->width * sizeof(float));
    }
}

/* Divides each element of `g` and writes it to all places of its window. `whole`: the windows are whole images, where -0.
is written as it is. */
void mean_pool_backward(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide,
                        int64_t rows, int64_t columns, int64_t whole, float divisor, const float *g, float *out)
{
    struct shares args = {height, width, high, wide, rows, columns, whole ? -0.0f : 0.0f, divisor, g, out};
    share(threads, images, rows_in_piece(height * width), shares_of_images, &args);
}

enum { COLUMNS_AT_ONCE = 1024 };

struct windows { int64_t high, rows, wide, columns; const float *x; float *out; };

/* Rows of windows: their columns first, as far as they fit. */
static void some_windows(const void *args, int64_t first, int64_t last)
{
    const struct windows *w = args;
    const int64_t width = w->wide * w->columns;
    const int64_t piece = w->columns < COLUMNS_AT_ONCE ? COLUMNS_AT_ONCE / w->columns * w->columns : COLUMNS_AT_ONCE;
    ALIGNED float sums[COLUMNS_AT_ONCE];
    for (int64_t line = first; line < last; line++) {
        float *out = w->out + line * w->wide;
        memset(out, 0, w->wide * sizeof(float));
        for (int64_t from = 0, run; from < width; from += run) {
            const int64_t in_window = w->columns < COLUMNS_AT_ONCE ? piece : w->columns - from % w->columns;
            run = width - from < piece ? width - from : piece;
            run = run < in_window ? run : in_window;
            for (int64_t j = 0; j < run; j++)
                sums[j] = 0.0f;
            for (int64_t k = 0; k < w->rows; k++) {
                const float *restrict x = w->x + (line * w->rows + k) * width + from;
                for (int64_t j = 0; j < run; j++)
                    sums[j] += x[j];
            }
            for (int64_t j = 0, left; j < run; j += left) {
                left = run - j < w->columns ? run - j : w->columns;
                float total = 0.0f;
                TOTAL(+, total)
                for (int64_t i = 0; i < left; i++)
                    total += sums[j + i];
                out[(from + j) / w->columns] += total;
            }
        }
    }
}

/* The sums of windows (rows, columns) of images that they divide into (high, wide). */
void window_sums(int64_t threads, int64_t images, int64_t high, int64_t rows, int64_t wide, int64_t columns, const float *x,
                 float *out)
{
    const struct windows args = {high, rows, wide, columns, x, out};
    if (columns > 0)
        share(threads, images * high, rows_in_piece(rows * wide * columns), some_windows, &args);
}

struct sums { int64_t height, width, high, wide, rows, columns; float start, divisor; const float *x; float *out; };

/* Of windows in a row: down each column, and then those sums along the row. `start`: what a single row is added to. */
INLINE void sums_of_each(const struct sums *a, int64_t high, int64_t wide, const float *restrict x, float *restrict out)
{
    SPAN
    for (int64_t j = 0; j < a->columns; j++) {
        float total = 0.0f;
        for (int64_t c = 0; c < wide; c++) {
            float column = x[j * wide + c];
            if (high == 1)
                column += a->start;
            for (int64_t r = 1; r < high; r++)
                column += x[r * a->width + j * wide + c];
            total = c ? total + column : wide == 1 ? 0.0f + column : column;
        }
        out[j] = total / a->divisor;
    }
}

static void sum_pool_images(const void *args, int64_t first, int64_t last)
{
    const struct sums *a = args;
    for (int64_t row = first * a->rows; row < last * a->rows; row++) {
        const float *x = a->x + (row / a->rows * a->height + row % a->rows * a->high) * a->width;
        float *out = a->out + row * a->columns;
        if (a->high == 2 && a->wide == 2)
            sums_of_each(a, 2, 2, x, out);
        else
            sums_of_each(a, a->high, a->wide, x, out);
    }
}

/* The sums, each divided by `divisor`. `flat`: of images that are rows, whose elements are added to each other alone; else
those of a single row are added to zero, as NumPy's are. */
void sum_pool(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide, int64_t rows,
              int64_t columns, int64_t flat, float divisor, const float *x, float *out)
{
    struct sums args = {height, width, high, wide, rows, columns, flat ? -0.0f : 0.0f, divisor, x, out};
    share(threads, images, rows_in_piece(height * width), sum_pool_images, &args);
}
