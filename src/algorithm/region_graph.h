// The algorithm of one generator as a graph of parallel loops and reductions.
//
// A node computes one value for every position of its parallel axes by folding its reduction axes: Flashlight's computation
// sketch [(parallel),(reduction)] with the body that fills it. Bodies are Halide Exprs over
//   * the node's own axes (Variables, Int(32)), tensor extents `q.extent.n` and scalar arguments;
//   * other nodes: Call::Halide `name(args)`; input elements: Call::Image `q(args)`; primitives: Call::PureExtern.
// As read, axis names are each node's own; unify_axes gives one name to each axis of the whole graph.
#pragma once

#include "src/support/combiner.h"

#include <map>
#include <string>
#include <vector>

namespace fldsl::algorithm {

using Halide::Expr;
using Halide::Type;

struct Node {
    std::string name;
    Type type;
    std::vector<std::string> parallel;   ///< innermost first, as in the Func
    std::vector<std::string> reduction;  ///< empty: a pointwise node
    Combiner combiner = Combiner::Sum;
    Expr body;
    Expr where;  ///< undefined: every position of `reduction`

    bool is_reduction() const {
        return !reduction.empty();
    }
};

struct TensorArgument {
    std::string name;
    Type type;
    int rank = 0;
};

struct ScalarArgument {
    std::string name;
    Type type;
};

/// A condition that the generator states with add_requirement.
struct Requirement {
    Expr holds;
    std::string message;
};

/// One axis of the whole graph, after unify_axes.
struct Axis {
    std::string name;
    Expr extent;
    std::vector<std::string> aliases;  ///< every name that the algorithm gives it: "keys$x", "s.j", "q.dim.1" ...
};

struct RegionGraph {
    std::string name;
    std::vector<TensorArgument> inputs, outputs;
    std::vector<ScalarArgument> scalars;
    std::vector<std::string> argument_order;  ///< inputs and scalars as the generator declares them
    std::vector<Requirement> requirements;
    std::vector<Node> nodes;              ///< producers before consumers
    std::map<std::string, Expr> extents;  ///< as read: of every reduction axis, by the node's own name "node.axis"
    std::vector<Axis> axes;               ///< filled by unify_axes

    const Node *find(const std::string &node) const;
    Node *find(const std::string &node);
    const Axis *axis(const std::string &name) const;
    bool is_output(const std::string &node) const;
};

/// Names of the nodes that `e` calls, each once, in order of appearance.
std::vector<std::string> called_nodes(const Expr &e);

/// One line a node: `m [(i, h, b), (j)] max s(j, i, h, b) * scale  where j <= i`.
std::string to_text(const RegionGraph &graph);

/// The same with nodes and axes renamed by their place in the graph, so that graphs that differ only in names are equal.
std::string canonical_text(const RegionGraph &graph);

}  // namespace fldsl::algorithm
