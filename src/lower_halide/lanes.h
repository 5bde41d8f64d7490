// A scalar expression of a tile program as vector code over the lanes of one vector of a panel.
#pragma once

#include "src/lower_halide/layout.h"

#include <functional>

namespace fldsl::lower_halide {

/// What names mean at one point of the emitted code.
struct Bindings {
    int lanes = 1;
    std::function<Expr(const std::string &name, Type type)> variable;  ///< scalar or vector of `lanes`
    std::function<Expr(const Halide::Internal::Call *element, const std::vector<Expr> &index)> element;
};

/// float16 and bfloat16 values are float32 here; casts to them round. Comparisons and primitives treat NaN and infinities as
/// IEEE does. UserError for an expression that has no code.
Expr to_lanes(const Expr &e, const Bindings &bindings);

/// An element of a tensor of type t as arithmetic sees it: narrow floats widened to float32, bools from bytes.
Expr load_element(const std::string &base, Type t, const Expr &index);

/// The inverse: rounds to nearest even, keeps NaN.
Stmt store_element(const std::string &base, Type t, const Expr &value, const Expr &index);

/// The type that arithmetic uses for elements of type t.
Type arithmetic_type(Type t);

}  // namespace fldsl::lower_halide
