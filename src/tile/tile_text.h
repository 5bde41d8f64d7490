// Tile programs as text, and back: parse_kernel(to_text(k)) prints as the same text.
//
//   kernel causal_attention
//
//   stage causal_attention
//     input q: float32 rank 4
//     workspace w: float32 shape [q.extent.1, 4]
//     scalar scale: float32
//     axis i: grid 64 extent q.extent.1
//     grid i, h, b order longest_first
//     prologue
//       load qt[d, i] @tile = q[d, i, h, b]
//     stream j in [0, k.extent.1)
//       head
//         reduce low: int32 = min over j: ids[j]
//       live low <= i.hi
//       full j.hi <= i.lo
//       state m[i] = -inf
//       body
//         reduce s[j, i] = sum over d: qt * kt
//         map p[j, i] = exp(s - m) where j <= i otherwise 0.0
//         reduce l1[i] = sum over j: p from l
//       update l = l1
//     epilogue
//       store o[e, i, h, b] for e, i = acc / l
//
// One line an operation. `[..]` after a value are its axes, left out when it has none; its type follows when it is not float32;
// `@tile` is its space. Expressions are those of support/expr_text.h. Indentation and blank lines carry no meaning; `#` starts
// a comment line.
#pragma once

#include "src/tile/tile_program.h"

namespace fldsl::tile {

std::string to_text(const Program &program);
std::string to_text(const Kernel &kernel);
std::string to_text(const Op &op);

/// UserError with the line and what was expected. What parses may still be wrong: see verify.h.
Kernel parse_kernel(const std::string &text);

const char *role_name(AxisRole role);
const char *use_name(TensorUse use);
const char *space_name(Space space);
const char *kind_name(OpKind kind);
const char *order_name(GridOrder order);

/// The words that separate the parts of a line, so no name of a program.
bool is_keyword(const std::string &name);

}  // namespace fldsl::tile
