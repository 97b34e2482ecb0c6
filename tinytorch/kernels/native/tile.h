/* Vectors of floats in plain C: those of GCC and Clang, with as many lanes as the set of instructions has; one lane
with other compilers. A tile is a block of sums in registers: TALL rows by THREE vectors (of BLOCK rows of packed
weights, TALL at a time). */
#ifndef TINYTORCH_TILE_H
#define TINYTORCH_TILE_H

#include "common.h"

#if defined(__AVX512F__)
#define LANES 16
#define TALL 8
#elif defined(__AVX__)
#define LANES 8
#define TALL 4
#elif defined(__aarch64__)
#define LANES 4
#define TALL 8
#elif defined(__GNUC__)
#define LANES 4
#define TALL 4
#else
#define LANES 1
#define TALL 4
#endif

#if LANES > 1
typedef float vec __attribute__((vector_size(4 * LANES)));
typedef vec anywhere __attribute__((aligned(4), may_alias));           /* at the address of any float */
#else
typedef float vec, anywhere;
#endif

/* Compilers that know the instruction for pairs of bfloat16 numbers. The build does not ask for it, so that one library
runs on machines with and without it. */
#if defined(__AVX512F__) && (defined(__clang__) ? __clang_major__ >= 10 : defined(__GNUC__) && __GNUC__ >= 10)
#define PAIRED
#endif

#define BLOCK 8
#define THREE 3
#define SPAN_OF_TILE (THREE * LANES)

INLINE vec load(const float *p)
{
    return *(const anywhere *)p;
}

INLINE void store(float *p, vec v)
{
    *(anywhere *)p = v;
}

#if LANES > 1
typedef int32_t mask __attribute__((vector_size(4 * LANES)));

/* The lanes of `yes` where those of `m` are -1, and those of `no` where they are 0. */
INLINE vec chosen(mask m, vec yes, vec no)
{
    return (vec)((m & (mask)yes) | (~m & (mask)no));
}
#endif

/* Keeps `v` in a register. Compilers would load it for each use, which takes longer if it is across two lines of
memory. */
#if defined(__x86_64__) && defined(__GNUC__)
#define ONCE(v) __asm__("" : "+v"(v))
#else
#define ONCE(v)
#endif

/* memcpy of `n` floats for rows that are too short for its call. The last part overlaps the previous one. */
INLINE void copy_row(float *to, const float *from, int64_t n)
{
#if LANES > 8
    if (n >= 8 && n < LANES) {
        memcpy(to, from, 32);
        memcpy(to + n - 8, from + n - 8, 32);
        return;
    }
#endif
#if LANES > 4
    if (n >= 4 && n < LANES) {
        memcpy(to, from, 16);
        memcpy(to + n - 4, from + n - 4, 16);
        return;
    }
#endif
    if (n < LANES) {
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i];
        return;
    }
    for (int64_t i = 0; i < n - LANES; i += LANES)
        store(to + i, load(from + i));
    store(to + n - LANES, load(from + n - LANES));
}

/* memcpy of `n` floats, perhaps past the caches. */
INLINE void put(float *to, const float *from, int64_t n, int past)
{
    enum { LONG = 512 };
    if (n < LONG)
        copy_row(to, from, n);
    else if (past)
        copy_bytes_of((char *)to, (const char *)from, n * sizeof(float), 1);
    else
        copy_bytes_of((char *)to, (const char *)from, n * sizeof(float), 0);
}

/* Adds halves of the vector until one lane is left. */
INLINE float total_of(vec v)
{
#if LANES > 1
    typedef float vec4 __attribute__((vector_size(16)));
    vec4 parts[LANES / 4];
    memcpy(parts, &v, sizeof v);
    for (int n = LANES / 8; n; n /= 2)
        for (int i = 0; i < n; i++)
            parts[i] += parts[i + n];
    return (parts[0][0] + parts[0][2]) + (parts[0][1] + parts[0][3]);
#else
    return v;
#endif
}

#endif
