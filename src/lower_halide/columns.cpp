#include "src/lower_halide/emitter.h"
#include "src/support/error.h"

#include <algorithm>

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using tile::Op;
using tile::OpKind;

namespace {

/// For each axis the tensor dimension that it indexes by itself; empty when some axis does not, or indexes more than one.
std::map<std::string, int> plain_dimensions(const Op &op) {
    const Call *element = op.value.as<Call>();
    std::map<std::string, int> dimensions;
    if (!element || element->call_type != Call::Image) {
        return dimensions;
    }
    for (const std::string &a : op.axes) {
        for (size_t k = 0; k < element->args.size(); k++) {
            if (!expr_uses_var(element->args[k], a)) {
                continue;
            }
            const Variable *v = element->args[k].as<Variable>();
            if (!v || dimensions.count(a)) {
                return {};
            }
            dimensions[a] = static_cast<int>(k);
        }
        if (!dimensions.count(a)) {
            return {};
        }
    }
    return dimensions;
}

std::string stride_name(const std::string &value, const std::string &axis) {
    return value + ".stride." + axis;
}

}  // namespace

Stmt Emitter::with_columns(const std::vector<Op> &ops, const Env &env, const std::function<Stmt()> &then) {
    Stmt body = then();
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
        auto it = places_.find(op->name);
        if (op->kind == OpKind::Store || it == places_.end()) {
            continue;
        }
        if (it->second.home == Home::Scalar) {
            body = with_scalar(*op, env, body);
        } else if (it->second.home == Home::Columns) {
            body = op->kind == OpKind::Load ? with_loaded_columns(*op, env, body) : with_computed_columns(*op, env, body);
        }
    }
    return body;
}

Stmt Emitter::with_scalar(const Op &op, const Env &env, const Stmt &then) {
    if (op.kind != OpKind::Reduce) {
        Expr value = emit_scalar(op.value, env);
        if (op.where.defined()) {
            value = Halide::select(emit_scalar(op.where, env), value, emit_scalar(op.otherwise, env));
        }
        return LetStmt::make(op.name, value, then);
    }
    const Type t = arithmetic_type(op.type);
    const std::string acc = fresh("acc");
    const Expr start = op.init.defined() ? emit_scalar(op.init, env) : identity_of(op.combiner, t);
    const Stmt fold = nest(op.over, env, [&](const Env &at) {
        Expr value = emit_scalar(op.value, at);
        if (op.where.defined()) {
            value = Halide::select(emit_scalar(op.where, at), value, identity_of(op.combiner, t));
        }
        return store(acc, combine(op.combiner, load(acc, t, int64(0)), value), int64(0));
    });
    return Allocate::make(acc, t, Halide::MemoryType::Stack, {int32(1)}, const_true(),
                          block({store(acc, start, int64(0)), fold, LetStmt::make(op.name, load(acc, t, int64(0)), then)}));
}

/// Copies the block's elements to scratch as floats, the unit axis contiguous; by vectors when the tensor is contiguous too.
Stmt Emitter::pack(const Op &op, const Env &env, const std::string &unit) const {
    Emitter &self = const_cast<Emitter &>(*this);  // for fresh loop names
    const Place &p = places_.at(op.name);
    std::vector<std::string> outer = op.axes;
    outer.erase(std::remove(outer.begin(), outer.end(), unit), outer.end());
    const auto target = [&](const Env &at) {
        Expr index = int64(0);
        for (const std::string &a : op.axes) {
            index = index + widen(at.position.at(a)) * variable(stride_name(op.name, a) + ".packed", Halide::Int(64));
        }
        return index;
    };
    const auto copy = [&](const Env &at, int lanes) {
        Bindings b;
        b.lanes = 1;
        b.variable = [&](const std::string &name, Type) { return read_value(name, at, 0); };
        b.element = [&](const Call *call, const std::vector<Expr> &index) {
            return load_element(call->name, call->type, ramp(element_index(call, index), int64(1), lanes));
        };
        return store(op.name + ".packed", to_lanes(op.value, b), ramp(target(at), int64(1), lanes));
    };
    const Stmt scalars = self.nest(op.axes, env, [&](const Env &at) { return copy(at, 1); });
    const auto dimensions = plain_dimensions(op);
    const int lanes = std::max(blocking_.width, 1);
    if (!dimensions.count(unit) || lanes == 1) {
        return scalars;
    }
    const Expr total = count(unit, env);
    const Stmt vectors = self.nest(outer, env, [&](const Env &at) {
        const std::string x = self.fresh(unit), rest = self.fresh(unit);
        Env by_vector = at, one = at;
        by_vector.position[unit] = variable(x) * lanes;
        one.position[unit] = variable(rest);
        return block({loop(x, int32(0), total / lanes, copy(by_vector, lanes)),
                      loop(rest, total / lanes * lanes, total % lanes, copy(one, 1))});
    });
    const Call *element = op.value.as<Call>();
    const Expr contiguous =
        variable(element->name + ".stride." + std::to_string(dimensions.at(unit)), Halide::Int(64)) == int64(1);
    return if_then(contiguous, vectors, scalars);
}

/// Columns that come from a tensor: read in place when they are floats with a unit stride, else packed.
Stmt Emitter::with_loaded_columns(const Op &op, const Env &env, const Stmt &then) {
    const Place &p = places_.at(op.name);
    const Call *element = op.value.as<Call>();
    const auto dimensions = plain_dimensions(op);
    std::string unit = op.axes[0];
    for (const auto &d : dimensions) {
        if (d.second < dimensions.at(unit)) {
            unit = d.first;
        }
    }
    Lets lets;
    int64_t packed = 1;
    std::vector<std::string> order = op.axes;
    std::stable_partition(order.begin(), order.end(), [&](const std::string &a) { return a == unit; });
    for (const std::string &a : order) {
        lets.add(stride_name(op.name, a) + ".packed", int64(packed));
        packed *= axis(a).tile;
    }
    lets.add(op.name + ".packed", advance("scratch", int64(p.offset)));

    Expr direct = const_false();
    Stmt maybe_pack = pack(op, env, unit);
    if (!dimensions.empty() && op.type == Halide::Float(32)) {
        const auto tensor_stride = [&](const std::string &a) {
            return variable(element->name + ".stride." + std::to_string(dimensions.at(a)), Halide::Int(64));
        };
        direct = tensor_stride(unit) == int64(1);
        lets.add(op.name + ".direct", direct);
        direct = variable(op.name + ".direct", Halide::Bool());
        Env origin = env;
        for (const std::string &a : op.axes) {
            origin.position[a] = int32(0);
        }
        std::vector<Expr> index;
        for (const Expr &e : element->args) {
            index.push_back(emit_scalar(e, origin));
        }
        lets.add(op.name + ".origin", advance(element->name, element_index(element, index) * int64(4)));
        lets.add(p.pointer, select(direct, pointer(op.name + ".origin"), pointer(op.name + ".packed")));
        for (const std::string &a : op.axes) {
            const Expr stride = a == unit ? int64(1)
                                          : select(direct, tensor_stride(a),
                                                   variable(stride_name(op.name, a) + ".packed", Halide::Int(64)));
            lets.add(stride_name(op.name, a), stride);
        }
        maybe_pack = if_then(!direct, maybe_pack);
    } else {
        lets.add(p.pointer, pointer(op.name + ".packed"));
        for (const std::string &a : op.axes) {
            lets.add(stride_name(op.name, a), variable(stride_name(op.name, a) + ".packed", Halide::Int(64)));
        }
    }
    return lets.around(block({maybe_pack, then}));
}

Stmt Emitter::with_computed_columns(const Op &op, const Env &env, const Stmt &then) {
    const Place &p = places_.at(op.name);
    Lets lets;
    int64_t stride = 1;
    for (const std::string &a : op.axes) {
        lets.add(stride_name(op.name, a), int64(stride));
        stride *= axis(a).tile;
    }
    lets.add(p.pointer, advance("scratch", int64(p.offset)));
    const auto index = [&](const Env &at) {
        Expr i = int64(0);
        for (const std::string &a : op.axes) {
            i = i + widen(at.position.at(a)) * variable(stride_name(op.name, a), Halide::Int(64));
        }
        return i;
    };
    const auto value = [&](const Env &at, const Expr &outside) {
        const Expr e = emit_scalar(op.value, at);
        return op.where.defined() ? Halide::select(emit_scalar(op.where, at), e, outside) : e;
    };
    const Stmt compute = nest(op.axes, env, [&](const Env &at) {
        if (op.kind == OpKind::Map) {
            return store(p.pointer, value(at, op.where.defined() ? emit_scalar(op.otherwise, at) : Expr()), index(at));
        }
        const Expr identity = identity_of(op.combiner, p.type);
        const Expr start = op.init.defined() ? emit_scalar(op.init, at) : identity;
        return block({store(p.pointer, start, index(at)), nest(op.over, at, [&](const Env &inner) {
                          const Expr old = load(p.pointer, p.type, index(inner));
                          return store(p.pointer, combine(op.combiner, old, value(inner, identity)), index(inner));
                      })});
    });
    return lets.around(block({compute, then}));
}

}  // namespace fldsl::lower_halide
