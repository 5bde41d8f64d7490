// The passes in order: from a built generator to the tile programs of a kernel, with the text of every step.
#pragma once

#include "src/algorithm/read_algorithm.h"
#include "src/passes/schedule.h"
#include "src/tile/condition.h"

namespace fldsl::passes {

struct CompiledKernel {
    algorithm::RegionGraph graph;  ///< after inlining and unification, before the schedule's rewrites
    Schedule schedule;
    std::string online;  ///< the derived one-pass form, as text
    tile::Kernel kernel;
    std::vector<tile::Condition> conditions;
    std::string storage;  ///< table of the block's buffers
};

/// The algorithm of a generator as every later step sees it: pointwise work inlined, axes unified, equal nodes merged.
algorithm::RegionGraph read_graph(const algorithm::BuiltGenerator &built, const std::string &kernel_name);

CompiledKernel run_passes(const algorithm::BuiltGenerator &built, const std::string &kernel_name);

}  // namespace fldsl::passes
