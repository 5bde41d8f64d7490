// A tensor in memory as the interpreter sees it: any supported element type, any strides.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

namespace fldsl::tile {

struct HostTensor {
    void *data = nullptr;
    Halide::Type type;
    std::vector<int64_t> extents, strides;  ///< in elements, innermost first

    int64_t offset(const double *index) const;  ///< of an element; -1: outside
    double read(int64_t offset) const;
    void write(int64_t offset, double value);
};

/// `value` as the nearest value of `type`; integers wrap.
double round_to(Halide::Type type, double value);

/// Strides of a dense tensor.
std::vector<int64_t> dense_strides(const std::vector<int64_t> &extents);

}  // namespace fldsl::tile
