// Identities leave every value unchanged, and names are each other's inverse.
#include "src/support/combiner.h"

#include <doctest/doctest.h>

using fldsl::Combiner;
using Halide::Expr;

TEST_CASE("names and combiners are each other's inverse") {
    for (const Combiner op : {Combiner::Sum, Combiner::Product, Combiner::Max, Combiner::Min}) {
        Combiner back = Combiner::Sum;
        REQUIRE(fldsl::parse_combiner(fldsl::combiner_name(op), &back));
        CHECK(back == op);
    }
    Combiner unused = Combiner::Sum;
    CHECK_FALSE(fldsl::parse_combiner("mean", &unused));
}

TEST_CASE("the identity changes nothing") {
    for (const Combiner op : {Combiner::Sum, Combiner::Product, Combiner::Max, Combiner::Min}) {
        for (const Halide::Type type : {Halide::Float(32), Halide::Int(32), Halide::UInt(8)}) {
            const Expr identity = fldsl::identity_of(op, type);
            CHECK(identity.type() == type);
            for (const int value : {0, 1, 7}) {
                const Expr v = Halide::Internal::make_const(type, value);
                CHECK(Halide::Internal::equal(Halide::Internal::simplify(fldsl::combine(op, identity, v)), v));
            }
        }
    }
}
