#include "src/passes/split_reduction.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <functional>

namespace fldsl::passes {

using namespace Halide::Internal;
using Halide::Expr;
using tile::AxisRole;
using tile::Op;
using tile::OpKind;
using tile::Program;

namespace {

const char *const part_axis = "part";

Expr coordinate(const std::string &name) {
    return Variable::make(Halide::Int(32), name);
}

class Splitter {
  public:
    Splitter(const Program &program, const StreamPlan &plan, int parts) : program_(program), plan_(plan), parts_(parts) {
        FLDSL_USER_CHECK(program.streams.size() == 1)
            << "split(" << plan.demotion.axis << ", " << parts << "): the kernel walks " << program.streams.size()
            << " streams; one can be split: state online() so that its reductions share one walk";
        for (size_t i = 0; i < plan.reductions.size(); i++) {
            state_of_[plan.reductions[i].node] = program.streams[0].states[i].name;
        }
    }

    tile::Kernel split() {
        tile::Kernel kernel;
        kernel.name = program_.name;
        kernel.stages.push_back(partial());
        kernel.stages.push_back(merge());
        return kernel;
    }

  private:
    const tile::Stream &stream() const {
        return program_.streams[0];
    }

    const tile::Axis &axis(const std::string &name) const {
        for (const tile::Axis &a : program_.axes) {
            if (a.name == name) {
                return a;
            }
        }
        FLDSL_INTERNAL_CHECK(false) << "no axis " << name;
        return program_.axes.front();
    }

    std::string workspace_of(const tile::State &s) const {
        return s.name + "_parts";
    }

    /// Coordinates of a state's element in workspace, innermost first: its own axes, then scalar grid axes, then the part.
    std::vector<std::string> workspace_axes(const tile::State &s) const {
        std::vector<std::string> axes = s.axes;
        for (const std::string &g : program_.grid) {
            if (std::find(axes.begin(), axes.end(), g) == axes.end()) {
                axes.push_back(g);
            }
        }
        axes.push_back(part_axis);
        return axes;
    }

    std::vector<Expr> coordinates(const std::vector<std::string> &axes) const {
        std::vector<Expr> e;
        for (const std::string &a : axes) {
            e.push_back(coordinate(a));
        }
        return e;
    }

    void add_workspace(Program &p) const {
        for (const tile::State &s : stream().states) {
            tile::Tensor t{workspace_of(s), s.type, 0, tile::TensorUse::Workspace, {}};
            for (const std::string &a : workspace_axes(s)) {
                t.extents.push_back(a == part_axis ? Expr(parts_) : axis(a).extent);
            }
            t.rank = static_cast<int>(t.extents.size());
            p.tensors.push_back(t);
        }
    }

    Program partial() const {
        Program p = program_;
        p.name = program_.name + "_parts";
        add_workspace(p);
        p.axes.push_back({part_axis, AxisRole::Grid, parts_, 1});
        p.grid.push_back(part_axis);
        tile::Stream &s = p.streams[0];
        const int block = axis(s.axis).tile;
        const Expr chunk = (axis(s.axis).extent + (parts_ * block - 1)) / (parts_ * block) * block;
        s.begin = simplify(max(s.begin, coordinate(part_axis) * chunk));
        s.end = simplify(min(s.end, (coordinate(part_axis) + 1) * chunk));
        p.epilogue.clear();
        for (const tile::State &state : s.states) {
            Op store;
            store.kind = OpKind::Store;
            store.name = workspace_of(state);
            store.type = state.type;
            store.axes = state.axes;
            store.value = Variable::make(state.type, state.name);
            store.index = coordinates(workspace_axes(state));
            p.epilogue.push_back(store);
        }
        return p;
    }

    /// Corrections with the parts' states as old values and the merged ones as new.
    class Bind : public IRMutator {
      public:
        explicit Bind(const std::map<std::string, std::string> &state_of) : state_of_(state_of) {
        }
        using IRMutator::mutate;

      private:
        using IRMutator::visit;
        Expr visit(const Call *op) override {
            if (op->call_type != Call::Halide) {
                FLDSL_USER_CHECK(op->call_type == Call::PureExtern)
                    << "split: a correction reads " << expr_to_text(Expr(op)) << "; only states can be merged";
                return IRMutator::visit(op);
            }
            const size_t old = op->name.rfind(".old");
            const std::string node = op->name.substr(0, old);
            FLDSL_USER_CHECK(state_of_.count(node)) << "split: a correction reads " << node << ", which is no state";
            return Variable::make(op->type, state_of_.at(node) + (old == std::string::npos ? "" : "_part"));
        }
        const std::map<std::string, std::string> &state_of_;
    };

    Program merge() const {
        Program p = program_;
        p.name = program_.name + "_merge";
        p.order = tile::GridOrder::Plain;
        add_workspace(p);
        p.streams.clear();
        p.axes.erase(std::remove_if(p.axes.begin(), p.axes.end(), [&](const tile::Axis &a) { return a.name == stream().axis; }),
                     p.axes.end());
        p.axes.push_back({part_axis, AxisRole::Whole, parts_, parts_});
        std::vector<Op> ops;
        for (size_t i = 0; i < stream().states.size(); i++) {
            merge_state(stream().states[i], plan_.reductions[i], ops);
        }
        ops.insert(ops.end(), program_.epilogue.begin(), program_.epilogue.end());
        p.epilogue = ops;
        keep_used_prologue(p);
        return p;
    }

    void merge_state(const tile::State &state, const OnlineReduction &r, std::vector<Op> &ops) const {
        std::vector<std::string> axes{part_axis};
        axes.insert(axes.end(), state.axes.begin(), state.axes.end());
        Op load;
        load.kind = OpKind::Load;
        load.name = state.name + "_part";
        load.type = state.type;
        load.axes = axes;
        load.value = make_element(state.type, workspace_of(state), coordinates(workspace_axes(state)));
        ops.push_back(load);
        Op reduce;
        reduce.kind = OpKind::Reduce;
        reduce.name = state.name;
        reduce.type = state.type;
        reduce.axes = state.axes;
        reduce.over = {part_axis};
        reduce.combiner = r.combiner;
        reduce.value = Variable::make(state.type, load.name);
        if (r.correction.defined()) {
            reduce.value = reduce.value * Bind(state_of_).mutate(r.correction);
        }
        ops.push_back(reduce);
    }

    /// Loads of the first stage that nothing in the second reads are left out.
    static void keep_used_prologue(Program &p) {
        std::vector<Op> kept;
        for (auto it = p.prologue.rbegin(); it != p.prologue.rend(); ++it) {
            const auto uses = [&](const Op &op) {
                const auto in = [&](const Expr &e) { return e.defined() && expr_uses_var(e, it->name); };
                return in(op.value) || in(op.where) || in(op.otherwise) || in(op.init);
            };
            if (std::any_of(p.epilogue.begin(), p.epilogue.end(), uses) || std::any_of(kept.begin(), kept.end(), uses)) {
                kept.insert(kept.begin(), *it);
            }
        }
        p.prologue = kept;
    }

    const Program &program_;
    const StreamPlan &plan_;
    int parts_;
    std::map<std::string, std::string> state_of_;
};

}  // namespace

tile::Kernel split_reduction(const Program &program, const StreamPlan &plan, int parts) {
    return Splitter(program, plan, parts).split();
}

}  // namespace fldsl::passes
