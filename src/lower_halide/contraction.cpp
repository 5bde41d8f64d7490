#include "src/lower_halide/emitter.h"

#include <algorithm>

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using tile::Op;
using tile::OpKind;

namespace {

const Variable *operand_of(const Expr &e) {
    const Cast *cast = e.as<Cast>();
    const Expr &inner = cast && cast->type.is_float() ? cast->value : e;
    return inner.as<Variable>();
}

}  // namespace

bool Emitter::as_product(const Op &op, Product *product) const {
    const Mul *mul = op.value.as<Mul>();
    if (op.kind != OpKind::Reduce || op.combiner != Combiner::Sum || op.where.defined() || !mul || op.over.size() != 1 ||
        !has_lanes(op.axes) || op.axes.size() != 2 || arithmetic_type(op.type) != Halide::Float(32)) {
        return false;
    }
    const Variable *a = operand_of(mul->a), *b = operand_of(mul->b);
    const auto home = [&](const Variable *v) {
        auto it = v ? places_.find(v->name) : places_.end();
        return it == places_.end() ? Home::Scalar : it->second.home;
    };
    if (home(a) == Home::Columns && home(b) == Home::Panel) {
        std::swap(a, b);
    }
    if (home(a) != Home::Panel || home(b) != Home::Columns) {
        return false;
    }
    product->rows = a->name;
    product->columns = b->name;
    product->over = op.over[0];
    product->result_axis = without_lanes(op.axes)[0];
    const std::vector<std::string> &columns = places_.at(b->name).axes;
    return places_.at(a->name).axes == std::vector<std::string>{product->over} && columns.size() == 2 &&
           std::count(columns.begin(), columns.end(), product->over) == 1 &&
           std::count(columns.begin(), columns.end(), product->result_axis) == 1;
}

/// result[x][lanes] = init + sum over k of columns[x, k] * rows[k][lanes] for `rows` consecutive x: accumulators stay in
/// registers, each column element is broadcast once for all vectors of the panel.
Stmt Emitter::micro_kernel(const Op &op, const Product &product, const Env &env, const Expr &row, int rows) {
    const Place &result = places_.at(op.name), &panel = places_.at(product.rows);
    const int width = blocking_.width, vectors = blocking_.vectors;
    const std::string acc = fresh("acc"), k = fresh("k");
    const auto acc_index = [&](int r, int v) { return ramp(int64((r * vectors + v) * width), int64(1), width); };

    std::vector<Stmt> init, step, finish;
    for (int r = 0; r < rows; r++) {
        Env at = env;
        at.position[product.result_axis] = row + r;
        for (int v = 0; v < vectors; v++) {
            const Expr start = op.init.defined() ? emit(op.init, at, v) : make_zero(Halide::Float(32));
            init.push_back(store(acc, broadcast(start, width), acc_index(r, v)));
            finish.push_back(store(result.pointer, load(acc, Halide::Float(32), acc_index(r, v)), panel_index(result, at, v)));
        }
    }
    Lets operands;
    std::vector<std::string> lane_names;
    Env inside = env;
    inside.position[product.over] = variable(k);
    for (int v = 0; v < vectors; v++) {
        lane_names.push_back(fresh("x"));
        operands.add(lane_names.back(), load(panel.pointer, Halide::Float(32), panel_index(panel, inside, v)));
    }
    for (int r = 0; r < rows; r++) {
        Env at = inside;
        at.position[product.result_axis] = row + r;
        const std::string column = fresh("w");
        operands.add(column, broadcast(read_value(product.columns, at, 0), width));
        for (int v = 0; v < vectors; v++) {
            const Type t = Halide::Float(32, width);
            step.push_back(store(acc, load(acc, Halide::Float(32), acc_index(r, v)) + variable(column, t) * variable(lane_names[v], t),
                                 acc_index(r, v)));
        }
    }
    const Stmt body = loop(k, int32(0), count(product.over, env), operands.around(block(step)));
    return Allocate::make(acc, Halide::Float(32), Halide::MemoryType::Stack, {int32(rows * vectors * width)}, const_true(),
                          block({block(init), body, block(finish)}));
}

Stmt Emitter::emit_contraction(const Op &op, const Product &product, const Env &env) {
    const Expr total = count(product.result_axis, env);
    std::vector<Stmt> parts;
    Expr done = int32(0);
    // Full groups, then what is left in smaller ones.
    for (int rows = blocking_.rows; rows >= 1; rows = rows > 2 ? (rows + 2) / 3 : rows - 1) {
        const std::string group = fresh("group");
        const Expr groups = (total - done) / rows;
        parts.push_back(loop(group, int32(0), groups, micro_kernel(op, product, env, done + variable(group) * rows, rows)));
        done = done + groups * rows;
        if (rows == 1) {
            break;
        }
    }
    return block(parts);
}

}  // namespace fldsl::lower_halide
