// Reads the Funcs that a generator's generate() made into a RegionGraph, one node a Func.
//
// Accepted: pure Funcs, and Funcs with one update that folds an RDom into an identity by +, *, max or min, with or without
// `where`. Everything else (Tuples, several updates, scans, extern stages, other initial values) is refused with the
// Func's name and the construct.
#pragma once

#include "src/algorithm/region_graph.h"

#include <map>
#include <memory>

namespace fldsl::algorithm {

/// A generator that has run generate() and schedule().
struct BuiltGenerator {
    std::unique_ptr<Halide::Internal::AbstractGenerator> generator;
    Halide::Pipeline pipeline;
    const void *schedule_key = nullptr;  ///< of internal::ScheduleTable
};

/// Creates `name` from the registry, sets `parameters` and builds it. Unknown names and values are UserErrors.
BuiltGenerator build_generator(const std::string &name, const std::map<std::string, std::string> &parameters,
                               const Halide::Target &target);

RegionGraph read_algorithm(const BuiltGenerator &built, const std::string &name);

}  // namespace fldsl::algorithm
