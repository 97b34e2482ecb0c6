/* Reversed, rolled and repeated copies, arrays beside each other and in borders, triangles and diagonals of matrices,
channels as pixels, windows added up into images, and the gradient of resized images (kernels/arrange.py, copies.py,
conv/columns.py). */
#include "tile.h"

struct turned { int64_t n, inner; int past; const float *x; float *out; };

static void some_turned(const void *args, int64_t first, int64_t last)
{
    const struct turned *a = args;
    const int64_t n = a->n;
    for (int64_t k = first; k < last; k++) {
        const float *restrict x = a->x + k * n;
        float *restrict out = a->out + k * n;
        for (int64_t i = 0; i < n; i++)
            out[i] = x[n - 1 - i];
    }
}

static void turned_lines(const void *args, int64_t first, int64_t last)
{
    const struct turned *a = args;
    const int64_t n = a->n;
    for (int64_t k = first; k < last; k++)
        put(a->out + k * a->inner, a->x + (k / n * n + n - 1 - k % n) * a->inner, a->inner, a->past);
}

/* x (outer, n, inner) with the order along n reversed. */
void flip_rows(int64_t threads, int64_t outer, int64_t n, int64_t inner, const float *x, float *out)
{
    const struct turned args = {n, inner, outer * n * inner >= PAST / 4, x, out};
    if (inner == 1)
        share(threads, outer, light_rows_in_piece(n), some_turned, &args);
    else
        share(threads, outer * n, light_rows_in_piece(inner), turned_lines, &args);
}

struct beside { int64_t m, n; int past; const float *x, *y; float *out; };

static void some_beside(const void *args, int64_t first, int64_t last)
{
    const struct beside *a = args;
    const int64_t m = a->m, n = a->n;
    const int single = m == 1 && n == 1;
    for (int64_t k = first; k < last && single; k++)
        a->out[2 * k] = a->x[k], a->out[2 * k + 1] = a->y[k];
    for (int64_t k = first; k < last && !single; k++) {
        put(a->out + k * (m + n), a->x + k * m, m, a->past);
        put(a->out + k * (m + n) + m, a->y + k * n, n, a->past);
    }
}

/* A part of one row of both. */
static void part_beside(const void *args, int64_t first, int64_t last)
{
    const struct beside *a = args;
    const int64_t from = first < a->m ? a->m : first;
    if (first < a->m)
        put(a->out + first, a->x + first, (last < a->m ? last : a->m) - first, a->past);
    if (last > a->m)
        put(a->out + from, a->y + from - a->m, last - from, a->past);
}

/* out (outer, m + n): rows of x (outer, m), each with a row of y (outer, n) behind it. */
void beside(int64_t threads, int64_t outer, int64_t m, int64_t n, const float *x, const float *y, float *out)
{
    const struct beside args = {m, n, outer * (m + n) >= PAST / 4, x, y, out};
    if (outer == 1)
        share(threads, m + n, LIGHT_PIECE, part_beside, &args);
    else
        share(threads, m + n ? outer : 0, light_rows_in_piece(m + n), some_beside, &args);
}

struct rolled { int64_t n, shift; int past; const float *x; float *out; };

static void some_rolled(const void *args, int64_t first, int64_t last)
{
    const struct rolled *a = args;
    const int64_t n = a->n, shift = a->shift;
    for (int64_t k = first; k < last; k++) {
        put(a->out + k * n, a->x + k * n + n - shift, shift, a->past);
        put(a->out + k * n + shift, a->x + k * n, n - shift, a->past);
    }
}

/* x (outer, n) whose rows are moved by `shift` places, 0 to n; what is moved beyond the end comes in at the start. */
void roll_rows(int64_t threads, int64_t outer, int64_t n, int64_t shift, const float *x, float *out)
{
    const struct rolled args = {n, shift, outer * n >= PAST / 4, x, out};
    if (outer == 1)
        beside(threads, 1, shift, n - shift, x + n - shift, x, out);
    else
        share(threads, outer, light_rows_in_piece(n), some_rolled, &args);
}

struct embedded { int64_t size, down, right; const float *x; float *out; };

static void some_embedded(const void *args, int64_t first, int64_t last)
{
    const struct embedded *a = args;
    const int64_t side = a->size + a->down + a->right;
    for (int64_t k = first; k < last; k++) {
        const int64_t at = k % side - a->down;
        float *restrict out = a->out + k * side;
        for (int64_t i = 0; i < side; i++)
            out[i] = 0;
        if (at >= 0 && at < a->size)
            out[at + a->right] = a->x[k / side * a->size + at];
    }
}

/* Square matrices of zeros with the rows of x (outer, size) on a diagonal, so far down and to the right. */
void diagonals(int64_t threads, int64_t outer, int64_t size, int64_t down, int64_t right, const float *x, float *out)
{
    const struct embedded args = {size, down, right, x, out};
    const int64_t side = size + down + right;
    share(threads, outer * side, light_rows_in_piece(side), some_embedded, &args);
}

struct filled { float value; float *out; };

static void some_filled(const void *args, int64_t first, int64_t last)
{
    const struct filled *a = args;
    const float value = a->value;
    float *restrict out = a->out;
    for (int64_t i = first; i < last; i++)
        out[i] = value;
}

/* Fills an array with a number. */
void fill(int64_t threads, int64_t n, float value, float *out)
{
    const struct filled args = {value, out};
    share(threads, n, LIGHT_PIECE, some_filled, &args);
}

struct repeated { int64_t width, times; int past; const float *x; float *out; };

static void some_repeated(const void *args, int64_t first, int64_t last)
{
    const struct repeated *a = args;
    for (int64_t k = first; k < last; k++) {
        const float number = a->x[k];
        float *restrict out = a->out + k * a->times;
        for (int64_t i = 0; i < a->times; i++)
            out[i] = number;
    }
}

/* A part of the lines of the result, which are all in one piece of memory. */
static void lines_repeated(const void *args, int64_t first, int64_t last)
{
    const struct repeated *a = args;
    const int64_t width = a->width, line = first / width;
    int64_t at = first % width, time = line % a->times;
    const float *x = a->x + line / a->times * width;
    for (int64_t i = first, run; i < last; i += run, at = 0) {
        run = width - at < last - i ? width - at : last - i;
        put(a->out + i, x + at, run, a->past);
        if (++time == a->times)
            time = 0, x += width;
    }
}

/* out (rows, times, width): each row of x (rows, width) repeated. */
void repeat_rows(int64_t threads, int64_t rows, int64_t width, int64_t times, const float *x, float *out)
{
    const struct repeated args = {width, times, rows * width * times >= PAST / 4, x, out};
    if (width == 1 && rows == 1)
        fill(threads, times, *x, out);
    else if (width == 1)
        share(threads, rows, light_rows_in_piece(times), some_repeated, &args);
    else
        share(threads, rows * width * times, LIGHT_PIECE, lines_repeated, &args);
}

struct bordered { int64_t rows, columns, top, bottom, left, right; int past; float value; const float *x; float *out; };

INLINE void fill_row(float *restrict out, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* Rows of all results, numbered through. */
static void some_bordered(const void *args, int64_t first, int64_t last)
{
    const struct bordered *a = args;
    const int64_t high = a->top + a->rows + a->bottom, wide = a->left + a->columns + a->right;
    int64_t image = first / high, i = first % high - a->top;
    for (int64_t k = first; k < last; k++) {
        float *out = a->out + k * wide;
        if (i < 0 || i >= a->rows)
            fill_row(out, wide, a->value);
        else {
            fill_row(out, a->left, a->value);
            put(out + a->left, a->x + (image * a->rows + i) * a->columns, a->columns, a->past);
            fill_row(out + a->left + a->columns, a->right, a->value);
        }
        if (++i == a->rows + a->bottom)
            i = -a->top, image++;
    }
}

/* x (outer, rows, columns) in borders of `value`. */
void border(int64_t threads, int64_t outer, int64_t rows, int64_t columns, int64_t top, int64_t bottom, int64_t left,
            int64_t right, float value, const float *x, float *out)
{
    const struct bordered args = {rows, columns, top, bottom, left, right, outer * rows * columns >= PAST / 4, value, x,
                                  out};
    share(threads, outer * (top + rows + bottom), light_rows_in_piece(left + columns + right), some_bordered, &args);
}

struct pixels { int64_t factor, height, width, back; const float *x; float *out; };

/* Rows of all images of pixels, numbered through. */
static void some_pixels(const void *args, int64_t first, int64_t last)
{
    const struct pixels *a = args;
    const int64_t factor = a->factor, width = a->width;
    for (int64_t k = first; k < last; k++) {
        const int64_t image = k / (a->height * factor), row = k / factor % a->height;
        for (int64_t j = 0; j < factor; j++) {
            const int64_t plane = (image * factor + k % factor) * factor + j;
            const int64_t apart = (plane * a->height + row) * width, joined = k * width * factor + j;
            for (int64_t i = 0; i < width && !a->back; i++)
                a->out[joined + i * factor] = a->x[apart + i];
            for (int64_t i = 0; i < width && a->back; i++)
                a->out[apart + i] = a->x[joined + i * factor];
        }
    }
}

/* The factor^2 planes (height, width) of each image as the pixels of one plane (height * factor, width * factor), or
`back`. */
void shuffle_pixels(int64_t threads, int64_t images, int64_t factor, int64_t height, int64_t width, int64_t back,
                    const float *x, float *out)
{
    const struct pixels args = {factor, height, width, back, x, out};
    share(threads, images * height * factor, light_rows_in_piece(width * factor), some_pixels, &args);
}

struct folded { int64_t height, width, high, wide, rows, columns, down, across, top, left, rows_apart, columns_apart;
                const float *x; float *out; };

#define RUN 64

/* Adds to `count` elements of `line`, which begin at column `from` of the windows, what the windows' column `column` has
for row y of the image, one row of the windows after the other. */
INLINE void line_of_windows(const struct folded *a, const float *x, int64_t y, int64_t column, int64_t from,
                            int64_t count, float *restrict line)
{
    memset(line, 0, count * sizeof(float));
    for (int64_t row = 0; row < a->rows; row++) {
        const int64_t at = y + a->top - row * a->rows_apart;
        if (at < 0 || at % a->down || at / a->down >= a->high)
            continue;
        const float *restrict part = x + ((row * a->columns + column) * a->high + at / a->down) * a->wide + from;
        for (int64_t j = 0; j < count; j++)
            line[j] += part[j];
    }
}

/* Rows of all images, numbered through. */
static void some_folded(const void *args, int64_t first, int64_t last)
{
    const struct folded *a = args;
    const int64_t size = a->rows * a->columns * a->high * a->wide;
    float line[RUN];
    for (int64_t k = first; k < last; k++) {
        const float *x = a->x + k / a->height * size;
        float *out = a->out + k * a->width;
        memset(out, 0, a->width * sizeof(float));
        for (int64_t column = 0; column < a->columns; column++)
            for (int64_t from = 0; from < a->wide; from += RUN) {
                const int64_t count = a->wide - from < RUN ? a->wide - from : RUN;
                const int64_t start = from * a->across + column * a->columns_apart - a->left;
                line_of_windows(a, x, k % a->height, column, from, count, line);
                for (int64_t j = 0; j < count; j++) {
                    const int64_t at = start + j * a->across;
                    if (at >= 0 && at < a->width)
                        out[at] += line[j];
                }
            }
    }
}

/* Images (height, width) as the sums of their windows x (rows, columns, high, wide), which begin `down` and `across`
apart, outside of the image by `top` and `left`, and whose elements are `rows_apart` and `columns_apart`. */
void fold(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide, int64_t rows,
          int64_t columns, int64_t down, int64_t across, int64_t top, int64_t left, int64_t rows_apart,
          int64_t columns_apart, const float *x, float *out)
{
    const struct folded args = {height, width, high, wide, rows, columns, down, across, top, left, rows_apart,
                                columns_apart, x, out};
    share(threads, images * height, rows_in_piece(width * rows * columns), some_folded, &args);
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
            put(out + end, x + end, rest, 0);
        } else {
            put(out, x, end, 0);
            memset(out + end, 0, rest * sizeof(float));
        }
    }
}

/* The lower or the upper triangle of matrices from a diagonal on, zeros elsewhere. */
void triangle(int64_t threads, int64_t outer, int64_t rows, int64_t columns, int64_t diagonal, int64_t upper,
              const float *x, float *out)
{
    const struct triangle args = {rows, columns, diagonal, upper, x, out};
    share(threads, outer * rows, light_rows_in_piece(columns), some_triangles, &args);
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

/* A line of an image, each of whose columns is a weighted sum of columns. */
INLINE void resized_line(const struct resized *a, const float *restrict x, float *restrict line)
{
    for (int64_t t = 0; t < a->taps; t++) {
        const int64_t *restrict columns = a->columns + t * a->wide;
        const float *restrict weights = a->column_weights ? a->column_weights + t * a->wide : NULL;
        if (!weights)
            for (int64_t j = 0; j < a->wide; j++)
                line[j] = t ? line[j] + x[columns[j]] : x[columns[j]];
        else if (t)
            for (int64_t j = 0; j < a->wide; j++)
                line[j] += x[columns[j]] * weights[j];
        else
            for (int64_t j = 0; j < a->wide; j++)
                line[j] = x[columns[j]] * weights[j];
    }
}

/* Lines that were resized are kept, one for each tap, because the next row needs most of them again. */
static void some_images_resized(const void *args, int64_t first, int64_t last)
{
    const struct resized *a = args;
    const int64_t wide = a->wide;
    float *memory = malloc((a->taps * wide + 1) * sizeof(float));
    int64_t *kept = malloc((a->taps + 1) * sizeof(int64_t));
    if (!memory || !kept)
        fail(a->failed, NO_MEMORY);
    for (int64_t k = first; k < last && memory && kept; k++) {
        for (int64_t t = 0; t < a->taps; t++)
            kept[t] = -1;
        for (int64_t i = 0; i < a->high; i++) {
            float *restrict out = a->out + (k * a->high + i) * wide;
            for (int64_t t = 0; t < a->taps; t++) {
                const int64_t row = a->rows[t * a->high + i], slot = row % a->taps;
                float *restrict line = memory + slot * wide;
                if (kept[slot] != row)
                    resized_line(a, a->g + (k * a->height + row) * a->width, line);
                kept[slot] = row;
                const float weight = a->row_weights ? a->row_weights[t * a->high + i] : 1.0f;
                if (t)
                    for (int64_t j = 0; j < wide; j++)
                        out[j] += line[j] * weight;
                else
                    for (int64_t j = 0; j < wide; j++)
                        out[j] = line[j] * weight;
            }
        }
    }
    free(memory);
    free(kept);
}

/* A checked copy of the places of `taps` rows and columns. NULL, with the reason in `failed`, if memory is missing or a
place is out of range. */
static int64_t *places_of_taps(int64_t height, int64_t width, int64_t high, int64_t wide, int64_t taps, const place *rows,
                               const place *columns, int64_t *failed)
{
    const int64_t lines = taps * high, size = taps * (high + wide);
    int64_t *copy = malloc((size + 1) * sizeof(int64_t));
    *failed = copy ? 0 : NO_MEMORY;
    for (int64_t i = 0; i < size && copy; i++) {
        copy[i] = i < lines ? place_below(height, rows + i) : place_below(width, columns + i - lines);
        if (copy[i] < 0)
            *failed = OUTSIDE;
    }
    if (*failed) {
        free(copy);
        return NULL;
    }
    return copy;
}

/* Images (high, wide) of images (height, width): each row and column is a weighted sum of `taps` rows and columns. */
int64_t resize(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide, int64_t taps,
               const float *x, const place *rows, const place *columns, const float *row_weights,
               const float *column_weights, float *out)
{
    int64_t failed, *copy = places_of_taps(height, width, high, wide, taps, rows, columns, &failed);
    const struct resized args = {height, width, high, wide, taps, copy, copy ? copy + taps * high : NULL, row_weights,
                                 column_weights, x, out, &failed};
    if (copy)
        share(threads, images, rows_in_piece(2 * high * wide), some_images_resized, &args);
    free(copy);
    return failed;
}

/* The gradient of images (height, width), given that of resized ones (high, wide), each row and column of which is a
weighted sum of `taps` rows and columns. */
int64_t resize_backward(int64_t threads, int64_t images, int64_t height, int64_t width, int64_t high, int64_t wide,
                        int64_t taps, const float *g, const place *rows, const place *columns, const float *row_weights,
                        const float *column_weights, float *out)
{
    int64_t failed, *copy = places_of_taps(height, width, high, wide, taps, rows, columns, &failed);
    const struct resized args = {height, width, high, wide, taps, copy, copy ? copy + taps * high : NULL, row_weights,
                                 column_weights, g, out, &failed};
    if (copy)
        share(threads, images, rows_in_piece(high * wide), some_resized, &args);
    free(copy);
    return failed;
}
