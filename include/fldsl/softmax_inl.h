// Bodies of softmax.h; header-only so that a generator file builds with Halide's own generator main.
#pragma once

namespace fldsl {
namespace internal {

inline std::vector<Halide::Var> free_vars(const std::vector<Halide::Expr> &exprs, const std::string &except) {
    struct Collect : Halide::Internal::IRGraphVisitor {
        using Halide::Internal::IRGraphVisitor::visit;
        std::vector<std::string> names;
        void visit(const Halide::Internal::Variable *op) override {
            const bool is_var = !op->param.defined() && !op->image.defined() && !op->reduction_domain.defined();
            if (is_var && std::find(names.begin(), names.end(), op->name) == names.end()) {
                names.push_back(op->name);
            }
        }
    } collect;
    for (const Halide::Expr &e : exprs) {
        if (e.defined()) {
            e.accept(&collect);
        }
    }
    std::vector<Halide::Var> vars;
    for (const std::string &name : collect.names) {
        if (name != except) {
            vars.emplace_back(name);
        }
    }
    return vars;
}

/// A domain with the bounds and the name of `domain` and a predicate of its own.
inline Halide::RDom restricted(const Halide::RDom &domain, const Halide::Var &position, const Halide::Expr &where) {
    std::string name = domain.x.name();
    name = name.substr(0, name.find('$'));
    Halide::RDom copy(domain.x.min(), domain.x.extent(), name);
    if (where.defined()) {
        copy.where(Halide::Internal::substitute(position.name(), Halide::Expr(copy.x), where));
    }
    return copy;
}

}  // namespace internal

inline Halide::Expr sum_over(const Halide::Var &position, const Halide::RDom &domain, const Halide::Expr &body,
                             const Halide::Expr &where, const std::string &name) {
    const std::vector<Halide::Var> rows = internal::free_vars({body, where}, position.name());
    Halide::RDom r = internal::restricted(domain, position, where);
    Halide::Func f(name);
    f(rows) = Halide::Internal::make_zero(body.type());
    f(rows) += Halide::Internal::substitute(position.name(), Halide::Expr(r.x), body);
    return f(rows);
}

inline Halide::Expr max_over(const Halide::Var &position, const Halide::RDom &domain, const Halide::Expr &body,
                             const Halide::Expr &where, const std::string &name) {
    const std::vector<Halide::Var> rows = internal::free_vars({body, where}, position.name());
    Halide::RDom r = internal::restricted(domain, position, where);
    Halide::Func f(name);
    f(rows) = body.type().min();
    f(rows) = Halide::max(f(rows), Halide::Internal::substitute(position.name(), Halide::Expr(r.x), body));
    return f(rows);
}

inline Softmax softmax(const Halide::Expr &score, const Halide::Var &position, const Halide::RDom &domain,
                       const Halide::Expr &where) {
    const Halide::Expr row_max = max_over(position, domain, score, where, "row_max");
    const Halide::Expr weight = fldsl::exp(score - row_max);
    const Halide::Expr row_sum = sum_over(position, domain, weight, where, "row_sum");
    return {weight / row_sum, row_max, row_sum, position, domain, where};
}

inline Halide::Expr weighted_sum(const Softmax &p, const Halide::Expr &value) {
    return sum_over(p.position, p.domain, p.weight * value, p.where, "weighted_sum");
}

}  // namespace fldsl
