// A causal attention in plain Halide with no helper of ours: maximum, exp and sum, scheduled by fldsl's directives. Its graph must
// equal that of the helper form, names aside; and this file also builds with Halide's own generator main.
#include "fldsl/fldsl.h"

class HandWritten : public Halide::Generator<HandWritten> {
  public:
    Input<Buffer<float, 4>> q{"q"}, k{"k"}, v{"v"};  // (d, i, h, b), (d, j, g, b), (e, j, g, b)
    Input<float> scale{"scale"};
    Input<int> shift{"shift"};
    Output<Buffer<float, 4>> o{"o"};
    Output<Buffer<float, 3>> lse{"lse"};

    void generate() {
        using namespace Halide;
        const Expr g = h / (q.dim(2).extent() / k.dim(2).extent());
        add_requirement(q.dim(2).extent() % k.dim(2).extent() == 0, "a whole multiple of the number of key heads");
        rd = RDom(0, q.dim(0).extent(), "rd");
        dot(j, i, h, b) = 0.0f;
        dot(j, i, h, b) += q(rd, i, h, b) * k(rd, j, g, b);
        score(j, i, h, b) = dot(j, i, h, b) * scale;

        keys = RDom(0, k.dim(1).extent(), "keys");
        keys.where(keys <= i + shift);
        largest(i, h, b) = -std::numeric_limits<float>::infinity();
        largest(i, h, b) = max(largest(i, h, b), score(keys, i, h, b));
        weight(j, i, h, b) = exp(score(j, i, h, b) - largest(i, h, b));
        total(i, h, b) = 0.0f;
        total(i, h, b) += weight(keys, i, h, b);
        share(j, i, h, b) = weight(j, i, h, b) / total(i, h, b);
        out(i, h, b, e) = 0.0f;
        out(i, h, b, e) += share(keys, i, h, b) * v(e, keys, g, b);
        o(e, i, h, b) = out(i, h, b, e);
        lse(i, h, b) = largest(i, h, b) + log(total(i, h, b));
    }

    void schedule() {
        fldsl::Kernel kernel(*this);
        kernel.tile(i, 64).stream(keys, 64).online().whole(rd, 64).whole(e, 64).order(fldsl::LongestFirst);
    }

  private:
    Var e{"e"}, i{"i"}, j{"j"}, h{"h"}, b{"b"};
    RDom keys, rd;
    Func dot{"dot"}, score{"score"}, largest{"largest"}, weight{"weight"}, total{"total"}, share{"share"}, out{"out"};
};

HALIDE_REGISTER_GENERATOR(HandWritten, hand_written)
