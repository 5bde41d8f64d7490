#include "src/passes/fold_scale.h"

#include "src/support/primitives.h"

#include <algorithm>
#include <cmath>

namespace fldsl::passes {

using namespace algorithm;
using namespace Halide::Internal;

namespace {

bool folds(const Node &n, const std::string &axis) {
    return std::find(n.reduction.begin(), n.reduction.end(), axis) != n.reduction.end();
}

/// c * e with c folded into a factor that does not depend on the axis, or distributed over a sum where both sides have one.
Expr scale_by(const Expr &e, const Expr &c, const std::string &axis, bool *folded) {
    *folded = true;
    if (const Mul *op = e.as<Mul>()) {
        if (!expr_uses_var(op->b, axis)) {
            return op->a * (op->b * c);
        }
        if (!expr_uses_var(op->a, axis)) {
            return (op->a * c) * op->b;
        }
    }
    if (e.as<Add>() || e.as<Sub>()) {
        const Add *add = e.as<Add>();
        bool left = false, right = false;
        const Expr a = scale_by(add ? add->a : e.as<Sub>()->a, c, axis, &left);
        const Expr b = scale_by(add ? add->b : e.as<Sub>()->b, c, axis, &right);
        if (left && right) {
            return add ? a + b : a - b;
        }
    }
    *folded = false;
    return e * c;
}

/// Takes terms free of the axis off the top of a sum: e = result + *constant.
Expr peel(const Expr &e, const std::string &axis, Expr *constant) {
    const auto add_constant = [&](const Expr &c) { *constant = constant->defined() ? *constant + c : c; };
    if (const Add *op = e.as<Add>()) {
        if (!expr_uses_var(op->b, axis)) {
            add_constant(op->b);
            return peel(op->a, axis, constant);
        }
        if (!expr_uses_var(op->a, axis)) {
            add_constant(op->a);
            return peel(op->b, axis, constant);
        }
    }
    if (const Sub *op = e.as<Sub>()) {
        if (!expr_uses_var(op->b, axis)) {
            add_constant(make_zero(e.type()) - op->b);
            return peel(op->a, axis, constant);
        }
    }
    return e;
}

bool is_read(const Expr &e, const std::string &node) {
    const auto names = called_nodes(e);
    return std::find(names.begin(), names.end(), node) != names.end();
}

/// Replaces exp(B - M) by exp2(scores - M), and notes any other read of M.
class FoldExponentials : public IRMutator {
  public:
    FoldExponentials(const Node &m, Expr scores) : m_(m), scores_(std::move(scores)) {
    }
    int folded = 0;
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type == Call::PureExtern && primitive_name(op) == "exp") {
            const Sub *difference = op->args[0].as<Sub>();
            const Call *m = difference ? difference->b.as<Call>() : nullptr;
            if (m && m->call_type == Call::Halide && m->name == m_.name && equal(difference->a, m_.body)) {
                folded++;
                return make_primitive("exp2", {scores_ - Call::make(m->type, m_.name + "$folded", m->args, Call::Halide)});
            }
        }
        return IRMutator::visit(op);
    }
    const Node &m_;
    Expr scores_;
};

/// Renames m$folded back to m, and m to its value in its own units.
class Restore : public IRMutator {
  public:
    Restore(std::string name, float unit, Expr constant) : name_(std::move(name)), unit_(unit), constant_(std::move(constant)) {
    }
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type == Call::Halide && op->name == name_ + "$folded") {
            return Call::make(op->type, name_, op->args, Call::Halide);
        }
        if (op->call_type == Call::Halide && op->name == name_) {
            const Expr value = Expr(op) * unit_;
            return constant_.defined() ? value + constant_ : value;
        }
        return IRMutator::visit(op);
    }
    std::string name_;
    float unit_;
    Expr constant_;
};

bool fold(RegionGraph &graph, const std::string &axis, const std::string &name) {
    Node *m = graph.find(name);
    Expr constant;
    const Expr varying = peel(m->body, axis, &constant);
    bool folded = false;
    const Expr scores = scale_by(varying, static_cast<float>(1 / std::log(2.0)), axis, &folded);
    FoldExponentials fold_exponentials(*m, scores);
    std::map<std::string, Expr> bodies;
    for (const Node &n : graph.nodes) {
        if (!folds(n, axis) || !is_read(n.body, name)) {
            continue;
        }
        bodies[n.name] = fold_exponentials.mutate(n.body);
        if (is_read(bodies[n.name], name)) {
            return false;
        }
    }
    if (fold_exponentials.folded == 0) {
        return false;
    }
    Restore restore(name, static_cast<float>(std::log(2.0)), constant);
    for (Node &n : graph.nodes) {
        n.body = restore.mutate(bodies.count(n.name) ? bodies[n.name] : n.body);
    }
    m->body = scores;
    return true;
}

}  // namespace

RegionGraph fold_scale(RegionGraph graph, const std::string &axis) {
    std::vector<std::string> maxima;
    for (const Node &n : graph.nodes) {
        if (folds(n, axis) && n.combiner == Combiner::Max && n.type == Halide::Float(32)) {
            maxima.push_back(n.name);
        }
    }
    for (const std::string &name : maxima) {
        fold(graph, axis, name);
    }
    return graph;
}

}  // namespace fldsl::passes
