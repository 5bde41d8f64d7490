// Graphs as text: what is read is what was written, in whatever way it was cut into Funcs.
#include "harness.h"
#include "src/passes/demote_dimension.h"
#include "src/passes/eliminate_dimension.h"
#include "src/passes/fold_scale.h"
#include "src/passes/flatten_grid.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

using namespace fldsl;

TEST_CASE("the helper form and the hand-written form are one graph") {
    const auto helper = harness::compile("causal_attention", {}), hand = harness::compile("hand_written", {});
    CHECK(algorithm::canonical_text(helper.graph) == algorithm::canonical_text(hand.graph));
    CHECK(helper.kernel.stages[0].streams.size() == hand.kernel.stages[0].streams.size());
}

TEST_CASE("one line a node with its sketch") {
    const std::string expected = R"(s [(j, i, h, b), (rd)] float32 sum q[rd, i, h, b] * k[rd, j, h / (q.extent.2 / k.extent.2), b]
row_max [(i, h, b), (j)] float32 max s(j, i, h, b) * scale  where j <= i + shift
row_sum [(i, h, b), (j)] float32 sum exp(s(j, i, h, b) * scale - row_max(i, h, b))  where j <= i + shift
weighted_sum [(i, h, b, e), (j)] float32 sum exp(s(j, i, h, b) * scale - row_max(i, h, b)) / row_sum(i, h, b) * v[e, j, h / (q.extent.2 / k.extent.2), b]  where j <= i + shift
o [(e, i, h, b), ()] float32 weighted_sum(i, h, b, e)
lse [(i, h, b), ()] float32 row_max(i, h, b) + log(row_sum(i, h, b))
)";
    CHECK(algorithm::to_text(harness::compile("causal_attention", {}).graph) == expected);
}

TEST_CASE("axes carry extents and every name that they have") {
    const auto graph = harness::compile("causal_attention", {}).graph;
    const algorithm::Axis *keys = graph.axis("j");
    REQUIRE(keys);
    CHECK(keys->aliases == std::vector<std::string>{"j", "keys"});
    std::ostringstream extent;
    extent << keys->extent;
    CHECK(extent.str() == "k.extent.1");
}

TEST_CASE("demotion puts the producer inside the consumer's loop") {
    const auto graph = harness::compile("causal_attention", {}).graph;
    const passes::Demotion d = passes::demote_dimension(graph, "j");
    CHECK(d.tiles == std::vector<std::string>{"s"});
    CHECK(d.reductions == std::vector<std::string>{"row_max", "row_sum", "weighted_sum"});
}

TEST_CASE("eliminated dimensions leave the tile-level sketch") {
    const auto kernel = harness::compile("causal_attention", {});
    const passes::TileSketch sketch = passes::tile_sketch(*kernel.graph.find("weighted_sum"), kernel.schedule);
    CHECK(sketch.parallel == std::vector<std::string>{"i", "h", "b"});
    CHECK(sketch.reduction == std::vector<std::string>{"j"});
    CHECK(passes::tile_sketch(*kernel.graph.find("s"), kernel.schedule).reduction.empty());
}

TEST_CASE("scale and log2(e) become one multiply before exp2, and the maximum returns to its own units") {
    const auto graph = passes::fold_scale(harness::compile("causal_attention", {}).graph, "j");
    const std::string text = algorithm::to_text(graph);
    CHECK(text.find("max s(j, i, h, b) * (scale * 1.442695)") != std::string::npos);
    CHECK(text.find("exp2(s(j, i, h, b) * (scale * 1.442695) - row_max(i, h, b))") != std::string::npos);
    CHECK(text.find("row_max(i, h, b) * 0.6931472 + log(row_sum(i, h, b))") != std::string::npos);
    CHECK(text.find("exp(") == std::string::npos);
}

TEST_CASE("equal nodes are one: two_values has one softmax") {
    int maxima = 0;
    for (const auto &n : harness::compile("two_values", {}).graph.nodes) {
        maxima += n.combiner == Combiner::Max && n.is_reduction();
    }
    CHECK(maxima == 1);
}

TEST_CASE("a grid of any rank is flattened; the axis that lengthens streams runs slowest when the longest go first") {
    auto kernel = harness::compile("causal_attention", {});
    CHECK(kernel.kernel.stages[0].grid == std::vector<std::string>{"h", "b", "i"});
    std::vector<tile::Condition> conditions;
    tile::Program program = kernel.kernel.stages[0];
    const passes::FlatGrid flat = passes::flatten_grid(program, conditions);
    REQUIRE(conditions.size() == 1);
    // Coordinates cover the grid exactly once.
    using namespace Halide::Internal;
    const std::map<std::string, Halide::Expr> sizes = {{"q.extent.1", 200}, {"q.extent.2", 3}, {"q.extent.3", 2}};
    const auto value = [&](Halide::Expr e, int64_t block) {
        e = substitute("block", make_const(Halide::Int(64), block), substitute(sizes, e));
        return *as_const_int(simplify(e));
    };
    const int64_t blocks = value(flat.blocks, 0);
    CHECK(blocks == 3 * 2 * 3);
    std::set<std::vector<int64_t>> seen;
    for (int64_t block = 0; block < blocks; block++) {
        std::vector<int64_t> at;
        for (const auto &c : flat.coordinates) {
            at.push_back(value(c.second, block));
        }
        seen.insert(at);
    }
    CHECK(seen.size() == static_cast<size_t>(blocks));
}

TEST_CASE("shared work is done once a block") {
    const tile::Stream stream = harness::compile("causal_attention", {}).kernel.stages[0].streams[0];
    int exponentials = 0;
    for (const tile::Op &op : stream.body) {
        std::ostringstream text;
        text << op.value;
        exponentials += op.axes.size() == 2 && text.str().find("fldsl_exp2") != std::string::npos;
    }
    CHECK(exponentials == 1);
}
