// A tile program as a Halide module for the CPU: the loop nest is built as Halide IR and compiled by Halide's back end.
//
// The grid axis that the states share is the lane axis: every value that has it is a vector over rows, every other axis is
// a loop, and contractions are register-blocked broadcasts times vectors. So nothing of K or V is packed or transposed, and
// row reductions are vertical. Threads are not here: the function runs a range of grid blocks, the runtime splits the grid.
#pragma once

#include "src/tile/tile_program.h"

namespace fldsl::lower_halide {

/// The compiled function:
///   int SYMBOL(const void *const *data, const int64_t *integers, const double *floats,
///              int32_t begin, int32_t end, void *scratch);
/// data      element 0 of each tensor, in the program's order
/// integers  for each tensor its extents, then its strides (rank of each, innermost first, strides in elements);
///           then the integer and bool scalars in order
/// floats    the floating scalars in order
/// begin,end blocks of the flattened grid to run, 0 <= begin <= end <= the product of ceil(extent / tile)
/// scratch   `scratch_bytes` bytes, 64-byte aligned, private to this run
struct CpuStage {
    Halide::Module module;
    int64_t scratch_bytes = 0;
};

/// `target` needs no_runtime, no_asserts, no_bounds_query; the vector width and register blocking follow its features.
CpuStage lower_cpu(const tile::Program &program, const std::string &symbol, const Halide::Target &target);

}  // namespace fldsl::lower_halide
