#include "src/algorithm/region_graph.h"

#include "src/support/expr_text.h"

#include <algorithm>
#include <sstream>

namespace fldsl::algorithm {

using namespace Halide::Internal;

const Node *RegionGraph::find(const std::string &node) const {
    for (const Node &n : nodes) {
        if (n.name == node) {
            return &n;
        }
    }
    return nullptr;
}

Node *RegionGraph::find(const std::string &node) {
    return const_cast<Node *>(static_cast<const RegionGraph *>(this)->find(node));
}

const Axis *RegionGraph::axis(const std::string &name) const {
    for (const Axis &a : axes) {
        if (a.name == name) {
            return &a;
        }
    }
    return nullptr;
}

bool RegionGraph::is_output(const std::string &node) const {
    return std::any_of(outputs.begin(), outputs.end(), [&](const TensorArgument &t) { return t.name == node; });
}

namespace {

class CalledNodes : public IRGraphVisitor {
  public:
    std::vector<std::string> names;

  private:
    using IRGraphVisitor::visit;
    void visit(const Call *op) override {
        IRGraphVisitor::visit(op);
        if (op->call_type == Call::Halide && std::find(names.begin(), names.end(), op->name) == names.end()) {
            names.push_back(op->name);
        }
    }
};

std::string join(const std::vector<std::string> &names) {
    std::string s;
    for (const std::string &n : names) {
        s += (s.empty() ? "" : ", ") + n;
    }
    return s;
}

void print_node(std::ostream &out, const Node &n) {
    out << n.name << " [(" << join(n.parallel) << "), (" << join(n.reduction) << ")] " << type_name(n.type) << " ";
    if (n.is_reduction()) {
        out << combiner_name(n.combiner) << " ";
    }
    out << expr_to_text(n.body);
    if (n.where.defined()) {
        out << "  where " << expr_to_text(n.where);
    }
    out << "\n";
}

/// Replaces node, axis and tensor names by those in a table.
class Rename : public IRMutator {
  public:
    std::map<std::string, std::string> names;

    std::string operator[](const std::string &name) const {
        auto it = names.find(name);
        return it == names.end() ? name : it->second;
    }
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Variable *op) override {
        auto it = names.find(op->name);
        return it == names.end() ? Expr(op) : Variable::make(op->type, it->second);
    }
    Expr visit(const Call *op) override {
        std::vector<Expr> args;
        for (const Expr &a : op->args) {
            args.push_back(mutate(a));
        }
        return Call::make(op->type, (*this)[op->name], args, op->call_type, FunctionPtr(), 0, Halide::Buffer<>(), op->param);
    }
};

}  // namespace

std::vector<std::string> called_nodes(const Expr &e) {
    CalledNodes called;
    if (e.defined()) {
        e.accept(&called);
    }
    return called.names;
}

std::string to_text(const RegionGraph &graph) {
    std::ostringstream out;
    for (const Node &n : graph.nodes) {
        print_node(out, n);
    }
    return out.str();
}

std::string canonical_text(const RegionGraph &graph) {
    // Number nodes by first visit from the outputs, axes by first place in the nodes so ordered.
    std::vector<const Node *> order;
    std::vector<std::string> pending;
    auto visit = [&](auto &&self, const std::string &name) -> void {
        const Node *n = graph.find(name);
        if (!n || std::find(order.begin(), order.end(), n) != order.end()) {
            return;
        }
        for (const Expr &e : {n->body, n->where}) {
            for (const std::string &callee : called_nodes(e)) {
                self(self, callee);
            }
        }
        if (std::find(order.begin(), order.end(), n) == order.end()) {
            order.push_back(n);
        }
    };
    for (const TensorArgument &o : graph.outputs) {
        visit(visit, o.name);
    }
    Rename rename;
    int axes = 0, nodes = 0;
    for (const Node *n : order) {
        if (!graph.is_output(n->name)) {
            rename.names[n->name] = "n" + std::to_string(nodes++);
        }
        for (const auto &list : {n->parallel, n->reduction}) {
            for (const std::string &a : list) {
                if (!rename.names.count(a)) {
                    rename.names[a] = "x" + std::to_string(axes++);
                }
            }
        }
    }
    std::ostringstream out;
    for (const Node *n : order) {
        Node copy = *n;
        copy.name = rename[n->name];
        for (auto *list : {&copy.parallel, &copy.reduction}) {
            for (std::string &a : *list) {
                a = rename[a];
            }
        }
        copy.body = rename.mutate(n->body);
        if (n->where.defined()) {
            copy.where = rename.mutate(n->where);
        }
        print_node(out, copy);
    }
    return out.str();
}

}  // namespace fldsl::algorithm
