// Dense arrays for interpreter tests, filled with numbers that are the same everywhere.
#pragma once

#include "src/tile/interpret.h"

#include <cstring>
#include <random>

namespace tile_tests {

/// Float32 elements, extents innermost first.
struct Array {
    std::vector<int64_t> extents;
    std::vector<float> data;

    explicit Array(std::vector<int64_t> e, int seed = 0) : extents(std::move(e)) {
        int64_t size = 1;
        for (const int64_t n : extents) {
            size *= n;
        }
        data.resize(size);
        std::mt19937 engine(seed);
        for (float &x : data) {
            // 16 bits of a 32-bit engine: exact in every float type wider than bfloat16, equal on every machine.
            x = static_cast<float>(static_cast<int>(engine() >> 16) - 32768) / 16384.0f;
        }
    }

    fldsl::tile::HostTensor tensor() {
        return {data.data(), Halide::Float(32), extents, fldsl::tile::dense_strides(extents)};
    }
    double at(int64_t a, int64_t b = 0, int64_t c = 0, int64_t d = 0) const {
        const int64_t index[] = {a, b, c, d};
        int64_t offset = 0;
        for (size_t n = extents.size(); n-- > 0;) {
            offset = offset * extents[n] + index[n];
        }
        return data[offset];
    }
};

}  // namespace tile_tests
