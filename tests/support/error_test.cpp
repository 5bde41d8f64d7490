// Errors carry their message; messages are built only on failure.
#include "src/support/error.h"

#include <doctest/doctest.h>

namespace {

int built = 0;

int count() {
    return ++built;
}

}  // namespace

TEST_CASE("a passed check builds no message") {
    built = 0;
    FLDSL_USER_CHECK(true) << count();
    FLDSL_INTERNAL_CHECK(true) << count();
    CHECK(built == 0);
}

TEST_CASE("a user's mistake is told as it was written") {
    CHECK_THROWS_WITH_AS(FLDSL_USER_CHECK(1 > 2) << "tile(" << 0 << ")", "tile(0)", fldsl::UserError);
}

TEST_CASE("our own says where and asks for a report") {
    std::string what;
    try {
        FLDSL_INTERNAL_CHECK(1 > 2) << "no axis";
    } catch (const fldsl::InternalError &e) {
        what = e.what();
    }
    CHECK(what.find("no axis (internal error: 1 > 2 at ") == 0);
    CHECK(what.find("error_test.cpp:") != std::string::npos);
    CHECK(what.find("please report") != std::string::npos);
}
