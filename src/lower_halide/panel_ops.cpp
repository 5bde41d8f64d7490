#include "src/lower_halide/emitter.h"
#include "src/support/error.h"

#include <algorithm>

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using tile::Op;
using tile::OpKind;

namespace {

bool reads(const Op &op, const std::string &name) {
    for (const Expr &e : {op.value, op.where, op.otherwise, op.init}) {
        if (e.defined() && expr_uses_var(e, name)) {
            return true;
        }
    }
    return false;
}

}  // namespace

/// The body of a map or reduction at one position: outside `where` a map takes `otherwise`, a reduction the identity.
Expr Emitter::value_of(const Op &op, const Env &env, int vector, bool full) const {
    const Expr value = emit(op.value, env, vector);
    if (full || !op.where.defined()) {
        return value;
    }
    const Expr outside = op.kind == OpKind::Reduce ? identity_of(op.combiner, arithmetic_type(op.type)) : op.otherwise;
    const Expr keep = broadcast(emit(op.where, env, vector), blocking_.width);
    return Select::make(keep, broadcast(value, blocking_.width), broadcast(emit(outside, env, vector), blocking_.width));
}

/// Maps over one axis and row reductions of it, run position by position: values pass from one to the next in registers.
Stmt Emitter::emit_loop_group(const std::vector<const Op *> &group, const std::string &over, const Env &env, bool full) {
    const int width = blocking_.width, vectors = blocking_.vectors;
    const std::string acc = fresh("acc");
    std::vector<const Op *> reductions;
    for (const Op *op : group) {
        if (op->kind == OpKind::Reduce) {
            reductions.push_back(op);
        }
    }
    const int unroll = blocking_.unroll;
    const auto acc_index = [&](size_t r, int u, int v) {
        return ramp(int64(static_cast<int64_t>(((r * unroll) + u) * vectors + v) * width), int64(1), width);
    };
    const auto fold = [&](const Op &op, const Expr &a, const Expr &b) {
        return combine(op.combiner, broadcast(a, width), broadcast(b, width));
    };

    std::vector<Stmt> init, finish;
    for (size_t r = 0; r < reductions.size(); r++) {
        const Op &op = *reductions[r];
        const Expr identity = identity_of(op.combiner, arithmetic_type(op.type));
        for (int v = 0; v < vectors; v++) {
            Expr total = load(acc, Halide::Float(32), acc_index(r, 0, v));
            for (int u = 0; u < unroll; u++) {
                const Expr start = u == 0 && op.init.defined() ? emit(op.init, env, v) : identity;
                init.push_back(store(acc, broadcast(start, width), acc_index(r, u, v)));
                total = u == 0 ? total : fold(op, total, load(acc, Halide::Float(32), acc_index(r, u, v)));
            }
            finish.push_back(store(places_.at(op.name).pointer, total, panel_index(places_.at(op.name), env, v)));
        }
    }

    const auto body = [&](const Expr &position, int copies) {
        std::vector<Stmt> copies_of_body;
        for (int u = 0; u < copies; u++) {
            Lets lets;
            std::vector<Stmt> stores;
            Env at = env;
            at.position[over] = position + u;
            for (int v = 0; v < vectors; v++) {
                for (const Op *op : group) {
                    const std::string name = fresh(op->name);
                    const Expr value = broadcast(value_of(*op, at, v, full), width);
                    lets.add(name, value);
                    const Expr made = variable(name, value.type());
                    if (op->kind == OpKind::Reduce) {
                        const size_t r = std::find(reductions.begin(), reductions.end(), op) - reductions.begin();
                        stores.push_back(store(acc, fold(*op, load(acc, Halide::Float(32), acc_index(r, u, v)), made),
                                               acc_index(r, u, v)));
                    } else {
                        at.overrides[op->name + "." + std::to_string(v)] = made;
                        stores.push_back(store(places_.at(op->name).pointer, made, panel_index(places_.at(op->name), at, v)));
                    }
                }
            }
            copies_of_body.push_back(lets.around(block(stores)));
        }
        return block(copies_of_body);
    };
    const Expr total = count(over, env);
    std::vector<Stmt> loops;
    const std::string x = fresh(over), rest = fresh(over);
    if (unroll > 1) {
        loops.push_back(loop(x, int32(0), total / unroll, body(variable(x) * unroll, unroll)));
        loops.push_back(loop(rest, total / unroll * unroll, total % unroll, body(variable(rest), 1)));
    } else {
        loops.push_back(loop(x, int32(0), total, body(variable(x), 1)));
    }
    const Stmt all = block({block(init), block(loops), block(finish)});
    if (reductions.empty()) {
        return all;
    }
    return Allocate::make(acc, Halide::Float(32), Halide::MemoryType::Stack,
                          {int32(static_cast<int64_t>(reductions.size()) * unroll * vectors * width)}, const_true(), all);
}

/// Any map or reduction, by loops over all its axes.
Stmt Emitter::emit_general(const Op &op, const Env &env, bool full) {
    const Place &place = places_.at(op.name);
    const int width = blocking_.width;
    return nest(place.axes, env, [&](const Env &at) {
        std::vector<Stmt> stmts;
        if (op.kind != OpKind::Reduce) {
            for (int v = 0; v < blocking_.vectors; v++) {
                stmts.push_back(store(place.pointer, broadcast(value_of(op, at, v, full), width), panel_index(place, at, v)));
            }
            return block(stmts);
        }
        // The result's own memory is the accumulator.
        std::vector<Stmt> init;
        for (int v = 0; v < blocking_.vectors; v++) {
            const Expr start = op.init.defined() ? op.init : identity_of(op.combiner, arithmetic_type(op.type));
            init.push_back(store(place.pointer, broadcast(emit(start, at, v), width), panel_index(place, at, v)));
        }
        const Stmt folds = nest(op.over, at, [&](const Env &inner) {
            std::vector<Stmt> fold;
            for (int v = 0; v < blocking_.vectors; v++) {
                const Expr index = panel_index(place, inner, v);
                const Expr value = broadcast(value_of(op, inner, v, full), width);
                fold.push_back(store(place.pointer, combine(op.combiner, load(place.pointer, place.type, index), value), index));
            }
            return block(fold);
        });
        return block({block(init), folds});
    });
}

Stmt Emitter::emit_panel_ops(const std::vector<Op> &ops, const Env &env, bool full) {
    std::vector<Stmt> stmts;
    std::vector<const Op *> group;
    std::string over;
    const auto flush = [&] {
        if (!group.empty()) {
            stmts.push_back(emit_loop_group(group, over, env, full));
            group.clear();
        }
    };
    for (const Op &op : ops) {
        if (op.kind == OpKind::Store) {
            flush();
            stmts.push_back(emit_store(op, env));
            continue;
        }
        if (!has_lanes(op.axes) && !lane_axis_.empty()) {
            continue;  // columns and scalars are made outside the panels
        }
        if (lane_axis_.empty() && places_.at(op.name).home != Home::Panel) {
            continue;
        }
        Product product;
        if (as_product(op, &product)) {
            flush();
            stmts.push_back(emit_contraction(op, product, env));
            continue;
        }
        const std::vector<std::string> axes = without_lanes(op.axes);
        const bool row_map = op.kind != OpKind::Reduce && axes.size() == 1;
        const bool row_fold = op.kind == OpKind::Reduce && axes.empty() && op.over.size() == 1 && op.over[0] != lane_axis_ &&
                              arithmetic_type(op.type) == Halide::Float(32);
        if (!row_map && !row_fold) {
            flush();
            stmts.push_back(emit_general(op, env, full));
            continue;
        }
        const std::string axis = row_map ? axes[0] : op.over[0];
        const bool needs_finished =
            std::any_of(group.begin(), group.end(), [&](const Op *g) { return g->kind == OpKind::Reduce && reads(op, g->name); });
        if (axis != over || needs_finished) {
            flush();
        }
        over = axis;
        group.push_back(&op);
    }
    flush();
    return block(stmts);
}

/// Computes a panel as [axes][lanes], then writes it row by row: only rows that exist.
Stmt Emitter::emit_store(const Op &op, const Env &env) {
    FLDSL_USER_CHECK(!op.where.defined()) << program_.name << ": the CPU back end cannot store " << op.name << " under a predicate";
    const auto indices = [&](const Env &at) {
        Expr index = int64(0);
        for (size_t k = 0; k < op.index.size(); k++) {
            index = index + widen(emit_scalar(op.index[k], at)) *
                                variable(op.name + ".stride." + std::to_string(k), Halide::Int(64));
        }
        return index;
    };
    Type element;
    for (const tile::Tensor &t : program_.tensors) {
        if (t.name == op.name) {
            element = t.type;
        }
    }
    if (!has_lanes(op.axes)) {
        return nest(op.axes, env, [&](const Env &at) {
            return store_element(op.name, element, emit_scalar(op.value, at), indices(at));
        });
    }
    const Place &rows = places_.at(op.name + ".rows");
    const Stmt compute = nest(rows.axes, env, [&](const Env &at) {
        std::vector<Stmt> stmts;
        for (int v = 0; v < blocking_.vectors; v++) {
            stmts.push_back(store(rows.pointer, broadcast(emit(op.value, at, v), blocking_.width), panel_index(rows, at, v)));
        }
        return block(stmts);
    });
    const std::string lane = fresh("row");
    Env by_row = env;
    by_row.position[lane_axis_] = variable(lane);
    const Stmt write = loop(lane, int32(0), count(lane_axis_, env), nest(rows.axes, by_row, [&](const Env &at) {
        Expr index = widen(variable(lane));
        for (size_t k = 0; k < rows.axes.size(); k++) {
            index = index + widen(at.position.at(rows.axes[k])) * int64(rows.strides[k]);
        }
        return store_element(op.name, element, load(rows.pointer, rows.type, index), indices(at));
    }));
    return block({compute, write});
}

}  // namespace fldsl::lower_halide
