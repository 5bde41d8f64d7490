#include "src/passes/pipeline.h"

#include "src/algorithm/unify_axes.h"
#include "src/passes/assign_storage.h"
#include "src/passes/classify_tiles.h"
#include "src/passes/conditions.h"
#include "src/passes/eliminate_dimension.h"
#include "src/passes/flatten_grid.h"
#include "src/passes/fold_scale.h"
#include "src/passes/form_tiles.h"
#include "src/passes/inline_pointwise.h"
#include "src/passes/merge_equal_nodes.h"
#include "src/passes/split_reduction.h"
#include "src/tile/verify.h"

namespace fldsl::passes {

using namespace algorithm;

RegionGraph read_graph(const BuiltGenerator &built, const std::string &kernel_name) {
    // Inlining comes first: a pointwise Func may be read at any index, a reduction only at axes.
    return merge_equal_nodes(unify_axes(inline_pointwise(read_algorithm(built, kernel_name))));
}

CompiledKernel run_passes(const BuiltGenerator &built, const std::string &kernel_name) {
    CompiledKernel c;
    const std::vector<Directive> directives = internal::ScheduleTable::instance().take(built.schedule_key);
    c.graph = read_graph(built, kernel_name);
    c.schedule = read_schedule(c.graph, directives);
    c.conditions = derive_conditions(c.graph, c.schedule);
    eliminate_dimensions(c.graph, c.schedule);

    RegionGraph graph = c.graph;
    if (c.schedule.online) {
        for (const std::string &axis : c.schedule.streams) {
            graph = fold_scale(graph, axis);
        }
    }
    const std::vector<StreamPlan> streams = plan_streams(graph, c.schedule);
    for (const StreamPlan &s : streams) {
        c.online += to_text(s.reductions);
    }
    tile::Program program = form_tiles(graph, c.schedule, streams);
    classify_tiles(program);
    flatten_grid(program, c.conditions);
    c.storage = assign_storage(program).table;
    if (c.schedule.split_parts > 1) {
        c.kernel = split_reduction(program, streams.front(), c.schedule.split_parts);
    } else {
        c.kernel = {kernel_name, {program}};
    }
    tile::verify(c.kernel);
    return c;
}

}  // namespace fldsl::passes
