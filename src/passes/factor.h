// Algebra on the body of a reduction over an axis x that reads the results of other reductions over x ("ancestors").
//
// A body f(x, M) can be computed in one pass when it splits into a part that depends on x and a part that depends on M:
//     a sum:      f = g(x) * h(M)          the sum is h(M) * sum g, and a change of M rescales it by h(new) / h(old)
//     a maximum:  f = g(x) + h(M)          the maximum is h(M) + max g
// The split is found by rules on operations (exp of a sum is a product of exps, pow likewise, products and quotients split
// factor by factor, sums with an equal factor factor out, log of a product is a sum ...), never by the shape of a formula.
// When it does not exist the result names the operation in the way.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>

namespace fldsl::passes {

using Halide::Expr;

/// What an expression depends on.
struct Dependence {
    std::function<bool(const Expr &)> on_axis;      ///< contains the axis x
    std::function<bool(const Expr &)> on_ancestor;  ///< reads a reduction over x
};

struct Split {
    bool found = false;
    Expr with_axis;      ///< g: free of ancestors
    Expr with_ancestor;  ///< h: free of the axis; undefined: the neutral element
    std::string obstacle;
};

/// e = with_axis + with_ancestor.
Split split_sum(const Expr &e, const Dependence &depends);

/// e = with_axis * with_ancestor.
Split split_product(const Expr &e, const Dependence &depends);

/// The split of a summed body as a running reduction needs it: e = running * deferred, where
///   running   keeps ancestors that stand inside an exponential (that is what keeps its range), e.g. exp(s - M);
///   factor    h(M) of `running`: what a change of M rescales the state by is factor(new) / factor(old); undefined: 1
///   deferred  the rational part, applied once at the end, e.g. 1 / L; undefined: 1
struct RunningSplit {
    bool found = false;
    Expr running, factor, deferred;
    std::string obstacle;
};
RunningSplit split_running(const Expr &e, const Dependence &depends);

/// factor(new) / factor(old), simplified: `renew` and `age` put the new and the old ancestor values into an expression.
Expr factor_ratio(const Expr &factor, const std::function<Expr(const Expr &)> &renew,
                  const std::function<Expr(const Expr &)> &age);

}  // namespace fldsl::passes
