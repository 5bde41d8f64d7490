// The binary operations that a reduction may use, with the identity that an empty reduction has.
#pragma once

#include <Halide.h>

#include <string>

namespace fldsl {

enum class Combiner { Sum, Product, Max, Min };

/// "sum", "product", "max", "min": the spelling in graphs and tile programs.
const char *combiner_name(Combiner op);

/// The inverse of combiner_name; false when `name` names no combiner.
bool parse_combiner(const std::string &name, Combiner *op);

/// The value that leaves every other value of `type` unchanged: 0, 1, -inf, +inf (integers: the range's ends).
Halide::Expr identity_of(Combiner op, Halide::Type type);

/// `a op b` as an expression; a and b have one type.
Halide::Expr combine(Combiner op, Halide::Expr a, Halide::Expr b);

}  // namespace fldsl
