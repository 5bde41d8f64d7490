#include "src/tile/host_tensor.h"

#include "src/support/error.h"
#include "src/support/expr_text.h"

#include <cmath>

namespace fldsl::tile {

namespace {

/// Calls `use` with a pointer of the C type of `type`.
template<class Use>
void with_type(Halide::Type type, void *data, const Use &use) {
    if (type == Halide::Float(32)) {
        use(static_cast<float *>(data));
    } else if (type == Halide::Float(16)) {
        use(static_cast<Halide::float16_t *>(data));
    } else if (type == Halide::BFloat(16)) {
        use(static_cast<Halide::bfloat16_t *>(data));
    } else if (type == Halide::Float(64)) {
        use(static_cast<double *>(data));
    } else if (type == Halide::Int(32)) {
        use(static_cast<int32_t *>(data));
    } else if (type == Halide::Int(64)) {
        use(static_cast<int64_t *>(data));
    } else if (type == Halide::Bool() || type == Halide::UInt(8)) {
        use(static_cast<uint8_t *>(data));
    } else if (type == Halide::Int(8)) {
        use(static_cast<int8_t *>(data));
    } else if (type == Halide::Int(16)) {
        use(static_cast<int16_t *>(data));
    } else if (type == Halide::UInt(16)) {
        use(static_cast<uint16_t *>(data));
    } else if (type == Halide::UInt(32)) {
        use(static_cast<uint32_t *>(data));
    } else {
        FLDSL_INTERNAL_CHECK(false) << "the interpreter holds no elements of " << type_name(type);
    }
}

template<class T>
void assign(T *to, double value) {
    if constexpr (std::is_integral_v<T>) {
        *to = static_cast<T>(static_cast<int64_t>(value));
    } else {
        *to = static_cast<T>(value);
    }
}

}  // namespace

int64_t HostTensor::offset(const double *index) const {
    int64_t at = 0;
    for (size_t d = 0; d < extents.size(); d++) {
        const int64_t x = static_cast<int64_t>(index[d]);
        if (x < 0 || x >= extents[d]) {
            return -1;
        }
        at += x * strides[d];
    }
    return at;
}

double HostTensor::read(int64_t offset) const {
    if (type == Halide::Float(32)) {
        return static_cast<const float *>(data)[offset];
    }
    double value = 0;
    with_type(type, data, [&](auto *p) { value = static_cast<double>(p[offset]); });
    return value;
}

void HostTensor::write(int64_t offset, double value) {
    with_type(type, data, [&](auto *p) { assign(p + offset, value); });
}

double round_to(Halide::Type type, double value) {
    if (type == Halide::Float(32)) {
        return static_cast<float>(value);
    }
    if (type == Halide::Float(64)) {
        return value;
    }
    if (type == Halide::Bool()) {
        return value != 0;
    }
    int64_t cell = 0;
    with_type(type, &cell, [&](auto *p) {
        assign(p, value);
        value = static_cast<double>(*p);
    });
    return value;
}

std::vector<int64_t> dense_strides(const std::vector<int64_t> &extents) {
    std::vector<int64_t> strides;
    int64_t next = 1;
    for (const int64_t n : extents) {
        strides.push_back(next);
        next *= n;
    }
    return strides;
}

}  // namespace fldsl::tile
