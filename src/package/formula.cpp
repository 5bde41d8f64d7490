#include "src/package/formula.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <cmath>
#include <cstdio>

namespace fldsl::package {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

/// A C++ literal that reads back as the same double.
std::string float_text(double value) {
    if (std::isnan(value)) {
        return "__builtin_nan(\"\")";
    }
    if (std::isinf(value)) {
        return value > 0 ? "__builtin_inf()" : "(-__builtin_inf())";
    }
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%.17g", value);
    const bool whole = std::string(digits).find_first_of(".e") == std::string::npos;
    return (value < 0 ? "(" : "") + std::string(digits) + (whole ? ".0" : "") + (value < 0 ? ")" : "");
}

}  // namespace

FormulaText::FormulaText(const tile::Kernel &kernel) {
    int x = 0, f = 0;
    for (const CallArgument &a : call_arguments(kernel)) {
        for (int k = 0; a.tensor && k < a.tensor->rank; k++) {
            places_[a.name() + ".extent." + std::to_string(k)] = "x[" + std::to_string(x++) + "]";
        }
    }
    for (const CallArgument &a : call_arguments(kernel)) {
        if (a.scalar) {
            places_[a.name()] = a.type().is_float() ? "f[" + std::to_string(f++) + "]" : "x[" + std::to_string(x++) + "]";
        }
    }
}

std::string FormulaText::operator()(const Expr &e) const {
    const auto infix = [&](const Expr &a, const char *op, const Expr &b) {
        return "(" + (*this)(a) + " " + op + " " + (*this)(b) + ")";
    };
    const auto call = [&](const char *name, const Expr &a, const Expr &b) {
        return std::string(name) + "(" + (*this)(a) + ", " + (*this)(b) + ")";
    };
    if (const Variable *op = e.as<Variable>()) {
        auto it = places_.find(op->name);
        FLDSL_INTERNAL_CHECK(it != places_.end()) << "a formula reads " << op->name << ", which is no argument";
        return it->second;
    }
    if (const IntImm *op = e.as<IntImm>()) {
        return std::to_string(op->value);
    }
    if (const UIntImm *op = e.as<UIntImm>()) {
        return std::to_string(op->value);
    }
    if (const FloatImm *op = e.as<FloatImm>()) {
        return float_text(op->value);
    }
    if (const Cast *op = e.as<Cast>()) {
        const std::string value = (*this)(op->value);
        if (op->type.is_float() == op->value.type().is_float()) {
            return value;
        }
        return std::string("static_cast<") + (op->type.is_float() ? "double" : "int64_t") + ">(" + value + ")";
    }
    if (const Add *op = e.as<Add>()) {
        return infix(op->a, "+", op->b);
    }
    if (const Sub *op = e.as<Sub>()) {
        return infix(op->a, "-", op->b);
    }
    if (const Mul *op = e.as<Mul>()) {
        return infix(op->a, "*", op->b);
    }
    if (const Div *op = e.as<Div>()) {
        return op->type.is_float() ? infix(op->a, "/", op->b) : call("floor_div", op->a, op->b);
    }
    if (const Mod *op = e.as<Mod>()) {
        FLDSL_USER_CHECK(!op->type.is_float()) << "a condition takes a floating remainder: " << expr_to_text(e);
        return call("floor_mod", op->a, op->b);
    }
    if (const Min *op = e.as<Min>()) {
        return op->type.is_float() ? "(" + infix(op->a, "<", op->b) + " ? " + (*this)(op->a) + " : " + (*this)(op->b) + ")"
                                   : call("least", op->a, op->b);
    }
    if (const Max *op = e.as<Max>()) {
        return op->type.is_float() ? "(" + infix(op->a, ">", op->b) + " ? " + (*this)(op->a) + " : " + (*this)(op->b) + ")"
                                   : call("greatest", op->a, op->b);
    }
    if (const EQ *op = e.as<EQ>()) {
        return infix(op->a, "==", op->b);
    }
    if (const NE *op = e.as<NE>()) {
        return infix(op->a, "!=", op->b);
    }
    if (const LT *op = e.as<LT>()) {
        return infix(op->a, "<", op->b);
    }
    if (const LE *op = e.as<LE>()) {
        return infix(op->a, "<=", op->b);
    }
    if (const GT *op = e.as<GT>()) {
        return infix(op->a, ">", op->b);
    }
    if (const GE *op = e.as<GE>()) {
        return infix(op->a, ">=", op->b);
    }
    if (const And *op = e.as<And>()) {
        return infix(op->a, "&&", op->b);
    }
    if (const Or *op = e.as<Or>()) {
        return infix(op->a, "||", op->b);
    }
    if (const Not *op = e.as<Not>()) {
        return "!" + (*this)(op->a);
    }
    if (const Select *op = e.as<Select>()) {
        return "(" + (*this)(op->condition) + " ? " + (*this)(op->true_value) + " : " + (*this)(op->false_value) + ")";
    }
    FLDSL_INTERNAL_CHECK(false) << "no formula text for " << expr_to_text(e);
    return "";
}

}  // namespace fldsl::package
