/* Reversed copies, triangles of matrices, and the gradient of resized images (kernels/arrange.py). */
#include "common.h"

struct turned { int64_t n, inner; const float *x; float *out; };

static void some_turned(const void *args, int64_t first, int64_t last)
{
    const struct turned *a = args;
    const int64_t n = a->n, inner = a->inner;
    for (int64_t k = first; k < last; k++) {
        const float *restrict x = a->x + k * n * inner;
        float *restrict out = a->out + k * n * inner;
        if (inner == 1)
            for (int64_t i = 0; i < n; i++)
                out[i] = x[n - 1 - i];
        else
            for (int64_t i = 0; i < n; i++)
                memcpy(out + i * inner, x + (n - 1 - i) * inner, inner * sizeof(float));
    }
}

/* x (outer, n, inner) with the order along n reversed. */
void flip_rows(int64_t threads, int64_t outer, int64_t n, int64_t inner, const float *x, float *out)
{
    const struct turned args = {n, inner, x, out};
    share(threads, outer, rows_in_piece(n * inner), some_turned, &args);
}

struct triangle { int64_t rows, columns, diagonal, upper; const float *x; float *out; };

static void some_triangles(const void *args, int64_t first, int64_t last)
{
    const struct triangle *a = args;
    const int64_t columns = a->columns;
    for (int64_t k = first; k < last; k++) {
        const int64_t wanted = k % a->rows + a->diagonal + !a->upper;  /* the end of the lower triangle in this row */
        const int64_t end = wanted < 0 ? 0 : wanted < columns ? wanted : columns, rest = columns - end;
        const float *restrict x = a->x + k * columns;
        float *restrict out = a->out + k * columns;
        if (a->upper) {
            memset(out, 0, end * sizeof(float));
            memcpy(out + end, x + end, rest * sizeof(float));
        } else {
            memcpy(out, x, end * sizeof(float));
            memset(out + end, 0, rest * sizeof(float));
        }
    }
}

/* The lower or the upper triangle of matrices from a diagonal on, zeros elsewhere. */
void triangle(int64_t threads, int64_t outer, int64_t rows, int64_t columns, int64_t diagonal, int64_t upper,
              const float *x, float *out)
{
    const struct triangle args = {rows, columns, diagonal, upper, x, out};
    share(threads, outer * rows, rows_in_piece(columns), some_triangles, &args);
}

struct resized { int64_t height, width, high, wide, taps; const int64_t *rows, *columns;
                 const float *row_weights, *column_weights, *g; float *out; int64_t *failed; };

static void some_resized(const void *args, int64_t first, int64_t last)
{
    const struct resized *a = args;
    const int64_t width = a->width, wide = a->wide;
    float *restrict line = malloc((width + 1) * sizeof(float));
    if (!line) {
        fail(a->failed, NO_MEMORY);
        return;
    }
    for (int64_t k = first; k < last; k++) {
        float *restrict out = a->out + k * a->height * width;
        memset(out, 0, a->height * width * sizeof(float));
        for (int64_t i = 0; i < a->high; i++) {
            const float *restrict g = a->g + (k * a->high + i) * wide;
            memset(line, 0, width * sizeof(float));
            for (int64_t t = 0; t < a->taps; t++) {
                const int64_t *restrict columns = a->columns + t * wide;
                const float *restrict weights = a->column_weights ? a->column_weights + t * wide : NULL;
                for (int64_t j = 0; j < wide; j++)
                    line[columns[j]] += weights ? weights[j] * g[j] : g[j];
            }
            for (int64_t t = 0; t < a->taps; t++) {
                float *restrict to = out + a->rows[t * a->high + i] * width;
                const float weight = a->row_weights ? a->row_weights[t * a->high + i] : 1.0f;
                for (int64_t j = 0; j < width; j++)
                    to[j] += weight * line[j];
            }
        }
    }
    free(line);
}

/* The gradient of images (height, width), given that of resized ones (high, wide), each row and column of which is a
weighted sum of `taps` rows and columns. */
int64_t resize_backward(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide,
                        int64_t taps, const float *g, const place *rows, const place *columns, const float *row_weights,
                        const float *column_weights, float *out)
{
    const int64_t lines = taps * high, size = taps * (high + wide);
    int64_t failed = 0, *copy = malloc((size + 1) * sizeof(int64_t));
    if (!copy)
        return NO_MEMORY;
    for (int64_t i = 0; i < size; i++) {
        copy[i] = i < lines ? place_below(height, rows + i) : place_below(width, columns + i - lines);
        if (copy[i] < 0)
            failed = OUTSIDE;
    }
    const struct resized args = {height, width, high, wide, taps, copy, copy + lines, row_weights, column_weights, g, out,
                                 &failed};
    if (!failed)
        share(threads, images, rows_in_piece(high * wide), some_resized, &args);
    free(copy);
    return failed;
}
