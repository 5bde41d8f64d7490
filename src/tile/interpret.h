// Runs a tile program on the host as tile_program.h defines it, block by block: the reference that back ends are compared with.
#pragma once

#include "src/tile/evaluate.h"

#include <map>
#include <string>

namespace fldsl::tile {

/// What is done with `live` and `full` of streams.
enum class Classes {
    Use,     ///< skip dead blocks, leave tests out of full ones
    Ignore,  ///< every block with tests
    Check    ///< as Ignore; InternalError when a dead block keeps anything or a full one drops anything
};

/// Runs all stages. `tensors` and `scalars` hold the kernel's arguments by name; workspace is allocated here. InternalError when
/// an element outside a tensor is used or an axis exceeds its capacity.
void interpret(const Kernel &kernel, std::map<std::string, HostTensor> &tensors, const std::map<std::string, double> &scalars,
               Precision precision = Precision::Float, Classes classes = Classes::Use);

}  // namespace fldsl::tile
