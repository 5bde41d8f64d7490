// The mathematical functions of the language: one table of names, arities and meanings.
//
// In an Expr a primitive is Call::PureExtern `fldsl_<name>` on Float(32); text drops the prefix. Behaviour is IEEE's: NaN in,
// NaN out; exp(-inf) = 0, exp(inf) = inf, log(0) = -inf, log(x < 0) = NaN, tanh(+-inf) = +-1. A back end has an implementation
// of its own for each and a test against `reference`.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace fldsl {

struct Primitive {
    const char *name;
    int arity;
    bool predicate;                          ///< result Bool instead of Float(32)
    double (*reference)(double, double);     ///< the second argument is ignored when arity is 1
    const char *halide_name;                 ///< Halide's own spelling, or nullptr
};

const std::vector<Primitive> &primitives();

/// nullptr when there is none of this name (without prefix).
const Primitive *find_primitive(const std::string &name);

/// Name without prefix of the primitive that `call` is; empty when it is none.
std::string primitive_name(const Halide::Internal::Call *call);

Halide::Expr make_primitive(const std::string &name, std::vector<Halide::Expr> args);

/// Halide's own exp, log, sqrt ... as our primitives, so that both spellings read the same.
Halide::Expr canonical_primitives(const Halide::Expr &e);

}  // namespace fldsl
