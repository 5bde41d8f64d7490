// Refuses calls that do not fit the kernel, before anything is written.
#pragma once

#include "src/runtime/descriptor.h"

namespace fldsl_runtime {

/// The arguments of one call in the form that formulas and stages take.
struct Bound {
    const Kernel *kernel;
    const fldsl_tensor *tensors[max_arguments];  ///< by argument; nullptr for scalars
    int64_t x[max_arguments * max_rank];         ///< see descriptor.h
    double f[max_arguments];
    int64_t strides[max_arguments][max_rank];    ///< of tensor arguments, innermost first, elements
    int32_t x_count, f_count;
};

/// Fills `error` (when not null) and returns its status.
int refuse(fldsl_error *error, const Kernel *kernel, int status, const char *argument, int dimension, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/// Everything but data: types, ranks, extents, strides, conditions. 0 or the status of the refusal.
int bind(const Kernel *kernel, const fldsl_value *arguments, int32_t count, Bound *bound, fldsl_error *error);

/// Null data, and outputs that overlap anything.
int check_memory(const Bound *bound, fldsl_error *error);

}  // namespace fldsl_runtime
