// The streamed axis in parts that run in parallel, each leaving its states in workspace, and a second stage that merges them:
// for few rows and many keys, where the grid alone does not fill the machine.
//
// The merge is the monoid that derive_online found: a state r of a part joins the others as r * correction(part -> all).
// Refused when a state's correction reads anything but states.
#pragma once

#include "src/passes/form_tiles.h"

namespace fldsl::passes {

/// `program` as classify_tiles left it, with exactly one stream, that of `plan`.
tile::Kernel split_reduction(const tile::Program &program, const StreamPlan &plan, int parts);

}  // namespace fldsl::passes
