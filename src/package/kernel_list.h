// The list of kernels of a library, one a line:   name  generator  parameter=value ...  |  feature=value ...
// Empty lines and lines that start with # are skipped.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace fldsl::package {

struct KernelEntry {
    std::string name, generator;
    std::map<std::string, std::string> parameters, features;
};

/// UserError with the line number for a malformed line or a name used twice. `source` names the text in messages.
std::vector<KernelEntry> parse_kernel_list(const std::string &text, const std::string &source);

}  // namespace fldsl::package
