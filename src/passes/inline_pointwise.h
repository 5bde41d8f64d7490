// Folds pointwise nodes into the nodes that read them; what remains are reductions and outputs.
//
// Nothing is evaluated twice in the end: form_tiles finds the subexpressions that several reductions share and makes each a
// tile value. So how an author cuts pointwise work into Funcs leaves no trace in the kernel.
#pragma once

#include "src/algorithm/region_graph.h"

namespace fldsl::passes {

algorithm::RegionGraph inline_pointwise(algorithm::RegionGraph graph);

}  // namespace fldsl::passes
