// Whether a tile program is well formed; run after every pass that makes or changes one.
#pragma once

#include "src/tile/tile_program.h"

namespace fldsl::tile {

/// InternalError that names the stage, the line of text and the rule when one is broken:
///   names       are words, used once a program, and mean something of the right type where they are read
///   axes        grid axes are those of role Grid; operations are over axes with a range; what they read has no other axes
///   operations  value, init, otherwise have the operation's type, where is bool; loads read one element, heads have no axes
///   streams     bounds and classes are scalar; each state is updated once by a value of its type and axes
///   tensors     every output is stored; workspace is stored by one stage before others load it; stages agree on tensors
void verify(const Kernel &kernel);

}  // namespace fldsl::tile
