// What cannot be read, derived or scheduled is refused with the name of the construct.
#include "harness.h"
#include "src/support/error.h"

#include <doctest/doctest.h>

namespace {

std::string refusal(const std::string &generator, const harness::Parameters &parameters = {}) {
    try {
        harness::compile(generator, parameters);
    } catch (const fldsl::UserError &e) {
        return e.what();
    }
    return "";
}

}  // namespace

#define CHECK_REFUSED(generator, ...)                                                 \
    do {                                                                              \
        const std::string message = refusal(generator);                               \
        for (const char *fragment : {__VA_ARGS__}) {                                  \
            CAPTURE(message);                                                         \
            CAPTURE(fragment);                                                        \
            CHECK(message.find(fragment) != std::string::npos);                       \
        }                                                                             \
    } while (false)

TEST_CASE("derive_online names the operation that does not factor") {
    CHECK_REFUSED("sine_refused", "l = sum over keys", "reads m over the same axis", "sin in sin(x[keys, i]");
    CHECK_REFUSED("variance_refused", "- in a[keys, i]", "keeps the part that depends on l_1 from factoring out");
}

TEST_CASE("the reader names the Func and the construct") {
    CHECK_REFUSED("argmax_refused", "argmax", "Tuple-valued");
    CHECK_REFUSED("two_updates_refused", "Func f has 2 updates");
    CHECK_REFUSED("scan_refused", "Func f updates position", "scan");
    CHECK_REFUSED("init_refused", "Func f starts from 3.0", "a sum starts from 0");
    CHECK_REFUSED("subtract_refused", "Func f is updated to", "op body with op +, *, max or min");
    CHECK_REFUSED("offset_refused", "reads the reduction f at i + 1", "plain variable");
    CHECK_REFUSED("unbounded_refused", "which nothing bounds", "clamp(");
}

TEST_CASE("schedules are checked against the graph") {
    CHECK_REFUSED("tile_of_reduced_refused", "tile(keys)", "folded by a reduction");
    CHECK_REFUSED("unscheduled_refused", "axis keys is folded", "whole(keys", "stream(keys");
    CHECK_REFUSED("split_refused", "split(keys)", "only a streamed axis");
    CHECK_REFUSED("twice_refused", "i already has tile(i, 8)");
    CHECK_REFUSED("capacity_refused", "the extent of c is 10, more than the tile holds");
    CHECK_REFUSED("stream_of_output_refused", "stream(i): output r has an element for every i");
    CHECK_REFUSED("zero_tile_refused", "tile(i, 0)", "at least 1");
}

TEST_CASE("unknown generators and parameters are refused with what there is") {
    CHECK(refusal("no_such_generator").find("there are: ") != std::string::npos);
    CHECK(refusal("softmax_sum", {{"no_such_parameter", "1"}}).find("no_such_parameter") != std::string::npos);
}

TEST_CASE("buffers over the budget print their table") {
    const std::string message = refusal("over_budget_refused");
    CHECK(message.find("the budget is 1048576") != std::string::npos);
    CHECK(message.find("tile ") != std::string::npos);
}
