// All that a library needs to know of a kernel: what it runs, what its arguments must satisfy, what callers may read of it.
#pragma once

#include "src/tile/tile_program.h"

#include <map>

namespace fldsl::package {

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

struct KernelSpec {
    tile::Kernel kernel;
    std::vector<Condition> conditions;
    std::map<std::string, std::string> features;  ///< free-form, from the kernel list: {"op":"attention","mask":"causal"}
    std::string generator;                        ///< generator name and parameters, for the manifest
    std::string schedule;                         ///< text of the directives applied
    std::string graph;                            ///< text of the region graph as read
};

}  // namespace fldsl::package
