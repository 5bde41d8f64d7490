// The interpreter runs attention programs as plain C++ in double computes them.
#include "arrays.h"
#include "files.h"
#include "src/support/error.h"
#include "src/tile/tile_text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace fldsl::tile;
using tile_tests::Array;

namespace {

const double inf = std::numeric_limits<double>::infinity();

using Mask = std::function<bool(int64_t i, int64_t j)>;

struct Sizes {
    int64_t batch, heads, key_heads, rows, keys, d, dv;
};

struct Case {
    Array q, k, v, o, lse;
    Sizes n;
    double scale;

    explicit Case(Sizes s)
        : q({s.d, s.rows, s.heads, s.batch}, 1), k({s.d, s.keys, s.key_heads, s.batch}, 2),
          v({s.dv, s.keys, s.key_heads, s.batch}, 3), o({s.dv, s.rows, s.heads, s.batch}), lse({s.rows, s.heads, s.batch}), n(s), scale(1 / std::sqrt(double(s.d))) {
        std::fill(o.data.begin(), o.data.end(), 99.0f);
        std::fill(lse.data.begin(), lse.data.end(), 99.0f);
    }

    std::map<std::string, HostTensor> tensors() {
        return {{"q", q.tensor()}, {"k", k.tensor()}, {"v", v.tensor()}, {"o", o.tensor()}, {"lse", lse.tensor()}};
    }

    /// Largest absolute difference from the definition of masked attention, in double.
    double error(const Mask &keeps) const {
        double worst = 0;
        std::vector<double> p(n.keys);
        for (int64_t b = 0; b < n.batch; b++) {
            for (int64_t h = 0; h < n.heads; h++) {
                const int64_t g = h / (n.heads / n.key_heads);
                for (int64_t i = 0; i < n.rows; i++) {
                    double largest = -inf, sum = 0;
                    for (int64_t j = 0; j < n.keys; j++) {
                        double s = 0;
                        for (int64_t d = 0; d < n.d; d++) {
                            s += q.at(d, i, h, b) * k.at(d, j, g, b);
                        }
                        p[j] = keeps(i, j) ? s * scale : -inf;
                        largest = std::max(largest, p[j]);
                    }
                    for (int64_t j = 0; j < n.keys; j++) {
                        p[j] = p[j] == -inf ? 0 : std::exp(p[j] - largest);
                        sum += p[j];
                    }
                    const double log_sum = sum == 0 ? -inf : largest + std::log(sum);
                    worst = std::max(worst, difference(lse.at(i, h, b), log_sum));
                    for (int64_t e = 0; e < n.dv; e++) {
                        double total = 0;
                        for (int64_t j = 0; j < n.keys; j++) {
                            total += p[j] * v.at(e, j, g, b);
                        }
                        worst = std::max(worst, difference(o.at(e, i, h, b), sum == 0 ? 0 : total / sum));
                    }
                }
            }
        }
        return worst;
    }

    static double difference(double a, double b) {
        return a == b ? 0 : std::isnan(a - b) ? inf : std::abs(a - b);
    }
};

Kernel program(const std::string &name) {
    return parse_kernel(tile_tests::read_golden(name + ".tile"));
}

// Outputs are rounded to float32 (half an ulp of values below 8: 2.4e-7); the program's constants log2(e) and ln(2) are float32.
const double double_tolerance = 1e-6;
// Sums of up to 200 float32 terms of size 1, in order.
const double float_tolerance = 2e-5;

const std::map<std::string, double> scalars(const Case &c, double shift) {
    return {{"scale", c.scale}, {"shift", shift}, {"right", shift}};
}

}  // namespace

TEST_CASE("causal attention, ragged edges, both precisions, all classes") {
    const Kernel kernel = program("causal_attention");
    for (const Sizes &n : {Sizes{1, 1, 1, 1, 1, 8, 8}, Sizes{2, 2, 1, 7, 7, 16, 8}, Sizes{1, 2, 2, 50, 50, 5, 3},
                           Sizes{1, 2, 1, 67, 130, 8, 4}, Sizes{1, 1, 1, 130, 67, 8, 4}}) {
        for (const Precision precision : {Precision::Float, Precision::Double}) {
            for (const Classes classes : {Classes::Use, Classes::Ignore, Classes::Check}) {
                CAPTURE(n.rows);
                CAPTURE(n.keys);
                Case c(n);
                auto tensors = c.tensors();
                const int64_t shift = n.keys - n.rows;
                interpret(kernel, tensors, scalars(c, double(shift)), precision, classes);
                CHECK(c.error([&](int64_t i, int64_t j) { return j <= i + shift; }) <
                      (precision == Precision::Double ? double_tolerance : float_tolerance));
            }
        }
    }
}

TEST_CASE("rows without keys are 0 with log-sum-exp -inf") {
    Case c({1, 1, 1, 70, 20, 4, 4});
    auto tensors = c.tensors();
    interpret(program("causal_attention"), tensors, scalars(c, -50), Precision::Float, Classes::Check);
    CHECK(c.o.at(0, 0) == 0);
    CHECK(c.lse.at(0) == -inf);
    CHECK(c.lse.at(60) > -10);
    CHECK(c.error([](int64_t i, int64_t j) { return j <= i - 50; }) < float_tolerance);
}

TEST_CASE("no keys at all") {
    Case c({1, 2, 1, 5, 0, 4, 4});
    auto tensors = c.tensors();
    interpret(program("causal_attention"), tensors, scalars(c, -5));
    CHECK(c.error([](int64_t, int64_t) { return false; }) == 0);
}

TEST_CASE("parts that are merged give what one walk gives") {
    for (const int64_t keys : {1, 70, 300}) {
        Case c({1, 2, 1, 9, keys, 8, 8});
        auto tensors = c.tensors();
        interpret(program("causal_attention_split"), tensors, scalars(c, double(keys - 9)), Precision::Float, Classes::Check);
        CHECK(c.error([&](int64_t i, int64_t j) { return j <= i + keys - 9; }) < float_tolerance);
        interpret(program("causal_attention_split"), tensors, scalars(c, double(keys - 9)), Precision::Double);
        CHECK(c.error([&](int64_t i, int64_t j) { return j <= i + keys - 9; }) < double_tolerance);
    }
}

TEST_CASE("classes that data decide: documents") {
    Case c({1, 1, 1, 200, 200, 8, 8});
    std::vector<int32_t> documents(200);
    for (int i = 0; i < 200; i++) {
        documents[i] = i / 70;
    }
    for (const Classes classes : {Classes::Use, Classes::Check}) {
        auto tensors = c.tensors();
        tensors["documents"] = {documents.data(), Halide::Int(32), {200}, {1}};
        interpret(program("document_attention"), tensors, scalars(c, 0), Precision::Float, classes);
        CHECK(c.error([&](int64_t i, int64_t j) { return j <= i && documents[i] == documents[j]; }) < float_tolerance);
    }
}

TEST_CASE("a masked NaN does not reach a result, a kept one makes its row NaN") {
    Case c({1, 1, 1, 20, 20, 4, 4});
    c.k.data[4 * 10] = std::numeric_limits<float>::quiet_NaN();
    auto tensors = c.tensors();
    interpret(program("causal_attention"), tensors, scalars(c, 0));
    for (int64_t i = 0; i < 20; i++) {
        CHECK(std::isnan(c.o.at(0, i)) == (i >= 10));
    }
}

TEST_CASE("bfloat16 tensors, strided") {
    Case c({1, 1, 1, 20, 20, 8, 8});
    std::map<std::string, std::vector<Halide::bfloat16_t>> narrow;
    auto tensors = c.tensors();
    for (const char *name : {"q", "k", "v", "o"}) {
        HostTensor &t = tensors[name];
        std::vector<Halide::bfloat16_t> &to = narrow[name];
        float *from = static_cast<float *>(t.data);
        for (int n = 0; n < 160; n++) {
            to.insert(to.end(), {Halide::bfloat16_t(from[n]), Halide::bfloat16_t(1e30f)});
            from[n] = static_cast<float>(to[2 * n]);
        }
        t = {to.data(), Halide::BFloat(16), t.extents, {2, 16, 320, 320}};
    }
    interpret(program("causal_attention_bf16"), tensors, scalars(c, 0));
    for (int n = 0; n < 160; n++) {
        c.o.data[n] = static_cast<float>(narrow["o"][2 * n]);
        CHECK(static_cast<float>(narrow["o"][2 * n + 1]) == doctest::Approx(1e30f).epsilon(0.01));
    }
    // Results below 2 rounded to bfloat16: half of 2^-7.
    CHECK(c.error([](int64_t i, int64_t j) { return j <= i; }) < 1.0 / 256 + float_tolerance);
}

TEST_CASE("wrong classes are found") {
    for (const bool live : {true, false}) {
        Kernel kernel = program("causal_attention");
        Stream &s = kernel.stages[0].streams[0];
        (live ? s.live : s.full) = Halide::Internal::make_bool(!live);
        Case c({1, 1, 1, 10, 10, 4, 4});
        auto tensors = c.tensors();
        CHECK_THROWS_AS(interpret(kernel, tensors, scalars(c, 0), Precision::Float, Classes::Check), fldsl::InternalError);
    }
}

TEST_CASE("an axis beyond its capacity is refused") {
    Case c({1, 1, 1, 4, 4, 65, 4});
    auto tensors = c.tensors();
    CHECK_THROWS_AS(interpret(program("causal_attention"), tensors, scalars(c, 0)), fldsl::InternalError);
}
