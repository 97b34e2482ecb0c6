/* Steps of recurrent layers between their products, each in one pass (kernels/rnn/lstm.py, gru.py, elman.py).

Pre-activations and gates (gates, batch, hidden); the gradients of a row's pre-activations lie beside each other. */
#include "common.h"

struct lstm { int64_t batch, hidden; float *a, *cells, *squashed, *out; const float *before, *g; float *g_cells, *d; };

static void lstm_rows(const void *args, int64_t first, int64_t last)
{
    const struct lstm *s = args;
    const int64_t all = s->batch * s->hidden;
    float *restrict i = s->a, *restrict f = i + all, *restrict g = f + all, *restrict o = g + all;
    float *restrict cells = s->cells, *restrict squashed = s->squashed, *restrict out = s->out;
    const float *restrict before = s->before;
    for (int64_t k = first * s->hidden; k < last * s->hidden; k++) {
        /* the pre-activations of the sigmoids come halved, for the twin makes them of tanh */
        i[k] = sigmoid_of(2.0f * i[k]);
        f[k] = sigmoid_of(2.0f * f[k]);
        g[k] = tanh_of(g[k]);
        o[k] = sigmoid_of(2.0f * o[k]);
        cells[k] = f[k] * before[k] + i[k] * g[k];
        squashed[k] = tanh_of(cells[k]);
        out[k] = o[k] * squashed[k];
    }
}

KERNEL void lstm_step(int64_t threads, int64_t batch, int64_t hidden, float *a, const float *before, float *cells,
                      float *squashed, float *out)
{
    struct lstm args = {batch, hidden, a, cells, squashed, out, before, NULL, NULL, NULL};
    share(threads, batch, rows_in_piece(hidden), lstm_rows, &args);
}

static void lstm_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct lstm *s = args;
    const int64_t hidden = s->hidden, all = s->batch * hidden;
    for (int64_t row = first; row < last; row++) {
        const float *restrict i = s->a + row * hidden, *restrict f = i + all, *restrict g = f + all, *restrict o = g + all;
        const float *restrict squashed = s->squashed + row * hidden, *restrict before = s->before + row * hidden;
        const float *restrict dh = s->g + row * hidden;
        float *restrict dc = s->g_cells + row * hidden, *restrict d = s->d + row * 4 * hidden;
        for (int64_t k = 0; k < hidden; k++) {
            float t = squashed[k], seen = dh[k] * o[k], c = dc[k] + seen * (1.0f - t * t);
            d[k] = c * g[k] * i[k] * (1.0f - i[k]);
            d[hidden + k] = c * before[k] * f[k] * (1.0f - f[k]);
            d[2 * hidden + k] = c * i[k] * (1.0f - g[k] * g[k]);
            d[3 * hidden + k] = dh[k] * t * o[k] * (1.0f - o[k]);
            dc[k] = c * f[k];
        }
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

static void gru_rows(const void *args, int64_t first, int64_t last)
{
    const struct gru *s = args;
    const int64_t all = s->batch * s->hidden;
    float *restrict r = s->a, *restrict z = r + all, *restrict new = z + all, *restrict part = new + all;
    const float *restrict h = s->h;
    float *restrict out = s->out;
    for (int64_t k = first * s->hidden; k < last * s->hidden; k++) {
        r[k] = sigmoid_of(2.0f * r[k]);
        z[k] = sigmoid_of(2.0f * z[k]);
        new[k] = tanh_of(new[k] + r[k] * part[k]);
        out[k] = (h[k] - new[k]) * z[k] + new[k];
    }
}

KERNEL void gru_step(int64_t threads, int64_t batch, int64_t hidden, float *a, const float *h, float *out)
{
    struct gru args = {batch, hidden, hidden, 0, a, h, out, NULL, NULL};
    share(threads, batch, rows_in_piece(hidden), gru_rows, &args);
}

static void gru_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct gru *s = args;
    const int64_t hidden = s->hidden, all = s->batch * hidden;
    for (int64_t row = first; row < last; row++) {
        const float *restrict r = s->a + row * hidden, *restrict z = r + all, *restrict new = z + all;
        const float *restrict part = new + all, *restrict h = s->h + row * s->pitch + s->offset;
        float *restrict dh = s->dh + row * hidden, *restrict d = s->d + row * 4 * hidden;
        for (int64_t k = 0; k < hidden; k++) {
            float u = (1.0f - z[k]) * dh[k], v = u * (1.0f - new[k] * new[k]);
            d[k] = v * r[k];
            d[hidden + k] = v * r[k] * part[k] * (1.0f - r[k]);
            d[2 * hidden + k] = (h[k] - new[k]) * u * z[k];
            d[3 * hidden + k] = v;
            dh[k] *= z[k];
        }
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
