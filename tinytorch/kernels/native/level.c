/* The highest level of the libraries that the machine can run. */
#include "common.h"
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Whether the processor converts halves (F16C). Not all compilers' __builtin_cpu_supports knows it. */
static int has_halves(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
}
#endif

/* 2: the AVX-512 of the build; 1: AVX2 with fused multiply-add and conversions of halves; 0: the instructions of every
such machine. */
KERNEL int64_t level(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_halves())
        return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") ? 2 : 1;
#else
    return 0;
#endif
}
