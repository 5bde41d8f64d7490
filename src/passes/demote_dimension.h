// A producer [(C, x), (..)] read by consumers [(C), (x, ..)]: x stops being a parallel axis of the producer and becomes an
// inner sequential loop of the consumers, so the producer's value lives in a tile and never reaches memory.
//
// Holds before: axes are unified. Refused when no reduction folds x, or when something outside the loop needs a producer's
// values for every x (an output, or a reader that does not fold x).
#pragma once

#include "src/algorithm/region_graph.h"

namespace fldsl::passes {

struct Demotion {
    std::string axis;
    std::vector<std::string> tiles;       ///< nodes computed inside the loop, producers first
    std::vector<std::string> reductions;  ///< nodes that fold the axis, producers first
};

Demotion demote_dimension(const algorithm::RegionGraph &graph, const std::string &axis);

}  // namespace fldsl::passes
