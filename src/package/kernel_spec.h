// All that a library needs to know of a kernel: what it runs, what its arguments must satisfy, what callers may read of it.
#pragma once

#include "src/tile/condition.h"
#include "src/tile/tile_program.h"

#include <map>

namespace fldsl::package {

using Condition = tile::Condition;

struct KernelSpec {
    tile::Kernel kernel;
    std::vector<Condition> conditions;
    std::map<std::string, std::string> features;  ///< free-form, from the kernel list: {"op":"attention","mask":"causal"}
    std::string generator;                        ///< generator name and parameters, for the manifest
    std::string schedule;                         ///< text of the directives applied
    std::string graph;                            ///< text of the region graph as read
};

}  // namespace fldsl::package
