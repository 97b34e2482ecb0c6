/* Conversions between 16-bit numbers and floats, rounded to nearest even: bfloat16, the upper half of a float, and
half. */
#ifndef TINYTORCH_HALVES_H
#define TINYTORCH_HALVES_H

#include "common.h"
#ifdef __AVX512F__
#include <immintrin.h>                         /* compilers do not find the instruction that converts 16 halves */
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

/* A run of numbers of 16 bits as floats, and of floats as those: halves, or bfloat16. */
INLINE void floats_of(int half, int64_t n, const uint16_t *from, float *to)
{
    if (!half) {
        SPAN
        for (int64_t i = 0; i < n; i++)
            to[i] = of_bfloat16(from[i]);
        return;
    }
#ifdef __AVX512F__
    for (int64_t i = 0; i < n; i += 16) {
        const __mmask16 there = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : (__mmask16)-1;
        _mm512_mask_storeu_ps(to + i, there, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there, from + i)));
    }
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
#ifdef __AVX512F__
    for (int64_t i = 0; i < n; i += 16) {
        const __mmask16 there = n - i < 16 ? (__mmask16)((1u << (n - i)) - 1) : (__mmask16)-1;
        _mm256_mask_storeu_epi16(to + i, there, _mm512_cvtps_ph(_mm512_maskz_loadu_ps(there, from + i), 0));
    }
#else
    SPAN
    for (int64_t i = 0; i < n; i++)
        to[i] = to_half(from[i]);
#endif
}

#endif
