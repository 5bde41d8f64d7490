#include "src/passes/eliminate_dimension.h"

#include "src/support/error.h"

namespace fldsl::passes {

using namespace algorithm;

void eliminate_dimensions(const RegionGraph &graph, const Schedule &schedule) {
    for (const Axis &a : graph.axes) {
        const AxisPlan &plan = schedule.axes.at(a.name);
        const auto extent = Halide::Internal::as_const_int(a.extent);
        FLDSL_USER_CHECK(plan.role != tile::AxisRole::Whole || !extent || *extent <= plan.tile)
            << "whole(" << a.name << ", " << plan.tile << "): the extent of " << a.name << " is " << *extent
            << ", more than the tile holds; state whole(" << a.name << ", " << *extent << ")";
    }
}

TileSketch tile_sketch(const Node &node, const Schedule &schedule) {
    TileSketch sketch;
    const auto kept = [&](const std::string &axis) { return schedule.axes.at(axis).role != tile::AxisRole::Whole; };
    for (const std::string &a : node.parallel) {
        if (kept(a)) {
            sketch.parallel.push_back(a);
        }
    }
    for (const std::string &a : node.reduction) {
        if (kept(a)) {
            sketch.reduction.push_back(a);
        }
    }
    return sketch;
}

}  // namespace fldsl::passes
