// One call of a kernel: checks, choice of target, workspace, stages.
#include "src/runtime/check.h"
#include "src/runtime/cpu_features.h"
#include "src/runtime/thread_pool.h"

namespace fldsl_runtime {

namespace {

int64_t align(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

int64_t workspace_bytes(const Bound &bound) {
    int64_t total = 0;
    for (int32_t w = 0; w < bound.kernel->workspace_count; w++) {
        const Workspace &space = bound.kernel->workspaces[w];
        int64_t bytes = space.element_bytes;
        for (int32_t k = 0; k < space.rank; k++) {
            bytes *= space.extents[k](bound.x, bound.f);
        }
        total += align(bytes);
    }
    return total;
}

/// Index of the best target that this machine runs; -1 when it runs none.
int32_t choose_target(const Kernel &kernel) {
    const uint32_t have = cpu_features();
    for (int32_t t = kernel.target_count - 1; t >= 0; t--) {
        if ((kernel.targets[t] & ~have) == 0) {
            return t;
        }
    }
    return -1;
}

bool has_empty_output(const Bound &bound) {
    bool all_empty = true;
    for (int32_t i = 0; i < bound.kernel->argument_count; i++) {
        if (!bound.kernel->arguments[i].is_output) {
            continue;
        }
        bool empty = false;
        for (int32_t d = 0; d < bound.kernel->arguments[i].rank; d++) {
            empty |= bound.tensors[i]->shape[d] == 0;
        }
        all_empty &= empty;
    }
    return all_empty;
}

/// What a stage function takes.
struct StageCall {
    StageFunction run;
    const void *data[max_arguments];
    int64_t integers[max_arguments * max_rank * 2];
    const double *floats;
};

int run_range(void *context, int32_t begin, int32_t end, void *scratch) {
    const StageCall *stage = static_cast<const StageCall *>(context);
    return stage->run(stage->data, stage->integers, stage->floats, begin, end, scratch);
}

/// Tensors in the program's order (inputs, outputs, workspace): data, extents and strides; then integer scalars.
void lay_out(const Bound &bound, char *workspace, StageCall *stage) {
    const Kernel &kernel = *bound.kernel;
    int32_t tensors = 0, integers = 0;
    int32_t x = 0;
    for (int32_t i = 0; i < kernel.argument_count; i++) {
        const Argument &a = kernel.arguments[i];
        if (!a.is_tensor) {
            continue;
        }
        stage->data[tensors++] = static_cast<const char *>(bound.tensors[i]->data) + bound.tensors[i]->byte_offset;
        for (int32_t k = 0; k < a.rank; k++) {
            stage->integers[integers++] = bound.x[x++];
        }
        for (int32_t k = 0; k < a.rank; k++) {
            stage->integers[integers++] = bound.strides[i][k];
        }
    }
    for (int32_t w = 0; w < kernel.workspace_count; w++) {
        const Workspace &space = kernel.workspaces[w];
        stage->data[tensors++] = workspace;
        int64_t stride = 1;
        for (int32_t k = 0; k < space.rank; k++) {
            const int64_t extent = space.extents[k](bound.x, bound.f);
            stage->integers[integers + k] = extent;
            stage->integers[integers + space.rank + k] = stride;
            stride *= extent;
        }
        integers += 2 * space.rank;
        workspace += align(stride * space.element_bytes);
    }
    while (x < bound.x_count) {
        stage->integers[integers++] = bound.x[x++];
    }
    stage->floats = bound.f;
}

}  // namespace
}  // namespace fldsl_runtime

using namespace fldsl_runtime;

extern "C" int64_t fldsl_runtime_workspace(const Kernel *kernel, const fldsl_value *arguments, int32_t count, fldsl_error *error) {
    Bound bound;
    if (bind(kernel, arguments, count, &bound, error)) {
        return -1;
    }
    return workspace_bytes(bound);
}

extern "C" int fldsl_runtime_call(const Kernel *kernel, const fldsl_call *call, const fldsl_value *arguments, int32_t count) {
    if (!call) {
        return FLDSL_ERROR_ARGUMENT;
    }
    fldsl_error *error = call->error;
    if (call->abi_version != FLDSL_ABI_VERSION) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, "call", -1, "call.abi_version is %u; this library speaks %d", call->abi_version,
                      FLDSL_ABI_VERSION);
    }
    if (call->threads < 0) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, "call", -1, "call.threads is %d; allowed: 0 (all) or more", call->threads);
    }
    Bound bound;
    if (int status = bind(kernel, arguments, count, &bound, error)) {
        return status;
    }
    if (int status = check_memory(&bound, error)) {
        return status;
    }
    const int64_t need = workspace_bytes(bound);
    if (need > 0 && (!call->workspace || call->workspace_bytes < need)) {
        return refuse(error, kernel, FLDSL_ERROR_WORKSPACE, "workspace", -1, "workspace has %lld bytes; allowed: at least %lld",
                      static_cast<long long>(call->workspace ? call->workspace_bytes : 0), static_cast<long long>(need));
    }
    if (need > 0 && reinterpret_cast<uintptr_t>(call->workspace) % 64 != 0) {
        return refuse(error, kernel, FLDSL_ERROR_WORKSPACE, "workspace", -1, "workspace is not aligned to 64 bytes");
    }
    const int32_t target = choose_target(*kernel);
    if (target < 0) {
        return refuse(error, kernel, FLDSL_ERROR_TARGET, "", -1, "this CPU cannot run %s, the least demanding target built",
                      kernel->target_names[0]);
    }
    if (has_empty_output(bound)) {
        return FLDSL_OK;
    }
    StageCall stage;
    lay_out(bound, static_cast<char *>(call->workspace), &stage);
    for (int32_t s = 0; s < kernel->stage_count; s++) {
        const StageVariant &variant = kernel->stages[s].variants[target];
        stage.run = variant.run;
        const int32_t blocks = static_cast<int32_t>(kernel->stages[s].blocks(bound.x, bound.f));
        const PoolStatus status = parallel_for(blocks, call->threads, variant.scratch_bytes, run_range, &stage, call->parallel);
        if (status != PoolStatus::Ok) {
            return refuse(error, kernel, status == PoolStatus::NoMemory ? FLDSL_ERROR_RESOURCE : FLDSL_ERROR_INTERNAL, "", -1,
                          status == PoolStatus::NoMemory ? "no memory for %lld bytes of scratch a thread"
                                                         : "a stage failed (scratch of %lld bytes); please report it",
                          static_cast<long long>(variant.scratch_bytes));
        }
    }
    return FLDSL_OK;
}
