// The C++ and C text of a library: descriptor tables and named entry functions, and the header that declares them.
#pragma once

#include "src/package/kernel_spec.h"

namespace fldsl::package {

/// One target of the library as text needs it.
struct TargetInfo {
    std::string name;
    uint32_t features = 0;  ///< runtime/cpu_features.h
};

/// The symbol of one stage of a kernel for one target.
std::string stage_symbol(const KernelSpec &spec, size_t stage, size_t target);

/// `scratch[kernel][stage][target]` in bytes.
using ScratchBytes = std::vector<std::vector<std::vector<int64_t>>>;

std::string entry_text(const std::string &library, const std::vector<KernelSpec> &kernels, const std::vector<TargetInfo> &targets,
                       const ScratchBytes &scratch, const std::string &manifest);

std::string header_text(const std::string &library, const std::vector<KernelSpec> &kernels);

/// `int fldsl_<kernel>(const fldsl_call *call, ...)` without a semicolon.
std::string signature(const KernelSpec &spec);

}  // namespace fldsl::package
