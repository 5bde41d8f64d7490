// Readable text of expressions, and its inverse: parse_expr(expr_to_text(e)) is structurally equal to e.
//
//   integers      5 is Int(32); int64(5), uint8(3) otherwise          floats   0.5, -inf, nan are Float(32); float64(0.5) otherwise
//   casts         float32(x)                                          bools    true, false
//   elements      q[d, i, h, b] of a tensor                           calls    m(i, h, b) of a node; exp2(x) of a primitive
//   functions     select(c, a, b), min(a, b), max(a, b)               operators  || && ! == != < <= > >= + - * / %
// Variables are plain names (dots, dollars and underscores allowed); their types come from a symbol table when parsing.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>

namespace fldsl {

std::string expr_to_text(const Halide::Expr &e);

/// "float32", "bfloat16", "int32", "bool" ...
std::string type_name(Halide::Type type);
bool parse_type(const std::string &name, Halide::Type *type);

/// What a name means: its type, and for tensors and nodes that it takes arguments.
struct Symbol {
    Halide::Type type;
    enum Kind { Scalar, Tensor, Node } kind = Scalar;
};
/// Returns false for unknown names.
using SymbolTable = std::function<bool(const std::string &name, Symbol *symbol)>;

/// UserError with the column and what was expected.
Halide::Expr parse_expr(const std::string &text, const SymbolTable &symbols);

/// An element of the tensor `name`.
Halide::Expr make_element(Halide::Type type, const std::string &name, const std::vector<Halide::Expr> &index);

}  // namespace fldsl
