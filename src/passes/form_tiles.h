// Builds the tile program of a scheduled graph: loads, maps, reductions and states in the order in which a block runs them.
//
// Subexpressions that several reductions of one stream share become one map; sums of products of two values with an axis of
// their own each become contractions, and their predicate moves into the operand that depends on the row (outside it is 0).
// Streams have no bounds yet (begin 0, end the extent, no classes): classify_tiles finds them.
#pragma once

#include "src/passes/derive_online.h"
#include "src/passes/schedule.h"

namespace fldsl::passes {

/// One walk over a streamed axis and the reductions that it finishes.
struct StreamPlan {
    Demotion demotion;
    std::vector<OnlineReduction> reductions;
};

/// The walks that the schedule asks for: one for each streamed axis when its reductions are independent or online, else one
/// for each level of dependence.
std::vector<StreamPlan> plan_streams(const algorithm::RegionGraph &graph, const Schedule &schedule);

tile::Program form_tiles(const algorithm::RegionGraph &graph, const Schedule &schedule, const std::vector<StreamPlan> &streams);

}  // namespace fldsl::passes
