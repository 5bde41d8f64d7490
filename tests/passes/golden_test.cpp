// What the passes make of a generator, as text: graph, one-pass form and tile program. FLDSL_UPDATE_GOLDEN=1 rewrites the files.
#include "harness.h"
#include "../tile/files.h"
#include "src/tile/tile_text.h"

#include <doctest/doctest.h>

TEST_CASE("the steps of a kernel are what the golden files show") {
    struct Golden {
        const char *file, *generator;
        harness::Parameters parameters;
    };
    const Golden goldens[] = {
        {"passes_causal.txt", "causal_attention", {}},
        {"passes_causal_split.txt", "causal_attention", {{"parts", "4"}, {"type", "bfloat16"}}},
        {"passes_document.txt", "document_attention", {}},
        {"passes_general.txt", "general_attention", {}},
        {"passes_two_softmaxes.txt", "two_softmaxes", {}},
        {"passes_second_moment_walks.txt", "second_moment", {{"one_pass", "false"}}},
    };
    for (const Golden &g : goldens) {
        CAPTURE(g.file);
        const auto kernel = harness::compile(g.generator, g.parameters);
        const std::string tiles = fldsl::tile::to_text(kernel.kernel);
        const std::string text = kernel.schedule.text + "\n\n" + fldsl::algorithm::to_text(kernel.graph) + "\n" + kernel.online + "\n" +
                                 kernel.storage + "\n" + tiles;
        CHECK(tile_tests::matches_golden(g.file, text));
        CHECK(fldsl::tile::to_text(fldsl::tile::parse_kernel(tiles)) == tiles);
    }
}
