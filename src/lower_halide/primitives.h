// Vector code of the primitives on a CPU. Accuracy and range, against the double reference: tests/halide/primitives.cpp.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace fldsl::lower_halide {

/// The primitive on Float(32) arguments of any lane count. exp and exp2 flush results below 2^-125 to 0. Undefined when the
/// primitive has no vector form; the call then goes to the runtime's C function, lane by lane.
Halide::Expr expand_primitive(const std::string &name, const std::vector<Halide::Expr> &args);

/// Comparisons that hold for NaN and infinities whatever Halide's fast-math flags assume.
Halide::Expr is_nan_bits(const Halide::Expr &x);
Halide::Expr equal_floats(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr less_floats(const Halide::Expr &a, const Halide::Expr &b);
Halide::Expr less_equal_floats(const Halide::Expr &a, const Halide::Expr &b);

}  // namespace fldsl::lower_halide
