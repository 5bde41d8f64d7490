#include "src/package/kernel_spec.h"

namespace fldsl::package {

std::vector<CallArgument> call_arguments(const tile::Kernel &kernel) {
    const tile::Program &p = kernel.stages.front();
    std::vector<CallArgument> arguments;
    for (const tile::Tensor &t : p.tensors) {
        if (t.use == tile::TensorUse::Input) {
            arguments.push_back({&t, nullptr});
        }
    }
    for (const tile::Scalar &s : p.scalars) {
        arguments.push_back({nullptr, &s});
    }
    for (const tile::Tensor &t : p.tensors) {
        if (t.use == tile::TensorUse::Output) {
            arguments.push_back({&t, nullptr});
        }
    }
    return arguments;
}

std::vector<const tile::Tensor *> workspaces(const tile::Kernel &kernel) {
    std::vector<const tile::Tensor *> found;
    for (const tile::Tensor &t : kernel.stages.front().tensors) {
        if (t.use == tile::TensorUse::Workspace) {
            found.push_back(&t);
        }
    }
    return found;
}

}  // namespace fldsl::package
