// Softmax over one axis and sums weighted by it, as ordinary Halide Funcs: they leave no tag, and the same mathematics
// written by hand with maximum, exp and sum reads as the same region graph.
//
//     auto p = fldsl::softmax(s(j, i, h, b) * scale, j, keys, /*where=*/ j <= i + shift);
//     o(e, i, h, b) = fldsl::weighted_sum(p, v(e, j, h, b));
//     lse(i, h, b) = p.log_sum_exp();
//
// Keys outside `where` do not take part in maximum, sum or weighted sum; a row without keys has weighted sum 0 and
// log-sum-exp -inf. Free Vars of the score other than the key Var are the rows.
#pragma once

#include "fldsl/math.h"

#include <Halide.h>

#include <algorithm>
#include <string>
#include <vector>

namespace fldsl {

namespace internal {

/// The Vars free in `exprs` (undefined ones are skipped), in order of appearance, without the one named `except`.
std::vector<Halide::Var> free_vars(const std::vector<Halide::Expr> &exprs, const std::string &except);

}  // namespace internal

/// The value of `body` folded over the positions of `domain` that satisfy `where`, for Var `position` inside `body` and
/// `where`; empty: the identity. The result is an Expr over the other free Vars.
Halide::Expr sum_over(const Halide::Var &position, const Halide::RDom &domain, const Halide::Expr &body,
                      const Halide::Expr &where = Halide::Expr(), const std::string &name = "sum_over");
Halide::Expr max_over(const Halide::Var &position, const Halide::RDom &domain, const Halide::Expr &body,
                      const Halide::Expr &where = Halide::Expr(), const std::string &name = "max_over");

struct Softmax {
    Halide::Expr weight;   ///< exp(score - row_max) / row_sum, over the key Var and the rows
    Halide::Expr row_max;  ///< over the rows
    Halide::Expr row_sum;
    Halide::Var position;
    Halide::RDom domain;
    Halide::Expr where;

    /// Natural logarithm of the sum of exp(score) over the kept keys; -inf for a row without keys.
    Halide::Expr log_sum_exp() const {
        return row_max + fldsl::log(row_sum);
    }
};

Softmax softmax(const Halide::Expr &score, const Halide::Var &position, const Halide::RDom &domain,
                const Halide::Expr &where = Halide::Expr());

/// Sum over the softmax's keys of weight times `value`; `value` is an Expr over the key Var.
Halide::Expr weighted_sum(const Softmax &p, const Halide::Expr &value);

}  // namespace fldsl

#include "fldsl/softmax_inl.h"
