#include "src/support/primitives.h"

#include "src/support/error.h"

#include <cmath>

namespace fldsl {

using namespace Halide::Internal;
using Halide::Expr;

const std::vector<Primitive> &primitives() {
    static const std::vector<Primitive> table = {
        {"exp", 1, false, [](double x, double) { return std::exp(x); }, "exp_f32"},
        {"exp2", 1, false, [](double x, double) { return std::exp2(x); }, nullptr},
        {"log", 1, false, [](double x, double) { return std::log(x); }, "log_f32"},
        {"log2", 1, false, [](double x, double) { return std::log2(x); }, nullptr},
        {"tanh", 1, false, [](double x, double) { return std::tanh(x); }, "tanh_f32"},
        {"sigmoid", 1, false, [](double x, double) { return 1 / (1 + std::exp(-x)); }, nullptr},
        {"sqrt", 1, false, [](double x, double) { return std::sqrt(x); }, "sqrt_f32"},
        {"rsqrt", 1, false, [](double x, double) { return 1 / std::sqrt(x); }, nullptr},
        {"pow", 2, false, [](double x, double y) { return std::pow(x, y); }, "pow_f32"},
        {"sin", 1, false, [](double x, double) { return std::sin(x); }, "sin_f32"},
        {"cos", 1, false, [](double x, double) { return std::cos(x); }, "cos_f32"},
        {"erf", 1, false, [](double x, double) { return std::erf(x); }, nullptr},
        {"is_nan", 1, true, [](double x, double) { return std::isnan(x) ? 1.0 : 0.0; }, "is_nan_f32"},
        {"is_inf", 1, true, [](double x, double) { return std::isinf(x) ? 1.0 : 0.0; }, "is_inf_f32"},
    };
    return table;
}

const Primitive *find_primitive(const std::string &name) {
    for (const Primitive &p : primitives()) {
        if (name == p.name) {
            return &p;
        }
    }
    return nullptr;
}

std::string primitive_name(const Call *call) {
    const std::string prefix = "fldsl_";
    if (call->name.compare(0, prefix.size(), prefix) != 0) {
        return "";
    }
    const std::string name = call->name.substr(prefix.size());
    return find_primitive(name) ? name : "";
}

Expr make_primitive(const std::string &name, std::vector<Expr> args) {
    const Primitive *p = find_primitive(name);
    FLDSL_INTERNAL_CHECK(p && static_cast<int>(args.size()) == p->arity) << "no primitive " << name << " of " << args.size();
    const Halide::Type t = p->predicate ? Halide::Bool() : Halide::Float(32);
    return Call::make(t, "fldsl_" + name, args, Call::PureExtern);
}

namespace {

class Canonical : public IRMutator {
  public:
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        const Expr e = IRMutator::visit(op);
        const Call *call = e.as<Call>();
        for (const Primitive &p : primitives()) {
            if (call && p.halide_name && call->name == p.halide_name) {
                return make_primitive(p.name, call->args);
            }
        }
        return e;
    }
};

}  // namespace

Expr canonical_primitives(const Expr &e) {
    return Canonical().mutate(e);
}

}  // namespace fldsl
