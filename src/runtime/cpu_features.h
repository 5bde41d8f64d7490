// What this machine's CPU and operating system can run.
#pragma once

#include <stdint.h>

namespace fldsl_runtime {

enum CpuFeature : uint32_t {
    Sse41 = 1u << 0,
    Avx = 1u << 1,
    Avx2 = 1u << 2,
    Fma = 1u << 3,
    F16c = 1u << 4,
    Avx512Skylake = 1u << 5  ///< F, CD, VL, BW, DQ
};

uint32_t cpu_features();

}  // namespace fldsl_runtime
