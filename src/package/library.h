// Builds a kernel library: objects for each target, entry text, header, manifest, and the .so and .a that hold them.
#pragma once

#include "src/package/kernel_spec.h"

namespace fldsl::package {

struct LibraryOptions {
    std::string name;                  ///< files are lib<name>.so, lib<name>.a, <name>.h, <name>.json
    std::string directory;             ///< where they go; <name>.d/ beside them holds objects and readable text
    std::vector<std::string> targets;  ///< Halide target strings, least demanding first; "host" is allowed
    std::string runtime;               ///< path of the runtime's static library
    std::string include;               ///< folder that holds fldsl/ and src/ for the entry text
    std::string compiler = "c++";
    int jobs = 1;
    bool progress = true;              ///< one line a kernel on stderr
};

void build_library(const std::vector<KernelSpec> &kernels, const LibraryOptions &options);

}  // namespace fldsl::package
