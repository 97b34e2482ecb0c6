/* Gathers elements by an index along the second of three axes, and adds to such elements (kernels/scatter.py). */
#include "common.h"

struct along { int64_t n, m, inner, block, blocks; const float *x; const place *index; float *out; int64_t *failed; };

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
    const struct along args = {n, m, inner, 0, 0, x, index, out, &failed};
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

/* Adds to blocks [first, last) of columns of the result, in the order of the index. */
static void added_columns(const void *args, int64_t first, int64_t last)
{
    const struct along *a = args;
    int64_t wrong = 0;
    for (int64_t k = first; k < last; k++) {
        const int64_t outer = k / a->blocks, from = k % a->blocks * a->block, inner = a->inner;
        const int64_t size = inner - from < a->block ? inner - from : a->block;
        float *out = a->out + outer * a->n * inner + from;
        if (inner == 1)
            wrong |= added(a->m, 1, 0, a->n, a->x + outer * a->m, a->index + outer * a->m, out);
        for (int64_t j = 0; j < a->m && inner > 1; j++) {
            const int64_t line = (outer * a->m + j) * inner + from;
            wrong |= added(size, inner, 1, a->n, a->x + line, a->index + line, out);
        }
    }
    if (wrong)
        fail(a->failed, wrong);
}

/* out (outer, n, inner) += x (outer, m, inner) at `index` along n, where places may repeat. Returns whether a place
does not exist. */
int64_t add_along(int64_t threads, int64_t outer, int64_t n, int64_t m, int64_t inner, const float *x,
                  const place *index, float *out)
{
    int64_t failed = 0;
    const int64_t block = inner < 32 ? inner : inner < 128 ? 32 : 64, blocks = (inner + block - 1) / block;
    const struct along args = {n, m, inner, block, blocks, x, index, out, &failed};
    share(threads, outer * blocks, rows_in_piece(m * block), added_columns, &args);
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
