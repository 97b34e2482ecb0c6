/* The highest level of the libraries that the machine can run. */
#include "common.h"

/* 2: the AVX-512 of the build; 1: AVX2 with fused multiply-add; 0: the instructions of every such machine. */
KERNEL int64_t level(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") ? 2 : 1;
#else
    return 0;
#endif
}
