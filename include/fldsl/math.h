// Mathematical functions for generators, with IEEE behaviour for NaN, infinities and range ends on every back end. (Halide's own
// exp and log are read as these, but where Halide runs the algorithm itself they differ for NaN and infinities.)
//
// Arguments are float32; narrower floats are widened first.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace fldsl {
namespace internal {

inline Halide::Expr primitive(const std::string &name, std::vector<Halide::Expr> args, Halide::Type type = Halide::Float(32)) {
    for (Halide::Expr &a : args) {
        a = Halide::cast<float>(a);
    }
    return Halide::Internal::Call::make(type, "fldsl_" + name, args, Halide::Internal::Call::PureExtern);
}

}  // namespace internal

inline Halide::Expr exp(const Halide::Expr &x) {
    return internal::primitive("exp", {x});
}
inline Halide::Expr exp2(const Halide::Expr &x) {
    return internal::primitive("exp2", {x});
}
inline Halide::Expr log(const Halide::Expr &x) {
    return internal::primitive("log", {x});
}
inline Halide::Expr log2(const Halide::Expr &x) {
    return internal::primitive("log2", {x});
}
inline Halide::Expr tanh(const Halide::Expr &x) {
    return internal::primitive("tanh", {x});
}
inline Halide::Expr sigmoid(const Halide::Expr &x) {
    return internal::primitive("sigmoid", {x});
}
inline Halide::Expr sqrt(const Halide::Expr &x) {
    return internal::primitive("sqrt", {x});
}
inline Halide::Expr rsqrt(const Halide::Expr &x) {
    return internal::primitive("rsqrt", {x});
}
inline Halide::Expr pow(const Halide::Expr &x, const Halide::Expr &y) {
    return internal::primitive("pow", {x, y});
}
inline Halide::Expr sin(const Halide::Expr &x) {
    return internal::primitive("sin", {x});
}
inline Halide::Expr cos(const Halide::Expr &x) {
    return internal::primitive("cos", {x});
}
inline Halide::Expr erf(const Halide::Expr &x) {
    return internal::primitive("erf", {x});
}
inline Halide::Expr is_nan(const Halide::Expr &x) {
    return internal::primitive("is_nan", {x}, Halide::Bool());
}
inline Halide::Expr is_inf(const Halide::Expr &x) {
    return internal::primitive("is_inf", {x}, Halide::Bool());
}

}  // namespace fldsl
