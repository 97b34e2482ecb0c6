/* Softmax and cross entropy of rows, and their gradients (kernels/softmax.py). */
#include "halves.h"

enum { WIDEST = 4096 };                        /* numbers of 16 bits in a row */

struct rows { int64_t width, safe; float *out; const float *x, *y; };

/* Clang begins such a reduction with FLT_MAX instead of infinity, so that rows of -INFINITY alone had another largest
number. It does not vectorise the loop either way. */
#ifdef __clang__
#define EXTREMES
#else
#define EXTREMES _Pragma("omp simd reduction(max : top) reduction(min : low)")
#endif

/* The largest number of a row; the least one goes to `least`. */
INLINE float largest(const float *x, int64_t width, float *least)
{
    float top = x[0], low = x[0];
    EXTREMES
    for (int64_t i = 0; i < width; i++) {
        top = x[i] > top ? x[i] : top;
        low = x[i] < low ? x[i] : low;
    }
    *least = low;
    return top;
}

/* Whether a row has a NaN, which `largest` does not find, because no comparison with NaN is true. */
INLINE int any_nan(const float *x, int64_t width)
{
    int found = 0;
    for (int64_t i = 0; i < width; i++)
        found |= x[i] != x[i];
    return found;
}

/* exp(x - top) and their sum. The sum is at least 1, so that denormal terms, which are computed afterwards, do not
count. */
INLINE float exponentials(const float *restrict x, int64_t width, float top, float least, float *restrict out)
{
    float total = 0;
    TOTAL(+, total)
    for (int64_t i = 0; i < width; i++) {
        out[i] = normal_exp_of(x[i] - top);
        total += out[i];
    }
    int32_t denormal = 0;
    for (int64_t i = 0; i < width && least - top < -87.0f; i++)
        denormal |= (x[i] - top < -87.0f) & (x[i] - top > -104.0f);
    for (int64_t i = 0; i < width && denormal; i++)
        out[i] = x[i] - top < -87.0f ? exp_of(x[i] - top) : out[i];
    return total;
}

static void softmax_of_row(int64_t width, int64_t safe, const float *restrict x, float *restrict out)
{
    float least;
    const float top = largest(x, width, &least);
    if (safe && top == -INFINITY && !any_nan(x, width)) {
        memset(out, 0, (size_t)width * sizeof(float));
        return;
    }
    const float share = 1.0f / exponentials(x, width, top, least, out);
    for (int64_t i = 0; i < width; i++)
        out[i] *= share;
}

static void softmax_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    for (int64_t row = first; row < last; row++)
        softmax_of_row(a->width, a->safe, a->x + row * a->width, a->out + row * a->width);
}

struct half_rows { int64_t width; int half; const uint16_t *x; uint16_t *out; };

static void softmax_half_rows(const void *args, int64_t first, int64_t last)
{
    const struct half_rows *a = args;
    ALIGNED float x[WIDEST], out[WIDEST];
    for (int64_t row = first; row < last; row++) {
        floats_of(a->half, a->width, a->x + row * a->width, x);
        softmax_of_row(a->width, 0, x, out);
        of_floats(a->half, a->width, out, a->out + row * a->width);
    }
}

/* The same of numbers of 16 bits, bfloat16 or (`half`) halves, in rows of at most WIDEST. */
int64_t half_softmax(int64_t threads, int64_t rows, int64_t width, int64_t half, const uint16_t *x, uint16_t *out)
{
    const struct half_rows args = {width, half != 0, x, out};
    if (width > WIDEST)
        return OUTSIDE;
    share(threads, rows, rows_in_piece(width), softmax_half_rows, &args);
    return 0;
}

/* `safe`: zeros, not NaN, for rows of -inf alone. */
void softmax(int64_t threads, int64_t rows, int64_t width, int64_t safe, const float *x, float *out)
{
    struct rows args = {width, safe, out, x, NULL};
    share(threads, rows, rows_in_piece(width), softmax_rows, &args);
}

/* y (g - sum(g y)) for the gradient g. */
static void softmax_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict g = a->x + row * width, *restrict y = a->y + row * width;
        float *restrict out = a->out + row * width;
        float dot = 0;
        TOTAL(+, dot)
        for (int64_t i = 0; i < width; i++)
            dot += g[i] * y[i];
        for (int64_t i = 0; i < width; i++)
            out[i] = y[i] * (g[i] - dot);
    }
}

void softmax_backward(int64_t threads, int64_t rows, int64_t width, const float *g, const float *y, float *out)
{
    struct rows args = {width, 0, out, g, y};
    share(threads, rows, rows_in_piece(width), softmax_backward_rows, &args);
}

static void log_softmax_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float *restrict out = a->out + row * width;
        float least, top = largest(x, width, &least), total = 0;
        TOTAL(+, total)
        for (int64_t i = 0; i < width; i++)
            total += normal_exp_of(x[i] - top);
        float log_total = logf(total);
        for (int64_t i = 0; i < width; i++)
            out[i] = x[i] - top - log_total;
    }
}

void log_softmax(int64_t threads, int64_t rows, int64_t width, const float *x, float *out)
{
    struct rows args = {width, 0, out, x, NULL};
    share(threads, rows, rows_in_piece(width), log_softmax_rows, &args);
}

/* log(sum(exp(x))), whose sum is kept in double precision. Rows with infinities have no largest number to subtract. */
static void log_sums_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float least, top = largest(x, width, &least);
        double total = 0.0;
        top = fabsf(top) == INFINITY ? 0.0f : top;
        for (int64_t i = 0, end; i < width; i = end) {
            float run = 0.0f;
            end = end_of_run(i, width);
            TOTAL(+, run)
            for (int64_t j = i; j < end; j++)
                run += normal_exp_of(x[j] - top);
            total += run;
        }
        a->out[row] = (float)(top + log(total));
    }
}

void log_sums(int64_t threads, int64_t rows, int64_t width, const float *x, float *out)
{
    struct rows args = {width, 0, out, x, NULL};
    share(threads, rows, rows_in_piece(width), log_sums_of_rows, &args);
}

/* g - exp(y) sum(g). */
static void log_softmax_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct rows *a = args;
    const int64_t width = a->width;
    for (int64_t row = first; row < last; row++) {
        const float *restrict g = a->x + row * width, *restrict y = a->y + row * width;
        float *restrict out = a->out + row * width;
        float total = 0;
        TOTAL(+, total)
        for (int64_t i = 0; i < width; i++)
            total += g[i];
        for (int64_t i = 0; i < width; i++)
            out[i] = g[i] - normal_exp_of(y[i]) * total;
    }
}

void log_softmax_backward(int64_t threads, int64_t rows, int64_t width, const float *g, const float *y,
                          float *out)
{
    struct rows args = {width, 0, out, g, y};
    share(threads, rows, rows_in_piece(width), log_softmax_backward_rows, &args);
}

struct entropy { int64_t width; const float *x; const place *target; float *out, *losses; float scale; int64_t *failed; };

/* Returns whether a class does not exist. */
static int64_t lacks_class(int64_t rows, int64_t width, const place *target)
{
    int64_t wrong = 0;
    for (int64_t row = 0; row < rows; row++)
        wrong |= place_below(width, target + row) < 0;
    return wrong ? OUTSIDE : 0;
}

/* -x of the class of each row, added up for each group of `rows` and divided. Returns whether a class does not exist. */
int64_t nll(int64_t threads, int64_t outer, int64_t rows, int64_t width, double divisor, const float *x,
            const place *target, float *out)
{
    double total = 0;
    (void)threads;
    for (int64_t row = 0; row < outer * rows; row++) {
        const int64_t class = place_below(width, target + row);
        if (class < 0)
            return OUTSIDE;
        total -= x[row * width + class];
        if ((row + 1) % rows == 0) {
            out[row / rows] = (float)(total / divisor);
            total = 0;
        }
    }
    return 0;
}

/* `value` at the class of each row, and zeros elsewhere. All zeros are written at once, which goes around the caches:
in pieces for threads that took twice as long. */
int64_t nll_backward(int64_t threads, int64_t rows, int64_t width, float value, const place *target, float *out)
{
    (void)threads;
    memset(out, 0, (size_t)(rows * width) * sizeof(float));
    for (int64_t row = 0; row < rows; row++) {
        const int64_t class = place_below(width, target + row);
        if (class < 0)
            return OUTSIDE;
        out[row * width + class] = value;
    }
    return 0;
}

/* exp(x - top) of `rows` narrow rows, as `exponentials` computes them but for denormal ones, and the largest number of each
row. The exponentials of all rows are one loop, because most of a narrow row would be in the part of a loop that is left of
whole vectors. Returns whether some may be denormal. */
static int narrow_exponentials(const float *restrict x, int64_t rows, int64_t width, float *restrict tops, float *restrict out)
{
    int far = 0;
    for (int64_t row = 0; row < rows; row++) {
        float least;
        const float top = tops[row] = largest(x + row * width, width, &least);
        far |= least - top < -87.0f;
        for (int64_t i = row * width; i < (row + 1) * width; i++)
            out[i] = x[i] - top;
    }
    SPAN
    for (int64_t i = 0; i < rows * width; i++)
        out[i] = normal_exp_of(out[i]);
    return far;
}

enum { NARROW = 64, NARROW_ROWS = 32 };

/* The probabilities of a row, and -log of that of its class. */
static void entropy_rows(const void *args, int64_t first, int64_t last)
{
    const struct entropy *a = args;
    const int64_t width = a->width;
    while (width < NARROW && last - first > 1) {
        const int64_t rows = last - first < NARROW_ROWS ? last - first : NARROW_ROWS;
        const float *x = a->x + first * width;
        float *restrict out = a->out + first * width, tops[NARROW_ROWS];
        if (narrow_exponentials(x, rows, width, tops, out))
            break;
        for (int64_t row = 0; row < rows; row++, x += width, out += width) {
            float total = 0;
            TOTAL(+, total)
            for (int64_t i = 0; i < width; i++)
                total += out[i];
            const float share = 1.0f / total;
            const int64_t class = place_below(width, a->target + first + row);
            if (class < 0)
                fail(a->failed, OUTSIDE);
            a->losses[first + row] = logf(total) - (x[class < 0 ? 0 : class] - tops[row]);
            for (int64_t i = 0; i < width; i++)
                out[i] *= share;
        }
        first += rows;
    }
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * width;
        float *restrict out = a->out + row * width;
        float least;
        const float top = largest(x, width, &least), total = exponentials(x, width, top, least, out);
        const float share = 1.0f / total;
        const int64_t class = place_below(width, a->target + row);
        if (class < 0)
            fail(a->failed, OUTSIDE);
        a->losses[row] = logf(total) - (x[class < 0 ? 0 : class] - top);
        for (int64_t i = 0; i < width; i++)
            out[i] *= share;
    }
}

/* `losses` gets a loss for each row and, behind these, `scale` times their sum. Returns whether a class does not exist;
then nothing is written. */
int64_t cross_entropy(int64_t threads, int64_t rows, int64_t width, float scale, const float *x,
                      const place *target, float *out, float *losses)
{
    int64_t failed = lacks_class(rows, width, target);
    struct entropy args = {width, x, target, out, losses, scale, &failed};
    if (failed)
        return failed;
    share(threads, rows, rows_in_piece(width), entropy_rows, &args);
    double total = 0;
    for (int64_t row = 0; row < rows; row++)
        total += losses[row];
    losses[rows] = (float)(total * scale);
    return failed;
}

/* scale * (probabilities - one hot). */
static void entropy_backward_rows(const void *args, int64_t first, int64_t last)
{
    const struct entropy *a = args;
    for (int64_t row = first; row < last; row++) {
        const float *x = a->x + row * a->width;
        float *out = a->out + row * a->width;
        SPAN
        for (int64_t i = 0; i < a->width; i++)
            out[i] = a->scale * x[i];
        const int64_t class = place_below(a->width, a->target + row);
        if (class < 0)
            fail(a->failed, OUTSIDE);
        else
            out[class] -= a->scale;
    }
}

int64_t cross_entropy_backward(int64_t threads, int64_t rows, int64_t width, float scale, const float *x,
                               const place *target, float *out)
{
    int64_t failed = lacks_class(rows, width, target);
    struct entropy args = {width, x, target, out, NULL, scale, &failed};
    if (failed)
        return failed;
    share(threads, rows, rows_in_piece(width), entropy_backward_rows, &args);
    return failed;
}
