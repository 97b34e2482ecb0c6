/* Discrete Fourier transforms of lines whose length has no factors but 2, 3 and 5 (kernels/fourier.py), as Stockham's: in
stages of 4, 2, 3 or 5 parts, from one piece of memory to another, which leaves everything in order.

Several lines are transformed at once, element beside element, so that a vector holds the same one of each. What is fused
is written so, and nothing else may be, so that a line comes out the same whatever lies beside it. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "common.h"

#if defined(__FMA__) || defined(__aarch64__)
#define FUSED(a, b, c) fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

enum { AT_ONCE = 16, MOST_STAGES = 64, TURNED = 16 };

struct transform {
    int64_t lines, n, inner, backward, bins, at_once, *failed;
    float scale;
    const float *x, *roots;
    float *out;
};

/* Two pieces of memory for parts of complex numbers: those of where they are, and of where they go. */
struct parts { float *re, *im, *to_re, *to_im; };

/* A stage of transforms of `length`, of `s` lines: what it does with the elements at `p` of each part. `roots` are `count`
of 1. */
#define STAGE(radix, ...)                                                                                             \
    static void by_##radix(const struct parts *a, int64_t count, int64_t length, int64_t s, const float *roots)       \
    {                                                                                                                 \
        const int64_t m = length / radix, apart = m * s, step = count / length;                                           \
        for (int64_t p = 0; p < m; p++) {                                                                             \
            const float *restrict x = a->re + p * s, *restrict y = a->im + p * s;                                     \
            float *restrict to_x = a->to_re + radix * p * s, *restrict to_y = a->to_im + radix * p * s;               \
            float c[radix], d[radix];                                                                                 \
            for (int64_t k = 1; k < radix; k++)                                                                       \
                c[k] = roots[2 * p * k * step], d[k] = roots[2 * p * k * step + 1];                                   \
            SPAN                                                                                                      \
            for (int64_t q = 0; q < s; q++) {                                                                         \
                __VA_ARGS__                                                                                           \
            }                                                                                                         \
        }                                                                                                             \
    }

#define RE(k) x[q + (k) * apart]
#define IM(k) y[q + (k) * apart]
/* Part `k` of the result: times its root of 1. */
#define GIVE(k, a, b)                                                                                                 \
    const float a##k = (a), b##k = (b);                                                                               \
    to_x[q + (k) * s] = FUSED(a##k, c[k], -(b##k * d[k]));                                                            \
    to_y[q + (k) * s] = FUSED(a##k, d[k], b##k * c[k]);

STAGE(2,
    const float a = RE(0) - RE(1); const float b = IM(0) - IM(1);
    to_x[q] = RE(0) + RE(1);
    to_y[q] = IM(0) + IM(1);
    GIVE(1, a, b))

STAGE(4,
    const float a = RE(0) + RE(2); const float b = IM(0) + IM(2);
    const float e = RE(0) - RE(2); const float f = IM(0) - IM(2);
    const float g = RE(1) + RE(3); const float h = IM(1) + IM(3);
    const float t = RE(1) - RE(3); const float u = IM(1) - IM(3);
    const float one = e + u; const float two = f - t; const float three = a - g; const float four = b - h;
    const float five = e - u; const float six = f + t;
    to_x[q] = a + g;
    to_y[q] = b + h;
    GIVE(1, one, two)
    GIVE(2, three, four)
    GIVE(3, five, six))

#define HALF_ROOT_3 0.86602540378443865f
STAGE(3,
    const float a = RE(1) + RE(2); const float b = IM(1) + IM(2);
    const float e = RE(0) - 0.5f * a; const float f = IM(0) - 0.5f * b;
    const float g = HALF_ROOT_3 * (RE(1) - RE(2)); const float h = HALF_ROOT_3 * (IM(1) - IM(2));
    const float one = e + h; const float two = f - g; const float three = e - h; const float four = f + g;
    to_x[q] = RE(0) + a;
    to_y[q] = IM(0) + b;
    GIVE(1, one, two)
    GIVE(2, three, four))

#define COS_1 0.30901699437494742f             /* of a fifth of the circle, and of two */
#define COS_2 -0.80901699437494742f
#define SIN_1 0.95105651629515357f
#define SIN_2 0.58778525229247313f
STAGE(5,
    const float a = RE(1) + RE(4); const float b = IM(1) + IM(4);
    const float e = RE(1) - RE(4); const float f = IM(1) - IM(4);
    const float g = RE(2) + RE(3); const float h = IM(2) + IM(3);
    const float t = RE(2) - RE(3); const float u = IM(2) - IM(3);
    const float near_x = RE(0) + COS_1 * a + COS_2 * g; const float near_y = IM(0) + COS_1 * b + COS_2 * h;
    const float far_x = RE(0) + COS_2 * a + COS_1 * g; const float far_y = IM(0) + COS_2 * b + COS_1 * h;
    const float v = SIN_1 * e + SIN_2 * t; const float w = SIN_1 * f + SIN_2 * u;
    const float r = SIN_2 * e - SIN_1 * t; const float z = SIN_2 * f - SIN_1 * u;
    const float one = near_x + w; const float two = near_y - v; const float three = far_x + z;
    const float four = far_y - r; const float five = far_x - z; const float six = far_y + r;
    const float seven = near_x - w; const float eight = near_y + v;
    to_x[q] = RE(0) + a + g;
    to_y[q] = IM(0) + b + h;
    GIVE(1, one, two)
    GIVE(2, three, four)
    GIVE(3, five, six)
    GIVE(4, seven, eight))

/* Transforms `s` lines of `n` elements. There are `count` roots of 1, a multiple of n. */
static void stages(struct parts *a, int64_t n, int64_t s, const float *roots, int64_t count)
{
    for (int64_t length = n; length > 1;) {
        const int radix = length % 4 == 0 ? 4 : length % 2 == 0 ? 2 : length % 3 == 0 ? 3 : 5;
        (radix == 4 ? by_4 : radix == 2 ? by_2 : radix == 3 ? by_3 : by_5)(a, count, length, s, roots);
        const struct parts turned = {a->to_re, a->to_im, a->re, a->im};
        *a = turned;
        length /= radix;
        s *= radix;
    }
}

/* Whether `n` has no factors but those. */
static int is_smooth(int64_t n)
{
    for (int64_t k = 2; k <= 5; k++)
        while (n > 1 && n % k == 0)
            n /= k;
    return n == 1;
}

/* Numbers that lie `apart` from each other in `size` rows, beside each other: `to` has a row for each of the `n`. */
INLINE void turn_in(int64_t n, int64_t size, int64_t apart, int64_t step, const float *restrict from, float *restrict to)
{
    for (int64_t first = 0, last; first < n; first = last) {
        last = n - first < TURNED ? n : first + TURNED;
        for (int64_t r = 0; r < size; r++)
            for (int64_t j = first; j < last; j++)
                to[j * size + r] = from[r * apart + j * step];
    }
}

/* The opposite, of two kinds of numbers that lie in turn. */
INLINE void turn_out(int64_t n, int64_t size, int64_t apart, float scale, const float *restrict re,
                     const float *restrict im, float *restrict to)
{
    for (int64_t first = 0, last; first < n; first = last) {
        last = n - first < TURNED ? n : first + TURNED;
        for (int64_t r = 0; r < size; r++)
            for (int64_t j = first; j < last; j++) {
                to[r * apart + 2 * j] = re[j * size + r] * scale;
                to[r * apart + 2 * j + 1] = im[j * size + r] * scale;
            }
    }
}

static float *memory_for(const struct transform *t, int64_t length, int64_t size, struct parts *a)
{
    float *memory = malloc(4 * (length + 1) * size * sizeof(float));
    if (!memory) {
        fail(t->failed, NO_MEMORY);
        return NULL;
    }
    float **places[] = {&a->re, &a->im, &a->to_re, &a->to_im};
    for (int k = 0; k < 4; k++)
        *places[k] = memory + k * (length + 1) * size;
    return memory;
}

/* Lines of complex numbers, which lie along the middle one of three axes: `first` to `last` of so many at once. Backward
is forward with the parts exchanged. */
static void some_lines(const void *args, int64_t first, int64_t last)
{
    const struct transform *t = args;
    const int64_t n = t->n, inner = t->inner, in_a_row = inner == 1 ? t->lines : inner;
    const int64_t groups = (in_a_row + t->at_once - 1) / t->at_once;
    struct parts own;
    float *memory = memory_for(t, n, t->at_once, &own);
    for (int64_t group = first; group < last && memory; group++) {
        const int64_t from = group % groups * t->at_once, left = in_a_row - from;
        const int64_t size = left < t->at_once ? left : t->at_once;
        struct parts a = own;
        float *re = t->backward ? a.im : a.re, *im = t->backward ? a.re : a.im;
        if (inner == 1) {
            turn_in(n, size, 2 * n, 2, t->x + 2 * from * n, re);
            turn_in(n, size, 2 * n, 2, t->x + 2 * from * n + 1, im);
        } else
            for (int64_t j = 0; j < n; j++) {
                const float *x = t->x + 2 * ((group / groups * n + j) * inner + from);
                for (int64_t r = 0; r < size; r++)
                    re[j * size + r] = x[2 * r], im[j * size + r] = x[2 * r + 1];
            }
        stages(&a, n, size, t->roots, n);
        re = t->backward ? a.im : a.re, im = t->backward ? a.re : a.im;
        if (inner == 1)
            turn_out(n, size, 2 * n, t->scale, re, im, t->out + 2 * from * n);
        else
            for (int64_t j = 0; j < n; j++) {
                float *out = t->out + 2 * ((group / groups * n + j) * inner + from);
                for (int64_t r = 0; r < size; r++)
                    out[2 * r] = re[j * size + r] * t->scale, out[2 * r + 1] = im[j * size + r] * t->scale;
            }
    }
    free(memory);
}

/* From the transform of numbers of which each other one was taken for an imaginary part: that of all, from 0 to n / 2.
`k` and its opposite are made of each other. */
static void unpacked(struct parts *a, int64_t n, int64_t size, const float *roots)
{
    const int64_t half = n / 2;
    for (int64_t k = 0; k <= half / 2; k++) {
        const int64_t other = half - k;
        const float c = roots[2 * k], d = roots[2 * k + 1];
        const float *restrict x = a->re + k * size, *restrict y = a->im + k * size;
        const float *restrict v = a->re + other % half * size, *restrict w = a->im + other % half * size;
        float *to_x = a->to_re + k * size, *to_y = a->to_im + k * size;
        float *to_v = a->to_re + other * size, *to_w = a->to_im + other * size;
        SPAN
        for (int64_t q = 0; q < size; q++) {
            const float even_x = 0.5f * (x[q] + v[q]), even_y = 0.5f * (y[q] - w[q]);
            const float odd_x = 0.5f * (y[q] + w[q]), odd_y = 0.5f * (v[q] - x[q]);
            const float turned_x = FUSED(odd_x, c, -(odd_y * d)), turned_y = FUSED(odd_x, d, odd_y * c);
            to_v[q] = even_x - turned_x;
            to_w[q] = turned_y - even_y;
            to_x[q] = even_x + turned_x;
            to_y[q] = even_y + turned_y;
        }
    }
    const struct parts turned = {a->to_re, a->to_im, a->re, a->im};
    *a = turned;
}

/* Lines of real numbers. What `bins` leave out, or hold beside, are conjugates of the rest. */
static void some_real_lines(const void *args, int64_t first, int64_t last)
{
    const struct transform *t = args;
    const int64_t n = t->n, length = n % 2 ? n : n / 2, known = n / 2 + 1;
    struct parts own;
    float *memory = memory_for(t, length, t->at_once, &own);
    for (int64_t group = first; group < last && memory; group++) {
        const int64_t from = group * t->at_once, left = t->lines - from;
        const int64_t size = left < t->at_once ? left : t->at_once;
        const float *x = t->x + from * n;
        float *out = t->out + 2 * from * t->bins;
        struct parts a = own;
        if (n % 2) {
            turn_in(n, size, n, 1, x, a.re);
            memset(a.im, 0, n * size * sizeof(float));
        } else {
            turn_in(length, size, n, 2, x, a.re);
            turn_in(length, size, n, 2, x + 1, a.im);
        }
        stages(&a, length, size, t->roots, n);
        if (n % 2 == 0)
            unpacked(&a, n, size, t->roots);
        turn_out(known < t->bins ? known : t->bins, size, 2 * t->bins, t->scale, a.re, a.im, out);
        for (int64_t r = 0; r < size; r++)
            for (int64_t k = known; k < t->bins; k++) {
                float *bins = out + 2 * r * t->bins;
                bins[2 * k] = bins[2 * (n - k)];
                bins[2 * k + 1] = -bins[2 * (n - k) + 1];
            }
    }
    free(memory);
}

/* So many lines that what is between them and the result stays near, and groups of them in a piece. */
static int64_t lines_at_once(int64_t n)
{
    return n > 4096 ? n > 65536 / 2 ? 1 : 65536 / n : AT_ONCE;
}

static int64_t groups_in_piece(int64_t n, int64_t at_once)
{
    return n * at_once > 16384 ? 1 : 16384 / (n * at_once);
}

/* Of x (outer, n, inner), of complex numbers, along n, times `scale`. `roots`: exp(-2 pi i k / n). */
int64_t transform(int64_t threads, int64_t outer, int64_t n, int64_t inner, int64_t backward, float scale, const float *x,
                  const float *roots, float *out)
{
    int64_t failed = 0;
    const int64_t at_once = lines_at_once(n);
    const struct transform args = {outer, n, inner, backward, n, at_once, &failed, scale, x, roots, out};
    if (n < 1 || inner < 1 || !is_smooth(n))
        return 0;
    const int64_t groups = inner == 1 ? (outer + at_once - 1) / at_once : outer * ((inner + at_once - 1) / at_once);
    share(threads, groups, groups_in_piece(n, at_once), some_lines, &args);
    return failed;
}

/* The first `bins` of the transforms of x (lines, n), of real numbers: n, or n / 2 + 1. */
int64_t transform_real(int64_t threads, int64_t lines, int64_t n, int64_t bins, float scale, const float *x,
                       const float *roots, float *out)
{
    int64_t failed = 0;
    const int64_t at_once = lines_at_once(n);
    const struct transform args = {lines, n, 1, 0, bins, at_once, &failed, scale, x, roots, out};
    if (n < 1 || bins > n || !is_smooth(n))
        return 0;
    share(threads, (lines + at_once - 1) / at_once, groups_in_piece(n, at_once), some_real_lines, &args);
    return failed;
}
