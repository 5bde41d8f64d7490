#include "src/runtime/cpu_features.h"

namespace fldsl_runtime {

uint32_t cpu_features() {
    __builtin_cpu_init();
    uint32_t f = 0;
    f |= __builtin_cpu_supports("sse4.1") ? uint32_t{Sse41} : 0u;
    f |= __builtin_cpu_supports("avx") ? uint32_t{Avx} : 0u;
    f |= __builtin_cpu_supports("avx2") ? uint32_t{Avx2} : 0u;
    f |= __builtin_cpu_supports("fma") ? uint32_t{Fma} : 0u;
    f |= __builtin_cpu_supports("f16c") ? uint32_t{F16c} : 0u;
    const bool skylake = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq");
    return f | (skylake ? uint32_t{Avx512Skylake} : 0u);
}

}  // namespace fldsl_runtime
