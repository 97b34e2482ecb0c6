/* The largest or smallest elements along the second of three axes, and their first positions (kernels/extremes.py). NaN
is the largest and the smallest element. */
#include "tile.h"

#define SEVERAL 4                              /* vectors in registers */
#define MOST 1024                              /* columns at a time */
#define RUN 256                                /* elements searched at a time */

#if LANES > 1
typedef int32_t whole __attribute__((vector_size(4 * LANES)));

/* In each lane the larger number, or the smaller one; `b` if one is NaN. */
INLINE vec extreme(int smallest, vec a, vec b)
{
    const whole mask = smallest ? a < b : a > b;
    return (vec)((mask & (whole)a) | (~mask & (whole)b));
}
#else
INLINE vec extreme(int smallest, vec a, vec b)
{
    return (smallest ? a < b : a > b) ? a : b;
}
#endif

struct extremes { int64_t n, inner, block, blocks; const float *x; float *out; int64_t *index; };

INLINE float extreme_of_two(int smallest, float a, float b)
{
    return (smallest ? a < b : a > b) ? a : b;
}

/* Compares halves of the vector until one lane is left. */
INLINE float extreme_of_lanes(int smallest, vec v)
{
#if LANES > 1
    float parts[LANES / 4][4];
    memcpy(parts, &v, sizeof v);
    for (int i = 0; i < 4; i++) {
        if (LANES == 16) {
            parts[0][i] = extreme_of_two(smallest, parts[0][i], parts[LANES / 8][i]);
            parts[LANES / 16][i] = extreme_of_two(smallest, parts[LANES / 16][i], parts[3 * LANES / 16][i]);
        }
        if (LANES >= 8)
            parts[0][i] = extreme_of_two(smallest, parts[0][i], parts[LANES > 4][i]);
    }
    return extreme_of_two(smallest, extreme_of_two(smallest, parts[0][0], parts[0][2]),
                          extreme_of_two(smallest, parts[0][1], parts[0][3]));
#else
    return v;
#endif
}

INLINE int any_nan(const float *x, int64_t n)
{
    int nan = 0;
    TOTAL(|, nan)
    for (int64_t i = 0; i < n; i++)
        nan |= x[i] != x[i];
    return nan;
}

/* The extreme of a row, NaN if it has one. Zero times a number that is not finite is NaN; rows with such a number are
searched again. */
INLINE float extreme_of_row(int smallest, const float *x, int64_t n)
{
    float top = x[0], none = 0.0f;
    int64_t i = 0;
    if (n >= LANES) {
        vec tops[SEVERAL], nones[SEVERAL];
        for (int k = 0; k < SEVERAL; k++) {
            tops[k] = load(x);
            nones[k] = (vec){0};
        }
        for (; i + SEVERAL * LANES <= n; i += SEVERAL * LANES)
            for (int k = 0; k < SEVERAL; k++) {
                const vec v = load(x + i + k * LANES);
                tops[k] = extreme(smallest, v, tops[k]);
                nones[k] += v * 0.0f;
            }
        for (; i < n; i += LANES) {            /* the last vector overlaps the previous one */
            const vec v = load(x + (i + LANES <= n ? i : n - LANES));
            tops[0] = extreme(smallest, v, tops[0]);
            nones[0] += v * 0.0f;
        }
        top = extreme_of_lanes(smallest, extreme(smallest, extreme(smallest, tops[0], tops[1]),
                                                 extreme(smallest, tops[2], tops[3])));
        none = total_of((nones[0] + nones[1]) + (nones[2] + nones[3]));
    }
    for (; i < n; i++) {
        top = extreme_of_two(smallest, x[i], top);
        none += x[i] * 0.0f;
    }
    return none == none || !any_nan(x, n) ? top : NAN;
}

/* The first place of `top`, which the row has, or of NaN if `top` is NaN. */
INLINE int64_t place_of(float top, const float *x, int64_t n)
{
    const int nan = top != top;
    for (int64_t first = 0; first < n; first += RUN) {
        const int32_t size = n - first < RUN ? (int32_t)(n - first) : RUN;
        int32_t found = RUN;
        TOTAL(min, found)
        for (int32_t i = 0; i < size; i++) {
            const int32_t here = (x[first + i] == top) | (nan & (x[first + i] != x[first + i])) ? i : RUN;
            found = here < found ? here : found;
        }
        if (found < RUN)
            return first + found;
    }
    return 0;
}

/* The extremes of the parts of a row. */
static void largest_of_parts(const void *args, int64_t first, int64_t last)
{
    const struct extremes *a = args;
    a->out[first / part_of_row(a->n)] = extreme_of_row(0, a->x + first, last - first);
}

static void smallest_of_parts(const void *args, int64_t first, int64_t last)
{
    const struct extremes *a = args;
    a->out[first / part_of_row(a->n)] = extreme_of_row(1, a->x + first, last - first);
}

static float extreme_by_parts(int64_t threads, int smallest, int64_t n, const float *x)
{
    const int64_t part = part_of_row(n), parts = (n + part - 1) / part;
    float found[MOST_PARTS];
    const struct extremes args = {n, 1, 0, 0, x, found, NULL};
    share(threads, n, part, smallest ? smallest_of_parts : largest_of_parts, &args);
    return extreme_of_row(smallest, found, parts);
}

INLINE void rows_of(int smallest, const struct extremes *a, int64_t first, int64_t last)
{
    for (int64_t row = first; row < last; row++) {
        const float *x = a->x + row * a->n;
        const int in_parts = a->n > LIGHT_PIECE;
        const float top = in_parts ? extreme_by_parts(1, smallest, a->n, x) : extreme_of_row(smallest, x, a->n);
        if (a->index)
            a->index[row] = place_of(top, x, a->n);
        if (a->out)
            a->out[row] = top;
    }
}

static void rows_of_largest(const void *args, int64_t first, int64_t last)
{
    rows_of(0, args, first, last);
}

static void rows_of_smallest(const void *args, int64_t first, int64_t last)
{
    rows_of(1, args, first, last);
}

INLINE int beyond(int smallest, float a, float b)
{
    return smallest ? a < b : a > b;
}

/* The extremes of `size` columns of `n` lines that begin `inner` apart. */
INLINE void values_of_columns(int smallest, int64_t n, int64_t inner, int64_t size, const float *restrict x,
                              float *restrict out)
{
    memcpy(out, x, size * sizeof(float));
    for (int64_t j = 1; j < n; j++)
        for (int64_t i = 0; i < size; i++) {
            const float v = x[j * inner + i];
            out[i] = (beyond(smallest, v, out[i]) | (v != v)) ? v : out[i];
        }
}

INLINE void places_in_columns(int smallest, int64_t n, int64_t inner, int64_t size, const float *restrict x,
                              int64_t *restrict index)
{
    float tops[MOST];
    int32_t places[MOST] = {0};
    memcpy(tops, x, size * sizeof(float));
    for (int32_t j = 1; j < n; j++)
        for (int64_t i = 0; i < size; i++) {
            const float v = x[j * inner + i], top = tops[i];
            const int found = beyond(smallest, v, top) | ((v != v) & (top == top));
            tops[i] = found ? v : top;
            places[i] = found ? j : places[i];
        }
    for (int64_t i = 0; i < size; i++)
        index[i] = places[i];
}

/* Blocks of columns. */
INLINE void columns_of(int smallest, const struct extremes *a, int64_t first, int64_t last)
{
    for (int64_t k = first; k < last; k++) {
        const int64_t outer = k / a->blocks, from = k % a->blocks * a->block, inner = a->inner;
        const int64_t size = inner - from < a->block ? inner - from : a->block;
        const float *x = a->x + outer * a->n * inner + from;
        if (a->index)
            places_in_columns(smallest, a->n, inner, size, x, a->index + outer * inner + from);
        else if (size == 64)                   /* these stay in registers */
            values_of_columns(smallest, a->n, inner, 64, x, a->out + outer * inner + from);
        else
            values_of_columns(smallest, a->n, inner, size, x, a->out + outer * inner + from);
    }
}

static void columns_of_largest(const void *args, int64_t first, int64_t last)
{
    columns_of(0, args, first, last);
}

static void columns_of_smallest(const void *args, int64_t first, int64_t last)
{
    columns_of(1, args, first, last);
}

static void found_along(int64_t threads, int64_t outer, int64_t n, int64_t inner, int64_t smallest, const float *x,
                        float *out, int64_t *index)
{
    const int64_t block = columns_in_piece(n, inner, MOST);
    const struct extremes args = {n, inner, block, (inner + block - 1) / block, x, out, index};
    if (n < 1)
        return;
    if (inner == 1 && outer == 1 && out)
        *out = extreme_by_parts(threads, (int)smallest, n, x);
    else if (inner == 1)
        share(threads, outer, light_rows_in_piece(n), smallest ? rows_of_smallest : rows_of_largest, &args);
    else
        share(threads, outer * args.blocks, rows_in_piece(n * block),
              smallest ? columns_of_smallest : columns_of_largest, &args);
}

/* The extremes of x (outer, n, inner). n fits 31 bits. */
void extremes(int64_t threads, int64_t outer, int64_t n, int64_t inner, int64_t smallest, const float *x, float *out)
{
    found_along(threads, outer, n, inner, smallest, x, out, NULL);
}

/* Their first places. */
void extreme_places(int64_t threads, int64_t outer, int64_t n, int64_t inner, int64_t smallest, const float *x,
                    int64_t *out)
{
    found_along(threads, outer, n, inner, smallest, x, NULL, out);
}

struct ranges { int64_t width; const float *x; float *low, *high; };

/* The smallest and the largest element of a row, as `extreme_of_row` finds them. */
INLINE void range_of_row(const float *x, int64_t n, float *low, float *high)
{
    float least = x[0], most = x[0], none = 0.0f;
    int64_t i = 0;
    if (n >= LANES) {
        vec lows[SEVERAL], tops[SEVERAL], nones[SEVERAL];
        for (int k = 0; k < SEVERAL; k++) {
            lows[k] = tops[k] = load(x);
            nones[k] = (vec){0};
        }
        for (; i + SEVERAL * LANES <= n; i += SEVERAL * LANES)
            for (int k = 0; k < SEVERAL; k++) {
                const vec v = load(x + i + k * LANES);
                lows[k] = extreme(1, v, lows[k]);
                tops[k] = extreme(0, v, tops[k]);
                nones[k] += v * 0.0f;
            }
        for (; i < n; i += LANES) {            /* the last vector overlaps the previous one */
            const vec v = load(x + (i + LANES <= n ? i : n - LANES));
            lows[0] = extreme(1, v, lows[0]);
            tops[0] = extreme(0, v, tops[0]);
            nones[0] += v * 0.0f;
        }
        least = extreme_of_lanes(1, extreme(1, extreme(1, lows[0], lows[1]), extreme(1, lows[2], lows[3])));
        most = extreme_of_lanes(0, extreme(0, extreme(0, tops[0], tops[1]), extreme(0, tops[2], tops[3])));
        none = total_of((nones[0] + nones[1]) + (nones[2] + nones[3]));
    }
    for (; i < n; i++) {
        least = extreme_of_two(1, x[i], least);
        most = extreme_of_two(0, x[i], most);
        none += x[i] * 0.0f;
    }
    *low = *high = NAN;
    if (none == none || !any_nan(x, n)) {
        *low = least;
        *high = most;
    }
}

/* The ranges of the parts of a row. */
static void ranges_of_parts(const void *args, int64_t first, int64_t last)
{
    const struct ranges *a = args;
    const int64_t part = first / part_of_row(a->width);
    range_of_row(a->x + first, last - first, a->low + part, a->high + part);
}

static void range_by_parts(int64_t threads, int64_t width, const float *x, float *low, float *high)
{
    const int64_t part = part_of_row(width), parts = (width + part - 1) / part;
    float lows[MOST_PARTS], highs[MOST_PARTS];
    const struct ranges args = {width, x, lows, highs};
    share(threads, width, part, ranges_of_parts, &args);
    *low = extreme_of_row(1, lows, parts);
    *high = extreme_of_row(0, highs, parts);
}

static void some_ranges(const void *args, int64_t first, int64_t last)
{
    const struct ranges *a = args;
    for (int64_t row = first; row < last; row++)
        range_by_parts(1, a->width, a->x + row * a->width, a->low + row, a->high + row);
}

/* The smallest and the largest elements of all rows. A row has at least one element. */
void ranges(int64_t threads, int64_t rows, int64_t width, const float *x, float *low, float *high)
{
    const struct ranges args = {width, x, low, high};
    if (width < 1)
        return;
    if (rows == 1)
        range_by_parts(threads, width, x, low, high);
    else
        share(threads, rows, light_rows_in_piece(width), some_ranges, &args);
}
