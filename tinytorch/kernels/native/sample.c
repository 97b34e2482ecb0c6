/* Bilinear samples of images at the places of a grid (kernels/grid_sample.py). */
#include "functions.h"

#define POINTS 256                             /* at a time */

struct sampled { int64_t channels, height, width, points, aligned, border, blocks; const float *x, *grid; float *out; };

/* The position among `size` elements of a coordinate in [-1, 1]. */
INLINE float position(float coordinate, int64_t size, int64_t aligned, int64_t border)
{
    const float last = (float)(size - 1), half = aligned ? last / 2.0f : (float)size / 2.0f;
    volatile float scaled = (coordinate + 1.0f) * half;        /* rounded before the subtraction */
    float x = aligned ? scaled : scaled - 0.5f;
    if (border) {
        x = x > 0.0f ? x : 0.0f;               /* NaN becomes 0 */
        x = x < last ? x : last;
    }
    return x;
}

/* The position of the element `first + k` and 1 in `inside`, or 0 for both if it does not exist. */
INLINE int32_t element(float first, int k, int64_t size, int32_t *inside)
{
    const float at = first + (float)k;
    *inside = at >= 0.0f && at < (float)size;
    return *inside ? (int32_t)at : 0;
}

/* The four elements around each of some points, whether they are in the image, and their weights. */
struct corners { int32_t at[4][POINTS], inside[4][POINTS]; float weight[4][POINTS]; };

static void find_corners(const struct sampled *a, int64_t image, int64_t from, int64_t run, struct corners *found)
{
    const float *grid = a->grid + (image * a->points + from) * 2;
    for (int64_t p = 0; p < run; p++) {
        const float x = position(grid[2 * p], a->width, a->aligned, a->border);
        const float y = position(grid[2 * p + 1], a->height, a->aligned, a->border);
        const float left = (float)floor_of(x), top = (float)floor_of(y), s = x - left, t = y - top;
        int32_t x_inside[2], y_inside[2], columns[2], rows[2];
        for (int k = 0; k < 2; k++) {
            columns[k] = element(left, k, a->width, x_inside + k);
            rows[k] = element(top, k, a->height, y_inside + k);
        }
        for (int k = 0; k < 4; k++) {
            found->at[k][p] = rows[k / 2] * (int32_t)a->width + columns[k % 2];
            found->inside[k][p] = x_inside[k % 2] & y_inside[k / 2];
            found->weight[k][p] = (k % 2 ? s : 1.0f - s) * (k / 2 ? t : 1.0f - t);
        }
    }
}

static void some_sampled(const void *args, int64_t first, int64_t last)
{
    const struct sampled *a = args;
    const int64_t plane = a->height * a->width;
    struct corners found;
    for (int64_t block = first; block < last; block++) {
        const int64_t image = block / a->blocks, from = block % a->blocks * POINTS;
        const int64_t run = a->points - from < POINTS ? a->points - from : POINTS;
        find_corners(a, image, from, run, &found);
        for (int64_t c = 0; c < a->channels; c++) {
            const float *restrict x = a->x + (image * a->channels + c) * plane;
            float *restrict out = a->out + (image * a->channels + c) * a->points + from;
            SPAN
            for (int64_t p = 0; p < run; p++) {
                float total = 0.0f;
                for (int k = 0; k < 4; k++) {
                    const float value = x[found.at[k][p]];
                    total += (found.inside[k][p] ? value : 0.0f) * found.weight[k][p];
                }
                out[p] = total;
            }
        }
    }
}

/* The samples (images, channels, points) of x (images, channels, height, width) at grid (images, points, 2). An image
has fewer than 2^31 elements. */
void grid_sample(int64_t threads, int64_t images, int64_t channels, int64_t height, int64_t width, int64_t points,
                 int64_t aligned, int64_t border, const float *x, const float *grid, float *out)
{
    const int64_t blocks = (points + POINTS - 1) / POINTS;
    const struct sampled args = {channels, height, width, points, aligned, border, blocks, x, grid, out};
    if (height < 1 || width < 1 || height > INT32_MAX / width)
        return;
    share(threads, images * blocks, rows_in_piece(POINTS * channels), some_sampled, &args);
}

enum { CHANNELS = 8, IN_TURN = 8 };            /* of an image at a time; points whose corners are added in turn */

/* Some channels of an image, each by itself: `first` to `last` of groups of CHANNELS. */
static void some_added(const void *args, int64_t first, int64_t last)
{
    const struct sampled *a = args;
    const int64_t plane = a->height * a->width, groups = (a->channels + CHANNELS - 1) / CHANNELS;
    struct corners found;
    float part[4][POINTS];
    for (int64_t group = first; group < last; group++) {
        const int64_t image = group / groups, begin = group % groups * CHANNELS;
        const int64_t end = a->channels - begin < CHANNELS ? a->channels : begin + CHANNELS;
        memset(a->out + (image * a->channels + begin) * plane, 0, (end - begin) * plane * sizeof(float));
        for (int64_t from = 0, run; from < a->points; from += run) {
            run = a->points - from < POINTS ? a->points - from : POINTS;
            find_corners(a, image, from, run, &found);
            for (int64_t c = begin; c < end; c++) {
                const float *g = a->x + (image * a->channels + c) * a->points + from;
                float *out = a->out + (image * a->channels + c) * plane;
                for (int k = 0; k < 4; k++)    /* apart from the sums, so that they are rounded */
                    for (int64_t p = 0; p < run; p++)
                        part[k][p] = g[p] * found.weight[k][p];
                for (int64_t i = 0; i < run; i += IN_TURN)
                    for (int k = 0; k < 4; k++)
                        for (int64_t p = i; p < run && p < i + IN_TURN; p++)
                            if (found.inside[k][p])
                                out[found.at[k][p]] += part[k][p];
            }
        }
    }
}

/* The gradient of the images: g (images, channels, points) added to where it was sampled. */
void grid_sample_backward(int64_t threads, int64_t images, int64_t channels, int64_t height, int64_t width, int64_t points,
                          int64_t aligned, int64_t border, const float *g, const float *grid, float *out)
{
    const struct sampled args = {channels, height, width, points, aligned, border, 0, g, grid, out};
    if (height < 1 || width < 1 || height > INT32_MAX / width)
        return;
    share(threads, images * ((channels + CHANNELS - 1) / CHANNELS), rows_in_piece(CHANNELS * points), some_added, &args);
}
