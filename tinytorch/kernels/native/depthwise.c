/* Depthwise convolutions: each channel of an image has a kernel of its own (kernels/conv/depthwise.py). A padded
channel is split into planes: with strides of p rows and q columns there are p times q planes, each of elements at these
distances. The elements that one place of the kernel reads for all places of the output are then a run in one plane,
which includes the elements between rows of the output. */
#include <stdlib.h>

#include "tile.h"

#define TAPS 9                                 /* places of a kernel in one sum */
#define FAR (4 * LANES)                        /* places of an output at a time */

struct range { int64_t first, last; };

struct depthwise {
    int64_t images, channels, height, width, high, wide, rows, columns, down, across, top, left, taps;
    int64_t pitch, tall, plane, places, margin;        /* planes: width, height, size; places of an output in one */
    int64_t *at, *of;                          /* by place of the kernel: offset in the planes, and plane */
    struct range *lines, *across_lines;        /* the rows and columns of each plane that the channel has */
    const float *x, *w, *g, *bias;
    float *out;
    int64_t *failed;
};

/* The elements of a row or column of a plane that exist. The first one is number `start` of a channel of `n`, the next
ones are `step` further on. */
INLINE struct range inside(int64_t start, int64_t step, int64_t n, int64_t count)
{
    int64_t first = start < 0 ? (-start + step - 1) / step : 0, last = n > start ? (n - start + step - 1) / step : 0;
    last = last < count ? last : count;
    return (struct range){first, last > first ? last : first};
}

/* Copies a channel to its planes, or (`back`) planes to a channel. */
INLINE void move_planes(const struct depthwise *s, float *restrict planes, float *restrict channel, int back, int64_t across)
{
    for (int64_t a = 0; a < s->down; a++)
        for (int64_t b = 0; b < across; b++, planes += s->plane) {
            const struct range r = s->lines[a], c = s->across_lines[b];
            for (int64_t i = r.first; i < r.last; i++) {
                float *row = channel + (i * s->down + a - s->top) * s->width + b - s->left, *to = planes + i * s->pitch;
                if (across == 1 && back)
                    copy_row(row + c.first, to + c.first, c.last - c.first);
                else if (across == 1)
                    copy_row(to + c.first, row + c.first, c.last - c.first);
                else
                    for (int64_t j = c.first; j < c.last; j++)
                        if (back)
                            row[j * across] = to[j];
                        else
                            to[j] = row[j * across];
            }
        }
}

static void to_planes(const struct depthwise *s, const float *channel, float *planes)
{
    if (s->across == 1)
        move_planes(s, planes, (float *)channel, 0, 1);
    else if (s->across == 2)
        move_planes(s, planes, (float *)channel, 0, 2);
    else
        move_planes(s, planes, (float *)channel, 0, s->across);
}

/* Weighted sums of `n` numbers from each of several places on; added to the result if `add`. */
INLINE void some_sums(int vectors, int64_t taps, const float *restrict x, const int64_t *at, const float *restrict w,
                      float start, int add, float *restrict to)
{
    vec sums[4];
    for (int j = 0; j < vectors; j++)
        sums[j] = add ? load(to + j * LANES) : (vec){0} + start;
    for (int64_t t = 0; t < taps; t++)
        for (int j = 0; j < vectors; j++)
            sums[j] += load(x + at[t] + j * LANES) * w[t];
    for (int j = 0; j < vectors; j++)
        store(to + j * LANES, sums[j]);
}

static void sums_of_places(int64_t n, int64_t taps, const float *x, const int64_t *at, const float *w, float start, float *to)
{
    int64_t i = 0;
    for (; i + FAR <= n; i += FAR)
        if (taps == 9)
            some_sums(4, 9, x + i, at, w, start, 0, to + i);
        else
            some_sums(4, taps, x + i, at, w, start, 0, to + i);
    for (; i < n; i += LANES)
        if (taps == 9)
            some_sums(1, 9, x + i, at, w, start, 0, to + i);
        else
            some_sums(1, taps, x + i, at, w, start, 0, to + i);
}

static void some_channels(const void *args, int64_t first, int64_t last)
{
    const struct depthwise *s = args;
    const int64_t all = s->down * s->across * s->plane;
    float *planes = calloc(all + FAR, sizeof(float)), *sums = malloc((s->places + FAR) * sizeof(float));
    if (!planes || !sums)
        fail(s->failed, NO_MEMORY);
    for (int64_t i = first; i < last && planes && sums; i++) {
        const int64_t c = i % s->channels;
        to_planes(s, s->x + i * s->height * s->width, planes);
        sums_of_places(s->places, s->taps, planes, s->at, s->w + c * s->taps, s->bias ? s->bias[c] : 0.0f, sums);
        for (int64_t y = 0; y < s->high; y++)
            copy_row(s->out + (i * s->high + y) * s->wide, sums + y * s->pitch, s->wide);
    }
    free(planes);
    free(sums);
}

static void some_inputs(const void *args, int64_t first, int64_t last)
{
    const struct depthwise *s = args;
    const int64_t count = s->down * s->across;
    float *g = calloc(s->margin + s->plane + FAR, sizeof(float)), *planes = malloc((count * s->plane + FAR) * sizeof(float));
    float *w = malloc(s->taps * sizeof(float));
    int64_t *at = malloc(s->taps * sizeof(int64_t));
    const int good = g && planes && w && at;
    const int whole = s->tall * s->down >= s->height + s->top && s->pitch * s->across >= s->width + s->left;
    if (!good)
        fail(s->failed, NO_MEMORY);
    for (int64_t i = first; i < last && good; i++) {
        const float *weights = s->w + i % s->channels * s->taps;
        float *out = s->out + i * s->height * s->width;
        for (int64_t y = 0; y < s->high; y++)
            copy_row(g + s->margin + y * s->pitch, s->g + (i * s->high + y) * s->wide, s->wide);
        for (int64_t plane = 0; plane < count; plane++) {
            int64_t taps = 0;
            for (int64_t t = 0; t < s->taps; t++)
                if (s->of[t] == plane)
                    w[taps] = weights[t], at[taps++] = s->margin - (s->at[t] - plane * s->plane);
            sums_of_places(s->plane, taps, g, at, w, 0.0f, planes + plane * s->plane);
        }
        if (!whole)
            memset(out, 0, s->height * s->width * sizeof(float));
        if (s->across == 1)
            move_planes(s, planes, out, 1, 1);
        else if (s->across == 2)
            move_planes(s, planes, out, 1, 2);
        else
            move_planes(s, planes, out, 1, s->across);
    }
    free(g);
    free(planes);
    free(w);
    free(at);
}

INLINE void some_dots(int taps, int64_t n, const float *restrict g, const float *restrict x, const int64_t *at,
                      float *restrict to)
{
    vec sums[TAPS];
    for (int t = 0; t < taps; t++)
        sums[t] = load(to + t * LANES);
    for (int64_t i = 0; i < n; i += LANES) {
        const vec given = load(g + i);
        for (int t = 0; t < taps; t++)
            sums[t] += load(x + at[t] + i) * given;
    }
    for (int t = 0; t < taps; t++)
        store(to + t * LANES, sums[t]);
}

static void some_weights(const void *args, int64_t first, int64_t last)
{
    const struct depthwise *s = args;
    float *planes = calloc(s->down * s->across * s->plane + FAR, sizeof(float)), *g = calloc(s->places + FAR, sizeof(float));
    float *sums = malloc(s->taps * LANES * sizeof(float));
    const int good = planes && g && sums;
    if (!good)
        fail(s->failed, NO_MEMORY);
    for (int64_t c = first; c < last && good; c++) {
        memset(sums, 0, s->taps * LANES * sizeof(float));
        for (int64_t image = 0; image < s->images; image++) {
            const int64_t i = image * s->channels + c;
            to_planes(s, s->x + i * s->height * s->width, planes);
            for (int64_t y = 0; y < s->high; y++)
                copy_row(g + y * s->pitch, s->g + (i * s->high + y) * s->wide, s->wide);
            int64_t t = 0;
            for (; t + TAPS <= s->taps; t += TAPS)
                some_dots(TAPS, s->places, g, planes, s->at + t, sums + t * LANES);
            for (; t < s->taps; t++)
                some_dots(1, s->places, g, planes, s->at + t, sums + t * LANES);
        }
        for (int64_t t = 0; t < s->taps; t++)
            s->out[c * s->taps + t] = total_of(load(sums + t * LANES));
    }
    free(planes);
    free(g);
    free(sums);
}

/* The common part of all three kernels. `work` does the pieces, each of so many numbers. */
static int64_t depthwise(int64_t threads, int64_t pieces, piece work, struct depthwise s, int64_t rows_apart,
                         int64_t columns_apart)
{
    int64_t failed = 0;
    if (s.rows < 1 || s.columns < 1 || s.down < 1 || s.across < 1 || rows_apart < 1 || columns_apart < 1 || s.high < 1
            || s.wide < 1 || s.top < 0 || s.left < 0)
        return OUTSIDE;
    s.failed = &failed;
    s.taps = s.rows * s.columns;
    s.pitch = s.wide + (s.columns - 1) * columns_apart / s.across;
    s.tall = s.high + (s.rows - 1) * rows_apart / s.down;
    s.plane = s.tall * s.pitch;
    s.places = (s.high - 1) * s.pitch + s.wide;
    s.at = malloc(2 * s.taps * sizeof(int64_t));
    s.of = s.at + s.taps;
    for (int64_t t = 0; t < s.taps && s.at; t++) {
        const int64_t y = t / s.columns * rows_apart, x = t % s.columns * columns_apart;
        const int64_t before = y / s.down * s.pitch + x / s.across;
        s.of[t] = y % s.down * s.across + x % s.across;
        s.at[t] = s.of[t] * s.plane + before;
        s.margin = before > s.margin ? before : s.margin;
    }
    s.lines = malloc((s.down + s.across) * sizeof(struct range));
    s.across_lines = s.lines + s.down;
    for (int64_t i = 0; i < s.down && s.lines; i++)
        s.lines[i] = inside(i - s.top, s.down, s.height, s.tall);
    for (int64_t i = 0; i < s.across && s.lines; i++)
        s.across_lines[i] = inside(i - s.left, s.across, s.width, s.pitch);
    if (s.at && s.lines)
        share(threads, pieces, rows_in_piece(s.taps * s.plane * (pieces == s.channels ? s.images : 1)), work, &s);
    else
        failed = NO_MEMORY;
    free(s.lines);
    free(s.at);
    return failed;
}

/* x (images, channels, height, width), w (channels, rows, columns), out (images, channels, high, wide); windows begin
`top` and `left` before an image, with the strides `down` and `across`, and the dilations `rows_apart` and
`columns_apart`. */
int64_t depthwise_forward(int64_t threads, int64_t images, int64_t channels, int64_t height, int64_t width, int64_t high,
                          int64_t wide, int64_t rows, int64_t columns, int64_t down, int64_t across, int64_t top,
                          int64_t left, int64_t rows_apart, int64_t columns_apart, const float *x, const float *w,
                          const float *bias, float *out)
{
    const struct depthwise s = {images, channels, height, width, high, wide, rows, columns, down, across, top, left, 0, 0, 0,
                                0, 0, 0, NULL, NULL, NULL, NULL, x, w, NULL, bias, out, NULL};
    return depthwise(threads, images * channels, some_channels, s, rows_apart, columns_apart);
}

/* The gradient of x, given that of out. */
int64_t depthwise_input(int64_t threads, int64_t images, int64_t channels, int64_t height, int64_t width, int64_t high,
                        int64_t wide, int64_t rows, int64_t columns, int64_t down, int64_t across, int64_t top, int64_t left,
                        int64_t rows_apart, int64_t columns_apart, const float *g, const float *w, float *out)
{
    const struct depthwise s = {images, channels, height, width, high, wide, rows, columns, down, across, top, left, 0, 0, 0,
                                0, 0, 0, NULL, NULL, NULL, NULL, NULL, w, g, NULL, out, NULL};
    return depthwise(threads, images * channels, some_inputs, s, rows_apart, columns_apart);
}

/* The gradient of w, given that of out. */
int64_t depthwise_weights(int64_t threads, int64_t images, int64_t channels, int64_t height, int64_t width, int64_t high,
                          int64_t wide, int64_t rows, int64_t columns, int64_t down, int64_t across, int64_t top,
                          int64_t left, int64_t rows_apart, int64_t columns_apart, const float *x, const float *g,
                          float *out)
{
    const struct depthwise s = {images, channels, height, width, high, wide, rows, columns, down, across, top, left, 0, 0, 0,
                                0, 0, 0, NULL, NULL, NULL, NULL, x, NULL, g, NULL, out, NULL};
    return depthwise(threads, channels, some_weights, s, rows_apart, columns_apart);
}
