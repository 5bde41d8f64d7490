#include "src/passes/conditions.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <set>

namespace fldsl::passes {

using namespace algorithm;
using namespace Halide::Internal;
using Halide::Expr;
using tile::Condition;

namespace {

class ImageCalls : public IRVisitor {
  public:
    std::vector<const Call *> calls;

  private:
    using IRVisitor::visit;
    void visit(const Call *op) override {
        if (op->call_type == Call::Image) {
            calls.push_back(op);
        }
        IRVisitor::visit(op);
    }
};

bool has_call(const Expr &e) {
    ImageCalls images;
    e.accept(&images);
    return !images.calls.empty() || !called_nodes(e).empty();
}

class Deriver {
  public:
    Deriver(const RegionGraph &graph, const Schedule &schedule) : graph_(graph), schedule_(schedule) {
        for (const Axis &a : graph.axes) {
            ranges_.push(a.name, Interval(0, simplify(a.extent - 1)));
        }
    }

    std::vector<Condition> derive() {
        // The author's conditions first: their words are better than what indices tell.
        for (const Requirement &r : graph_.requirements) {
            requirement(r);
        }
        for (const Node &n : graph_.nodes) {
            ImageCalls images;
            for (const Expr &e : {n.body, n.where}) {
                if (e.defined()) {
                    e.accept(&images);
                }
            }
            for (const Call *call : images.calls) {
                for (size_t k = 0; k < call->args.size(); k++) {
                    constrain_index(n, call->name, static_cast<int>(k), call->args[k]);
                }
            }
        }
        for (const TensorArgument &o : graph_.outputs) {
            const Node &n = *graph_.find(o.name);
            for (size_t k = 0; k < n.parallel.size(); k++) {
                equal_extent(o.name, static_cast<int>(k), n.parallel[k]);
            }
        }
        domains();
        capacities();
        return std::move(conditions_);
    }

  private:
    Expr extent(const std::string &tensor, int k) const {
        return Variable::make(Halide::Int(32), tensor + ".extent." + std::to_string(k));
    }

    int rank(const std::string &tensor) const {
        for (const auto *list : {&graph_.inputs, &graph_.outputs}) {
            for (const TensorArgument &t : *list) {
                if (t.name == tensor) {
                    return t.rank;
                }
            }
        }
        FLDSL_INTERNAL_CHECK(false) << "no tensor " << tensor;
        return 0;
    }

    /// "q dimension 2", outermost first, for the extent variable "q.extent.1" of a rank-4 q.
    std::string spoken(const Expr &e) const {
        const Variable *v = e.as<Variable>();
        const size_t at = v ? v->name.find(".extent.") : std::string::npos;
        if (at == std::string::npos) {
            return expr_to_text(e);
        }
        const std::string tensor = v->name.substr(0, at);
        return tensor + " dimension " + std::to_string(rank(tensor) - 1 - std::stoi(v->name.substr(at + 8)));
    }

    void add(Condition c) {
        if (is_const_one(simplify(c.holds)) || !seen_.insert(c.tensor + expr_to_text(c.holds)).second) {
            return;
        }
        conditions_.push_back(std::move(c));
    }

    void equal_extent(const std::string &tensor, int k, const std::string &axis) {
        const Expr wanted = graph_.axis(axis)->extent, given = extent(tensor, k);
        add({tensor, k, given == wanted, given, wanted, "{wanted}, as " + spoken(wanted)});
    }

    void constrain_index(const Node &n, const std::string &tensor, int k, const Expr &index) {
        const Variable *v = index.as<Variable>();
        if (v && graph_.axis(v->name)) {
            equal_extent(tensor, k, v->name);
            return;
        }
        const Interval range = bounds_of_expr_in_scope(index, ranges_);
        FLDSL_USER_CHECK(range.is_bounded() && !has_call(range.min) && !has_call(range.max))
            << n.name << " reads " << tensor << " at " << expr_to_text(index) << ", which nothing bounds: write clamp("
            << expr_to_text(index) << ", 0, " << tensor << ".dim(" << k << ").extent() - 1)";
        const Expr given = extent(tensor, k), last = simplify(range.max);
        const std::string reads = "; the kernel reads index " + expr_to_text(index);
        add({tensor, k, last < given, given, simplify(last + 1), "at least {wanted}" + reads});
        add({tensor, k, simplify(range.min) >= 0, given, Expr(), "none: " + expr_to_text(index) + " is negative"});
    }

    /// A reduction domain whose extent is not the axis's own must agree with it.
    void domains() {
        for (const auto &entry : graph_.extents) {
            const size_t dot = entry.first.rfind('.');
            const std::string local = entry.first.substr(dot + 1);
            for (const Axis &a : graph_.axes) {
                const bool mine = std::find(a.aliases.begin(), a.aliases.end(), local) != a.aliases.end();
                const Node *n = graph_.find(entry.first.substr(0, dot));
                if (!mine || !n || std::find(n->reduction.begin(), n->reduction.end(), a.name) == n->reduction.end()) {
                    continue;
                }
                const Variable *v = a.extent.as<Variable>();
                const size_t at = v ? v->name.find(".extent.") : std::string::npos;
                if (at != std::string::npos) {
                    add({v->name.substr(0, at), std::stoi(v->name.substr(at + 8)), a.extent == entry.second, a.extent,
                         entry.second, "{wanted}, as " + spoken(entry.second)});
                }
            }
        }
    }

    void capacities() {
        for (const Axis &a : graph_.axes) {
            const AxisPlan &plan = schedule_.axes.at(a.name);
            const Variable *v = a.extent.as<Variable>();
            const size_t at = v ? v->name.find(".extent.") : std::string::npos;
            if (plan.role == tile::AxisRole::Whole && at != std::string::npos) {
                add({v->name.substr(0, at), std::stoi(v->name.substr(at + 8)), a.extent <= plan.tile, a.extent, Expr(),
                     "0 to " + std::to_string(plan.tile) + ", what this kernel was built for"});
            }
        }
    }

    void requirement(const Requirement &r) {
        // Spoken of the first tensor extent in the condition, which authors put on the left.
        struct First : IRVisitor {
            using IRVisitor::visit;
            std::string name;
            void visit(const Variable *op) override {
                if (name.empty()) {
                    name = op->name;
                }
            }
        } first;
        r.holds.accept(&first);
        Condition c;
        const size_t at = first.name.find(".extent.");
        if (at != std::string::npos) {
            c.tensor = first.name.substr(0, at);
            c.dimension = std::stoi(first.name.substr(at + 8));
            c.given = extent(c.tensor, c.dimension);
        } else {
            c.tensor = first.name;
            for (const ScalarArgument &s : graph_.scalars) {
                if (s.name == first.name) {
                    c.given = Variable::make(s.type, s.name);
                }
            }
        }
        c.holds = r.holds;
        c.allowed = r.message;
        add(c);
    }

    const RegionGraph &graph_;
    const Schedule &schedule_;
    Scope<Interval> ranges_;
    std::vector<Condition> conditions_;
    std::set<std::string> seen_;
};

}  // namespace

std::map<std::string, std::vector<std::string>> tensor_dimensions(const RegionGraph &graph) {
    std::map<std::string, std::vector<std::string>> dimensions;
    for (const TensorArgument &o : graph.outputs) {
        const std::vector<std::string> &axes = graph.find(o.name)->parallel;
        dimensions[o.name].assign(axes.rbegin(), axes.rend());
    }
    for (const Node &n : graph.nodes) {
        ImageCalls images;
        for (const Expr &e : {n.body, n.where}) {
            if (e.defined()) {
                e.accept(&images);
            }
        }
        for (const Call *call : images.calls) {
            std::vector<std::string> &d = dimensions[call->name];
            for (auto arg = call->args.rbegin(); d.size() < call->args.size() && arg != call->args.rend(); ++arg) {
                d.push_back(expr_to_text(*arg));
            }
        }
    }
    return dimensions;
}

std::vector<Condition> derive_conditions(const RegionGraph &graph, const Schedule &schedule) {
    return Deriver(graph, schedule).derive();
}

}  // namespace fldsl::passes
