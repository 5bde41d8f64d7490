// Where the values of a program live while a block runs on a CPU, and how wide its vectors are.
//
// The lane axis is the tiled grid axis that the program's states share. A panel is `lanes` of its coordinates; values with the
// lane axis are vectors of a panel, [other axes][lanes], so that every loop over another axis runs over contiguous memory.
#pragma once

#include "src/lower_halide/ir.h"
#include "src/tile/tile_program.h"

#include <map>

namespace fldsl::lower_halide {

/// Register blocking of contractions: `rows` broadcast values times `vectors` vectors of `width` floats.
struct Blocking {
    int width = 1;    ///< floats of a vector register
    int vectors = 1;  ///< vectors of a panel
    int rows = 1;     ///< rows of a full micro kernel
    int unroll = 1;   ///< positions of one pass of an elementwise loop

    int lanes() const {
        return width * vectors;
    }
};
Blocking blocking_for(const Halide::Target &target, bool has_lane_axis);

enum class Home {
    Scalar,   ///< a let
    Element,  ///< read from its tensor where it is used
    Columns,  ///< no lane axis: floats behind a pointer, strides known at run time
    Panel     ///< [axes][lanes] in scratch
};

struct Place {
    Home home = Home::Scalar;
    Type type;                       ///< of the elements in memory: floats are Float(32)
    std::string pointer;             ///< name of the pointer variable
    std::vector<std::string> axes;   ///< without the lane axis
    std::vector<int64_t> strides;    ///< Panel: elements, per axis
    const tile::Op *op = nullptr;    ///< Element, Columns: the load or map
    int64_t offset = 0;              ///< bytes in scratch of panel 0 (or of the columns)
    int64_t bytes = 0;               ///< of one panel
    bool per_panel = false;          ///< one copy for each panel of the block: lives across stream blocks
};

}  // namespace fldsl::lower_halide
