/* Steps of recurrent layers between their products, each in one pass (kernels/rnn/lstm.py, gru.py, elman.py).

Pre-activations and gates (gates, batch, hidden); the gradients of a row's pre-activations lie beside each other. */
#include "common.h"

struct lstm { int64_t batch, hidden; float *a, *cells, *squashed, *out; const float *before, *g; float *g_cells, *d; };

/* The pre-activations of the sigmoids come halved, for the twin makes them of tanh. */
static void lstm_span(int64_t n, float *restrict i, float *restrict f, float *restrict g, float *restrict o,
                      const float *restrict before, float *restrict cells, float *restrict squashed, float *restrict out)
{
    for (int64_t k = 0; k < n; k++) {
        i[k] = sigmoid_of(2.0f * i[k]);
        f[k] = sigmoid_of(2.0f * f[k]);
        g[k] = tanh_of(g[k]);
        o[k] = sigmoid_of(2.0f * o[k]);
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
    lstm_span((last - first) * s->hidden, a, a + all, a + 2 * all, a + 3 * all, s->before + start, s->cells + start,
              s->squashed + start, s->out + start);
}

KERNEL void lstm_step(int64_t threads, int64_t batch, int64_t hidden, float *a, const float *before, float *cells,
                      float *squashed, float *out)
{
    struct lstm args = {batch, hidden, a, cells, squashed, out, before, NULL, NULL, NULL};
    share(threads, batch, rows_in_piece(hidden), lstm_rows, &args);
}

static void lstm_backward_span(int64_t n, const float *restrict i, const float *restrict f, const float *restrict g,
                               const float *restrict o, const float *restrict before, const float *restrict squashed,
                               const float *restrict dh, float *restrict dc, float *restrict di, float *restrict df,
                               float *restrict dg, float *restrict d_o)
{
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

KERNEL void lstm_step_backward(int64_t threads, int64_t batch, int64_t hidden, const float *a, const float *before,
                               const float *squashed, const float *dh, float *dc, float *d)
{
    struct lstm args = {batch, hidden, (float *)a, NULL, (float *)squashed, NULL, before, dh, dc, d};
    share(threads, batch, rows_in_piece(hidden), lstm_backward_rows, &args);
}

/* `h`: the state before, each row `pitch` elements behind the one before, from `offset` on. */
struct gru { int64_t batch, hidden, pitch, offset; float *a; const float *h; float *out, *dh, *d; };

static void gru_span(int64_t n, float *restrict r, float *restrict z, float *restrict new, const float *restrict part,
                     const float *restrict h, float *restrict out)
{
    for (int64_t k = 0; k < n; k++) {
        r[k] = sigmoid_of(2.0f * r[k]);
        z[k] = sigmoid_of(2.0f * z[k]);
        new[k] = tanh_of(new[k] + r[k] * part[k]);
        out[k] = (h[k] - new[k]) * z[k] + new[k];
    }
}

static void gru_rows(const void *args, int64_t first, int64_t last)
{
    const struct gru *s = args;
    const int64_t start = first * s->hidden, all = s->batch * s->hidden;
    float *a = s->a + start;
    gru_span((last - first) * s->hidden, a, a + all, a + 2 * all, a + 3 * all, s->h + start, s->out + start);
}

KERNEL void gru_step(int64_t threads, int64_t batch, int64_t hidden, float *a, const float *h, float *out)
{
    struct gru args = {batch, hidden, hidden, 0, a, h, out, NULL, NULL};
    share(threads, batch, rows_in_piece(hidden), gru_rows, &args);
}

static void gru_backward_span(int64_t n, const float *restrict r, const float *restrict z, const float *restrict new,
                              const float *restrict part, const float *restrict h, float *restrict dh,
                              float *restrict d_part, float *restrict dr, float *restrict dz, float *restrict d_new)
{
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

KERNEL void gru_step_backward(int64_t threads, int64_t batch, int64_t hidden, int64_t pitch, int64_t offset,
                              const float *a, const float *h, float *dh, float *d)
{
    struct gru args = {batch, hidden, pitch, offset, (float *)a, h, NULL, dh, d};
    share(threads, batch, rows_in_piece(hidden), gru_backward_rows, &args);
}

/* The gradient of what tanh made `out` of: for one more pass, where NumPy takes three. */
KERNEL void rnn_step_backward(int64_t threads, int64_t n, const float *out, const float *dh, float *restrict d)
{
    (void)threads;
    for (int64_t k = 0; k < n; k++)
        d[k] = dh[k] - out[k] * out[k] * dh[k];
}
