// The directives of a generator's schedule(), checked against the graph and put in terms of its axes.
#pragma once

#include "fldsl/kernel.h"
#include "src/algorithm/region_graph.h"
#include "src/tile/tile_program.h"

namespace fldsl::passes {

struct AxisPlan {
    tile::AxisRole role = tile::AxisRole::Grid;
    int tile = 1;
};

struct Schedule {
    std::map<std::string, AxisPlan> axes;  ///< every axis of the graph
    std::vector<std::string> streams;      ///< in the order stated
    bool online = false;
    std::string split_axis;
    int split_parts = 1;
    tile::GridOrder order = tile::GridOrder::Plain;
    std::string text;  ///< the directives as written
};

/// Refuses directives for axes that do not exist, that contradict each other or the graph, with what would work.
Schedule read_schedule(const algorithm::RegionGraph &graph, const std::vector<Directive> &directives);

}  // namespace fldsl::passes
