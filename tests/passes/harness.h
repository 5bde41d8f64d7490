// Runs one kernel three ways: as Halide runs the algorithm itself (the oracle), in the tile-program interpreter, and compiled.
#pragma once

#include "src/passes/pipeline.h"
#include "src/tile/interpret.h"

#include <map>
#include <string>
#include <vector>

namespace harness {

using Parameters = std::map<std::string, std::string>;

/// A dense tensor of float32, float16, bfloat16 (as uint16 bits) or int32 in double precision, innermost extent first.
struct Array {
    Halide::Type type = Halide::Float(32);
    std::vector<int> extents;
    std::vector<double> values;
};
Array random_array(std::vector<int> extents, unsigned seed, Halide::Type type = Halide::Float(32));
Array zeros(std::vector<int> extents, Halide::Type type = Halide::Float(32));

struct Call {
    std::string generator;
    Parameters parameters;
    std::map<std::string, Array> inputs;
    std::map<std::string, double> scalars;
    std::map<std::string, std::vector<int>> outputs;  ///< extents
};

/// Reductions and shared nodes in plain loops, everything else as written, under StrictFloat. float32 inputs only.
std::map<std::string, Array> oracle(const Call &call);

fldsl::passes::CompiledKernel compile(const std::string &generator, const Parameters &parameters);

std::map<std::string, Array> interpreted(const Call &call, fldsl::tile::Precision precision = fldsl::tile::Precision::Double,
                                         fldsl::tile::Classes classes = fldsl::tile::Classes::Check);

/// Through a library built for the host, made in a temporary folder at the first use of these parameters.
/// `missing` bytes are kept back from the workspace; a refused call throws UserError with the call's message.
std::map<std::string, Array> compiled(const Call &call, int threads = 2, int64_t missing = 0);

/// Largest |a - b| / (1 + |b|); equal infinities and two NaNs differ by 0.
double difference(const Array &a, const Array &b);
double difference(const std::map<std::string, Array> &a, const std::map<std::string, Array> &b);

}  // namespace harness
