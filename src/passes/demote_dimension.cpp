#include "src/passes/demote_dimension.h"

#include "src/support/error.h"

#include <algorithm>

namespace fldsl::passes {

using namespace algorithm;

namespace {

bool contains(const std::vector<std::string> &list, const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

Demotion demote_dimension(const RegionGraph &graph, const std::string &axis) {
    Demotion d;
    d.axis = axis;
    for (const Node &n : graph.nodes) {
        if (contains(n.reduction, axis)) {
            d.reductions.push_back(n.name);
        } else if (contains(n.parallel, axis)) {
            FLDSL_USER_CHECK(!graph.is_output(n.name))
                << "stream(" << axis << "): output " << n.name << " has an element for every " << axis
                << ", so " << axis << " cannot become an inner loop; tile it instead";
            d.tiles.push_back(n.name);
        }
    }
    FLDSL_USER_CHECK(!d.reductions.empty())
        << "stream(" << axis << "): no reduction folds " << axis << "; stream an axis that one does";
    for (const Node &n : graph.nodes) {
        for (const Expr &e : {n.body, n.where}) {
            for (const std::string &callee : called_nodes(e)) {
                FLDSL_USER_CHECK(!contains(d.tiles, callee) || contains(d.tiles, n.name) || contains(d.reductions, n.name))
                    << "stream(" << axis << "): " << n.name << " needs " << callee << " outside the loop over " << axis;
            }
        }
    }
    return d;
}

}  // namespace fldsl::passes
