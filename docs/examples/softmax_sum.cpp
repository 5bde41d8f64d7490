// Rows of v weighted by a softmax of given scores: r[i, e] = sum_j softmax_j(a[i, j]) v[j, e].
#include "fldsl/fldsl.h"

class SoftmaxSum : public Halide::Generator<SoftmaxSum> {
  public:
    Input<Buffer<float, 2>> a{"a"}, v{"v"};  // a(j, i), v(e, j)
    Output<Buffer<float, 2>> r{"r"};         // r(e, i)

    void generate() {
        keys = Halide::RDom(0, a.dim(0).extent(), "keys");
        const auto p = fldsl::softmax(a(j, i), j, keys);
        r(e, i) = fldsl::weighted_sum(p, v(e, j));
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 48).stream(keys, 64).online().whole(e, 64);
    }

  private:
    Halide::Var e{"e"}, i{"i"}, j{"j"};
    Halide::RDom keys;
};
HALIDE_REGISTER_GENERATOR(SoftmaxSum, softmax_sum)
