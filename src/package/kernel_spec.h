// All that a library needs to know of a kernel: what it runs, what its arguments must satisfy, what callers may read of it.
#pragma once

#include "src/tile/condition.h"
#include "src/tile/tile_program.h"

#include <map>

namespace fldsl::package {

using Condition = tile::Condition;

struct KernelSpec {
    tile::Kernel kernel;
    std::vector<Condition> conditions;
    /// What indexes each dimension of each tensor, outermost first: an axis name, or the text of another index.
    std::map<std::string, std::vector<std::string>> dimensions;
    std::map<std::string, int> capacity;          ///< of axes held whole
    std::map<std::string, std::string> features;  ///< free-form, from the kernel list: {"op":"attention","mask":"causal"}
    std::string generator;                        ///< generator name and parameters
    std::string schedule;                         ///< text of the directives applied
    std::string graph;                            ///< text of the region graph as read
    std::string online;                           ///< text of the derived one-pass form
    std::string storage;                          ///< table of the block's buffers
};

/// Arguments of the kernel as callers pass them: input tensors, scalars, output tensors.
struct CallArgument {
    const tile::Tensor *tensor = nullptr;
    const tile::Scalar *scalar = nullptr;

    const std::string &name() const {
        return tensor ? tensor->name : scalar->name;
    }
    Halide::Type type() const {
        return tensor ? tensor->type : scalar->type;
    }
};
std::vector<CallArgument> call_arguments(const tile::Kernel &kernel);

/// Workspace tensors, in the order of the stages.
std::vector<const tile::Tensor *> workspaces(const tile::Kernel &kernel);

}  // namespace fldsl::package
