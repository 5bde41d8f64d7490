#include "src/package/formula.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

namespace fldsl::package {

using namespace Halide::Internal;
using Halide::Expr;

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
        return std::to_string(op->value);
    }
    if (const Cast *op = e.as<Cast>()) {
        return (*this)(op->value);
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
        return call("floor_div", op->a, op->b);
    }
    if (const Mod *op = e.as<Mod>()) {
        return call("floor_mod", op->a, op->b);
    }
    if (const Min *op = e.as<Min>()) {
        return call("least", op->a, op->b);
    }
    if (const Max *op = e.as<Max>()) {
        return call("greatest", op->a, op->b);
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
