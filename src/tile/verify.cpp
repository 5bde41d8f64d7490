#include "src/tile/verify.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/tile/scope.h"
#include "src/tile/tile_text.h"

#include <algorithm>
#include <cctype>

namespace fldsl::tile {

using namespace Halide::Internal;

namespace {

bool is_word(const std::string &name) {
    return !name.empty() && !is_keyword(name) && (std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_') &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '$'; });
}

/// Tensors whose elements `e` reads.
std::set<std::string> tensors_read(const Expr &e) {
    struct Collect : IRVisitor {
        using IRVisitor::visit;
        void visit(const Call *op) override {
            if (op->call_type == Call::Image) {
                names.insert(op->name);
            }
            IRVisitor::visit(op);
        }
        std::set<std::string> names;
    } collect;
    if (e.defined()) {
        e.accept(&collect);
    }
    return collect.names;
}

bool mentions(const Expr &e, const std::string &variable) {
    struct Find : IRVisitor {
        using IRVisitor::visit;
        void visit(const Variable *op) override {
            found = found || op->name == *name;
        }
        const std::string *name;
        bool found = false;
    } find;
    find.name = &variable;
    e.accept(&find);
    return find.found;
}

enum class Place { Prologue, Head, Body, Epilogue };

class StageVerifier {
  public:
    StageVerifier(const Program &program, const std::set<std::string> &written)
        : program_(program), scope_(program), written_(written) {
    }

    /// The tensors that the stage stores.
    std::set<std::string> verify() {
        names();
        axes();
        ops(program_.prologue, Place::Prologue);
        for (const Stream &s : program_.streams) {
            stream(s);
        }
        ops(program_.epilogue, Place::Epilogue);
        return stored_;
    }

  private:
    void expect(bool condition, const std::string &where, const std::string &rule) const {
        FLDSL_INTERNAL_CHECK(condition) << "tile program " << program_.name << ": " << where << ": " << rule;
    }

    void well_formed(const Expr &e, Type type, const std::vector<std::string> &axes, const std::string &where,
                     const std::string &what) const {
        expect(e.defined(), where, what + " is missing");
        expect(e.type() == type, where, what + " has type " + type_name(e.type()) + ", not " + type_name(type));
        const std::string fault = scope_.fault_of(e, axes);
        expect(fault.empty(), where, what + " " + fault);
        for (const std::string &t : tensors_read(e)) {
            expect(scope_.tensor(t)->use == TensorUse::Input || written_.count(t), where,
                   what + " reads workspace " + t + " before a stage stores it");
        }
    }

    void names() const {
        std::set<std::string> seen;
        const auto once = [&](const std::string &name) {
            expect(is_word(name), "`" + name + "`", "is no name");
            expect(seen.insert(name).second, name, "is defined twice");
        };
        for (const Tensor &t : program_.tensors) {
            once(t.name);
            if (t.use != TensorUse::Workspace) {
                continue;
            }
            expect(static_cast<int>(t.extents.size()) == t.rank, t.name, "workspace has a shape of its rank");
            for (const Expr &e : t.extents) {
                well_formed(e, Halide::Int(32), {}, t.name, "the shape");
            }
        }
        for (const Scalar &s : program_.scalars) {
            once(s.name);
        }
        for (const Axis &a : program_.axes) {
            once(a.name);
        }
    }

    void axes() const {
        std::set<std::string> grid(program_.grid.begin(), program_.grid.end());
        expect(grid.size() == program_.grid.size(), "grid", "an axis occurs twice");
        for (const std::string &g : program_.grid) {
            expect(scope_.axis(g), "grid", g + " is no axis");
        }
        for (const Axis &a : program_.axes) {
            const std::string where = "axis " + a.name;
            expect(a.tile >= 1, where, "tile is " + std::to_string(a.tile));
            expect((a.role == AxisRole::Grid) == (grid.count(a.name) != 0), where, "the grid is the axes of role grid");
            well_formed(a.extent, Halide::Int(32), {}, where, "the extent");
        }
    }

    void ops(const std::vector<Op> &list, Place place) {
        for (const Op &op : list) {
            operation(op, place);
        }
    }

    void operation(const Op &op, Place place) {
        const std::string text = "`" + to_text(op) + "`";
        expect(place != Place::Head || (op.axes.empty() && op.kind != OpKind::Store), text, "a head makes values without axes");
        std::vector<std::string> all = op.axes;
        all.insert(all.end(), op.over.begin(), op.over.end());
        for (const std::string &a : all) {
            expect(scope_.axis(a), text, a + " is no axis");
            expect(scope_.has_range(a), text, "stream axis " + a + " is used outside its stream");
            expect(std::count(all.begin(), all.end(), a) == 1, text, "axis " + a + " occurs twice");
        }
        expect((op.kind == OpKind::Reduce) != op.over.empty(), text, "reductions fold over axes, others over none");
        expect(op.kind == OpKind::Reduce || !op.init.defined(), text, "only reductions start from a value");
        expect(op.otherwise.defined() == (op.kind == OpKind::Map && op.where.defined()), text,
               "`otherwise` goes with `where` of a map");
        well_formed(op.value, op.type, all, text, "the value");
        if (op.where.defined()) {
            expect(op.kind != OpKind::Load, text, "a load has no `where`");
            well_formed(op.where, Halide::Bool(), all, text, "`where`");
        }
        if (op.otherwise.defined()) {
            well_formed(op.otherwise, op.type, all, text, "`otherwise`");
        }
        if (op.init.defined()) {
            well_formed(op.init, op.type, op.axes, text, "`from`");
        }
        if (op.kind == OpKind::Load) {
            const Call *element = op.value.as<Call>();
            expect(element && element->call_type == Call::Image, text, "a load reads one tensor element");
        }
        if (op.kind == OpKind::Store) {
            store(op, text);
        } else {
            expect(is_word(op.name), text, "`" + op.name + "` is no name");
            expect(scope_.define(op.name, {op.type, op.axes}), text, op.name + " is defined twice");
        }
    }

    void store(const Op &op, const std::string &text) {
        const Tensor *t = scope_.tensor(op.name);
        expect(t && t->use != TensorUse::Input, text, op.name + " is no output or workspace tensor");
        expect(t->type == op.type, text, op.name + " has elements of " + type_name(t->type) + ", not " + type_name(op.type));
        expect(static_cast<int>(op.index.size()) == t->rank, text, op.name + " has rank " + std::to_string(t->rank));
        for (const Expr &e : op.index) {
            well_formed(e, Halide::Int(32), op.axes, text, "an index");
        }
        // Blocks run in parallel: every axis of the grid must tell their elements apart, scalar coordinates included.
        std::set<std::string> axes(op.axes.begin(), op.axes.end());
        axes.insert(program_.grid.begin(), program_.grid.end());
        for (const std::string &a : axes) {
            expect(std::any_of(op.index.begin(), op.index.end(), [&](const Expr &e) { return mentions(e, a); }), text,
                   "no index mentions axis " + a + ", so elements are written twice");
        }
        stored_.insert(op.name);
    }

    void stream(const Stream &s) {
        const std::string where = "stream " + s.axis;
        const Axis *axis = scope_.axis(s.axis);
        expect(axis && axis->role == AxisRole::Stream, where, "is no axis of role stream");
        well_formed(s.begin, Halide::Int(32), {}, where, "begin");
        well_formed(s.end, Halide::Int(32), {}, where, "end");
        scope_.enter_stream(s.axis);
        ops(s.head, Place::Head);
        if (s.live.defined()) {
            well_formed(s.live, Halide::Bool(), {}, where, "live");
        }
        if (s.full.defined()) {
            well_formed(s.full, Halide::Bool(), {}, where, "full");
        }
        states(s);
        ops(s.body, Place::Body);
        updates(s);
        for (const std::vector<Op> *list : {&s.head, &s.body}) {
            for (const Op &op : *list) {
                scope_.forget(op.name);
            }
        }
        scope_.leave_stream();
    }

    void states(const Stream &s) {
        for (const State &state : s.states) {
            const std::string where = "state " + state.name;
            expect(is_word(state.name), where, "is no name");
            for (const std::string &a : state.axes) {
                expect(scope_.axis(a) && scope_.axis(a)->role != AxisRole::Stream, where, a + " is no grid or whole axis");
            }
            well_formed(state.identity, state.type, {}, where, "the identity");
            expect(scope_.define(state.name, {state.type, state.axes}), where, "is defined twice");
        }
    }

    void updates(const Stream &s) const {
        for (const State &state : s.states) {
            const auto count = std::count_if(s.updates.begin(), s.updates.end(),
                                             [&](const Update &u) { return u.state == state.name; });
            expect(count == 1, "state " + state.name, "is updated " + std::to_string(count) + " times, not once");
        }
        for (const Update &u : s.updates) {
            const std::string where = "update " + u.state + " = " + u.value;
            const bool known = std::any_of(s.states.begin(), s.states.end(), [&](const State &t) { return t.name == u.state; });
            expect(known, where, u.state + " is no state of this stream");
            const Definition *state = scope_.find(u.state), *value = scope_.find(u.value);
            expect(value, where, u.value + " is not defined here");
            expect(value->type == state->type && value->axes == state->axes, where, "the value has the state's type and axes");
        }
    }

    const Program &program_;
    Scope scope_;
    const std::set<std::string> &written_;  ///< workspace that earlier stages stored
    std::set<std::string> stored_;
};

}  // namespace

void verify(const Kernel &kernel) {
    FLDSL_INTERNAL_CHECK(!kernel.stages.empty()) << "kernel " << kernel.name << " has no stages";
    std::map<std::string, Tensor> tensors;
    std::set<std::string> stages, written;
    for (const Program &p : kernel.stages) {
        FLDSL_INTERNAL_CHECK(stages.insert(p.name).second) << "kernel " << kernel.name << ": two stages are called " << p.name;
        for (const Tensor &t : p.tensors) {
            const Tensor &first = tensors.emplace(t.name, t).first->second;
            FLDSL_INTERNAL_CHECK(first.type == t.type && first.rank == t.rank && first.use == t.use)
                << "kernel " << kernel.name << ": stages disagree on tensor " << t.name;
        }
        const std::set<std::string> stored = StageVerifier(p, written).verify();
        for (const std::string &name : stored) {
            FLDSL_INTERNAL_CHECK(written.insert(name).second)
                << "kernel " << kernel.name << ": two stages store " << name << ", the second is " << p.name;
        }
    }
    for (const auto &[name, t] : tensors) {
        FLDSL_INTERNAL_CHECK(t.use != TensorUse::Output || written.count(name))
            << "kernel " << kernel.name << ": output " << name << " is never stored";
    }
}

}  // namespace fldsl::tile
