/* Conversions between 16-bit numbers and floats, rounded to nearest even: bfloat16, the upper half of a float, and
half. */
#ifndef TINYTORCH_HALVES_H
#define TINYTORCH_HALVES_H

#include "common.h"
/* Compilers do not find the instruction that converts several halves at once. Microsoft's have it with AVX2. */
#if defined(__AVX512F__) || defined(__F16C__) || (defined(_MSC_VER) && defined(__AVX2__))
#include <immintrin.h>
#ifdef __AVX512F__
#define HALVES_AT_ONCE 16
#else
#define HALVES_AT_ONCE 8
#endif
#endif

INLINE float of_bfloat16(uint16_t x)
{
    return of_bits((uint32_t)x << 16);
}

INLINE uint16_t to_bfloat16(float x)
{
    const uint32_t bits = bits_of(x), rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

INLINE float of_half(uint16_t x)
{
    const uint32_t size = (uint32_t)(x & 0x7fffu) << 13, exponent = size & 0x0f800000u;
    const uint32_t normal = size + (112u << 23);
    const uint32_t endless = size > 0x0f800000u ? 0x7fc00000u | (size + (224u << 23)) : 0x7f800000u;
    const uint32_t small = bits_of(of_bits(size + (113u << 23)) - of_bits(113u << 23));    /* the denormal halves */
    const uint32_t bits = exponent == 0 ? small : exponent == 0x0f800000u ? endless : normal;
    return of_bits(bits | (uint32_t)(x & 0x8000u) << 16);
}

INLINE uint16_t to_half(float x)
{
    const uint32_t bits = bits_of(x), size = bits & 0x7fffffffu;
    const uint32_t normal = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    const uint32_t small = bits_of(of_bits(size) + 0.5f) - bits_of(0.5f);
    const uint32_t large = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ffu) : 0x7c00u;
    const uint32_t result = size >= 143u << 23 ? large : size < 113u << 23 ? small : normal;
    return (uint16_t)(result | (bits >> 16 & 0x8000u));
}

#ifdef __AVX512F__
typedef __m512 floats;
#define FLOATS(function) _mm512_##function##_ps

/* 16 halves, or the first few of them. A mask for all of them would take longer where they are not in a cache. */
INLINE floats of_halves(const uint16_t *from, int64_t n)
{
    if (n >= 16)
        return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), from));
}

INLINE void to_halves(uint16_t *to, int64_t n, floats x)
{
    if (n >= 16)
        _mm256_storeu_si256((__m256i *)to, _mm512_cvtps_ph(x, 0));
    else
        _mm256_mask_storeu_epi16(to, (__mmask16)((1u << n) - 1), _mm512_cvtps_ph(x, 0));
}
#elif defined(HALVES_AT_ONCE)
typedef __m256 floats;
#define FLOATS(function) _mm256_##function##_ps

/* 8 halves, or the first few of them. */
INLINE floats of_halves(const uint16_t *from, int64_t n)
{
    uint16_t few[8] = {0};
    if (n < 8)
        memcpy(few, from, n * sizeof *from);
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(n < 8 ? few : from)));
}

INLINE void to_halves(uint16_t *to, int64_t n, floats x)
{
    uint16_t few[8];
    _mm_storeu_si128((__m128i *)(n < 8 ? few : to), _mm256_cvtps_ph(x, 0));
    if (n < 8)
        memcpy(to, few, n * sizeof *to);
}
#endif

/* A run of numbers of 16 bits as floats, and of floats as those: halves, or bfloat16. */
INLINE void floats_of(int half, int64_t n, const uint16_t *from, float *to)
{
    if (!half) {
        SPAN
        for (int64_t i = 0; i < n; i++)
            to[i] = of_bfloat16(from[i]);
        return;
    }
#ifdef HALVES_AT_ONCE
    float few[HALVES_AT_ONCE];
    int64_t i = 0;
    for (; i + HALVES_AT_ONCE <= n; i += HALVES_AT_ONCE)
        FLOATS(storeu)(to + i, of_halves(from + i, HALVES_AT_ONCE));
    if (i == n)
        return;
    FLOATS(storeu)(few, of_halves(from + i, n - i));
    memcpy(to + i, few, (n - i) * sizeof *to);
#else
    SPAN
    for (int64_t i = 0; i < n; i++)
        to[i] = of_half(from[i]);
#endif
}

INLINE void of_floats(int half, int64_t n, const float *from, uint16_t *to)
{
    if (!half) {
        SPAN
        for (int64_t i = 0; i < n; i++)
            to[i] = to_bfloat16(from[i]);
        return;
    }
#ifdef HALVES_AT_ONCE
    float few[HALVES_AT_ONCE] = {0};
    int64_t i = 0;
    for (; i + HALVES_AT_ONCE <= n; i += HALVES_AT_ONCE)
        to_halves(to + i, HALVES_AT_ONCE, FLOATS(loadu)(from + i));
    if (i == n)
        return;
    memcpy(few, from + i, (n - i) * sizeof *from);
    to_halves(to + i, n - i, FLOATS(loadu)(few));
#else
    SPAN
    for (int64_t i = 0; i < n; i++)
        to[i] = to_half(from[i]);
#endif
}

#endif
