// Programs of many shapes through the CPU back end, against the algorithm as Halide runs it.
#include "../passes/harness.h"
#include "src/lower_halide/cpu.h"
#include "src/support/error.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <unistd.h>

using harness::Call;

namespace {

constexpr double tolerance = 3e-6;

void check_against_halide(const Call &call) {
    CAPTURE(call.generator);
    const auto expected = harness::oracle(call);
    CHECK(harness::difference(harness::interpreted(call), expected) < tolerance);
    CHECK(harness::difference(harness::compiled(call), expected) < tolerance);
}

}  // namespace

TEST_CASE("no stream: rows normalised by their root mean square") {
    for (const int rows : {1, 16, 37}) {
        Call call;
        call.generator = "rms_norm";
        call.inputs = {{"x", harness::random_array({50, rows}, 1)}, {"weight", harness::random_array({50}, 2)}};
        call.scalars = {{"epsilon", 1e-5}};
        call.outputs = {{"r", {50, rows}}};
        check_against_halide(call);
    }
}

TEST_CASE("no tiled axis: scalar code") {
    Call call;
    call.generator = "row_maximum";
    call.inputs = {{"x", harness::random_array({45, 7}, 1)}};
    call.outputs = {{"r", {7}}};
    check_against_halide(call);
}

TEST_CASE("two streams one after the other") {
    for (const auto &size : {std::make_pair(30, 9), std::make_pair(1, 17), std::make_pair(8, 4)}) {
        Call call;
        call.generator = "two_streams";
        call.inputs = {{"a", harness::random_array({size.first, 21}, 1)},
                       {"b", harness::random_array({size.second, 21}, 2)},
                       {"v", harness::random_array({11, size.first}, 3)},
                       {"w", harness::random_array({11, size.second}, 4)}};
        call.outputs = {{"r", {11, 21}}};
        check_against_halide(call);
    }
}

TEST_CASE("two softmaxes over one value stream with a gate") {
    for (const int size : {1, 24, 67}) {
        Call call;
        call.generator = "two_softmax_products";
        for (const char *name : {"q0", "q1", "k0", "k1"}) {
            call.inputs[name] = harness::random_array({20, size}, name[0] + 2 * name[1]);
        }
        call.inputs["v"] = harness::random_array({40, size}, 8);
        call.inputs["gate"] = harness::random_array({40, size}, 9);
        call.scalars = {{"mix", 0.2}};
        call.outputs = {{"r", {40, size}}};
        check_against_halide(call);
    }
}

TEST_CASE("no softmax") {
    for (const int size : {1, 24, 67}) {
        Call call;
        call.generator = "sigmoid_products";
        for (const char *name : {"q", "k"}) {
            call.inputs[name] = harness::random_array({20, size}, name[0]);
        }
        call.inputs["v"] = harness::random_array({40, size}, 8);
        call.outputs = {{"r", {40, size}}};
        check_against_halide(call);
    }
}

TEST_CASE("every kind of target compiles") {
    const auto kernel = harness::compile("two_softmax_products", {});
    for (const char *target : {"x86-64-linux", "x86-64-linux-sse41", "x86-64-linux-sse41-avx-avx2-fma-f16c",
                               "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake"}) {
        CAPTURE(target);
        Halide::Target t(std::string(target) + "-no_runtime-no_asserts-no_bounds_query");
        fldsl::lower_halide::CpuStage stage = fldsl::lower_halide::lower_cpu(kernel.kernel.stages[0], "stage", t);
        CHECK(stage.scratch_bytes > 0);
        const std::string file = std::filesystem::temp_directory_path() / ("fldsl_" + std::to_string(getpid()) + ".o");
        stage.module.compile({{Halide::OutputFileType::object, file}});
        CHECK(std::filesystem::file_size(file) > 1000);
        std::filesystem::remove(file);
    }
}
