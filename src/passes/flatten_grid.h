// The grid of any rank on one launch dimension, coordinates by division: axis 0 of Program::grid runs fastest.
//
// LongestFirst puts the axes on which stream bounds depend slowest, so that blocks of equal length are neighbours and a back
// end can start with the longest; Plain leaves the order of the outputs. More than 2^31 - 1 blocks are refused at the call.
#pragma once

#include "src/tile/condition.h"
#include "src/tile/tile_program.h"

namespace fldsl::passes {

struct FlatGrid {
    Halide::Expr blocks;                                            ///< Int(64)
    std::vector<std::pair<std::string, Halide::Expr>> coordinates;  ///< block number along each axis, from Int(64) `block`
};

/// Reorders program.grid and returns the mapping; adds the limit on blocks to `conditions`.
FlatGrid flatten_grid(tile::Program &program, std::vector<tile::Condition> &conditions);

}  // namespace fldsl::passes
