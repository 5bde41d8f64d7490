// What the arguments of a call must satisfy, derived from how the algorithm indexes its tensors:
//   * every dimension indexed by an axis itself has that axis's extent;
//   * any other index stays inside its dimension for all coordinates (by interval analysis);
//   * an axis held whole fits its capacity;
//   * the generator's own requirements hold.
// An index that cannot be bounded (it reads data) is refused: the author clamps it.
#pragma once

#include "src/passes/schedule.h"
#include "src/tile/condition.h"

namespace fldsl::passes {

std::vector<tile::Condition> derive_conditions(const algorithm::RegionGraph &graph, const Schedule &schedule);

/// For each tensor what indexes its dimensions, outermost first: an axis, or the text of another index.
std::map<std::string, std::vector<std::string>> tensor_dimensions(const algorithm::RegionGraph &graph);

}  // namespace fldsl::passes
