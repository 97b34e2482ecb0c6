/* The gradient of the weights of a convolution of any stride and dilation (kernels/conv/windows.py). It is a product of
the elements that each term of the windows reads, directly from the padded images, and the gradient of the outputs,
which is packed in panels (panels.h) for some images at a time. */
#include <stdlib.h>

#include "panels.h"

#define PLACES_AT_ONCE 1024                    /* are summed before they are added to the total */
#define ROWS 32                                /* terms in a piece */
#define APIECE 2048                            /* places at a time; of whole images if these have fewer */

/* A run of places: its start in the padded images, its start among the packed places, its length. */
struct line { int64_t from, at, count; };

struct window_weights {
    int64_t images, lines, width, length, groups, outputs, terms, places, step, together, line_count, pitch;
    int64_t first, first_place, place_count;   /* of the packed places */
    const float *x, *g;
    const int64_t *lines_at, *offsets, *starts;
    struct line *line;
    float *padded, *panels, *sums, *out;
};

static void pad_lines(const void *args, int64_t first, int64_t last)
{
    const struct window_weights *s = args;
    for (int64_t i = first; i < last; i++)
        copy_row(s->padded + i / s->lines * s->length + s->lines_at[i % s->lines],
                 s->x + (s->first * s->lines + i) * s->width, s->width);
}

/* Panels of the gradient of a group of outputs, one image after the other. */
static void pack_images(const void *args, int64_t first, int64_t last)
{
    const struct window_weights *s = args;
    const int64_t span = span_of(s->outputs), panels = (s->outputs + span - 1) / span;
    for (int64_t at = first; at < last; at++) {
        const int64_t image = at % s->images, panel = at / s->images % panels, group = at / s->images / panels;
        const int64_t width = width_of(s->outputs, panel * span), whole = packed_size(1, width);
        const float *g = s->g + ((s->first + image) * s->groups + group) * s->outputs * s->places + s->first_place;
        float *to = s->panels + (group * s->pitch + panel * span) * s->images * s->place_count
            + image * s->place_count * whole;
        pack_columns(s->place_count, panel * span, width, g, s->places, 0, s->outputs, to);
    }
}

/* The product of `rows` terms from `r` on and one panel, `whole` wide, for lines [i, end). It is added to the sums of
earlier lines, if there are any. */
INLINE void weight_tile(int rows, int vectors, const struct window_weights *s, const float *restrict x, int64_t step,
                        int64_t r, int64_t i, int64_t end, const float *restrict panel, float *restrict to, int add)
{
    const int64_t whole = vectors * LANES;
    int64_t at[HIGH];
    vec sums[HIGH][WIDE];
    for (int l = 0; l < rows; l++) {
        at[l] = s->offsets[r + l];
        for (int j = 0; j < vectors; j++)
            sums[l][j] = (vec){0};
    }
    for (; i < end; i++) {
        const float *from = x + s->line[i].from, *b = panel + s->line[i].at * whole;
        for (int64_t n = s->line[i].count; n; n--, from += step, b += whole) {
            vec right[WIDE];
            for (int j = 0; j < vectors; j++)
                right[j] = load(b + j * LANES);
            for (int l = 0; l < rows; l++) {
                const float left = from[at[l]];
                for (int j = 0; j < vectors; j++)
                    sums[l][j] += right[j] * left;
            }
        }
    }
    for (int l = 0; l < rows; l++)
        for (int j = 0; j < vectors; j++) {
            float *place = to + l * whole + j * LANES;
            store(place, add ? load(place) + sums[l][j] : sums[l][j]);
        }
}

INLINE void weight_tiles(int vectors, const struct window_weights *s, const float *x, int64_t top, int64_t bottom,
                         const float *panel, float *to)
{
    for (int64_t i = 0; i < s->line_count;) {
        int64_t end = i, count = 0;
        while (end < s->line_count && (end == i || count + s->line[end].count <= PLACES_AT_ONCE))
            count += s->line[end++].count;
        const int add = i || s->first || s->first_place;
        for (int64_t r = top; r < bottom; r += HIGH) {
            float *at = to + r * vectors * LANES;
            if (bottom - r < HIGH)
                for (int64_t l = r; l < bottom; l++, at += vectors * LANES)
                    weight_tile(1, vectors, s, x, s->step, l, i, end, panel, at, add);
            else if (s->step == 1)
                weight_tile(HIGH, vectors, s, x, 1, r, i, end, panel, at, add);
            else
                weight_tile(HIGH, vectors, s, x, s->step, r, i, end, panel, at, add);
        }
        i = end;
    }
}

static void some_terms(const void *args, int64_t first, int64_t last)
{
    const struct window_weights *s = args;
    const int64_t span = span_of(s->outputs), panels = (s->outputs + span - 1) / span;
    const int64_t blocks = (s->terms + ROWS - 1) / ROWS;
    for (int64_t at = first; at < last; at++) {
        const int64_t top = at % blocks * ROWS, bottom = top + ROWS < s->terms ? top + ROWS : s->terms;
        const int64_t panel = at / blocks % panels, group = at / blocks / panels;
        const int64_t whole = packed_size(1, width_of(s->outputs, panel * span));
        const float *x = (s->padded ? s->padded : s->x + s->first * s->length) + group * (s->length / s->groups);
        const float *from = s->panels + (group * s->pitch + panel * span) * s->images * s->place_count;
        float *to = s->sums + (group * s->pitch + panel * span) * s->terms;
        switch (whole / LANES) {
        case 1: weight_tiles(1, s, x, top, bottom, from, to); break;
#if WIDE > 2
        case 2: weight_tiles(2, s, x, top, bottom, from, to); break;
#endif
        default: weight_tiles(WIDE, s, x, top, bottom, from, to);
        }
    }
}

/* Transposes the sums, which are by term in panels of outputs, to weights (outputs, terms): four outputs in a piece. */
static void turn_sums(const void *args, int64_t first, int64_t last)
{
    const struct window_weights *s = args;
    const int64_t span = span_of(s->outputs), pieces = (s->outputs + 3) / 4;
    for (int64_t at = first; at < last; at++) {
        const int64_t group = at / pieces, o = at % pieces * 4, j = o / span * span, terms = s->terms;
        const int64_t whole = packed_size(1, width_of(s->outputs, j)), count = s->outputs - o < 4 ? s->outputs - o : 4;
        const float *from = s->sums + (group * s->pitch + j) * terms + (o - j);
        float *to = s->out + (group * s->outputs + o) * terms;
        int64_t r = 0;
#if defined(FOUR) && LANES >= FOUR
        for (; r + 4 <= terms && count == 4; r += 4, from += 4 * whole)
            turn_four(from, from + whole, from + 2 * whole, from + 3 * whole, to + r, terms);
#endif
        for (; r < terms; r++, from += whole)
            for (int64_t l = 0; l < count; l++)
                to[l * terms + r] = from[l];
    }
}

/* Lists the lines of the places [first, first + count) of `images` images. Returns their number. */
static int64_t find_lines(struct window_weights *s, int64_t images, int64_t first, int64_t count)
{
    int64_t n = 0;
    for (int64_t image = 0; image < images; image++)
        for (int64_t p = first; p < first + count;) {
            int64_t length = 1;
            while (p + length < first + count && s->starts[p + length] == s->starts[p] + length * s->step)
                length++;
            s->line[n++] = (struct line){image * s->length + s->starts[p], image * count + p - first, length};
            p += length;
        }
    return n;
}

/* x (images, lines, width), g (images, groups, outputs, places), out (groups, outputs, terms). `padded`: images are
copied to a padded form of `length` first. `plan`: the starts of the lines in that form, the offsets of the terms, and
the positions of the places, of which neighbours are `step` apart. The terms of the next group are `length / groups`
further on. */
int64_t convolve_window_weights(int64_t threads, int64_t images, int64_t lines, int64_t width, int64_t length,
                                int64_t padded, int64_t groups, int64_t outputs, int64_t terms, int64_t places,
                                int64_t step, const float *x, const float *g, const place *plan, float *out)
{
    if (groups < 1 || outputs < 1 || step < 1)
        return OUTSIDE;
    const int64_t numbers = lines + terms + places, apart = length / groups;
    const int64_t kinds[3][2] = {{lines, length - width + 1}, {terms, apart}, {places, apart}};
    const int64_t span = span_of(outputs), panels = (outputs + span - 1) / span;
    const int64_t pitch = (panels - 1) * span + packed_size(1, width_of(outputs, (panels - 1) * span));
    int64_t most[3] = {0}, failed = 0, *at = malloc((numbers + 1) * sizeof(int64_t));
    if (!at)
        return NO_MEMORY;
    for (int64_t kind = 0, i = 0; kind < 3; kind++)
        for (int64_t end = i + kinds[kind][0]; i < end; i++) {
            at[i] = kinds[kind][1] < 1 ? -1 : place_below(kinds[kind][1], plan + i);
            failed = at[i] < 0 ? OUTSIDE : failed;
            most[kind] = at[i] > most[kind] ? at[i] : most[kind];
        }
    if (most[1] + most[2] >= apart || (!padded && length != lines * width))
        failed = OUTSIDE;
    if (failed) {
        free(at);
        return failed;
    }
    const int64_t some = places < APIECE ? places : APIECE, count = APIECE / (some ? some : 1);
    const int64_t together = count < 1 ? 1 : count < images ? count : images;
    struct window_weights s = {images, lines, width, length, groups, outputs, terms, places, step, together, 0, pitch, 0, 0,
                               0, x, g, at, at + lines, at + lines + terms, NULL, NULL, NULL, NULL, out};
    s.line = malloc((together * some + 1) * sizeof(struct line));
    s.padded = padded ? calloc(together * length + LINE, sizeof(float)) : NULL;
    float *memory = malloc((groups * pitch * (together * some + terms) + 2 * LINE) * sizeof(float));
    if (s.line && memory && (s.padded || !padded)) {
        s.sums = on_line(memory), s.panels = s.sums + groups * pitch * terms;
        if (!images || !places)
            memset(s.sums, 0, groups * pitch * terms * sizeof(float));
        for (; s.first < images; s.first += together) {
            s.images = images - s.first < together ? images - s.first : together;
            if (padded)
                share(threads, s.images * lines, rows_in_piece(width), pad_lines, &s);
            for (s.first_place = 0; s.first_place < places; s.first_place += some) {
                s.place_count = places - s.first_place < some ? places - s.first_place : some;
                s.line_count = find_lines(&s, s.images, s.first_place, s.place_count);
                share(threads, groups * panels * s.images, rows_in_piece(s.place_count * span), pack_images, &s);
                const int64_t work = s.images * s.place_count * ROWS * span;
                share(threads, groups * panels * ((terms + ROWS - 1) / ROWS), work < (1 << 20) ? (1 << 20) / work + 1 : 1,
                      some_terms, &s);
            }
        }
        share(threads, groups * ((outputs + 3) / 4), rows_in_piece(4 * terms), turn_sums, &s);
    } else {
        failed = NO_MEMORY;
    }
    free(s.line);
    free(s.padded);
    free(memory);
    free(at);
    return failed;
}
