// What names mean at a point of a tile program, and whether an expression there is well formed.
#pragma once

#include "src/tile/tile_program.h"

#include <map>
#include <set>

namespace fldsl::tile {

/// Values and states that an expression may read, by name.
struct Definition {
    Type type;
    std::vector<std::string> axes;
};

class Scope {
  public:
    explicit Scope(const Program &program);

    const Axis *axis(const std::string &name) const;
    const Tensor *tensor(const std::string &name) const;

    /// Makes a value readable. False when its name means something already, anywhere in the program.
    bool define(const std::string &name, const Definition &definition);
    const Definition *find(const std::string &name) const;
    /// Ends the reach of a value; its name stays taken.
    void forget(const std::string &name);

    /// A stream's axis has a current block only inside it.
    void enter_stream(const std::string &axis);
    void leave_stream();
    /// The axis has a range here: it is no stream axis, or that of the current stream.
    bool has_range(const std::string &axis) const;

    /// Why `e`, evaluated for each coordinate of `axes`, is malformed; empty when it is fine.
    std::string fault_of(const Expr &e, const std::vector<std::string> &axes) const;

  private:
    const Program &program_;
    std::set<std::string> taken_;
    std::map<std::string, Definition> readable_;
    std::string stream_;
};

}  // namespace fldsl::tile
