// The states of a stream form a monoid: merging is associative, and the states of no positions change nothing. Checked on random
// states through the merge stage that split_reduction makes: parts in any grouping give one result.
#include "harness.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace {

using harness::Array;

/// Runs the merge stage alone on the given partial states, [positions..., part].
Array merged(const fldsl::passes::CompiledKernel &kernel, std::map<std::string, Array> parts, const harness::Call &call) {
    using namespace fldsl;
    tile::Kernel merge{kernel.kernel.name, {kernel.kernel.stages[1]}};
    for (tile::Tensor &t : merge.stages[0].tensors) {
        if (t.use == tile::TensorUse::Workspace) {
            t.use = tile::TensorUse::Input;
            t.extents.clear();
        }
    }
    std::map<std::string, std::vector<double>> memory;
    std::map<std::string, tile::HostTensor> tensors;
    const auto add = [&](const std::string &name, const Array &a) {
        memory[name] = a.values;
        std::vector<int64_t> extents(a.extents.begin(), a.extents.end());
        tensors[name] = {memory[name].data(), Halide::Float(64), extents, tile::dense_strides(extents)};
    };
    for (const auto &in : call.inputs) {
        add(in.first, in.second);
    }
    for (const auto &p : parts) {
        add(p.first, p.second);
    }
    Array out = harness::zeros(call.outputs.at("r"));
    add("r", out);
    for (tile::Tensor &t : merge.stages[0].tensors) {
        t.type = Halide::Float(64);
    }
    tile::interpret(merge, tensors, {}, tile::Precision::Double);
    out.values = memory["r"];
    return out;
}

}  // namespace

TEST_CASE("merge is associative and has an identity, for every one-pass form") {
    std::mt19937 random(3);
    std::normal_distribution<double> normal(0, 2);
    for (const char *name : {"softmax_sum", "log_sum_exp", "other_maximum", "power", "second_moment", "two_softmaxes", "shifted_maximum"}) {
        CAPTURE(name);
        harness::Call call;
        call.generator = name;
        call.parameters = {{"parts", "3"}};
        const int rows = 4, keys = 24;
        call.inputs["a"] = harness::random_array({keys, rows}, 11);
        call.inputs["x"] = harness::random_array({keys, rows}, 12);
        call.inputs["v"] = harness::random_array({11, keys}, 13);
        const bool wide = std::string(name) == "softmax_sum" || std::string(name) == "second_moment" || std::string(name) == "two_softmaxes";
        call.outputs["r"] = wide ? std::vector<int>{11, rows} : std::vector<int>{rows};
        // Associativity: the result does not depend on where the stream is cut.
        const auto whole = [&] {
            harness::Call one = call;
            one.parameters["parts"] = "1";
            return harness::interpreted(one);
        }();
        for (const char *parts : {"2", "3", "5", "6"}) {
            harness::Call cut = call;
            cut.parameters["parts"] = parts;
            CHECK(harness::difference(harness::interpreted(cut), whole) < 1e-6);
        }
    }
}

TEST_CASE("random states: order of parts and empty parts do not matter") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, 3);
    const auto kernel = harness::compile("log_sum_exp", {{"parts", "3"}});
    harness::Call call;
    call.outputs["r"] = {4};
    call.inputs["a"] = harness::zeros({1, 4});
    call.inputs["x"] = harness::zeros({1, 4});
    call.inputs["v"] = harness::zeros({11, 1});
    for (int round = 0; round < 200; round++) {
        // State (m, l) of three parts: m any number or -inf with l 0, l positive.
        std::vector<double> m(12), l(12);
        for (int n = 0; n < 12; n++) {
            const bool empty = std::uniform_int_distribution<int>(0, 3)(random) == 0;
            m[n] = empty ? -INFINITY : normal(random);
            l[n] = empty ? 0 : std::abs(normal(random)) + 0.1;
        }
        const auto with = [&](const std::vector<int> &order) {
            Array pm = harness::zeros({4, 3}), pl = harness::zeros({4, 3});
            for (int p = 0; p < 3; p++) {
                for (int i = 0; i < 4; i++) {
                    pm.values[4 * p + i] = m[4 * order[p] + i];
                    pl.values[4 * p + i] = l[4 * order[p] + i];
                }
            }
            return merged(kernel, {{"m_parts", pm}, {"l_parts", pl}}, call);
        };
        const Array first = with({0, 1, 2});
        CHECK(harness::difference(with({2, 0, 1}), first) < 1e-12);
        CHECK(harness::difference(with({1, 0, 2}), first) < 1e-12);
        for (int i = 0; i < 4; i++) {
            double total = 0;
            for (int p = 0; p < 3; p++) {
                total += std::exp2(m[4 * p + i]) * l[4 * p + i];
            }
            const double expected = std::log(total);
            CHECK((first.values[i] == expected || std::abs(first.values[i] - expected) < 1e-6 * (1 + std::abs(expected))));
        }
    }
}
