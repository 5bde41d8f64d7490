// classify_tiles and the attention kernels against dense masks: every option drawn at random, so that blocks are skipped, full
// and partial in all mixtures. The interpreter's Check mode fails when a skipped block keeps anything or a full one drops anything.
#include "harness.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace {

using harness::Array;

struct Options {
    int queries, keys, left, right, prefix, shift, documents;
    double softcap;
    std::vector<int> lengths;
};

constexpr int dim = 8, value_dim = 5, heads = 4, key_heads = 2, batch = 2;

/// Attention in double with a dense mask; layouts innermost first as the kernels have them.
std::map<std::string, Array> dense(const std::map<std::string, Array> &in, const Options &o, double scale) {
    Array out = harness::zeros({value_dim, o.queries, heads, batch}), lse = harness::zeros({o.queries, heads, batch});
    const auto at = [](const Array &a, int x, int y, int z, int w) {
        return a.values[x + a.extents[0] * (y + a.extents[1] * (z + static_cast<size_t>(a.extents[2]) * w))];
    };
    for (int b = 0; b < batch; b++) {
        for (int h = 0; h < heads; h++) {
            for (int i = 0; i < o.queries; i++) {
                const int position = i + o.shift, g = h / (heads / key_heads);
                std::vector<double> scores(o.keys, -INFINITY);
                double largest = -INFINITY, total = 0;
                for (int j = 0; j < o.keys; j++) {
                    const bool inside = (j >= position - o.left && j <= position + o.right) || j < o.prefix;
                    const bool documents = in.at("documents_q").values[i] == in.at("documents_k").values[j];
                    if (!inside || !documents || j >= o.lengths[b]) {
                        continue;
                    }
                    double s = 0;
                    for (int d = 0; d < dim; d++) {
                        s += at(in.at("q"), d, i, h, b) * at(in.at("k"), d, j, g, b);
                    }
                    s *= scale;
                    s = o.softcap > 0 ? o.softcap * std::tanh(s / o.softcap) : s;
                    scores[j] = s + in.at("slopes").values[h] * (j - position);
                    largest = std::max(largest, scores[j]);
                }
                for (int j = 0; j < o.keys; j++) {
                    total += std::isinf(scores[j]) ? 0 : std::exp(scores[j] - largest);
                }
                const size_t row = i + o.queries * (h + static_cast<size_t>(heads) * b);
                lse.values[row] = total > 0 ? largest + std::log(total) : -INFINITY;
                for (int e = 0; e < value_dim && total > 0; e++) {
                    double sum = 0;
                    for (int j = 0; j < o.keys; j++) {
                        sum += std::isinf(scores[j]) ? 0 : std::exp(scores[j] - largest) * at(in.at("v"), e, j, g, b);
                    }
                    out.values[e + value_dim * row] = sum / total;
                }
            }
        }
    }
    return {{"o", out}, {"lse", lse}};
}

harness::Call call_of(const Options &o, unsigned seed, double scale) {
    harness::Call call;
    call.generator = "general_attention";
    call.parameters = {{"rows", "8"}, {"block", "8"}, {"head_dim", "8"}};
    call.inputs["q"] = harness::random_array({dim, o.queries, heads, batch}, seed);
    call.inputs["k"] = harness::random_array({dim, o.keys, key_heads, batch}, seed + 1);
    call.inputs["v"] = harness::random_array({value_dim, o.keys, key_heads, batch}, seed + 2);
    call.inputs["slopes"] = harness::random_array({heads}, seed + 3);
    Array lengths = harness::zeros({batch}, Halide::Int(32));
    for (int b = 0; b < batch; b++) {
        lengths.values[b] = o.lengths[b];
    }
    call.inputs["lengths"] = lengths;
    Array dq = harness::zeros({o.queries}, Halide::Int(32)), dk = harness::zeros({o.keys}, Halide::Int(32));
    for (int i = 0; i < o.queries; i++) {
        dq.values[i] = (i + o.shift) * o.documents / std::max(1, o.keys);
    }
    for (int j = 0; j < o.keys; j++) {
        dk.values[j] = j * o.documents / std::max(1, o.keys);
    }
    call.inputs["documents_q"] = dq;
    call.inputs["documents_k"] = dk;
    call.scalars = {{"scale", scale}, {"softcap", o.softcap}, {"shift", o.shift}, {"left", o.left}, {"right", o.right}, {"prefix", o.prefix}};
    call.outputs = {{"o", {value_dim, o.queries, heads, batch}}, {"lse", {o.queries, heads, batch}}};
    return call;
}

}  // namespace

TEST_CASE("random masks agree with dense ones, and classes never keep or drop the wrong block") {
    std::mt19937 random(7);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    constexpr int unbounded = 1 << 30;
    for (unsigned round = 0; round < 40; round++) {
        Options o;
        o.queries = draw(1, 40);
        o.keys = draw(0, 60);
        o.left = draw(0, 2) ? draw(0, 20) : unbounded;
        o.right = draw(0, 2) ? draw(0, 10) : unbounded;
        o.prefix = draw(0, 1) ? draw(0, 12) : 0;
        o.shift = draw(0, 1) ? o.keys - o.queries : draw(-10, 10);
        o.documents = draw(0, 1) ? draw(1, 5) : 1;
        o.softcap = draw(0, 1) ? 2.0 : 0.0;
        o.lengths = {draw(0, o.keys), o.keys};
        CAPTURE(round);
        const harness::Call call = call_of(o, 100 * round, 0.3);
        const auto expected = dense(call.inputs, o, static_cast<float>(0.3));
        CHECK(harness::difference(harness::interpreted(call), expected) < 1e-5);
        CHECK(harness::difference(harness::compiled(call), expected) < 1e-5);
    }
}

TEST_CASE("bounds and classes are the formulas that one expects") {
    const auto stream = [](const char *generator) { return harness::compile(generator, {}).kernel.stages[0].streams[0]; };
    std::ostringstream causal_end, causal_live, full_live;
    causal_end << stream("causal_attention").end;
    CHECK(causal_end.str().find("i.hi + shift") != std::string::npos);
    causal_live << stream("causal_attention").full;
    CHECK(causal_live.str().find("j.hi <= (i.lo + shift)") != std::string::npos);
    CHECK(!stream("full_attention").live.defined());
    // Documents are classified by the range of ids in a block, made by head operations.
    CHECK(stream("document_attention").head.size() == 4);
}

TEST_CASE("causal attention equals the algorithm as Halide runs it") {
    for (const auto &size : {std::make_pair(1, 1), std::make_pair(7, 12), std::make_pair(30, 13)}) {
        harness::Call call;
        call.generator = "causal_attention";
        call.parameters = {{"rows", "8"}, {"block", "8"}, {"head_dim", "8"}};
        call.inputs["q"] = harness::random_array({8, size.first, 4, 2}, 1);
        call.inputs["k"] = harness::random_array({8, size.second, 2, 2}, 2);
        call.inputs["v"] = harness::random_array({6, size.second, 2, 2}, 3);
        call.scalars = {{"scale", 0.4}, {"shift", size.second - size.first}};
        call.outputs = {{"o", {6, size.first, 4, 2}}, {"lse", {size.first, 4, 2}}};
        const auto expected = harness::oracle(call);
        CHECK(harness::difference(harness::interpreted(call), expected) < 2e-6);
        CHECK(harness::difference(harness::compiled(call), expected) < 2e-6);
        // Parts and narrow types.
        harness::Call split = call;
        split.parameters["parts"] = "3";
        CHECK(harness::difference(harness::compiled(split), expected) < 2e-6);
        for (const char *type : {"float16", "bfloat16"}) {
            harness::Call narrow = call;
            narrow.parameters["type"] = type;
            const Halide::Type t = std::string(type) == "float16" ? Halide::Float(16) : Halide::BFloat(16);
            for (const char *name : {"q", "k", "v"}) {
                narrow.inputs[name] = harness::random_array(call.inputs[name].extents, 9, t);
            }
            const auto reference = harness::interpreted(narrow);
            const double half_ulp = std::string(type) == "float16" ? 0.0005 : 0.004;
            CHECK(harness::difference(harness::compiled(narrow), reference) < 2 * half_ulp);
        }
    }
}

TEST_CASE("the same bits for any number of threads") {
    harness::Call call;
    call.generator = "causal_attention";
    call.parameters = {{"rows", "8"}, {"block", "8"}, {"head_dim", "8"}};
    call.inputs["q"] = harness::random_array({8, 100, 4, 2}, 1);
    call.inputs["k"] = harness::random_array({8, 100, 2, 2}, 2);
    call.inputs["v"] = harness::random_array({6, 100, 2, 2}, 3);
    call.scalars = {{"scale", 0.4}, {"shift", 0}};
    call.outputs = {{"o", {6, 100, 4, 2}}, {"lse", {100, 4, 2}}};
    const auto one = harness::compiled(call, 1);
    for (const int threads : {2, 5}) {
        CHECK(harness::difference(harness::compiled(call, threads), one) == 0);
    }
}
