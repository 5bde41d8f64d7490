// Gives one name to each axis of the whole graph: where a node calls another at a plain axis, the two axes are one.
//
// Before: every node has axis names of its own. After: axes are listed in graph.axes with their extent, and every body
// uses these names. Refused: a reduction node called at anything but plain axes (s(j + 1, i)), or at two axes of one caller
// for the same dimension of different calls in a way that would make two axes of one node the same.
//
// Extents: of a constant reduction domain, else of the tensor's dimension that the axis indexes plainly (first in call order),
// else of the reduction domain.
#pragma once

#include "src/algorithm/region_graph.h"

namespace fldsl::algorithm {

RegionGraph unify_axes(RegionGraph graph);

/// The axis that the author's `name` (of a Var, or of an RDom's variable such as "keys$x") means. UserError, with the names
/// that exist, when there is none or more than one.
const Axis &axis_of_alias(const RegionGraph &graph, const std::string &name);

}  // namespace fldsl::algorithm
