// Nodes that compute the same thing (same axes, combiner, body and predicate) become one.
#pragma once

#include "src/algorithm/region_graph.h"

namespace fldsl::passes {

algorithm::RegionGraph merge_equal_nodes(algorithm::RegionGraph graph);

}  // namespace fldsl::passes
