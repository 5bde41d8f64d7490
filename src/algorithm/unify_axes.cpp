#include "src/algorithm/unify_axes.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <algorithm>
#include <functional>
#include <set>

namespace fldsl::algorithm {

using namespace Halide::Internal;

namespace {

class UnionFind {
  public:
    std::string root(const std::string &term) {
        auto it = parent_.find(term);
        if (it == parent_.end() || it->second == term) {
            return term;
        }
        return it->second = root(it->second);
    }
    void join(const std::string &a, const std::string &b) {
        parent_[root(b)] = root(a);
    }

  private:
    std::map<std::string, std::string> parent_;
};

class Calls : public IRVisitor {
  public:
    explicit Calls(std::function<void(const Call *)> f) : f_(std::move(f)) {
    }

  private:
    using IRVisitor::visit;
    void visit(const Call *op) override {
        f_(op);
        IRVisitor::visit(op);
    }
    std::function<void(const Call *)> f_;
};

void for_each_call(const Node &n, Call::CallType type, const std::function<void(const Call *)> &f) {
    Calls calls([&](const Call *op) {
        if (op->call_type == type) {
            f(op);
        }
    });
    for (const Expr &e : {n.body, n.where}) {
        if (e.defined()) {
            e.accept(&calls);
        }
    }
}

bool has_axis(const Node &n, const std::string &name) {
    return std::find(n.parallel.begin(), n.parallel.end(), name) != n.parallel.end() ||
           std::find(n.reduction.begin(), n.reduction.end(), name) != n.reduction.end();
}

std::string term(const Node &n, const std::string &axis) {
    return n.name + "." + axis;
}

class Unifier {
  public:
    explicit Unifier(RegionGraph graph) : graph_(std::move(graph)) {
    }

    RegionGraph run() {
        join_calls();
        join_domains();
        name_axes();
        for (Node &n : graph_.nodes) {
            rename(n);
        }
        find_extents();
        return graph_;
    }

  private:
    void join_calls() {
        for (const Node &n : graph_.nodes) {
            for_each_call(n, Call::Halide, [&](const Call *op) {
                const Node *callee = graph_.find(op->name);
                FLDSL_INTERNAL_CHECK(callee) << op->name << " is no node";
                for (size_t k = 0; k < op->args.size(); k++) {
                    const Variable *v = op->args[k].as<Variable>();
                    FLDSL_USER_CHECK(v && has_axis(n, v->name))
                        << "Func " << n.name << " reads the reduction " << callee->name << " at "
                        << expr_to_text(op->args[k]) << " in dimension " << k << " (" << callee->parallel[k]
                        << "): a reduction can be read only at a plain variable";
                    axes_.join(term(n, v->name), term(*callee, callee->parallel[k]));
                }
            });
        }
        for (const Node &n : graph_.nodes) {
            std::map<std::string, std::string> seen;
            for (const auto *list : {&n.parallel, &n.reduction}) {
                for (const std::string &a : *list) {
                    const auto inserted = seen.emplace(axes_.root(term(n, a)), a);
                    FLDSL_USER_CHECK(inserted.second)
                        << "Func " << n.name << " uses one axis of another Func as both " << inserted.first->second << " and "
                        << a << ": compute the two uses in Funcs of their own";
                }
            }
        }
    }

    /// The reduction axes of two nodes are bound names, so they may be one wherever their extents are equal. They become one
    /// when the author gave them one name or they index the same dimension of a tensor: then one loop can serve both.
    void join_domains() {
        struct Domain {
            const Node *node;
            std::string axis;
            std::set<std::string> uses;
        };
        std::vector<Domain> domains;
        for (const Node &n : graph_.nodes) {
            for (const std::string &a : n.reduction) {
                Domain d{&n, a, {"name " + a}};
                for_each_call(n, Call::Image, [&](const Call *op) {
                    for (size_t k = 0; k < op->args.size(); k++) {
                        const Variable *v = op->args[k].as<Variable>();
                        if (v && v->name == a) {
                            d.uses.insert(op->name + " " + std::to_string(k));
                        }
                    }
                });
                domains.push_back(std::move(d));
            }
        }
        for (size_t x = 0; x < domains.size(); x++) {
            for (size_t y = x + 1; y < domains.size(); y++) {
                const Domain &a = domains[x], &b = domains[y];
                const bool related = std::any_of(a.uses.begin(), a.uses.end(), [&](const std::string &u) { return b.uses.count(u); });
                const std::string ta = term(*a.node, a.axis), tb = term(*b.node, b.axis);
                if (a.node != b.node && related && equal(graph_.extents.at(ta), graph_.extents.at(tb)) && may_join(ta, tb)) {
                    axes_.join(ta, tb);
                }
            }
        }
    }

    /// True when no node has axes in both classes.
    bool may_join(const std::string &a, const std::string &b) {
        const std::string ra = axes_.root(a), rb = axes_.root(b);
        for (const Node &n : graph_.nodes) {
            bool in_a = false, in_b = false;
            for (const auto *list : {&n.parallel, &n.reduction}) {
                for (const std::string &axis : *list) {
                    const std::string root = axes_.root(term(n, axis));
                    in_a |= root == ra;
                    in_b |= root == rb;
                }
            }
            if (in_a && in_b && ra != rb) {
                return false;
            }
        }
        return true;
    }

    /// Outputs name axes first, then other parallel uses, then reduction domains.
    void name_axes() {
        std::vector<std::pair<const Node *, bool>> order;
        for (const bool outputs : {true, false}) {
            for (const Node &n : graph_.nodes) {
                if (graph_.is_output(n.name) == outputs) {
                    order.emplace_back(&n, outputs);
                }
            }
        }
        std::set<std::string> taken;
        for (const auto &t : graph_.inputs) {
            taken.insert(t.name);
        }
        for (const auto &t : graph_.outputs) {
            taken.insert(t.name);
        }
        for (const auto &s : graph_.scalars) {
            taken.insert(s.name);
        }
        for (const Node &n : graph_.nodes) {
            taken.insert(n.name);
        }
        auto name_all = [&](std::vector<std::string> Node::*list) {
            for (const auto &entry : order) {
                for (const std::string &a : entry.first->*list) {
                    const std::string root = axes_.root(term(*entry.first, a));
                    if (!index_.count(root)) {
                        std::string name = a;
                        for (int i = 1; taken.count(name); i++) {
                            name = a + "_" + std::to_string(i);
                        }
                        taken.insert(name);
                        index_[root] = graph_.axes.size();
                        graph_.axes.push_back({name, Expr(), {}});
                    }
                    std::vector<std::string> &aliases = graph_.axes[index_[root]].aliases;
                    if (std::find(aliases.begin(), aliases.end(), a) == aliases.end()) {
                        aliases.push_back(a);
                    }
                }
            }
        };
        name_all(&Node::parallel);
        name_all(&Node::reduction);
    }

    const Axis &axis_of(const Node &n, const std::string &local) {
        return graph_.axes[index_.at(axes_.root(term(n, local)))];
    }

    void rename(Node &n) {
        std::map<std::string, Expr> replacement;
        for (auto *list : {&n.parallel, &n.reduction}) {
            for (std::string &a : *list) {
                Axis &axis = graph_.axes[index_.at(axes_.root(term(n, a)))];
                auto it = graph_.extents.find(term(n, a));
                if (it != graph_.extents.end() && !axis.extent.defined()) {
                    axis.extent = it->second;
                }
                replacement[a] = Variable::make(Halide::Int(32), axis.name);
                a = axis.name;
            }
        }
        n.body = substitute(replacement, n.body);
        if (n.where.defined()) {
            n.where = substitute(replacement, n.where);
        }
    }

    void find_extents() {
        std::map<std::string, Expr> found;
        for (const TensorArgument &t : graph_.inputs) {
            for (const Node &n : graph_.nodes) {
                for_each_call(n, Call::Image, [&](const Call *op) {
                    for (size_t k = 0; op->name == t.name && k < op->args.size(); k++) {
                        if (const Variable *v = op->args[k].as<Variable>()) {
                            found.emplace(v->name, Variable::make(Halide::Int(32), t.name + ".extent." + std::to_string(k)));
                        }
                    }
                });
            }
        }
        for (Axis &a : graph_.axes) {
            // A constant domain stays constant: the tensors must agree with it.
            if (found.count(a.name) && !(a.extent.defined() && is_const(a.extent))) {
                a.extent = found[a.name];
            }
        }
        // An axis that only outputs have takes its extent from the first output.
        for (const TensorArgument &t : graph_.outputs) {
            const Node *n = graph_.find(t.name);
            for (size_t k = 0; k < n->parallel.size(); k++) {
                for (Axis &a : graph_.axes) {
                    if (a.name == n->parallel[k] && !a.extent.defined()) {
                        a.extent = Variable::make(Halide::Int(32), t.name + ".extent." + std::to_string(k));
                    }
                }
            }
        }
        for (const Axis &a : graph_.axes) {
            FLDSL_USER_CHECK(a.extent.defined())
                << "the extent of axis " << a.name << " is unknown: no tensor is indexed by it and no reduction domain has it";
        }
    }

    RegionGraph graph_;
    UnionFind axes_;
    std::map<std::string, size_t> index_;
};

}  // namespace

RegionGraph unify_axes(RegionGraph graph) {
    return Unifier(std::move(graph)).run();
}

const Axis &axis_of_alias(const RegionGraph &graph, const std::string &name) {
    const std::string base = name.substr(0, name.find('$'));
    std::vector<const Axis *> matches;
    std::string known;
    for (const Axis &a : graph.axes) {
        if (a.name == base) {
            return a;
        }
        if (std::find(a.aliases.begin(), a.aliases.end(), base) != a.aliases.end()) {
            matches.push_back(&a);
        }
        known += (known.empty() ? "" : ", ") + a.name;
    }
    FLDSL_USER_CHECK(!matches.empty()) << "no axis is called " << base << "; the kernel's axes are " << known;
    FLDSL_USER_CHECK(matches.size() == 1)
        << base << " names " << matches.size() << " axes (" << matches[0]->name << ", " << matches[1]->name
        << "): give them names of their own";
    return *matches[0];
}

}  // namespace fldsl::algorithm
