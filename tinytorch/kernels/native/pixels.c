/* Convolutions with stride 1 of images with channels last in memory (kernels/conv/few_outputs.py). For each place of
the kernel a window reads a run of channels, so that the convolution is a product of overlapping windows and weights. As
in conv.c a padded image is one run of memory, and sums are computed for all places, also where no window begins. */
#include <stdlib.h>

#include "panels.h"

#define WINDOWS 12                             /* as many sums as fit the registers */

struct pixels {
    int64_t images, lines, width, length, outputs, channels, taps, rows, out_width, places;
    const float *x, *bias;
    const int64_t *lines_at, *offsets, *starts;
    float *packed, *out;
    int64_t *failed;                           /* set by a thread that finds no memory */
};

/* LANES outputs of `n` windows. The first window begins at `x`. */
INLINE void windows(int n, const struct pixels *s, const float *restrict w, vec bias, const float *restrict x,
                    float *restrict to)
{
    const int64_t channels = s->channels;
    vec sums[WINDOWS];
    for (int i = 0; i < n; i++)
        sums[i] = bias;
    for (int64_t t = 0; t < s->taps; t++) {
        const float *at = x + s->offsets[t];
        for (int64_t r = 0; r < channels; r++, at++, w += LANES) {
            const vec weights = load(w);
            for (int i = 0; i < n; i++)
                sums[i] += weights * at[i * channels];
        }
    }
    for (int i = 0; i < n; i++)
        store(to + i * LANES, sums[i]);
}

/* Copies `n` places of `count` outputs, which are in groups of LANES, to the arrays of places of each output, which
begin `apart`. */
static void put_places(int64_t n, int64_t count, const float *restrict from, float *restrict to, int64_t apart)
{
    int64_t i = 0;
#if defined(FOUR) && LANES >= FOUR
    for (; i + 4 <= n && count % 4 == 0; i += 4)
        for (int64_t o = 0; o < count; o += 4) {
            const float *at = from + i * LANES + o;
            turn_four(at, at + LANES, at + 2 * LANES, at + 3 * LANES, to + o * apart + i, apart);
        }
#endif
    for (; i < n; i++)
        for (int64_t o = 0; o < count; o++)
            to[o * apart + i] = from[i * LANES + o];
}

static void images_of_pixels(const void *args, int64_t first, int64_t last)
{
    const struct pixels *s = args;
    const int64_t whole = s->lines * s->width, size = s->rows * s->out_width;
    float *memory = s->length == whole ? NULL : calloc(s->length, sizeof(float));
    float *sums = malloc((s->places + WINDOWS) * LANES * sizeof(float));
    const int good = sums && (memory || s->length == whole);
    if (!good)
        fail(s->failed, NO_MEMORY);
    for (int64_t image = first; image < last && good; image++) {
        const float *x = s->x + image * whole;
        for (int64_t i = 0; i < s->lines && memory; i++)
            memcpy(memory + s->lines_at[i], x + i * s->width, s->width * sizeof(float));
        x = memory ? memory : x;
        for (int64_t o = 0; o < s->outputs; o += LANES) {
            const float *w = s->packed + o * s->taps * s->channels;
            const int64_t count = s->outputs - o < LANES ? s->outputs - o : LANES;
            float start[LANES] = {0};
            for (int64_t i = 0; i < count && s->bias; i++)
                start[i] = s->bias[o + i];
            const vec bias = load(start);
            int64_t p = 0;
            for (; p + WINDOWS <= s->places; p += WINDOWS)
                windows(WINDOWS, s, w, bias, x + p * s->channels, sums + p * LANES);
            for (; p + 4 <= s->places; p += 4)
                windows(4, s, w, bias, x + p * s->channels, sums + p * LANES);
            for (; p < s->places; p++)
                windows(1, s, w, bias, x + p * s->channels, sums + p * LANES);
            float *out = s->out + (image * s->outputs + o) * size;
            for (int64_t j = 0; j < s->rows; j++)
                put_places(s->out_width, count, sums + s->starts[j] * LANES, out + j * s->out_width, size);
        }
    }
    free(memory);
    free(sums);
}

/* x (images, lines, width), whose lines are pixels of `channels`; w (outputs, channels, taps), which is packed first;
out (images, outputs, rows, out_width), `places` for each output. `plan`: the starts of the lines in the padded image of
`length`, the offsets of the taps, the pixels at which rows of output begin. */
int64_t convolve_pixels(int64_t threads, int64_t images, int64_t lines, int64_t width, int64_t length, int64_t outputs,
                        int64_t channels, int64_t taps, int64_t rows, int64_t out_width, int64_t places, int64_t grain,
                        const float *x, const float *w, const float *bias, const place *plan, float *out)
{
    int64_t failed;
    int64_t *at = checked_plan(lines, width, length, taps, places * channels, rows, out_width, places, plan, &failed);
    if (!at)
        return failed;
    const int64_t terms = taps * channels, blocks = (outputs + LANES - 1) / LANES;
    float *memory = malloc((blocks * terms * LANES + LINE) * sizeof(float)), *packed = on_line(memory);
    if (!memory) {
        free(at);
        return NO_MEMORY;
    }
    struct pixels args = {images, lines, width, length, outputs, channels, taps, rows, out_width, places, x, bias,
                          at, at + lines, at + lines + taps, packed, out, &failed};
    for (int64_t o = 0; o < blocks * LANES; o++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t t = 0; t < taps; t++)
                packed[((o / LANES * taps + t) * channels + c) * LANES + o % LANES] =
                    o < outputs ? w[(o * channels + c) * taps + t] : 0.0f;
    share(threads, images, grain, images_of_pixels, &args);
    free(memory);
    free(at);
    return failed;
}
