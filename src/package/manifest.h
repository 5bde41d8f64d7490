// manifest.json: what a library holds, for callers that choose kernels by name or feature. Also embedded in the library.
#pragma once

#include "src/package/entry_text.h"

namespace fldsl::package {

std::string manifest_json(const std::string &library, const std::vector<KernelSpec> &kernels, const std::vector<TargetInfo> &targets);

}  // namespace fldsl::package
