// Small algorithms that reach corners of the CPU back end.
#include "fldsl/fldsl.h"

using Halide::cast;
using Halide::Expr;
using Halide::RDom;


// One primitive on every element: r[i] = f(x[i]).
class PrimitiveCase : public Halide::Generator<PrimitiveCase> {
  public:
    GeneratorParam<std::string> function{"function", "exp"};
    Input<Buffer<float, 1>> x{"x"};
    Output<Buffer<float, 1>> r{"r"};

    void generate() {
        const std::string name = function;
        const Expr y = fldsl::internal::primitive(name, {x(i)}, name.compare(0, 3, "is_") == 0 ? Halide::Bool() : Halide::Float(32));
        r(i) = cast<float>(y);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 24);
    }

  private:
    Var i{"i"};
};
HALIDE_REGISTER_GENERATOR(PrimitiveCase, primitive_case)

// No stream: the root mean square of each row, and the row divided by it; the row axis is held whole.
class RmsNorm : public Halide::Generator<RmsNorm> {
  public:
    Input<Buffer<float, 2>> x{"x"};  // x(c, i)
    Input<Buffer<float, 1>> weight{"weight"};
    Input<float> epsilon{"epsilon"};
    Output<Buffer<float, 2>> r{"r"};

    void generate() {
        columns = RDom(0, x.dim(0).extent(), "columns");
        const Expr squares = fldsl::sum_over(c, columns, x(c, i) * x(c, i), Expr(), "squares");
        r(c, i) = x(c, i) * fldsl::rsqrt(squares / cast<float>(x.dim(0).extent()) + epsilon) * weight(c);
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 16).whole(c, 64).whole(columns, 64);
    }

  private:
    Var c{"c"}, i{"i"};
    RDom columns;
};
HALIDE_REGISTER_GENERATOR(RmsNorm, rms_norm)

// No tiled axis at all: scalar code. The largest of each row.
class RowMaximum : public Halide::Generator<RowMaximum> {
  public:
    Input<Buffer<float, 2>> x{"x"};
    Output<Buffer<float, 1>> r{"r"};

    void generate() {
        columns = RDom(0, x.dim(0).extent(), "columns");
        r(i) = fldsl::max_over(c, columns, x(c, i), Expr(), "largest");
    }
    void schedule() {
        fldsl::Kernel(*this).stream(columns, 16);
    }

  private:
    Var c{"c"}, i{"i"};
    RDom columns;
};
HALIDE_REGISTER_GENERATOR(RowMaximum, row_maximum)

// Streams over two axes, one after the other, joined at the end: keys of two kinds with a softmax each.
class TwoStreams : public Halide::Generator<TwoStreams> {
  public:
    Input<Buffer<float, 2>> a{"a"}, b{"b"}, v{"v"}, w{"w"};  // a(j, i), b(k, i), v(e, j), w(e, k)
    Output<Buffer<float, 2>> r{"r"};

    void generate() {
        first = RDom(0, a.dim(0).extent(), "first");
        second = RDom(0, b.dim(0).extent(), "second");
        const auto p = fldsl::softmax(a(j, i), j, first);
        const auto q = fldsl::softmax(b(k, i), k, second);
        r(e, i) = fldsl::weighted_sum(p, v(e, j)) * fldsl::weighted_sum(q, w(e, k));
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 8).stream(first, 8).stream(second, 4).online().whole(e, 16);
    }

  private:
    Var e{"e"}, i{"i"}, j{"j"}, k{"k"};
    RDom first, second;
};
HALIDE_REGISTER_GENERATOR(TwoStreams, two_streams)

// Two softmaxes over one stream of products, one value twice as wide, a gate at the end.
class TwoSoftmaxProducts : public Halide::Generator<TwoSoftmaxProducts> {
  public:
    Input<Buffer<float, 2>> q0{"q0"}, q1{"q1"}, k0{"k0"}, k1{"k1"}, v{"v"}, gate{"gate"};
    Input<float> mix{"mix"};
    Output<Buffer<float, 2>> r{"r"};

    void generate() {
        keys = RDom(0, k0.dim(1).extent(), "keys");
        d = RDom(0, q0.dim(0).extent(), "d");
        s0(j, i) = 0.0f;
        s0(j, i) += q0(d, i) * k0(d, j);
        s1(j, i) = 0.0f;
        s1(j, i) += q1(d, i) * k1(d, j);
        const auto p0 = fldsl::softmax(s0(j, i) * 0.3f, j, keys, j <= i), p1 = fldsl::softmax(s1(j, i) * 0.3f, j, keys, j <= i);
        const Expr o = fldsl::weighted_sum(p0, v(e, j)) - mix * fldsl::weighted_sum(p1, v(e, j));
        r(e, i) = fldsl::sigmoid(gate(e, i)) * o;
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 24).stream(keys, 16).online().whole(d, 32).whole(e, 64);
    }

  private:
    Var e{"e"}, i{"i"}, j{"j"};
    RDom keys, d;
    Func s0{"s0"}, s1{"s1"};
};
HALIDE_REGISTER_GENERATOR(TwoSoftmaxProducts, two_softmax_products)

// No softmax: a sum weighted by a sigmoid of products, under a predicate.
class SigmoidProducts : public Halide::Generator<SigmoidProducts> {
  public:
    Input<Buffer<float, 2>> q{"q"}, k{"k"}, v{"v"};
    Output<Buffer<float, 2>> r{"r"};

    void generate() {
        keys = RDom(0, k.dim(1).extent(), "keys");
        d = RDom(0, q.dim(0).extent(), "d");
        s(j, i) = 0.0f;
        s(j, i) += q(d, i) * k(d, j);
        r(e, i) = fldsl::sum_over(j, keys, fldsl::sigmoid(s(j, i)) * v(e, j), j >= i - 5 && j <= i, "weighted");
    }
    void schedule() {
        fldsl::Kernel(*this).tile(i, 24).stream(keys, 16).whole(d, 32).whole(e, 64);
    }

  private:
    Var e{"e"}, i{"i"}, j{"j"};
    RDom keys, d;
    Func s{"s"};
};
HALIDE_REGISTER_GENERATOR(SigmoidProducts, sigmoid_products)
