/* Convolutions with stride 1 (kernels/conv/columns.py), without columns. A padded image is one run of memory. For each
term of its sum (channel and place of the kernel) the window that begins at place p reads the element at p plus an
offset. So the sums are computed for all p at once, also where no window begins, and the rows of the output, which begin
at `starts`, are copied out. */
#include <stdlib.h>

#include "tile.h"

struct conv {
    int64_t images, lines, width, length, outputs, terms, rows, out_width, places, grain;
    const float *x, *g, *bias;
    const int64_t *lines_at, *offsets, *starts;
    float *packed, *out;
    int64_t *failed;                           /* set by a thread that finds no memory */
};

/* An image in its padded form, with zeros around it and behind it. */
static void padded_image(const struct conv *s, int64_t image, float *to)
{
    const float *from = s->x + image * s->lines * s->width;
    for (int64_t i = 0; i < s->lines; i++)
        copy_row(to + s->lines_at[i], from + i * s->width, s->width);
}

/* `rows` rows of sums for SPAN_OF_TILE places each. `w` has BLOCK weights for each term. */
INLINE void tile(const struct conv *s, int rows, const float *restrict w, const float *restrict bias,
                 const float *restrict x, float *restrict to, int64_t pitch)
{
    vec sums[TALL][THREE];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < THREE; j++)
            sums[i][j] = (vec){0} + bias[i];
    for (int64_t r = 0; r < s->terms; r++) {
        const float *at = x + s->offsets[r];
        vec a = load(at), b = load(at + LANES), c = load(at + 2 * LANES);
        for (int i = 0; i < rows; i++) {
            float weight = w[r * BLOCK + i];
            sums[i][0] += a * weight;
            sums[i][1] += b * weight;
            sums[i][2] += c * weight;
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < THREE; j++)
            store(to + i * pitch + j * LANES, sums[i][j]);
}

static void some_images(const void *args, int64_t first, int64_t last)
{
    const struct conv *s = args;
    const int64_t tiles = (s->places + SPAN_OF_TILE - 1) / SPAN_OF_TILE, pitch = tiles * SPAN_OF_TILE;
    float *x = calloc(s->length + 2 * SPAN_OF_TILE, sizeof(float)), *sums = malloc(BLOCK * pitch * sizeof(float));
    if (!x || !sums)
        fail(s->failed, NO_MEMORY);
    for (int64_t image = first; image < last && x && sums; image++) {
        padded_image(s, image, x);
        for (int64_t o = 0; o < s->outputs; o += BLOCK) {
            const float *w = s->packed + o * s->terms;
            const int64_t count = s->outputs - o < BLOCK ? s->outputs - o : BLOCK;
            float bias[BLOCK] = {0};
            for (int64_t i = 0; i < count && s->bias; i++)
                bias[i] = s->bias[o + i];
            for (int64_t t = 0; t < pitch; t += SPAN_OF_TILE)
                for (int64_t i = 0; i < count; i += TALL) {
                    float *to = sums + i * pitch + t;
                    switch (count - i) {
                    case 1: tile(s, 1, w + i, bias + i, x + t, to, pitch); break;
                    case 2: tile(s, 2, w + i, bias + i, x + t, to, pitch); break;
                    case 3: tile(s, 3, w + i, bias + i, x + t, to, pitch); break;
#if TALL > 4
                    case 4: tile(s, 4, w + i, bias + i, x + t, to, pitch); break;
                    case 5: tile(s, 5, w + i, bias + i, x + t, to, pitch); break;
                    case 6: tile(s, 6, w + i, bias + i, x + t, to, pitch); break;
                    case 7: tile(s, 7, w + i, bias + i, x + t, to, pitch); break;
#endif
                    default: tile(s, TALL, w + i, bias + i, x + t, to, pitch);
                    }
                }
            float *out = s->out + (image * s->outputs + o) * s->rows * s->out_width;
            for (int64_t i = 0; i < count; i++)
                for (int64_t j = 0; j < s->rows; j++, out += s->out_width)
                    copy_row(out, sums + i * pitch + s->starts[j], s->out_width);
        }
    }
    free(x);
    free(sums);
}

/* x (images, lines, width); w (outputs, terms), which is packed first; out (images, outputs, rows, out_width), `places`
for each output. `plan`: the starts of the lines in the padded image of `length`, the offsets of the terms, the starts
of the rows. */
int64_t convolve(int64_t threads, int64_t images, int64_t lines, int64_t width, int64_t length, int64_t outputs,
                 int64_t terms, int64_t rows, int64_t out_width, int64_t places, int64_t grain, const float *x,
                 const float *w, const float *bias, const place *plan, float *out)
{
    int64_t failed, blocks = (outputs + BLOCK - 1) / BLOCK;
    int64_t *at = checked_plan(lines, width, length, terms, places, rows, out_width, places, plan, &failed);
    if (!at)
        return failed;
    float *packed = malloc(blocks * terms * BLOCK * sizeof(float));
    if (!packed) {
        free(at);
        return NO_MEMORY;
    }
    struct conv args = {images, lines, width, length, outputs, terms, rows, out_width, places, grain, x, NULL, bias,
                        at, at + lines, at + lines + terms, packed, out, &failed};
    for (int64_t o = 0; o < blocks; o++)
        for (int64_t r = 0; r < terms; r++)
            for (int64_t i = 0; i < BLOCK; i++)
                packed[(o * terms + r) * BLOCK + i] = o * BLOCK + i < outputs ? w[(o * BLOCK + i) * terms + r] : 0.0f;
    share(threads, images, grain, some_images, &args);
    free(packed);
    free(at);
    return failed;
}

#define OUTPUTS (TALL == 8 ? 4 : 2)            /* as many sums as fit the registers */
#define TERMS 6

/* Adds the sums over all places of the products of `n` terms and OUTPUTS gradients to `to`, lane by lane. */
INLINE void weights_of(int n, const int64_t *offsets, const float *restrict x, const float *restrict g, int64_t pitch,
                       float *restrict to)
{
    vec sums[TERMS][OUTPUTS];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < OUTPUTS; j++)
            sums[i][j] = load(to + (i * OUTPUTS + j) * LANES);
    for (int64_t p = 0; p < pitch; p += LANES) {
        vec given[OUTPUTS];
        for (int j = 0; j < OUTPUTS; j++)
            given[j] = load(g + j * pitch + p);
        for (int i = 0; i < n; i++) {
            vec seen = load(x + offsets[i] + p);
            ONCE(seen);
            for (int j = 0; j < OUTPUTS; j++)
                sums[i][j] += seen * given[j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < OUTPUTS; j++)
            store(to + (i * OUTPUTS + j) * LANES, sums[i][j]);
}

static void weights_of_images(const void *args, int64_t first, int64_t last)
{
    const struct conv *s = args;
    const int64_t pitch = (s->places + LANES - 1) / LANES * LANES, size = s->rows * s->out_width;
    float *x = calloc(s->length + 2 * SPAN_OF_TILE, sizeof(float)), *g = calloc(OUTPUTS * pitch, sizeof(float));
    const int64_t blocks = (s->outputs + OUTPUTS - 1) / OUTPUTS;
    float *sums = calloc(blocks * s->terms * OUTPUTS * LANES, sizeof(float));
    const int good = x && g && sums;
    if (!good)
        fail(s->failed, NO_MEMORY);
    for (int64_t image = first; image < last && good; image++) {
        padded_image(s, image, x);
        for (int64_t o = 0; o < s->outputs; o += OUTPUTS) {      /* missing outputs keep earlier gradients */
            const int64_t count = s->outputs - o < OUTPUTS ? s->outputs - o : OUTPUTS;
            for (int64_t i = 0; i < count; i++)
                for (int64_t j = 0; j < s->rows; j++)
                    copy_row(g + i * pitch + s->starts[j], s->g + (image * s->outputs + o + i) * size + j * s->out_width,
                             s->out_width);
            for (int64_t r = 0; r < s->terms; r += TERMS) {
                float *at = sums + (o * s->terms + r * OUTPUTS) * LANES;
                const int64_t *offsets = s->offsets + r;
                switch (s->terms - r) {
                case 1: weights_of(1, offsets, x, g, pitch, at); break;
                case 2: weights_of(2, offsets, x, g, pitch, at); break;
                case 3: weights_of(3, offsets, x, g, pitch, at); break;
                case 4: weights_of(4, offsets, x, g, pitch, at); break;
                case 5: weights_of(5, offsets, x, g, pitch, at); break;
                default: weights_of(TERMS, offsets, x, g, pitch, at);
                }
            }
        }
    }
    float *to = s->out + first / s->grain * s->outputs * s->terms;
    for (int64_t o = 0; o < s->outputs && good; o++)
        for (int64_t r = 0; r < s->terms; r++) {
            const int64_t block = o / OUTPUTS * OUTPUTS;
            to[o * s->terms + r] = total_of(load(sums + (block * s->terms + r * OUTPUTS + o % OUTPUTS) * LANES));
        }
    free(x);
    free(g);
    free(sums);
}

/* The gradient of the weights of `convolve`, given that of its results, `g`. `parts` gets one part (outputs, terms) for
each `grain` images; the caller adds them up. */
int64_t convolve_weights(int64_t threads, int64_t images, int64_t lines, int64_t width, int64_t length,
                         int64_t outputs, int64_t terms, int64_t rows, int64_t out_width, int64_t places,
                         int64_t grain, int64_t pieces, const float *x, const float *g, const place *plan,
                         float *parts)
{
    int64_t failed;
    int64_t *at = checked_plan(lines, width, length, terms, places, rows, out_width, places, plan, &failed);
    if (!at)
        return failed;
    struct conv args = {images, lines, width, length, outputs, terms, rows, out_width, places, grain, x, g, NULL,
                        at, at + lines, at + lines + terms, NULL, parts, &failed};
    (void)pieces;
    share(threads, images, grain, weights_of_images, &args);
    free(at);
    return failed;
}
