#include "src/passes/tile_scope.h"

#include "src/support/expr_text.h"
#include "src/support/primitives.h"

#include <algorithm>

namespace fldsl::passes {

using namespace Halide::Internal;
using Halide::Expr;
using tile::AxisRole;

namespace {

class FreeVariables : public IRVisitor {
  public:
    std::vector<std::string> names;

  private:
    using IRVisitor::visit;
    void visit(const Variable *op) override {
        if (std::find(names.begin(), names.end(), op->name) == names.end()) {
            names.push_back(op->name);
        }
    }
};

}  // namespace

void TileNames::set_axes() {
    for (const auto &t : program_.tensors) {
        taken_.insert(t.name);
    }
    for (const auto &s : program_.scalars) {
        taken_.insert(s.name);
    }
    for (const auto &a : program_.axes) {
        taken_.insert(a.name);
    }
}

std::string TileNames::fresh(const std::string &wish) {
    std::string name = wish;
    for (int i = 1; !taken_.insert(name).second; i++) {
        name = wish + "_" + std::to_string(i);
    }
    return name;
}

std::string TileNames::hint(const Expr &e) {
    const Call *call = e.as<Call>();
    if (call && call->call_type == Call::PureExtern) {
        const std::string f = primitive_name(call);
        return f == "exp" || f == "exp2" ? "p" : f + "_t";
    }
    return e.as<Mul>() ? "t" : "u";
}

void TileNames::define_value(const tile::Op &op) {
    values_[op.name] = op.axes;
    if (op.kind == tile::OpKind::Map && op.where.defined()) {
        predicates_[op.name] = expr_to_text(op.where);
    }
}

std::string TileNames::predicate_of(const std::string &value) const {
    auto it = predicates_.find(value);
    return it == predicates_.end() ? std::string() : it->second;
}

bool TileNames::is_value(const std::string &name) const {
    return values_.count(name) > 0;
}

const tile::Axis *TileNames::axis(const std::string &name) const {
    for (const tile::Axis &a : program_.axes) {
        if (a.name == name) {
            return &a;
        }
    }
    return nullptr;
}

std::vector<std::string> TileNames::in_order(const std::vector<std::string> &axes) const {
    std::vector<std::string> ordered;
    for (const AxisRole role : {AxisRole::Whole, AxisRole::Stream, AxisRole::Grid}) {
        for (const std::string &name : axes) {
            const tile::Axis *a = axis(name);
            if (a && a->role == role && (role != AxisRole::Grid || a->tile > 1)) {
                ordered.push_back(name);
            }
        }
    }
    return ordered;
}

std::vector<std::string> TileNames::axes_of(const Expr &e) const {
    FreeVariables free;
    e.accept(&free);
    std::vector<std::string> axes;
    const auto include = [&](const std::string &a) {
        if (std::find(axes.begin(), axes.end(), a) == axes.end()) {
            axes.push_back(a);
        }
    };
    for (const std::string &name : free.names) {
        if (axis(name)) {
            include(name);
        }
        auto value = values_.find(name);
        if (value != values_.end()) {
            std::for_each(value->second.begin(), value->second.end(), include);
        }
        for (const auto &stream : program_.streams) {
            for (const auto &state : stream.states) {
                if (state.name == name) {
                    std::for_each(state.axes.begin(), state.axes.end(), include);
                }
            }
        }
    }
    return in_order(axes);
}

bool TileNames::depends_on(const Expr &e, const std::string &name) const {
    const std::vector<std::string> axes = axes_of(e);
    return std::find(axes.begin(), axes.end(), name) != axes.end();
}

bool TileNames::has_tiled_grid_axis(const Expr &e) const {
    for (const std::string &a : axes_of(e)) {
        if (axis(a)->role == AxisRole::Grid) {
            return true;
        }
    }
    return false;
}

Expr TileScope::define(tile::OpKind kind, const Expr &e, const Expr &where, const std::string &wish) {
    const std::string key = expr_to_text(e) + (where.defined() ? " where " + expr_to_text(where) : "");
    if (const std::string *known = find(key)) {
        return Variable::make(e.type(), *known);
    }
    tile::Op op;
    op.kind = kind;
    op.type = e.type();
    std::vector<std::string> axes = names_.axes_of(e);
    if (where.defined()) {
        for (const std::string &a : names_.axes_of(where)) {
            if (std::find(axes.begin(), axes.end(), a) == axes.end()) {
                axes.push_back(a);
            }
        }
        op.where = where;
        op.otherwise = make_zero(e.type());
    }
    op.axes = names_.in_order(axes);
    op.value = e;
    op.name = names_.fresh(wish);
    add(key, op);
    return Variable::make(op.type, op.name);
}

const std::string *TileScope::find(const std::string &key) const {
    auto it = by_key_.find(key);
    if (it != by_key_.end()) {
        return &it->second;
    }
    return outer_ ? outer_->find(key) : nullptr;
}

void TileScope::add(const std::string &key, const tile::Op &op) {
    by_key_[key] = op.name;
    names_.define_value(op);
    ops_.push_back(op);
}

}  // namespace fldsl::passes
