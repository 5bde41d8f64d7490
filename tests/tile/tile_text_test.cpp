// Tile programs print as text that parses back to the same program.
#include "files.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"
#include "src/tile/verify.h"

#include <doctest/doctest.h>

using namespace fldsl::tile;
using tile_tests::read_golden;

TEST_CASE("printing what was parsed gives the text") {
    for (const char *name : {"causal_attention.tile", "causal_attention_bf16.tile", "causal_attention_split.tile",
                             "document_attention.tile", "two_softmaxes.tile", "two_softmaxes_walks.tile"}) {
        CAPTURE(name);
        const std::string text = read_golden(name);
        REQUIRE_FALSE(text.empty());
        const Kernel kernel = parse_kernel(text);
        CHECK_NOTHROW(verify(kernel));
        CHECK(tile_tests::matches_golden(name, to_text(kernel)));
        CHECK(to_text(parse_kernel(to_text(kernel))) == text);
    }
}

TEST_CASE("types, axes and spaces survive") {
    const Kernel kernel = parse_kernel(read_golden("causal_attention_bf16.tile"));
    const Program &p = kernel.stages.at(0);
    CHECK(p.order == GridOrder::LongestFirst);
    CHECK(p.tensors[0].type == Halide::BFloat(16));
    CHECK(p.scalars[1].type == Halide::Int(32));
    CHECK(p.prologue[0].type == Halide::BFloat(16));
    CHECK(p.prologue[0].axes == std::vector<std::string>{"rd", "i"});
    CHECK(p.prologue[0].space == Space::Tile);
    const Op &scores = p.streams[0].body[1];
    CHECK(scores.kind == OpKind::Reduce);
    CHECK(scores.over == std::vector<std::string>{"rd"});
    CHECK(scores.value.type() == Halide::Float(32));
}

TEST_CASE("every part of an operation prints") {
    Op op;
    op.kind = OpKind::Reduce;
    op.name = "low";
    op.type = Halide::Int(32);
    op.axes = {"i"};
    op.over = {"j"};
    op.combiner = fldsl::Combiner::Min;
    op.space = Space::Register;
    op.value = Halide::Internal::Variable::make(Halide::Int(32), "j");
    op.init = 7;
    op.where = op.value < 3;
    CHECK(to_text(op) == "reduce low[i]: int32 @register = min over j: j from 7 where j < 3");
}

TEST_CASE("comments and blank lines carry no meaning") {
    const std::string text = read_golden("two_softmaxes.tile");
    CHECK(to_text(parse_kernel("# a kernel\n\n" + text + "\n   # the end\n")) == text);
}

TEST_CASE("a malformed program is refused with its line") {
    const std::string head =
        "kernel k\nstage s\n  input q: float32 rank 1\n  axis i: grid 4 extent q.extent.0\n  grid i order plain\n";
    const std::pair<std::string, const char *> cases[] = {
        {"", "line 1: expected `kernel`"},
        {"kernel k\n  input q: float32 rank 1\n", "line 2: expected `stage`"},
        {head + "  prologue\n    load t[i] = w[i]\n", "line 7: column 2 of `w[i]`: expected a known name, not w"},
        {head + "  load t[i] = q[i]\n", "line 6: expected `prologue`, `head`, `body` or `epilogue`"},
        {head + "  prologue\n    fold t[i] = q[i]\n", "line 7: expected another word than fold"},
        {head + "  axis j: ring 4 extent 3\n", "line 6: expected another word than ring"},
        {head + "  scalar x: float31\n", "line 6: expected a type, not float31"},
        {head + "  live true\n", "line 6: expected `stream` first"},
    };
    for (const auto &[text, message] : cases) {
        std::string what;
        try {
            parse_kernel(text);
        } catch (const fldsl::UserError &e) {
            what = e.what();
        }
        CAPTURE(what);
        CHECK(what.find(message) != std::string::npos);
    }
}
