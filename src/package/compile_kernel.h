// From a registered generator and its parameters to everything that a library needs to know of the kernel.
#pragma once

#include "src/package/kernel_spec.h"

namespace fldsl::package {

KernelSpec compile_kernel(const std::string &generator, const std::map<std::string, std::string> &parameters,
                          const Halide::Target &target, const std::string &kernel_name);

}  // namespace fldsl::package
