// Finds the subexpressions that the reductions of one stream share, so that each is computed once a block.
#pragma once

#include <Halide.h>

#include <functional>
#include <map>
#include <set>
#include <string>

namespace fldsl::passes {

using Halide::Expr;

class Sharing {
  public:
    /// Notes every subexpression of `e`, read by `reader`.
    void count(const Expr &e, const std::string &reader);
    /// States the predicate under which `reader` sums; readers that are no sums state something unique.
    void describe(const std::string &reader, const std::string &predicate);

    /// `e` has more than one reader.
    bool is_shared(const Expr &e) const;
    /// All readers of `e` sum under one predicate.
    bool one_predicate(const Expr &e) const;

    /// `e` with its largest subexpressions that have more readers than their surroundings replaced by `define(sub, inner)`,
    /// where inner is sub after the same was done inside it. With keep_top, `e` itself is not replaced.
    using Define = std::function<Expr(const Expr &sub, const Expr &inner)>;
    Expr extract(const Expr &e, const std::string &reader, const Define &define, bool keep_top) const;

  private:
    std::map<std::string, std::set<std::string>> readers_;  ///< by text of the subexpression
    std::map<std::string, std::string> predicates_;
};

}  // namespace fldsl::passes
