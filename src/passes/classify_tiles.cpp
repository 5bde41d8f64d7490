#include "src/passes/classify_tiles.h"

#include "src/support/expr_text.h"

#include <algorithm>
#include <set>

namespace fldsl::passes {

using namespace Halide::Internal;
using Halide::Expr;
using tile::AxisRole;
using tile::Op;
using tile::OpKind;
using tile::Program;
using tile::Stream;

namespace {

Expr coordinate(const std::string &name) {
    return Variable::make(Halide::Int(32), name);
}

/// x == y as two comparisons: then a block is full where the ranges of x and y are one and the same value.
class SplitEquality : public IRMutator {
  public:
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const EQ *op) override {
        const bool numbers = op->a.type().is_int() || (op->a.type().is_uint() && !op->a.type().is_bool());
        return numbers ? op->a <= op->b && op->b <= op->a : IRMutator::visit(op);
    }
};

class Classifier {
  public:
    Classifier(Program &program, Stream &stream) : program_(program), stream_(stream) {
    }

    void run() {
        std::vector<Expr> predicates;
        if (!collect_predicates(&predicates)) {
            return;  // some reduction takes every position: all blocks are needed, none has tests for all
        }
        Expr any, all;
        for (const Expr &p : predicates) {
            any = any.defined() ? any || p : p;
            all = all.defined() ? all && p : p;
        }
        bound_loop(any);
        any = SplitEquality().mutate(any);
        all = SplitEquality().mutate(all);
        bind_ranges(any);
        const Interval possible = bounds_of_expr_in_scope(any, scope_);
        const Interval certain = bounds_of_expr_in_scope(all, scope_);
        const bool usable_live = possible.has_upper_bound() && only_scalars(possible.max);
        const bool usable_full = certain.has_lower_bound() && only_scalars(certain.min);
        stream_.live = usable_live ? simplify(possible.max) : const_true();
        stream_.full = usable_full ? simplify(certain.min) : const_false();
        keep_used_ranges();
    }

  private:
    /// The distinct predicates of the stream's reductions; false when one has none.
    bool collect_predicates(std::vector<Expr> *predicates) {
        std::set<std::string> seen, covered;
        const auto add = [&](const Expr &p) {
            if (seen.insert(expr_to_text(p)).second) {
                predicates->push_back(p);
            }
        };
        for (const Op &op : stream_.body) {
            if (op.where.defined()) {
                add(op.where);
            }
        }
        // A state is limited by a predicate when its reduction has it, or when it folds a map that is 0 outside it.
        for (const Op &op : stream_.body) {
            const bool folds = op.kind == OpKind::Reduce &&
                               std::find(op.over.begin(), op.over.end(), stream_.axis) != op.over.end();
            if (folds && !op.where.defined() && !reads_masked_factor(op)) {
                return false;
            }
        }
        return !predicates->empty();
    }

    bool reads_masked_factor(const Op &op) const {
        if (op.combiner != Combiner::Sum) {
            return false;
        }
        std::vector<Expr> pending{op.value};
        while (!pending.empty()) {
            const Expr e = pending.back();
            pending.pop_back();
            if (const Mul *mul = e.as<Mul>()) {
                pending.push_back(mul->a);
                pending.push_back(mul->b);
            } else if (const Variable *v = e.as<Variable>()) {
                for (const Op &def : stream_.body) {
                    if (def.name == v->name && def.kind == OpKind::Map && def.where.defined()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /// Loop bounds: the positions of the stream for which some coordinate of the block's tiled axes satisfies `p`.
    void bound_loop(const Expr &p) {
        const Interval solved = solve_for_outer_interval(p, stream_.axis);
        Scope<Interval> rows;
        for (const tile::Axis &a : program_.axes) {
            if (a.role == AxisRole::Grid && a.tile > 1) {
                rows.push(a.name, Interval(coordinate(a.name + ".lo"), coordinate(a.name + ".hi")));
            }
        }
        const Expr extent = stream_.end;
        if (solved.has_upper_bound()) {
            const Interval last = bounds_of_expr_in_scope(solved.max, rows);
            if (last.has_upper_bound() && only_scalars(last.max)) {
                stream_.end = simplify(min(extent, last.max + 1));
            }
        }
        if (solved.has_lower_bound()) {
            const Interval first = bounds_of_expr_in_scope(solved.min, rows);
            if (first.has_lower_bound() && only_scalars(first.min)) {
                stream_.begin = simplify(max(0, first.min));
            }
        }
    }

    /// Puts the range of every axis and of every loaded vector that `p` reads in scope.
    void bind_ranges(const Expr &p) {
        for (const tile::Axis &a : program_.axes) {
            const bool tiled = a.role == AxisRole::Stream || (a.role == AxisRole::Grid && a.tile > 1);
            if (tiled) {
                scope_.push(a.name, Interval(coordinate(a.name + ".lo"), coordinate(a.name + ".hi")));
            }
        }
        for (const auto *ops : {&program_.prologue, &stream_.body}) {
            for (const Op &op : *ops) {
                const bool vector = op.kind == OpKind::Load && op.axes.size() == 1 && (op.type.is_int() || op.type.is_uint());
                if (vector && expr_uses_var(p, op.name)) {
                    add_range(op);
                }
            }
        }
    }

    void add_range(const Op &load) {
        for (const Combiner c : {Combiner::Min, Combiner::Max}) {
            Op range;
            range.kind = OpKind::Reduce;
            range.name = load.name + (c == Combiner::Min ? ".min" : ".max");
            range.type = load.type;
            range.over = load.axes;
            range.combiner = c;
            range.value = load.value;
            ranges_.push_back(range);
        }
        scope_.push(load.name, Interval(Variable::make(load.type, load.name + ".min"),
                                        Variable::make(load.type, load.name + ".max")));
    }

    void keep_used_ranges() {
        for (const Op &range : ranges_) {
            if (expr_uses_var(stream_.live, range.name) || expr_uses_var(stream_.full, range.name)) {
                stream_.head.push_back(range);
            }
        }
    }

    /// True when `e` has no value that varies inside the block: formulas are evaluated once a block.
    bool only_scalars(const Expr &e) const {
        for (const tile::Axis &a : program_.axes) {
            const bool varies = a.role != AxisRole::Grid || a.tile > 1;
            if (varies && expr_uses_var(e, a.name)) {
                return false;
            }
        }
        for (const auto *ops : {&program_.prologue, &stream_.body}) {
            for (const Op &op : *ops) {
                const bool in_stream = ops == &stream_.body;
                if (expr_uses_var(e, op.name) && (in_stream || !op.axes.empty())) {
                    return false;
                }
            }
        }
        return true;
    }

    Program &program_;
    Stream &stream_;
    Scope<Interval> scope_;
    std::vector<Op> ranges_;
};

}  // namespace

void classify_tiles(Program &program) {
    for (Stream &stream : program.streams) {
        Classifier(program, stream).run();
    }
}

}  // namespace fldsl::passes
