#include "src/passes/form_tiles.h"
#include "src/support/error.h"

#include <algorithm>

namespace fldsl::passes {

using namespace algorithm;

namespace {

/// Reductions grouped so that each group reads only earlier ones.
std::vector<std::vector<std::string>> levels(const RegionGraph &graph, const Demotion &demotion) {
    std::map<std::string, int> level;
    int deepest = 0;
    for (const Node &n : graph.nodes) {  // producers first
        const bool tile = std::count(demotion.tiles.begin(), demotion.tiles.end(), n.name) > 0;
        const bool reduction = std::count(demotion.reductions.begin(), demotion.reductions.end(), n.name) > 0;
        if (!tile && !reduction) {
            continue;
        }
        int at = 0;
        for (const Expr &e : {n.body, n.where}) {
            for (const std::string &callee : called_nodes(e)) {
                if (level.count(callee)) {
                    const bool finished = std::count(demotion.reductions.begin(), demotion.reductions.end(), callee) > 0;
                    at = std::max(at, level[callee] + (finished ? 1 : 0));
                }
            }
        }
        level[n.name] = at;
        deepest = std::max(deepest, at);
    }
    std::vector<std::vector<std::string>> groups(deepest + 1);
    for (const std::string &r : demotion.reductions) {
        groups[level[r]].push_back(r);
    }
    return groups;
}

OnlineReduction as_written(const Node &n) {
    OnlineReduction r;
    r.node = n.name;
    r.combiner = n.combiner;
    r.type = n.type;
    r.identity = identity_of(n.combiner, n.type);
    r.body = n.body;
    r.where = n.where;
    std::vector<Expr> args;
    for (const std::string &a : n.parallel) {
        args.push_back(Halide::Internal::Variable::make(Halide::Int(32), a));
    }
    r.finish = Halide::Internal::Call::make(n.type, n.name, args, Halide::Internal::Call::Halide);
    return r;
}

}  // namespace

std::vector<StreamPlan> plan_streams(const RegionGraph &graph, const Schedule &schedule) {
    std::vector<StreamPlan> plans;
    for (const std::string &axis : schedule.streams) {
        const Demotion demotion = demote_dimension(graph, axis);
        if (schedule.online || independent(graph, demotion)) {
            plans.push_back({demotion, derive_online(graph, demotion)});
            continue;
        }
        for (const std::vector<std::string> &group : levels(graph, demotion)) {
            StreamPlan plan{demotion, {}};
            plan.demotion.reductions = group;
            for (const std::string &r : group) {
                plan.reductions.push_back(as_written(*graph.find(r)));
            }
            plans.push_back(std::move(plan));
        }
    }
    return plans;
}

}  // namespace fldsl::passes
