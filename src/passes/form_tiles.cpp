#include "src/passes/form_tiles.h"

#include "src/passes/share.h"
#include "src/passes/tile_scope.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <functional>
#include <set>

namespace fldsl::passes {

using namespace algorithm;
using namespace Halide::Internal;
using tile::AxisRole;
using tile::Op;
using tile::OpKind;

namespace {

bool contains(const std::vector<std::string> &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

class Former {
  public:
    Former(const RegionGraph &graph, const Schedule &schedule, const std::vector<StreamPlan> &streams)
        : graph_(graph), schedule_(schedule), plans_(streams), names_(program_) {
    }

    tile::Program form() {
        declare_arguments();
        declare_axes();
        prologue_ = std::make_unique<TileScope>(program_.prologue, nullptr, names_);
        for (const StreamPlan &plan : plans_) {
            form_stream(plan);
        }
        epilogue_ = std::make_unique<TileScope>(program_.epilogue, prologue_.get(), names_);
        for (const TensorArgument &o : graph_.outputs) {
            form_output(o);
        }
        return std::move(program_);
    }

  private:
    // ---- arguments and axes

    void declare_arguments() {
        program_.name = graph_.name;
        for (const TensorArgument &t : graph_.inputs) {
            program_.tensors.push_back({t.name, t.type, t.rank, tile::TensorUse::Input, {}});
        }
        for (const TensorArgument &t : graph_.outputs) {
            program_.tensors.push_back({t.name, t.type, t.rank, tile::TensorUse::Output, {}});
        }
        for (const ScalarArgument &s : graph_.scalars) {
            program_.scalars.push_back({s.name, s.type});
        }
    }

    void declare_axes() {
        program_.order = schedule_.order;
        for (const Axis &a : graph_.axes) {
            const AxisPlan &plan = schedule_.axes.at(a.name);
            program_.axes.push_back({a.name, plan.role, a.extent, plan.tile});
        }
        for (const TensorArgument &o : graph_.outputs) {
            for (const std::string &a : graph_.find(o.name)->parallel) {
                const AxisRole role = schedule_.axes.at(a).role;
                if (role == AxisRole::Grid && !contains(program_.grid, a)) {
                    program_.grid.push_back(a);
                }
            }
        }
        for (const TensorArgument &o : graph_.outputs) {
            for (const std::string &a : program_.grid) {
                FLDSL_USER_CHECK(contains(graph_.find(o.name)->parallel, a))
                    << "output " << o.name << " has no axis " << a << " although another output is cut along it: give " << o.name
                    << " a kernel of its own";
            }
        }
        for (const Node &n : graph_.nodes) {
            for (const std::string &a : n.parallel) {
                FLDSL_USER_CHECK(schedule_.axes.at(a).role != AxisRole::Grid || contains(program_.grid, a))
                    << n.name << " has axis " << a << " that no output has; state whole(" << a << ", n) or stream(" << a << ", n)";
            }
        }
        names_.set_axes();
    }

    // ---- graph expressions in terms of tile values

    /// Where an expression is being put: which stream is running, and how reads of reductions are answered.
    struct Place {
        TileScope *scope = nullptr;
        const StreamPlan *running = nullptr;
        bool old_states = false;
    };

    class Lower : public IRMutator {
      public:
        Lower(Former &former, Place place) : former_(former), place_(place) {
        }
        using IRMutator::mutate;

      private:
        using IRMutator::visit;
        Expr visit(const Call *op) override {
            if (op->call_type == Call::Image) {
                return former_.load(IRMutator::visit(op).as<Call>(), place_);
            }
            if (op->call_type == Call::Halide) {
                return former_.read_node(op->name, place_);
            }
            return IRMutator::visit(op);
        }
        Former &former_;
        Place place_;
    };

    Expr lower(const Expr &e, const Place &place) {
        return e.defined() ? Lower(*this, place).mutate(e) : e;
    }

    Expr load(const Call *element, const Place &place) {
        const bool epilogue = place.scope == epilogue_.get();
        const bool in_stream = place.running && names_.depends_on(element, place.running->demotion.axis);
        TileScope &scope = epilogue || in_stream ? *place.scope : *prologue_;
        return scope.define(OpKind::Load, element, Expr(), element->name + "_t");
    }

    Expr read_node(const std::string &name, Place place) {
        std::string base = name;
        const std::string old = ".old";
        if (name.size() > old.size() && name.compare(name.size() - old.size(), old.size(), old) == 0) {
            base = name.substr(0, name.size() - old.size());
            place.old_states = true;
        }
        for (const StreamPlan &plan : plans_) {
            for (const OnlineReduction &r : plan.reductions) {
                if (r.node == base) {
                    return read_reduction(r, plan, place);
                }
            }
        }
        return compute_node(*graph_.find(base), place);
    }

    /// The value of a streamed reduction: from its running state inside its own stream, from the final one after it.
    Expr read_reduction(const OnlineReduction &r, const StreamPlan &plan, const Place &place) {
        const bool running = place.running == &plan;
        const std::string state = running && !place.old_states ? new_states_.at(r.node) : states_.at(r.node);
        class Finish : public IRMutator {
          public:
            Finish(Former &former, const Place &place, std::string self, std::string state)
                : former_(former), place_(place), self_(std::move(self)), state_(std::move(state)) {
            }
            using IRMutator::mutate;

          private:
            using IRMutator::visit;
            Expr visit(const Call *op) override {
                if (op->call_type != Call::Halide) {
                    return IRMutator::visit(op);
                }
                return op->name == self_ ? Variable::make(op->type, state_) : former_.read_node(op->name, place_);
            }
            Former &former_;
            Place place_;
            std::string self_, state_;
        };
        return Finish(*this, place, r.node, state).mutate(r.finish);
    }

    /// A node that no stream folds, computed where it is first needed.
    Expr compute_node(const Node &n, const Place &place) {
        const bool in_stream = place.running && contains(n.parallel, place.running->demotion.axis);
        const bool late = place.scope == epilogue_.get() || reads_streams(n);
        const Place at = in_stream || late ? place : Place{prologue_.get(), nullptr, false};
        const std::string key = "node " + n.name;
        if (const std::string *known = at.scope->find(key)) {
            return Variable::make(n.type, *known);
        }
        const Expr body = lower(n.body, at);
        const Expr where = lower(n.where, at);
        if (!n.is_reduction()) {
            return body;
        }
        Op op;
        op.kind = OpKind::Reduce;
        op.type = n.type;
        op.axes = names_.in_order(n.parallel);
        op.over = n.reduction;
        op.combiner = n.combiner;
        op.value = body;
        op.where = where;
        for (const std::string &a : n.reduction) {
            FLDSL_USER_CHECK(schedule_.axes.at(a).role == AxisRole::Whole)
                << n.name << " folds " << a << ", which is streamed for other reductions: a tile value can fold whole axes only";
        }
        if (!op.where.defined()) {
            as_contraction(op, *at.scope);
        }
        op.name = names_.fresh(n.name);
        at.scope->add(key, op);
        return Variable::make(n.type, op.name);
    }

    bool reads_streams(const Node &n) const {
        for (const Expr &e : {n.body, n.where}) {
            for (const std::string &callee : called_nodes(e)) {
                const Node *c = graph_.find(callee);
                if (is_streamed(callee) || (c && reads_streams(*c))) {
                    return true;
                }
            }
        }
        return false;
    }

    bool is_streamed(const std::string &node) const {
        for (const StreamPlan &plan : plans_) {
            if (contains(plan.demotion.reductions, node)) {
                return true;
            }
        }
        return false;
    }

    // ---- streams

    void form_stream(const StreamPlan &plan) {
        tile::Stream stream;
        stream.axis = plan.demotion.axis;
        stream.begin = 0;
        stream.end = graph_.axis(stream.axis)->extent;
        TileScope scope(stream.body, prologue_.get(), names_);
        const Place place{&scope, &plan, false};

        struct Lowered {
            const OnlineReduction *reduction;
            Expr body, where, correction;
        };
        for (const OnlineReduction &r : plan.reductions) {
            tile::State state{names_.fresh(r.node), r.type, names_.in_order(graph_.find(r.node)->parallel), r.identity,
                              tile::Space::Unassigned};
            states_[r.node] = state.name;
            new_states_[r.node] = names_.fresh(state.name + "_new");
            stream.states.push_back(state);
        }
        std::vector<Lowered> lowered;
        Sharing sharing;
        for (const OnlineReduction &r : plan.reductions) {
            Lowered l{&r, lower(r.body, place), lower(r.where, place), lower(r.correction, place)};
            sharing.count(l.body, r.node);
            lowered.push_back(l);
        }
        // A value may lose its predicate to a map only if every reader sums under that predicate.
        for (const Lowered &l : lowered) {
            sharing.describe(l.reduction->node, l.reduction->combiner == Combiner::Sum ? key_of(l.where) : "not a sum");
        }
        for (const Lowered &l : lowered) {
            form_reduction(*l.reduction, l.body, l.where, l.correction, scope, sharing);
            stream.updates.push_back({states_[l.reduction->node], new_states_[l.reduction->node]});
        }
        program_.streams.push_back(std::move(stream));
    }

    static std::string key_of(const Expr &where) {
        return where.defined() ? expr_to_text(where) : "";
    }

    void form_reduction(const OnlineReduction &r, const Expr &body, const Expr &where, const Expr &correction, TileScope &scope,
                        Sharing &sharing) {
        const Node &n = *graph_.find(r.node);
        Op op;
        op.kind = OpKind::Reduce;
        op.type = r.type;
        op.axes = names_.in_order(n.parallel);
        op.over = n.reduction;
        op.combiner = r.combiner;
        op.where = where;
        // Where all readers sum under one predicate the shared value is 0 outside it: then a contraction needs no test.
        const auto define = [&](const Expr &original, const Expr &inner) {
            return scope.define(OpKind::Map, inner, sharing.one_predicate(original) ? where : Expr(), names_.hint(inner));
        };
        op.value = sharing.extract(body, r.node, define, /*keep_top=*/true);
        const Expr state = Variable::make(r.type, states_[r.node]);
        op.init = state;
        if (correction.defined()) {
            op.init = state * scope.define(OpKind::Map, correction, Expr(), "c");
        }
        const bool contraction = as_contraction(op, scope);
        if (!contraction && sharing.is_shared(body)) {
            op.value = define(body, op.value);
            if (zero_outside(op.value, where)) {
                op.where = Expr();
            }
        }
        op.name = new_states_[r.node];
        scope.add("state " + r.node, op);
    }

    // ---- contractions

    static void flatten(const Expr &e, std::vector<Expr> &factors) {
        if (const Mul *op = e.as<Mul>()) {
            flatten(op->a, factors);
            flatten(op->b, factors);
        } else if (const Div *quotient = e.as<Div>()) {
            flatten(quotient->a, factors);
            factors.push_back(make_one(e.type()) / quotient->b);
        } else {
            factors.push_back(e);
        }
    }

    /// Puts a summed product in the form `a * b` of two values when its factors part so that each side has a result axis
    /// that the other lacks. The side with tiled grid axes takes the predicate: its masked elements are 0.
    bool as_contraction(Op &op, TileScope &scope) {
        if (op.combiner != Combiner::Sum || !op.type.is_float() || op.axes.size() < 2) {
            return false;
        }
        std::vector<Expr> factors;
        flatten(op.value, factors);
        Expr rows, columns;
        for (const Expr &f : factors) {
            Expr &side = names_.has_tiled_grid_axis(f) ? rows : columns;
            side = side.defined() ? side * f : f;
        }
        if (!rows.defined() || !columns.defined()) {
            return false;
        }
        const std::vector<std::string> row_axes = names_.axes_of(rows), column_axes = names_.axes_of(columns);
        const auto has_own = [&](const std::vector<std::string> &mine, const std::vector<std::string> &theirs) {
            return std::any_of(op.axes.begin(), op.axes.end(),
                               [&](const std::string &a) { return contains(mine, a) && !contains(theirs, a); });
        };
        for (const std::string &a : op.over) {
            if (!contains(row_axes, a) || !contains(column_axes, a)) {
                return false;
            }
        }
        if (!has_own(row_axes, column_axes) || !has_own(column_axes, row_axes)) {
            return false;
        }
        op.value = operand(rows, op.where, scope) * operand(columns, Expr(), scope);
        op.where = Expr();
        return true;
    }

    /// A value by itself, possibly widened: a load or a map.
    Expr operand(const Expr &e, const Expr &where, TileScope &scope) {
        const Cast *cast = e.as<Cast>();
        const Variable *v = (cast ? cast->value : e).as<Variable>();
        if (v && names_.is_value(v->name) && (!where.defined() || zero_outside(v, where))) {
            return e;
        }
        return scope.define(OpKind::Map, e, where, names_.hint(e));
    }

    bool zero_outside(const Expr &e, const Expr &where) const {
        const Variable *v = e.as<Variable>();
        return v && where.defined() && names_.predicate_of(v->name) == key_of(where);
    }

    // ---- outputs

    void form_output(const TensorArgument &o) {
        const Node &n = *graph_.find(o.name);
        const Place place{epilogue_.get(), nullptr, false};
        Op op;
        op.kind = OpKind::Store;
        op.name = o.name;
        op.type = n.type;
        op.axes = names_.in_order(n.parallel);
        op.value = n.is_reduction() ? read_node(n.name, place) : lower(n.body, place);
        for (const std::string &a : n.parallel) {
            op.index.push_back(Variable::make(Halide::Int(32), a));
        }
        program_.epilogue.push_back(op);
    }

    const RegionGraph &graph_;
    const Schedule &schedule_;
    const std::vector<StreamPlan> &plans_;
    tile::Program program_;
    TileNames names_;
    std::unique_ptr<TileScope> prologue_, epilogue_;
    std::map<std::string, std::string> states_, new_states_;
};

}  // namespace

tile::Program form_tiles(const RegionGraph &graph, const Schedule &schedule, const std::vector<StreamPlan> &streams) {
    return Former(graph, schedule, streams).form();
}

}  // namespace fldsl::passes
