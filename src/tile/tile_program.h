// The tile program: what a kernel does, one block of its grid at a time, with nothing said of threads, lanes or registers.
// It stands between the passes and every back end; it prints and parses (tile_text.h), verifies (verify.h) and runs
// on the host (interpret.h).
//
// Names. One name space a program: tensors, scalars, axes, values, states. Expressions are Halide Exprs over
//   * an axis name        Int(32): the coordinate, 0 <= x < extent, inside the block where the axis is tiled;
//   * `x.lo`, `x.hi`      Int(32): first and last coordinate of the current block of a tiled grid axis or of the stream axis;
//   * `q.extent.n`        Int(32): extent of dimension n of tensor q, innermost first as always in Halide;
//   * a scalar argument, a value or a state: a Variable of its element type (its own axes are implied);
//   * `q[e0, e1, ...]`    Call::Image: one element of an input or workspace tensor;
//   * a primitive (support/primitives.h): Call::PureExtern, `exp2(x)` in text.
//
// Edges. An axis ranges over coordinates that exist and no others: a ragged last block is shorter, so the meaning has no
// padding. Back ends that pad must not let the padding be seen.
#pragma once

#include "src/support/combiner.h"

#include <string>
#include <vector>

namespace fldsl::tile {

using Halide::Expr;
using Halide::Type;

enum class AxisRole {
    Grid,    ///< cut into blocks of `tile`; blocks run in any order and in parallel. tile == 1: a scalar coordinate
    Stream,  ///< walked in order, `tile` coordinates at a time, by one block of the grid
    Whole    ///< never cut: the block holds all of it; extent <= tile is checked at the call
};

struct Axis {
    std::string name;
    AxisRole role = AxisRole::Grid;
    Expr extent;   ///< Int(32) over tensor extents and scalars
    int tile = 1;  ///< block size (Grid, Stream) or capacity (Whole)
};

enum class TensorUse { Input, Output, Workspace };

struct Tensor {
    std::string name;
    Type type;
    int rank = 0;
    TensorUse use = TensorUse::Input;
    std::vector<Expr> extents;  ///< Workspace only: its shape, innermost first, dense
};

struct Scalar {
    std::string name;
    Type type;
};

/// Where a value lives; chosen by assign_storage, read by back ends.
enum class Space {
    Unassigned,
    InPlace,   ///< never copied: read from the tensor where it is used
    Register,  ///< lives only inside the loop that makes it
    Tile       ///< a buffer of the block: cache on a CPU, shared memory on a GPU
};

enum class OpKind { Load, Map, Reduce, Store };

/// One operation over the product of `axes`. Load and Map define the value `name` elementwise; Reduce folds `over` as well;
/// Store writes elements of the tensor `name`.
struct Op {
    OpKind kind = OpKind::Map;
    std::string name;
    Type type;
    std::vector<std::string> axes;
    Expr value;  ///< Load: one tensor element. Map, Reduce, Store: the scalar body
    Expr where;  ///< undefined: everywhere. Elements outside: Map takes `otherwise`, Reduce skips, Store does not write
    Expr otherwise;                 ///< Map with `where`
    Combiner combiner = Combiner::Sum;  ///< Reduce
    std::vector<std::string> over;  ///< Reduce: the axes folded, disjoint from `axes`
    Expr init;                      ///< Reduce: folded in first; undefined: the combiner's identity
    std::vector<Expr> index;        ///< Store: element coordinates, innermost first
    Space space = Space::Unassigned;
};

/// A sum of products of two values, each with an axis that the other lacks: what matrix units compute.
struct Contraction {
    std::string a, b;
};
bool is_contraction(const Op &op, const std::vector<Op> &scope, Contraction *out);

/// A value carried from one block of the stream to the next.
struct State {
    std::string name;
    Type type;
    std::vector<std::string> axes;
    Expr identity;
    Space space = Space::Unassigned;
};

struct Update {
    std::string state, value;
};

/// The loop over the blocks of one stream axis, in order. A block runs when `live` is true; where `full` is true every
/// `where` inside `body` holds for the whole block, so tests may be left out there. After `body`, all updates happen at once.
struct Stream {
    std::string axis;
    Expr begin, end;       ///< Int(32) over `x.lo`, `x.hi` of grid axes, extents, scalars: outside no `where` holds
    std::vector<Op> head;  ///< values without axes: ranges of data that `live` and `full` use; made before each block
    Expr live, full;       ///< Bool over the above and `j.lo`, `j.hi`; undefined: live true, full false
    std::vector<State> states;
    std::vector<Op> body;
    std::vector<Update> updates;
};

enum class GridOrder {
    Plain,        ///< first grid axis fastest
    LongestFirst  ///< blocks with more stream blocks start first; the result does not depend on it
};

struct Program {
    std::string name;
    std::vector<Tensor> tensors;  ///< in the order of the call
    std::vector<Scalar> scalars;
    std::vector<Axis> axes;
    std::vector<std::string> grid;  ///< axes of role Grid, fastest first
    GridOrder order = GridOrder::Plain;
    std::vector<Op> prologue;
    std::vector<Stream> streams;
    std::vector<Op> epilogue;
};

/// What one call runs: stages in order over shared arguments; workspace tensors connect them.
struct Kernel {
    std::string name;
    std::vector<Program> stages;
};

}  // namespace fldsl::tile
