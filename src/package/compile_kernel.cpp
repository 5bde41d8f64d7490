#include "src/package/compile_kernel.h"

#include "src/passes/conditions.h"
#include "src/passes/pipeline.h"

namespace fldsl::package {

KernelSpec compile_kernel(const std::string &generator, const std::map<std::string, std::string> &parameters,
                          const Halide::Target &target, const std::string &kernel_name) {
    const algorithm::BuiltGenerator built = algorithm::build_generator(generator, parameters, target);
    const passes::CompiledKernel compiled = passes::run_passes(built, kernel_name);
    KernelSpec spec;
    spec.kernel = compiled.kernel;
    spec.conditions = compiled.conditions;
    spec.dimensions = passes::tensor_dimensions(compiled.graph);
    for (const auto &axis : compiled.schedule.axes) {
        if (axis.second.role == tile::AxisRole::Whole) {
            spec.capacity[axis.first] = axis.second.tile;
        }
    }
    spec.generator = generator;
    for (const auto &p : parameters) {
        spec.generator += " " + p.first + "=" + p.second;
    }
    spec.schedule = compiled.schedule.text;
    spec.graph = algorithm::to_text(compiled.graph);
    spec.online = compiled.online;
    spec.storage = compiled.storage;
    return spec;
}

}  // namespace fldsl::package
