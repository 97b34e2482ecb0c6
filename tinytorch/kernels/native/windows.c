/* Convolutions of any stride and dilation (kernels/conv/windows.py) as products of weights and columns. A block of
columns at a time, from as many images as it takes, is packed in panels (panels.h). A padded image is one run of memory;
for each term of its sum column p reads the element at starts[p] plus an offset. */
#include <stdlib.h>

#include "panels.h"

#define PANELS (192 / SPAN_OF_PANEL)            /* panels of columns that are packed at a time, */
#define COLUMNS (PANELS * SPAN_OF_PANEL)
#define TERMS 384                              /* and the number of terms of their sums */
#define ROWS (64 / HIGH * HIGH)                /* rows of the result in a piece, where columns are few */
#define TERMS_OF_PIECE 36                      /* terms whose weights are copied at a time */
#define PADDED (1 << 20)                       /* floats of padded images at a time, but at least one image */

struct windows {
    int64_t images, lines, width, length, groups, rows, terms, places, size, step, by_row, w_group, row_blocks, row_block,
        first;                                 /* the first of the padded images */
    int plain;                                 /* the weights of a row are contiguous */
    const float *x, *w, *bias;
    const int64_t *lines_at, *offsets, *weights_at, *starts, *ends;
    float *padded, *tiles, *out;
    int64_t *failed;                           /* set by a thread that finds no memory */
};

/* A run of places: its start in the image, its start in the result, its length. */
struct run { int64_t from, to, count; };

/* Copies lines of the images from `first` on to their padded form. */
static void pad_lines(const void *args, int64_t first, int64_t last)
{
    const struct windows *s = args;
    for (int64_t i = first; i < last; i++)
        copy_row(s->padded + i / s->lines * s->length + s->lines_at[i % s->lines],
                 s->x + (s->first * s->lines + i) * s->width, s->width);
}

/* Copies the weights of some terms, TERMS_OF_PIECE in a piece, to tiles of HIGH rows, padded with zeros. */
static void tile_weights(const void *args, int64_t first, int64_t last)
{
    const struct windows *s = args;
    const int64_t tiles = (s->rows + HIGH - 1) / HIGH, pieces = (s->terms + TERMS_OF_PIECE - 1) / TERMS_OF_PIECE;
    for (int64_t at = first; at < last; at++) {
        const int64_t start = at % pieces * TERMS_OF_PIECE, group = at / pieces;
        const int64_t end = start + TERMS_OF_PIECE < s->terms ? start + TERMS_OF_PIECE : s->terms;
        for (int64_t tile = 0; tile < tiles; tile++) {
            const int64_t row = tile * HIGH, count = s->rows - row < HIGH ? s->rows - row : HIGH;
            const float *w = s->w + group * s->w_group + row * s->by_row;
            float *to = s->tiles + ((group * tiles + tile) * s->terms + start) * HIGH;
            if (count < HIGH)
                memset(to, 0, (end - start) * HIGH * sizeof(float));
            for (int64_t r = start; r < end; r++, to += HIGH)
                if (count == HIGH)
                    for (int i = 0; i < HIGH; i++)
                        to[i] = w[s->weights_at[r] + i * s->by_row];
                else
                    for (int64_t i = 0; i < count; i++)
                        to[i] = w[s->weights_at[r] + i * s->by_row];
        }
    }
}

/* Lists the runs of `count` columns from `first` on, whose images begin `apart`, and returns their number. `along`: the
distance of neighbouring places. */
static int64_t runs_of(int64_t places, int64_t first, int64_t count, const int64_t *at, int64_t apart, int64_t along,
                       struct run *runs)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count;) {
        const int64_t image = (first + i) / places, p = (first + i) % places;
        int64_t length = 1;
        while (i + length < count && p + length < places && at[p + length] == at[p] + length * along)
            length++;
        runs[n++] = (struct run){image * apart + at[p], i, length};
        i += length;
    }
    return n;
}

/* Fills `terms` rows of a panel, `whole` wide, with the elements at the places of runs. */
INLINE void fill_panel(const struct windows *s, const float *restrict x, const int64_t *offsets, int64_t terms,
                       const struct run *runs, int64_t count, int64_t step, int64_t whole, float *restrict to)
{
    const int spare = s->padded != NULL;
    for (int64_t r = 0; r < terms; r++, to += whole)
        for (int64_t i = 0; i < count; i++) {
            const float *from = x + offsets[r] + runs[i].from;
            const int64_t n = runs[i].count;
            float *at = to + runs[i].to;
            if (step == 1 && n <= 4 && spare)
                memcpy(at, from, 16);          /* the next run, or row, overwrites the excess */
            else if (step == 1 && n <= 8 && spare)
                memcpy(at, from, 32);
            else if (step == 1 && n < LANES && spare)
                store(at, load(from));
            else if (step == 1)
                copy_row(at, from, n);
            else
                for (int64_t l = 0; l < n; l++)
                    at[l] = from[l * step];
        }
}

static void some_blocks(const void *args, int64_t first, int64_t last)
{
    const struct windows *s = args;
    const int64_t all = s->images * s->places, blocks = (all + COLUMNS - 1) / COLUMNS;
    const int64_t parts = (s->terms + TERMS - 1) / TERMS, each = (s->terms + parts - 1) / parts;
    const int64_t channels_apart = s->groups > 1 ? s->length / s->groups : 0;
    float *memory = malloc((each * COLUMNS + s->row_block * COLUMNS + 3 * LINE) * sizeof(float));
    if (!memory) {
        fail(s->failed, NO_MEMORY);
        return;
    }
    float *panels = on_line(memory), *sums = on_line(panels + each * COLUMNS + LINE);
    for (int64_t at = first; at < last; at++) {
        const int64_t group = at / (blocks * s->row_blocks), column = at / s->row_blocks % blocks * COLUMNS;
        const int64_t top = at % s->row_blocks * s->row_block;
        const int64_t bottom = top + s->row_block < s->rows ? top + s->row_block : s->rows;
        const int64_t width = all - column < COLUMNS ? all - column : COLUMNS, span = span_of(width);
        const float *x = (s->padded ? s->padded : s->x + s->first * s->length) + group * channels_apart;
        struct run runs[COLUMNS];
        for (int64_t r = 0; r < s->terms; r += each) {
            const int64_t count = s->terms - r < each ? s->terms - r : each;
            struct panel p[PANELS];
            float *to = panels;
            for (int64_t j = 0; j < width; j += span) {
                const int64_t wide = width_of(width, j), whole = packed_size(1, wide);
                const int64_t n = runs_of(s->places, column + j, wide, s->starts, s->length, s->step, runs);
                if (whole > wide)
                    memset(to, 0, count * whole * sizeof(float));
                if (s->step == 1)
                    fill_panel(s, x, s->offsets + r, count, runs, n, 1, whole, to);
                else if (s->step == 2)
                    fill_panel(s, x, s->offsets + r, count, runs, n, 2, whole, to);
                else
                    fill_panel(s, x, s->offsets + r, count, runs, n, s->step, whole, to);
                p[j / span] = (struct panel){count, wide, s->by_row, s->by_row, 1, whole, COLUMNS, r > 0, 0,
                                             s->w + group * s->w_group + r, to, sums + j - top * COLUMNS};
                if (!s->plain) {
                    const int64_t tiles = (s->rows + HIGH - 1) / HIGH;
                    p[j / span].a = s->tiles + group * tiles * HIGH * s->terms + r * HIGH;
                    p[j / span].by_tile = s->terms, p[j / span].by_row = 1, p[j / span].by_term = HIGH;
                }
                to += count * whole;
            }
            for (int64_t i = top; i < bottom; i += 2 * HIGH)       /* rows that the cache holds for all panels */
                for (int64_t j = 0; j < width; j += span)
                    times_panel(&p[j / span], i, i + 2 * HIGH < bottom ? i + 2 * HIGH : bottom);
        }
        const int64_t n = runs_of(s->places, column, width, s->ends, s->groups * s->rows * s->size, 1, runs);
        float *out = s->out + (s->first * s->groups + group) * s->rows * s->size;
        for (int64_t i = top; i < bottom; i++) {
            float *from = sums + (i - top) * COLUMNS;
            if (s->bias) {
                const float bias = s->bias[group * s->rows + i];
                for (int64_t l = 0; l < width; l++)
                    from[l] += bias;
            }
            for (int64_t k = 0; k < n; k++)
                copy_row(out + i * s->size + runs[k].from, from + runs[k].to, runs[k].count);
        }
    }
    free(memory);
}

/* x (images, lines, width); w, whose next row and group are `by_row` and `w_group` further on; out (images, groups,
rows, size). `padded`: images are copied to a padded form of `length` first. `plan`: the starts of the lines in that
form, the offsets of the terms, the offsets of their weights in a row; the positions of the places in a padded image, of
which neighbours are `step` apart, and in an image of out. The terms of the next group are `length / groups` further
on. */
int64_t convolve_windows(int64_t threads, int64_t images, int64_t lines, int64_t width, int64_t length, int64_t padded,
                         int64_t groups, int64_t rows, int64_t terms, int64_t reach, int64_t places, int64_t size,
                         int64_t step, int64_t by_row, int64_t w_group, const float *x, const float *w,
                         const float *bias, const place *plan, float *out)
{
    if (groups < 1 || by_row < 0 || w_group < 0 || step < 1)
        return OUTSIDE;
    const int64_t numbers = lines + 2 * terms + 2 * places, apart = length / groups;
    const int64_t rest = reach - (rows - 1) * by_row - (groups - 1) * w_group;
    int64_t failed = 0, plain = 1, furthest = 0, last = 0, *at = malloc((numbers + 1) * sizeof(int64_t));
    if (!at)
        return NO_MEMORY;
    /* for each kind of numbers in the plan, their count and their bound */
    const int64_t kinds[5][2] = {{lines, length - width + 1}, {terms, apart}, {terms, rest}, {places, apart},
                                 {places, size}};
    for (int64_t kind = 0, i = 0; kind < 5; kind++)
        for (int64_t first = i, end = i + kinds[kind][0]; i < end; i++) {
            at[i] = kinds[kind][1] < 1 ? -1 : place_below(kinds[kind][1], plan + i);
            failed = at[i] < 0 ? OUTSIDE : failed;
            if (kind == 1 && at[i] > furthest)
                furthest = at[i];
            if (kind == 2 && at[i] != i - first)
                plain = 0;
            if (kind == 3 && at[i] > last)
                last = at[i];
        }
    if (furthest + last >= apart || (!padded && length != lines * width))
        failed = OUTSIDE;
    struct windows s = {images, lines, width, length, groups, rows, terms, places, size, step, by_row, w_group, 1, rows, 0,
                        (int)plain, x, w, bias, at, at + lines, at + lines + terms, at + lines + 2 * terms,
                        at + lines + 2 * terms + places, NULL, NULL, out, &failed};
    const int64_t tiles = groups * ((rows + HIGH - 1) / HIGH);
    int64_t together = images;
    if (padded)
        together = PADDED / length < 1 ? 1 : PADDED / length < images ? PADDED / length : images;
    s.padded = padded && !failed ? calloc(together * length + 2 * LINE, sizeof(float)) : NULL;
    s.tiles = plain || failed ? NULL : malloc(tiles * HIGH * terms * sizeof(float));
    if (!failed && ((padded && !s.padded) || (!plain && !s.tiles)))
        failed = NO_MEMORY;
    if (!failed && !plain)
        share(threads, groups * ((terms + TERMS_OF_PIECE - 1) / TERMS_OF_PIECE), rows_in_piece(rows * TERMS_OF_PIECE),
              tile_weights, &s);
    for (; s.first < images && !failed; s.first += together) {
        s.images = images - s.first < together ? images - s.first : together;
        if (padded)
            share(threads, s.images * lines, rows_in_piece(width), pad_lines, &s);
        const int64_t blocks = (s.images * places + COLUMNS - 1) / COLUMNS;
        s.row_block = blocks * groups < 16 && rows > ROWS ? ROWS : rows;
        s.row_blocks = (rows + s.row_block - 1) / s.row_block;
        const int64_t work = s.row_block * terms * COLUMNS;
        share(threads, groups * blocks * s.row_blocks, work < (1 << 20) ? (1 << 20) / work + 1 : 1, some_blocks, &s);
    }
    free(s.padded);
    free(s.tiles);
    free(at);
    return failed;
}
