#include "src/lower_halide/emitter.h"
#include "src/support/error.h"

#include <algorithm>

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using tile::AxisRole;
using tile::Op;
using tile::OpKind;

Blocking blocking_for(const Halide::Target &target, bool has_lane_axis) {
    if (!has_lane_axis) {
        return {};
    }
    // Accumulators take rows x vectors registers; what is left holds one row of operands and a broadcast. Four rows divide every
    // head dimension in use and came out ahead of 6 x 2 and 12 x 1 on AVX2.
    Blocking b;
    b.width = target.natural_vector_size(Halide::Float(32));
    const bool wide_file = target.has_feature(Halide::Target::AVX512) || target.has_feature(Halide::Target::AVX512_Skylake);
    b.vectors = 3;
    b.rows = wide_file ? 8 : 4;
    b.unroll = 2;
    return b;
}

namespace {

bool reads(const Expr &e, const std::string &name) {
    return e.defined() && expr_uses_var(e, name);
}

bool reads(const Op &op, const std::string &name) {
    return reads(op.value, name) || reads(op.where, name) || reads(op.otherwise, name) || reads(op.init, name);
}

}  // namespace

int64_t Emitter::reserve(int64_t bytes) {
    const int64_t offset = scratch_bytes_;
    scratch_bytes_ += (bytes + 63) / 64 * 64;
    return offset;
}

int64_t Emitter::panel_elements(const std::vector<std::string> &axes, std::vector<int64_t> *strides) const {
    int64_t elements = blocking_.lanes();
    for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
        strides->insert(strides->begin(), elements);
        elements *= axis(*it).tile;
    }
    return elements;
}

bool Emitter::is_contraction_operand(const std::string &name) const {
    std::vector<const std::vector<Op> *> lists{&program_.prologue, &program_.epilogue};
    for (const tile::Stream &s : program_.streams) {
        lists.push_back(&s.body);
    }
    for (const auto *ops : lists) {
        for (const Op &op : *ops) {
            if (op.kind == OpKind::Reduce && op.over.size() == 1 && has_lanes(op.axes) && reads(op.value, name)) {
                return true;
            }
        }
    }
    return false;
}

void Emitter::place_op(const Op &op, bool lives_long) {
    if (op.kind == OpKind::Store) {
        place_store(op);
        return;
    }
    Place p;
    p.type = arithmetic_type(op.type);
    p.op = &op;
    p.axes = without_lanes(op.axes);
    p.pointer = op.name + ".ptr";
    if (has_lanes(op.axes)) {
        p.home = Home::Panel;
        p.per_panel = lives_long;
        const int panels = lives_long ? (axis(lane_axis_).tile + blocking_.lanes() - 1) / blocking_.lanes() : 1;
        p.bytes = panel_elements(p.axes, &p.strides) * p.type.bytes();
        p.offset = reserve(p.bytes * panels);
    } else if (op.axes.empty()) {
        p.home = Home::Scalar;
    } else if (op.kind == OpKind::Load && !is_contraction_operand(op.name)) {
        p.home = Home::Element;
    } else {
        p.home = Home::Columns;
        p.bytes = p.type.bytes();
        for (const std::string &a : op.axes) {
            p.bytes *= axis(a).tile;
        }
        p.offset = reserve(p.bytes);
    }
    places_[op.name] = p;
}

/// A store transposes from a panel: [axes][lanes] as computed, rows as written.
void Emitter::place_store(const Op &op) {
    if (!has_lanes(op.axes)) {
        return;
    }
    Place p;
    p.home = Home::Panel;
    p.type = arithmetic_type(op.type);
    p.axes = without_lanes(op.axes);
    p.pointer = op.name + ".rows.ptr";
    p.bytes = panel_elements(p.axes, &p.strides) * p.type.bytes();
    p.offset = reserve(p.bytes);
    places_[op.name + ".rows"] = p;
}

void Emitter::place_values() {
    for (const Op &op : program_.prologue) {
        place_op(op, true);
    }
    for (const tile::Stream &s : program_.streams) {
        for (const tile::State &state : s.states) {
            FLDSL_USER_CHECK(lane_axis_.empty() || has_lanes(state.axes))
                << program_.name << ": state " << state.name << " lacks the tiled axis " << lane_axis_;
            Place p;
            p.home = Home::Panel;
            p.type = arithmetic_type(state.type);
            p.axes = without_lanes(state.axes);
            p.pointer = state.name + ".ptr";
            p.per_panel = true;
            p.bytes = panel_elements(p.axes, &p.strides) * p.type.bytes();
            const int panels = lane_axis_.empty() ? 1 : (axis(lane_axis_).tile + blocking_.lanes() - 1) / blocking_.lanes();
            p.offset = reserve(p.bytes * panels);
            places_[state.name] = p;
        }
        for (const Op &op : s.head) {
            place_op(op, false);
        }
        for (const Op &op : s.body) {
            place_op(op, false);
        }
    }
    for (const Op &op : program_.epilogue) {
        place_op(op, false);
    }
    share_states();
}

/// A state's next value takes the state's own memory when nothing reads the old value once the new one is made.
void Emitter::share_states() {
    for (const tile::Stream &s : program_.streams) {
        for (const tile::Update &u : s.updates) {
            size_t made = s.body.size();
            bool read_later = false;
            for (size_t i = 0; i < s.body.size(); i++) {
                if (s.body[i].name == u.value) {
                    made = i;
                } else if (i > made && reads(s.body[i], u.state)) {
                    read_later = true;
                }
            }
            auto value = places_.find(u.value);
            const bool one_writer = std::count_if(s.updates.begin(), s.updates.end(),
                                                  [&](const tile::Update &o) { return o.value == u.value; }) == 1;
            if (made < s.body.size() && !read_later && one_writer && value != places_.end() &&
                value->second.home == Home::Panel && value->second.axes == places_[u.state].axes) {
                value->second.pointer = places_[u.state].pointer;
                value->second.offset = places_[u.state].offset;
                value->second.per_panel = true;
            }
        }
    }
}

}  // namespace fldsl::lower_halide
