#include "online_cases.h"

// Softmax with a maximum, the division inside the sum.
class SoftmaxSum : public cases::Case<SoftmaxSum, 2> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        const Expr p = fldsl::exp(a(j, i) - m);
        r(e, i) = sum_of(p / sum_of(p) * v(e, j));
    }
};
HALIDE_REGISTER_GENERATOR(SoftmaxSum, softmax_sum)

// Log-sum-exp.
class LogSumExp : public cases::Case<LogSumExp, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        r(i) = m + fldsl::log(sum_of(fldsl::exp(a(j, i) - m)));
    }
};
HALIDE_REGISTER_GENERATOR(LogSumExp, log_sum_exp)

// Softmax without a maximum: nothing to correct.
class PlainSoftmax : public cases::Case<PlainSoftmax, 2> {
  public:
    void generate() {
        domain();
        const Expr p = fldsl::exp(a(j, i));
        r(e, i) = sum_of(p / sum_of(p) * v(e, j));
    }
};
HALIDE_REGISTER_GENERATOR(PlainSoftmax, plain_softmax)

// Two values under one softmax.
class TwoValues : public cases::Case<TwoValues, 2> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        const Expr p = fldsl::exp(a(j, i) - m);
        const Expr l = sum_of(p);
        r(e, i) = sum_of(p / l * v(e, j)) - 0.5f * sum_of(p / l * v(e, j) * x(j, i));
    }
};
HALIDE_REGISTER_GENERATOR(TwoValues, two_values)

// A sum of other data, scaled by a running maximum.
class OtherMaximum : public cases::Case<OtherMaximum, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        r(i) = sum_of(x(j, i) * fldsl::exp(a(j, i) - m));
    }
};
HALIDE_REGISTER_GENERATOR(OtherMaximum, other_maximum)

// A sum divided by a running sum.
class RunningQuotient : public cases::Case<RunningQuotient, 1> {
  public:
    void generate() {
        domain();
        const Expr l = sum_of(fldsl::exp(a(j, i)));
        r(i) = sum_of(x(j, i) / l);
    }
};
HALIDE_REGISTER_GENERATOR(RunningQuotient, running_quotient)

// A power whose exponent has the running maximum.
class Power : public cases::Case<Power, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        r(i) = sum_of(fldsl::pow(1.5f, a(j, i) - m));
    }
};
HALIDE_REGISTER_GENERATOR(Power, power)

// The second moment of the values under a softmax.
class SecondMoment : public cases::Case<SecondMoment, 2> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        const Expr p = fldsl::exp(a(j, i) - m);
        r(e, i) = sum_of(p / sum_of(p) * v(e, j) * v(e, j));
    }
};
HALIDE_REGISTER_GENERATOR(SecondMoment, second_moment)

// The difference of two softmaxes over one value stream.
class TwoSoftmaxes : public cases::Case<TwoSoftmaxes, 2> {
  public:
    void generate() {
        domain();
        const Expr m0 = max_of(a(j, i)), m1 = max_of(x(j, i));
        const Expr p0 = fldsl::exp(a(j, i) - m0), p1 = fldsl::exp(x(j, i) - m1);
        r(e, i) = sum_of(p0 / sum_of(p0) * v(e, j)) - 0.2f * sum_of(p1 / sum_of(p1) * v(e, j));
    }
};
HALIDE_REGISTER_GENERATOR(TwoSoftmaxes, two_softmaxes)

// No softmax at all.
class SigmoidSum : public cases::Case<SigmoidSum, 2> {
  public:
    void generate() {
        domain();
        r(e, i) = sum_of(v(e, j) / (1.0f + fldsl::exp(-a(j, i))));
    }
};
HALIDE_REGISTER_GENERATOR(SigmoidSum, sigmoid_sum)

// A maximum that reads another: the additive form.
class ShiftedMaximum : public cases::Case<ShiftedMaximum, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(x(j, i));
        r(i) = max_of(a(j, i) - m);
    }
};
HALIDE_REGISTER_GENERATOR(ShiftedMaximum, shifted_maximum)

// A logarithm of a product separates into a sum.
class LogOfProduct : public cases::Case<LogOfProduct, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        const Expr l = sum_of(fldsl::exp(a(j, i) - m));
        r(i) = max_of(x(j, i) - fldsl::log(fldsl::exp(a(j, i)) * l));
    }
};
HALIDE_REGISTER_GENERATOR(LogOfProduct, log_of_product)

// exp2 of a scaled difference.
class BaseTwo : public cases::Case<BaseTwo, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        r(i) = sum_of(fldsl::exp2((a(j, i) - m) * 0.5f));
    }
};
HALIDE_REGISTER_GENERATOR(BaseTwo, base_two)

// Refused: sin of a difference does not factor.
class SineRefused : public cases::Case<SineRefused, 1> {
  public:
    void generate() {
        domain();
        const Expr m = max_of(a(j, i));
        r(i) = sum_of(fldsl::sin(x(j, i) - m));
    }
};
HALIDE_REGISTER_GENERATOR(SineRefused, sine_refused)

// Refused: a difference from a running mean is no product.
class VarianceRefused : public cases::Case<VarianceRefused, 1> {
  public:
    void generate() {
        domain();
        const Expr mean = sum_of(a(j, i)) / Halide::cast<float>(a.dim(0).extent());
        r(i) = sum_of((a(j, i) - mean) * (a(j, i) - mean));
    }
};
HALIDE_REGISTER_GENERATOR(VarianceRefused, variance_refused)

// Refused while reading: argmax is Tuple-valued.
class ArgmaxRefused : public cases::Case<ArgmaxRefused, 1> {
  public:
    void generate() {
        domain();
        r(i) = Halide::cast<float>(Halide::argmax(keys, a(keys, i))[0]);
    }
};
HALIDE_REGISTER_GENERATOR(ArgmaxRefused, argmax_refused)
