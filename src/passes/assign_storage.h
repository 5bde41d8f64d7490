// Where each value of a block lives on a CPU, and whether all of it fits the cache that a thread has for itself.
//
// Float32 tensors without a row axis are read where they are; whatever a loop makes and uses at once stays in registers; the
// rest is a buffer of the block. Over budget is refused with the table of buffers, largest first.
#pragma once

#include "src/tile/tile_program.h"

namespace fldsl::passes {

struct StorageReport {
    int64_t bytes = 0;  ///< of one block
    std::string table;  ///< one line a value: name, shape, type, space, bytes
};

/// Cache of one core that tiles may fill: most of a 1 MiB L2, with room for what is read in place.
constexpr int64_t cpu_tile_budget = 1 << 20;

StorageReport assign_storage(tile::Program &program, int64_t budget = cpu_tile_budget);

}  // namespace fldsl::passes
