/* What the kernels share: types, visibility, and functions of one float that compilers turn into vectors.

Every kernel takes C-contiguous arrays of native floats, whose addresses and sizes the door (__init__.py) has checked.
The build compiles each file once for every set of instructions, so there is none but plain C here. */
#ifndef TINYTORCH_COMMON_H
#define TINYTORCH_COMMON_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* A loop over elements whose sums and maxima may be made in several parts, as many as fit a vector. */
#define TOTAL(operation, ...) _Pragma(TOTAL_TEXT(omp simd reduction(operation : __VA_ARGS__)))
#define TOTAL_TEXT(...) #__VA_ARGS__

/* A loop over elements of arrays that are apart, or the same. */
#define SPAN _Pragma("omp simd")

/* threads.c: work(args, first, last) for pieces of `grain` of range(count), on up to `threads` threads. How it is cut
depends on `grain` alone, so results do not depend on how many threads there are. */
typedef void (*piece)(const void *args, int64_t first, int64_t last);
void share(int64_t threads, int64_t count, int64_t grain, piece work, const void *args);

/* Rows of `width` in a piece: some 16,384 elements, which take longer than it takes to wake a thread. */
INLINE int64_t rows_in_piece(int64_t width)
{
    return width < 1 || width > 16384 ? 1 : 16384 / width;
}

/* The first line of memory (64 bytes) from `p` on: vectors that lie across two take longer to read. */
#define LINE 16                                /* floats of one */
INLINE float *on_line(float *p)
{
    return (float *)(((uintptr_t)p + 63) / 64 * 64);
}

/* Where a run that begins at `i` ends: short enough to add up in single precision, whatever the compiler makes of it. */
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

/* exp(x) to 1 unit in the last place: 2^n exp(r), |r| <= log(2) / 2, exp(r) by its series fitted in single precision
(Cephes' expf). 2^n in two factors, for n beyond what an exponent holds: below -87 with the digits that are left. */
INLINE float exp_of(float x)
{
    const float shift = 12582912.0f;           /* 1.5 * 2^23: what is added to it is rounded to an integer */
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    float shifted = x * 1.44269504088896341f + shift, n = shifted - shift;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t whole = (int32_t)(bits_of(shifted) - bits_of(shift)), half = whole >> 1;
    return p * of_bits((uint32_t)(half + 127) << 23) * of_bits((uint32_t)(whole - half + 127) << 23);
}

INLINE float sigmoid_of(float x)
{
    return 1.0f / (1.0f + exp_of(-x));
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
