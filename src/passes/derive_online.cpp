#include "src/passes/derive_online.h"

#include "src/passes/factor.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <sstream>

namespace fldsl::passes {

using namespace algorithm;
using namespace Halide::Internal;

namespace {

bool contains(const std::vector<std::string> &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

class ReadStates : public IRMutator {
  public:
    ReadStates(const std::vector<std::string> &reductions, const std::function<std::string(const std::string &)> &rename)
        : reductions_(reductions), rename_(rename) {
    }
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type == Call::Halide && contains(reductions_, op->name)) {
            return Variable::make(op->type, rename_(op->name));
        }
        return IRMutator::visit(op);
    }
    const std::vector<std::string> &reductions_;
    const std::function<std::string(const std::string &)> &rename_;
};

/// The stream's reductions that `e` reads.
std::vector<std::string> ancestors_of(const Expr &e, const Demotion &demotion) {
    std::vector<std::string> found;
    for (const std::string &callee : called_nodes(e)) {
        if (contains(demotion.reductions, callee)) {
            found.push_back(callee);
        }
    }
    return found;
}

Expr call_of(const Node &n, const std::string &suffix = "") {
    std::vector<Expr> args;
    for (const std::string &a : n.parallel) {
        args.push_back(Variable::make(Halide::Int(32), a));
    }
    return Call::make(n.type, n.name + suffix, args, Call::Halide);
}

class Age : public IRMutator {
  public:
    explicit Age(const std::vector<std::string> &reductions) : reductions_(reductions) {
    }
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->call_type == Call::Halide && contains(reductions_, op->name)) {
            return Call::make(op->type, op->name + ".old", op->args, Call::Halide);
        }
        return IRMutator::visit(op);
    }
    const std::vector<std::string> &reductions_;
};

class Derivation {
  public:
    Derivation(const RegionGraph &graph, const Demotion &demotion) : graph_(graph), demotion_(demotion) {
    }

    OnlineReduction derive(const Node &n) const {
        OnlineReduction r;
        r.node = n.name;
        r.combiner = n.combiner;
        r.type = n.type;
        r.identity = identity_of(n.combiner, n.type);
        r.body = n.body;
        r.where = n.where;
        r.finish = call_of(n);
        const std::vector<std::string> ancestors = ancestors_of(n.body, demotion_);
        FLDSL_USER_CHECK(!n.where.defined() || ancestors_of(n.where, demotion_).empty())
            << refusal(n, ancestors) << ": its `where` reads a reduction over the same axis";
        for (const std::string &a : ancestors) {
            FLDSL_USER_CHECK(graph_.find(a)->parallel.size() <= n.parallel.size() + 1 && !reads_axis(a, n))
                << refusal(n, {a}) << ": " << a << " is read at " << demotion_.axis;
        }
        if (ancestors.empty()) {
            return r;
        }
        switch (n.combiner) {
        case Combiner::Sum:
            derive_sum(n, ancestors, r);
            break;
        case Combiner::Max:
        case Combiner::Min:
            derive_extremum(n, ancestors, r);
            break;
        case Combiner::Product:
            FLDSL_USER_CHECK(false) << refusal(n, ancestors) << ": no rule takes a factor out of a product";
        }
        return r;
    }

  private:
    Dependence dependence() const {
        Dependence d;
        d.on_axis = [this](const Expr &e) { return expr_uses_var(e, demotion_.axis); };
        d.on_ancestor = [this](const Expr &e) { return !ancestors_of(e, demotion_).empty(); };
        return d;
    }

    void derive_sum(const Node &n, const std::vector<std::string> &ancestors, OnlineReduction &r) const {
        const RunningSplit split = split_running(n.body, dependence());
        FLDSL_USER_CHECK(split.found) << refusal(n, ancestors) << ": " << split.obstacle
                                      << " keeps the part that depends on " << ancestors[0] << " from factoring out";
        r.body = split.running.defined() ? split.running : make_one(n.type);
        if (split.factor.defined()) {
            const std::vector<std::string> &reductions = demotion_.reductions;
            r.correction = factor_ratio(
                split.factor, [](const Expr &e) { return e; }, [&](const Expr &e) { return Age(reductions).mutate(e); });
            r.correction = guarded(ancestors_of(split.factor, demotion_), r.correction);
        }
        if (split.deferred.defined()) {
            // While an ancestor holds its identity no position took part, and the sum is empty whatever the factor says.
            Expr empty;
            for (const std::string &a : ancestors_of(split.deferred, demotion_)) {
                const Node &m = *graph_.find(a);
                const Expr unset = call_of(m) == identity_of(m.combiner, m.type);
                empty = empty.defined() ? empty || unset : unset;
            }
            r.finish = Halide::select(empty, r.identity, with_factor(r.finish, split.deferred));
        }
    }

    /// state * (1 / L) is written state / L.
    static Expr with_factor(const Expr &state, const Expr &factor) {
        const Div *op = factor.as<Div>();
        return op && is_const_one(op->a) ? state / op->b : state * factor;
    }

    void derive_extremum(const Node &n, const std::vector<std::string> &ancestors, OnlineReduction &r) const {
        const Split split = split_sum(n.body, dependence());
        FLDSL_USER_CHECK(split.found) << refusal(n, ancestors) << ": " << split.obstacle
                                      << " keeps the part that depends on " << ancestors[0] << " from separating";
        FLDSL_USER_CHECK(split.with_axis.defined()) << refusal(n, ancestors) << ": its body does not depend on the axis";
        r.body = split.with_axis;
        r.finish = Halide::select(r.finish == r.identity, r.identity, r.finish + split.with_ancestor);
    }

    /// Equal old and new ancestors rescale by exactly 1; so -inf - -inf is never computed into a state.
    Expr guarded(const std::vector<std::string> &ancestors, const Expr &ratio) const {
        Expr unchanged;
        for (const std::string &a : ancestors) {
            const Node &m = *graph_.find(a);
            const Expr equal = call_of(m, ".old") == call_of(m);
            unchanged = unchanged.defined() ? unchanged && equal : equal;
        }
        return Halide::select(unchanged, make_one(ratio.type()), ratio);
    }

    bool reads_axis(const std::string &ancestor, const Node &) const {
        return contains(graph_.find(ancestor)->parallel, demotion_.axis);
    }

    std::string refusal(const Node &n, const std::vector<std::string> &ancestors) const {
        std::string list;
        for (const std::string &a : ancestors) {
            list += (list.empty() ? "" : ", ") + a;
        }
        return "online(): " + n.name + " = " + combiner_name(n.combiner) + " over " + demotion_.axis + " of " +
               expr_to_text(n.body) + " reads " + list + " over the same axis and cannot be kept while it changes";
    }

    const RegionGraph &graph_;
    const Demotion &demotion_;
};

}  // namespace

std::vector<OnlineReduction> derive_online(const RegionGraph &graph, const Demotion &demotion) {
    for (const std::string &tile : demotion.tiles) {
        const Node &n = *graph.find(tile);
        const std::vector<std::string> ancestors = ancestors_of(n.body, demotion);
        FLDSL_USER_CHECK(ancestors.empty()) << "online(): " << tile << ", computed inside the loop over " << demotion.axis
                                            << ", reads the finished " << ancestors[0];
    }
    const Derivation derivation(graph, demotion);
    std::vector<OnlineReduction> online;
    for (const std::string &name : demotion.reductions) {
        online.push_back(derivation.derive(*graph.find(name)));
    }
    return online;
}

bool independent(const RegionGraph &graph, const Demotion &demotion) {
    for (const auto *list : {&demotion.reductions, &demotion.tiles}) {
        for (const std::string &name : *list) {
            const Node &n = *graph.find(name);
            if (!ancestors_of(n.body, demotion).empty() || (n.where.defined() && !ancestors_of(n.where, demotion).empty())) {
                return false;
            }
        }
    }
    return true;
}

Expr read_states(const Expr &e, const std::vector<std::string> &reductions,
                 const std::function<std::string(const std::string &)> &rename) {
    return ReadStates(reductions, rename).mutate(e);
}

std::string to_text(const std::vector<OnlineReduction> &online) {
    std::vector<std::string> names;
    for (const OnlineReduction &r : online) {
        names.push_back(r.node);
        names.push_back(r.node + ".old");
    }
    const auto plain = [&](const Expr &e) { return expr_to_text(read_states(e, names, [](const std::string &n) { return n; })); };
    std::ostringstream out;
    for (const OnlineReduction &r : online) {
        out << r.node << ": " << combiner_name(r.combiner) << " of " << plain(r.body);
        if (r.where.defined()) {
            out << "  where " << plain(r.where);
        }
        if (r.correction.defined()) {
            out << "  correction " << plain(r.correction);
        }
        out << "  finish " << plain(r.finish) << "\n";
    }
    return out.str();
}

}  // namespace fldsl::passes
