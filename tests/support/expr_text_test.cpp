// Text of expressions: what it looks like, and that parsing it gives the same expression.
#include "src/support/error.h"
#include "src/support/expr_text.h"
#include "src/support/primitives.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace Halide::Internal;
using fldsl::expr_to_text;
using Halide::Expr;
using Halide::Type;

namespace {

Expr variable(Type type, const std::string &name) {
    return Variable::make(type, name);
}

bool symbols(const std::string &name, fldsl::Symbol *symbol) {
    const std::map<std::string, fldsl::Symbol> table = {
        {"i", {Halide::Int(32)}},       {"j.lo", {Halide::Int(32)}},
        {"x", {Halide::Float(32)}},     {"ids_t.min", {Halide::Float(32)}},
        {"half", {Halide::Float(16)}},  {"flag", {Halide::Bool()}},
        {"q", {Halide::Float(32), fldsl::Symbol::Tensor}}, {"m", {Halide::Float(32), fldsl::Symbol::Node}},
    };
    const auto at = table.find(name);
    if (at != table.end()) {
        *symbol = at->second;
    }
    return at != table.end();
}

Expr parse(const std::string &text) {
    return fldsl::parse_expr(text, symbols);
}

/// Random expressions over everything that tile programs hold.
class Random {
  public:
    explicit Random(int seed) : engine_(seed) {
    }

    Expr integer(int depth) {
        if (depth == 0) {
            return pick(3) == 0   ? variable(Halide::Int(32), "i")
                   : pick(2) == 0 ? variable(Halide::Int(32), "j.lo")
                                  : IntImm::make(Halide::Int(32), pick(200) - 100);
        }
        const Expr a = integer(depth - 1), b = integer(depth - 1);
        switch (pick(9)) {
        case 0:
            return Add::make(a, b);
        case 1:
            return Sub::make(a, b);
        case 2:
            return Mul::make(a, b);
        case 3:
            return Div::make(a, b);
        case 4:
            return Mod::make(a, b);
        case 5:
            return Min::make(a, b);
        case 6:
            return Max::make(a, b);
        case 7:
            return Cast::make(Halide::Int(32), number(depth - 1));
        default:
            return Select::make(truth(depth - 1), a, b);
        }
    }

    Expr number(int depth) {
        if (depth == 0) {
            const float special[] = {0.0f, -0.0f, 1e-30f, 3.4e38f, 0.1f, std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity()};
            return pick(3) == 0   ? variable(Halide::Float(32), pick(2) ? "x" : "ids_t.min")
                   : pick(2) == 0 ? FloatImm::make(Halide::Float(32), special[pick(7)])
                                  : FloatImm::make(Halide::Float(32), std::uniform_real_distribution<float>(-9, 9)(engine_));
        }
        const Expr a = number(depth - 1), b = number(depth - 1);
        switch (pick(11)) {
        case 0:
            return Add::make(a, b);
        case 1:
            return Sub::make(a, b);
        case 2:
            return Mul::make(a, b);
        case 3:
            return Div::make(a, b);
        case 4:
            return Max::make(a, b);
        case 5:
            return Select::make(truth(depth - 1), a, b);
        case 6:
            return Cast::make(Halide::Float(32), variable(Halide::Float(16), "half"));
        case 7:
            return fldsl::make_element(Halide::Float(32), "q", {integer(depth - 1), integer(depth - 1)});
        case 8:
            return fldsl::make_primitive("exp2", {a});
        case 9:
            return fldsl::make_primitive("pow", {a, b});
        default:
            return Call::make(Halide::Float(32), "m", {integer(depth - 1)}, Call::Halide);
        }
    }

    Expr truth(int depth) {
        if (depth == 0) {
            return pick(2) ? variable(Halide::Bool(), "flag") : const_true();
        }
        const Expr a = integer(depth - 1), b = integer(depth - 1);
        switch (pick(9)) {
        case 0:
            return And::make(truth(depth - 1), truth(depth - 1));
        case 1:
            return Or::make(truth(depth - 1), truth(depth - 1));
        case 2:
            return Not::make(truth(depth - 1));
        case 3:
            return EQ::make(a, b);
        case 4:
            return NE::make(a, b);
        case 5:
            return LT::make(a, b);
        case 6:
            return LE::make(a, b);
        case 7:
            return GE::make(number(depth - 1), number(depth - 1));
        default:
            return fldsl::make_primitive("is_nan", {number(depth - 1)});
        }
    }

  private:
    int pick(int n) {
        return std::uniform_int_distribution<int>(0, n - 1)(engine_);
    }

    std::mt19937 engine_;
};

}  // namespace

TEST_CASE("parsing the text of an expression gives the expression") {
    for (int seed = 0; seed < 300; seed++) {
        Random random(seed);
        for (const Expr &e : {random.integer(seed % 5), random.number(seed % 5), random.truth(seed % 5)}) {
            const std::string text = expr_to_text(e);
            CAPTURE(text);
            const Expr back = parse(text);
            CHECK(back.type() == e.type());
            CHECK(equal(back, e));
            CHECK(expr_to_text(back) == text);
        }
    }
}

TEST_CASE("text has few parentheses and keeps structure") {
    for (const char *text : {
             "x + x * x",
             "(x + x) * x",
             "x - (x - x)",
             "x / x / x",
             "x / (x * x)",
             "i <= j.lo + 1 && (flag || !flag)",
             "!(flag && flag)",
             "select(x == -inf, 1.0, exp2(x - ids_t.min))",
             "q[i, i / (i % 4)]",
             "m(i) - nan",
             "float32(half)",
             "int64(5)",
             "float16(0.5)",
             "float32(5)",
         }) {
        CHECK(expr_to_text(parse(text)) == text);
    }
}

TEST_CASE("float32 constants print as the shortest text that is the same number") {
    CHECK(expr_to_text(Expr(0.1f)) == "0.1");
    CHECK(expr_to_text(Expr(2.0f)) == "2.0");
    CHECK(expr_to_text(Expr(1.44269504f)) == "1.442695");
    CHECK(expr_to_text(Halide::Internal::make_const(Halide::Float(64), 0.1)) == "float64(0.1)");
}

TEST_CASE("a malformed text is refused with its column and what was expected") {
    const std::pair<const char *, const char *> cases[] = {
        {"x +", "column 4 of `x +`: expected an expression"},
        {"x y", "column 3 of `x y`: expected the end"},
        {"3x", "expected a number, not 3x"},
        {"1.5abc", "expected a number, not 1.5abc"},
        {"0x10", "expected a number, not 0x10"},
        {"x + i", "operands of one type, not float32 and int32"},
        {"unknown", "a known name, not unknown"},
        {"q[i", "`]` or `,`"},
        {"exp(x, x)", "1 operands of exp"},
        {"q[x]", "int32 indices of q, not float32"},
        {"x[i]", "a tensor before `[`, not x"},
    };
    for (const auto &[text, message] : cases) {
        std::string what;
        try {
            parse(text);
        } catch (const fldsl::UserError &e) {
            what = e.what();
        }
        CAPTURE(what);
        CHECK(what.find(message) != std::string::npos);
    }
}
