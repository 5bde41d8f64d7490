// The vector code of the primitives against double: accuracy over their ranges, and IEEE's corner cases.
#include "../passes/harness.h"
#include "src/support/primitives.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using harness::Array;

constexpr double inf = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> run(const char *function, const std::vector<double> &x) {
    harness::Call call;
    call.generator = "primitive_case";
    call.parameters = {{"function", function}};
    Array in = harness::zeros({static_cast<int>(x.size())});
    in.values = x;
    call.inputs["x"] = in;
    call.outputs["r"] = {static_cast<int>(x.size())};
    return harness::compiled(call).at("r").values;
}

/// Largest error in units of the last place of the float32 result, over n arguments from low to high.
double ulps(const char *function, double low, double high, int n = 20000) {
    std::vector<double> x(n);
    for (int i = 0; i < n; i++) {
        x[i] = static_cast<float>(low + (high - low) * i / (n - 1));
    }
    const std::vector<double> y = run(function, x);
    double worst = 0;
    for (int i = 0; i < n; i++) {
        const double wanted = fldsl::find_primitive(function)->reference(x[i], 0);
        const double ulp = std::ldexp(1.0, std::max(-149, std::ilogb(wanted == 0 ? 1e-38 : wanted) - 23));
        worst = std::max(worst, std::abs(y[i] - wanted) / ulp);
    }
    return worst;
}

}  // namespace

TEST_CASE("accuracy over the range") {
    CHECK(ulps("exp2", -125, 127.9) < 2);
    CHECK(ulps("exp2", -1, 1) < 2);
    CHECK(ulps("exp", -86.6, 88.7) < 2.5);
    CHECK(ulps("exp", -1, 1) < 2);
    CHECK(ulps("log", 1e-30, 1e-3) < 2);
    CHECK(ulps("log", 0.1, 0.9) < 2.5);
    CHECK(ulps("log", 1.1, 1e6) < 2.5);
    CHECK(ulps("log2", 1.1, 1e6) < 3);
    CHECK(ulps("tanh", -10, 10) < 5);
    CHECK(ulps("tanh", -0.01, 0.01) < 4);
    CHECK(ulps("sigmoid", -20, 20) < 4);
    CHECK(ulps("sqrt", 0, 1e6) <= 1);
    CHECK(ulps("rsqrt", 1e-3, 1e6) < 2);
    CHECK(ulps("sin", -3, 3) < 2);
    CHECK(ulps("cos", -1.5, 1.5) < 2);
    CHECK(ulps("erf", -3, 3) < 2);
}

TEST_CASE("NaN, infinities, zeros, range ends") {
    struct Case {
        const char *function;
        double x, y;
    };
    const Case cases[] = {
        {"exp", not_a_number, not_a_number},    {"exp", inf, inf},     {"exp", -inf, 0},     {"exp", 0, 1},      {"exp", 100, inf},  {"exp", -200, 0},
        {"exp2", not_a_number, not_a_number},   {"exp2", inf, inf},    {"exp2", -inf, 0},    {"exp2", 0, 1},     {"exp2", 128, inf}, {"exp2", -150, 0},
        {"exp2", 10, 1024},   {"exp2", -3, 0.125},   {"log", not_a_number, not_a_number},    {"log", inf, inf},  {"log", 0, -inf},   {"log", -0.0, -inf},
        {"log", -1, not_a_number},     {"log", -inf, not_a_number},    {"log", 1, 0},        {"log2", 8, 3},     {"log2", 0, -inf},  {"log2", -1, not_a_number},
        {"tanh", not_a_number, not_a_number},   {"tanh", inf, 1},      {"tanh", -inf, -1},   {"tanh", 0, 0},     {"tanh", 50, 1},    {"sigmoid", not_a_number, not_a_number},
        {"sigmoid", inf, 1},  {"sigmoid", -inf, 0},  {"sigmoid", 0, 0.5},  {"sqrt", -1, not_a_number},  {"sqrt", inf, inf}, {"rsqrt", 0, inf},
        {"rsqrt", inf, 0},    {"is_nan", not_a_number, 1},    {"is_nan", inf, 0},   {"is_nan", 1, 0},   {"is_inf", -inf, 1}, {"is_inf", not_a_number, 0},
        {"is_inf", 1e38, 0},
    };
    for (const Case &c : cases) {
        CAPTURE(c.function);
        CAPTURE(c.x);
        // In every lane of a panel and in a ragged last one.
        for (const double y : run(c.function, std::vector<double>(29, c.x))) {
            CHECK((y == c.y || (std::isnan(y) && std::isnan(c.y))));
        }
    }
}

TEST_CASE("denormal arguments") {
    CHECK(run("log", {1e-40})[0] == doctest::Approx(std::log(static_cast<float>(1e-40))).epsilon(1e-6));
    CHECK(run("exp", {1e-40})[0] == 1);
    CHECK(run("tanh", {1e-30})[0] == doctest::Approx(1e-30).epsilon(1e-6));
}
