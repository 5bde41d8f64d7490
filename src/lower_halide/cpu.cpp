#include "src/lower_halide/cpu.h"

#include "src/lower_halide/emitter.h"
#include "src/support/error.h"

namespace fldsl::lower_halide {

using namespace Halide::Internal;

CpuStage lower_cpu(const tile::Program &program, const std::string &symbol, const Halide::Target &target) {
    bool has_lane_axis = false;
    for (const tile::Axis &a : program.axes) {
        has_lane_axis |= a.role == tile::AxisRole::Grid && a.tile > 1;
    }
    Emitter emitter(program, blocking_for(target, has_lane_axis));
    std::vector<LoweredArgument> arguments;
    const auto add = [&](const char *name, Type type) {
        arguments.emplace_back(name, Halide::Argument::InputScalar, type, 0, Halide::ArgumentEstimates());
    };
    add("data", Halide::type_of<void *>());
    add("integers", Halide::type_of<void *>());
    add("floats", Halide::type_of<void *>());
    add("begin", Halide::Int(32));
    add("end", Halide::Int(32));
    add("scratch", Halide::type_of<void *>());
    try {
        CpuStage stage{Halide::Module(symbol, target), 0};
        stage.module.set_any_strict_float(true);
        stage.module.append(LoweredFunc(symbol, arguments, emitter.function(), Halide::LinkageType::External));
        stage.scratch_bytes = emitter.scratch_bytes();
        return stage;
    } catch (const Halide::Error &e) {
        FLDSL_INTERNAL_CHECK(false) << program.name << ": " << e.what();
        throw;
    }
}

}  // namespace fldsl::lower_halide
