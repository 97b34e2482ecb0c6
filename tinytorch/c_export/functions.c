/* The functions that exported programs use: `export_c` writes those that a model needs, with what they call, into its
file. Tensors lie row by row without gaps, unless a stride is given. */

/* The sum of a[i] * b[i], by four sums side by side, whose rounding errors are smaller than those of one. */
static float dot(int n, const float *a, const float *b)
{
    float s[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        s[0] += a[i] * b[i];
        s[1] += a[i + 1] * b[i + 1];
        s[2] += a[i + 2] * b[i + 2];
        s[3] += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++)
        s[0] += a[i] * b[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* out[r][o] = sum of x[r][i] * weight[o][i], + bias[o]. */
static void linear(int rows, int inputs, int outputs, const float *x, const float *weight, const float *bias, float *out)
{
    for (int r = 0; r < rows; r++)
        for (int o = 0; o < outputs; o++)
            out[r * outputs + o] = dot(inputs, x + r * inputs, weight + o * inputs) + (bias ? bias[o] : 0.0f);
}

/* out[b][i][j] = sum of x[b][i][k] * y[b][k][j]; a batch lies `xb` and `yb` numbers after the one before. */
static void matmul(int batches, int rows, int inner, int columns, int xb, int yb, const float *x, const float *y,
                   float *out)
{
    for (int b = 0; b < batches; b++, x += xb, y += yb)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) {
                float s[2] = {0.0f, 0.0f};
                for (int k = 0; k < inner; k++)
                    s[k & 1] += x[i * inner + k] * y[k * columns + j];
                *out++ = s[0] + s[1];
            }
}

/* A convolution of pictures of `channels` x height x width with kernels of (channels / groups) x kh x kw. */
static void conv2d(int batch, int channels, int height, int width, int outputs, int kh, int kw, int sh, int sw, int ph,
                   int pw, int dh, int dw, int groups, int oh, int ow, const float *x, const float *weight,
                   const float *bias, float *out)
{
    const int given = channels / groups, made = outputs / groups;
    for (int b = 0; b < batch; b++, x += channels * height * width)
        for (int o = 0; o < outputs; o++)
            for (int i = 0; i < oh; i++)
                for (int j = 0; j < ow; j++) {
                    float sum = 0.0f;
                    for (int c = 0; c < given; c++) {
                        const float *picture = x + (o / made * given + c) * height * width;
                        const float *kernel = weight + (o * given + c) * kh * kw;
                        float part = 0.0f;
                        for (int k = 0; k < kh; k++) {
                            const int row = i * sh - ph + k * dh;
                            if (row < 0 || row >= height)
                                continue;
                            for (int l = 0; l < kw; l++) {
                                const int column = j * sw - pw + l * dw;
                                if (column >= 0 && column < width)
                                    part += picture[row * width + column] * kernel[k * kw + l];
                            }
                        }
                        sum += part;
                    }
                    *out++ = sum + (bias ? bias[o] : 0.0f);
                }
}

/* The transposed convolution: each number of x adds a kernel, of `channels` x (outputs / groups) x kh x kw, to out. */
static void conv_transpose2d(int batch, int channels, int height, int width, int outputs, int kh, int kw, int sh, int sw,
                             int ph, int pw, int dh, int dw, int groups, int oh, int ow, const float *x,
                             const float *weight, const float *bias, float *out)
{
    const int given = channels / groups, made = outputs / groups;
    for (int b = 0; b < batch; b++, x += channels * height * width, out += outputs * oh * ow)
        for (int o = 0; o < outputs; o++) {
            float *picture = out + o * oh * ow;
            for (int i = 0; i < oh * ow; i++)
                picture[i] = bias ? bias[o] : 0.0f;
            for (int c = o / made * given; c < (o / made + 1) * given; c++)
                for (int i = 0; i < height; i++)
                    for (int j = 0; j < width; j++)
                        for (int k = 0; k < kh; k++)
                            for (int l = 0; l < kw; l++) {
                                const int row = i * sh - ph + k * dh, column = j * sw - pw + l * dw;
                                if (row >= 0 && row < oh && column >= 0 && column < ow)
                                    picture[row * ow + column] += x[(c * height + i) * width + j]
                                        * weight[((c * made + o % made) * kh + k) * kw + l];
                            }
        }
}

/* The largest number in each window of `planes` pictures; NaN if there is one. */
static void max_pool2d(int planes, int height, int width, int kh, int kw, int sh, int sw, int ph, int pw, int dh, int dw,
                       int oh, int ow, const float *x, float *out)
{
    for (int p = 0; p < planes; p++, x += height * width)
        for (int i = 0; i < oh; i++)
            for (int j = 0; j < ow; j++) {
                float most = -INFINITY;
                for (int k = 0; k < kh; k++)
                    for (int l = 0; l < kw; l++) {
                        const int row = i * sh - ph + k * dh, column = j * sw - pw + l * dw;
                        if (row < 0 || row >= height || column < 0 || column >= width)
                            continue;
                        const float value = x[row * width + column];
                        most = value > most || value != value ? value : most;
                    }
                *out++ = most;
            }
}

/* The mean of each window. `padded`: whether its numbers beyond the picture count; `divisor`: by what to divide, or 0. */
static void avg_pool2d(int planes, int height, int width, int kh, int kw, int sh, int sw, int ph, int pw, int padded,
                       int divisor, int oh, int ow, const float *x, float *out)
{
    for (int p = 0; p < planes; p++, x += height * width)
        for (int i = 0; i < oh; i++)
            for (int j = 0; j < ow; j++) {
                int top = i * sh - ph, left = j * sw - pw, bottom = top + kh, right = left + kw;
                bottom = bottom < height + ph ? bottom : height + ph;
                right = right < width + pw ? right : width + pw;
                int count = (bottom - top) * (right - left);
                top = top > 0 ? top : 0;
                left = left > 0 ? left : 0;
                bottom = bottom < height ? bottom : height;
                right = right < width ? right : width;
                if (!padded)
                    count = (bottom - top) * (right - left);
                float sum = 0.0f;
                for (int row = top; row < bottom; row++)
                    for (int column = left; column < right; column++)
                        sum += x[row * width + column];
                *out++ = sum / (float)(divisor ? divisor : count);
            }
}

/* The means of oh x ow parts of each picture, which may overlap. */
static void adaptive_avg_pool2d(int planes, int height, int width, int oh, int ow, const float *x, float *out)
{
    for (int p = 0; p < planes; p++, x += height * width)
        for (int i = 0; i < oh; i++)
            for (int j = 0; j < ow; j++) {
                const int top = i * height / oh, bottom = ((i + 1) * height + oh - 1) / oh;
                const int left = j * width / ow, right = ((j + 1) * width + ow - 1) / ow;
                float sum = 0.0f;
                for (int row = top; row < bottom; row++)
                    for (int column = left; column < right; column++)
                        sum += x[row * width + column];
                *out++ = sum / (float)((bottom - top) * (right - left));
            }
}

/* Each channel less its mean, over its deviation, times a weight, plus a bias: of statistics that were learned. */
static void batch_norm(int batch, int channels, int size, float eps, const float *x, const float *weight,
                       const float *bias, const float *mean, const float *variance, float *out)
{
    for (int b = 0; b < batch; b++)
        for (int c = 0; c < channels; c++) {
            const float scale = (weight ? weight[c] : 1.0f) / sqrtf(variance[c] + eps);
            const float shift = (bias ? bias[c] : 0.0f) - mean[c] * scale;
            for (int i = 0; i < size; i++)
                *out++ = *x++ * scale + shift;
        }
}

/* Each row less its mean, over its deviation. Element i of a row has weight i / each, counted from 0 again after `kinds`
of them. */
static void normalize_rows(int rows, int size, int each, int kinds, float eps, const float *x, const float *weight,
                           const float *bias, float *out)
{
    for (int r = 0; r < rows; r++, x += size) {
        float sum[2] = {0.0f, 0.0f}, squares[2] = {0.0f, 0.0f};
        for (int i = 0; i < size; i++)
            sum[i & 1] += x[i];
        const float mean = (sum[0] + sum[1]) / (float)size;
        for (int i = 0; i < size; i++)
            squares[i & 1] += (x[i] - mean) * (x[i] - mean);
        const float scale = 1.0f / sqrtf((squares[0] + squares[1]) / (float)size + eps);
        for (int i = 0; i < size; i++) {
            const int at = (r * (size / each) + i / each) % kinds;
            *out++ = (x[i] - mean) * scale * (weight ? weight[at] : 1.0f) + (bias ? bias[at] : 0.0f);
        }
    }
}

/* exp(x) over the sum of them, along a dimension of n elements that lie `inner` apart; or its logarithm. */
static void softmax(int outer, int n, int inner, int logarithm, const float *x, float *out)
{
    for (int o = 0; o < outer; o++)
        for (int i = 0; i < inner; i++) {
            const float *from = x + o * n * inner + i;
            float *to = out + o * n * inner + i, most = -INFINITY, sum = 0.0f;
            for (int k = 0; k < n; k++)
                most = from[k * inner] > most ? from[k * inner] : most;
            for (int k = 0; k < n; k++)
                sum += expf(from[k * inner] - most);
            const float all = logf(sum);
            for (int k = 0; k < n; k++)
                to[k * inner] = logarithm ? from[k * inner] - most - all : expf(from[k * inner] - most) / sum;
        }
}

/* Softmax(query key^T * scale + mask) value, of `heads` matrices; row i sees keys up to i where it is causal. */
static void attention(int heads, int queries, int keys, int size, int out_size, float scale, int causal, int mask_heads,
                      const float *query, const float *key, const float *value, const float *mask, float *scores,
                      float *out)
{
    for (int h = 0; h < heads; h++, query += queries * size, key += keys * size, value += keys * out_size)
        for (int i = 0; i < queries; i++, out += out_size) {
            float most = -INFINITY, sum = 0.0f;
            for (int k = 0; k < keys; k++) {
                float score = dot(size, query + i * size, key + k * size) * scale;
                if (mask)
                    score += mask[(h % mask_heads * queries + i) * keys + k];
                scores[k] = causal && k > i ? -INFINITY : score;
                most = scores[k] > most ? scores[k] : most;
            }
            for (int k = 0; k < keys; k++)
                sum += scores[k] = expf(scores[k] - most);
            for (int j = 0; j < out_size; j++)
                out[j] = 0.0f;
            for (int k = 0; k < keys; k++)
                for (int j = 0; j < out_size; j++)
                    out[j] += scores[k] / sum * value[k * out_size + j];
        }
}

static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* One direction of one layer of an LSTM: h and c of each sequence are read and written. Steps of x and of out lie
`xs` and `os` numbers apart, sequences `xb` and `ob`. Gates: input, forget, cell, output. */
static void lstm(int steps, int batch, int inputs, int hidden, int reverse, int xs, int xb, int os, int ob, const float *x,
                 const float *wi, const float *wh, const float *bi, const float *bh, float *gates, float *h, float *c,
                 float *out)
{
    for (int s = 0; s < steps; s++) {
        const int t = reverse ? steps - 1 - s : s;
        for (int b = 0; b < batch; b++) {
            float *hidden_state = h + b * hidden, *cell = c + b * hidden;
            for (int g = 0; g < 4 * hidden; g++)
                gates[g] = (dot(inputs, x + t * xs + b * xb, wi + g * inputs) + (bi ? bi[g] : 0.0f))
                    + (dot(hidden, hidden_state, wh + g * hidden) + (bh ? bh[g] : 0.0f));
            for (int j = 0; j < hidden; j++) {
                cell[j] = sigmoid(gates[hidden + j]) * cell[j] + sigmoid(gates[j]) * tanhf(gates[2 * hidden + j]);
                hidden_state[j] = sigmoid(gates[3 * hidden + j]) * tanhf(cell[j]);
                out[t * os + b * ob + j] = hidden_state[j];
            }
        }
    }
}

/* The same of a GRU. Gates: reset, update, new; of the last the part of h is apart, since the first multiplies it. */
static void gru(int steps, int batch, int inputs, int hidden, int reverse, int xs, int xb, int os, int ob, const float *x,
                const float *wi, const float *wh, const float *bi, const float *bh, float *gates, float *h, float *out)
{
    float *of_x = gates, *of_h = gates + 3 * hidden;
    for (int s = 0; s < steps; s++) {
        const int t = reverse ? steps - 1 - s : s;
        for (int b = 0; b < batch; b++) {
            float *state = h + b * hidden;
            for (int g = 0; g < 3 * hidden; g++) {
                of_x[g] = dot(inputs, x + t * xs + b * xb, wi + g * inputs) + (bi ? bi[g] : 0.0f);
                of_h[g] = dot(hidden, state, wh + g * hidden) + (bh ? bh[g] : 0.0f);
            }
            for (int j = 0; j < hidden; j++) {
                const float reset = sigmoid(of_x[j] + of_h[j]), update = sigmoid(of_x[hidden + j] + of_h[hidden + j]);
                const float fresh = tanhf(of_x[2 * hidden + j] + reset * of_h[2 * hidden + j]);
                state[j] = (1.0f - update) * fresh + update * state[j];
                out[t * os + b * ob + j] = state[j];
            }
        }
    }
}

/* The same of a plain recurrent layer, of tanh or of ReLU. */
static void rnn(int steps, int batch, int inputs, int hidden, int reverse, int relu, int xs, int xb, int os, int ob,
                const float *x, const float *wi, const float *wh, const float *bi, const float *bh, float *gates, float *h,
                float *out)
{
    for (int s = 0; s < steps; s++) {
        const int t = reverse ? steps - 1 - s : s;
        for (int b = 0; b < batch; b++) {
            float *state = h + b * hidden;
            for (int g = 0; g < hidden; g++)
                gates[g] = (dot(inputs, x + t * xs + b * xb, wi + g * inputs) + (bi ? bi[g] : 0.0f))
                    + (dot(hidden, state, wh + g * hidden) + (bh ? bh[g] : 0.0f));
            for (int j = 0; j < hidden; j++) {
                state[j] = relu ? gates[j] < 0.0f ? 0.0f : gates[j] : tanhf(gates[j]);
                out[t * os + b * ob + j] = state[j];
            }
        }
    }
}
