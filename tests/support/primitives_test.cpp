// The table of primitives, its C functions and the recognition of Halide's own spellings.
#include "fldsl/math.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/support/primitives.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using Halide::Expr;

extern "C" {
float fldsl_exp(float);
float fldsl_exp2(float);
float fldsl_log(float);
float fldsl_log2(float);
float fldsl_tanh(float);
float fldsl_sigmoid(float);
float fldsl_sqrt(float);
float fldsl_rsqrt(float);
float fldsl_sin(float);
float fldsl_cos(float);
float fldsl_erf(float);
float fldsl_pow(float, float);
bool fldsl_is_nan(float);
bool fldsl_is_inf(float);
}

namespace {

const float inf = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

double reference(const std::string &name, double x, double y = 0) {
    return fldsl::find_primitive(name)->reference(x, y);
}

}  // namespace

TEST_CASE("C functions agree with the reference") {
    const std::pair<const char *, float (*)(float)> functions[] = {
        {"exp", fldsl_exp},   {"exp2", fldsl_exp2},   {"log", fldsl_log},     {"log2", fldsl_log2}, {"tanh", fldsl_tanh},
        {"sqrt", fldsl_sqrt}, {"rsqrt", fldsl_rsqrt}, {"sigmoid", fldsl_sigmoid}, {"sin", fldsl_sin},   {"cos", fldsl_cos},
        {"erf", fldsl_erf}};
    for (const auto &[name, function] : functions) {
        for (const float x : {-100.0f, -3.5f, -1e-6f, 0.0f, 1e-6f, 0.5f, 1.0f, 2.75f, 80.0f, inf, -inf, not_a_number}) {
            CAPTURE(name);
            CAPTURE(x);
            const double expected = reference(name, x);
            const double got = function(x);
            if (std::isnan(expected) || std::isinf(expected)) {
                CHECK(std::isnan(got) == std::isnan(expected));
                CHECK((std::isnan(got) || got == expected));
            } else {
                // sigmoid has an exp, a sum and a quotient of half an ulp each; the others are within one ulp.
                // Below the smallest normal number (sigmoid(-100)) zero is as good.
                CHECK(std::abs(got - expected) <= 4e-7 * std::abs(expected) + std::numeric_limits<float>::min());
            }
        }
    }
    CHECK(fldsl_pow(2.0f, 10.0f) == 1024.0f);
}

TEST_CASE("behaviour at the ends of the range is IEEE's") {
    CHECK(fldsl_exp(-inf) == 0.0f);
    CHECK(fldsl_exp(inf) == inf);
    CHECK(fldsl_log(0.0f) == -inf);
    CHECK(std::isnan(fldsl_log(-1.0f)));
    CHECK(fldsl_log(inf) == inf);
    CHECK(fldsl_tanh(inf) == 1.0f);
    CHECK(fldsl_tanh(-inf) == -1.0f);
    CHECK(fldsl_sigmoid(-inf) == 0.0f);
    CHECK(fldsl_sigmoid(inf) == 1.0f);
    CHECK(std::isnan(fldsl_exp(not_a_number)));
    CHECK(fldsl_is_nan(not_a_number));
    CHECK_FALSE(fldsl_is_nan(inf));
    CHECK(fldsl_is_inf(-inf));
}

TEST_CASE("generators' functions are primitives of the table") {
    const Expr x = Halide::Internal::Variable::make(Halide::Float(32), "x");
    const std::pair<Expr, const char *> calls[] = {
        {fldsl::exp(x), "exp(x)"},         {fldsl::exp2(x), "exp2(x)"},     {fldsl::log(x), "log(x)"},
        {fldsl::log2(x), "log2(x)"},       {fldsl::tanh(x), "tanh(x)"},     {fldsl::sigmoid(x), "sigmoid(x)"},
        {fldsl::sqrt(x), "sqrt(x)"},       {fldsl::rsqrt(x), "rsqrt(x)"},   {fldsl::pow(x, x), "pow(x, x)"},
        {fldsl::sin(x), "sin(x)"},         {fldsl::cos(x), "cos(x)"},       {fldsl::erf(x), "erf(x)"},
        {fldsl::is_nan(x), "is_nan(x)"},   {fldsl::is_inf(x), "is_inf(x)"}};
    CHECK(std::size(calls) == fldsl::primitives().size());
    for (const auto &[e, text] : calls) {
        CHECK(fldsl::expr_to_text(e) == text);
    }
    CHECK(fldsl::exp(x).type() == Halide::Float(32));
    CHECK(fldsl::is_nan(x).type() == Halide::Bool());
}

TEST_CASE("narrow floats are widened") {
    const Expr half = Halide::Internal::Variable::make(Halide::Float(16), "half");
    CHECK(fldsl::expr_to_text(fldsl::exp(half)) == "exp(float32(half))");
}

TEST_CASE("Halide's own functions read as ours") {
    const Expr x = Halide::Internal::Variable::make(Halide::Float(32), "x");
    const Expr both = Halide::exp(x) + Halide::log(Halide::sqrt(x)) + Halide::tanh(x);
    CHECK(fldsl::expr_to_text(fldsl::canonical_primitives(both)) == "exp(x) + log(sqrt(x)) + tanh(x)");
    CHECK(fldsl::canonical_primitives(Halide::is_nan(x)).type() == Halide::Bool());
    CHECK(fldsl::expr_to_text(fldsl::canonical_primitives(Halide::is_nan(x))) == "is_nan(x)");
}

TEST_CASE("a wrong number of arguments is our fault") {
    CHECK_THROWS_AS(fldsl::make_primitive("pow", {Expr(1.0f)}), fldsl::InternalError);
    CHECK_THROWS_AS(fldsl::make_primitive("gamma", {Expr(1.0f)}), fldsl::InternalError);
}
