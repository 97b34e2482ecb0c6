/* The common parts of the kernels: types, visibility, and functions of one float that compilers vectorise.

Every kernel takes C-contiguous arrays of native floats, whose addresses and sizes the Python side (__init__.py) has
checked. The build compiles each file once for every set of instructions, so that all files are plain C, but for the
conversions in halves.h and one instruction in panels.c. */
#ifndef TINYTORCH_COMMON_H
#define TINYTORCH_COMMON_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Functions that have newer versions in glibc are linked by their first version, so that a library that was built on a
new system runs on an old one (manylinux_2_17). The new versions compute the same; they do not set errno, or have moved
from libpthread, which every Python has loaded. */
#if defined(__GLIBC__) && (defined(__x86_64__) && !defined(__ILP32__) || defined(__aarch64__))
#ifdef __x86_64__
#define FIRST(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5");
#else
#define FIRST(name) __asm__(".symver " #name "," #name "@GLIBC_2.17");
#endif
FIRST(exp) FIRST(log) FIRST(pow) FIRST(logf) FIRST(expf) FIRST(powf) FIRST(lgamma)
FIRST(pthread_create) FIRST(pthread_detach) FIRST(pthread_mutex_trylock) FIRST(pthread_sigmask)
#endif

#ifdef _WIN32
#define KERNEL __declspec(dllexport)
#define restrict __restrict
#define INLINE static __forceinline
#define ALIGNED __declspec(align(64))
#else
#define KERNEL __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#define ALIGNED __attribute__((aligned(64)))
#endif

/* A loop over elements whose sums and maxima may be computed in several parts, as many as fit a vector. */
#define TOTAL(operation, ...) _Pragma(TOTAL_TEXT(omp simd reduction(operation : __VA_ARGS__)))
#define TOTAL_TEXT(...) #__VA_ARGS__

/* Memory that will be read soon, and memory that will be written. */
#ifdef _WIN32
#define AHEAD(place) (void)(place)
#define AHEAD_TO_WRITE(place) (void)(place)
#else
#define AHEAD(place) __builtin_prefetch(place)
#define AHEAD_TO_WRITE(place) __builtin_prefetch(place, 1)
#endif

/* Before a function whose products are rounded before they are added to. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNFUSED __attribute__((optimize("fp-contract=off")))
#else
#define UNFUSED
#endif

/* A loop over elements of arrays that do not overlap, or are the same array. */
#define SPAN _Pragma("omp simd")

/* The result of a kernel that fails: memory is missing, or a place is out of range. */
enum { NO_MEMORY = 1, OUTSIDE = 2 };

/* A number that names one of several places: an index, a class, a row of a step. C can use it by the two functions
below alone. They read it once, because another thread or process may write to the array at any time, and the number
that was checked must be the number that is used. */
typedef struct { int64_t number; } place;

/* The number of a place among `n`, or -1 if it is out of range. */
INLINE int64_t place_below(int64_t n, const place *from)
{
    const int64_t at = *(const volatile int64_t *)&from->number;
    return (uint64_t)at < (uint64_t)n ? at : -1;
}

/* Reads the numbers of a plan, which is checked as a whole afterwards. */
INLINE void plan_of(int64_t n, const place *from, int64_t *to)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = *(const volatile int64_t *)&from[i].number;
}

#define WORDS 624
/* A Mersenne twister: its state, and the position of its next word. */
typedef struct { uint32_t key[WORDS], next; } twister;

/* random.c: the next `n` words of a twister. */
void draw_words(twister *restrict state, uint32_t *restrict out, int64_t n);

/* order.c: the positions of the `k` largest or smallest elements of each row. */
int64_t top(int64_t threads, int64_t rows, int64_t width, int64_t k, int64_t largest, int64_t ordered, const float *x,
            int64_t *out);

#define PLACES 8                               /* at most so many at once */

/* Reads `count` numbers of places among `n`. Returns whether one is out of range. */
INLINE int64_t places_below(int64_t n, int64_t count, const place *from, int64_t *to)
{
    int64_t outside = 0;
    for (int64_t i = 0; i < count; i++) {
        to[i] = place_below(n, from + i);
        outside |= to[i];
    }
    return outside < 0;
}

/* A checked copy of a plan: the starts of the lines of an image, each of `width` elements, in its padded form of
`length`; the offsets of the terms, which are read from each of `places` places on, `apart` elements apart; the places
at which rows of `out_width` places begin. NULL, with the reason in `failed`, if memory is missing or the plan reaches
outside. */
INLINE int64_t *checked_plan(int64_t lines, int64_t width, int64_t length, int64_t terms, int64_t reach, int64_t rows,
                             int64_t out_width, int64_t places, const place *plan, int64_t *failed)
{
    const int64_t size = lines + terms + rows;
    int64_t *copy = malloc((size + 1) * sizeof(int64_t));
    *failed = copy ? 0 : NO_MEMORY;
    for (int64_t i = 0; i < size && copy; i++) {
        const int64_t end = i < lines ? length - width : i < lines + terms ? length - reach : places - out_width;
        copy[i] = place_below(end + 1, plan + i);
        if (copy[i] < 0)
            *failed = OUTSIDE;
    }
    if (*failed && copy) {
        free(copy);
        copy = NULL;
    }
    return copy;
}

/* Sets the reason why a kernel fails, from any of its threads. */
INLINE void fail(int64_t *failed, int64_t why)
{
#if defined(_MSC_VER) || UINTPTR_MAX < UINT64_MAX       /* 32 bits: two halves, one of which stays 0 */
    *(volatile int64_t *)failed = why;
#else
    __atomic_store_n(failed, why, __ATOMIC_RELAXED);
#endif
}

/* threads.c: calls work(args, first, last) for pieces of `grain` of range(count), on up to `threads` threads. The
pieces depend on `grain` alone, so that results do not depend on the number of threads. */
typedef void (*piece)(const void *args, int64_t first, int64_t last);
void share(int64_t threads, int64_t count, int64_t grain, piece work, const void *args);

/* The number of rows of `width` in a piece: about 16,384 elements, which take longer than waking a thread. */
INLINE int64_t rows_in_piece(int64_t width)
{
    return width < 1 || width > 16384 ? 1 : 16384 / width;
}

/* The number of elements in a piece of work that does little more than read and write memory, and of rows in such a
piece. Waking a thread takes longer than less of such work. */
#define LIGHT_PIECE 131072
INLINE int64_t light_rows_in_piece(int64_t width)
{
    return width < 1 || width > LIGHT_PIECE ? 1 : LIGHT_PIECE / width;
}

/* The length of the parts of a row that threads share. It has at most MOST_PARTS, for whose results there is room on a
stack. They depend on the length of the row alone, also where one thread computes many rows. */
enum { MOST_PARTS = 64 };
INLINE int64_t part_of_row(int64_t width)
{
    const int64_t part = (width + MOST_PARTS - 1) / MOST_PARTS;
    return part < LIGHT_PIECE ? LIGHT_PIECE : part;
}

/* The number of columns, each of `n` numbers, in a piece, of `inner` columns: whole lines of memory, and at most
`most`. */
INLINE int64_t columns_in_piece(int64_t n, int64_t inner, int64_t most)
{
    const int64_t wanted = rows_in_piece(n), columns = wanted < 64 ? 64 : wanted < most ? wanted : most;
    return inner < 1 ? 1 : inner < columns ? inner : columns;
}

/* The first line of memory (64 bytes) from `p` on, because vectors across two lines take longer to read. */
#define LINE 16                                /* floats of a line */
INLINE float *on_line(float *p)
{
    return (float *)(((uintptr_t)p + 63) / 64 * 64);
}

/* The end of a run that begins at `i`. A run is short enough to be summed in single precision in any order. */
INLINE int64_t end_of_run(int64_t i, int64_t size)
{
    return size - i < 512 ? size : i + 512;
}

INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

INLINE float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* Results of so many bytes are written past the caches, which they would fill: such a store does not read the line of
memory first. The end of `share` waits until all have arrived. */
#define PAST (1 << 23)
#if defined(__x86_64__) && defined(__GNUC__)
#if defined(__AVX512F__)
#define STREAMED 64
#define STREAM __builtin_ia32_movntps512
#elif defined(__AVX__)
#define STREAMED 32
#define STREAM __builtin_ia32_movntps256
#else
#define STREAMED 16
#define STREAM __builtin_ia32_movntps
#endif
#ifdef __clang__
#undef STREAM
#define STREAM(to, line) __builtin_nontemporal_store(line, (streamed *)(to))
#endif
typedef float streamed __attribute__((vector_size(STREAMED), may_alias));
typedef streamed anywhere_streamed __attribute__((aligned(1)));
#endif

/* memcpy, perhaps past the caches. The instruction with which memcpy itself copies from some thousand bytes on takes up to
twenty times as long if the copy lies a few bytes further in its page of memory than the source. */
INLINE void copy_bytes_of(char *to, const char *from, int64_t n, int past)
{
    int64_t i = 0;
#ifdef STREAM
    const int64_t before = (STREAMED - (uintptr_t)to % STREAMED) % STREAMED;
    i = before < n ? before : n;
    memcpy(to, from, i);
    for (; i + 4 * STREAMED <= n; i += 4 * STREAMED) {
        const anywhere_streamed *line = (const anywhere_streamed *)(from + i);
        const streamed a = line[0], b = line[1], c = line[2], d = line[3];
        if (!past) {
            streamed *out = (streamed *)(to + i);
            out[0] = a, out[1] = b, out[2] = c, out[3] = d;
            continue;
        }
        AHEAD(from + i + 1024);
        AHEAD(from + i + 1088);
        STREAM((float *)(to + i), a);
        STREAM((float *)(to + i + STREAMED), b);
        STREAM((float *)(to + i + 2 * STREAMED), c);
        STREAM((float *)(to + i + 3 * STREAMED), d);
    }
#else
    (void)past;
#endif
    memcpy(to + i, from + i, n - i);
}

#define SHIFT 12582912.0f                      /* 1.5 * 2^23: adding it rounds a number to an integer */

/* exp(r), where x = n log(2) + r and |r| <= log(2) / 2, by a series fitted in single precision (Cephes' expf), to 1
unit in the last place. `power` gets n. */
INLINE float exp_of_rest(float x, uint32_t *power)
{
    float shifted = x * 1.44269504088896341f + SHIFT, n = shifted - SHIFT;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    *power = bits_of(shifted);
    return p * r * r + r + 1.0f;
}

/* exp(x), with 2^n in two factors, because n may exceed an exponent; below -87 with the digits of denormal numbers. */
INLINE float exp_of(float x)
{
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    uint32_t power;
    const float p = exp_of_rest(x, &power);
    const int32_t whole = (int32_t)(power - bits_of(SHIFT)), half = whole >> 1;
    return p * of_bits((uint32_t)(half + 127) << 23) * of_bits((uint32_t)(whole - half + 127) << 23);
}

/* exp(x) up to 2e38, infinity above; 0 where it would be denormal. It takes two thirds of the time of exp_of. */
INLINE float normal_exp_of(float x)
{
    uint32_t power;
    const float p = exp_of_rest(x > 89.0f ? 89.0f : x, &power);
    return x < -87.0f ? 0.0f : p * of_bits((power << 23) + bits_of(1.0f));
}

INLINE float sigmoid_of(float x)
{
    return 1.0f / (1.0f + normal_exp_of(-x));
}

/* tanh(x) as a quotient of polynomials (Eigen's ptanh), to 4 units in the last place; 1 from 7.9 on. */
INLINE float tanh_of(float x)
{
    float v = x < -7.90531110763549805f ? -7.90531110763549805f : x;
    v = v > 7.90531110763549805f ? 7.90531110763549805f : v;
    float z = v * v;
    float p = -2.76076847742355e-16f;
    p = p * z + 2.00018790482477e-13f;
    p = p * z - 8.60467152213735e-11f;
    p = p * z + 5.12229709037114e-08f;
    p = p * z + 1.48572235717979e-05f;
    p = p * z + 6.37261928875436e-04f;
    p = p * z + 4.89352455891786e-03f;
    float q = 1.19825839466702e-06f;
    q = q * z + 1.18534705686654e-04f;
    q = q * z + 2.26843463243900e-03f;
    q = q * z + 4.89352518554385e-03f;
    return fabsf(x) < 0.0004f ? x : v * p / q;
}

#endif
