#include "src/passes/flatten_grid.h"

#include "src/support/error.h"

#include <algorithm>

namespace fldsl::passes {

using namespace Halide::Internal;
using Halide::Expr;
using tile::Axis;
using tile::Program;

namespace {

const Axis &axis_of(const Program &program, const std::string &name) {
    for (const Axis &a : program.axes) {
        if (a.name == name) {
            return a;
        }
    }
    FLDSL_INTERNAL_CHECK(false) << "no axis " << name;
    return program.axes.front();
}

bool bounds_depend_on(const Program &program, const std::string &axis) {
    return std::any_of(program.streams.begin(), program.streams.end(), [&](const tile::Stream &s) {
        return expr_uses_var(s.begin, axis + ".lo") || expr_uses_var(s.begin, axis + ".hi") ||
               expr_uses_var(s.end, axis + ".lo") || expr_uses_var(s.end, axis + ".hi");
    });
}

}  // namespace

FlatGrid flatten_grid(Program &program, std::vector<tile::Condition> &conditions) {
    if (program.order == tile::GridOrder::LongestFirst) {
        std::stable_partition(program.grid.begin(), program.grid.end(),
                              [&](const std::string &a) { return !bounds_depend_on(program, a); });
    }
    FlatGrid flat;
    flat.blocks = make_const(Halide::Int(64), 1);
    Expr rest = Variable::make(Halide::Int(64), "block");
    for (const std::string &name : program.grid) {
        const Axis &a = axis_of(program, name);
        const Expr count = (Halide::cast<int64_t>(a.extent) + (a.tile - 1)) / make_const(Halide::Int(64), a.tile);
        flat.coordinates.emplace_back(name, simplify(rest % count));
        rest = rest / count;
        flat.blocks = flat.blocks * count;
    }
    flat.blocks = simplify(flat.blocks);
    tile::Condition limit;
    limit.tensor = "";
    limit.holds = flat.blocks <= Expr(make_const(Halide::Int(64), 2147483647));
    limit.given = flat.blocks;
    limit.allowed = "at most 2147483647 blocks of the grid";
    conditions.push_back(limit);
    return flat;
}

}  // namespace fldsl::passes
