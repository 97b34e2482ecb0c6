/* Gathers elements by an index along the second of three axes, and adds to such elements or writes them; reads elements
of a matrix by their rows and columns, and adds to such elements (kernels/scatter.py). */
#include "common.h"

struct along { int64_t n, m, inner, block, blocks, sets; float value; const float *x, *base; const place *index;
               float *out; int64_t *failed; };

/* out[k] = x[index[k] * across + k * along] for at most PLACES. Returns whether a place does not exist: then nothing is
read. */
INLINE int64_t few_taken(int64_t count, int64_t across, int64_t along, int64_t n, const float *restrict x,
                         const place *restrict index, float *restrict out)
{
    int64_t at[PLACES];
    if (places_below(n, count, index, at))
        return OUTSIDE;
    for (int64_t k = 0; k < count; k++)
        out[k] = x[at[k] * across + k * along];
    return 0;
}

/* The same for `size` elements. Nothing is read from a group with a place that does not exist, nor after it. */
INLINE int64_t taken(int64_t size, int64_t across, int64_t along, int64_t n, const float *restrict x,
                     const place *restrict index, float *restrict out)
{
    int64_t i = 0;
    for (; i + PLACES <= size; i += PLACES)
        if (few_taken(PLACES, across, along, n, x + i * along, index + i, out + i))
            return OUTSIDE;
    return few_taken(size - i, across, along, n, x + i * along, index + i, out + i);
}

/* Elements [first, last) of the result: whole rows of `m` or lines of `inner`, and parts of these. */
static void taken_elements(const void *args, int64_t first, int64_t last)
{
    const struct along *a = args;
    const int64_t size = a->inner == 1 ? a->m : a->inner;
    int64_t wrong = 0;
    if (size == 1)
        wrong = taken(last - first, 1, a->n, a->n, a->x + first * a->n, a->index + first, a->out + first);
    for (int64_t at = first, end, line = first / size; at < last && size > 1; at = end, line++) {
        end = (line + 1) * size < last ? (line + 1) * size : last;
        if (a->inner == 1)
            wrong |= taken(end - at, 1, 0, a->n, a->x + line * a->n, a->index + at, a->out + at);
        else
            wrong |= taken(end - at, a->inner, 1, a->n, a->x + line / a->m * a->n * a->inner + (at - line * size),
                           a->index + at, a->out + at);
    }
    if (wrong)
        fail(a->failed, wrong);
}

/* out (outer, m, inner) = x (outer, n, inner) at `index` (outer, m, inner) along n. Returns whether a place does not
exist. */
int64_t gather(int64_t threads, int64_t outer, int64_t n, int64_t m, int64_t inner, const float *x,
               const place *index, float *out)
{
    int64_t failed = 0;
    const struct along args = {n, m, inner, 0, 0, 0, 0.0f, x, NULL, index, out, &failed};
    share(threads, outer * m * inner, 16384, taken_elements, &args);
    return failed;
}

/* out[index[k] * across + k * along] += x[k] for at most PLACES. Returns whether a place does not exist: then nothing
is added. */
INLINE int64_t few_added(int64_t count, int64_t across, int64_t along, int64_t n, const float *restrict x,
                         const place *restrict index, float *restrict out)
{
    int64_t at[PLACES];
    if (places_below(n, count, index, at))
        return OUTSIDE;
    for (int64_t k = 0; k < count; k++)
        out[at[k] * across + k * along] += x[k];
    return 0;
}

/* The same for `size` elements. Nothing is added for a group with a place that does not exist, nor after it. */
INLINE int64_t added(int64_t size, int64_t across, int64_t along, int64_t n, const float *restrict x,
                     const place *restrict index, float *restrict out)
{
    int64_t i = 0;
    for (; i + PLACES <= size; i += PLACES)
        if (few_added(PLACES, across, along, n, x + i, index + i, out + i * along))
            return OUTSIDE;
    return few_added(size - i, across, along, n, x + i, index + i, out + i * along);
}

/* out[index[k] * across + k * along] = x[k], or `value` if there is no x, for `size` elements. Returns whether a place
does not exist. */
INLINE int64_t written(int64_t size, int64_t across, int64_t along, int64_t n, float value, const float *x,
                       const place *restrict index, float *out)
{
    int64_t wrong = 0;
    for (int64_t k = 0; k < size; k++) {
        const int64_t at = place_below(n, index + k);
        if (at < 0)
            wrong = OUTSIDE;
        else
            out[at * across + k * along] = x ? x[k] : value;
    }
    return wrong;
}

/* Writes or adds to blocks [first, last) of columns of the result, in the order of the index. */
static void changed_columns(const void *args, int64_t first, int64_t last)
{
    const struct along *a = args;
    const float *x = a->x;
    int64_t wrong = 0;
    for (int64_t k = first; k < last; k++) {
        const int64_t outer = k / a->blocks, from = k % a->blocks * a->block, inner = a->inner, n = a->n;
        const int64_t size = inner - from < a->block ? inner - from : a->block, start = outer * n * inner + from;
        float *out = a->out + start;
        for (int64_t j = 0; j < (size == inner ? 1 : n); j++) {       /* all at once if nothing lies between */
            const int64_t run = size == inner ? n * inner : size;
            if (!a->base)
                memset(out + j * inner, 0, run * sizeof(float));
            else if (a->base != a->out)
                memcpy(out + j * inner, a->base + start + j * inner, run * sizeof(float));
        }
        const int64_t lines = inner == 1 ? 1 : a->m, wide = inner == 1 ? a->m : size;
        const int64_t across = inner == 1 ? 1 : inner, along = inner == 1 ? 0 : 1;
        for (int64_t j = 0; j < lines; j++) {
            const int64_t line = inner == 1 ? outer * a->m : (outer * a->m + j) * inner + from;
            if (a->sets)
                wrong |= written(wide, across, along, n, a->value, x ? x + line : x, a->index + line, out);
            else
                wrong |= added(wide, across, along, n, x + line, a->index + line, out);
        }
    }
    if (wrong)
        fail(a->failed, wrong);
}

static int64_t changed(int64_t threads, int64_t outer, int64_t n, int64_t m, int64_t inner, int64_t sets, float value,
                       const float *x, const place *index, const float *base, float *out)
{
    int64_t failed = 0;
    const int64_t block = inner < 32 ? inner : inner < 128 ? 32 : 64, blocks = (inner + block - 1) / block;
    const struct along args = {n, m, inner, block, blocks, sets, value, x, base, index, out, &failed};
    share(threads, outer * blocks, rows_in_piece((n + m) * block), changed_columns, &args);
    return failed;
}

/* out (outer, n, inner) = base + x (outer, m, inner) at `index` along n, where places may repeat. Without a base there
are zeros in its place; it may be `out` itself. Returns whether a place does not exist. */
int64_t add_along(int64_t threads, int64_t outer, int64_t n, int64_t m, int64_t inner, const float *x,
                  const place *index, const float *base, float *out)
{
    return changed(threads, outer, n, m, inner, 0, 0.0f, x, index, base, out);
}

/* out (outer, n, inner) = base, but x (outer, m, inner) at `index` along n, or `value` if there is no x. Of several
elements with the same place the last one stays. */
int64_t set_along(int64_t threads, int64_t outer, int64_t n, int64_t m, int64_t inner, float value, const place *index,
                  const float *x, const float *base, float *out)
{
    return changed(threads, outer, n, m, inner, 1, value, x, index, base, out);
}

struct pairs { int64_t rows, columns; const float *x; const place *row, *index; float *out; int64_t *failed; };

static void taken_pairs(const void *args, int64_t first, int64_t last)
{
    const struct pairs *a = args;
    for (int64_t i = first; i < last; i++) {
        const int64_t row = place_below(a->rows, a->row + i), column = place_below(a->columns, a->index + i);
        if (row < 0 || column < 0)
            fail(a->failed, OUTSIDE);
        else
            a->out[i] = a->x[row * a->columns + column];
    }
}

/* out[i] = x[row[i]][index[i]]. Returns whether a place does not exist. */
int64_t take_pairs(int64_t threads, int64_t rows, int64_t columns, int64_t n, const float *x, const place *row,
                   const place *index, float *out)
{
    int64_t failed = 0;
    const struct pairs args = {rows, columns, x, row, index, out, &failed};
    share(threads, n, 16384, taken_pairs, &args);
    return failed;
}

/* out (rows, columns) = 0, and then out[row[i]][index[i]] += x[i]. Returns whether a place does not exist. */
int64_t add_pairs(int64_t threads, int64_t rows, int64_t columns, int64_t n, const float *x, const place *row,
                  const place *index, float *out)
{
    (void)threads;
    int64_t failed = 0;
    memset(out, 0, rows * columns * sizeof(float));
    for (int64_t i = 0; i < n; i++) {
        const int64_t to = place_below(rows, row + i), column = place_below(columns, index + i);
        if (to < 0 || column < 0)
            failed = OUTSIDE;
        else
            out[to * columns + column] += x[i];
    }
    return failed;
}

struct range { int64_t n; const place *index; int64_t *failed; };

static void some_in_range(const void *args, int64_t first, int64_t last)
{
    const struct range *a = args;
    int64_t at[PLACES], wrong = 0;
    for (int64_t i = first; i < last; i += PLACES)
        wrong |= places_below(a->n, last - i < PLACES ? last - i : PLACES, a->index + i, at);
    if (wrong)
        fail(a->failed, OUTSIDE);
}

/* Returns whether one of `size` numbers is not in range(n). */
int64_t in_range(int64_t threads, int64_t size, int64_t n, const place *index)
{
    int64_t failed = 0;
    const struct range args = {n, index, &failed};
    share(threads, size, 16384, some_in_range, &args);
    return failed;
}
