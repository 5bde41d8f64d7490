// The tables that a library's generated entry text holds: one Kernel a kernel, read by fldsl_runtime_call.
//
// Formulas are functions of x and f: x holds the extents of every tensor argument in order (innermost first), then the integer
// scalars; f holds the floating scalars. All arithmetic is in 64 bits.
#pragma once

#include "fldsl/runtime.h"

namespace fldsl_runtime {

using Formula = int64_t (*)(const int64_t *x, const double *f);

struct Argument {
    const char *name;
    bool is_tensor, is_output;
    uint8_t code, bits;      ///< as in fldsl_tensor::dtype; a scalar with code 2 is passed in fldsl_value::f
    const char *type;        ///< "bfloat16"
    int32_t rank;
};

struct Condition {
    int32_t argument;        ///< -1: the call as a whole
    int32_t dimension;       ///< outermost first; -1: none
    Formula holds, given, wanted;  ///< wanted may be nullptr
    const char *allowed;     ///< "{wanted}" stands for the number
};

struct Workspace {
    int32_t rank;
    const Formula *extents;  ///< innermost first
    int32_t element_bytes;
};

using StageFunction = int (*)(const void *const *data, const int64_t *integers, const double *floats, int32_t begin, int32_t end,
                              void *scratch);

struct StageVariant {
    StageFunction run;
    int64_t scratch_bytes;
};

struct Stage {
    Formula blocks;
    const StageVariant *variants;  ///< one for each target of the library
};

struct Kernel {
    const char *name;
    const Argument *arguments;     ///< input tensors, scalars, output tensors
    int32_t argument_count;
    const Condition *conditions;
    int32_t condition_count;
    const Workspace *workspaces;
    int32_t workspace_count;
    const Stage *stages;
    int32_t stage_count;
    const uint32_t *targets;       ///< CPU features that each target needs, best last
    const char *const *target_names;
    int32_t target_count;
};

constexpr int max_arguments = 48;
constexpr int max_rank = 8;

}  // namespace fldsl_runtime

extern "C" {
int fldsl_runtime_call(const fldsl_runtime::Kernel *kernel, const fldsl_call *call, const fldsl_value *arguments, int32_t count);
int64_t fldsl_runtime_workspace(const fldsl_runtime::Kernel *kernel, const fldsl_value *arguments, int32_t count,
                                fldsl_error *error);
}
