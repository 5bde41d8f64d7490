#include "src/tile/tile_program.h"

#include <algorithm>

namespace fldsl::tile {

namespace {

using namespace Halide::Internal;

const std::vector<std::string> *operand_axes(const Expr &e, const std::vector<Op> &scope, std::string *name) {
    const Cast *cast = e.as<Cast>();
    const bool widened = cast && cast->type.is_float() && cast->value.type().is_float();
    const Variable *v = widened ? cast->value.as<Variable>() : e.as<Variable>();
    for (const Op &op : scope) {
        if (v && op.kind != OpKind::Store && op.name == v->name) {
            *name = v->name;
            return &op.axes;
        }
    }
    return nullptr;
}

bool contains(const std::vector<std::string> &axes, const std::string &axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

bool is_contraction(const Op &op, const std::vector<Op> &scope, Contraction *out) {
    const Mul *product = op.value.as<Mul>();
    if (op.kind != OpKind::Reduce || op.combiner != Combiner::Sum || op.over.empty() || !product) {
        return false;
    }
    Contraction found;
    const auto *a = operand_axes(product->a, scope, &found.a);
    const auto *b = operand_axes(product->b, scope, &found.b);
    if (!a || !b) {
        return false;
    }
    const bool folded_in_both = std::all_of(op.over.begin(), op.over.end(), [&](const std::string &axis) {
        return contains(*a, axis) && contains(*b, axis);
    });
    const auto own = [&](const std::vector<std::string> &mine, const std::vector<std::string> &other) {
        return std::any_of(op.axes.begin(), op.axes.end(), [&](const std::string &axis) {
            return contains(mine, axis) && !contains(other, axis);
        });
    };
    if (!folded_in_both || !own(*a, *b) || !own(*b, *a)) {
        return false;
    }
    if (out) {
        *out = found;
    }
    return true;
}

}  // namespace fldsl::tile
