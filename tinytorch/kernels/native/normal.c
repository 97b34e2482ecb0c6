/* torch's normal numbers in float32 (kernels/random/normal.py), with every rounding. Fused operations are written as
fma; the compiler must fuse no others. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "common.h"

#if defined(__FMA__) || defined(__aarch64__)
#define FUSED(a, b, c) fmaf(a, b, c)
#else                                          /* the same for all values that occur here, as in the twin */
#define FUSED(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#endif
#define PAIRS 8
#define SQRT_HALF 0x3f3504f3

struct normal { float mean, std; float *u; };

/* u in (0, 1] -> sqrt(-2 log u). */
INLINE float radius_of(float u)
{
    int32_t bits = (int32_t)(bits_of(u) - SQRT_HALF);
    float e = (float)(bits >> 23), x = of_bits((uint32_t)(bits & 0x007fffff) + SQRT_HALF) - 1.0f, z = x * x;
    float y = FUSED(x, 7.0376836292e-2f, -1.1514610310e-1f);
    y = FUSED(x, y, 1.1676998740e-1f);
    y = FUSED(x, y, -1.2420140846e-1f);
    y = FUSED(x, y, 1.4249322787e-1f);
    y = FUSED(x, y, -1.6668057665e-1f);
    y = FUSED(x, y, 2.0000714765e-1f);
    y = FUSED(x, y, -2.4999993993e-1f);
    y = FUSED(x, y, 3.3333331174e-1f);
    y = y * x;
    y = FUSED(z, y, e * -2.12194440e-4f);
    y = y - z * 0.5f;
    x = x + y;
    x = x + e * 0.693359375f;
    return sqrtf(x * -2.0f);
}

/* u in [0, 1) -> cos and sin of 2 pi u. */
INLINE void wave_of(float u, float *cosine, float *sine)
{
    float x = u * 6.283185307179586f;
    int32_t j = ((int32_t)(x * 1.27323954473516f) + 1) & -2;
    float octant = (float)j;
    x = x + octant * -0.78515625f;
    x = x + octant * -2.4187564849853515625e-4f;
    x = FUSED(octant, -3.77489497744594108e-8f, x);
    float z = x * x;
    float c = FUSED(FUSED(z, 2.443315711809948e-5f, -1.388731625493765e-3f), z, 4.166664568298827e-2f) * z;
    float s = FUSED(FUSED(z, -1.9515295891e-4f, 8.3321608736e-3f), z, -1.6666654611e-1f) * z;
    c = FUSED(z, c, -0.5f * z) + 1.0f;
    s = FUSED(x, s, x);
    /* Bit 1 of j exchanges sine and cosine, bit 2 decides the signs. */
    uint32_t exchanged = (uint32_t)((int32_t)((uint32_t)j << 30) >> 31), cos_bits = bits_of(c), sin_bits = bits_of(s);
    uint32_t both = (cos_bits ^ sin_bits) & exchanged;
    *sine = of_bits(sin_bits ^ both ^ ((uint32_t)(j & 4) << 29));
    *cosine = of_bits(cos_bits ^ both ^ ((uint32_t)(~(j - 2) & 4) << 29));
}

static void some_blocks(const void *args, int64_t first, int64_t last)
{
    const struct normal *s = args;
    float radius[32 * PAIRS], angle[32 * PAIRS];
    for (int64_t start = first; start < last; start += 32) {
        int64_t blocks = last - start < 32 ? last - start : 32;
        float *u = s->u + start * 2 * PAIRS;
        for (int64_t i = 0; i < blocks; i++) {
            memcpy(radius + i * PAIRS, u + 2 * i * PAIRS, PAIRS * sizeof(float));
            memcpy(angle + i * PAIRS, u + (2 * i + 1) * PAIRS, PAIRS * sizeof(float));
        }
        for (int64_t i = 0; i < blocks * PAIRS; i++) {
            float r = radius_of(1.0f - radius[i]), c, d;
            wave_of(angle[i], &c, &d);
            c = c * r;
            d = d * r;
            radius[i] = s->mean != 0.0f ? fmaf(c, s->std, s->mean) : c * s->std + 0.0f;
            angle[i] = s->mean != 0.0f ? fmaf(d, s->std, s->mean) : d * s->std + 0.0f;
        }
        for (int64_t i = 0; i < blocks; i++) {
            memcpy(u + 2 * i * PAIRS, radius + i * PAIRS, PAIRS * sizeof(float));
            memcpy(u + (2 * i + 1) * PAIRS, angle + i * PAIRS, PAIRS * sizeof(float));
        }
    }
}

/* Uniform to normal numbers, in place: in each block of 16, number k and k + 8 make a pair. */
void box_muller(int64_t threads, int64_t blocks, float mean, float std, float *u)
{
    struct normal args = {mean, std, u};
    share(threads, blocks, 256, some_blocks, &args);
}
