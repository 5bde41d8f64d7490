#include "src/passes/inline_pointwise.h"

#include "src/support/error.h"

namespace fldsl::passes {

using namespace algorithm;
using namespace Halide::Internal;

namespace {

class Inline : public IRMutator {
  public:
    explicit Inline(const RegionGraph &graph) : graph_(graph) {
    }
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        const Expr e = IRMutator::visit(op);
        const Call *call = e.as<Call>();
        const Node *callee = call && call->call_type == Call::Halide ? graph_.find(call->name) : nullptr;
        if (!callee || callee->is_reduction()) {
            return e;
        }
        std::map<std::string, Expr> arguments;
        for (size_t k = 0; k < call->args.size(); k++) {
            arguments[callee->parallel[k]] = call->args[k];
        }
        return substitute(arguments, callee->body);
    }
    const RegionGraph &graph_;
};

}  // namespace

RegionGraph inline_pointwise(RegionGraph graph) {
    // Producers come first, so a callee's body is already free of pointwise calls when a caller takes it.
    for (Node &n : graph.nodes) {
        Inline inliner(graph);
        n.body = inliner.mutate(n.body);
        if (n.where.defined()) {
            n.where = inliner.mutate(n.where);
        }
    }
    std::vector<Node> kept;
    for (Node &n : graph.nodes) {
        if (n.is_reduction() || graph.is_output(n.name)) {
            kept.push_back(std::move(n));
        }
    }
    graph.nodes = std::move(kept);
    return graph;
}

}  // namespace fldsl::passes
