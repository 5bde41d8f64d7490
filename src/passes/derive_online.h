// Dependent reductions over one axis (a maximum, then sums that read it, then ratios of those ...) as one pass over it.
//
// Each reduction becomes a state that is right for the positions seen so far. Where its body reads an ancestor M, the body
// must split by the algebra of factor.h; the state is then rescaled when M changes, and rational factors wait for the end.
// The states of one stream form a monoid: identity, merge (of the states of two sets of positions) and finish.
//
// Refused when a body does not split: the message names the reduction and the operation in the way.
#pragma once

#include "src/passes/demote_dimension.h"

#include <functional>

namespace fldsl::passes {

using Halide::Expr;
using Halide::Type;

struct OnlineReduction {
    std::string node;
    Combiner combiner = Combiner::Sum;
    Type type;
    Expr identity;
    Expr body;        ///< folded for each position; ancestors read as their state after this block
    Expr where;
    Expr correction;  ///< multiplies the old state before folding; reads ancestors "m" (new) and "m.old"; undefined: none
    Expr finish;      ///< the node's value from the final states, its own included
};

/// In dependence order. `graph` is not changed.
std::vector<OnlineReduction> derive_online(const algorithm::RegionGraph &graph, const Demotion &demotion);

/// True when no reduction of the stream reads another: one pass needs no derivation.
bool independent(const algorithm::RegionGraph &graph, const Demotion &demotion);

/// Lines `l: sum  state l * c + sum exp(s - m)   finish l`, for people and golden tests.
std::string to_text(const std::vector<OnlineReduction> &online);

/// Replaces reads of the stream's reductions `name(args)` by Variables that `rename` names.
Expr read_states(const Expr &e, const std::vector<std::string> &reductions,
                 const std::function<std::string(const std::string &)> &rename);

}  // namespace fldsl::passes
