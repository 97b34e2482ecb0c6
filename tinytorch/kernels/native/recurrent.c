/* Recurrent layers (kernels/rnn): the elementwise part of a step in one pass, and whole loops over time.

For a single step pre-activations and gates are (gates, batch, hidden); the gradients of a row's pre-activations are
adjacent. */
#include <stdlib.h>

#include "panels.h"

struct lstm { int64_t batch, hidden; float *a, *cells, *squashed, *out; const float *before, *g; float *g_cells, *d; };

/* sigmoid(2 half): near 1 as accurate as by exp, in two thirds of the time. */
INLINE float sigmoid_of_half(float x)
{
    return 0.5f + 0.5f * tanh_of(x);
}

/* For sigmoids `scale` times the given pre-activation is half of the pre-activation. `cells` may be `before`. */
INLINE void lstm_span(int64_t n, float scale, float *i, float *f, float *g, float *o, const float *before, float *cells,
                      float *squashed, float *out)
{
    SPAN
    for (int64_t k = 0; k < n; k++) {
        i[k] = sigmoid_of_half(scale * i[k]);
        f[k] = sigmoid_of_half(scale * f[k]);
        g[k] = tanh_of(g[k]);
        o[k] = sigmoid_of_half(scale * o[k]);
        cells[k] = f[k] * before[k] + i[k] * g[k];
        squashed[k] = tanh_of(cells[k]);
        out[k] = o[k] * squashed[k];
    }
}

static void lstm_rows(const void *args, int64_t first, int64_t last)
{
    const struct lstm *s = args;
    const int64_t start = first * s->hidden, all = s->batch * s->hidden;
    float *a = s->a + start;
    lstm_span((last - first) * s->hidden, 1.0f, a, a + all, a + 2 * all, a + 3 * all, s->before + start, s->cells + start,
              s->squashed + start, s->out + start);
}

void lstm_step(int64_t threads, int64_t batch, int64_t hidden, float *a, const float *before, float *cells,
               float *squashed, float *out)
{
    struct lstm args = {batch, hidden, a, cells, squashed, out, before, NULL, NULL, NULL};
    share(threads, batch, rows_in_piece(hidden), lstm_rows, &args);
}

INLINE void lstm_backward_span(int64_t n, const float *i, const float *f, const float *g, const float *o,
                               const float *before, const float *squashed, const float *dh, float *dc, float *di,
                               float *df, float *dg, float *d_o)
{
    SPAN
    for (int64_t k = 0; k < n; k++) {
        float t = squashed[k], c = dc[k] + dh[k] * o[k] * (1.0f - t * t);
        di[k] = c * g[k] * i[k] * (1.0f - i[k]);
        df[k] = c * before[k] * f[k] * (1.0f - f[k]);
        dg[k] = c * i[k] * (1.0f - g[k] * g[k]);
        d_o[k] = dh[k] * t * o[k] * (1.0f - o[k]);
        dc[k] = c * f[k];
    }
}

static void lstm_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct lstm *s = args;
    const int64_t hidden = s->hidden, all = s->batch * hidden;
    for (int64_t row = first; row < last; row++) {
        const float *a = s->a + row * hidden;
        float *d = s->d + row * 4 * hidden;
        lstm_backward_span(hidden, a, a + all, a + 2 * all, a + 3 * all, s->before + row * hidden,
                           s->squashed + row * hidden, s->g + row * hidden, s->g_cells + row * hidden, d, d + hidden,
                           d + 2 * hidden, d + 3 * hidden);
    }
}

void lstm_step_backward(int64_t threads, int64_t batch, int64_t hidden, const float *a, const float *before,
                        const float *squashed, const float *dh, float *dc, float *d)
{
    struct lstm args = {batch, hidden, (float *)a, NULL, (float *)squashed, NULL, before, dh, dc, d};
    share(threads, batch, rows_in_piece(hidden), lstm_backward_rows, &args);
}

/* `h`: the previous state, whose rows begin `pitch` elements apart, at `offset`. */
struct gru { int64_t batch, hidden, pitch, offset; float *a; const float *h; float *out, *dh, *d; };

/* `scale` as in lstm_span; `out` may be `h`. */
INLINE void gru_span(int64_t n, float scale, float *r, float *z, float *new, const float *part, const float *h,
                     float *out)
{
    SPAN
    for (int64_t k = 0; k < n; k++) {
        r[k] = sigmoid_of_half(scale * r[k]);
        z[k] = sigmoid_of_half(scale * z[k]);
        new[k] = tanh_of(new[k] + r[k] * part[k]);
        out[k] = (h[k] - new[k]) * z[k] + new[k];
    }
}

static void gru_rows(const void *args, int64_t first, int64_t last)
{
    const struct gru *s = args;
    const int64_t start = first * s->hidden, all = s->batch * s->hidden;
    float *a = s->a + start;
    gru_span((last - first) * s->hidden, 1.0f, a, a + all, a + 2 * all, a + 3 * all, s->h + start, s->out + start);
}

void gru_step(int64_t threads, int64_t batch, int64_t hidden, float *a, const float *h, float *out)
{
    struct gru args = {batch, hidden, hidden, 0, a, h, out, NULL, NULL};
    share(threads, batch, rows_in_piece(hidden), gru_rows, &args);
}

INLINE void gru_backward_span(int64_t n, const float *r, const float *z, const float *new, const float *part,
                              const float *h, float *dh, float *d_part, float *dr, float *dz, float *d_new)
{
    SPAN
    for (int64_t k = 0; k < n; k++) {
        float u = (1.0f - z[k]) * dh[k], v = u * (1.0f - new[k] * new[k]);
        d_part[k] = v * r[k];
        dr[k] = v * r[k] * part[k] * (1.0f - r[k]);
        dz[k] = (h[k] - new[k]) * u * z[k];
        d_new[k] = v;
        dh[k] *= z[k];
    }
}

static void gru_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct gru *s = args;
    const int64_t hidden = s->hidden, all = s->batch * hidden;
    for (int64_t row = first; row < last; row++) {
        const float *a = s->a + row * hidden;
        float *d = s->d + row * 4 * hidden;
        gru_backward_span(hidden, a, a + all, a + 2 * all, a + 3 * all, s->h + row * s->pitch + s->offset,
                          s->dh + row * hidden, d, d + hidden, d + 2 * hidden, d + 3 * hidden);
    }
}

void gru_step_backward(int64_t threads, int64_t batch, int64_t hidden, int64_t pitch, int64_t offset,
                       const float *a, const float *h, float *dh, float *d)
{
    struct gru args = {batch, hidden, pitch, offset, (float *)a, h, NULL, dh, d};
    share(threads, batch, rows_in_piece(hidden), gru_backward_rows, &args);
}

/* ---------------------------------------------------------------- whole loops over time
The rows of all steps are in one matrix, earliest step first. `order` has (first row, one behind the last) for each step
in the order of processing. Sequences have the same number in every step, so each piece takes some of them through all
steps. */
enum { TANH, RELU, LSTM, GRU };

struct loop {
    int64_t kind, steps, batch, narrow, wide, hidden, keep, started, wanted, turned, turns, apart, onward;
    const int64_t *order;
    const float *x, *w, *w_h, *w_x, *g;        /* packed weights */
    float *joined, *a, *cells, *squashed, *out, *h, *c, *d;
};

/* A checked copy of `order`: the rows of each step are among `rows`, and at most `batch`. NULL, with the reason in
`failed`, if memory is missing or a row is out of range. */
static int64_t *checked_order(int64_t steps, int64_t batch, int64_t rows, const place *order, int64_t *failed)
{
    int64_t *copy = malloc((2 * steps + 1) * sizeof(int64_t));
    *failed = !copy ? NO_MEMORY : batch < 1 ? OUTSIDE : 0;
    for (int64_t k = 0; k < steps && !*failed; k++) {
        const int64_t from = place_below(rows + 1, order + 2 * k), to = place_below(rows + 1, order + 2 * k + 1);
        copy[2 * k] = from;
        copy[2 * k + 1] = to;
        if (from < 0 || to < from || to - from > batch)
            *failed = OUTSIDE;
    }
    if (*failed && copy) {
        free(copy);
        copy = NULL;
    }
    return copy;
}

/* The number of rows of step `k` in a piece, and the first of them. */
INLINE int64_t rows_of(const struct loop *s, int64_t k, int64_t first, int64_t last, int64_t *row)
{
    int64_t lo = s->order[2 * k], n = s->order[2 * k + 1] - lo;
    *row = lo + first;
    return (n < last ? n : last) - first;
}

/* Writes the rows [x | 1 | state] of step `k` from sequence `first` on. Their first row is `row`. */
INLINE void join_rows(const struct loop *s, int64_t k, int64_t n, int64_t row, int64_t first)
{
    const int64_t narrow = s->narrow, hidden = s->hidden, step = s->turns == 1 ? 0 : s->order[2 * k] / s->batch;
    const float *x = s->x + (s->turns == 1 ? row * s->apart : step * s->onward + first * s->apart);
    for (int64_t i = 0; i < n; i++) {
        float *to = s->joined + ((s->keep ? row : first) + i) * (narrow + 1 + hidden);
        memcpy(to, x + i * s->apart, narrow * sizeof(float));
        to[narrow] = 1.0f;
        memcpy(to + narrow + 1, s->h + (first + i) * hidden, hidden * sizeof(float));
    }
}

/* The pre-activations of `n` rows from rows [x | 1 | state]. LSTM: input, forget, cell, output gate. GRU: hidden part
of the new gate, reset, update, input part of the new gate; the first three depend on the state, the last three on the
input. An input that the rows do not hold is in `x`. */
static void pre_activations(const struct loop *s, int64_t k, int64_t n, int64_t row, int64_t kept, float *a)
{
    const int64_t hidden = s->hidden, width = s->kind < LSTM ? hidden : 4 * hidden, pitch = s->narrow + 1 + hidden;
    const int64_t state = k || s->started ? hidden : 0;        /* a state of zeros is left out */
    const float *joined = s->joined + kept * pitch, *x = s->x + row * s->wide;
    if (s->kind == GRU) {
        times_packed(n, 3 * hidden, s->narrow + 1, joined, pitch, s->w, s->narrow + 1, a + hidden, width, 0);
        for (int64_t i = 0; i < n; i++)
            memset(a + i * width, 0, hidden * sizeof(float));
        times_packed(n, 3 * hidden, 1 + state, joined + s->narrow, pitch, s->w_h, 1 + hidden, a, width, 1);
        if (s->wide)
            times_packed(n, 3 * hidden, s->wide, x, s->wide, s->w_x, s->wide, a + hidden, width, 1);
    } else {
        times_packed(n, width, s->narrow + 1 + state, joined, pitch, s->w, pitch, a, width, 0);
        if (s->wide)
            times_packed(n, width, s->wide, x, s->wide, s->w_x, s->wide, a, width, 1);
    }
}

static void forward_rows(const void *args, int64_t first, int64_t last)
{
    const struct loop *s = args;
    const int64_t hidden = s->hidden, width = s->kind < LSTM ? hidden : 4 * hidden;
    for (int64_t k = 0; k < s->steps; k++) {
        int64_t row, n = rows_of(s, k, first, last, &row);
        if (n <= 0)
            continue;
        const int64_t kept = s->keep ? row : first, bytes = hidden * sizeof(float);
        float *h = s->h + first * hidden, *c = s->kind == LSTM ? s->c + first * hidden : NULL;
        float *out = s->out + row * hidden, *a = s->kind < LSTM ? out : s->a + kept * width;
        join_rows(s, k, n, row, first);
        pre_activations(s, k, n, row, kept, a);
        if (s->kind == TANH) {
            SPAN
            for (int64_t i = 0; i < n * hidden; i++)
                h[i] = out[i] = tanh_of(out[i]);
        } else if (s->kind == RELU) {
            SPAN
            for (int64_t i = 0; i < n * hidden; i++)
                h[i] = out[i] = out[i] < 0.0f ? 0.0f : out[i];
        }
        if (s->kind == LSTM && s->keep)
            memcpy(s->cells + row * hidden, c, n * bytes);
        for (int64_t i = 0; i < n && s->kind >= LSTM; i++, a += width, h += hidden, out += hidden) {
            if (s->kind == LSTM)
                lstm_span(hidden, 0.5f, a, a + hidden, a + 2 * hidden, a + 3 * hidden, c + i * hidden, c + i * hidden,
                          s->squashed + (kept + i) * hidden, out);
            else
                gru_span(hidden, 0.5f, a + hidden, a + 2 * hidden, a + 3 * hidden, a, h, out);
            memcpy(h, out, bytes);
        }
    }
}

/* The number of sequences in a piece: whole tiles of rows, and about 32 at least, because each piece reads all weights.
No result depends on it. */
static int64_t grain_of(int64_t batch, int64_t threads)
{
    int64_t pieces = 1;
    while (pieces < 16 && pieces < threads && batch / (2 * pieces) >= 32)
        pieces *= 2;
    return ((batch + pieces - 1) / pieces + HIGH - 1) / HIGH * HIGH;
}

/* Packs the right operand of rows [x | 1 | state] in `to`: the weights of inputs and of states (either may be missing),
whose gates begin with gate `from`, and the biases of these gates. */
static void pack_weights(int64_t inputs, int64_t hidden, int64_t columns, int64_t from, const float *w_ih,
                         const float *bias, const float *w_hh, float *to)
{
    for (int64_t j = 0; j < columns; j += span_of(columns)) {
        const int64_t width = width_of(columns, j), whole = packed_size(1, width);
        pack_columns(inputs, j, width, w_ih, inputs, from, columns, to);
        to += inputs * whole;
        if (bias) {
            pack_rows(1, j, width, bias, columns, to);
            to += whole;
        }
        pack_columns(hidden, j, width, w_hh, hidden, from, columns, to);
        to += hidden * whole;
    }
}

/* `joined` becomes the rows [x | 1 | state], without inputs that are `wide`. `x` has `turns` steps, `onward` elements
apart, with `lines` rows each, `apart` elements apart, or one turn of all rows in the order of `joined`. `h` and `c`
(batch, hidden) are the initial states and become the final ones; `started`: h is not zero. With `keep`, `joined`, `a`
and `squashed` have rows for all steps, else for one step; `cells` gets the cells before each step. */
int64_t recurrent(int64_t threads, int64_t kind, int64_t steps, int64_t batch, int64_t rows, int64_t kept,
                  int64_t narrow, int64_t wide, int64_t features, int64_t hidden, int64_t gates, int64_t used,
                  int64_t pitch, int64_t keep, int64_t started, int64_t lines, int64_t turns, int64_t apart,
                  int64_t onward, const place *order, const float *x, const float *w_ih, const float *w_hh,
                  const float *b_ih, const float *b_hh, float *joined, float *a, float *cells,
                  float *squashed, float *out, float *h, float *c)
{
    const int64_t columns = used * hidden, of_h = kind == GRU ? packed_size(1 + hidden, columns) : 0;
    const int64_t of_w = packed_size(kind == GRU ? narrow + 1 : pitch, columns), of_x = packed_size(wide, columns);
    int64_t failed;
    int64_t *checked = checked_order(steps, batch, rows, order, &failed);
    if (!checked)
        return failed;
    for (int64_t k = 0; k < steps; k++)        /* join_rows reads it there */
        if (turns == 1 ? checked[2 * k + 1] > lines : checked[2 * k] / batch >= turns || batch > lines)
            failed = OUTSIDE;
    if (kept < (keep ? rows : batch))
        failed = OUTSIDE;
    float *memory = failed ? NULL : malloc((of_w + of_h + of_x + 2 * columns + LINE) * sizeof(float));
    if (!memory) {
        free(checked);
        return failed ? failed : NO_MEMORY;
    }
    float *w = on_line(memory), *w_h = w + of_w, *w_x = w_h + of_h;
    float *bias = w_x + of_x, *of_state = bias + columns;      /* a GRU has a bias for the new gate's hidden part */
    for (int64_t i = 0; i < columns; i++) {
        bias[i] = !b_ih ? 0.0f : b_ih[i] + (kind == GRU && i >= 2 * hidden ? 0.0f : b_hh[i]);
        of_state[i] = b_ih && i < hidden && kind == GRU ? b_hh[2 * hidden + i] : 0.0f;
    }
    pack_weights(narrow, kind == GRU ? 0 : hidden, columns, 0, w_ih, bias, w_hh, w);
    if (kind == GRU)
        pack_weights(0, hidden, columns, 2 * hidden, NULL, of_state, w_hh, w_h);
    if (wide)
        pack_weights(wide, 0, columns, 0, w_ih, NULL, NULL, w_x);
    struct loop args = {kind, steps, batch, narrow, wide, hidden, keep, started, 0, 0, turns, apart, onward, checked, x, w,
                        w_h, w_x, NULL, joined, a, cells, squashed, out, h, c, NULL};
    (void)gates, (void)features;
    share(threads, batch, grain_of(batch, threads), forward_rows, &args);
    free(memory);
    free(checked);
    return 0;
}

static void backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct loop *s = args;
    const int64_t hidden = s->hidden, width = s->kind < LSTM ? hidden : 4 * hidden, pitch = s->narrow + 1 + hidden;
    for (int64_t k = s->steps - 1; k >= 0; k--) {
        int64_t row, n = rows_of(s, k, first, last, &row), step = s->order[2 * k] / s->batch;
        if (n <= 0)
            continue;
        float *dh = s->h + first * hidden, *d = s->d + row * width;
        for (int64_t i = 0; i < n && s->g; i++) {
            const float *g = s->g + (s->turned ? (first + i) * s->steps + step : row + i) * hidden;
            SPAN
            for (int64_t j = 0; j < hidden; j++)
                dh[i * hidden + j] += g[j];
        }
        int64_t next = 0, going_on = s->kind < LSTM && k + 1 < s->steps ? rows_of(s, k + 1, first, last, &next) : 0;
        for (int64_t i = 0; i < n && s->kind < LSTM; i++) {    /* the next state: the next row's, or the final one */
            const float *before = s->joined + (next + i) * pitch + s->narrow + 1;
            const float *state = i < going_on ? before : s->out + (first + i) * hidden;
            const float *g = dh + i * hidden;
            float *to = d + i * hidden;
            SPAN
            for (int64_t j = 0; j < hidden; j++)
                to[j] = s->kind == TANH ? g[j] - state[j] * state[j] * g[j] : g[j] * (state[j] > 0.0f);
        }
        for (int64_t i = 0; i < n && s->kind >= LSTM; i++) {
            const float *a = s->a + (row + i) * width;
            float *to = d + i * width;
            if (s->kind == LSTM)
                lstm_backward_span(hidden, a, a + hidden, a + 2 * hidden, a + 3 * hidden, s->cells + (row + i) * hidden,
                                   s->squashed + (row + i) * hidden, dh + i * hidden, s->c + (first + i) * hidden, to,
                                   to + hidden, to + 2 * hidden, to + 3 * hidden);
            else
                gru_backward_span(hidden, a + hidden, a + 2 * hidden, a + 3 * hidden, a,
                                  s->joined + (row + i) * pitch + s->narrow + 1, dh + i * hidden, to, to + hidden,
                                  to + 2 * hidden, to + 3 * hidden);
        }
        if (k || s->wanted)
            times_packed(n, hidden, s->kind == GRU ? 3 * hidden : width, d, width, s->w_h,
                         s->kind == GRU ? 3 * hidden : width, dh, hidden, s->kind == GRU);
    }
}

/* The constants of kernels/linalg/products.py. */
#define BLOCK_OF_ROWS 128
#define WORTH_A_PIECE (1 << 20)

/* Writes the gradients of the pre-activations to `d`; for a GRU those of the new gate's hidden part, reset, update and
the new gate's input part. `dh` and `dc` (batch, hidden), the gradients of the final states, become those of the initial
states, if `wanted`. `g`, the gradient of the outputs, has the batch as its first axis if `turned`. With `g_ih` the
gradients of weights and bias are computed too, by one product; not for a GRU. */
int64_t recurrent_backward(int64_t threads, int64_t kind, int64_t steps, int64_t batch, int64_t rows,
                           int64_t narrow, int64_t hidden, int64_t gates, int64_t used, int64_t pitch,
                           int64_t wanted, int64_t turned, const place *order, const float *g,
                           const float *w_hh, const float *joined, const float *a, const float *cells,
                           const float *squashed, const float *last, float *dh, float *dc, float *d, float *g_ih,
                           float *g_hh, float *g_bias)
{
    int64_t failed;
    int64_t *checked = checked_order(steps, batch, rows, order, &failed);
    if (checked && turned && rows < steps * batch)
        failed = OUTSIDE;
    if (failed) {
        free(checked);
        return failed;
    }
    const int64_t own = packed_size(used * hidden, hidden) + LINE, all = g_ih ? used * hidden * pitch : 0;
    float *memory = malloc((own + all) * sizeof(float)), *packed = on_line(memory), *gradients = memory + own;
    if (!memory) {
        free(checked);
        return NO_MEMORY;
    }
    struct loop args = {kind, steps, batch, narrow, 0, hidden, 1, 0, wanted, turned, 1, 0, 0, checked, NULL, NULL, packed,
                        NULL, g, (float *)joined, (float *)a, (float *)cells, (float *)squashed, (float *)last, dh, dc, d};
    (void)gates;
    const int64_t first = kind == GRU ? 2 * hidden : 0, rest = used * hidden - first;      /* for a GRU the new gate */
    float *to = packed;
    for (int64_t j = 0; j < hidden; j += span_of(hidden)) {
        const int64_t width = width_of(hidden, j), whole = packed_size(1, width);
        pack_rows(rest, j, width, w_hh + first * hidden, hidden, to);
        pack_rows(first, j, width, w_hh, hidden, to + rest * whole);
        to += used * hidden * whole;
    }
    share(threads, batch, grain_of(batch, threads), backward_rows, &args);
    if (g_ih)
        product(threads, 1, 0, used * hidden, pitch, rows, used * hidden, pitch, 0, 1, BLOCK_OF_ROWS,
                1 + WORTH_A_PIECE / (48 * rows * BLOCK_OF_ROWS), d, joined, NULL, gradients);
    for (int64_t i = 0; i < used * hidden && g_ih; i++) {
        memcpy(g_ih + i * narrow, gradients + i * pitch, narrow * sizeof(float));
        g_bias[i] = gradients[i * pitch + narrow];
        memcpy(g_hh + i * hidden, gradients + i * pitch + narrow + 1, hidden * sizeof(float));
    }
    free(memory);
    free(checked);
    return 0;
}
