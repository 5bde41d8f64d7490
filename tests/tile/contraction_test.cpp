// Which reductions are contractions.
#include "files.h"
#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"

#include <doctest/doctest.h>

using namespace fldsl::tile;

namespace {

/// Whether `reduction`, over values a[d, i], b[d, j], c[i], h[d, j] (float16), is one.
bool contracts(const std::string &reduction, Contraction *out = nullptr) {
    const Kernel k = parse_kernel(
        "kernel k\nstage s\n  input x: float32 rank 2\n  input y: float16 rank 2\n"
        "  axis i: grid 4 extent x.extent.0\n  axis j: whole 4 extent x.extent.0\n  axis d: whole 4 extent x.extent.0\n"
        "  grid i order plain\n  prologue\n"
        "    load a[d, i] = x[d, i]\n    load b[d, j] = x[d, j]\n    load c[i] = x[0, i]\n    load h[d, j]: float16 = y[d, j]\n    " +
        reduction + "\n");
    return is_contraction(k.stages[0].prologue.back(), k.stages[0].prologue, out);
}

}  // namespace

TEST_CASE("a sum of products with an axis of their own each") {
    Contraction found;
    REQUIRE(contracts("reduce s[j, i] = sum over d: a * b", &found));
    CHECK(found.a == "a");
    CHECK(found.b == "b");
    CHECK(contracts("reduce s[j, i] = sum over d: a * b from c * c"));
}

TEST_CASE("operands may be widened floats") {
    Contraction found;
    REQUIRE(contracts("reduce s[j, i] = sum over d: a * float32(h)", &found));
    CHECK(found.b == "h");
}

TEST_CASE("what is none") {
    CHECK_FALSE(contracts("reduce s[j, i] = max over d: a * b"));
    CHECK_FALSE(contracts("reduce s[j, i] = sum over d: a + b"));
    CHECK_FALSE(contracts("reduce s[i] = sum over d: a * a"));
    CHECK_FALSE(contracts("reduce s[j] = sum over d, i: a * b"));
    CHECK_FALSE(contracts("reduce s[j, i] = sum over d: c * b"));
    CHECK_FALSE(contracts("reduce s[j, i] = sum over d: a * (b * b)"));
    CHECK_FALSE(contracts("map s[j, i, d] = a * b"));
}
