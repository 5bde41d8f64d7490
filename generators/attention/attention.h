// What the attention kernels share: arguments, scores, softmax and schedule. A kernel adds its mask or score map.
//
//   q [B, Hq, Sq, D]   k [B, Hkv, Sk, D]   v [B, Hkv, Sk, Dv]   ->   o [B, Hq, Sq, Dv]   lse [B, Hq, Sq] float32
//   s = scale * q.k    query head h reads key/value head h / (Hq / Hkv)
//
// Dimensions are innermost first here: q(d, i, h, b), k(d, j, g, b), v(e, j, g, b). All four tensors have type `type`;
// arithmetic is float32. `i + shift` is the position of query i among the keys: shift = Sk - Sq aligns the last query with the
// last key (bottom right), 0 the first with the first (top left).
#pragma once

#include "fldsl/fldsl.h"

namespace fldsl {

template<class Derived>
class Attention : public Halide::Generator<Derived> {
  public:
    using Base = Halide::Generator<Derived>;
    template<class T>
    using Input = typename Base::template Input<T>;
    template<class T>
    using Output = typename Base::template Output<T>;
    using Expr = Halide::Expr;

    Halide::GeneratorParam<Halide::Type> type{"type", Halide::Float(32)};
    Halide::GeneratorParam<int> head_dim{"head_dim", 64};   ///< largest D and Dv
    Halide::GeneratorParam<int> rows{"rows", 96};           ///< queries a block
    Halide::GeneratorParam<int> block{"block", 64};         ///< keys a step
    Halide::GeneratorParam<int> parts{"parts", 1};          ///< parallel parts of the keys

    Input<Halide::Buffer<void, 4>> q{"q"}, k{"k"}, v{"v"};
    Input<float> scale{"scale"};
    Output<Halide::Buffer<void, 4>> o{"o"};
    Output<Halide::Buffer<float, 3>> lse{"lse"};

    bool allow_out_of_order_inputs_and_outputs() const override {
        return true;  // a kernel's own inputs come after these outputs in the class, before them in the call
    }

    void configure() {
        q.set_type(type);
        k.set_type(type);
        v.set_type(type);
        o.set_type(type);
    }

    void schedule() {
        Kernel kernel(*this);
        kernel.tile(i, rows).stream(keys, block).online().whole(rd, head_dim).whole(e, head_dim).order(LongestFirst);
        if (parts > 1) {
            kernel.split(keys, parts);
        }
    }

  protected:
    /// scale * q.k over (j, i, h, b).
    Expr score() {
        Base::add_requirement(q.dim(2).extent() % k.dim(2).extent() == 0, "a whole multiple of the number of key heads");
        keys = Halide::RDom(0, k.dim(1).extent(), "keys");
        rd = Halide::RDom(0, q.dim(0).extent(), "rd");
        s(j, i, h, b) = 0.0f;
        s(j, i, h, b) += Halide::cast<float>(q(rd, i, h, b)) * Halide::cast<float>(k(rd, j, key_head(), b));
        return s(j, i, h, b) * scale;
    }

    /// Defines both outputs from the scores of the keys that `where` keeps (undefined: all).
    void attend(const Expr &score, const Expr &where = Expr()) {
        const Softmax p = softmax(score, j, keys, where);
        o(e, i, h, b) = Halide::cast(type, weighted_sum(p, Halide::cast<float>(v(e, j, key_head(), b))));
        lse(i, h, b) = p.log_sum_exp();
    }

    /// Keys at most `left` before and `right` after the position of query i.
    Expr between(const Expr &position, const Expr &left, const Expr &right) const {
        return j >= position - left && j <= position + right;
    }

    Expr key_head() const {
        return h / (q.dim(2).extent() / k.dim(2).extent());
    }

    Halide::Var e{"e"}, i{"i"}, j{"j"}, h{"h"}, b{"b"};
    Halide::RDom keys, rd;
    Halide::Func s{"s"};
};

}  // namespace fldsl
