/* Convolutions with kernels of 3 x 3 and stride 1 (kernels/conv/winograd.py) by Winograd's minimal filtering
F(2 x 2, 3 x 3). Each square of 4 x 4 elements of an image becomes 16 sums, and so does each kernel. Then there are 16
products of matrices, and sums of their results are the 2 x 2 outputs: 16 multiplications instead of 36.

An element of a square that is not finite affects all of its four outputs. So outputs that are not finite are computed
once more, one by one. */
#include <stdlib.h>

#include "panels.h"

#define SQUARES 96                             /* at a time, or a row of them if it has more */
#define ROWS (64 / HIGH * HIGH)                /* outputs at a time: their products stay in the cache */
#define TERMS 512                              /* channels of a panel */
#define PADDED (1 << 20)                       /* floats of padded images at a time, but at least one image */
#define KINDS 16

struct winograd {
    int64_t images, channels, height, width, outputs, high, wide, top, left;   /* outputs are high x wide */
    int64_t by_row, by_term, turned;           /* strides of the weights; whether the kernel is read from its end */
    int64_t down, across, pitch, length;       /* squares; sizes of a row of a padded image and of the image */
    int64_t together, rows_at_once, columns, row_block, row_blocks, first;
    const float *x, *w, *bias;
    float *padded, *kernels, *out;
    int64_t *failed;
};

static void pad_planes(const void *args, int64_t first, int64_t last)
{
    const struct winograd *s = args;
    const int64_t plane = (2 * s->down + 2) * s->pitch, rows = 2 * s->down + 2 - s->top;
    const int64_t count = s->width < s->pitch - s->left ? s->width : s->pitch - s->left;
    for (int64_t i = first; i < last; i++)
        for (int64_t j = 0; j < s->height && j < rows; j++)
            copy_row(s->padded + i * plane + (s->top + j) * s->pitch + s->left,
                     s->x + ((s->first * s->channels + i) * s->height + j) * s->width, count);
}

/* Transposes 16 kernels, which begin `apart`, so that the same places of all kernels are adjacent. */
INLINE void places_of_kernels(const float *restrict w, int64_t apart, int turned, float k[9][16])
{
    for (int l = 0; l < 16; l++, w += apart)
        for (int i = 0; i < 9; i++)
            k[i][l] = w[turned ? 8 - i : i];
}

/* Four rows from three: the first, half the sum of all, half the sum with the second one negative, the third. */
INLINE void four_of_three(const float *restrict p, const float *restrict q, const float *restrict r, float *restrict first,
                          float *restrict sum, float *restrict rest, float *restrict third)
{
    for (int l = 0; l < 16; l++) {
        const float outer = 0.5f * (p[l] + r[l]), middle = 0.5f * q[l];
        first[l] = p[l];
        sum[l] = outer + middle;
        rest[l] = outer - middle;
        third[l] = r[l];
    }
}

/* The 16 sums for each kernel of a row of weights. */
static void some_kernels(const void *args, int64_t first, int64_t last)
{
    const struct winograd *s = args;
    for (int64_t row = first; row < last; row++)
        for (int64_t c = 0; c < s->channels; c += 16) {
            const int64_t count = s->channels - c < 16 ? s->channels - c : 16;
            const float *w = s->w + row * s->by_row + c * s->by_term;
            float *to = s->kernels + row * s->channels + c;
            float k[9][16], half[4][3][16], whole[4][16];
            if (count == 16 && s->turned) {
                places_of_kernels(w, s->by_term, 1, k);
            } else if (count == 16 && s->by_term == 9) {
                places_of_kernels(w, 9, 0, k);
            } else {
                memset(k, 0, sizeof k);
                for (int64_t l = 0; l < count; l++)
                    for (int i = 0; i < 9; i++)
                        k[i][l] = w[l * s->by_term + (s->turned ? 8 - i : i)];
            }
            for (int j = 0; j < 3; j++)
                four_of_three(k[j], k[3 + j], k[6 + j], half[0][j], half[1][j], half[2][j], half[3][j]);
            for (int i = 0; i < 4; i++) {
                four_of_three(half[i][0], half[i][1], half[i][2], whole[0], whole[1], whole[2], whole[3]);
                for (int j = 0; j < 4; j++, to += s->outputs * s->channels)
                    if (count == 16)
                        memcpy(to, whole[j], sizeof whole[j]);
                    else
                        memcpy(to, whole[j], count * sizeof(float));
            }
        }
}

/* Writes the sums of `n` rows of squares of an image, from `x` on, to columns of panels of 16 matrices. They begin at
square `at`, and each row of squares `apart` further on. `memory`: 4 sums along rows of elements. */
static void sums_of_squares(const struct winograd *s, int64_t n, const float *restrict x, float *restrict memory,
                            float *const to[KINDS], int64_t square, int64_t span, int64_t width, int64_t terms, int64_t c)
{
    const int64_t half = s->pitch / 2, all = (2 * n + 2) * half, room = all + LINE;
    float *restrict a = memory, *restrict b = memory + room, *restrict d = b + room, *restrict e = d + room;
    SPAN
    for (int64_t f = 0; f < all; f++) {
        const float p = x[2 * f], q = x[2 * f + 1], r = x[2 * f + 2], t = x[2 * f + 3];
        a[f] = p - r;
        b[f] = q + r;
        d[f] = r - q;
        e[f] = q - t;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < s->across;) {
            const int64_t at = square + i * s->across + j, panel = at / span, wide = width_of(width, panel * span);
            const int64_t place = panel * (span * terms + LINE) + c * packed_size(1, wide) + at - panel * span;
            const int64_t rest = (panel + 1) * span - at, count = s->across - j < rest ? s->across - j : rest;
            for (int k = 0; k < 4; k++) {
                const float *one = memory + k * room + 2 * i * half + j, *two = one + half, *three = two + half;
                const float *four = three + half;
                float *p = to[k] + place, *q = to[4 + k] + place, *r = to[8 + k] + place, *t = to[12 + k] + place;
                for (int64_t l = 0; l < count; l += LANES) {       /* the next one overwrites the excess */
                    const vec v = load(two + l), w = load(three + l);
                    store(p + l, load(one + l) - w);
                    store(q + l, v + w);
                    store(r + l, w - v);
                    store(t + l, v - load(four + l));
                }
            }
            j += count;
        }
}

/* One output by its definition. */
static float one_output(const struct winograd *s, int64_t image, int64_t o, int64_t y, int64_t x)
{
    const float *from = s->padded + image * s->length + y * s->pitch + x;
    float sum = s->bias ? s->bias[o] : 0.0f;
    for (int64_t c = 0; c < s->channels; c++, from += (2 * s->down + 2) * s->pitch) {
        const float *w = s->w + o * s->by_row + c * s->by_term;
        for (int i = 0; i < 9; i++)
            sum += from[i / 3 * s->pitch + i % 3] * w[s->turned ? 8 - i : i];
    }
    return sum;
}

/* The outputs of one row of squares from 4 rows of sums: even and odd columns of the upper row, then of the lower
one. */
static void put_outputs(const struct winograd *s, int64_t row, int64_t o, const float *restrict sums, int64_t apart)
{
    const int64_t image = row / s->down, y = row % s->down * 2, pairs = s->wide / 2;
    float *out = s->out + (((s->first + image) * s->outputs + o) * s->high + y) * s->wide;
    for (int64_t i = 0; i < 2 && y + i < s->high; i++, out += s->wide, sums += 2 * apart) {
        const float *even = sums, *odd = sums + apart;
        float bad = 0;
        TOTAL(+, bad)
        for (int64_t l = 0; l < s->across; l++)
            bad += even[l] * 0.0f + odd[l] * 0.0f;
        for (int64_t l = 0; l < pairs; l++) {
            out[2 * l] = even[l];
            out[2 * l + 1] = odd[l];
        }
        if (s->wide % 2)
            out[s->wide - 1] = even[pairs];
        for (int64_t l = 0; l < s->wide && bad != 0.0f; l++)
            if (out[l] - out[l] != 0.0f)
                out[l] = one_output(s, image, o, y + i, l);
    }
}

static void some_squares(const void *args, int64_t first, int64_t last)
{
    const struct winograd *s = args;
    const int64_t all = s->images * s->down, terms = s->channels, room = s->columns + 2 * LINE;
    const int64_t panels_at_once = (s->columns + span_of(s->columns) - 1) / span_of(s->columns);
    const int64_t of_kind = terms * s->columns + (panels_at_once + 2) * LINE;
    const int64_t line = (2 * s->rows_at_once + 2) * s->pitch / 2 + LINE;
    float *memory = malloc((KINDS * (of_kind + ROWS * s->columns) + 4 * line + 4 * room + 4 * LINE) * sizeof(float));
    if (!memory) {
        fail(s->failed, NO_MEMORY);
        return;
    }
    float *panels[KINDS], *products = on_line(memory), *outputs = products + KINDS * ROWS * s->columns;
    float *along = outputs + 4 * room;
    for (int i = 0; i < KINDS; i++)
        panels[i] = on_line(along + 4 * line) + i * of_kind;
    for (int64_t at = first; at < last; at++) {
        const int64_t row = at / s->row_blocks * s->rows_at_once, top = at % s->row_blocks * s->row_block;
        const int64_t bottom = top + s->row_block < s->outputs ? top + s->row_block : s->outputs;
        const int64_t end = row + s->rows_at_once < all ? row + s->rows_at_once : all, width = (end - row) * s->across;
        const int64_t span = span_of(width);
        for (int64_t c = 0; c < terms; c++)
            for (int64_t r = row; r < end;) {
                const int64_t image = r / s->down, rest = s->down - r % s->down, n = end - r < rest ? end - r : rest;
                const float *x = s->padded + image * s->length
                    + (c * (2 * s->down + 2) + r % s->down * 2) * s->pitch;
                sums_of_squares(s, n, x, along, panels, (r - row) * s->across, span, width, terms, c);
                r += n;
            }
        for (int64_t o = top; o < bottom; o += ROWS) {
            const int64_t stop = o + ROWS < bottom ? o + ROWS : bottom;
            for (int i = 0; i < KINDS; i++)
                for (int64_t j = 0; j < width; j += span) {
                    const int64_t wide = width_of(width, j);
                    float *to = products + i * ROWS * s->columns;
                    struct panel p = {terms, wide, s->channels, s->channels, 1, packed_size(1, wide), s->columns, 0, 0,
                                      s->kernels + i * s->outputs * s->channels, panels[i] + j / span * (span * terms + LINE),
                                      to + j - o * s->columns};
                    times_panel(&p, o, stop);
                }
            for (int64_t i = o; i < stop; i++) {
                const float bias = s->bias ? s->bias[i] : 0.0f;
                const float *m = products + (i - o) * s->columns;
                const int64_t apart = ROWS * s->columns;
                for (int64_t l = 0; l < width; l += LANES) {
                    vec upper[4], lower[4];
                    for (int k = 0; k < 4; k++) {
                        const float *of = m + k * apart + l;
                        const vec q = load(of + 4 * apart), r = load(of + 8 * apart);
                        upper[k] = load(of) + (q + r);
                        lower[k] = (q - r) - load(of + 12 * apart);
                    }
                    store(outputs + l, upper[0] + (upper[1] + upper[2]) + bias);
                    store(outputs + room + l, (upper[1] - upper[2]) - upper[3] + bias);
                    store(outputs + 2 * room + l, lower[0] + (lower[1] + lower[2]) + bias);
                    store(outputs + 3 * room + l, (lower[1] - lower[2]) - lower[3] + bias);
                }
                for (int64_t r = row; r < end; r++)
                    put_outputs(s, r, i, outputs + (r - row) * s->across, room);
            }
        }
    }
    free(memory);
}

/* x (images, channels, height, width); out (images, outputs, high, wide), whose first window begins `top` and `left`
before an image. In w the kernels of outputs and channels are `by_row` and `by_term` apart. `turned`: kernels are read
from their end. */
int64_t convolve_squares(int64_t threads, int64_t images, int64_t channels, int64_t height, int64_t width, int64_t outputs,
                         int64_t high, int64_t wide, int64_t top, int64_t left, int64_t by_row, int64_t by_term,
                         int64_t turned, const float *x, const float *w, const float *bias, float *out)
{
    const int64_t down = (high + 1) / 2, across = (wide + 1) / 2, pitch = 2 * across + 2;
    const int64_t length = channels * (2 * down + 2) * pitch, all = outputs * channels * 9;
    int64_t failed = 0;
    if (channels < 1 || channels > TERMS || high < 1 || wide < 1 || top < 0 || left < 0 || top > 2 * down || left > 2 * across || (outputs - 1) * by_row
            + (channels - 1) * by_term + 9 > all || by_row < 0 || by_term < 0)
        return OUTSIDE;
    const int64_t fit = PADDED / length, together = fit < 1 ? 1 : fit < images ? fit : images;
    const int64_t some = SQUARES / across, rows = some < 1 ? 1 : some < together * down ? some : together * down;
    struct winograd s = {images, channels, height, width, outputs, high, wide, top, left, by_row, by_term, turned, down,
                         across, pitch, length, together, rows, (rows * across + LINE - 1) / LINE * LINE, outputs, 1, 0, x,
                         w, bias, NULL, NULL, out, &failed};
    s.padded = calloc(together * length + 4 * LINE, sizeof(float));
    s.kernels = malloc(KINDS * outputs * channels * sizeof(float));
    if (s.padded && s.kernels) {
        share(threads, outputs, rows_in_piece(KINDS * channels), some_kernels, &s);
        for (; s.first < images; s.first += together) {
            s.images = images - s.first < together ? images - s.first : together;
            share(threads, s.images * channels, rows_in_piece(height * width), pad_planes, &s);
            const int64_t blocks = (s.images * down + rows - 1) / rows;
            s.row_block = blocks < 8 && outputs > 2 * ROWS ? 2 * ROWS : outputs;
            s.row_blocks = (outputs + s.row_block - 1) / s.row_block;
            share(threads, blocks * s.row_blocks, 1, some_squares, &s);
        }
    } else {
        failed = NO_MEMORY;
    }
    free(s.padded);
    free(s.kernels);
    return failed;
}
