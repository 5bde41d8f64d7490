// Makes exponentials of differences cheap: where a maximum M of B over the axis is read only as exp(B - M) by the axis's other
// reductions, scores are kept in units of log 2 (exp2 needs no multiply, and log2(e) joins a factor that B already has), and
// terms of B that do not depend on the axis leave the maximum. Other readers get M back in its own units.
//
// Algebra used: max(c B) = c max B for c > 0; max(P + r) = r + max P for r free of the axis; exp(x) = exp2(x log2 e).
#pragma once

#include "src/algorithm/region_graph.h"

namespace fldsl::passes {

algorithm::RegionGraph fold_scale(algorithm::RegionGraph graph, const std::string &axis);

}  // namespace fldsl::passes
