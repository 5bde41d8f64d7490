// What a kernel's arguments must satisfy at the call.
#pragma once

#include <Halide.h>

#include <string>

namespace fldsl::tile {

/// Must hold at the call. Both sides are integer Exprs over `q.extent.n` and scalars, evaluated in 64 bits.
/// The refusal reads: "<tensor> dimension <n, outermost first> is <given>; allowed: <allowed>" with {wanted} filled in.
struct Condition {
    std::string tensor;     ///< or the scalar's name
    int dimension = -1;     ///< innermost first; -1: a scalar or the whole call
    Halide::Expr holds;     ///< Bool
    Halide::Expr given;     ///< the value to show
    Halide::Expr wanted;    ///< optional: the value that would be right
    std::string allowed;    ///< e.g. "{wanted}, as q dimension 0", "a divisor of q dimension 1 ({wanted})", "0 to 64"
};

}  // namespace fldsl::tile
