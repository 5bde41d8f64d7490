// Expressions of a tile program as short code for the interpreter: compiled once a call, run once an element.
#pragma once

#include "src/tile/host_tensor.h"
#include "src/tile/tile_program.h"

#include <map>

namespace fldsl::tile {

/// How float arithmetic rounds: as its types say, or not at all (a reference).
enum class Precision { Float, Double };

/// A value or state of the block that runs: dense over the current ranges of its axes.
struct BlockValue {
    std::vector<int> axes;
    std::vector<int64_t> strides;
    std::vector<double> data;
};

/// Where a running block stands.
struct Frame {
    std::vector<int64_t> at, lo, hi;  ///< of each axis: coordinate, first and last of the current block
    std::vector<BlockValue> values;
    std::vector<HostTensor *> tensors;

    int64_t offset(const BlockValue &value) const {
        // Plain pointers: this is the inner loop, also in builds without optimisation.
        const int64_t *x = at.data(), *first = lo.data(), *stride = value.strides.data();
        const int *axis = value.axes.data(), *end = axis + value.axes.size();
        int64_t n = 0;
        for (; axis != end; axis++, stride++) {
            n += (x[*axis] - first[*axis]) * *stride;
        }
        return n;
    }
};

/// What the names of a program are; indices are those of Frame.
struct Names {
    std::map<std::string, int> axes, values, tensors;
    std::map<std::string, double> constants;  ///< scalars and extents of this call
};

class Code {
  public:
    Code() = default;
    Code(const Expr &e, const Names &names, Precision precision);

    bool defined() const {
        return !steps_.empty();
    }
    double run(const Frame &frame) const;

  private:
    enum Opcode {
        Constant,
        Coordinate,
        Low,
        High,
        Value,
        Element,
        Round,
        Choose,
        Negate,
        Function,
        Plus,
        Minus,
        Times,
        Quotient,
        Remainder,
        Smaller,
        Larger,
        Equal,
        Unequal,
        Less,
        LessEqual,
        Both,
        Either
    };
    struct Step {
        Opcode opcode = Constant;
        int index = 0;  ///< axis, value, tensor
        int a = 0, b = 0, c = 0;
        double constant = 0;
        Type type = {};          ///< of the result
        bool rounds = false;     ///< the result is rounded to `type`
        bool single = false;     ///< `type` is float32
        bool integral = false;   ///< quotients and remainders are those of integers
        double (*function)(double, double) = nullptr;
        std::vector<int> args = {};
        std::string tensor = {};
    };

    int add(const Expr &e, const Names &names);
    int add(Step step, Type type);
    template<class Op>
    bool binary(const Expr &e, Opcode opcode, const Names &names, int *result, bool swap = false);

    Precision precision_ = Precision::Float;
    std::vector<Step> steps_;
    mutable std::vector<double> slots_;
    mutable std::vector<double> index_;
};

}  // namespace fldsl::tile
