#include "src/support/combiner.h"

#include "src/support/error.h"

#include <limits>

namespace fldsl {

namespace {

const std::pair<Combiner, const char *> names[] = {
    {Combiner::Sum, "sum"}, {Combiner::Product, "product"}, {Combiner::Max, "max"}, {Combiner::Min, "min"}};

}  // namespace

const char *combiner_name(Combiner op) {
    for (const auto &n : names) {
        if (n.first == op) {
            return n.second;
        }
    }
    FLDSL_INTERNAL_CHECK(false) << "no such combiner";
    return "";
}

bool parse_combiner(const std::string &name, Combiner *op) {
    for (const auto &n : names) {
        if (name == n.second) {
            *op = n.first;
            return true;
        }
    }
    return false;
}

Halide::Expr identity_of(Combiner op, Halide::Type type) {
    const double inf = std::numeric_limits<double>::infinity();
    switch (op) {
    case Combiner::Sum:
        return Halide::Internal::make_zero(type);
    case Combiner::Product:
        return Halide::Internal::make_one(type);
    case Combiner::Max:
        return type.is_float() ? Halide::Internal::make_const(type, -inf) : type.min();
    case Combiner::Min:
        return type.is_float() ? Halide::Internal::make_const(type, inf) : type.max();
    }
    return Halide::Expr();
}

Halide::Expr combine(Combiner op, Halide::Expr a, Halide::Expr b) {
    switch (op) {
    case Combiner::Sum:
        return Halide::Internal::Add::make(a, b);
    case Combiner::Product:
        return Halide::Internal::Mul::make(a, b);
    case Combiner::Max:
        return Halide::Internal::Max::make(a, b);
    case Combiner::Min:
        return Halide::Internal::Min::make(a, b);
    }
    return Halide::Expr();
}

}  // namespace fldsl
