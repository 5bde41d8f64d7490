// Integer and boolean expressions over a call's arguments as C++ text, in 64 bits with Halide's division.
#pragma once

#include "src/package/kernel_spec.h"

namespace fldsl::package {

/// Places of extents and scalars in the arrays x and f of runtime/descriptor.h.
class FormulaText {
  public:
    explicit FormulaText(const tile::Kernel &kernel);
    /// E.g. "x[1] <= 64". InternalError for what a formula cannot hold.
    std::string operator()(const Halide::Expr &e) const;

  private:
    std::map<std::string, std::string> places_;
};

}  // namespace fldsl::package
