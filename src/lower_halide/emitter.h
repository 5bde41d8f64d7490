// Builds the function of one program. The parts: layout.cpp (places and scratch), emitter.cpp (blocks, streams, panels),
// columns.cpp (values without the lane axis), panel_ops.cpp (values of a panel), contraction.cpp (micro kernels).
#pragma once

#include "src/lower_halide/lanes.h"
#include "src/lower_halide/layout.h"

#include <set>

namespace fldsl::lower_halide {

class Emitter {
  public:
    Emitter(const tile::Program &program, const Blocking &blocking);

    /// Over the arguments data, integers, floats, begin, end, scratch of cpu.h.
    Stmt function();
    int64_t scratch_bytes() const {
        return scratch_bytes_;
    }

  private:
    /// Positions of loops, relative to the block, by axis; and values that are lets in the current iteration.
    struct Env {
        bool in_panel = false;
        std::map<std::string, Expr> position;
        std::map<std::string, Expr> overrides;  ///< "value.v" for vector v
    };

    // layout.cpp
    void place_values();
    void place_op(const tile::Op &op, bool lives_long);
    void place_store(const tile::Op &op);
    void share_states();
    int64_t reserve(int64_t bytes);
    int64_t panel_elements(const std::vector<std::string> &axes, std::vector<int64_t> *strides) const;
    bool is_contraction_operand(const std::string &name) const;

    // names and axes
    const tile::Axis &axis(const std::string &name) const;
    bool has_lanes(const std::vector<std::string> &axes) const;
    std::vector<std::string> without_lanes(const std::vector<std::string> &axes) const;
    std::string last_name(const std::string &axis_name, const Env &env) const;  ///< of the variable that holds the last coordinate
    Expr first(const std::string &axis_name, const Env &env) const;             ///< coordinate at position 0
    Expr count(const std::string &axis_name, const Env &env) const;
    std::string fresh(const std::string &prefix);

    // expressions
    Expr emit(const Expr &e, const Env &env, int vector) const;
    Expr emit_scalar(const Expr &e, const Env &env) const;
    Expr element(const Halide::Internal::Call *call, const std::vector<Expr> &index) const;
    Expr element_index(const Halide::Internal::Call *call, const std::vector<Expr> &index) const;
    Expr panel_index(const Place &p, const Env &env, int vector) const;
    Expr read_value(const std::string &name, const Env &env, int vector) const;
    Stmt nest(const std::vector<std::string> &axes, const Env &env, const std::function<Stmt(const Env &)> &body);

    // emitter.cpp
    void bind_arguments(Lets &lets) const;
    void bind_coordinates(Lets &lets) const;
    Stmt emit_block();
    Stmt emit_stream(const tile::Stream &stream);
    Stmt emit_body(const tile::Stream &stream, const Env &env, bool full);
    void bind_panel_pointers(Lets &lets, const Expr &number) const;
    Stmt panels(const std::function<Stmt(const Env &)> &body);

    // columns.cpp: values without lanes, made once for all panels; `then` runs inside their lets
    Stmt with_columns(const std::vector<tile::Op> &ops, const Env &env, const std::function<Stmt()> &then);
    Stmt with_scalar(const tile::Op &op, const Env &env, const Stmt &then);
    Stmt with_loaded_columns(const tile::Op &op, const Env &env, const Stmt &then);
    Stmt with_computed_columns(const tile::Op &op, const Env &env, const Stmt &then);
    Stmt pack(const tile::Op &op, const Env &env, const std::string &unit) const;

    // panel_ops.cpp
    Stmt emit_panel_ops(const std::vector<tile::Op> &ops, const Env &env, bool full);
    Stmt emit_loop_group(const std::vector<const tile::Op *> &group, const std::string &over, const Env &env, bool full);
    Stmt emit_general(const tile::Op &op, const Env &env, bool full);
    Stmt emit_store(const tile::Op &op, const Env &env);
    Expr value_of(const tile::Op &op, const Env &env, int vector, bool full) const;

    // contraction.cpp
    struct Product {
        std::string rows, columns, result_axis, over;
    };
    bool as_product(const tile::Op &op, Product *product) const;
    Stmt emit_contraction(const tile::Op &op, const Product &product, const Env &env);
    Stmt micro_kernel(const tile::Op &op, const Product &product, const Env &env, const Expr &row, int rows);

    const tile::Program &program_;
    Blocking blocking_;
    std::string lane_axis_;
    std::map<std::string, Place> places_;
    int64_t scratch_bytes_ = 0;
    int fresh_ = 0;
};

}  // namespace fldsl::lower_halide
