// Algorithms whose reductions depend on each other over one axis, one generator a case; derive_online must find the one-pass
// form of each, or refuse it by name. Inputs: a, x [I, J] and v [J, E] float32; outputs r [I] or r [I, E].
#pragma once

#include "fldsl/fldsl.h"

namespace cases {

using Halide::Expr;

/// Arguments, variables and the schedule that the cases share; a case defines r from them.
template<class Derived, int Rank>
class Case : public Halide::Generator<Derived> {
  public:
    using Base = Halide::Generator<Derived>;
    template<class T>
    using Input = typename Base::template Input<T>;
    template<class T>
    using Output = typename Base::template Output<T>;

    Halide::GeneratorParam<bool> one_pass{"one_pass", true};
    Halide::GeneratorParam<int> parts{"parts", 1};
    Input<Halide::Buffer<float, 2>> a{"a"}, x{"x"}, v{"v"};  // a(j, i), x(j, i), v(e, j)
    Output<Halide::Buffer<float, Rank>> r{"r"};

    void schedule() {
        fldsl::Kernel kernel(*this);
        kernel.tile(i, 8).stream(keys, 4);
        if (one_pass) {
            kernel.online();
        }
        if (Rank == 2) {
            kernel.whole(e, 16);
        }
        if (parts > 1) {
            kernel.split(keys, parts);
        }
    }

  protected:
    void domain() {
        keys = Halide::RDom(0, a.dim(0).extent(), "keys");
    }
    Expr max_of(const Expr &body) {
        return fldsl::max_over(j, keys, body, Expr(), "m");
    }
    Expr sum_of(const Expr &body) {
        return fldsl::sum_over(j, keys, body, Expr(), "l");
    }
    Halide::Var e{"e"}, i{"i"}, j{"j"};
    Halide::RDom keys;
};

}  // namespace cases
