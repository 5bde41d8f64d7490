// The interpreter on programs that are no attention: two softmaxes, reductions alone, no stream, integers.
#include "arrays.h"
#include "files.h"
#include "src/support/error.h"
#include "src/tile/tile_text.h"
#include "src/tile/verify.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace fldsl::tile;
using tile_tests::Array;

namespace {

Kernel checked(const std::string &text) {
    const Kernel kernel = parse_kernel(text);
    verify(kernel);
    return kernel;
}

}  // namespace

TEST_CASE("two softmaxes in one walk and in three") {
    for (const char *name : {"two_softmaxes.tile", "two_softmaxes_walks.tile"}) {
        const int64_t keys = 11, rows = 13, width = 5;
        Array a({keys, rows}, 1), x({keys, rows}, 2), v({width, keys}, 3), r({width, rows});
        std::map<std::string, HostTensor> tensors = {
            {"a", a.tensor()}, {"x", x.tensor()}, {"v", v.tensor()}, {"r", r.tensor()}};
        interpret(checked(tile_tests::read_golden(name)), tensors, {});
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t e = 0; e < width; e++) {
                double sum_a = 0, sum_x = 0, out_a = 0, out_x = 0;
                for (int64_t j = 0; j < keys; j++) {
                    sum_a += std::exp(a.at(j, i));
                    sum_x += std::exp(x.at(j, i));
                    out_a += std::exp(a.at(j, i)) * v.at(e, j);
                    out_x += std::exp(x.at(j, i)) * v.at(e, j);
                }
                CHECK(r.at(e, i) == doctest::Approx(out_a / sum_a - 0.2 * out_x / sum_x).epsilon(1e-5));
            }
        }
    }
}

TEST_CASE("a sum without softmax, in ragged blocks") {
    const Kernel kernel = checked(R"(kernel sums
stage sums
  input a: float32 rank 2
  output r: float32 rank 1
  axis i: grid 8 extent a.extent.1
  axis j: stream 4 extent a.extent.0
  grid i order plain
  stream j in [0, a.extent.0)
    state l[i] = 0.0
    body
      reduce l1[i] = sum over j: a[j, i] from l where j % 2 == 0
    update l = l1
  epilogue
    store r[i] for i = l where i != 3
)");
    Array a({7, 10}, 1), r({10});
    std::map<std::string, HostTensor> tensors = {{"a", a.tensor()}, {"r", r.tensor()}};
    r.data[3] = 42;
    interpret(kernel, tensors, {}, Precision::Double);
    for (int64_t i = 0; i < 10; i++) {
        CHECK(r.at(i) == (i == 3 ? 42 : doctest::Approx(a.at(0, i) + a.at(2, i) + a.at(4, i) + a.at(6, i)).epsilon(1e-6)));
    }
}

TEST_CASE("no stream: elementwise, with neighbours") {
    const Kernel kernel = checked(R"(kernel edges
stage edges
  input a: float32 rank 1
  output r: float32 rank 1
  scalar by: float32
  axis i: grid 4 extent a.extent.0
  grid i order plain
  epilogue
    map t[i] = a[max(i - 1, 0)] * by where i > 0 otherwise -1.0
    store r[i] for i = t
)");
    Array a({9}, 1), r({9});
    std::map<std::string, HostTensor> tensors = {{"a", a.tensor()}, {"r", r.tensor()}};
    interpret(kernel, tensors, {{"by", 0.5}});
    CHECK(r.at(0) == -1);
    for (int64_t i = 1; i < 9; i++) {
        CHECK(r.at(i) == a.at(i - 1) * 0.5);
    }
}

TEST_CASE("integer arithmetic is Halide's") {
    const Kernel kernel = checked(R"(kernel integers
stage integers
  input a: int32 rank 1
  output r: int32 rank 2
  axis i: grid 4 extent a.extent.0
  grid i order plain
  epilogue
    store r[0, i]: int32 for i = a[i] / 3
    store r[1, i]: int32 for i = a[i] % 3
    store r[2, i]: int32 for i = a[i] / -3
    store r[3, i]: int32 for i = a[i] / 0
    store r[4, i]: int32 for i = int32(float32(a[i]) / 2.0)
    store r[5, i]: int32 for i = int32(uint8(a[i]))
)");
    std::vector<int32_t> a = {-7, -3, -1, 0, 1, 8, 300}, r(6 * a.size());
    const int64_t n = static_cast<int64_t>(a.size());
    std::map<std::string, HostTensor> tensors = {{"a", {a.data(), Halide::Int(32), {n}, {1}}},
                                                 {"r", {r.data(), Halide::Int(32), {6, n}, {1, 6}}}};
    interpret(kernel, tensors, {});
    for (int64_t i = 0; i < n; i++) {
        const Halide::Expr x = a[i];
        const Halide::Expr expected[] = {x / 3, x % 3, x / -3, 0, Halide::cast<int>(Halide::cast<float>(x) / 2.0f),
                                         Halide::cast<int>(Halide::cast<uint8_t>(x))};
        for (int c = 0; c < 6; c++) {
            CAPTURE(a[i]);
            CAPTURE(c);
            const auto value = Halide::Internal::as_const_int(Halide::Internal::simplify(expected[c]));
            REQUIRE(value);
            CHECK(r[6 * i + c] == *value);
        }
    }
}

TEST_CASE("float precision rounds every operation, double none") {
    const Kernel kernel = checked(R"(kernel rounding
stage rounding
  input a: float32 rank 1
  output r: float32 rank 1
  axis i: grid 4 extent a.extent.0
  grid i order plain
  epilogue
    store r[i] for i = a[i] + 16777216.0 - 16777216.0
)");
    Array a({1}), r({1});
    a.data[0] = 1;
    std::map<std::string, HostTensor> tensors = {{"a", a.tensor()}, {"r", r.tensor()}};
    interpret(kernel, tensors, {}, Precision::Float);
    CHECK(r.at(0) == 0);
    interpret(kernel, tensors, {}, Precision::Double);
    CHECK(r.at(0) == 1);
}

TEST_CASE("an element outside a tensor is our fault") {
    const Kernel kernel = checked(R"(kernel outside
stage outside
  input a: float32 rank 1
  output r: float32 rank 1
  axis i: grid 4 extent a.extent.0
  grid i order plain
  epilogue
    store r[i] for i = a[i + 1]
)");
    Array a({3}), r({3});
    std::map<std::string, HostTensor> tensors = {{"a", a.tensor()}, {"r", r.tensor()}};
    CHECK_THROWS_AS(interpret(kernel, tensors, {}), fldsl::InternalError);
}
