// Finds from each stream's predicates which of its blocks a grid block needs: bounds of the loop, blocks that nothing keeps
// (skipped), blocks that everything keeps (run without tests), and the rest (run with tests).
//
// All by interval analysis of the predicates over a block: index expressions give exact bounds; a loaded vector (document ids,
// say) is bounded by its own minimum and maximum over the block, which head operations compute. A predicate that cannot be
// bounded costs speed, never correctness: its blocks run with tests.
#pragma once

#include "src/tile/tile_program.h"

namespace fldsl::passes {

void classify_tiles(tile::Program &program);

}  // namespace fldsl::passes
