// Each rule of the verifier, broken once: a sound program with one text replaced by another, and what is said about it.
#include "files.h"
#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/tile/tile_text.h"
#include "src/tile/verify.h"

#include <doctest/doctest.h>

using namespace fldsl::tile;

namespace {

std::string replace(std::string text, const std::string &from, const std::string &to) {
    const size_t at = text.find(from);
    REQUIRE_MESSAGE(at != std::string::npos, "no `" << from << "` to replace");
    return text.replace(at, from.size(), to);
}

std::string fault_of(const Kernel &kernel) {
    try {
        verify(kernel);
    } catch (const fldsl::InternalError &e) {
        return e.what();
    }
    return "";
}

/// What the verifier says about the golden program `name` after the replacement.
std::string fault(const std::string &from, const std::string &to, const std::string &name = "causal_attention") {
    return fault_of(parse_kernel(replace(tile_tests::read_golden(name + ".tile"), from, to)));
}

Kernel causal() {
    return parse_kernel(tile_tests::read_golden("causal_attention.tile"));
}

bool says(const std::string &fault, const std::string &rule) {
    CAPTURE(fault);
    CAPTURE(rule);
    const bool found = fault.find(rule) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("names are defined once") {
    says(fault("reduce weighted_sum_new[e, i]", "reduce c[e, i]"), "c is defined twice");
    says(fault("scalar shift: int32", "scalar scale: float32\n  scalar shift: int32"), "scale: is defined twice");
    says(fault("state row_sum[i]", "state row_max[i] = 0.0\n    state row_sum[i]"), "state row_max: is defined twice");
}

TEST_CASE("names are words of no other meaning") {
    Kernel k = causal();
    k.stages[0].prologue[0].name = "where";
    says(fault_of(k), "`where` is no name");
    k.stages[0].prologue[0].name = "i.lo";
    says(fault_of(k), "i.lo is defined twice");
}

TEST_CASE("names are read after their definition and inside their stream") {
    Kernel k = causal();
    std::swap(k.stages[0].streams[0].body[0], k.stages[0].streams[0].body[1]);
    says(fault_of(k), "the value reads k_t, which is not defined here");
    k = causal();
    k.stages[0].epilogue[0].value = k.stages[0].streams[0].body.back().value;
    says(fault_of(k), "which is not defined here");
}

TEST_CASE("names have the type of their definition") {
    Kernel k = causal();
    k.stages[0].scalars[0].type = Halide::Int(32);
    says(fault_of(k), "scale is used as float32, it is int32");
}

TEST_CASE("the grid is the axes of role grid") {
    says(fault("grid h, b, i", "grid h, i"), "axis b: the grid is the axes of role grid");
    says(fault("grid h, b, i", "grid h, b, i, j"), "axis j: the grid is the axes of role grid");
    says(fault("grid h, b, i", "grid h, b, i, i"), "an axis occurs twice");
    says(fault("grid h, b, i", "grid h, b, i, z"), "z is no axis");
}

TEST_CASE("axes have a positive tile and an integer extent") {
    says(fault("axis i: grid 64", "axis i: grid 0"), "axis i: tile is 0");
    says(fault("extent q.extent.1", "extent scale"), "axis i: the extent has type float32, not int32");
    says(fault("extent q.extent.1", "extent q.extent.4"), "the extent reads q.extent.4, which is not defined here");
}

TEST_CASE("an operation reads no axis that it lacks") {
    says(fault("map t[j, i] @tile = s", "map t[j] @tile = s"), "reads s, which has axis i that the operation lacks");
    says(fault("store lse[i, h, b] for i", "store lse[i, h, b]"), "lacks");
    says(fault("live j.lo <= i.hi", "live j <= i.hi"), "live reads axis j, which the operation lacks");
    says(fault("from row_sum * c", "from row_sum * p"), "`from` reads p, which has axis j that the operation lacks");
}

TEST_CASE("an operation is over axes with a range") {
    says(fault("load q_t[rd, i]", "load q_t[rd, j]"), "stream axis j is used outside its stream");
    says(fault("load q_t[rd, i]", "load q_t[rd, z]"), "z is no axis");
    says(fault("sum over rd: q_t", "sum over j: q_t"), "axis j occurs twice");
    says(fault("stream j in [0, min(i.hi + shift + 1, k.extent.1))", "stream j in [0, j.hi)"),
         "end reads j.hi, which is not defined here");
}

TEST_CASE("parts of an operation have its type") {
    says(fault("reduce row_sum_new[i]", "reduce row_sum_new[i]: float16"), "the value has type float32, not float16");
    says(fault("otherwise 0.0", "otherwise 0"), "`otherwise` has type int32, not float32");
    says(fault("from row_max where", "from 0 where"), "`from` has type int32, not float32");
    says(fault("where j <= i + shift", "where j"), "`where` has type int32, not bool");
}

TEST_CASE("parts of an operation go with its kind") {
    says(fault(" where j <= i + shift otherwise 0.0", " where j <= i + shift"), "`otherwise` goes with `where` of a map");
    says(fault("@tile = s * (scale * 1.442695)", "@tile = s from 1.0"), "only reductions start from a value");
    says(fault("load k_t[rd, j] @in_place = k[rd,", "load k_t[rd, j] @in_place = 2.0 * k[rd,"),
         "a load reads one tensor element");
    says(fault("= q[rd, i, h, b]", "= q[rd, i, h, b] where i < 3"), "a load has no `where`");
}

TEST_CASE("elements are read as the tensor holds them") {
    says(fault("q[rd, i, h, b]", "q[rd, i, h]"), "reads q with 3 indices, it has rank 4");
    says(fault("q[rd, i, h, b]", "o[rd, i, h, b]"), "reads an element of o, which is no input or workspace tensor");
}

TEST_CASE("elements are stored once and as the tensor holds them") {
    says(fault("store o[e, i, h, b]", "store q[e, i, h, b]"), "q is no output or workspace tensor");
    says(fault("store o[e, i, h, b]", "store o[e, i, h]"), "o has rank 4");
    says(fault("store o[e, i, h, b]", "store o[0, i, h, b]"), "no index mentions axis e, so elements are written twice");
    says(fault("store o[e, i, h, b]", "store o[e, i, h, 0]"), "no index mentions axis b, so elements are written twice");
    says(fault("output o: float32", "output o: float16"), "o has elements of float16, not float32");
}

TEST_CASE("primitives are called as the table says") {
    Kernel k = causal();
    Op &map = k.stages[0].streams[0].body[3];
    map.value = Halide::Internal::Call::make(Halide::Float(32), "gamma", {map.value}, Halide::Internal::Call::PureExtern);
    says(fault_of(k), "calls gamma, which is no primitive");
}

TEST_CASE("a head makes values without axes") {
    says(fault("reduce documents_t.min: int32 @tile = min over i: documents[i]",
               "map documents_t.min[i]: int32 @tile = documents[i]", "document_attention"),
         "a head makes values without axes");
}

TEST_CASE("classes and bounds are scalar and of their type") {
    says(fault("full j.hi <= i.lo + shift", "full j.hi"), "full has type int32, not bool");
    says(fault("stream j in [0,", "stream j in [scale,"), "begin has type float32, not int32");
    says(fault("stream j in [0,", "stream j in [i,"), "begin reads axis i, which the operation lacks");
    says(fault("stream j in", "stream rd in"), "stream rd: is no axis of role stream");
}

TEST_CASE("every state is updated once by its like") {
    says(fault("    update row_sum = row_sum_new\n", ""), "state row_sum: is updated 0 times, not once");
    says(fault("update row_sum = row_sum_new", "update row_max = row_sum_new"), "is updated");
    says(fault("update row_sum = row_sum_new", "update row_sum = p"), "the value has the state's type and axes");
    says(fault("update row_sum = row_sum_new", "update row_sum = other"), "other is not defined here");
    says(fault("state row_sum[i] @tile = 0.0", "state row_sum[i] @tile = 0"), "the identity has type int32, not float32");
    says(fault("state row_sum[i]", "state row_sum[j]"), "j is no grid or whole axis");
}

TEST_CASE("outputs are stored, by one stage") {
    Kernel k = causal();
    k.stages[0].epilogue.pop_back();
    says(fault_of(k), "output lse is never stored");
    k = causal();
    k.stages.push_back(k.stages[0]);
    says(fault_of(k), "two stages are called causal_attention");
    k.stages[1].name = "again";
    says(fault_of(k), "two stages store lse, the second is again");
}

TEST_CASE("workspace is stored before it is read") {
    Kernel k = parse_kernel(tile_tests::read_golden("causal_attention_split.tile"));
    std::swap(k.stages[0], k.stages[1]);
    says(fault_of(k), "before a stage stores it");
}

TEST_CASE("stages agree on tensors") {
    Kernel k = parse_kernel(tile_tests::read_golden("causal_attention_split.tile"));
    k.stages[1].tensors[0].rank = 3;
    says(fault_of(k), "stages disagree on tensor q");
}
