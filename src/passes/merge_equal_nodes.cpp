#include "src/passes/merge_equal_nodes.h"

namespace fldsl::passes {

using namespace algorithm;
using namespace Halide::Internal;

namespace {

class Redirect : public IRMutator {
  public:
    std::map<std::string, std::string> to;
    using IRMutator::mutate;

  private:
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        const Expr e = IRMutator::visit(op);
        const Call *call = e.as<Call>();
        if (!call || call->call_type != Call::Halide || !to.count(call->name)) {
            return e;
        }
        return Call::make(call->type, to[call->name], call->args, Call::Halide);
    }
};

bool same(const Node &a, const Node &b) {
    return a.parallel == b.parallel && a.reduction == b.reduction && a.combiner == b.combiner && equal(a.body, b.body) &&
           a.where.defined() == b.where.defined() && (!a.where.defined() || equal(a.where, b.where));
}

}  // namespace

RegionGraph merge_equal_nodes(RegionGraph graph) {
    Redirect redirect;
    std::vector<Node> kept;
    for (Node &n : graph.nodes) {
        n.body = redirect.mutate(n.body);
        if (n.where.defined()) {
            n.where = redirect.mutate(n.where);
        }
        const Node *twin = nullptr;
        for (const Node &k : kept) {
            if (n.is_reduction() && same(k, n) && !graph.is_output(n.name)) {
                twin = &k;
                break;
            }
        }
        if (twin) {
            redirect.to[n.name] = twin->name;
        } else {
            kept.push_back(std::move(n));
        }
    }
    graph.nodes = std::move(kept);
    return graph;
}

}  // namespace fldsl::passes
