// Names, axes and scopes while a tile program is being formed.
#pragma once

#include "src/tile/tile_program.h"

#include <map>
#include <set>

namespace fldsl::passes {

using Halide::Expr;

/// The one name space of a program under construction, and what its names stand for.
class TileNames {
  public:
    explicit TileNames(tile::Program &program) : program_(program) {
    }
    /// Call once arguments and axes are declared.
    void set_axes();

    /// `wish`, or `wish` with a number when it is taken.
    std::string fresh(const std::string &wish);
    /// A short name for a value that `e` computes.
    static std::string hint(const Expr &e);

    void define_value(const tile::Op &op);
    /// Text of the predicate outside which the value is 0; empty when there is none.
    std::string predicate_of(const std::string &value) const;
    bool is_value(const std::string &name) const;

    /// The axes that are cut or walked in a block (not scalar grid coordinates), in the program's order for values:
    /// whole, then streamed, then tiled grid axes.
    std::vector<std::string> in_order(const std::vector<std::string> &axes) const;
    std::vector<std::string> axes_of(const Expr &e) const;
    bool depends_on(const Expr &e, const std::string &axis) const;
    bool has_tiled_grid_axis(const Expr &e) const;

  private:
    const tile::Axis *axis(const std::string &name) const;
    tile::Program &program_;
    std::set<std::string> taken_;
    std::map<std::string, std::vector<std::string>> values_;
    std::map<std::string, std::string> predicates_;
};

/// A list of operations that is being written, inside another one whose values it can use. What is defined twice is made once.
class TileScope {
  public:
    TileScope(std::vector<tile::Op> &ops, TileScope *outer, TileNames &names) : ops_(ops), outer_(outer), names_(names) {
    }
    /// The value of `e` (outside `where` zero) over the axes of `e` and `where`, made by an operation of this scope unless
    /// this scope or an outer one has it already.
    Expr define(tile::OpKind kind, const Expr &e, const Expr &where, const std::string &wish);

    const std::string *find(const std::string &key) const;
    void add(const std::string &key, const tile::Op &op);

  private:
    std::vector<tile::Op> &ops_;
    TileScope *outer_;
    TileNames &names_;
    std::map<std::string, std::string> by_key_;
};

}  // namespace fldsl::passes
