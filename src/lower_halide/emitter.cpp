#include "src/lower_halide/emitter.h"
#include "src/support/error.h"

#include <algorithm>

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using tile::AxisRole;
using tile::Op;
using tile::OpKind;

Emitter::Emitter(const tile::Program &program, const Blocking &blocking) : program_(program), blocking_(blocking) {
    for (const std::string &name : program.grid) {
        if (axis(name).tile > 1) {
            lane_axis_ = name;
            break;
        }
    }
    place_values();
}

// ---- names and axes

const tile::Axis &Emitter::axis(const std::string &name) const {
    for (const tile::Axis &a : program_.axes) {
        if (a.name == name) {
            return a;
        }
    }
    FLDSL_INTERNAL_CHECK(false) << program_.name << " has no axis " << name;
    return program_.axes.front();
}

bool Emitter::has_lanes(const std::vector<std::string> &axes) const {
    return !lane_axis_.empty() && std::find(axes.begin(), axes.end(), lane_axis_) != axes.end();
}

std::vector<std::string> Emitter::without_lanes(const std::vector<std::string> &axes) const {
    std::vector<std::string> rest;
    std::copy_if(axes.begin(), axes.end(), std::back_inserter(rest), [&](const std::string &a) { return a != lane_axis_; });
    return rest;
}

std::string Emitter::last_name(const std::string &name, const Env &env) const {
    return name + (env.in_panel && (name == lane_axis_ || axis(name).role == AxisRole::Stream) ? ".panel.hi" : ".hi");
}

Expr Emitter::first(const std::string &name, const Env &env) const {
    if (axis(name).role == AxisRole::Whole) {
        return int32(0);
    }
    return variable(name + (env.in_panel && name == lane_axis_ ? ".panel.lo" : ".lo"));
}

Expr Emitter::count(const std::string &name, const Env &env) const {
    if (axis(name).role == AxisRole::Whole) {
        return variable(name + ".extent");
    }
    return variable(last_name(name, env)) - first(name, env) + 1;
}

std::string Emitter::fresh(const std::string &prefix) {
    return prefix + "$" + std::to_string(fresh_++);
}

Stmt Emitter::nest(const std::vector<std::string> &axes, const Env &env, const std::function<Stmt(const Env &)> &body) {
    if (axes.empty()) {
        return body(env);
    }
    const std::string name = fresh(axes[0]);
    Env inner = env;
    inner.position[axes[0]] = variable(name);
    const std::vector<std::string> rest(axes.begin() + 1, axes.end());
    return loop(name, int32(0), count(axes[0], env), nest(rest, inner, body));
}

// ---- expressions

Expr Emitter::panel_index(const Place &p, const Env &env, int vector) const {
    Expr index = int64(vector * blocking_.width);
    for (size_t k = 0; k < p.axes.size(); k++) {
        index = index + widen(env.position.at(p.axes[k])) * int64(p.strides[k]);
    }
    return ramp(index, int64(1), blocking_.width);
}

Expr Emitter::read_value(const std::string &name, const Env &env, int vector) const {
    auto override_ = env.overrides.find(name + "." + std::to_string(vector));
    if (override_ != env.overrides.end()) {
        return override_->second;
    }
    auto place = places_.find(name);
    if (place != places_.end()) {
        const Place &p = place->second;
        switch (p.home) {
        case Home::Scalar:
            return variable(name, p.type);
        case Home::Element:
            return emit(p.op->value, env, vector);
        case Home::Panel:
            return load(p.pointer, p.type, panel_index(p, env, vector));
        case Home::Columns: {
            Expr index = int64(0);
            for (const std::string &a : p.axes) {
                index = index + widen(env.position.at(a)) * variable(name + ".stride." + a, Halide::Int(64));
            }
            return load(p.pointer, p.type, index);
        }
        }
    }
    for (const tile::Axis &a : program_.axes) {
        if (name == a.name + ".lo") {
            return first(a.name, env);
        }
        if (name == a.name + ".hi") {
            return variable(last_name(a.name, env));
        }
        if (name != a.name) {
            continue;
        }
        if (a.role == AxisRole::Grid && a.tile == 1) {
            return variable(name);
        }
        auto position = env.position.find(name);
        if (position != env.position.end()) {
            return first(name, env) + position->second;
        }
        FLDSL_INTERNAL_CHECK(name == lane_axis_) << program_.name << ": axis " << name << " is read outside its loop";
        // Lanes behind the last row repeat it, so that whatever they compute or load is harmless.
        const int width = blocking_.width;
        const Expr rows = ramp(first(name, env) + vector * width, int32(1), width);
        return Min::make(rows, broadcast(variable(name + ".panel.hi"), width));
    }
    for (const tile::Scalar &s : program_.scalars) {
        if (s.name == name) {
            return variable(name, arithmetic_type(s.type));
        }
    }
    return variable(name);  // q.extent.n
}

Expr Emitter::element_index(const Call *call, const std::vector<Expr> &index) const {
    Expr total = int64(0);
    for (size_t k = 0; k < index.size(); k++) {
        const int lanes = index[k].type().lanes();
        const Expr stride = broadcast(variable(call->name + ".stride." + std::to_string(k), Halide::Int(64)), lanes);
        const Expr term = widen(index[k]) * stride;
        const int both = std::max(total.type().lanes(), lanes);
        total = broadcast(total, both) + broadcast(term, both);
    }
    return total;
}

Expr Emitter::element(const Call *call, const std::vector<Expr> &index) const {
    return load_element(call->name, call->type, element_index(call, index));
}

Expr Emitter::emit(const Expr &e, const Env &env, int vector) const {
    Bindings b;
    b.lanes = blocking_.width;
    b.variable = [&](const std::string &name, Type) { return read_value(name, env, vector); };
    b.element = [&](const Call *call, const std::vector<Expr> &index) { return element(call, index); };
    return to_lanes(e, b);
}

Expr Emitter::emit_scalar(const Expr &e, const Env &env) const {
    return emit(e, env, 0);
}

// ---- the function

void Emitter::bind_arguments(Lets &lets) const {
    int64_t integer = 0;
    for (size_t t = 0; t < program_.tensors.size(); t++) {
        const tile::Tensor &tensor = program_.tensors[t];
        lets.add(tensor.name, load("data", Halide::type_of<void *>(), int64(static_cast<int64_t>(t))));
        for (int k = 0; k < tensor.rank; k++) {
            lets.add(tensor.name + ".extent." + std::to_string(k),
                     Halide::cast<int32_t>(load("integers", Halide::Int(64), int64(integer++))));
        }
        for (int k = 0; k < tensor.rank; k++) {
            lets.add(tensor.name + ".stride." + std::to_string(k), load("integers", Halide::Int(64), int64(integer++)));
        }
    }
    int64_t floating = 0;
    for (const tile::Scalar &s : program_.scalars) {
        if (s.type.is_float()) {
            lets.add(s.name, Halide::cast<float>(load("floats", Halide::Float(64), int64(floating++))));
        } else {
            lets.add(s.name, Halide::cast(s.type, load("integers", Halide::Int(64), int64(integer++))));
        }
    }
    for (const tile::Axis &a : program_.axes) {
        lets.add(a.name + ".extent", emit_scalar(a.extent, Env{}));
    }
}

/// Coordinates of a block from its number: program.grid[0] fastest; an axis that makes streams longer runs from its end when
/// long blocks come first.
void Emitter::bind_coordinates(Lets &lets) const {
    Expr rest = variable("block");
    for (const std::string &name : program_.grid) {
        const tile::Axis &a = axis(name);
        const Expr blocks = (variable(name + ".extent") + (a.tile - 1)) / a.tile;
        lets.add(name + ".blocks", blocks);
        Expr at = rest % variable(name + ".blocks");
        const bool lengthens = std::any_of(program_.streams.begin(), program_.streams.end(), [&](const tile::Stream &s) {
            return expr_uses_var(s.end, name + ".hi");
        });
        if (program_.order == tile::GridOrder::LongestFirst && lengthens) {
            at = variable(name + ".blocks") - 1 - at;
        }
        if (a.tile == 1) {
            lets.add(name, at);
        } else {
            lets.add(name + ".lo", at * a.tile);
            lets.add(name + ".hi", min(variable(name + ".lo") + a.tile, variable(name + ".extent")) - 1);
        }
        const std::string next = name + ".rest";
        lets.add(next, rest / variable(name + ".blocks"));
        rest = variable(next);
    }
}

void Emitter::bind_panel_pointers(Lets &lets, const Expr &number) const {
    std::set<std::string> bound;
    for (const auto &entry : places_) {
        const Place &p = entry.second;
        if (p.home == Home::Panel && bound.insert(p.pointer).second) {
            const Expr offset = p.per_panel ? int64(p.offset) + widen(number) * int64(p.bytes) : int64(p.offset);
            lets.add(p.pointer, advance("scratch", offset));
        }
    }
}

Stmt Emitter::panels(const std::function<Stmt(const Env &)> &body) {
    Env env;
    if (lane_axis_.empty()) {
        return body(env);  // one panel of one lane, whose pointers emit_block binds
    }
    env.in_panel = true;
    const std::string panel = fresh("panel"), lo = lane_axis_ + ".panel.lo";
    const Expr number = variable(panel);
    Lets lets;
    lets.add(lo, variable(lane_axis_ + ".lo") + number * blocking_.lanes());
    lets.add(lane_axis_ + ".panel.hi", min(variable(lo) + (blocking_.lanes() - 1), variable(lane_axis_ + ".hi")));
    bind_panel_pointers(lets, number);
    const Stmt inner = lets.around(body(env));
    const Expr rows = variable(lane_axis_ + ".hi") - variable(lane_axis_ + ".lo") + 1;
    return loop(panel, int32(0), (rows + (blocking_.lanes() - 1)) / blocking_.lanes(), inner);
}

Stmt Emitter::emit_body(const tile::Stream &stream, const Env &env, bool full) {
    std::vector<Stmt> stmts{emit_panel_ops(stream.body, env, full)};
    for (const tile::Update &u : stream.updates) {
        const Place &state = places_.at(u.state), &value = places_.at(u.value);
        if (state.pointer == value.pointer) {
            continue;
        }
        stmts.push_back(nest(state.axes, env, [&](const Env &at) {
            std::vector<Stmt> copies;
            for (int v = 0; v < blocking_.vectors; v++) {
                copies.push_back(store(state.pointer, broadcast(read_value(u.value, at, v), blocking_.width), panel_index(state, at, v)));
            }
            return block(copies);
        }));
    }
    return block(stmts);
}

Stmt Emitter::emit_stream(const tile::Stream &stream) {
    const Stmt init = panels([&](const Env &env) {
        std::vector<Stmt> stmts;
        for (const tile::State &s : stream.states) {
            const Place &p = places_.at(s.name);
            stmts.push_back(nest(p.axes, env, [&](const Env &at) {
                std::vector<Stmt> stores;
                for (int v = 0; v < blocking_.vectors; v++) {
                    stores.push_back(store(p.pointer, broadcast(emit(s.identity, at, v), blocking_.width), panel_index(p, at, v)));
                }
                return block(stores);
            }));
        }
        return block(stmts);
    });

    const bool tests = std::any_of(stream.body.begin(), stream.body.end(), [](const Op &op) { return op.where.defined(); });
    const bool two_bodies = tests && stream.full.defined() && !is_const_zero(stream.full);
    // Ranges over rows are those of the panel, all others hold for the block.
    std::vector<Op> row_ranges, column_ranges;
    for (const Op &op : stream.head) {
        const bool rows = std::find(op.over.begin(), op.over.end(), lane_axis_) != op.over.end();
        (rows ? row_ranges : column_ranges).push_back(op);
    }
    const Env outside;
    const Stmt step = with_columns(column_ranges, outside, [&] {
        return with_columns(stream.body, outside, [&] {
            return panels([&](const Env &env) {
                Stmt body;
                if (two_bodies) {
                    body = if_then(emit_scalar(stream.full, env), emit_body(stream, env, true), emit_body(stream, env, false));
                } else {
                    body = emit_body(stream, env, !tests);
                }
                Expr live = stream.live.defined() ? emit_scalar(stream.live, env) : const_true();
                // The end of the stream for these rows may come before that of the block.
                const std::string last = stream.axis + ".panel.hi";
                live = live && variable(last) >= first(stream.axis, env);
                Lets ends;
                ends.add(last, lane_axis_.empty() ? variable(stream.axis + ".hi")
                                                  : min(variable(stream.axis + ".hi"), emit_scalar(stream.end, env) - 1));
                return ends.around(with_columns(row_ranges, env, [&] { return if_then(live, body); }));
            });
        });
    });
    const int tile = axis(stream.axis).tile;
    const std::string number = fresh("step"), begin = stream.axis + ".begin", end = stream.axis + ".end";
    Lets bounds, positions;
    bounds.add(begin, emit_scalar(stream.begin, outside));
    bounds.add(end, emit_scalar(stream.end, outside));
    positions.add(stream.axis + ".lo", variable(begin) + variable(number) * tile);
    positions.add(stream.axis + ".hi", min(variable(stream.axis + ".lo") + tile, variable(end)) - 1);
    const Expr steps = (max(variable(end) - variable(begin), 0) + (tile - 1)) / tile;
    return block({init, bounds.around(loop(number, int32(0), steps, positions.around(step)))});
}

Stmt Emitter::emit_block() {
    const Env outside;
    Lets pointers;
    if (lane_axis_.empty()) {
        bind_panel_pointers(pointers, int32(0));
    }
    return pointers.around(with_columns(program_.prologue, outside, [&] {
        std::vector<Stmt> stmts{panels([&](const Env &env) { return emit_panel_ops(program_.prologue, env, false); })};
        for (const tile::Stream &s : program_.streams) {
            stmts.push_back(emit_stream(s));
        }
        stmts.push_back(with_columns(program_.epilogue, outside, [&] {
            return panels([&](const Env &env) { return emit_panel_ops(program_.epilogue, env, false); });
        }));
        return block(stmts);
    }));
}

Stmt Emitter::function() {
    Lets arguments, coordinates;
    bind_arguments(arguments);
    bind_coordinates(coordinates);
    return arguments.around(loop("block", variable("begin"), variable("end") - variable("begin"), coordinates.around(emit_block())));
}

}  // namespace fldsl::lower_halide
