#include "src/lower_halide/primitives.h"

#include "src/lower_halide/ir.h"

#include <limits>

namespace fldsl::lower_halide {

using namespace Halide::Internal;
using Halide::cast;
using Halide::Float;
using Halide::Int;
using Halide::reinterpret;
using Halide::select;

namespace {

Type ints(const Expr &x) {
    return Int(32, x.type().lanes());
}

Expr constant(const Expr &like, double c) {
    return make_const(like.type(), c);
}

Expr int_constant(const Expr &like, int64_t c) {
    return make_const(ints(like), c);
}

Expr bits(const Expr &x) {
    return reinterpret(ints(x), x);
}

Expr strict(Call::IntrinsicOp op, const Expr &a, const Expr &b) {
    return Call::make(Halide::Bool(a.type().lanes()), op, {a, b}, Call::PureIntrinsic);
}

Expr arithmetic(Call::IntrinsicOp op, const Expr &a, const Expr &b) {
    return Call::make(a.type(), op, {a, b}, Call::PureIntrinsic);
}

/// min(x, c) and max(x, c) that keep a NaN x: one instruction each, as the comparison is false for NaN.
Expr at_most(const Expr &x, double c) {
    return select(less_floats(constant(x, c), x), constant(x, c), x);
}
Expr at_least(const Expr &x, double c) {
    return select(less_floats(x, constant(x, c)), constant(x, c), x);
}

Expr polynomial(const Expr &x, const std::vector<double> &highest_first) {
    Expr p = constant(x, highest_first[0]);
    for (size_t i = 1; i < highest_first.size(); i++) {
        p = p * x + constant(x, highest_first[i]);
    }
    return p;
}

/// p * 2^(n - 1) for p that already holds the missing factor 2: then n = 128 overflows to inf only where it should, and
/// n = -126 (where callers clamp) scales by 0.
Expr scale_by_power(const Expr &twice_p, const Expr &n) {
    return twice_p * reinterpret(twice_p.type(), (n + int_constant(twice_p, 126)) << int_constant(twice_p, 23));
}

/// 2^x: x = n + f with f in [-1/2, 1/2]; 2 * 2^f by a degree 5 polynomial (relative error 1e-7).
Expr exp2_vector(const Expr &x) {
    const Expr clamped = at_least(at_most(x, 128.5), -126.4);
    const Expr whole = round(clamped);
    const Expr f = clamped - whole;
    const Expr p = polynomial(f, {2 * 1.32187e-3, 2 * 9.6717e-3, 2 * 5.550893e-2, 2 * 2.4022238e-1, 2 * 6.9314686e-1, 2.0});
    return scale_by_power(p, cast(ints(x), whole));
}

/// e^x: n = round(x / ln 2), f = x - n ln 2 in two parts (Cody and Waite), degree 6 polynomial of e^f.
Expr exp_vector(const Expr &x) {
    const Expr clamped = at_least(at_most(x, 89.1), -87.6);
    const Expr whole = round(clamped * constant(x, 1.4426950408889634));
    // Strict, or the two parts would be folded into one; the first product is exact.
    const Expr high = arithmetic(Call::strict_mul, whole, constant(x, 0.693359375));
    const Expr low = arithmetic(Call::strict_mul, whole, constant(x, -2.12194440054690583e-4));
    const Expr f = arithmetic(Call::strict_sub, arithmetic(Call::strict_sub, clamped, high), low);
    const Expr p = polynomial(f, {2 * 1.38593e-3, 2 * 8.37477e-3, 2 * 4.166772e-2, 2 * 1.6666421e-1,
                                  2 * 0.49999995, 2 * 1.00000004, 2.0});
    return scale_by_power(p, cast(ints(x), whole));
}

/// log x = e ln 2 + log m with m in [sqrt(1/2), sqrt 2), log m = 2 atanh((m - 1) / (m + 1)) by its series.
Expr log_vector(const Expr &x, double unit) {
    const Type i = ints(x);
    const Expr tiny = less_floats(x, constant(x, 1.17549435e-38));
    const Expr scaled = select(tiny, x * constant(x, 8388608.0), x);
    const Expr b = bits(scaled);
    const Expr shifted = b - make_const(i, 0x3f3504f3);
    const Expr exponent = shifted >> make_const(i, 23);
    const Expr m = reinterpret(x.type(), b - (exponent << make_const(i, 23)));
    const Expr e = cast(x.type(), exponent) - select(tiny, constant(x, 23.0), constant(x, 0.0));
    const Expr s = (m - constant(x, 1.0)) / (m + constant(x, 1.0));
    const Expr s2 = s * s;
    const Expr series = polynomial(s2, {2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
    const Expr log_m = s * constant(x, 2.0) + s * s2 * series;
    const Expr regular = unit == 1 ? e * constant(x, 0.693359375) + (log_m + e * constant(x, -2.12194440054690583e-4))
                                   : e + log_m * constant(x, unit);
    const Expr zero = equal_floats(x, constant(x, 0.0));
    const Expr infinite = bits(x) == int_constant(x, 0x7f800000);
    const Expr negative = less_floats(x, constant(x, 0.0));
    const Expr inf = reinterpret(x.type(), int_constant(x, 0x7f800000));
    const Expr minus_inf = reinterpret(x.type(), int_constant(x, static_cast<int32_t>(0xff800000)));
    const Expr nan = reinterpret(x.type(), int_constant(x, 0x7fc00000));
    return select(zero, minus_inf, select(negative || is_nan_bits(x), nan, select(infinite, inf, regular)));
}

/// tanh x = x P(x^2) / Q(x^2), a least-squares fit of the relative error on [-8.5, 8.5] (7e-10 before rounding, below 5 ulp after);
/// beyond, where tanh is 1 to float32, the argument is clamped and the quotient is exactly 1.
Expr tanh_vector(const Expr &x) {
    const Expr clamped = at_least(at_most(x, 8.5), -8.5);
    const Expr z = clamped * clamped;
    const Expr p = polynomial(z, {-1.33566506e-11, 3.20946085e-8, 2.86230034e-5, 3.89853589e-3, 0.137039531, 0.999999999});
    const Expr q = polynomial(z, {1.33074213e-6, 3.99209508e-4, 2.73561665e-2, 0.470372857, 1.0});
    return clamped * p / q;
}

/// Halide's own: one instruction, IEEE.
Expr square_root(const Expr &x) {
    return Call::make(x.type(), "sqrt_f32", {x}, Call::PureExtern);
}

}  // namespace

Expr is_nan_bits(const Expr &x) {
    return (bits(x) & int_constant(x, 0x7fffffff)) > int_constant(x, 0x7f800000);
}

Expr equal_floats(const Expr &a, const Expr &b) {
    return strict(Call::strict_eq, a, b);
}
Expr less_floats(const Expr &a, const Expr &b) {
    return strict(Call::strict_lt, a, b);
}
Expr less_equal_floats(const Expr &a, const Expr &b) {
    return strict(Call::strict_le, a, b);
}

Expr expand_primitive(const std::string &name, const std::vector<Expr> &args) {
    const Expr &x = args[0];
    if (name == "exp2") {
        return exp2_vector(x);
    }
    if (name == "exp") {
        return exp_vector(x);
    }
    if (name == "log") {
        return log_vector(x, 1);
    }
    if (name == "log2") {
        return log_vector(x, 1.4426950408889634);
    }
    if (name == "tanh") {
        return tanh_vector(x);
    }
    if (name == "sigmoid") {
        return constant(x, 1.0) / (constant(x, 1.0) + exp_vector(constant(x, 0.0) - x));
    }
    if (name == "sqrt") {
        return square_root(x);
    }
    if (name == "rsqrt") {
        return constant(x, 1.0) / square_root(x);
    }
    if (name == "is_nan") {
        return is_nan_bits(x);
    }
    if (name == "is_inf") {
        return (bits(x) & int_constant(x, 0x7fffffff)) == int_constant(x, 0x7f800000);
    }
    return Expr();
}

}  // namespace fldsl::lower_halide
