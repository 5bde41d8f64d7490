// Each one-pass form against the algorithm as Halide runs it: interpreted in double, compiled, with the passes kept apart (no
// online()), and split into parts. Tolerance: float32 rounding of sums of some tens of terms of order 1.
#include "harness.h"

#include <doctest/doctest.h>

using harness::Call;

namespace {

struct OnlineCase {
    const char *generator;
    int rank;
    bool dependent;  ///< the reductions depend on each other
};

const OnlineCase cases[] = {
    {"softmax_sum", 2, true},   {"log_sum_exp", 1, true},   {"plain_softmax", 2, true},  {"two_values", 2, true},
    {"other_maximum", 1, true}, {"running_quotient", 1, true}, {"power", 1, true},       {"second_moment", 2, true},
    {"two_softmaxes", 2, true}, {"sigmoid_sum", 2, false},  {"shifted_maximum", 1, true}, {"log_of_product", 1, true},
    {"base_two", 1, true},
};

constexpr double tolerance = 2e-6;

Call call_of(const OnlineCase &c, int queries, int keys, harness::Parameters parameters = {}) {
    Call call;
    call.generator = c.generator;
    call.parameters = std::move(parameters);
    call.inputs["a"] = harness::random_array({keys, queries}, 1);
    call.inputs["x"] = harness::random_array({keys, queries}, 2);
    call.inputs["v"] = harness::random_array({11, keys}, 3);
    call.outputs["r"] = c.rank == 2 ? std::vector<int>{11, queries} : std::vector<int>{queries};
    return call;
}

}  // namespace

TEST_CASE("one-pass forms are what the algorithm says") {
    for (const OnlineCase &c : cases) {
        CAPTURE(c.generator);
        for (const auto &size : {std::make_pair(13, 30), std::make_pair(1, 1), std::make_pair(8, 4)}) {
            const Call call = call_of(c, size.first, size.second);
            const auto expected = harness::oracle(call);
            CHECK(harness::difference(harness::interpreted(call), expected) < tolerance);
            CHECK(harness::difference(harness::compiled(call), expected) < tolerance);
        }
    }
}

TEST_CASE("without online() each level of dependence is a walk of its own, with the same result") {
    for (const OnlineCase &c : cases) {
        CAPTURE(c.generator);
        const harness::Parameters separate = {{"one_pass", "false"}};
        const Call call = call_of(c, 13, 30, separate);
        CHECK(harness::compile(c.generator, {}).kernel.stages[0].streams.size() == 1);
        CHECK((harness::compile(c.generator, separate).kernel.stages[0].streams.size() > 1) == c.dependent);
        const auto expected = harness::oracle(call);
        CHECK(harness::difference(harness::interpreted(call), expected) < tolerance);
        CHECK(harness::difference(harness::compiled(call), expected) < tolerance);
    }
}

TEST_CASE("split streams merge to the same result") {
    for (const OnlineCase &c : cases) {
        CAPTURE(c.generator);
        const Call call = call_of(c, 13, 30, {{"parts", "3"}});
        CHECK(harness::compile(c.generator, call.parameters).kernel.stages.size() == 2);
        const auto expected = harness::oracle(call);
        CHECK(harness::difference(harness::interpreted(call), expected) < tolerance);
        CHECK(harness::difference(harness::compiled(call), expected) < tolerance);
        // More parts than blocks: some parts see nothing.
        const Call few = call_of(c, 3, 5, {{"parts", "3"}});
        CHECK(harness::difference(harness::compiled(few), harness::oracle(few)) < tolerance);
    }
}

TEST_CASE("a maximum that needs no correction has none, a softmax has") {
    const auto online = [](const char *generator) { return harness::compile(generator, {}).online; };
    CHECK(online("plain_softmax").find("correction") == std::string::npos);
    CHECK(online("softmax_sum").find("correction select(m.old == m, 1.0, exp2(m.old - m))") != std::string::npos);
    CHECK(online("power").find("pow(1.5, m.old - m)") != std::string::npos);
    CHECK(online("running_quotient").find("select(l_1 == 0.0, 0.0, l / l_1)") != std::string::npos);
}

TEST_CASE("a stream without positions leaves the identities") {
    for (const char *name : {"softmax_sum", "running_quotient", "two_softmaxes"}) {
        CAPTURE(name);
        OnlineCase c{name, std::string(name) == "running_quotient" ? 1 : 2, true};
        const auto result = harness::compiled(call_of(c, 5, 0));
        for (const double v : result.at("r").values) {
            CHECK(v == 0);
        }
    }
}

TEST_CASE("a split kernel without all of its workspace is refused") {
    const Call call = call_of(cases[0], 13, 30, {{"parts", "3"}});
    CHECK_THROWS_WITH(harness::compiled(call, 2, 1), doctest::Contains("workspace has"));
    CHECK_THROWS_WITH(harness::compiled(call, 2, 1), doctest::Contains("allowed: at least"));
    CHECK_NOTHROW(harness::compiled(call, 2, 0));
}
