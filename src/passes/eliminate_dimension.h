// An axis whose tile covers its extent takes no part in the loop over tiles: it leaves the tile-level sketch, so that nodes
// whose sketches differ only there can share one loop (the head dimension of the second product, for one).
//
// A constant extent must fit the capacity; one known at the call becomes a condition of the kernel.
#pragma once

#include "src/passes/schedule.h"

namespace fldsl::passes {

/// The tile-level sketch of a node: its axes without those the schedule eliminates.
struct TileSketch {
    std::vector<std::string> parallel, reduction;
};

/// Checks every `whole` axis of the schedule; UserError when a constant extent exceeds the capacity.
void eliminate_dimensions(const algorithm::RegionGraph &graph, const Schedule &schedule);

TileSketch tile_sketch(const algorithm::Node &node, const Schedule &schedule);

}  // namespace fldsl::passes
