/* Sums, differences, products and quotients of large arrays, and sizes of complex numbers (kernels/arithmetic.py). */
#include "functions.h"

struct operands { int64_t period; int past; const float *x, *y; float *out; };

enum { BLOCK = 2048 };                         /* elements that are computed before they are written past the caches */

/* A run of `x` with as many elements of `y`, or with one. */
#define RUN(operation)                                                                                                \
    if (one)                                                                                                          \
        for (int64_t j = 0; j < run; j++)                                                                             \
            out[j] = x[j] operation value;                                                                            \
    else                                                                                                              \
        for (int64_t j = 0; j < run; j++)                                                                             \
            out[j] = x[j] operation y[j];

/* KERNEL name(x, y, out): `y` is repeated along `x`. */
#define ARITHMETIC(name, operation)                                                                                   \
    static void name##_part(const void *args, int64_t first, int64_t last)                                            \
    {                                                                                                                 \
        const struct operands *a = args;                                                                              \
        const int one = a->period == 1;                                                                               \
        const float value = a->y[0];                                                                                  \
        float block[BLOCK];                                                                                           \
        for (int64_t i = first, run; i < last; i += run) {                                                            \
            const int64_t at = one ? 0 : i % a->period, left = last - i;                                              \
            const float *restrict x = a->x + i, *restrict y = a->y + at;                                              \
            float *restrict out = a->past ? block : a->out + i;                                                       \
            run = one || a->period - at > left ? left : a->period - at;                                               \
            run = a->past && run > BLOCK ? BLOCK : run;                                                               \
            RUN(operation)                                                                                            \
            if (a->past)                                                                                              \
                copy_bytes_of((char *)(a->out + i), (const char *)block, run * sizeof(float), 1);                     \
        }                                                                                                             \
    }                                                                                                                 \
    void name(int64_t threads, int64_t n, int64_t period, const float *x, const float *y, float *out)                 \
    {                                                                                                                 \
        const struct operands args = {period, n >= PAST / 4 && (period == 1 || period >= BLOCK) && out != x, x, y,   \
                                      out};                                                                           \
        share(threads, period < 1 ? 0 : n, 32768, name##_part, &args);                                                \
    }

struct lines { int64_t width, apart_x, apart_y; const float *x, *y; float *out; };

/* KERNEL name_lines(x, y, out): rows of two matrices. KERNEL name_down(x, y, out): rows, or the only one there is, and a
number for each. */
#define BY_ROWS(name, operation)                                                                                      \
    static void name##_lines_part(const void *args, int64_t first, int64_t last)                                       \
    {                                                                                                                 \
        const struct lines *a = args;                                                                                 \
        const int64_t run = a->width;                                                                                 \
        for (int64_t i = first; i < last; i++) {                                                                      \
            const float *restrict x = a->x + i * a->apart_x, *restrict y = a->y + i * a->apart_y;                     \
            float *restrict out = a->out + i * run;                                                                   \
            for (int64_t j = 0; j < run; j++)                                                                         \
                out[j] = x[j] operation y[j];                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    static void name##_down_part(const void *args, int64_t first, int64_t last)                                       \
    {                                                                                                                 \
        const struct lines *a = args;                                                                                 \
        const int64_t run = a->width;                                                                                 \
        for (int64_t i = first; i < last; i++) {                                                                      \
            const float value = a->y[i];                                                                              \
            const float *restrict x = a->x + i * a->apart_x;                                                          \
            float *restrict out = a->out + i * run;                                                                   \
            for (int64_t j = 0; j < run; j++)                                                                         \
                out[j] = x[j] operation value;                                                                        \
        }                                                                                                             \
    }                                                                                                                 \
    void name##_lines(int64_t threads, int64_t rows, int64_t width, int64_t apart_x, int64_t apart_y, const float *x,  \
                     const float *y, float *out)                                                                      \
    {                                                                                                                 \
        const struct lines args = {width, apart_x, apart_y, x, y, out};                                               \
        share(threads, rows, rows_in_piece(width), name##_lines_part, &args);                                          \
    }                                                                                                                 \
    void name##_down(int64_t threads, int64_t rows, int64_t width, int64_t lines, const float *x, const float *y,     \
                     float *out)                                                                                      \
    {                                                                                                                 \
        const struct lines args = {width, lines < rows ? 0 : width, 0, x, y, out};                                    \
        share(threads, lines < 1 ? 0 : rows, rows_in_piece(width), name##_down_part, &args);                          \
    }

BY_ROWS(add, +)
BY_ROWS(sub, -)
BY_ROWS(mul, *)
BY_ROWS(div, /)
ARITHMETIC(add_each, +)
ARITHMETIC(sub_each, -)
ARITHMETIC(mul_each, *)
ARITHMETIC(div_each, /)

static void some_sizes(const void *args, int64_t first, int64_t last)
{
    const struct operands *a = args;
    for (int64_t i = first; i < last; i++)
        a->out[i] = (float)hypot_of(a->x[2 * i], a->x[2 * i + 1]);
}

/* The absolute values of complex numbers. In double precision no square over- or underflows. */
void complex_sizes(int64_t threads, int64_t n, const float *x, float *out)
{
    const struct operands args = {1, 0, x, NULL, out};
    share(threads, n, 32768, some_sizes, &args);
}

struct quotients { int64_t period; const int64_t *x, *y; int64_t *out, *failed; };

/* A run of quotients. Those of integers of 32 bits are computed in double precision: it tells the exact quotient from the
next integer, which is further away than the quotient is rounded. */
INLINE void floor_quotients_of(int64_t run, int one, const int64_t *x, const int64_t *y, int64_t *out, int64_t *failed)
{
    const uint64_t half = 1u << 31;
    uint64_t above = 0, zeros = 0;
    TOTAL(|, above, zeros)
    for (int64_t j = 0; j < run; j++) {
        const int64_t divisor = y[one ? 0 : j];
        above |= ((uint64_t)x[j] + half) | ((uint64_t)divisor + half);
        zeros |= divisor == 0;
    }
    if (zeros)
        fail(failed, 2);
    else if (above >> 32)
        for (int64_t j = 0; j < run; j++) {
            const int64_t number = x[j], divisor = y[one ? 0 : j];
            if (divisor == -1)
                out[j] = (int64_t)(0 - (uint64_t)number);      /* the smallest integer has no positive form */
            else
                out[j] = number / divisor - (number % divisor != 0 && (number < 0) != (divisor < 0));
        }
    else
        SPAN
        for (int64_t j = 0; j < run; j++) {
            const double quotient = floor_of((double)(int32_t)x[j] / (double)(int32_t)y[one ? 0 : j]);
            out[j] = (int64_t)(wide_bits_of(quotient + WIDE_SHIFT) - wide_bits_of(WIDE_SHIFT));
        }
}

static void some_quotients(const void *args, int64_t first, int64_t last)
{
    const struct quotients *a = args;
    enum { RUN_LENGTH = 512 };
    for (int64_t i = first; i < last; i += RUN_LENGTH) {
        const int64_t run = last - i < RUN_LENGTH ? last - i : RUN_LENGTH;
        if (a->period == 1)
            floor_quotients_of(run, 1, a->x + i, a->y, a->out + i, a->failed);
        else
            floor_quotients_of(run, 0, a->x + i, a->y + i, a->out + i, a->failed);
    }
}

/* The quotients of integers, rounded down. `y` has n elements or one. Returns 2 for a divisor of zero. */
int64_t floor_quotients(int64_t threads, int64_t n, int64_t period, const int64_t *x, const int64_t *y, int64_t *out)
{
    int64_t failed = 0;
    share(threads, n, 32768, some_quotients, &(struct quotients){period, x, y, out, &failed});
    return failed;
}
