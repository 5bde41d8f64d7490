#include "src/runtime/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace fldsl_runtime {

namespace {

constexpr int64_t largest_extent = 2147483647;

void copy_text(char *to, size_t size, const char *from) {
    snprintf(to, size, "%s", from ? from : "");
}

const char *code_name(uint8_t code) {
    switch (code) {
    case 0:
        return "int";
    case 1:
        return "uint";
    case 2:
        return "float";
    case 4:
        return "bfloat";
    case 6:
        return "bool";
    default:
        return "type";
    }
}

/// Extents and strides of one tensor, innermost first; NULL strides are dense.
int bind_tensor(const Kernel *kernel, int32_t index, const fldsl_tensor *t, Bound *bound, fldsl_error *error) {
    const Argument &a = kernel->arguments[index];
    if (!t) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, -1, "%s is NULL; a tensor is wanted", a.name);
    }
    if (t->ndim != a.rank) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, -1, "%s has %d dimensions; allowed: %d", a.name, t->ndim, a.rank);
    }
    if (t->dtype.code != a.code || t->dtype.bits != a.bits || t->dtype.lanes != 1) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, -1, "%s has elements of type %s%d%s; allowed: %s", a.name,
                      code_name(t->dtype.code), t->dtype.bits, t->dtype.lanes == 1 ? "" : " (vectors)", a.type);
    }
    if (t->device.device_type != 1) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, -1,
                      "%s is on device type %d (%s); this kernel runs on the CPU: copy it there", a.name, t->device.device_type,
                      t->device.device_type == 2 ? "CUDA" : "not the CPU");
    }
    if (!t->shape && a.rank > 0) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, -1, "%s has no shape (NULL)", a.name);
    }
    for (int d = 0; d < a.rank; d++) {
        if (t->shape[d] < 0 || t->shape[d] > largest_extent) {
            return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, d, "%s dimension %d is %lld; allowed: 0 to %lld", a.name, d,
                          static_cast<long long>(t->shape[d]), static_cast<long long>(largest_extent));
        }
    }
    // The farthest element must be addressable: sum of (extent - 1) * |stride| * bytes within 63 bits.
    int64_t dense = 1, reach = (a.bits + 7) / 8;
    bool empty = false;
    for (int d = a.rank - 1; d >= 0; d--) {
        empty |= t->shape[d] == 0;
    }
    for (int d = a.rank - 1; d >= 0; d--) {
        const int k = a.rank - 1 - d;
        const int64_t stride = t->strides ? t->strides[d] : dense;
        int64_t size = 0, span;
        bool overflow = !t->strides && !empty && __builtin_mul_overflow(dense, t->shape[d], &dense);
        overflow |= (stride < 0 ? __builtin_sub_overflow(int64_t{0}, stride, &size) : (size = stride, false)) ||
                    __builtin_mul_overflow(t->shape[d] > 0 ? t->shape[d] - 1 : 0, size, &span) ||
                    __builtin_mul_overflow(span, static_cast<int64_t>((a.bits + 7) / 8), &span) ||
                    __builtin_add_overflow(reach, span, &reach);
        if (overflow && !empty) {
            return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, d,
                          "%s dimension %d has extent %lld and stride %lld: its elements do not fit a 64-bit address space", a.name, d,
                          static_cast<long long>(t->shape[d]), static_cast<long long>(stride));
        }
        bound->x[bound->x_count + k] = t->shape[d];
        bound->strides[index][k] = stride;
    }
    bound->x_count += a.rank;
    bound->tensors[index] = t;
    return FLDSL_OK;
}

/// No two elements of an output may share memory: sorted by stride, each must step over all smaller dimensions.
int check_output_strides(const Bound *bound, int32_t index, fldsl_error *error) {
    const Argument &a = bound->kernel->arguments[index];
    const fldsl_tensor *t = bound->tensors[index];
    bool used[max_rank] = {};
    int64_t covered = 0;
    for (int n = 0; n < a.rank; n++) {
        int best = -1;
        for (int k = 0; k < a.rank; k++) {
            const int64_t s = bound->strides[index][k];
            if (!used[k] && (best < 0 || s < bound->strides[index][best])) {
                best = k;
            }
        }
        used[best] = true;
        const int d = a.rank - 1 - best;
        const int64_t extent = t->shape[d], stride = bound->strides[index][best];
        if (extent == 0) {
            return FLDSL_OK;
        }
        if (extent == 1) {
            continue;
        }
        if (stride <= covered) {
            return refuse(error, bound->kernel, FLDSL_ERROR_ARGUMENT, a.name, d,
                          "output %s dimension %d has stride %lld: elements overlap; allowed: at least %lld", a.name, d,
                          static_cast<long long>(stride), static_cast<long long>(covered + 1));
        }
        covered += (extent - 1) * stride;
    }
    return FLDSL_OK;
}

/// `text` with {wanted} replaced.
void expand(const char *text, int64_t wanted, char *out, size_t size) {
    const char *mark = strstr(text, "{wanted}");
    if (!mark) {
        copy_text(out, size, text);
        return;
    }
    snprintf(out, size, "%.*s%lld%s", static_cast<int>(mark - text), text, static_cast<long long>(wanted), mark + strlen("{wanted}"));
}

int check_conditions(const Bound *bound, fldsl_error *error) {
    const Kernel *kernel = bound->kernel;
    for (int32_t i = 0; i < kernel->condition_count; i++) {
        const Condition &c = kernel->conditions[i];
        if (c.holds(bound->x, bound->f)) {
            continue;
        }
        const char *name = c.argument < 0 ? "the call" : kernel->arguments[c.argument].name;
        char allowed[256], where[32] = "";
        expand(c.allowed, c.wanted ? c.wanted(bound->x, bound->f) : 0, allowed, sizeof(allowed));
        if (c.dimension >= 0) {
            snprintf(where, sizeof(where), " dimension %d", c.dimension);
        }
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, c.argument < 0 ? "" : name, c.dimension, "%s%s is %lld; allowed: %s", name,
                      where, static_cast<long long>(c.given ? c.given(bound->x, bound->f) : 0), allowed);
    }
    return FLDSL_OK;
}

struct Range {
    uintptr_t begin, end;
    bool wraps;  ///< leaves the address space: byte_offset or strides reach below 0 or beyond its end
};

/// Bytes between the first and the last element that can be touched; empty for no elements.
Range range_of(const Bound *bound, int32_t index) {
    const fldsl_tensor *t = bound->tensors[index];
    const int rank = bound->kernel->arguments[index].rank;
    const uintptr_t bytes = (t->dtype.bits + 7) / 8;
    uintptr_t below = 0, above = bytes;  // bind has seen that their sum fits 63 bits
    for (int d = 0; d < rank; d++) {
        const int64_t stride = bound->strides[index][rank - 1 - d];
        if (t->shape[d] == 0) {
            return {0, 0, false};
        }
        const uintptr_t size = stride < 0 ? -static_cast<uintptr_t>(stride) : static_cast<uintptr_t>(stride);
        (stride < 0 ? below : above) += static_cast<uintptr_t>(t->shape[d] - 1) * size * bytes;
    }
    Range r = {reinterpret_cast<uintptr_t>(t->data), 0, false};
    r.wraps = __builtin_add_overflow(r.begin, t->byte_offset, &r.begin) || __builtin_add_overflow(r.begin, above, &r.end) ||
              __builtin_sub_overflow(r.begin, below, &r.begin) || r.end > static_cast<uintptr_t>(INTPTR_MAX);
    return r;
}

}  // namespace

int refuse(fldsl_error *error, const Kernel *kernel, int status, const char *argument, int dimension, const char *format, ...) {
    if (!error) {
        return status;
    }
    memset(error, 0, sizeof(*error));
    error->status = status;
    error->dimension = dimension;
    copy_text(error->kernel, sizeof(error->kernel), kernel ? kernel->name : "");
    copy_text(error->argument, sizeof(error->argument), argument);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof(error->message), format, args);
    va_end(args);
    return status;
}

int bind(const Kernel *kernel, const fldsl_value *arguments, int32_t count, Bound *bound, fldsl_error *error) {
    if (count != kernel->argument_count || (!arguments && count > 0)) {
        return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, "", -1, "%s takes %d arguments; %d were given", kernel->name,
                      kernel->argument_count, arguments ? count : 0);
    }
    memset(bound, 0, sizeof(*bound));
    bound->kernel = kernel;
    for (int32_t i = 0; i < count; i++) {
        if (kernel->arguments[i].is_tensor) {
            if (int status = bind_tensor(kernel, i, arguments[i].tensor, bound, error)) {
                return status;
            }
        }
    }
    for (int32_t i = 0; i < count; i++) {
        const Argument &a = kernel->arguments[i];
        if (a.is_tensor) {
            continue;
        }
        if (a.code == 2) {
            bound->f[bound->f_count++] = arguments[i].f;
            continue;
        }
        const int64_t low = a.code == 0 ? -(int64_t(1) << (a.bits - 1)) : 0;
        const int64_t high = a.code == 0 ? (int64_t(1) << (a.bits - 1)) - 1 : a.code == 6 ? 1 : (int64_t(1) << (a.bits < 63 ? a.bits : 62)) - 1;
        if (a.bits < 64 && (arguments[i].i < low || arguments[i].i > high)) {
            return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, a.name, -1, "%s is %lld; allowed: %lld to %lld", a.name,
                          static_cast<long long>(arguments[i].i), static_cast<long long>(low), static_cast<long long>(high));
        }
        bound->x[bound->x_count++] = arguments[i].i;
    }
    for (int32_t i = 0; i < count; i++) {
        if (kernel->arguments[i].is_output) {
            if (int status = check_output_strides(bound, i, error)) {
                return status;
            }
        }
    }
    return check_conditions(bound, error);
}

int check_memory(const Bound *bound, fldsl_error *error) {
    const Kernel *kernel = bound->kernel;
    for (int32_t i = 0; i < kernel->argument_count; i++) {
        if (!bound->tensors[i]) {
            continue;
        }
        const Range r = range_of(bound, i);
        if (r.begin != r.end && !bound->tensors[i]->data) {
            return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, kernel->arguments[i].name, -1,
                          "%s has elements but no data (NULL)", kernel->arguments[i].name);
        }
        if (r.wraps) {
            return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, kernel->arguments[i].name, -1,
                          "%s with byte_offset %llu and its strides leaves the address space", kernel->arguments[i].name,
                          static_cast<unsigned long long>(bound->tensors[i]->byte_offset));
        }
    }
    for (int32_t o = 0; o < kernel->argument_count; o++) {
        if (!kernel->arguments[o].is_output) {
            continue;
        }
        const Range out = range_of(bound, o);
        for (int32_t i = 0; i < kernel->argument_count; i++) {
            if (i == o || !bound->tensors[i] || out.begin == out.end) {
                continue;
            }
            const Range other = range_of(bound, i);
            if (other.begin != other.end && out.begin < other.end && other.begin < out.end) {
                return refuse(error, kernel, FLDSL_ERROR_ARGUMENT, kernel->arguments[o].name, -1,
                              "output %s shares memory with %s; allowed: memory of its own", kernel->arguments[o].name,
                              kernel->arguments[i].name);
            }
        }
    }
    return FLDSL_OK;
}

}  // namespace fldsl_runtime
