/* A machine for elementwise operations (kernels/expressions.py). It runs a program of a few operations over arrays,
block by block, so that intermediate results never leave the cache. */
#include "single.h"
#include "halves.h"
#include "notes.h"

enum {
    BLOCK = 2048,                              /* bytes of a block */
    APART = 320,                               /* bytes between blocks, which collide in the cache at a power of two */
    REGISTERS = 12, GIVEN = 4, NUMBERS = 4, CONSTANTS = 20, DIMENSIONS = 8, STEPS = 64,
    MOST = 2 + 2 * DIMENSIONS + CONSTANTS - NUMBERS + STEPS    /* numbers of a plan */
};

struct step { int operation, to, a, b, c, e, once; };      /* once: it is the same for all elements */

/* A plan, read once and checked. */
struct program {
    int64_t kind, dims, count, length;         /* kind: the dtype of 16-bit numbers */
    int64_t sizes[DIMENSIONS], strides[GIVEN][DIMENSIONS];
    int whole[GIVEN], single[GIVEN];           /* whether an operand has as many elements as the result, or one */
    int used[CONSTANTS];                       /* flags of numbers and literals */
    int ahead;                                 /* whether to prefetch */
    int past;                                  /* whether the result is written past the caches */
    double literals[CONSTANTS];
    struct step steps[STEPS];
};

enum { PLAIN, BFLOAT16S, HALVES };

/* An argument of a step of a program (replay.c), as of the `enter_` functions. */


/* Several expressions over elements of one shape, as words of a program: n, and the numbers of dimensions, operands,
results, numbers and steps; the sizes of the dimensions; for each operand its kind, its address and its strides, in
elements; for each result its kind and its address; the numbers; and the steps, as in a plan. Their operands are
numbered in the order registers, operands, results, numbers. A step writes to a register or to a result, which later
steps may read too. */
enum { MOST_OPERANDS = 12, MOST_RESULTS = 12, MOST_FLAGS = 2, MOST_NUMBERS = 12, MOST_STEPS = 64,
       OPERANDS_AT = REGISTERS, RESULTS_AT = OPERANDS_AT + MOST_OPERANDS, NUMBERS_AT = RESULTS_AT + MOST_RESULTS,
       SOURCES = NUMBERS_AT + MOST_NUMBERS };
/* Kinds: as many elements as the result, in its order; a single element; any other layout. FLAG is added for bools. */
enum { IN_A_ROW, SINGLE, SPREAD, FLAG = 4 };

/* Reads a plan: the number of dimensions plus 256 times the kind; the sizes of the dimensions; for each dimension a
mask of the operands that have it; the number of literals and their bits; and the steps. A step has 8 bits each for its
operation, its result and its four operands, which are numbered in the order registers, arrays, numbers of the call,
literals. The last step writes the result. Without dimensions each operand has as many elements as the result, or
one. */
static int read_program(struct program *p, int64_t n, int64_t size, const int64_t *sizes, const place *plan,
                        int64_t operations)
{
    int64_t left = size, elements = 1, masks[DIMENSIONS], copy[MOST];
    const int64_t *at = copy;
    if (left < 1 || left > MOST)
        return 0;
    plan_of(size, plan, copy);
    p->dims = *at & 255, p->kind = *at >> 8;
    at++, left--;
    if (p->dims < 0 || p->dims > DIMENSIONS || left < 2 * p->dims)
        return 0;
    for (int64_t d = 0; d < p->dims; d++, left--) {
        p->sizes[d] = *at++;
        if (p->sizes[d] < 1 || p->sizes[d] > n / elements)
            return 0;
        elements *= p->sizes[d];
    }
    for (int64_t d = 0; d < p->dims; d++, left--)
        masks[d] = *at++;
    if (!p->dims) {
        p->dims = 1;
        p->sizes[0] = elements = n;
        masks[0] = 0;
        for (int k = 0; k < GIVEN; k++)
            masks[0] |= (int64_t)(sizes[k] == n && n != 1) << k;
    }
    if (elements != n)
        return 0;
    for (int k = 0; k < GIVEN; k++) {
        int64_t there = 1;
        for (int64_t d = p->dims - 1; d >= 0; d--) {
            const int has = masks[d] >> k & 1;
            p->strides[k][d] = has ? there : 0;
            there *= has ? p->sizes[d] : 1;
        }
        if (sizes[k] && there != sizes[k])
            return 0;
        p->whole[k] = sizes[k] && there == n;
        p->single[k] = sizes[k] == 1 && !p->whole[k];
    }
    if (left < 1)
        return 0;
    const int64_t literals = *at++;
    left--;
    if (literals < 0 || literals > CONSTANTS - NUMBERS || left < literals)
        return 0;
    p->count = NUMBERS + literals;
    for (int64_t k = 0; k < literals; k++, left--) {
        const int64_t bits = *at++;
        memcpy(p->literals + k, &bits, 8);
    }
    if (left < 1 || left > STEPS)
        return 0;
    p->length = left;
    /* Processors fetch ahead for one step themselves. Arrays that are smaller are in their caches. */
    p->ahead = n > 1 << 18 && left > 1;
    memset(p->used, 0, sizeof p->used);
    for (int64_t k = 0; k < left; k++) {
        const uint64_t bits = (uint64_t)*at++;
        struct step *s = p->steps + k;
        s->operation = bits & 255, s->to = bits >> 8 & 255;
        s->a = bits >> 16 & 255, s->b = bits >> 24 & 255, s->c = bits >> 32 & 255, s->e = bits >> 40 & 255;
        if (s->operation >= operations || s->to > REGISTERS || (k == left - 1) != (s->to == REGISTERS))
            return 0;
        for (int j = 0; j < 4; j++) {
            const int from = j == 0 ? s->a : j == 1 ? s->b : j == 2 ? s->c : s->e;
            if (from >= REGISTERS + GIVEN + p->count)
                return 0;
            if (from >= REGISTERS && from < REGISTERS + GIVEN && !sizes[from - REGISTERS])
                return 0;
            if (from >= REGISTERS + GIVEN)
                p->used[from - REGISTERS - GIVEN] = 1;
        }
    }
    for (struct step *s = p->steps; s < p->steps + left; s++) {
        const int first = REGISTERS + GIVEN;
        s->once = s->to < REGISTERS && s->a >= first && s->b >= first && s->c >= first && s->e >= first;
        for (const struct step *other = p->steps; s->once && other < p->steps + left; other++)
            s->once &= other == s || other->to != s->to;
    }
    return 1;
}

/* huber_loss of two numbers (ops/nn/loss.py). */
INLINE float huber4(float x, float y, float delta)
{
    const float size = fabsf(x - y);
    return size <= delta ? 0.5f * size * size : delta * (size - 0.5f * delta);
}

INLINE double huber8(double x, double y, double delta)
{
    const double size = fabs(x - y);
    return size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
}

/* The operations by their names in kernels/expressions.py, which asks for the list. Many are two operations of an
expression or more, as `_FUSED` there says. Each operation of an expression is rounded: APART are those whose products
the compiler might add without rounding them. */
#define COMMON                                                                                                        \
    OPERATION(add, x + y)                                                                                             \
    OPERATION(sub, x - y)                                                                                             \
    OPERATION(mul, x * y)                                                                                             \
    OPERATION(div, x / y)                                                                                             \
    OPERATION(neg, -x)                                                                                                \
    OPERATION(lt, x < y)                                                                                              \
    OPERATION(le, x <= y)                                                                                             \
    OPERATION(gt, x > y)                                                                                              \
    OPERATION(ge, x >= y)                                                                                             \
    OPERATION(eq, x == y)                                                                                             \
    OPERATION(ne, x != y)                                                                                             \
    OPERATION(where_lt, x < y ? z : w)                                                                                \
    OPERATION(where_le, x <= y ? z : w)                                                                               \
    OPERATION(where_gt, x > y ? z : w)                                                                                \
    OPERATION(where_ge, x >= y ? z : w)                                                                               \
    OPERATION(where_eq, x == y ? z : w)                                                                               \
    OPERATION(where_ne, x != y ? z : w)                                                                               \
    OPERATION(limit, NAMED(least)(x, NAMED(most)(y, z)))                                                              \
    OPERATION(within, NAMED(within)(x, y, z))                                                                         \
    OPERATION(limit_add, NAMED(least)(x, NAMED(most)(y, z + w)))                                                      \
    OPERATION(sub_limit, x - NAMED(least)(y, NAMED(most)(z, w)))                                                      \
    OPERATION(share_of_limit, NAMED(least)(x, NAMED(most)(y, z + w)) / x)                                             \
    OPERATION(limit_sub, NAMED(least)(x, NAMED(most)(y, z - w)))                                                      \
    OPERATION(mul_div, x * (y / z))                                                                                   \
    OPERATION(mul_sub, x * (y - z))                                                                                   \
    OPERATION(mul_unless_le, x * (y <= z ? 0 : w))                                                                    \
    OPERATION(add_div, x + y / z)                                                                                     \
    APART(add_mul, x + NAMED(times)(y, z))                                                                            \
    APART(sub_mul, x - NAMED(times)(y, z))                                                                            \
    APART(add_mul_sub, x + NAMED(times)(y, z - w))                                                                    \
    OPERATION(share_added_below, x < y ? z + x / y : w)                                                               \
    OPERATION(unless_outside, ((x <= y) | (x >= z)) ? 0 : w)                                                          \
    OPERATION(positive_or_mul, x > 0 ? y : z * w)                                                                     \
    OPERATION(where, x != 0 ? y : z)                                                                                  \
    OPERATION(finite, x == x ? NAMED(within)(z, y, x) : w)                                                            \
    OPERATION(huber, NAMED(huber)(x, y, z))                                                                           \
    OPERATION(minimum, NAMED(least)(x, y))                                                                            \
    OPERATION(maximum, NAMED(most)(x, y))                                                                             \
    OPERATION(sign, (x > 0) - (x < 0))

/* A product and a sum that are rounded once. */
#if defined(__FMA__) || defined(__aarch64__)
#define FUSED(a, b, c) fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#endif
#define IS_NEAR(w) ((w) > (NUMBER)-0.5 && (w) < (NUMBER)0.5)

#define NUMBER float
#define NAMED(name) name##4
#define OPERATIONS                                                                                                    \
    COMMON                                                                                                            \
    OPERATION(lerp, FUSED(IS_NEAR(z) ? z : z - 1, y - x, IS_NEAR(z) ? x : y))                                         \
    OPERATION(copysign, copysignf(x, y))                                                                              \
    OPERATION(abs, fabsf(x))                                                                                          \
    OPERATION(where_abs_le, fabsf(x) <= y ? z : w)                                                                    \
    OPERATION(where_abs_lt, fabsf(x) < y ? z : w)                                                                     \
    OPERATION(mul_if_abs_lt, fabsf(x) < y ? z * w : 0)                                                                \
    OPERATION(div_sqrt, x / sqrtf(y))                                                                                 \
    OPERATION(sqrt, sqrtf(x))                                                                                         \
    OPERATION(exp, single_exp(x))                                                                                     \
    OPERATION(exp2, single_exp2(x))                                                                                   \
    OPERATION(log, log_times(x, 1.0))                                                                                 \
    OPERATION(log2, log_times(x, 1.4426950408889634))                                                                 \
    OPERATION(log10, log_times(x, 0.4342944819032518))                                                                \
    OPERATION(log1p, single_log1p(x))                                                                                 \
    OPERATION(expm1, single_expm1(x))                                                                                 \
    OPERATION(sinh, single_sinh(x))                                                                                   \
    OPERATION(cosh, single_cosh(x))                                                                                   \
    OPERATION(tanh, single_tanh(x))                                                                                   \
    IN_TWO(arcsin, begun_asin(x), asin_of(x, part))                                                                   \
    IN_TWO(arccos, begun_asin(x), acos_of(x, part))                                                                   \
    OPERATION(arctanh, single_atanh(x))                                                                               \
    REPAIRED(sin, single_sin(x), FAR(x), sin(x))                                                                      \
    REPAIRED(cos, single_cos(x), FAR(x), cos(x))                                                                      \
    REPAIRED(tan, single_tan(x), FAR(x), tan(x))                                                                      \
    OPERATION(sigmoid, sigmoid_of(x))                                                                                 \
    IN_TWO(erf, begun_erf(x), erf_of(x, part))                                                                        \
    IN_TWO(erfc, begun_erfc(x), erfc_of(x, part))                                                                     \
    IN_TWO(erfinv, begun_erfinv(x), erfinv_of(x, part))                                                               \
    OPERATION(lgamma, lgamma_by(x, 0))                                                                                \
    OPERATION(digamma, digamma_of(x))                                                                                 \
    OPERATION(trigamma, trigamma_by(x, 3.14159274f * x))                                                              \
    OPERATION(arctan2, single_atan2(x, y))                                                                            \
    OPERATION(hypot, hypot_of(x, y))                                                                                  \
    OPERATION(floor, floor_of(x))                                                                                     \
    OPERATION(trunc, trunc_of(x))                                                                                     \
    REPAIRED(fmod, fmod_of(x, y), NO_FMOD(x, y), fmodf(x, y))                                                         \
    REPAIRED(remainder, remainder_of((float)fmod_of(x, y), y), NO_FMOD(x, y), remainder_of(fmodf(x, y), y))
#include "walk.h"
#undef NUMBER
#undef NAMED
#undef OPERATIONS

struct walk2 {
    const uint16_t *given[GIVEN];
    uint16_t *out;
    const struct program *program;
    float constants[CONSTANTS];
};

/* Each half of a program of one operation, several at a time where there is an instruction that converts so many: nothing
is stored on the way. */
#ifdef HALVES_AT_ONCE
#define EACH_HALF(operation, together)                                                                                \
    int64_t i = 0;                                                                                                    \
    for (; i + HALVES_AT_ONCE <= n; i += HALVES_AT_ONCE)                                                              \
        to_halves(out + i, HALVES_AT_ONCE,                                                                            \
                  FLOATS(together)(of_halves(a + i, HALVES_AT_ONCE), of_halves(b + i, HALVES_AT_ONCE)));              \
    if (i < n)                                                                                                        \
        to_halves(out + i, n - i, FLOATS(together)(of_halves(a + i, n - i), of_halves(b + i, n - i)));
#else
#define EACH_HALF(operation, together)                                                                                \
    SPAN                                                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                                   \
        out[i] = to_half(of_half(a[i]) operation of_half(b[i]));
#endif

#define DIRECT(operation, together)                                                                                   \
    static void direct_##together(int half, int64_t n, const uint16_t *a, const uint16_t *b, uint16_t *out)           \
    {                                                                                                                 \
        if (half) {                                                                                                   \
            EACH_HALF(operation, together)                                                                            \
            return;                                                                                                   \
        }                                                                                                             \
        SPAN                                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                                               \
            out[i] = to_bfloat16(of_bfloat16(a[i]) operation of_bfloat16(b[i]));                                      \
    }
DIRECT(+, add)
DIRECT(-, sub)
DIRECT(*, mul)

static void direct_most(int64_t n, float number, const uint16_t *a, uint16_t *out)
{
    SPAN
    for (int64_t i = 0; i < n; i++)
        out[i] = to_bfloat16(most4(number, of_bfloat16(a[i])));
}

/* Computes elements of a program that is one of these operations on its first two operands, or a maximum of a number and
of an operand of bfloat16, and says whether it is. */
static int computed_directly(const struct walk2 *w, int64_t first, int64_t last)
{
    const struct program *p = w->program;
    const struct step *s = p->steps;
    if (p->length == 1 && s->operation == maximum_number4 && s->a >= REGISTERS + GIVEN && s->b == REGISTERS &&
        p->whole[0] && p->kind == BFLOAT16S) {
        direct_most(last - first, w->constants[s->a - REGISTERS - GIVEN], w->given[0] + first, w->out + first);
        return 1;
    }
    if (p->length != 1 || s->a != REGISTERS || s->b != REGISTERS + 1 || !p->whole[0] || !p->whole[1] ||
        s->operation > mul_number4)
        return 0;
    (s->operation == add_number4 ? direct_add : s->operation == sub_number4 ? direct_sub : direct_mul)(
        p->kind == HALVES, last - first, w->given[0] + first, w->given[1] + first, w->out + first);
    return 1;
}

/* The same for 16-bit numbers, where each operand has as many elements as the result, or one. They become floats at the
beginning of a block, and the result is rounded at its end. */
static void walked2(const void *args, int64_t first, int64_t last)
{
    const struct walk2 *w = args;
    const struct program *p = w->program;
    const int half = p->kind == HALVES;
    if (computed_directly(w, first, last))
        return;
    enum { SIZE = BLOCK / sizeof(float), ROOM = SIZE + APART / sizeof(float) };
    ALIGNED float registers[REGISTERS + 1][ROOM], given[GIVEN][ROOM], constants[CONSTANTS][ROOM];
    const int64_t filled = last - first < SIZE ? (last - first + 15) & -16 : SIZE;
    const float *sources[REGISTERS + GIVEN + CONSTANTS];
    for (int64_t k = 0; k < REGISTERS; k++)
        sources[k] = registers[k];
    for (int k = 0; k < GIVEN; k++) {
        const uint16_t one = w->given[k] && !p->whole[k] ? *w->given[k] : 0;
        const float value = half ? of_half(one) : of_bfloat16(one);
        for (int64_t i = 0; i < filled; i++)
            given[k][i] = value;
        sources[REGISTERS + k] = given[k];
    }
    for (int64_t k = 0; k < p->count; k++) {
        for (int64_t i = 0; i < filled && p->used[k]; i++)
            constants[k][i] = w->constants[k];
        sources[REGISTERS + GIVEN + k] = constants[k];
    }
    for (int64_t i = first, run; i < last; i += run) {
        run = last - i < SIZE ? last - i : SIZE;
        for (int k = 0; k < GIVEN; k++) {
            if (!p->whole[k])
                continue;
            const uint16_t *restrict from = w->given[k] + i;
            float *restrict to = given[k];
            floats_of(half, run, from, to);
            for (int64_t j = run; j < ((run + 15) & -16); j++)
                to[j] = to[0];
        }
        for (const struct step *s = p->steps; s < p->steps + p->length; s++)
            all4[s->operation]((run + 15) & -16, registers[s->to], sources[s->a], sources[s->b], sources[s->c],
                               sources[s->e]);
        of_floats(half, run, registers[REGISTERS], w->out + i);
    }
}

int64_t walk2(int64_t threads, int64_t n, int64_t size, int64_t na, int64_t nb, int64_t nc, int64_t nd, double p, double q,
              double r, double s, const place *plan, const uint16_t *a, const uint16_t *b, const uint16_t *c,
              const uint16_t *d, uint16_t *out)
{
    const int64_t sizes[] = {a ? na : 0, b ? nb : 0, c ? nc : 0, d ? nd : 0};
    const double numbers[] = {p, q, r, s};
    struct program program;
    struct walk2 w = {{a, b, c, d}, out, &program, {0}};
    if (!read_program(&program, n, size, sizes, plan, sizeof all4 / sizeof *all4))
        return OUTSIDE;
    for (int k = 0; k < GIVEN; k++)
        if (!program.whole[k] && sizes[k] > 1)
            return OUTSIDE;
    for (int64_t k = 0; k < program.count; k++)
        w.constants[k] = (float)(k < NUMBERS ? numbers[k] : program.literals[k - NUMBERS]);
    share(threads, n, 16384, walked2, &w);
    return 0;
}

/* `loop4` for halves, of one operand and no numbers. */
KERNEL void loop2(char **args, const intptr_t *dimensions, const intptr_t *steps, const int64_t *data)
{
    enum { SIZE = BLOCK / sizeof(uint16_t) };
    const int64_t n = *dimensions;
    const int apart = n > 1 && (steps[0] != sizeof(uint16_t) || steps[1] != sizeof(uint16_t));
    uint16_t from[SIZE], to[SIZE];
    if (!apart) {
        walk2(1, n, data[0], n, 0, 0, 0, 0, 0, 0, 0, (const place *)(data + 3), (const uint16_t *)args[0], NULL, NULL, NULL,
              (uint16_t *)args[1]);
        return;
    }
    for (int64_t i = 0, run; i < n; i += run) {
        run = n - i < SIZE ? n - i : SIZE;
        for (int64_t j = 0; j < run; j++)
            from[j] = *(const uint16_t *)(args[0] + (i + j) * steps[0]);
        walk2(1, run, data[0], run, 0, 0, 0, 0, 0, 0, 0, (const place *)(data + 3), from, NULL, NULL, NULL, to);
        for (int64_t j = 0; j < run; j++)
            *(uint16_t *)(args[1] + (i + j) * steps[1]) = to[j];
    }
}

#define NUMBER double
#define NAMED(name) name##8
#define OPERATIONS                                                                                                    \
    COMMON                                                                                                            \
    OPERATION(lerp, (IS_NEAR(z) ? z : z - 1) * (y - x) + (IS_NEAR(z) ? x : y))                                        \
    OPERATION(copysign, copysign(x, y))                                                                               \
    OPERATION(abs, fabs(x))                                                                                           \
    OPERATION(where_abs_le, fabs(x) <= y ? z : w)                                                                     \
    OPERATION(where_abs_lt, fabs(x) < y ? z : w)                                                                      \
    OPERATION(mul_if_abs_lt, fabs(x) < y ? z * w : 0)                                                                 \
    OPERATION(div_sqrt, x / sqrt(y))                                                                                  \
    OPERATION(sqrt, sqrt(x))                                                                                          \
    OPERATION(exp, wide_exp(x))                                                                                       \
    OPERATION(log, wide_log(x))                                                                                       \
    OPERATION(log1p, wide_log1p(x))                                                                                   \
    OPERATION(expm1, wide_expm1(x))                                                                                   \
    OPERATION(sinh, wide_sinh(x))                                                                                     \
    OPERATION(cosh, wide_cosh(x))                                                                                     \
    OPERATION(tanh, wide_tanh(x))                                                                                     \
    OPERATION(arctanh, wide_atanh(x))                                                                                 \
    OPERATION(sigmoid, wide_sigmoid(x))                                                                               \
    OPERATION(erf, wide_erf(x))                                                                                       \
    OPERATION(erfc, wide_erfc(x))                                                                                     \
    OPERATION(erfinv, wide_erfinv(x))                                                                                 \
    OPERATION(lgamma, lgamma_by(x, 1))                                                                                \
    OPERATION(digamma, digamma_of(x))                                                                                 \
    OPERATION(trigamma, trigamma_by(x, 3.141592653589793 * x))                                                        \
    OPERATION(arctan2, wide_atan2(x, y))                                                                              \
    OPERATION(floor, floor_of(x))                                                                                     \
    OPERATION(trunc, trunc_of(x))
#include "walk.h"

int64_t walk4(int64_t threads, int64_t n, int64_t size, int64_t na, int64_t nb, int64_t nc, int64_t nd, double p, double q,
              double r, double s, const place *plan, const float *a, const float *b, const float *c, const float *d,
              float *out)
{
    const int64_t sizes[] = {a ? na : 0, b ? nb : 0, c ? nc : 0, d ? nd : 0};
    return begin4(threads, n, size, sizes, (const double[]){p, q, r, s}, plan, (const float *[]){a, b, c, d}, out);
}

int64_t walk8(int64_t threads, int64_t n, int64_t size, int64_t na, int64_t nb, int64_t nc, int64_t nd, double p, double q,
              double r, double s, const place *plan, const double *a, const double *b, const double *c, const double *d,
              double *out)
{
    const int64_t sizes[] = {a ? na : 0, b ? nb : 0, c ? nc : 0, d ? nd : 0};
    return begin8(threads, n, size, sizes, (const double[]){p, q, r, s}, plan, (const double *[]){a, b, c, d}, out);
}
